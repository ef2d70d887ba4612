// The intrinsics that the library declares and lower turns into IR; intrinsics.def is the one list.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ockc::intrinsic {

enum class Intrinsic : std::uint16_t {
#define OCKC_INTRINSIC(name, key, arity, effect, min_sm, doc) name,
#include "intrinsic/intrinsics.def"
};
enum class Effect : std::uint8_t { Pure, Memory, Convergent, Diverge };

struct Info {
    std::string_view key;
    std::uint8_t arity;
    Effect effect;
    std::uint16_t min_sm;
    std::string_view doc;
};
const Info& info(Intrinsic intrinsic);
std::optional<Intrinsic> from_key(std::string_view key);
std::size_t count();

}  // namespace ockc::intrinsic
