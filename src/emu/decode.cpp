// One pass over each reachable function. Code is cut into pieces of straight line: at labels, behind branches
// and ends, and behind everything that can make lanes wait (barriers, calls). A predicated instruction gets a
// guard op in front of it; a predicated end, call or barrier becomes a branch around it, because lanes may
// leave it at different times. The pieces' order of priority (block_order.hpp) then goes into every op that
// can part or join lanes.
#include "emu/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "emu/exec_control.hpp"
#include "emu/isa.hpp"
#include "ptx/print.hpp"
#include "support/check.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;
using ptx::Operand;
using ptx::OperandKind;
using ptx::OperandType;
using ptx::Role;
using ptx::Space;
using ptx::Type;

constexpr std::uint32_t kLaneAlign = 64;
constexpr Slot kConstantTag = 0x8000'0000u;  // until the constants' place is known

constexpr std::uint32_t slot_bytes(std::uint32_t lane_bytes) {
    return lane_bytes == 0 ? kLaneAlign : lane_bytes * kLanes;
}

// Slots of registers and constants, across all functions of a program.
class Slots {
  public:
    Slot reg(std::uint32_t function, ptx::Reg reg) {
        const auto [at, added] = registers_.try_emplace({function, reg.raw}, register_bytes_);
        if (added) {
            const std::uint32_t bits = ptx::reg_class_info(reg.reg_class()).bits;
            register_bytes_ += slot_bytes(bits / 8);
            words_ += (bits + 31) / 32;
        }
        return at->second;
    }
    // A place for results that nobody wants.
    Slot scratch(std::uint32_t lane_bytes) {
        const auto [at, added] = scratch_.try_emplace(lane_bytes, register_bytes_);
        if (added) register_bytes_ += slot_bytes(lane_bytes);
        return at->second;
    }
    Slot constant(std::uint8_t lane_bytes, std::uint64_t value) {
        const auto [at, added] = constants_.try_emplace({lane_bytes, value}, constant_bytes_);
        if (added) {
            list_.push_back({constant_bytes_, lane_bytes, value});
            constant_bytes_ += slot_bytes(lane_bytes);
        }
        return at->second | kConstantTag;
    }
    Slot final_slot(Slot slot) const {
        if (slot == kNoSlot) return slot;
        return (slot & kConstantTag) != 0 ? slot & ~kConstantTag : slot + constant_bytes_;
    }
    std::uint32_t constant_bytes() const { return constant_bytes_; }
    std::uint32_t total_bytes() const { return constant_bytes_ + register_bytes_; }
    std::uint32_t words() const { return words_; }
    std::vector<ConstantSlot> take_constants() { return std::move(list_); }

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, Slot> registers_;
    std::map<std::uint32_t, Slot> scratch_;
    std::map<std::pair<std::uint8_t, std::uint64_t>, Slot> constants_;
    std::vector<ConstantSlot> list_;
    std::uint32_t register_bytes_ = 0;
    std::uint32_t constant_bytes_ = 0;
    std::uint32_t words_ = 0;
};

// Pointers between ops, as indices until no more ops are added.
struct Fixes {
    struct Branch {
        std::uint32_t op = 0;
        std::uint32_t target = 0;  // op
    };
    struct Call {
        std::uint32_t call = 0;      // index into Program::calls
        std::uint32_t function = 0;  // position in the layout
    };
    std::vector<Branch> branches;
    std::vector<Call> calls;
    std::vector<std::uint32_t> entries;  // by position: first op
};

bool makes_lanes_wait(Form form) {
    return form == Form::BarSync || form == Form::BarRed || form == Form::BarRedPopc ||
           form == Form::Barrier || form == Form::BarWarpSync || form == Form::Call || form == Form::ClusterWait;
}
bool ends_line(Form form) {
    return form == Form::Bra || form == Form::Ret || form == Form::Exit || form == Form::Trap;
}
bool is_matrix(Form form) { return form >= Form::Ldmatrix && form <= Form::MmaF64; }
bool is_warpgroup(Form form) { return form >= Form::WgmmaFence && form <= Form::SetMaxNReg; }
// Handlers of these may park lanes at the op itself, so no guard may stand in front.
bool may_park(Form form) {
    switch (form) {
        case Form::Shfl:
        case Form::Vote:
        case Form::VoteBallot:
        case Form::MatchAny:
        case Form::MatchAll:
        case Form::Redux:
        case Form::ReduxLogic:
        case Form::Elect: return true;
        default: return makes_lanes_wait(form) || ends_line(form) || is_matrix(form) || is_warpgroup(form);
    }
}

class FunctionDecoder {
  public:
    FunctionDecoder(Program& program, const Layout& layout, Slots& slots, Fixes& fixes,
                    std::uint32_t position)
        : program_(program),
          layout_(layout),
          slots_(slots),
          fixes_(fixes),
          position_(position),
          index_(layout.functions[position]),
          function_(program.module->functions[index_]) {}

    // Appends the function's ops; a text when something cannot be executed.
    std::string run() {
        first_op_ = ops().size();
        count_label_uses();
        for (block_ = 0; block_ < function_.blocks.size() && error_.empty(); ++block_) {
            const ptx::Block& block = function_.blocks[block_];
            instr_ = 0;
            if (pieces_.empty()) open_piece();
            if (block.label.valid() && uses_[block.label.raw] != 0) start_joined_piece();
            if (block.label.valid()) label_piece_[block.label.raw] = current_piece();
            for (instr_ = 0; instr_ < block.instrs.size() && error_.empty(); ++instr_)
                instruction(block.instrs[instr_]);
        }
        if (error_.empty()) resolve();
        return std::move(error_);
    }

  private:
    enum class End : std::uint8_t { Open, Falls, Leaves };  // how a piece hands over to the next
    struct Piece {
        std::uint32_t first_op = 0;
        End end = End::Open;
        std::vector<std::uint32_t> targets;  // labels
    };
    struct BranchFix {
        std::uint32_t op = 0;
        std::uint32_t label = 0;
    };

    std::vector<Op>& ops() { return program_.ops; }
    std::uint32_t current_piece() const { return static_cast<std::uint32_t>(pieces_.size() - 1); }

    void fail(const ptx::Instr& instr, std::string_view why) {
        if (!error_.empty()) return;
        error_ = fmt::format("PTX line {}: `{}`: {}", instr.text_line,
                             ptx::print(*program_.module, function_, instr), why);
    }

    // -------------------------------------------------------------------------------------------------------
    // pieces

    void count_label_uses() {
        uses_.assign(function_.labels.size(), 0);
        label_piece_.assign(function_.labels.size(), 0);
        for (const ptx::Block& block : function_.blocks) {
            for (const ptx::Instr& instr : block.instrs) {
                if (instr.form == Form::Bra) ++uses_[instr.operands[0].index];
            }
        }
    }
    void open_piece() { pieces_.push_back({static_cast<std::uint32_t>(ops().size()), End::Open, {}}); }
    // Others come here too: lanes that fall in may have to wait for them.
    void start_joined_piece() {
        if (pieces_.back().first_op == ops().size()) return;  // what ended the piece before takes care of it
        Op& op = emit(joint_handlers());
        op.counts = 0;
        end_piece(End::Falls);
    }
    void end_piece(End end) {
        pieces_.back().end = end;
        open_piece();
    }

    Op& emit(Handlers handlers) {
        Op op;
        op.run[0] = handlers.full;
        op.run[1] = handlers.some;
        op.counts = kAllLanes;
        ops().push_back(op);
        program_.origins.push_back({index_, origin_block(), origin_instr(), current_piece()});
        return ops().back();
    }
    // A joint at the end of an empty block stands for the next instruction; validation made sure that there
    // is one.
    std::uint32_t origin_block() {
        origin_block_ = block_ < function_.blocks.size() ? block_ : 0;
        origin_instr_ = instr_;
        while (origin_instr_ >= function_.blocks[origin_block_].instrs.size()) {
            if (origin_block_ + 1 == function_.blocks.size()) break;
            ++origin_block_;
            origin_instr_ = 0;
        }
        return origin_block_;
    }
    std::uint32_t origin_instr() const {
        const auto count = static_cast<std::uint32_t>(function_.blocks[origin_block_].instrs.size());
        return origin_instr_ < count ? origin_instr_ : count - 1;
    }

    // --------------------------------------------------------------------------------------------------
    // instructions

    void instruction(const ptx::Instr& instr) {
        if (instr.form == Form::Bra) return branch(instr);
        if (instr.guarded()) {
            const Slot predicate = slots_.reg(position_, instr.guard);
            const std::uint32_t flip = instr.guard_negated ? kAllLanes : 0;
            if (may_park(instr.form)) return branch_around(instr, predicate, ~flip);
            Op& guard = emit(guard_handlers());
            guard.source[0] = predicate;
            guard.flip = flip;
        }
        plain(instr);
        if (ends_line(instr.form))
            end_piece(End::Leaves);
        else if (makes_lanes_wait(instr.form))
            end_piece(End::Falls);
    }

    void branch(const ptx::Instr& instr) {
        Op& op = emit(instr.guarded() ? branch_handlers() : jump_handlers());
        if (instr.guarded()) {
            op.source[0] = slots_.reg(position_, instr.guard);
            op.flip = instr.guard_negated ? kAllLanes : 0;
        }
        const std::uint32_t label = instr.operands[0].index;
        branch_fixes_.push_back({static_cast<std::uint32_t>(ops().size() - 1), label});
        pieces_.back().targets.push_back(label);
        end_piece(instr.guarded() ? End::Falls : End::Leaves);
    }

    // @p X  becomes  @!p bra over; X; over:
    void branch_around(const ptx::Instr& instr, Slot predicate, std::uint32_t flip) {
        const auto label = static_cast<std::uint32_t>(label_piece_.size());
        label_piece_.push_back(0);
        Op& op = emit(branch_handlers());
        op.source[0] = predicate;
        op.flip = flip;
        op.counts = 0;
        branch_fixes_.push_back({static_cast<std::uint32_t>(ops().size() - 1), label});
        pieces_.back().targets.push_back(label);
        end_piece(End::Falls);
        plain(instr);
        if (ends_line(instr.form))
            end_piece(End::Leaves);
        else if (makes_lanes_wait(instr.form))
            end_piece(End::Falls);
        start_joined_piece();
        label_piece_[label] = current_piece();
    }

    void plain(const ptx::Instr& instr) {
        Op op;
        request_ = {};
        request_.form = instr.form;
        request_.mods = instr.mods;
        if (instr.form == Form::LdNc) request_.mods.space = Space::Global;
        if (is_matrix(instr.form)) request_.mods.space = Space::Shared;
        if (instr.form == Form::CpAsyncArrive || instr.form == Form::CpAsyncArriveNoInc) request_.mods.space = Space::Shared;
        if (instr.form == Form::MbarArriveCluster) request_.mods.space = Space::SharedCluster;
        copy_modifiers(op);
        operands(instr, op);
        if (!error_.empty()) return;
        if (instr.form == Form::Call && !call(instr, op)) return;
        op.dest_bytes = request_.dest_bytes;
        op.source_bytes = request_.source_bytes;
        request_.mods.space = op.space;
        const Handlers handlers = find_handlers(request_);
        if (!handlers.valid())
            return fail(instr, "the emulator cannot execute this combination of modifiers");
        Op& out = emit(handlers);
        op.run[0] = out.run[0];
        op.run[1] = out.run[1];
        op.counts = out.counts;
        out = op;
    }

    void copy_modifiers(Op& op) const {
        const ptx::Mods& m = request_.mods;
        op.type = m.type;
        op.source_type = m.source_type;
        op.mode = m.mode;
        op.space = m.space;
        op.sem = m.sem;
        op.scope = m.scope;
        op.round = m.round;
        op.bool_op = m.bool_op;
        op.ftz = m.ftz;
        op.sat = m.sat;
    }

    // ------------------------------------------------------------------------------------------------------
    // operands

    static std::uint32_t operand_bits(const ptx::Mods& m, OperandType type, std::size_t list_size) {
        switch (type) {
            case OperandType::None: return 0;
            case OperandType::Type: return ptx::type_bits(m.type);
            case OperandType::SourceType: return ptx::type_bits(m.source_type);
            case OperandType::Wide: return 2 * ptx::type_bits(m.type);
            case OperandType::Element:
                return list_size == 0 ? 0 : ptx::type_bits(m.type) / static_cast<std::uint32_t>(list_size);
            case OperandType::Predicate: return 1;
            case OperandType::Bytes2: return 16;
            case OperandType::Bytes4: return 32;
            case OperandType::Bytes8: return 64;
        }
        return 0;
    }
    // The lanes of a value of `bits`: 0 for predicates, at least two bytes otherwise.
    static std::uint8_t lane_bytes(std::uint32_t bits) {
        return static_cast<std::uint8_t>(bits == 1 ? 0 : bits <= 16 ? 2 : bits / 8);
    }

    void operands(const ptx::Instr& instr, Op& op) {
        const ptx::FormInfo& info = instr.info();
        std::uint32_t source = 0;
        bool has_dest = false;
        for (std::size_t i = 0; i < info.operand_count && error_.empty(); ++i) {
            const ptx::OperandSpec& spec = info.operands[i];
            const Operand& operand = instr.operands[i];
            switch (spec.role) {
                case Role::Dest:
                    if (has_dest)
                        op.dest2 = operand.present() ? destination(instr, spec, operand) : kNoSlot;
                    else
                        op.dest = destination(instr, spec, operand);
                    if (!has_dest) request_.dest_bytes = width_;
                    has_dest = true;
                    break;
                case Role::Source:
                case Role::SourceReg:
                case Role::SourceAny:
                    if (operand.present()) op.source[source] = this->source(instr, spec, operand, op);
                    if (source == 0 || request_.source_bytes == 0) request_.source_bytes = width_;
                    ++source;
                    break;
                case Role::Immediate: op.imm = static_cast<std::uint64_t>(operand.value); break;
                case Role::Immediates: immediates(operand, op); break;
                case Role::Address:
                case Role::TensorMap:
                    if (source != 0 && instr.form != Form::St) further_address(instr, operand, source, op);
                    else address(instr, operand, op);
                    ++source;
                    break;
                case Role::VectorOrReg: value_or_vector(instr, spec, operand, op, source); break;
                case Role::List:
                case Role::Updated: list(instr, spec, operand, op); break;
                case Role::Sink:
                case Role::Label:
                case Role::Function:
                case Role::Params: break;  // branch() and call() look at these
            }
        }
    }

    Slot destination(const ptx::Instr& instr, const ptx::OperandSpec& spec, const Operand& operand) {
        if (operand.is_reg()) {
            width_ = lane_bytes(ptx::reg_class_info(operand.as_reg().reg_class()).bits);
            return slots_.reg(position_, operand.as_reg());
        }
        width_ = lane_bytes(operand_bits(instr.mods, spec.type, list_size_));
        return slots_.scratch(width_);
    }

    Slot source(const ptx::Instr& instr, const ptx::OperandSpec& spec, const Operand& operand, Op& op) {
        width_ = lane_bytes(operand_bits(instr.mods, spec.type, list_size_));
        switch (operand.kind) {
            case OperandKind::Reg:
                if (operand.negated) op.flip = kAllLanes;
                width_ = lane_bytes(ptx::reg_class_info(operand.as_reg().reg_class()).bits);
                return slots_.reg(position_, operand.as_reg());
            case OperandKind::Imm:
            case OperandKind::ImmF32:
            case OperandKind::ImmF64:
                if (width_ == 16) break;
                return immediate(operand);
            case OperandKind::Special:
                request_.special = true;
                op.index = operand.index;
                return kNoSlot;
            case OperandKind::Symbol: {
                const SymbolPlace* place = layout_.find(position_, operand.as_symbol());
                if (place == nullptr) break;
                return slots_.constant(width_, place->offset + static_cast<std::uint64_t>(operand.value));
            }
            case OperandKind::None:
            case OperandKind::Sink:
            case OperandKind::AddrReg:
            case OperandKind::AddrSym:
            case OperandKind::AddrImm:
            case OperandKind::Label:
            case OperandKind::List: break;
        }
        fail(instr, "the emulator cannot read this operand");
        return kNoSlot;
    }
    Slot immediate(const Operand& operand) {
        const auto value = static_cast<std::uint64_t>(operand.value);
        if (width_ == 0) return slots_.constant(0, value != 0 ? kAllLanes : 0);
        const std::uint64_t mask = width_ == 8 ? ~0ull : (1ull << (8 * width_)) - 1;
        return slots_.constant(width_, value & mask);
    }

    // Small constants, one behind the other: two bits each for -1, 0 and 1.
    void immediates(const Operand& operand, Op& op) const {
        std::uint32_t at = 0;
        for (const Operand& item : function_.list_of(operand)) op.imm |= (static_cast<std::uint64_t>(item.value + 1) & 3) << 2 * at++;
    }

    // A load's destination or a store's value: one register or a list.
    void value_or_vector(const ptx::Instr& instr, const ptx::OperandSpec& spec, const Operand& operand,
                         Op& op, std::uint32_t at) {
        const bool load = instr.form != Form::St;
        if (operand.kind == OperandKind::List) return list(instr, spec, operand, op);
        if (load) {
            op.dest = destination(instr, spec, operand);
            request_.dest_bytes = width_;
        } else {
            op.source[at] = source(instr, spec, operand, op);
            request_.source_bytes = width_;
        }
    }

    void list(const ptx::Instr& instr, const ptx::OperandSpec& spec, const Operand& operand, Op& op) {
        const std::vector<Operand>& items = function_.list_of(operand);
        const bool first = &operand == &instr.operands[0];   // D of mma, what ldmatrix and mov give
        const bool written = instr.form == Form::Ld || instr.form == Form::LdNc || (first && instr.form != Form::St);
        list_size_ = items.size();
        if (op.list_size == 0) op.list = static_cast<std::uint32_t>(program_.slots.size());   // mma: its four lists in a row
        op.list_size = static_cast<std::uint16_t>(op.list_size + items.size());
        std::uint8_t bytes = 0;
        std::vector<Slot> found;
        for (const Operand& item : items) {
            found.push_back(written ? destination(instr, spec, item) : source(instr, spec, item, op));
            if (bytes != 0 && width_ != bytes)
                fail(instr, "the emulator needs registers of one width in a list");
            bytes = width_;
        }
        program_.slots.insert(program_.slots.end(), found.begin(), found.end());
        (written ? request_.dest_bytes : request_.source_bytes) = bytes;
        list_size_ = 0;
    }

    // -------------------------------------------------------------------------------------------------------
    // memory

    // A further address of an instruction: a register without displacement.
    void further_address(const ptx::Instr& instr, const Operand& operand, std::uint32_t at, Op& op) {
        const bool plain = operand.kind == OperandKind::AddrReg && operand.value == 0;
        const bool wide = plain && ptx::reg_class_info(operand.as_reg().reg_class()).bits == 64;
        if (!wide || op.imm != 0) return fail(instr, "the emulator wants these addresses in registers, without offsets");
        op.source[at] = slots_.reg(position_, operand.as_reg());
        op.space = Space::None;   // of what it reads: global memory
    }
    void address(const ptx::Instr& instr, const Operand& operand, Op& op) {
        const std::uint32_t element = instr.mods.type == ptx::Type::None ? 1 : ptx::type_bytes(instr.mods.type);
        op.access_bytes = static_cast<std::uint8_t>(is_matrix(instr.form) ? 16 : element * ptx::lanes(instr.mods.vec));
        op.site = program_.sites++;
        program_.smallest_access =
            std::min<std::uint8_t>(program_.smallest_access, std::max<std::uint8_t>(op.access_bytes, 1));
        if (operand.kind == OperandKind::AddrReg) {
            const std::uint32_t bits = ptx::reg_class_info(operand.as_reg().reg_class()).bits;
            op.source[0] = slots_.reg(position_, operand.as_reg());
            op.address_bytes = static_cast<std::uint8_t>(bits / 8);
            op.imm = static_cast<std::uint64_t>(operand.value);
            // A function's own parameters lie in local memory; only the kernel's are in param space.
            if (op.space == Space::Param && !function_.entry) op.space = Space::Local;
            return;
        }
        std::uint64_t at = static_cast<std::uint64_t>(operand.value);
        if (operand.kind == OperandKind::AddrSym) {
            const SymbolPlace* place = layout_.find(position_, operand.as_symbol());
            if (place == nullptr) return fail(instr, "the emulator does not know where this symbol lies");
            if (!in_space(*place, op)) return fail(instr, "the symbol lies in another space");
            if (place->kernel_param) return kernel_param(instr, *place, at, op);
            at += place->offset;
        }
        op.source[0] = slots_.constant(8, at);
        op.imm = 0;
    }
    // Puts the symbol's own space into the op.
    static bool in_space(const SymbolPlace& place, Op& op) {
        const Space asked = op.space == Space::SharedCluster ? Space::Shared : op.space;
        if (asked == Space::Param && place.space == Space::Local) {
            op.space = Space::Local;  // the parameter of a call
            return true;
        }
        if (asked == Space::None) op.space = place.space;
        return asked == Space::None || asked == place.space;
    }
    void kernel_param(const ptx::Instr& instr, const SymbolPlace& place, std::uint64_t offset, Op& op) {
        if (instr.form == Form::St) return fail(instr, "kernel parameters cannot be written");
        if (offset > place.size || op.access_bytes > place.size - offset)
            return fail(instr, "reads beyond the parameter");
        if ((place.offset + offset) % op.access_bytes != 0)
            return fail(instr, "the parameter is not aligned for this");
        op.imm = place.offset + offset;
        request_.fixed_param = true;
    }

    // --------------------------------------------------------------------------------------------------------
    // calls

    bool call(const ptx::Instr& instr, Op& op) {
        const auto callee = function_index(*program_.module, instr.operands[1].as_symbol());
        if (!callee) return print_call(instr, op);
        OCKC_CHECK(callee.has_value());
        const std::uint32_t position = *layout_.position_of(*callee);
        const ptx::Function& target = program_.module->functions[*callee];
        CallSite site;
        if (!copies(instr, instr.operands[2], target.params, position, true, site.arguments)) return false;
        if (!copies(instr, instr.operands[0], target.results, position, false, site.results)) return false;
        op.index = static_cast<std::uint32_t>(program_.calls.size());
        fixes_.calls.push_back({op.index, position});
        program_.calls.push_back(std::move(site));
        return true;
    }
    // The only function without a body that has a meaning here.
    bool print_call(const ptx::Instr& instr, Op& op) {
        const auto place = [&](const Operand& list, std::size_t at, std::size_t count, std::uint64_t bytes, std::uint32_t& out) {
            if (!list.present() || function_.list_of(list).size() != count) return false;
            const Operand& item = function_.list_of(list)[at];
            const SymbolPlace* found = item.kind == OperandKind::Symbol ? layout_.find(position_, item.as_symbol()) : nullptr;
            if (found == nullptr || found->space != Space::Local || found->size != bytes) return false;
            out = static_cast<std::uint32_t>(found->offset);
            return true;
        };
        PrintSite site;
        const bool fits = place(instr.operands[2], 0, 2, 8, site.format) && place(instr.operands[2], 1, 2, 8, site.values) &&
                          place(instr.operands[0], 0, 1, 4, site.result);
        if (!fits) {
            fail(instr, "`vprintf` takes two addresses and gives a number");
            return false;
        }
        request_.prints = true;
        op.access_bytes = 1;
        op.site = program_.sites++;
        op.index = static_cast<std::uint32_t>(program_.prints.size());
        program_.prints.push_back(site);
        return true;
    }
    bool copies(const ptx::Instr& instr, const Operand& actual, const std::vector<ptx::Param>& formals,
                std::uint32_t callee, bool in, std::vector<ParamCopy>& out) {
        static const std::vector<Operand> kNone;
        const std::vector<Operand>& items = actual.present() ? function_.list_of(actual) : kNone;
        if (items.size() != formals.size()) {
            fail(instr, fmt::format("{} {} given, {} declared", items.size(), in ? "arguments" : "results",
                                    formals.size()));
            return false;
        }
        for (std::size_t i = 0; i < items.size(); ++i) {
            const SymbolPlace* mine = items[i].kind == OperandKind::Symbol
                                          ? layout_.find(position_, items[i].as_symbol())
                                          : nullptr;
            const SymbolPlace* theirs = layout_.find(callee, formals[i].name);
            if (mine == nullptr || mine->space != Space::Local || theirs == nullptr ||
                mine->size != theirs->size) {
                fail(instr,
                     fmt::format("{} {} does not fit its declaration", in ? "argument" : "result", i + 1));
                return false;
            }
            const auto here = static_cast<std::uint32_t>(mine->offset);
            const auto there = static_cast<std::uint32_t>(theirs->offset);
            out.push_back({in ? here : there, in ? there : here, static_cast<std::uint32_t>(mine->size)});
        }
        return true;
    }

    // ------------------------------------------------------------------------------------------------------
    // resolution

    void resolve() {
        FlowGraph graph;
        graph.successors.resize(pieces_.size());
        for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
            for (const std::uint32_t label : pieces_[i].targets)
                graph.successors[i].push_back(label_piece_[label]);
            if (pieces_[i].end != End::Leaves && i + 1 < pieces_.size()) graph.successors[i].push_back(i + 1);
        }
        const BlockOrder order(graph);
        for (std::size_t at = first_op_; at < ops().size(); ++at) {
            const std::uint32_t piece = program_.origins[at].rank;
            program_.origins[at].rank = order.rank(piece);
            if (piece + 1 < pieces_.size()) ops()[at].next_rank = order.edge_rank(piece, piece + 1);
            piece_of_op_.push_back(piece);
        }
        for (const BranchFix& fix : branch_fixes_) {
            const std::uint32_t piece = label_piece_[fix.label];
            Op& op = ops()[fix.op];
            op.target_rank = order.edge_rank(piece_of_op_[fix.op - first_op_], piece);
            fixes_.branches.push_back({fix.op, pieces_[piece].first_op});
        }
    }

    Program& program_;
    const Layout& layout_;
    Slots& slots_;
    Fixes& fixes_;
    std::uint32_t position_;
    std::uint32_t index_;
    const ptx::Function& function_;
    std::string error_;
    std::size_t first_op_ = 0;

    std::uint32_t block_ = 0;
    std::uint32_t instr_ = 0;
    std::uint32_t origin_block_ = 0;
    std::uint32_t origin_instr_ = 0;
    std::vector<Piece> pieces_;
    std::vector<std::uint32_t> uses_;         // by label
    std::vector<std::uint32_t> label_piece_;  // by label, then by the labels that branch_around makes
    std::vector<BranchFix> branch_fixes_;
    std::vector<std::uint32_t> piece_of_op_;

    Request request_;
    std::uint8_t width_ = 0;  // lane bytes of the operand looked at last
    std::size_t list_size_ = 0;
};

// The ops stand still now: turns indices into pointers and places the constants in front of the registers.
void finish(Program& program, Slots& slots, const Fixes& fixes) {
    for (Op& op : program.ops) {
        op.dest = slots.final_slot(op.dest);
        op.dest2 = slots.final_slot(op.dest2);
        for (Slot& source : op.source)
            source = slots.final_slot(source);
    }
    for (Slot& slot : program.slots)
        slot = slots.final_slot(slot);
    for (const Fixes::Branch& fix : fixes.branches)
        program.ops[fix.op].target = &program.ops[fix.target];
    for (const Fixes::Call& fix : fixes.calls)
        program.calls[fix.call].entry = &program.ops[fixes.entries[fix.function]];
    program.constant_bytes = slots.constant_bytes();
    program.register_bytes = slots.total_bytes();
    program.registers = slots.words();
    program.constants = slots.take_constants();
}

}  // namespace

Result<std::unique_ptr<Program>> decode(std::shared_ptr<const ptx::Module> module, std::uint32_t entry,
                                        const VariableAddresses& variables) {
    auto layout = lay_out(*module, entry, variables);
    if (!layout) return Failure{layout.error()};
    const Layout& places = layout.value();
    auto program = std::make_unique<Program>();
    program->module = std::move(module);
    program->function = entry;
    program->name = program->module->name(program->entry_function().name);
    program->params = places.params;
    program->param_bytes = places.param_bytes;
    program->local_bytes = places.local_bytes;
    program->shared_bytes = places.shared_bytes;
    program->dynamic_shared_offset = places.dynamic_shared_offset;

    Slots slots;
    Fixes fixes;
    for (std::uint32_t position = 0; position < places.functions.size(); ++position) {
        fixes.entries.push_back(static_cast<std::uint32_t>(program->ops.size()));
        std::string error = FunctionDecoder(*program, places, slots, fixes, position).run();
        if (!error.empty()) return Failure{std::move(error)};
    }
    finish(*program, slots, fixes);
    return program;
}

}  // namespace ockc::emu
