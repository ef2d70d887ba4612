// Loads of neighbouring values as one load of two or four, and stores likewise: found in the IR of a block, where base,
// offset and alignment are plain. A group stands where its first load or its last store does; in between are only values
// and, for loads, other loads.
#include <algorithm>
#include <cstdlib>

#include "isel/selector.hpp"

namespace ockc::isel {

using ir::Op;

namespace {

// May be one lane of a vector access: a whole register of 32 or 64 bits.
bool is_lane(const ir::Instruction& inst, ir::Type type) {
    const bool access = inst.op == Op::Load || inst.op == Op::Store;
    const bool type_fits = type == ir::Type::I32 || type == ir::Type::F32 || type == ir::Type::I64 || type == ir::Type::F64;
    return access && type_fits && !inst.memory.is_volatile && inst.memory.align >= ir::type_bytes(type);
}

std::int64_t offset_of(const ir::Instruction& inst) { return static_cast<std::int64_t>(inst.imm); }

}  // namespace

// Among accesses to one base, runs at rising offsets that a vector access covers: 16 bytes, else 8.
void Selector::group_accesses(std::vector<ir::InstId>& open) {
    std::vector<ir::InstId> sorted = open;
    const bool is_load = !open.empty() && in_.insts[open[0]].op == Op::Load;
    std::stable_sort(sorted.begin(), sorted.end(), [this](ir::InstId a, ir::InstId b) { return offset_of(in_.insts[a]) < offset_of(in_.insts[b]); });
    for (std::size_t i = 0; i < sorted.size();) {
        const std::size_t count = vector_length(std::span(sorted).subspan(i));
        if (count > 1) {
            const auto lanes = std::span(sorted).subspan(i, count);
            const auto is_in = [&](ir::InstId id) { return std::find(lanes.begin(), lanes.end(), id) != lanes.end(); };
            const ir::InstId leader = is_load ? *std::find_if(open.begin(), open.end(), is_in) : *std::find_if(open.rbegin(), open.rend(), is_in);
            for (const ir::InstId id : lanes) leader_of_.set(id, leader);
            vectors_[leader].assign(lanes.begin(), lanes.end());
        }
        i += count;
    }
    open.clear();
}

std::size_t Selector::vector_length(std::span<const ir::InstId> sorted) const {
    const ir::Instruction& first = in_.insts[sorted[0]];
    const std::uint32_t bytes = ir::type_bytes(first.type);
    for (const std::size_t count : {std::size_t{4}, std::size_t{2}}) {
        if (count * bytes > 16 || count > sorted.size() || first.memory.align < count * bytes) continue;
        bool fits = true;
        for (std::size_t i = 1; i < count; ++i) {
            const ir::Instruction& lane = in_.insts[sorted[i]];
            fits = fits && lane.type == first.type && lane.memory.readonly == first.memory.readonly &&
                   offset_of(lane) == offset_of(first) + static_cast<std::int64_t>(i * bytes);
        }
        if (fits) return count;
    }
    return 1;
}

void Selector::find_vectors(ir::BlockId block) {
    vectors_.clear();
    std::vector<ir::InstId> open;   // accesses of one kind to one base, in order
    for (const ir::InstId id : in_.blocks[block].insts) {
        const ir::Instruction& inst = in_.insts[id];
        if (inst.op != Op::Load && ir::op_info(inst.op).effect == ir::Effect::Pure) continue;
        const bool lane = is_lane(inst, inst.type);
        const bool joins = lane && !open.empty() && in_.insts[open[0]].op == inst.op && in_.insts[open[0]].args[0] == inst.args[0];
        const bool overlaps = std::any_of(open.begin(), open.end(), [&](ir::InstId other) {
            const std::int64_t distance = std::abs(offset_of(in_.insts[other]) - offset_of(inst));
            return in_.insts[other].type != inst.type || distance < static_cast<std::int64_t>(ir::type_bytes(inst.type));
        });
        if (!joins || overlaps) group_accesses(open);
        if (lane) open.push_back(id);
    }
    group_accesses(open);
}

// Does the instruction belong to a vector access; selects it when it is the one that stands for the others.
bool Selector::vector_access(ir::InstId id) {
    const ir::InstId leader = leader_of_[id];
    if (!leader.valid()) return false;
    if (leader != id) return true;
    const std::vector<ir::InstId>& lanes = vectors_[id];
    const ir::Instruction& first = in_.insts[lanes[0]];
    const bool is_load = first.op == Op::Load;
    if (is_load && std::none_of(lanes.begin(), lanes.end(), [this](ir::InstId lane) { return needed(in_.insts[lane]); })) return true;
    loc_ = location(first.span);
    inst_ = id;
    const Address at = address(first.args[0], offset_of(first));
    std::vector<Operand> values;
    for (const ir::InstId lane : lanes) values.push_back(r(is_load ? reg_of(in_.insts[lane].result()) : use(in_.insts[lane].args[1])));
    const Operand list = Operand::list(out_.new_list(std::move(values)));
    if (is_load) load_piece(list, memory_type(first.type), at, 0, first.memory);
    else store_piece(memory_type(first.type), at, 0, list, first.memory);
    flush();
    return true;
}

}  // namespace ockc::isel
