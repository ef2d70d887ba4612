// The emulator as a library: a Device owns memory, `load` turns PTX text into a Module of decoded kernels,
// `launch` runs one over a grid and comes back when it has ended. Thread-safe: any thread may call anything
// at any time.
//
// Every access is checked. A launch that goes wrong gives a LaunchError with the kernel's source line (from
// `.loc`, else the line of the PTX text), the address, the nearest allocation, and the block and thread.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emu/memory.hpp"
#include "support/result.hpp"

namespace ockc::emu {

struct Program;

// The device that the emulator claims to be, apart from its compute capability: an H100's limits.
inline constexpr std::uint32_t kMultiprocessors = 132;
inline constexpr std::uint32_t kMaxThreads = 1024;  // a block
inline constexpr std::uint32_t kMaxThreadsPerMultiprocessor = 2048;
inline constexpr std::uint32_t kMaxBlocksPerMultiprocessor = 32;
inline constexpr std::uint32_t kRegistersPerMultiprocessor = 65536;
inline constexpr std::uint32_t kDefaultShared = 49152;  // bytes a block may have without opting in
inline constexpr std::uint32_t kSharedPerMultiprocessor = 233472;
inline constexpr std::uint32_t kMaxClusterBlocks = 8;
inline constexpr std::uint32_t kReservedShared = 1024;  // bytes a block that the system takes

struct Dim3 {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
    friend bool operator==(const Dim3&, const Dim3&) = default;
};

// ONE ROW PER WAY A LAUNCH OR A LOAD CAN FAIL: enum, name of the driver's error, its number.
#define OCKC_EMU_ERRORS(X)                                                 \
    X(InvalidValue, "CUDA_ERROR_INVALID_VALUE", 1)                         \
    X(OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", 2)                          \
    X(InvalidImage, "CUDA_ERROR_INVALID_PTX", 218)                         \
    X(NoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU", 209)                       \
    X(NotFound, "CUDA_ERROR_NOT_FOUND", 500)                               \
    X(IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", 700)                   \
    X(OutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", 701)           \
    X(Timeout, "CUDA_ERROR_LAUNCH_TIMEOUT", 702)                           \
    X(Trap, "CUDA_ERROR_ILLEGAL_INSTRUCTION", 715)                         \
    X(Misaligned, "CUDA_ERROR_MISALIGNED_ADDRESS", 716)                    \
    X(LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", 719)                       \
    X(CooperativeTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", 720) \
    X(NotSupported, "CUDA_ERROR_NOT_SUPPORTED", 801)                       \
    X(InvalidCluster, "CUDA_ERROR_INVALID_CLUSTER_SIZE", 912)

enum class ErrorKind : std::uint8_t {
#define OCKC_EMU_ERROR_ENUM(name, text, number) name,
    OCKC_EMU_ERRORS(OCKC_EMU_ERROR_ENUM)
#undef OCKC_EMU_ERROR_ENUM
};
std::string_view error_name(ErrorKind kind);
int error_number(ErrorKind kind);

struct LaunchError {
    ErrorKind kind = ErrorKind::InvalidValue;
    std::string message;  // the whole story, several lines
    std::string kernel;
    std::string file;        // of the kernel's source; empty without .loc
    std::uint32_t line = 0;  // of `file`, or of the PTX text
    std::uint32_t column = 0;
    std::string instruction;  // as in the PTX text; empty when no instruction was reached
    std::uint64_t address = 0;
    Dim3 block{0, 0, 0};
    Dim3 thread{0, 0, 0};
};

// A kernel that loops for ever ends with an error, after about a minute and a half on one core.
inline constexpr std::uint64_t kDefaultMaxSteps = 10'000'000'000;

// What the environment asks for; OCK_EMULATOR_SM, _THREADS, _MAX_STEPS, _CHECK, _MEMORY.
struct Options {
    std::uint32_t sm = 90;           // compute capability, times 10
    std::uint32_t host_threads = 0;  // 0: all cores
    std::uint64_t max_steps = kDefaultMaxSteps;   // instructions of one warp; 0: no limit
    std::uint64_t memory_bytes = 0;  // 0: three quarters of the host's
    bool check_races = false;
    bool check_uninit = false;
    bool check_sync = false;
    // Takes what kernels print, in pieces, once a launch has ended; none: standard output.
    std::function<void(std::string_view)> print;
    bool any_check() const { return check_races || check_uninit || check_sync; }
};
// From the OCK_EMULATOR_* variables; a value that cannot be read is a Failure naming the variable.
Result<Options> options_from_environment();

struct LaunchConfig {
    Dim3 grid;
    Dim3 block;
    std::uint32_t dynamic_shared = 0;  // bytes
    bool cooperative = false;          // all blocks run side by side: they may wait for each other
    std::optional<Dim3> cluster{};     // blocks in a cluster, where the kernel does not say so itself
};

struct LaunchStats {
    std::uint64_t warp_steps = 0;  // instructions times warps
    std::uint64_t lane_steps = 0;  // instructions times active lanes
};

struct KernelParam {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t align = 0;
};

struct KernelInfo {
    std::string name;
    std::vector<KernelParam> params;
    std::uint32_t param_bytes = 0;
    std::uint32_t static_shared = 0;
    std::uint32_t local_bytes = 0;
    std::uint32_t registers = 0;  // 32-bit registers a thread
    std::uint32_t const_bytes = 0;
    std::uint32_t max_threads = 1024;    // from .maxntid / .reqntid
    std::optional<Dim3> required_block;  // .reqntid
    std::optional<Dim3> required_cluster;  // .reqnctapercluster
    std::uint32_t ptx_version = 0;       // times 10
    std::uint32_t target_sm = 0;
};

struct ModuleVariable {
    std::string name;
    DeviceAddress address = 0;
    std::uint64_t size = 0;
    bool constant = false;
};

// Blocks of a kernel that fit on one multiprocessor together.
std::uint32_t max_resident_blocks(const KernelInfo& kernel, std::uint32_t threads,
                                  std::uint64_t dynamic_shared);

class Device;

// Loaded PTX. Its variables live in the device's memory until the Module goes; so the Device must outlive it.
class Module {
  public:
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    const std::vector<KernelInfo>& kernels() const { return kernels_; }
    std::optional<std::uint32_t> find_kernel(std::string_view name) const;
    const std::vector<ModuleVariable>& variables() const { return variables_; }
    const ModuleVariable* find_variable(std::string_view name) const;
    const Program& program(std::uint32_t kernel) const { return *programs_[kernel]; }

  private:
    friend class Device;
    explicit Module(Device& device);
    Device& device_;
    std::vector<KernelInfo> kernels_;
    std::vector<std::unique_ptr<Program>> programs_;  // by kernel
    std::vector<ModuleVariable> variables_;
};

struct LoadError {
    ErrorKind kind = ErrorKind::InvalidImage;
    std::string message;  // one line a problem, `ptx:12:3: ..`
};

template <class T, class E>
struct Outcome {
    std::optional<T> value;
    E error;
    bool ok() const { return value.has_value(); }
};

class Device {
  public:
    explicit Device(const Options& options);
    ~Device();

    const Options& options() const { return options_; }
    Memory& memory() { return memory_; }
    const Memory& memory() const { return memory_; }

    // Parses, validates and decodes; `name` stands for the text in messages.
    Outcome<std::unique_ptr<Module>, LoadError> load(std::string_view text);

    // Runs a kernel to its end. `params` is the kernel's parameter block, laid out as KernelInfo::params
    // says.
    Outcome<LaunchStats, LaunchError> launch(const Module& module, std::uint32_t kernel,
                                             const LaunchConfig& config, std::span<const std::byte> params);
    // Opt-in limit of shared memory a block (cuFuncSetAttribute raises a kernel's own limit up to it).
    std::uint32_t shared_limit() const;

  private:
    Options options_;
    Memory memory_;
    std::atomic<std::uint64_t> launches_{0};
};

}  // namespace ockc::emu
