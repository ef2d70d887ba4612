// EXPECT: if these are different buffers, declare them ock::DeviceBuffer<T>
#include "vecadd.h"

static auto make(ock::Stream& stream) {
    return ock::zeroed<float>(stream, 1024);
}

void launch(ock::Stream& stream, kernels::Module& module) {
    auto a = make(stream);
    auto c = make(stream);
    module.vecadd(stream, ock::cover(c), a, a, c);
}
