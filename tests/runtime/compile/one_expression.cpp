// Two buffers from one factory expression have one type; declared as DeviceBuffer<T> they are told apart at
// run time.
#include "vecadd.h"

static auto make(ock::Stream& stream) {
    return ock::zeroed<float>(stream, 1024);
}

void launch(ock::Stream& stream, kernels::Module& module) {
    ock::DeviceBuffer<float> a = make(stream);
    ock::DeviceBuffer<float> c = make(stream);
    module.vecadd(stream, ock::cover(c), a, a, c);
}
