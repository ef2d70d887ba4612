#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "abi/panic_record.hpp"
#include "driver/device.hpp"
#include "driver/device_arguments.hpp"
#include "driver/launch_plan.hpp"
#include "driver/launch_value.hpp"
#include "driver/pipeline.hpp"
#include "driver/process.hpp"
#include "driver/ptxas.hpp"
#include "ptx/form.hpp"
#include "support/file_io.hpp"

namespace ockc::filetest {

namespace {

class Runner {
  public:
    Runner(const TestFile& test, const RunOptions& options, Report& report) : test_(test), options_(options), report_(report) {}

    void run() {
        CompileOptions compile_options = test_.options;
        compile_options.error_limit = 1000;   // marks want every error
        for (const char* dump : {"ast", "hir", "mir", "ir", "ir-tile"}) {
            if (file_exists(side_path(dump))) compile_options.dumps.emplace_back(dump);
        }
        const CompileInput input{test_.name, test_.reads_files ? test_.path : "", test_.text};
        const CompileResult result = compile(input, compile_options);
        check_marks(result);
        compare("stderr", rendered(result), false);
        const std::size_t before = report_.failures.size();
        if (result.ok) {
            assemble_everywhere();
            run_launches(0);
            run_launches(3);
            check_facts(result);
        } else if (!test_.launches.empty() || !test_.facts.empty()) {
            fail(0, "the file does not compile, so nothing could be run");
        }
        // Bless nothing that ptxas or the emulator refuses.
        const bool may_bless = report_.failures.size() == before;
        for (const auto& [kind, text] : result.dumps) compare(kind, text, may_bless);
        if (result.ok) {
            compare("ptx", result.images[0].ptx, may_bless);
            compare("h", result.header, may_bless);
        }
    }

  private:
    void fail(std::uint32_t line, const std::string& text) {
        report_.failures.push_back(line == 0 ? fmt::format("{}: {}", test_.path, text) : fmt::format("{}:{}: {}", test_.path, line, text));
    }

    std::string side_path(std::string_view kind) const {
        return fmt::format("{}.{}", test_.path.substr(0, test_.path.rfind('.')), kind);
    }

    static std::string rendered(const CompileResult& result) {
        std::string text;
        for (const DiagnosticText& one : result.diagnostics) text += one.rendered + "\n";
        return text + result.summary;
    }

    // Every error needs a mark and every mark an error. Warnings need marks only in files that mark some.
    void check_marks(const CompileResult& result) {
        std::vector<bool> used(test_.marks.size(), false);
        const auto is_warning_mark = [](const Mark& mark) { return mark.code.find('_') != std::string::npos; };
        const bool marks_warnings = std::any_of(test_.marks.begin(), test_.marks.end(), is_warning_mark);
        for (const DiagnosticText& one : result.diagnostics) {
            if (!one.is_error && !marks_warnings) continue;
            bool found = false;
            for (std::size_t i = 0; i < used.size() && !found; ++i) {
                const Mark& mark = test_.marks[i];
                const bool code = mark.code == one.code || (mark.code == "error" && one.code.empty());
                if (used[i] || mark.line != one.line || !code || one.message.find(mark.text) == std::string::npos) continue;
                used[i] = found = true;
            }
            if (!found) fail(one.line, fmt::format("not marked: {}[{}]: {}", one.is_error ? "error" : "warning", one.code, one.message));
        }
        for (std::size_t i = 0; i < used.size(); ++i) {
            if (!used[i]) fail(test_.marks[i].line, fmt::format("marked, but not reported: {} {}", test_.marks[i].code, test_.marks[i].text));
        }
    }

    void compare(std::string_view kind, const std::string& text, bool may_bless) {
        const std::string path = side_path(kind);
        if (!file_exists(path)) return;
        ++report_.compared;
        const Result<std::string> expected = read_file(path, 1u << 30);
        if (expected.ok() && expected.value() == text) return;
        if (options_.bless && (may_bless || kind == "stderr")) {
            if (const Status written = write_file_if_changed(path, text); !written.ok()) fail(0, written.error());
            ++report_.blessed;
            return;
        }
        fail(0, fmt::format("{} differs ({}):\n{}", path, options_.bless ? "not blessed: see the failures above" : "--bless rewrites it",
                            first_difference(expected.ok() ? expected.value() : "", text)));
    }

    static std::string first_difference(std::string_view want, std::string_view have) {
        std::uint32_t line = 1;
        while (true) {
            const std::string_view a = want.substr(0, want.find('\n')), b = have.substr(0, have.find('\n'));
            if (a != b || (want.empty() && have.empty())) return fmt::format("  line {}\n  - {}\n  + {}", line, a, b);
            want.remove_prefix(std::min(a.size() + 1, want.size()));
            have.remove_prefix(std::min(b.size() + 1, have.size()));
            ++line;
        }
    }

    // The PTX of every target at or above the floor, through ptxas when there is one.
    void assemble_everywhere() {
        if (options_.ptxas.empty()) return;
        CompileOptions compile_options = test_.options;
        compile_options.want_header = false;
        if (!test_.has_target) {
            compile_options.targets.clear();
            for (const ptx::TargetInfo& target : ptx::all_targets()) {
                if (target.sm >= 80) compile_options.targets.emplace_back(target.text);
            }
        }
        const CompileResult result = compile({test_.name, "", test_.text}, compile_options);
        for (const CompiledImage& image : result.images) {
            const Result<driver::Assembled> assembled = driver::assemble(options_.ptxas, {image.target, image.embedded, {}});
            if (assembled.ok()) {
                ++report_.assembled;
            } else {
                fail(0, fmt::format("ptxas refuses the PTX for {}:\n{}", image.target, assembled.error()));
            }
        }
    }

    void check_facts(const CompileResult& result) {
        const std::string& ptx = result.images[0].ptx;
        for (const PtxFact& fact : test_.facts) {
            std::uint32_t count = 0;
            for (std::size_t at = ptx.find(fact.text); at != std::string::npos; at = ptx.find(fact.text, at + 1)) ++count;
            const bool holds = fact.kind == PtxFact::Kind::Has ? count > 0 : fact.kind == PtxFact::Kind::Lacks ? count == 0 : count == fact.count;
            if (!holds) fail(fact.line, fmt::format("`{}` occurs {} times in the PTX", fact.text, count));
        }
    }

    void run_launches(int level) {
        if (test_.launches.empty()) return;
        CompileOptions compile_options = test_.options;
        compile_options.opt_level = level;
        compile_options.want_header = false;
        abi::ModuleAbi abi;
        const CompileResult result = driver::compile_with_abi({test_.name, "", test_.text}, compile_options, {}, abi);
        if (!result.ok) return fail(0, fmt::format("does not compile at -O{}", level));
        gpu_.reset();
        for (const Launch& launch : test_.launches) run_launch(launch, level, result.images[0], abi);
    }

    void run_launch(const Launch& launch, int level, const CompiledImage& image, const abi::ModuleAbi& abi) {
        const auto failed = [&](const std::string& text) { fail(launch.line, fmt::format("at -O{}: {}", level, text)); };
        Result<driver::LaunchPlan> plan = plan_of(launch, abi);
        if (!plan.ok() && !launch.fails.empty() && plan.error().find(launch.fails) != std::string::npos) return;   // refused before it runs
        if (!plan.ok()) return failed(plan.error());
        driver::LaunchPlan gpu_plan = plan.value();
        const Result<std::string> outcome = run_on(driver::open_emulator(false), image, plan.value(), abi.panic_sites);
        ++report_.launches;
        if (options_.gpu && !(options_.clean_only && !launch.fails.empty())) run_on_gpu(launch, level, image, gpu_plan, plan.value());
        if (!launch.fails.empty()) {
            if (outcome.ok()) return failed("the launch succeeds, but should fail");
            if (outcome.error().find(launch.fails) == std::string::npos) failed("fails with other words: " + outcome.error());
            return;
        }
        if (!outcome.ok()) return failed(outcome.error());
        if (launch.prints && *launch.prints != outcome.value()) failed("prints other text:\n" + first_difference(*launch.prints, outcome.value()));
        for (const Expectation& expect : launch.expectations) {
            if (const std::string wrong = check(expect, plan.value()); !wrong.empty()) fail(expect.line, fmt::format("at -O{}: {}", level, wrong));
        }
    }

    // A failed kernel ends every later launch of its process, so one that must fail gets a process of its own.
    void run_on_gpu(const Launch& launch, int level, const CompiledImage& image, driver::LaunchPlan& plan, const driver::LaunchPlan& emulated) {
        ++report_.gpu_launches;
        const auto failed = [&](const std::string& text) { fail(launch.line, fmt::format("on the GPU at -O{}: {}", level, text)); };
        if (!launch.fails.empty()) {
            const Result<driver::ProcessResult> child =
                driver::run_process({options_.self, "--failing-launch", std::to_string(launch.line), std::to_string(level), test_.path});
            if (!child.ok() || child.value().exit_code == 1) return failed("the launch does not fail");
            if (child.value().exit_code != 0) failed("fails with other words: " + child.value().output);
            return;
        }
        const Result<std::string> outcome = run_on_loaded_gpu(image, plan);
        if (!outcome.ok()) return failed(outcome.error());
        for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
            const driver::Array& gpu = plan.arguments[i].array;
            const driver::Array& emulator = emulated.arguments[i].array;
            const std::uint32_t width = abi::scalar_info(gpu.type).bytes;
            const auto element = [&](const driver::Array& array, std::uint64_t at) { return driver::preview({array.type, {1}, array.bytes.substr(at * width, width)}); };
            for (std::uint64_t at = 0; at < gpu.size(); ++at) {
                if (same_element(gpu, emulator, at)) continue;
                failed(fmt::format("`{}` differs from the emulator's: element {} is {}, there {}", plan.arguments[i].param->name, at, element(gpu, at),
                                   element(emulator, at)));
                break;
            }
        }
    }

    static bool has_memory(std::string_view ptx) {
        if (ptx.find(".visible .const") != std::string_view::npos) return true;  // constants that the host sets
        for (std::size_t at = 0; (at = ptx.find(".global .", at)) != std::string_view::npos; ++at) {
            const std::string_view line = ptx.substr(at, ptx.find('\n', at) - at);
            if (line.find(abi::kPanicRecordSymbol) == std::string_view::npos) return true;
        }
        return false;
    }

    // The image stays loaded for the launches of one level, unless it has memory of its own that a launch could leave changed.
    Result<std::string> run_on_loaded_gpu(const CompiledImage& image, driver::LaunchPlan& plan) {
        if (has_memory(image.ptx)) return run_on(driver::open_cuda(0), image, plan);
        if (!gpu_) {
            Result<std::unique_ptr<driver::LaunchDevice>> device = driver::open_cuda(0);
            if (!device.ok()) return Failure{device.error()};
            gpu_ = std::move(device.value());
            if (Status loaded = gpu_->load(image, {}); !loaded.ok()) return Failure{loaded.error()};
        }
        Result<std::string> outcome = execute(plan, *gpu_);
        if (!outcome.ok()) gpu_.reset();  // its context is lost
        return outcome;
    }

    // Bit for bit, but that NaNs are equal: a GPU makes one NaN, a CPU several.
    static bool same_element(const driver::Array& a, const driver::Array& b, std::uint64_t at) {
        const std::uint32_t width = abi::scalar_info(a.type).bytes;
        return a.bytes.compare(at * width, width, b.bytes, at * width, width) == 0 || (driver::is_nan_element(a, at) && driver::is_nan_element(b, at));
    }

  public:
    static Result<driver::LaunchPlan> plan_of(const Launch& launch, const abi::ModuleAbi& abi) {
        driver::LaunchOptions how;
        how.kernel = launch.kernel;
        for (const auto& [name, value] : launch.args) {   // `const:NAME=VALUE` sets constant memory
            if (name.starts_with("const:")) how.constants.emplace_back(name.substr(6), value);
            else how.args.emplace_back(name, value);
        }
        how.grid = launch.grid;
        how.block = launch.block;
        return driver::plan_launch(abi, how);
    }

    static Result<std::string> run_on(Result<std::unique_ptr<driver::LaunchDevice>> device, const CompiledImage& image, driver::LaunchPlan& plan,
                                      std::span<const abi::PanicSite> sites = {}) {
        if (!device.ok()) return Failure{device.error()};
        if (Status loaded = device.value()->load(image, sites); !loaded.ok()) return Failure{loaded.error()};
        return execute(plan, *device.value());
    }

  private:
    // Uploads, runs, downloads every array; what the kernel printed.
    static Result<std::string> execute(driver::LaunchPlan& plan, driver::LaunchDevice& device) {
        const Result<driver::DeviceArguments> arguments = driver::DeviceArguments::upload(plan, device);
        if (!arguments.ok()) return Failure{arguments.error()};
        const Result<double> time = arguments.value().launch(plan, device);
        if (!time.ok()) return Failure{time.error()};
        for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
            if (!plan.arguments[i].is_array()) continue;
            if (Status s = arguments.value().download(plan, device, i); !s.ok()) return Failure{s.error()};
        }
        return device.take_printed();
    }

    static std::string check(const Expectation& expect, const driver::LaunchPlan& plan) {
        for (const driver::PlannedArgument& argument : plan.arguments) {
            if (argument.param->name != expect.array || !argument.is_array()) continue;
            const driver::Array& array = argument.array;
            const std::uint64_t size = array.size();
            if (expect.kind == Expectation::Kind::List && (expect.prefix ? size < expect.values.size() : size != expect.values.size())) {
                return fmt::format("`{}` has {} elements, the list {}", expect.array, size, expect.values.size());
            }
            const std::uint64_t count = expect.kind == Expectation::Kind::All ? size : expect.values.size();
            for (std::uint64_t i = 0; i < count; ++i) {
                const std::string& value = expect.kind == Expectation::Kind::All ? expect.values[0] : expect.values[i];
                const std::uint64_t at = expect.kind == Expectation::Kind::Element ? expect.index : i;
                if (at >= size) return fmt::format("`{}` has no element {}", expect.array, at);
                if (const std::string wrong = check_element(array, at, value); !wrong.empty()) return wrong;
            }
            return {};
        }
        return fmt::format("no array `{}`", expect.array);
    }

    // Bit for bit, but any NaN is `nan`.
    static std::string check_element(const driver::Array& array, std::uint64_t at, const std::string& value) {
        const std::uint32_t width = abi::scalar_info(array.type).bytes;
        const std::string have = array.bytes.substr(at * width, width);
        if (value == "nan") {
            return driver::is_nan_element(array, at) ? "" : fmt::format("element {} is no NaN", at);
        }
        const Result<std::string> want = driver::parse_scalar(array.type, value);
        if (!want.ok()) return want.error();
        if (want.value() == have) return {};
        return fmt::format("element {} is {}, not {}", at, driver::preview({array.type, {1}, have}), value);
    }

    const TestFile& test_;
    const RunOptions& options_;
    Report& report_;
    std::unique_ptr<driver::LaunchDevice> gpu_;  // with the image of the present level loaded
};

}  // namespace

void run_test(const TestFile& test, const RunOptions& options, Report& report) { Runner(test, options, report).run(); }

int run_failing_launch(const TestFile& test, const RunOptions& options) {
    CompileOptions compile_options = test.options;
    compile_options.opt_level = options.only_level;
    abi::ModuleAbi abi;
    const CompileResult result = driver::compile_with_abi({test.name, "", test.text}, compile_options, {}, abi);
    for (const Launch& launch : test.launches) {
        if (launch.line != options.only_line || !result.ok) continue;
        Result<driver::LaunchPlan> plan = Runner::plan_of(launch, abi);
        if (!plan.ok()) return 2;
        const Result<std::string> outcome = Runner::run_on(driver::open_cuda(0), result.images[0], plan.value(), abi.panic_sites);
        if (outcome.ok()) return 1;
        fmt::print("{}\n", outcome.error());
        // With --panic trap a GPU does not say which check failed.
        return compile_options.panic_message && outcome.error().find(launch.fails) == std::string::npos ? 3 : 0;
    }
    return 2;
}

}  // namespace ockc::filetest
