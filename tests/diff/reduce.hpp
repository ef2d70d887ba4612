// Makes a failing program smaller: roots that do not matter give 0, then items and statements go, as long as it still fails.
#pragma once
#include <functional>

#include "model.hpp"

namespace ockc::difftest {

// `fails` compiles and runs a candidate; candidates that rustc refuses do not count as failing.
Program reduce(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace ockc::difftest
