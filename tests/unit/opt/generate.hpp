// Random modules in the shape in which lowering produces them: every variable a stack slot, aggregates copied
// with memcpy, references as generic pointers, helper calls with results through memory, checks as branches
// to panics. All loops end and all accesses are in bounds.
#pragma once
#include <cstdint>

#include "ir/ir.hpp"

namespace ockc::test {

// @root and a few helpers. `statements` is the rough size of each function body.
ir::Module generate(std::uint64_t seed, std::uint32_t statements);

// @root(x, y, z) -> a value: one expression tree over two numbers of one integer type and a float, with
// constants that rules look for. Small enough that the interesting coincidences (x + y - x) come up all the
// time.
ir::Module generate_expression(std::uint64_t seed);
// @root(x, y) -> which leaf: nested decisions that compare x, y, neighbours of them and small constants.
ir::Module generate_decisions(std::uint64_t seed);

}  // namespace ockc::test
