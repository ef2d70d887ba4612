// What Op::Fmachine's aux holds: which operation of machine_floats.def, how it rounds, and its flags.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ockc::ir {

enum class MachineFloatOp : std::uint8_t {
#define OCKC_MACHINE_FLOAT(name, text, arity, kind, types, form, doc) name,
#include "ir/machine_floats.def"
};
enum class MachineFloatKind : std::uint8_t { Rounded, Divided, Approx };
enum class MachineFloatTypes : std::uint8_t { Single, Both };
enum class FloatRounding : std::uint8_t { Rn, Rz, Rm, Rp };

struct MachineFloatInfo {
    std::string_view text;
    std::uint8_t arity;
    MachineFloatKind kind;
    MachineFloatTypes types;
};
const MachineFloatInfo& machine_float_info(MachineFloatOp op);

struct MachineFloat {
    MachineFloatOp op = MachineFloatOp::Add;
    FloatRounding rounding = FloatRounding::Rn;   // Rounded and Divided
    bool ftz = false;                             // subnormal operands and results count as zero
    bool sat = false;                             // Rounded: the result is clamped to [0, 1], NaN gives 0

    std::uint8_t code() const;                    // one number for all of it, for Instruction::aux
    static MachineFloat from_code(std::uint8_t code);
};

// `fma_rz_ftz_sat`, `ex2_approx_ftz`: the name in the text form, and of the library's functions.
std::string machine_float_text(MachineFloat what);
std::optional<MachineFloat> machine_float_from_text(std::string_view text);

}  // namespace ockc::ir
