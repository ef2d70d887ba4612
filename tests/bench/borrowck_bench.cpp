// bench_borrowck: the time that MIR and the borrow checker take for one function of 2,000 statements with 500 loans, as the compiler's own clock
// has it. The median of 21 runs; fails at 20 ms or more.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ockc/compiler.hpp"

using namespace ockc;

namespace {

std::string source() {
    std::string text = "use cuda_device::cuda_module;\n#[cuda_module]\nmod kernels {\nfn g(r: &mut u32) -> u32 { *r += 1; *r }\n";
    text += "fn f() -> u32 {\nlet mut sum = 0u32;\n";
    for (int i = 0; i < 500; ++i) {
        text += fmt::format("let mut x{0} = sum;\nlet r{0} = &mut x{0};\n*r{0} += 1;\nsum += g(r{0});\n", i);
    }
    return text + "sum\n}\n}\n";
}

}  // namespace

int main() {
    constexpr double kMost = 20;
    const std::string text = source();
    std::vector<double> times;
    for (int run = 0; run < 21; ++run) {
        CompileOptions options;
        options.check_only = true;
        const CompileResult result = compile(CompileInput{"bench.rsk", {}, text}, options);
        for (const PhaseTime& phase : result.times) {
            if (phase.phase == "mir and borrows") times.push_back(phase.milliseconds);
        }
    }
    if (times.empty()) {
        fmt::print("the program was not checked\n");
        return 1;
    }
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    fmt::print("borrowck      {:9.2f} ms  (2,000 statements, 500 loans; median of {} runs)\n", median, times.size());
    return median < kMost ? 0 : 1;
}
