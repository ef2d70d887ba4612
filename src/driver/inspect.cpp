// `ockc inspect FILE --emit=KIND`: what one phase made of the file, on stdout.
#include <fmt/format.h>

#include <algorithm>

#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/ptxas.hpp"

namespace ockc::driver {

namespace {

int print_machine(const Options& options, const CompileResult& result, Emit emit) {
    const std::string ptxas = find_ptxas();
    if (ptxas.empty()) {
        print_error("`ptxas` of the CUDA Toolkit was not found");
        return kEnvironment;
    }
    for (const CompiledImage& image : result.images) {
        Result<Assembled> assembled = assemble(ptxas, image);
        if (!assembled.ok()) {
            print_error("ptxas refuses the PTX that ockc made; this is a bug in ockc, please report it\n" + assembled.error());
            return kPtxRejected;
        }
        if (emit == Emit::Report) {
            std::vector<KernelResources> rows = assembled.value().resources;
            std::erase_if(rows, [&](const KernelResources& row) { return !options.inspect_kernel.empty() && row.kernel != options.inspect_kernel; });
            print_output(resource_report(rows, image.target));
            continue;
        }
        const Result<std::string> text = disassemble(assembled.value().cubin);
        if (!text.ok()) {
            print_error(text.error());
            return kEnvironment;
        }
        print_output(text.value());
    }
    return kOk;
}

int print_one(const Options& options, const CompileResult& result, Emit emit) {
    switch (emit) {
        case Emit::Ptx:
            for (const CompiledImage& image : result.images) {
                print_output(image.ptx);
            }
            return kOk;
        case Emit::Header: print_output(result.header); return kOk;
        case Emit::Manifest: print_output(result.manifest); return kOk;
        case Emit::Sass:
        case Emit::Report: return print_machine(options, result, emit);
        case Emit::Tokens:
        case Emit::Ast:
        case Emit::Hir:
        case Emit::Mir:
        case Emit::Ir:
        case Emit::IrLowered:
        case Emit::IrTileTypes:
        case Emit::IrTileLayouts:
        case Emit::IrTile:
        case Emit::IrTileLowered:
            for (const auto& [kind, text] : result.dumps) {
                if (kind == emit_info(emit).name) print_output(text);
            }
            return kOk;
        case Emit::Cubin:
        case Emit::Fatbin:
        case Emit::DepInfo: break;   // refused by parse_options
    }
    OCKC_UNREACHABLE("kind of inspect");
}

}  // namespace

int run_inspect(const Options& options) {
    const std::optional<CompileInput> input = read_input(options.files[0]);
    if (!input) return kEnvironment;
    CompileOptions compile_options = options.compile;
    compile_options.dump_kernel = options.inspect_kernel;
    bool back_end = false;
    for (const EmitRequest& one : options.emits) {
        compile_options.dumps.emplace_back(emit_info(one.emit).name);
        compile_options.want_manifest = compile_options.want_manifest || one.emit == Emit::Manifest;
        back_end = back_end || one.emit >= Emit::Ir || one.emit <= Emit::Manifest;
    }
    compile_options.check_only = !back_end;
    const CompileResult result = compile(*input, compile_options, diagnostic_options(options));
    print_diagnostics(result, options);
    if (result.ok && !options.inspect_kernel.empty() && back_end &&
        std::find(result.kernels.begin(), result.kernels.end(), options.inspect_kernel) == result.kernels.end()) {
        print_error(fmt::format("no kernel `{}` in {}", options.inspect_kernel, input->name));
        return kBadCommandLine;
    }
    int code = result.ok ? kOk : kSourceErrors;
    // Dumps of phases that were reached are printed in spite of later errors: that is when they are wanted.
    for (const EmitRequest& one : options.emits) {
        if (result.ok || one.emit == Emit::Tokens || one.emit == Emit::Ast || one.emit == Emit::Hir || one.emit == Emit::Mir) {
            code = worst(code, print_one(options, result, one.emit));
        }
    }
    return code;
}

}  // namespace ockc::driver
