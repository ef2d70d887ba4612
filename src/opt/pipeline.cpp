// The order of passes, as flat lists. Callees come before callers: each function first takes in its callees'
// bodies, which have been through the `early` list already, and is cleaned up itself. What no kernel calls
// any more is dropped; the rest goes through the `main` list, at -O1 the `quick` one, several functions side by side.
#include "opt/pipeline.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <vector>

#include "ir/verify.hpp"
#include "opt/call_order.hpp"
#include "opt/compact.hpp"
#include "opt/edit.hpp"

namespace ockc::opt {

namespace {

constexpr PassInfo kPasses[] = {
#define OCKC_OPT_PASS(name, text, function, min_level, changes, doc) {text, function, min_level, Changes::changes, doc},
#include "opt/passes.def"
};

// From memory to values, one level of references at a time: the second round splits what the first round's
// references pointed to.
constexpr Pass kEarly[] = {
    Pass::RemoveDeadBlocks, Pass::Inline, Pass::SroaEarly, Pass::Mem2Reg, Pass::InstCombine, Pass::SimplifyCfg,
};
constexpr Pass kEarlyAgain[] = {
    Pass::SroaEarly, Pass::Mem2Reg, Pass::InstCombine, Pass::JumpThreading, Pass::SimplifyCfg, Pass::Dce,
};

// -O1: nothing that only pays after loops have been changed, which -O1 does not do.
constexpr Pass kQuick[] = {
    Pass::Sroa,        Pass::Mem2Reg,       Pass::InstCombine, Pass::SimplifyCfg,   Pass::JumpThreading,
    Pass::SimplifyCfg, Pass::DropNonnull,   Pass::InferSpaces, Pass::LocalAtomics,  Pass::InstCombine,
    Pass::Dce,         Pass::Gvn,           Pass::Facts,       Pass::InstCombine,   Pass::SimplifyCfg,
    Pass::JumpThreading,
    Pass::SimplifyCfg, Pass::IfConvert,     Pass::SimplifyCfg, Pass::DropAssumptions, Pass::SimplifyCfg,
    Pass::InstCombine, Pass::Contract,      Pass::Dse,         Pass::Dce,           Pass::SimplifyCfg,
    Pass::Sink,        Pass::OrderBlocks,
};

constexpr Pass kMain[] = {
    // What is left of memory, and what inlining made constant.
    Pass::Sroa,
    Pass::Mem2Reg,
    Pass::Sccp,
    Pass::InstCombine,
    Pass::SimplifyCfg,
    Pass::JumpThreading,
    Pass::SimplifyCfg,
    Pass::DropNonnull,
    Pass::InferSpaces,
    Pass::LocalAtomics,
    Pass::InstCombine,
    Pass::Dce,
    // Redundancy: equal values, implied checks.
    Pass::MergeParams,
    Pass::Gvn,
    Pass::Facts,
    Pass::InstCombine,
    Pass::SimplifyCfg,
    Pass::JumpThreading,
    Pass::SimplifyCfg,
    Pass::IfConvert,
    Pass::SimplifyCfg,
    Pass::IfConvert,
    Pass::SimplifyCfg,
    Pass::InstCombine,
    // Loops.
    Pass::MergeParams,
    Pass::MergeExits,
    Pass::RotateLoops,
    Pass::SimplifyCfg,
    // What an inclusive range tests second, after whether it is over.
    Pass::RotateLoops,
    Pass::SimplifyCfg,
    Pass::Licm,
    Pass::Unroll,
    Pass::Sccp,
    Pass::SimplifyCfg,
    Pass::Unroll,
    Pass::Sccp,
    Pass::SimplifyCfg,
    // Unrolling gives constant indices: arrays on the stack split again.
    Pass::InstCombine,
    Pass::Sroa,
    Pass::Mem2Reg,
    Pass::Dce,
    Pass::InferSpaces,
    Pass::InstCombine,
    Pass::Gvn,
    Pass::Facts,
    Pass::InstCombine,
    Pass::SimplifyCfg,
    Pass::JumpThreading,
    Pass::SimplifyCfg,
    // Checks that are left in loops; licm gives each a block in front.
    Pass::Licm,
    Pass::SplitChecks,
    Pass::InstCombine,
    Pass::Facts,
    Pass::SimplifyCfg,
    Pass::Licm,
    Pass::UnrollCounted,
    Pass::JoinExits,
    Pass::SimplifyCfg,
    // The machine: 32-bit arithmetic, fma.
    Pass::DropAssumptions,
    Pass::SimplifyCfg,
    Pass::Narrow,
    Pass::InstCombine,
    Pass::Contract,
    Pass::Gvn,
    Pass::Licm,
    Pass::Dse,
    Pass::Dce,
    Pass::SimplifyCfg,
    Pass::Sink,
    Pass::OrderBlocks,
};

// Passes that go on until they find nothing more: asked again at once, they would find nothing either.
constexpr bool goes_on(Pass pass) {
    return pass == Pass::SimplifyCfg || pass == Pass::JumpThreading;
}

// How one function stands while passes run over it.
struct Progress {
    explicit Progress(ir::Function& f) : function(f) { analyses.start(f); }

    ir::Function& function;
    Analyses analyses;
    std::array<std::uint32_t, std::size(kPasses)> idle_at{};  // by pass: the version it left alone
    std::uint32_t version = 1;
};

// Functions that go through a list together: few enough to stay in the cache.
constexpr std::size_t kSideBySide = 16;

class Pipeline {
  public:
    Pipeline(ir::Module& module, const Options& options, const PassHook& hook)
        : module_(module), options_(options), hook_(hook) {}

    void run() {
        const std::vector<ir::FuncId> order = callees_first(module_);
        early(order);
        std::vector<ir::FuncId> left;
        for (const ir::FuncId id : order) {
            if (!module_.functions[id].removed) left.push_back(id);
        }
        const std::span<const Pass> rest = options_.level == 1 ? std::span<const Pass>(kQuick) : kMain;
        for (std::size_t i = 0; i < left.size(); i += kSideBySide) {
            run_side_by_side(std::span(left).subspan(i, std::min(kSideBySide, left.size() - i)), rest);
        }
    }

    void early(const std::vector<ir::FuncId>& order) {
        for (const ir::FuncId id : order) {
            ir::Function& function = module_.functions[id];
            Progress progress(function);
            for (const Pass pass : kEarly) step(pass, progress);
            // Nobody copies a kernel: what it needs besides, its main list does.
            if (!function.is_kernel || has_slots(function)) {
                for (const Pass pass : kEarlyAgain) step(pass, progress);
            }
            compact(function);
        }
        remove_uncalled(module_);
    }

  private:
    // Pass by pass, each over all of the functions: its code is read into the cache once for them.
    void run_side_by_side(std::span<const ir::FuncId> ids, std::span<const Pass> passes) {
        std::deque<Progress> all;
        for (const ir::FuncId id : ids) all.emplace_back(module_.functions[id]);
        for (const Pass pass : passes) {
            for (Progress& progress : all) step(pass, progress);
        }
    }

    // A pass that found nothing to do is not asked again before another one has changed the function.
    void step(Pass pass, Progress& progress) {
        std::uint32_t& idle = progress.idle_at[static_cast<std::size_t>(pass)];
        if (options_.level < pass_info(pass).min_level || idle == progress.version) return;
        const CrashContext crash("optimising", progress.function.name);
        const bool changed = run_pass(pass, progress);
        if (changed) ++progress.version;
        if (!changed || goes_on(pass)) idle = progress.version;
    }

    bool run_pass(Pass pass, Progress& progress) {
        const PassInfo& info = pass_info(pass);
        const CrashContext crash("running pass", info.name);
        const auto start = hook_ ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
        ir::Function& function = progress.function;
        const bool changed = info.run(function, {module_, options_, progress.analyses});
        if (changed && info.changes == Changes::Edges) {
            function.all_reachable = false;
            progress.analyses.forget();
        }
        if (hook_) hook_({pass, module_, function, changed, std::chrono::steady_clock::now() - start});
#ifdef NDEBUG
        const bool check = options_.verify;
#else
        const bool check = true;
#endif
        if (!check || !changed) return changed;
        const Status status = ir::verify(module_, function);
        OCKC_CHECK_MSG(status.ok(), status.error());
        return changed;
    }

    ir::Module& module_;
    const Options& options_;
    const PassHook& hook_;
};

}  // namespace

const PassInfo& pass_info(Pass pass) {
    return kPasses[static_cast<std::size_t>(pass)];
}

void run_early(ir::Module& module, const Options& options) {
    const PassHook none;
    Pipeline(module, options, none).early(callees_first(module));
}

void run(ir::Module& module, const Options& options, const PassHook& hook) {
    Pipeline(module, options, hook).run();
}

}  // namespace ockc::opt
