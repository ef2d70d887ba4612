// Modules, libraries, functions, occupancy and launches. A library is a module, a kernel is a function.
#include <algorithm>
#include <cstring>

#include "emu/driver/state.hpp"

using namespace ockc::emu;
using namespace ockc::emu::driver;

namespace {

// The options of a load that the emulator looks at; the numbers of cuda.h.
enum JitOption : int { kInfoLog = 3, kInfoLogSize = 4, kErrorLog = 5, kErrorLogSize = 6 };

struct Logs {
    char* error = nullptr;
    std::size_t error_size = 0;
    void** error_used = nullptr;
    void** info_used = nullptr;
};
Logs find_logs(unsigned count, const int* options, void** values) {
    Logs logs;
    for (unsigned i = 0; i < count; ++i) {
        switch (options[i]) {
            case kErrorLog: logs.error = static_cast<char*>(values[i]); break;
            case kErrorLogSize:
                logs.error_size = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
                logs.error_used = &values[i];
                break;
            case kInfoLogSize: logs.info_used = &values[i]; break;
            default: break;  // optimisation levels and the like mean nothing here
        }
    }
    return logs;
}
void write_logs(const Logs& logs, const std::string& text) {
    if (logs.info_used != nullptr) *logs.info_used = nullptr;
    if (logs.error == nullptr || logs.error_size == 0) return;
    const std::size_t length = std::min(text.size(), logs.error_size - 1);
    std::memcpy(logs.error, text.data(), length);
    logs.error[length] = '\0';
    if (logs.error_used != nullptr) *logs.error_used = reinterpret_cast<void*>(length);
}

CUresult load(CUmod_st** module, const void* image, unsigned count, const int* options, void** values) {
    return in_context([&](Driver& driver) {
        if (module == nullptr || image == nullptr ||
            (count != 0 && (options == nullptr || values == nullptr))) {
            return code(Result::InvalidValue);
        }
        const Logs logs = find_logs(count, options, values);
        std::string log;
        const CUresult result = driver.load(module, image, log);
        write_logs(logs, log);
        return result;
    });
}
CUresult find_function(CUfunc_st** function, CUmod_st* module, const char* name) {
    return in_context([&](Driver& driver) {
        if (function == nullptr || name == nullptr) return code(Result::InvalidValue);
        if (!driver.knows(module)) return code(Result::InvalidHandle);
        const auto index = module->module->find_kernel(name);
        if (!index) return code(Result::NotFound);
        *function = &module->functions[*index];
        return 0;
    });
}
CUresult find_global(CUdeviceptr* address, std::size_t* bytes, CUmod_st* module, const char* name) {
    return in_context([&](Driver& driver) {
        if (name == nullptr) return code(Result::InvalidValue);
        if (!driver.knows(module)) return code(Result::InvalidHandle);
        const ModuleVariable* variable = module->module->find_variable(name);
        if (variable == nullptr) return code(Result::NotFound);
        if (address != nullptr) *address = variable->address;
        if (bytes != nullptr) *bytes = variable->size;
        return 0;
    });
}
const KernelInfo& info_of(const CUfunc_st& function) {
    return function.module->module->kernels()[function.kernel];
}

// Runs `body(driver, function)` for a function that exists.
template <class Body>
CUresult for_function(CUfunc_st* function, Body body) {
    return in_context([&](Driver& driver) {
        return driver.knows_function(function) ? body(driver, *function) : code(Result::InvalidHandle);
    });
}

enum FunctionAttribute : int {  // the numbers of cuda.h
    kMaxThreadsPerBlock = 0,
    kSharedSize = 1,
    kConstSize = 2,
    kLocalSize = 3,
    kNumRegs = 4,
    kPtxVersion = 5,
    kBinaryVersion = 6,
    kCacheMode = 7,
    kMaxDynamicShared = 8,
    kPreferredCarveout = 9,
    kClusterSizeMustBeSet = 10,
    kClusterWidth = 11,
    kClusterHeight = 12,
    kClusterDepth = 13,
    kLastFunctionAttribute = 15,
};
CUresult get_attribute(int* value, int attribute, CUfunc_st* function) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        if (value == nullptr || attribute < 0 || attribute > kLastFunctionAttribute)
            return code(Result::InvalidValue);
        const KernelInfo& kernel = info_of(f);
        switch (attribute) {
            case kMaxThreadsPerBlock: *value = static_cast<int>(kernel.max_threads); break;
            case kSharedSize: *value = static_cast<int>(kernel.static_shared); break;
            case kConstSize: *value = static_cast<int>(kernel.const_bytes); break;
            case kLocalSize: *value = static_cast<int>(kernel.local_bytes); break;
            case kNumRegs: *value = static_cast<int>(kernel.registers); break;
            case kPtxVersion: *value = static_cast<int>(kernel.ptx_version); break;
            case kBinaryVersion: *value = static_cast<int>(kernel.target_sm); break;
            case kMaxDynamicShared: *value = static_cast<int>(f.dynamic_shared_limit.load()); break;
            case kClusterSizeMustBeSet: *value = kernel.required_cluster ? 1 : 0; break;
            case kClusterWidth: *value = static_cast<int>(kernel.required_cluster ? kernel.required_cluster->x : 0); break;
            case kClusterHeight: *value = static_cast<int>(kernel.required_cluster ? kernel.required_cluster->y : 0); break;
            case kClusterDepth: *value = static_cast<int>(kernel.required_cluster ? kernel.required_cluster->z : 0); break;
            default: *value = 0; break;  // caches, which are not there
        }
        return 0;
    });
}
CUresult set_attribute(CUfunc_st* function, int attribute, int value) {
    return for_function(function, [&](Driver& driver, CUfunc_st& f) {
        if (attribute == kPreferredCarveout) return 0;
        if (attribute != kMaxDynamicShared) return code(Result::InvalidValue);
        const std::uint32_t limit = driver.device().shared_limit();
        const std::uint32_t used = info_of(f).static_shared;
        if (value < 0 || used > limit || static_cast<std::uint32_t>(value) > limit - used)
            return code(Result::InvalidValue);
        f.dynamic_shared_limit = static_cast<std::uint32_t>(value);
        return 0;
    });
}
CUresult get_param(CUfunc_st* function, std::size_t index, std::size_t* offset, std::size_t* size) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        const KernelInfo& kernel = info_of(f);
        if (offset == nullptr || index >= kernel.params.size()) return code(Result::InvalidValue);
        *offset = kernel.params[index].offset;
        if (size != nullptr) *size = kernel.params[index].size;
        return 0;
    });
}

// CUlaunchConfig and CUlaunchAttribute, byte for byte.
struct LaunchAttribute {
    int id;
    char padding[4];
    union {
        char bytes[64];
        struct {
            unsigned x, y, z;
        } cluster;
        int cooperative;
    };
};
struct DriverLaunchConfig {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    CUstream_st* stream;
    LaunchAttribute* attributes;
    unsigned attribute_count;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(DriverLaunchConfig) == 56);
constexpr int kCooperative = 2;
constexpr int kClusterDimension = 4;

CUresult launch(LaunchCall call) {
    return in_context([&](Driver& driver) { return driver.launch(call); });
}
CUresult read_launch_attributes(const DriverLaunchConfig& config, LaunchCall& call) {
    if (config.attribute_count != 0 && config.attributes == nullptr) return code(Result::InvalidValue);
    for (unsigned i = 0; i < config.attribute_count; ++i) {
        const LaunchAttribute& attribute = config.attributes[i];
        if (attribute.id == kCooperative) call.config.cooperative = attribute.cooperative != 0;
        if (attribute.id != kClusterDimension) continue;  // priorities and the like mean nothing here
        const auto& c = attribute.cluster;
        call.config.cluster = Dim3{c.x, c.y, c.z};
    }
    return 0;
}
LaunchCall call_of(CUfunc_st* function, Dim3 grid, Dim3 block, unsigned shared, CUstream_st* stream,
                   void** params, void** extra) {
    LaunchCall call;
    call.function = function;
    call.config.grid = grid;
    call.config.block = block;
    call.config.dynamic_shared = shared;
    call.stream = stream;
    call.params = params;
    call.extra = extra;
    return call;
}

}  // namespace

OCKC_CUDA_EXPORT CUresult cuModuleLoadData(CUmod_st** module, const void* image) {
    return load(module, image, 0, nullptr, nullptr);
}
OCKC_CUDA_EXPORT CUresult cuModuleLoadDataEx(CUmod_st** module, const void* image, unsigned count,
                                             int* options, void** values) {
    return load(module, image, count, options, values);
}
OCKC_CUDA_EXPORT CUresult cuModuleUnload(CUmod_st* module) {
    return with_driver([&](Driver& driver) { return driver.drop(module) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuModuleGetFunction(CUfunc_st** function, CUmod_st* module, const char* name) {
    return find_function(function, module, name);
}
OCKC_CUDA_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmod_st* module,
                                               const char* name) {
    return find_global(address, bytes, module, name);
}

OCKC_CUDA_EXPORT CUresult cuLibraryLoadData(CUmod_st** library, const void* image, int* jit_options,
                                            void** jit_values, unsigned jit_count, int*, void**, unsigned) {
    return load(library, image, jit_count, jit_options, jit_values);
}
OCKC_CUDA_EXPORT CUresult cuLibraryUnload(CUmod_st* library) {
    return cuModuleUnload(library);
}
OCKC_CUDA_EXPORT CUresult cuLibraryGetKernel(CUfunc_st** kernel, CUmod_st* library, const char* name) {
    return find_function(kernel, library, name);
}
OCKC_CUDA_EXPORT CUresult cuLibraryGetModule(CUmod_st** module, CUmod_st* library) {
    return in_context([&](Driver& driver) {
        if (module == nullptr) return code(Result::InvalidValue);
        if (!driver.knows(library)) return code(Result::InvalidHandle);
        *module = library;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmod_st* library,
                                             const char* name) {
    return find_global(address, bytes, library, name);
}
OCKC_CUDA_EXPORT CUresult cuKernelGetFunction(CUfunc_st** function, CUfunc_st* kernel) {
    return for_function(kernel, [&](Driver&, CUfunc_st& f) {
        if (function == nullptr) return code(Result::InvalidValue);
        *function = &f;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuKernelGetParamInfo(CUfunc_st* kernel, std::size_t index, std::size_t* offset,
                                               std::size_t* size) {
    return get_param(kernel, index, offset, size);
}
OCKC_CUDA_EXPORT CUresult cuFuncGetParamInfo(CUfunc_st* function, std::size_t index, std::size_t* offset,
                                             std::size_t* size) {
    return get_param(function, index, offset, size);
}
OCKC_CUDA_EXPORT CUresult cuFuncGetModule(CUmod_st** module, CUfunc_st* function) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        if (module == nullptr) return code(Result::InvalidValue);
        *module = f.module;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuFuncGetName(const char** name, CUfunc_st* function) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        if (name == nullptr) return code(Result::InvalidValue);
        *name = info_of(f).name.c_str();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuFuncGetAttribute(int* value, int attribute, CUfunc_st* function) {
    return get_attribute(value, attribute, function);
}
OCKC_CUDA_EXPORT CUresult cuFuncSetAttribute(CUfunc_st* function, int attribute, int value) {
    return set_attribute(function, attribute, value);
}
OCKC_CUDA_EXPORT CUresult cuKernelGetAttribute(int* value, int attribute, CUfunc_st* kernel,
                                               CUdevice device) {
    return device == 0 ? get_attribute(value, attribute, kernel) : code(Result::InvalidDevice);
}
OCKC_CUDA_EXPORT CUresult cuKernelSetAttribute(int attribute, int value, CUfunc_st* kernel, CUdevice device) {
    return device == 0 ? set_attribute(kernel, attribute, value) : code(Result::InvalidDevice);
}

// --------------------------------------------------------------------------------------------------------------
// launches

OCKC_CUDA_EXPORT CUresult cuLaunchKernel(CUfunc_st* function, unsigned grid_x, unsigned grid_y,
                                         unsigned grid_z, unsigned block_x, unsigned block_y,
                                         unsigned block_z, unsigned shared, CUstream_st* stream,
                                         void** params, void** extra) {
    return launch(call_of(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream,
                          params, extra));
}
OCKC_CUDA_EXPORT CUresult cuLaunchCooperativeKernel(CUfunc_st* function, unsigned grid_x, unsigned grid_y,
                                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                                    unsigned block_z, unsigned shared, CUstream_st* stream,
                                                    void** params) {
    LaunchCall call = call_of(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream,
                              params, nullptr);
    call.config.cooperative = true;
    return launch(call);
}
OCKC_CUDA_EXPORT CUresult cuLaunchKernelEx(const DriverLaunchConfig* config, CUfunc_st* function,
                                           void** params, void** extra) {
    if (config == nullptr) return code(Result::InvalidValue);
    LaunchCall call = call_of(function, {config->grid[0], config->grid[1], config->grid[2]},
                              {config->block[0], config->block[1], config->block[2]}, config->shared_bytes,
                              config->stream, params, extra);
    if (const CUresult result = read_launch_attributes(*config, call); result != 0) return result;
    return launch(call);
}

// -------------------------------------------------------------------------------------------------------------
// occupancy

OCKC_CUDA_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunc_st* function,
                                                                      int block_size, std::size_t dynamic) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        if (blocks == nullptr || block_size <= 0) return code(Result::InvalidValue);
        const KernelInfo& kernel = info_of(f);
        const auto threads = static_cast<std::uint32_t>(block_size);
        *blocks = threads > kernel.max_threads
                      ? 0
                      : static_cast<int>(max_resident_blocks(kernel, threads, dynamic));
        return 0;
    });
}
// The largest block size among those that fill a multiprocessor best.
OCKC_CUDA_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block_size,
                                                           CUfunc_st* function,
                                                           std::size_t (*dynamic_for)(int),
                                                           std::size_t dynamic, int limit) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        if (min_grid == nullptr || block_size == nullptr) return code(Result::InvalidValue);
        const KernelInfo& kernel = info_of(f);
        std::uint32_t most = kernel.max_threads;
        if (limit > 0) most = std::min(most, static_cast<std::uint32_t>(limit));
        std::uint32_t best_threads = 0;
        std::uint32_t best_size = 0;
        std::uint32_t best_blocks = 0;
        for (std::uint32_t size = std::min(most, 32u); size <= most; size += 32) {
            const std::size_t shared = dynamic_for != nullptr ? dynamic_for(static_cast<int>(size)) : dynamic;
            const std::uint32_t blocks = max_resident_blocks(kernel, size, shared);
            if (blocks * size < best_threads || blocks == 0) continue;
            best_threads = blocks * size;
            best_size = size;
            best_blocks = blocks;
        }
        *block_size = static_cast<int>(best_size);
        *min_grid = static_cast<int>(best_blocks * kMultiprocessors);
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunc_st* function,
                                                             const DriverLaunchConfig* config) {
    return for_function(function, [&](Driver&, CUfunc_st&) {
        if (size == nullptr || config == nullptr) return code(Result::InvalidValue);
        *size = static_cast<int>(kMaxClusterBlocks);
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunc_st* function,
                                                       const DriverLaunchConfig* config) {
    return for_function(function, [&](Driver&, CUfunc_st& f) {
        if (clusters == nullptr || config == nullptr) return code(Result::InvalidValue);
        LaunchCall call;
        if (const CUresult result = read_launch_attributes(*config, call); result != 0) return result;
        const std::uint32_t threads = config->block[0] * config->block[1] * config->block[2];
        const Dim3 size = call.config.cluster.value_or(info_of(f).required_cluster.value_or(Dim3{}));
        const std::uint32_t blocks = max_resident_blocks(info_of(f), threads, config->shared_bytes) * kMultiprocessors;
        const std::uint32_t of_one = std::max(1u, size.x * size.y * size.z);
        *clusters = static_cast<int>(of_one > kMaxClusterBlocks ? 0 : blocks / of_one);
        return 0;
    });
}
