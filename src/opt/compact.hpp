// Gives back what a function no longer holds.
#pragma once
#include "ir/ir.hpp"

namespace ockc::opt {

// Numbers blocks, values and instructions anew, in layout order: those that no block of the layout holds go. Every
// pass has tables of the size of the stores, so that this is worth a sweep where much has been dropped.
void compact(ir::Function& function);
// Frees the body of a function that is removed.
void drop_body(ir::Function& function);

}  // namespace ockc::opt
