// An `unsafe fn` is launched under an unsafe_ name only.
// EXPECT: has no member named .delete_|no member named 'delete_'
#include "zoo.h"

void launch(ock::Stream& stream, zoo::inner::Module& module, float* p) {
    module.delete_(stream, ock::cover(64), p, p, 1);
}
