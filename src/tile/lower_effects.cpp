// A tile block is one logical thread, but many threads run its code. What it does to memory, or shows, is done by one of
// them: scalar stores, atomic operations and printing by the first thread of the block, operations lane by lane on memory by
// the first of the threads that hold the lane. Barriers keep the order that the source has.
#include <algorithm>
#include <iterator>

#include "tile/effects.hpp"
#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

// Before anything is lowered: what is done once, and accesses to tensors that are both loaded from and stored to, which the
// block makes one after the other, since the threads that move a lane need not be the same ones.
void Lowering::find_effects() {
    std::set<std::uint32_t> loaded, stored, both;   // roots of addresses
    std::vector<std::pair<InstId, std::vector<ValueId>>> accesses;
    for (const BlockId block : function_.layout) {
        for (const InstId id : function_.blocks[block].insts) {
            const Instruction& inst = function_.insts[id];
            note_uses(inst);
            if (changes(function_, inst) == Reach::Shared) once_.insert(id.raw);
            const bool copies = inst.op == Op::TileCopy;
            if (!copies && inst.op != Op::TileLoad && inst.op != Op::TileStore) continue;
            accesses.emplace_back(id, roots_of(function_, inst.args[copies ? 3 : 0]));
            for (const ValueId root : accesses.back().second) (inst.op == Op::TileStore ? stored : loaded).insert(root.raw);
        }
    }
    std::set_intersection(loaded.begin(), loaded.end(), stored.begin(), stored.end(), std::inserter(both, both.end()));
    for (const auto& [id, roots] : accesses) {
        for (const ValueId root : roots) {
            if (both.contains(root.raw)) ordered_.insert(id.raw);
        }
    }
}

// The block's first thread does it. Its result reaches the others through shared memory; the instruction itself becomes a
// choice between one value, so that what uses it stays as it is.
void Lowering::once(InstId id) {
    Instruction done = function_.insts[id];
    done.results.clear();
    const bool prints = done.op == Op::Vprintf;
    std::vector<Type> types;
    for (const ValueId result : function_.insts[id].results) {
        if (used_[result.raw]) types.push_back(function_.type_of(result));
    }
    const BlockId mine = function_.add_block(), after = function_.add_block();
    ValueId buffer;
    if (!types.empty()) buffer = shared_buffer(type_bytes(types[0]));
    if (!prints || !types.empty()) builder_.barrier();   // whoever still reads what is changed, or the buffer
    const ValueId thread = builder_.sreg(Sreg::TidX);
    builder_.br(builder_.icmp(IntCond::Eq, thread, i32(0)), mine, after);
    builder_.at_end(mine);
    std::vector<Type> own_types;
    for (const ValueId result : function_.insts[id].results) own_types.push_back(function_.type_of(result));
    const InstId copy = builder_.append(std::move(done), own_types);
    MemoryInfo memory;
    if (!types.empty()) {
        memory.align = type_bytes(types[0]);
        builder_.store(buffer, function_.insts[copy].result(), memory);
    }
    builder_.jump(after);
    builder_.at_end(after);
    if (!prints || !types.empty()) builder_.barrier();
    if (types.empty()) return;
    const ValueId shared = builder_.load(types[0], buffer, memory), yes = builder_.const_bool(true);
    Instruction& inst = function_.insts[id];
    inst.op = Op::Select;
    inst.type = types[0];
    inst.aux = 0;
    inst.imm = 0;
    inst.memory = {};
    inst.args = {yes, shared, shared};
    function_.blocks[builder_.block()].insts.push_back(id);
}

// One lane; `there`: does it exist, and is it this thread's to do. None: yes.
ValueId Lowering::each_lane(const Instruction& inst, std::uint32_t number, ValueId there) {
    const Type element = type_of(inst.result()).element;
    std::vector<ValueId> args;
    for (std::uint32_t i = 0; i < inst.args.size(); ++i) args.push_back(i < inst.imm ? inst.args[i] : registers(inst.args[i])[number]);
    if (!there.valid()) return builder_.call(inst.callee, args, {&element, 1})[0];
    const BlockId present = function_.add_block(), after = function_.add_block();
    const ValueId result = function_.add_block_param(after, element);
    builder_.br(there, Target{present, {}}, Target{after, {zero(element)}});
    builder_.at_end(present);
    builder_.jump(after, TargetArgs(builder_.call(inst.callee, args, {&element, 1})));
    builder_.at_end(after);
    return result;
}

void Lowering::each(const Instruction& inst) {
    const TileType type = type_of(inst.result());
    const Limits own = common_limits(inst.args.view());
    const ValueId first = coordinates_.is_first(type);
    builder_.barrier();   // what the block has done to memory so far
    Registers out;
    for (std::uint32_t r = 0; r < type.layout.register_count(); ++r) {
        ValueId there = is_present(own, type, r);
        if (first.valid()) there = there.valid() ? builder_.binary(Op::And, Type::I1, there, first) : first;
        out.push_back(each_lane(inst, r, there));
    }
    builder_.barrier();
    if (first.valid()) {   // the others' copies of each lane
        Registers copies;
        through_shared(type, type, out, copies);
        out = std::move(copies);
    }
    registers(inst.result()) = std::move(out);
    limits(inst.result()) = own;
}

}  // namespace ockc::tile
