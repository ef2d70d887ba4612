// Something that runs kernels for `ockc launch`: the emulator that is linked in, or a GPU through the driver that dlopen finds.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/kernel_abi.hpp"
#include "ockc/compiler.hpp"
#include "support/result.hpp"

namespace ockc::driver {

using DevicePtr = std::uint64_t;

struct LaunchFailure {
    std::string text;            // several lines; with the kernel's source line where it is known
};

// A tensor map for an argument: everything with the fastest dimension first.
struct TensorMapRequest {
    abi::Scalar type = abi::Scalar::F32;
    std::vector<std::uint64_t> dims;
    std::vector<std::uint32_t> box;
    std::uint32_t swizzle = 0;   // bytes; 0: none

    // In bytes, of the second dimension onward.
    std::vector<std::uint64_t> strides() const;
    // The driver's numbers.
    int type_number() const;
    int swizzle_number() const { return swizzle == 0 ? 0 : swizzle == 32 ? 1 : swizzle == 64 ? 2 : 3; }
};

class LaunchDevice {
  public:
    virtual ~LaunchDevice() = default;
    virtual std::string name() const = 0;
    virtual std::uint32_t compute_capability() const = 0;       // times 10
    // `sites`: the module's places of failed checks, for the failure's text where the device tells the place.
    virtual Status load(const CompiledImage& image, std::span<const abi::PanicSite> sites) = 0;
    virtual Result<DevicePtr> upload(const std::string& bytes) = 0;
    // The bytes of a tensor map of memory that was uploaded.
    virtual Result<std::string> tensor_map(DevicePtr at, const TensorMapRequest& request) = 0;
    // Bytes for a module variable.
    virtual Status set_constant(const std::string& symbol, const std::string& bytes) = 0;
    virtual Status download(DevicePtr from, std::string& bytes) = 0;
    // `arguments`: the bytes of each .param in order. Gives the kernel's time in milliseconds.
    virtual Result<double> launch(const abi::KernelAbi& kernel, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                                  std::uint32_t dynamic_shared, const std::vector<std::string>& arguments) = 0;
    // What kernels have printed since the last call, where it does not go to standard output by itself.
    virtual std::string take_printed() { return {}; }
};

// What fails at a place of the source, from the sites there: "index out of bounds"; empty when no site is known. The values
// of a message are not known to a trap: what needs them is left out.
std::string failed_check(std::span<const abi::PanicSite> sites, std::string_view file, std::uint32_t line, std::uint32_t column);

Result<std::unique_ptr<LaunchDevice>> open_emulator(bool check_races);
Result<std::unique_ptr<LaunchDevice>> open_cuda(int ordinal);
// "sm_90a" .. of CUDA device 0, for --target native.
Result<std::string> native_target();

}  // namespace ockc::driver
