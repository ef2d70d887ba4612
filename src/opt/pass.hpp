// What a pass is: a function that changes one ir::Function in place and says whether it did. passes.def lists
// them all; pipeline.cpp puts them in order.
#pragma once
#include <cstdint>
#include <string_view>

#include "ir/ir.hpp"
#include "opt/analyses.hpp"

namespace ockc::opt {

struct Options {
    int level = 3;        // -O0 .. -O3
    bool fmad = true;     // may a * b + c become one fma
    bool verify = false;  // check the IR after every pass that changed it (debug builds always do)
};

// What a pass may see beside the function it works on. It may read the other functions but change none of
// them.
struct PassContext {
    const ir::Module& module;
    const Options& options;
    Analyses& analyses;  // of the function it works on
};

using PassFunction = bool (*)(ir::Function& function, const PassContext& context);

enum class Pass : std::uint8_t {
#define OCKC_OPT_PASS(name, text, function, min_level, changes, doc) name,
#include "opt/passes.def"
};

enum class Changes : std::uint8_t { Values, Edges };
struct PassInfo {
    std::string_view name;  // "mem2reg"
    PassFunction run;
    int min_level;  // the lowest -O that runs it
    Changes changes;
    std::string_view doc;
};
const PassInfo& pass_info(Pass pass);
inline constexpr std::size_t kPassCount = 0
#define OCKC_OPT_PASS(name, text, function, min_level, changes, doc) +1
#include "opt/passes.def"
    ;

#define OCKC_OPT_PASS(name, text, function, min_level, changes, doc) \
    bool function(ir::Function& function, const PassContext& context);
#include "opt/passes.def"

}  // namespace ockc::opt
