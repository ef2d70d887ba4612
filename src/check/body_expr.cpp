// Expressions without a file of their own: literals, tuples, arrays, borrows, assignments.
#include <fmt/format.h>

#include "check/body.hpp"

namespace ockc::check {

using hir::DefKind;
using types::InferKind;

TypeId BodyChecker::check_expr(ExprId id, Expectation expected) {
    const bool diverged_before = diverges_;
    diverges_ = false;
    const TypeId type = set_type(id, check_expr_kind(id, expected));
    if (types_.kind(shallow(type)) == TypeKind::Never) diverges_ = true;
    diverges_ |= diverged_before;
    return type;
}

TypeId BodyChecker::check_expr_kind(ExprId id, Expectation expected) {
    return std::visit(
        ast::Overloaded{
            [&](std::monostate) { return types_.error; },
            [&](const hir::LiteralExpr& e) { return check_literal(id, e.value, expected); },
            [&](const hir::PathExpr& e) { return check_path(id, *e.path, expected); },
            [&](const hir::UnaryExpr& e) { return check_unary(id, e, expected); },
            [&](const hir::BinaryExpr& e) { return check_binary(id, e, expected); },
            [&](const hir::AssignExpr& e) { return check_assign(id, e); },
            [&](const hir::AssignOpExpr& e) { return check_assign_op(id, e); },
            [&](const hir::AddressOfExpr& e) { return check_address_of(id, e, expected); },
            [&](const hir::FieldExpr& e) { return check_field(id, e); },
            [&](const hir::IndexExpr& e) { return check_index(id, e); },
            [&](const hir::CallExpr& e) { return check_call(id, e, expected); },
            [&](const hir::MethodCallExpr& e) { return check_method_call(id, e, expected); },
            [&](const hir::TupleExpr& e) { return check_tuple(e, expected); },
            [&](const hir::ArrayExpr& e) { return check_array(e, expected); },
            [&](const hir::RepeatExpr& e) { return check_repeat(id, e, expected); },
            [&](const hir::StructExpr& e) { return check_struct(id, e, expected); },
            [&](const hir::CastExpr& e) { return check_cast(id, e); },
            [&](const hir::LetExpr& e) { return check_let_condition(e); },
            [&](const hir::IfExpr& e) { return check_if(id, e, expected); },
            [&](const hir::MatchExpr& e) { return check_match(id, e, expected); },
            [&](const hir::LoopExpr& e) { return check_loop(id, e, expected); },
            [&](const hir::BlockExpr& e) {
                if (body_.blocks[e.block].label.valid()) return check_labelled_block(id, e.block, expected);
                return check_block(e.block, expected, id, true);
            },
            [&](const hir::BreakExpr& e) { return check_break(id, e); },
            [&](const hir::ContinueExpr& e) { return check_continue(id, e); },
            [&](const hir::ReturnExpr& e) { return check_return(id, e); },
            [&](const hir::ClosureExpr& e) { return check_closure(id, e, expected); },
            [&](const hir::ConstBlockExpr& e) { return check_const_block(e, expected); },
            [&](const hir::PanicExpr& e) { return check_panic(e); },
            [&](const hir::ErrorExpr&) { return types_.error; },
        },
        expr(id).data);
}

TypeId BodyChecker::check_has_type(ExprId id, TypeId type) {
    const TypeId found = check_expr(id, Expectation::has(type));
    if (types_.kind(shallow(found)) == TypeKind::Never && types_.kind(shallow(type)) != TypeKind::Never) {
        apply_adjustments(id, {{AdjustKind::NeverToAny, Mutability::Not, false, {}, type}});
        return type;
    }
    if (!unify(type, found)) report_coercion(id, type, found);
    return found;
}

TypeId BodyChecker::check_coerce(ExprId id, TypeId type, bool two_phase) {
    const TypeId found = check_expr(id, Expectation::has(type));
    return coerce(id, found, type, two_phase);
}

TypeId BodyChecker::check_literal(ExprId, const hir::Literal& literal, Expectation expected) {
    using Kind = hir::Literal::Kind;
    const TypeId wanted = expected.kind == Expectation::Kind::None ? TypeId() : structural(expected.type);
    const TypeKind wanted_kind = wanted.valid() ? types_.kind(wanted) : TypeKind::Error;
    const auto suffix_type = [&] {
        switch (literal.suffix) {
            case hir::PrimTy::Bool:
            case hir::PrimTy::Char:
            case hir::PrimTy::Str: return types_.error;
#define OCKC_ROW(name, ...) \
    case hir::PrimTy::name: return types_.int_type(types::IntKind::name);
                OCKC_PRIM_INTS(OCKC_ROW)
#undef OCKC_ROW
#define OCKC_ROW(name, ...) \
    case hir::PrimTy::name: return types_.float_type(types::FloatKind::name);
                OCKC_PRIM_FLOATS(OCKC_ROW)
#undef OCKC_ROW
        }
        return types_.error;
    };
    switch (literal.kind) {
        case Kind::Bool: return types_.boolean;
        case Kind::Char: return types_.character;
        case Kind::Byte: return types_.int_type(types::IntKind::U8);
        case Kind::Int:
            if (literal.has_suffix) return suffix_type();
            if (wanted_kind == TypeKind::Int) return wanted;
            if (wanted_kind == TypeKind::Char) return types_.int_type(types::IntKind::U8);
            if (wanted_kind == TypeKind::RawPtr || wanted_kind == TypeKind::FnPtr) return types_.usize();
            return infer_.new_var({}, InferKind::Int);
        case Kind::Float:
            if (literal.has_suffix) return suffix_type();
            if (wanted_kind == TypeKind::Float) return wanted;
            return infer_.new_var({}, InferKind::Float);
        case Kind::Str: return types_.ref(types_.erased, types_.str, Mutability::Not);
        case Kind::ByteStr:
            return types_.ref(types_.erased, types_.array(types_.int_type(types::IntKind::U8), types_.const_usize(literal.text.size())), Mutability::Not);
        case Kind::CStr:
        case Kind::Error: return types_.error;
    }
    return types_.error;
}

TypeId BodyChecker::check_tuple(const hir::TupleExpr& e, Expectation expected) {
    std::span<const TypeId> wanted;
    if (expected.kind == Expectation::Kind::HasType) {
        const TypeId type = structural(expected.type);
        if (types_.kind(type) == TypeKind::Tuple) wanted = types_[types_[type].elements];
    }
    std::vector<TypeId> elements;
    for (std::size_t i = 0; i < e.elements.size(); ++i) {
        if (i < wanted.size()) {
            const TypeId found = check_expr(e.elements[i], Expectation::has(wanted[i]));
            coerce(e.elements[i], found, wanted[i]);
            elements.push_back(wanted[i]);
        } else {
            elements.push_back(check_expr(e.elements[i]));
        }
    }
    return types_.tuple(elements);
}

namespace {
// The element type that an expectation of an array or slice gives.
TypeId expected_element(const TypeStore& types, TypeId expected) {
    const TypeKind kind = types.kind(expected);
    return kind == TypeKind::Array || kind == TypeKind::Slice ? types[expected].element : TypeId();
}
}  // namespace

TypeId BodyChecker::check_array(const hir::ArrayExpr& e, Expectation expected) {
    Branches branches;
    if (expected.kind != Expectation::Kind::None) branches.expected = expected_element(types_, structural(expected.type));
    for (ExprId element : e.elements) {
        const TypeId found = check_expr(element, branches.expected.valid() ? Expectation::has(branches.expected) : Expectation::none());
        join_branch(branches, element, found, span(element), "");
    }
    TypeId element = branches.merged;
    if (!element.valid()) element = branches.expected.valid() ? branches.expected : infer_.new_var(e.elements.empty() ? Span{} : span(e.elements[0]));
    return types_.array(element, types_.const_usize(e.elements.size()));
}

TypeId BodyChecker::check_repeat(ExprId id, const hir::RepeatExpr& e, Expectation expected) {
    const TypeId wanted = expected.kind == Expectation::Kind::None ? TypeId() : expected_element(types_, structural(expected.type));
    TypeId element;
    if (wanted.valid()) {
        check_coerce(e.value, wanted);
        element = wanted;
    } else {
        const TypeId var = infer_.new_var(span(e.value));
        check_coerce(e.value, var);
        element = var;
    }
    const ConstId count = lowerer_.lower_const_arg(e.count, types_.usize());
    const auto known = cx_.usize_value(count);
    // One element is moved in; more need copies, or a constant that is evaluated anew.
    const auto* path = std::get_if<hir::PathExpr>(&expr(e.value).data);
    const bool is_constant = std::holds_alternative<hir::ConstBlockExpr>(expr(e.value).data) ||
                             (path != nullptr && tables_.expr_items[e.value].valid() &&
                              (program_.defs[tables_.expr_items[e.value].def].kind == DefKind::Const ||
                               program_.defs[tables_.expr_items[e.value].def].kind == DefKind::AssocConst));
    if (!is_constant && (!known || *known > 1)) require_trait(element, lang_.copy, {span(e.value), CauseKind::RepeatCopy, {}, {}, id});
    return types_.array(element, count);
}

bool BodyChecker::is_place(ExprId id) const {
    const hir::Expr& e = expr(id);
    if (const auto* path = std::get_if<hir::PathExpr>(&e.data)) {
        if (path->path->kind != hir::QPath::Kind::Resolved) return false;
        const hir::Res& res = path->path->path.res;
        if (res.kind == hir::Res::Kind::Local || res.kind == hir::Res::Kind::Error) return true;
        return res.kind == hir::Res::Kind::Def && program_.defs[res.def].kind == DefKind::Static;
    }
    if (const auto* unary = std::get_if<hir::UnaryExpr>(&e.data)) return unary->op == hir::UnaryOp::Deref;
    return std::holds_alternative<hir::FieldExpr>(e.data) || std::holds_alternative<hir::IndexExpr>(e.data) ||
           std::holds_alternative<hir::ErrorExpr>(e.data);
}

void BodyChecker::require_place(ExprId id, Code code, Span op_span) {
    if (is_place(id)) return;
    const bool compound = code == Code::E0067;
    error(code, op_span, compound ? "invalid left-hand side of assignment" : "invalid left-hand side of assignment")
        .label(span(id), "cannot assign to this expression");
}

TypeId BodyChecker::check_address_of(ExprId, const hir::AddressOfExpr& e, Expectation expected) {
    Expectation hint;
    if (expected.kind == Expectation::Kind::HasType) {
        const TypeId wanted = shallow(expected.type);
        const TypeData data = types_[wanted];
        if (data.kind == TypeKind::Ref || data.kind == TypeKind::RawPtr) {
            // A place keeps its type; a value (`&[1, 2]`, `&|x| ..`) may be made of the expected one.
            if (!is_place(e.operand)) hint = Expectation::has(data.element);
            const TypeKind pointee = types_.kind(shallow(data.element));
            if (pointee == TypeKind::Slice || pointee == TypeKind::Str) hint = is_place(e.operand) ? Expectation::none() : Expectation::cast(data.element);
        }
    }
    const TypeId operand = check_expr(e.operand, hint);
    if (e.mutability == Mutability::Mut) make_place_mutable(e.operand);
    if (e.raw) {
        if (!is_place(e.operand)) {
            error(Code::E0745, span(e.operand), "cannot take address of a temporary").label(span(e.operand), "temporary value");
        }
        return types_.raw_ptr(operand, e.mutability);
    }
    return types_.ref(types_.erased, operand, e.mutability);
}

TypeId BodyChecker::check_assign(ExprId, const hir::AssignExpr& e) {
    const TypeId place = check_expr(e.lhs);
    require_place(e.lhs, Code::E0070, e.op_span);
    make_place_mutable(e.lhs);
    assigned_ = {e.lhs, e.rhs};
    check_coerce(e.rhs, place);
    require_sized(place, {span(e.lhs), CauseKind::SizedVariable, {}, {}, {}});
    return types_.unit;
}

TypeId BodyChecker::check_cast(ExprId id, const hir::CastExpr& e) {
    const TypeId to = lower_type(e.type);
    const TypeId resolved = shallow(to);
    const TypeId from = check_expr(e.operand, Expectation::cast(resolved));
    if (has_error(from) || has_error(to)) return to;
    casts_.push_back({id, e.operand, from, to, program_.types[e.type].span});
    return to;
}

TypeId BodyChecker::check_const_block(const hir::ConstBlockExpr& e, Expectation expected) {
    if (expected.kind == Expectation::Kind::HasType) {
        const TypeId wanted = infer_.resolve(expected.type);
        if (!types_.has(wanted, types::kHasInfer)) state_.anon_const_types[e.constant] = wanted;
    }
    const TypeTables* tables = cx_.check_body(e.constant);
    if (tables == nullptr) return types_.error;
    return tables->adjusted_type(program_.bodies[tables->body]->value);
}

TypeId BodyChecker::check_panic(const hir::PanicExpr& e) {
    for (ExprId arg : e.args) check_expr(arg);
    return types_.never;
}

}  // namespace ockc::check
