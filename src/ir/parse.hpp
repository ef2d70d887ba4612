// Reads the text form of print.hpp back. The first error stops the reader: "line 7: unknown operation `iad`".
// The result is well formed as text only; verify.hpp says whether it is well formed as IR.
#pragma once
#include <string_view>

#include "ir/ir.hpp"
#include "support/result.hpp"

namespace ockc::ir {

Result<Module> parse(std::string_view text);

}  // namespace ockc::ir
