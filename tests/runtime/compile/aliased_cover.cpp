// EXPECT: E0502
#include "vecadd.h"

void launch(ock::Stream& stream, kernels::Module& module) {
    auto a = ock::zeroed<float>(stream, 1024);
    auto c = ock::zeroed<float>(stream, 1024);
    module.vecadd(stream, ock::cover(c), c, a, c);
}
