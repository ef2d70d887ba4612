// What a kernel may look like: it returns (), takes no `self`, and every parameter can be passed by a launch: scalars, plain
// structs, arrays and tuples by value, raw pointers, `&[T]`, `DisjointSlice`, `Uniform`.
#include <fmt/format.h>

#include "check/passes.hpp"
#include "intrinsic/intrinsic.hpp"

namespace ockc::check {

using types::Mutability;

namespace {

class KernelCheck {
  public:
    KernelCheck(Context& context, DefId kernel)
        : cx_(context), program_(context.program()), types_(context.types()), kernel_(kernel), fn_(context.program().as<hir::FnDef>(kernel)) {
        const auto found = program_.launches.find(kernel);
        if (found != program_.launches.end()) launch_ = found->second;
    }

    void run() {
        const FnSigInfo sig = cx_.fn_sig(ItemRef{kernel_, cx_.identity_args(kernel_)});
        const ParamEnv& env = cx_.param_env(kernel_);
        const TypeId output = cx_.normalize(sig.output, env);
        if (output != types_.unit && !types_.has(output, types::kHasError)) {
            const Span at = fn_.sig.output_span.valid() ? fn_.sig.output_span : fn_.sig.span;
            error(Code::OCK0102, at, fmt::format("kernel `{}` returns `{}`", name(), cx_.text(output)))
                .label(at, "a kernel has no result")
                .help("write results through a `DisjointSlice` parameter");
        }
        if (fn_.sig.has_self) {
            error(Code::OCK0105, fn_.sig.span, fmt::format("kernel `{}` takes `self`", name())).help("make it a free function and pass the value as a parameter");
            return;
        }
        if (fn_.sig.is_const || fn_.sig.is_async || fn_.sig.is_extern) {
            error(Code::OCK0105, fn_.sig.span, fmt::format("kernel `{}` cannot be `const`, `async` or `extern`", name())).help("write `fn` or `unsafe fn`");
        }
        for (const auto& param : cx_.generics_of(kernel_).own) {
            if (param.synthetic) error(Code::OCK0105, program_.defs[param.def].span, "`impl Trait` in a kernel's parameters").help("name the type: `fn kernel<T: Trait>(x: T)`");
        }
        std::vector<TypeId> params;
        for (std::size_t i = 0; i < sig.inputs.size(); ++i) {
            params.push_back(cx_.normalize(sig.inputs[i], env));
            check_param(params.back(), program_.types[fn_.sig.inputs[i].type].span);
        }
        if (launch_ != nullptr) check_launch(params);
    }

  private:
    Diagnostic& error(Code code, Span at, std::string message) { return cx_.sink().error(code, at, std::move(message)); }
    std::string_view name() const { return program_.name(kernel_); }

    void check_param(TypeId type, Span at) {
        const TypeData data = types_[type];
        if (types_.has(type, types::kHasError)) return;
        if (data.kind == TypeKind::Ref && types_.kind(data.element) == TypeKind::Adt && types_[data.element].def == cx_.state().lang.tensor) {
            return check_tensor(data, at);
        }
        if (data.kind == TypeKind::Ref) return check_reference(data, type, at);
        if (data.kind == TypeKind::RawPtr) return;
        if (data.kind == TypeKind::Adt && data.def == cx_.state().lang.disjoint_slice) return check_disjoint(data, at);
        if (data.kind == TypeKind::Adt && data.def == cx_.state().lang.uniform) return check_uniform(data, type, at);
        if (const std::string why = not_plain(type, 0); !why.empty()) {
            error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type)))
                .label(at, why)
                .help("take scalars, plain structs, raw pointers, `&[T]` or `DisjointSlice<T>`");
        }
    }

    // An output is a tile: its extents are known when it is compiled.
    void check_tensor(const TypeData& reference, Span at) {
        const bool is_output = reference.mutability == Mutability::Mut;
        for (const GenericArg arg : types_[types_[reference.element].args]) {
            if (arg.kind() != GenericArg::Kind::Const) continue;
            for (const types::ConstId element : types_.const_elements(arg.as_const())) {
                const types::ConstData& extent = types_[element];
                if (extent.kind != types::ConstKind::Value) continue;
                const auto value = static_cast<std::int32_t>(extent.bits[0]);
                if (value > 0 || (value == -1 && !is_output)) continue;
                error(Code::OCK0505, at, fmt::format("a tensor cannot have the extent {}", value))
                    .label(at, is_output ? "an output has the shape of its partition's tiles" : "extents are positive, or -1 for one that the launch decides")
                    .help(is_output ? "make the extent a number or a const parameter: the partition gives its value" : "write -1, a number or a const parameter");
            }
        }
    }

    void check_uniform(const TypeData& data, TypeId type, Span at) {
        for (const GenericArg arg : types_[data.args]) {
            if (arg.kind() != GenericArg::Kind::Type) continue;
            const TypeKind kind = types_.kind(arg.as_type());
            if (kind == TypeKind::Int || kind == TypeKind::Float || kind == TypeKind::Bool || kind == TypeKind::Param || kind == TypeKind::Error) continue;
            error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type))).label(at, "`Uniform` holds a number or a truth value");
        }
    }

    void check_reference(const TypeData& data, TypeId type, Span at) {
        const TypeData pointee = types_[data.element];
        if (pointee.kind == TypeKind::Slice && data.mutability == Mutability::Mut) {
            error(Code::OCK0103, at, "a kernel cannot take `&mut [T]`: every thread of the launch would hold it")
                .label(at, "aliased by all threads")
                .help(fmt::format("use `DisjointSlice<{}>`, which hands each thread the elements that are its own", cx_.text(pointee.element)));
            return;
        }
        if (pointee.kind == TypeKind::Slice) {
            if (const std::string why = not_plain(pointee.element, 0); !why.empty()) {
                error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type))).label(at, why).help("the elements must be plain data");
            }
            return;
        }
        error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type)))
            .label(at, "a reference to a single value of the host")
            .help(fmt::format("take `{}` by value, or a slice `&[{}]`", cx_.text(data.element), cx_.text(data.element)));
    }

    void check_disjoint(const TypeData& data, Span at) {
        const auto args = types_[data.args];
        TypeId space;
        for (GenericArg arg : args) {
            if (arg.kind() != GenericArg::Kind::Type) continue;
            if (!space.valid() && types_.kind(arg.as_type()) != TypeKind::Error) {
                const std::string why = not_plain(arg.as_type(), 0);
                if (!why.empty()) error(Code::OCK0104, at, "the elements of a `DisjointSlice` must be plain data").label(at, why);
            }
            space = arg.as_type();
        }
        const TypeData& which = types_[space];
        const std::uint32_t domain = which.kind == TypeKind::Adt ? domain_of(program_.defs[which.def].lang_item) : 0;
        if (domain == 0 || launch_ == nullptr || !launch_->has_contract || launch_->domain.value == domain) return;
        static constexpr std::string_view kBy[] = {"one dimension", "two dimensions", "three dimensions"};
        error(Code::OCK0106, at, fmt::format("index space `{}` does not fit a launch contract with `domain = {}`", cx_.text(space), launch_->domain.value))
            .label(at, fmt::format("indexed by {}", kBy[domain - 1]))
            .label(launch_->domain.span, "the contract's domain");
    }

    // The domain that an index space, or a function that gives witnesses, belongs to; 0: it is neither.
    static std::uint32_t domain_of(std::string_view lang_item) {
        struct Row {
            std::string_view key;
            std::uint32_t domain;
        };
        static constexpr Row kRows[] = {
            {"Index1D", 1},       {"WarpIndex", 1},             {"LinearTiles", 1}, {"index_1d", 1},  {"warp_index", 1},       {"index_1d_u32", 1},
            {"Index2D", 2},       {"Runtime2DIndex", 2},        {"index_2d", 2},    {"index_2d_runtime", 2}, {"coord_2d_u32", 2},
            {"RowMajorTiles", 2}, {"RuntimeRowMajorTiles", 2},  {"Index3D", 3},     {"index_3d", 3},
        };
        for (const Row& row : kRows) {
            if (row.key == lang_item) return row.domain;
        }
        return 0;
    }

    // Why a type cannot cross a launch by value; empty when it can.
    std::string not_plain(TypeId type, std::uint32_t depth) {
        const TypeData data = types_[type];
        if (depth > 32) return "nested too deeply";
        switch (data.kind) {
            case TypeKind::Error:
            case TypeKind::Bool:
            case TypeKind::Char:
            case TypeKind::Int:
            case TypeKind::Float:
            case TypeKind::RawPtr:
            case TypeKind::Param:
            case TypeKind::Projection:
            case TypeKind::FnDef: return {};
            case TypeKind::Ref: return "holds a reference to host memory";
            case TypeKind::Slice:
            case TypeKind::Str: return "has no fixed size";
            case TypeKind::Never: return "has no value";
            case TypeKind::FnPtr: return "a function pointer of the host";
            case TypeKind::Closure:
            case TypeKind::Opaque:
            case TypeKind::Infer: return "cannot be named by the host";
            case TypeKind::Array: return not_plain(data.element, depth + 1);
            case TypeKind::Tuple:
                for (TypeId element : types_[data.elements]) {
                    if (std::string why = not_plain(element, depth + 1); !why.empty()) return why;
                }
                return {};
            case TypeKind::Adt: break;
        }
        if (data.def == cx_.state().lang.disjoint_slice || data.def == cx_.state().lang.thread_index) return "belongs to one thread";
        if (cx_.needs_drop(type, cx_.param_env(kernel_))) return "has a destructor";
        for (const VariantInfo& variant : cx_.adt(data.def).variants) {
            for (const FieldInfo& field : variant.fields) {
                if (std::string why = not_plain(cx_.field_type(field, data.args, cx_.param_env(kernel_)), depth + 1); !why.empty()) return why;
            }
        }
        return {};
    }

    // ---- launch attributes that need types
    void check_launch(const std::vector<TypeId>& params) {
        for (const hir::LaunchRequirement& requirement : launch_->requirements) {
            if (requirement.lhs != nullptr) check_expr(*requirement.lhs, params);
            if (requirement.rhs != nullptr) check_expr(*requirement.rhs, params);
        }
        if (launch_->has_contract) check_witnesses();
    }

    void check_expr(const hir::LaunchExpr& e, const std::vector<TypeId>& params) {
        using Kind = hir::LaunchExpr::Kind;
        const bool names_param = e.kind == Kind::Param || e.kind == Kind::Len || e.kind == Kind::RowWidth;
        if (names_param && e.param < params.size()) {
            const TypeData data = types_[params[e.param]];
            const bool slice = (data.kind == TypeKind::Ref && types_.kind(data.element) == TypeKind::Slice) || (data.kind == TypeKind::Adt && data.def == cx_.state().lang.disjoint_slice);
            const bool number = data.kind == TypeKind::Int && !types::int_signed(data.int_kind);
            if (e.kind == Kind::Param && !number) {
                error(Code::OCK0113, e.span, fmt::format("a `requires` relation compares unsigned numbers; this is `{}`", cx_.text(params[e.param])));
            } else if (e.kind == Kind::Len && !slice) {
                error(Code::OCK0113, e.span, fmt::format("`{}` has no length", cx_.text(params[e.param])));
            } else if (e.kind == Kind::RowWidth && !has_row_width(data)) {
                error(Code::OCK0113, e.span, fmt::format("`{}` has no row width", cx_.text(params[e.param])));
            }
        }
        if (e.lhs != nullptr) check_expr(*e.lhs, params);
        if (e.rhs != nullptr) check_expr(*e.rhs, params);
    }

    bool has_row_width(const TypeData& data) {
        if (data.kind != TypeKind::Adt || data.def != cx_.state().lang.disjoint_slice) return false;
        for (const GenericArg arg : types_[data.args]) {
            if (arg.kind() != GenericArg::Kind::Type || types_.kind(arg.as_type()) != TypeKind::Adt) continue;
            const std::string_view space = program_.defs[types_[arg.as_type()].def].lang_item;
            if (space == "Runtime2DIndex" || space == "RuntimeRowMajorTiles") return true;
        }
        return false;
    }

    // index_1d() in a launch of two or three dimensions gives no valid witness, and so on.
    void check_witnesses() {
        const TypeTables* tables = cx_.check_body(kernel_);
        if (tables == nullptr) return;
        const hir::Body& body = *program_.bodies[tables->body];
        for (std::uint32_t i = 0; i < body.exprs.size(); ++i) {
            const hir::ExprId id(i);
            const DefId item = tables->expr_items[id].def;
            const std::uint32_t domain = item.valid() ? domain_of(program_.defs[item].lang_item) : 0;
            const bool is_fn = domain != 0 && program_.defs[item].kind == hir::DefKind::Fn;
            if (!is_fn || domain == launch_->domain.value) continue;
            error(Code::OCK0106, body.exprs[id].span, fmt::format("`{}` needs a launch contract with `domain = {}`; this one has `domain = {}`", program_.name(item), domain, launch_->domain.value))
                .label(launch_->domain.span, "the contract's domain");
        }
    }

    Context& cx_;
    const hir::Program& program_;
    TypeStore& types_;
    DefId kernel_;
    const hir::FnDef& fn_;
    const hir::LaunchSpec* launch_ = nullptr;
};

}  // namespace

void check_kernel(Context& context, DefId kernel) {
    if (context.program().defs[kernel].lowered) KernelCheck(context, kernel).run();
}

void check_intrinsic(Context& context, DefId fn) {
    const hir::Def& def = context.program().defs[fn];
    const auto known = intrinsic::from_key(def.intrinsic);
    if (!known) {
        context.sink().error(def.name.span, fmt::format("unknown intrinsic `{}`", def.intrinsic));
        return;
    }
    std::size_t inputs = context.fn_sig(fn).inputs.size();
    const std::size_t arity = intrinsic::info(*known).arity;
    if (intrinsic::machine_of(*known)) {   // const parameters are operands too
        for (const auto& param : context.generics_of(fn).own) inputs += param.kind == hir::GenericParam::Kind::Const ? 1 : 0;
    }
    if (inputs != arity) {
        context.sink().error(def.name.span, fmt::format("intrinsic `{}` takes {} argument{}, not {}", def.intrinsic, arity, arity == 1 ? "" : "s", inputs));
    }
}

}  // namespace ockc::check
