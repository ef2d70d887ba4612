// Expressions: the choice among them, leaves, literals and constructors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scope.hpp"

namespace ockc::difftest {

namespace {

enum class Types : std::uint8_t { Any, Int, Signed, Num, Float, Bool, Char, Scalar, Tuple, Array, Struct, Enum, Option, Result };

bool covers(Types types, TypePtr type) {
    switch (types) {
        case Types::Any: return true;
        case Types::Int: return type->kind == Kind::Int;
        case Types::Signed: return type->kind == Kind::Int && type->is_signed;
        case Types::Num: return type->kind == Kind::Int || type->kind == Kind::Float;
        case Types::Float: return type->kind == Kind::Float;
        case Types::Bool: return type->kind == Kind::Bool;
        case Types::Char: return type->kind == Kind::Char;
        case Types::Scalar: return type->scalar();
        case Types::Tuple: return type->kind == Kind::Tuple;
        case Types::Array: return type->kind == Kind::Array;
        case Types::Struct: return type->kind == Kind::Struct;
        case Types::Enum: return type->kind == Kind::Enum;
        case Types::Option: return type->kind == Kind::Option;
        case Types::Result: return type->kind == Kind::Result;
    }
    return false;
}

}  // namespace

Expr Generator::expr(TypePtr type, std::uint32_t depth) {
    struct Row {
        Construct construct;
        std::uint32_t weight;
        Types types;
        MaybeExpr (Generator::*make)(TypePtr, std::uint32_t);
    };
    static constexpr Row kRows[] = {
#define DIFF_EXPR(id, weight, types, name) {Construct::id, weight, Types::types, &Generator::expr##id},
#include "constructs.def"
    };
    cost_ += repeat_;
    if (depth == 0 || --fuel_ <= 0) return leaf(type);
    std::uint32_t total = 0;
    for (const Row& row : kRows) total += covers(row.types, type) ? row.weight : 0;
    for (int attempt = 0; attempt < 6; ++attempt) {
        std::uint32_t at = random_.below(total);
        for (const Row& row : kRows) {
            const std::uint32_t weight = covers(row.types, type) ? row.weight : 0;
            if (at >= weight) {
                at -= weight;
                continue;
            }
            if (MaybeExpr made = (this->*row.make)(type, depth - 1)) {
                use(row.construct);
                return *made;
            }
            break;
        }
    }
    return leaf(type);
}

Expr Generator::leaf(TypePtr type) {
    if (random_.chance(75)) {
        if (MaybeExpr found = place(type, false)) {
            use(Construct::Variable);
            return *found;
        }
    }
    if (type->kind == Kind::Param) return *place(type, false);
    if (type->scalar() && random_.chance(40)) return cast_of_seed(type);
    return literal(type, 0);
}

// A value that no lint can know: a variable of the type, or one made of the function's seed.
Expr Generator::dynamic(TypePtr type) {
    for (int attempt = 0; attempt < 3; ++attempt) {
        const MaybeExpr found = place(type, false);
        if (found && !found->known) return *found;
    }
    return cast_of_seed(type);
}

Expr Generator::cast_of_seed(TypePtr type) {
    switch (type->kind) {
        case Kind::Bool: return {fmt::format("(s & {} != 0)", 1u << random_.below(8))};
        case Kind::Char: return {"(s as u8 as char)"};
        default: return {fmt::format("(s as {})", type->name)};
    }
}

std::string Generator::boolean(std::uint32_t depth) { return expr(scalars_[scalars_.size() - 2], depth).text; }

std::string Generator::frozen(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    return expr(type, depth).text;
}

// An index below length that no lint can find out of bounds.
std::string Generator::index(std::uint32_t length, std::uint32_t depth) {
    const Freeze freeze(*this);
    const TypePtr usize = int_type(64, false, true);
    const Expr made = expr(usize, depth);
    return fmt::format("({} % {}usize)", made.text, length);
}

void Generator::declare(std::string text, TypePtr type, bool is_mutable, bool known) {
    variables_.push_back({std::move(text), type, is_mutable, known});
}

void Generator::declare(const Bindings& bindings, bool is_mutable) {
    for (const Binding& binding : bindings) declare(binding.text, binding.type, is_mutable, true);
}

// The paths to parts of type `want` inside a place.
void Generator::places_in(const std::string& text, TypePtr have, TypePtr want, std::uint32_t depth, std::vector<std::string>& out) {
    if (have == want) out.push_back(text);
    if (depth == 0) return;
    if (have->kind == Kind::Tuple) {
        for (std::size_t i = 0; i < have->parts.size(); ++i) places_in(fmt::format("{}.{}", text, i), have->parts[i], want, depth - 1, out);
    } else if (have->kind == Kind::Struct) {
        for (const Field& field : have->variants[0].fields) places_in(fmt::format("{}.{}", text, field.name), field.type, want, depth - 1, out);
    } else if (have->kind == Kind::Array) {
        places_in(fmt::format("{}[{}]", text, random_.below(have->length)), have->parts[0], want, depth - 1, out);
    }
}

bool Generator::usable(std::size_t index, bool writable) const {
    const Variable& variable = variables_[index];
    if (variable.hidden != 0 || (writable && (!variable.is_mutable || variable.frozen != 0))) return false;
    for (std::size_t later = index + 1; later < variables_.size(); ++later) {
        if (variables_[later].text == variable.text) return false;
    }
    return true;
}

// A variable or a part of one; `root` gets the variable's number.
MaybeExpr Generator::place(TypePtr type, bool writable, std::size_t* root) {
    struct Candidate {
        std::string text;
        std::size_t variable;
    };
    std::vector<Candidate> found;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const Variable& variable = variables_[i];
        if (!usable(i, writable)) continue;
        std::vector<std::string> paths;
        places_in(variable.text, variable.type, type, 2, paths);
        for (std::string& path : paths) found.push_back({std::move(path), i});
    }
    if (found.empty()) return std::nullopt;
    const Candidate& chosen = random_.pick(found);
    if (root != nullptr) *root = chosen.variable;
    return Expr{chosen.text, variables_[chosen.variable].known};
}

std::optional<Generator::Target> Generator::target(bool scalar) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const bool slice = variables_[i].type->kind == Kind::Array && variables_[i].type->length == 0;
        if (usable(i, true) && !slice) found.push_back(i);
    }
    if (found.empty()) return std::nullopt;
    const std::size_t root = random_.pick(found);
    Target made{variables_[root].text, variables_[root].type, root};
    for (int depth = 0; depth < 3 && (scalar ? !made.type->scalar() : random_.chance(40)); ++depth) {
        const TypePtr have = made.type;
        const std::uint32_t at = random_.below(16);
        if (have->kind == Kind::Tuple) {
            made.text += fmt::format(".{}", at % have->parts.size());
            made.type = have->parts[at % have->parts.size()];
        } else if (have->kind == Kind::Struct && !have->variants[0].fields.empty()) {
            const Field& field = have->variants[0].fields[at % have->variants[0].fields.size()];
            made.text += "." + field.name;
            made.type = field.type;
        } else if (have->kind == Kind::Array) {
            made.text += fmt::format("[{}]", at % have->length);
            made.type = have->parts[0];
        }
    }
    if (scalar && !made.type->scalar()) return std::nullopt;
    return made;
}

MaybeExpr Generator::exprVariable(TypePtr type, std::uint32_t) { return place(type, false); }

MaybeExpr Generator::exprLiteral(TypePtr type, std::uint32_t depth) {
    if (type->kind == Kind::Param) return std::nullopt;
    return literal(type, depth);
}

MaybeExpr Generator::exprConstantUse(TypePtr type, std::uint32_t) {
    std::vector<std::string> found;
    for (const Constant& constant : constants_) {
        if (constant.type == type) found.push_back(constant.path);
    }
    if (found.empty()) return std::nullopt;
    return Expr{random_.pick(found), true};
}

Expr Generator::literal(TypePtr type, std::uint32_t depth) {
    const auto part = [&](TypePtr p) { return expr(p, depth).text; };
    switch (type->kind) {
        case Kind::Int:
        case Kind::Float:
        case Kind::Bool:
        case Kind::Char: return {literal_scalar(type, false), true};
        case Kind::Tuple: {
            std::string text = "(";
            for (const TypePtr p : type->parts) text += (text.size() > 1 ? ", " : "") + part(p);
            return {text + ")", true};
        }
        case Kind::Array: {
            std::string text = "[";
            for (std::uint32_t i = 0; i < type->length; ++i) text += (i != 0 ? ", " : "") + part(type->parts[0]);
            return {text + "]", true};
        }
        case Kind::Option:
            if (random_.chance(35)) return {fmt::format("None::<{}>", type->parts[0]->name)};
            return {fmt::format("Some({})", part(type->parts[0])), true};
        case Kind::Result: {
            const bool good = random_.chance(65);
            return {fmt::format("{}::<{}, {}>({})", good ? "Ok" : "Err", type->parts[0]->name, type->parts[1]->name, part(type->parts[good ? 0 : 1])), true};
        }
        case Kind::Struct:
        case Kind::Enum: return construct(type, random_.pick(type->variants), depth);
        case Kind::Param: break;
    }
    return *place(type, false);
}

Expr Generator::construct(TypePtr type, const Variant& variant, std::uint32_t depth) {
    std::string head = type->name;
    if (type->generic) head.insert(head.find('<'), "::");
    if (!variant.name.empty()) head += "::" + variant.name;
    std::string fields;
    for (const Field& field : variant.fields) {
        fields += fields.empty() ? "" : ", ";
        if (variant.shape == Shape::Named) fields += field.name + ": ";
        fields += expr(field.type, depth).text;
    }
    switch (variant.shape) {
        case Shape::Unit: return {head, true};
        case Shape::Tuple: return {fmt::format("{}({})", head, fields), true};
        case Shape::Named: return {fmt::format("({} {{ {} }})", head, fields), true};
    }
    return {head};
}

std::string Generator::literal_scalar(TypePtr type, bool in_pattern) {
    switch (type->kind) {
        case Kind::Int: return literal_int(type, in_pattern);
        case Kind::Float: return literal_float(type, in_pattern);
        case Kind::Bool: return random_.chance(50) ? "true" : "false";
        default: return literal_char();
    }
}

std::string Generator::int_literal_text(unsigned __int128 magnitude, bool negative, TypePtr type) {
    const auto digits = [](unsigned __int128 value, unsigned base) {
        std::string text;
        do {
            text.insert(text.begin(), "0123456789abcdef"[static_cast<unsigned>(value % base)]);
            value /= base;
        } while (value != 0);
        return text;
    };
    const std::uint32_t style = negative ? 0 : random_.below(8);
    if (style == 1) return "0x" + digits(magnitude, 16) + "_" + type->name;
    if (style == 2) return "0b" + digits(magnitude, 2) + "_" + type->name;
    if (style == 3) return "0o" + digits(magnitude, 8) + type->name;
    return (negative ? "-" : "") + digits(magnitude, 10) + type->name;
}

// The edges of the range as often as anything inside.
std::string Generator::literal_int(TypePtr type, bool in_pattern) {
    const std::uint32_t bits = type->bits;
    const unsigned __int128 all = bits == 128 ? ~static_cast<unsigned __int128>(0) : (static_cast<unsigned __int128>(1) << bits) - 1;
    const unsigned __int128 top = static_cast<unsigned __int128>(1) << (bits - 1);
    unsigned __int128 value = 0;
    switch (random_.below(8)) {
        case 0: value = all - random_.below(3); break;
        case 1: value = top - random_.below(3); break;
        case 2: value = top + random_.below(2); break;
        case 3: value = static_cast<unsigned __int128>(1) << random_.below(bits); break;
        case 4: value = (static_cast<unsigned __int128>(random_.bits()) << 64 | random_.bits()) & all; break;
        default: value = random_.below(20); break;
    }
    const bool negative = type->is_signed && value >= top;
    if (negative) value = (~value + 1) & all;
    if (in_pattern && negative && value == top) value -= 1;
    const std::string text = int_literal_text(value, negative, type);
    return negative && !in_pattern ? "(" + text + ")" : text;
}

std::string Generator::literal_float(TypePtr type, bool in_pattern) {
    static const char* const kEdges[] = {"0.0", "1.0", "0.5", "2.0", "3.25", "1e10", "16777216.0", "1e-7", "255.5", "2147483648.0", "1e30", "9.3e18",
                                         "1e-40", "0.1", "4294967296.0", "127.9"};
    std::string text = kEdges[random_.below(std::size(kEdges))];
    if (random_.chance(40)) text = fmt::format("{}.{}", random_.below(3000), random_.below(1000));
    text += type->name;
    const bool negative = random_.chance(35);
    if (!negative) return text;
    return in_pattern ? "-" + text : "(-" + text + ")";
}

std::string Generator::literal_char() {
    static const char* const kChars[] = {"'a'", "'Z'", "'0'", "'\\n'", "'\\''", "'\\\\'", "'\\x7f'", "'\\u{e9}'", "'\\u{10ffff}'", "'\\u{d7ff}'", "'\\0'", "' '"};
    return kChars[random_.below(std::size(kChars))];
}

}  // namespace ockc::difftest
