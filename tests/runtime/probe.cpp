// Says which device a program gets: the loader's tests run it under different environments.
#include <cstdio>
#include <ock/runtime.hpp>

int main() {
    try {
        const ock::Context context(0);
        std::printf("%s of %d\n", context.limits().name.c_str(), ock::driver::api().visible_devices);
        return 0;
    } catch (const ock::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
