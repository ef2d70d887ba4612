// One function while its body is written: a frame of its own, its variables, its cost and fuel.
#pragma once
#include "scope.hpp"

namespace ockc::difftest {

struct Generator::Body {
    Body(Generator& g, TypePtr result) : g_(g) {
        outside_.swap(g.variables_);
        g.frames_.push_back({result, false, {}});
        g.cost_ = 0;
        g.repeat_ = 1;
        g.fuel_ = static_cast<std::int32_t>(g.random_.between(6, 30));
        g.declare("s", g.int_type(64, false), false);
    }
    ~Body() {
        outside_.swap(g_.variables_);
        g_.frames_.pop_back();
    }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;

  private:
    Generator& g_;
    std::vector<Variable> outside_;
};

}  // namespace ockc::difftest
