// From machine blocks to text: empty blocks are jumped over, the others ordered so that jumps become
// fallthrough, cold ones last; then jumps are written, labels named, compares inverted and registers
// numbered.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "isel/machine.hpp"

namespace ockc::isel {

namespace {

using ptx::Form;
using ptx::Instr;
using ptx::Operand;

class Placer {
  public:
    explicit Placer(MFunction& function) : f_(function), out_(*function.out) {}

    void run() {
        thread_jumps();
        order_blocks();
        rotate_loops();
        write();
    }

  private:
    MBlock& at(MBlockId id) { return f_.blocks[id]; }

    // ------------------------------------------------------------------------------------------------------
    // threading The block that a jump to `id` really reaches: chains of empty blocks are followed, at most
    // once around a cycle.
    MBlockId destination(MBlockId id) {
        for (std::size_t steps = 0; steps < f_.blocks.size(); ++steps) {
            const MBlock& block = at(id);
            if (block.end != End::Jump || !block.instrs.empty()) break;
            id = block.taken;
        }
        return id;
    }

    void thread_jumps() {
        for (MBlock& block : f_.blocks) {
            if (block.taken.valid()) block.taken = destination(block.taken);
            if (block.other.valid()) block.other = destination(block.other);
            if (block.end == End::Cond && block.taken == block.other) {
                block.end = End::Jump;
                block.other = MBlockId::none();
            }
        }
    }

    bool only_returns(MBlockId id) {
        const MBlock& block = at(id);
        return block.end == End::Leave && block.instrs.size() == 1 && block.instrs[0].form == Form::Ret;
    }

    // --------------------------------------------------------------------------------------------------------
    // ordering Which successor should follow directly: hot before cold, inside the loop before outside, going
    // on before leaving.
    bool prefers(MBlockId a, MBlockId b) {
        const MBlock& x = at(a);
        const MBlock& y = at(b);
        if (x.cold != y.cold) return !x.cold;
        if (x.loop_depth != y.loop_depth) return x.loop_depth > y.loop_depth;
        const bool x_returns = only_returns(a);
        const bool y_returns = only_returns(b);
        if (x_returns != y_returns) return !x_returns;
        return true;
    }

    // Reverse postorder; the successor visited last comes first. Cold blocks stand behind the others.
    void order_blocks() {
        struct Visit {
            MBlockId block;
            int next = 0;
        };
        std::vector<bool> seen(f_.blocks.size(), false);
        std::vector<Visit> stack{{MBlockId(0), 0}};
        std::vector<MBlockId> postorder;
        seen[0] = true;
        while (!stack.empty()) {
            Visit& visit = stack.back();
            const MBlock& block = at(visit.block);
            MBlockId next;
            if (block.end == End::Jump && visit.next == 0) next = block.taken;
            if (block.end == End::Cond && visit.next < 2) {
                const bool taken_first = prefers(block.taken, block.other);
                next = (visit.next == 0) == taken_first ? block.other : block.taken;
            }
            ++visit.next;
            if (!next.valid()) {
                postorder.push_back(visit.block);
                stack.pop_back();
            } else if (!seen[next.raw]) {
                seen[next.raw] = true;
                stack.push_back({next, 0});
            }
        }
        std::vector<bool> placed(f_.blocks.size(), false);
        const auto place = [&](MBlockId id) {
            if (!placed[id.raw]) order_.push_back(id);
            placed[id.raw] = true;
        };
        for (auto it = postorder.rbegin(); it != postorder.rend(); ++it) {
            if (!at(*it).cold || it == postorder.rbegin()) place(*it);
        }
        for (std::size_t i = 0; i < order_.size(); ++i) {  // the cold ones in the order of the jumps to them
            const MBlock& block = at(order_[i]);
            if (block.end == End::Cond && at(block.other).cold) place(block.other);
            if ((block.end == End::Cond || block.end == End::Jump) && at(block.taken).cold)
                place(block.taken);
        }
    }

    // A loop tested at its top and closed by a jump costs two jumps a round. When the test stands right
    // before the body that it guards, moving it behind the body leaves one: the way in jumps to the test
    // instead.
    void rotate_loops() {
        std::vector<std::size_t> position(f_.blocks.size(), 0);
        for (std::size_t i = 0; i < order_.size(); ++i)
            position[order_[i].raw] = i;
        for (std::size_t latch = order_.size(); latch-- > 1;) {
            const MBlock& block = at(order_[latch]);
            if (block.end != End::Jump) continue;
            const std::size_t head = position[block.taken.raw];
            if (head == 0 || head >= latch || !rotatable(head, latch)) continue;
            std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(head),
                        order_.begin() + static_cast<std::ptrdiff_t>(head) + 1,
                        order_.begin() + static_cast<std::ptrdiff_t>(latch) + 1);
            for (std::size_t i = head; i <= latch; ++i)
                position[order_[i].raw] = i;
        }
    }

    bool rotatable(std::size_t head, std::size_t latch) {
        const MBlock& test = at(order_[head]);
        if (test.end != End::Cond || latch - head > kMaxRotated) return false;
        const MBlockId body = order_[head + 1];
        const MBlockId exit = test.taken == body ? test.other : test.taken;
        if (test.taken != body && test.other != body) return false;
        for (std::size_t i = head; i <= latch; ++i) {
            if (order_[i] == exit) return false;
            if (at(order_[i]).loop_depth < test.loop_depth) return false;
        }
        return true;
    }
    static constexpr std::size_t kMaxRotated = 256;  // blocks; keeps the rotation linear

    // ---------------------------------------------------------------------------------------------------------
    // writing
    struct Text {
        ptx::LabelId label;
        bool backward = false;  // some jump comes from below
        bool used = false;
    };

    void write() {
        texts_.resize(f_.blocks.size());
        position_.assign(f_.blocks.size(), 0);
        for (std::size_t i = 0; i < order_.size(); ++i)
            position_[order_[i].raw] = i;
        for (std::size_t i = 0; i < order_.size(); ++i)
            jumps(i);
        // A block that only returns and that nothing falls into is written in place of the jumps to it.
        std::erase_if(order_, [this](MBlockId id) {
            return id.raw != 0 && only_returns(id) && !texts_[id.raw].used && !falls_into_[id.raw];
        });
        name_labels();
        out_.blocks.clear();
        for (const MBlockId id : order_) {
            MBlock& block = at(id);
            const Text& text = texts_[id.raw];
            if (out_.blocks.empty() || text.label.valid()) out_.blocks.push_back({text.label, {}});
            std::vector<Instr>& instrs = out_.blocks.back().instrs;
            instrs.insert(instrs.end(), std::make_move_iterator(block.instrs.begin()),
                          std::make_move_iterator(block.instrs.end()));
            for (const Jump& jump : jumps_[id.raw])
                instrs.push_back(jump_instr(jump, block.loc));
        }
    }

    struct Jump {
        MBlockId to;
        Operand cond;  // none: always
        bool returns = false;
    };

    void jump_to(std::size_t from, MBlockId to, const Operand& cond) {
        Jump jump{to, cond, only_returns(to)};
        if (!jump.returns) {
            texts_[to.raw].used = true;
            texts_[to.raw].backward |= position_[to.raw] <= from;
        }
        jumps_[order_[from].raw].push_back(jump);
    }

    // What stands at the end of the block in place `i` of the order.
    void jumps(std::size_t i) {
        jumps_.resize(f_.blocks.size());
        falls_into_.resize(f_.blocks.size(), false);
        const MBlock& block = at(order_[i]);
        const MBlockId next = i + 1 < order_.size() ? order_[i + 1] : MBlockId::none();
        switch (block.end) {
            case End::None: OCKC_UNREACHABLE("a machine block without an end");
            case End::Leave: return;
            case End::Jump:
                if (block.taken == next) {
                    falls_into_[next.raw] = true;
                } else {
                    jump_to(i, block.taken, Operand::none());
                }
                return;
            case End::Cond: {
                Operand inverted = block.cond;
                inverted.negated = !inverted.negated;
                if (block.taken == next) {
                    jump_to(i, block.other, inverted);
                    falls_into_[next.raw] = true;
                } else {
                    jump_to(i, block.taken, block.cond);
                    if (block.other == next) {
                        falls_into_[next.raw] = true;
                    } else {
                        jump_to(i, block.other, Operand::none());
                    }
                }
                return;
            }
        }
    }

    Instr jump_instr(const Jump& jump, ptx::SourceLoc loc) {
        Instr instr;
        if (jump.returns) {
            instr = ptx::make(Form::Ret, ptx::Type::None, {});
        } else {
            instr = ptx::make(Form::Bra, ptx::Type::None, {Operand::label(texts_[jump.to.raw].label)});
            instr.mods.uni = !jump.cond.present();
        }
        if (jump.cond.present()) {
            instr.guard = jump.cond.as_reg();
            instr.guard_negated = jump.cond.negated;
        }
        instr.loc = loc;
        return instr;
    }

    void name_labels() {
        std::uint32_t loops = 0;
        std::uint32_t colds = 0;
        std::uint32_t others = 0;
        for (const MBlockId id : order_) {
            Text& text = texts_[id.raw];
            if (!text.used) continue;
            std::string name;
            if (at(id).cold) {
                name = "$cold" + std::to_string(++colds);
            } else if (text.backward) {
                name = "$loop" + std::to_string(++loops);
            } else {
                name = "$L" + std::to_string(++others);
            }
            text.label = out_.new_label(std::move(name));
        }
    }

    MFunction& f_;
    ptx::Function& out_;
    std::vector<MBlockId> order_;
    std::vector<std::size_t> position_;
    std::vector<Text> texts_;
    std::vector<std::vector<Jump>> jumps_;
    std::vector<bool> falls_into_;
};

ptx::Cmp negation(ptx::Cmp cmp, bool is_float) {
    using ptx::Cmp;
    switch (cmp) {
        case Cmp::Eq: return is_float ? Cmp::Neu : Cmp::Ne;
        case Cmp::Ne: return is_float ? Cmp::Equ : Cmp::Eq;
        case Cmp::Lt: return is_float ? Cmp::Geu : Cmp::Ge;
        case Cmp::Le: return is_float ? Cmp::Gtu : Cmp::Gt;
        case Cmp::Gt: return is_float ? Cmp::Leu : Cmp::Le;
        case Cmp::Ge: return is_float ? Cmp::Ltu : Cmp::Lt;
        case Cmp::Lo: return Cmp::Hs;
        case Cmp::Ls: return Cmp::Hi;
        case Cmp::Hi: return Cmp::Ls;
        case Cmp::Hs: return Cmp::Lo;
        case Cmp::Equ: return Cmp::Ne;
        case Cmp::Neu: return Cmp::Eq;
        case Cmp::Ltu: return Cmp::Ge;
        case Cmp::Leu: return Cmp::Gt;
        case Cmp::Gtu: return Cmp::Le;
        case Cmp::Geu: return Cmp::Lt;
        case Cmp::Num: return Cmp::Nan;
        case Cmp::Nan: return Cmp::Num;
        case Cmp::None: break;
    }
    OCKC_UNREACHABLE("comparison");
}

}  // namespace

void place_blocks(MFunction& function) {
    Placer(function).run();
}

void invert_compares(ptx::Function& function) {
    struct Facts {
        std::uint32_t uses = 0;
        std::uint32_t defs = 0;
        Instr* compare = nullptr;
        Instr* guarded = nullptr;
    };
    std::vector<Facts> facts(function.reg_counts[static_cast<std::size_t>(ptx::RegClass::Pred)]);
    for (ptx::Block& block : function.blocks) {
        for (Instr& instr : block.instrs) {
            for_each_reg(function, instr, [&](ptx::Reg& reg, bool is_def) {
                if (reg.reg_class() == ptx::RegClass::Pred)
                    ++(is_def ? facts[reg.number()].defs : facts[reg.number()].uses);
            });
            if (instr.guarded()) facts[instr.guard.number()].guarded = &instr;
            if (instr.form == Form::Setp && !instr.operands[1].present() && !instr.guarded()) {
                facts[instr.operands[0].as_reg().number()].compare = &instr;
            }
        }
    }
    for (const Facts& fact : facts) {
        if (fact.uses != 1 || fact.defs != 1 || fact.compare == nullptr || fact.guarded == nullptr) continue;
        if (!fact.guarded->guard_negated) continue;
        ptx::Mods& mods = fact.compare->mods;
        mods.cmp = negation(mods.cmp, ptx::type_info(mods.type).kind == ptx::TypeKind::Float);
        fact.guarded->guard_negated = false;
    }
}

void number_registers(ptx::Function& function) {
    std::array<std::vector<std::uint32_t>, ptx::kRegClassCount> numbers;
    std::array<std::uint32_t, ptx::kRegClassCount> next{};
    for (std::size_t c = 0; c < ptx::kRegClassCount; ++c)
        numbers[c].resize(function.reg_counts[c], 0);
    const auto renumber = [&](std::uint32_t raw) {
        ptx::Reg reg;
        reg.raw = raw;
        const auto c = static_cast<std::size_t>(reg.reg_class());
        std::uint32_t& number = numbers[c][reg.number()];
        if (number == 0) number = ++next[c];
        return ptx::Reg(reg.reg_class(), number).raw;
    };
    const auto visit = [&](Operand& operand) {
        if (operand.kind == ptx::OperandKind::Reg || operand.kind == ptx::OperandKind::AddrReg)
            operand.index = renumber(operand.index);
    };
    for (ptx::Block& block : function.blocks) {
        for (Instr& instr : block.instrs) {
            if (instr.guarded()) instr.guard.raw = renumber(instr.guard.raw);
            for (Operand& operand : instr.operands) {
                if (operand.kind == ptx::OperandKind::List) {
                    for (Operand& item : function.lists[operand.as_list()])
                        visit(item);
                } else {
                    visit(operand);
                }
            }
        }
    }
    for (std::size_t c = 0; c < ptx::kRegClassCount; ++c)
        function.reg_counts[c] = next[c] == 0 ? 0 : next[c] + 1;
}

}  // namespace ockc::isel
