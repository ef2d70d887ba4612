// gpu_printf!: the values go to a buffer as C's variadic functions want them, and the format gets C's name for each.
// ptx_asm!: the values of a tuple go in, the results make another.
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

namespace {

constexpr char kHoleStart = '\x01';   // resolve/printf.cpp

// C's conversion of a value that `kind` (v: any) shows; `text`: bytes with a zero behind them.
std::string conversion(std::string_view layout, char kind, ir::Type type, bool is_signed, bool text) {
    std::string flags;
    bool right = false, left = false;
    for (const char c : layout) {
        right |= c == '>';
        left |= c == '-';
        if (c != '>') flags += c;
    }
    const bool integer = ir::is_int(type);
    if (text) {
        std::erase(flags, '+');
        if (!flags.empty() && flags[0] == '0') flags.erase(0, 1);
        if (!right && !left && !flags.empty() && flags[0] != '.' && kind == 'v') flags.insert(flags.begin(), '-');   // as Rust aligns texts
        return "%" + flags + "s";
    }
    if (kind == 'v') {
        if (integer) flags = flags.substr(0, flags.find('.'));   // Rust's integers have no precision
        kind = ir::is_float(type) ? 'f' : !integer ? 'p' : is_signed ? 'd' : 'u';
    }
    const bool wide = integer && ir::type_bits(type) == 64;
    return "%" + flags + (wide ? "ll" : "") + kind;
}

}  // namespace

// The bytes of a string literal, found by the pointer to them.
std::string_view FunctionLowering::literal_bytes(ir::ValueId pointer) const {
    const ir::Instruction* def = function_.def(pointer);
    while (def != nullptr && def->op == ir::Op::SpaceCast) def = function_.def(def->args[0]);
    OCKC_CHECK_MSG(def != nullptr && def->op == ir::Op::GlobalAddr, "a format that is no literal");
    const ir::Global& global = module_.module().globals[def->global];
    return {reinterpret_cast<const char*>(global.init.data()), global.init.size()};
}

ir::ValueId FunctionLowering::raw_slot(std::uint64_t size, std::uint32_t align) {
    ir::Instruction slot;
    slot.op = ir::Op::Alloca;
    slot.type = ir::Type::PtrLocal;
    slot.imm = size;
    slot.memory.align = align;
    slot.span = body_.span;
    const ir::Type type = ir::Type::PtrLocal;
    allocas_.push_back(function_.make_inst(std::move(slot), {&type, 1}));
    return function_.insts[allocas_.back()].result();
}

void FunctionLowering::print_intrinsic(std::span<const Value> args, const PlaceRef& destination) {
    const std::string text(literal_bytes(args[0].a));
    const PlaceRef tuple = in_memory(args[1]);
    const auto wires = types_[types_[args[1].type].elements];
    struct Stored {
        ir::ValueId value;
        std::uint64_t offset;
    };
    std::vector<Stored> stored;
    std::string format;
    std::uint64_t size = 0;
    std::uint32_t wire = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != kHoleStart || text[i + 1] == kHoleStart) {
            format += text[i];
            if (text[i] == kHoleStart) ++i;
            continue;
        }
        std::size_t end = i + 1;
        while (text[end] < 'A' || text[end] == '>') ++end;
        const TypeId type = wires[wire];
        const PlaceRef at = field(tuple, wire, type);
        const bool bytes = types_.kind(type) == TypeKind::Array;
        const bool to_bytes = types_.kind(type) == TypeKind::RawPtr && types_[type].element == types_.int_type(types::IntKind::U8);
        const ir::ValueId value = bytes ? address(at) : load(at).a;
        const ir::Type scalar = function_.type_of(value);
        format += conversion(std::string_view(text).substr(i + 1, end - i - 1), text[end], scalar, ir::is_int(scalar) && is_signed(type), bytes || to_bytes);
        const std::uint32_t width = ir::type_bytes(scalar);
        size = (size + width - 1) / width * width;
        stored.push_back({value, size});
        size += width;
        ++wire;
        i = end;
    }
    format += '\0';
    const ir::ValueId format_at = generic_address(module_.bytes_global({format.begin(), format.end()}, 1));
    ir::ValueId values_at;
    if (stored.empty()) {
        values_at = builder_.convert(ir::Op::IntToPtr, ir::Type::Ptr, builder_.const_int(ir::Type::I64, 0));
    } else {
        const ir::ValueId buffer = raw_slot(size, 8);
        for (const Stored& one : stored) {
            builder_.store(buffer, one.value, {ir::type_bytes(function_.type_of(one.value)), false, false}, static_cast<std::int64_t>(one.offset));
        }
        values_at = builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, buffer);
    }
    store(destination, scalar_value(destination.type, builder_.vprintf(format_at, values_at)));
}

// What a part of a tuple holds: the value that was stored there in this block, where there is one (a constant must be seen as
// such), else what is loaded.
ir::ValueId FunctionLowering::tuple_part(const PlaceRef& part) {
    const auto& insts = function_.blocks[builder_.block()].insts;
    for (std::size_t i = insts.size(); i-- > 0 && part.ptr.valid();) {
        const ir::Instruction& inst = function_.insts[insts[i]];
        if (inst.op == ir::Op::Call || inst.op == ir::Op::Memcpy) break;
        if (inst.op != ir::Op::Store || inst.args[0] != part.ptr || inst.imm != static_cast<std::uint64_t>(part.offset)) continue;
        if (function_.type_of(inst.args[1]) == ir_type(part.layout->scalars[0])) return inst.args[1];
        break;
    }
    return load(part).a;
}

void FunctionLowering::asm_intrinsic(std::span<const Value> args, const PlaceRef& destination) {
    const std::string text(literal_bytes(args[0].a));
    const ir::Op op = text[0] == 'P' ? ir::Op::Asm : text[0] == 'M' ? ir::Op::AsmMemory : ir::Op::AsmSync;
    std::vector<ir::ValueId> inputs;
    const PlaceRef tuple = in_memory(args[1]);
    const auto input_types = types_[types_[args[1].type].elements];
    for (std::uint32_t i = 0; i < input_types.size(); ++i) inputs.push_back(tuple_part(field(tuple, i, input_types[i])));
    const auto output_types = types_[types_[destination.type].elements];
    std::vector<ir::Type> outputs;
    for (const TypeId type : output_types) outputs.push_back(ir_type(layout(type).scalars[0]));
    std::vector<std::string>& texts = module_.module().asm_texts;
    texts.push_back(text);
    const std::vector<ir::ValueId> results = builder_.inline_asm(op, texts.size() - 1, inputs, outputs);
    const PlaceRef to = destination.in_values() ? temporary(destination.type) : destination;
    for (std::uint32_t i = 0; i < results.size(); ++i) {
        const PlaceRef part = field(to, i, output_types[i]);
        store(part, scalar_value(part.type, results[i]));
    }
    if (destination.in_values() && !results.empty()) store(destination, load(to));
}

}  // namespace ockc::lower
