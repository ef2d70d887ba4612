#include "fake_driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ock/driver_api.hpp>
#include <string_view>

// Handles are small numbers dressed as pointers; 0 is the default stream.
struct CUfunc_st {
    std::string symbol;
};
struct CUmod_st {
    std::map<std::string, CUfunc_st> functions;
    float weights[4] = {};
};
struct CUstream_st {
    int number;
};
struct CUevent_st {
    int stream = -1;
};

namespace {

using namespace ock::driver;

int counter = 0;
CUctx_st* const kContext = reinterpret_cast<CUctx_st*>(std::uintptr_t{0x10});
CUctx_st* current = nullptr;

// What FAKE_CUDA says is wrong with the driver. A copy under the emulator's name is always well.
std::string mode() {
    Dl_info self{};
    const bool known = dladdr(reinterpret_cast<void*>(&fake_driver), &self) != 0;
    if (known && std::string_view(self.dli_fname).ends_with("libock_emulator.so")) return {};
    const char* const text = std::getenv("FAKE_CUDA");
    return text != nullptr ? text : "";
}
std::string stream_name(const CUstream_st* stream) {
    return std::to_string(stream == nullptr ? 0 : stream->number);
}

// Bytes of each .param of the kernels whose parameters are checked.
const std::map<std::string, std::vector<std::size_t>>& parameter_sizes() {
    static const std::map<std::string, std::vector<std::size_t>> sizes = {
        {"vecadd", {8, 8, 8, 8, 8, 8}},         {"scale", {4, 8, 8, 8, 8}}, {"image", {8, 8, 4, 4}},
        {"move_particle", {8, 8, 64, 5, 4, 1}}, {"delete", {8, 8, 4}},      {"free_kernel", {4}},
    };
    return sizes;
}

void run_vecadd(void** params, std::uint64_t threads) {
    const auto word = [&](int index) {
        std::uint64_t value = 0;
        std::memcpy(&value, params[index], sizeof value);
        return value;
    };
    const auto* a = reinterpret_cast<const float*>(word(0));
    const auto* b = reinterpret_cast<const float*>(word(2));
    auto* c = reinterpret_cast<float*>(word(4));
    for (std::uint64_t i = 0; i < threads && i < word(5) && i < word(1) && i < word(3); ++i)
        c[i] = a[i] + b[i];
}

CUresult launch(CUfunction function, const CUlaunchConfig& config, void** params) {
    FakeDriver& fake = *fake_driver();
    std::string text = "launch " + function->symbol + " grid " + std::to_string(config.grid_x) + "," +
                       std::to_string(config.grid_y) + "," + std::to_string(config.grid_z) + " block " +
                       std::to_string(config.block_x) + "," + std::to_string(config.block_y) + "," +
                       std::to_string(config.block_z) + " shared " + std::to_string(config.shared_bytes) +
                       " stream " + stream_name(config.stream);
    for (unsigned i = 0; i < config.attribute_count; ++i) {
        const CUlaunchAttribute& attribute = config.attributes[i];
        if (attribute.id == kLaunchCooperative) text += " cooperative";
        if (attribute.id == kLaunchClusterDimension)
            text += " cluster " + std::to_string(attribute.cluster[0]);
    }
    fake.calls.push_back(text);
    if (fake.launch_result != 0) return fake.launch_result;
    if (const auto known = parameter_sizes().find(function->symbol); known != parameter_sizes().end()) {
        fake.parameters.clear();
        for (std::size_t i = 0; i < known->second.size(); ++i) {
            const auto* bytes = static_cast<const unsigned char*>(params[i]);
            fake.parameters.emplace_back(bytes, bytes + known->second[i]);
        }
    }
    if (function->symbol == "vecadd") run_vecadd(params, std::uint64_t{config.grid_x} * config.block_x);
    return kSuccess;
}

}  // namespace

void FakeDriver::reset() {
    *this = FakeDriver{};
    device_attributes = {{kMaxThreadsPerBlock, 1024},
                         {kMaxBlockDimX, 1024},
                         {kMaxBlockDimY, 1024},
                         {kMaxBlockDimZ, 64},
                         {kMaxGridDimX, 2147483647},
                         {kMaxGridDimY, 65535},
                         {kMaxGridDimZ, 65535},
                         {kMaxSharedMemoryPerBlock, 49152},
                         {kMultiprocessorCount, 10},
                         {kComputeCapabilityMajor, 9},
                         {kComputeCapabilityMinor, 0},
                         {kCooperativeLaunch, 1},
                         {kMaxSharedMemoryPerBlockOptin, 232448},
                         {kClusterLaunch, 1}};
    function_attributes = {{kFunctionMaxThreadsPerBlock, 1024}, {kFunctionSharedSizeBytes, 0},
                           {kFunctionClusterSizeMustBeSet, 0},  {kFunctionRequiredClusterWidth, 0},
                           {kFunctionRequiredClusterHeight, 0}, {kFunctionRequiredClusterDepth, 0}};
}

extern "C" {

FakeDriver* fake_driver() {
    static FakeDriver* const driver = [] {
        auto* made = new FakeDriver;
        made->reset();
        return made;
    }();
    return driver;
}

CUresult cuInit(unsigned) {
    if (mode() == "no_device") return kErrorNoDevice;
    if (mode() == "stub") return 34;
    return kSuccess;
}
CUresult cuDriverGetVersion(int* version) {
    *version = 13000;
    return kSuccess;
}
CUresult cuGetErrorName(CUresult code, const char** name) {
    switch (code) {
        case 0: *name = "CUDA_SUCCESS"; return kSuccess;
        case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return kSuccess;
        case 34: *name = "CUDA_ERROR_STUB_LIBRARY"; return kSuccess;
        case 100: *name = "CUDA_ERROR_NO_DEVICE"; return kSuccess;
        case 218: *name = "CUDA_ERROR_INVALID_PTX"; return kSuccess;
        case 222: *name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"; return kSuccess;
        case 500: *name = "CUDA_ERROR_NOT_FOUND"; return kSuccess;
        case 715: *name = "CUDA_ERROR_ILLEGAL_INSTRUCTION"; return kSuccess;
        default: *name = nullptr; return 1;
    }
}
CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "words of the driver";
    return kSuccess;
}

CUresult cuDeviceGetCount(int* count) {
    *count = mode() == "empty" ? 0 : 2;
    return kSuccess;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return kSuccess;
}
CUresult cuDeviceGetName(char* name, int capacity, CUdevice device) {
    std::snprintf(name, static_cast<std::size_t>(capacity), "Fake Device %d", device);
    return kSuccess;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    const auto& all = fake_driver()->device_attributes;
    const auto found = all.find(attribute);
    if (found == all.end()) return 1;
    *value = found->second;
    return kSuccess;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = kContext;
    return kSuccess;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return kSuccess;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
    *context = current;
    return kSuccess;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
    current = context;
    return kSuccess;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
    *context = current;
    current = nullptr;
    return kSuccess;
}
CUresult cuCtxSynchronize() {
    return fake_driver()->synchronize_result;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
    *stream = new CUstream_st{++counter};
    return kSuccess;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
    delete stream;
    return kSuccess;
}
CUresult cuStreamSynchronize(CUstream) {
    return fake_driver()->synchronize_result;
}
CUresult cuStreamQuery(CUstream) {
    return kSuccess;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    fake_driver()->calls.push_back("stream " + stream_name(stream) + " after " +
                                   std::to_string(event->stream));
    return kSuccess;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
    *event = new CUevent_st;
    return kSuccess;
}
CUresult cuEventDestroy_v2(CUevent event) {
    delete event;
    return kSuccess;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
    event->stream = stream == nullptr ? 0 : stream->number;
    return kSuccess;
}
CUresult cuEventQuery(CUevent) {
    return kSuccess;
}
CUresult cuEventSynchronize(CUevent) {
    return kSuccess;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    *milliseconds = 1.5f;
    return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    if (bytes > (std::size_t{1} << 40)) return 2;
    *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
    ++fake_driver()->live_allocations;
    return kSuccess;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
    std::free(reinterpret_cast<void*>(address));
    --fake_driver()->live_allocations;
    return kSuccess;
}
CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    *pointer = std::malloc(bytes);
    return kSuccess;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned) {
    *address = reinterpret_cast<CUdeviceptr>(pointer);
    return kSuccess;
}
CUresult cuMemFreeHost(void* pointer) {
    std::free(pointer);
    return kSuccess;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return kSuccess;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return kSuccess;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return kSuccess;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream) {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return kSuccess;
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t bytes, CUstream) {
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    return kSuccess;
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options,
                            void** values) {
    const FakeDriver& fake = *fake_driver();
    const std::string_view text = static_cast<const char*>(image);
    const std::size_t target = text.find(".target ");
    const std::string_view name = text.substr(target + 8, text.find('\n', target) - target - 8);
    fake_driver()->calls.push_back("load " + std::string(name));
    if (!fake.refused_target.empty() && name == fake.refused_target) {
        for (unsigned i = 0; i < count; ++i) {
            if (options[i] != kJitErrorLogBuffer) continue;
            std::snprintf(static_cast<char*>(values[i]), 64, "%s", fake.refusal_log.c_str());
        }
        return fake.refusal;
    }
    *module = new CUmod_st;
    ++fake_driver()->live_modules;
    return kSuccess;
}
CUresult cuModuleUnload(CUmodule module) {
    delete module;
    --fake_driver()->live_modules;
    return kSuccess;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    CUfunc_st& entry = module->functions[name];
    entry.symbol = name;
    *function = &entry;
    return kSuccess;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule module, const char* name) {
    if (std::string_view(name) != "WEIGHTS") return 500;
    *address = reinterpret_cast<CUdeviceptr>(module->weights);
    *bytes = sizeof module->weights;
    return kSuccess;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
    const auto& all = fake_driver()->function_attributes;
    const auto found = all.find(attribute);
    if (found == all.end()) return 1;
    *value = found->second;
    return kSuccess;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    fake_driver()->calls.push_back("set " + function->symbol + " " + std::to_string(attribute) + " to " +
                                   std::to_string(value));
    return kSuccess;
}
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void**) {
    return launch(function,
                  {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0},
                  parameters);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
    return launch(function, *config, parameters);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
    *blocks = fake_driver()->blocks_per_multiprocessor;
    return kSuccess;
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction, const CUlaunchConfig*) {
    *size = fake_driver()->potential_cluster_size;
    return kSuccess;
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig*) {
    *clusters = fake_driver()->active_clusters;
    return fake_driver()->active_clusters_result;
}
CUresult ock_emulator_last_error(char* text, std::size_t capacity) {
    std::snprintf(text, capacity, "%s", fake_driver()->account.c_str());
    return kSuccess;
}

}  // extern "C"
