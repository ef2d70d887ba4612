// A configuration is no token.
// EXPECT: no matching
#include "vecadd.h"

void launch(ock::Stream& stream, kernels::Module& module) {
    auto a = ock::zeroed<float>(stream, 64);
    auto c = ock::zeroed<float>(stream, 64);
    module.vecadd(stream, ock::LaunchConfig1D(1, 256), a, a, c);
}
