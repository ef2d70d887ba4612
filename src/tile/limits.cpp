#include "tile/limits.hpp"

#include <algorithm>
#include <unordered_set>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

LimitAnalysis::LimitAnalysis(const Function& function) : function_(function), partial_(function.values.size()) {
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

// From loads to everything made of them, round and round until nothing is new.
void LimitAnalysis::spread() {
    bool changed = true;
    const auto mark = [&](ValueId value) {
        if (partial_[value.raw]) return;
        partial_[value.raw] = true;
        changed = true;
    };
    while (changed) {
        changed = false;
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (inst.results.empty() || !is_tile(function_.type_of(inst.result()))) continue;
                // Of a product, lanes that do not exist count as 0: the accumulator's are all that matter.
                const auto first = inst.op == Op::TileMma ? inst.args.begin() + 2 : inst.args.begin();
                const bool from_partial = std::any_of(first, inst.args.end(), [&](ValueId value) { return partial_[value.raw]; });
                if (inst.op == Op::TileLoad || from_partial) mark(inst.result());
            }
        }
        for (const auto& [param, values] : incoming_) {
            for (const ValueId value : values) {
                if (partial_[value.raw] && !is_update(value, ValueId(param))) mark(ValueId(param));
            }
        }
    }
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

// A lane exists when it exists in every operand.
Limits Lowering::common_limits(std::span<const ValueId> tiles) {
    Limits result;
    for (const ValueId tile : tiles) {
        if (!is_tile(function_.type_of(tile))) continue;
        const Limits& own = limits(tile);
        if (own.empty()) continue;
        if (result.empty()) result.resize(own.size());
        for (std::size_t k = 0; k < own.size(); ++k) {
            if (!own[k].valid() || own[k] == result[k]) continue;
            result[k] = result[k].valid() ? builder_.binary(Op::Smin, Type::I32, result[k], own[k]) : own[k];
        }
    }
    return result;
}

// An axis of extent 1 that is repeated: all of it exists or nothing.
Limits Lowering::broadcast_limits(const Limits& own, const Shape& from, const Shape& to) {
    Limits result = own;
    for (std::size_t k = 0; k < own.size(); ++k) {
        if (own[k].valid() && from[k] != to[k]) result[k] = all_or_nothing(own[k]);
    }
    return result;
}

ValueId Lowering::all_or_nothing(ValueId limit) {
    const ValueId some = builder_.icmp(IntCond::Sgt, limit, i32(0));
    return builder_.select(some, i32(INT32_MAX), i32(0));
}

// Axes are matched from the end: runs of axes with equally many lanes. In a run the limit of its outermost axis of more than
// one lane can be said of the result when that is an axis of its own, or counts whole rows of the others; any other limit
// is forgotten, so that such lanes are zeros from there on.
Limits Lowering::reshape_limits(const Limits& own, const Shape& from, const Shape& to) {
    Limits result(own.empty() ? 0 : to.size());
    if (own.empty()) return result;
    ValueId nothing;   // limits of axes of one lane: everything or nothing exists
    for (std::size_t k = 0; k < from.size(); ++k) {
        if (from[k] != 1 || !own[k].valid()) continue;
        const ValueId limit = all_or_nothing(own[k]);
        nothing = nothing.valid() ? builder_.binary(Op::Smin, Type::I32, nothing, limit) : limit;
    }
    for (std::size_t k = 0; k < from.size(); ++k) {
        if (from[k] == 1 || !own[k].valid()) continue;
        const std::uint32_t weight = axis_weight(from, k), whole = weight * from[k];
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::uint32_t outer = axis_weight(to, j);
            if (to[j] == 1 || outer * to[j] != whole || outer > weight) continue;
            const std::uint32_t rows = weight / outer;   // lanes of the result's axis for each of the operand's
            const ValueId capped = builder_.binary(Op::Smin, Type::I32, own[k], i32(from[k]));
            result[j] = rows == 1 ? own[k] : builder_.binary(Op::Imul, Type::I32, capped, i32(rows));
        }
    }
    for (std::size_t j = 0; nothing.valid() && j < to.size(); ++j) {
        result[j] = result[j].valid() ? builder_.binary(Op::Smin, Type::I32, result[j], nothing) : nothing;
        break;
    }
    return result;
}

// Does the lane exist whose place the register `number` contributes? None: always.
ValueId Lowering::is_present(const Limits& limits, const TileType& type, std::uint32_t number) {
    ValueId all;
    const std::uint32_t place = register_place(type.layout, number);
    for (std::size_t k = 0; k < limits.size(); ++k) {
        if (!limits[k].valid()) continue;
        const ValueId own = coordinates_.index(type, k);
        const ValueId index = builder_.binary(Op::Iadd, Type::I32, own, i32(axis_index(type.shape, k, place)));
        const ValueId there = builder_.icmp(IntCond::Slt, index, limits[k]);
        all = all.valid() ? builder_.binary(Op::And, Type::I1, all, there) : there;
    }
    return all;
}

}  // namespace ockc::tile
