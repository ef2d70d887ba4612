// 32-bit typed indices. An Id<Tag> names an element of the one store that owns things of that kind.
#pragma once
#include <cstdint>
#include <functional>

namespace ockc {

template <class Tag>
struct Id {
    static constexpr std::uint32_t kNone = 0xFFFF'FFFFu;
    std::uint32_t raw = kNone;

    constexpr Id() = default;
    constexpr explicit Id(std::uint32_t index) : raw(index) {}
    static constexpr Id none() { return Id(); }
    constexpr bool valid() const { return raw != kNone; }
    constexpr explicit operator bool() const { return valid(); }
    constexpr std::uint32_t index() const { return raw; }
    friend constexpr bool operator==(Id, Id) = default;
    friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace ockc

template <class Tag>
struct std::hash<ockc::Id<Tag>> {
    std::size_t operator()(ockc::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.raw); }
};
