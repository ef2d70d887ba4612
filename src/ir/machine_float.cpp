#include "ir/machine_float.hpp"

#include <iterator>

namespace ockc::ir {

namespace {

constexpr MachineFloatInfo kMachineFloats[] = {
#define OCKC_MACHINE_FLOAT(name, text, arity, kind, types, form, doc) \
    {text, arity, MachineFloatKind::kind, MachineFloatTypes::types},
#include "ir/machine_floats.def"
};
constexpr std::string_view kRoundings[] = {"rn", "rz", "rm", "rp"};

// Codes: 16 for a row with a rounding (rounding, ftz, sat), 2 for an approximate one (ftz).
constexpr std::uint8_t kFirstApprox = static_cast<std::uint8_t>(MachineFloatOp::DivApprox);
constexpr std::uint8_t kApproxCodes = kFirstApprox * 16;
static_assert(kApproxCodes + (std::size(kMachineFloats) - kFirstApprox) * 2 <= 256);

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

}  // namespace

const MachineFloatInfo& machine_float_info(MachineFloatOp op) {
    return kMachineFloats[static_cast<std::size_t>(op)];
}

std::uint8_t MachineFloat::code() const {
    const auto row = static_cast<std::uint8_t>(op);
    const auto flush = static_cast<std::uint8_t>(ftz);
    if (row >= kFirstApprox) return static_cast<std::uint8_t>(kApproxCodes + (row - kFirstApprox) * 2 + flush);
    const auto round = static_cast<std::uint8_t>(rounding);
    return static_cast<std::uint8_t>(row * 16 + round * 4 + flush * 2 + static_cast<std::uint8_t>(sat));
}

MachineFloat MachineFloat::from_code(std::uint8_t code) {
    MachineFloat out;
    if (code >= kApproxCodes) {
        out.op = static_cast<MachineFloatOp>(kFirstApprox + (code - kApproxCodes) / 2);
        out.ftz = (code & 1) != 0;
        return out;
    }
    out.op = static_cast<MachineFloatOp>(code / 16);
    out.rounding = static_cast<FloatRounding>(code / 4 % 4);
    out.ftz = (code & 2) != 0;
    out.sat = (code & 1) != 0;
    return out;
}

std::string machine_float_text(MachineFloat what) {
    const MachineFloatInfo& info = machine_float_info(what.op);
    std::string text(info.text);
    if (info.kind != MachineFloatKind::Approx) {
        text += '_';
        text += kRoundings[static_cast<std::size_t>(what.rounding)];
    }
    if (what.ftz) text += "_ftz";
    if (what.sat) text += "_sat";
    return text;
}

std::optional<MachineFloat> machine_float_from_text(std::string_view text) {
    MachineFloat out;
    out.sat = take_suffix(text, "_sat");
    out.ftz = take_suffix(text, "_ftz");
    bool rounded = false;
    for (std::size_t i = 0; i < std::size(kRoundings) && !rounded; ++i) {
        if (text.size() < 3 || text.substr(text.size() - 2) != kRoundings[i]) continue;
        if (text[text.size() - 3] != '_') continue;
        text.remove_suffix(3);
        out.rounding = static_cast<FloatRounding>(i);
        rounded = true;
    }
    for (std::size_t i = 0; i < std::size(kMachineFloats); ++i) {
        const MachineFloatInfo& info = kMachineFloats[i];
        if (info.text != text || rounded != (info.kind != MachineFloatKind::Approx)) continue;
        if (out.sat && info.kind != MachineFloatKind::Rounded) return std::nullopt;
        out.op = static_cast<MachineFloatOp>(i);
        return out;
    }
    return std::nullopt;
}

}  // namespace ockc::ir
