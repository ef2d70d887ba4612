// Command line -> Options. One CLI::App per command, built from shared groups of options, so that each command's --help
// shows just what it takes. CLI11's exceptions end here.
#include "driver/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "driver/argv_pass.hpp"
#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "ockc/version.hpp"
#include "ptx/form.hpp"
#include "support/enum_table.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace {

constexpr EmitInfo kEmits[] = {
#define OCKC_EMIT(name, text, ending, in_compile, in_inspect, doc) {text, ending, in_compile, in_inspect},
#include "driver/emit.def"
};

struct CommandRow {
    Command command;
    std::string_view name;
    std::string_view description;
};
constexpr CommandRow kCommands[] = {
    {Command::Compile, "", "Compile GPU kernels written in a Rust subset to PTX and a C++ launcher header"},
    {Command::Check, "check", "Run the front end and the safety checks only; writes nothing"},
    {Command::Inspect, "inspect", "Print what a phase of the compiler makes of a file"},
    {Command::Launch, "launch", "Compile, run one kernel, print or save its results"},
    {Command::New, "new", "Make a complete CMake project"},
    {Command::Run, "run", "Configure, build and run a project made by `ockc new`"},
    {Command::Doctor, "doctor", "Say what is installed, what is missing, and how to fix it"},
    {Command::Explain, "explain", "Explain a diagnostic, with a failing and a fixed example"},
};

// A user's mistake on the command line, found after CLI11 is through.
struct UsageError {
    std::string text;
};
using MaybeError = std::optional<UsageError>;

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

// What CLI11 fills before it is turned into Options.
struct Raw {
    std::vector<std::string> targets, emits, args, saves, consts, constants, partitions;
    std::string level = "3", fmad = "on", panic = "message", verify = "auto", error_format = "human", color = "auto", grid, block;
    std::vector<std::string> warn, allow, deny;
    std::string file;   // of commands that take one
    int edition = 2024;
    bool overflow_checks = false;
};

void add_code_options(CLI::App& app, Options& options, Raw& raw) {
    app.add_option("--target", raw.targets, "Target sm_XX, repeatable (also -arch)")->allow_extra_args(false)->type_name("sm_XX");
    app.add_option("--ptx-isa", options.compile.ptx_isa, "PTX version: min, max or X.Y");
    app.add_option("-O", raw.level, "Optimisation level 0..3")->type_name("0..3");
    app.add_option("--fmad", raw.fmad, "Contract a*b+c: on or off")->type_name("on|off");
    app.add_flag("--fast-math", options.compile.fast_math, "f32: approximate division, square root and functions");
    app.add_flag("--overflow-checks", raw.overflow_checks, "Trap on integer overflow");
    app.add_option("--panic", raw.panic, "What a failed check does: message or trap")->type_name("message|trap");
    app.add_flag("-g,--lineinfo", options.compile.line_info, "Line tables in the PTX (also -lineinfo)");
    app.add_option("--const", raw.consts, "NAME=VALUE: a generic parameter of a tile entry, repeatable; several values are several instances")->allow_extra_args(false);
    app.add_option("--partition", raw.partitions, "NAME=X[,Y..]: the tiles that an output is given as; gives the const parameters of its shape")->allow_extra_args(false);
}

void add_language_options(CLI::App& app, Options& options, Raw& raw) {
    app.add_option("--edition", raw.edition, "Rust edition of the source: 2021 or 2024");
    app.add_option("--cfg", options.compile.cfg, "K or K=\"V\" for #[cfg]")->allow_extra_args(false);
    app.add_option("--stdlib", options.compile.library_dir, "Read the built-in library from DIR")->type_name("DIR");
    app.add_flag("--whole-library", options.compile.whole_library, "Read all of the built-in library, not only what is reached")->group("");
    app.add_option("--error-format", raw.error_format, "human, short or json");
    app.add_option("--color", raw.color, "auto, always or never");
    app.add_option("-W", raw.warn, "Set a lint to warn")->allow_extra_args(false)->type_name("LINT");
    app.add_option("-A", raw.allow, "Set a lint to allow")->allow_extra_args(false)->type_name("LINT");
    app.add_option("-D", raw.deny, "Set a lint to deny")->allow_extra_args(false)->type_name("LINT");
    app.add_flag("-v,--verbose", options.verbose, "Say what is being done, on stderr");
    app.add_flag("--time-passes", options.time_passes, "Time of each phase, on stderr");
}

void add_compile_options(CLI::App& app, Options& options, Raw& raw) {
    app.add_option("--emit", raw.emits, "KIND[=PATH],..: ptx, header (default both), cubin, fatbin, dep-info, manifest, ast, mir, ir, report")
        ->allow_extra_args(false);
    app.add_option("-o", options.output, "Output file, when one kind is asked for")->type_name("PATH");
    app.add_option("--out-dir", options.out_dir, "Folder for outputs without a path (default: beside the source)")->type_name("DIR");
    app.add_option("--header", options.header, "Path of the launcher header")->type_name("PATH");
    app.add_flag("--report", options.report, "Registers, shared memory and spills of each kernel");
    app.add_option("--verify", raw.verify, "Assemble the PTX with ptxas: auto, on or off");
    app.add_option("--save-temps", options.save_temps, "Keep every phase's dump in DIR")->type_name("DIR");
    app.add_flag("--write-deps", options.write_deps, "Write a make rule beside the output (also -MD)");
    app.add_option("--deps-file", options.deps_file, "Where to write the make rule (also -MF)");
    app.add_option("--deps-target", options.deps_target, "Target of the make rule (also -MT)");
}

void add_launch_options(CLI::App& app, Options& options, Raw& raw) {
    app.add_option("--device", options.launch.device, "emulator or cuda:N");
    app.add_option("--grid", raw.grid, "Blocks: X[,Y[,Z]]");
    app.add_option("--block", raw.block, "Threads in a block: X[,Y[,Z]]");
    app.add_option("--arg", raw.args, "NAME=VALUE: 3, 2.5, true, @file.npy, zeros:f32[1024], ones:.., iota:i32[1024], rand:f32[1024]:SEED[:LO:HI], map:BOX:SWIZZLE:ARRAY")
        ->allow_extra_args(false);
    app.add_option("--constant", raw.constants, "NAME=VALUE: constant memory, given as an argument is")->allow_extra_args(false);
    app.add_option("--save", raw.saves, "NAME=FILE.npy: write an array argument after the run")->allow_extra_args(false);
    app.add_flag("--check-races", options.launch.check_races, "Watch for data races while the kernel runs (on the emulator)");
    app.add_option("--repeat", options.launch.repeat, "Run N times and print the median time")->check(CLI::Range(1, 1000000));
}

MaybeError one_of(std::string_view option, std::string_view value, std::initializer_list<std::string_view> allowed) {
    for (std::string_view one : allowed) {
        if (value == one) return std::nullopt;
    }
    std::string list;
    for (std::string_view one : allowed) list += fmt::format("{}{}", list.empty() ? "" : ", ", one);
    return UsageError{fmt::format("`{}` is not a value of {} (one of: {})", value, option, list)};
}

std::string with_nearest(std::string message, const std::vector<std::string_view>& names, std::string_view name) {
    const std::string_view near = nearest_name(names, name);
    return near.empty() ? message : fmt::format("{}; did you mean `{}`?", message, near);
}

// A kind that --emit does not have here: perhaps the other of compiling and `inspect` has it.
UsageError unknown_kind(const std::string& name, const std::vector<std::string_view>& names, bool inspect) {
    for (const EmitInfo& info : kEmits) {
        if (info.name != name) continue;
        return UsageError{inspect ? fmt::format("`inspect` cannot print `{0}`: write it to a file with `ockc FILE --emit={0}`", name)
                                  : fmt::format("`{0}` is only printed: use `ockc inspect FILE --emit={0}`", name)};
    }
    return UsageError{with_nearest(fmt::format("`{}` is not a kind of --emit", name), names, name)};
}

MaybeError parse_emits(const std::vector<std::string>& texts, bool inspect, std::vector<EmitRequest>& out) {
    for (const std::string& text : texts) {
        for (const std::string& part : split(text, ',')) {
            const std::size_t equal = part.find('=');
            const std::string name = part.substr(0, equal);
            EmitRequest request;
            bool found = false;
            std::vector<std::string_view> names;
            for (std::size_t i = 0; i < std::size(kEmits); ++i) {
                if (!(inspect ? kEmits[i].in_inspect : kEmits[i].in_compile)) continue;
                names.push_back(kEmits[i].name);
                if (kEmits[i].name != name) continue;
                request.emit = static_cast<Emit>(i);
                found = true;
            }
            if (!found) return unknown_kind(name, names, inspect);
            if (equal != std::string::npos) request.path = part.substr(equal + 1);
            if (equal != std::string::npos && request.path.empty()) return UsageError{fmt::format("--emit={}= needs a path", name)};
            if (equal != std::string::npos && inspect) return UsageError{fmt::format("`inspect` prints to standard output: write --emit={}", name)};
            for (const EmitRequest& other : out) {
                if (other.emit == request.emit && other.path != request.path) return UsageError{fmt::format("--emit asks for {} at two places", name)};
            }
            out.push_back(std::move(request));
        }
    }
    return std::nullopt;
}

MaybeError parse_dim3(std::string_view option, const std::string& text, std::optional<std::array<std::uint32_t, 3>>& out) {
    if (text.empty()) return std::nullopt;
    std::array<std::uint32_t, 3> dims{1, 1, 1};
    const std::vector<std::string> parts = split(text, ',');
    if (parts.size() > 3) return UsageError{fmt::format("{} takes at most three numbers", option)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const char* end = parts[i].data() + parts[i].size();
        const auto [stop, error] = std::from_chars(parts[i].data(), end, dims[i]);
        if (error != std::errc() || stop != end || dims[i] == 0) {
            return UsageError{fmt::format("`{}` is not X[,Y[,Z]] with positive numbers for {}", text, option)};
        }
    }
    out = dims;
    return std::nullopt;
}

MaybeError parse_pairs(std::string_view option, const std::vector<std::string>& texts, std::vector<std::pair<std::string, std::string>>& out) {
    for (const std::string& text : texts) {
        const std::size_t equal = text.find('=');
        if (equal == 0 || equal == std::string::npos) return UsageError{fmt::format("{} takes NAME=VALUE, not `{}`", option, text)};
        out.emplace_back(text.substr(0, equal), text.substr(equal + 1));
    }
    return std::nullopt;
}

MaybeError known_target(const std::string& target) {
    if (target == "native" || ptx::target_from_text(target)) return std::nullopt;
    std::vector<std::string_view> names;
    for (const ptx::TargetInfo& known : ptx::all_targets()) names.push_back(known.text);
    return UsageError{fmt::format("`{}` is not a target (one of: {}, native)", target, fmt::join(names, ", "))};
}

// PTX versions that know at least one of our targets, times 10.
constexpr std::uint16_t kPtxVersions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78, 80, 81, 82, 83, 84, 85, 86, 87, 88, ptx::kNewestPtx};

std::string version_text(std::uint16_t tenfold) { return fmt::format("{}.{}", tenfold / 10, tenfold % 10); }

MaybeError known_ptx_version(const std::string& text) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (text == "min" || text == "max") return std::nullopt;
    if (text.size() != 3 || !digit(text[0]) || text[1] != '.' || !digit(text[2])) {
        return UsageError{fmt::format("`{}` is not a PTX version: write min, max or X.Y", text)};
    }
    const int version = (text[0] - '0') * 10 + (text[2] - '0');
    if (std::find(std::begin(kPtxVersions), std::end(kPtxVersions), version) != std::end(kPtxVersions)) return std::nullopt;
    return UsageError{fmt::format("ockc knows no PTX {}: versions are {} to {}", text, version_text(kPtxVersions[0]), version_text(ptx::kNewestPtx))};
}

// A target asks for a PTX version of its own, whatever the kernels use.
MaybeError new_enough_ptx(const CompileOptions& options) {
    const std::string& text = options.ptx_isa;
    if (text == "min" || text == "max") return std::nullopt;
    const auto version = static_cast<std::uint16_t>((text[0] - '0') * 10 + (text[2] - '0'));
    for (const std::string& name : options.targets) {
        const auto target = ptx::target_from_text(name);
        if (!target || ptx::target_info(*target).ptx <= version) continue;
        return UsageError{fmt::format("--ptx-isa {}: target {} needs PTX {} or later", text, name, version_text(ptx::target_info(*target).ptx))};
    }
    return std::nullopt;
}

// NAME or NAME=VALUE, the value with or without the quotes that shells like to eat.
MaybeError well_formed_cfg(const std::string& text) {
    const std::size_t equal = text.find('=');
    const std::string name = text.substr(0, equal);
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    bool good = !name.empty() && letter(name[0]);
    for (char c : name) good = good && (letter(c) || (c >= '0' && c <= '9'));
    if (good && equal != std::string::npos) {
        const std::string value = text.substr(equal + 1);
        const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
        const std::string inner = quoted ? value.substr(1, value.size() - 2) : value;
        good = inner.find('"') == std::string::npos;
    }
    if (good) return std::nullopt;
    return UsageError{fmt::format("--cfg takes NAME or NAME=\"VALUE\", not `{}`", text)};
}

MaybeError known_device(const std::string& name) {
    if (name.empty() || name == "emulator") return std::nullopt;
    const bool numbered = name.size() > 5 && name.size() < 10 && name.rfind("cuda:", 0) == 0 && name.find_first_not_of("0123456789", 5) == std::string::npos;
    if (numbered) return std::nullopt;
    return UsageError{fmt::format("`{}` is not a device: write emulator or cuda:N", name)};
}

MaybeError convert(Options& options, Raw& raw) {
    if (MaybeError e = one_of("-O", raw.level, {"0", "1", "2", "3"})) return e;
    if (MaybeError e = one_of("--fmad", raw.fmad, {"on", "off"})) return e;
    if (MaybeError e = one_of("--panic", raw.panic, {"message", "trap"})) return e;
    if (MaybeError e = one_of("--verify", raw.verify, {"auto", "on", "off"})) return e;
    if (MaybeError e = one_of("--error-format", raw.error_format, {"human", "short", "json"})) return e;
    if (MaybeError e = one_of("--color", raw.color, {"auto", "always", "never"})) return e;
    if (raw.edition != 2021 && raw.edition != 2024) return UsageError{"--edition is 2021 or 2024"};
    if (MaybeError e = parse_emits(raw.emits, options.command == Command::Inspect, options.emits)) return e;
    if (MaybeError e = parse_dim3("--grid", raw.grid, options.launch.grid)) return e;
    if (MaybeError e = parse_dim3("--block", raw.block, options.launch.block)) return e;
    if (MaybeError e = parse_pairs("--arg", raw.args, options.launch.args)) return e;
    if (MaybeError e = parse_pairs("--constant", raw.constants, options.launch.constants)) return e;
    if (MaybeError e = parse_pairs("--save", raw.saves, options.launch.saves)) return e;
    if (MaybeError e = parse_pairs("--const", raw.consts, options.compile.consts)) return e;
    if (MaybeError e = parse_pairs("--partition", raw.partitions, options.compile.partitions)) return e;
    if (!raw.file.empty()) options.files.push_back(raw.file);
    if (!raw.targets.empty()) {
        options.compile.targets.clear();
        for (const std::string& text : raw.targets) {
            for (std::string& one : split(text, ',')) options.compile.targets.push_back(std::move(one));
        }
    }
    for (const std::string& target : options.compile.targets) {
        if (MaybeError e = known_target(target)) return e;
    }
    if (MaybeError e = known_ptx_version(options.compile.ptx_isa)) return e;
    if (MaybeError e = new_enough_ptx(options.compile)) return e;
    for (const std::string& cfg : options.compile.cfg) {
        if (MaybeError e = well_formed_cfg(cfg)) return e;
    }
    if (MaybeError e = known_device(options.launch.device)) return e;
    options.compile.opt_level = raw.level[0] - '0';
    options.compile.fmad = raw.fmad == "on";
    options.compile.panic_message = raw.panic == "message";
    options.compile.overflow_checks = raw.overflow_checks;
    options.compile.edition = raw.edition;
    options.verify = raw.verify == "on" ? Verify::On : raw.verify == "off" ? Verify::Off : Verify::Auto;
    options.error_format = raw.error_format == "json"    ? DiagnosticFormat::Json
                           : raw.error_format == "short" ? DiagnosticFormat::Short
                                                         : DiagnosticFormat::Human;
    options.color = raw.color == "always" ? Color::Always : raw.color == "never" ? Color::Never : Color::Auto;
    for (const std::string& lint : raw.warn) options.compile.lints.emplace_back('W', lint);
    for (const std::string& lint : raw.allow) options.compile.lints.emplace_back('A', lint);
    for (const std::string& lint : raw.deny) options.compile.lints.emplace_back('D', lint);
    return std::nullopt;
}

// What the combination of options cannot mean.
MaybeError consistent(const Options& options) {
    const bool default_kinds = options.emits.empty();
    if (!options.output.empty() && options.command == Command::Compile) {
        if (options.files.size() > 1) return UsageError{"-o with several files: use --out-dir"};
        if (options.emits.size() > 1) return UsageError{"-o with several kinds of output: use --emit=KIND=PATH"};
        if (options.compile.targets.size() > 1 && (default_kinds || options.emits[0].emit == Emit::Ptx)) {
            return UsageError{"-o with several targets: use --out-dir"};
        }
    }
    if (!options.deps_target.empty() && !options.write_deps && options.deps_file.empty()) return UsageError{"-MT names the target of a make rule: add -MD or -MF"};
    if (!options.header.empty() && options.files.size() > 1) return UsageError{"--header with several files: use --out-dir"};
    for (const EmitRequest& request : options.emits) {
        if (!request.path.empty() && options.files.size() > 1) {
            return UsageError{fmt::format("--emit={}=PATH with several files: use --out-dir", emit_info(request.emit).name)};
        }
    }
    return std::nullopt;
}

void describe(CLI::App& app, Options& options, Raw& raw) {
    switch (options.command) {
        case Command::Compile:
            app.add_option("FILE", options.files, "Source files (.rsk, .rs), or - for standard input")->required();
            add_compile_options(app, options, raw);
            add_code_options(app, options, raw);
            add_language_options(app, options, raw);
            break;
        case Command::Check:
            app.add_option("FILE", options.files, "Source files, or -")->required();
            add_code_options(app, options, raw);
            add_language_options(app, options, raw);
            break;
        case Command::Inspect:
            app.add_option("FILE", raw.file, "Source file, or -")->required();
            app.add_option("--emit", raw.emits, "tokens, ast, hir, mir, ir-lowered, ir-tile, ir, ptx, header, manifest, sass or report")->allow_extra_args(false)->required();
            app.add_option("--kernel", options.inspect_kernel, "Only this kernel");
            add_code_options(app, options, raw);
            add_language_options(app, options, raw);
            break;
        case Command::Launch:
            app.add_option("FILE", raw.file, "Source file")->required();
            app.add_option("KERNEL", options.launch.kernel, "Name of the kernel")->required();
            add_launch_options(app, options, raw);
            add_code_options(app, options, raw);
            add_language_options(app, options, raw);
            break;
        case Command::New:
            app.add_option("DIR", options.project_dir, "Folder to make")->required();
            app.add_flag("--tile", options.tile, "A tile kernel instead of a SIMT kernel");
            break;
        case Command::Run: app.add_option("DIR", options.project_dir, "The project's folder (default: this one)"); break;
        case Command::Doctor: break;
        case Command::Explain: app.add_option("CODE", options.explain_code, "A code such as E0502 or OCK0103")->required(); break;
    }
}

std::string main_help(const CLI::App& app) {
    std::string text = app.help();
    text += "\nCommands:\n";
    for (const CommandRow& row : kCommands) {
        if (!row.name.empty()) text += fmt::format("  ockc {:<9} {}\n", row.name, row.description);
    }
    return text;
}

}  // namespace

const EmitInfo& emit_info(Emit emit) { return kEmits[static_cast<std::size_t>(emit)]; }

namespace {

// The words for an option as the user wrote it: -MF, not what argv_pass.cpp makes of it.
std::string as_written(std::string text, const std::vector<std::string>& given) {
    for (const auto& [from, to] : argument_rewrites()) {
        const auto used = [from = from](const std::string& one) { return one.rfind(from, 0) == 0; };
        if (std::none_of(given.begin(), given.end(), used)) continue;
        if (const std::size_t at = text.find(to); at != std::string::npos) text.replace(at, to.size(), from);
    }
    return text;
}

std::string unknown_argument(const CLI::App& app, const std::vector<std::string>& left, const std::vector<std::string>& given) {
    std::vector<std::string_view> names{"--help", "--version"};
    for (const auto& [from, to] : argument_rewrites()) {
        if (app.get_option_no_throw(std::string(to)) != nullptr) names.push_back(from);
    }
    std::vector<std::string> owned;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) owned.push_back("--" + name);
        for (const std::string& name : option->get_snames()) owned.push_back("-" + name);
    }
    names.insert(names.end(), owned.begin(), owned.end());
    for (const std::string& one : left) {
        if (one.size() < 2 || one[0] != '-') continue;
        const std::string name = as_written(one.substr(0, one.find('=')), given);
        return with_nearest(fmt::format("unknown option `{}`", name), names, name);
    }
    return fmt::format("unexpected argument `{}`", left.empty() ? "" : left.front());
}

// CLI11's exceptions in our words.
std::string error_text(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& given) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unknown_argument(app, app.remaining(), given);
    const std::string text = as_written(error.what(), given);
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text[0] == '-') {
        return fmt::format("{} needs a value", text.substr(0, text.find(':')));
    }
    return text;
}

// A first word that is no file, has no ending and is nearly a command's name.
std::optional<std::string> misspelt_command(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments[0].find_first_of("-./") != std::string::npos || file_exists(arguments[0])) return std::nullopt;
    std::vector<std::string_view> names;
    for (const CommandRow& one : kCommands) {
        if (!one.name.empty()) names.push_back(one.name);
    }
    const std::string_view near = nearest_name(names, arguments[0]);
    if (near.empty()) return std::nullopt;
    return fmt::format("`{}` is neither a file nor a command; did you mean `ockc {}`?", arguments[0], near);
}

bool asks_for_json(const std::vector<std::string>& arguments) {
    bool json = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        constexpr std::string_view kOption = "--error-format";
        if (arguments[i] == kOption && i + 1 < arguments.size()) json = arguments[i + 1] == "json";
        if (arguments[i].rfind(std::string(kOption) + "=", 0) == 0) json = arguments[i].substr(kOption.size() + 1) == "json";
    }
    return json;
}

}  // namespace

std::variant<Options, EarlyExit> parse_options(const std::vector<std::string>& given) {
    Result<std::vector<std::string>> rewritten = rewrite_arguments(given);
    const bool json = asks_for_json(rewritten.ok() ? rewritten.value() : given);
    const auto usage = [&](const std::string& text) {
        return EarlyExit{kBadCommandLine, error_message(text, "`ockc --help` lists the options", json)};
    };
    if (!rewritten.ok()) return EarlyExit{kEnvironment, error_message(rewritten.error(), {}, json)};
    std::vector<std::string> arguments = std::move(rewritten.value());
    Options options;
    const CommandRow* row = &kCommands[0];
    for (const CommandRow& one : kCommands) {
        if (!arguments.empty() && !one.name.empty() && arguments[0] == one.name) row = &one;
    }
    if (row == &kCommands[0]) {
        if (const std::optional<std::string> text = misspelt_command(arguments)) return usage(*text);
    }
    options.command = row->command;
    if (!row->name.empty()) arguments.erase(arguments.begin());

    Raw raw;
    CLI::App app(std::string(row->description), row->name.empty() ? "ockc" : fmt::format("ockc {}", row->name));
    app.set_version_flag("--version", fmt::format("ockc {}", kVersion));
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);   // as compilers do: the last -O counts
    describe(app, options, raw);
    try {
        std::reverse(arguments.begin(), arguments.end());   // CLI11 takes the last argument first
        app.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
        return EarlyExit{kOk, row->name.empty() ? main_help(app) : app.help()};
    } catch (const CLI::CallForVersion&) {
        return EarlyExit{kOk, fmt::format("ockc {}\n", kVersion)};
    } catch (const CLI::ParseError& error) {
        return usage(error_text(app, error, given));
    }
    if (MaybeError error = convert(options, raw)) return usage(error->text);
    if (MaybeError error = consistent(options)) return usage(error->text);
    return options;
}

}  // namespace ockc::driver
