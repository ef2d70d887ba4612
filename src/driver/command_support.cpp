#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/limits.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

void print_error(const std::string& text) { fmt::print(stderr, "error: {}\n", text); }
void print_note(const std::string& text) { fmt::print(stderr, "note: {}\n", text); }

int worst(int a, int b) { return a > b ? a : b; }

std::optional<CompileInput> read_input(const std::string& path) {
    Result<std::string> text = read_file(path, kMaxSourceBytes);
    if (!text.ok()) {
        print_error("cannot read " + text.error());
        return std::nullopt;
    }
    CompileInput input;
    input.name = path == "-" ? "stdin" : std::filesystem::path(path).filename().string();
    input.path = path == "-" ? "" : path;
    input.text = std::move(text.value());
    return input;
}

DiagnosticOptions diagnostic_options(const Options& options) {
    const char* no_color = std::getenv("NO_COLOR");
    const bool may_color = no_color == nullptr || *no_color == 0;
    DiagnosticOptions result;
    result.format = options.error_format;
    result.color = options.color == Color::Always || (options.color == Color::Auto && may_color && ::isatty(2) == 1);
    return result;
}

void print_diagnostics(const CompileResult& result, const Options& options) {
    for (const DiagnosticText& one : result.diagnostics) std::fputs(one.rendered.c_str(), stderr);
    std::fputs(result.summary.c_str(), stderr);
    if (!options.time_passes) return;
    double total = 0;
    for (const PhaseTime& one : result.times) {
        fmt::print(stderr, "time: {:8.3f} ms  {}\n", one.milliseconds, one.phase);
        total += one.milliseconds;
    }
    fmt::print(stderr, "time: {:8.3f} ms  total\n", total);
}

}  // namespace ockc::driver
