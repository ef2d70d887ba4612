// A folder of its own for one test case, and the program under test in it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "driver/process.hpp"

namespace ockc::cli_test {

inline constexpr std::string_view kVecadd = R"(use cuda_device::{DisjointSlice, cuda_module, kernel, launch_bounds, launch_contract, thread};

#[cuda_module]
mod kernels {
    use super::*;

    #[kernel]
    #[launch_bounds(256)]
    #[launch_contract(domain = 1, block = (256, 1, 1))]
    pub fn vecadd(a: &[f32], b: &[f32], mut c: DisjointSlice<f32>) {
        let idx = thread::index_1d();
        let i = idx.get();
        if let Some(c_elem) = c.get_mut(idx) {
            *c_elem = a[i] + b[i];
        }
    }
}
)";

class Sandbox {
  public:
    Sandbox();
    ~Sandbox();
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;

    std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
    void write(std::string_view name, std::string_view text) const;
    std::string read(std::string_view name) const;
    bool exists(std::string_view name) const;
    std::vector<std::string> files() const;      // names, sorted

    // Runs ockc; arguments that start with `:` are names in the sandbox.
    driver::ProcessResult ockc(std::vector<std::string> arguments, const std::string& input = {}) const;

  private:
    std::string folder_;
};

}  // namespace ockc::cli_test
