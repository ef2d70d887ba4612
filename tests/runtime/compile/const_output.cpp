// EXPECT: no matching
#include "vecadd.h"

void launch(ock::Stream& stream, kernels::Module& module, const ock::DeviceBuffer<float>& c) {
    auto a = ock::zeroed<float>(stream, 64);
    module.vecadd(stream, ock::cover(c), a, a, c);
}
