// The compiler as a library: source text and options in; PTX, launcher header and diagnostics out. Reentrant and
// thread-safe: nothing is shared between calls. The command line, ock::jit and the tests are its users.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ockc {

struct CompileOptions {
    std::vector<std::string> targets{"sm_80"};
    std::string ptx_isa = "min";            // min, max or X.Y
    int opt_level = 3;                      // 0..3
    bool fmad = true;                       // contract a*b+c
    bool fast_math = false;                 // f32: approximate division, square root and functions
    bool overflow_checks = false;
    bool panic_message = true;              // a failed check tells the host site, values, block and thread before it traps
    bool line_info = false;                 // .loc/.file in the PTX text; the embedded image always has them
    // Instances of generic kernels: NAME=VALUE, with "KERNEL:NAME" where two kernels have a parameter of that name, and
    // the extents of the partitions that outputs are given as. "2,4" is an array.
    std::vector<std::pair<std::string, std::string>> consts;
    std::vector<std::pair<std::string, std::string>> partitions;   // parameter, extents
    int edition = 2024;                     // 2021 or 2024
    std::vector<std::string> cfg;           // `name` or `name="value"`
    std::string library_dir;                // read the built-in library from here instead of from the binary
    bool whole_library = false;             // read all of the built-in library, not only what the program reaches: same result, slower
    std::vector<std::pair<char, std::string>> lints;   // ('W'|'A'|'D', lint), in order
    bool check_only = false;                // front end and safety checks only
    bool want_header = true;
    bool want_manifest = false;
    bool verify_ir = false;                 // run every verifier between the phases, as debug builds always do
    std::uint32_t error_limit = 20;
    // Dumps that are asked for: "tokens", "ast", "hir", "mir", "ir", "ir-lowered".
    std::vector<std::string> dumps;
    std::string dump_kernel;                // only this kernel in ir dumps and PTX, with what it calls; empty: all
};

struct CompileInput {
    std::string name;                       // as diagnostics show it: relative to the source's folder
    std::string path;                       // where `mod x;` looks for files; empty: standard input or memory
    std::string text;
};

struct CompiledImage {
    std::string target;
    std::string ptx;                        // as written to the .ptx file
    std::string embedded;                   // the same with line information, as the header embeds it
};

enum class DiagnosticFormat : std::uint8_t { Human, Short, Json };

struct DiagnosticText {
    bool is_error = false;
    std::string code;                       // "E0502", "unused_variables" or empty
    std::string message;
    std::string file;
    std::uint32_t line = 0;                 // 0: no place
    std::uint32_t column = 0;
    std::string rendered;                   // in the format asked for
};

struct PhaseTime {
    std::string phase;
    double milliseconds = 0;
};

struct CompileResult {
    bool ok = false;                        // no errors
    std::vector<CompiledImage> images;
    std::string header;
    std::string manifest;
    std::vector<std::pair<std::string, std::string>> dumps;   // kind, text
    std::vector<std::string> kernels;       // symbols, in source order
    std::vector<std::string> dependencies;  // files that were read, the input itself first
    std::vector<DiagnosticText> diagnostics;
    std::string summary;                    // "error: aborting due to .." in the format asked for
    std::vector<PhaseTime> times;
};

struct DiagnosticOptions {
    DiagnosticFormat format = DiagnosticFormat::Human;
    bool color = false;
};

CompileResult compile(const CompileInput& input, const CompileOptions& options, const DiagnosticOptions& diagnostics = {});

}  // namespace ockc
