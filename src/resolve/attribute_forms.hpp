// What rustc's own attributes take: `#[inline(always)]` but not `#[inline(often)]`, representations that fit each other, lint
// names in lint attributes.
#pragma once
#include "resolve/attributes.hpp"

namespace ockc::resolve {

// Reports an attribute whose arguments are not of a form that it has.
void check_attribute_form(State& state, std::uint32_t crate, const Attr& attr, hir::AttributeKind kind);
// One of rustc's attributes on something that it does not fit. Some are errors, others rustc only warns about.
void report_misplaced(State& state, const Attr& attr, hir::AttributeKind kind, std::string_view what);
// All #[repr(..)] of a type together.
hir::Repr read_reprs(State& state, DefId def, const ast::Item& item);

}  // namespace ockc::resolve
