// ockc_oracle SHIM_DIR WORK_DIR GOLDEN..: every golden through rustc. The marks that ockc_filetest holds ockc to must be
// what rustc says too: accepted files have no error, rejected ones the same codes on the same lines.
//   //@ rustc: skip REASON      rustc cannot judge this file (what ockc accepts and stable rustc does not)
//   //@ rustc: first            rustc stops earlier or goes on further: only its first error must be marked
// Files with a mark of ockc's own (OCK..) are left out: rustc does not know those rules. In files that mark a warning, all
// warnings of the lints that ockc has (diag/lints.def) must agree too.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diag/lint_levels.hpp"
#include "rustc.hpp"
#include "test_file.hpp"

namespace fs = std::filesystem;
using namespace ockc;
using filetest::Mark;
using filetest::TestFile;

namespace {

constexpr int kSkipped = 77;

using Verdict = std::vector<std::pair<std::string, std::uint32_t>>;   // code and line of each error, in order

class Oracle {
  public:
    explicit Oracle(const oracle::Rustc& rustc) : rustc_(rustc) {}

    // The complaint, or empty when rustc agrees.
    std::string judge(const TestFile& test, const std::string& mode, std::size_t slot) const {
        const auto is_warning = [](const Mark& mark) {
            const LintInfo* lint = find_lint(mark.code);
            return lint != nullptr && lint->level == LintLevel::Warn;
        };
        const bool warns = std::any_of(test.marks.begin(), test.marks.end(), is_warning);
        const Verdict verdict = ask(test, slot, warns ? oracle::Warnings::KnownLints : oracle::Warnings::Off);
        Verdict marks;
        for (const Mark& mark : test.marks) marks.emplace_back(mark.code == "error" ? "" : mark.code, mark.line);
        if (verdict.empty() != marks.empty()) return fmt::format("{}: {}", test.path, verdict.empty() ? "rustc accepts it" : "rustc rejects it: " + text(verdict));
        if (mode == "first") {
            const bool known = std::find(marks.begin(), marks.end(), verdict.front()) != marks.end();
            return known ? "" : fmt::format("{}: rustc's first error is not marked: {}", test.path, text({verdict.front()}));
        }
        const std::set<std::pair<std::string, std::uint32_t>> have(verdict.begin(), verdict.end()), want(marks.begin(), marks.end());
        return have == want ? "" : fmt::format("{}: rustc says {}, the marks {}", test.path, text(verdict), text(marks));
    }

  private:
    static std::string text(const Verdict& verdict) {
        std::string out;
        for (const auto& [code, line] : verdict) out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", code.empty() ? "error" : code, line);
        return out;
    }

    Verdict ask(const TestFile& test, std::size_t slot, oracle::Warnings warnings) const {
        Verdict verdict;
        for (const oracle::RustcError& error : rustc_.check(test.path, test.options.edition, slot, warnings)) verdict.emplace_back(error.code, error.line);
        return verdict;
    }

    const oracle::Rustc& rustc_;
};

// `//@ rustc: MODE ..` of a file: "", "first" or "skip".
std::string mode_of(const TestFile& test) {
    const std::size_t at = test.text.find("//@ rustc: ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 11;
    return test.text.substr(begin, test.text.find_first_of(" \n", begin) - begin);
}

std::vector<TestFile> find_tests(int argc, char** argv) {
    std::vector<TestFile> tests;
    for (int i = 3; i < argc; ++i) {
        if (!fs::exists(argv[i])) continue;
        for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
            if (entry.path().extension() != ".rsk" || entry.path().parent_path().filename() == "support") continue;
            Result<TestFile> test = filetest::read_test(entry.path().string());
            if (test.ok()) tests.push_back(std::move(test.value()));
        }
    }
    std::sort(tests.begin(), tests.end(), [](const TestFile& a, const TestFile& b) { return a.path < b.path; });
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: ockc_oracle SHIM_DIR WORK_DIR GOLDEN..\n");
        return 2;
    }
    const oracle::Rustc rustc(argv[1], argv[2]);
    if (!rustc.is_usable()) {
        fmt::print("SKIPPED: rustc 1.{} or newer is not installed\n", oracle::kOldestMinor);
        return kSkipped;
    }
    if (!rustc.build_shim()) return 1;
    const std::vector<TestFile> tests = find_tests(argc, argv);
    const Oracle judge(rustc);
    std::vector<std::string> complaints(tests.size());
    std::atomic<std::size_t> next{0}, asked{0};
    const auto work = [&](std::size_t slot) {
        for (std::size_t i = next++; i < tests.size(); i = next++) {
            const std::string mode = mode_of(tests[i]);
            const bool own_rules = std::any_of(tests[i].marks.begin(), tests[i].marks.end(), [](const Mark& m) { return m.code.rfind("OCK", 0) == 0; });
            if (mode == "skip" || own_rules) continue;
            ++asked;
            complaints[i] = judge.judge(tests[i], mode, slot);
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t slot = 0; slot < std::max(1u, std::thread::hardware_concurrency()); ++slot) threads.emplace_back(work, slot);
    for (std::thread& thread : threads) thread.join();
    std::size_t failed = 0;
    for (const std::string& one : complaints) {
        if (one.empty()) continue;
        fmt::print("{}\n", one);
        ++failed;
    }
    fmt::print("rustc judged {} of {} files\n{} passed, {} failed\n", asked.load(), tests.size(), asked - failed, failed);
    return failed == 0 && asked != 0 ? 0 : 1;
}
