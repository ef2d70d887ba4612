// FLAGS: -Werror=unused-result
// EXPECT: nodiscard|unused-result
#include "vecadd.h"

void launch(kernels::Module& module) {
    module.prepare_vecadd(ock::LaunchConfig1D(4, 256));
}
