// A fuzzer's main where libFuzzer is not: FUZZER [--seconds N] [--runs N] [--seed N] FILE|FOLDER.. runs every file,
// then random mutations of them. An input that crashes is written to ./crash-input.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "lex/token.hpp"
#include "support/file_io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fs = std::filesystem;

namespace {

std::string current;  // what runs now, for the signal handler

void save_and_die(int signal) {
    const int fd = ::open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(fd, current.data(), current.size());
        ::close(fd);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

void run(const std::string& input) {
    current = input;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Mutator {
  public:
    Mutator(const std::vector<std::string>& corpus, std::uint64_t seed) : corpus_(corpus), random_(seed) {}

    std::string next() {
        std::string out = corpus_[below(corpus_.size())];
        const std::size_t changes = 1 + below(6);
        for (std::size_t i = 0; i < changes; ++i)
            change(out);
        constexpr std::size_t kLongest = 4096;
        if (out.size() > kLongest) out.resize(kLongest);
        return out;
    }

  private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_() % n); }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
        switch (below(6)) {
            case 0: text.erase(at, length); break;
            case 1: text.insert(at, text.substr(at, length)); break;
            case 2: text.insert(at, token()); break;
            case 3: text.insert(at, 1, static_cast<char>(random_())); break;
            case 4: {
                const std::string& other = corpus_[below(corpus_.size())];
                text.insert(at, other.substr(below(other.size() + 1), 40));
                break;
            }
            default:
                if (at < text.size()) text[at] = static_cast<char>(random_());
        }
    }

    // A fixed token with space around it, or a piece that begins something long.
    std::string token() {
        static constexpr std::string_view kPieces[] = {"'",    "\"", "r#\"", "/*",  "//!",         "b'",
                                                       "\\u{", "0x", "1.",   "#![", "\xE2\x88\x80"};
        if (below(4) == 0) return std::string(kPieces[below(std::size(kPieces))]);
        const ockc::lex::TokenInfo& row = ockc::lex::kTokenInfos[below(ockc::lex::kTokenKindCount)];
        return " " + std::string(row.text) + " ";
    }

    const std::vector<std::string>& corpus_;
    std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
    int seconds = 0;
    std::size_t most_runs = ~std::size_t{0};
    std::uint64_t seed = 1;
    std::vector<std::string> corpus;
    const auto add = [&](const fs::path& path) {
        if (auto text = ockc::read_file(path.string(), 1u << 20); text.ok()) corpus.push_back(text.value());
    };
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--seconds" && i + 1 < argc) {
            seconds = std::atoi(argv[++i]);
        } else if (argument == "--runs" && i + 1 < argc) {
            most_runs = std::strtoull(argv[++i], nullptr, 10);
        } else if (argument == "--seed" && i + 1 < argc) {
            seed = std::strtoull(argv[++i], nullptr, 10);
        } else if (fs::is_directory(argument)) {
            for (const auto& entry : fs::directory_iterator(argument))
                add(entry.path());
        } else {
            add(argument);
        }
    }
    if (corpus.empty()) {
        std::fprintf(stderr, "no input\n");
        return 2;
    }
    std::sort(corpus.begin(), corpus.end());  // the order of folder entries is not fixed
    for (const int signal : {SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGBUS})
        std::signal(signal, save_and_die);
    for (const std::string& input : corpus)
        run(input);
    Mutator mutator(corpus, seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::size_t runs = 0;
    while (runs < most_runs && std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 64 && runs < most_runs; ++i, ++runs)
            run(mutator.next());
    }
    std::printf("%zu files, %zu mutations\n", corpus.size(), runs);
    return 0;
}
