// `ockc FILE..` and `ockc check`: compile each file as a crate of its own, then write all of its outputs or none.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/process.hpp"
#include "driver/ptxas.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace fs = std::filesystem;

namespace {

struct OutputFile {
    std::string path;      // "-" is standard output
    std::string bytes;
};

// The requests of one run, with the default kinds filled in.
std::vector<EmitRequest> requests_of(const Options& options) {
    std::vector<EmitRequest> requests = options.emits;
    if (requests.empty()) requests = {{Emit::Ptx, {}}, {Emit::Header, {}}};
    if (!options.header.empty()) {
        bool found = false;
        for (EmitRequest& one : requests) {
            if (one.emit == Emit::Header) one.path = options.header, found = true;
        }
        if (!found) requests.push_back({Emit::Header, options.header});
    }
    // -o names the only kind asked for; with the default kinds it names the PTX.
    if (!options.output.empty()) requests[0].path = options.output;
    return requests;
}

bool has(const std::vector<EmitRequest>& requests, Emit emit) {
    return std::any_of(requests.begin(), requests.end(), [&](const EmitRequest& one) { return one.emit == emit; });
}

class FileCompilation {
  public:
    FileCompilation(const Options& options, const CompileInput& input)
        : options_(options), input_(input), requests_(requests_of(options)) {}

    int run() {
        CompileOptions compile_options = options_.compile;
        compile_options.want_header = has(requests_, Emit::Header);
        compile_options.want_manifest = has(requests_, Emit::Manifest);
        for (const EmitRequest& one : requests_) {
            if (is_dump(one.emit)) compile_options.dumps.emplace_back(emit_info(one.emit).name);
        }
        if (!options_.save_temps.empty()) {
            for (Emit emit : {Emit::Ast, Emit::Hir, Emit::Mir, Emit::IrLowered, Emit::Ir}) {
                compile_options.dumps.emplace_back(emit_info(emit).name);
            }
        }
        result_ = compile(input_, compile_options, diagnostic_options(options_));
        print_diagnostics(result_, options_);
        if (!result_.ok) return kSourceErrors;
        if (const int code = verify(); code != kOk) return code;
        if (const int code = collect(); code != kOk) return code;
        return write();
    }

  private:
    static bool is_dump(Emit emit) {
        return emit == Emit::Ast || emit == Emit::Mir || emit == Emit::Ir;
    }

    std::string stem() const { return fs::path(input_.name).stem().string(); }

    // Where an output without a path goes: --out-dir, else beside the source, else the working folder.
    std::string default_path(const std::string& ending) const {
        fs::path folder = options_.out_dir;
        if (options_.out_dir.empty() && !input_.path.empty()) folder = fs::path(input_.path).parent_path();
        return (folder / (stem() + ending)).string();
    }

    bool needs_assembly() const {
        return has(requests_, Emit::Cubin) || has(requests_, Emit::Fatbin) || has(requests_, Emit::Report) || options_.report;
    }

    int verify() {
        if (options_.verify == Verify::Off && !needs_assembly()) return kOk;
        ptxas_ = find_ptxas();
        if (ptxas_.empty()) {
            if (options_.verify == Verify::On || needs_assembly()) {
                print_error("`ptxas` of the CUDA Toolkit was not found (needed for --verify on, cubin, fatbin and reports)");
                fmt::print(stderr, "  = help: install the CUDA Toolkit, put ptxas on the PATH, or set OCK_PTXAS to its path\n");
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
            const std::string kept = default_path(fmt::format(".{}.rejected.ptx", image.target));
            print_error("ptxas refuses the PTX that ockc made; this is a bug in ockc, please report it");
            fmt::print(stderr, "{}", assembled.error());
            if (write_file_if_changed(kept, image.ptx).ok()) fmt::print(stderr, "  = note: the PTX is kept in {}\n", kept);
            return kPtxRejected;
        }
        return kOk;
    }

    int collect() {
        for (const EmitRequest& request : requests_) {
            if (const int code = collect_one(request); code != kOk) return code;
        }
        for (const auto& [kind, text] : result_.dumps) {
            if (!options_.save_temps.empty()) files_.push_back({(fs::path(options_.save_temps) / (stem() + "." + kind)).string(), text});
        }
        if (options_.write_deps || !options_.deps_file.empty()) {
            files_.push_back({options_.deps_file.empty() ? default_path(".d") : options_.deps_file, dependency_rule()});
        }
        if (options_.report) std::fputs(report().c_str(), stderr);
        return kOk;
    }

    int collect_one(const EmitRequest& request) {
        const auto add = [&](std::string bytes) {
            files_.push_back({request.path.empty() ? default_path(std::string(emit_info(request.emit).ending)) : request.path, std::move(bytes)});
        };
        switch (request.emit) {
            case Emit::Ptx:
                for (const CompiledImage& image : result_.images) add_per_target(request, image.target, ".ptx", image.ptx);
                break;
            case Emit::Cubin:
                for (std::size_t i = 0; i < result_.images.size(); ++i) {
                    add_per_target(request, result_.images[i].target, ".cubin", assembled_[i].cubin);
                }
                break;
            case Emit::Header: add(result_.header); break;
            case Emit::Manifest: add(result_.manifest); break;
            case Emit::DepInfo: add(dependency_rule()); break;
            case Emit::Report: add(report()); break;
            case Emit::Fatbin: {
                Result<std::string> fatbin = make_fatbin(ptxas_, result_.images);
                if (!fatbin.ok()) {
                    print_error("cannot make a fatbin: " + fatbin.error());
                    return kEnvironment;
                }
                add(std::move(fatbin.value()));
                break;
            }
            case Emit::Ast:
            case Emit::Mir:
            case Emit::Ir:
                for (const auto& [kind, text] : result_.dumps) {
                    if (kind == emit_info(request.emit).name) {
                        add(text);
                        break;
                    }
                }
                break;
            case Emit::Tokens:
            case Emit::Hir:
            case Emit::IrLowered:
            case Emit::Sass: break;   // inspect only: refused by parse_options
        }
        return kOk;
    }

    void add_per_target(const EmitRequest& request, const std::string& target, const std::string& ending, const std::string& bytes) {
        const bool several = result_.images.size() > 1;
        std::string path = request.path;
        if (path.empty()) {
            path = default_path(several ? "." + target + ending : ending);
        } else if (several) {
            path = fs::path(path).replace_extension(target + ending).string();
        }
        files_.push_back({path, bytes});
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
            for (const OutputFile& file : files_) {
                if (file.path != "-") rule += (rule.empty() ? "" : " ") + escaped(file.path);
            }
        }
        rule += ":";
        for (const std::string& file : result_.dependencies) rule += " \\\n  " + escaped(file);
        return rule + "\n";
    }

    int write() {
        for (const OutputFile& file : files_) {
            if (file.path == "-") {
                std::fwrite(file.bytes.data(), 1, file.bytes.size(), stdout);
                continue;
            }
            std::error_code error;
            if (const fs::path folder = fs::path(file.path).parent_path(); !folder.empty()) fs::create_directories(folder, error);
            if (Status written = write_file_if_changed(file.path, file.bytes); !written.ok()) {
                print_error("cannot write " + written.error());
                return kEnvironment;
            }
            if (options_.verbose) print_note("wrote " + file.path);
        }
        return kOk;
    }

    const Options& options_;
    const CompileInput& input_;
    std::vector<EmitRequest> requests_;
    std::string ptxas_;
    CompileResult result_;
    std::vector<Assembled> assembled_;
    std::vector<OutputFile> files_;
};

}  // namespace

int run_compile(const Options& options) {
    int code = kOk;
    for (const std::string& path : options.files) {
        const std::optional<CompileInput> input = read_input(path);
        code = worst(code, input ? FileCompilation(options, *input).run() : kEnvironment);
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
