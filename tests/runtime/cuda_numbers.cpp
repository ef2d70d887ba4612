// driver_api.hpp against the toolkit's own header: same numbers, same layouts, same types for handles.
#include <cuda.h>

#include <cstddef>
#include <ock/driver_api.hpp>
#include <type_traits>

namespace driver = ock::driver;

static_assert(std::is_same_v<driver::CUstream, ::CUstream> && std::is_same_v<driver::CUevent, ::CUevent>);
static_assert(std::is_same_v<driver::CUcontext, ::CUcontext> && std::is_same_v<driver::CUmodule, ::CUmodule>);
static_assert(std::is_same_v<driver::CUfunction, ::CUfunction> &&
              std::is_same_v<driver::CUdevice, ::CUdevice>);
static_assert(std::is_same_v<driver::CUdeviceptr, ::CUdeviceptr> &&
              sizeof(driver::CUresult) == sizeof(::CUresult));

static_assert(int{driver::kMaxThreadsPerBlock} == int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
static_assert(int{driver::kMaxBlockDimX} == int{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X});
static_assert(int{driver::kMaxBlockDimY} == int{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y});
static_assert(int{driver::kMaxBlockDimZ} == int{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z});
static_assert(int{driver::kMaxGridDimX} == int{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X});
static_assert(int{driver::kMaxGridDimY} == int{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y});
static_assert(int{driver::kMaxGridDimZ} == int{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z});
static_assert(int{driver::kMaxSharedMemoryPerBlock} == int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK});
static_assert(int{driver::kMultiprocessorCount} == int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT});
static_assert(int{driver::kComputeCapabilityMajor} == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
static_assert(int{driver::kComputeCapabilityMinor} == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
static_assert(int{driver::kCooperativeLaunch} == int{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH});
static_assert(int{driver::kMaxSharedMemoryPerBlockOptin} ==
              int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
static_assert(int{driver::kClusterLaunch} == int{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH});

static_assert(int{driver::kFunctionMaxThreadsPerBlock} == int{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
static_assert(int{driver::kFunctionSharedSizeBytes} == int{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES});
static_assert(int{driver::kFunctionNumRegs} == int{CU_FUNC_ATTRIBUTE_NUM_REGS});
static_assert(int{driver::kFunctionMaxDynamicSharedSizeBytes} ==
              int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
static_assert(int{driver::kFunctionClusterSizeMustBeSet} == int{CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET});
static_assert(int{driver::kFunctionRequiredClusterWidth} == int{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH});
static_assert(int{driver::kFunctionRequiredClusterHeight} == int{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT});
static_assert(int{driver::kFunctionRequiredClusterDepth} == int{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH});

static_assert(driver::kSuccess == CUDA_SUCCESS && driver::kErrorDeinitialized == CUDA_ERROR_DEINITIALIZED);
static_assert(driver::kErrorNoDevice == CUDA_ERROR_NO_DEVICE &&
              driver::kErrorNotReady == CUDA_ERROR_NOT_READY);
static_assert(driver::kErrorUnsupportedPtxVersion == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(driver::kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(driver::kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(int{driver::kJitErrorLogBuffer} == int{CU_JIT_ERROR_LOG_BUFFER});
static_assert(int{driver::kJitErrorLogBufferSizeBytes} == int{CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES});

static_assert(int{driver::kLaunchCooperative} == int{CU_LAUNCH_ATTRIBUTE_COOPERATIVE});
static_assert(int{driver::kLaunchClusterDimension} == int{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION});
static_assert(sizeof(driver::CUlaunchAttribute) == sizeof(::CUlaunchAttribute));
static_assert(offsetof(driver::CUlaunchAttribute, cluster) == offsetof(::CUlaunchAttribute, value));
static_assert(sizeof(driver::CUlaunchConfig) == sizeof(::CUlaunchConfig));
static_assert(offsetof(driver::CUlaunchConfig, stream) == offsetof(::CUlaunchConfig, hStream));
static_assert(offsetof(driver::CUlaunchConfig, attributes) == offsetof(::CUlaunchConfig, attrs));
static_assert(offsetof(driver::CUlaunchConfig, attribute_count) == offsetof(::CUlaunchConfig, numAttrs));
