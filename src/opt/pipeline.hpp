// The optimiser's entry: which passes run in which order.
#pragma once
#include <chrono>
#include <functional>

#include "ir/ir.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

// Called after each pass on each function; for --time-passes and --emit of intermediate forms.
struct PassEvent {
    Pass pass;
    const ir::Module& module;
    const ir::Function& function;
    bool changed;
    std::chrono::nanoseconds time;
};
using PassHook = std::function<void(const PassEvent&)>;

// Only the passes that come first: calls inlined, what can be a value made one. Tiles must be values before tile::lower.
void run_early(ir::Module& module, const Options& options);
// Optimises every function; functions that no kernel needs any more are marked `removed`. In a module without
// kernels all functions are kept.
void run(ir::Module& module, const Options& options, const PassHook& hook = {});

}  // namespace ockc::opt
