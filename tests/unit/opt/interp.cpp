#include "interp.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/names.hpp"
#include "random.hpp"

namespace ockc::test {

using namespace ir;

namespace {

__extension__ typedef __int128 SignedBits;

Bits mask(std::uint32_t bits) {
    return bits >= 128 ? ~Bits{0} : (Bits{1} << bits) - 1;
}
SignedBits extend(Bits value, std::uint32_t bits) {
    if (bits < 128 && ((value >> (bits - 1)) & 1) != 0) value |= ~mask(bits);
    return static_cast<SignedBits>(value);
}

Bits from_f32(float value) {
    return std::isnan(value) ? 0x7FFF'FFFFu : std::bit_cast<std::uint32_t>(value);
}
Bits from_f64(double value) {
    return std::isnan(value) ? 0x7FFF'FFFF'FFFF'FFFFu : std::bit_cast<std::uint64_t>(value);
}
float f32(Bits bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}
double f64(Bits bits) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(bits));
}
class Machine {
  public:
    Machine(const Module& module, const Input& input)
        : module_(module), input_(input), regions_(input.buffers) {
        for (const Global& global : module.globals) {
            Region region;
            region.bytes = global.init;
            region.bytes.resize(global.size, 0);
            regions_.push_back(std::move(region));
        }
    }

    Outcome run(const Function& function) {
        std::vector<Bits> results;
        if (call(function, input_.args, results, 0)) {
            out_.ending = Ending::Returned;
            out_.values = results;
        }
        out_.buffers.assign(regions_.begin(),
                            regions_.begin() + static_cast<std::ptrdiff_t>(input_.buffers.size()));
        return std::move(out_);
    }

  private:
    bool stop(Ending ending, std::string note = {}) {
        out_.ending = ending;
        out_.note = std::move(note);
        return false;
    }

    // Runs a function to its return; false when the run ended otherwise.
    bool call(const Function& function, const std::vector<Bits>& args, std::vector<Bits>& results,
              int depth) {
        if (depth > 64) return stop(Ending::TooLong);
        std::vector<Bits> values(function.values.size(), 0);
        BlockId block = function.entry();
        std::vector<Bits> incoming = args;
        while (true) {
            const auto& params = function.blocks[block].params;
            for (std::size_t i = 0; i < params.size(); ++i)
                values[params[i].raw] = incoming[i];
            for (const InstId id : function.blocks[block].insts) {
                if (++steps_ > input_.max_steps) return stop(Ending::TooLong);
                const Instruction& inst = function.insts[id];
                if (!is_terminator(inst.op)) {
                    if (!execute(function, inst, values, depth)) return false;
                    continue;
                }
                if (inst.op == Op::Ret) {
                    for (const ValueId value : inst.args)
                        results.push_back(values[value.raw]);
                    return true;
                }
                if (!is_branch(inst.op)) return end(inst, values);
                const Target& target = inst.targets[taken(inst, values)];
                incoming.clear();
                for (const ValueId value : target.args)
                    incoming.push_back(values[value.raw]);
                block = target.block;
            }
        }
    }

    bool end(const Instruction& inst, const std::vector<Bits>& values) {
        if (inst.op == Op::Unreachable) return stop(Ending::Unreachable);
        if (inst.op == Op::Trap) return stop(Ending::Trapped);
        out_.site = inst.imm;
        for (const ValueId value : inst.args)
            out_.values.push_back(values[value.raw]);
        return stop(Ending::Panicked);
    }

    static std::size_t taken(const Instruction& inst, const std::vector<Bits>& values) {
        if (inst.op == Op::Jump) return 0;
        const Bits value = values[inst.args[0].raw];
        if (inst.op == Op::Br) return value != 0 ? 0 : 1;
        for (std::size_t i = 0; i < inst.cases.size(); ++i) {
            if (inst.cases[i] == value) return i + 1;
        }
        return 0;
    }

    // ---- memory
    // ------------------------------------------------------------------------------------------------------

    std::uint8_t* at(Bits address, std::uint64_t size) {
        const auto region = static_cast<std::uint64_t>(address) >> 32;
        const std::uint64_t offset = static_cast<std::uint64_t>(address) & 0xFFFF'FFFFu;
        if (region == 0 || region > regions_.size()) return nullptr;
        auto& bytes = regions_[region - 1].bytes;
        return offset + size <= bytes.size() ? bytes.data() + offset : nullptr;
    }

    bool execute(const Function& function, const Instruction& inst, std::vector<Bits>& values, int depth) {
        const auto arg = [&](std::uint32_t i) { return values[inst.args[i].raw]; };
        const auto set = [&](Bits value) {
            values[inst.result().raw] = value & mask(type_bits(function.type_of(inst.result())));
            return true;
        };
        const auto bad = [&] { return stop(Ending::BadAccess, std::string(op_text(inst.op))); };
        switch (inst.op) {
            case Op::Const: return set((static_cast<Bits>(inst.imm_high) << 64) | inst.imm);
            case Op::GlobalAddr: return set(Bits{input_.buffers.size() + inst.global.raw + 1} << 32);
            case Op::Alloca: {
                regions_.push_back({std::vector<std::uint8_t>(inst.imm, 0)});
                return set(Bits{regions_.size()} << 32);
            }
            case Op::Nonnull: return set(arg(0));
            case Op::PtrAdd: return set(arg(0) + arg(1));
            case Op::Load: {
                const std::uint32_t size = type_bytes(inst.type);
                const std::uint8_t* from = at((arg(0) + inst.imm) & mask(64), size);
                if (from == nullptr) return bad();
                Bits value = 0;
                std::memcpy(&value, from, size);
                return set(value);
            }
            case Op::Store: {
                const std::uint32_t size = type_bytes(inst.type);
                std::uint8_t* to = at((arg(0) + inst.imm) & mask(64), size);
                if (to == nullptr) return bad();
                const Bits value = arg(1);
                std::memcpy(to, &value, size);
                return true;
            }
            case Op::Memcpy: {
                std::uint8_t* to = at(arg(0), inst.imm);
                const std::uint8_t* from = at(arg(1), inst.imm);
                if (to == nullptr || from == nullptr) return bad();
                std::memmove(to, from, inst.imm);
                return true;
            }
            case Op::Memset: {
                std::uint8_t* to = at(arg(0), inst.imm);
                if (to == nullptr) return bad();
                std::memset(to, static_cast<int>(arg(1)), inst.imm);
                return true;
            }
            case Op::Sreg: return set(input_.sregs[static_cast<std::size_t>(inst.sreg())]);
            case Op::LaunchDomain: return set(function.facts.domain);
            case Op::Asm:
            case Op::AsmMemory:
            case Op::AsmSync: return stop(Ending::Unsupported, "inline PTX");
            case Op::Vprintf: return stop(Ending::Unsupported, "printf");
            case Op::Barrier: ++out_.barriers; return true;
            case Op::Fence: return true;
            case Op::Machine:
            case Op::MachineMemory:
            case Op::MachineSync: return machine(function, inst, values);
            case Op::AtomicLoad:
            case Op::AtomicStore:
            case Op::AtomicRmw:
            case Op::AtomicCas: return atomic(inst, values) || bad();
            case Op::Call: return execute_call(inst, values, depth);
            default: break;
        }
        Bits result = 0;
        const Type from = function.type_of(inst.args[0]);
        if (is_float(inst.type) || is_float(from)) {
            if (!float_op(inst, from, values, result))
                return stop(Ending::Unsupported, std::string(op_text(inst.op)));
        } else if (!int_op(inst, from, values, result)) {
            return stop(Ending::Unsupported, std::string(op_text(inst.op)));
        }
        return set(result);
    }

    // Some value that depends on the row and its operands; of a row that is not pure, also on how many ran before it, as
    // other threads might have it.
    bool machine(const Function& function, const Instruction& inst, std::vector<Bits>& values) {
        Bits hash = inst.aux + 1;
        const auto mix = [&hash](Bits word) { hash = (hash ^ word) * Bits{0x9E37'79B9'7F4A'7C15u} + (hash >> 29); };
        if (inst.op != Op::Machine) mix(++out_.barriers);
        for (const ValueId value : inst.args)
            mix(values[value.raw]);
        for (const ValueId result : inst.results) {
            mix(7);
            values[result.raw] = (hash >> 11) & mask(type_bits(function.type_of(result)));
        }
        return true;
    }

    // Alone in memory; false when the address is bad. The operations that the goldens use.
    bool atomic(const Instruction& inst, std::vector<Bits>& values) {
        const std::uint32_t size = type_bytes(inst.type);
        std::uint8_t* place = at(values[inst.args[0].raw] & mask(64), size);
        if (place == nullptr) return false;
        Bits old = 0;
        std::memcpy(&old, place, size);
        const Bits operand = inst.args.size() > 1 ? values[inst.args[1].raw] : 0;
        Bits wanted = old;
        if (inst.op == Op::AtomicStore) wanted = operand;
        if (inst.op == Op::AtomicCas && old == operand) wanted = values[inst.args[2].raw];
        if (inst.op == Op::AtomicRmw) wanted = inst.atomic().op == AtomicOp::Add ? old + operand : old ^ operand;
        std::memcpy(place, &wanted, size);
        if (!inst.results.empty()) values[inst.result().raw] = old;
        return true;
    }

    bool execute_call(const Instruction& inst, std::vector<Bits>& values, int depth) {
        std::vector<Bits> args;
        for (const ValueId value : inst.args)
            args.push_back(values[value.raw]);
        std::vector<Bits> results;
        if (!call(module_.functions[inst.callee], args, results, depth + 1)) return false;
        for (std::uint32_t i = 0; i < inst.results.size(); ++i)
            values[inst.results[i].raw] = results[i];
        return true;
    }

    // ---- arithmetic
    // --------------------------------------------------------------------------------------------------

    static bool int_op(const Instruction& inst, Type from, const std::vector<Bits>& values, Bits& out) {
        const std::uint32_t n =
            type_bits(inst.op >= Op::Trunc && inst.op <= Op::SpaceCast ? from : inst.type);
        const Bits a = values[inst.args[0].raw];
        const Bits b = inst.args.size() > 1 ? values[inst.args[1].raw] : 0;
        const SignedBits sa = extend(a, n);
        const SignedBits sb = extend(b, n);
        const std::uint32_t s = static_cast<std::uint32_t>(b) % n;
        const auto leaves = [&](SignedBits v) { return extend(static_cast<Bits>(v) & mask(n), n) != v; };
        switch (inst.op) {
            case Op::Iadd: out = a + b; return true;
            case Op::Isub: out = a - b; return true;
            case Op::Imul: out = a * b; return true;
            case Op::Udiv: out = b == 0 ? 0 : a / b; return true;
            case Op::Urem: out = b == 0 ? 0 : a % b; return true;
            case Op::Sdiv: out = sb == 0 ? 0 : sb == -1 ? -a : static_cast<Bits>(sa / sb); return true;
            case Op::Srem: out = sb == 0 || sb == -1 ? 0 : static_cast<Bits>(sa % sb); return true;
            case Op::Umulh:
                if (n > 64) return false;
                out = (a * b) >> n;
                return true;
            case Op::Smulh:
                if (n > 64) return false;
                out = static_cast<Bits>((sa * sb) >> n);
                return true;
            case Op::Ineg: out = -a; return true;
            case Op::And: out = a & b; return true;
            case Op::Or: out = a | b; return true;
            case Op::Xor: out = a ^ b; return true;
            case Op::Not: out = ~a; return true;
            case Op::Shl: out = a << s; return true;
            case Op::Lshr: out = a >> s; return true;
            case Op::Ashr: out = static_cast<Bits>(sa >> s); return true;
            case Op::Rotl: out = s == 0 ? a : (a << s) | (a >> (n - s)); return true;
            case Op::Rotr: out = s == 0 ? a : (a >> s) | (a << (n - s)); return true;
            case Op::Smin: out = sa < sb ? a : b; return true;
            case Op::Smax: out = sa < sb ? b : a; return true;
            case Op::Umin: out = a < b ? a : b; return true;
            case Op::Umax: out = a < b ? b : a; return true;
            case Op::Iabs: out = sa < 0 ? -a : a; return true;
            case Op::Popcnt:
                for (Bits v = a; v != 0; v &= v - 1)
                    ++out;
                return true;
            case Op::Clz:
                for (std::uint32_t i = n; i-- > 0 && ((a >> i) & 1) == 0;)
                    ++out;
                return true;
            case Op::Ctz:
                for (std::uint32_t i = 0; i < n && ((a >> i) & 1) == 0; ++i)
                    ++out;
                return true;
            case Op::Bitrev:
                for (std::uint32_t i = 0; i < n; ++i)
                    out = (out << 1) | ((a >> i) & 1);
                return true;
            case Op::Bswap:
                for (std::uint32_t i = 0; i < n; i += 8)
                    out = (out << 8) | ((a >> i) & 0xFF);
                return true;
            case Op::UaddOv: out = n < 128 ? (a + b) > mask(n) : a + b < a; return true;
            case Op::UsubOv: out = a < b; return true;
            case Op::UmulOv:
                if (n > 64) return false;
                out = a * b > mask(n);
                return true;
            case Op::SaddOv:
                if (n > 64) return false;
                out = leaves(sa + sb);
                return true;
            case Op::SsubOv:
                if (n > 64) return false;
                out = leaves(sa - sb);
                return true;
            case Op::SmulOv:
                if (n > 64) return false;
                out = leaves(sa * sb);
                return true;
            case Op::Icmp: out = compare_ints(inst.int_cond(), a, b, sa, sb); return true;
            case Op::Select: out = a != 0 ? b : values[inst.args[2].raw]; return true;
            case Op::Trunc:
            case Op::Zext: out = a; return true;
            case Op::Sext: out = static_cast<Bits>(sa); return true;
            case Op::Bitcast:
            case Op::PtrToInt:
            case Op::IntToPtr:
            case Op::Nonnull:
            case Op::SpaceCast: out = a; return true;
            default: return false;
        }
    }

    static bool compare_ints(IntCond cond, Bits a, Bits b, SignedBits sa, SignedBits sb) {
        switch (cond) {
            case IntCond::Eq: return a == b;
            case IntCond::Ne: return a != b;
            case IntCond::Ult: return a < b;
            case IntCond::Ule: return a <= b;
            case IntCond::Ugt: return a > b;
            case IntCond::Uge: return a >= b;
            case IntCond::Slt: return sa < sb;
            case IntCond::Sle: return sa <= sb;
            case IntCond::Sgt: return sa > sb;
            case IntCond::Sge: return sa >= sb;
        }
        return false;
    }

    template <class F>
    static bool arithmetic(const Instruction& inst, F a, F b, F c, F& out) {
        switch (inst.op) {
            case Op::Fadd: out = a + b; return true;
            case Op::Fsub: out = a - b; return true;
            case Op::Fmul: out = a * b; return true;
            case Op::Fdiv: out = a / b; return true;
            case Op::Frem: out = std::fmod(a, b); return true;
            case Op::Fma: out = std::fma(a, b, c); return true;
            case Op::Fneg: out = -a; return true;
            case Op::Fabs: out = std::fabs(a); return true;
            case Op::Fcopysign: out = std::copysign(a, b); return true;
            case Op::Fmin:
                out = a == b ? (std::signbit(a) ? a : b) : std::fmin(a, b);
                return true;  // -0 < +0
            case Op::Fmax: out = a == b ? (std::signbit(a) ? b : a) : std::fmax(a, b); return true;
            case Op::Fsqrt: out = std::sqrt(a); return true;
            case Op::Ffloor: out = std::floor(a); return true;
            case Op::Fceil: out = std::ceil(a); return true;
            case Op::Ftrunc: out = std::trunc(a); return true;
            case Op::Frint: out = std::nearbyint(a); return true;
            default: return false;
        }
    }

    static bool compare_floats(FloatCond cond, double a, double b) {
        const bool nan = std::isnan(a) || std::isnan(b);
        switch (cond) {
            case FloatCond::Oeq: return a == b;
            case FloatCond::Une: return a != b;
            case FloatCond::Olt: return a < b;
            case FloatCond::Ole: return a <= b;
            case FloatCond::Ogt: return a > b;
            case FloatCond::Oge: return a >= b;
            case FloatCond::Ord: return !nan;
            case FloatCond::Uno: return nan;
            case FloatCond::Ueq: return nan || a == b;
            case FloatCond::One: return !nan && a != b;
            case FloatCond::Ult: return !(a >= b);
            case FloatCond::Ule: return !(a > b);
            case FloatCond::Ugt: return !(a <= b);
            case FloatCond::Uge: return !(a < b);
        }
        return false;
    }

    static Bits saturate(double value, std::uint32_t bits, bool is_signed) {
        if (std::isnan(value)) return 0;
        const double top = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
        if (value >= top) return is_signed ? mask(bits) >> 1 : mask(bits);
        if (is_signed && value < -top) return Bits{1} << (bits - 1);
        if (!is_signed && value < 0) return 0;
        return static_cast<Bits>(static_cast<SignedBits>(value));
    }

    static bool float_op(const Instruction& inst, Type from, const std::vector<Bits>& values, Bits& out) {
        const auto arg = [&](std::uint32_t i) { return i < inst.args.size() ? values[inst.args[i].raw] : 0; };
        const auto number = [&](std::uint32_t i) {
            return from == Type::F32 ? double{f32(arg(i))} : f64(arg(i));
        };
        const auto pack = [&](double value) {
            return inst.type == Type::F32 ? from_f32(static_cast<float>(value)) : from_f64(value);
        };
        if (inst.op == Op::Select) {
            out = arg(0) != 0 ? arg(1) : arg(2);
            return true;
        }
        if (inst.op == Op::Bitcast) {
            out = arg(0);
            return true;
        }
        const bool half = [&] {
            const auto is_half = [](Type type) { return type == Type::F16 || type == Type::BF16; };
            return is_half(inst.type) || is_half(from);
        }();
        if (half) return false;
        const std::uint32_t n = type_bits(from);
        switch (inst.op) {
            case Op::Fcmp: out = compare_floats(inst.float_cond(), number(0), number(1)); return true;
            case Op::Fcvt: out = pack(number(0)); return true;
            case Op::Fptosi:
                out = saturate(number(0), type_bits(inst.type), true);
                return type_bits(inst.type) <= 64;
            case Op::Fptoui:
                out = saturate(number(0), type_bits(inst.type), false);
                return type_bits(inst.type) <= 64;
            case Op::Sitofp: {
                const auto value = static_cast<std::int64_t>(extend(arg(0), n));
                out = inst.type == Type::F32 ? from_f32(static_cast<float>(value))
                                             : from_f64(static_cast<double>(value));
                return n <= 64;
            }
            case Op::Uitofp: {
                const auto value = static_cast<std::uint64_t>(arg(0));
                out = inst.type == Type::F32 ? from_f32(static_cast<float>(value))
                                             : from_f64(static_cast<double>(value));
                return n <= 64;
            }
            default: break;
        }
        if (inst.type == Type::F32) {
            float result = 0;
            if (!arithmetic<float>(inst, f32(arg(0)), f32(arg(1)), f32(arg(2)), result)) return false;
            out = from_f32(result);
            return true;
        }
        double result = 0;
        if (!arithmetic<double>(inst, f64(arg(0)), f64(arg(1)), f64(arg(2)), result)) return false;
        out = from_f64(result);
        return true;
    }

    const Module& module_;
    const Input& input_;
    std::vector<Region> regions_;
    std::uint64_t steps_ = 0;
    Outcome out_;
};

Bits interesting(Random& random, Type type) {
    if (is_float(type)) {
        const double numbers[] = {
            0.0, -0.0, 1.0, -2.5, 3.25, 1e10, -7.0, 0.125, std::numeric_limits<double>::infinity()};
        const double value = numbers[random.below(std::size(numbers))];
        if (type == Type::F32) return from_f32(static_cast<float>(value));
        return type == Type::F64 ? from_f64(value) : Bits{0x3C00};
    }
    const std::uint32_t bits = type_bits(type);
    switch (random.below(6)) {
        case 0: return random.below(4) & mask(bits);
        case 1: return mask(bits) - random.below(3);
        case 2: return (mask(bits) >> 1) + random.below(3);
        case 3: return random.next() & mask(bits);
        default: return random.below(100) & mask(bits);
    }
}

}  // namespace

Outcome interpret(const Module& module, const Function& function, const Input& input) {
    return Machine(module, input).run(function);
}

Input make_input(const Module&, const Function& function, std::uint32_t seed) {
    Random random(seed + 1);
    Input input;
    bool after_pointer = false;
    constexpr std::uint64_t kBufferBytes = 512;
    for (const ValueId param : function.blocks[function.entry()].params) {
        const Type type = function.type_of(param);
        if (is_ptr(type)) {
            Region region;
            for (std::uint64_t i = 0; i < kBufferBytes / 4;
                 ++i) {  // small floats, which are fine as integers too
                const auto word =
                    static_cast<std::uint32_t>(from_f32(static_cast<float>(random.below(64)) - 16));
                for (int b = 0; b < 4; ++b)
                    region.bytes.push_back(static_cast<std::uint8_t>(word >> (8 * b)));
            }
            input.buffers.push_back(std::move(region));
            input.args.push_back(Bits{input.buffers.size()} << 32);
        } else if (after_pointer && type == Type::I64) {
            const std::uint64_t lengths[] = {0, 1, 5, 32, 64};
            input.args.push_back(lengths[random.below(5)]);
        } else {
            input.args.push_back(interesting(random, type) & mask(type_bits(type)));
        }
        after_pointer = is_ptr(type);
    }
    input.sregs.assign(static_cast<std::size_t>(Sreg::Envreg2) + 1, 0);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto at = [&](Sreg x) -> std::uint64_t& {
            return input.sregs[static_cast<std::size_t>(x) + axis];
        };
        const std::uint64_t exact = function.facts.block[axis];
        at(Sreg::NtidX) = exact != 0 ? exact : 1 + random.below(axis == 0 ? 32 : 2);
        at(Sreg::TidX) = random.below(at(Sreg::NtidX));
        at(Sreg::NctaidX) = 1 + random.below(4);
        at(Sreg::CtaidX) = random.below(at(Sreg::NctaidX));
    }
    input.sregs[static_cast<std::size_t>(Sreg::LaneId)] =
        input.sregs[static_cast<std::size_t>(Sreg::TidX)] % 32;
    return input;
}

std::string compare(const Outcome& before, const Outcome& after) {
    if (before.ending == Ending::Unsupported || after.ending == Ending::Unsupported) {
        return "not interpreted: " + before.note + after.note;
    }
    const bool anything = before.ending == Ending::BadAccess || before.ending == Ending::Unreachable ||
                          before.ending == Ending::TooLong || after.ending == Ending::TooLong;
    if (anything) return {};
    if (before.ending != after.ending) {
        return "ends differently: " + std::to_string(static_cast<int>(before.ending)) + " became " +
               std::to_string(static_cast<int>(after.ending)) + " " + after.note;
    }
    if (before.site != after.site) return "another panic";
    if (before.values != after.values) {
        std::string text = "other values:";
        for (const Bits value : before.values)
            text += " " + std::to_string(static_cast<std::uint64_t>(value));
        text += " became";
        for (const Bits value : after.values)
            text += " " + std::to_string(static_cast<std::uint64_t>(value));
        return text;
    }
    if (before.barriers != after.barriers) return "another number of barriers";
    for (std::size_t i = 0; i < before.buffers.size(); ++i) {
        if (before.buffers[i].bytes != after.buffers[i].bytes)
            return "buffer " + std::to_string(i) + " differs";
    }
    return {};
}

}  // namespace ockc::test
