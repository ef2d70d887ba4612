// The runtime on the real emulator: a kernel that succeeds, one that fails, and what the error then says.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "vecadd.h"

TEST_CASE("vecadd on the emulator, ragged and empty") {
    const ock::Context ctx(0);
    CHECK(ctx.is_emulator());
    const auto stream = ctx.new_stream();
    const auto module = kernels::load(ctx);
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{100'003}}) {
        std::vector<float> a_host(n);
        std::vector<float> b_host(n);
        for (std::size_t i = 0; i < n; ++i) {
            a_host[i] = static_cast<float>(i) * 0.5f;
            b_host[i] = 1.0f - static_cast<float>(i);
        }
        const auto a = ock::from_host(stream, a_host);
        const auto b = ock::from_host(stream, b_host);
        auto c = ock::zeroed<float>(stream, n);
        module.vecadd(stream, ock::cover(c), a, b, c);
        const std::vector<float> c_host = c.to_host(stream);
        REQUIRE(c_host.size() == n);
        for (std::size_t i = 0; i < n; ++i)
            REQUIRE(c_host[i] == a_host[i] + b_host[i]);
    }
}

TEST_CASE("PTX that is none is refused with a log") {
    const ock::Context ctx(0);
    static constexpr unsigned char nonsense[] = ".version 7.0\n.target sm_80\n.address_size 64\nnonsense\n";
    const ock::Image images[] = {{"sm_80", 80, false, nonsense, sizeof nonsense - 1}};
    std::optional<ock::Error> error;
    try {
        const ock::Module module(ctx, images);
    } catch (const ock::Error& caught) {
        error = caught;
    }
    REQUIRE(error);
    CHECK(error->code() == ock::ErrorCode::Jit);
    CHECK_FALSE(error->jit_log().empty());
}

// Last: as on a GPU, nothing runs in this process after a trap.
TEST_CASE("a kernel that traps is an error with the emulator's account") {
    const ock::Context ctx(0);
    const auto stream = ctx.default_stream();
    const auto module = kernels::load(ctx);
    const auto a = ock::zeroed<float>(stream, 10);  // shorter than the output: the bounds check traps
    auto c = ock::zeroed<float>(stream, 256);
    std::optional<ock::Error> error;
    try {
        module.vecadd(stream, ock::cover(c), a, a, c);
        stream.synchronize();
    } catch (const ock::Error& caught) {
        error = caught;
    }
    REQUIRE(error);
    CHECK(error->code() == ock::ErrorCode::Driver);
    CHECK(error->driver_name().starts_with("CUDA_ERROR_"));
    const std::string text = error->what();
    CHECK(text.find("vecadd") != std::string::npos);
    CHECK(text.find("trap") != std::string::npos);
}

int main(int argc, char** argv) {
    setenv("OCK_DEVICE", "emulator", 1);
    doctest::Context context(argc, argv);
    return context.run();
}
