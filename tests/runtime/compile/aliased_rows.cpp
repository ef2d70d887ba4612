// One image as the output with a row width and as a second buffer is found through the RowWidth.
// EXPECT: static_assert|static assertion
#include "zoo.h"

void check(ock::Stream& stream) {
    auto pixels = ock::zeroed<ock::f16>(stream, 64);
    static_assert(ock::distinct<ock::RowWidth<decltype(pixels)>, decltype(pixels)>, "found through RowWidth");
}
