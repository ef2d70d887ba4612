// A slice of atomics is written: it is no plain input at the same time.
// EXPECT: E0502
// EXPECT: of `bins` as mutable because it is also borrowed as immutable, by `keys`
#include "zoo.h"

void launch(ock::Stream& stream, zoo::Module& module) {
    auto keys = ock::zeroed<std::uint32_t>(stream, 64);
    module.histogram(stream, ock::cover(keys), keys, keys);
}
