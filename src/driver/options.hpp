// The command line as data. CLI11 is included by options.cpp only.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ockc/compiler.hpp"

namespace ockc::driver {

enum class Emit : std::uint8_t {
#define OCKC_EMIT(name, text, ending, in_compile, in_inspect, doc) name,
#include "driver/emit.def"
};
struct EmitInfo {
    std::string_view name;
    std::string_view ending;
    bool in_compile;
    bool in_inspect;
};
const EmitInfo& emit_info(Emit emit);

enum class Command : std::uint8_t { Compile, Check, Inspect, Launch, New, Run, Doctor, Explain };
enum class Verify : std::uint8_t { Auto, On, Off };
enum class Color : std::uint8_t { Auto, Always, Never };

struct EmitRequest {
    Emit emit = Emit::Ptx;
    std::string path;           // empty: beside the source, or in out_dir
};

struct LaunchOptions {
    std::string kernel;
    std::string device;         // empty: cuda:0 when there is one, else the emulator
    std::optional<std::array<std::uint32_t, 3>> grid, block;
    std::vector<std::pair<std::string, std::string>> args;    // --arg NAME=VALUE
    std::vector<std::pair<std::string, std::string>> constants;   // --constant NAME=VALUE
    std::vector<std::pair<std::string, std::string>> saves;   // --save NAME=FILE.npy
    std::uint32_t repeat = 1;
    bool check_races = false;   // the emulator's dynamic race detector
};

struct Options {
    Command command = Command::Compile;
    std::vector<std::string> files;
    CompileOptions compile;
    std::vector<EmitRequest> emits;
    std::string output, out_dir, header;
    Verify verify = Verify::Auto;
    DiagnosticFormat error_format = DiagnosticFormat::Human;
    Color color = Color::Auto;
    bool report = false, time_passes = false, verbose = false;
    std::string save_temps;
    bool write_deps = false;
    std::string deps_file, deps_target;
    std::string inspect_kernel;
    LaunchOptions launch;
    std::string explain_code;
    std::string project_dir;    // new, run
    bool tile = false;
};

// Either the options, or the exit code of a run that ends here (help, version, bad command line) with what to print.
struct EarlyExit {
    int code = 0;
    std::string text;           // to stdout when code is 0, else to stderr
};
std::variant<Options, EarlyExit> parse_options(const std::vector<std::string>& arguments);

}  // namespace ockc::driver
