// EXPECT: E0502
#include "vecadd.h"

ock::Result<void> launch(ock::Stream& stream, kernels::Module& module) {
    auto a = ock::zeroed<float>(stream, 1024);
    auto c = ock::zeroed<float>(stream, 1024);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(4, 256));
    return module.try_vecadd(stream, prepared, a, c, c);
}
