// Looking names up: in one scope, outwards from a scope, along a path. Nothing here reports but use_binding.
#pragma once
#include <optional>
#include <span>

#include "resolve/state.hpp"

namespace ockc::resolve {

// What `name` is bound to in the scope itself (globs included), or null.
const Binding* find(const State& state, ModuleId module, Symbol name, Ns ns);
// Outwards: enclosing blocks, the module, crate names, the prelude, built-in types, attributes and macros.
std::optional<Binding> find_lexical(const State& state, ModuleId from, Symbol name, Ns ns);
// The scope that a module, enum or trait opens; none for everything else.
ModuleId scope_of(const State& state, const Res& res);
bool visible(const State& state, const hir::Visibility& visibility, ModuleId from);
// `a` is at least as visible as `b`.
bool at_least(const State& state, const hir::Visibility& a, const hir::Visibility& b);

// How far a path went.
struct PathEnd {
    enum class Kind : std::uint8_t {
        Done,        // res is what it names
        Partial,     // res is a type; segments [at ..] are its associated items
        Failed,      // segment `at` was not found in `in` (none: lexically)
        TooManySuper,
    } kind = Kind::Failed;
    Res res;
    std::uint32_t at = 0;
    ModuleId in;
    bool unlinked_crate = false;    // Failed: `::name`
};

using PathSegments = std::span<const ImportSegment>;

// The segments' meaning so far, for hir::PathSegment::res; may be null.
struct PathTrace {
    struct Step {
        Binding binding;
        std::uint32_t segment = 0;
    };
    SmallVec<Res, 4> res;
    SmallVec<Step, 2> bindings;     // for use_binding
};

// Goes on from `start`, which is what segments [0, from) mean.
PathEnd walk(const State& state, Res start, PathSegments segments, std::uint32_t from, Ns ns, PathTrace* trace);
// A whole path from a scope, without local variables and generic parameters.
PathEnd find_path(const State& state, PathSegments segments, bool global, Ns ns, ModuleId from, PathTrace* trace);
// The part of a path that keywords decide: `crate`, `self`, `super`, `$crate`, a leading `::`. Gives the start and how many
// segments it took; nothing when the path starts with a plain name.
struct PathStart {
    Res res;
    std::uint32_t taken = 0;
    bool failed = false;            // too many `super`, or an unknown crate after `::`
    PathEnd failure;
};
std::optional<PathStart> path_start(const State& state, PathSegments segments, bool global, ModuleId from);

// A name is used: reports privacy (E0603), ambiguity (E0659) and a failed import (E0432, once). False when it must not be used
// (the import failed).
bool use_binding(State& state, const Binding& binding, Span span, Symbol name, ModuleId from);

}  // namespace ockc::resolve
