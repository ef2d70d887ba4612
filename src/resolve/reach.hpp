// What device code refers to, as a worklist of definitions to lower.
//
// Paths reach what they name. Methods are found by types later, so they are reached by name: when a body mentions `foo` as a
// method, an associated item or through an operator, every `foo` of an impl in play is lowered. An impl is in play when its
// trait (if any) and its type have been reached; types and traits can only take part in a program that names them.
//
// That is the user's crate, and the whole library when it is read at once. Of a library on demand nothing is reached here: its
// traits and types count as in play, and what of them is lowered the checker decides (hir/demand.hpp).
#pragma once
#include "resolve/state.hpp"

namespace ockc::resolve {

void reach(State& state, DefId def);
// Lowers an associated item without taking its name as mentioned: only its signature matters.
void want(State& state, DefId item);
void reach_prim(State& state, hir::PrimTy prim);
void mention(State& state, Symbol name);
inline void mention(State& state, std::string_view name) { mention(state, state.names.intern(name)); }
// A method, or a name behind a type: the traits that have one must be known when the body's traits in scope are listed.
void mention_member(State& state, Symbol name);
// `Type::name`: only that type's impls, and traits that have such an item.
void mention_of(State& state, const ImplHead& head, Symbol name);
// The head that a resolved type stands for, to look impls up by; Any when it may be any.
ImplHead head_of_res(const State& state, const Res& res);
// The lang item `key` is used by a desugaring; none when the library lacks it.
DefId reach_lang(State& state, std::string_view key);
// Finds out trait and type of impls [first, ..); silent about what does not resolve (lowering the impl reports it).
void index_impls(State& state, std::size_t first);
// Whether a type can take part: it was reached, or may be any.
bool head_reached(const State& state, const ImplHead& head);
// Puts an indexed impl in play when its trait and type have been reached.
void activate_if_ready(State& state, std::uint32_t index);
void start_reaching(State& state);
// Lowers until nothing is queued.
void drain_queue(State& state);
// Queues the items of an active impl that are wanted now. Called when its head has been lowered.
void queue_impl_items(State& state, const ImplInfo& impl);

}  // namespace ockc::resolve
