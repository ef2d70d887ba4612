// Attributes: evaluation of cfg and cfg_attr, recognition (hir/attributes.def), what may stand where.
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

// What an attribute stands on; the bits of attributes.def's `targets`.
enum class Target : std::uint32_t {
    Fn = 1, Mod = 2, Adt = 4, Trait = 8, Impl = 16, Static = 32, Variant = 64, Loop = 128, Closure = 256, ExternBlock = 512,
    ExternCrate = 1024, MacroRules = 2048, Crate = 4096,
    Other = 8192,        // consts, aliases, uses, fields, parameters, statements, expressions ..: only what may stand anywhere
    Any = 0xFFFF'FFFF,
};

// cfg_attr expanded, cfg dropped. `enabled` is false when a cfg says no; then the rest is empty.
struct Evaluated {
    bool enabled = true;
    Attrs attrs;
};
Evaluated evaluate(State& state, std::uint32_t crate, ast::Attributes attributes);
// Only the cfg question, for the many places that carry attributes of no other interest.
bool cfg_enabled(State& state, std::uint32_t crate, ast::Attributes attributes);
// A predicate as in cfg(..) and cfg!(..).
bool cfg_holds(State& state, std::uint32_t crate, const ast::MetaItem& predicate);

// The same from tokens; nothing when they are no predicate.
std::optional<bool> cfg_tokens_hold(State& state, lex::TokenRange tokens);
// What is wrong with the argument of a `cfg!` that is no predicate.
void report_cfg_macro(State& state, lex::TokenRange tokens, Span call);

std::string_view attribute_name(hir::AttributeKind kind);
// By the path's last segment; nothing for unknown ones. Tool attributes (rustfmt::skip, clippy::..) are `is_tool`.
std::optional<hir::AttributeKind> known_attribute(const State& state, std::uint32_t crate, const ast::MetaItem& meta);
bool is_tool_attribute(const State& state, std::uint32_t crate, const ast::MetaItem& meta);
bool is_device_attribute(hir::AttributeKind kind);
const Attr* find_attribute(const State& state, std::uint32_t crate, const Attrs& attrs, hir::AttributeKind kind);

// Reports unknown, misplaced and repeated attributes; the known ones come back for hir::Def::attributes.
std::vector<hir::Attribute> check_attributes(State& state, std::uint32_t crate, const Attrs& attrs, Target target, std::string_view what, bool strict);
// The levels that `#[allow(..)]` and its kind set for lints inside `span`, the code that they stand on.
void note_lint_levels(State& state, std::uint32_t crate, const Attrs& attrs, Span span);
// A misspelt device attribute on host code (`#[kernal] fn ..`): an error even there. True when reported.
bool report_near_miss(State& state, std::uint32_t crate, const Attrs& attrs);

// The text of `name = "text"`, of `name("text")`, or nothing.
std::optional<std::string_view> meta_string(const State& state, std::uint32_t crate, const ast::MetaItem& meta);
std::string meta_path_text(const State& state, std::uint32_t crate, const ast::MetaItem& meta);
// The documentation of an item: its doc comments and #[doc = ".."] joined.
std::string_view documentation(State& state, std::uint32_t crate, const Attrs& attrs);

}  // namespace ockc::resolve
