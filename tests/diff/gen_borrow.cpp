// Statements that borrow: what is borrowed mutably is hidden meanwhile.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

bool Generator::stmtBorrowMut(std::uint32_t depth) {
    const std::optional<Target> to = target();
    if (!to) return false;
    const TypePtr type = to->type;
    const std::size_t root = to->root;
    const std::string name = fresh("r");
    variables_[root].known = true;
    line(fmt::format("let {} = &mut {};", name, to->text));
    const Hide hide(*this, root);
    const Scope scope(*this);
    declare("(*" + name + ")", type, true, true);
    line(fmt::format("*{} = {};", name, expr(type, depth).text));
    statements(random_.between(1, 2), depth);
    line(fmt::format("*{} = {};", name, expr(type, depth).text));
    return true;
}

bool Generator::stmtReborrow(std::uint32_t depth) {
    const std::optional<Target> to = target();
    if (!to) return false;
    const TypePtr type = to->type;
    const std::size_t root = to->root;
    const std::string outer = fresh("r"), inner = fresh("r");
    variables_[root].known = true;
    line("{");
    ++indent_;
    {
        const Hide hide(*this, root);
        const Scope scope(*this);
        line(fmt::format("let {} = &mut {};", outer, to->text));
        line("{");
        line(fmt::format("    let {} = &mut *{};", inner, outer));
        {
            const Scope inner_scope(*this);
            declare("(*" + inner + ")", type, true, true);
            ++indent_;
            statements(1, depth);
            line(fmt::format("*{} = {};", inner, expr(type, depth).text));
            --indent_;
        }
        line("}");
        declare("(*" + outer + ")", type, true, true);
        const std::string value = expr(type, depth).text;
        line(fmt::format("*{} = {};", outer, value));
    }
    --indent_;
    line("}");
    return true;
}

bool Generator::stmtRefBinding(std::uint32_t depth) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const Variable& variable = variables_[i];
        if (variable.type->kind == Kind::Option && usable(i, true)) found.push_back(i);
    }
    if (found.empty()) {
        const TypePtr type = option_of(any_type());
        const std::string made = fresh("v");
        line(fmt::format("let mut {}: {} = {};", made, type->name, expr(type, depth).text));
        declare(made, type, true, true);
        found.push_back(variables_.size() - 1);
    }
    const std::size_t root = random_.pick(found);
    const TypePtr inside = variables_[root].type->parts[0];
    const std::string text = variables_[root].text, name = fresh("r");
    variables_[root].known = true;
    const std::uint32_t form = random_.below(3);
    const char* head = form == 0 ? "if let Some(ref mut {0}) = {1} {{" : form == 1 ? "if let Some({0}) = &mut {1} {{" : "if let Some({0}) = {1}.as_mut() {{";
    line(fmt::format(fmt::runtime(head), name, text));
    {
        const Hide hide(*this, root);
        const Scope scope(*this);
        declare("(*" + name + ")", inside, true, true);
        ++indent_;
        line(fmt::format("*{} = {};", name, expr(inside, depth).text));
        --indent_;
        body(depth);
    }
    line("}");
    return true;
}

bool Generator::stmtCallMut(std::uint32_t depth) {
    std::vector<const Function*> found;
    for (const Function& function : functions_) {
        for (const Param& param : function.params) {
            if (param.pass == Pass::Mut || param.pass == Pass::SliceMut) {
                found.push_back(&function);
                break;
            }
        }
    }
    if (found.empty()) return false;
    const Function function = *random_.pick(found);
    const MaybeExpr made = call(function, depth);
    if (!made) return false;
    const std::string name = fresh("v");
    line(fmt::format("let {}: {} = {};", name, function.result->name, made->text));
    declare(name, function.result, false);
    return true;
}

bool Generator::stmtMethodMut(std::uint32_t depth) {
    std::vector<const Function*> found;
    for (const Function& method : methods_) {
        if (!method.params.empty() && !method.method.empty() && method.params[0].pass == Pass::Mut) found.push_back(&method);
    }
    if (found.empty()) return false;
    const Function method = *random_.pick(found);
    std::size_t root = 0;
    if (!affordable(method.cost)) return false;
    MaybeExpr target = place(method.params[0].type, true, &root);
    if (!target) {
        const TypePtr type = method.params[0].type;
        const std::string made = fresh("v");
        line(fmt::format("let mut {}: {} = {};", made, type->name, expr(type, depth).text));
        declare(made, type, true, true);
        root = variables_.size() - 1;
        target = Expr{made};
    }
    const std::string name = fresh("v");
    variables_[root].known = true;
    std::string given;
    {
        const Hide hide(*this, root);
        given = arguments(method, 1, depth);
    }
    line(fmt::format("let {}: {} = {}.{}({});", name, method.result->name, target->text, method.method, given));
    declare(name, method.result, false);
    return true;
}

bool Generator::stmtClosureMut(std::uint32_t depth) {
    const std::optional<Target> to = target();
    if (!to) return false;
    const TypePtr type = to->type, argument = scalar_type(), result = scalar_type();
    const std::size_t root = to->root;
    variables_[root].known = true;
    const std::string name = fresh("c"), x = fresh("x");
    std::string first, second;
    {
        const Scope scope(*this);
        frames_.push_back({result, true, {}});
        line(fmt::format("let mut {} = |{}: {}| -> {} {{", name, x, argument->name, result->name));
        ++indent_;
        {
            const std::uint32_t was_frozen = variables_[root].frozen;
            const Freeze freeze(*this);
            variables_[root].frozen = was_frozen;
            declare(x, argument, false);
            const std::string value = expr(type, depth).text;
            line(fmt::format("{} = {};", to->text, value));
            line(expr(result, depth).text);
            variables_[root].frozen = was_frozen + 1;
        }
        --indent_;
        line("};");
        frames_.pop_back();
    }
    const std::string a = fresh("v"), b = fresh("v");
    {
        const Freeze freeze(*this);
        const Hide hide(*this, root);
        first = expr(argument, depth).text;
        line(fmt::format("let {}: {} = {}({});", a, result->name, name, first));
        second = expr(argument, depth).text;
        line(fmt::format("let {}: {} = {}({});", b, result->name, name, second));
    }
    declare(a, result, false);
    declare(b, result, false);
    return true;
}

// The closure has copies: writing the originals afterwards changes nothing for it.
bool Generator::stmtClosureMove(std::uint32_t depth) {
    const TypePtr argument = scalar_type(), result = any_type();
    const std::string name = fresh("c"), x = fresh("x");
    for (const Variable& variable : variables_) {
        const bool slice = variable.type->kind == Kind::Array && variable.type->length == 0;
        if (variable.text[0] == '(' || (slice && variable.is_mutable)) return false;   // it would move mutable references
    }
    {
        const Scope scope(*this);
        const Freeze freeze(*this);
        frames_.push_back({result, true, {}});
        declare(x, argument, false);
        line(fmt::format("let {} = move |{}: {}| -> {} {{", name, x, argument->name, result->name));
        ++indent_;
        line(expr(result, depth).text);
        --indent_;
        line("};");
        frames_.pop_back();
    }
    statements(1, depth);
    const std::string used = fresh("v");
    line(fmt::format("let {}: {} = {}({});", used, result->name, name, expr(argument, depth).text));
    declare(used, result, false);
    return true;
}

bool Generator::stmtSwap(std::uint32_t depth) {
    const std::optional<Target> to = target();
    if (!to || to->type->kind == Kind::Param) return false;
    const std::string other = fresh("v");
    line(fmt::format("let mut {}: {} = {};", other, to->type->name, expr(to->type, depth).text));
    declare(other, to->type, true, true);
    variables_[to->root].known = true;
    line(fmt::format("core::mem::swap(&mut {}, &mut {});", to->text, other));
    return true;
}

bool Generator::stmtSplitMut(std::uint32_t depth) {
    std::optional<std::size_t> found = array_variable(nullptr, true);
    if (!found || variables_[*found].type->length < 2) {
        const TypePtr type = array_of(any_type(), random_.between(2, 4));
        const std::string name = fresh("v");
        line(fmt::format("let mut {}: {} = {};", name, type->name, expr(type, depth).text));
        declare(name, type, true, true);
        found = variables_.size() - 1;
    }
    const Variable array = variables_[*found];
    variables_[*found].known = true;
    const TypePtr element = array.type->parts[0];
    const Hide hide(*this, *found);
    const std::string a = fresh("r"), b = fresh("r");
    const std::uint32_t mid = random_.between(1, array.type->length - 1);
    line(fmt::format("let ({}, {}) = {}.split_at_mut({}usize);", a, b, array.text, mid));
    line(fmt::format("{}[0] = {};", a, expr(element, depth).text));
    line(fmt::format("{0}[{0}.len() - 1] = {1}[0];", b, a));
    return true;
}

bool Generator::stmtSlicePattern(std::uint32_t depth) {
    const std::optional<std::size_t> found = array_variable(nullptr, false);
    if (!found) return false;
    const Variable array = variables_[*found];
    const TypePtr element = array.type->parts[0], result = scalar_type();
    const Freeze freeze(*this);
    const std::string name = fresh("v"), view = fresh("w"), a = fresh("p"), b = fresh("p"), rest = fresh("q");
    line(fmt::format("let {}: &[{}] = &{};", view, element->name, array.text));
    line(fmt::format("let {}: {} = match {} {{", name, result->name, view));
    ++indent_;
    const auto arm = [&](const std::string& tested, const std::vector<std::string>& names, const std::string& extra) {
        const Scope scope(*this);
        for (const std::string& one : names) declare("(*" + one + ")", element, false, true);
        if (!extra.empty()) declare(extra, make_type({Kind::Array, "[" + element->name + "]", 0, false, {element}, 0, {}}), false);
        line(fmt::format("{} => {},", tested, expr(result, depth).text));
    };
    arm("[]", {}, "");
    if (random_.chance(50)) arm(fmt::format("[{}]", a), {a}, "");
    if (random_.chance(50)) arm(fmt::format("[{}, .., {}]", a, b), {a, b}, "");
    if (random_.chance(50)) arm(fmt::format("[_, {} @ ..] if !{}.is_empty()", rest, rest), {}, rest);
    arm(fmt::format("[{}, ..]", a), {a}, "");
    --indent_;
    line("};");
    declare(name, result, false);
    return true;
}

// Guards write their numbers to a log when they are dropped, in rustc's order.
bool Generator::stmtDrops(std::uint32_t depth) {
    const std::string value = fresh("g"), log = fresh("h"), a = fresh("d"), b = fresh("d"), name = fresh("v");
    line(fmt::format("let mut {} = {}u64;", value, random_.below(100)));
    line(fmt::format("let {} = &mut {} as *mut u64;", log, value));
    line("{");
    ++indent_;
    {
        const Scope scope(*this);
        line(fmt::format("let {} = Guard::new({}, {});", a, log, random_.between(1, 50)));
        statements(random_.below(2), depth);
        switch (random_.below(5)) {
            case 0: line(fmt::format("let {} = ({}, Guard::new({}, 7));", b, a, log)); break;
            case 1: line(fmt::format("if {} {{ core::mem::drop({}); }}", boolean(depth), a)); break;
            case 2: line(fmt::format("let mut {0} = Some({1}); if {2} {{ {0} = None; }}", b, a, boolean(depth))); break;
            case 3: line(fmt::format("let {} = match {} {{ true => Some({}), false => None }};", b, boolean(depth), a)); break;
            default: line(fmt::format("let mut {0} = {1}; {0} = Guard::new({2}, 9);", b, a, log)); break;
        }
        line(fmt::format("let {} = Guard::new({}, {});", fresh("_d"), log, random_.between(51, 99)));
        statements(1, depth);
    }
    --indent_;
    line("}");
    line(fmt::format("let {} = unsafe {{ *{} }};", name, log));
    declare(name, int_type(64, false), false);
    return true;
}

}  // namespace ockc::difftest
