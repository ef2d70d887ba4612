// Helpers for enums generated from .def tables: names by value, value by name.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace ockc {

// The position of `name` in `names` as an E, or nothing. Linear: tables of a few dozen rows, cold paths.
template <class E>
std::optional<E> enum_from_name(std::span<const std::string_view> names, std::string_view name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return static_cast<E>(i);
    }
    return std::nullopt;
}

// The entry of `names` nearest to `name` by edit distance, for "did you mean" helps; empty when none is near
// (distance above a third of the name's length, rounded up).
std::string_view nearest_name(std::span<const std::string_view> names, std::string_view name);

}  // namespace ockc
