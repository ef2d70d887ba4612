// Near misses: one small change to a function that keeps it well typed and its variables in scope.
#include <algorithm>
#include <set>

#include "generator.hpp"

namespace ockc::borrow_test {

namespace {

// ---- walking --------------------------------------------------------------------------------------------------------------------

class Scopes {
  public:
    // Every use in the piece is of a visible variable.
    bool walk(const Piece& piece) {
        switch (piece.kind) {
            case Piece::Kind::Text:
            case Piece::Kind::Mut: return true;
            case Piece::Kind::Declare: outer_.push_back({piece.type, piece.variable, false}); return true;
            case Piece::Kind::DeclareInner: inner_.push_back({piece.type, piece.variable, false}); return true;
            case Piece::Kind::Use: return is_visible(piece.variable);
            case Piece::Kind::Sequence: return sequence(piece);
            case Piece::Kind::Block: return block(piece);
        }
        return false;
    }
    void enter_statements() {
        visible_.insert(visible_.end(), outer_.begin(), outer_.end());
        outer_.clear();
        inner_.clear();
    }
    const std::vector<Variable>& visible() const { return visible_; }
    const Piece* target = nullptr;
    std::vector<Variable> at_target;

  private:
    bool is_visible(std::uint32_t id) const {
        return std::any_of(visible_.begin(), visible_.end(), [&](const Variable& one) { return one.id == id; });
    }
    bool sequence(const Piece& piece) {
        if (&piece == target) at_target = visible_;
        for (const Piece& part : piece.parts) {
            if (!walk(part)) return false;
        }
        return true;
    }
    bool block(const Piece& piece) {
        const std::size_t count = visible_.size();
        std::vector<Variable> outer = std::move(outer_);
        outer_.clear();
        visible_.insert(visible_.end(), inner_.begin(), inner_.end());
        inner_.clear();
        for (const Piece& statement : piece.parts) {
            if (!walk(statement)) return false;
            enter_statements();
        }
        visible_.resize(count);
        outer_ = std::move(outer);
        return true;
    }

    std::vector<Variable> visible_, inner_, outer_;
};

template <class Keep>
void collect(Piece& piece, std::vector<Piece*>& out, Keep&& keep) {
    if (keep(piece)) out.push_back(&piece);
    for (Piece& part : piece.parts) collect(part, out, keep);
}

bool contains(const Piece& piece, Piece::Kind kind, std::string_view text = {}) {
    if (piece.kind == kind && (text.empty() || piece.text.find(text) != std::string::npos)) return true;
    return std::any_of(piece.parts.begin(), piece.parts.end(), [&](const Piece& part) { return contains(part, kind, text); });
}

// The visible variables at a Sequence of the function.
std::vector<Variable> scope_at(const Function& function, const Piece& target) {
    Scopes scopes;
    scopes.target = &target;
    scopes.walk(function.signature);
    scopes.enter_statements();
    scopes.walk(function.body);
    return scopes.at_target;
}

std::size_t statement_count(const Function& function, const Piece& block) {
    const bool has_tail = &block == &function.body && !function.result.empty();
    return block.parts.size() - (has_tail ? 1 : 0);
}

}  // namespace

bool is_well_scoped(const Function& function) {
    Scopes scopes;
    if (!scopes.walk(function.signature)) return false;
    scopes.enter_statements();
    return scopes.walk(function.body);
}

// ---- the changes ------------------------------------------------------------------------------------------------------------------

bool Generator::mutate(Function& function) {
    using Change = bool (Generator::*)(Function&);
    static constexpr Change kChanges[] = {
        &Generator::move_statement, &Generator::move_statement,     &Generator::repeat_statement, &Generator::use_late,
        &Generator::use_late,       &Generator::replace_expression, &Generator::replace_variable, &Generator::toggle_mut,
        &Generator::wrap_in_loop,   &Generator::change_lifetime,
    };
    Function changed = function;
    const Change change = kChanges[random_.below(std::size(kChanges))];
    if (!(this->*change)(changed) || !is_well_scoped(changed)) return false;
    function = std::move(changed);
    return true;
}

bool Generator::move_statement(Function& function) {
    std::vector<Piece*> blocks;
    collect(function.body, blocks, [](const Piece& one) { return one.kind == Piece::Kind::Block && one.parts.size() > 1; });
    if (blocks.empty()) return false;
    Piece& block = *blocks[random_.below(static_cast<std::uint32_t>(blocks.size()))];
    const std::uint32_t count = static_cast<std::uint32_t>(statement_count(function, block));
    if (count < 2) return false;
    const std::uint32_t from = random_.below(count), to = random_.below(count);
    if (from == to) return false;
    Piece moved = std::move(block.parts[from]);
    block.parts.erase(block.parts.begin() + from);
    block.parts.insert(block.parts.begin() + to, std::move(moved));
    return true;
}

bool Generator::repeat_statement(Function& function) {
    const std::uint32_t count = static_cast<std::uint32_t>(statement_count(function, function.body));
    const std::uint32_t from = random_.below(count);
    const Piece repeated = function.body.parts[from];
    if (contains(repeated, Piece::Kind::Declare) || contains(repeated, Piece::Kind::DeclareInner)) return false;
    const std::uint32_t to = from + random_.below(count - from) + 1;
    function.body.parts.insert(function.body.parts.begin() + to, repeated);
    return true;
}

namespace {
struct LateUse {
    std::string_view type, text;
};
constexpr LateUse kLateUses[] = {
#define BORROW_LATE(type, text) {#type, text},
#include "grammar.def"
};
}  // namespace

// A loan, or a value, has to live to the end.
bool Generator::use_late(Function& function) {
    Scopes scopes;
    scopes.walk(function.signature);
    scopes.enter_statements();
    const std::size_t count = statement_count(function, function.body);
    for (std::size_t i = 0; i < count; ++i) {
        scopes.walk(function.body.parts[i]);
        scopes.enter_statements();
    }
    if (scopes.visible().empty()) return false;
    const Variable variable = scopes.visible()[random_.below(static_cast<std::uint32_t>(scopes.visible().size()))];
    visible_.assign(1, variable);
    for (const LateUse& late : kLateUses) {
        if (late.type != variable.type) continue;
        function.body.parts.insert(function.body.parts.begin() + static_cast<std::ptrdiff_t>(count), shape(late.text, {}));
        return true;
    }
    return false;
}

bool Generator::replace_expression(Function& function) {
    std::vector<Piece*> expressions;
    collect(function.body, expressions, [](const Piece& one) { return one.kind == Piece::Kind::Sequence && !one.type.empty(); });
    if (expressions.empty()) return false;
    Piece& old = *expressions[random_.below(static_cast<std::uint32_t>(expressions.size()))];
    visible_ = scope_at(function, old);
    const Need need = old.is_place ? Need::Place : Need::Value;
    if (!can_make(old.type, 2, need)) return false;
    const bool wrapped = old.parts.front().kind == Piece::Kind::Text && old.parts.front().text == "(";
    Piece fresh = expression(old.type, 2, need);
    if (wrapped) {
        fresh.parts.insert(fresh.parts.begin(), old.parts.front());
        fresh.parts.push_back(old.parts.back());
    }
    old = std::move(fresh);
    return true;
}

bool Generator::replace_variable(Function& function) {
    std::vector<Piece*> uses;
    collect(function.body, uses, [](const Piece& one) { return one.kind == Piece::Kind::Use; });
    if (uses.empty()) return false;
    Piece& chosen = *uses[random_.below(static_cast<std::uint32_t>(uses.size()))];
    std::vector<Piece*> same;
    collect(function.signature, same, [&](const Piece& one) { return one.kind == Piece::Kind::Declare && one.type == chosen.type; });
    collect(function.body, same, [&](const Piece& one) { return one.kind == Piece::Kind::Declare && one.type == chosen.type; });
    const std::uint32_t other = same.empty() ? chosen.variable : same[random_.below(static_cast<std::uint32_t>(same.size()))]->variable;
    if (other == chosen.variable) return false;
    chosen.variable = other;
    return true;
}

bool Generator::toggle_mut(Function& function) {
    std::vector<Piece*> all;
    collect(function.signature, all, [](const Piece& one) { return one.kind == Piece::Kind::Mut && one.is_mut; });
    collect(function.body, all, [](const Piece& one) { return one.kind == Piece::Kind::Mut && one.is_mut; });
    if (all.empty()) return false;
    all[random_.below(static_cast<std::uint32_t>(all.size()))]->is_mut = false;
    return true;
}

bool Generator::wrap_in_loop(Function& function) {
    const std::uint32_t count = static_cast<std::uint32_t>(statement_count(function, function.body));
    Piece& chosen = function.body.parts[random_.below(count)];
    if (contains(chosen, Piece::Kind::Declare)) return false;
    Piece loop;
    loop.kind = Piece::Kind::Sequence;
    Piece open, close, block;
    open.text = "while k {\n";
    close.text = "\n}";
    block.kind = Piece::Kind::Block;
    block.parts.push_back(std::move(chosen));
    loop.parts = {std::move(open), std::move(block), std::move(close)};
    chosen = std::move(loop);
    return true;
}

bool Generator::change_lifetime(Function& function) {
    static constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
        {": &'b ", ": &'a "}, {": &'a ", ": &"}, {"'b: 'a", "'b"}, {": &'a ", ": &'static "}, {"'a, 'b>", "'a, 'b: 'a>"}, {": &", ": &'static "},
        {"T: 'static", "T"},  {"T: 'a", "T"},        {"-> &'a ", "-> &"},  {"<'a>", ""},                {"'a, 'b>", "'a>"},             {"T: 'a", "T"},
    };
    const auto& change = kChanges[random_.below(std::size(kChanges))];
    const std::string_view from = change.first, to = change.second;
    std::vector<Piece*> texts;
    collect(function.signature, texts, [&](const Piece& one) { return one.kind == Piece::Kind::Text && one.text.find(from) != std::string::npos; });
    if (texts.empty()) return false;
    Piece& chosen = *texts[random_.below(static_cast<std::uint32_t>(texts.size()))];
    if (from == ": &" && chosen.text[chosen.text.find(from) + 3] == '\'') return false;
    chosen.text.replace(chosen.text.find(from), from.size(), to);
    return true;
}

}  // namespace ockc::borrow_test
