// Files to syntax: lexing, parsing, and where `mod x;` looks.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

ast::SourceUnit parse_file(State& state, std::uint32_t crate, FileId file);

// The folder in which a file's `mod x;` are searched, and how the file was reached (to refuse cycles).
struct ModuleFolder {
    std::string folder;             // with a trailing '/', or empty
    std::string file_folder;        // of the file itself: what #[path] is relative to
    std::vector<std::string> open;  // paths of the files being loaded, outermost first
};
ModuleFolder folder_of_root(const State& state, FileId file);
// Finds, reads and parses the file of `mod name;`. Reports E0583 and cycles; nothing when it failed.
struct LoadedModule {
    ast::SourceUnit unit;
    ModuleFolder folder;
};
std::optional<LoadedModule> load_module_file(State& state, std::uint32_t crate, const ModuleFolder& from, hir::Ident name,
                                             std::optional<std::string_view> path_attribute);

}  // namespace ockc::resolve
