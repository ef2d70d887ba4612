// The commands of the command line, one function each. Each prints to stdout what was asked for, to stderr what the user
// must know, and returns the process exit code.
#pragma once
#include <string>

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
DiagnosticOptions diagnostic_options(const Options& options);
// Prints diagnostics, summary and phase times to stderr.
void print_diagnostics(const CompileResult& result, const Options& options);
void print_error(const std::string& text);
void print_note(const std::string& text);
// The larger of two exit codes by severity: what several files together end with.
int worst(int a, int b);

}  // namespace ockc::driver
