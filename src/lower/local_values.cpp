#include "lower/local_values.hpp"

#include <algorithm>

#include "ir/analysis/uses.hpp"
#include "ir/ssa.hpp"

namespace ockc::lower {

VarId LocalValues::add(ir::Type type) {
    types_.push_back(type);
    current_.push_back({});
    is_exposed_.push_back(false);
    return static_cast<VarId>(types_.size() - 1);
}

void LocalValues::know(VarId var, ir::ValueId value) {
    undo_.push_back({var, current_[var]});
    current_[var] = value;
}

void LocalValues::roll_back(std::size_t mark) {
    for (; undo_.size() > mark; undo_.pop_back()) current_[undo_.back().var] = undo_.back().before;
}

void LocalValues::write(VarId var, ir::BlockId block, ir::ValueId value) {
    OCKC_DCHECK(function_.type_of(value) == types_[var]);
    know(var, value);
    events_.push_back({var, block, value, false});
}

ir::ValueId LocalValues::read(VarId var, ir::BlockId block) {
    if (current_[var].valid()) return current_[var];
    const ir::ValueId placeholder = function_.values.push({types_[var], {}, {}, 0});
    events_.push_back({var, block, placeholder, true});
    is_exposed_[var] = true;
    know(var, placeholder);
    return placeholder;
}

void LocalValues::drop_unreachable(const ir::Cfg& cfg) {
    std::erase_if(function_.layout, [&](ir::BlockId block) {
        if (cfg.reachable(block)) return false;
        function_.blocks[block].removed = true;
        function_.blocks[block].insts.clear();
        return true;
    });
}

// Those of exposed variables only; the events of one variable stay in their order.
void LocalValues::sort_events() {
    std::vector<std::uint32_t> begin(types_.size() + 1);
    for (const Event& event : events_) {
        if (is_exposed_[event.var]) ++begin[event.var + 1];
    }
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<Event> sorted(begin.back());
    for (const Event& event : events_) {
        if (is_exposed_[event.var]) sorted[begin[event.var]++] = event;
    }
    events_ = std::move(sorted);
}

void LocalValues::finish() {
    if (std::find(is_exposed_.begin(), is_exposed_.end(), true) == is_exposed_.end()) return;
    const ir::Cfg cfg(function_);   // blocks that cannot be reached are not in it
    drop_unreachable(cfg);
    sort_events();
    ir::SsaBuilder ssa(function_, cfg);
    std::vector<ir::InstId> zeros;
    for (std::size_t begin = 0, end = 0; begin < events_.size(); begin = end) {
        ssa.start();
        for (end = begin; end < events_.size() && events_[end].var == events_[begin].var; ++end) {
            const Event& event = events_[end];
            if (!cfg.reachable(event.block)) continue;
            if (event.is_read) ssa.need(event.block);
            else ssa.define(event.block, event.value);
        }
        const ir::Type type = types_[events_[begin].var];
        ssa.finish(type, [&] {
            ir::Instruction zero;
            zero.op = ir::Op::Const;
            zero.type = type;
            zeros.push_back(function_.make_inst(std::move(zero), {&type, 1}));
            return function_.insts[zeros.back()].result();
        });
        for (std::size_t i = begin; i < end; ++i) {
            if (!events_[i].is_read || !cfg.reachable(events_[i].block)) continue;
            placeholders_.push_back(events_[i].value);
            reaching_.push_back(ssa.at_start(events_[i].block));
        }
    }
    auto& entry = function_.blocks[function_.entry()].insts;
    entry.insert(entry.begin(), zeros.begin(), zeros.end());
    if (!placeholders_.empty()) replace_placeholders(*std::min_element(placeholders_.begin(), placeholders_.end()));
}

// A placeholder may stand for another one, of the same variable's copy: chains are followed.
void LocalValues::replace_placeholders(ir::ValueId first) {
    std::vector<ir::ValueId> to(function_.values.size() - first.raw);
    for (std::size_t i = 0; i < placeholders_.size(); ++i) to[placeholders_[i].raw - first.raw] = reaching_[i];
    const auto resolve = [&](ir::ValueId& value) {
        ir::ValueId end = value;
        while (end.raw >= first.raw && to[end.raw - first.raw].valid()) end = to[end.raw - first.raw];
        while (value != end) {   // shorten the path for the next time
            const ir::ValueId next = to[value.raw - first.raw];
            to[value.raw - first.raw] = end;
            value = next;
        }
    };
    for (const ir::BlockId block : function_.layout) {
        for (const ir::InstId inst : function_.blocks[block].insts) ir::for_each_use(function_.insts[inst], resolve);
    }
}

}  // namespace ockc::lower
