// The CUDA driver API as the runtime sees it: own typedefs (no cuda.h) and a table of entry points that
// loader.cpp fills by dlsym, either from NVIDIA's libcuda.so.1 or from libock_emulator.so. The handle types
// are pointers to the same global structs as in cuda.h, so a cudaStream_t or CUstream passes without a cast.
#pragma once
#include <cstddef>
#include <cstdint>
#include <ock/abi.hpp>
#include <string>
#include <type_traits>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;

namespace ock::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = CUctx_st*;
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;
using CUjit_option = int;
using CUdevice_attribute = int;
using CUfunction_attribute = int;

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kErrorDeinitialized = 4;
inline constexpr CUresult kErrorNoDevice = 100;
inline constexpr CUresult kErrorUnsupportedPtxVersion = 222;
inline constexpr CUresult kErrorNotReady = 600;
inline constexpr CUresult kFirstLaunchFailure = 700;  // CUDA_ERROR_ILLEGAL_ADDRESS .. CUDA_ERROR_LAUNCH_FAILED
inline constexpr CUresult kLastLaunchFailure = 719;

inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostDeviceMap = 2;

// The numbers of cuda.h; tests/runtime compares them with the toolkit's header when there is one.
enum DeviceAttribute : CUdevice_attribute {
    kMaxThreadsPerBlock = 1,
    kMaxBlockDimX = 2,
    kMaxBlockDimY = 3,
    kMaxBlockDimZ = 4,
    kMaxGridDimX = 5,
    kMaxGridDimY = 6,
    kMaxGridDimZ = 7,
    kMaxSharedMemoryPerBlock = 8,
    kMultiprocessorCount = 16,
    kComputeCapabilityMajor = 75,
    kComputeCapabilityMinor = 76,
    kCooperativeLaunch = 95,
    kMaxSharedMemoryPerBlockOptin = 97,
    kClusterLaunch = 120,
};

enum FunctionAttribute : CUfunction_attribute {
    kFunctionMaxThreadsPerBlock = 0,
    kFunctionSharedSizeBytes = 1,
    kFunctionNumRegs = 4,
    kFunctionMaxDynamicSharedSizeBytes = 8,
    kFunctionClusterSizeMustBeSet = 10,
    kFunctionRequiredClusterWidth = 11,
    kFunctionRequiredClusterHeight = 12,
    kFunctionRequiredClusterDepth = 13,
};

enum JitOption : CUjit_option {
    kJitErrorLogBuffer = 5,
    kJitErrorLogBufferSizeBytes = 6,
};

enum LaunchAttributeId : int { kLaunchCooperative = 2, kLaunchClusterDimension = 4 };

// CUlaunchAttribute and CUlaunchConfig, byte for byte.
struct CUlaunchAttribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        std::uint32_t cluster[3];
        int cooperative;
    };
};
struct CUlaunchConfig {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    CUstream stream;
    CUlaunchAttribute* attributes;
    unsigned attribute_count;
};
static_assert(sizeof(CUlaunchAttribute) == 72 && sizeof(CUlaunchConfig) == 56);

using AbiNumber = std::integral_constant<int, kRuntimeAbi>;

// Every entry point, and which library they came from.
struct Api {
#define OCK_DRIVER_FUNCTION(name, parameters, need) CUresult(*name) parameters = nullptr;
#include <ock/driver_api.def>
#undef OCK_DRIVER_FUNCTION
    bool is_emulator = false;
    int first_device = 0;     // OCK_DEVICE=cuda:N makes N the device 0 ..
    int visible_devices = 0;  // .. and the only one
    std::string library;      // the path or name that was opened
};

// What OCK_DEVICE and the machine decide, once per process (thread-safe). Throws ock::Error when nothing can
// run kernels. The parameter puts the contract's number into the symbol's name: headers and libock_runtime.a of
// different versions do not link.
const Api& api(AbiNumber = {});

}  // namespace ock::driver
