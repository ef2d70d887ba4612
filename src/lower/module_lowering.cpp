// The worklist of instances, symbols, and the tables that all functions share.
#include "lower/module_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "abi/panic_record.hpp"
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::AbiKind;
using types::Scalar;
using types::ScalarKind;
using types::TypeKind;

ValueForm form_of(const Layout& layout) {
    if (layout.size == 0) return ValueForm::Zero;
    switch (layout.abi) {
        case AbiKind::Uninhabited: return layout.size == 0 ? ValueForm::Zero : ValueForm::Memory;
        case AbiKind::Scalar: return ValueForm::Scalar;
        case AbiKind::ScalarPair: return ValueForm::Pair;
        case AbiKind::Aggregate: return ValueForm::Memory;
    }
    OCKC_UNREACHABLE("ABI kind");
}

bool is_truth_value(const Scalar& scalar) {
    return scalar.kind == ScalarKind::Int && scalar.bytes == 1 && scalar.valid_low == 0 && scalar.valid_high == 1;
}

ir::Type ir_type(const Scalar& scalar) {
    if (is_truth_value(scalar)) return ir::Type::I1;
    switch (scalar.kind) {
        case ScalarKind::Int: return ir::int_type(scalar.bytes * 8u);
        case ScalarKind::Float:
            return scalar.bytes == 8 ? ir::Type::F64 : scalar.bytes == 4 ? ir::Type::F32 : ir::Type::F16;
        case ScalarKind::BFloat: return ir::Type::BF16;
        case ScalarKind::Pointer: return ir::Type::Ptr;
        case ScalarKind::Tile: return ir::Type::Tile;
    }
    OCKC_UNREACHABLE("scalar kind");
}

ModuleLowering::ModuleLowering(const Input& input) : input_(input) {
    output_.module.source_name = input.source_name;
    output_.module.interner = &input.context.program().interner;
    output_.abi.source_name = input.source_name;
}

Output ModuleLowering::run() {
    // Kernels own their plain names; everything else gives way.
    for (DefId kernel : context().program().kernels) {
        if (context().program().attribute(kernel, hir::AttributeKind::TileEntry) != nullptr) {
            lower_tile_kernel(kernel);
            continue;
        }
        if (context().generics_of(kernel).own.empty()) lower_kernel({kernel, types().no_args}, {});
        for (const types::ArgsId args : context().kernel_instances(kernel)) lower_kernel({kernel, args}, {});
    }
    // The host may set every constant, whether a kernel reads it or not.
    for (std::uint32_t i = 0; i < context().program().defs.size(); ++i) {
        const hir::Def& def = context().program().defs[DefId(i)];
        if (def.kind != hir::DefKind::Static || !def.lowered) continue;
        if (context().program().attribute(DefId(i), hir::AttributeKind::Constant) != nullptr) static_global(DefId(i));
    }
    do lower_pending();
    while (!stopped_ && write_dispatchers());
    if (!stopped_) refuse_call_cycles();
    return std::move(output_);
}

void ModuleLowering::lower_pending() {
    while (!queue_.empty() && !stopped_) {
        const Pending next = queue_.front();
        queue_.pop_front();
        const mir::Body* body = input_.mir(next.item.def);
        if (body == nullptr) continue;   // reported
        const CrashContext crash("lowering", context().program().name(next.item.def));
        current_ = next.function;
        const auto args = types()[next.item.args];
        FunctionLowering lowering(*this, *body, args, next.function);
        if (next.is_kernel) {
            lowering.run_kernel(output_.abi.kernels[output_.module.functions[next.function].kernel_index]);
        } else {
            lowering.run(shape_of(next.item), origins_.at(next.function).fn_targets);
        }
    }
}

void ModuleLowering::lower_kernel(ItemRef item, std::vector<abi::GenericValue> generics, std::string_view suffix) {
    const DefId kernel = item.def;
    abi::KernelAbi abi = kernel_abi(item);
    abi.generics = std::move(generics);
    abi.symbol = unique_symbol(abi.name + std::string(suffix));
    ir::Function function;
    function.name = abi.symbol;
    function.is_kernel = true;
    function.kernel_index = static_cast<std::uint32_t>(output_.abi.kernels.size());
    function.span = context().program().defs[kernel].name.span;
    const abi::LaunchFacts& launch = abi.launch;
    function.facts.domain = launch.domain;
    if (launch.block) std::copy(launch.block->begin(), launch.block->end(), function.facts.block);
    function.facts.max_threads = launch.max_threads.value_or(0);
    function.facts.dynamic_shared = static_cast<std::uint32_t>(launch.dynamic_shared.value_or(0));
    function.facts.is_tile = abi.is_tile;
    if (const auto spec = context().program().launches.find(kernel); spec != context().program().launches.end()) {
        function.facts.deny_checks = spec->second->deny_tile_checks;
        function.facts.skip_checks = spec->second->unchecked_tiles;
    }
    output_.abi.kernels.push_back(std::move(abi));
    const ir::FuncId id = module().functions.push(std::move(function));
    origins_[id] = {item, {}, {}};
    queue_.push_back({item, id, true});
}

const Layout& ModuleLowering::find_layout(TypeId type) {
    const Layout& layout = context().layout_of(type);
    layouts_.set(type, &layout);
    return layout;
}

TypeId ModuleLowering::subst(TypeId type, std::span<const types::GenericArg> args) {
    if (!args.empty()) type = types().subst(type, args);
    if (const TypeId known = plain_[type]; known.valid()) return known;
    const TypeId normal = context().normalize(types().erase_regions(type), context().empty_env());
    plain_.set(type, normal);
    return normal;
}

CallShape ModuleLowering::shape_of(std::vector<TypeId> inputs, TypeId output) {
    CallShape shape;
    const auto add = [&](std::vector<ir::Type>& list, const Layout& layout) {
        const ValueForm form = form_of(layout);
        if (form == ValueForm::Scalar || form == ValueForm::Pair) list.push_back(ir_type(layout.scalars[0]));
        if (form == ValueForm::Pair) list.push_back(ir_type(layout.scalars[1]));
        return form == ValueForm::Memory;
    };
    shape.returns_memory = add(shape.results, layout(output));
    if (shape.returns_memory) shape.params.push_back(ir::Type::Ptr);
    for (TypeId input : inputs) {
        if (add(shape.params, layout(input))) shape.params.push_back(ir::Type::Ptr);
    }
    shape.inputs = std::move(inputs);
    shape.output = output;
    return shape;
}

const CallShape& ModuleLowering::shape_of(ItemRef item) {
    const auto [known, fresh] = shapes_.emplace(InstanceKey{item, {}}, CallShape());
    if (fresh) known->second = find_shape(item);
    return known->second;
}

CallShape ModuleLowering::find_shape(ItemRef item) {
    const hir::Def& def = context().program().defs[item.def];
    if (def.kind == hir::DefKind::Closure) {
        const mir::Body* body = input_.mir(item.def);
        std::vector<TypeId> inputs;
        for (std::uint32_t i = 1; i <= body->arg_count; ++i) {
            inputs.push_back(subst(body->locals[mir::LocalId(i)].type, types()[item.args]));
        }
        return shape_of(std::move(inputs), subst(body->locals[mir::kReturnLocal].type, types()[item.args]));
    }
    check::FnSigInfo sig = context().fn_sig(item);
    for (TypeId& input : sig.inputs) input = subst(input, {});
    return shape_of(std::move(sig.inputs), subst(sig.output, {}));
}

std::size_t ModuleLowering::InstanceKeyHash::operator()(const InstanceKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.item.def.raw) << 32 | key.item.args.raw;
    for (const TypeId target : key.fn_targets) hash = hash * 0x9E37'79B9'7F4A'7C15u + target.raw;
    return std::hash<std::uint64_t>()(hash);
}

ir::FuncId ModuleLowering::function_of(ItemRef item, std::vector<TypeId> fn_targets, Span site) {
    while (!fn_targets.empty() && !fn_targets.back().valid()) fn_targets.pop_back();
    InstanceKey key{item, std::move(fn_targets)};
    if (auto found = instances_.find(key); found != instances_.end()) return found->second;
    stopped_ = stopped_ || !within_limits(item, site);
    ir::Function function;
    function.name = stopped_ ? std::string() : symbol_for(item);
    function.span = context().program().defs[item.def].name.span;
    const ir::FuncId id = module().functions.push(std::move(function));
    origins_[id] = {item, current_, key.fn_targets};
    instances_.emplace(std::move(key), id);
    queue_.push_back({item, id, false});
    return id;
}

// Readable: the item's path with everything that PTX names cannot hold made `_`.
std::string ModuleLowering::symbol_for(ItemRef item) {
    std::string wanted;
    for (char c : context().text(item)) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (plain) {
            wanted += c;
        } else if (!wanted.empty() && wanted.back() != '_') {
            wanted += '_';
        }
    }
    while (!wanted.empty() && wanted.back() == '_') wanted.pop_back();
    if (wanted.empty() || (wanted[0] >= '0' && wanted[0] <= '9')) wanted = "fn_" + wanted;
    return unique_symbol(std::move(wanted));
}

std::string ptx_name(std::string_view name) {
    std::string result;
    for (std::size_t at = 0; at < name.size();) {
        const auto byte = static_cast<unsigned char>(name[at]);
        if (byte < 0x80) {
            result += name[at++];
            continue;
        }
        // UTF-8: the lead byte says how many follow; each of those has six bits.
        const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
        std::uint32_t code = byte & (0x7Fu >> length);
        for (std::size_t i = 1; i < length && at + i < name.size(); ++i) code = code << 6 | (static_cast<unsigned char>(name[at + i]) & 0x3Fu);
        result += fmt::format("_u{:x}_", code);
        at += length;
    }
    const bool taken = result == "WARP_SZ" || result == abi::kPanicRecordSymbol || result == abi::kPanicFunctionSymbol || result == abi::kWidePanicFunctionSymbol;
    return taken ? result + "_" : result;
}

std::string ModuleLowering::unique_symbol(std::string wanted) {
    wanted = ptx_name(wanted);
    const auto known = symbols_.try_emplace(wanted, 1);
    if (known.second) return wanted;
    std::uint32_t& number = known.first->second;   // goes on where the last one of that name stopped: there may be thousands
    std::string name;
    do name = fmt::format("{}_{}", wanted, number++);
    while (!symbols_.try_emplace(name, 1).second);
    return name;
}

std::uint32_t ModuleLowering::panic_site(Span span, std::string text) {
    const std::uint64_t place = static_cast<std::uint64_t>(span.file.raw) << 32 | span.begin;
    const auto key = std::pair(place, text);
    if (auto found = sites_.find(key); found != sites_.end()) return found->second;
    abi::PanicSite site;
    if (span.valid()) {
        const LineColumn at = input_.sources.line_column(span.file, span.begin);
        site.file = input_.sources.file(span.file).name;
        site.line = at.line;
        site.column = at.column;
    }
    site.text = std::move(text);
    const auto id = static_cast<std::uint32_t>(output_.abi.panic_sites.size());
    output_.abi.panic_sites.push_back(std::move(site));
    sites_.emplace(key, id);
    return id;
}

ir::GlobalId ModuleLowering::bytes_global(std::vector<std::uint8_t> bytes, std::uint32_t align) {
    return image_global({std::move(bytes), {}}, align);
}

ir::GlobalId ModuleLowering::image_global(ConstImage image, std::uint32_t align) {
    if (image.bytes.empty()) image.bytes.push_back(0);   // an address all the same
    const auto key = std::tuple(image.bytes, image.relocations, align);
    if (auto found = const_globals_.find(key); found != const_globals_.end()) return found->second;
    ir::Global global;
    global.name = unique_symbol("ock_const");
    global.space = ir::Space::Global;
    global.size = image.bytes.size();
    global.align = align;
    global.init = std::move(image.bytes);
    global.relocations = std::move(image.relocations);
    const ir::GlobalId id = module().globals.push(std::move(global));
    const_globals_.emplace(key, id);
    return id;
}

ir::GlobalId ModuleLowering::static_global(DefId static_def) {
    if (auto found = statics_.find(static_def); found != statics_.end()) return found->second;
    const hir::Def& def = context().program().defs[static_def];
    const TypeId type = subst(context().type_of(static_def), {});
    const Layout& shape = layout(type);
    ir::Global global;
    global.name = unique_symbol(std::string(context().program().name(static_def)));
    global.space = ir::Space::Global;
    global.size = shape.size;
    global.align = shape.align;
    global.span = def.name.span;
    const bool is_constant = context().program().attribute(static_def, hir::AttributeKind::Constant) != nullptr;
    bool mixed = false;
    if (is_constant) {
        global.space = ir::Space::Const;
        global.visible = true;
        describe_constant(static_def, type, global.name);
    } else if (const std::optional<std::uint32_t> align = shared_alignment(type, mixed)) {   // uninitialised, whatever its constant says
        if (mixed) {
            context().sink().error(Code::OCK0112, global.span, fmt::format("static `{}` holds shared memory and other values", context().program().name(static_def)))
                .label(global.span, "shared memory begins without values")
                .help("put the shared arrays into a static of their own");
        }
        global.space = ir::Space::Shared;
        global.align = std::max(global.align, *align);
        global.size = std::max<std::uint64_t>(global.size, 1);
    } else if (const ConstValue* value = context().eval_static(static_def)) {
        ConstImage image = image_of(*value);
        global.init = std::move(image.bytes);
        global.relocations = std::move(image.relocations);
    }
    const ir::GlobalId id = module().globals.push(std::move(global));
    statics_.emplace(static_def, id);
    return id;
}

// What shared arrays and barriers ask for among the parts of a type: the alignment (0: the elements' own). Nothing for a type
// without any. `other`: there are parts that are ordinary memory.
std::optional<std::uint32_t> ModuleLowering::shared_alignment(TypeId type, bool& other) {
    const types::TypeData data = types()[type];
    if (layout(type).size == 0 && data.kind != TypeKind::Adt) return std::nullopt;
    if (data.kind == TypeKind::Adt && data.def == context().program().lang_item("Barrier")) return 8;
    if (data.kind == TypeKind::Adt && data.def == context().program().lang_item("SharedArray")) {
        std::uint32_t align = 0;   // the last const argument
        for (const types::GenericArg arg : types()[data.args]) {
            if (arg.kind() == types::GenericArg::Kind::Const) align = static_cast<std::uint32_t>(context().usize_value(arg.as_const()).value_or(0));
        }
        return align;
    }
    std::vector<TypeId> parts;
    if (data.kind == TypeKind::Array) parts.push_back(data.element);
    if (data.kind == TypeKind::Tuple) parts.assign(types()[data.elements].begin(), types()[data.elements].end());
    if (data.kind == TypeKind::Adt && context().adt(data.def).kind == check::AdtInfo::Kind::Struct) {
        for (const check::FieldInfo& field : context().adt(data.def).variants[0].fields) parts.push_back(context().field_type(field, data.args, context().empty_env()));
    }
    std::optional<std::uint32_t> found;
    for (const TypeId part : parts) {
        if (const auto align = shared_alignment(part, other)) found = std::max(found.value_or(0), *align);
    }
    other = other || (!found && parts.empty() && layout(type).size != 0);
    return found;
}

// What the host sees of a `#[constant] static`: the T of its ConstantMemory<T>.
void ModuleLowering::describe_constant(DefId static_def, TypeId type, const std::string& symbol) {
    const types::TypeData& data = types()[type];
    const Span span = context().program().defs[static_def].name.span;
    if (data.kind != TypeKind::Adt || data.def != context().program().lang_item("ConstantMemory")) {
        context().sink().error(Code::OCK0112, span, fmt::format("`#[constant]` stands on a static of type `{}`", context().text(type)))
            .help("write `static X: ConstantMemory<T> = ConstantMemory::UNINIT;`");
        return;
    }
    for (const types::GenericArg arg : types()[data.args]) {
        if (arg.kind() != types::GenericArg::Kind::Type) continue;
        output_.abi.constants.push_back({std::string(context().program().name(static_def)), symbol, abi_type(arg.as_type(), span)});
    }
}

ir::GlobalId ModuleLowering::dynamic_shared(std::uint32_t align) {
    if (!dynamic_shared_.valid()) {
        ir::Global global;
        global.name = unique_symbol("ock_dynamic_shared");
        global.space = ir::Space::Shared;
        global.is_extern = true;
        dynamic_shared_ = module().globals.push(std::move(global));
    }
    ir::Global& global = module().globals[dynamic_shared_];
    global.align = std::max(global.align, align);
    return dynamic_shared_;
}

Output lower(const Input& input) { return ModuleLowering(input).run(); }

}  // namespace ockc::lower
