#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "diag/render.hpp"
#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/limits.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace {

// Of the program, not of a compilation: set once, before the command starts.
bool json_messages = false;

std::string message(Severity severity, const std::string& text, const std::string& help, bool json) {
    if (!json) {
        const std::string line = fmt::format("{}: {}\n", severity == Severity::Error ? "error" : "note", text);
        return help.empty() ? line : fmt::format("{}  = help: {}\n", line, help);
    }
    Diagnostic diagnostic;
    diagnostic.severity = severity;
    diagnostic.message = text;
    if (!help.empty()) diagnostic.help(help);
    return render(diagnostic, SourceMap(), {ErrorFormat::Json, false});
}

}  // namespace

std::string error_message(const std::string& text, const std::string& help, bool json) { return message(Severity::Error, text, help, json); }

void messages_as_json() { json_messages = true; }

void print_error(const std::string& text, const std::string& help) {
    std::fputs(message(Severity::Error, text, help, json_messages).c_str(), stderr);
}

void print_note(const std::string& text) { std::fputs(message(Severity::Note, text, {}, json_messages).c_str(), stderr); }

void print_output(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int flush_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kOk;
    print_error(fmt::format("cannot write standard output: {}", std::strerror(errno)));
    return kEnvironment;
}

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

int check_library(const Options& options) {
    const std::string& folder = options.compile.library_dir;
    if (folder.empty() || file_exists(folder + "/core/lib.rsk")) return kOk;
    print_error(fmt::format("--stdlib {}: there is no built-in library in that folder (core/lib.rsk)", folder));
    return kEnvironment;
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
