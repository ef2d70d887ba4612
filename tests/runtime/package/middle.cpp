// Two headers with a device module `kernels` each in one program, in one file.
#include <cstdio>
#include <vector>

#include "thrice.h"
#include "twice.h"

int run() {
    try {
        const ock::Context ctx(0);
        const auto stream = ctx.default_stream();
        auto in = ock::from_host(stream, {1.0f, 2.0f, 3.0f});
        auto out = ock::zeroed<float>(stream, 3);
        auto last = ock::zeroed<float>(stream, 3);
        const auto twice = doubling::load(ctx);
        twice.twice(stream, ock::cover(out), in, out);
        const auto thrice = tripling::load(ctx);
        thrice.thrice(stream, ock::cover(last), out, last);
        if (last.to_host(stream) != std::vector<float>{6, 12, 18}) return 1;
        std::puts("PASSED");
        return 0;
    } catch (const ock::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
