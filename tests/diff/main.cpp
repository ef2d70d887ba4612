// difftest --seed N --count M: programs with results of rustc and of ockc, compared.
//   --jobs K        batches at a time (default 1)        --batch B    programs a file (default 50)
//   --levels 0,3    optimisation levels                  --targets sm_80,sm_90
//   --work DIR      where files go                       --print      only print the source of seed N
//   --counts        how many programs have each construct  --reduce     make what fails smaller
// 0: no difference; 1: findings, each with its seed and a file; 77: SKIPPED, no rustc.
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <thread>

#include "driver/process.hpp"
#include "generator.hpp"
#include "harness.hpp"
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
    bool print = false, counts = false, reduce = false;
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
        if (arguments_.counts) print_counts();
        fmt::print("{} programs, {} functions, {} findings\n", programs_, functions_, findings_);
        return findings_ == 0 ? 0 : 1;
    }

  private:
    void run_batch(std::uint32_t batch, const std::string& slot) {
        std::vector<Program> programs;
        for (std::uint32_t i = batch * arguments_.batch; i < std::min(arguments_.count, (batch + 1) * arguments_.batch); ++i) {
            programs.push_back(make_program(arguments_.seed + i));
        }
        count(programs);
        const std::uint64_t seed = programs[0].seed;
        const Outcome host = harness_.on_host(programs, seed, slot);
        const std::string complaint = host.ok ? compare(programs, host, seed, slot) : host.error;
        if (complaint.empty() || each_alone(programs, slot)) return;
        const std::string file = fmt::format("{}/batch_{}.rsk", harness_.setup().work_dir, seed);
        (void)write_file_if_changed(file, harness_.source(programs));
        const std::lock_guard lock(mutex_);
        ++findings_;
        fmt::print("{} programs from seed {} together, though none of them alone: {}\n  source: {}\n", programs.size(), seed, complaint, file);
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
                const Outcome device = harness_.on_emulator(programs, seed, slot, level, target);
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

    void print_counts() const {
        for (std::size_t i = 0; i < kConstructs; ++i) {
            const ConstructInfo& info = constructs()[i];
            const char* remark = info.weight == 0 ? "  (not in the grammar)" : counts_[i] * 100 < programs_ ? "  BELOW 1%" : "";
            fmt::print("{:6}  {:5.1f}%  {}{}\n", counts_[i], 100.0 * counts_[i] / std::max(1u, programs_), info.name, remark);
        }
    }

    const Arguments& arguments_;
    const Harness& harness_;
    std::mutex mutex_;
    std::array<std::uint32_t, kConstructs> counts_{};
    std::uint32_t programs_ = 0, functions_ = 0, findings_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    arguments.setup.ockc = OCKC_BINARY;
    arguments.setup.source_dir = OCKC_DIFF_DIR;
    arguments.setup.shim_dir = OCKC_SHIM_DIR;
    arguments.setup.work_dir = (fs::temp_directory_path() / "ockc-difftest").string();
    if (!parse_arguments(argc, argv, arguments)) {
        fmt::print(stderr, "usage: difftest --seed N --count M [--jobs K] [--batch B] [--levels 0,3] [--targets sm_80] [--work DIR] [--counts] [--reduce] [--print]\n");
        return 2;
    }
    arguments.setup.rustc = find_rustc();
    Harness harness(arguments.setup);
    if (arguments.print) {
        fmt::print("{}", harness.source({make_program(arguments.seed)}));
        return 0;
    }
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
