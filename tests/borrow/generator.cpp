#include "generator.hpp"

#include <span>

namespace ockc::borrow_test {

namespace {

enum class Place : std::uint8_t { Any, Loop, Body };
struct Row {
    std::string_view type;
    std::uint32_t weight;
    std::string_view text;
    Place where = Place::Any;
    bool is_place = false, is_writable = true;
};

constexpr Row kStatements[] = {
#define BORROW_STATEMENT(weight, where, text) {"", weight, text, Place::where, false},
#include "grammar.def"
};
constexpr Row kExpressions[] = {
#define BORROW_EXPR(type, weight, text) {#type, weight, text, Place::Any, false},
#define BORROW_PLACE(type, weight, text) {#type, weight, text, Place::Any, true},
#define BORROW_READ_PLACE(type, weight, text) {#type, weight, text, Place::Any, true, false},
#include "grammar.def"
};
constexpr Row kSignatures[] = {
#define BORROW_SIGNATURE(weight, text, tail) {tail, weight, text, Place::Any, false},
#include "grammar.def"
};

constexpr std::uint32_t kExpressionDepth = 3, kBlockDepth = 3;

// One hole of a shape, from behind its `$`.
struct Hole {
    char kind = ' ';              // ' ', +, -, =, *, ~, m, !
    std::string label, type;
    std::size_t length = 0;
};
Hole parse_hole(std::string_view text) {
    Hole hole;
    std::size_t at = 0;
    const auto is_lower = [&] { return at < text.size() && text[at] >= 'a' && text[at] <= 'z'; };
    const auto is_upper = [&] { return at < text.size() && text[at] >= 'A' && text[at] <= 'Z'; };
    if (text[0] == 'm' || text[0] == '!') return {text[0], {}, {}, 1};
    if (text[0] == '+' || text[0] == '-' || text[0] == '=' || text[0] == '*' || text[0] == '~') hole.kind = text[at++];
    if (is_lower()) hole.label = text[at++];
    while (is_upper()) hole.type += text[at++];
    hole.length = at;
    return hole;
}
bool is_block(const Hole& hole) { return hole.kind == ' ' && (hole.type == "B" || hole.type == "K" || hole.type == "F"); }

template <class Allowed>
const Row* choose(Random& random, std::span<const Row> rows, Allowed&& allowed) {
    std::uint32_t total = 0;
    std::vector<const Row*> fitting;
    for (const Row& row : rows) {
        if (!allowed(row)) continue;
        fitting.push_back(&row);
        total += row.weight;
    }
    if (total == 0) return nullptr;
    std::uint32_t at = random.below(total);
    for (const Row* row : fitting) {
        if (at < row->weight) return row;
        at -= row->weight;
    }
    return nullptr;
}

Piece text_piece(std::string text) {
    Piece piece;
    piece.text = std::move(text);
    return piece;
}

}  // namespace

bool Generator::has(std::string_view type) const {
    for (const Variable& one : visible_) {
        if (one.type == type) return true;
    }
    return false;
}

bool Generator::can_fill(std::string_view text, std::uint32_t depth) const {
    for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
        const Hole hole = parse_hole(text.substr(at + 1));
        if (hole.kind == ' ' && !is_block(hole) && !has(hole.type)) return false;
        if (hole.kind == '*' && !can_make(hole.type, depth, Need::Place)) return false;
        if (hole.kind == '~' && !can_make(hole.type, depth, Need::Writable)) return false;
        if (hole.kind == '=' && !can_make(hole.type, depth, Need::Value)) return false;
    }
    return true;
}

bool Generator::can_make(std::string_view type, std::uint32_t depth, Need need) const {
    if (depth == 0) return false;
    for (const Row& row : kExpressions) {
        if (row.type == type && (row.is_place || need == Need::Value) &&
            (row.is_writable || need != Need::Writable || !careful_) && can_fill(row.text, depth - 1)) return true;
    }
    return false;
}

Piece Generator::use(const std::string& type, const std::string& label) {
    Piece piece;
    piece.kind = Piece::Kind::Use;
    piece.type = type;
    for (const auto& [name, variable] : labels_) {
        if (name == label + type && !label.empty()) piece.variable = variable;
    }
    if (piece.variable != 0) return piece;
    std::vector<std::uint32_t> fitting;
    for (const Variable& one : visible_) {
        if (one.type == type) fitting.push_back(one.id);
    }
    // What was declared last is used most: programs are about a few variables.
    if (needs_mut_ && !random_.chance(8)) {
        std::vector<std::uint32_t> mutable_ones;
        for (const Variable& one : visible_) {
            if (one.type == type && one.is_mut) mutable_ones.push_back(one.id);
        }
        if (!mutable_ones.empty()) fitting = std::move(mutable_ones);
    }
    const std::uint32_t count = static_cast<std::uint32_t>(fitting.size());
    piece.variable = fitting[random_.chance(50) ? count - 1 : random_.below(count)];
    if (!label.empty()) labels_.emplace_back(label + type, piece.variable);
    return piece;
}

Piece Generator::declare(Piece::Kind kind, const std::string& type) {
    Piece piece;
    piece.kind = kind;
    piece.type = type;
    piece.variable = ++next_variable_;
    (kind == Piece::Kind::Declare ? outer_ : inner_).push_back({type, piece.variable, std::exchange(is_mut_, false)});
    return piece;
}

Piece Generator::hole(char kind, const std::string& type, const std::string& label, bool is_base, Where where) {
    switch (kind) {
        case '+': return declare(Piece::Kind::Declare, type);
        case '-': return declare(Piece::Kind::DeclareInner, type);
        case '!': return result_.empty() ? text_piece({}) : expression(result_, kExpressionDepth, Need::Value);
        case 'm': {
            Piece piece;
            piece.kind = Piece::Kind::Mut;
            piece.is_mut = is_mut_ = random_.chance(careful_ ? 97 : 75);
            return piece;
        }
        case '=':
        case '*':
        case '~': {
            const Need need = kind == '=' ? Need::Value : kind == '*' ? Need::Place : Need::Writable;
            Piece made = expression(type, where.depth, need);
            const bool wraps = is_base && !(made.parts.size() == 1 && made.parts[0].kind == Piece::Kind::Use);
            if (wraps) {
                made.parts.insert(made.parts.begin(), text_piece("("));
                made.parts.push_back(text_piece(")"));
            }
            return made;
        }
        default: return use(type, label);
    }
}

// `where.depth`: how deep expressions may nest, or blocks, for a statement.
Piece Generator::shape(std::string_view text, Where where) {
    Piece piece;
    piece.kind = Piece::Kind::Sequence;
    labels_.clear();
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t next = std::min(text.find('$', at), text.size());
        if (next > at) piece.parts.push_back(text_piece(std::string(text.substr(at, next - at))));
        if (next == text.size()) break;
        const Hole hole = parse_hole(text.substr(next + 1));
        at = next + 1 + hole.length;
        if (!is_block(hole)) {
            const bool is_base = at < text.size() && (text[at] == '.' || text[at] == '[');
            piece.parts.push_back(this->hole(hole.kind, hole.type, hole.label, is_base, where));
            continue;
        }
        const std::vector<Variable> outer = std::move(outer_);
        const auto labels = labels_;
        const std::uint32_t mark = inner_.empty() ? next_variable_ : inner_.front().id - 1;
        visible_.insert(visible_.end(), inner_.begin(), inner_.end());
        inner_.clear();
        outer_.clear();
        const bool is_closure = hole.type == "F", outer_loop = in_loop_;
        in_loop_ = in_loop_ || hole.type == "K" || is_closure;
        const Where inside{where.depth - 1, !is_closure && (where.in_loop || hole.type == "K"), where.in_closure || is_closure};
        piece.parts.push_back(block(1 + random_.below(2), inside));
        in_loop_ = outer_loop;
        leave_block(mark);
        outer_ = outer;
        labels_ = labels;
    }
    return piece;
}

namespace {
bool is_copied(std::string_view type) { return type == "U" || type == "R" || type == "RS" || type == "RP" || type == "RA" || type == "RR" || type == "OR"; }
bool is_variable(std::string_view text, std::string_view type) { return text.size() == type.size() + 1 && text.substr(1) == type; }
// Does writing the place need its variable to be `mut`: not when a reference leads to it.
bool needs_mut(std::string_view text, std::string_view type) { return text[0] == '$' && (text[1] != 'W' || is_variable(text, type)); }
}  // namespace

// Careful programs seldom do what is sure to be an error: write what is shared, move out of what is borrowed or a second time.
bool Generator::is_careless(std::string_view type, std::string_view text, bool is_writable, Need need) {
    if (!careful_ || random_.chance(1)) return false;
    if (need == Need::Writable) return !is_writable;
    return need == Need::Value && !is_copied(type) && (!is_variable(text, type) || in_loop_);
}

Piece Generator::expression(const std::string& type, std::uint32_t depth, Need need) {
    const std::uint32_t below = depth == 0 ? 0 : depth - 1;
    const auto fits = [&](const Row& one) {
        return one.type == type && (one.is_place || need == Need::Value) && can_fill(one.text, below);
    };
    const Row* row = choose(random_, kExpressions, [&](const Row& one) {
        return fits(one) && !(one.is_place && is_careless(type, one.text, one.is_writable, need));
    });
    if (row == nullptr) row = choose(random_, kExpressions, fits);
    if (row == nullptr) return text_piece("todo!()");   // the callers have asked can_fill
    const auto labels = labels_;
    const bool needed_mut = std::exchange(needs_mut_, careful_ && need == Need::Writable && needs_mut(row->text, type));
    Piece made = shape(row->text, {below, false, false});
    needs_mut_ = needed_mut;
    labels_ = labels;
    made.type = type;
    made.is_place = need != Need::Value;
    const bool moves = need == Need::Value && row->is_place && !is_copied(type) && is_variable(row->text, type);
    if (moves && careful_) spend(made.parts[0].variable);
    return made;
}

// Forgets a variable that was moved, most of the time.
void Generator::spend(std::uint32_t variable) {
    if (random_.chance(2)) return;
    std::erase_if(visible_, [&](const Variable& one) { return one.id == variable; });
}

Piece Generator::statement(Where where) {
    const Row* row = choose(random_, kStatements, [&](const Row& one) {
        if (one.where == Place::Loop && !where.in_loop) return false;
        if (one.where == Place::Body && where.in_closure) return false;
        const bool has_block = one.text.find('\n') != std::string_view::npos;
        if (has_block && where.depth == 0) return false;
        const bool returns = one.text.find("$!") != std::string_view::npos;
        if (returns && !result_.empty() && !can_make(result_, kExpressionDepth, Need::Value)) return false;
        return can_fill(one.text, kExpressionDepth);
    });
    Piece made = row->text.find('\n') != std::string_view::npos ? shape(row->text, where)
                                                               : shape(row->text, {kExpressionDepth, where.in_loop, where.in_closure});
    visible_.insert(visible_.end(), outer_.begin(), outer_.end());
    outer_.clear();
    inner_.clear();
    return made;
}

// Variables are numbered in order of declaration: those above the mark end with the block.
void Generator::leave_block(std::uint32_t mark) {
    std::erase_if(visible_, [&](const Variable& one) { return one.id > mark; });
}

Piece Generator::block(std::uint32_t statements, Where where) {
    Piece piece;
    piece.kind = Piece::Kind::Block;
    piece.in_loop = where.in_loop;
    piece.in_closure = where.in_closure;
    const std::uint32_t mark = next_variable_;
    for (std::uint32_t i = 0; i < statements; ++i) piece.parts.push_back(statement(where));
    leave_block(mark);
    return piece;
}

namespace {
bool is_owned(std::string_view type) {
    return type == "U" || type == "S" || type == "P" || type == "D" || type == "T" || type == "A" || type == "L" || type == "O" || type == "Q" || type == "E";
}
}  // namespace

Function Generator::function() {
    Function made;
    careful_ = random_.chance(99);
    const Row* signature = choose(random_, kSignatures, [](const Row&) { return true; });
    result_ = signature->type;
    made.result = result_;
    made.signature = shape(signature->text, {});
    visible_ = std::move(outer_);
    outer_.clear();
    parameters_ = next_variable_;
    made.body.kind = Piece::Kind::Block;
    // Something to borrow, where the parameters give nothing.
    if (careful_ && !has("U")) made.body.parts.push_back(declaration());
    const std::uint32_t statements = 2 + random_.below(3);
    for (std::uint32_t i = 0; i < statements; ++i) made.body.parts.push_back(statement({kBlockDepth, false, false}));
    if (!result_.empty()) made.body.parts.push_back(tail());
    return made;
}

Piece Generator::declaration() {
    Piece made = shape("let $m$+U: u32 = 1;", {});
    visible_.insert(visible_.end(), outer_.begin(), outer_.end());
    outer_.clear();
    return made;
}

// A careful function returns something of its parameters.
Piece Generator::tail() {
    if (careful_ && !is_owned(result_) && random_.chance(85)) {
        const std::vector<Variable> all = visible_;
        std::erase_if(visible_, [&](const Variable& one) { return one.id > parameters_ || is_owned(one.type); });
        const bool can = can_make(result_, kExpressionDepth, Need::Value);
        if (!can) visible_ = all;
    }
    return expression(result_, kExpressionDepth, Need::Value);
}

// ---- text -----------------------------------------------------------------------------------------------------------------------

namespace {

void append(const Piece& piece, std::string& out) {
    switch (piece.kind) {
        case Piece::Kind::Text: out += piece.text; return;
        case Piece::Kind::Mut: out += piece.is_mut ? "mut " : ""; return;
        case Piece::Kind::Declare:
        case Piece::Kind::DeclareInner:
        case Piece::Kind::Use:
            for (const char c : piece.type) out += static_cast<char>(c - 'A' + 'a');
            out += std::to_string(piece.variable);
            return;
        case Piece::Kind::Sequence:
            for (const Piece& part : piece.parts) append(part, out);
            return;
        case Piece::Kind::Block:
            for (std::size_t i = 0; i < piece.parts.size(); ++i) {
                if (i != 0) out += '\n';
                append(piece.parts[i], out);
            }
            return;
    }
}

}  // namespace

std::string print(const Function& function, const std::string& name) {
    std::string flat = "fn " + name;
    append(function.signature, flat);
    flat += " {\n";
    append(function.body, flat);
    flat += "\n}";
    std::string out;
    std::size_t depth = 1, at = 0;
    while (at < flat.size()) {
        const std::size_t end = std::min(flat.find('\n', at), flat.size());
        const std::string_view line(flat.data() + at, end - at);
        at = end + 1;
        if (line.empty()) continue;
        if (line[0] == '}') --depth;
        out += std::string(depth * 4, ' ') + std::string(line) + '\n';
        if (line.back() == '{') ++depth;
    }
    return out;
}

std::string generate(std::uint64_t seed, const std::string& name) {
    Generator generator(seed / 2);   // a program and its mutant stand side by side
    Function function = generator.function();
    if (seed % 2 != 0 && seed % 8 != 7) {   // some stay as they are: more than half would be rejected
        for (int tries = 0; tries < 20 && !generator.mutate(function); ++tries) {}
    }
    return print(function, name);
}

}  // namespace ockc::borrow_test
