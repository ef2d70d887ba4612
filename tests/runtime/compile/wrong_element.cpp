// EXPECT: no matching
#include "vecadd.h"

void launch(ock::Stream& stream, kernels::Module& module) {
    auto a = ock::zeroed<double>(stream, 64);
    auto c = ock::zeroed<float>(stream, 64);
    module.vecadd(stream, ock::cover(c), a, c, c);
}
