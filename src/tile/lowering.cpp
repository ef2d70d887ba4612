// Operation by operation, in an order in which every value is known before it is used.
#include "tile/lowering.hpp"

#include <algorithm>

#include "ir/analysis/cfg.hpp"

namespace ockc::tile {

using namespace ir;

void Lowering::run() {
    const std::vector<BlockId> order = reverse_postorder(function_);
    std::erase_if(function_.layout, [&](BlockId block) { return std::find(order.begin(), order.end(), block) == order.end(); });
    registers_.resize(function_.values.size());
    limits_.resize(function_.values.size());
    params_.resize(function_.blocks.size());
    make_shared_memory();
    needs_.resize(function_.insts.size());
    for (const BlockId block : order) {
        for (const InstId id : function_.blocks[block].insts) needs_[id.raw] = shared_need(context_.module, function_, function_.insts[id]);
    }
    used_.resize(function_.values.size());
    find_effects();
    for (const BlockId block : order) expand_params(block);
    for (const BlockId block : order) {
        const std::vector<InstId> insts = std::move(function_.blocks[block].insts);
        function_.blocks[block].insts.clear();
        builder_.at_end(block);
        begin_limits(block);
        at_ = block;
        for (const InstId id : insts) instruction(id);
    }
    coordinates_.finish();
}

void Lowering::note_uses(const Instruction& inst) {
    for (const ValueId value : inst.args) used_[value.raw] = true;
    for (const Target& target : inst.targets) {
        for (const ValueId value : target.args) used_[value.raw] = true;
    }
}

// A parameter for each register, and for each limit that is taken, in the place of a tile.
void Lowering::expand_params(BlockId block) {
    params_[block.raw] = std::move(function_.blocks[block].params);
    function_.blocks[block].params.clear();
    for (const ValueId param : params_[block.raw]) {
        if (!is_tile(function_.type_of(param))) {
            function_.values[param].index = static_cast<std::uint32_t>(function_.blocks[block].params.size());
            function_.blocks[block].params.push_back(param);
        } else if (function_.values[param].tile.valid()) {
            const TileType type = type_of(param);
            for (std::uint32_t r = 0; r < type.layout.register_count(); ++r) {
                registers(param).push_back(function_.add_block_param(block, type.element));
            }
            if (!analysis_.takes_limits(param)) continue;
            for (std::size_t k = 0; k < type.shape.size(); ++k) limits(param).axes.push_back(function_.add_block_param(block, Type::I32));
            for (std::uint32_t r = 0; r < type.layout.register_count() && analysis_.is_masked(param); ++r) {
                limits(param).mask.push_back(function_.add_block_param(block, Type::I1));
            }
        }
    }
}

// Limits that a block's tiles had before they came here.
void Lowering::begin_limits(BlockId block) {
    for (const ValueId param : params_[block.raw]) {
        if (!is_tile(function_.type_of(param)) || !analysis_.is_partial(param) || analysis_.takes_limits(param)) continue;
        if (const ValueId before = analysis_.begins_as(param); before.valid()) limits(param) = Limits(limits(before));
    }
}

void Lowering::expand_argument(ValueId value, ValueId param, std::vector<ValueId>& out) {
    const bool update = analysis_.is_partial(value) && analysis_.is_update(value, param);
    const TileType type = type_of(value);
    for (std::uint32_t r = 0; r < registers(value).size(); ++r) {
        const ValueId there = update ? is_present(limits(value), type, r) : ValueId::none();
        out.push_back(there.valid() ? builder_.select(there, registers(value)[r], registers(param)[r]) : registers(value)[r]);
    }
    if (!analysis_.takes_limits(param)) return;
    const Limits& own = update ? limits(param) : limits(value);
    for (std::size_t k = 0; k < type.shape.size(); ++k) out.push_back(own.axis(k).valid() ? own.axis(k) : i32(INT32_MAX));
    for (std::uint32_t r = 0; r < registers(value).size() && analysis_.is_masked(param); ++r) {
        out.push_back(own.mask.empty() ? builder_.const_bool(true) : own.mask[r]);
    }
}

void Lowering::expand_targets(InstId id) {
    for (std::size_t t = 0; t < function_.insts[id].targets.size(); ++t) {
        const Target target = function_.insts[id].targets[t];
        std::vector<ValueId> args;
        for (std::size_t i = 0; i < target.args.size(); ++i) {
            const ValueId value = target.args[i];
            if (!is_tile(function_.type_of(value))) args.push_back(value);
            else if (function_.values[value].tile.valid()) expand_argument(value, params_[target.block.raw][i], args);
        }
        function_.insts[id].targets[t].args = ir::TargetArgs(args);
    }
}

void Lowering::instruction(InstId id) {
    const Instruction inst = function_.insts[id];   // a copy: the store grows
    current_ = id;
    need_ = needs_[id.raw];
    builder_.set_span(inst.span);
    if (ordered_.contains(id.raw)) builder_.barrier();
    if (once_.contains(id.raw)) return once(id);
    switch (inst.op) {
        case Op::TileLoad: return load(inst);
        case Op::TileStore: return store(inst);
        case Op::TileSplat: return splat(inst);
        case Op::TileIota: return iota(inst);
        case Op::TileMap: return map(inst);
        case Op::TilePermute:
        case Op::TileReshape: return change_shape(inst);
        case Op::TileBroadcast: return broadcast(inst);
        case Op::TileConvert: return convert(inst);
        case Op::TileReducePair:
        case Op::TileReduce: return reduce(inst);
        case Op::TileScan: return scan(inst);
        case Op::TileCat: return cat(inst);
        case Op::TileExtract: return extract(inst);
        case Op::TileFill: return fill(inst);
        case Op::TileEach: return each(inst);
        case Op::TileMma: return mma(inst);
        case Op::TileRing: registers(inst.result()) = {shared_memory(id)}; return;
        case Op::TileCopy: return copy(inst);
        case Op::TileSlot: return slot(inst);
        case Op::TileScalar: return scalar(id);
        case Op::Select:
            if (is_tile(inst.type)) return select(inst);
            break;
        case Op::Const: {
            if (!is_tile(inst.type)) break;
            if (!function_.values[inst.result()].tile.valid()) return;
            const TileType type = type_of(inst.result());
            registers(inst.result()).assign(type.layout.register_count(), zero(type.element));
            return;
        }
        default: break;
    }
    expand_targets(id);
    function_.blocks[builder_.block()].insts.push_back(id);
}

void Lowering::splat(const Instruction& inst) {
    registers(inst.result()).assign(type_of(inst.result()).layout.register_count(), inst.args[0]);
}

void Lowering::iota(const Instruction& inst) { registers(inst.result()) = counted(type_of(inst.result()), static_cast<std::size_t>(function_.def(inst.args[0])->imm)); }

Registers Lowering::counted(const TileType& type, std::size_t axis) {
    const ValueId own = coordinates_.index(type, axis);
    Registers out;
    for (std::uint32_t r = 0; r < type.layout.register_count(); ++r) {
        ValueId value = builder_.binary(Op::Xor, Type::I32, own, i32(axis_index(type.shape, axis, register_place(type.layout, r))));
        if (is_float(type.element)) value = builder_.convert(Op::Sitofp, type.element, value);
        else if (type_bits(type.element) < 32) value = builder_.convert(Op::Trunc, type.element, value);
        else if (type_bits(type.element) > 32) value = builder_.convert(Op::Zext, type.element, value);
        out.push_back(value);
    }
    return out;
}

// May the function end the launch? A call that is left in it may, too.
bool Lowering::may_fail(FuncId callee) const {
    const Function& function = context_.module.functions[callee];
    for (const BlockId block : function.layout) {
        for (const InstId id : function.blocks[block].insts) {
            const Op op = function.insts[id].op;
            if (op == Op::Panic || op == Op::Trap || op == Op::Call) return true;
        }
    }
    return false;
}

// A function that may fail is not asked about lanes that do not exist: the quotient of two lanes outside is no error.
void Lowering::map(const Instruction& inst) {
    const TileType type = type_of(inst.result());
    const Limits limits = common_limits(inst.args.view());
    const bool guarded = !limits.everywhere() && may_fail(inst.callee);
    Registers out;
    for (std::uint32_t r = 0; r < type.layout.register_count(); ++r) {
        std::vector<ValueId> args;
        for (std::uint32_t i = 0; i < inst.args.size(); ++i) args.push_back(i < inst.imm ? inst.args[i] : registers(inst.args[i])[r]);
        const ValueId there = guarded ? is_present(limits, type, r) : ValueId::none();
        if (!there.valid()) {
            out.push_back(builder_.call(inst.callee, args, {&type.element, 1})[0]);
            continue;
        }
        const BlockId present = function_.add_block(), after = function_.add_block();
        out.push_back(function_.add_block_param(after, type.element));
        builder_.br(there, Target{present, {}}, Target{after, {zero(type.element)}});
        builder_.at_end(present);
        builder_.jump(after, ir::TargetArgs(builder_.call(inst.callee, args, {&type.element, 1})));
        builder_.at_end(after);
    }
    registers(inst.result()) = std::move(out);
    this->limits(inst.result()) = limits;
}

void Lowering::select(const Instruction& inst) {
    Registers out;
    const Registers& yes = registers(inst.args[1]);
    const Registers& no = registers(inst.args[2]);
    for (std::size_t r = 0; r < yes.size(); ++r) out.push_back(builder_.select(inst.args[0], yes[r], no[r]));
    registers(inst.result()) = std::move(out);
    limits(inst.result()) = common_limits(inst.args.view());
}

void Lowering::fill(const Instruction& inst) {
    Registers out = registers(inst.args[0]);
    const Registers there = presence(limits(inst.args[0]), type_of(inst.args[0]));
    for (std::size_t r = 0; r < there.size(); ++r) out[r] = builder_.select(there[r], out[r], inst.args[1]);
    registers(inst.result()) = std::move(out);
}

// The same registers: the layout has changed with the shape.
void Lowering::change_shape(const Instruction& inst) {
    registers(inst.result()) = Registers(registers(inst.args[0]));
    const Limits own = limits(inst.args[0]);
    if (inst.op == Op::TileReshape) {
        limits(inst.result()) = reshape_limits(own, type_of(inst.args[0]), type_of(inst.result()).shape);
        return;
    }
    Limits& result = limits(inst.result());
    result.mask = own.mask;
    for (std::size_t k = 0; k < own.axes.size(); ++k) result.axes.push_back(own.axes[inst.imm >> (4 * k) & 15u]);
}

// Every thread has it. The instruction becomes a choice between one value: what uses it stays as it is.
void Lowering::scalar(InstId id) {
    const ValueId value = registers(function_.insts[id].args[0])[0];
    const ValueId yes = builder_.const_bool(true);
    Instruction& inst = function_.insts[id];
    inst.op = Op::Select;
    inst.args = {yes, value, value};
    inst.tile = {};
    function_.blocks[builder_.block()].insts.push_back(id);
}

// The operand lies as the result does, without the axes that are repeated: the registers that differ in those only are one.
void Lowering::broadcast(const Instruction& inst) {
    const TileType from = type_of(inst.args[0]), to = type_of(inst.result());
    std::vector<std::uint32_t> number;   // of the operand's register bit for each of the result's, 0: none
    std::uint32_t next = 0;
    for (const std::uint32_t basis : to.layout.registers) {
        bool kept = false;
        for (std::size_t k = 0; k < to.shape.size(); ++k) kept = kept || (from.shape[k] != 1 && axis_index(to.shape, k, basis) != 0);
        number.push_back(kept ? 1u << next++ : 0u);
    }
    Registers out;
    const Limits own = limits(inst.args[0]);
    Limits result{broadcast_limits(own, from.shape, to.shape), {}};
    for (std::uint32_t r = 0; r < to.layout.register_count(); ++r) {
        std::uint32_t source = 0;
        for (std::size_t b = 0; b < number.size(); ++b) source |= (r >> b & 1u) != 0 ? number[b] : 0u;
        out.push_back(registers(inst.args[0])[source]);
        if (!own.mask.empty()) result.mask.push_back(own.mask[source]);
    }
    registers(inst.result()) = std::move(out);
    limits(inst.result()) = std::move(result);
}

void lower_function(Function& function, const Context& context, const Placement& placement) { Lowering(function, context, placement).run(); }

}  // namespace ockc::tile
