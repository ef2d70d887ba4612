// difftest --seed N --count M: programs with results of rustc and of ockc, compared.
//   --jobs K        batches at a time (default 1)        --batch B    programs a file (default 50)
//   --levels 0,3    optimisation levels                  --targets sm_80,sm_90
//   --work DIR      where files go                       --print      only print the source of seed N
//   --counts        how many programs have each construct  --reduce     make what fails smaller
//   --constructs    no programs are run; fails when a construct is in less than 1 % of them
//   --record FILE   write what rustc's programs give       --expect FILE  compare with that instead of with rustc
//   --device cuda:0 where ockc's programs run              --limit N      only the first N of a record
// 0: no difference; 1: findings, each with its seed and a file; 77: SKIPPED, no rustc or no device.
#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "driver/process.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "recorded.hpp"
#include "reduce.hpp"
#include "support/file_io.hpp"

namespace fs = std::filesystem;
using namespace ockc;
using namespace ockc::difftest;

namespace {

constexpr int kSkippedExit = 77;

struct Arguments {
    std::uint64_t seed = 1;
    std::uint32_t count = 50, jobs = 1, batch = 50;
    bool print = false, counts = false, reduce = false, constructs = false;
    std::string record, expect;
    std::uint32_t limit = UINT32_MAX;
    Setup setup;
};

std::vector<std::string> split_commas(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

bool parse_arguments(int argc, char** argv, Arguments& arguments) {
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--print") {
            arguments.print = true;
        } else if (option == "--counts") {
            arguments.counts = true;
        } else if (option == "--reduce") {
            arguments.reduce = true;
        } else if (option == "--constructs") {
            arguments.constructs = true;
        } else if (i + 1 < argc) {
            const std::string value = argv[++i];
            const auto number = std::strtoull(value.c_str(), nullptr, 10);
            if (option == "--seed") arguments.seed = number;
            else if (option == "--count") arguments.count = static_cast<std::uint32_t>(number);
            else if (option == "--jobs") arguments.jobs = static_cast<std::uint32_t>(number);
            else if (option == "--batch") arguments.batch = static_cast<std::uint32_t>(number);
            else if (option == "--levels") arguments.setup.levels = split_commas(value);
            else if (option == "--targets") arguments.setup.targets = split_commas(value);
            else if (option == "--work") arguments.setup.work_dir = value;
            else if (option == "--ockc") arguments.setup.ockc = value;
            else if (option == "--device") arguments.setup.device = value;
            else if (option == "--record") arguments.record = value;
            else if (option == "--expect") arguments.expect = value;
            else if (option == "--limit") arguments.limit = static_cast<std::uint32_t>(number);
            else return false;
        } else {
            return false;
        }
    }
    return arguments.jobs != 0 && arguments.batch != 0;
}

std::string find_rustc() {
    if (std::string found = driver::find_on_path("rustc"); !found.empty()) return found;
    const char* home = std::getenv("HOME");
    const fs::path rustup = fs::path(home != nullptr ? home : "") / ".cargo/bin/rustc";
    return fs::exists(rustup) ? rustup.string() : std::string();
}

Program make_program(std::uint64_t seed) {
    Generator generator(seed);
    Program program = generator.program();
    program.seed = seed;
    return program;
}

class Campaign {
  public:
    Campaign(const Arguments& arguments, const Harness& harness) : arguments_(arguments), harness_(harness) {}

    int run() {
        const std::uint32_t batches = (arguments_.count + arguments_.batch - 1) / arguments_.batch;
        std::atomic<std::uint32_t> next{0};
        std::vector<std::thread> threads;
        for (std::uint32_t job = 0; job < arguments_.jobs; ++job) {
            threads.emplace_back([&, job] {
                for (std::uint32_t batch = next++; batch < batches; batch = next++) run_batch(batch, fmt::format("job{}", job));
            });
        }
        for (std::thread& thread : threads) thread.join();
        if (arguments_.counts) print_counts(false);
        if (!arguments_.record.empty() && findings_ == 0) {
            if (const Status s = write_file_if_changed(arguments_.record, format_record(record_)); !s.ok()) fmt::print("{}\n", s.error());
        }
        fmt::print("{} programs, {} functions, {} findings\n", programs_, functions_, findings_);
        return findings_ == 0 ? 0 : 1;
    }

    // The generator alone: how often each construct comes.
    int run_constructs() {
        for (std::uint32_t i = 0; i < arguments_.count; ++i) count({make_program(arguments_.seed + i)});
        const std::uint32_t rare = print_counts(!arguments_.counts);
        fmt::print("{} programs, {} constructs below 1 %\n", programs_, rare);
        return rare == 0 ? 0 : 1;
    }

    // Against a record instead of rustc.
    int run_expected(const Record& record) {
        const std::uint32_t total = std::min(record.count, arguments_.limit);
        std::uint32_t done = 0;
        for (std::uint32_t at = 0; at < total; at += record.batch) {
            std::vector<Program> programs;
            for (std::uint32_t i = at; i < std::min(record.count, at + record.batch); ++i) programs.push_back(make_program(record.first_seed + i));
            for (const std::string& target : harness_.setup().targets) {
                for (const std::string& level : harness_.setup().levels) {
                    const Outcome device = harness_.on_device(programs, programs[0].seed, "recorded", level, target);
                    if (device.no_device) {
                        fmt::print("SKIPPED: {}\n", device.error);
                        return kSkippedExit;
                    }
                    expect(programs, device, record, level, target);
                }
            }
            done += static_cast<std::uint32_t>(programs.size());
            if (harness_.setup().device != "emulator") {
                fmt::print("{} of {} programs, {} findings\n", done, total, findings_);
                std::fflush(stdout);
            }
        }
        fmt::print("{} recorded programs on {}, {} findings\n", done, harness_.setup().device, findings_);
        return findings_ == 0 ? 0 : 1;
    }

  private:
    void expect(const std::vector<Program>& programs, const Outcome& device, const Record& record, const std::string& level, const std::string& target) {
        const std::vector<RecordedProgram> have = summaries(programs, device);
        for (std::size_t i = 0; i < programs.size(); ++i) {
            const auto known = record.programs.find(programs[i].seed);
            const char* complaint = !device.ok                                                                    ? device.error.c_str()
                                    : known == record.programs.end() || known->second.source != have[i].source ? "the record is of another generator: write it anew"
                                    : known->second.results != have[i].results                                     ? "results differ from rustc's"
                                                                                                                   : nullptr;
            if (complaint == nullptr) continue;
            ++findings_;
            fmt::print("seed {} -O{} {}: {}\n", programs[i].seed, level, target, complaint);
            if (!device.ok) return;   // the same for all of them
        }
    }

    void run_batch(std::uint32_t batch, const std::string& slot) {
        std::vector<Program> programs;
        for (std::uint32_t i = batch * arguments_.batch; i < std::min(arguments_.count, (batch + 1) * arguments_.batch); ++i) {
            programs.push_back(make_program(arguments_.seed + i));
        }
        count(programs);
        const std::uint64_t seed = programs[0].seed;
        const Outcome host = harness_.on_host(programs, seed, slot);
        const std::string complaint = host.ok ? compare(programs, host, seed, slot) : host.error;
        if (complaint.empty() && !arguments_.record.empty()) remember(programs, host);
        if (complaint.empty() || each_alone(programs, slot)) return;
        const std::string file = fmt::format("{}/batch_{}.rsk", harness_.setup().work_dir, seed);
        (void)write_file_if_changed(file, harness_.source(programs));
        const std::lock_guard lock(mutex_);
        ++findings_;
        fmt::print("{} programs from seed {} together, though none of them alone: {}\n  source: {}\n", programs.size(), seed, complaint, file);
    }

    void remember(const std::vector<Program>& programs, const Outcome& host) {
        const std::lock_guard lock(mutex_);
        record_.first_seed = arguments_.seed;
        record_.count = arguments_.count;
        record_.batch = arguments_.batch;
        const std::vector<RecordedProgram> all = summaries(programs, host);
        for (std::size_t i = 0; i < all.size(); ++i) record_.programs[programs[i].seed] = all[i];
    }

    // Was there one that fails.
    bool each_alone(const std::vector<Program>& programs, const std::string& slot) {
        bool any = false;
        for (const Program& program : programs) {
            const std::vector<Program> alone = {program};
            const Outcome host = harness_.on_host(alone, program.seed, slot);
            const std::string complaint = host.ok ? compare(alone, host, program.seed, slot) : host.error;
            if (complaint.empty()) continue;
            const Program shown = arguments_.reduce && host.ok ? smaller(program, slot) : program;
            const std::string file = fmt::format("{}/seed_{}.rsk", harness_.setup().work_dir, program.seed);
            (void)write_file_if_changed(file, harness_.source({shown}));
            const std::lock_guard lock(mutex_);
            ++findings_;
            fmt::print("seed {}: {}\n  source: {}\n", program.seed, complaint, file);
            std::fflush(stdout);
            any = true;
        }
        return any;
    }

    Program smaller(const Program& program, const std::string& slot) const {
        return reduce(program, [&](const Program& candidate) {
            const Outcome host = harness_.on_host({candidate}, program.seed, slot);
            return host.ok && !compare({candidate}, host, program.seed, slot).empty();
        });
    }

    std::string compare(const std::vector<Program>& programs, const Outcome& host, std::uint64_t seed, const std::string& slot) const {
        for (const std::string& target : harness_.setup().targets) {
            for (const std::string& level : harness_.setup().levels) {
                const Outcome device = harness_.on_device(programs, seed, slot, level, target);
                if (!device.ok) return device.error;
                const std::string difference = first_difference(programs, host, device);
                if (!difference.empty()) return fmt::format("-O{} {}: {}", level, target, difference);
            }
        }
        return {};
    }

    static std::string first_difference(const std::vector<Program>& programs, const Outcome& host, const Outcome& device) {
        if (host.words.size() != device.words.size()) return "different numbers of results";
        std::uint32_t total = 0;
        for (const Program& program : programs) total += program.slots;
        std::string text;
        for (std::size_t i = 0; i < host.words.size() && text.size() < 300; ++i) {
            if (host.words[i] == device.words[i]) continue;
            text += fmt::format("{}r{} thread {}: rustc {:#x}, ockc {:#x}", text.empty() ? "" : "; ", i % total, i / total, host.words[i], device.words[i]);
        }
        return text;
    }

    void count(const std::vector<Program>& programs) {
        const std::lock_guard lock(mutex_);
        for (const Program& program : programs) {
            ++programs_;
            functions_ += program.slots;
            for (std::size_t i = 0; i < kConstructs; ++i) counts_[i] += program.used.test(i);
        }
    }

    // How many are below 1 %.
    std::uint32_t print_counts(bool rare_only) const {
        std::uint32_t rare = 0;
        for (std::size_t i = 0; i < kConstructs; ++i) {
            const ConstructInfo& info = constructs()[i];
            const bool is_rare = info.weight != 0 && counts_[i] * 100 < programs_;
            rare += is_rare ? 1 : 0;
            if (rare_only && !is_rare) continue;
            const char* remark = info.weight == 0 ? "  (not in the grammar)" : is_rare ? "  BELOW 1%" : "";
            fmt::print("{:6}  {:5.1f}%  {}{}\n", counts_[i], 100.0 * counts_[i] / std::max(1u, programs_), info.name, remark);
        }
        return rare;
    }

    const Arguments& arguments_;
    const Harness& harness_;
    std::mutex mutex_;
    std::array<std::uint32_t, kConstructs> counts_{};
    std::uint32_t programs_ = 0, functions_ = 0, findings_ = 0;
    Record record_;
};

int expect_recorded(const Arguments& arguments, const Harness& harness) {
    const Result<std::string> text = read_file(arguments.expect, std::size_t{1} << 24);
    const Result<Record> record = text.ok() ? parse_record(text.value()) : Result<Record>(Failure{text.error()});
    if (!record.ok()) {
        fmt::print("{}\n", record.error());
        return 1;
    }
    std::error_code ignored;
    fs::create_directories(harness.setup().work_dir, ignored);
    return Campaign(arguments, harness).run_expected(record.value());
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    arguments.setup.ockc = OCKC_BINARY;
    arguments.setup.source_dir = OCKC_DIFF_DIR;
    arguments.setup.shim_dir = OCKC_SHIM_DIR;
    arguments.setup.work_dir = (fs::temp_directory_path() / "ockc-difftest").string();
    if (!parse_arguments(argc, argv, arguments)) {
        fmt::print(stderr, "usage: difftest --seed N --count M [--jobs K] [--batch B] [--levels 0,3] [--targets sm_80] [--work DIR] [--counts] [--reduce] [--print] [--constructs] [--record FILE] [--expect FILE] [--device cuda:0] [--limit N]\n");
        return 2;
    }
    arguments.setup.rustc = find_rustc();
    Harness harness(arguments.setup);
    if (arguments.print) {
        fmt::print("{}", harness.source({make_program(arguments.seed)}));
        return 0;
    }
    if (arguments.constructs) return Campaign(arguments, harness).run_constructs();
    if (!arguments.expect.empty()) return expect_recorded(arguments, harness);
    if (arguments.setup.rustc.empty()) {
        fmt::print("SKIPPED: rustc is not installed\n");
        return kSkippedExit;
    }
    if (const std::string error = harness.prepare(); !error.empty()) {
        fmt::print("{}\n", error);
        return 1;
    }
    return Campaign(arguments, harness).run();
}
