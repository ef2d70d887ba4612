#include "judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "generator.hpp"
#include "ockc/compiler.hpp"

namespace ockc::borrow_test {

namespace {

bool is_borrow_code(const std::string& code) {
    static const std::set<std::string> kCodes{"E0373", "E0381", "E0382", "E0384", "E0499", "E0500", "E0501", "E0502", "E0503", "E0505", "E0506",
                                              "E0507", "E0508", "E0509", "E0510", "E0515", "E0521", "E0524", "E0594", "E0596", "E0597",
                                              "E0106", "E0261", "E0309", "E0310", "E0621", "E0712", "E0713", "E0716", "general", "lifetime"};
    return kCodes.count(code) != 0;
}

bool is_resolution_code(const std::string& code) { return code == "E0106" || code == "E0261"; }

std::string code_of(const std::string& code, const std::string& message) {
    if (!code.empty()) return code;
    const bool is_lifetime = message.rfind("lifetime may not live long enough", 0) == 0 || message.rfind("captured variable cannot escape", 0) == 0;
    if (message.rfind("implementation of `", 0) == 0 && message.ends_with("is not general enough")) return "general";
    return is_lifetime ? "lifetime" : "error";
}

// Sorts errors of a file into the functions they stand in. False: some function was not well typed.
class Sorter {
  public:
    explicit Sorter(const std::vector<std::uint32_t>& lines) : lines_(lines) {}

    // Returns the function's position, or nothing for an error outside all of them.
    bool add(std::vector<Verdict>& verdicts, Finding finding, std::uint32_t line) {
        std::size_t owner = lines_.size();
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i] != 0 && lines_[i] <= line) owner = i;
        }
        if (owner == lines_.size()) return false;
        finding.line = line - lines_[owner];
        if (!is_borrow_code(finding.code)) verdicts[owner].is_known = false;
        verdicts[owner].is_final = verdicts[owner].is_final || is_resolution_code(finding.code);
        verdicts[owner].findings.push_back(std::move(finding));
        return true;
    }

  private:
    const std::vector<std::uint32_t>& lines_;
};

void sort(std::vector<Verdict>& verdicts) {
    for (Verdict& verdict : verdicts) {
        std::stable_sort(verdict.findings.begin(), verdict.findings.end(), [](const Finding& a, const Finding& b) { return a.line < b.line; });
    }
}

// Asks until no function that is left has a type error; `ask` fills in the findings of one round.
template <class Ask>
std::vector<Verdict> ask_until_typed(const Batch& batch, std::vector<Verdict> verdicts, Ask&& ask) {
    for (int round = 0; round < 8; ++round) {
        std::vector<std::uint32_t> lines;
        const std::string text = batch.file(verdicts, lines);
        for (Verdict& verdict : verdicts) {
            if (verdict.is_known && !verdict.is_final) verdict.findings.clear();
        }
        const std::vector<Verdict> before = verdicts;
        Sorter sorter(lines);
        ask(text, verdicts, sorter);
        bool again = false;
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            again = again || (before[i].is_known && !verdicts[i].is_known) || (!before[i].is_final && verdicts[i].is_final);
        }
        if (!again) break;
    }
    sort(verdicts);
    return verdicts;
}

}  // namespace

std::string Verdict::text() const {
    if (!is_known) return "ill-typed" + (findings.empty() ? std::string() : " " + findings[0].code + " " + findings[0].message);
    if (findings.empty()) return "ok";
    std::string out;
    for (const Finding& one : findings) out += fmt::format("{}{}:{}", out.empty() ? "" : " ", one.code, one.line);
    return out;
}

std::string Batch::file(const std::vector<Verdict>& known, std::vector<std::uint32_t>& lines) const {
    std::string text = prelude;
    std::uint32_t line = 1 + static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n'));
    for (std::size_t i = 0; i < functions.size(); ++i) {
        const bool is_judged = known[i].is_known && !known[i].is_final;
        lines.push_back(is_judged ? line : 0);
        if (!is_judged) continue;
        text += functions[i];
        line += static_cast<std::uint32_t>(std::count(functions[i].begin(), functions[i].end(), '\n'));
    }
    return text + "}\n";
}

std::string read_text(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

Batch make_batch(const std::string& prelude, const std::vector<std::uint64_t>& seeds) {
    Batch batch;
    batch.prelude = prelude;
    batch.seeds = seeds;
    for (const std::uint64_t seed : seeds) batch.functions.push_back(generate(seed, fmt::format("f{}", seed)));
    return batch;
}

Batch make_batch(const std::string& prelude, std::uint64_t first, std::uint32_t count) {
    std::vector<std::uint64_t> seeds;
    for (std::uint32_t i = 0; i < count; ++i) seeds.push_back(first + i);
    return make_batch(prelude, seeds);
}

std::vector<Verdict> ask_rustc(const Batch& batch, const oracle::Rustc& rustc, const std::string& work, std::size_t slot) {
    const std::string path = fmt::format("{}/batch{}.rsk", work, slot);
    return ask_until_typed(batch, std::vector<Verdict>(batch.functions.size()),
                           [&](const std::string& text, std::vector<Verdict>& verdicts, Sorter& sorter) {
                               std::ofstream(path, std::ios::binary) << text;
                               for (const oracle::RustcError& error : rustc.check(path, 2024, slot)) {
                                   const std::string code = code_of(error.code, error.message);
                                   sorter.add(verdicts, {code, 0, error.message}, error.line);
                               }
                           });
}

std::vector<Verdict> ask_ockc(const Batch& batch, const std::vector<Verdict>& rustc) {
    std::vector<Verdict> start(batch.functions.size());
    for (std::size_t i = 0; i < start.size(); ++i) start[i].is_known = rustc[i].is_known;
    return ask_until_typed(batch, std::move(start), [&](const std::string& text, std::vector<Verdict>& verdicts, Sorter& sorter) {
        CompileInput input{"batch.rsk", {}, text};
        CompileOptions options;
        options.check_only = true;
        options.error_limit = 0xFFFFFFu;
        for (const DiagnosticText& one : compile(input, options, {DiagnosticFormat::Short, false}).diagnostics) {
            if (one.is_error) sorter.add(verdicts, {code_of(one.code, one.message), 0, one.message}, one.line);
        }
    });
}

}  // namespace ockc::borrow_test
