// Two headers with a device module `kernels` in one file: naming kernels::load is ambiguous.
// EXPECT: ambiguous
#include "vecadd.h"
namespace kernels {
inline namespace other_00000000 {
class Module;
Module load(const ock::Context& context, ock::Where where = ock::Where::here());
}  // namespace other_00000000
}  // namespace kernels

void load_one(const ock::Context& ctx) {
    (void)kernels::load(ctx);
}
