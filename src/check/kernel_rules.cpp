// What a kernel may look like: it returns (), takes no `self`, and every parameter can be passed by a launch: scalars, plain
// structs, arrays and tuples by value, raw pointers, `&[T]`, `DisjointSlice`, `Uniform`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "check/lower_ty.hpp"
#include "check/passes.hpp"
#include "check/solve.hpp"
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
        if (launch_ != nullptr && launch_->unchecked_tiles && !fn_.sig.is_unsafe) {
            error(Code::OCK0111, program_.attribute(kernel_, hir::AttributeKind::TileEntry)->span, "only an `unsafe fn` may leave its tile indices unchecked")
                .label(program_.defs[kernel_].name.span, "this one is safe")
                .help("write `unsafe fn`, or take `unchecked_accesses` away");
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
        instances(sig);
    }

  private:
    Diagnostic& error(Code code, Span at, std::string message) { return cx_.sink().error(code, at, std::move(message)); }
    std::string_view name() const { return program_.name(kernel_); }

    void check_param(TypeId type, Span at) {
        const TypeData data = types_[type];
        if (types_.has(type, types::kHasError)) return;
        if (data.kind == TypeKind::Ref && types_.kind(data.element) == TypeKind::Adt && types_[data.element].def == cx_.state().lang.tensor) {
            return check_tensor(data.element, data.mutability == Mutability::Mut, at);
        }
        if (data.kind == TypeKind::Adt && data.def == cx_.state().lang.mapped_partition_mut) return check_mapped(type, data, at);
        const bool to_map = data.kind == TypeKind::Ref && types_.kind(data.element) == TypeKind::Adt && types_[data.element].def == cx_.state().lang.tensor_map;
        if (to_map && data.mutability != Mutability::Mut) return;   // the launch brings it along
        if (data.kind == TypeKind::Ref) return check_reference(data, type, at);
        if (data.kind == TypeKind::RawPtr) return;
        if (data.kind == TypeKind::Adt && data.def == cx_.state().lang.tensor_map) {
            error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type)))
                .label(at, "tensor copies read a descriptor where the launch has put it, not a copy of it")
                .help("take `&TmaDescriptor`");
            return;
        }
        if (data.kind == TypeKind::Adt && data.def == cx_.state().lang.disjoint_slice) return check_disjoint(data, at);
        if (data.kind == TypeKind::Adt && data.def == cx_.state().lang.uniform) return check_uniform(data, type, at);
        if (const std::string why = not_plain(type, 0); !why.empty()) {
            error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type)))
                .label(at, why)
                .help("take scalars, plain structs, raw pointers, `&[T]` or `DisjointSlice<T>`");
        }
    }

    // An output is a tile: its extents are known when it is compiled.
    void check_tensor(TypeId tensor, bool is_output, Span at) {
        for (const GenericArg arg : types_[types_[tensor].args]) {
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

    // Its tiles are those of an output; its map has an entry for each of one to three axes.
    void check_mapped(TypeId type, const TypeData& mapped, Span at) {
        std::vector<std::vector<types::ConstId>> lists;   // tile, map
        for (const GenericArg arg : types_[mapped.args]) {
            if (arg.kind() != GenericArg::Kind::Const) continue;
            const types::ConstData& list = types_[arg.as_const()];
            if (list.kind == types::ConstKind::Param) return;   // an instance will say
            const auto elements = types_.const_elements(arg.as_const());
            lists.emplace_back(elements.begin(), elements.end());
        }
        if (lists.size() != 2) return;
        if (lists[0].size() != lists[1].size() || lists[0].empty() || lists[0].size() > 3) {
            error(Code::OCK0505, at, fmt::format("`{}` has tiles of {} axes and a map of {}", cx_.text(type), lists[0].size(), lists[1].size()))
                .label(at, "both have one to three, equally many")
                .help("a map says for each axis how many tiles a group of blocks takes of it: 1 for row by row, 0 for an axis that each block has whole");
            return;
        }
        for (std::size_t i = 0; i < 2; ++i) {
            for (const types::ConstId element : lists[i]) {
                const types::ConstData& entry = types_[element];
                const auto value = static_cast<std::int32_t>(entry.bits[0]);
                if (entry.kind != types::ConstKind::Value || value > 0 || (i == 1 && value == 0)) continue;
                error(Code::OCK0505, at, i == 0 ? fmt::format("a tensor cannot have the extent {}", value) : fmt::format("a map cannot have the entry {}", value))
                    .label(at, i == 0 ? "the tiles of a partition have extents" : "entries are 0 or more")
                    .help("write a number or a const parameter");
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
        if (pointee.kind == TypeKind::Adt && pointee.def == cx_.state().lang.tensor_map) {
            error(Code::OCK0104, at, fmt::format("a kernel parameter of type `{}` cannot be launched", cx_.text(type)))
                .label(at, "a kernel cannot change a descriptor")
                .help("take `&TmaDescriptor`");
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

    // ---- instances of generic kernels

    void instances(const FnSigInfo& sig) {
        if (program_.attribute(kernel_, hir::AttributeKind::TileEntry) != nullptr) return note_tile_options();
        const auto found = program_.kernel_instances.find(kernel_);
        if (found != program_.kernel_instances.end()) {
            for (const hir::KernelInstance& one : found->second) {
                TypeLowerer lowerer(cx_, kernel_, ElidedRegion::Static);
                const ArgsId args = lowerer.lower_args(kernel_, {}, one.args, one.span, false);
                if (!lowerer.failed()) add_instance(cx_.normalize(args, cx_.empty_env()), sig, one.span, true);
            }
        }
        if (const std::optional<ArgsId> args = instance_of_options()) add_instance(*args, sig, program_.defs[kernel_].name.span, false);
    }

    void add_instance(ArgsId args, const FnSigInfo& sig, Span at, bool written) {
        std::vector<ArgsId>& known = cx_.state().kernel_instances[kernel_];
        for (const GenericArg arg : types_[args]) {
            if (arg.kind() == GenericArg::Kind::Type && types_.has(arg.as_type(), types::kHasError)) return;
            if (arg.kind() == GenericArg::Kind::Const && arg.as_const() == types_.error_const) return;
        }
        if (std::find(known.begin(), known.end(), args) != known.end()) {
            if (written) error(Code::OCK0114, at, fmt::format("kernel `{}` has this instance already", name()));
            return;
        }
        if (!bounds_hold(args, at)) return;
        const std::size_t errors = cx_.sink().error_count();
        for (const TypeId input : sig.inputs) check_param(cx_.normalize(types_.subst(input, args), cx_.empty_env()), at);
        if (cx_.sink().error_count() == errors) known.push_back(args);
    }

    // The instances of tile kernels are lower's matter; their options are known all the same.
    void note_tile_options() {
        const auto& consts = cx_.options().consts;
        for (const GenericsInfo::Param& param : cx_.generics_of(kernel_).own) {
            const std::string_view text = state_text(param.name);
            for (std::size_t i = 0; i < consts.size(); ++i) {
                if (consts[i].first == text || consts[i].first == fmt::format("{}:{}", name(), text)) cx_.state().consts_used[i] = true;
            }
        }
    }

    // Reports the first bound of the kernel that these arguments do not satisfy.
    bool bounds_hold(ArgsId args, Span at) {
        InferCtxt infer(types_);
        Selector selector(cx_, infer, cx_.empty_env());
        std::vector<Obligation> obligations;
        selector.item_obligations(kernel_, args, {}, 0, obligations);
        for (const Obligation& one : obligations) {
            if (selector.evaluate(one.predicate) == Outcome::Yes) continue;
            const TraitRef& bound = one.predicate.trait_ref;
            const std::string who = bound.trait.valid() ? cx_.text(types_[bound.args][0].as_type()) : std::string();
            const std::string_view trait = bound.trait.valid() ? program_.name(bound.trait) : std::string_view();
            if (one.predicate.kind == Predicate::Kind::Trait) {
                error(Code::E0277, at, fmt::format("the trait bound `{}: {}` is not satisfied", who, trait))
                    .label(at, fmt::format("the trait `{}` is not implemented for `{}`", trait, who))
                    .label(program_.defs[kernel_].name.span, fmt::format("required by a bound of kernel `{}`", name()));
            } else {
                error(Code::E0271, at, fmt::format("this instance does not satisfy the bounds of kernel `{}`", name())).label(program_.defs[kernel_].name.span, "an associated type is another one");
            }
            return false;
        }
        return true;
    }

    // --const gives every parameter a value: the instance; nothing when one is missing.
    std::optional<ArgsId> instance_of_options() {
        const GenericsInfo& generics = cx_.generics_of(kernel_);
        std::vector<GenericArg> args;
        bool complete = !generics.own.empty();
        for (const GenericsInfo::Param& param : generics.own) {
            const std::optional<GenericArg> value = option_value(param);
            if (value) args.push_back(*value);
            else complete = false;
        }
        return complete ? std::optional(types_.args(args)) : std::nullopt;
    }

    std::optional<GenericArg> option_value(const GenericsInfo::Param& param) {
        const std::string own = fmt::format("{}:{}", name(), state_text(param.name));
        const auto& consts = cx_.options().consts;
        std::optional<std::size_t> chosen;
        for (std::size_t i = 0; i < consts.size(); ++i) {
            if (consts[i].first == own || (consts[i].first == state_text(param.name) && !chosen)) chosen = i;
        }
        if (!chosen) return std::nullopt;
        cx_.state().consts_used[*chosen] = true;
        const std::string& text = consts[*chosen].second;
        const auto wrong = [&](std::string_view wanted) -> std::optional<GenericArg> {
            error(Code::OCK0110, program_.defs[param.def].span, fmt::format("--const {}={}: {} is wanted", consts[*chosen].first, text, wanted));
            return std::nullopt;
        };
        if (param.kind == hir::GenericParam::Kind::Type) {
            const std::optional<TypeId> type = prim_named(text);
            return type ? std::optional(GenericArg(*type)) : wrong("the name of a number type, `bool` or `char`");
        }
        if (param.kind != hir::GenericParam::Kind::Const) return std::nullopt;
        if (types_.kind(param.const_type) == TypeKind::Bool) {
            if (text != "true" && text != "false") return wrong("`true` or `false`");
            return GenericArg(types_.const_value(param.const_type, text == "true" ? 1 : 0));
        }
        const bool negative = text.starts_with('-');
        std::uint64_t value = 0;
        const char* begin = text.data() + (negative ? 1 : 0);
        const auto result = std::from_chars(begin, text.data() + text.size(), value);
        const TypeData data = types_[param.const_type];
        if (data.kind != TypeKind::Int || result.ec != std::errc() || result.ptr != text.data() + text.size() || (negative && !types::int_signed(data.int_kind))) return wrong("an integer");
        const std::uint32_t bits = std::min(types::int_bits(data.int_kind), 64u);
        const std::uint64_t most = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        const std::uint64_t limit = types::int_signed(data.int_kind) ? (most >> 1) + (negative ? 1 : 0) : most;
        if (value > limit) return wrong(fmt::format("a value of `{}`", cx_.text(param.const_type)));
        return GenericArg(types_.const_value(param.const_type, (negative ? ~value + 1 : value) & most));
    }
    std::string_view state_text(Symbol symbol) const { return program_.interner.text(symbol); }
    std::optional<TypeId> prim_named(std::string_view text) const {
        if (text == "bool") return types_.boolean;
        if (text == "char") return types_.character;
#define OCKC_INT_NAMED(name, ...) if (types::int_name(types::IntKind::name) == text) return types_.int_type(types::IntKind::name);
        OCKC_PRIM_INTS(OCKC_INT_NAMED)
#undef OCKC_INT_NAMED
#define OCKC_FLOAT_NAMED(name, ...) if (types::float_name(types::FloatKind::name) == text) return types_.float_type(types::FloatKind::name);
        OCKC_PRIM_FLOATS(OCKC_FLOAT_NAMED)
#undef OCKC_FLOAT_NAMED
        return std::nullopt;
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
    if (const auto machine = intrinsic::machine_of(*known)) {   // const parameters are operands too, and the elements of arrays
        const bool any_number = intrinsic::info(*machine).operands.find('*') != std::string_view::npos;
        for (const TypeId input : context.fn_sig(fn).inputs) {
            const TypeData& data = context.types()[input];
            if (data.kind == TypeKind::Array && !any_number) inputs += context.usize_value(data.length).value_or(1) - 1;
        }
        for (const auto& param : context.generics_of(fn).own) inputs += param.kind == hir::GenericParam::Kind::Const ? 1 : 0;
    }
    if (inputs != arity) {
        context.sink().error(def.name.span, fmt::format("intrinsic `{}` takes {} argument{}, not {}", def.intrinsic, arity, arity == 1 ? "" : "s", inputs));
    }
}

}  // namespace ockc::check
