// What bodies say when types do not fit, with rustc's codes and wording.
#include <fmt/format.h>

#include <algorithm>

#include "check/body.hpp"
#include "support/enum_table.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;
using types::InferKind;

namespace {

std::string_view type_noun(Context& cx, TypeId type) {
    const TypeData& data = cx.types()[type];
    switch (data.kind) {
        case TypeKind::Adt:
            switch (cx.adt(data.def).kind) {
                case AdtInfo::Kind::Struct: return "struct";
                case AdtInfo::Kind::Enum: return "enum";
                case AdtInfo::Kind::Union: return "union";
            }
            return "type";
        case TypeKind::Param: return "type parameter";
        case TypeKind::Ref: return data.mutability == Mutability::Mut ? "mutable reference" : "reference";
        case TypeKind::RawPtr: return "raw pointer";
        case TypeKind::Array: return "array";
        case TypeKind::Slice: return "slice";
        case TypeKind::Tuple: return type == cx.types().unit ? "unit type" : "tuple";
        case TypeKind::FnDef: return "fn item";
        case TypeKind::FnPtr: return "fn pointer";
        case TypeKind::Closure: return "closure";
        case TypeKind::Projection: return "associated type";
        case TypeKind::Opaque: return "opaque type";
        case TypeKind::Error:
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Str:
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::Infer: return "type";
    }
    return "type";
}

}  // namespace

std::string BodyChecker::describe(TypeId type) {
    const TypeId known = infer_.resolve(type);
    return fmt::format("{} `{}`", type_noun(cx_, known), cx_.text(known));
}

// ---- tiles ------------------------------------------------------------------------------------------------------------------------------------

bool BodyChecker::is_tile(TypeId type) const { return types_.kind(type) == TypeKind::Adt && types_[type].def == cx_.state().lang.tile; }

// "f32 and shape [64, 128]"
std::string BodyChecker::tile_text(TypeId tile) {
    std::string element, shape;
    for (const GenericArg arg : types_[types_[tile].args]) {
        std::string& text = arg.kind() == GenericArg::Kind::Const ? shape : element;
        if (arg.kind() != GenericArg::Kind::Region) text = types::arg_text(types_, cx_.state().names, arg);
    }
    if (shape.starts_with('{')) shape = shape.substr(1, shape.size() - 2);
    return fmt::format("{} and shape {}", element, shape);
}

std::string BodyChecker::tile_help(TypeId a, TypeId b) const {
    const bool same_element = types_[types_[a].args][0] == types_[types_[b].args][0];
    return same_element ? "tiles of one shape are combined lane by lane: bring the other one to it with `.broadcast(shape)` or `.reshape(shape)`"
                        : "bring both to one element type with `convert_tile`";
}

// ---- E0308 ------------------------------------------------------------------------------------------------------------------------------------

Diagnostic* BodyChecker::report_mismatch(Span at, TypeId expected, TypeId found) {
    const TypeId e = infer_.resolve(expected), f = infer_.resolve(found);
    if (types_.has(e, types::kHasError) || types_.has(f, types::kHasError)) return nullptr;
    const auto show = [&](TypeId type) -> std::string {
        const TypeData& data = types_[type];
        if (data.kind == TypeKind::Infer) {
            return data.infer_kind == InferKind::Int ? "integer" : data.infer_kind == InferKind::Float ? "floating-point number" : "`_`";
        }
        return fmt::format("`{}`", cx_.text(type));
    };
    if (is_tile(e) && is_tile(f)) {
        error(Code::OCK0501, at, fmt::format("a tile of {} is wanted here, not one of {}", tile_text(e), tile_text(f)))
            .label(at, fmt::format("expected `{}`, found `{}`", cx_.text(e), cx_.text(f)))
            .help(tile_help(e, f));
        return nullptr;
    }
    Diagnostic& diagnostic = error(Code::E0308, at, "mismatched types");
    diagnostic.label(at, fmt::format("expected {}, found {}", show(e), show(f)));
    if (types_[f].kind == types_[e].kind && (types_[e].kind == TypeKind::Adt || types_[e].kind == TypeKind::Ref)) {
        diagnostic.note(fmt::format("expected {} `{}`\n   found {} `{}`", type_noun(cx_, e), cx_.text(e), type_noun(cx_, f), cx_.text(f)));
    }
    return &diagnostic;
}

void BodyChecker::report_coercion(ExprId id, TypeId expected, TypeId found) {
    Diagnostic* diagnostic = report_mismatch(span(id), expected, found);
    if (diagnostic != nullptr) suggest_conversion(*diagnostic, id, infer_.resolve(expected), infer_.resolve(found));
}

// `&`, `*`, `as`, `Some(..)`, a literal of the other kind.
void BodyChecker::suggest_conversion(Diagnostic& diagnostic, ExprId id, TypeId expected, TypeId found) {
    const TypeData e = types_[expected], f = types_[found];
    const Span at = span(id);
    const bool is_atom = !std::holds_alternative<hir::BinaryExpr>(expr(id).data) && !std::holds_alternative<hir::CastExpr>(expr(id).data);
    if (expr(id).desugared) return;
    const auto number = [](const TypeData& t) { return t.kind == TypeKind::Int || t.kind == TypeKind::Float; };
    const auto* literal = std::get_if<hir::LiteralExpr>(&expr(id).data);
    if (literal != nullptr && literal->value.kind == hir::Literal::Kind::Int && !literal->value.has_suffix && e.kind == TypeKind::Float) {
        diagnostic.suggest(at.after(), ".0", fmt::format("use a float literal"), Applicability::MachineApplicable);
        return;
    }
    if (number(e) && number(f)) {
        const std::string_view name = e.kind == TypeKind::Int ? types::int_name(e.int_kind) : types::float_name(e.float_kind);
        if (is_atom) {
            diagnostic.suggest(at.after(), fmt::format(" as {}", name), fmt::format("convert with `as {}`", name));
        } else {
            diagnostic.help(fmt::format("convert the value: `(..) as {}`", name));
        }
        return;
    }
    if (const auto* assign = std::get_if<hir::AssignExpr>(&expr(id).data); assign != nullptr && e.kind == TypeKind::Bool) {
        diagnostic.suggest(assign->op_span.after(), "=", "you might have meant to compare for equality");
        return;
    }
    const bool through = id == assigned_.rhs && e.kind == TypeKind::Ref && e.mutability == Mutability::Mut && can_coerce(found, e.element);
    if (through) {
        diagnostic.suggest(span(assigned_.lhs).start(), "*", "consider dereferencing here to assign to the mutably borrowed value");
        return;
    }
    if (e.kind == TypeKind::Ref && types_.kind(found) != TypeKind::Ref && can_coerce(types_.ref(types_.erased, found, e.mutability), expected)) {
        const std::string_view sigil = e.mutability == Mutability::Mut ? "&mut " : "&";
        diagnostic.suggest(at.start(), std::string(sigil), e.mutability == Mutability::Mut ? "consider mutably borrowing here" : "consider borrowing here",
                           Applicability::MachineApplicable);
        return;
    }
    if (f.kind == TypeKind::Ref && infer_.can_unify(f.element, expected) && cx_.is_copy(types_.has(expected, types::kHasInfer) ? types_.unit : expected, env_)) {
        diagnostic.suggest(at.start(), "*", "consider dereferencing the borrow");
        return;
    }
    if (e.kind == TypeKind::Adt && e.def == lang_.option && infer_.can_unify(types_[e.args][0].as_type(), found)) {
        diagnostic.help("try wrapping the expression in `Some`");
    } else if (e.kind == TypeKind::Adt && e.def == lang_.result && infer_.can_unify(types_[e.args][0].as_type(), found)) {
        diagnostic.help("try wrapping the expression in `Ok`");
    } else if (f.kind == TypeKind::Adt && (f.def == lang_.option || f.def == lang_.result) && infer_.can_unify(types_[f.args][0].as_type(), expected)) {
        diagnostic.help(f.def == lang_.option ? "take the value out with `?`, `.unwrap()` or `if let Some(x) = ..`"
                                              : "take the value out with `?`, `.unwrap()` or `if let Ok(x) = ..`");
    }
}

// ---- E0282 ----------------------------------------------------------------------------------------------------------------------------------

void BodyChecker::report_need_type(Span at, TypeId type) {
    if (ambiguity_reported_ || cx_.sink().error_count() != errors_before_ || body_.has_errors) return;
    ambiguity_reported_ = true;
    // Best shown at the variable whose type is open.
    const TypeId wanted = infer_.resolve(type);
    std::string shown;
    for (std::uint32_t i = 0; i < body_.locals.size() && shown.empty(); ++i) {
        const LocalId local(i);
        const TypeId have = tables_.local_types[local];
        if (!have.valid() || body_.locals[local].desugared) continue;
        const TypeId known = infer_.resolve(have);
        bool inside = false;
        types::walk(types_, known, [&](TypeId part) {
            types::walk(types_, wanted, [&](TypeId open) {
                inside |= part == open && types_.kind(part) == TypeKind::Infer;
                return true;
            });
            return true;
        });
        if (!inside) continue;
        at = body_.locals[local].name.span;
        shown = types_.kind(known) == TypeKind::Infer ? std::string() : fmt::format(" for `{}`", cx_.text(known));
        if (shown.empty()) break;
    }
    error(Code::E0282, at, fmt::format("type annotations needed{}", shown)).label(at, "cannot infer type").help("give it a type, as in `let x: Type = ..`");
}

void BodyChecker::report_ambiguous(const Obligation& obligation) {
    const Predicate& p = obligation.predicate;
    if (!p.trait_ref.args.valid()) return;
    const ArgsId args = infer_.resolve(p.trait_ref.args);
    if (types_.has(args, types::kHasError)) return;
    const TypeId self = types_[args][0].as_type();
    if (p.kind == Predicate::Kind::Projection || p.trait_ref.trait == lang_.sized) {
        report_need_type(obligation.cause.span, self);
        return;
    }
    ambiguity_reported_ = true;
    const DefId item = obligation.cause.item;
    const bool unnamed = item.valid() && obligation.cause.kind == CauseKind::ItemBound && program_.defs[item].parent == p.trait_ref.trait &&
                         infer_.is_type_var(self);
    if (unnamed) {
        const std::string_view what = program_.defs[item].kind == DefKind::AssocConst ? "refer to the associated constant" : "call associated function";
        error(Code::E0790, obligation.cause.span, fmt::format("cannot {} on trait without specifying the corresponding `impl` type", what))
            .label(obligation.cause.span, fmt::format("cannot {} of trait", what));
        return;
    }
    error(Code::E0283, obligation.cause.span, "type annotations needed")
        .label(obligation.cause.span, fmt::format("cannot infer type: cannot satisfy `{}: {}`", cx_.text(self), program_.name(p.trait_ref.trait)));
}

// ---- failing obligations ----------------------------------------------------------------------------------------------------------------------

void BodyChecker::report(const FulfillError& failure) {
    const Obligation& obligation = failure.obligation;
    const ArgsId args = infer_.resolve(obligation.predicate.trait_ref.args);
    if (types_.has(args, types::kHasError)) return;
    switch (failure.kind) {
        case FulfillError::Kind::Overflow:
            error(Code::E0275, obligation.cause.span, fmt::format("overflow evaluating the requirement `{}: {}`", cx_.text(types_[args][0].as_type()),
                                                                  program_.name(obligation.predicate.trait_ref.trait)));
            return;
        case FulfillError::Kind::Mismatch: {
            const std::string found = types::arg_text(types_, state_.names, failure.found.kind() == GenericArg::Kind::Type ? GenericArg(infer_.resolve(failure.found.as_type())) : failure.found);
            const GenericArg term = obligation.predicate.term;
            if (term.kind() == GenericArg::Kind::Type && has_error(term.as_type())) return;
            const std::string wanted = types::arg_text(types_, state_.names, term.kind() == GenericArg::Kind::Type ? GenericArg(infer_.resolve(term.as_type())) : term);
            const TypeId projection = types_.projection(obligation.predicate.assoc, args);
            error(Code::E0271, obligation.cause.span, fmt::format("type mismatch resolving `{} == {}`", cx_.text(projection), wanted))
                .label(obligation.cause.span, fmt::format("expected `{}`, found `{}`", wanted, found));
            return;
        }
        case FulfillError::Kind::Unimplemented: report_unimplemented(obligation); return;
        case FulfillError::Kind::Ambiguous: report_ambiguous(obligation); return;
    }
}

namespace {

std::string operator_message(hir::BinaryOp op, bool assign, const std::string& l, const std::string& r) {
    using hir::BinaryOp;
    const std::string_view symbol = assign ? ast::info(op).assign_text : ast::info(op).text;
    switch (op) {
        case BinaryOp::Add: return assign ? fmt::format("cannot add-assign `{}` to `{}`", r, l) : fmt::format("cannot add `{}` to `{}`", r, l);
        case BinaryOp::Sub: return assign ? fmt::format("cannot subtract-assign `{}` from `{}`", r, l) : fmt::format("cannot subtract `{}` from `{}`", r, l);
        case BinaryOp::Mul: return assign ? fmt::format("cannot multiply-assign `{}` by `{}`", l, r) : fmt::format("cannot multiply `{}` by `{}`", l, r);
        case BinaryOp::Div: return assign ? fmt::format("cannot divide-assign `{}` by `{}`", l, r) : fmt::format("cannot divide `{}` by `{}`", l, r);
        case BinaryOp::Rem: return fmt::format("cannot calculate the remainder of `{}` divided by `{}`", l, r);
        case BinaryOp::Eq:
        case BinaryOp::Ne:
        case BinaryOp::Lt:
        case BinaryOp::Le:
        case BinaryOp::Gt:
        case BinaryOp::Ge: return fmt::format("can't compare `{}` with `{}`", l, r);
        default: return fmt::format("no implementation for `{} {} {}`", l, symbol, r);
    }
}

}  // namespace

// `i32 + f32`.
void BodyChecker::report_operands(ExprId id, hir::BinaryOp op, TypeId lhs, TypeId rhs, Span op_span) {
    const bool assign = std::holds_alternative<hir::AssignOpExpr>(expr(id).data);
    const std::string l = text(lhs), r = text(rhs);
    const std::string_view symbol = assign ? ast::info(op).assign_text : ast::info(op).text;
    if (const TypeId a = infer_.resolve(lhs), b = infer_.resolve(rhs); is_tile(a) && is_tile(b)) {
        error(Code::OCK0501, op_span, fmt::format("`{}` between a tile of {} and one of {}", symbol, tile_text(a), tile_text(b)))
            .label(op_span, fmt::format("no implementation for `{} {} {}`", l, symbol, r))
            .help(tile_help(a, b));
        return;
    }
    const std::string_view trait = assign ? ast::info(op).assign_trait : ast::info(op).trait_name;
    Diagnostic& diagnostic = error(Code::E0277, op_span, operator_message(op, assign, l, r));
    diagnostic.label(op_span, fmt::format("no implementation for `{} {} {}`", l, symbol, r))
        .help(fmt::format("the trait `{}<{}>` is not implemented for `{}`", trait, r, l));
    // An integer meets a float: the integer is what has to change.
    const auto* binary = std::get_if<hir::BinaryExpr>(&expr(id).data);
    const auto is_float = [&](TypeId type) { return types_.kind(type) == TypeKind::Float || (types_.kind(type) == TypeKind::Infer && types_[type].infer_kind == InferKind::Float); };
    if (binary == nullptr || is_float(lhs) == is_float(rhs)) return;
    const ExprId number = is_float(lhs) ? binary->rhs : binary->lhs;
    const TypeId other = is_float(lhs) ? lhs : rhs;
    if (types_.kind(is_float(lhs) ? rhs : lhs) != TypeKind::Int || !std::holds_alternative<hir::PathExpr>(expr(number).data)) return;
    const std::string_view name = types_.kind(other) == TypeKind::Float ? types::float_name(types_[other].float_kind) : "f32";
    diagnostic.suggest(span(number).after(), fmt::format(" as {}", name), fmt::format("convert the integer with `as {}`", name));
}

// Would the failed bound have brought the other one with it (itself, or as a supertrait)?
bool BodyChecker::implies_goal(const TraitRef& failed, const TraitRef& other) {
    if (failed == other) return true;
    if (types_[failed.args][0] != types_[other.args][0]) return false;
    std::vector<DefId> reached{failed.trait};
    for (std::size_t i = 0; i < reached.size() && i < 64; ++i) {
        for (const TraitRef& super : cx_.supertraits(reached[i])) {
            if (super.trait == other.trait) return true;
            reached.push_back(super.trait);
        }
    }
    return false;
}

// What a trait of `gpu_printf!` shows or one of `ptx_asm!` takes; empty for other traits.
std::string_view BodyChecker::print_trait_text(DefId trait) const {
    const hir::Def& def = program_.defs[trait];
    if (!program_.crates[def.crate].is_library) return {};
    const std::string_view name = program_.name(trait);
    struct Row {
        std::string_view trait, text;
    };
    static constexpr Row kRows[] = {
        {"PrintValue", "numbers, `bool`, `char`, `&str` and pointers"},
        {"PrintDebug", "numbers, `bool` and pointers"},
        {"PrintBits", "integers up to 64 bits"},
        {"PrintSigned", "signed integers up to 64 bits"},
        {"PrintUnsigned", "unsigned integers up to 64 bits"},
        {"PrintFloat", "floats"},
        {"PrintChar", "`char`, `u8` and `i8`"},
        {"PrintText", "`&str` and `bool`"},
        {"PrintAddress", "pointers and references"},
        {"AsmH", "`u16` and `i16`"},
        {"AsmR", "`u32` and `i32`"},
        {"AsmL", "integers of 64 bits and raw pointers"},
        {"AsmQ", "`u128` and `i128`"},
        {"AsmF", "`f32`"},
        {"AsmD", "`f64`"},
    };
    for (const Row& row : kRows) {
        if (row.trait == name) return row.text;
    }
    return {};
}

void BodyChecker::report_unimplemented(const Obligation& obligation) {
    const TraitRef& goal = obligation.predicate.trait_ref;
    const Cause& cause = obligation.cause;
    const ArgsId args = infer_.resolve(goal.args);
    for (const auto& [known, at] : reported_) {
        if (at == cause.span && implies_goal(known, {goal.trait, args})) return;
    }
    reported_.push_back({{goal.trait, args}, cause.span});
    const TypeId self = types_[args][0].as_type();
    const std::string who = cx_.text(self);
    const std::string trait = std::string(program_.name(goal.trait)) + types::args_text(types_, state_.names, args, 1);
    if (cause.kind == CauseKind::Operator && cause.expr.valid()) {
        hir::BinaryOp op{};
        bool known = true;
        if (const auto* binary = std::get_if<hir::BinaryExpr>(&expr(cause.expr).data)) {
            op = binary->op;
        } else if (const auto* compound = std::get_if<hir::AssignOpExpr>(&expr(cause.expr).data)) {
            op = compound->op;
        } else {
            known = false;
        }
        if (known && types_[args].size() > 1 && types_[args][1].kind() == GenericArg::Kind::Type) {
            report_operands(cause.expr, op, self, types_[args][1].as_type(), cause.bound_span);
            return;
        }
    }
    if (goal.trait == lang_.sized) {
        Diagnostic& diagnostic = error(Code::E0277, cause.span, fmt::format("the size for values of type `{}` cannot be known at compilation time", who));
        diagnostic.label(cause.span, "doesn't have a size known at compile-time").help(fmt::format("the trait `Sized` is not implemented for `{}`", who));
        return;
    }
    const bool callable = goal.trait == lang_.fn_trait || goal.trait == lang_.fn_mut || goal.trait == lang_.fn_once;
    if (callable && types_.kind(self) == TypeKind::Closure) {
        const auto view = closure_view(self);
        const TypeId wanted = types_[args][1].as_type();
        if (view && types_.kind(wanted) == TypeKind::Tuple && types_[types_[wanted].elements].size() != view->inputs.size()) {
            error(Code::E0593, cause.span, fmt::format("closure is expected to take {} arguments, but it takes {} arguments", types_[types_[wanted].elements].size(), view->inputs.size()));
        } else if (view && unify(wanted, types_.tuple(view->inputs))) {
            const Span at = program_.defs[types_[self].def].span;
            error(Code::E0525, at, fmt::format("expected a closure that implements the `{}` trait, but this closure only implements `{}`", program_.name(goal.trait),
                                               view->kind == ClosureKind::FnOnce ? "FnOnce" : "FnMut"))
                .label(at, "this closure does not implement the trait")
                .label(cause.span, "the requirement comes from here");
        } else {
            error(Code::E0631, cause.span, "type mismatch in closure arguments");
        }
        return;
    }
    if (callable && types_.kind(self) == TypeKind::FnDef && types_[args][1].kind() == GenericArg::Kind::Type) {
        const std::size_t takes = cx_.fn_sig(ItemRef{types_[self].def, types_[self].args}).inputs.size();
        const TypeId wanted = types_[args][1].as_type();
        if (types_.kind(wanted) == TypeKind::Tuple && types_[types_[wanted].elements].size() != takes) {
            const std::size_t given = types_[types_[wanted].elements].size();
            error(Code::E0593, cause.span, fmt::format("function is expected to take {} argument{}, but it takes {} argument{}", given, given == 1 ? "" : "s", takes, takes == 1 ? "" : "s"));
            return;
        }
        const FnSigInfo sig = cx_.fn_sig(ItemRef{types_[self].def, types_[self].args});
        if (types_.kind(wanted) == TypeKind::Tuple && !sig.is_unsafe) {
            error(Code::E0631, cause.span, "type mismatch in function arguments")
                .label(cause.span, fmt::format("expected a function that takes `{}`, found one that takes `{}`", cx_.text(wanted), cx_.text(types_.tuple(sig.inputs))));
            return;
        }
    }
    const std::string_view trait_name = program_.name(goal.trait);
    Diagnostic* diagnostic = nullptr;
    if (trait_name == "IntoIterator" || goal.trait == lang_.iterator) {
        diagnostic = &error(Code::E0277, cause.span, fmt::format("`{}` is not an iterator", who));
        diagnostic->label(cause.span, fmt::format("`{}` is not an iterator", who));
        if (types_.kind(self) == TypeKind::Int) diagnostic->help("to iterate over the numbers up to it, use a range: `0..n`");
    } else if (trait_name == "Try") {
        diagnostic = &error(Code::E0277, cause.span, "the `?` operator can only be applied to values that implement `Try`");
        diagnostic->label(cause.span, fmt::format("the `?` operator cannot be applied to type `{}`", who));
    } else if (trait_name == "FromResidual") {
        diagnostic = &report_question_mark(cause.span, self, types_[args].size() > 1 ? types_[args][1].as_type() : types_.error);
    } else if (const std::string_view shows = print_trait_text(goal.trait); !shows.empty()) {
        const bool prints = trait_name.starts_with("Print");
        diagnostic = &error(Code::E0277, cause.span, fmt::format("`{}` {}", who, prints ? "cannot be printed this way" : "does not fit this operand"));
        diagnostic->label(cause.span, fmt::format("{} {}", prints ? "shows" : "takes", shows));
        if (prints) diagnostic->help("`{}` shows every number, `bool`, `char` and `&str`");
        else diagnostic->help("h is 16 bits, r 32, l 64, q 128, f an `f32`, d an `f64`; convert the value with `as`");
    } else if (callable) {
        diagnostic = &error(Code::E0277, cause.span, fmt::format("expected a `{}` closure, found `{}`", trait, who));
        diagnostic->label(cause.span, fmt::format("expected a callable value, found `{}`", who));
    } else if ((goal.trait == lang_.partial_eq || goal.trait == lang_.partial_ord) && types_[args].size() > 1) {
        diagnostic = &error(Code::E0277, cause.span, fmt::format("can't compare `{}` with `{}`", who, types::arg_text(types_, state_.names, types_[args][1])));
        diagnostic->label(cause.span, fmt::format("no implementation for `{}`", trait));
    } else {
        diagnostic = &error(Code::E0277, cause.span, fmt::format("the trait bound `{}: {}` is not satisfied", who, trait));
        diagnostic->label(cause.span, fmt::format("the trait `{}` is not implemented for `{}`", trait, who));
    }
    const bool desugared = trait_name == "Try" || trait_name == "FromResidual";
    if (cause.kind == CauseKind::ItemBound && cause.item.valid() && cause.bound_span.valid() && !desugared) {
        diagnostic->note_at(cause.bound_span, fmt::format("required by a bound in `{}`", program_.name(cause.item)));
    }
    if (types_.kind(self) == TypeKind::Param) diagnostic->help(fmt::format("consider restricting type parameter `{}` with trait `{}`", who, trait));
}

// `?` where the function's result cannot take what it would return early.
Diagnostic& BodyChecker::report_question_mark(Span at, TypeId result, TypeId residual) {
    const auto is = [&](TypeId type, DefId def) { return types_.kind(type) == TypeKind::Adt && types_[type].def == def; };
    const bool in_closure = std::any_of(closures_.begin(), closures_.end(), [&](const auto& closure) {
        const Span body = span(closure.second.body);
        return body.file == at.file && body.begin <= at.begin && at.end <= body.end;
    });
    const std::string_view where = in_closure ? "closure" : "function";
    const bool to_option = is(result, lang_.option), to_result = is(result, lang_.result);
    if (to_option && is(residual, lang_.result)) {
        Diagnostic& diagnostic = error(Code::E0277, at, fmt::format("the `?` operator can only be used on `Option`s, not `Result`s, in a {} that returns `Option`", where));
        diagnostic.label(at, "use `.ok()?` if you want to discard the error");
        return diagnostic;
    }
    if (to_result && is(residual, lang_.option)) {
        Diagnostic& diagnostic = error(Code::E0277, at, fmt::format("the `?` operator can only be used on `Result`s, not `Option`s, in a {} that returns `Result`", where));
        diagnostic.label(at, fmt::format("use `.ok_or(...)?` to provide an error compatible with `{}`", text(result)));
        return diagnostic;
    }
    Diagnostic& diagnostic = error(Code::E0277, at, fmt::format("the `?` operator can only be used in a {} that returns `Result` or `Option` (or another type that implements `FromResidual`)", where));
    diagnostic.label(at, fmt::format("cannot use the `?` operator in a {} that returns `{}`", where, text(result)));
    if (!in_closure && program_.defs[owner_].name.span.valid()) diagnostic.label(program_.defs[owner_].name.span, "this function should return `Result` or `Option` to accept `?`");
    return diagnostic;
}

// ---- E0599 and its kin ---------------------------------------------------------------------------------------------------------------------------

void BodyChecker::suggest_names(Diagnostic& diagnostic, TypeId self, Symbol wanted, Span at) {
    std::vector<std::string_view> names;
    const TypeKey key = type_key(types_, shallow(self));
    for (DefId impl : program_.impls) {
        const hir::ImplDef& data = program_.as<hir::ImplDef>(impl);
        if (data.has_trait || key == 0 || type_key(types_, cx_.type_of(impl)) != key) continue;
        for (DefId item : data.items) {
            if (is_visible(program_.defs[item].visibility)) names.push_back(program_.name(item));
        }
    }
    const TypeData data = types_[shallow(self)];
    if (data.kind == TypeKind::Adt && cx_.adt(data.def).kind == AdtInfo::Kind::Enum) {
        for (const VariantInfo& variant : cx_.adt(data.def).variants) names.push_back(name(variant.name));
    }
    const std::string_view near = nearest_name(names, name(wanted));
    if (!near.empty() && near != name(wanted)) diagnostic.suggest(at, std::string(near), "there is an item with a similar name");
}

TypeId BodyChecker::report_no_method(ExprId, const hir::MethodCallExpr& e, TypeId receiver, const MethodProbeResult& result) {
    const Span at = e.method->ident.span;
    const std::string_view method = name(e.method->ident.name);
    if (has_error(receiver)) return types_.error;
    if (result.unknown_receiver) {
        report_need_type(span(e.receiver), receiver);
        return types_.error;
    }
    if (!result.ambiguous.empty()) {
        Diagnostic& diagnostic = error(Code::E0034, at, "multiple applicable items in scope");
        diagnostic.label(at, fmt::format("multiple `{}` found", method));
        for (DefId item : result.ambiguous) diagnostic.note_at(program_.defs[item].name.span, "a candidate is defined here");
        return types_.error;
    }
    if (result.private_item.valid()) {
        error(Code::E0624, at, fmt::format("method `{}` is private", method))
            .label(at, "private method")
            .label(program_.defs[result.private_item].name.span, "private method defined here");
        return types_.error;
    }
    if (result.numeric_receiver) {
        error(Code::E0689, at, fmt::format("can't call method `{}` on ambiguous numeric type `{}`", method, text(receiver)))
            .help("give the number a type, as in `2.0_f32`");
        return types_.error;
    }
    if (!result.unsatisfied.empty() && !result.not_a_method.valid()) {
        Diagnostic& diagnostic =
            error(Code::E0599, at, fmt::format("the method `{}` exists for {}, but its trait bounds were not satisfied", method, describe(receiver)));
        diagnostic.label(at, "method cannot be called due to unsatisfied trait bounds");
        const TraitRef& missing = result.unsatisfied.front();
        diagnostic.note(fmt::format("the following trait bounds were not satisfied: `{}: {}`", cx_.text(infer_.resolve(types_[missing.args][0].as_type())),
                                    program_.name(missing.trait)));
        return types_.error;
    }
    Diagnostic& diagnostic = error(Code::E0599, at, fmt::format("no method named `{}` found for {} in the current scope", method, describe(receiver)));
    if (result.not_a_method.valid()) {
        diagnostic.label(at, "this is an associated function, not a method")
            .note("found the following associated functions; to be used as methods, functions must have a `self` parameter")
            .note_at(program_.defs[result.not_a_method].name.span, "the candidate is defined here");
        return types_.error;
    }
    std::vector<DerefStep> steps = autoderef(receiver, at);
    for (const DerefStep& step : steps) {
        const TypeData data = types_[shallow(step.type)];
        if (data.kind != TypeKind::Adt || cx_.adt(data.def).kind != AdtInfo::Kind::Struct) continue;
        for (const FieldInfo& field : cx_.adt(data.def).variants[0].fields) {
            if (field.name != e.method->ident.name) continue;
            diagnostic.label(at, "field, not a method").help(fmt::format("to call the function stored in `{0}`, surround the field access with parentheses: `(..{0})(..)`", method));
            return types_.error;
        }
    }
    diagnostic.label(at, fmt::format("method not found in `{}`", text(receiver)));
    for (const AssocItem& item : cx_.trait_items(e.method->ident.name)) {
        if (selector_.evaluate_trait(receiver, item.container) != Outcome::Yes) continue;
        diagnostic.help(fmt::format("items from traits can only be used if the trait is in scope: `use {};`", program_.path_text(item.container)));
        return types_.error;
    }
    for (const DerefStep& step : steps) suggest_names(diagnostic, step.type, e.method->ident.name, at);
    return types_.error;
}

}  // namespace ockc::check
