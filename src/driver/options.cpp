// Command line -> Options. One CLI::App per command, built from shared groups of options, so that each command's --help
// shows just what it takes. CLI11's exceptions end here.
#include "driver/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "driver/argv_pass.hpp"
#include "driver/exit_code.hpp"
#include "ockc/version.hpp"
#include "ptx/form.hpp"
#include "support/enum_table.hpp"

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
    std::vector<std::string> targets, emits, args, saves, consts;
    std::string level = "3", fmad = "on", verify = "auto", error_format = "human", color = "auto", grid, block;
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
    app.add_flag("--overflow-checks", raw.overflow_checks, "Trap on integer overflow");
    app.add_flag("-g,--lineinfo", options.compile.line_info, "Line tables in the PTX (also -lineinfo)");
    app.add_option("--const", raw.consts, "NAME=VALUE: a generic parameter of an entry")->allow_extra_args(false);
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
    app.add_option("--out-dir", options.out_dir, "Folder for outputs without a path")->type_name("DIR");
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
    app.add_option("--arg", raw.args, "NAME=VALUE: 3, 2.5, true, @file.npy, zeros:f32[1024], ones:.., iota:i32[1024], rand:f32[1024]:SEED[:LO:HI]")
        ->allow_extra_args(false);
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
            if (!found) {
                const std::string_view near = nearest_name(names, name);
                std::string message = fmt::format("`{}` is not a kind of --emit", name);
                if (!near.empty()) message += fmt::format("; did you mean `{}`?", near);
                return UsageError{message};
            }
            if (equal != std::string::npos) request.path = part.substr(equal + 1);
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

MaybeError known_ptx_version(const std::string& text) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (text == "min" || text == "max") return std::nullopt;
    if (text.size() == 3 && digit(text[0]) && text[1] == '.' && digit(text[2])) return std::nullopt;
    return UsageError{fmt::format("`{}` is not a PTX version: write min, max or X.Y", text)};
}

MaybeError convert(Options& options, Raw& raw) {
    if (MaybeError e = one_of("-O", raw.level, {"0", "1", "2", "3"})) return e;
    if (MaybeError e = one_of("--fmad", raw.fmad, {"on", "off"})) return e;
    if (MaybeError e = one_of("--verify", raw.verify, {"auto", "on", "off"})) return e;
    if (MaybeError e = one_of("--error-format", raw.error_format, {"human", "short", "json"})) return e;
    if (MaybeError e = one_of("--color", raw.color, {"auto", "always", "never"})) return e;
    if (raw.edition != 2021 && raw.edition != 2024) return UsageError{"--edition is 2021 or 2024"};
    if (MaybeError e = parse_emits(raw.emits, options.command == Command::Inspect, options.emits)) return e;
    if (MaybeError e = parse_dim3("--grid", raw.grid, options.launch.grid)) return e;
    if (MaybeError e = parse_dim3("--block", raw.block, options.launch.block)) return e;
    if (MaybeError e = parse_pairs("--arg", raw.args, options.launch.args)) return e;
    if (MaybeError e = parse_pairs("--save", raw.saves, options.launch.saves)) return e;
    if (!raw.consts.empty()) {
        return UsageError{"--const gives a value to a generic kernel parameter; generic kernels are not supported yet"};
    }
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
    options.compile.opt_level = raw.level[0] - '0';
    options.compile.fmad = raw.fmad == "on";
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
            app.add_option("--emit", raw.emits, "tokens, ast, hir, mir, ir-lowered, ir, ptx, header, manifest, sass or report")->required();
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

std::variant<Options, EarlyExit> parse_options(const std::vector<std::string>& given) {
    const auto usage = [](const std::string& text) {
        return EarlyExit{kBadCommandLine, fmt::format("error: {}\n  = help: `ockc --help` lists the options\n", text)};
    };
    Result<std::vector<std::string>> rewritten = rewrite_arguments(given);
    if (!rewritten.ok()) return EarlyExit{kEnvironment, fmt::format("error: {}\n", rewritten.error())};
    std::vector<std::string> arguments = std::move(rewritten.value());
    Options options;
    const CommandRow* row = &kCommands[0];
    for (const CommandRow& one : kCommands) {
        if (!arguments.empty() && !one.name.empty() && arguments[0] == one.name) row = &one;
    }
    options.command = row->command;
    if (!row->name.empty()) arguments.erase(arguments.begin());

    Raw raw;
    CLI::App app(std::string(row->description), row->name.empty() ? "ockc" : fmt::format("ockc {}", row->name));
    app.set_version_flag("--version", fmt::format("ockc {}", kVersion));
    describe(app, options, raw);
    try {
        std::reverse(arguments.begin(), arguments.end());   // CLI11 takes the last argument first
        app.parse(std::move(arguments));
    } catch (const CLI::CallForHelp&) {
        return EarlyExit{kOk, row->name.empty() ? main_help(app) : app.help()};
    } catch (const CLI::CallForVersion&) {
        return EarlyExit{kOk, fmt::format("ockc {}\n", kVersion)};
    } catch (const CLI::ParseError& error) {
        return usage(error.what());
    }
    if (MaybeError error = convert(options, raw)) return usage(error->text);
    if (MaybeError error = consistent(options)) return usage(error->text);
    return options;
}

}  // namespace ockc::driver
