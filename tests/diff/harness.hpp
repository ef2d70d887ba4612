// Runs programs through rustc on the host and through ockc on its emulator or a GPU, and compares what they wrote.
#pragma once
#include <string>
#include <vector>

#include "model.hpp"

namespace ockc::difftest {

struct Setup {
    std::string ockc, rustc, source_dir, shim_dir, work_dir;   // paths
    std::vector<std::string> levels = {"0", "3"};              // -O levels
    std::vector<std::string> targets = {"sm_80"};
    std::string device = "emulator";                           // or cuda:N
};

// What the programs wrote, slot by slot for each thread; or why there is nothing.
struct Outcome {
    bool ok = false;
    std::string error;
    bool no_device = false;
    std::vector<std::uint64_t> words;      // [thread][slot]
};

constexpr std::uint32_t kBlock = 32, kThreads = 2 * kBlock, kInputs = 50;   // the last threads have no input

class Harness {
  public:
    explicit Harness(Setup setup);
    // Compiles the stand-in crates with rustc. Empty, or what went wrong.
    std::string prepare();

    // `slot` keeps the files of parallel runs apart.
    Outcome on_host(const std::vector<Program>& programs, std::uint64_t seed, const std::string& slot) const;
    Outcome on_device(const std::vector<Program>& programs, std::uint64_t seed, const std::string& slot, const std::string& level,
                        const std::string& target) const;
    std::string source(const std::vector<Program>& programs) const;
    const Setup& setup() const { return setup_; }

  private:
    std::vector<std::uint64_t> input(std::uint64_t seed) const;
    Setup setup_;
    std::string prelude_;
};

}  // namespace ockc::difftest
