#include "tile/limits.hpp"

#include <algorithm>
#include <unordered_set>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

LimitAnalysis::LimitAnalysis(const Function& function, const TileTypes& types)
    : function_(function), types_(types), partial_(function.values.size()), masked_(function.values.size()) {
    for (const BlockId block : function.layout) {
        for (const Target& target : function.terminator(block).targets) {
            const auto& params = function.blocks[target.block].params;
            for (std::size_t i = 0; i < params.size(); ++i) {
                if (is_tile(function.type_of(params[i]))) incoming_[params[i].raw].push_back(target.args[i]);
            }
        }
    }
    spread();
}

void LimitAnalysis::mark(std::vector<bool>& marks, ValueId value) {
    if (marks[value.raw]) return;
    marks[value.raw] = true;
    changed_ = true;
}

// From loads to everything made of them, round and round until nothing is new.
void LimitAnalysis::spread() {
    do {
        changed_ = false;
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) spread_from(function_.insts[id]);
        }
        for (const auto& [param, values] : incoming_) {
            for (const ValueId value : values) {
                if (is_update(value, ValueId(param))) continue;
                if (partial_[value.raw]) mark(partial_, ValueId(param));
                if (masked_[value.raw]) mark(masked_, ValueId(param));
            }
        }
    } while (changed_);
}

void LimitAnalysis::spread_from(const Instruction& inst) {
    if (inst.results.empty() || !is_tile(function_.type_of(inst.result())) || inst.op == Op::TileFill) return;
    // Of a product, lanes that do not exist count as 0: the accumulator's are all that matter.
    const auto first = inst.op == Op::TileMma ? inst.args.begin() + 2 : inst.args.begin();
    const bool from_partial = std::any_of(first, inst.args.end(), [&](ValueId value) { return partial_[value.raw]; });
    const bool from_masked = std::any_of(first, inst.args.end(), [&](ValueId value) { return masked_[value.raw]; });
    if (inst.op == Op::TileLoad || from_partial) mark(partial_, inst.result());
    if (from_masked || (from_partial && needs_mask(inst))) mark(masked_, inst.result());
}

bool LimitAnalysis::needs_mask(const Instruction& inst) const {
    if (inst.op == Op::TileCat) return true;
    if (inst.op != Op::TileReshape) return false;
    const Shape& from = types_[function_.values[inst.args[0]].tile].shape;
    const Shape& to = types_[inst.tile].shape;
    for (std::size_t k = 0; k < from.size(); ++k) {
        if (from[k] != 1 && reshaped_axis(from, k, to) == kNoAxis) return true;
    }
    return to.empty();
}

bool LimitAnalysis::is_update(ValueId value, ValueId param) const {
    std::vector<ValueId> work{value};
    std::unordered_set<std::uint32_t> seen{value.raw};
    while (!work.empty()) {
        const ValueId at = work.back();
        work.pop_back();
        if (at == param) return true;
        const auto reach = [&](ValueId next) {
            if (is_tile(function_.type_of(next)) && seen.insert(next.raw).second) work.push_back(next);
        };
        if (const Instruction* def = function_.def(at)) {
            for (const ValueId arg : def->args) reach(arg);
        } else if (const auto found = incoming_.find(at.raw); found != incoming_.end()) {
            for (const ValueId arg : found->second) reach(arg);
        }
    }
    return false;
}

std::vector<ValueId> LimitAnalysis::beginnings(ValueId param) const {
    std::vector<ValueId> all;
    const auto found = incoming_.find(param.raw);
    if (found == incoming_.end()) return all;
    for (const ValueId value : found->second) {
        if (!is_update(value, param)) all.push_back(value);
    }
    return all;
}

bool LimitAnalysis::takes_limits(ValueId param) const { return is_partial(param) && beginnings(param).size() > 1; }

ValueId LimitAnalysis::begins_as(ValueId param) const {
    const std::vector<ValueId> all = beginnings(param);
    return all.size() == 1 ? all[0] : ValueId::none();
}

// ----------------------------------------------------------------------------------------------------------
// limits in the lowering

// A lane exists when it exists in every operand; all lie in one layout.
Limits Lowering::common_limits(std::span<const ValueId> tiles) {
    Limits result;
    for (const ValueId tile : tiles) {
        if (!is_tile(function_.type_of(tile))) continue;
        const Limits& own = limits(tile);
        if (result.axes.size() < own.axes.size()) result.axes.resize(own.axes.size());
        for (std::size_t k = 0; k < own.axes.size(); ++k) {
            ValueId& limit = result.axes[k];
            if (own.axes[k].valid() && own.axes[k] != limit) limit = limit.valid() ? builder_.binary(Op::Smin, Type::I32, limit, own.axes[k]) : own.axes[k];
        }
        for (std::size_t r = 0; r < own.mask.size(); ++r) {
            if (result.mask.size() <= r) result.mask.push_back(own.mask[r]);
            else if (result.mask[r] != own.mask[r]) result.mask[r] = builder_.binary(Op::And, Type::I1, result.mask[r], own.mask[r]);
        }
    }
    return result;
}

// An axis of extent 1 that is repeated: all of it exists or nothing.
std::vector<ValueId> Lowering::broadcast_limits(const Limits& own, const Shape& from, const Shape& to) {
    std::vector<ValueId> result = own.axes;
    for (std::size_t k = 0; k < result.size(); ++k) {
        if (result[k].valid() && from[k] != to[k]) result[k] = all_or_nothing(result[k]);
    }
    return result;
}

ValueId Lowering::all_or_nothing(ValueId limit) {
    const ValueId some = builder_.icmp(IntCond::Sgt, limit, i32(0));
    return builder_.select(some, i32(INT32_MAX), i32(0));
}

std::size_t reshaped_axis(const Shape& from, std::size_t k, const Shape& to) {
    const std::uint32_t weight = axis_weight(from, k), whole = weight * from[k];
    for (std::size_t j = 0; j < to.size(); ++j) {
        const std::uint32_t outer = axis_weight(to, j);
        if (to[j] != 1 && outer * to[j] == whole && outer <= weight) return j;
    }
    return kNoAxis;
}

// Limits that an axis of the result can say; the others become the mask.
Limits Lowering::reshape_limits(const Limits& own, const TileType& from, const Shape& to) {
    Limits result, unsaid;
    result.mask = own.mask;
    result.axes.resize(own.axes.empty() ? 0 : to.size());
    unsaid.axes.resize(own.axes.size());
    ValueId nothing;   // limits of axes of one lane: everything or nothing exists
    for (std::size_t k = 0; k < own.axes.size(); ++k) {
        const ValueId limit = own.axes[k];
        if (!limit.valid()) continue;
        if (from.shape[k] == 1) {
            const ValueId all = all_or_nothing(limit);
            nothing = nothing.valid() ? builder_.binary(Op::Smin, Type::I32, nothing, all) : all;
        } else if (const std::size_t j = reshaped_axis(from.shape, k, to); j == kNoAxis) {
            unsaid.axes[k] = limit;
        } else {
            const std::uint32_t rows = axis_weight(from.shape, k) / axis_weight(to, j);   // lanes of the result's axis for each of the operand's
            const ValueId capped = builder_.binary(Op::Smin, Type::I32, limit, i32(from.shape[k]));
            result.axes[j] = rows == 1 ? limit : builder_.binary(Op::Imul, Type::I32, capped, i32(rows));
        }
    }
    if (nothing.valid() && !to.empty()) result.axes[0] = result.axes[0].valid() ? builder_.binary(Op::Smin, Type::I32, result.axes[0], nothing) : nothing;
    for (std::uint32_t r = 0; r < from.layout.register_count(); ++r) {
        ValueId there = is_present(unsaid, from, r);
        if (nothing.valid() && to.empty()) there = builder_.icmp(IntCond::Ne, nothing, i32(0));
        if (!there.valid()) break;
        if (result.mask.size() <= r) result.mask.push_back(there);
        else result.mask[r] = builder_.binary(Op::And, Type::I1, result.mask[r], there);
    }
    return result;
}

// Does the lane exist whose place the register `number` contributes? None: always.
ValueId Lowering::is_present(const Limits& limits, const TileType& type, std::uint32_t number) {
    ValueId all = limits.mask.empty() ? ValueId::none() : limits.mask[number];
    const std::uint32_t place = register_place(type.layout, number);
    for (std::size_t k = 0; k < limits.axes.size(); ++k) {
        if (!limits.axes[k].valid()) continue;
        const ValueId own = coordinates_.index(type, k);
        const ValueId index = builder_.binary(Op::Iadd, Type::I32, own, i32(axis_index(type.shape, k, place)));
        const ValueId there = builder_.icmp(IntCond::Slt, index, limits.axes[k]);
        all = all.valid() ? builder_.binary(Op::And, Type::I1, all, there) : there;
    }
    return all;
}

// The same by register; empty: all exist.
Registers Lowering::presence(const Limits& limits, const TileType& type) {
    Registers result;
    for (std::uint32_t r = 0; r < type.layout.register_count() && !limits.everywhere(); ++r) {
        const ValueId there = is_present(limits, type, r);
        if (!there.valid()) return {};
        result.push_back(there);
    }
    return result;
}

}  // namespace ockc::tile
