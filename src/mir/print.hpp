// MIR as text, in the shape of rustc's dumps.
#pragma once
#include <functional>
#include <string>

#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

// What an analysis has to say about a body, woven into its text. The functions may be empty.
struct Notes {
    std::function<std::string(LocalId)> local_type;      // in place of the type as the body has it
    std::function<std::string(Location)> borrow_region;   // of the borrow made there: `&'3 _1`
    std::function<std::string(Location)> comment;         // behind the statement; empty: none
    std::vector<std::string> table;                       // comments in front of the blocks
};

std::string print(const Body& body, const check::Context& context, const Notes& notes = {});
// Every body of the user's crate, in the order they were built.
std::string print(const Program& program, const check::Context& context);

std::string place_text(const Body& body, const check::Context& context, const Place& place);
std::string operand_text(const Body& body, const check::Context& context, const Operand& operand);
std::string rvalue_text(const Body& body, const check::Context& context, const Rvalue& value);
std::string statement_text(const Body& body, const check::Context& context, const Statement& statement);
std::string terminator_text(const Body& body, const check::Context& context, const Terminator& terminator);

}  // namespace ockc::mir
