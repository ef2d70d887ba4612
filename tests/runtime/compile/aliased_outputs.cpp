// EXPECT: E0499
// EXPECT: as `left` and as `right`
// EXPECT: if these are different buffers, declare them ock::DeviceBuffer<T>
#include "zoo.h"

void launch(ock::Stream& stream, zoo::Module& module) {
    auto x = ock::zeroed<float>(stream, 64);
    module.swap_halves(stream, ock::cover(x), x, x);
}
