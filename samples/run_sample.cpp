// run_sample [--gpu] PROGRAM TEXT: runs a sample, shows what it prints, and succeeds when it ends with 0 and
// its output has the line TEXT. With --gpu it asks for a GPU first and ends with 77 (skipped) when there is
// none.
#include <cstdio>
#include <cstdlib>
#include <ock/runtime.hpp>
#include <string>
#include <string_view>

namespace {

constexpr int kSkipped = 77;

bool has_gpu() {
    const ock::Result<ock::Context> context = ock::try_context(0);
    if (context) return true;
    std::printf("SKIPPED: %s\n", context.error().what());
    return false;
}

bool has_line(const std::string& output, std::string_view line) {
    const std::size_t at = output.find(line);
    if (at == std::string::npos) return false;
    const std::size_t end = at + line.size();
    return (at == 0 || output[at - 1] == '\n') && (end == output.size() || output[end] == '\n');
}

}  // namespace

int main(int argc, char** argv) {
    int next = 1;
    const bool gpu = argc > 1 && std::string_view(argv[1]) == "--gpu";
    if (gpu) ++next;
    if (argc - next != 2) {
        std::fprintf(stderr, "usage: run_sample [--gpu] PROGRAM TEXT\n");
        return 2;
    }
    setenv("OCK_DEVICE", gpu ? "cuda:0" : "emulator", 1);
    if (gpu && !has_gpu()) return kSkipped;

    const std::string command = "'" + std::string(argv[next]) + "'";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return 2;
    std::string output;
    char chunk[4096];
    while (std::fgets(chunk, sizeof chunk, pipe) != nullptr)
        output += chunk;
    const int status = pclose(pipe);
    std::fputs(output.c_str(), stdout);
    if (status != 0) {
        std::fprintf(stderr, "%s ended with status %d\n", argv[next], status);
        return 1;
    }
    if (!has_line(output, argv[next + 1])) {
        std::fprintf(stderr, "%s did not print `%s`\n", argv[next], argv[next + 1]);
        return 1;
    }
    return 0;
}
