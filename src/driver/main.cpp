// The command line program: options, then one command.
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "driver/commands.hpp"
#include "driver/device.hpp"
#include "driver/exit_code.hpp"

namespace ockc::driver {
namespace {

int dispatch(const Options& options) {
    switch (options.command) {
        case Command::Compile: return run_compile(options);
        case Command::Check: return run_check(options);
        case Command::Inspect: return run_inspect(options);
        case Command::Launch: return run_launch(options);
        case Command::New: return run_new(options);
        case Command::Run: return run_project(options);
        case Command::Doctor: return run_doctor(options);
        case Command::Explain: return run_explain(options);
    }
    return kInternalError;
}

}  // namespace
}  // namespace ockc::driver

int main(int argc, char** argv) {
    using namespace ockc::driver;
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    std::variant<Options, EarlyExit> parsed = parse_options(arguments);
    if (const auto* exit = std::get_if<EarlyExit>(&parsed)) {
        std::fputs(exit->text.c_str(), exit->code == kOk ? stdout : stderr);
        return worst(exit->code, flush_output());
    }
    Options& options = std::get<Options>(parsed);
    if (options.error_format == ockc::DiagnosticFormat::Json) messages_as_json();
    if (const int code = check_library(options); code != kOk) return code;
    for (std::string& target : options.compile.targets) {
        if (target != "native") continue;
        ockc::Result<std::string> native = native_target();
        if (!native.ok()) {
            print_error("--target native: " + native.error());
            return kEnvironment;
        }
        target = std::move(native.value());
    }
    const int code = dispatch(options);
    return worst(code, flush_output());
}
