// Files to syntax: lexing, parsing, and where `mod x;` looks.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

ast::SourceUnit parse_file(State& state, std::uint32_t crate, FileId file);

ModuleFolder folder_of_root(const State& state, FileId file);
// Finds, reads and parses the file of `mod name;`. Reports E0583 and cycles; nothing when it failed.
struct LoadedModule {
    ast::SourceUnit unit;
    ModuleFolder folder;
};
std::optional<LoadedModule> load_module_file(State& state, std::uint32_t crate, const ModuleFolder& from, hir::Ident name,
                                             std::optional<std::string_view> path_attribute);

// The file that include!, include_str! or include_bytes! names, relative to the file of the call. Reports what is wrong.
std::optional<FileId> included_file(State& state, std::uint32_t crate, const ast::MacroCall& call);
// Its tokens; they live as long as the crate.
const lex::TokenBuffer& file_tokens(State& state, std::uint32_t crate, FileId file);

}  // namespace ockc::resolve
