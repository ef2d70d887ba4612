// Sparse conditional constant propagation (Wegman and Zadeck): values start unknown, edges start unreached,
// and both only ever move one way, so constants are found even around loops that the constants themselves
// cut. Afterwards constant values are replaced and branches on constants are folded; simplify_cfg clears up.
#include <array>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/const_fold.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

struct Cell {
    enum class State : std::uint8_t { Unknown, Constant, Varying } state = State::Unknown;
    Constant value;
};

class Sccp {
  public:
    explicit Sccp(Function& function)
        : function_(function),
          uses_(function),
          cells_(function.values.size()),
          reached_(function.blocks.size()) {}

    bool run() {
        for (const ValueId param : function_.blocks[function_.entry()].params)
            cells_.at(param).state = Cell::State::Varying;
        reach(function_.entry());
        while (!blocks_.empty() || !values_.empty()) {
            if (!blocks_.empty()) {
                const BlockId block = blocks_.back();
                blocks_.pop_back();
                for (const InstId id : function_.blocks[block].insts)
                    visit(id);
            } else {
                const ValueId value = values_.back();
                values_.pop_back();
                for (const InstId user : uses_.of(value)) {
                    if (uses_.block_of(user).valid() && reached_[uses_.block_of(user).raw]) visit(user);
                }
            }
        }
        return replace();
    }

  private:
    void reach(BlockId block) {
        if (reached_[block.raw]) return;
        reached_[block.raw] = true;
        blocks_.push_back(block);
    }

    void lower(ValueId value, const Cell& to) {
        Cell& cell = cells_.at(value);
        if (to.state == Cell::State::Unknown || cell.state == Cell::State::Varying) return;
        if (cell.state == Cell::State::Constant) {
            if (to.state == Cell::State::Constant && to.value == cell.value) return;
            cell.state = Cell::State::Varying;
        } else {
            cell = to;
        }
        values_.push_back(value);
    }

    void visit(InstId id) {
        const Instruction& inst = function_.insts[id];
        if (is_terminator(inst.op)) return visit_terminator(inst);
        if (inst.results.empty()) return;
        const Cell cell = evaluate(inst);
        for (const ValueId result : inst.results)
            lower(result, cell);
    }

    Cell evaluate(const Instruction& inst) const {
        constexpr Cell kVarying{Cell::State::Varying, {}};
        if (inst.op == Op::Const) return {Cell::State::Constant, {inst.imm, inst.imm_high}};
        if (!is_pure(inst.op) || inst.args.empty() || inst.args.size() > 3 || inst.op == Op::SpaceCast)
            return kVarying;
        if (inst.op == Op::Select) return evaluate_select(inst);
        std::array<Constant, 3> args;
        for (std::uint32_t i = 0; i < inst.args.size(); ++i) {
            const Cell& cell = cells_[inst.args[i]];
            if (cell.state != Cell::State::Constant) return cell;
            args[i] = cell.value;
        }
        const auto value = fold(inst, function_.type_of(inst.args[0]), {args.data(), inst.args.size()});
        return value ? Cell{Cell::State::Constant, *value} : kVarying;
    }

    Cell evaluate_select(const Instruction& inst) const {
        const Cell& cond = cells_[inst.args[0]];
        if (cond.state == Cell::State::Unknown) return cond;
        if (cond.state == Cell::State::Constant) return cells_[inst.args[cond.value.low != 0 ? 1 : 2]];
        const Cell& a = cells_[inst.args[1]];
        const Cell& b = cells_[inst.args[2]];
        if (a.state == Cell::State::Unknown) return b;
        if (b.state == Cell::State::Unknown) return a;
        const bool same =
            a.state == Cell::State::Constant && b.state == Cell::State::Constant && a.value == b.value;
        return same ? a : Cell{Cell::State::Varying, {}};
    }

    void visit_terminator(const Instruction& inst) {
        if (inst.targets.empty()) return;
        if (inst.op == Op::Jump) return take(inst.targets[0]);
        const Cell& cell = cells_[inst.args[0]];
        if (cell.state == Cell::State::Unknown) return;
        if (cell.state == Cell::State::Varying) {
            for (const Target& target : inst.targets)
                take(target);
            return;
        }
        take(inst.targets[taken(inst, cell.value)]);
    }

    static std::size_t taken(const Instruction& inst, Constant value) {
        if (inst.op == Op::Br) return value.low != 0 ? 0 : 1;
        for (std::size_t i = 0; i < inst.cases.size(); ++i) {
            if (inst.cases[i] == value.low && value.high == 0) return i + 1;
        }
        return 0;
    }

    // Control can follow this edge: its arguments arrive. Called again whenever one of them moves.
    void take(const Target& target) {
        const auto& params = function_.blocks[target.block].params;
        for (std::size_t i = 0; i < params.size(); ++i)
            lower(params[i], cells_[target.args[i]]);
        reach(target.block);
    }

    bool replace() {
        ConstantPool pool(function_);
        Replacements replacements;
        bool changed = false;
        for (std::uint32_t raw = 0; raw < cells_.size(); ++raw) {
            const ValueId value(raw);
            const Cell& cell = cells_[value];
            if (cell.state != Cell::State::Constant || constant_def(function_, value) != nullptr) continue;
            if (uses_.count(value) == 0) continue;
            replacements.replace(value, pool.get(function_.type_of(value), cell.value));
            changed = true;
        }
        for (const BlockId block : function_.layout) {
            const Instruction& inst = function_.terminator(block);
            if (!reached_[block.raw] || inst.targets.size() < 2) continue;
            const Cell& cell = cells_[inst.args[0]];
            if (cell.state != Cell::State::Constant) continue;
            set_jump(function_, block, Target(inst.targets[taken(inst, cell.value)]));
            changed = true;
        }
        replacements.apply(function_);
        pool.place();
        if (changed) remove_unreachable(function_);
        return changed;
    }

    Function& function_;
    Uses uses_;
    SideMap<ValueId, Cell> cells_;
    std::vector<bool> reached_;
    std::vector<BlockId> blocks_;
    std::vector<ValueId> values_;
};

}  // namespace

bool run_sccp(Function& function, const PassContext&) {
    return Sccp(function).run();
}

}  // namespace ockc::opt
