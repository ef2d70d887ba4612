#include "from_source.hpp"

#include <map>

#include "mir/print.hpp"
#include "support/file_io.hpp"

namespace ockc::test {

namespace {

constexpr std::string_view kStd = "<std>/";

resolve::LoadResult load(SourceMap& sources, std::map<std::string, FileId>& loaded, const std::string& path) {
    if (const auto found = loaded.find(path); found != loaded.end()) {
        return {resolve::LoadResult::Kind::Loaded, found->second, {}};
    }
    if (path.rfind(kStd, 0) != 0) return {};
    Result<std::string> text = read_file(std::string(OCKC_SOURCE_DIR) + "/stdlib/" + path.substr(kStd.size()), 1u << 24);
    if (!text.ok()) return {};
    const FileId file = sources.add(path, "", std::move(text.value()), true);
    loaded.emplace(path, file);
    return {resolve::LoadResult::Kind::Loaded, file, {}};
}

}  // namespace

std::string FromSource::wrap(const std::string& body) {
    return "use cuda_device::cuda_module;\n#[cuda_module]\nmod kernels {\n" + body + "\n}\n";
}

FromSource::FromSource(const std::string& body, mir::BuildOptions options) {
    std::map<std::string, FileId> loaded;
    resolve::Options resolve_options;
    resolve_options.load = [&](const std::string& path, const SourceFile&) { return load(sources, loaded, path); };
    resolve::Inputs inputs;
    for (const auto& [name, root] : {std::pair{"core", "<std>/core/lib.rsk"}, std::pair{"cuda_device", "<std>/gpu/lib.rsk"}}) {
        inputs.libraries.push_back({name, load(sources, loaded, root).file});
    }
    inputs.main = sources.add("test.rsk", "test.rsk", wrap(body));
    inputs.crate_name = "test";
    program = resolve::resolve(inputs, resolve_options, interner, sources, sink);
    check::Options check_options;
    check_options.overflow_checks = options.overflow_checks;
    context = std::make_unique<check::Context>(*program, types, sink, check_options);
    if (sink.has_errors()) return;
    good = context->check_program() && mir::build(mir, *context, options) && !sink.has_errors();
}

const mir::Body* FromSource::body(std::string_view name) const {
    for (const DefId owner : mir.order) {
        if (program->name(owner) == name && !program->crates[program->defs[owner].crate].is_library) return mir.body(owner);
    }
    return nullptr;
}

std::string FromSource::mir_of(std::string_view name) {
    const mir::Body* found = body(name);
    return found == nullptr ? std::string() : mir::print(*found, *context);
}

std::vector<std::string> FromSource::codes() const {
    std::vector<std::string> list;
    for (const Diagnostic& one : sink.all()) {
        if (one.severity != Severity::Error) continue;
        list.push_back(!one.lint.empty() ? one.lint : one.code == Code::None ? "error" : std::string(code_name(one.code)));
    }
    return list;
}

std::string FromSource::messages() const {
    std::string text;
    for (const Diagnostic& one : sink.all()) {
        text += std::string(code_name(one.code)) + ": " + one.message + "\n";
        for (const Label& label : one.labels) {
            text += "  " + std::to_string(sources.line_column(label.span.file, label.span.begin).line) + ": " + label.text + "\n";
        }
    }
    return text;
}

}  // namespace ockc::test
