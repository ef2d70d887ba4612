// The text form of the IR (docs/ir.md has its grammar). Values and blocks are numbered in layout order, so
// equal functions print equally whatever their history. parse.hpp reads the text back.
#pragma once
#include <string>

#include "ir/ir.hpp"

namespace ockc::ir {

std::string print(const Module& module);
std::string print(const Module& module, const Function& function);
// One instruction with the function's own numbering, without indentation or line end; for messages.
std::string print_inst(const Module& module, const Function& function, InstId inst);

}  // namespace ockc::ir
