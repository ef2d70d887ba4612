// `ockc doctor`: what is installed, what is missing and what that costs, with the fix. A missing GPU or toolkit is
// information, never a failure.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "driver/commands.hpp"
#include "driver/device.hpp"
#include "driver/exit_code.hpp"
#include "driver/process.hpp"
#include "driver/ptxas.hpp"
#include "ockc/version.hpp"

namespace ockc::driver {

namespace {

void line(bool found, std::string_view what, std::string_view detail) { print_output(fmt::format("[{}] {:<22} {}\n", found ? "ok" : "--", what, detail)); }
void fix(std::string_view text) { print_output(fmt::format("     {:<22} fix: {}\n", "", text)); }

// The last line that holds `needle`, of what a tool prints for --version.
std::string version_of(const std::string& tool, std::string_view needle) {
    const Result<ProcessResult> run = run_process({tool, "--version"});
    if (!run.ok()) return "does not run: " + run.error();
    const std::string& text = run.value().output;
    const std::size_t at = text.rfind(needle);
    if (at == std::string::npos) return text.substr(0, text.find('\n'));
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
}

void check_emulator() {
    const Result<std::unique_ptr<LaunchDevice>> device = open_emulator(false);
    line(device.ok(), "emulator", device.ok() ? "built in: every kernel runs without a GPU" : device.error());
}

void check_gpu() {
    const Result<std::unique_ptr<LaunchDevice>> device = open_cuda(0);
    if (device.ok()) {
        const std::uint32_t sm = device.value()->compute_capability();
        line(true, "GPU", fmt::format("{}, compute capability {}.{} (--target sm_{})", device.value()->name(), sm / 10, sm % 10, sm));
        return;
    }
    line(false, "GPU", device.error() + "; kernels run on the emulator");
    fix("install an NVIDIA driver to run on a GPU; nothing else needs one");
}

void check_ptxas() {
    const std::string ptxas = find_ptxas();
    if (!ptxas.empty()) return line(true, "ptxas", fmt::format("{} ({})", ptxas, version_of(ptxas, "release")));
    line(false, "ptxas", "not found: PTX is not assembled after compiling; cubin, fatbin and reports are not available");
    fix("install the CUDA Toolkit 12 or newer, or set OCK_PTXAS to the path of ptxas");
}

void check_toolkit_tool(const std::string& name, std::string_view use) {
    const std::string path = find_cuda_tool(name);
    line(!path.empty(), name, path.empty() ? fmt::format("not found: {}", use) : path);
    if (path.empty()) fix("it comes with the CUDA Toolkit");
}

void check_build_tool(const std::string& name, const std::string& package, std::string_view use) {
    const std::string path = find_on_path(name);
    line(!path.empty(), name, path.empty() ? fmt::format("not found: {}", use) : fmt::format("{} ({})", path, version_of(path, name)));
    if (path.empty()) fix("apt-get install " + package);
}

}  // namespace

int run_doctor(const Options&) {
    line(true, "ockc", fmt::format("{}, runtime ABI {}", kVersion, kRuntimeAbi));
    check_emulator();
    check_gpu();
    check_ptxas();
    check_toolkit_tool("fatbinary", "--emit=fatbin is not available");
    check_toolkit_tool("cuobjdump", "`inspect --emit=sass` needs it or nvdisasm");
    check_build_tool("cmake", "cmake", "needed by `ockc new` projects");
    check_build_tool("g++", "g++", "needed to build programs that launch kernels (or clang++)");
    check_build_tool("ninja", "ninja-build", "optional: faster builds than make");
    return kOk;
}

}  // namespace ockc::driver
