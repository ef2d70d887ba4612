#include "check/infer.hpp"

#include <algorithm>

#include "types/fold.hpp"

namespace ockc::check {

using types::ConstData;
using types::ConstKind;
using types::TypeData;

namespace {
constexpr std::uint32_t kUnifyDepth = 2000;   // nesting of types; deeper ones count as different
}

TypeId InferCtxt::new_var(Span origin, InferKind kind) {
    vars_.push_back({TypeId(), kind, origin});
    return types_.infer(static_cast<std::uint32_t>(vars_.size() - 1), kind);
}

TypeId InferCtxt::new_diverging_var(Span origin) {
    const TypeId var = new_var(origin);
    diverging_.push_back(var);
    return var;
}

ConstId InferCtxt::new_const_var(TypeId type, Span origin) {
    const_vars_.push_back({ConstId(), type, origin});
    return types_.const_infer(static_cast<std::uint32_t>(const_vars_.size() - 1), type);
}

// The end of a variable's chain; outside snapshots the chain is shortened for the next time.
TypeId InferCtxt::follow(TypeId variable) {
    TypeId end = variable;
    do {
        const TypeId value = vars_[types_[end].index].value;
        if (!value.valid()) break;
        end = value;
    } while (types_.kind(end) == TypeKind::Infer);
    if (open_ == 0 && end != variable) vars_[types_[variable].index].value = end;
    return end;
}

ConstId InferCtxt::shallow(ConstId constant) {
    while (types_[constant].kind == ConstKind::Infer) {
        const ConstId value = const_vars_[types_[constant].index].value;
        if (!value.valid()) break;
        constant = value;
    }
    return constant;
}

namespace {

class Resolver final : public types::Folder {
  public:
    Resolver(types::TypeStore& types, InferCtxt& infer) : Folder(types, types::kHasInfer), infer_(infer) {}

  protected:
    TypeId type_of(TypeId type) override {
        if (types_.kind(type) != TypeKind::Infer) return super_type(type);
        const TypeId known = infer_.shallow(type);
        return types_.kind(known) == TypeKind::Infer ? known : fold(known);
    }
    ConstId const_of(ConstId constant) override {
        const ConstId known = infer_.shallow(constant);
        return types_[known].kind == ConstKind::Infer ? known : super_const(known);
    }

  private:
    InferCtxt& infer_;
};

}  // namespace

TypeId InferCtxt::resolve(TypeId type) {
    const TypeId known = shallow(type);   // most are variables that stand for something plain
    const bool done = types_.kind(known) == TypeKind::Infer || !types_.has(known, types::kHasInfer);
    return done ? known : Resolver(types_, *this).fold(known);
}
ConstId InferCtxt::resolve(ConstId constant) { return types_.has(constant, types::kHasInfer) ? Resolver(types_, *this).fold(constant) : constant; }
ArgsId InferCtxt::resolve_each(ArgsId args) {
    SmallVec<GenericArg, 8> out;
    for (const GenericArg arg : types_[args]) {
        switch (arg.kind()) {
            case GenericArg::Kind::Type: out.push_back(resolve(arg.as_type())); break;
            case GenericArg::Kind::Const: out.push_back(resolve(arg.as_const())); break;
            case GenericArg::Kind::Region: out.push_back(arg); break;
        }
    }
    return std::ranges::equal(out.view(), types_[args]) ? args : types_.args(out.view());
}

InferCtxt::Snapshot InferCtxt::snapshot() {
    ++open_;
    return {log_.size(), vars_.size(), const_vars_.size(), diverging_.size(), bindings_};
}

void InferCtxt::rollback(const Snapshot& to) {
    while (log_.size() > to.log) {
        const Undo undo = log_.back();
        log_.pop_back();
        if (undo.is_const) {
            const_vars_[undo.index].value.raw = undo.old_value;
        } else {
            vars_[undo.index].value.raw = undo.old_value;
        }
    }
    vars_.resize(to.vars);
    const_vars_.resize(to.consts);
    diverging_.resize(to.diverging);
    bindings_ = to.bindings;   // nothing happened
    --open_;
}

void InferCtxt::commit() {
    if (--open_ == 0) log_.clear();
}

void InferCtxt::bind(std::uint32_t index, TypeId value) {
    if (open_ != 0) log_.push_back({index, false, vars_[index].value.raw});
    vars_[index].value = value;
    ++bindings_;
}

bool InferCtxt::occurs(std::uint32_t index, TypeId in) {
    if (!types_.has(in, types::kHasInfer)) return false;
    bool found = false;
    const TypeId resolved = resolve(in);
    types::walk(types_, resolved, [&](TypeId part) {
        const TypeData& data = types_[part];
        found |= data.kind == TypeKind::Infer && data.index == index;
        return !found && (data.flags & types::kHasInfer) != 0;
    });
    return found;
}

bool InferCtxt::unify_var(TypeId var, TypeId other) {
    const TypeData v = types_[var];
    const TypeData o = types_[other];
    if (o.kind == TypeKind::Infer) {
        // The general variable becomes the special one; among equals the younger points to the older.
        if (v.infer_kind == InferKind::Type && (o.infer_kind != InferKind::Type || o.index < v.index)) {
            bind(v.index, other);
        } else if (o.infer_kind == InferKind::Type || o.infer_kind == v.infer_kind) {
            bind(o.index, var);
        } else {
            return false;
        }
        return true;
    }
    switch (v.infer_kind) {
        case InferKind::Int:
            if (o.kind != TypeKind::Int && o.kind != TypeKind::Error) return false;
            break;
        case InferKind::Float:
            if (o.kind != TypeKind::Float && o.kind != TypeKind::Error) return false;
            break;
        case InferKind::Type:
            if (occurs(v.index, other)) return false;
            break;
    }
    bind(v.index, other);
    return true;
}

bool InferCtxt::unify_lists(std::span<const TypeId> a, std::span<const TypeId> b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!unify_inner(a[i], b[i])) return false;
    }
    return true;
}

bool InferCtxt::unify_args_inner(ArgsId a, ArgsId b) {
    if (a == b) return true;
    const auto x = types_[a], y = types_[b];
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i].kind() != y[i].kind()) return false;
        switch (x[i].kind()) {
            case GenericArg::Kind::Region: break;
            case GenericArg::Kind::Type:
                if (!unify_inner(x[i].as_type(), y[i].as_type())) return false;
                break;
            case GenericArg::Kind::Const:
                if (!unify_const_inner(x[i].as_const(), y[i].as_const())) return false;
                break;
        }
    }
    return true;
}

bool InferCtxt::unify_const_inner(ConstId a, ConstId b) {
    a = shallow(a);
    b = shallow(b);
    if (a == b) return true;
    const ConstData x = types_[a], y = types_[b];
    if (x.kind == ConstKind::Error || y.kind == ConstKind::Error) return true;
    const auto bind_const = [&](std::uint32_t index, ConstId value) {
        if (open_ != 0) log_.push_back({index, true, const_vars_[index].value.raw});
        const_vars_[index].value = value;
        ++bindings_;
        return true;
    };
    if (x.kind == ConstKind::Infer) return bind_const(x.index, b);
    if (y.kind == ConstKind::Infer) return bind_const(y.index, a);
    if (x.kind == ConstKind::Value && y.kind == ConstKind::Value && x.elements_count != 0 && x.elements_count == y.elements_count) {
        for (std::uint32_t i = 0; i < x.elements_count; ++i) {
            if (!unify_const_inner(types_.const_elements(a)[i], types_.const_elements(b)[i])) return false;
        }
        return true;
    }
    if (x.kind == ConstKind::Unevaluated && y.kind == ConstKind::Unevaluated && x.def == y.def) return unify_args_inner(x.args, y.args);
    return false;
}

// The variable of an opaque type that this body defines, or none.
TypeId InferCtxt::defined_opaque(const TypeData& data) const {
    if (data.kind != TypeKind::Opaque || opaques_.empty()) return {};
    const auto found = opaques_.find(data.def);
    return found == opaques_.end() ? TypeId() : found->second;
}

bool InferCtxt::unify_opaque(TypeId opaque, TypeId variable, TypeId other) {
    const TypeData o = types_[other];
    if (shallow(variable) == other) return true;   // says nothing new
    if (o.kind == TypeKind::Opaque && o.def == types_[opaque].def) return unify_args_inner(types_[opaque].args, o.args);
    if (o.kind == TypeKind::Infer && o.infer_kind == InferKind::Type) return unify_var(other, opaque);
    return unify_inner(variable, other);
}

bool InferCtxt::unify_inner(TypeId a, TypeId b) {
    if (a == b) return true;
    a = shallow(a);
    b = shallow(b);
    if (a == b) return true;
    const TypeData x = types_[a], y = types_[b];
    if (const TypeId variable = defined_opaque(x); variable.valid()) return unify_opaque(a, variable, b);
    if (const TypeId variable = defined_opaque(y); variable.valid()) return unify_opaque(b, variable, a);
    if (x.kind == TypeKind::Infer) return unify_var(a, b);
    if (y.kind == TypeKind::Infer) return unify_var(b, a);
    if (x.kind == TypeKind::Error || y.kind == TypeKind::Error) return true;
    if (x.kind != y.kind) return false;
    if (++unify_depth_ > kUnifyDepth) {
        --unify_depth_;
        return false;
    }
    bool same = false;
    switch (x.kind) {
        case TypeKind::Error:
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Str:
        case TypeKind::Infer: same = true; break;
        case TypeKind::Int: same = x.int_kind == y.int_kind; break;
        case TypeKind::Float: same = x.float_kind == y.float_kind; break;
        case TypeKind::Param: same = x.index == y.index && x.name == y.name; break;
        case TypeKind::Tuple: same = unify_lists(types_[x.elements], types_[y.elements]); break;
        case TypeKind::Array: same = unify_inner(x.element, y.element) && unify_const_inner(x.length, y.length); break;
        case TypeKind::Slice: same = unify_inner(x.element, y.element); break;
        case TypeKind::Ref:
        case TypeKind::RawPtr: same = x.mutability == y.mutability && unify_inner(x.element, y.element); break;
        case TypeKind::Adt:
        case TypeKind::FnDef:
        case TypeKind::Closure:
        case TypeKind::Projection:
        case TypeKind::Opaque: same = x.def == y.def && unify_args_inner(x.args, y.args); break;
        case TypeKind::FnPtr: same = x.is_unsafe == y.is_unsafe && unify_lists(types_[x.elements], types_[y.elements]); break;
    }
    --unify_depth_;
    return same;
}

namespace {
// Runs `attempt` so that a failure leaves no binding behind.
template <class Attempt>
bool atomically(InferCtxt& infer, Attempt&& attempt) {
    const InferCtxt::Snapshot before = infer.snapshot();
    if (attempt()) {
        infer.commit();
        return true;
    }
    infer.rollback(before);
    return false;
}
}  // namespace

bool InferCtxt::unify(TypeId a, TypeId b) {
    return a == b || atomically(*this, [&] { return unify_inner(a, b); });
}
bool InferCtxt::unify(ConstId a, ConstId b) {
    return a == b || atomically(*this, [&] { return unify_const_inner(a, b); });
}
bool InferCtxt::unify(ArgsId a, ArgsId b) {
    return a == b || atomically(*this, [&] { return unify_args_inner(a, b); });
}

bool InferCtxt::can_unify(TypeId a, TypeId b) {
    const Snapshot before = snapshot();
    const bool ok = unify_inner(a, b);
    rollback(before);
    return ok;
}

}  // namespace ockc::check
