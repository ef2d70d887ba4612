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
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diag/lint_levels.hpp"
#include "driver/process.hpp"
#include "test_file.hpp"

namespace fs = std::filesystem;
using namespace ockc;
using filetest::Mark;
using filetest::TestFile;
using nlohmann::json;

namespace {

constexpr int kSkipped = 77;
constexpr int kOldestMinor = 85;   // 1.85: the first with edition 2024

using Verdict = std::vector<std::pair<std::string, std::uint32_t>>;   // code and line of each error, in order

std::string find_rustc() {
    if (std::string found = driver::find_on_path("rustc"); !found.empty()) return found;
    const char* home = std::getenv("HOME");
    const fs::path rustup = fs::path(home != nullptr ? home : "") / ".cargo/bin/rustc";
    return fs::exists(rustup) ? rustup.string() : std::string();
}

int minor_version(const std::string& rustc) {
    const Result<driver::ProcessResult> run = driver::run_process({rustc, "--version"});
    if (!run.ok() || run.value().output.rfind("rustc 1.", 0) != 0) return 0;
    return std::atoi(run.value().output.c_str() + 8);
}

bool build_shim(const std::string& rustc, const std::string& shim, const std::string& work) {
    const std::vector<std::vector<std::string>> commands = {
        {rustc, "--edition", "2024", "--crate-type", "proc-macro", shim + "/cuda_macros.rs", "--out-dir", work},
        {rustc, "--edition", "2024", "--crate-type", "lib", "-A", "warnings", "-L", work, shim + "/cuda_device.rs", "--out-dir", work},
        {rustc, "--edition", "2024", "--crate-type", "lib", "-L", work, shim + "/cuda_host.rs", "--out-dir", work},
    };
    for (const auto& command : commands) {
        const Result<driver::ProcessResult> run = driver::run_process(command);
        if (run.ok() && run.value().exit_code == 0) continue;
        fmt::print("cannot build the stand-in crates:\n{}\n", run.ok() ? run.value().error_output : run.error());
        return false;
    }
    return true;
}

class Oracle {
  public:
    Oracle(std::string rustc, std::string work) : rustc_(std::move(rustc)), work_(std::move(work)) {}

    // The complaint, or empty when rustc agrees.
    std::string judge(const TestFile& test, const std::string& mode, std::size_t slot) const {
        const auto is_warning = [](const Mark& mark) {
            const LintInfo* lint = find_lint(mark.code);
            return lint != nullptr && lint->level == LintLevel::Warn;
        };
        const Verdict verdict = ask(test, slot, std::any_of(test.marks.begin(), test.marks.end(), is_warning));
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

    Verdict ask(const TestFile& test, std::size_t slot, bool warnings) const {
        const std::string out = fmt::format("{}/out{}", work_, slot);
        std::error_code error;
        fs::create_directories(out, error);
        std::vector<std::string> command = {
            rustc_, "--edition", test.options.edition == 2021 ? "2021" : "2024", "--crate-type", "lib", "--crate-name", "test", "--emit=mir",
            "--error-format=json", "-L", work_, "--extern", "cuda_device", "--extern", "cuda_host", "--out-dir", out, test.path};
        if (!warnings) command.insert(command.end(), {"-A", "warnings"});
        const Result<driver::ProcessResult> run = driver::run_process(command);
        Verdict verdict;
        if (!run.ok()) return {{run.error(), 0}};
        std::string_view rest = run.value().error_output;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            const json message = json::parse(rest.substr(0, end), nullptr, false);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (message.is_discarded() || message["spans"].empty()) continue;
            const std::string code = message["code"].is_null() ? "" : message["code"]["code"].get<std::string>();
            const bool warning = message.value("level", "") == "warning" && find_lint(code) != nullptr;
            if (message.value("level", "") != "error" && !warning) continue;
            // ockc knows its attributes by name, imported or not.
            if (message.value("message", "").rfind("cannot find attribute `", 0) == 0) continue;
            for (const json& span : message["spans"]) {
                if (!span["is_primary"].get<bool>()) continue;
                verdict.emplace_back(code, span["line_start"].get<std::uint32_t>());
                if (!warning) break;   // rustc says in one warning what several places have in common
            }
        }
        return verdict;
    }

    std::string rustc_, work_;
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
    const std::string rustc = find_rustc();
    if (rustc.empty() || minor_version(rustc) < kOldestMinor) {
        fmt::print("SKIPPED: rustc 1.{} or newer is not installed\n", kOldestMinor);
        return kSkipped;
    }
    if (!build_shim(rustc, argv[1], argv[2])) return 1;
    const std::vector<TestFile> tests = find_tests(argc, argv);
    const Oracle oracle(rustc, argv[2]);
    std::vector<std::string> complaints(tests.size());
    std::atomic<std::size_t> next{0}, asked{0};
    const auto work = [&](std::size_t slot) {
        for (std::size_t i = next++; i < tests.size(); i = next++) {
            const std::string mode = mode_of(tests[i]);
            const bool own_rules = std::any_of(tests[i].marks.begin(), tests[i].marks.end(), [](const Mark& m) { return m.code.rfind("OCK", 0) == 0; });
            if (mode == "skip" || own_rules) continue;
            ++asked;
            complaints[i] = oracle.judge(tests[i], mode, slot);
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
