// A token of another kernel opens nothing.
// EXPECT: no matching
#include "zoo.h"

void launch(ock::Stream& stream, zoo::Module& module, const ock::PreparedLaunch<zoo::volume_kernel>& token) {
    auto left = ock::zeroed<float>(stream, 64);
    auto right = ock::zeroed<float>(stream, 64);
    module.swap_halves(stream, token, left, right);
}
