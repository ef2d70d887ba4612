// The commands of the command line, one function each. Each prints to stdout what was asked for, to stderr what the user
// must know, and returns the process exit code.
#pragma once
#include <string>
#include <string_view>

#include "driver/options.hpp"

namespace ockc::driver {

int run_compile(const Options& options);
int run_check(const Options& options);
int run_inspect(const Options& options);
int run_launch(const Options& options);
int run_new(const Options& options);
int run_project(const Options& options);
int run_doctor(const Options& options);
int run_explain(const Options& options);

// ---- shared by the commands (command_support.cpp) ----

// Reads a file (or "-") as compiler input. Prints the error and gives nothing when it cannot.
std::optional<CompileInput> read_input(const std::string& path);
// kOk, or kEnvironment with a message when --stdlib names no library.
int check_library(const Options& options);
DiagnosticOptions diagnostic_options(const Options& options);
// Prints diagnostics, summary and phase times to stderr.
void print_diagnostics(const CompileResult& result, const Options& options);
// To stdout: what was asked for.
void print_output(std::string_view text);
// kOk, or kEnvironment with a message when stdout did not take everything (a full disk).
int flush_output();
// An error of the command line or the environment, with a help line when there is one: text, or an object of rustc's shape.
std::string error_message(const std::string& text, const std::string& help, bool json);
// From here on print_error and print_note write JSON objects (--error-format json).
void messages_as_json();
void print_error(const std::string& text, const std::string& help = {});
void print_note(const std::string& text);
// The larger of two exit codes by severity: what several files together end with.
int worst(int a, int b);

}  // namespace ockc::driver
