// Small diamonds and triangles of pure instructions become straight code with selects: a few extra
// instructions cost a warp less than a branch that may split it. Both arms must come together in one block,
// be entered from the branch only, and hold cheap pure instructions. Loads stay behind their branch: it may
// be what makes them valid.
#include <optional>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr int kMaxCost = 6;  // of both arms and the selects together
constexpr int kTooExpensive = 100;

int cost_of(const Instruction& inst) {
    if (!is_pure(inst.op)) return kTooExpensive;
    if (inst.type == Type::I128) return kTooExpensive;
    switch (inst.op) {
        case Op::Const: return 0;
        case Op::Udiv:
        case Op::Sdiv:
        case Op::Urem:
        case Op::Srem:
        case Op::Fdiv:
        case Op::Frem:
        case Op::Fsqrt: return kTooExpensive;
        case Op::Imul:
        case Op::Umulh:
        case Op::Smulh: return type_bits(inst.type) > 32 ? 4 : 2;
        default: return 1;
    }
}

class IfConvert {
  public:
    explicit IfConvert(Function& function) : function_(function), cfg_(function) {}

    bool run() {
        bool changed = false;
        const auto& rpo = cfg_.rpo();
        for (std::size_t i = rpo.size(); i-- > 0;)
            changed = convert(rpo[i]) || changed;  // inner ones first
        if (changed) remove_unreachable(function_);
        return changed;
    }

  private:
    // One side of the branch: the block between it and the join, or none when the edge goes there directly.
    struct Arm {
        BlockId block;
        Target out;
        int cost = 0;
    };

    std::optional<Arm> arm(BlockId from, const Target& target) const {
        const Block& block = function_.blocks[target.block];
        const Instruction& last = function_.terminator(target.block);
        if (last.op != Op::Jump || block.cold || last.targets[0].block == target.block) return std::nullopt;
        if (cfg_.preds(target.block).size() != 1 || target.block == from || !block.params.empty())
            return std::nullopt;
        Arm arm{target.block, last.targets[0], 0};
        for (const InstId id : block.insts) {
            if (!is_terminator(function_.insts[id].op)) arm.cost += cost_of(function_.insts[id]);
        }
        return arm;
    }

    bool convert(BlockId block) {
        const Instruction& branch = function_.terminator(block);
        if (branch.op != Op::Br) return false;
        const std::optional<Arm> arms[2] = {arm(block, branch.targets[0]), arm(block, branch.targets[1])};
        const Arm direct[2] = {{BlockId::none(), branch.targets[0], 0},
                               {BlockId::none(), branch.targets[1], 0}};
        const auto meet = [](const Arm& a, const Arm& b) { return a.out.block == b.out.block; };
        // Straight edges first: they cost least.
        if (meet(direct[0], direct[1])) return merge(block, direct[0], direct[1]);
        if (arms[0] && meet(*arms[0], direct[1])) return merge(block, *arms[0], direct[1]);
        if (arms[1] && meet(direct[0], *arms[1])) return merge(block, direct[0], *arms[1]);
        if (arms[0] && arms[1] && meet(*arms[0], *arms[1])) return merge(block, *arms[0], *arms[1]);
        return false;
    }

    bool merge(BlockId block, const Arm& yes, const Arm& no) {
        int cost = yes.cost + no.cost;
        for (std::size_t i = 0; i < yes.out.args.size(); ++i) {
            if (yes.out.args[i] != no.out.args[i]) ++cost;
        }
        const bool direct = !yes.block.valid() && !no.block.valid();
        if (cost > kMaxCost && !direct) return false;
        auto& insts = function_.blocks[block].insts;
        const Instruction branch = function_.insts[insts.back()];
        const InstId terminator = insts.back();
        insts.pop_back();
        hoist(yes, insts);
        hoist(no, insts);
        Target out{yes.out.block, {}};
        for (std::size_t i = 0; i < yes.out.args.size(); ++i) {
            ValueId value = yes.out.args[i];
            if (value != no.out.args[i]) {
                const Type type = function_.type_of(value);
                const InstId select = make_inst(function_, Op::Select, type, type,
                                                {branch.args[0], value, no.out.args[i]}, branch);
                insts.push_back(select);
                value = function_.insts[select].result();
            }
            out.args.push_back(value);
        }
        insts.push_back(terminator);
        set_jump(function_, block, std::move(out));
        return true;
    }

    // The arm's instructions move; its jump stays behind in a block that nothing reaches any more.
    void hoist(const Arm& arm, std::vector<InstId>& to) {
        if (!arm.block.valid()) return;
        auto& insts = function_.blocks[arm.block].insts;
        to.insert(to.end(), insts.begin(), insts.end() - 1);
        insts.erase(insts.begin(), insts.end() - 1);
    }

    Function& function_;
    Cfg cfg_;
};

}  // namespace

bool run_if_convert(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return IfConvert(function).run() || cut;
}

}  // namespace ockc::opt
