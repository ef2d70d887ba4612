// A kernel's Rust signature as its ABI: parameters, their .param slots, the structs they are made of (docs/abi.md).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lower/module_lowering.hpp"

namespace ockc::lower {

using abi::AbiType;
using types::TypeKind;

namespace {

abi::Scalar scalar_of(const types::TypeData& type) {
    switch (type.kind) {
        case TypeKind::Bool: return abi::Scalar::Bool;
        case TypeKind::Char: return abi::Scalar::Char;
        case TypeKind::Int:
            switch (type.int_kind) {
#define OCKC_INT_ROW(name, ...) case types::IntKind::name: return abi::Scalar::name;
                OCKC_PRIM_INTS(OCKC_INT_ROW)
#undef OCKC_INT_ROW
            }
            break;
        case TypeKind::Float:
            switch (type.float_kind) {
#define OCKC_FLOAT_ROW(name, ...) case types::FloatKind::name: return abi::Scalar::name;
                OCKC_PRIM_FLOATS(OCKC_FLOAT_ROW)
#undef OCKC_FLOAT_ROW
            }
            break;
        default: break;
    }
    OCKC_UNREACHABLE("not a scalar type");
}

bool is_scalar(TypeKind kind) {
    return kind == TypeKind::Bool || kind == TypeKind::Char || kind == TypeKind::Int || kind == TypeKind::Float;
}

std::string cpp_name(std::string_view text) {
    std::string name;
    for (char c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (plain || (!name.empty() && name.back() != '_')) name += plain ? c : '_';
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    return name;
}

abi::SizeExpr size_expr(const hir::LaunchExpr& expr) {
    static constexpr abi::SizeExpr::Kind kKinds[] = {abi::SizeExpr::Kind::Literal, abi::SizeExpr::Kind::Param,
                                                     abi::SizeExpr::Kind::Len, abi::SizeExpr::Kind::RowWidth,
                                                     abi::SizeExpr::Kind::Add, abi::SizeExpr::Kind::Sub, abi::SizeExpr::Kind::Mul};
    abi::SizeExpr result;
    result.kind = kKinds[static_cast<std::size_t>(expr.kind)];
    result.literal = expr.literal;
    result.param = expr.param;
    if (expr.lhs != nullptr) result.operands.push_back(size_expr(*expr.lhs));
    if (expr.rhs != nullptr) result.operands.push_back(size_expr(*expr.rhs));
    return result;
}

template <class T>
std::optional<T> without_span(const std::optional<hir::Spanned<T>>& spanned) {
    return spanned ? std::optional<T>(spanned->value) : std::nullopt;
}

abi::LaunchFacts launch_facts(const hir::LaunchSpec& spec) {
    abi::LaunchFacts facts;
    facts.max_threads = without_span(spec.max_threads);
    facts.min_blocks = without_span(spec.min_blocks);
    facts.has_contract = spec.has_contract;
    facts.domain = spec.domain.value;
    facts.coordinates_u32 = spec.coordinates_u32;
    facts.block = without_span(spec.block);
    facts.dynamic_shared = without_span(spec.dynamic_shared);
    facts.dynamic_shared_range = without_span(spec.dynamic_shared_range);
    if (spec.dynamic_shared_alignment) facts.dynamic_shared_alignment = spec.dynamic_shared_alignment->value;
    facts.min_compute_capability = without_span(spec.min_compute_capability);
    facts.cluster = without_span(spec.cluster);
    facts.cooperative = spec.cooperative;
    for (const hir::LaunchRequirement& one : spec.requirements) {
        facts.requirements.push_back({std::string(one.text), size_expr(*one.lhs),
                                      static_cast<abi::Relation>(one.relation), size_expr(*one.rhs)});
    }
    return facts;
}

// Builds the slots of one parameter.
class SlotWriter {
  public:
    SlotWriter(abi::KernelAbi& abi, abi::KernelParam& param) : abi_(abi), param_(param) {
        param_.first_slot = static_cast<std::uint32_t>(abi_.slots.size());
    }
    void scalar(std::string name, abi::Scalar type) {
        const std::uint32_t bytes = abi::scalar_info(type).bytes;
        abi_.slots.push_back({ptx_name(name), bytes, bytes, false, type});
        ++param_.slot_count;
    }
    void bytes(std::string name, const AbiType& type) {
        abi_.slots.push_back({ptx_name(name), static_cast<std::uint32_t>(type.size), type.align, true, abi::Scalar::U8});
        ++param_.slot_count;
    }

  private:
    abi::KernelAbi& abi_;
    abi::KernelParam& param_;
};

}  // namespace

// Variants and tag of an enum without fields; false for any other type.
bool ModuleLowering::describe_enum(TypeId type, abi::AbiStruct& record) {
    const types::TypeData& data = types()[type];
    const Layout& shape = layout(type);
    const bool whole = shape.size == 1 || shape.size == 2 || shape.size == 4 || shape.size == 8;
    if (data.kind != TypeKind::Adt || !whole) return false;
    const check::AdtInfo& adt = context().adt(data.def);
    if (adt.kind != check::AdtInfo::Kind::Enum) return false;
    const auto has_fields = [](const check::VariantInfo& variant) { return !variant.fields.empty(); };
    if (std::any_of(adt.variants.begin(), adt.variants.end(), has_fields)) return false;
    const auto negative = [&](const check::VariantInfo& variant) {
        return types::int_signed(adt.discriminant_type) && (variant.discriminant[0] >> (std::min(types::int_bits(adt.discriminant_type), 64u) - 1) & 1u) != 0;
    };
    const bool is_signed = std::any_of(adt.variants.begin(), adt.variants.end(), negative);
    static constexpr abi::Scalar kTags[2][4] = {{abi::Scalar::U8, abi::Scalar::U16, abi::Scalar::U32, abi::Scalar::U64},
                                                {abi::Scalar::I8, abi::Scalar::I16, abi::Scalar::I32, abi::Scalar::I64}};
    record.tag = kTags[is_signed ? 1 : 0][std::countr_zero(shape.size)];
    for (std::uint32_t i = 0; i < adt.variants.size(); ++i) {
        std::vector<std::uint8_t> bytes(shape.size);
        encode_tag(type, i, bytes);
        std::uint64_t tag = is_signed && (bytes.back() & 0x80u) != 0 ? ~std::uint64_t{0} : 0;
        for (std::size_t b = bytes.size(); b-- > 0;) tag = tag << 8 | bytes[b];
        record.variants.push_back({std::string(context().program().interner.text(adt.variants[i].name)), tag});
    }
    return true;
}

// Does the type hold an UnsafeCell: may threads change it through a `&`?
bool ModuleLowering::holds_cell(TypeId type) {
    const types::TypeData data = types()[type];
    if (data.kind == TypeKind::Array) return holds_cell(data.element);
    if (data.kind == TypeKind::Tuple) {
        for (const TypeId element : types()[data.elements]) {
            if (holds_cell(element)) return true;
        }
    }
    if (data.kind != TypeKind::Adt) return false;
    if (data.def == context().program().lang_item("unsafe_cell")) return true;
    for (const check::VariantInfo& variant : context().adt(data.def).variants) {
        for (const check::FieldInfo& field : variant.fields) {
            if (holds_cell(context().field_type(field, data.args, context().empty_env()))) return true;
        }
    }
    return false;
}

// The one field that a struct consists of, and the one of that; the host sees a `DeviceAtomicU32` as the u32 that it is.
TypeId ModuleLowering::inside_wrappers(TypeId type) {
    for (;;) {
        const types::TypeData data = types()[type];
        if (data.kind != TypeKind::Adt || context().adt(data.def).kind != check::AdtInfo::Kind::Struct) return type;
        const auto& fields = context().adt(data.def).variants[0].fields;
        if (fields.size() != 1) return type;
        type = context().field_type(fields[0], data.args, context().empty_env());
    }
}

AbiType ModuleLowering::abi_type(TypeId type, Span span) {
    const types::TypeData& data = types()[type];
    const Layout& shape = layout(type);
    AbiType result;
    result.size = shape.size;
    result.align = shape.align;
    if (is_scalar(data.kind)) {
        result.scalar = scalar_of(data);
        return result;
    }
    if (data.kind == TypeKind::Array) {
        result.kind = AbiType::Kind::Array;
        result.array_length = shape.count;
        result.element.push_back(abi_type(data.element, span));
        return result;
    }
    result.kind = AbiType::Kind::Struct;
    if (auto found = abi_structs_.find(type); found != abi_structs_.end()) {
        result.struct_index = found->second;
        return result;
    }
    abi::AbiStruct record;
    record.rust_type = context().text(type);
    record.size = shape.size;
    record.align = shape.align;
    if (data.kind == TypeKind::Tuple) {
        record.name = unique_symbol(cpp_name("tuple_" + record.rust_type));
        const auto elements = types()[data.elements];
        for (std::size_t i = 0; i < elements.size(); ++i) {
            record.fields.push_back({fmt::format("_{}", i), abi_type(elements[i], span), shape.offsets[i]});
        }
    } else if (data.kind == TypeKind::Adt && context().adt(data.def).kind == check::AdtInfo::Kind::Struct) {
        const check::AdtInfo& adt = context().adt(data.def);
        record.name = unique_symbol(cpp_name(context().program().name(data.def)));
        for (std::size_t i = 0; i < adt.variants[0].fields.size(); ++i) {
            const check::FieldInfo& field = adt.variants[0].fields[i];
            const TypeId field_type = context().field_type(field, data.args, context().empty_env());
            if (layout(field_type).size == 0) continue;
            std::string name(context().program().interner.text(field.name));
            if (name[0] >= '0' && name[0] <= '9') name = "_" + name;
            record.fields.push_back({std::move(name), abi_type(field_type, span), shape.offsets[i]});
        }
    } else if (describe_enum(type, record)) {
        record.name = unique_symbol(cpp_name(context().program().name(data.def)));
    } else {
        // Enums with fields and other types cross as bytes: an array of u8 inside a struct of the right alignment.
        record.name = unique_symbol(cpp_name(record.rust_type));
        AbiType bytes;
        bytes.kind = AbiType::Kind::Array;
        bytes.array_length = shape.size;
        bytes.size = shape.size;
        AbiType byte;
        byte.size = 1;
        bytes.element.push_back(byte);
        record.fields.push_back({"bytes", bytes, 0});
    }
    std::stable_sort(record.fields.begin(), record.fields.end(),
                     [](const abi::AbiField& a, const abi::AbiField& b) { return a.offset < b.offset; });
    result.struct_index = static_cast<std::uint32_t>(output_.abi.structs.size());
    output_.abi.structs.push_back(std::move(record));
    abi_structs_.emplace(type, result.struct_index);
    return result;
}

// "_f32_16": what tells an instance's name from the others.
std::string ModuleLowering::instance_suffix(DefId kernel, types::ArgsId args) {
    std::string out;
    const auto& own = context().generics_of(kernel).own;
    const auto list = types()[args];
    for (std::size_t i = 0; i < own.size() && i < list.size(); ++i) {
        if (list[i].kind() == types::GenericArg::Kind::Region) continue;
        std::string text = context().text(list[i]);
        if (text.starts_with('-')) text = "m" + text.substr(1);
        out += "_" + cpp_name(text);
    }
    return out;
}

namespace {

void tensor_slots(SlotWriter& slots, const abi::KernelParam& param) {
    slots.scalar(param.name + "_ptr", abi::Scalar::U64);
    for (std::size_t k = 0; k < param.shape.size(); ++k) slots.scalar(fmt::format("{}_extent{}", param.name, k), abi::Scalar::I32);
    for (std::size_t k = 0; k < param.shape.size(); ++k) slots.scalar(fmt::format("{}_stride{}", param.name, k), abi::Scalar::I32);
}

}  // namespace

abi::KernelAbi ModuleLowering::kernel_abi(ItemRef item) {
    const DefId kernel = item.def;
    const hir::Program& program = context().program();
    const hir::Def& def = program.defs[kernel];
    const hir::FnDef& fn = program.as<hir::FnDef>(kernel);
    abi::KernelAbi abi;
    abi.generic_name = std::string(program.name(kernel));
    abi.is_tile = program.attribute(kernel, hir::AttributeKind::TileEntry) != nullptr;
    abi.name = abi.is_tile ? abi.generic_name : abi.generic_name + instance_suffix(kernel, item.args);
    abi.module = program.path_text(def.parent);
    abi.file = input_.sources.file(def.span.file).name;
    abi.line = input_.sources.line_column(def.name.span.file, def.name.span.begin).line;
    abi.is_unsafe = fn.sig.is_unsafe;
    abi.doc = std::string(def.doc);
    if (auto spec = program.launches.find(kernel); spec != program.launches.end()) abi.launch = launch_facts(*spec->second);
    const check::FnSigInfo sig = context().fn_sig(item);
    const DefId tensor = program.lang_item("Tensor");
    const DefId mapped = program.lang_item("MappedPartitionMut");
    const DefId disjoint = program.lang_item("DisjointSlice");
    const DefId uniform = program.lang_item("Uniform");
    const DefId tensor_map = program.lang_item("TmaDescriptor");
    for (std::size_t i = 0; i < sig.inputs.size(); ++i) {
        const TypeId type = subst(sig.inputs[i], {});
        const types::TypeData& data = types()[type];
        abi::KernelParam param;
        param.name = fn.sig.inputs[i].name.name.valid() ? std::string(program.interner.text(fn.sig.inputs[i].name.name))
                                                        : fmt::format("arg{}", i);
        param.rust_type = context().text(type);
        const Span span = fn.sig.inputs[i].span;
        SlotWriter slots(abi, param);
        if (data.kind == TypeKind::Ref && types().kind(data.element) == TypeKind::Slice) {
            const TypeId element = types()[data.element].element;
            param.kind = abi::ParamKind::Slice;
            param.is_atomic = holds_cell(element);
            param.type = abi_type(param.is_atomic ? inside_wrappers(element) : element, span);
            slots.scalar(param.name + "_ptr", abi::Scalar::U64);
            slots.scalar(param.name + "_len", abi::Scalar::U64);
        } else if (data.kind == TypeKind::Ref && types()[data.element].kind == TypeKind::Adt && types()[data.element].def == tensor) {
            const ShapedType shaped = shaped_type(data.element);
            param.kind = abi::ParamKind::Tensor;
            param.writable = data.mutability == types::Mutability::Mut;
            param.type = abi_type(shaped.element, span);
            param.shape = shaped.shape;
            tensor_slots(slots, param);
        } else if (data.kind == TypeKind::Ref && types()[data.element].kind == TypeKind::Adt && types()[data.element].def == tensor_map) {
            param.kind = abi::ParamKind::TensorMap;
            param.type.size = layout(data.element).size;
            param.type.align = layout(data.element).align;
            slots.bytes(param.name, param.type);
        } else if (data.kind == TypeKind::Adt && data.def == mapped) {
            param.kind = abi::ParamKind::Tensor;
            param.writable = true;
            param.type = abi_type(shaped_type(type).element, span);
            for (const types::GenericArg arg : types()[data.args]) {   // the tile's shape, then the map
                if (arg.kind() == types::GenericArg::Kind::Const) (param.shape.empty() ? param.shape : param.map) = shape_of_const(arg.as_const());
            }
            tensor_slots(slots, param);
        } else if (data.kind == TypeKind::Adt && data.def == disjoint) {
            param.kind = abi::ParamKind::DisjointSlice;
            param.writable = true;
            const auto args = types()[data.args];
            // The arguments are the lifetime, the element type, the index space.
            std::vector<TypeId> type_args;
            for (types::GenericArg arg : args) {
                if (arg.kind() == types::GenericArg::Kind::Type) type_args.push_back(arg.as_type());
            }
            param.type = abi_type(type_args.at(0), span);
            param.index_space = context().text(type_args.at(1));
            const std::string_view space = program.defs[types()[type_args.at(1)].def].lang_item;
            param.has_row_width = space == "Runtime2DIndex" || space == "RuntimeRowMajorTiles";
            slots.scalar(param.name + "_ptr", abi::Scalar::U64);
            slots.scalar(param.name + "_len", abi::Scalar::U64);
            if (param.has_row_width) slots.scalar(param.name + "_width", abi::Scalar::U32);
        } else if (data.kind == TypeKind::Adt && data.def == uniform) {
            param.kind = abi::ParamKind::Uniform;
            param.type = abi_type(inside_wrappers(type), span);
            slots.scalar(param.name, param.type.scalar);
        } else if (data.kind == TypeKind::RawPtr) {
            param.kind = abi::ParamKind::Pointer;
            param.writable = data.mutability == types::Mutability::Mut;
            param.type = abi_type(data.element, span);
            slots.scalar(param.name, abi::Scalar::U64);
        } else if (layout(type).size == 0) {
            param.kind = abi::ParamKind::ZeroSized;
        } else if (is_scalar(data.kind)) {
            param.kind = abi::ParamKind::Scalar;
            param.type = abi_type(type, span);
            slots.scalar(param.name, param.type.scalar);
        } else {
            param.kind = abi::ParamKind::Struct;
            param.type = abi_type(type, span);
            slots.bytes(param.name, param.type);
        }
        abi.params.push_back(std::move(param));
    }
    return abi;
}

}  // namespace ockc::lower
