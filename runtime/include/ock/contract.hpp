// What a kernel demands of a launch (KernelContract, written by the compiler into the generated header), what
// a program asks for (LaunchConfig*), and the checks between the two and the live device, in a fixed order.
// Nothing is launched here: check_contract() answers with the configuration to launch, or throws the first
// condition that does not hold.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <ock/context_state.hpp>
#include <ock/error.hpp>
#include <string>

namespace ock {

struct Dim3 {
    std::uint64_t x = 1;
    std::uint64_t y = 1;
    std::uint64_t z = 1;

    constexpr std::array<std::uint64_t, 3> axes() const { return {x, y, z}; }
    friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

// ceil(count / size): the blocks that cover `count` elements.
template <std::integral Count>
constexpr std::uint64_t div_ceil(Count count, std::uint64_t size) {
    const std::uint64_t n = static_cast<std::uint64_t>(count);
    return n / size + (n % size != 0 ? 1 : 0);
}

// A grid and a block of any rank: all that a launch without a contract can say. Axes are 64-bit here so that
// nothing is cut off on the way in; the checks refuse what the device cannot count.
struct LaunchConfig {
    Dim3 grid;
    Dim3 block;
    std::uint64_t dynamic_shared = 0;  // bytes
};

// The rank is a type, as the contract's domain is: a 1-D configuration cannot carry a y or z.
struct LaunchConfig1D : LaunchConfig {
    constexpr LaunchConfig1D(std::uint64_t grid_x, std::uint64_t block_x, std::uint64_t shared = 0)
        : LaunchConfig{{grid_x, 1, 1}, {block_x, 1, 1}, shared} {}
};
struct LaunchConfig2D : LaunchConfig {
    constexpr LaunchConfig2D(std::array<std::uint64_t, 2> g, std::array<std::uint64_t, 2> b,
                             std::uint64_t shared = 0)
        : LaunchConfig{{g[0], g[1], 1}, {b[0], b[1], 1}, shared} {}
};
struct LaunchConfig3D : LaunchConfig {
    constexpr LaunchConfig3D(std::array<std::uint64_t, 3> g, std::array<std::uint64_t, 3> b,
                             std::uint64_t shared = 0)
        : LaunchConfig{{g[0], g[1], g[2]}, {b[0], b[1], b[2]}, shared} {}
};

// #[launch_contract], #[launch_bounds], #[cluster_launch] and #[cooperative_launch] of one kernel.
struct KernelContract {
    const char* name = "";
    const char* symbol = "";  // the .entry in the PTX
    unsigned domain = 0;      // 1, 2, 3; 0: no contract, only unsafe_launch_
    bool coordinates_u32 = false;
    Dim3 block = {0, 0, 0};                // exact; zeros: any
    std::uint64_t max_threads = 0;         // 0: as many as the device and the registers allow
    std::uint64_t dynamic_shared_min = 0;  // bytes; equal to the next: exact
    std::uint64_t dynamic_shared_max = 0;
    std::uint64_t dynamic_shared_alignment = 16;
    int min_compute_capability = 0;  // 10 * major + minor
    Dim3 cluster = {0, 0, 0};        // zeros: none
    bool cooperative = false;

    constexpr bool has_exact_block() const { return block != Dim3{0, 0, 0}; }
    constexpr bool has_cluster() const { return cluster != Dim3{0, 0, 0}; }
};

namespace detail {

// What the driver says about a loaded function.
struct FunctionFacts {
    driver::CUfunction handle = nullptr;
    std::uint64_t max_threads = 0;
    std::uint64_t static_shared = 0;
    bool needs_cluster = false;
    Dim3 cluster = {0, 0, 0};  // compiled in
};

// a * b * c, or false when it does not fit.
constexpr bool product_fits(const Dim3& dims, std::uint64_t& product) {
    product = dims.x;
    for (const std::uint64_t factor : {dims.y, dims.z}) {
        if (factor != 0 && product > UINT64_MAX / factor) return false;
        product *= factor;
    }
    return true;
}

inline std::string text_of(const Dim3& dims) {
    return "(" + std::to_string(dims.x) + ", " + std::to_string(dims.y) + ", " + std::to_string(dims.z) + ")";
}

class ContractCheck {
  public:
    ContractCheck(const KernelContract& contract, const FunctionFacts& function, const ContextState& context,
                  const LaunchConfig& config, Where where)
        : contract_(contract), function_(function), context_(context), config_(config), where_(where) {}

    void run() {
        check_name();
        check_axes("grid", config_.grid);
        threads_ = check_axes("block", config_.block);
        check_coordinates();
        check_block();
        check_dynamic_shared();
        check_cluster_divides();

        check_device_axes("grid", config_.grid, context_.limits().max_grid);
        check_device_axes("block", config_.block, context_.limits().max_block);
        check_threads();
        check_shared_total();
        check_capability();
        check_cluster_support();
        check_cooperative_support();
        raise_dynamic_shared_limit();
        check_cluster_residency();
        check_cooperative_residency();
    }

  private:
    using Kind = ContractErrorKind;
    static constexpr const char* kAxes[] = {"x", "y", "z"};

    [[noreturn]] void fail(Kind kind, const std::string& details, std::uint64_t actual = 0,
                           std::uint64_t limit = 0, int axis = -1, bool opt_in = false) const {
        ContractViolation violation;
        violation.kind = kind;
        violation.kernel = contract_.name;
        violation.actual = actual;
        violation.limit = limit;
        violation.axis = axis;
        violation.opt_in = opt_in;
        throw LaunchContractError(std::move(violation), details, where_);
    }

    void check_name() const {
        if (contract_.name[0] == '\0') fail(Kind::EmptyKernelName, "the contract names no kernel");
    }
    std::uint64_t check_axes(const char* which, const Dim3& dims) const {
        for (int axis = 0; axis < 3; ++axis) {
            if (dims.axes()[static_cast<std::size_t>(axis)] == 0) {
                fail(Kind::ZeroDimension, std::string(which) + " is " + text_of(dims), 0, 1, axis);
            }
        }
        std::uint64_t product = 0;
        if (!product_fits(dims, product)) {
            fail(Kind::DimensionProductOverflow, std::string(which) + " is " + text_of(dims));
        }
        return product;
    }
    void check_coordinates() const {
        if (!contract_.coordinates_u32) return;
        constexpr std::uint64_t kLimit = std::uint64_t{1} << 32;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint64_t grid = config_.grid.axes()[axis];
            const std::uint64_t block = config_.block.axes()[axis];
            if (grid > kLimit / block) {
                fail(Kind::CoordinateRangeExceedsU32,
                     std::to_string(grid) + " blocks of " + std::to_string(block) + " threads in " +
                         kAxes[axis],
                     grid, kLimit / block, static_cast<int>(axis));
            }
        }
    }
    void check_block() const {
        if (contract_.has_exact_block()) {
            if (config_.block == contract_.block) return;
            fail(Kind::BlockShapeMismatch,
                 "the contract says " + text_of(contract_.block) + ", the launch " + text_of(config_.block));
        }
        if (contract_.max_threads != 0 && threads_ > contract_.max_threads) {
            fail(Kind::BlockThreadsExceedContract,
                 std::to_string(threads_) + " threads, at most " + std::to_string(contract_.max_threads),
                 threads_, contract_.max_threads);
        }
    }
    void check_dynamic_shared() const {
        const std::uint64_t low = contract_.dynamic_shared_min;
        const std::uint64_t high = contract_.dynamic_shared_max;
        const std::uint64_t asked = config_.dynamic_shared;
        const std::uint64_t alignment = contract_.dynamic_shared_alignment;
        if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
            fail(Kind::InvalidSharedMemoryAlignment, std::to_string(alignment), alignment);
        }
        if (low > high) {
            fail(Kind::InvalidSharedMemoryRange, std::to_string(low) + " to " + std::to_string(high), low,
                 high);
        }
        if (low == high && asked != low) {
            fail(Kind::DynamicSharedMemoryExactMismatch,
                 "the contract says " + std::to_string(low) + " bytes, the launch " + std::to_string(asked),
                 asked, low);
        }
        if (asked < low || asked > high) {
            fail(Kind::DynamicSharedMemoryOutsideRange,
                 std::to_string(asked) + " bytes, not within " + std::to_string(low) + " to " +
                     std::to_string(high),
                 asked, asked < low ? low : high);
        }
    }
    void check_cluster_divides() const {
        if (!contract_.has_cluster()) return;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint64_t cluster = contract_.cluster.axes()[axis];
            const std::uint64_t grid = config_.grid.axes()[axis];
            if (cluster == 0 || grid % cluster != 0) {
                fail(Kind::ClusterDoesNotDivideGrid,
                     "a cluster of " + text_of(contract_.cluster) + " in a grid of " + text_of(config_.grid),
                     grid, cluster, static_cast<int>(axis));
            }
        }
    }

    void check_device_axes(const char* which, const Dim3& dims,
                           const std::array<std::uint32_t, 3>& limit) const {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint64_t asked = dims.axes()[axis];
            if (asked > limit[axis]) {
                fail(Kind::DeviceDimensionExceeded,
                     std::string(which) + "." + kAxes[axis] + " is " + std::to_string(asked) + ", at most " +
                         std::to_string(limit[axis]),
                     asked, limit[axis], static_cast<int>(axis));
            }
        }
    }
    void check_threads() const {
        const auto within = [&](Kind kind, std::uint64_t limit) {
            if (threads_ <= limit) return;
            fail(kind, std::to_string(threads_) + " threads, at most " + std::to_string(limit), threads_,
                 limit);
        };
        within(Kind::DeviceThreadsPerBlockExceeded, context_.limits().max_threads_per_block);
        within(Kind::FunctionThreadsPerBlockExceeded, function_.max_threads);
    }
    void check_shared_total() {
        const std::uint64_t dynamic = contract_.dynamic_shared_max;
        if (dynamic > UINT64_MAX - function_.static_shared) {
            fail(Kind::SharedMemoryTotalOverflow,
                 std::to_string(function_.static_shared) + " + " + std::to_string(dynamic) + " bytes");
        }
        const std::uint64_t total = function_.static_shared + dynamic;
        const DeviceLimits& limits = context_.limits();
        beyond_portable_ = total > limits.shared_per_block;
        const bool opt_in = limits.shared_per_block_opt_in > limits.shared_per_block;
        const std::uint64_t limit = opt_in ? limits.shared_per_block_opt_in : limits.shared_per_block;
        if (total > limit) {
            fail(Kind::DeviceSharedMemoryExceeded,
                 std::to_string(total) + " bytes a block, at most " + std::to_string(limit), total, limit, -1,
                 opt_in);
        }
    }
    void check_capability() const {
        const int have = context_.limits().compute_capability;
        const int need = contract_.min_compute_capability;
        if (have >= need) return;
        fail(Kind::ComputeCapabilityTooLow,
             context_.limits().name + " is " + dotted(have) + ", the kernel needs " + dotted(need),
             static_cast<std::uint64_t>(have), static_cast<std::uint64_t>(need));
    }
    static std::string dotted(int capability) {
        return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
    }
    void check_cluster_support() const {
        if (!contract_.has_cluster()) {
            if (function_.needs_cluster) {
                fail(Kind::RequiredClusterDimensionsMissing, "compiled for " + text_of(function_.cluster));
            }
            return;
        }
        if (!context_.limits().cluster_launch || context_.api().cuLaunchKernelEx == nullptr) {
            fail(Kind::ClusterLaunchUnsupported, context_.limits().name);
        }
        const bool compiled_in = function_.cluster != Dim3{0, 0, 0};
        if (compiled_in && function_.cluster != contract_.cluster) {
            fail(Kind::FunctionClusterShapeMismatch, "compiled for " + text_of(function_.cluster) +
                                                         ", the contract says " + text_of(contract_.cluster));
        }
    }
    void check_cooperative_support() const {
        if (!contract_.cooperative) return;
        if (!context_.limits().cooperative_launch || context_.api().cuLaunchKernelEx == nullptr) {
            fail(Kind::CooperativeLaunchUnsupported, context_.limits().name);
        }
    }
    // The one thing that preparing changes: beyond the portable size the driver wants to be asked first.
    void raise_dynamic_shared_limit() const {
        if (!beyond_portable_) return;
        const driver::Api& api = context_.api();
        check(api,
              api.cuFuncSetAttribute(function_.handle, driver::kFunctionMaxDynamicSharedSizeBytes,
                                     static_cast<int>(contract_.dynamic_shared_max)),
              "raising the kernel's dynamic shared memory limit", where_);
    }
    void check_cluster_residency() const {
        const driver::Api& api = context_.api();
        if (!contract_.has_cluster()) return;
        if (api.cuOccupancyMaxPotentialClusterSize == nullptr || api.cuOccupancyMaxActiveClusters == nullptr)
            return;
        driver::CUlaunchAttribute attribute{};
        attribute.id = driver::kLaunchClusterDimension;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            attribute.cluster[axis] = static_cast<std::uint32_t>(contract_.cluster.axes()[axis]);
        }
        driver::CUlaunchConfig config = driver_config();
        int largest = 0;
        check(api, api.cuOccupancyMaxPotentialClusterSize(&largest, function_.handle, &config),
              "asking for the largest cluster", where_);
        const std::uint64_t blocks = contract_.cluster.x * contract_.cluster.y * contract_.cluster.z;
        if (blocks > static_cast<std::uint64_t>(largest)) {
            fail(Kind::ClusterSizeExceeded,
                 std::to_string(blocks) + " blocks, at most " + std::to_string(largest), blocks,
                 static_cast<std::uint64_t>(largest));
        }
        config.attributes = &attribute;
        config.attribute_count = 1;
        int active = 0;
        if (api.cuOccupancyMaxActiveClusters(&active, function_.handle, &config) != driver::kSuccess) {
            fail(Kind::ClusterShapeUnsupported, text_of(contract_.cluster));
        }
        if (active < 1) fail(Kind::ClusterHasNoResidency, text_of(contract_.cluster), 0, 1);
    }
    void check_cooperative_residency() const {
        const driver::Api& api = context_.api();
        if (!contract_.cooperative || api.cuOccupancyMaxActiveBlocksPerMultiprocessor == nullptr) return;
        int per_processor = 0;
        check(api,
              api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                  &per_processor, function_.handle, static_cast<int>(threads_),
                  static_cast<std::size_t>(config_.dynamic_shared)),
              "asking for the kernel's occupancy", where_);
        const std::uint64_t capacity =
            static_cast<std::uint64_t>(per_processor) * context_.limits().multiprocessors;
        std::uint64_t blocks = 0;
        product_fits(config_.grid, blocks);
        if (blocks > capacity) {
            fail(Kind::CooperativeGridTooLarge,
                 std::to_string(blocks) + " blocks, at most " + std::to_string(capacity) + " fit", blocks,
                 capacity);
        }
    }
    driver::CUlaunchConfig driver_config() const {
        driver::CUlaunchConfig config{};
        config.grid_x = static_cast<unsigned>(config_.grid.x);
        config.grid_y = static_cast<unsigned>(config_.grid.y);
        config.grid_z = static_cast<unsigned>(config_.grid.z);
        config.block_x = static_cast<unsigned>(config_.block.x);
        config.block_y = static_cast<unsigned>(config_.block.y);
        config.block_z = static_cast<unsigned>(config_.block.z);
        config.shared_bytes = static_cast<unsigned>(config_.dynamic_shared);
        return config;
    }

    const KernelContract& contract_;
    const FunctionFacts& function_;
    const ContextState& context_;
    const LaunchConfig& config_;
    const Where where_;
    std::uint64_t threads_ = 0;
    bool beyond_portable_ = false;
};

}  // namespace detail
}  // namespace ock
