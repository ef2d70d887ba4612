// Which instances of a generic tile kernel are compiled: those that --const names, and the one whose outputs are partitioned
// as --partition says. A parameter that neither gives leaves the kernel checked only.
#include <fmt/format.h>

#include <charconv>

#include "lower/module_lowering.hpp"

namespace ockc::lower {

using types::GenericArg;
using types::TypeKind;

namespace {

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t comma = text.find(',');
        parts.push_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        text.remove_prefix(comma + 1);
    }
}

class Instances {
  public:
    Instances(check::Context& context, const Input& input, DefId kernel)
        : context_(context), types_(context.types()), input_(input), kernel_(kernel), generics_(context.generics_of(kernel)) {
        find_partitioned();
    }

    // Each instance's arguments with their texts; nothing when some parameter has no value.
    struct Instance {
        types::ArgsId args;
        std::vector<abi::GenericValue> values;
    };
    std::vector<Instance> run() {
        std::vector<std::vector<std::string>> choices;
        std::vector<std::string> missing;
        for (const auto& param : generics_.own) {
            if (param.kind == hir::GenericParam::Kind::Lifetime) {
                choices.push_back({""});
                continue;
            }
            choices.push_back(given(param));
            if (choices.back().empty()) missing.push_back(fmt::format("`{}`", name(param)));
        }
        if (!missing.empty()) {
            tell(missing);
            return {};
        }
        std::vector<Instance> instances;
        choose(choices, {}, instances);
        return instances;
    }

  private:
    std::string_view name(const check::GenericsInfo::Param& param) const { return context_.program().interner.text(param.name); }

    void tell(const std::vector<std::string>& missing) {
        const hir::Def& def = context_.program().defs[kernel_];
        context_.sink().add(Severity::Warning, Code::None, def.name.span, fmt::format("no instance of the tile kernel `{}` is compiled", context_.program().name(kernel_)))
            .label(def.name.span, fmt::format("no value for {}", fmt::join(missing, ", ")))
            .help("give one with `--const NAME=VALUE`, or a partition with `--partition PARAMETER=EXTENTS`");
    }

    // Values for a parameter: of --const in their order, else what a partition says.
    std::vector<std::string> given(const check::GenericsInfo::Param& param) const {
        std::vector<std::string> values;
        const std::string own = fmt::format("{}:{}", context_.program().name(kernel_), name(param));
        for (const auto& [key, value] : input_.consts) {
            if (key == name(param) || key == own) values.push_back(value);
        }
        if (!values.empty()) return values;
        const auto found = partitioned_.find(param.name.raw);
        if (found != partitioned_.end()) values.push_back(found->second);
        return values;
    }

    // Parameters that stand in the shape of an output which --partition speaks of.
    void find_partitioned() {
        const hir::FnDef& fn = context_.program().as<hir::FnDef>(kernel_);
        const check::FnSigInfo sig = context_.fn_sig(ItemRef{kernel_, context_.identity_args(kernel_)});
        for (std::size_t i = 0; i < sig.inputs.size(); ++i) {
            const std::string_view param = fn.sig.inputs[i].name.name.valid() ? context_.program().interner.text(fn.sig.inputs[i].name.name) : std::string_view();
            for (const auto& [key, extents] : input_.partitions) {
                if (key != param) continue;
                if (types_.kind(sig.inputs[i]) == TypeKind::Ref) match(types_[sig.inputs[i]].element, extents);
                if (types_.kind(sig.inputs[i]) == TypeKind::Adt) match(sig.inputs[i], extents);
            }
        }
    }

    void match(types::TypeId tensor, std::string_view extents) {
        const auto parts = split(extents);
        for (const GenericArg arg : types_[types_[tensor].args]) {
            if (arg.kind() != GenericArg::Kind::Const) continue;
            const types::ConstData& shape = types_[arg.as_const()];
            if (shape.kind == types::ConstKind::Param) partitioned_.emplace(shape.name.raw, std::string(extents));
            const auto elements = types_.const_elements(arg.as_const());
            for (std::size_t k = 0; k < elements.size() && k < parts.size(); ++k) {
                const types::ConstData& one = types_[elements[k]];
                if (one.kind == types::ConstKind::Param) partitioned_.emplace(one.name.raw, std::string(parts[k]));
            }
            return;   // the map of a MappedPartitionMut is not the partition's to say
        }
    }

    void choose(std::span<const std::vector<std::string>> choices, std::vector<std::string> so_far, std::vector<Instance>& out) {
        if (so_far.size() == choices.size()) {
            if (std::optional<Instance> made = make(so_far)) out.push_back(std::move(*made));
            return;
        }
        for (const std::string& value : choices[so_far.size()]) {
            so_far.push_back(value);
            choose(choices, so_far, out);
            so_far.pop_back();
        }
    }

    std::optional<Instance> make(std::span<const std::string> values) {
        Instance instance;
        std::vector<GenericArg> args;
        for (std::size_t i = 0; i < generics_.own.size(); ++i) {
            const auto& param = generics_.own[i];
            if (param.kind == hir::GenericParam::Kind::Lifetime) {
                args.push_back(types_.erased);
                continue;
            }
            const GenericArg arg = param.kind == hir::GenericParam::Kind::Type ? GenericArg(type_of(values[i])) : GenericArg(const_of(values[i], param.const_type));
            const bool good = arg.kind() == GenericArg::Kind::Type ? arg.as_type().valid() : arg.as_const().valid();
            if (!good) {
                const std::string wanted = param.kind == hir::GenericParam::Kind::Type ? "a number type" : fmt::format("a value of type `{}`", context_.text(param.const_type));
                context_.sink().error(context_.program().defs[param.def].span, fmt::format("`{}` is not {}", values[i], wanted))
                    .label(context_.program().defs[param.def].span, fmt::format("`--const {}={}` asked for it", name(param), values[i]));
                return std::nullopt;
            }
            args.push_back(arg);
            instance.values.push_back({std::string(name(param)), values[i]});
        }
        instance.args = types_.args(args);
        return instance;
    }

    types::TypeId type_of(std::string_view text) const {
        if (text == "bool") return types_.boolean;
#define OCKC_INT_ROW(kind, name_text, ...) \
        if (text == name_text) return types_.int_type(types::IntKind::kind);
        OCKC_PRIM_INTS(OCKC_INT_ROW)
#undef OCKC_INT_ROW
#define OCKC_FLOAT_ROW(kind, name_text, ...) \
        if (text == name_text) return types_.float_type(types::FloatKind::kind);
        OCKC_PRIM_FLOATS(OCKC_FLOAT_ROW)
#undef OCKC_FLOAT_ROW
        return {};
    }

    types::ConstId const_of(std::string_view text, types::TypeId type) {
        const types::TypeData data = types_[type];
        if (data.kind == TypeKind::Array) {
            std::vector<types::ConstId> elements;
            for (const std::string_view part : split(text)) {
                elements.push_back(const_of(part, data.element));
                if (!elements.back().valid()) return {};
            }
            const types::TypeId whole = types_.array(data.element, types_.const_usize(elements.size()));
            return whole == type ? types_.const_array(type, elements) : types::ConstId();
        }
        if (data.kind == TypeKind::Bool) return text == "true" || text == "false" ? types_.const_value(type, text == "true" ? 1 : 0) : types::ConstId();
        if (data.kind != TypeKind::Int) return {};
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const std::uint32_t bits = types::int_bits(data.int_kind);
        if (error != std::errc() || end != text.data() + text.size() || bits > 64) return {};
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
        const bool is_signed = types::int_signed(data.int_kind);
        const std::int64_t low = is_signed ? -static_cast<std::int64_t>(mask >> 1) - 1 : 0;
        if (value < low || (value > 0 && static_cast<std::uint64_t>(value) > (is_signed ? mask >> 1 : mask))) return {};
        return types_.const_value(type, static_cast<std::uint64_t>(value) & mask);
    }

    check::Context& context_;
    types::TypeStore& types_;
    const Input& input_;
    DefId kernel_;
    const check::GenericsInfo& generics_;
    std::unordered_map<std::uint32_t, std::string> partitioned_;   // by symbol
};

}  // namespace

void ModuleLowering::lower_tile_kernel(DefId kernel) {
    if (context().generics_of(kernel).own.empty()) return lower_kernel({kernel, types().no_args}, {});
    auto instances = Instances(context(), input_, kernel).run();
    for (auto& instance : instances) {   // one has the kernel's name, several have their values in it: "add_128"
        std::string suffix;
        for (const abi::GenericValue& one : instance.values) {
            suffix += '_';
            for (const char c : one.value) suffix += c == ',' ? 'x' : c == '-' ? 'm' : c;
        }
        lower_kernel({kernel, instance.args}, std::move(instance.values), instances.size() > 1 ? suffix : std::string());
    }
}

}  // namespace ockc::lower
