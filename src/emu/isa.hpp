// Which compiled set of lane handlers runs here. A selector turns a form with its modifiers into handlers; a
// form without any (which exec.def and a test rule out) gives none.
#pragma once
#include <cstdint>

#include "emu/op.hpp"
#include "ptx/form.hpp"

namespace ockc::emu {

// What a selector needs to know of an instruction: plain data.
struct Request {
    ptx::Form form;
    ptx::Mods mods;
    std::uint8_t dest_bytes = 0;    // width of the first destination's register; of a list: of its elements
    std::uint8_t source_bytes = 0;  // the same for the first source (of a store: the value)
    bool fixed_param = false;       // a load of a kernel parameter at an offset known now
    bool special = false;           // a mov from a special register
    bool prints = false;            // a call of vprintf
};
using Selector = Handlers (*)(const Request&);

// ONE ROW PER FAMILY of handlers: X(name). Lane families are compiled for each instruction set.
#define OCKC_EMU_LANE_FAMILIES(X) \
    X(integer)                    \
    X(carry)                      \
    X(logic)                      \
    X(float_arith)                \
    X(convert)                    \
    X(compare)                    \
    X(move)                       \
    X(load)                       \
    X(store)
#define OCKC_EMU_PLAIN_FAMILIES(X) \
    X(float_rounded)               \
    X(float_approx)                \
    X(special)                     \
    X(async)                       \
    X(cluster)                     \
    X(atomic)                      \
    X(control)                     \
    X(barrier)                     \
    X(matrix)                      \
    X(wgmma)                       \
    X(tensor)                      \
    X(warp_op)

struct IsaTable {
#define OCKC_EMU_FAMILY_FIELD(name) Selector name = nullptr;
    OCKC_EMU_LANE_FAMILIES(OCKC_EMU_FAMILY_FIELD)
    OCKC_EMU_PLAIN_FAMILIES(OCKC_EMU_FAMILY_FIELD)
#undef OCKC_EMU_FAMILY_FIELD
};

// The best set that this processor can run.
const IsaTable& isa_table();

#define OCKC_EMU_SELECTOR_DECLARATION(name) Handlers select_##name(const Request& request);
OCKC_EMU_PLAIN_FAMILIES(OCKC_EMU_SELECTOR_DECLARATION)
namespace baseline {
OCKC_EMU_LANE_FAMILIES(OCKC_EMU_SELECTOR_DECLARATION)
}
namespace avx2 {
OCKC_EMU_LANE_FAMILIES(OCKC_EMU_SELECTOR_DECLARATION)
}
#undef OCKC_EMU_SELECTOR_DECLARATION

}  // namespace ockc::emu
