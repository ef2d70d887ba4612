// Device::launch: the checks that the driver makes, then the blocks on all host cores.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <thread>

#include "emu/emulator.hpp"
#include "emu/machine.hpp"
#include "emu/race_detector.hpp"

namespace ockc::emu {
namespace {

std::uint64_t host_memory_share() {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return pages * page / 4 * 3;
}

std::string dim_text(Dim3 dim) {
    return fmt::format("({},{},{})", dim.x, dim.y, dim.z);
}

struct Refusal {
    ErrorKind kind;
    std::string text;
};

std::optional<Refusal> check_block(const KernelInfo& kernel, Dim3 block) {
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (threads == 0) return Refusal{ErrorKind::InvalidValue, "the block is empty: " + dim_text(block)};
    if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > kMaxThreads) {
        return Refusal{
            ErrorKind::InvalidValue,
            fmt::format("a block of {} threads: at most (1024,1024,64) and 1024 in all", dim_text(block))};
    }
    if (kernel.required_block && block != *kernel.required_block) {
        return Refusal{ErrorKind::InvalidValue,
                       fmt::format("the kernel needs blocks of {} (.reqntid), not {}",
                                   dim_text(*kernel.required_block), dim_text(block))};
    }
    if (threads > kernel.max_threads) {
        return Refusal{ErrorKind::InvalidValue,
                       fmt::format("{} threads a block, the kernel allows {}", threads, kernel.max_threads)};
    }
    return std::nullopt;
}

Dim3 cluster_of(const KernelInfo& kernel, const LaunchConfig& config) {
    return kernel.required_cluster.value_or(config.cluster.value_or(Dim3{}));
}

std::optional<Refusal> check_cluster(const KernelInfo& kernel, const LaunchConfig& config) {
    const Dim3 cluster = cluster_of(kernel, config);
    const auto refuse = [](std::string text) { return Refusal{ErrorKind::InvalidCluster, std::move(text)}; };
    const std::uint64_t blocks = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    if (config.cluster && *config.cluster != cluster)
        return refuse(fmt::format("the kernel has clusters of {} (.reqnctapercluster), not {}", dim_text(cluster), dim_text(*config.cluster)));
    if (blocks == 0 || blocks > kMaxClusterBlocks)
        return refuse(fmt::format("a cluster of {}: between 1 and {} blocks", dim_text(cluster), kMaxClusterBlocks));
    if (config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 || config.grid.z % cluster.z != 0)
        return refuse(fmt::format("a grid of {} is not made of clusters of {}", dim_text(config.grid), dim_text(cluster)));
    return std::nullopt;
}

std::optional<Refusal> check_config(const KernelInfo& kernel, const LaunchConfig& config,
                                    std::uint32_t shared_limit) {
    const Dim3 grid = config.grid;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return Refusal{ErrorKind::InvalidValue, "the grid is empty: " + dim_text(grid)};
    if (grid.x > 0x7FFF'FFFFu || grid.y > 65535 || grid.z > 65535) {
        return Refusal{ErrorKind::InvalidValue,
                       fmt::format("a grid of {}: at most (2147483647,65535,65535)", dim_text(grid))};
    }
    if (auto refusal = check_block(kernel, config.block)) return refusal;
    const std::uint64_t shared = std::uint64_t{kernel.static_shared} + config.dynamic_shared;
    if (shared > shared_limit) {
        return Refusal{ErrorKind::InvalidValue,
                       fmt::format("{} bytes of shared memory a block, at most {}", shared, shared_limit)};
    }
    if (auto refusal = check_cluster(kernel, config)) return refusal;
    if (!config.cooperative) return std::nullopt;
    const std::uint32_t threads = config.block.x * config.block.y * config.block.z;
    const std::uint64_t room =
        std::uint64_t{max_resident_blocks(kernel, threads, config.dynamic_shared)} * kMultiprocessors;
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    if (blocks <= room) return std::nullopt;
    return Refusal{ErrorKind::CooperativeTooLarge,
                   fmt::format("{} cooperating blocks, at most {} run side by side", blocks, room)};
}

// The emulator computes in the IEEE default environment whatever the host program has set.
class DefaultFloats {
  public:
    DefaultFloats() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~DefaultFloats() { std::fesetenv(&saved_); }

  private:
    std::fenv_t saved_{};
};

// The two words that a cooperative launch finds by %envreg1 and 2: their size, and the grid's barrier.
class Workspace {
  public:
    Workspace(Memory& memory, bool wanted) : memory_(memory) {
        if (!wanted) return;
        const std::uint32_t words[2] = {sizeof words, 0};
        address_ = memory.allocate(sizeof words, MemoryKind::Device);
        if (address_) memory.copy_in(*address_, words, sizeof words);
    }
    ~Workspace() {
        if (address_) memory_.release(*address_, MemoryKind::Device);
    }
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    std::uint64_t address() const { return address_.value_or(0); }

  private:
    Memory& memory_;
    std::optional<DeviceAddress> address_;
};

void run_on_host_threads(Launch& launch) {
    const DefaultFloats floats;  // threads start with their parent's environment
    std::vector<std::thread> helpers;
    for (std::uint32_t i = 1; i < launch.workers; ++i)
        helpers.emplace_back([&launch] { run_blocks(launch); });
    run_blocks(launch);
    for (std::thread& helper : helpers)
        helper.join();
}

// What the threads printed, block by block. The order on a GPU is any.
void print_text(Launch& launch) {
    if (launch.printed.empty()) return;
    std::sort(launch.printed.begin(), launch.printed.end());
    for (const auto& [block, text] : launch.printed) {
        if (launch.options->print) launch.options->print(text);
        else std::fwrite(text.data(), 1, text.size(), stdout);
    }
    if (!launch.options->print) std::fflush(stdout);
}

std::uint32_t worker_count(const Options& options, std::uint64_t blocks) {
    if (options.any_check()) return 1;
    const std::uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    const std::uint32_t wanted = options.host_threads != 0 ? options.host_threads : cores;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, blocks));
}

}  // namespace

std::string_view error_name(ErrorKind kind) {
    switch (kind) {
#define OCKC_EMU_ERROR_NAME(name, text, number) \
    case ErrorKind::name: return text;
        OCKC_EMU_ERRORS(OCKC_EMU_ERROR_NAME)
#undef OCKC_EMU_ERROR_NAME
    }
    return "CUDA_ERROR_UNKNOWN";
}
int error_number(ErrorKind kind) {
    switch (kind) {
#define OCKC_EMU_ERROR_NUMBER(name, text, number) \
    case ErrorKind::name: return number;
        OCKC_EMU_ERRORS(OCKC_EMU_ERROR_NUMBER)
#undef OCKC_EMU_ERROR_NUMBER
    }
    return 999;
}

std::uint32_t max_resident_blocks(const KernelInfo& kernel, std::uint32_t threads,
                                  std::uint64_t dynamic_shared) {
    if (threads == 0 || threads > kMaxThreads) return 0;
    const std::uint32_t warps = (threads + kLanes - 1) / kLanes;
    std::uint64_t blocks =
        std::min(kMaxBlocksPerMultiprocessor, kMaxThreadsPerMultiprocessor / (warps * kLanes));
    blocks = std::min<std::uint64_t>(
        blocks, kRegistersPerMultiprocessor / (std::uint64_t{warps} * kLanes * kernel.registers));
    const std::uint64_t shared = kernel.static_shared + dynamic_shared + kReservedShared;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, kSharedPerMultiprocessor / shared));
}

Device::Device(const Options& options)
    : options_(options), memory_(options.memory_bytes != 0 ? options.memory_bytes : host_memory_share()) {
    if (options.check_uninit) memory_.enable_shadow();
}
Device::~Device() = default;

std::uint32_t Device::shared_limit() const {
    std::uint32_t limit = kDefaultShared;
    for (const ptx::TargetInfo& target : ptx::all_targets()) {
        if (target.sm == options_.sm) limit = target.shared_optin;
    }
    return limit;
}

Outcome<LaunchStats, LaunchError> Device::launch(const Module& module, std::uint32_t kernel,
                                                 const LaunchConfig& config,
                                                 std::span<const std::byte> params) {
    const KernelInfo& info = module.kernels()[kernel];
    const Program& program = module.program(kernel);
    LaunchError refused;
    refused.kernel = info.name;
    if (const auto refusal = check_config(info, config, shared_limit())) {
        refused.kind = refusal->kind;
        refused.message = fmt::format("cannot launch `{}`: {}", info.name, refusal->text);
        return {std::nullopt, std::move(refused)};
    }
    if (params.size() < info.param_bytes) {
        refused.message = fmt::format("cannot launch `{}`: {} bytes of parameters, {} needed", info.name,
                                      params.size(), info.param_bytes);
        return {std::nullopt, std::move(refused)};
    }
    Launch launch;
    const Workspace workspace(memory_, config.cooperative);
    launch.workspace = workspace.address();
    const MemoryReader memory(memory_);
    launch.program = &program;
    launch.memory = &memory;
    launch.options = &options_;
    launch.params = params.data();
    launch.grid = config.grid;
    launch.block = config.block;
    launch.threads = config.block.x * config.block.y * config.block.z;
    launch.dynamic_shared_bytes = config.dynamic_shared;
    launch.shared_bytes = config.dynamic_shared == 0 ? program.shared_bytes
                                                     : program.dynamic_shared_offset + config.dynamic_shared;
    launch.blocks = std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
    launch.cooperative = config.cooperative;
    launch.cluster = cluster_of(info, config);
    launch.cluster_blocks = launch.cluster.x * launch.cluster.y * launch.cluster.z;
    launch.serial = launches_.fetch_add(1) + 1;
    launch.workers = worker_count(options_, launch.blocks / launch.cluster_blocks);
    std::optional<RaceDetector> detector;
    if (options_.check_races || options_.check_uninit) launch.detector = &detector.emplace(launch);
    run_on_host_threads(launch);
    print_text(launch);
    if (launch.fault) return {std::nullopt, std::move(*launch.fault)};
    return {LaunchStats{launch.steps.load(), launch.lane_steps.load()}, {}};
}

}  // namespace ockc::emu
