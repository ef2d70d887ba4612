// Invariants of a well-formed module. Each is checked by the function named beside it.
//   structure    the layout names existing blocks once, none of them removed; an instruction stands in one
//   block;   (blocks)
//                every block ends in a terminator and has no other; no branch goes to the entry block
//   attributes   one ParamAttrs per parameter; a kernel returns nothing (signature) counts       operands,
//   results and targets are as many as the operation's row in ops.def asks for              (counts) results
//   have the types that the row asks for, and name their instruction (results) operands     have the types
//   listed in operand_types                                                            (types) dominance
//   every operand is defined in the same block above its use, or in a block that dominates it; (dominance)
//                unreachable blocks are exempt
//   targets      branch arguments match the parameters of their block in number and type (targets) constants
//   fit their type; zero bits above the width (special) memory       alignments are powers of two; allocas
//   stand in the entry block                                    (special) switch       case values are
//   distinct and fit the operand                                                      (special) calls callee
//   exists, is no kernel, and takes and gives exactly these types                              (special) ret
//   returns the function's result types (special)
#include "ir/verify.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/names.hpp"
#include "ir/print.hpp"

namespace ockc::ir {

namespace {

class Verifier {
  public:
    Verifier(const Module& module, const Function& function) : module_(module), function_(function) {}

    std::string run() {
        signature();
        if (errors_ == 0) blocks();
        if (errors_ != 0) return std::move(text_);  // the rest walks the graph
        for (const BlockId block : function_.layout) {
            for (const InstId inst : function_.blocks[block].insts) {
                at_ = inst;
                block_ = block;
                instruction(function_.insts[inst]);
            }
        }
        if (errors_ == 0) dominance();
        return std::move(text_);
    }

  private:
    static constexpr int kMaxErrors = 20;

    void fail(std::string message) {
        if (++errors_ > kMaxErrors) return;
        text_ += "@" + function_.name;
        if (block_.valid()) {
            const auto place = std::find(function_.layout.begin(), function_.layout.end(), block_);
            text_ += " bb" + std::to_string(place - function_.layout.begin());
        }
        if (at_.valid()) text_ += ": `" + print_inst(module_, function_, at_) + "`";
        text_ += ": " + message + "\n";
    }
    void require(bool holds, const char* message) {
        if (!holds) fail(message);
    }
    void require_type(std::uint32_t operand, bool holds) {
        if (holds) return;
        const Type type = function_.type_of(inst_->args[operand]);
        fail("operand " + std::to_string(operand) + " is " + std::string(type_text(type)));
    }

    void signature() {
        if (function_.layout.empty()) return fail("no blocks");
        for (const BlockId block : function_.layout) {
            if (!function_.blocks.contains(block))
                return fail("the layout names a block that does not exist");
        }
        const auto& params = function_.blocks[function_.entry()].params;
        require(params.size() == function_.param_attrs.size(), "not one ParamAttrs per parameter");
        require(!function_.is_kernel || function_.results.empty(), "a kernel returns values");
    }

    void blocks() {
        std::vector<bool> placed_blocks(function_.blocks.size());
        std::vector<bool> placed_insts(function_.insts.size());
        for (const BlockId id : function_.layout) {
            const Block& block = function_.blocks[id];
            block_ = id;
            require(!placed_blocks[id.raw], "the block stands in the layout twice");
            placed_blocks[id.raw] = true;
            require(!block.removed, "a removed block stands in the layout");
            require(!block.insts.empty() && function_.insts.contains(block.insts.back()) &&
                        is_terminator(function_.insts[block.insts.back()].op),
                    "the block does not end in a terminator");
            block_params(id);
            for (std::size_t i = 0; i < block.insts.size(); ++i)
                place(block, i, placed_insts);
            at_ = InstId::none();
        }
        if (errors_ == 0) edges(placed_blocks);
        block_ = BlockId::none();
    }

    void block_params(BlockId id) {
        const auto& params = function_.blocks[id].params;
        for (std::size_t i = 0; i < params.size(); ++i) {
            const bool known = function_.values.contains(params[i]);
            require(known && function_.values[params[i]].block == id &&
                        function_.values[params[i]].index == i && !function_.values[params[i]].inst.valid(),
                    "a block parameter's value does not name its place");
            require(known && function_.type_of(params[i]) != Type::Void, "a block parameter of type void");
        }
    }

    void place(const Block& block, std::size_t i, std::vector<bool>& placed) {
        const InstId inst = block.insts[i];
        if (!function_.insts.contains(inst)) return fail("an instruction that does not exist");
        if (placed[inst.raw]) {
            at_ = inst;
            return fail("the instruction stands in two places");
        }
        placed[inst.raw] = true;
        if (i + 1 < block.insts.size() && is_terminator(function_.insts[inst].op)) {
            at_ = inst;
            fail("a terminator inside a block");
        }
        for (const ValueId arg : function_.insts[inst].args) {
            if (!function_.values.contains(arg)) fail("an operand that does not exist");
        }
        for (const ValueId result : function_.insts[inst].results) {
            if (!function_.values.contains(result)) fail("a result that does not exist");
        }
    }

    void edges(const std::vector<bool>& placed) {
        for (const BlockId id : function_.layout) {
            block_ = id;
            for (const Target& target : function_.terminator(id).targets) {
                require(target.block.raw < placed.size() && placed[target.block.raw],
                        "a branch to a block outside the layout");
                require(target.block != function_.entry(), "a branch to the entry block");
                for (const ValueId arg : target.args) {
                    require(function_.values.contains(arg), "a branch argument that does not exist");
                }
            }
        }
    }

    void instruction(const Instruction& inst) {
        inst_ = &inst;
        const int errors = errors_;
        counts(inst);
        if (errors_ != errors) return;
        results(inst);
        types(inst);
        targets(inst);
        special(inst);
    }

    void counts(const Instruction& inst) {
        const OpInfo& info = op_info(inst.op);
        if (info.arity >= 0)
            require(inst.args.size() == static_cast<std::size_t>(info.arity), "wrong operand count");
        if (info.result != ResultRule::Many) {
            require(inst.results.size() == (info.result == ResultRule::None ? 0u : 1u), "wrong result count");
        }
        std::size_t targets = 0;
        if (inst.op == Op::Jump) targets = 1;
        if (inst.op == Op::Br) targets = 2;
        if (inst.op == Op::Switch) targets = inst.cases.size() + 1;
        require(inst.targets.size() == targets, "wrong target count");
        require(info.result != ResultRule::Type || inst.type != Type::Void, "a result of type void");
    }

    void results(const Instruction& inst) {
        for (std::uint32_t i = 0; i < inst.results.size(); ++i) {
            const Value& value = function_.values[inst.results[i]];
            require(value.inst == at_ && value.index == i, "a result does not name its instruction");
            switch (op_info(inst.op).result) {
                case ResultRule::None:
                case ResultRule::Many: break;
                case ResultRule::Type:
                    require(value.type == inst.type, "the result is not of the type");
                    break;
                case ResultRule::Bool: require(value.type == Type::I1, "the result is not i1"); break;
                case ResultRule::PtrLocal:
                    require(value.type == Type::PtrLocal, "the result is not ptr.local");
                    break;
            }
        }
    }

    Type arg(std::uint32_t i) const { return function_.type_of(inst_->args[i]); }
    bool wide_int() const { return is_int(inst_->type) && inst_->type != Type::I1; }
    void all_of_type(bool class_fits) {
        require(class_fits, "not a type of this operation");
        for (std::uint32_t i = 0; i < inst_->args.size(); ++i)
            require_type(i, arg(i) == inst_->type);
    }
    void conversion(bool from_fits, bool to_fits) {
        require(to_fits, "not a type of this operation");
        require_type(0, from_fits);
    }

    // The operand types of every operation.
    void types(const Instruction& inst) {
        const Type type = inst.type;
        const std::uint32_t bits = type_bits(type);
        // clang-format off
        switch (inst.op) {
            case Op::Iadd: case Op::Isub: case Op::Imul: case Op::Udiv: case Op::Sdiv: case Op::Urem: case Op::Srem:
            case Op::Umulh: case Op::Smulh: case Op::Ineg: case Op::Smin: case Op::Smax: case Op::Umin: case Op::Umax:
            case Op::Iabs: case Op::Popcnt: case Op::Clz: case Op::Ctz: case Op::Bitrev: case Op::Bswap:
            case Op::UaddOv: case Op::SaddOv: case Op::UsubOv: case Op::SsubOv: case Op::UmulOv: case Op::SmulOv:
                return all_of_type(wide_int());
            case Op::And: case Op::Or: case Op::Xor: case Op::Not: return all_of_type(is_int(type));
            case Op::Shl: case Op::Lshr: case Op::Ashr: case Op::Rotl: case Op::Rotr:
                require(wide_int(), "not a type of this operation");
                require_type(0, arg(0) == type);
                return require_type(1, arg(1) == Type::I32);
            case Op::Icmp: return all_of_type(is_int(type) || is_ptr(type));
            case Op::Select:
                require_type(0, arg(0) == Type::I1);
                require_type(1, arg(1) == type);
                return require_type(2, arg(2) == type);
            case Op::Fadd: case Op::Fsub: case Op::Fmul: case Op::Fdiv: case Op::Frem: case Op::Fma: case Op::Fneg:
            case Op::Fabs: case Op::Fcopysign: case Op::Fmin: case Op::Fmax: case Op::Fsqrt: case Op::Ffloor:
            case Op::Fceil: case Op::Ftrunc: case Op::Frint: case Op::Fcmp:
                return all_of_type(is_float(type));
            case Op::Trunc: return conversion(is_int(arg(0)) && type_bits(arg(0)) > bits, is_int(type));
            case Op::Zext: return conversion(is_int(arg(0)) && type_bits(arg(0)) < bits, is_int(type));
            case Op::Sext: return conversion(is_int(arg(0)) && type_bits(arg(0)) < bits, is_int(type));
            case Op::Fcvt: return conversion(is_float(arg(0)) && arg(0) != type, is_float(type));
            case Op::Fptosi: case Op::Fptoui: return conversion(is_float(arg(0)), wide_int());
            case Op::Sitofp: case Op::Uitofp: return conversion(is_int(arg(0)) && arg(0) != Type::I1, is_float(type));
            case Op::Bitcast:
                return conversion(!is_ptr(arg(0)) && type_bits(arg(0)) == bits, is_int(type) || is_float(type));
            case Op::PtrToInt: return conversion(is_ptr(arg(0)), type == Type::I64);
            case Op::IntToPtr: return conversion(arg(0) == Type::I64, is_ptr(type));
            case Op::SpaceCast:
                return conversion(is_ptr(arg(0)) && (arg(0) == Type::Ptr) != (type == Type::Ptr), is_ptr(type));
            case Op::PtrAdd:
                require(is_ptr(type), "not a type of this operation");
                require_type(0, arg(0) == type);
                return require_type(1, arg(1) == Type::I64);
            case Op::Load: return require_type(0, is_ptr(arg(0)));
            case Op::Store:
                require_type(0, is_ptr(arg(0)));
                return require_type(1, arg(1) == type);
            case Op::Nonnull: return require_type(0, is_ptr(type) && arg(0) == type);
            case Op::Memcpy:
                require_type(0, is_ptr(arg(0)));
                return require_type(1, is_ptr(arg(1)));
            case Op::Memset:
                require_type(0, is_ptr(arg(0)));
                return require_type(1, arg(1) == Type::I8);
            case Op::Asm: return require(inst.results.size() == 1, "wrong result count");
            case Op::AsmMemory: case Op::AsmSync: return;
            case Op::Vprintf:
                require(type == Type::I32, "not a type of this operation");
                require_type(0, arg(0) == Type::Ptr);
                return require_type(1, arg(1) == Type::Ptr);
            case Op::Br: return require_type(0, arg(0) == Type::I1);
            case Op::Switch:
                require(is_int(type), "not a type of this operation");
                return require_type(0, arg(0) == type);
            case Op::AtomicLoad: case Op::AtomicStore: case Op::AtomicRmw: case Op::AtomicCas: return atomic(inst);
            case Op::Machine: case Op::MachineMemory: case Op::MachineSync: return machine(inst);
            case Op::TileCount: case Op::TileInRange: return all_of_type(type == Type::I32);
            case Op::TileLoad: case Op::TileStore: case Op::TileSplat: case Op::TileIota: case Op::TileMap: case Op::TileReshape:
            case Op::TileBroadcast: case Op::TilePermute: case Op::TileReduce: case Op::TileScalar: case Op::TileMma:
            case Op::TileConvert: case Op::TileRing: case Op::TileCopy: case Op::TileSlot:
            case Op::TileReducePair: case Op::TileScan: case Op::TileCat: case Op::TileExtract: case Op::TileFill:
            case Op::TileEach:
                return tile(inst);
            case Op::Const: case Op::GlobalAddr: case Op::Alloca: case Op::Sreg: case Op::LaunchDomain: case Op::Barrier: case Op::Fence:
            case Op::Call: case Op::Jump: case Op::Ret: case Op::Panic: case Op::Trap: case Op::Unreachable:
                return;   // no operands, or checked in special()
        }
        // clang-format on
    }

    void tile(const Instruction& inst) {
        require(inst.tile.valid(), "an operation on tiles without a type");
        require(is_tile(inst.type) == (inst.op != Op::TileScalar), "not a tile");
        const bool memory = inst.op == Op::TileLoad || inst.op == Op::TileStore || inst.op == Op::TileCopy;
        const std::size_t first = inst.op == Op::TileStore ? 2 : inst.op == Op::TileCopy ? 4 : 1;
        if (memory) {
            const std::uint32_t address = inst.op == Op::TileCopy ? 3 : 0;
            require_type(address, is_ptr(arg(address)));
            const std::size_t rank = module_.tile_types[inst.tile].shape.size();
            require(inst.args.size() == first + 3 * rank, "not an origin, an extent and a stride for each axis");
            for (std::uint32_t i = static_cast<std::uint32_t>(first); i < inst.args.size(); ++i) require_type(i, arg(i) == Type::I32);
        }
        if (inst.op == Op::TileStore) require_type(1, is_tile(arg(1)));
        if (inst.op == Op::TileCopy) require_type(2, arg(2) == Type::I1);
        if (inst.op == Op::TileCopy || inst.op == Op::TileSlot) {
            require_type(0, is_tile(arg(0)));
            require_type(1, arg(1) == Type::I32);
        }
        const bool of_tile = inst.op == Op::TileReshape || inst.op == Op::TileBroadcast || inst.op == Op::TilePermute || inst.op == Op::TileConvert || inst.op == Op::TileScalar ||
                             inst.op == Op::TileExtract || inst.op == Op::TileFill;
        if (of_tile) require_type(0, is_tile(arg(0)));
        const bool folds = inst.op == Op::TileReduce || inst.op == Op::TileReducePair || inst.op == Op::TileScan;
        const bool by_lane = inst.op == Op::TileMap || inst.op == Op::TileEach;
        if (folds || by_lane || inst.op == Op::TileMma) require(inst.callee.valid(), "no function for the lanes");
        for (std::uint32_t i = 0; i < inst.args.size() && inst.op == Op::TileMma; ++i) require_type(i, is_tile(arg(i)));
        for (std::uint32_t i = 0; i < inst.args.size() && inst.op == Op::TileCat; ++i) require_type(i, is_tile(arg(i)) == (i < 2));
        if (!by_lane) return;
        for (std::uint32_t i = 0; i < inst.args.size(); ++i) require_type(i, is_tile(arg(i)) == (i >= inst.imm));
    }

    void atomic(const Instruction& inst) {
        const std::uint32_t bits = type_bits(inst.type);
        const bool is_sum = inst.op == Op::AtomicRmw && inst.atomic().op == AtomicOp::Fadd;
        const bool narrow = bits == 16 && inst.op != Op::AtomicRmw;
        require(is_sum ? is_float(inst.type) : is_int(inst.type) && (bits == 32 || bits == 64 || narrow),
                "not a type of this operation");
        require_type(0, is_ptr(arg(0)));
        for (std::uint32_t i = 1; i < inst.args.size(); ++i)
            require_type(i, arg(i) == inst.type);
    }

    void machine(const Instruction& inst) {
        const Type type = inst.type;
        if (inst.aux >= intrinsic::machine_count()) return fail("no row of machine.def");
        const intrinsic::MachineInfo& info = intrinsic::info(inst.machine());
        require(machine_op(info.effect) == inst.op, "not the operation of the row's effect");
        const std::size_t plain = intrinsic::plain_letters(info.operands).size();
        const bool open = plain != info.operands.size();
        require(open ? inst.args.size() >= plain : inst.args.size() == plain, "wrong operand count");
        require(inst.results.size() == machine_results(info, inst.args.size()), "wrong result count");
        for (std::uint32_t i = 0; i < inst.args.size() && (open || i < plain); ++i) {
            const char letter = intrinsic::letter_at(info.operands, i);
            require_type(i, letter == 'P' ? is_ptr(arg(i)) : arg(i) == machine_type(letter));
        }
        for (std::uint32_t i = 0; i < inst.results.size() && !info.results.empty(); ++i) {
            require(function_.type_of(inst.results[i]) == machine_type(intrinsic::letter_at(info.results, i)),
                    "the result is not of the row's type");
        }
        require(type == (inst.results.empty() ? Type::Void : function_.type_of(inst.results[0])),
                "not the type of the first result");
    }

    void targets(const Instruction& inst) {
        for (const Target& target : inst.targets) {
            const auto& params = function_.blocks[target.block].params;
            if (params.size() != target.args.size()) {
                fail("a target's arguments do not match its block's parameters in number");
                continue;
            }
            for (std::size_t i = 0; i < params.size(); ++i) {
                require(function_.type_of(params[i]) == function_.type_of(target.args[i]),
                        "a target's arguments do not match its block's parameters in type");
            }
        }
    }

    bool fits(std::uint64_t value, std::uint32_t bits) const { return bits >= 64 || value >> bits == 0; }

    void special(const Instruction& inst) {
        const bool memory = inst.op == Op::Load || inst.op == Op::Store || inst.op == Op::Memcpy ||
                            inst.op == Op::Memset || inst.op == Op::Alloca;
        if (memory) require(std::has_single_bit(inst.memory.align), "the alignment is not a power of two");
        if (inst.op == Op::Alloca) require(block_ == function_.entry(), "an alloca outside the entry block");
        if (inst.op == Op::Const) {
            require(fits(inst.imm, type_bits(inst.type)), "the constant has bits above its type's width");
            require(inst.type == Type::I128 || inst.imm_high == 0, "the constant has an upper half");
        }
        if (inst.op == Op::Sreg) require(inst.type == sreg_type(inst.sreg()), "not the register's type");
        if (inst.op == Op::LaunchDomain) require(inst.type == Type::I32, "not an i32");
        if (inst.op == Op::GlobalAddr) {
            require(module_.globals.contains(inst.global) &&
                        inst.type == ptr_type(module_.globals[inst.global].space),
                    "not the global's address space");
        }
        if (inst.op == Op::Switch) cases(inst);
        if (inst.op == Op::Call) call(inst);
        if (inst.op == Op::Ret) {
            bool same = inst.args.size() == function_.results.size();
            for (std::uint32_t i = 0; same && i < inst.args.size(); ++i)
                same = arg(i) == function_.results[i];
            require(same, "not the function's result types");
        }
    }

    void cases(const Instruction& inst) {
        std::vector<std::uint64_t> sorted(inst.cases.begin(), inst.cases.end());
        std::sort(sorted.begin(), sorted.end());
        require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), "two equal cases");
        for (const std::uint64_t value : sorted)
            require(fits(value, type_bits(inst.type)), "a case wider than its type");
    }

    void call(const Instruction& inst) {
        if (!module_.functions.contains(inst.callee)) return fail("the callee does not exist");
        const Function& callee = module_.functions[inst.callee];
        if (callee.removed || callee.layout.empty()) return fail("the callee has been removed");
        require(!callee.is_kernel, "a call of a kernel");
        const auto& params = callee.blocks[callee.entry()].params;
        bool same = params.size() == inst.args.size() && callee.results.size() == inst.results.size();
        for (std::uint32_t i = 0; same && i < params.size(); ++i)
            same = callee.type_of(params[i]) == arg(i);
        for (std::uint32_t i = 0; same && i < inst.results.size(); ++i) {
            same = callee.results[i] == function_.type_of(inst.results[i]);
        }
        require(same, "arguments or results do not match the callee's");
    }

    // One walk over the dominator tree's preorder; `position` orders the definitions inside a block.
    void dominance() {
        const Cfg cfg(function_);
        const Dominators dominators(cfg);
        SideMap<ValueId, std::uint32_t> position(function_.values.size(), 0);
        SideMap<ValueId, BlockId> home(function_.values.size());
        for (const BlockId block : cfg.rpo()) {
            for (const ValueId param : function_.blocks[block].params)
                home.set(param, block);
            std::uint32_t next = 1;
            for (const InstId inst : function_.blocks[block].insts) {
                for (const ValueId result : function_.insts[inst].results) {
                    home.set(result, block);
                    position.set(result, next);
                }
                ++next;
            }
        }
        for (const BlockId block : cfg.rpo()) {
            std::uint32_t here = 1;
            block_ = block;
            for (const InstId inst : function_.blocks[block].insts) {
                at_ = inst;
                const auto check = [&](ValueId value) {
                    const BlockId from = home[value];
                    const bool good = from.valid() && (from == block ? position[value] < here
                                                                     : dominators.dominates(from, block));
                    require(good, "an operand whose definition does not dominate its use");
                };
                for (const ValueId value : function_.insts[inst].args)
                    check(value);
                for (const Target& target : function_.insts[inst].targets) {
                    for (const ValueId value : target.args)
                        check(value);
                }
                ++here;
            }
        }
    }

    const Module& module_;
    const Function& function_;
    const Instruction* inst_ = nullptr;
    InstId at_;
    BlockId block_;
    int errors_ = 0;
    std::string text_;
};

}  // namespace

Status verify(const Module& module, const Function& function) {
    std::string text = Verifier(module, function).run();
    if (text.empty()) return Unit{};
    return Failure{std::move(text)};
}

Status verify(const Module& module) {
    std::string text;
    for (const Function& function : module.functions) {
        if (!function.removed) text += Verifier(module, function).run();
    }
    if (text.empty()) return Unit{};
    return Failure{std::move(text)};
}

}  // namespace ockc::ir
