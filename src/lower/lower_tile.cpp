// The library's operations on tiles (stdlib/tile/intrinsics.rsk) as IR, and the parameters of tile kernels.
#include <array>

#include "lower/function_lowering.hpp"

namespace ockc::lower {

using intrinsic::Intrinsic;
using types::TypeKind;

std::vector<std::int32_t> ModuleLowering::shape_of_const(types::ConstId constant) {
    std::vector<std::int32_t> shape;
    for (const types::ConstId element : types().const_elements(constant)) shape.push_back(static_cast<std::int32_t>(types()[element].bits[0]));
    return shape;
}

// Element type and shape of a `Tile<E, S>` or `Tensor<E, S>`.
ShapedType ModuleLowering::shaped_type(TypeId type) {
    ShapedType result;
    for (const types::GenericArg arg : types()[types()[type].args]) {
        if (arg.kind() == types::GenericArg::Kind::Type) result.element = arg.as_type();
        if (arg.kind() == types::GenericArg::Kind::Const) result.shape = shape_of_const(arg.as_const());
    }
    return result;
}

ir::TileTypeId FunctionLowering::tile_type(TypeId type) {
    const ShapedType shaped = module_.shaped_type(type);
    ir::TileType tile;
    tile.element = ir_type(layout(shaped.element).scalars[0]);
    for (const std::int32_t extent : shaped.shape) tile.shape.push_back(static_cast<std::uint32_t>(extent));   // tile::check_shapes judges
    return module_.module().tile_types.intern(std::move(tile));
}

Value FunctionLowering::tile_operation(ir::Op op, TypeId type, std::vector<ir::ValueId> args, std::uint64_t imm, ir::FuncId callee) {
    ir::Instruction inst;
    inst.op = op;
    inst.type = ir::Type::Tile;
    inst.tile = tile_type(type);
    inst.imm = imm;
    inst.callee = callee;
    for (const ir::ValueId arg : args) inst.args.push_back(arg);
    const ir::Type result = ir::Type::Tile;
    const ir::InstId id = builder_.append(std::move(inst), {&result, 1});
    return scalar_value(type, function_.insts[id].result());
}

// Origin, extents and strides: of each array as many entries as the tile has axes.
void FunctionLowering::add_axes(std::span<const Value> arrays, std::size_t rank, std::vector<ir::ValueId>& out) {
    for (const Value& array : arrays) {
        const PlaceRef memory = in_memory(array);
        const TypeId element = types_[array.type].element;
        for (std::size_t k = 0; k < rank; ++k) {
            PlaceRef entry = memory;
            entry.offset += static_cast<std::int64_t>(4 * k);
            entry.type = element;
            entry.layout = &layout(element);
            out.push_back(load(entry).a);
        }
    }
}

// The function that an operation applies to lanes, and what it takes besides them: the first two arguments of tile.map.
ir::FuncId FunctionLowering::lane_function(std::span<const Value> args, std::vector<ir::ValueId>& same_for_all) {
    const types::TypeData& apply = types_[args[0].type];
    OCKC_CHECK_MSG(apply.kind == TypeKind::FnDef, "an operation on lanes without its function");
    const Value& env = args[1];
    switch (env.form) {
        case ValueForm::Zero: break;
        case ValueForm::Scalar: same_for_all.push_back(env.a); break;
        case ValueForm::Pair:
            same_for_all.push_back(env.a);
            same_for_all.push_back(env.b);
            break;
        case ValueForm::Memory: same_for_all.push_back(address(in_memory(env))); break;
    }
    return module_.function_of({apply.def, apply.args}, {}, builder_.span());
}

void FunctionLowering::tile_store(std::span<const Value> args) {
    ir::Instruction inst;
    inst.op = ir::Op::TileStore;
    inst.type = ir::Type::Tile;
    inst.tile = tile_type(args[4].type);
    std::vector<ir::ValueId> operands{args[0].a, args[4].a};
    add_axes(args.subspan(1, 3), module_.module().tile_types[inst.tile].shape.size(), operands);
    for (const ir::ValueId operand : operands) inst.args.push_back(operand);
    builder_.append(std::move(inst), {});
}

void FunctionLowering::tile_scalar(const Value& tile, const PlaceRef& destination) {
    ir::Instruction inst;
    inst.op = ir::Op::TileScalar;
    inst.tile = tile_type(tile.type);
    inst.type = module_.module().tile_types[inst.tile].element;
    inst.args = {tile.a};
    const ir::Type result = inst.type;
    const ir::InstId id = builder_.append(std::move(inst), {&result, 1});
    store(destination, scalar_value(destination.type, function_.insts[id].result()));
}

void FunctionLowering::tile_extent(ItemRef item, const Value& axis, const PlaceRef& destination) {
    const std::vector<std::int32_t> shape = module_.shape_of_const(types_[item.args][0].as_const());
    ir::ValueId extent = builder_.const_int(ir::Type::I32, 1);
    for (std::size_t k = shape.size(); k-- > 0;) {
        const ir::ValueId here = builder_.icmp(ir::IntCond::Eq, axis.a, builder_.const_int(ir::Type::I64, k));
        extent = builder_.select(here, builder_.const_int(ir::Type::I32, static_cast<std::uint32_t>(shape[k])), extent);
    }
    store(destination, scalar_value(destination.type, extent));
}

// What the elements of both operands are, where their IR type does not say it: the format of tile/matrix_forms.def with that
// number, by the lang items that name them. 0: their type, or not the same.
std::uint64_t FunctionLowering::product_format(TypeId lhs, TypeId rhs) {
    constexpr std::string_view kFormats[] = {"tf32", "f8e4m3fn", "f8e5m2"};
    const TypeId a = module_.shaped_type(lhs).element, b = module_.shaped_type(rhs).element;
    if (a != b || types_[a].kind != TypeKind::Adt) return 0;
    for (std::size_t i = 0; i < std::size(kFormats); ++i) {
        if (types_[a].def == module_.context().program().lang_item(kFormats[i])) return i + 1;
    }
    return 0;
}

void FunctionLowering::tile_intrinsic(Intrinsic which, ItemRef item, std::span<const Value> args, const PlaceRef& destination) {
    std::vector<ir::ValueId> operands;
    const auto give = [&](ir::Op op, std::uint64_t imm = 0, ir::FuncId callee = {}) {
        store(destination, tile_operation(op, destination.type, std::move(operands), imm, callee));
    };
    switch (which) {
        case Intrinsic::TileLoad:
            operands.push_back(args[0].a);
            add_axes(args.subspan(1, 3), module_.shaped_type(destination.type).shape.size(), operands);
            return give(ir::Op::TileLoad);
        case Intrinsic::TileStore: return tile_store(args);
        case Intrinsic::TileSplat: operands.push_back(args[0].a); return give(ir::Op::TileSplat);
        case Intrinsic::TileIota: operands.push_back(args[0].a); return give(ir::Op::TileIota);
        case Intrinsic::TileMap1:
        case Intrinsic::TileMap2:
        case Intrinsic::TileMap3: {
            const ir::FuncId callee = lane_function(args, operands);
            const std::size_t same = operands.size();
            for (const Value& tile : args.subspan(2)) operands.push_back(tile.a);
            return give(ir::Op::TileMap, same, callee);
        }
        case Intrinsic::TileReduce: {
            const ir::FuncId callee = lane_function(args, operands);
            const std::uint64_t commutes = types_[types_[item.args].back().as_const()].bits[0];
            const std::uint64_t imm = operands.size() | commutes << 8;
            for (const Value& one : args.subspan(2)) operands.push_back(one.a);
            return give(ir::Op::TileReduce, imm, callee);
        }
        case Intrinsic::TileReducePair: {
            const ir::FuncId callee = lane_function(args, operands);
            const Layout& pair = layout(types_.tuple(std::array{args[2].type, args[3].type}));
            const std::uint64_t second = types_[types_[item.args].back().as_const()].bits[0];
            const std::uint64_t swapped = pair.offsets[0] > pair.offsets[1] ? 1 : 0;
            const std::uint64_t imm = operands.size() | second << 9 | swapped << 10;
            for (const Value& one : args.subspan(2)) operands.push_back(one.a);
            return give(ir::Op::TileReducePair, imm, callee);
        }
        case Intrinsic::TileScan: {
            const ir::FuncId callee = lane_function(args, operands);
            const std::uint64_t reverse = types_[types_[item.args].back().as_const()].bits[0];
            const std::uint64_t imm = operands.size() | reverse << 9;
            for (const Value& one : args.subspan(2)) operands.push_back(one.a);
            return give(ir::Op::TileScan, imm, callee);
        }
        case Intrinsic::TileCat: operands = {args[0].a, args[1].a, args[2].a}; return give(ir::Op::TileCat);
        case Intrinsic::TileExtract:
            operands.push_back(args[0].a);
            add_axes(args.subspan(1, 1), module_.shaped_type(destination.type).shape.size(), operands);
            return give(ir::Op::TileExtract);
        case Intrinsic::TileFill: operands = {args[0].a, args[1].a}; return give(ir::Op::TileFill);
        case Intrinsic::TileEach: {
            const ir::FuncId callee = lane_function(args, operands);
            const std::size_t same = operands.size();
            for (const Value& tile : args.subspan(2)) operands.push_back(tile.a);
            return give(ir::Op::TileEach, same, callee);
        }
        case Intrinsic::TileMma: {
            const types::TypeData& apply = types_[args[0].type];
            for (const Value& tile : args.subspan(1)) operands.push_back(tile.a);
            return give(ir::Op::TileMma, product_format(args[1].type, args[2].type), module_.function_of({apply.def, apply.args}, {}, builder_.span()));
        }
        case Intrinsic::TileScalar: return tile_scalar(args[0], destination);
        case Intrinsic::TileReshape: operands.push_back(args[0].a); return give(ir::Op::TileReshape);
        case Intrinsic::TileBroadcast: operands.push_back(args[0].a); return give(ir::Op::TileBroadcast);
        case Intrinsic::TilePermute: {
            operands.push_back(args[0].a);
            const std::vector<std::int32_t> axes = module_.shape_of_const(types_[item.args].back().as_const());
            std::uint64_t packed = 0;
            for (std::size_t k = 0; k < axes.size(); ++k) packed |= static_cast<std::uint64_t>(axes[k]) << (4 * k);
            return give(ir::Op::TilePermute, packed);
        }
        case Intrinsic::TileExtent: return tile_extent(item, args[0], destination);
        case Intrinsic::TileCount: return store(destination, scalar_value(destination.type, builder_.tile_count(args[0].a, args[1].a)));
        case Intrinsic::TileInRange: return store(destination, scalar_value(destination.type, builder_.tile_in_range(args[0].a, args[1].a, args[2].a)));
        case Intrinsic::TileRank:
            return store(destination, scalar_value(destination.type, builder_.const_int(ir::Type::I64, module_.shape_of_const(types_[item.args][0].as_const()).size())));
        default: break;   // the caller sends rows of tiles only
    }
    OCKC_UNREACHABLE("an operation on tiles");
}

// Where the block's tile of an output begins. Axis k of the grid counts tiles of axis k; above rank 3 the leading axes are
// one, row-major, and the last two are y and z.
std::vector<ir::ValueId> FunctionLowering::block_origin(const abi::KernelParam& param, std::span<const ir::ValueId> extents) {
    static constexpr ir::Sreg kBlock[] = {ir::Sreg::CtaidX, ir::Sreg::CtaidY, ir::Sreg::CtaidZ};
    const std::size_t rank = extents.size();
    const std::size_t together = rank > 3 ? rank - 2 : 1;   // axes that grid axis x counts
    std::vector<ir::ValueId> number(rank);
    ir::ValueId rest = builder_.sreg(ir::Sreg::CtaidX);
    for (std::size_t k = together; k-- > 1;) {
        const auto tile = static_cast<std::uint32_t>(param.shape[k]);
        const ir::ValueId last = builder_.binary(ir::Op::Iadd, ir::Type::I32, extents[k], builder_.const_int(ir::Type::I32, tile - 1));
        const ir::ValueId tiles = builder_.binary(ir::Op::Udiv, ir::Type::I32, last, builder_.const_int(ir::Type::I32, tile));
        number[k] = builder_.binary(ir::Op::Urem, ir::Type::I32, rest, tiles);
        rest = builder_.binary(ir::Op::Udiv, ir::Type::I32, rest, tiles);
    }
    if (rank > 0) number[0] = rest;
    for (std::size_t k = together; k < rank; ++k) number[k] = builder_.sreg(kBlock[k - together + 1]);
    for (std::size_t k = 0; k < rank; ++k) {
        number[k] = builder_.binary(ir::Op::Imul, ir::Type::I32, number[k], builder_.const_int(ir::Type::I32, static_cast<std::uint32_t>(param.shape[k])));
    }
    return number;
}

// A `Tensor`: address, extents, strides, origin, in the order of its fields.
void FunctionLowering::bind_tensor(const PlaceRef& local, const abi::KernelParam& param, std::span<const ir::ValueId> slots) {
    const bool mapped = !param.map.empty();   // by value, and without an origin
    const TypeId type = mapped ? local.type : types_[local.type].element;
    const PlaceRef tensor = temporary(type);
    const types::TypeData& data = types_[type];
    const auto& fields = module_.context().adt(data.def).variants[0].fields;
    const auto field_at = [&](std::uint32_t i) { return field(tensor, i, module_.context().field_type(fields[i], data.args, module_.context().empty_env())); };
    const std::size_t rank = param.shape.size();
    store(field_at(0), scalar_value(field_at(0).type, builder_.convert(ir::Op::SpaceCast, ir::Type::Ptr, slots[0])));
    const auto put = [&](std::uint32_t i, std::span<const ir::ValueId> values) {
        const PlaceRef array = field_at(i);
        for (std::size_t k = 0; k < values.size(); ++k) store_scalar(array, static_cast<std::int64_t>(4 * k), values[k], 4);
    };
    std::vector<ir::ValueId> extents(slots.begin() + 1, slots.begin() + 1 + static_cast<std::ptrdiff_t>(rank));
    for (std::size_t k = 0; k < rank && !param.writable; ++k) {   // what the launch has checked
        if (param.shape[k] >= 0) extents[k] = builder_.const_int(ir::Type::I32, static_cast<std::uint32_t>(param.shape[k]));
    }
    put(1, extents);
    put(2, slots.subspan(1 + rank, rank));
    if (mapped) return store(local, load(tensor));
    const std::vector<ir::ValueId> none(rank, builder_.const_int(ir::Type::I32, 0));
    put(3, param.writable ? block_origin(param, extents) : none);
    store(local, scalar_value(local.type, address(tensor)));
}

}  // namespace ockc::lower
