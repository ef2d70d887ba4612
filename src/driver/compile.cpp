// `ockc FILE..` and `ockc check`: compile each file as a crate of its own, then write all of its outputs or none.
#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <map>

#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/output_plan.hpp"
#include "driver/process.hpp"
#include "driver/ptxas.hpp"
#include "support/file_batch.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace fs = std::filesystem;

namespace {

// Rules of several files that go to one -MF file, by its path.
using SharedRules = std::map<std::string, std::string>;

class FileCompilation {
  public:
    FileCompilation(const Options& options, const CompileInput& input, const OutputPlan& plan, SharedRules& rules)
        : options_(options), input_(input), plan_(plan), rules_(rules) {}

    int run() {
        CompileOptions compile_options = options_.compile;
        compile_options.want_header = plan_.has(Emit::Header);
        compile_options.want_manifest = plan_.has(Emit::Manifest);
        for (const PlannedOutput& one : plan_.outputs) {
            if (is_dump(one.emit)) compile_options.dumps.emplace_back(emit_info(one.emit).name);
        }
        result_ = compile(input_, compile_options, diagnostic_options(options_));
        print_diagnostics(result_, options_);
        if (!result_.ok) return kSourceErrors;
        if (const std::optional<std::string> conflict = output_conflict({plan_}, result_.dependencies)) {
            print_error(*conflict);
            return kBadCommandLine;
        }
        if (const int code = verify(); code != kOk) return code;
        if (const int code = collect(); code != kOk) return code;
        return write();
    }

  private:
    static bool is_dump(Emit emit) { return emit >= Emit::Tokens && emit <= Emit::IrLowered; }

    bool needs_assembly() const {
        return plan_.has(Emit::Cubin) || plan_.has(Emit::Fatbin) || plan_.has(Emit::Report) || options_.report;
    }

    int verify() {
        if (options_.verify == Verify::Off && !needs_assembly()) return kOk;
        ptxas_ = find_ptxas();
        if (ptxas_.empty()) {
            if (options_.verify == Verify::On || needs_assembly()) {
                print_error("`ptxas` of the CUDA Toolkit was not found (needed for --verify on, cubin, fatbin and reports)",
                            "install the CUDA Toolkit, put ptxas on the PATH, or set OCK_PTXAS to its path");
                return kEnvironment;
            }
            if (options_.verify == Verify::Auto && options_.verbose) print_note("ptxas was not found: the PTX was not assembled");
            return kOk;
        }
        for (const CompiledImage& image : result_.images) {
            Result<Assembled> assembled = assemble(ptxas_, image);
            if (assembled.ok()) {
                assembled_.push_back(std::move(assembled.value()));
                continue;
            }
            if (is_too_old(assembled.error())) {
                const std::string text = fmt::format("this ptxas is too old for the PTX of {}", image.target);
                if (options_.verify == Verify::Auto && !needs_assembly()) {
                    print_note(text + ": it was not assembled");
                    continue;
                }
                print_error(text + "\n" + assembled.error(), "install a newer CUDA Toolkit, or ask for less with --target and --ptx-isa");
                return kEnvironment;
            }
            const std::string kept = plan_.beside(fmt::format(".{}.rejected.ptx", image.target));
            print_error("ptxas refuses the PTX that ockc made; this is a bug in ockc, please report it\n" + assembled.error());
            if (write_file_if_changed(kept, image.ptx).ok()) print_note("the PTX is kept in " + kept);
            return kPtxRejected;
        }
        return kOk;
    }

    int collect() {
        for (const PlannedOutput& one : plan_.outputs) {
            const Result<std::string_view> bytes = bytes_of(one);
            if (!bytes.ok()) {
                print_error(bytes.error());
                return kEnvironment;
            }
            bytes_.push_back(bytes.value());
        }
        if (options_.report) std::fputs(report().c_str(), stderr);
        return kOk;
    }

    std::string_view keep(std::string bytes) { return made_.emplace_back(std::move(bytes)); }

    Result<std::string_view> bytes_of(const PlannedOutput& output) {
        switch (output.emit) {
            case Emit::Ptx: return std::string_view(result_.images[output.image].ptx);
            case Emit::Cubin: return std::string_view(assembled_[output.image].cubin);
            case Emit::Header: return std::string_view(result_.header);
            case Emit::Manifest: return std::string_view(result_.manifest);
            case Emit::Report: return keep(report());
            case Emit::DepInfo: {
                if (output.role != OutputRole::Deps) return keep(dependency_rule());
                return keep(rules_[output.path] += dependency_rule());
            }
            case Emit::Fatbin: {
                Result<std::string> fatbin = make_fatbin(ptxas_, result_.images);
                if (!fatbin.ok()) return Failure{"cannot make a fatbin: " + fatbin.error()};
                return keep(std::move(fatbin.value()));
            }
            case Emit::Tokens:
            case Emit::Ast:
            case Emit::Hir:
            case Emit::Mir:
            case Emit::IrLowered:
            case Emit::IrTileTypes:
            case Emit::IrTileLayouts:
            case Emit::IrTile:
            case Emit::IrTileLowered:
            case Emit::Ir:
                for (const auto& [kind, text] : result_.dumps) {
                    if (kind == emit_info(output.emit).name) return std::string_view(text);
                }
                return std::string_view();
            case Emit::Sass: break;   // inspect only: refused by parse_options
        }
        OCKC_UNREACHABLE("kind of output");
    }

    std::string report() const {
        std::string text;
        for (std::size_t i = 0; i < assembled_.size(); ++i) text += resource_report(assembled_[i].resources, result_.images[i].target);
        return text;
    }

    // A make rule: every output depends on every file that was read.
    std::string dependency_rule() const {
        const auto escaped = [](const std::string& path) {
            std::string out;
            for (char c : path) {
                if (c == ' ' || c == '#') out += '\\';
                out += c;
                if (c == '$') out += '$';
            }
            return out;
        };
        std::string rule;
        if (!options_.deps_target.empty()) {
            rule = escaped(options_.deps_target);
        } else {
            for (const PlannedOutput& one : plan_.outputs) {
                const bool made = one.role == OutputRole::Asked && one.emit != Emit::DepInfo && one.path != "-";
                if (made) rule += (rule.empty() ? "" : " ") + escaped(one.path);
            }
            if (rule.empty()) rule = escaped(plan_.beside(".ptx"));
        }
        rule += ":";
        for (const std::string& file : result_.dependencies) rule += " \\\n  " + escaped(file);
        return rule + "\n";
    }

    int cannot_write(const std::string& text) {
        print_error("cannot write " + text);
        return kEnvironment;
    }

    int write() {
        FileBatch batch;
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            const std::string& path = plan_.outputs[i].path;
            if (path == "-") continue;
            std::error_code ignored;   // stage() says what is wrong
            if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, ignored);
            if (Status staged = batch.stage(path, bytes_[i]); !staged.ok()) return cannot_write(staged.error());
        }
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            if (plan_.outputs[i].path == "-") print_output(bytes_[i]);
        }
        if (const int code = flush_output(); code != kOk) return code;
        if (Status written = batch.commit(); !written.ok()) return cannot_write(written.error());
        for (const PlannedOutput& one : plan_.outputs) {
            if (options_.verbose && one.path != "-") print_note("wrote " + one.path);
        }
        return kOk;
    }

    const Options& options_;
    const CompileInput& input_;
    const OutputPlan& plan_;
    SharedRules& rules_;
    std::string ptxas_;
    CompileResult result_;
    std::vector<Assembled> assembled_;
    std::vector<std::string_view> bytes_;   // of each planned output
    std::deque<std::string> made_;          // those that are nowhere else
};

}  // namespace

int run_compile(const Options& options) {
    std::vector<OutputPlan> plans;
    for (const std::string& path : options.files) plans.push_back(plan_outputs(options, path));
    if (const std::optional<std::string> conflict = output_conflict(plans, options.files)) {
        print_error(*conflict);
        return kBadCommandLine;
    }
    int code = kOk;
    SharedRules rules;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const std::optional<CompileInput> input = read_input(options.files[i]);
        code = worst(code, input ? FileCompilation(options, *input, plans[i], rules).run() : kEnvironment);
    }
    return code;
}

int run_check(const Options& options) {
    int code = kOk;
    for (const std::string& path : options.files) {
        const std::optional<CompileInput> input = read_input(path);
        if (!input) {
            code = worst(code, kEnvironment);
            continue;
        }
        CompileOptions compile_options = options.compile;
        compile_options.check_only = true;
        const CompileResult result = compile(*input, compile_options, diagnostic_options(options));
        print_diagnostics(result, options);
        if (!result.ok) code = worst(code, kSourceErrors);
    }
    return code;
}

}  // namespace ockc::driver
