#include "resolve/load.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "lex/lexer.hpp"

namespace ockc::resolve {

namespace {

// What a file is called where it was read from; embedded files have only their name.
const std::string& place_of(const SourceFile& file) { return file.path.empty() ? file.name : file.path; }

// Without `x/..`: a #[path] that goes around in a circle has a new spelling each time.
std::string plain(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

std::string folder_part(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string stem_part(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    return name.substr(0, name.rfind('.'));
}

}  // namespace

const lex::TokenBuffer& file_tokens(State& state, std::uint32_t crate, FileId file) {
    const lex::Edition edition = state.crates[crate].is_library ? lex::Edition::E2024 : state.options.edition;
    auto tokens = std::make_unique<lex::TokenBuffer>(lex::lex(state.sources, file, *state.sink, edition));
    return *state.program.crates[crate].tokens.emplace_back(std::move(tokens));
}

ast::SourceUnit parse_file(State& state, std::uint32_t crate, FileId file) {
    const std::size_t errors = state.sink->error_count();
    ast::SourceUnit unit = parse::parse(file_tokens(state, crate, file), state.parse_context(crate));
    state.has_syntax_errors = state.has_syntax_errors || state.sink->error_count() != errors;
    return unit;
}

std::optional<FileId> included_file(State& state, std::uint32_t crate, const ast::MacroCall& call) {
    const auto args = parse::parse_expr_list(call.body, state.parse_context(crate));
    const ast::Crate& ast = state.ast_of(crate);
    const auto* literal = args.size() == 1 ? ast::get_if<ast::LiteralExpr>(ast[args[0]]) : nullptr;
    if (literal == nullptr || ast[literal->literal].kind != lex::LiteralKind::String) {
        const std::string_view name = state.text(ast[call.path].segments.back().ident.name);
        state.sink->error(args.size() == 1 ? ast[args[0]].span : call.span, args.size() == 1 ? std::string("argument must be a string literal") : fmt::format("{} takes 1 argument", name));
        return std::nullopt;
    }
    const std::string named(state.text(ast[literal->literal].text));
    const SourceFile& from = state.sources.file(call.span.file);
    const std::string path = named.starts_with('/') ? named : folder_part(place_of(from)) + named;
    LoadResult result;
    if (state.options.load) result = state.options.load(path, from);
    if (result.kind == LoadResult::Kind::Loaded) return result.file;
    state.sink->error(call.span, fmt::format("couldn't read `{}`: {}", path, result.kind == LoadResult::Kind::Missing ? "there is no such file" : result.error));
    return std::nullopt;
}

ModuleFolder folder_of_root(const State& state, FileId file) {
    const std::string& path = place_of(state.sources.file(file));
    return {folder_part(path), folder_part(path), {path}};
}

std::optional<LoadedModule> load_module_file(State& state, std::uint32_t crate, const ModuleFolder& from, hir::Ident name,
                                             std::optional<std::string_view> path_attribute) {
    const std::string text(state.text(name.name));
    std::vector<std::string> candidates;
    if (path_attribute) {
        candidates.push_back(path_attribute->starts_with('/') ? std::string(*path_attribute) : from.file_folder + std::string(*path_attribute));
    } else {
        for (const char* tail : {".rsk", ".rs", "/mod.rsk", "/mod.rs"}) candidates.push_back(from.folder + text + tail);
    }
    for (const std::string& path : candidates) {
        for (const std::string& open : from.open) {
            if (plain(open) != plain(path)) continue;
            std::string chain;
            for (const std::string& step : from.open) chain += step + " -> ";
            state.sink->error(name.span, fmt::format("circular modules: {}{}", chain, path));
            return std::nullopt;
        }
        if (!state.options.load) break;
        const LoadResult result = state.options.load(path, state.sources.file(name.span.file));
        if (result.kind == LoadResult::Kind::Missing) continue;
        if (result.kind == LoadResult::Kind::Failed) {
            state.sink->error(name.span, fmt::format("couldn't read `{}`: {}", path, result.error));
            return std::nullopt;
        }
        LoadedModule loaded;
        const std::string folder = folder_part(path);
        const std::string stem = stem_part(path);
        const bool owns_folder = stem == "mod" || path_attribute.has_value();
        loaded.folder = {owns_folder ? folder : folder + stem + "/", folder, from.open};
        loaded.folder.open.push_back(path);
        loaded.unit = parse_file(state, crate, result.file);
        return loaded;
    }
    auto& error = state.sink->error(Code::E0583, name.span, fmt::format("file not found for module `{}`", text));
    error.help(fmt::format("to create the module `{}`, create file \"{}\"", text, candidates.front()));
    error.note("if there is a `mod " + text + "` elsewhere in the crate already, import it with `use crate::...` instead");
    return std::nullopt;
}

}  // namespace ockc::resolve
