// The call graph: an order with callees before callers, and which functions are needed.
#pragma once
#include <vector>

#include "ir/ir.hpp"

namespace ockc::opt {

// Every function that is not removed, callees first; inside a cycle of calls the order is by id.
std::vector<ir::FuncId> callees_first(const ir::Module& module);
// Marks the functions that no kernel reaches by calls as removed. Without kernels all stay.
void remove_uncalled(ir::Module& module);

}  // namespace ockc::opt
