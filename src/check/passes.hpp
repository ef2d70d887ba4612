// The checks that check_program runs beside type checking. Each reports to the sink.
#pragma once
#include "check/state.hpp"

namespace ockc::check {

// Well-formedness of an item's own declaration: fields, signature, impl against trait. Once per item.
void check_item(Context& context, DefId def);
// Overlap, orphans, and what may implement Copy, Drop and the compiler's own traits; over all impls of the user's crate.
void check_coherence(Context& context);
void check_impl_items(Context& context, DefId impl);
// Patterns of one checked body: exhaustive, reachable (E0004, E0005).
void check_matches(Context& context, const TypeTables& tables);
// Unsafe operations outside unsafe code (E0133).
void check_unsafety(Context& context, const TypeTables& tables);
// Calls that constants cannot make (E0015) and what else const bodies may not do.
void check_const_body(Context& context, const TypeTables& tables);
// Lints that rustc denies by default and that need types only (overflowing_literals).
void check_literals(Context& context, const TypeTables& tables);
// References to `static mut` (the lint static_mut_refs).
void check_static_refs(Context& context, const TypeTables& tables);
// Values whose types the module may not name. The memo goes from body to body: types that `module` may name, by their ids.
struct PrivacyMemo {
    DefId module;
    std::vector<bool> is_fine;
};
void check_type_privacy(Context& context, const TypeTables& tables, PrivacyMemo& memo);
// The sizes of transmuted types (E0512).
void check_transmutes(Context& context, const TypeTables& tables);
// What #[kernel] functions may take and give.
void check_kernel(Context& context, DefId kernel);
// Every #[intrinsic("key")] must have a row in intrinsics.def.
void check_intrinsic(Context& context, DefId fn);
// Values of literal and constant patterns.
void fill_pattern_values(Context& context, TypeTables& tables);

}  // namespace ockc::check
