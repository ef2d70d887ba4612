// The lint unused_assignments: values given to variables that nothing reads before they are written over or end.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

struct UnusedAssignment {
    Symbol name;
    Span span;
    std::string_view how;   // "assigned", "passed"
};

// Of one body without errors; found while it is at hand, told when the whole program has turned out to be right.
void find_unused_assignments(const Body& body, check::Context& context, std::vector<UnusedAssignment>& out);
void report_unused_assignments(std::span<const UnusedAssignment> found, check::Context& context);

}  // namespace ockc::mir
