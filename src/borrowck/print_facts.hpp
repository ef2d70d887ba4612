// `--emit=mir`: a body with its regions and loans.
#pragma once
#include <string>

#include "borrowck/loans.hpp"

namespace ockc::borrowck {

// The body's text, and that of its promoted constants. docs/borrowck.md says how to read it.
std::string print_facts(BodyCx& cx, const LoanScopes& scopes);

}  // namespace ockc::borrowck
