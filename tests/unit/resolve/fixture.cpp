#include "fixture.hpp"

#include <fmt/format.h>

#include "hir/print.hpp"
#include "support/file_io.hpp"

namespace ockc::test {

namespace {

resolve::LoadResult load(Resolved& r, const Setup& setup, const std::string& path) {
    constexpr std::string_view kLibrary = "<std>/";
    if (path.starts_with(kLibrary)) {
        auto text = read_file(std::string(OCKC_SOURCE_DIR) + "/stdlib/" + path.substr(kLibrary.size()), 1 << 24);
        if (!text.ok()) return {};
        return {resolve::LoadResult::Kind::Loaded, r.sources.add(path, {}, std::move(text.value()), true), {}};
    }
    const auto found = setup.files.find(path);
    if (found == setup.files.end()) return {};
    return {resolve::LoadResult::Kind::Loaded, r.sources.add(path, path, found->second), {}};
}

void load_libraries(Resolved& r, const Setup& setup, resolve::Inputs& inputs) {
    for (const auto& [name, root] : {std::pair("core", "<std>/core/lib.rsk"), std::pair("cuda_device", "<std>/gpu/lib.rsk")}) {
        const auto loaded = load(r, setup, root);
        if (loaded.kind == resolve::LoadResult::Kind::Loaded) inputs.libraries.push_back({name, loaded.file});
    }
}

// Made once; only its main file, the first, is not the program's.
const std::string& library_image() {
    static const std::string image = [] {
        Resolved r;
        resolve::Options options;
        options.load = [&](const std::string& path, const SourceFile&) { return load(r, {}, path); };
        resolve::Inputs inputs;
        inputs.crate_name = "main";
        r.sources.add("main", "", "");
        load_libraries(r, {}, inputs);
        return resolve::write_library_image(inputs, options, r.names, r.sources, r.sink);
    }();
    return image;
}

void use_image(Resolved& r, resolve::Inputs& inputs) {
    inputs.library_image = std::as_bytes(std::span(library_image()));
    inputs.libraries = resolve::library_image_crates(inputs.library_image);
    for (const auto& [name, text] : resolve::library_image_files(inputs.library_image)) r.sources.add_embedded(std::string(name), text);
}

}  // namespace

std::unique_ptr<Resolved> resolve_text(std::string_view text, const Setup& setup) {
    auto result = std::make_unique<Resolved>();
    Resolved& r = *result;
    resolve::Options options;
    options.cfg = setup.cfg;
    options.edition = setup.edition;
    options.require_device_code = setup.require_device_code;
    options.load = [&](const std::string& path, const SourceFile&) { return load(r, setup, path); };
    resolve::Inputs inputs;
    if (!setup.on_demand) load_libraries(r, setup, inputs);
    inputs.main = r.sources.add("main.rsk", "main.rsk", std::string(text));
    inputs.crate_name = "user";
    if (setup.on_demand) use_image(r, inputs);
    r.resolver = std::make_unique<resolve::Resolver>(inputs, options, r.names, r.sources, r.sink);
    r.program = &r.resolver->program();
    return result;
}

std::vector<std::string> Resolved::messages() const {
    std::vector<std::string> result;
    for (const Diagnostic& d : sink.all()) {
        if (d.severity == Severity::Warning) continue;   // tests/golden/lint
        const Span span = d.primary_span();
        const std::string code = d.code == Code::None ? "error" : std::string(code_name(d.code));
        if (!span.valid()) {
            result.push_back(fmt::format("?: {} {}", code, d.message));
            continue;
        }
        const std::string& file = sources.file(span.file).name;
        const std::string place = file == "main.rsk" ? "" : file + ":";
        result.push_back(fmt::format("{}{}: {} {}", place, sources.line_column(span.file, span.begin).line, code, d.message));
    }
    return result;
}

std::string Resolved::all_messages() const {
    std::string text;
    for (const std::string& message : messages()) text += message + "\n";
    return text;
}

std::string Resolved::hir() const { return hir::print(*program); }

DefId Resolved::def(std::string_view path) const {
    for (std::uint32_t i = 0; i < program->defs.size(); ++i) {
        const hir::DefKind kind = program->defs[DefId(i)].kind;
        if (kind != hir::DefKind::Ctor && kind != hir::DefKind::Macro && program->path_text(DefId(i)) == path) return DefId(i);
    }
    return {};
}

bool Resolved::lowered(std::string_view path) const {
    const DefId id = def(path);
    return id.valid() && program->defs[id].lowered;
}

std::string lower_body(std::string_view statements, std::string_view items) {
    const auto r = resolve_text(fmt::format("#[device]\nfn f() {{\n{}\n}}\n{}\n", statements, items));
    if (r->sink.has_errors()) return r->all_messages();
    const std::string text = r->hir();
    const std::size_t begin = text.find("fn f() {\n");
    const std::size_t end = text.find("\n}\n", begin);
    // Without the function around it and its indentation.
    std::string body, result;
    body = text.substr(begin + 9, end - begin - 9) + "\n";
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t stop = body.find('\n', at);
        std::string_view line(body.data() + at, stop - at);
        line.remove_prefix(std::min<std::size_t>(4, line.size()));
        result += std::string(line) + "\n";
        at = stop + 1;
    }
    return result;
}

}  // namespace ockc::test
