// A 1-D contract takes no 2-D configuration.
// EXPECT: no matching|no known conversion|could not convert|cannot convert|no viable conversion
#include "vecadd.h"

void launch(kernels::Module& module) {
    (void)module.prepare_vecadd(ock::LaunchConfig2D({4, 1}, {256, 1}));
}
