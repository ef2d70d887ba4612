// Files: the built-in library (embedded in the binary, or from a folder while it is being worked on) and the modules that
// source files name.
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "driver/limits.hpp"
#include "driver/session.hpp"
#include "support/file_io.hpp"

namespace ockc {
extern "C" const unsigned char stdlib_image_bytes[], stdlib_image_end[];   // made by ockc_embed_library
}  // namespace ockc

namespace ockc::driver {

namespace {

constexpr std::string_view kPrefix = "<std>/";

std::span<const std::byte> library_image() { return std::as_bytes(std::span(stdlib_image_bytes, stdlib_image_end)); }

// The text of a file of the embedded library, or nothing.
std::optional<std::string_view> embedded_text(std::string_view name) {
    for (const auto& [known, text] : resolve::library_image_files(library_image())) {
        if (known == name) return text;
    }
    return std::nullopt;
}

resolve::LoadResult load_library_file(Session& session, const std::string& path) {
    if (auto found = session.loaded.find(path); found != session.loaded.end()) return {resolve::LoadResult::Kind::Loaded, found->second, {}};
    const std::string_view relative = std::string_view(path).substr(kPrefix.size());
    FileId id;
    if (!session.options.library_dir.empty()) {
        Result<std::string> text = read_file(session.options.library_dir + "/" + std::string(relative), kMaxSourceBytes);
        if (!text.ok()) return {};
        id = session.sources.add(path, "", std::move(text.value()), true);
    } else {
        const std::optional<std::string_view> text = embedded_text(path);
        if (!text) return {};
        id = session.sources.add_embedded(path, *text);
    }
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

void load_library(Session& session, resolve::Inputs& inputs) {
    const std::vector<resolve::LibraryFile> files = resolve::library_image_files(library_image());
    std::vector<resolve::LibraryCrate> crates = resolve::library_image_crates(library_image());
    if (!session.whole_library) {
        for (const auto& [name, text] : files) session.sources.add_embedded(std::string(name), text);
        inputs.libraries = std::move(crates);
        inputs.library_image = library_image();
        return;
    }
    for (resolve::LibraryCrate& crate : crates) {
        const std::string root(files[crate.root.raw - 1].name);   // in an image the main file comes first
        const resolve::LoadResult loaded = load_library_file(session, root);
        if (loaded.kind != resolve::LoadResult::Kind::Loaded) {
            session.sink.error({}, "the built-in library has no `" + root + "`");
            continue;
        }
        inputs.libraries.push_back({std::move(crate.name), loaded.file});
    }
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
