// The room where the two wings meet: generic MIR in, monomorphic SSA IR and the kernels' ABI out.
//
// Instances are found by a worklist that starts at the kernels; each (function, arguments) pair becomes one IR function.
// A body is lowered in one pass over its blocks: every MIR local with bytes gets a stack slot, places become addresses,
// scalars and scalar pairs travel as values. That is naive on purpose: sroa and mem2reg (src/opt) do the rest.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "abi/kernel_abi.hpp"
#include "check/context.hpp"
#include "ir/ir.hpp"
#include "mir/mir.hpp"
#include "source/source_map.hpp"

namespace ockc::lower {

struct Input {
    check::Context& context;
    const SourceMap& sources;
    // The MIR of a function, constant or closure, built on demand; null when it has errors (reported).
    std::function<const mir::Body*(DefId)> mir;
    bool fast_math = false;                                   // what `intrinsics::fast_math()` gives
    std::string source_name;                                  // "vecadd.rsk"
    std::vector<std::pair<std::string, std::string>> consts = {}, partitions = {};   // as in CompileOptions
};

struct Output {
    ir::Module module;
    abi::ModuleAbi abi;
};

// Errors that only concrete types show (a type too large, an unsupported intrinsic) go to the context's sink.
Output lower(const Input& input);

}  // namespace ockc::lower
