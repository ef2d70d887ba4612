// Expressions with control flow, and those that borrow.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

// `{` statements and a value `}`; the text has lines of its own.
std::string Generator::block(TypePtr type, std::uint32_t depth) {
    const Scope scope(*this);
    std::string outside;
    outside.swap(out_);
    ++indent_;
    statements(random_.below(3), depth);
    line(expr(type, depth).text);
    --indent_;
    outside.swap(out_);
    return "{\n" + outside + std::string(indent_ * 4, ' ') + "}";
}

MaybeExpr Generator::exprBlock(TypePtr type, std::uint32_t depth) { return Expr{"(" + block(type, depth) + ")", true}; }

MaybeExpr Generator::exprIfElse(TypePtr type, std::uint32_t depth) {
    const std::string condition = boolean(depth);
    std::string text = fmt::format("(if {} {} ", condition, block(type, depth));
    if (random_.chance(25)) text += fmt::format("else if {} {} ", boolean(depth), block(type, depth));
    return Expr{text + "else " + block(type, depth) + ")"};
}

MaybeExpr Generator::exprIfLet(TypePtr type, std::uint32_t depth) {
    const TypePtr of = any_type();
    const std::string subject = expr(of, depth).text;
    std::string text;
    {
        const Scope scope(*this);
        Bindings bindings;
        const std::string tested = pattern(of, 3, true, false, &bindings);
        declare(bindings);
        text = fmt::format("(if let {} = {} {} ", tested, subject, block(type, depth));
    }
    return Expr{text + "else " + block(type, depth) + ")", true};
}

MaybeExpr Generator::exprLetChain(TypePtr type, std::uint32_t depth) {
    std::string text = "(if ";
    {
        const Scope scope(*this);
        const std::uint32_t links = random_.between(2, 3);
        for (std::uint32_t i = 0; i < links; ++i) {
            text += i != 0 ? " && " : "";
            if (i == 1 && links == 3) {
                text += boolean(depth);
                continue;
            }
            const TypePtr of = any_type();
            const std::string subject = expr(of, depth).text;
            Bindings bindings;
            const std::string tested = pattern(of, 2, true, false, &bindings);
            text += fmt::format("let {} = {}", tested, subject);
            declare(bindings);
        }
        text += " " + block(type, depth);
    }
    return Expr{text + " else " + block(type, depth) + ")", true};
}

MaybeExpr Generator::arms(TypePtr type, TypePtr subject, const std::string& text, bool by_ref, std::uint32_t depth) {
    std::string out = fmt::format("(match {} {{\n", text);
    const auto arm = [&](const std::string& tested, const Bindings& bindings, bool guarded) {
        declare(bindings);
        std::string guard;
        if (guarded) {
            const Freeze freeze(*this);
            guard = " if " + boolean(depth);
        }
        const std::string value = random_.chance(30) ? block(type, depth) : expr(type, depth).text;
        out += fmt::format("{:{}}{}{} => {},\n", "", indent_ * 4, tested, guard, value);
    };
    ++indent_;
    const std::uint32_t count = random_.below(4);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Scope scope(*this);
        Bindings bindings;
        const std::string tested = pattern(subject, 3, true, by_ref, &bindings);
        arm(tested, bindings, random_.chance(30));
    }
    if (subject->kind == Kind::Enum && random_.chance(60)) {
        for (const Variant& variant : subject->variants) {
            const Scope scope(*this);
            Bindings bindings;
            const std::string tested = variant_pattern(subject, variant, 2, false, by_ref, &bindings);
            arm(tested, bindings, false);
        }
    } else if ((subject->kind == Kind::Option || subject->kind == Kind::Result) && random_.chance(60)) {
        for (std::size_t i = 0; i < 2; ++i) {
            const Scope scope(*this);
            Bindings bindings;
            std::string tested = "None";
            if (subject->kind == Kind::Result || i == 0) {
                const std::string inner = pattern(subject->parts[i], 2, false, by_ref, &bindings);
                tested = fmt::format("{}({})", subject->kind == Kind::Option ? "Some" : i == 0 ? "Ok" : "Err", inner);
            }
            arm(tested, bindings, false);
        }
    } else {
        const Scope scope(*this);
        Bindings bindings;
        const std::string tested = pattern(subject, 1, false, by_ref, &bindings);
        arm(tested, bindings, false);
    }
    --indent_;
    return Expr{out + std::string(indent_ * 4, ' ') + "})", true};
}

MaybeExpr Generator::exprMatch(TypePtr type, std::uint32_t depth) {
    const TypePtr subject = any_type();
    const std::string text = expr(subject, depth).text;
    return arms(type, subject, text, false, depth);
}

MaybeExpr Generator::exprMatchRef(TypePtr type, std::uint32_t depth) {
    if (composites_.empty()) return std::nullopt;
    const TypePtr subject = random_.pick(composites_);
    const Freeze freeze(*this);
    const MaybeExpr of = place(subject, false);
    const std::string text = of ? of->text : expr(subject, depth).text;
    return arms(type, subject, fmt::format("&{}", text), true, depth);
}

MaybeExpr Generator::exprLabeledBlock(TypePtr type, std::uint32_t depth) {
    const std::string label = fresh("'b");
    frames_.back().labels.push_back({label, type, false});
    std::string text;
    {
        const Scope scope(*this);
        std::string outside;
        outside.swap(out_);
        ++indent_;
        const std::string condition = boolean(depth);
        line(fmt::format("if {} {{ break {} {}; }}", condition, label, expr(type, depth).text));
        statements(random_.below(3), depth);
        line(expr(type, depth).text);
        --indent_;
        outside.swap(out_);
        text = outside;
    }
    frames_.back().labels.pop_back();
    return Expr{fmt::format("({}: {{\n{}{:{}}}})", label, text, "", indent_ * 4), true};
}

MaybeExpr Generator::exprLoopValue(TypePtr type, std::uint32_t depth) {
    if (repeat_ > 16) return std::nullopt;
    const std::string label = fresh("'l"), counter = fresh("n");
    const std::uint32_t bound = random_.between(1, 4);
    std::string outside;
    outside.swap(out_);
    {
        const Scope scope(*this);
        ++indent_;
        line(fmt::format("let mut {} = 0u32;", counter));
        line(fmt::format("{}: loop {{", label));
        repeat_ *= bound;
        declare(counter, int_type(32, false), false);
        const std::string last = expr(type, depth).text;   // a `continue` in it would go on for ever
        frames_.back().labels.push_back({label, type, true});
        ++indent_;
        line(fmt::format("{} += 1u32;", counter));
        line(fmt::format("if {} > {}u32 {{ break {} {}; }}", counter, bound, label, last));
        statements(random_.below(3), depth);
        const std::string condition = boolean(depth);
        line(fmt::format("if {} {{ break {}; }}", condition, expr(type, depth).text));
        --indent_;
        frames_.back().labels.pop_back();
        repeat_ /= bound;
        line("}");
        --indent_;
    }
    outside.swap(out_);
    return Expr{fmt::format("({{\n{}{:{}}}})", outside, "", indent_ * 4), true};
}

std::optional<std::size_t> Generator::array_variable(TypePtr element, bool writable) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        const Variable& variable = variables_[i];
        if (variable.type->kind != Kind::Array || (element != nullptr && variable.type->parts[0] != element)) continue;
        if (!usable(i, writable)) continue;
        found.push_back(i);
    }
    if (found.empty()) return std::nullopt;
    return random_.pick(found);
}

std::string Generator::index_of(const Variable& variable, std::uint32_t depth) {
    const Variable copy = variable;   // the vector of variables grows below
    const Freeze freeze(*this);
    if (copy.type->length > 1) return index(copy.type->length, depth);
    const TypePtr usize = int_type(64, false, true);
    return fmt::format("({} % {}.len())", expr(usize, depth).text, copy.text);
}

MaybeExpr Generator::exprIndex(TypePtr type, std::uint32_t depth) {
    const std::optional<std::size_t> found = array_variable(type, false);
    if (!found) return std::nullopt;
    const std::string text = variables_[*found].text;
    return Expr{fmt::format("{}[{}]", text, index_of(variables_[*found], depth)), true};
}

MaybeExpr Generator::exprSliceGet(TypePtr type, std::uint32_t depth) {
    const std::optional<std::size_t> found = array_variable(type, false);
    if (!found) return std::nullopt;
    const std::string text = variables_[*found].text;
    const Freeze freeze(*this);
    const TypePtr usize = int_type(64, false, true);
    const std::string other = expr(type, depth).text;
    switch (random_.below(3)) {
        case 0: return Expr{fmt::format("(match {}.get({}) {{ Some(g) => *g, None => {} }})", text, expr(usize, depth).text, other)};
        case 1: return Expr{fmt::format("(if let Some(&g) = {}.first() {{ g }} else {{ {} }})", text, other)};
        default: return Expr{fmt::format("(*{}.get({} % 8usize).unwrap_or(&{}))", text, expr(usize, depth).text, other)};
    }
}

MaybeExpr Generator::exprSliceLen(TypePtr type, std::uint32_t) {
    const std::optional<std::size_t> found = array_variable(nullptr, false);
    if (!found) return std::nullopt;
    const std::string text = variables_[*found].text + ".len()";
    return Expr{type->name == "usize" ? text : fmt::format("({} as {})", text, type->name), true};
}

MaybeExpr Generator::exprDeref(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    const auto [value, known] = expr(type, depth);
    if (random_.chance(40)) return Expr{fmt::format("(*&{})", value), true};
    if (!known && random_.chance(50)) return Expr{fmt::format("(**&&{})", value), true};
    const std::string name = fresh("r");
    return Expr{fmt::format("({{ let {} = &{}; *{} }})", name, value, name), true};
}

MaybeExpr Generator::exprTempField(TypePtr type, std::uint32_t depth) {
    const TypePtr other = scalar_type();
    if (random_.chance(50)) return Expr{fmt::format("({}, {}).1", expr(other, depth).text, expr(type, depth).text), true};
    return Expr{fmt::format("({}, {}).0", expr(type, depth).text, expr(other, depth).text), true};
}

MaybeExpr Generator::exprQuestion(TypePtr type, std::uint32_t depth) {
    const TypePtr result = frames_.back().result;
    if (result == nullptr) return std::nullopt;
    if (result->kind == Kind::Option) return Expr{expr(option_of(type), depth).text + "?", true};
    if (result->kind == Kind::Result) return Expr{expr(result_of(type, result->parts[1]), depth).text + "?", true};
    return std::nullopt;
}

MaybeExpr Generator::exprUnwrapOr(TypePtr type, std::uint32_t depth) {
    const TypePtr from = random_.chance(60) ? option_of(type) : result_of(type, scalar_type());
    return Expr{fmt::format("{}.unwrap_or({})", expr(from, depth).text, expr(type, depth).text)};
}

MaybeExpr Generator::exprReplace(TypePtr type, std::uint32_t depth) {
    std::size_t root = 0;
    const MaybeExpr target = place(type, true, &root);
    if (!target) return std::nullopt;
    const Hide hide(*this, root);
    return Expr{fmt::format("core::mem::replace(&mut {}, {})", target->text, expr(type, depth).text)};
}

MaybeExpr Generator::exprClone(TypePtr type, std::uint32_t depth) { return Expr{frozen(type, depth) + ".clone()"}; }

MaybeExpr Generator::exprConstBlock(TypePtr type, std::uint32_t) { return Expr{fmt::format("const {{ {} }}", literal_scalar(type, false)), true}; }

MaybeExpr Generator::exprStructUpdate(TypePtr type, std::uint32_t depth) {
    const Variant& variant = type->variants[0];
    if (variant.shape != Shape::Named || variant.fields.size() < 2) return std::nullopt;
    const MaybeExpr base = place(type, false);
    if (!base) return std::nullopt;
    const Field& field = random_.pick(variant.fields);
    std::string head = type->name;
    if (type->generic) head.insert(head.find('<'), "::");
    return Expr{fmt::format("({} {{ {}: {}, ..{} }})", head, field.name, expr(field.type, depth).text, base->text), true};
}

MaybeExpr Generator::exprArrayRepeat(TypePtr type, std::uint32_t depth) {
    return Expr{fmt::format("[{}; {}]", expr(type->parts[0], depth).text, type->length), true};
}

MaybeExpr Generator::exprOptionChain(TypePtr type, std::uint32_t depth) {
    switch (random_.below(4)) {
        case 0: return Expr{fmt::format("{}.or({})", expr(type, depth).text, expr(type, depth).text)};
        case 1: return Expr{expr(result_of(type->parts[0], scalar_type()), depth).text + ".ok()"};
        case 2: return Expr{expr(result_of(scalar_type(), type->parts[0]), depth).text + ".err()"};
        default: {
            const MaybeExpr target = place(type, true);
            if (!target) return std::nullopt;
            return Expr{target->text + ".take()"};
        }
    }
}

}  // namespace ockc::difftest
