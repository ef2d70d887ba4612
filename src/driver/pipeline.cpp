// The whole compiler as one flat function: source text to tokens, tree, HIR, MIR, SSA, PTX and header. Each step takes a
// finished structure and gives the next; what users must know goes to the sink. Every step has a name for --emit and a
// verifier that debug builds always run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ast/print.hpp"
#include "borrowck/borrowck.hpp"
#include "check/context.hpp"
#include "diag/render.hpp"
#include "driver/explain.hpp"
#include "driver/pipeline.hpp"
#include "driver/session.hpp"
#include "hir/print.hpp"
#include "host/host.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "isel/select.hpp"
#include "lex/lexer.hpp"
#include "lints/lint.hpp"
#include "lower/lower.hpp"
#include "mir/build.hpp"
#include "mir/elaborate_drops.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"
#include "ockc/version.hpp"
#include "opt/pipeline.hpp"
#include "parse/parser.hpp"
#include "ptx/print.hpp"
#include "ptx/validate.hpp"
#include "tile/tile.hpp"

namespace ockc {

using driver::Session;

namespace {

#ifdef NDEBUG
constexpr bool kAlwaysVerify = false;
#else
constexpr bool kAlwaysVerify = true;
#endif

class PhaseTimer {
  public:
    explicit PhaseTimer(std::vector<PhaseTime>& times) : times_(times) {}
    // Ends the phase that ran until now.
    void end(std::string phase) {
        const auto now = std::chrono::steady_clock::now();
        times_.push_back({std::move(phase), std::chrono::duration<double, std::milli>(now - start_).count()});
        start_ = now;
    }

  private:
    std::vector<PhaseTime>& times_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool wants(const CompileOptions& options, std::string_view dump) {
    for (const std::string& one : options.dumps) {
        if (one == dump) return true;
    }
    return false;
}

bool verifies(const CompileOptions& options) { return kAlwaysVerify || options.verify_ir; }

lex::Edition edition_of(const CompileOptions& options) {
    return options.edition == 2021 ? lex::Edition::E2021 : lex::Edition::E2024;
}

resolve::Options resolve_options(Session& session) {
    resolve::Options options;
    options.edition = edition_of(session.options);
    for (const std::string& text : session.options.cfg) {
        const std::size_t equal = text.find('=');
        resolve::CfgEntry entry;
        entry.name = text.substr(0, equal);
        if (equal != std::string::npos) {
            entry.has_value = true;
            entry.value = text.substr(equal + 1);
            if (entry.value.size() >= 2 && entry.value.front() == '"' && entry.value.back() == '"') {
                entry.value = entry.value.substr(1, entry.value.size() - 2);
            }
        }
        options.cfg.push_back(std::move(entry));
    }
    options.load = [&session](const std::string& path, const SourceFile& from) { return driver::load_module(session, path, from); };
    return options;
}

std::string crate_name(const std::string& file_name) {
    std::string stem = file_name.substr(0, file_name.find('.'));
    for (char& c : stem) {
        if (c == '-') c = '_';
    }
    return stem;
}

// The text and target of one `--target`, or an error in the sink.
std::optional<ptx::Target> target_of(Session& session, const std::string& name) {
    if (const auto target = ptx::target_from_text(name)) return target;
    Diagnostic& error = session.sink.error({}, fmt::format("unknown target `{}`", name));
    std::string list;
    for (const ptx::TargetInfo& known : ptx::all_targets()) list += fmt::format("{}{}", list.empty() ? "" : ", ", known.text);
    error.help(fmt::format("targets: {}", list));
    return std::nullopt;
}

// The PTX version for `--ptx-isa`: 0 = the lowest that works.
std::optional<std::uint16_t> ptx_version_of(Session& session) {
    const std::string& text = session.options.ptx_isa;
    if (text == "min") return std::uint16_t{0};
    if (text == "max") return ptx::kNewestPtx;
    if (text.size() == 3 && text[1] == '.' && text[0] >= '0' && text[0] <= '9' && text[2] >= '0' && text[2] <= '9') {
        return static_cast<std::uint16_t>((text[0] - '0') * 10 + (text[2] - '0'));
    }
    session.sink.error({}, fmt::format("`{}` is not a PTX version", text)).help("write min, max or a version such as 8.0");
    return std::nullopt;
}

// The IR of the whole module, or of one kernel.
std::string ir_dump(const ir::Module& module, const std::string& kernel) {
    if (kernel.empty()) return ir::print(module);
    std::string text;
    for (const ir::Function& function : module.functions) {
        if (function.name == kernel) text += ir::print(module, function);
    }
    return text;
}

abi::TileTerm tile_term(const ir::LaunchTerm& term, const abi::KernelAbi& kernel) {
    switch (term.kind) {
        case ir::LaunchTerm::Kind::Number: return {abi::TileTerm::Kind::Number, term.number, 0, 0};
        case ir::LaunchTerm::Kind::Grid: return {abi::TileTerm::Kind::Grid, 0, 0, term.number};
        case ir::LaunchTerm::Kind::Tiles: break;
    }
    std::uint32_t param = 0;
    while (kernel.params[param].first_slot + kernel.params[param].slot_count <= term.slot) ++param;
    return {abi::TileTerm::Kind::Tiles, term.number, param, term.slot - kernel.params[param].first_slot - 1};   // the address comes first
}

// How many threads a block of a tile kernel has, and how much shared memory, is the compiler's choice.
void set_blocks(lower::Output& lowered, const std::vector<tile::Wishes>& wishes) {
    for (const ir::Function& function : lowered.module.functions) {
        if (!function.is_kernel || function.removed) continue;
        abi::KernelAbi& kernel = lowered.abi.kernels[function.kernel_index];
        if (!kernel.is_tile) continue;
        if (function.facts.dynamic_shared != 0) kernel.launch.dynamic_shared = function.facts.dynamic_shared;
        if (function.facts.block[0] != 0) kernel.launch.block = abi::Dim3{function.facts.block[0], function.facts.block[1], function.facts.block[2]};
        for (const ir::LaunchCheck& check : function.facts.launch_checks) kernel.tile_checks.push_back({tile_term(check.least, kernel), tile_term(check.most, kernel)});
    }
    for (const tile::Wishes& wish : wishes) {
        const ir::Function& function = lowered.module.functions[wish.kernel];
        if (wish.blocks != 0) lowered.abi.kernels[function.kernel_index].launch.min_blocks = wish.blocks;
    }
}

// What every target has: tiles are lowered once for all of them.
tile::Device tile_device(const CompileOptions& options) {
    tile::Device least{UINT16_MAX, UINT32_MAX};
    for (const std::string& name : options.targets) {
        const auto target = ptx::target_from_text(name);
        if (!target) continue;   // reported when its PTX is made
        const ptx::TargetInfo& info = ptx::target_info(*target);
        least.sm = std::min(least.sm, info.sm);
        least.shared_bytes = std::min(least.shared_bytes, info.shared_optin);
    }
    return least.sm == UINT16_MAX ? tile::Device{} : least;
}

void check_ir(const ir::Module& module, const char* after) {
    const Status status = ir::verify(module);
    if (!status.ok()) OCKC_UNREACHABLE(fmt::format("the IR is not valid after {}:\n{}", after, status.error()));
}

// IR of one target to PTX: selection, validation, both texts.
void emit_ptx(Session& session, const lower::Output& lowered, const std::string& target_name, CompileResult& result) {
    const auto target = target_of(session, target_name);
    const auto version = ptx_version_of(session);
    if (!target || !version) return;
    isel::Options options;
    options.target = *target;
    options.ptx_version = *version;
    options.panic_record = session.options.panic_message;
    options.line_info = true;
    options.only_kernel = session.options.dump_kernel;
    options.fast_math = session.options.fast_math;
    options.sources = &session.sources;
    options.comment = fmt::format("Generated by ockc {} from {}", kVersion, lowered.abi.source_name);
    const ptx::Module module = isel::select(lowered.module, lowered.abi, options, session.sink);
    if (session.sink.has_errors()) return;
    if (const std::uint16_t lowest = *version == 0 ? std::uint16_t{0} : ptx::lowest_ptx_version(module); *version < lowest) {
        session.sink.error({}, fmt::format("the kernels need PTX {}.{} on {}, but --ptx-isa asks for {}", lowest / 10, lowest % 10, target_name, session.options.ptx_isa))
            .help("ask for a newer version, or for the lowest that works with `--ptx-isa min`");
        return;
    }
    if (verifies(session.options)) {
        for (const ptx::ValidationError& error : ptx::validate(module)) {
            OCKC_UNREACHABLE(fmt::format("invalid PTX in {}: {}: {}", error.function, error.text, error.message));
        }
    }
    ptx::Texts texts = ptx::print_both(module);
    CompiledImage image;
    image.target = target_name;
    image.ptx = session.options.line_info ? texts.with_locations : std::move(texts.plain);
    image.embedded = std::move(texts.with_locations);
    result.images.push_back(std::move(image));
}

void emit_host(Session& session, const lower::Output& lowered, CompileResult& result) {
    std::vector<host::Image> images;
    const std::string stem = lowered.abi.source_name.substr(0, lowered.abi.source_name.rfind('.'));
    for (const CompiledImage& image : result.images) {
        const std::string ending = result.images.size() > 1 ? fmt::format(".{}.ptx", image.target) : ".ptx";
        images.push_back({image.target, image.embedded, stem + ending});
    }
    if (session.options.want_header) result.header = host::emit_header(lowered.abi, images);
    if (!session.options.want_manifest) return;
    for (std::size_t i = 0; i < images.size(); ++i) images[i].ptx = result.images[i].ptx;
    result.manifest = host::emit_manifest(lowered.abi, images);
}

borrowck::Scope scope_of(const Session& session) { return session.whole_library ? borrowck::Scope::All : borrowck::Scope::User; }

// MIR and borrow check of one body after another, while it is in the cache; with check_only its memory serves the next one. What is
// wrong with the building itself comes first, and then nothing is said of borrows, as if all had been built before.
void check_body_by_body(Session& session, check::Context& context, mir::Program& mir, const mir::BuildOptions& options, borrowck::LintFacts& lints) {
    DiagSink& sink = session.sink;
    DiagSink::Part of_checks;
    sink.add_to(of_checks, [&] { borrowck::check_impl_signatures(context); });
    borrowck::BodyChecks checks(mir, context, &lints, scope_of(session));
    std::size_t errors = 0;
    const std::vector<DefId> owners = context.checked_bodies();
    for (const DefId owner : owners) {
        const std::size_t before = sink.error_count(), bodies = mir.order.size();
        mir::build_body(mir, context, owner, options);
        errors += sink.error_count() - before;
        sink.add_to(of_checks, [&] {
            for (std::size_t i = bodies; errors == 0 && i < mir.order.size(); ++i) checks.check(mir.order[i]);
        });
        if (session.options.check_only) mir::drop_body(mir, context, owner);
    }
    sink.put_last(of_checks, errors == 0);
}

// The same, phase by phase: for dumps and verifiers. False when no MIR could be built.
bool check_all_bodies(Session& session, check::Context& context, mir::Program& mir, const mir::BuildOptions& options, borrowck::LintFacts& lints,
                      CompileResult& result) {
    const bool wanted = wants(session.options, "mir");
    mir::build(mir, context, options);
    if (session.sink.has_errors()) {
        if (wanted) result.dumps.emplace_back("mir", mir::print(mir, context));
        return false;
    }
    if (verifies(session.options)) mir::verify(mir, context);
    std::string text;
    borrowck::check(mir, context, &lints, scope_of(session), wanted ? &text : nullptr);
    if (wanted) result.dumps.emplace_back("mir", std::move(text));
    return true;
}

// The steps. Returns early after the last step that can go on with errors in the sink.
void run(Session& session, const CompileInput& input, CompileResult& result, abi::ModuleAbi& abi) {
    const CompileOptions& options = session.options;
    DiagSink& sink = session.sink;
    PhaseTimer timer(result.times);
    const auto dump = [&](std::string_view kind, auto&& print) {
        if (wants(options, kind)) result.dumps.emplace_back(std::string(kind), print());
    };

    const FileId file = session.sources.add(input.name, input.path, input.text);
    if (!input.path.empty()) session.dependencies.push_back(input.path);
    if (wants(options, "tokens") || wants(options, "ast")) {
        // resolve reads the file again: only when nothing else is wanted do the errors of this reading count.
        const bool alone = options.dumps.size() == 1;
        DiagSink unheard;
        DiagSink& early = alone ? sink : unheard;
        const lex::TokenBuffer tokens = lex::lex(session.sources, file, early, edition_of(options));
        dump("tokens", [&] { return lex::dump_tokens(tokens, session.sources); });
        ast::Crate crate;
        if (wants(options, "ast")) {
            const ast::SourceUnit unit = parse::parse(tokens, {session.sources, session.interner, early, crate});
            dump("ast", [&] { return ast::print(unit, {crate, session.sources, session.interner}); });
        }
        if (alone) return;
    }

    resolve::Inputs inputs;
    inputs.main = file;
    inputs.crate_name = crate_name(input.name);
    driver::load_library(session, inputs);
    resolve::Resolver resolver(inputs, resolve_options(session), session.interner, session.sources, sink);
    const hir::Program& program = resolver.program();
    timer.end("resolve");
    dump("hir", [&] { return hir::print(program); });

    check::Options check_options;
    check_options.overflow_checks = options.overflow_checks;
    check_options.consts = options.consts;
    if (!session.whole_library) check_options.demand = &resolver;
    check::Context context(program, session.types, sink, check_options);
    context.check_program();
    timer.end("check");
    mir::Program mir;
    mir::BuildOptions mir_options;
    mir_options.overflow_checks = options.overflow_checks;
    mir_options.edition = static_cast<std::uint32_t>(options.edition);
    if (sink.has_errors()) {
        // What is well typed has its borrows checked whatever else is wrong, unless the text itself is.
        if (resolver.has_syntax_errors()) return;
        mir::build(mir, context, mir_options);
        borrowck::check(mir, context, nullptr, borrowck::Scope::User, nullptr);
        return;
    }
    borrowck::LintFacts lint_facts;
    if (!verifies(options) && options.dumps.empty()) {
        check_body_by_body(session, context, mir, mir_options, lint_facts);
    } else if (!check_all_bodies(session, context, mir, mir_options, lint_facts, result)) {
        return;
    }
    timer.end("mir and borrows");
    if (!sink.has_errors()) {
        const std::size_t first = sink.all().size();
        lints::run(program, context);
        lint_facts.report(context);
        sink.sort_from(first);
    }
    timer.end("lint");
    if (sink.has_errors() || options.check_only) return;
    mir::elaborate_drops(mir, context);

    lower::Input lower_input{context, session.sources, {}, options.fast_math, input.name, options.consts, options.partitions};
    lower_input.mir = [&](DefId def) -> const mir::Body* {
        if (mir.body(def) != nullptr) return mir.body(def);
        if (!mir::build_body(mir, context, def, mir_options)) return nullptr;
        mir::elaborate_drops(mir, context, *mir.bodies.at(def));
        return mir.body(def);
    };
    lower::Output lowered = lower::lower(lower_input);
    mir.bodies.clear();   // what follows takes their memory
    timer.end("lower");
    if (sink.has_errors()) return;
    dump("ir-lowered", [&] { return ir_dump(lowered.module, options.dump_kernel); });
    if (verifies(options)) check_ir(lowered.module, "lower");

    opt::Options opt_options;
    opt_options.level = options.opt_level;
    opt_options.verify = options.verify_ir;
    opt_options.fmad = options.fmad;
    if (tile::has_tiles(lowered.module)) {
        opt_options.level = std::max(opt_options.level, 1);   // tiles must be values
        opt::run_early(lowered.module, opt_options);
        const auto wishes = tile::lower(lowered.module, sink, tile_device(options), [&](std::string_view step) {
            const std::string kind = step == "tile-pipeline" ? "ir-tile" : fmt::format("ir-{}", step == "tile-lower" ? "tile-lowered" : step);
            dump(kind, [&] { return ir_dump(lowered.module, options.dump_kernel); });
        });
        timer.end("tile");
        if (!wishes) return;
        set_blocks(lowered, *wishes);
        if (verifies(options)) check_ir(lowered.module, "tile");
    }
    opt::run(lowered.module, opt_options);
    isel::number_panic_sites(lowered.module, lowered.abi, session.sources);
    timer.end("opt");
    dump("ir", [&] { return ir_dump(lowered.module, options.dump_kernel); });
    if (verifies(options)) check_ir(lowered.module, "opt");

    for (const abi::KernelAbi& kernel : lowered.abi.kernels) result.kernels.push_back(kernel.symbol);
    for (const std::string& target : options.targets) emit_ptx(session, lowered, target, result);
    timer.end("isel");
    if (sink.has_errors()) return;
    emit_host(session, lowered, result);
    timer.end("host");
    abi = std::move(lowered.abi);
}

void render_all(Session& session, const DiagnosticOptions& how, CompileResult& result) {
    static constexpr ErrorFormat kFormats[] = {ErrorFormat::Human, ErrorFormat::Short, ErrorFormat::Json};
    const RenderOptions render_options{kFormats[static_cast<std::size_t>(how.format)], how.color, driver::error_page};
    std::uint32_t errors = 0;
    for (const Diagnostic& one : session.sink.all()) {
        const bool is_error = one.severity == Severity::Error;
        if (is_error && ++errors > session.options.error_limit) continue;
        DiagnosticText text;
        text.is_error = is_error;
        text.code = one.code != Code::None ? std::string(code_name(one.code)) : one.lint;
        text.message = one.message;
        if (const Span span = one.primary_span(); span.valid()) {
            const LineColumn at = session.sources.line_column(span.file, span.begin);
            text.file = session.sources.file(span.file).display_name();
            text.line = at.line;
            text.column = at.column;
        }
        text.rendered = render(one, session.sources, render_options);
        result.diagnostics.push_back(std::move(text));
    }
    result.summary = render_summary(session.sink, session.sources, render_options);
}

void set_lint_levels(Session& session) {
    for (const auto& [level, lint] : session.options.lints) {
        if (lint != "warnings" && !is_lint_group(lint) && find_lint(lint) == nullptr) {
            session.sink.add(Severity::Warning, Code::None, {}, fmt::format("unknown lint: `{}`", lint)).note(fmt::format("requested on the command line with `-{} {}`", level, lint));
        }
        session.sink.levels().set(level == 'A' ? LintLevel::Allow : level == 'D' ? LintLevel::Deny : level == 'F' ? LintLevel::Forbid : LintLevel::Warn, lint);
    }
}

}  // namespace

namespace {

// Errors about the program's own matters: values, borrows, patterns, constants. Their messages name nothing of the library that
// the program did not reach itself.
constexpr Code kOwnMatters[] = {
    Code::E0004, Code::E0005, Code::E0023, Code::E0026, Code::E0027, Code::E0040, Code::E0072, Code::E0080, Code::E0133, Code::E0308, Code::E0373,
    Code::E0381, Code::E0382, Code::E0384, Code::E0391, Code::E0499, Code::E0502, Code::E0503, Code::E0505, Code::E0506, Code::E0507,
    Code::E0508, Code::E0509, Code::E0510, Code::E0512, Code::E0515, Code::E0521, Code::E0594, Code::E0596, Code::E0597, Code::E0621,
    Code::E0700, Code::E0713, Code::E0716, Code::OCK0403, Code::OCK0404, Code::OCK0905};

// Would the errors say more if the whole library were there?
bool may_gain_from_library(const DiagSink& sink) {
    for (const Diagnostic& one : sink.all()) {
        if (one.severity != Severity::Error) continue;
        const bool own = !one.lint.empty() || std::find(std::begin(kOwnMatters), std::end(kOwnMatters), one.code) != std::end(kOwnMatters);
        if (!own) return true;
    }
    return false;
}

}  // namespace

CompileResult driver::compile_with_abi(const CompileInput& input, const CompileOptions& options, const DiagnosticOptions& diagnostics,
                                      abi::ModuleAbi& abi) {
    CompileResult result;
    const CrashContext crash("compiling", input.name);
    // The HIR dump shows the library; errors speak of names and impls of the library that the program did not reach.
    const bool whole = options.whole_library || !options.library_dir.empty() || wants(options, "hir");
    std::optional<Session> opened(std::in_place, options, whole);
    set_lint_levels(*opened);
    run(*opened, input, result, abi);
    if (!whole && opened->sink.has_errors() && may_gain_from_library(opened->sink)) {
        result = {};
        abi = {};
        opened.emplace(options, true);
        set_lint_levels(*opened);
        run(*opened, input, result, abi);
    }
    Session& session = *opened;
    session.sink.report_lint_attributes();
    session.sink.drop_repeats();
    result.ok = !session.sink.has_errors();
    if (!result.ok) {
        result.images.clear();
        result.header.clear();
        result.manifest.clear();
    }
    render_all(session, diagnostics, result);
    result.dependencies = std::move(session.dependencies);
    return result;
}

CompileResult compile(const CompileInput& input, const CompileOptions& options, const DiagnosticOptions& diagnostics) {
    abi::ModuleAbi abi;
    return driver::compile_with_abi(input, options, diagnostics, abi);
}

}  // namespace ockc
