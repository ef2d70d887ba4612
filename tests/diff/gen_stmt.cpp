// Statements: bindings, assignments, branches, exits.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

void Generator::line(const std::string& text) { out_ += std::string(indent_ * 4, ' ') + text + "\n"; }

void Generator::statements(std::uint32_t count, std::uint32_t depth) {
    for (std::uint32_t i = 0; i < count; ++i) statement(depth);
}

void Generator::statement(std::uint32_t depth) {
    struct Row {
        Construct construct;
        std::uint32_t weight;
        bool (Generator::*make)(std::uint32_t);
    };
    static constexpr Row kRows[] = {
#define DIFF_STMT(id, weight, name) {Construct::id, weight, &Generator::stmt##id},
#include "constructs.def"
    };
    static constexpr std::uint32_t kTotal = 0
#define DIFF_STMT(id, weight, name) +weight
#include "constructs.def"
        ;
    if (--fuel_ <= 0 || depth == 0) {
        stmtLet(0);
        return;
    }
    for (int attempt = 0; attempt < 6; ++attempt) {
        std::uint32_t at = random_.below(kTotal);
        for (const Row& row : kRows) {
            if (at >= row.weight) {
                at -= row.weight;
                continue;
            }
            const std::size_t written = out_.size();
            if ((this->*row.make)(depth - 1)) {
                use(row.construct);
                return;
            }
            out_.resize(written);
            break;
        }
    }
}

// `{`, statements and `}` on lines of their own; the head of the line is already written by the caller's `line`.
void Generator::body(std::uint32_t depth) {
    const Scope scope(*this);
    ++indent_;
    statements(random_.between(1, 3), depth);
    --indent_;
}

bool Generator::stmtLet(std::uint32_t depth) {
    const TypePtr type = any_type();
    const Expr value = expr(type, depth);
    const std::string name = fresh("v");
    line(fmt::format("let {}{} = {};", name, random_.chance(60) ? ": " + type->name : "", value.text));
    declare(name, type, false, value.known);
    return true;
}

bool Generator::stmtLetMut(std::uint32_t depth) {
    const TypePtr type = any_type();
    const Expr value = expr(type, depth);
    const std::string name = fresh("v");
    line(fmt::format("let mut {}: {} = {};", name, type->name, value.text));
    declare(name, type, true, value.known);
    return true;
}

bool Generator::stmtLetPattern(std::uint32_t depth) {
    std::vector<TypePtr> found;
    for (const TypePtr type : composites_) {
        if (type->kind == Kind::Tuple || type->kind == Kind::Struct || type->kind == Kind::Array) found.push_back(type);
    }
    if (found.empty()) return false;
    const TypePtr type = random_.pick(found);
    const std::string value = expr(type, depth).text;
    Bindings bindings;
    const std::string tested = pattern(type, 3, false, false, &bindings);
    line(fmt::format("let {} = {};", tested, value));
    declare(bindings);
    return true;
}

bool Generator::stmtLetElse(std::uint32_t depth) {
    const TypePtr type = random_.pick(composites_);
    const TypePtr result = frames_.back().result;
    const std::string value = expr(type, depth).text;
    Bindings bindings;
    const std::string tested = pattern(type, 3, true, false, &bindings);
    const Frame& frame = frames_.back();
    std::string leave;
    if (!frame.labels.empty() && frame.labels.back().is_loop && random_.chance(50)) {
        leave = "continue " + frame.labels.back().name;
    } else if (result != nullptr) {
        leave = "return " + expr(result, depth).text;
    } else {
        leave = "return";
    }
    line(fmt::format("let {} = ({}) else {{ {} }};", tested, value, leave));
    declare(bindings);
    return true;
}

bool Generator::stmtLetLater(std::uint32_t depth) {
    const TypePtr type = any_type();
    const std::string name = fresh("v");
    line(fmt::format("let {}: {};", name, type->name));
    const std::string condition = boolean(depth);
    const std::string first = expr(type, depth).text, second = expr(type, depth).text;
    line(fmt::format("if {} {{ {} = {}; }} else {{ {} = {}; }}", condition, name, first, name, second));
    declare(name, type, false, true);
    return true;
}

// The value of an old variable under its name again, of the same type: the text means the newer one from here on.
bool Generator::stmtShadow(std::uint32_t depth) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const Variable& variable = variables_[i];
        if (usable(i, false) && variable.frozen == 0 && variable.text[0] == 'v') found.push_back(i);
    }
    if (found.empty()) return false;
    const Variable old = variables_[random_.pick(found)];
    const Expr value = expr(old.type, depth);
    line(fmt::format("let {}{}: {} = {};", old.is_mutable ? "mut " : "", old.text, old.type->name, value.text));
    declare(old.text, old.type, old.is_mutable, value.known || old.known);
    return true;
}

bool Generator::stmtAssign(std::uint32_t depth) {
    const std::optional<Target> to = target();
    if (!to || to->type->kind == Kind::Param) return false;
    const Expr value = expr(to->type, depth);
    if (value.known) variables_[to->root].known = true;
    line(fmt::format("{} = {};", to->text, value.text));
    return true;
}

bool Generator::stmtCompoundAssign(std::uint32_t depth) {
    const std::optional<Target> to = target(true);
    if (!to || to->type->kind == Kind::Char) return false;
    const TypePtr type = to->type;
    if (type->kind == Kind::Bool) {
        line(fmt::format("{} {}= {};", to->text, std::array{"&", "|", "^"}[random_.below(3)], boolean(depth)));
        return true;
    }
    const std::uint32_t form = random_.below(type->kind == Kind::Float ? 4 : 10);
    if (form >= 6) {
        const char* op = std::array{"<<", ">>"}[random_.below(2)];
        const TypePtr amount_type = integer();
        Expr amount = expr(amount_type, depth);
        if (amount.known) amount = dynamic(amount_type);
        line(fmt::format("{} {}= {};", to->text, op, amount.text));
        return true;
    }
    if (form == 3) {
        const std::string divisor = type->kind == Kind::Float ? expr(type, depth).text : fmt::format("{} & 0x3f | 1", expr(type, depth).text);
        line(fmt::format("{} {}= {};", to->text, type->kind == Kind::Int && random_.chance(50) ? "%" : "/", divisor));
        return true;
    }
    const char* op = std::array{"+", "-", "*", "", "&", "^"}[form];
    Expr value = expr(type, depth);
    if (form < 3 && value.known && variables_[to->root].known) value = dynamic(type);
    line(fmt::format("{} {}= {};", to->text, op, value.text));
    return true;
}

bool Generator::stmtDestructure(std::uint32_t depth) {
    const std::optional<Target> first = target(), second = target();
    if (!first || !second) return false;
    const TypePtr a = first->type, b = second->type;
    const std::string left = expr(a, depth).text, right = expr(b, depth).text;
    variables_[first->root].known = variables_[second->root].known = true;
    if (random_.chance(50)) {
        line(fmt::format("({}, {}) = ({}, {});", first->text, second->text, left, right));
    } else {
        line(fmt::format("[_, {}] = [{}, {}];", first->text, expr(a, depth).text, left));
    }
    return true;
}

bool Generator::stmtIfStmt(std::uint32_t depth) {
    line(fmt::format("if {} {{", boolean(depth)));
    body(depth);
    if (random_.chance(50)) {
        line("} else {");
        body(depth);
    }
    line("}");
    return true;
}

bool Generator::stmtIfLetStmt(std::uint32_t depth) {
    const TypePtr type = random_.pick(composites_);
    const std::string value = expr(type, depth).text;
    {
        const Scope scope(*this);
        Bindings bindings;
        const std::string tested = pattern(type, 3, true, false, &bindings);
        declare(bindings);
        std::string chain;
        if (random_.chance(30)) chain = " && " + boolean(depth);
        line(fmt::format("if let {} = {}{} {{", tested, value, chain));
        body(depth);
    }
    line("}");
    return true;
}

bool Generator::stmtMatchStmt(std::uint32_t depth) {
    const TypePtr type = any_type();
    line(fmt::format("match {} {{", expr(type, depth).text));
    ++indent_;
    const std::uint32_t count = random_.between(1, 3);
    for (std::uint32_t i = 0; i <= count; ++i) {
        const Scope scope(*this);
        Bindings bindings;
        const std::string tested = pattern(type, 3, i != count, false, &bindings);
        declare(bindings);
        line(tested + " => {");
        body(depth);
        line("}");
    }
    --indent_;
    line("}");
    return true;
}

bool Generator::stmtBreak(std::uint32_t depth) {
    const std::vector<Label>& labels = frames_.back().labels;
    if (labels.empty()) return false;
    const Label label = random_.pick(labels);
    const std::string condition = boolean(depth);
    if (label.is_loop && random_.chance(50)) {
        line(fmt::format("if {} {{ continue {}; }}", condition, label.name));
    } else if (label.value != nullptr) {
        line(fmt::format("if {} {{ break {} {}; }}", condition, label.name, expr(label.value, depth).text));
    } else {
        line(fmt::format("if {} {{ break {}; }}", condition, label.name));
    }
    return true;
}

bool Generator::stmtReturn(std::uint32_t depth) {
    const TypePtr result = frames_.back().result;
    const std::string condition = boolean(depth);
    if (result == nullptr) {
        line(fmt::format("if {} {{ return; }}", condition));
    } else {
        line(fmt::format("if {} {{ return {}; }}", condition, expr(result, depth).text));
    }
    return true;
}

bool Generator::stmtNestedFn(std::uint32_t depth) {
    const TypePtr argument = scalar_type(), result = scalar_type();
    const std::string name = fresh("inner");
    std::vector<Variable> outside;
    outside.swap(variables_);
    std::vector<Frame> frames;
    frames.swap(frames_);
    frames_.push_back({result, false, {}});
    declare("s", int_type(64, false), false);
    declare("x", argument, false);
    line(fmt::format("fn {}(s: u64, x: {}) -> {} {{", name, argument->name, result->name));
    ++indent_;
    statements(1, depth);
    line(expr(result, depth).text);
    --indent_;
    line("}");
    outside.swap(variables_);
    frames.swap(frames_);
    const std::string used = fresh("v");
    line(fmt::format("let {}: {} = {}(s, {});", used, result->name, name, expr(argument, depth).text));
    declare(used, result, false);
    return true;
}

bool Generator::stmtLocalConst(std::uint32_t) {
    const TypePtr type = scalar_type();
    const std::string name = fresh("L");
    line(fmt::format("const {}: {} = {};", name, type->name, literal_scalar(type, false)));
    declare(name, type, false, true);
    return true;
}

bool Generator::stmtAssert(std::uint32_t depth) {
    const TypePtr type = integer();
    const MaybeExpr found = place(type, false);
    if (!found) return false;
    const std::string condition = boolean(depth);
    if (random_.chance(50)) {
        line(fmt::format("assert!({0} == {0} || {1});", found->text, condition));
    } else {
        line(fmt::format("debug_assert!({0} | 1 != 0 || {1}, \"never zero\");", found->text, condition));
    }
    return true;
}

}  // namespace ockc::difftest
