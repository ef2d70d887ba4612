// Build-time tool: the built-in library's sources in, its image out (src/resolve/library_image.hpp).
// Usage: library_image OUT DIR CRATE=ROOT_FILE.. ; root files are relative to DIR, crates stand in order of dependence.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "diag/render.hpp"
#include "resolve/resolve.hpp"
#include "support/file_io.hpp"

namespace {

using namespace ockc;

constexpr std::string_view kPrefix = "<std>/";
constexpr std::size_t kMaxBytes = 64u << 20;

int fail(const std::string& message) {
    std::fprintf(stderr, "library_image: %s\n", message.c_str());
    return 3;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: library_image OUT DIR CRATE=ROOT_FILE..\n");
        return 2;
    }
    const std::string folder = argv[2];
    Interner interner;
    SourceMap sources;
    DiagSink sink;
    const auto load = [&](const std::string& path, const SourceFile&) -> resolve::LoadResult {
        Result<std::string> text = read_file(folder + "/" + path.substr(kPrefix.size()), kMaxBytes);
        if (!text.ok()) return {};
        return {resolve::LoadResult::Kind::Loaded, sources.add(path, "", std::move(text.value()), true), {}};
    };
    resolve::Inputs inputs;
    sources.add("main", "", "");   // the FileId of a program's main file
    for (int i = 3; i < argc; ++i) {
        const std::string_view argument = argv[i];
        const std::size_t equal = argument.find('=');
        if (equal == std::string_view::npos) return fail("expected CRATE=ROOT_FILE, not " + std::string(argument));
        const std::string root = std::string(kPrefix) + std::string(argument.substr(equal + 1));
        const resolve::LoadResult loaded = load(root, {});
        if (loaded.kind != resolve::LoadResult::Kind::Loaded) return fail("cannot read " + root);
        inputs.libraries.push_back({std::string(argument.substr(0, equal)), loaded.file});
    }
    inputs.crate_name = "main";
    resolve::Options options;
    options.load = load;
    const std::string image = resolve::write_library_image(inputs, options, interner, sources, sink);
    for (const Diagnostic& one : sink.all()) std::fputs(render(one, sources, {ErrorFormat::Human, false}).c_str(), stderr);
    if (image.empty()) return fail("the library has errors");
    if (Status written = write_file_if_changed(argv[1], image); !written.ok()) return fail("cannot write " + written.error());
    return 0;
}
