// #[derive(..)]: which impls it makes, and their code. The code is written as source text, parsed, and lowered as if the user
// had written it there; it is only made for impls that are used.
#pragma once
#include <optional>
#include <string>

#include "resolve/state.hpp"

namespace ockc::resolve {

// The derive that a name in `derive(..)` means, by its last segment.
std::optional<DeriveKind> derive_kind(const State& state, std::uint32_t crate, const ast::MetaItem& meta);
bool derive_is_silent(DeriveKind kind);
// The library's trait of a derive, or none.
DefId derived_trait(const State& state, DeriveKind kind);
// "Clone"
std::string_view derive_name(DeriveKind kind);
// "::core::clone::Clone"
std::string_view derived_trait_path(DeriveKind kind);
// Reports a name in `derive(..)` that means nothing.
void check_derive_name(State& state, std::uint32_t crate, ModuleId module, const ast::MetaItem& meta);
// The items of the impl as source text; empty for marker traits.
std::string derived_items(State& state, DefId adt, DeriveKind kind, Span at);

}  // namespace ockc::resolve
