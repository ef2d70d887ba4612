#include <algorithm>

#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/lower.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

namespace {

bool names_trait(ast::List<ast::Bound> bounds) {
    return std::any_of(bounds.begin(), bounds.end(), [](const ast::Bound& bound) { return bound.kind == ast::BoundKind::Trait && bound.modifier != ast::BoundModifier::Maybe; });
}

}  // namespace

hir::TyId Lowerer::add_ty(Span span, hir::TyData data) { return s_.program.types.push(hir::Ty{at(span), std::move(data)}); }

hir::TyId Lowerer::res_ty(Span span, Symbol name, const Res& res) {
    if (res.kind == Res::Kind::Prim) reach_prim(s_, res.prim);
    hir::PathSegment segment;
    segment.ident = {name, at(span)};
    segment.res = res;
    hir::QPath path;
    path.span = at(span);
    path.path.span = at(span);
    path.path.res = res;
    path.path.segments = list({segment});
    return add_ty(span, hir::PathTy{kept(path)});
}

hir::TyId Lowerer::lower_type(ast::TypeId id) {
    const ast::Type type = ast()[id];
    const Span span = type.span;
    return std::visit(
        ast::Overloaded{
            [&](const ast::PathType& t) { return lower_type_path(t.path, span); },
            [&](const ast::ReferenceType& t) {
                hir::RefTy ref;
                ref.lifetime = t.lifetime.valid() ? lower_lifetime(t.lifetime) : elided_lifetime(span.valid() ? Span{span.file, span.begin, span.begin + 1} : span);
                ref.mutability = t.is_mut ? hir::Mutability::Mut : hir::Mutability::Not;
                ref.inner = lower_type(t.inner);
                return add_ty(span, ref);
            },
            [&](const ast::PointerType& t) {
                return add_ty(span, hir::RawPtrTy{t.is_mut ? hir::Mutability::Mut : hir::Mutability::Not, lower_type(t.inner)});
            },
            [&](const ast::SliceType& t) { return add_ty(span, hir::SliceTy{lower_type(t.element)}); },
            [&](const ast::ArrayType& t) {
                hir::ArrayTy array;
                array.element = lower_type(t.element);
                if (ast::get_if<ast::UnderscoreExpr>(ast()[t.length]) == nullptr) {
                    array.length = anon_const(t.length, ScopeBarrier::Kind::AnonConst, {}, ast()[t.length].span);
                }
                return add_ty(span, array);
            },
            [&](const ast::TupleType& t) {
                std::vector<hir::TyId> elements;
                for (const ast::TypeId element : t.elements) elements.push_back(lower_type(element));
                return add_ty(span, hir::TupleTy{list(elements)});
            },
            [&](const ast::ParenType& t) { return lower_type(t.inner); },
            [&](const ast::NeverType&) { return add_ty(span, hir::NeverTy{}); },
            [&](const ast::InferType&) {
                if (body_ == nullptr || elision_ != Elision::Infer) {
                    error(Code::E0121, span, "the placeholder `_` is not allowed within types on item signatures").label(at(span), "not allowed in type signatures");
                    return error_ty(span);
                }
                return add_ty(span, hir::InferTy{});
            },
            [&](const ast::FnPointerType& t) { return lower_fn_pointer(t, span); },
            [&](const ast::ImplTraitType& t) {
                if (!names_trait(t.bounds)) {
                    error(Code::None, span, "at least one trait must be specified");
                    return error_ty(span);
                }
                return impl_trait_param(type, t.bounds);
            },
            [&](const ast::DynTraitType& t) {
                if (t.bare) {
                    error(Code::E0782, span, "expected a type, found a trait").help("use a generic parameter `T: Trait` or `impl Trait`");
                } else if (!names_trait(t.bounds)) {
                    error(Code::E0224, span, "at least one trait is required for an object type");
                } else {
                    error(Code::OCK0901, span, "`dyn` trait objects are not supported in device code").help("use a generic parameter `T: Trait` or `impl Trait`");
                }
                return error_ty(span);
            },
            [&](const ast::MacroType& t) {
                const ast::MacroCall call = ast()[t.call];
                const DefId macro = find_macro(call);
                if (!macro.valid()) return error_ty(span);
                if (s_.macros[s_.origin[macro].index].kind != MacroInfo::Kind::Rules && !is_include(s_, macro)) {
                    error(Code::None, span, fmt::format("non-type macro in type position: {}", s_.name_of(macro)));
                    return error_ty(span);
                }
                return lower_macro_type(macro, t.call, span);
            },
            [&](const ast::ErrorType&) { return error_ty(span); },
        },
        type.data);
}

void Lowerer::check_fn_pointer_param(ast::PatId pattern) {
    const ast::Pat& pat = ast()[pattern];
    const auto* name = ast::get_if<ast::IdentPat>(pat);
    const bool plain = name != nullptr && !name->by_ref && !name->is_mut && !name->sub.valid();
    if (!plain && ast::get_if<ast::WildPat>(pat) == nullptr) error(Code::E0561, pat.span, "patterns aren't allowed in function pointer types");
}

hir::TyId Lowerer::lower_fn_pointer(const ast::FnPointerType& fn, Span span) {
    const ScopeGuard guard(*this);
    hir::BareFn bare;
    bare.is_unsafe = fn.header.safety == ast::Safety::Unsafe;
    bare.is_extern = fn.header.is_extern;
    bare.for_lifetimes = declare_for_lifetimes(fn.for_params);
    InputLifetimes lifetimes;
    InputLifetimes* const inputs = std::exchange(inputs_, &lifetimes);
    const InputLifetimes* const outputs = output_inputs_;
    std::vector<hir::TyId> types;
    {
        const ElisionScope scope(*this, Elision::Fresh);
        for (const ast::Param& param : fn.params) {
            if (param.pattern.valid()) check_fn_pointer_param(param.pattern);
            types.push_back(param.type.valid() ? lower_type(param.type) : error_ty(param.span));
        }
    }
    bare.inputs = list(types);
    inputs_ = nullptr;
    output_inputs_ = &lifetimes;
    if (fn.output.valid()) {
        const ElisionScope scope(*this, Elision::Output);
        bare.output = lower_type(fn.output);
    }
    inputs_ = inputs;
    output_inputs_ = outputs;
    return add_ty(span, hir::FnPtrTy{bare});
}

hir::TyId Lowerer::lower_type_path(ast::PathId id, Span span) {
    const hir::QPath path = lower_path(id, PathSource::Type);
    if (path.kind == hir::QPath::Kind::Resolved && path.path.res.kind == Res::Kind::Error) return error_ty(span);
    return add_ty(span, hir::PathTy{kept(path)});
}

}  // namespace ockc::resolve
