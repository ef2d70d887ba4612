#include "rustc.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "diag/lint_levels.hpp"
#include "driver/process.hpp"

namespace ockc::oracle {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string find_rustc() {
    if (std::string found = driver::find_on_path("rustc"); !found.empty()) return found;
    const char* home = std::getenv("HOME");
    const fs::path rustup = fs::path(home != nullptr ? home : "") / ".cargo/bin/rustc";
    return fs::exists(rustup) ? rustup.string() : std::string();
}

// What one message of rustc's says, if it is an error or a warning of a lint that ockc has.
void add_errors(const json& message, std::vector<RustcError>& errors) {
    if (message["spans"].empty()) return;
    RustcError made;
    made.code = message["code"].is_null() ? "" : message["code"]["code"].get<std::string>();
    made.message = message.value("message", "");
    made.rendered = message.value("rendered", "");
    const bool warning = message.value("level", "") == "warning" && find_lint(made.code) != nullptr;
    if (message.value("level", "") != "error" && !warning) return;
    // ockc knows its attributes by name, imported or not.
    if (made.message.rfind("cannot find attribute `", 0) == 0) return;
    for (const json& span : message["spans"]) {
        if (!span["is_primary"].get<bool>()) continue;
        made.line = span["line_start"].get<std::uint32_t>();
        errors.push_back(made);
        if (!warning) return;
    }
}

}  // namespace

Rustc::Rustc(std::string shim, std::string work) : rustc_(find_rustc()), shim_(std::move(shim)), work_(std::move(work)) {}

bool Rustc::is_usable() const {
    if (rustc_.empty()) return false;
    const Result<driver::ProcessResult> run = driver::run_process({rustc_, "--version"});
    if (!run.ok() || run.value().output.rfind("rustc 1.", 0) != 0) return false;
    return std::atoi(run.value().output.c_str() + 8) >= kOldestMinor;
}

bool Rustc::build_shim() const {
    const std::vector<std::vector<std::string>> commands = {
        {rustc_, "--edition", "2024", "--crate-type", "proc-macro", shim_ + "/cuda_macros.rs", "--out-dir", work_},
        {rustc_, "--edition", "2024", "--crate-type", "lib", "-A", "warnings", "-L", work_, shim_ + "/cuda_device.rs", "--out-dir", work_},
        {rustc_, "--edition", "2024", "--crate-type", "lib", "-L", work_, shim_ + "/cuda_host.rs", "--out-dir", work_},
    };
    for (const auto& command : commands) {
        const Result<driver::ProcessResult> run = driver::run_process(command);
        if (run.ok() && run.value().exit_code == 0) continue;
        fmt::print("cannot build the stand-in crates:\n{}\n", run.ok() ? run.value().error_output : run.error());
        return false;
    }
    return true;
}

std::vector<RustcError> Rustc::check(const std::string& path, int edition, std::size_t slot, Warnings warnings) const {
    const std::string out = fmt::format("{}/out{}", work_, slot);
    std::error_code error;
    fs::create_directories(out, error);
    std::vector<std::string> command = {
        rustc_, "--edition", edition == 2021 ? "2021" : "2024", "--crate-type", "lib", "--crate-name", "test", "--emit=mir",
        "--error-format=json", "-L", work_, "--extern", "cuda_device", "--extern", "cuda_host", "--out-dir", out, path};
    if (warnings == Warnings::Off) command.insert(command.end(), {"-A", "warnings"});
    const Result<driver::ProcessResult> run = driver::run_process(command);
    if (!run.ok()) return {{run.error(), 0, {}, {}}};
    std::vector<RustcError> errors;
    std::string_view rest = run.value().error_output;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const json message = json::parse(rest.substr(0, end), nullptr, false);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!message.is_discarded()) add_errors(message, errors);
    }
    return errors;
}

}  // namespace ockc::oracle
