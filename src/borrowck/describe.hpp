// Places as the user would write them.
#pragma once
#include <optional>
#include <string>

#include "borrowck/body_cx.hpp"

namespace ockc::borrowck {

// "x", "x.f", "*x", "a[_]"; nothing for temporaries.
std::optional<std::string> describe(const BodyCx& cx, const Place& place);
// "`x`", or "value".
std::string quoted(const BodyCx& cx, const Place& place);
// Is the place a closure's captured variable: the index of its field. Looks through the reference that a capture may be.
// The captured variable that the place of a closure's body starts from; empty: none.
std::string upvar_name(const BodyCx& cx, const Place& place);
std::optional<std::uint32_t> upvar_of(const BodyCx& cx, const Place& place);
bool is_user_variable(const BodyCx& cx, LocalId local);

}  // namespace ockc::borrowck
