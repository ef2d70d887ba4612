// Buffers move, they do not copy.
// EXPECT: deleted
#include "vecadd.h"

ock::DeviceBuffer<float> copy(const ock::DeviceBuffer<float>& buffer) {
    return buffer;
}
