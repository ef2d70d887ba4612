#include "emu/isa.hpp"

namespace ockc::emu {
namespace {

#define OCKC_EMU_PLAIN_ENTRY(name) select_##name,
#define OCKC_EMU_BASELINE_ENTRY(name) baseline::select_##name,
constexpr IsaTable kBaseline = {OCKC_EMU_LANE_FAMILIES(OCKC_EMU_BASELINE_ENTRY)
                                    OCKC_EMU_PLAIN_FAMILIES(OCKC_EMU_PLAIN_ENTRY)};
#ifdef OCKC_EMU_AVX2
#define OCKC_EMU_AVX2_ENTRY(name) avx2::select_##name,
constexpr IsaTable kAvx2 = {OCKC_EMU_LANE_FAMILIES(OCKC_EMU_AVX2_ENTRY)
                                OCKC_EMU_PLAIN_FAMILIES(OCKC_EMU_PLAIN_ENTRY)};
#endif

}  // namespace

const IsaTable& isa_table() {
#ifdef OCKC_EMU_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return kAvx2;
#endif
    return kBaseline;
}

}  // namespace ockc::emu
