// One launch, planned: every argument as bytes, grid and block, checked against the kernel's signature and contract.
#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "abi/kernel_abi.hpp"
#include "driver/npy.hpp"
#include "driver/options.hpp"
#include "support/result.hpp"

namespace ockc::driver {

struct PlannedArgument {
    const abi::KernelParam* param = nullptr;
    Array array;                 // slices and pointers
    std::vector<std::uint32_t> box;   // tensor maps: extents of the array's boxes
    std::uint32_t swizzle = 0;        // and the bytes of their swizzle
    std::string scalar;          // by-value parameters: bytes
    bool is_array() const;
};
struct LaunchPlan {
    const abi::KernelAbi* kernel = nullptr;
    std::vector<PlannedArgument> arguments;    // by kernel parameter
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared = 0;
    std::vector<std::pair<std::string, std::string>> constants;   // symbol and bytes
};

// The failure text says what is wrong with the command line.
Result<LaunchPlan> plan_launch(const abi::ModuleAbi& module, const LaunchOptions& options);

}  // namespace ockc::driver
