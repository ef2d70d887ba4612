// panic_test [--gpu]: a failed check of a compiled kernel becomes an ock::KernelPanic that says which check, where and
// for which thread; on the emulator, or with --gpu on CUDA device 0 (77 without one).
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "panic.h"

namespace {

int failures = 0;

void expect(bool holds, const char* what, const std::string& seen) {
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "not so: %s\n%s\n", what, seen.c_str());
}

void run() {
    const ock::Context context(0);
    const auto stream = context.new_stream();
    const auto module = checks::load(context);
    const auto x = ock::from_host(stream, std::vector<float>(1000, 2.5f));
    auto good = ock::zeroed<float>(stream, 1000);
    module.gather(stream, ock::cover(good), x, good);
    const std::vector<float> copy = good.to_host(stream);
    expect(copy.size() == 1000 && copy.front() == 2.5f && copy.back() == 2.5f, "a launch whose checks hold is undisturbed", "");

    auto longer = ock::zeroed<float>(stream, 1024);
    std::optional<ock::Panic> panic;
    std::string text;
    try {
        module.gather(stream, ock::cover(longer), x, longer);
        stream.synchronize();
    } catch (const ock::KernelPanic& caught) {
        panic = caught.panic();
        text = caught.what();
    }
    if (!panic) return expect(false, "the failed check is thrown as a KernelPanic", text);
    const std::uint64_t index = std::uint64_t{panic->block[0]} * 256 + panic->thread[0];
    const std::string message = "index out of bounds: the len is 1000 but the index is " + std::to_string(index);
    expect(index >= 1000 && index < 1024, "the thread is one whose check failed", text);
    expect(panic->message == message, "the message has the values", panic->message);
    expect(panic->values[0] == 1000 && panic->values[1] == index, "the values are the length and the index", text);
    expect(panic->file == "panic.rsk" && panic->line == 13 && panic->column == 18, "the place is that of the index", text);
    expect(text.find(message + ", panic.rsk:13:18, block (3,0,0) thread (") == 0, "what() begins with the check", text);
    expect(text.find("CUDA_ERROR_") != std::string::npos, "what() has the driver's word", text);
    const ock::Result<void> again = ock::attempt([&] { stream.synchronize(); });
    expect(again.has_value() || again.error().code() == ock::ErrorCode::Panic, "a later error has the same cause",
           again.has_value() ? "" : again.error().what());
}

}  // namespace

int main(int argc, char** argv) {
    const bool gpu = argc > 1 && std::string_view(argv[1]) == "--gpu";
    setenv("OCK_DEVICE", gpu ? "cuda:0" : "emulator", 1);
    if (gpu) {
        if (const auto context = ock::try_context(0); !context) {
            std::printf("SKIPPED: %s\n", context.error().what());
            return 77;
        }
    }
    run();
    return failures == 0 ? 0 : 1;
}
