// Constant folding and the peephole rules, in sweeps over the function in reverse postorder: operands are
// simplified before their users, so one sweep does nearly all; a few more pick up what loops and new
// instructions bring. All constants end up in the entry block, once each.
#include <algorithm>
#include <array>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "ir/names.hpp"
#include "opt/pass.hpp"
#include "opt/rules.hpp"

namespace ockc::opt {

using namespace ir;

const Instruction* Rewriter::match(ValueId value, Op op) const {
    const Instruction* def = function.def(value);
    return def != nullptr && def->op == op ? def : nullptr;
}

std::optional<Constant> Rewriter::constant(ValueId value) const {
    const Instruction* def = constant_def(function, value);
    if (def == nullptr) return std::nullopt;
    return Constant{def->imm, def->imm_high};
}

bool Rewriter::is_all_ones(ValueId value) const {
    const auto c = constant(value);
    const std::uint32_t bits = type_bits(type_of(value));
    return c && wide(*c) == cut(~Uint128{0}, bits);
}

ValueId Rewriter::make(Op op, Type type, std::initializer_list<ValueId> args, std::uint16_t aux) {
    const Type result = op_info(op).result == ResultRule::Bool ? Type::I1 : type;
    const InstId made = make_inst(function, op, type, result, args, inst());
    function.insts[made].aux = aux;
    out_.push_back(made);
    return function.insts[made].result();
}

ValueId Rewriter::become(Op op, Type type, std::initializer_list<ValueId> args, std::uint16_t aux) {
    Instruction& current = mutate();
    current.op = op;
    current.type = type;
    current.aux = aux;
    current.args = args;
    current.imm = 0;
    current.imm_high = 0;
    return ValueId::none();
}

std::uint64_t Rewriter::unsigned_max(ValueId value) const {
    return unsigned_max(value, 4);
}

std::uint64_t Rewriter::unsigned_max(ValueId value, int depth) const {
    const std::uint32_t bits = type_bits(type_of(value));
    const std::uint64_t all = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    const Instruction* def = function.def(value);
    if (def == nullptr || depth == 0 || bits > 64) return all;
    const auto arg_max = [&](std::uint32_t i) { return unsigned_max(def->args[i], depth - 1); };
    const auto shift = [&]() -> std::optional<std::uint32_t> {
        const auto c = constant(def->args[1]);
        return c ? std::optional(static_cast<std::uint32_t>(c->low % bits)) : std::nullopt;
    };
    switch (def->op) {
        case Op::Const: return def->imm_high != 0 ? all : def->imm;
        case Op::Zext: return arg_max(0);
        case Op::Trunc: return std::min(all, arg_max(0));
        case Op::And:
        case Op::Umin: return std::min(arg_max(0), arg_max(1));
        case Op::Umax: return std::max(arg_max(0), arg_max(1));
        case Op::Select: return std::max(arg_max(1), arg_max(2));
        case Op::Lshr: return shift() ? arg_max(0) >> *shift() : arg_max(0);
        case Op::Udiv: {
            const auto c = constant(def->args[1]);
            return c && c->low != 0 && c->high == 0 ? arg_max(0) / c->low : all;
        }
        case Op::Urem: {
            const auto c = constant(def->args[1]);
            return c && c->low != 0 && c->high == 0 ? std::min(arg_max(0), c->low - 1) : all;
        }
        case Op::Iadd: {
            std::uint64_t sum = 0;
            const bool over = __builtin_add_overflow(arg_max(0), arg_max(1), &sum);
            return over || sum > all ? all : sum;
        }
        case Op::Imul: {
            std::uint64_t product = 0;
            const bool over = __builtin_mul_overflow(arg_max(0), arg_max(1), &product);
            return over || product > all ? all : product;
        }
        case Op::Shl: {
            const std::uint64_t max = arg_max(0);
            return shift() && max <= all >> *shift() ? max << *shift() : all;
        }
        case Op::Popcnt:
        case Op::Clz:
        case Op::Ctz: return bits;
        case Op::Sreg: return std::min(all, sreg_max(function, def->sreg()));
        default: return all;
    }
}

std::optional<std::uint64_t> sreg_value(const Function& function, Sreg reg) {
    const auto axis = [&](Sreg x) { return static_cast<std::size_t>(reg) - static_cast<std::size_t>(x); };
    const KernelFacts& facts = function.facts;
    if (reg == Sreg::DynamicSmemSize && function.is_kernel && facts.dynamic_shared != 0) return facts.dynamic_shared;
    if (!function.is_kernel || facts.block[0] == 0) return std::nullopt;
    if (reg >= Sreg::NtidX && reg <= Sreg::NtidZ) return facts.block[axis(Sreg::NtidX)];
    if (reg >= Sreg::TidX && reg <= Sreg::TidZ && facts.block[axis(Sreg::TidX)] == 1) return 0;
    return std::nullopt;
}

// Hardware limits of every target: 1024 threads in a block, 64 of them along z; grids of 2^31 - 1 by 65535 by
// 65535.
std::uint64_t sreg_max(const Function& function, Sreg reg) {
    const KernelFacts& facts = function.facts;
    const std::uint64_t threads = function.is_kernel && facts.max_threads != 0 ? facts.max_threads : 1024;
    const auto extent = [&](std::size_t axis) {
        if (function.is_kernel && facts.block[0] != 0) return std::uint64_t{facts.block[axis]};
        return axis == 2 ? std::min<std::uint64_t>(threads, 64) : threads;
    };
    switch (reg) {
        case Sreg::TidX: return extent(0) - 1;
        case Sreg::TidY: return extent(1) - 1;
        case Sreg::TidZ: return extent(2) - 1;
        case Sreg::NtidX: return extent(0);
        case Sreg::NtidY: return extent(1);
        case Sreg::NtidZ: return extent(2);
        case Sreg::CtaidX: return 0x7FFF'FFFE;
        case Sreg::NctaidX: return 0x7FFF'FFFF;
        case Sreg::CtaidY:
        case Sreg::CtaidZ: return 65534;
        case Sreg::NctaidY:
        case Sreg::NctaidZ: return 65535;
        case Sreg::LaneId: return 31;
        case Sreg::DynamicSmemSize:
        case Sreg::TotalSmemSize: return 0xF'FFFF;
        case Sreg::ClusterCtaidX:
        case Sreg::ClusterCtaidY:
        case Sreg::ClusterCtaidZ:
        case Sreg::ClusterCtaRank: return 15;
        case Sreg::ClusterNctaidX:
        case Sreg::ClusterNctaidY:
        case Sreg::ClusterNctaidZ:
        case Sreg::ClusterNctaRank: return 16;
        case Sreg::ClusterIdX:
        case Sreg::ClusterIdY:
        case Sreg::ClusterIdZ:
        case Sreg::NclusterIdX:
        case Sreg::NclusterIdY:
        case Sreg::NclusterIdZ:
        case Sreg::WarpId:
        case Sreg::NwarpId:
        case Sreg::LanemaskEq:
        case Sreg::LanemaskLe:
        case Sreg::LanemaskLt:
        case Sreg::LanemaskGe:
        case Sreg::LanemaskGt:
        case Sreg::SmId:
        case Sreg::Envreg1:
        case Sreg::Envreg2:
        case Sreg::NsmId: return 0xFFFF'FFFF;
        case Sreg::GridId: return ~std::uint64_t{0};
    }
    OCKC_UNREACHABLE("special register");
}

namespace {

constexpr int kMaxSweeps = 4;
constexpr int kMaxSteps = 16;  // rewrites of one instruction in a row

class InstCombine {
  public:
    InstCombine(Function& function, const PassContext& context)
        : function_(function), module_(context.module), sweeps_(context.options.level < 2 ? 1 : kMaxSweeps),
          pool_(function), analyses_(context.analyses) {}

    bool run() {
        bool changed = false;
        for (int sweep = 0; sweep < sweeps_ && run_sweep(); ++sweep)
            changed = true;
        return changed;
    }

  private:
    bool run_sweep() {
        changed_ = false;
        count_uses();
        Rewriter rewriter(function_, module_, pool_, out_, use_counts_);
        for (const BlockId block : analyses_.cfg().rpo()) {
            in_.clear();
            in_.swap(function_.blocks[block].insts);
            out_.reserve(in_.size());
            for (const InstId id : in_)
                visit(rewriter, id);
            out_.swap(function_.blocks[block].insts);
        }
        replacements_.apply(function_);
        changed_ |= pool_.place();
        return changed_;
    }

    void count_uses() {
        use_counts_.assign(function_.values.size(), 0);
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                for_each_use(function_.insts[id], [&](ValueId value) { ++use_counts_[value.raw]; });
            }
        }
    }

    void visit(Rewriter& rewriter, InstId id) {
        for_each_use(function_.insts[id], [&](ValueId& value) { value = replacements_.resolve(value); });
        if (function_.insts[id].op == Op::Const) return visit_constant(id);
        rewriter.set_current(id);
        for (int step = 0; step < kMaxSteps; ++step) {
            keep_room(function_, 64);  // a rule holds pointers to instructions while it makes new ones, a dozen at most
            const ValueId value = simplify(rewriter, id);
            if (value.valid()) {
                replacements_.replace(function_.insts[id].result(), replacements_.resolve(value));
                changed_ = true;
                return;
            }
            if (!rewriter.take_mutated()) break;
            changed_ = true;
        }
        out_.push_back(id);
    }

    void visit_constant(InstId id) {
        const ValueId pooled = pool_.get(function_.insts[id]);
        if (pooled == function_.insts[id].result()) {
            out_.push_back(id);
            return;
        }
        replacements_.replace(function_.insts[id].result(), pooled);
        changed_ = true;
    }

    ValueId simplify(Rewriter& rewriter, InstId id) {
        const Instruction& inst = function_.insts[id];
        if (op_info(inst.op).effect == Effect::Pure) {
            const ValueId folded = fold_constants(inst);
            if (folded.valid()) return folded;
        }
        return simplify_by_family(rewriter, inst.op);
    }

    ValueId fold_constants(const Instruction& inst) {
        std::array<Constant, 3> args;
        if (inst.args.empty() || inst.args.size() > args.size() || inst.op == Op::SpaceCast)
            return ValueId::none();
        for (std::uint32_t i = 0; i < inst.args.size(); ++i) {
            const Instruction* def = constant_def(function_, inst.args[i]);
            if (def == nullptr) return ValueId::none();
            args[i] = {def->imm, def->imm_high};
        }
        const auto value = fold(inst, function_.type_of(inst.args[0]), {args.data(), inst.args.size()});
        return value ? pool_.get(function_.type_of(inst.result()), *value) : ValueId::none();
    }

    static ValueId simplify_by_family(Rewriter& r, Op op) {
        // clang-format off
        switch (op) {
            case Op::Iadd: case Op::Isub: case Op::Imul: case Op::Umulh: case Op::Smulh: case Op::Ineg: case Op::And:
            case Op::Or: case Op::Xor: case Op::Not: case Op::Shl: case Op::Lshr: case Op::Ashr: case Op::Rotl:
            case Op::Rotr: case Op::Smin: case Op::Smax: case Op::Umin: case Op::Umax: case Op::Iabs: case Op::Popcnt:
            case Op::Clz: case Op::Ctz: case Op::Bitrev: case Op::Bswap: case Op::UaddOv: case Op::SaddOv:
            case Op::UsubOv: case Op::SsubOv: case Op::UmulOv: case Op::SmulOv: case Op::Sreg: case Op::LaunchDomain:
                return simplify_int(r);
            case Op::Udiv: case Op::Sdiv: case Op::Urem: case Op::Srem: return simplify_division(r);
            case Op::Icmp: return simplify_icmp(r);
            case Op::Fcmp: return simplify_fcmp(r);
            case Op::Select: return simplify_select(r);
            case Op::Fadd: case Op::Fsub: case Op::Fmul: case Op::Fdiv: case Op::Frem: case Op::Fma: case Op::Fneg:
            case Op::Fabs: case Op::Fcopysign: case Op::Fmin: case Op::Fmax: case Op::Fsqrt: case Op::Ffloor:
            case Op::Fceil: case Op::Ftrunc: case Op::Frint:
                return simplify_float(r);
            case Op::Trunc: case Op::Zext: case Op::Sext: case Op::Fcvt: case Op::Fptosi: case Op::Fptoui:
            case Op::Sitofp: case Op::Uitofp: case Op::Bitcast: case Op::PtrToInt: case Op::IntToPtr:
            case Op::SpaceCast:
                return simplify_conversion(r);
            case Op::PtrAdd: case Op::Nonnull: case Op::Load: case Op::Store: case Op::Memcpy: case Op::Memset:
                return simplify_memory(r);
            case Op::Const: case Op::GlobalAddr: case Op::Alloca: case Op::Barrier: case Op::Fence: case Op::Call:
            case Op::AtomicLoad: case Op::AtomicStore: case Op::AtomicRmw: case Op::AtomicCas: case Op::Machine:
            case Op::MachineMemory: case Op::MachineSync: case Op::Vprintf: case Op::Asm: case Op::AsmMemory: case Op::AsmSync:
            case Op::TileLoad: case Op::TileStore: case Op::TileSplat: case Op::TileIota: case Op::TileMap: case Op::TileReshape:
            case Op::TileBroadcast: case Op::TilePermute: case Op::TileReduce: case Op::TileScalar: case Op::TileMma:
            case Op::TileRing:
            case Op::TileCopy:
            case Op::TileSlot:
            case Op::TileConvert:
            case Op::TileReducePair: case Op::TileScan: case Op::TileCat: case Op::TileExtract: case Op::TileFill:
            case Op::TileEach: case Op::TileCount: case Op::TileInRange:
            case Op::Jump: case Op::Br: case Op::Switch: case Op::Ret: case Op::Panic: case Op::Trap:
            case Op::Unreachable:
                return ValueId::none();
        }
        // clang-format on
        return ValueId::none();
    }

    Function& function_;
    const Module& module_;
    int sweeps_;
    ConstantPool pool_;
    Analyses& analyses_;
    Replacements replacements_;
    std::vector<InstId> in_, out_;  // of the block at hand; out_ is empty between blocks
    std::vector<std::uint32_t> use_counts_;
    bool changed_ = false;
};

}  // namespace

bool run_instcombine(Function& function, const PassContext& context) {
    return InstCombine(function, context).run();
}

}  // namespace ockc::opt
