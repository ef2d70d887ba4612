// MIR as text, in the shape of rustc's dumps.
#pragma once
#include <string>

#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

std::string print(const Body& body, const check::Context& context);
// Every body of the user's crate, in the order they were built.
std::string print(const Program& program, const check::Context& context);

std::string place_text(const Body& body, const check::Context& context, const Place& place);
std::string operand_text(const Body& body, const check::Context& context, const Operand& operand);
std::string rvalue_text(const Body& body, const check::Context& context, const Rvalue& value);
std::string statement_text(const Body& body, const check::Context& context, const Statement& statement);
std::string terminator_text(const Body& body, const check::Context& context, const Terminator& terminator);

}  // namespace ockc::mir
