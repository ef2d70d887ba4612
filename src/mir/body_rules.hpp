// Rules of typed bodies that are seen best on MIR, before drops are elaborated.
#pragma once
#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

// Reports references to unaligned fields of packed types (E0793) and destructors that constants would run (E0493).
// False when there is one.
bool check_body_rules(const Body& body, check::Context& context);

}  // namespace ockc::mir
