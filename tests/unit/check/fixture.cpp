#include "fixture.hpp"

#include <fmt/format.h>

#include "diag/render.hpp"
#include "support/file_io.hpp"

namespace ockc::test {

resolve::LoadResult Checked::load(const std::string& path) {
    constexpr std::string_view prefix = "<std>/";
    if (path.rfind(prefix, 0) != 0) return {};
    if (const auto known = loaded_.find(path); known != loaded_.end()) return {resolve::LoadResult::Kind::Loaded, known->second, {}};
    Result<std::string> text = read_file(OCKC_SOURCE_DIR "/stdlib/" + path.substr(prefix.size()), 1 << 24);
    if (!text.ok()) return {};
    const FileId id = sources_.add(path, "", std::move(text.value()), true);
    loaded_.emplace(path, id);
    return {resolve::LoadResult::Kind::Loaded, id, {}};
}

Checked::Checked(const std::string& text, check::Options options) {
    const bool whole = text.find("cuda_module") != std::string::npos || text.find("#[kernel]") != std::string::npos;
    const FileId main = sources_.add("test.rsk", "", whole ? text : "#[cuda_module] mod m { " + text + "\n}");
    resolve::Inputs inputs;
    for (const auto& [name, root] : {std::pair{"core", "<std>/core/lib.rsk"}, std::pair{"cuda_device", "<std>/gpu/lib.rsk"}}) {
        inputs.libraries.push_back({name, load(root).file});
    }
    inputs.main = main;
    inputs.crate_name = "test";
    resolve::Options resolve_options;
    resolve_options.load = [this](const std::string& path, const SourceFile&) { return load(path); };
    resolve_options.require_device_code = false;
    program_ = resolve::resolve(inputs, resolve_options, interner_, sources_, sink_);
    options.sources = &sources_;
    context_ = std::make_unique<check::Context>(*program_, types_, sink_, options);
    context_->check_program();
    ok_ = !sink_.has_errors();
}

std::vector<std::string> Checked::errors() const {
    std::vector<std::string> out;
    for (const Diagnostic& d : sink_.all()) {
        if (d.severity != Severity::Error) continue;
        const Span at = d.primary_span();
        const std::string code = d.lint.empty() ? std::string(code_name(d.code)) : d.lint;
        out.push_back(fmt::format("{}:{}", code.empty() ? "error" : code, at.valid() ? sources_.line_column(at.file, at.begin).line : 0));
    }
    return out;
}

std::string Checked::messages() const {
    std::string out;
    for (const Diagnostic& d : sink_.all()) out += render(d, sources_, {ErrorFormat::Human, false});
    return out;
}

DefId Checked::find(std::string_view name) const {
    for (std::uint32_t i = static_cast<std::uint32_t>(program_->defs.size()); i-- > 0;) {
        const DefId def(i);
        if (!program_->crates[program_->defs[def].crate].is_library && program_->name(def) == name) return def;
    }
    return {};
}

}  // namespace ockc::test
