// EXPECT: E0502
// EXPECT: of `c` as mutable because it is also borrowed as immutable, by `a`
// EXPECT: if these are different buffers, declare them ock::DeviceBuffer<T>
#include "vecadd.h"

void launch(ock::Stream& stream, kernels::Module& module) {
    auto b = ock::zeroed<float>(stream, 1024);
    auto c = ock::zeroed<float>(stream, 1024);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(4, 256));
    module.vecadd(stream, prepared, c, b, c);
}
