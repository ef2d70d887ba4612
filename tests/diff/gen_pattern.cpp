// Patterns for a value of a known type.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

std::string Generator::pattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    struct Row {
        Construct construct;
        std::uint32_t weight;
        bool (*fits)(TypePtr);
        std::optional<std::string> (Generator::*make)(TypePtr, std::uint32_t, bool, bool, Bindings*);
    };
    struct Fits {
        static bool Any(TypePtr) { return true; }
        static bool Scalar(TypePtr t) { return t->scalar(); }
        static bool Tuple(TypePtr t) { return t->kind == Kind::Tuple; }
        static bool Array(TypePtr t) { return t->kind == Kind::Array; }
        static bool Struct(TypePtr t) { return t->kind == Kind::Struct; }
        static bool Enum(TypePtr t) { return t->kind == Kind::Enum; }
        static bool Option(TypePtr t) { return t->kind == Kind::Option; }
        static bool Result(TypePtr t) { return t->kind == Kind::Result; }
    };
    static constexpr Row kRows[] = {
#define DIFF_PATTERN(id, weight, types, name) {Construct::id##_, weight, &Fits::types, &Generator::pattern##id},
#include "constructs.def"
    };
    if (depth == 0) return bindings != nullptr && random_.chance(50) ? *patternBinding(type, 0, refutable, by_ref, bindings) : "_";
    std::uint32_t total = 0;
    for (const Row& row : kRows) total += row.fits(type) ? row.weight : 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
        std::uint32_t at = random_.below(total);
        for (const Row& row : kRows) {
            const std::uint32_t weight = row.fits(type) ? row.weight : 0;
            if (at >= weight) {
                at -= weight;
                continue;
            }
            const std::size_t before = bindings != nullptr ? bindings->size() : 0;
            if (std::optional<std::string> made = (this->*row.make)(type, depth - 1, refutable, by_ref, bindings)) {
                use(row.construct);
                return *made;
            }
            if (bindings != nullptr) bindings->resize(before);
            break;
        }
    }
    return "_";
}

std::optional<std::string> Generator::patternWildcard(TypePtr, std::uint32_t, bool, bool, Bindings*) { return "_"; }

std::optional<std::string> Generator::patternBinding(TypePtr type, std::uint32_t, bool, bool by_ref, Bindings* bindings) {
    if (bindings == nullptr) return std::nullopt;
    const std::string name = fresh("p");
    bindings->push_back({by_ref ? "(*" + name + ")" : name, type});
    return name;
}

std::optional<std::string> Generator::patternAtBinding(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    if (bindings == nullptr) return std::nullopt;
    const std::string name = fresh("p");
    const std::string inner = pattern(type, depth, refutable, by_ref, nullptr);
    bindings->push_back({by_ref ? "(*" + name + ")" : name, type});
    return inner.find('|') != std::string::npos && inner[0] != '(' ? fmt::format("{} @ ({})", name, inner) : fmt::format("{} @ {}", name, inner);
}

std::optional<std::string> Generator::patternOr(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings*) {
    if (!refutable) return std::nullopt;
    return fmt::format("({} | {})", pattern(type, depth, true, by_ref, nullptr), pattern(type, depth, true, by_ref, nullptr));
}

std::optional<std::string> Generator::patternLiteralPattern(TypePtr type, std::uint32_t, bool refutable, bool, Bindings*) {
    if (!refutable) return std::nullopt;
    return literal_scalar(type, true);
}

std::optional<std::string> Generator::patternRangePattern(TypePtr type, std::uint32_t, bool refutable, bool, Bindings*) {
    if (!refutable || type->kind == Kind::Bool) return std::nullopt;
    const std::uint32_t form = random_.below(4);
    if (type->kind == Kind::Char) {
        static const char* const kRanges[] = {"'a'..='f'", "'\\0'..'0'", "'0'..='9'", "('A'..)", "(..='z')"};
        return kRanges[random_.below(std::size(kRanges))];
    }
    // In parentheses: elements of slice patterns and the patterns of macros need them. `..=MIN` is fine, `..MIN` an error.
    if (form == 0) return fmt::format("(..={})", literal_scalar(type, true));
    if (form == 1) return fmt::format("({}..)", literal_scalar(type, true));
    const std::uint32_t low = random_.below(100), high = low + random_.between(1, 20);
    const char* dots = form == 2 ? ".." : "..=";
    if (type->kind == Kind::Float) return fmt::format("{}.5{}{}{}.25{}", low, type->name, dots, high, type->name);
    const bool negative = type->is_signed && random_.chance(40);
    if (negative) return fmt::format("-{}{}{}-{}{}", high, type->name, dots, low, type->name);
    return fmt::format("{}{}{}{}{}", low, type->name, dots, high, type->name);
}

std::optional<std::string> Generator::patternConstPattern(TypePtr type, std::uint32_t, bool refutable, bool, Bindings*) {
    if (!refutable) return std::nullopt;
    if (type->kind == Kind::Int && random_.chance(40)) return type->name + (random_.chance(50) ? "::MAX" : "::MIN");
    for (const Constant& constant : constants_) {
        if (constant.type == type && constant.in_patterns) return constant.path;
    }
    return std::nullopt;
}

std::optional<std::string> Generator::patternTuplePattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    std::string text = "(";
    if (random_.chance(25)) return fmt::format("({}, ..)", pattern(type->parts[0], depth, refutable, by_ref, bindings));
    if (random_.chance(20)) return fmt::format("(.., {})", pattern(type->parts.back(), depth, refutable, by_ref, bindings));
    for (const TypePtr part : type->parts) text += (text.size() > 1 ? ", " : "") + pattern(part, depth, refutable, by_ref, bindings);
    return text + ")";
}

std::optional<std::string> Generator::patternArrayPattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    if (type->length == 0 || type->name.find(';') == std::string::npos) return std::nullopt;
    std::string text;
    const bool rest = random_.chance(50);
    const std::uint32_t rest_at = random_.below(type->length + 1), left_out = rest ? random_.below(type->length + 1) : 0;
    const std::uint32_t named = type->length - left_out;
    for (std::uint32_t i = 0; i < named; ++i) {
        if (rest && i == std::min(rest_at, named)) text += text.empty() ? ".." : ", ..";
        text += (text.empty() ? "" : ", ") + pattern(type->parts[0], depth, refutable, by_ref, bindings);
    }
    if (rest && rest_at >= named) text += text.empty() ? ".." : ", ..";
    return "[" + text + "]";
}

std::string Generator::variant_pattern(TypePtr type, const Variant& variant, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    std::string head = type->name.substr(0, type->name.find('<'));
    if (!variant.name.empty()) head += "::" + variant.name;
    if (variant.shape == Shape::Unit) return head;
    std::string fields;
    for (std::size_t i = 0; i < variant.fields.size(); ++i) {
        const Field& field = variant.fields[i];
        const bool last = i + 1 == variant.fields.size();
        if (last && random_.chance(25)) {
            fields += fields.empty() ? ".." : ", ..";
            break;
        }
        fields += fields.empty() ? "" : ", ";
        if (variant.shape == Shape::Named) fields += field.name + ": ";
        fields += pattern(field.type, depth, refutable, by_ref, bindings);
    }
    return variant.shape == Shape::Tuple ? fmt::format("{}({})", head, fields) : fmt::format("{} {{ {} }}", head, fields);
}

std::optional<std::string> Generator::patternStructPattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    return variant_pattern(type, type->variants[0], depth, refutable, by_ref, bindings);
}

std::optional<std::string> Generator::patternEnumPattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    if (!refutable) return std::nullopt;
    return variant_pattern(type, random_.pick(type->variants), depth, true, by_ref, bindings);
}

std::optional<std::string> Generator::patternOptionPattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    if (!refutable) return std::nullopt;
    if (random_.chance(30)) return "None";
    return fmt::format("Some({})", pattern(type->parts[0], depth, true, by_ref, bindings));
}

std::optional<std::string> Generator::patternResultPattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings) {
    if (!refutable) return std::nullopt;
    const bool good = random_.chance(60);
    return fmt::format("{}({})", good ? "Ok" : "Err", pattern(type->parts[good ? 0 : 1], depth, true, by_ref, bindings));
}

}  // namespace ockc::difftest
