// Calls: functions, methods, traits, generics, closures.
#include <fmt/format.h>

#include "scope.hpp"

namespace ockc::difftest {

namespace {

constexpr std::uint64_t kMaxCost = 6000;   // executed nodes of one function, about

}  // namespace

// Adds the callee's cost, when there is room for it.
bool Generator::affordable(std::uint64_t cost) {
    if (cost_ + cost * repeat_ > kMaxCost) return false;
    cost_ += cost * repeat_;
    return true;
}

std::string Generator::argument(const Param& param, std::uint32_t depth) {
    switch (param.pass) {
        case Pass::Value: return expr(param.type, depth).text;
        case Pass::Ref: return "&" + expr(param.type, depth).text;
        case Pass::Slice: {
            const std::optional<std::size_t> found = array_variable(param.type, false);
            if (found) return (variables_[*found].type->name.find(';') == std::string::npos ? "&*" : "&") + variables_[*found].text;
            return "&" + expr(array_of(param.type, random_.between(1, 4)), depth).text;
        }
        case Pass::Mut:
        case Pass::SliceMut: break;   // by the caller: they hide their variable
    }
    return {};
}

// Arguments from `first` on, after `s`. What is passed by mutable reference is hidden for the others.
std::string Generator::arguments(const Function& function, std::size_t first, std::uint32_t depth) {
    std::vector<std::size_t> hidden;
    std::vector<std::string> texts(function.params.size());
    for (std::size_t i = first; i < function.params.size(); ++i) {
        const Param& param = function.params[i];
        if (param.pass != Pass::Mut && param.pass != Pass::SliceMut) continue;
        std::size_t root = 0;
        std::optional<std::string> target;
        if (param.pass == Pass::Mut) {
            if (const MaybeExpr found = place(param.type, true, &root)) target = found->text;
        } else if (const std::optional<std::size_t> found = array_variable(param.type, true)) {
            root = *found;
            target = variables_[root].text;
        }
        if (!target) {
            const TypePtr made = param.pass == Pass::Mut ? param.type : array_of(param.type, 2);
            texts[i] = "&mut " + literal(made, 0).text;
            continue;
        }
        const bool slice = param.pass == Pass::SliceMut && variables_[root].type->name.find(';') == std::string::npos;
        texts[i] = (slice ? "&mut *" : "&mut ") + *target;
        variables_[root].known = true;
        ++variables_[root].hidden;
        hidden.push_back(root);
    }
    {
        const Freeze freeze(*this);
        for (std::size_t i = first; i < function.params.size(); ++i) {
            if (texts[i].empty()) texts[i] = argument(function.params[i], depth);
        }
    }
    for (const std::size_t root : hidden) --variables_[root].hidden;
    std::string all = "s";
    for (std::size_t i = first; i < texts.size(); ++i) all += ", " + texts[i];
    return all;
}

MaybeExpr Generator::call(const Function& function, std::uint32_t depth) {
    if (!affordable(function.cost)) return std::nullopt;
    return Expr{fmt::format("{}({})", function.path, arguments(function, 0, depth))};
}

MaybeExpr Generator::exprCall(TypePtr type, std::uint32_t depth) {
    std::vector<const Function*> found;
    for (const Function& function : functions_) {
        if (function.result == type) found.push_back(&function);
    }
    if (found.empty()) return std::nullopt;
    return call(Function(*random_.pick(found)), depth);
}

MaybeExpr Generator::exprMethodCall(TypePtr type, std::uint32_t depth) {
    std::vector<const Function*> found;
    for (const Function& method : methods_) {
        if (method.result == type && !method.method.empty() && method.params[0].pass != Pass::Mut) found.push_back(&method);
    }
    if (found.empty()) return std::nullopt;
    const Function method = *random_.pick(found);
    if (!affordable(method.cost)) return std::nullopt;
    const std::string receiver = frozen(method.params[0].type, depth);
    std::optional<Freeze> borrowed;   // the receiver, while the arguments are computed
    if (method.params[0].pass == Pass::Ref) borrowed.emplace(*this);
    if (random_.chance(20)) {
        return Expr{fmt::format("{}({}{})", method.path, method.params[0].pass == Pass::Ref ? "&" : "",
                                receiver + ", " + arguments(method, 1, depth))};
    }
    return Expr{fmt::format("{}.{}({})", receiver, method.method, arguments(method, 1, depth))};
}

MaybeExpr Generator::exprAssocCall(TypePtr type, std::uint32_t depth) {
    std::vector<const Function*> found;
    for (const Function& method : methods_) {
        if (method.result == type && method.method.empty()) found.push_back(&method);
    }
    if (found.empty()) return std::nullopt;
    return call(Function(*random_.pick(found)), depth);
}

MaybeExpr Generator::exprTraitCall(TypePtr type, std::uint32_t depth) {
    std::vector<const Trait*> found;
    for (const Trait& trait : traits_) {
        if (trait.result == type) found.push_back(&trait);
    }
    if (found.empty()) return std::nullopt;
    const Trait trait = *random_.pick(found);
    const TypePtr self = random_.pick(trait.implementors);
    if (!affordable(300)) return std::nullopt;
    const Freeze freeze(*this);
    switch (random_.below(4)) {
        case 0: return Expr{fmt::format("<{} as {}>::K", self->name, trait.name), true};
        case 1: return Expr{fmt::format("{}.twice{}(s)", expr(self, depth).text, trait.name)};
        case 2: return Expr{fmt::format("{}::act{}(&{}, s, {})", trait.name, trait.name, expr(self, depth).text, expr(trait.argument, depth).text)};
        default: return Expr{fmt::format("{}.act{}(s, {})", expr(self, depth).text, trait.name, expr(trait.argument, depth).text)};
    }
}

MaybeExpr Generator::exprGenericCall(TypePtr type, std::uint32_t depth) {
    std::vector<const GenericFunction*> found;
    for (const GenericFunction& function : generics_) {
        const Trait& trait = traits_[function.trait];
        bool fits = function.gives_param ? false : trait.result == type;
        for (const TypePtr self : trait.implementors) fits |= function.gives_param && self == type;
        if (fits) found.push_back(&function);
    }
    if (found.empty()) return std::nullopt;
    const GenericFunction function = *random_.pick(found);
    const TypePtr self = function.gives_param ? type : random_.pick(traits_[function.trait].implementors);
    if (!affordable(function.cost + 600)) return std::nullopt;
    const std::string turbofish = random_.chance(40) ? "::<" + self->name + ">" : "";
    const Freeze freeze(*this);
    return Expr{fmt::format("{}{}(s, {}, &{})", function.path, turbofish, expr(self, depth).text, expr(self, depth).text)};
}

MaybeExpr Generator::exprConstGenericCall(TypePtr type, std::uint32_t depth) {
    std::vector<const ConstGenericFunction*> found;
    for (const ConstGenericFunction& function : const_generics_) {
        if (function.result == type) found.push_back(&function);
    }
    if (found.empty()) return std::nullopt;
    const ConstGenericFunction function = *random_.pick(found);
    if (!affordable(function.cost)) return std::nullopt;
    const std::uint32_t length = random_.between(1, 5);
    const std::string turbofish = random_.chance(40) ? fmt::format("::<{}>", length) : "";
    return Expr{fmt::format("{}{}(s, {})", function.path, turbofish, expr(array_of(function.element, length), depth).text)};
}

MaybeExpr Generator::exprClosureCall(TypePtr type, std::uint32_t depth) {
    const TypePtr argument = scalar_type();
    const std::string name = fresh("c"), x = fresh("x");
    const Freeze freeze(*this);
    std::string inside;
    {
        const Scope scope(*this);
        frames_.push_back({type, true, {}});
        declare(x, argument, false);
        inside = random_.chance(50) ? expr(type, depth).text : block(type, depth);
        frames_.pop_back();
    }
    const bool typed = inside[0] == '{' || random_.chance(50);
    const std::string result = typed ? fmt::format(" -> {} {}", type->name, inside[0] == '{' ? inside : "{ " + inside + " }") : " " + inside;
    return Expr{fmt::format("({{ let {} = |{}: {}|{}; {}({}) }})", name, x, argument->name, result, name, expr(argument, depth).text)};
}

MaybeExpr Generator::exprClosurePassed(TypePtr type, std::uint32_t depth) {
    std::vector<const ClosureTaker*> found;
    for (const ClosureTaker& taker : takers_) {
        if (taker.result == type) found.push_back(&taker);
    }
    if (found.empty()) return std::nullopt;
    const ClosureTaker taker = *random_.pick(found);
    if (cost_ > kMaxCost / 2) return std::nullopt;
    const std::string x = fresh("x");
    const Freeze freeze(*this);
    const Scope scope(*this);
    frames_.push_back({type, true, {}});
    declare(x, taker.argument, false);
    repeat_ *= taker.calls;
    const std::string inside = expr(type, depth).text;
    repeat_ /= taker.calls;
    frames_.pop_back();
    return Expr{fmt::format("{}(s, |{}| {})", taker.path, x, inside)};
}

MaybeExpr Generator::exprOperatorTrait(TypePtr type, std::uint32_t depth) {
    for (const auto& [self, right] : operators_) {
        if (self != type) continue;
        if (!affordable(200)) return std::nullopt;
        return Expr{fmt::format("({} {} {})", expr(type, depth).text, random_.chance(60) ? "+" : "*", expr(right, depth).text)};
    }
    return std::nullopt;
}

}  // namespace ockc::difftest
