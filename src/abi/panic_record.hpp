// The record of the first failed check of a module: 64 bytes of host memory that the device can write. The PTX of a
// module with checks has one variable `ock_panic_record`, the record's address; a loader that leaves it 0 gets a plain
// trap. The thread that takes the record fills it in, makes it visible to the host and traps; every other thread whose
// check fails ends. runtime/include/ock/panic.hpp has the same layout for programs.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "abi/kernel_abi.hpp"

namespace ockc::abi {

struct PanicRecord {
    std::uint32_t taken = 0;                   // 0 or 1
    std::uint32_t site = 0;                    // index into ModuleAbi::panic_sites
    std::array<std::uint64_t, 2> values{};     // for the holes of the site's text, in order (runtime/include/ock/panic_text.hpp)
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> thread{};
    std::array<std::uint64_t, 2> more_values{};   // for holes beyond those
};
static_assert(sizeof(PanicRecord) == 64);
inline constexpr std::size_t kPanicWords = 4;

inline constexpr std::string_view kPanicRecordSymbol = "ock_panic_record";
inline constexpr std::string_view kPanicFunctionSymbol = "ock_panic";
inline constexpr std::string_view kWidePanicFunctionSymbol = "ock_panic_4";   // of checks with more than two words

// "index out of bounds: the len is 4 but the index is 9, vecadd.rsk:12:18, block (0,0,0) thread (9,0,0)"; empty when no
// thread took the record or the site is not one of `sites`.
std::string panic_text(const PanicRecord& record, std::span<const PanicSite> sites);
// The site's text with its holes filled in.
std::string panic_message(const PanicRecord& record, const PanicSite& site);

}  // namespace ockc::abi
