// The name of a definition: an item, variant, field, generic parameter .. of any crate of the compilation (the user's
// file and the built-in library share one numbering). hir::Program owns what a DefId stands for.
#pragma once
#include "support/id.hpp"

namespace ockc {

using DefId = Id<struct DefTag>;

}  // namespace ockc
