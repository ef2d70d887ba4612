// Iterator chains: a source, up to three adaptors, and what consumes them; Option and Result by their closures.
#include <fmt/format.h>

#include <algorithm>

#include "scope.hpp"

namespace ockc::difftest {

std::string Generator::closure(TypePtr argument, TypePtr result, bool by_ref, std::uint32_t rounds, std::uint32_t depth) {
    const std::string x = fresh("x");
    const Freeze freeze(*this);
    const Scope scope(*this);
    frames_.push_back({result, true, {}});
    declare(by_ref ? "(*" + x + ")" : x, argument, false);
    repeat_ *= rounds + 1;
    const std::string value = expr(result, depth).text;
    repeat_ /= rounds + 1;
    frames_.pop_back();
    if (by_ref || random_.chance(40)) return fmt::format("|{}| {}", x, value);
    if (random_.chance(30)) return fmt::format("|{}: {}| -> {} {{ {} }}", x, argument->name, result->name, value);
    return fmt::format("|{}: {}| {}", x, argument->name, value);
}

std::string Generator::thunk(TypePtr result, std::uint32_t depth) {
    frames_.push_back({result, true, {}});
    const std::string value = frozen(result, depth);
    frames_.pop_back();
    return "|| " + value;
}

std::optional<Generator::Chain> Generator::source(std::uint32_t depth) {
    switch (random_.below(5)) {
        case 0: {
            use(Construct::RangeSource);
            const TypePtr type = integer();
            const bool inclusive = random_.chance(30);
            const std::uint32_t low = random_.below(4), most = random_.between(1, 5);
            const bool narrow = type->bits < 32 || (!inclusive && type->bits == 32) || (!inclusive && type->name.back() == 'e');
            std::string high = fmt::format("({} % {} + {})", dynamic(type).text, most, low + 1);
            return Chain{fmt::format("({}{}{}{})", low, type->name, inclusive ? "..=" : "..", high), type, true, narrow, most + 6};
        }
        case 1: {
            const std::optional<std::size_t> found = array_variable(nullptr, false);
            if (!found) return std::nullopt;
            use(Construct::SliceSource);
            const Variable array = variables_[*found];
            return Chain{fmt::format("{}.iter().{}()", array.text, random_.chance(50) ? "copied" : "cloned"), array.type->parts[0], true, true, 6};
        }
        case 2: {
            use(Construct::ArraySource);
            const TypePtr element = any_type();
            const std::uint32_t length = random_.between(1, 4);
            return Chain{expr(array_of(element, length), depth).text + ".into_iter()", element, true, true, length};
        }
        case 3: {
            const std::optional<std::size_t> found = array_variable(nullptr, false);
            if (!found) return std::nullopt;
            use(Construct::ChunksSource);
            const Variable array = variables_[*found];
            const TypePtr element = array.type->parts[0];
            const std::uint32_t size = random_.between(1, 3);
            const char* name = std::array{"chunks", "chunks_exact", "windows"}[random_.below(3)];
            return Chain{fmt::format("{}.{}({}).map(|w| w[w.len() - 1])", array.text, name, size), element, true, true, 6};
        }
        default: {
            if (iterators_.empty()) return std::nullopt;
            use(Construct::OwnSource);
            const OwnIterator& own = random_.pick(iterators_);
            return Chain{own.name + "::new(s)", own.item, false, false, 4};
        }
    }
}

std::optional<Generator::Chain> Generator::adapt(Chain from, std::uint32_t depth) {
    const TypePtr boolean_type = scalars_[scalars_.size() - 2];
    switch (random_.below(13)) {
        case 0: {
            use(Construct::Map);
            const TypePtr to = any_type();
            from.text += fmt::format(".map({})", closure(from.item, to, false, from.most, depth));
            from.item = to;
            return from;
        }
        case 1:
            use(Construct::Filter);
            from.text += fmt::format(".filter({})", closure(from.item, boolean_type, true, from.most, depth));
            from.exact = false;
            return from;
        case 2: {
            use(Construct::FilterMap);
            const TypePtr to = any_type();
            from.text += fmt::format(".filter_map({})", closure(from.item, option_of(to), false, from.most, depth));
            from.item = to;
            from.exact = false;
            return from;
        }
        case 3:
            use(Construct::EnumerateItems);
            from.text += ".enumerate()";
            from.item = tuple_of({int_type(64, false, true), from.item});
            from.double_ended = from.double_ended && from.exact;
            return from;
        case 4: {
            const std::optional<Chain> other = source(depth);
            if (!other) return std::nullopt;
            use(Construct::ZipItems);
            from.text += fmt::format(".zip({})", other->text);
            from.item = tuple_of({from.item, other->item});
            from.exact = from.exact && other->exact;
            from.double_ended = from.exact && from.double_ended && other->double_ended;
            from.most = std::min(from.most, other->most);
            return from;
        }
        case 5:
            if (!from.double_ended) return std::nullopt;
            use(Construct::Rev);
            from.text += ".rev()";
            return from;
        case 6:
            use(Construct::StepBy);
            from.text += fmt::format(".step_by({})", random_.between(1, 3));
            from.double_ended = from.double_ended && from.exact;
            return from;
        case 7:
            use(Construct::TakeSome);
            from.text += fmt::format(".{}({})", random_.chance(50) ? "take" : "skip", random_.below(4));
            from.double_ended = from.double_ended && from.exact;
            return from;
        case 8:
            use(Construct::TakeWhile);
            from.text += fmt::format(".{}({})", random_.chance(50) ? "take_while" : "skip_while", closure(from.item, boolean_type, true, from.most, depth));
            from.double_ended = from.exact = false;
            return from;
        case 9: {
            const TypePtr item = from.item;
            use(Construct::ChainTwo);
            from.text += fmt::format(".chain({}.into_iter())", expr(array_of(item, 2), depth).text);
            from.exact = false;
            from.most += 2;
            return from;
        }
        case 10: {
            const TypePtr to = any_type();
            if (from.most > 12) return std::nullopt;
            use(Construct::FlatMap);
            from.text += fmt::format(".flat_map({})", closure(from.item, array_of(to, random_.between(1, 2)), false, from.most, depth));
            from.item = to;
            from.exact = false;
            from.most *= 2;
            return from;
        }
        case 11: {
            const TypePtr to = any_type();
            use(Construct::MapWhile);
            from.text += fmt::format(".inspect(|_| ()).map_while({})", closure(from.item, option_of(to), false, from.most, depth));
            from.item = to;
            from.double_ended = from.exact = false;
            return from;
        }
        default: {
            const TypePtr state = scalar_type();
            use(Construct::Scan);
            const std::string a = fresh("x"), x = fresh("x");
            const Freeze freeze(*this);
            const Scope scope(*this);
            const std::string first = expr(state, depth).text;
            frames_.push_back({option_of(state), true, {}});
            declare("(*" + a + ")", state, false);
            declare(x, from.item, false);
            repeat_ *= from.most + 1;
            from.text += fmt::format(".scan({}, |{}, {}| {{ *{} = {}; Some(*{}) }})", first, a, x, a, expr(state, depth).text, a);
            repeat_ /= from.most + 1;
            frames_.pop_back();
            from.item = state;
            from.double_ended = from.exact = false;
            return from;
        }
    }
}

// Written where nothing else may be written: chains borrow.
std::optional<Generator::Chain> Generator::chain(std::uint32_t depth) {
    if (repeat_ > 8 || depth == 0) return std::nullopt;
    std::optional<Chain> made = source(depth - 1);
    if (!made) return std::nullopt;
    const std::uint32_t adaptors = random_.below(4);
    for (std::uint32_t i = 0; i < adaptors; ++i) {
        if (made->item->name.size() > 60) break;
        if (std::optional<Chain> more = adapt(*made, depth - 1)) made = more;
    }
    return made;
}

MaybeExpr Generator::exprIterFold(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return std::nullopt;
    const std::string first = expr(type, depth).text, a = fresh("x"), x = fresh("x");
    const Scope scope(*this);
    frames_.push_back({type, true, {}});
    declare(a, type, false);
    declare(x, items->item, false);
    repeat_ *= items->most + 1;
    const std::string value = expr(type, depth).text;
    repeat_ /= items->most + 1;
    frames_.pop_back();
    return Expr{fmt::format("{}.fold({}, |{}, {}| {})", items->text, first, a, x, value)};
}

MaybeExpr Generator::exprIterLast(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return std::nullopt;
    const TypePtr boolean_type = scalars_[scalars_.size() - 2];
    const std::string mapped = items->item == type ? items->text : fmt::format("{}.map({})", items->text, closure(items->item, type, false, items->most, depth));
    std::string end = fmt::format(".nth({})", random_.below(4));
    if (random_.chance(40)) end = ".last()";
    if (random_.chance(30)) end = fmt::format(".find({})", closure(type, boolean_type, true, items->most, depth));

    return Expr{fmt::format("{}{}.unwrap_or({})", mapped, end, expr(type, depth).text)};
}

MaybeExpr Generator::exprIterSum(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return std::nullopt;
    const std::string mapped = items->item == type ? items->text : fmt::format("{}.map({})", items->text, closure(items->item, type, false, items->most, depth));
    // Float sums start from -0.0 or 0.0 by the library's version: adding 0.0 settles it.
    const char* settle = type->kind == Kind::Float ? " + 0.0" : "";
    return Expr{fmt::format("({}.{}::<{}>(){})", mapped, random_.chance(60) ? "sum" : "product", type->name, settle)};
}

MaybeExpr Generator::exprIterCount(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return std::nullopt;
    return Expr{fmt::format("({}.count() as {})", items->text, type->name)};
}

MaybeExpr Generator::exprIterTest(TypePtr type, std::uint32_t depth) {
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return std::nullopt;
    return Expr{fmt::format("{}.{}({})", items->text, random_.chance(50) ? "any" : "all", closure(items->item, type, false, items->most, depth))};
}

MaybeExpr Generator::exprIterPick(TypePtr type, std::uint32_t depth) {
    const TypePtr inside = type->parts[0], boolean_type = scalars_[scalars_.size() - 2];
    if (!inside->scalar() || inside->kind == Kind::Float) return std::nullopt;
    const Freeze freeze(*this);
    const std::optional<Chain> items = chain(depth);
    if (!items) return std::nullopt;
    if (inside->name == "usize" && random_.chance(60)) {
        return Expr{fmt::format("{}.position({})", items->text, closure(items->item, boolean_type, false, items->most, depth))};
    }
    const std::string mapped = items->item == inside ? items->text : fmt::format("{}.map({})", items->text, closure(items->item, inside, false, items->most, depth));
    switch (random_.below(3)) {
        case 0: return Expr{mapped + ".min()"};
        case 1: return Expr{mapped + ".max()"};
        default: return Expr{fmt::format("{}.{}({})", mapped, random_.chance(50) ? "min_by_key" : "max_by_key", closure(inside, integer(), true, items->most, depth))};
    }
}

MaybeExpr Generator::exprOptionMap(TypePtr type, std::uint32_t depth) {
    const TypePtr inside = type->parts[0], other = any_type(), boolean_type = scalars_[scalars_.size() - 2];
    const auto option = [&](TypePtr of) { return expr(option_of(of), depth).text; };
    switch (random_.below(7)) {
        case 0: return Expr{fmt::format("{}.and_then({})", option(other), closure(other, type, false, 1, depth))};
        case 1: return Expr{fmt::format("{}.filter({})", option(inside), closure(inside, boolean_type, true, 1, depth))};
        case 2: return Expr{fmt::format("{}.xor({})", option(inside), option(inside))};
        case 3: return Expr{fmt::format("{}.and({})", option(other), option(inside))};
        case 4:
            if (inside->kind == Kind::Tuple && inside->parts.size() == 2) return Expr{fmt::format("{}.zip({})", option(inside->parts[0]), option(inside->parts[1]))};
            return Expr{fmt::format("{}.or_else({})", option(inside), thunk(type, depth))};
        case 5: return Expr{fmt::format("({}).then_some({})", boolean(depth), expr(inside, depth).text)};
        default: return Expr{fmt::format("{}.map({})", option(other), closure(other, inside, false, 1, depth))};
    }
}

MaybeExpr Generator::exprResultMap(TypePtr type, std::uint32_t depth) {
    const TypePtr value = type->parts[0], error = type->parts[1], other = any_type(), failure = scalar_type();
    const auto result = [&](TypePtr good, TypePtr bad) { return expr(result_of(good, bad), depth).text; };
    switch (random_.below(4)) {
        case 0: return Expr{fmt::format("{}.and_then({})", result(other, error), closure(other, type, false, 1, depth))};
        case 1: return Expr{fmt::format("{}.map_err({})", result(value, failure), closure(failure, error, false, 1, depth))};
        case 2: return Expr{fmt::format("{}.ok_or({})", expr(option_of(value), depth).text, expr(error, depth).text)};
        default: return Expr{fmt::format("{}.map({})", result(other, error), closure(other, value, false, 1, depth))};
    }
}

MaybeExpr Generator::exprMapOr(TypePtr type, std::uint32_t depth) {
    const TypePtr other = any_type(), failure = scalar_type();
    switch (random_.below(4)) {
        case 0: return Expr{fmt::format("{}.map_or({}, {})", expr(option_of(other), depth).text, expr(type, depth).text, closure(other, type, false, 1, depth))};
        case 1: return Expr{fmt::format("{}.unwrap_or_else({})", expr(result_of(type, failure), depth).text, closure(failure, type, false, 1, depth))};
        case 2:
            if (type->kind == Kind::Bool) return Expr{fmt::format("{}.is_some_and({})", expr(option_of(other), depth).text, closure(other, type, false, 1, depth))};
            if (type->scalar()) return Expr{fmt::format("{}.unwrap_or_default()", expr(option_of(type), depth).text)};
            [[fallthrough]];
        default: {
            const std::string subject = expr(option_of(type), depth).text;
            return Expr{fmt::format("{}.unwrap_or_else({})", subject, thunk(type, depth))};
        }
    }
}

}  // namespace ockc::difftest
