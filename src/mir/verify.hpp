// Invariants of MIR, checked after building in debug builds and by the tests.
#pragma once
#include <string>
#include <vector>

#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

// Every broken invariant, one line each; empty when the body is well formed.
std::vector<std::string> verify(const Body& body, check::Context& context);

// OCKC_CHECKs that every body of the program is well formed, in release builds too.
void verify(const Program& program, check::Context& context);

// OCKC_CHECKs that verify finds nothing; does nothing with NDEBUG.
void verify_or_die(const Body& body, check::Context& context);

}  // namespace ockc::mir
