// EXPECT: E0502
// EXPECT: immutable, by `b`
#include "vecadd.h"

void launch(ock::Stream& stream, kernels::Module& module) {
    std::vector<float> host(1024);
    auto a = ock::from_host(stream, host);
    ock::Owned c(stream, host);
    auto prepared = module.prepare_vecadd(ock::LaunchConfig1D(4, 256));
    module.vecadd(stream, prepared, a, c, c);
}
