// What each row of intrinsics.def means in IR.
#include <fmt/format.h>

#include "lower/function_lowering.hpp"

namespace ockc::lower {

using intrinsic::Intrinsic;
using types::TypeKind;

namespace {

TypeId first_type(types::TypeStore& types, ItemRef item) {
    for (types::GenericArg arg : types[item.args]) {
        if (arg.kind() == types::GenericArg::Kind::Type) return arg.as_type();
    }
    return TypeId();
}

}  // namespace

void FunctionLowering::lower_intrinsic(Intrinsic which, ItemRef item, std::span<const Value> args, const PlaceRef& destination) {
    const TypeId type = first_type(types_, item);
    const auto give = [&](ir::ValueId value) { store(destination, scalar_value(destination.type, value)); };
    switch (which) {
        case Intrinsic::IntWrappingAdd:
        case Intrinsic::IntWrappingSub:
        case Intrinsic::IntWrappingMul:
        case Intrinsic::IntAddOverflows:
        case Intrinsic::IntSubOverflows:
        case Intrinsic::IntMulOverflows:
        case Intrinsic::IntUncheckedDiv:
        case Intrinsic::IntUncheckedRem:
        case Intrinsic::IntMaskedShl:
        case Intrinsic::IntMaskedShr:
        case Intrinsic::IntRotateLeft:
        case Intrinsic::IntRotateRight:
        case Intrinsic::IntLess:
        case Intrinsic::IntSuccessor:
        case Intrinsic::IntPredecessor:
        case Intrinsic::IntMin:
        case Intrinsic::IntMax:
        case Intrinsic::IntCountOnes:
        case Intrinsic::IntLeadingZeros:
        case Intrinsic::IntTrailingZeros:
        case Intrinsic::IntReverseBits:
        case Intrinsic::IntSwapBytes: return give(integer_intrinsic(which, type, args));
        case Intrinsic::FloatSqrt:
        case Intrinsic::FloatAbs:
        case Intrinsic::FloatFloor:
        case Intrinsic::FloatCeil:
        case Intrinsic::FloatTrunc:
        case Intrinsic::FloatRint:
        case Intrinsic::FloatCopysign:
        case Intrinsic::FloatFma:
        case Intrinsic::FloatMin:
        case Intrinsic::FloatMax: return give(float_intrinsic(which, args));
        case Intrinsic::TileLoad: case Intrinsic::TileStore: case Intrinsic::TileSplat: case Intrinsic::TileIota:
        case Intrinsic::TileMap1: case Intrinsic::TileMap2: case Intrinsic::TileMap3: case Intrinsic::TileReduce:
        case Intrinsic::TileMma: case Intrinsic::TileScalar: case Intrinsic::TileReshape: case Intrinsic::TileBroadcast:
        case Intrinsic::TilePermute: case Intrinsic::TileReducePair: case Intrinsic::TileScan: case Intrinsic::TileCat:
        case Intrinsic::TileExtract: case Intrinsic::TileFill: case Intrinsic::TileEach:
        case Intrinsic::TileCount: case Intrinsic::TileInRange:
        case Intrinsic::TileRank:
        case Intrinsic::TileExtent: return tile_intrinsic(which, item, args, destination);
        case Intrinsic::FastMath: return give(builder_.const_int(ir::Type::I1, module_.input().fast_math ? 1 : 0));
        case Intrinsic::Transmute:
        case Intrinsic::PtrOffset:
        case Intrinsic::PtrRead:
        case Intrinsic::PtrWrite:
        case Intrinsic::PtrReadVolatile:
        case Intrinsic::PtrWriteVolatile:
        case Intrinsic::SliceFromRawParts: return memory_intrinsic(which, type, args, destination);
        case Intrinsic::Uninit: return;   // whatever the destination holds
        case Intrinsic::SizeOf: return give(builder_.const_int(ir::Type::I64, layout(type).size));
        case Intrinsic::AlignOf: return give(builder_.const_int(ir::Type::I64, layout(type).align));
        case Intrinsic::SizeOfVal:
        case Intrinsic::AlignOfVal: {
            const types::TypeKind kind = types_.kind(type);
            const bool many = kind == types::TypeKind::Slice || kind == types::TypeKind::Str;
            const Layout& part = layout(kind == types::TypeKind::Slice ? types_[type].element : many ? types_.int_type(types::IntKind::U8) : type);
            if (which == Intrinsic::AlignOfVal) return give(builder_.const_int(ir::Type::I64, part.align));
            const ir::ValueId size = builder_.const_int(ir::Type::I64, part.size);
            return give(many ? builder_.binary(ir::Op::Imul, ir::Type::I64, args[0].b, size) : size);
        }
        case Intrinsic::NeedsDrop: {
            check::Context& context = module_.context();
            return give(builder_.const_bool(context.needs_drop(type, context.empty_env())));
        }
        case Intrinsic::Discriminant: return give(discriminant({args[0].a, 0, {}, type, &layout(type)}, destination.type));
        case Intrinsic::SliceLen: return give(args[0].b);
#define OCKC_IR_SREG(name, text, type) \
        case Intrinsic::Sreg##name: return give(builder_.sreg(ir::Sreg::name));
#include "ir/sregs.def"
        case Intrinsic::LaunchDomain: {
            ir::Instruction inst;
            inst.op = ir::Op::LaunchDomain;
            inst.type = ir::Type::I32;
            const ir::Type result = ir::Type::I32;
            return give(function_.insts[builder_.append(std::move(inst), {&result, 1})].result());
        }
        case Intrinsic::SyncThreads: return builder_.barrier();
        case Intrinsic::FenceBlock: return builder_.fence(ir::Scope::Block);
        case Intrinsic::FenceDevice: return builder_.fence(ir::Scope::Device);
        case Intrinsic::FenceSystem: return builder_.fence(ir::Scope::System);
        case Intrinsic::SharedDynamic: {
            const std::vector<std::uint64_t> align = const_arguments(item);
            return give(generic_address(module_.dynamic_shared(static_cast<std::uint32_t>(align.empty() ? 16 : align[0]))));
        }
        case Intrinsic::AtomicLoad:
        case Intrinsic::AtomicStore:
        case Intrinsic::AtomicCas:
        case Intrinsic::AtomicExchange:
        case Intrinsic::AtomicAdd:
        case Intrinsic::AtomicAnd:
        case Intrinsic::AtomicOr:
        case Intrinsic::AtomicXor:
        case Intrinsic::AtomicMin:
        case Intrinsic::AtomicMax:
        case Intrinsic::AtomicInc:
        case Intrinsic::AtomicDec: return atomic_intrinsic(which, item, args, destination);
#define OCKC_MACHINE(name, key, operands, results, effect, words, ptx, doc) case Intrinsic::name:
#include "intrinsic/machine.def"
            return machine_intrinsic(*intrinsic::machine_of(which), item, args, destination);
        case Intrinsic::AsmPtx: return asm_intrinsic(args, destination);
        case Intrinsic::PrintVprintf: return print_intrinsic(args, destination);
        case Intrinsic::Trap: return builder_.trap();
        case Intrinsic::UnreachableUnchecked: return builder_.unreachable();
    }
}

// The values of an item's const arguments, in order.
std::vector<std::uint64_t> FunctionLowering::const_arguments(ItemRef item) {
    std::vector<std::uint64_t> values;
    for (types::GenericArg arg : types_[item.args]) {
        if (arg.kind() != types::GenericArg::Kind::Const) continue;
        const types::ConstId id = module_.context().normalize(types_.subst(arg.as_const(), args_), module_.context().empty_env());
        values.push_back(types_[id].bits[0]);
    }
    return values;
}

std::vector<ir::ValueId> FunctionLowering::array_elements(const Value& array) {
    std::vector<ir::ValueId> elements;
    PlaceRef element = in_memory(array);
    const std::uint64_t count = layout(array.type).count;
    element.type = types_[array.type].element;
    element.layout = &layout(element.type);
    for (std::uint64_t i = 0; i < count; ++i) {
        elements.push_back(load(element).a);
        element.offset += static_cast<std::int64_t>(element.layout->size);
    }
    return elements;
}

void FunctionLowering::machine_intrinsic(intrinsic::Machine which, ItemRef item, std::span<const Value> args, const PlaceRef& destination) {
    std::vector<ir::ValueId> values;
    std::vector<ir::ValueId> elements;   // of the array that a row's `*` stands for
    const bool open = intrinsic::info(which).operands.find('*') != std::string_view::npos;
    for (const Value& arg : args) {
        if (types_.kind(arg.type) != TypeKind::Array) {
            values.push_back(arg.a);
        } else if (open) {
            elements = array_elements(arg);
        } else {
            const std::vector<ir::ValueId> parts = array_elements(arg);
            values.insert(values.end(), parts.begin(), parts.end());
        }
    }
    for (const std::uint64_t value : const_arguments(item)) values.push_back(builder_.const_int(ir::Type::I32, value));
    values.insert(values.end(), elements.begin(), elements.end());
    const std::vector<ir::ValueId> results = builder_.machine(which, values);
    if (results.size() == 1) return store(destination, scalar_value(destination.type, results[0]));
    if (results.size() == 2 && form_of(*destination.layout) == ValueForm::Pair) {
        return store(destination, {destination.type, ValueForm::Pair, results[0], results[1], {}});
    }
    if (results.size() < 2) return;
    OCKC_CHECK_MSG(types_.kind(destination.type) == TypeKind::Array, "several results are a pair or an array");
    PlaceRef element = destination;
    element.type = types_[destination.type].element;
    element.layout = &layout(element.type);
    for (const ir::ValueId result : results) {
        store(element, scalar_value(element.type, result));
        element.offset += static_cast<std::int64_t>(element.layout->size);
    }
}

void FunctionLowering::atomic_intrinsic(Intrinsic which, ItemRef item, std::span<const Value> args, const PlaceRef& destination) {
    const TypeId type = first_type(types_, item);
    const std::vector<std::uint64_t> consts = const_arguments(item);
    OCKC_CHECK_MSG(consts.size() == 2 && consts[0] <= 4 && consts[1] <= 2, "an atomic intrinsic without order and scope");
    ir::AtomicInfo info;
    info.order = static_cast<ir::AtomicOrder>(consts[0]);
    info.scope = static_cast<ir::Scope>(consts[1]);
    const auto rmw = [&](ir::AtomicOp op) {
        info.op = op;
        store(destination, scalar_value(destination.type, builder_.atomic_rmw(args[0].a, args[1].a, info)));
    };
    const bool sign = is_signed(type);
    switch (which) {
        case Intrinsic::AtomicLoad:
            return store(destination, scalar_value(type, builder_.atomic_load(ir_type(layout(type).scalars[0]), args[0].a, info)));
        case Intrinsic::AtomicStore: return builder_.atomic_store(args[0].a, args[1].a, info);
        case Intrinsic::AtomicCas:
            return store(destination, scalar_value(type, builder_.atomic_cas(args[0].a, args[1].a, args[2].a, info)));
        case Intrinsic::AtomicExchange: return rmw(ir::AtomicOp::Exchange);
        case Intrinsic::AtomicAdd: return rmw(is_float(type) ? ir::AtomicOp::Fadd : ir::AtomicOp::Add);
        case Intrinsic::AtomicAnd: return rmw(ir::AtomicOp::And);
        case Intrinsic::AtomicOr: return rmw(ir::AtomicOp::Or);
        case Intrinsic::AtomicXor: return rmw(ir::AtomicOp::Xor);
        case Intrinsic::AtomicMin: return rmw(sign ? ir::AtomicOp::Smin : ir::AtomicOp::Umin);
        case Intrinsic::AtomicMax: return rmw(sign ? ir::AtomicOp::Smax : ir::AtomicOp::Umax);
        case Intrinsic::AtomicInc: return rmw(ir::AtomicOp::Inc);
        case Intrinsic::AtomicDec: return rmw(ir::AtomicOp::Dec);
        default: break;   // the caller sends atomics only
    }
    OCKC_UNREACHABLE("atomic intrinsic");
}

ir::ValueId FunctionLowering::integer_intrinsic(Intrinsic which, TypeId type, std::span<const Value> args) {
    const bool sign = is_signed(type);
    const ir::ValueId a = args[0].a, b = args.size() > 1 ? args[1].a : ir::ValueId();
    const ir::Type ir = function_.type_of(a);
    const auto two = [&](ir::Op op) { return builder_.binary(op, ir, a, b); };
    const auto count = [&](ir::Op op) {   // counts come back as u32
        const ir::ValueId bits = builder_.unary(op, ir, a);
        if (ir == ir::Type::I32) return bits;
        return builder_.convert(ir::type_bits(ir) > 32 ? ir::Op::Trunc : ir::Op::Zext, ir::Type::I32, bits);
    };
    switch (which) {
        case Intrinsic::IntWrappingAdd: return two(ir::Op::Iadd);
        case Intrinsic::IntWrappingSub: return two(ir::Op::Isub);
        case Intrinsic::IntWrappingMul: return two(ir::Op::Imul);
        case Intrinsic::IntAddOverflows: return two(sign ? ir::Op::SaddOv : ir::Op::UaddOv);
        case Intrinsic::IntSubOverflows: return two(sign ? ir::Op::SsubOv : ir::Op::UsubOv);
        case Intrinsic::IntMulOverflows: return two(sign ? ir::Op::SmulOv : ir::Op::UmulOv);
        case Intrinsic::IntUncheckedDiv: return two(sign ? ir::Op::Sdiv : ir::Op::Udiv);
        case Intrinsic::IntUncheckedRem: return two(sign ? ir::Op::Srem : ir::Op::Urem);
        case Intrinsic::IntMaskedShl: return shift(mir::BinOp::Shl, a, b, sign);
        case Intrinsic::IntMaskedShr: return shift(mir::BinOp::Shr, a, b, sign);
        case Intrinsic::IntRotateLeft: return two(ir::Op::Rotl);
        case Intrinsic::IntRotateRight: return two(ir::Op::Rotr);
        case Intrinsic::IntLess: return builder_.icmp(sign ? ir::IntCond::Slt : ir::IntCond::Ult, a, b);
        case Intrinsic::IntSuccessor: return builder_.binary(ir::Op::Iadd, ir, a, builder_.const_int(ir, 1));
        case Intrinsic::IntPredecessor: return builder_.binary(ir::Op::Isub, ir, a, builder_.const_int(ir, 1));
        case Intrinsic::IntMin: return two(sign ? ir::Op::Smin : ir::Op::Umin);
        case Intrinsic::IntMax: return two(sign ? ir::Op::Smax : ir::Op::Umax);
        case Intrinsic::IntCountOnes: return count(ir::Op::Popcnt);
        case Intrinsic::IntLeadingZeros: return count(ir::Op::Clz);
        case Intrinsic::IntTrailingZeros: return count(ir::Op::Ctz);
        case Intrinsic::IntReverseBits: return builder_.unary(ir::Op::Bitrev, ir, a);
        case Intrinsic::IntSwapBytes: return builder_.unary(ir::Op::Bswap, ir, a);
        default: break;   // the caller sends integer rows only
    }
    OCKC_UNREACHABLE("integer intrinsic");
}

ir::ValueId FunctionLowering::float_intrinsic(Intrinsic which, std::span<const Value> args) {
    const ir::ValueId a = args[0].a;
    const ir::Type ir = function_.type_of(a);
    switch (which) {
        case Intrinsic::FloatSqrt: return builder_.unary(ir::Op::Fsqrt, ir, a);
        case Intrinsic::FloatAbs: return builder_.unary(ir::Op::Fabs, ir, a);
        case Intrinsic::FloatFloor: return builder_.unary(ir::Op::Ffloor, ir, a);
        case Intrinsic::FloatCeil: return builder_.unary(ir::Op::Fceil, ir, a);
        case Intrinsic::FloatTrunc: return builder_.unary(ir::Op::Ftrunc, ir, a);
        case Intrinsic::FloatRint: return builder_.unary(ir::Op::Frint, ir, a);
        case Intrinsic::FloatCopysign: return builder_.binary(ir::Op::Fcopysign, ir, a, args[1].a);
        case Intrinsic::FloatFma: return builder_.fma(ir, a, args[1].a, args[2].a);
        case Intrinsic::FloatMin: return builder_.binary(ir::Op::Fmin, ir, a, args[1].a);
        case Intrinsic::FloatMax: return builder_.binary(ir::Op::Fmax, ir, a, args[1].a);
        default: break;   // the caller sends float rows only
    }
    OCKC_UNREACHABLE("float intrinsic");
}

void FunctionLowering::memory_intrinsic(Intrinsic which, TypeId type, std::span<const Value> args, const PlaceRef& destination) {
    const auto pointee = [&](const Value& pointer) { return PlaceRef{pointer.a, 0, {}, type, &layout(type)}; };
    switch (which) {
        case Intrinsic::Transmute: {
            if (layout(args[0].type).size != destination.layout->size) {
                module_.context().sink().error(Code::E0512, builder_.span(),
                                               fmt::format("cannot transmute between types of different sizes: `{}` has {} bytes, `{}` has {}",
                                                           module_.context().text(args[0].type), layout(args[0].type).size,
                                                           module_.context().text(destination.type), destination.layout->size));
                return;
            }
            if (args[0].form == ValueForm::Scalar && form_of(*destination.layout) == ValueForm::Scalar) {
                return store(destination, scalar_value(destination.type, reinterpret(args[0].a, ir_type(destination.layout->scalars[0]))));
            }
            PlaceRef from = in_memory(args[0]);
            from.type = destination.type;
            from.layout = destination.layout;
            return store(destination, load(from));
        }
        case Intrinsic::PtrOffset: {
            const std::uint64_t size = layout(type).size;
            ir::ValueId bytes = args[1].a;
            if (size != 1) bytes = builder_.binary(ir::Op::Imul, ir::Type::I64, bytes, builder_.const_int(ir::Type::I64, size));
            return store(destination, scalar_value(destination.type, builder_.ptr_add(args[0].a, bytes)));
        }
        case Intrinsic::PtrRead: return store(destination, load(pointee(args[0])));
        case Intrinsic::PtrWrite: return store(pointee(args[0]), args[1]);
        case Intrinsic::PtrReadVolatile: {
            const Layout& shape = layout(type);
            if (form_of(shape) != ValueForm::Scalar) {
                const PlaceRef copy = temporary(type);
                volatile_copy(pointee(args[0]), copy, shape, true);
                return store(destination, load(copy));
            }
            const ir::MemoryInfo memory{shape.align, true, false};
            return store(destination, scalar_value(type, builder_.load(ir_type(shape.scalars[0]), args[0].a, memory)));
        }
        case Intrinsic::PtrWriteVolatile: {
            const Layout& shape = layout(type);
            if (form_of(shape) != ValueForm::Scalar) return volatile_copy(in_memory(args[1]), pointee(args[0]), shape, false);
            return builder_.store(args[0].a, args[1].a, {shape.align, true, false});
        }
        case Intrinsic::SliceFromRawParts:
            return store(destination, {destination.type, ValueForm::Pair, args[0].a, args[1].a, {}});
        default: break;   // the caller sends memory rows only
    }
    OCKC_UNREACHABLE("memory intrinsic");
}

// A value of several scalars goes in the widest pieces that its alignment allows; `read`: `from` is the volatile side.
void FunctionLowering::volatile_copy(const PlaceRef& from, const PlaceRef& to, const Layout& shape, bool read) {
    constexpr std::uint32_t kWidest = 8;
    const std::uint32_t piece = std::min<std::uint32_t>(shape.align, kWidest);
    const ir::Type type = ir::int_type(piece * 8);
    const ir::ValueId source = address(from), target = address(to);
    for (std::uint64_t at = 0; at < shape.size; at += piece) {
        const ir::ValueId offset = builder_.const_int(ir::Type::I64, at);
        const ir::ValueId value = builder_.load(type, builder_.ptr_add(source, offset), {piece, read, false});
        builder_.store(builder_.ptr_add(target, offset), value, {piece, !read, false});
    }
}

ir::ValueId FunctionLowering::reinterpret(ir::ValueId value, ir::Type to) {
    const ir::Type from = function_.type_of(value);
    if (from == to) return value;
    if (ir::is_ptr(from)) return reinterpret(builder_.convert(ir::Op::PtrToInt, ir::Type::I64, value), to);
    if (ir::is_ptr(to)) return builder_.convert(ir::Op::IntToPtr, to, reinterpret(value, ir::Type::I64));
    if (from == ir::Type::I1) return reinterpret(builder_.convert(ir::Op::Zext, ir::Type::I8, value), to);
    if (to == ir::Type::I1) return builder_.convert(ir::Op::Trunc, to, reinterpret(value, ir::Type::I8));
    return builder_.convert(ir::Op::Bitcast, to, value);
}

}  // namespace ockc::lower
