// ockc_borrow_test MODE SOURCE_DIR SHIM_DIR WORK_DIR [COUNT [FIRST_SEED [SHOW]]]
//   check     the recorded programs (labels.txt) through ockc: what rustc said when they were recorded
//   verify    the same through rustc: the labels are still what it says
//   record    new labels for COUNT programs from rustc
//   measure   COUNT programs through both, the rates and counts; SHOW: print that many of the differences
//   print     the program of FIRST_SEED
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "generator.hpp"
#include "judge.hpp"

using namespace ockc;
using namespace ockc::borrow_test;

namespace {

constexpr int kSkipped = 77;
constexpr std::uint32_t kBatch = 250;

struct Arguments {
    std::string mode, source, shim, work;
    std::uint32_t count = 300, show = 0;
    std::uint64_t first = 1000;
};

struct Rates {
    std::uint32_t programs = 0, ill_typed = 0, rejected = 0, false_accept = 0, false_reject = 0, unjudged = 0;
    std::uint32_t same_code = 0, same_line = 0, same_all = 0;   // of those that both reject
    std::map<std::string, std::uint32_t> codes;                 // programs that rustc rejects with it
    std::vector<std::string> differences;
};

std::string difference(const char* what, const Batch& batch, std::size_t i, const Verdict& rustc, const Verdict& ockc) {
    std::string out = fmt::format("{}: seed {}\n  rustc: {}\n  ockc:  {}\n", what, batch.seeds[i], rustc.text(), ockc.text());
    std::istringstream lines(batch.functions[i]);
    std::string line;
    for (int n = 0; std::getline(lines, line); ++n) out += fmt::format("  {:2} {}\n", n, line);
    for (const Finding& one : rustc.findings) out += fmt::format("  rustc {}:{} {}\n", one.code, one.line, one.message);
    for (const Finding& one : ockc.findings) out += fmt::format("  ockc  {}:{} {}\n", one.code, one.line, one.message);
    return out;
}

void compare(const Batch& batch, std::size_t i, const Verdict& rustc, const Verdict& ockc, Rates& rates) {
    if (!rustc.is_known) {
        if (rates.ill_typed++ < 3) rates.differences.push_back(difference("ill-typed", batch, i, rustc, ockc));
        return;
    }
    ++rates.programs;
    std::map<std::string, bool> seen;
    for (const Finding& one : rustc.findings) rates.codes[one.code] += !std::exchange(seen[one.code], true);
    rates.rejected += !rustc.findings.empty();
    const char* what = nullptr;
    if (!ockc.is_known) {
        ++rates.unjudged;
        what = "ockc cannot type it";
    } else if (rustc.findings.empty() != ockc.findings.empty()) {
        ++(ockc.findings.empty() ? rates.false_accept : rates.false_reject);
        what = ockc.findings.empty() ? "FALSE ACCEPT" : "FALSE REJECT";
    } else if (!rustc.findings.empty()) {
        const bool code = rustc.findings[0].code == ockc.findings[0].code, line = rustc.findings[0].line == ockc.findings[0].line;
        rates.same_code += code;
        rates.same_line += line;
        const bool all = rustc.findings == ockc.findings;
        rates.same_all += all;
        what = !code ? "other code" : !line ? "other line" : !all ? "other errors" : nullptr;
    }
    if (what != nullptr) rates.differences.push_back(difference(what, batch, i, rustc, ockc));
}

double percent(std::uint32_t part, std::uint32_t whole) { return whole == 0 ? 0 : 100.0 * part / whole; }

void print(const Rates& rates, const Arguments& arguments) {
    for (std::size_t i = 0; i < rates.differences.size() && i < arguments.show; ++i) fmt::print("{}\n", rates.differences[i]);
    for (const auto& [code, count] : rates.codes) fmt::print("{:>10} {}\n", code, count);
    const std::uint32_t both = rates.rejected - rates.false_accept;
    fmt::print("{} programs ({} more are ill-typed), {} rejected by rustc ({:.1f}%)\n", rates.programs, rates.ill_typed, rates.rejected,
               percent(rates.rejected, rates.programs));
    fmt::print("false accepts {}, false rejects {} ({:.2f}%), not typed by ockc {}\n", rates.false_accept, rates.false_reject,
               percent(rates.false_reject, rates.programs), rates.unjudged);
    fmt::print("same main code {:.2f}%, same line {:.2f}%, all errors the same {:.2f}%\n", percent(rates.same_code, both),
               percent(rates.same_line, both), percent(rates.same_all, both));
}

int measure(const Arguments& arguments, const oracle::Rustc& rustc, const std::string& prelude) {
    const std::uint32_t batches = (arguments.count + kBatch - 1) / kBatch;
    std::vector<Batch> all(batches);
    std::vector<std::vector<Verdict>> theirs(batches), ours(batches);
    std::atomic<std::uint32_t> next{0};
    const auto work = [&](std::size_t slot) {
        for (std::uint32_t i = next++; i < batches; i = next++) {
            all[i] = make_batch(prelude, arguments.first + i * kBatch, std::min(kBatch, arguments.count - i * kBatch));
            theirs[i] = ask_rustc(all[i], rustc, arguments.work, slot);
            ours[i] = ask_ockc(all[i], theirs[i]);
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t slot = 0; slot < std::max(1u, std::thread::hardware_concurrency()); ++slot) threads.emplace_back(work, slot);
    for (std::thread& thread : threads) thread.join();
    Rates rates;
    for (std::uint32_t b = 0; b < batches; ++b) {
        for (std::size_t i = 0; i < all[b].seeds.size(); ++i) compare(all[b], i, theirs[b][i], ours[b][i], rates);
    }
    print(rates, arguments);
    return 0;
}

// ---- recorded programs ----------------------------------------------------------------------------------------------------------

// labels.txt: `SEED: VERDICT` a line.
std::map<std::uint64_t, std::string> read_labels(const std::string& path) {
    std::map<std::uint64_t, std::string> labels;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(": ");
        if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
        labels[std::strtoull(line.c_str(), nullptr, 10)] = line.substr(colon + 2);
    }
    return labels;
}

int record(const Arguments& arguments, const oracle::Rustc& rustc, const std::string& prelude) {
    const Batch batch = make_batch(prelude, arguments.first, arguments.count);
    const std::vector<Verdict> verdicts = ask_rustc(batch, rustc, arguments.work, 0);
    std::ofstream out(arguments.source + "/labels.txt");
    out << "# What rustc says about the programs of these seeds: code and line (of the function, from 0) of each error.\n";
    for (std::size_t i = 0; i < batch.seeds.size(); ++i) {
        if (verdicts[i].is_known) out << batch.seeds[i] << ": " << verdicts[i].text() << '\n';
    }
    return out.good() ? 0 : 1;
}

// The labels against the verdicts of ockc, or of rustc.
int check(const Arguments& arguments, const oracle::Rustc* rustc, const std::string& prelude) {
    const std::map<std::uint64_t, std::string> labels = read_labels(arguments.source + "/labels.txt");
    std::vector<std::uint64_t> seeds;
    for (const auto& [seed, label] : labels) seeds.push_back(seed);
    const Batch batch = make_batch(prelude, seeds);
    const std::vector<Verdict> known(seeds.size());
    const std::vector<Verdict> verdicts = rustc != nullptr ? ask_rustc(batch, *rustc, arguments.work, 0) : ask_ockc(batch, known);
    std::uint32_t failed = 0;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        if (verdicts[i].text() == labels.at(seeds[i])) continue;
        ++failed;
        fmt::print("seed {}: recorded {}, now {}\n{}\n", seeds[i], labels.at(seeds[i]), verdicts[i].text(), batch.functions[i]);
    }
    fmt::print("{} passed, {} failed\n", seeds.size() - failed, failed);
    return failed == 0 && !seeds.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) {
        fmt::print(stderr, "usage: ockc_borrow_test check|verify|record|measure|print SOURCE_DIR SHIM_DIR WORK_DIR [COUNT [FIRST_SEED [SHOW]]]\n");
        return 2;
    }
    Arguments arguments{argv[1], argv[2], argv[3], argv[4]};
    if (argc > 5) arguments.count = static_cast<std::uint32_t>(std::strtoul(argv[5], nullptr, 10));
    if (argc > 6) arguments.first = std::strtoull(argv[6], nullptr, 10);
    if (argc > 7) arguments.show = static_cast<std::uint32_t>(std::strtoul(argv[7], nullptr, 10));
    const std::string prelude = read_text(arguments.source + "/prelude.rsk");
    if (arguments.mode == "print") {
        fmt::print("{}", generate(arguments.first, fmt::format("f{}", arguments.first)));
        return 0;
    }
    if (arguments.mode == "check") return check(arguments, nullptr, prelude);
    const oracle::Rustc rustc(arguments.shim, arguments.work);
    if (!rustc.is_usable()) {
        fmt::print("SKIPPED: rustc 1.{} or newer is not installed\n", oracle::kOldestMinor);
        return kSkipped;
    }
    if (!rustc.build_shim()) return 1;
    if (arguments.mode == "verify") return check(arguments, &rustc, prelude);
    if (arguments.mode == "record") return record(arguments, rustc, prelude);
    return measure(arguments, rustc, prelude);
}
