// HIR and TypeTables to MIR. In: bodies that check accepted. Out: one mir::Body per function, constant, static and closure.
// Errors of what is not supported yet go to the sink; such a body is left out.
#pragma once
#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

struct BuildOptions {
    bool overflow_checks = false;   // `+ - * << >> -x` assert instead of wrapping
    std::uint32_t edition = 2024;   // 2021: temporaries of tail expressions and of `if let` live longer
};

// Builds the body of `owner` and those of the closures in it. False when it has errors (reported) or no body.
bool build_body(Program& program, check::Context& context, DefId owner, const BuildOptions& options = {});

// Forgets the body of `owner` and those of its closures.
void drop_body(Program& program, const check::Context& context, DefId owner);

// Builds every body that check_program checked. False when errors were reported.
bool build(Program& program, check::Context& context, const BuildOptions& options = {});

}  // namespace ockc::mir
