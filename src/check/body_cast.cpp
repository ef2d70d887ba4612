// `as`: coercions first, then rustc's table of casts between scalars and pointers. Checked when all types are known.
#include <fmt/format.h>

#include "check/body.hpp"

namespace ockc::check {

namespace {

enum class CastClass : std::uint8_t { None, Integer, U8, Bool, Char, Enum, Float, Pointer, FnPointer };

bool is_number(CastClass c) { return c == CastClass::Integer || c == CastClass::U8; }

CastClass cast_class(Context& cx, TypeId type) {
    const TypeData& data = cx.types()[type];
    switch (data.kind) {
        case TypeKind::Int: return data.int_kind == types::IntKind::U8 ? CastClass::U8 : CastClass::Integer;
        case TypeKind::Infer:
            return data.infer_kind == types::InferKind::Int ? CastClass::Integer : data.infer_kind == types::InferKind::Float ? CastClass::Float : CastClass::None;
        case TypeKind::Bool: return CastClass::Bool;
        case TypeKind::Char: return CastClass::Char;
        case TypeKind::Float: return CastClass::Float;
        case TypeKind::RawPtr: return CastClass::Pointer;
        case TypeKind::FnPtr:
        case TypeKind::FnDef: return CastClass::FnPointer;
        case TypeKind::Adt: {
            const AdtInfo& adt = cx.adt(data.def);
            if (adt.kind != AdtInfo::Kind::Enum || adt.variants.empty()) return CastClass::None;
            for (const VariantInfo& variant : adt.variants) {
                if (!variant.fields.empty()) return CastClass::None;
            }
            return CastClass::Enum;
        }
        default: return CastClass::None;
    }
}

bool is_fat(const TypeStore& types, TypeId pointer) {
    const TypeKind kind = types.kind(types[pointer].element);
    return kind == TypeKind::Slice || kind == TypeKind::Str;
}

}  // namespace

void BodyChecker::check_casts() {
    for (const DeferredCast& cast : casts_) check_one_cast(cast);
    casts_.clear();
}

// The kind of a cast that is no coercion; nothing when it is not allowed.
std::optional<CastKind> BodyChecker::cast_kind(const DeferredCast&, TypeId from, TypeId to) {
    const CastClass a = cast_class(cx_, from), b = cast_class(cx_, to);
    const TypeData source = types_[from], wanted = types_[to];
    if (source.kind == TypeKind::Ref && wanted.kind == TypeKind::RawPtr) {
        const TypeId array = shallow(source.element);
        const bool mutability = wanted.mutability == Mutability::Not || source.mutability == Mutability::Mut;
        if (types_.kind(array) == TypeKind::Array && mutability && unify(types_[array].element, wanted.element)) return CastKind::ArrayPtrToElement;
        return std::nullopt;
    }
    if (a == CastClass::None || b == CastClass::None) return std::nullopt;
    switch (b) {
        case CastClass::None:
        case CastClass::Bool:
        case CastClass::Enum: return std::nullopt;
        case CastClass::Char:
            if (a == CastClass::U8 || (source.kind == TypeKind::Infer && a == CastClass::Integer)) return CastKind::U8ToChar;
            return std::nullopt;
        case CastClass::Integer:
        case CastClass::U8:
            switch (a) {
                case CastClass::Integer:
                case CastClass::U8: return CastKind::IntToInt;
                case CastClass::Bool: return CastKind::BoolToInt;
                case CastClass::Char: return CastKind::CharToInt;
                case CastClass::Enum: return CastKind::EnumToInt;
                case CastClass::Float: return CastKind::FloatToInt;
                case CastClass::Pointer:
                    if (is_fat(types_, from)) return std::nullopt;
                    return CastKind::PtrToInt;
                case CastClass::FnPointer: return CastKind::FnPtrToInt;
                case CastClass::None: return std::nullopt;
            }
            return std::nullopt;
        case CastClass::Float:
            if (is_number(a)) return CastKind::IntToFloat;
            if (a == CastClass::Float) return CastKind::FloatToFloat;
            return std::nullopt;
        case CastClass::Pointer:
            if (is_number(a)) {
                if (is_fat(types_, to)) return std::nullopt;
                return CastKind::IntToPtr;
            }
            if (a == CastClass::FnPointer) return CastKind::FnPtrToPtr;
            if (a != CastClass::Pointer) return std::nullopt;
            if (is_fat(types_, from) == is_fat(types_, to)) return CastKind::PtrToPtr;
            if (is_fat(types_, from)) return CastKind::FatToThin;
            return std::nullopt;
        case CastClass::FnPointer: return std::nullopt;
    }
    return std::nullopt;
}

void BodyChecker::check_one_cast(const DeferredCast& cast) {
    const TypeId from = infer_.resolve(cast.from), to = infer_.resolve(cast.to);
    if (types_.has(from, types::kHasError) || types_.has(to, types::kHasError)) return;
    if (infer_.is_type_var(from) || infer_.is_type_var(to)) {
        report_need_type(span(cast.operand), from);
        return;
    }
    if (types_.kind(to) == TypeKind::Slice || types_.kind(to) == TypeKind::Str) {
        error(Code::E0620, span(cast.expr), fmt::format("cast to unsized type: `{}` as `{}`", text(from), text(to)));
        return;
    }
    if (can_coerce(from, to) && try_coerce(cast.operand, from, to, false)) {
        tables_.casts.set(cast.expr, CastKind::Coercion);
        return;
    }
    if (types_.kind(to) == TypeKind::RawPtr && infer_.is_type_var(types_[to].element)) {
        error(Code::E0641, span(cast.expr), "cannot cast to a pointer of an unknown kind").label(cast.to_span, "needs more type information").note("the type information given here is insufficient to check whether the pointer cast is valid");
        unify(types_[to].element, types_.error);
        return;
    }
    const auto kind = cast_kind(cast, from, to);
    if (!kind) return report_cast(cast, from, to);
    tables_.casts.set(cast.expr, *kind);
    if (types_.kind(from) == TypeKind::FnDef) {
        const FnSigInfo sig = cx_.fn_sig(ItemRef{types_[from].def, types_[from].args});
        apply_adjustments(cast.operand, {{AdjustKind::ReifyFn, Mutability::Not, false, {}, types_.fn_ptr(sig.inputs, sig.output, sig.is_unsafe)}});
    }
}

void BodyChecker::report_cast(const DeferredCast& cast, TypeId from, TypeId to) {
    const CastClass a = cast_class(cx_, from), b = cast_class(cx_, to);
    const Span whole = span(cast.expr);
    const TypeData source = types_[from], wanted = types_[to];
    const bool from_ref = source.kind == TypeKind::Ref;
    if (from_ref && b != CastClass::None && b != CastClass::Bool && b != CastClass::Char) {
        Diagnostic& diagnostic = error(Code::E0606, whole, fmt::format("casting `{}` as `{}` is invalid", text(from), text(to)));
        if (cast_class(cx_, shallow(source.element)) != CastClass::None && b != CastClass::Pointer) {
            diagnostic.suggest(span(cast.operand).start(), "*", "dereference the expression");
        }
        return;
    }
    if (a == CastClass::None || b == CastClass::None || (from_ref)) {
        Diagnostic& diagnostic = error(Code::E0605, whole, fmt::format("non-primitive cast: `{}` as `{}`", text(from), text(to)));
        diagnostic.label(whole, wanted.kind == TypeKind::Adt || source.kind == TypeKind::Adt ? "an `as` expression can only be used to convert between primitive types or to coerce to a specific trait object"
                                                                                              : "invalid cast");
        return;
    }
    if (b == CastClass::Bool) {
        Diagnostic& diagnostic = error(Code::E0054, whole, fmt::format("cannot cast `{}` as `bool`", text(from)));
        if (is_number(a)) {
            diagnostic.suggest(span(cast.operand).after().to(whole.after()), " != 0", "compare with zero instead");
        } else {
            diagnostic.label(whole, "unsupported cast");
        }
        return;
    }
    if (b == CastClass::Char) {
        error(Code::E0604, whole, fmt::format("only `u8` can be cast as `char`, not `{}`", text(from))).label(whole, "invalid cast");
        return;
    }
    if (a == CastClass::Pointer && b == CastClass::Pointer) {
        error(Code::E0607, whole, fmt::format("cannot cast thin pointer `{}` to wide pointer `{}`", text(from), text(to)));
        return;
    }
    Diagnostic& diagnostic = error(Code::E0606, whole, fmt::format("casting `{}` as `{}` is invalid", text(from), text(to)));
    if (b == CastClass::Float && (a == CastClass::Bool || a == CastClass::Char)) diagnostic.help("cast through an integer first");
    if (b == CastClass::Integer && a == CastClass::Pointer) diagnostic.help("cast through a thin pointer first");
}

}  // namespace ockc::check
