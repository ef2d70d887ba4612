// `ockc launch FILE KERNEL`: compile, plan, run on the emulator or a GPU, print what came out.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "driver/commands.hpp"
#include "driver/device.hpp"
#include "driver/device_arguments.hpp"
#include "driver/exit_code.hpp"
#include "driver/launch_plan.hpp"
#include "driver/launch_value.hpp"
#include "driver/output_plan.hpp"
#include "driver/pipeline.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace {

// The device asked for by --device, else by OCK_DEVICE, else a GPU when there is one, else the emulator.
Result<std::unique_ptr<LaunchDevice>> open_device(const LaunchOptions& options) {
    std::string name = options.device;
    if (name.empty()) {
        const char* variable = std::getenv("OCK_DEVICE");
        name = variable != nullptr ? variable : "";
    }
    if (name == "emulator") return open_emulator(options.check_races);
    if (name.rfind("cuda:", 0) == 0) {
        int ordinal = -1;
        const auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), ordinal);
        if (error == std::errc() && end == name.data() + name.size() && ordinal >= 0) return open_cuda(ordinal);
    }
    if (!name.empty()) return Failure{fmt::format("`{}` is not a device: write emulator or cuda:N", name)};
    if (options.check_races) return open_emulator(true);
    Result<std::unique_ptr<LaunchDevice>> gpu = open_cuda(0);
    if (gpu.ok()) return gpu;
    print_note(gpu.error() + ": the emulator runs the kernel");
    return open_emulator(false);
}

// The best image that the device can run: the highest target not above its capability.
const CompiledImage* best_image(const CompileResult& result, std::uint32_t capability) {
    const CompiledImage* best = nullptr;
    std::uint32_t best_sm = 0;
    for (const CompiledImage& image : result.images) {
        std::uint32_t sm = 0;
        const char* begin = image.target.data() + 3;
        const auto parsed = std::from_chars(begin, image.target.data() + image.target.size(), sm);
        const bool specific = *parsed.ptr == 'a';
        if (sm > capability || (specific && sm != capability) || sm < best_sm) continue;
        best = &image;
        best_sm = sm;
    }
    return best;
}

class Run {
  public:
    Run(const Options& options, LaunchPlan plan, LaunchDevice& device) : options_(options), plan_(std::move(plan)), device_(device) {}

    int run() {
        Result<DeviceArguments> uploaded = DeviceArguments::upload(plan_, device_);
        if (!uploaded.ok()) return failed(uploaded.error());
        arguments_ = std::move(uploaded.value());
        std::vector<double> times;
        for (std::uint32_t i = 0; i < options_.launch.repeat; ++i) {
            const Result<double> time = arguments_.launch(plan_, device_);
            print_output(device_.take_printed());
            if (!time.ok()) return failed(time.error());
            times.push_back(time.value());
        }
        if (const int code = report(); code != kOk) return code;
        if (options_.launch.repeat > 1) {
            std::sort(times.begin(), times.end());
            print_output(fmt::format("time: {:.4f} ms median of {} runs on {}\n", times[times.size() / 2], times.size(), device_.name()));
        }
        return kOk;
    }

  private:
    int failed(const std::string& text) {
        print_error(fmt::format("kernel `{}` failed on {}\n{}", plan_.kernel->name, device_.name(), text));
        return kKernelFailed;
    }

    int report() {
        for (std::size_t i = 0; i < plan_.arguments.size(); ++i) {
            PlannedArgument& argument = plan_.arguments[i];
            if (!argument.is_array()) continue;
            const std::string& name = argument.param->name;
            const auto wanted = [&](const auto& save) { return save.first == name; };
            const bool saved = std::any_of(options_.launch.saves.begin(), options_.launch.saves.end(), wanted);
            if (!argument.param->writable && !saved) continue;
            if (Status s = arguments_.download(plan_, device_, i); !s.ok()) return failed(s.error());
            if (argument.param->writable) {
                print_output(fmt::format("{}: {}[{}] = {}\n", name, abi::scalar_info(argument.array.type).rust, fmt::join(argument.array.shape, ", "),
                           preview(argument.array)));
            }
            for (const auto& [save, file] : options_.launch.saves) {
                if (save != name) continue;
                if (Status s = write_file_if_changed(file, format_npy(argument.array)); !s.ok()) {
                    print_error("cannot write " + s.error());
                    return kEnvironment;
                }
            }
        }
        return kOk;
    }

    const Options& options_;
    LaunchPlan plan_;
    LaunchDevice& device_;
    DeviceArguments arguments_;
};

}  // namespace

int run_launch(const Options& options) {
    const std::optional<CompileInput> input = read_input(options.files[0]);
    if (!input) return kEnvironment;
    CompileOptions compile_options = options.compile;
    compile_options.want_header = false;
    abi::ModuleAbi abi;
    const CompileResult result = compile_with_abi(*input, compile_options, diagnostic_options(options), abi);
    print_diagnostics(result, options);
    if (!result.ok) return kSourceErrors;
    for (const auto& [name, file] : options.launch.saves) {
        for (const std::string& source : result.dependencies) {
            if (!same_file(file, source)) continue;
            print_error(fmt::format("--save {}={} would overwrite the source {}", name, file, source));
            return kBadCommandLine;
        }
    }
    Result<LaunchPlan> plan = plan_launch(abi, options.launch);
    if (!plan.ok()) {
        print_error(plan.error());
        return kBadCommandLine;
    }
    Result<std::unique_ptr<LaunchDevice>> device = open_device(options.launch);
    if (!device.ok()) {
        print_error(device.error());
        return kEnvironment;
    }
    const CompiledImage* image = best_image(result, device.value()->compute_capability());
    if (image == nullptr) {
        print_error(fmt::format("no target of the compilation runs on {} (compute capability {}.{})", device.value()->name(),
                                device.value()->compute_capability() / 10, device.value()->compute_capability() % 10));
        return kEnvironment;
    }
    if (Status loaded = device.value()->load(*image, abi.panic_sites); !loaded.ok()) {
        print_error("the device does not load the PTX that ockc made; this is a bug in ockc, please report it\n" + loaded.error());
        return kPtxRejected;
    }
    return Run(options, std::move(plan.value()), *device.value()).run();
}

}  // namespace ockc::driver
