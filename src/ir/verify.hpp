// Checks the invariants listed at the head of verify.cpp. Passes may rely on them and must keep them.
#pragma once
#include "ir/ir.hpp"
#include "support/result.hpp"

namespace ockc::ir {

// The failure text has one line per violation (at most 20): "@vecadd bb3: `%5 = iadd.i32 %3, %4`: operand 1
// is i64".
Status verify(const Module& module);
Status verify(const Module& module, const Function& function);

}  // namespace ockc::ir
