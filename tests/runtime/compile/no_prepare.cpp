// .. and nothing to prepare.
// EXPECT: prepare_loose
#include "zoo.h"

void launch(zoo::inner::Module& module) {
    (void)module.prepare_loose(ock::LaunchConfig1D(1, 32));
}
