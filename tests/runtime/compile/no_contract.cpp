// A kernel without a contract has no safe launch ..
// EXPECT: has no member named .loose|no member named 'loose'
#include "zoo.h"

void launch(ock::Stream& stream, zoo::inner::Module& module) {
    auto a = ock::zeroed<float>(stream, 64);
    auto b = ock::zeroed<float>(stream, 64);
    module.loose(stream, ock::cover(b), a, b);
}
