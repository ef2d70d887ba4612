// Cfg, dominators and loops of the function that the passes work on: found when a pass first asks for them, and kept for the
// next ones until a pass has changed the function's edges. Blocks that cannot be reached are in none of them, so dropping such
// blocks changes nothing here.
#pragma once
#include <optional>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/analysis/loops.hpp"

namespace ockc::opt {

class Analyses {
  public:
    void start(const ir::Function& function) {
        function_ = &function;
        forget();
    }
    void forget() {
        loops_.reset();
        dominators_.reset();
        cfg_.reset();
    }
    const ir::Cfg& cfg() {
        if (!cfg_) cfg_.emplace(*function_);
        return *cfg_;
    }
    const ir::Dominators& dominators() {
        if (!dominators_) dominators_.emplace(cfg());
        return *dominators_;
    }
    const ir::Loops& loops() {
        if (!loops_) loops_.emplace(cfg(), dominators());
        return *loops_;
    }

  private:
    const ir::Function* function_ = nullptr;
    std::optional<ir::Cfg> cfg_;
    std::optional<ir::Dominators> dominators_;
    std::optional<ir::Loops> loops_;
};

}  // namespace ockc::opt
