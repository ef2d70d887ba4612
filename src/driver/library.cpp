// Files: the built-in library (embedded in the binary, or from a folder while it is being worked on) and the modules that
// source files name.
#include <algorithm>
#include <string_view>

#include "driver/limits.hpp"
#include "driver/session.hpp"
#include "support/embedded.hpp"
#include "support/file_io.hpp"

namespace ockc {
extern const EmbeddedFile stdlib_files[];        // made by ockc_embed from stdlib/
extern const std::size_t stdlib_files_count;
}  // namespace ockc

namespace ockc::driver {

namespace {

constexpr std::string_view kPrefix = "<std>/";
// Crates of the library in order of dependence, with their root files.
constexpr std::string_view kCrates[][2] = {{"core", "<std>/core/lib.rsk"}, {"cuda_device", "<std>/gpu/lib.rsk"}};

resolve::LoadResult load_library_file(Session& session, const std::string& path) {
    if (auto found = session.loaded.find(path); found != session.loaded.end()) return {resolve::LoadResult::Kind::Loaded, found->second, {}};
    const std::string_view relative = std::string_view(path).substr(kPrefix.size());
    std::string text;
    if (!session.options.library_dir.empty()) {
        Result<std::string> read = read_file(session.options.library_dir + "/" + std::string(relative), kMaxSourceBytes);
        if (!read.ok()) return {};
        text = std::move(read.value());
    } else {
        const EmbeddedFile* end = stdlib_files + stdlib_files_count;
        const EmbeddedFile* file = std::find_if(stdlib_files, end, [&](const EmbeddedFile& f) { return f.name == relative; });
        if (file == end) return {};
        text = std::string(file->text);
    }
    const FileId id = session.sources.add(path, "", std::move(text), true);
    session.loaded.emplace(path, id);
    return {resolve::LoadResult::Kind::Loaded, id, {}};
}

// `path` as it should stand in outputs: relative to the main source's folder.
std::string relative_name(const Session& session, const std::string& path) {
    const std::string& main_path = session.dependencies.empty() ? path : session.dependencies.front();
    const std::size_t slash = main_path.rfind('/');
    if (slash != std::string::npos && path.compare(0, slash + 1, main_path, 0, slash + 1) == 0) return path.substr(slash + 1);
    return path;
}

}  // namespace

std::vector<resolve::LibraryCrate> load_library(Session& session) {
    std::vector<resolve::LibraryCrate> crates;
    for (const auto& [name, root] : kCrates) {
        const resolve::LoadResult loaded = load_library_file(session, std::string(root));
        if (loaded.kind != resolve::LoadResult::Kind::Loaded) {
            session.sink.error({}, "the built-in library has no `" + std::string(root) + "`");
            continue;
        }
        crates.push_back({std::string(name), loaded.file});
    }
    return crates;
}

resolve::LoadResult load_module(Session& session, const std::string& path, const SourceFile& from) {
    if (from.embedded) return load_library_file(session, path);
    if (auto found = session.loaded.find(path); found != session.loaded.end()) return {resolve::LoadResult::Kind::Loaded, found->second, {}};
    if (!file_exists(path)) return {};
    Result<std::string> text = read_file(path, kMaxSourceBytes);
    if (!text.ok()) return {resolve::LoadResult::Kind::Failed, {}, text.error()};
    const FileId id = session.sources.add(relative_name(session, path), path, std::move(text.value()));
    session.loaded.emplace(path, id);
    session.dependencies.push_back(path);
    return {resolve::LoadResult::Kind::Loaded, id, {}};
}

}  // namespace ockc::driver
