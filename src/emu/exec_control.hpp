// Handlers of ops that stand for no instruction of their own, and of the conditional branch.
#pragma once
#include "emu/op.hpp"

namespace ockc::emu {

Handlers joint_handlers();   // Op::next_rank
Handlers guard_handlers();   // Op::source[0], flip; guards the op behind it
Handlers branch_handlers();  // Op::source[0], flip, target, both ranks
Handlers print_handlers();   // exec_print.cpp; Op::index into Program::prints
Handlers jump_handlers();    // Op::target, target_rank

}  // namespace ockc::emu
