// Headers of one version and libock_runtime.a of another are a link error, not a table of entry points read askew.
// EXPECT: undefined reference to .*ock::driver::api\(std::integral_constant<int, -1>\)
#include <ock/driver_api.hpp>

namespace ock::driver {
const Api& api(std::integral_constant<int, -1>);   // what headers of a version -1 would ask for
}

int main() {
    return ock::driver::api(std::integral_constant<int, -1>{}).is_emulator ? 1 : 0;
}
