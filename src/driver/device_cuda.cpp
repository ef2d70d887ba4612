// A GPU through libcuda.so.1, found with dlopen: no CUDA headers, no link-time dependency.
#include <dlfcn.h>
#include <fmt/format.h>

#include <new>

#include "abi/panic_record.hpp"
#include "driver/device.hpp"

namespace ockc::driver {

namespace {

using CuResult = int;

// ONE ROW PER DRIVER FUNCTION: member, exported symbol, parameter types.
#define OCKC_CUDA_FUNCTIONS(X)                                                                                        \
    X(init, "cuInit", (unsigned))                                                                                     \
    X(device_count, "cuDeviceGetCount", (int*))                                                                       \
    X(device_get, "cuDeviceGet", (int*, int))                                                                         \
    X(device_name, "cuDeviceGetName", (char*, int, int))                                                              \
    X(device_attribute, "cuDeviceGetAttribute", (int*, int, int))                                                     \
    X(retain, "cuDevicePrimaryCtxRetain", (void**, int))                                                              \
    X(set_current, "cuCtxSetCurrent", (void*))                                                                        \
    X(synchronize, "cuCtxSynchronize", ())                                                                            \
    X(load_data, "cuModuleLoadDataEx", (void**, const void*, unsigned, int*, void**))                                 \
    X(get_function, "cuModuleGetFunction", (void**, void*, const char*))                                              \
    X(get_global, "cuModuleGetGlobal_v2", (DevicePtr*, std::size_t*, void*, const char*))                             \
    X(host_allocate, "cuMemHostAlloc", (void**, std::size_t, unsigned))                                               \
    X(host_address, "cuMemHostGetDevicePointer_v2", (DevicePtr*, void*, unsigned))                                    \
    X(function_set, "cuFuncSetAttribute", (void*, int, int))                                                          \
    X(allocate, "cuMemAlloc_v2", (DevicePtr*, std::size_t))                                                           \
    X(to_device, "cuMemcpyHtoD_v2", (DevicePtr, const void*, std::size_t))                                            \
    X(to_host, "cuMemcpyDtoH_v2", (void*, DevicePtr, std::size_t))                                                    \
    X(tensor_map, "cuTensorMapEncodeTiled", (void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*, \
                                             const std::uint32_t*, const std::uint32_t*, int, int, int, int))         \
    X(launch_kernel, "cuLaunchKernel", (void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,  \
                                        void*, void**, void**))                                                       \
    X(launch_cooperative, "cuLaunchCooperativeKernel", (void*, unsigned, unsigned, unsigned, unsigned, unsigned,      \
                                                        unsigned, unsigned, void*, void**))                           \
    X(event_create, "cuEventCreate", (void**, unsigned))                                                              \
    X(event_record, "cuEventRecord", (void*, void*))                                                                  \
    X(event_elapsed, "cuEventElapsedTime", (float*, void*, void*))                                                    \
    X(error_name, "cuGetErrorName", (CuResult, const char**))                                                         \
    X(error_string, "cuGetErrorString", (CuResult, const char**))

struct CudaApi {
#define OCKC_CUDA_MEMBER(member, symbol, params) CuResult(*member) params = nullptr;
    OCKC_CUDA_FUNCTIONS(OCKC_CUDA_MEMBER)
#undef OCKC_CUDA_MEMBER

    std::string text(CuResult code) const {
        const char* name = nullptr;
        const char* what = nullptr;
        error_name(code, &name);
        error_string(code, &what);
        return fmt::format("{} ({}): {}", name != nullptr ? name : "unknown error", code, what != nullptr ? what : "");
    }
};

Result<CudaApi> load_api() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return Failure{"no NVIDIA driver (libcuda.so.1) was found"};
    CudaApi api;
    const char* missing = nullptr;
#define OCKC_CUDA_LOAD(member, symbol, params)                                       \
    api.member = reinterpret_cast<decltype(api.member)>(::dlsym(library, symbol));   \
    if (api.member == nullptr) missing = symbol;
    OCKC_CUDA_FUNCTIONS(OCKC_CUDA_LOAD)
#undef OCKC_CUDA_LOAD
    if (missing != nullptr) return Failure{fmt::format("the NVIDIA driver has no `{}`", missing)};
    int count = 0;
    if (const CuResult code = api.init(0); code != 0) return Failure{"the NVIDIA driver does not start: " + api.text(code)};
    if (api.device_count(&count) != 0 || count == 0) return Failure{"the NVIDIA driver finds no device"};
    return api;
}

constexpr int kMajor = 75, kMinor = 76;                // CUdevice_attribute
constexpr int kMaxDynamicShared = 8;                   // CUfunction_attribute
constexpr unsigned kHostDeviceMap = 2;                 // CU_MEMHOSTALLOC_DEVICEMAP
constexpr int kErrorLog = 5, kErrorLogSize = 6;        // CUjit_option

class CudaDevice final : public LaunchDevice {
  public:
    explicit CudaDevice(const CudaApi& api) : api_(api) {}

    Status open(int ordinal) {
        int device = 0, major = 0, minor = 0;
        void* context = nullptr;
        char name[256] = {};
        if (CuResult e = api_.device_get(&device, ordinal); e != 0) return Failure{fmt::format("no CUDA device {}: {}", ordinal, api_.text(e))};
        if (CuResult e = api_.retain(&context, device); e != 0) return Failure{api_.text(e)};
        if (CuResult e = api_.set_current(context); e != 0) return Failure{api_.text(e)};
        api_.device_name(name, sizeof name - 1, device);
        api_.device_attribute(&major, kMajor, device);
        api_.device_attribute(&minor, kMinor, device);
        name_ = name;
        capability_ = static_cast<std::uint32_t>(major * 10 + minor);
        return Unit{};
    }

    std::string name() const override { return name_; }
    std::uint32_t compute_capability() const override { return capability_; }

    Status load(const CompiledImage& image, std::span<const abi::PanicSite> sites) override {
        sites_.assign(sites.begin(), sites.end());
        std::string log(8192, '\0');
        int keys[] = {kErrorLog, kErrorLogSize};
        void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
        if (CuResult e = api_.load_data(&module_, image.embedded.c_str(), 2, keys, values); e != 0) {
            return Failure{fmt::format("{}\n{}", api_.text(e), log.c_str())};
        }
        return set_up_record(image);
    }

    Result<DevicePtr> upload(const std::string& bytes) override {
        DevicePtr at = 0;
        if (CuResult e = api_.allocate(&at, std::max<std::size_t>(bytes.size(), 1)); e != 0) return Failure{api_.text(e)};
        if (CuResult e = bytes.empty() ? 0 : api_.to_device(at, bytes.data(), bytes.size()); e != 0) return Failure{api_.text(e)};
        return at;
    }

    Result<std::string> tensor_map(DevicePtr at, const TensorMapRequest& request) override {
        struct alignas(64) Map {
            char bytes[128];
        } map;
        const std::vector<std::uint64_t> strides = request.strides();
        const std::vector<std::uint32_t> steps(request.dims.size(), 1);
        constexpr int kPromotion256 = 3;
        if (CuResult e = api_.tensor_map(&map, request.type_number(), static_cast<std::uint32_t>(request.dims.size()), reinterpret_cast<void*>(at),
                                         request.dims.data(), strides.data(), request.box.data(), steps.data(), 0, request.swizzle_number(), kPromotion256, 0);
            e != 0)
            return Failure{api_.text(e)};
        return std::string(map.bytes, sizeof map.bytes);
    }

    Status set_constant(const std::string& symbol, const std::string& bytes) override {
        DevicePtr at = 0;
        std::size_t size = 0;
        if (CuResult e = api_.get_global(&at, &size, module_, symbol.c_str()); e != 0) return Failure{api_.text(e)};
        if (CuResult e = api_.to_device(at, bytes.data(), std::min(size, bytes.size())); e != 0) return Failure{api_.text(e)};
        return Unit{};
    }

    Status download(DevicePtr from, std::string& bytes) override {
        if (CuResult e = bytes.empty() ? 0 : api_.to_host(bytes.data(), from, bytes.size()); e != 0) return Failure{api_.text(e)};
        return Unit{};
    }

    Result<double> launch(const abi::KernelAbi& kernel, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                          std::uint32_t dynamic_shared, const std::vector<std::string>& arguments) override {
        void* function = nullptr;
        if (CuResult e = api_.get_function(&function, module_, kernel.symbol.c_str()); e != 0) return Failure{api_.text(e)};
        if (dynamic_shared != 0) api_.function_set(function, kMaxDynamicShared, static_cast<int>(dynamic_shared));
        std::vector<void*> pointers;
        for (const std::string& one : arguments) pointers.push_back(const_cast<char*>(one.data()));
        void* begin = nullptr;
        void* end = nullptr;
        api_.event_create(&begin, 0);
        api_.event_create(&end, 0);
        api_.event_record(begin, nullptr);
        const CuResult launched = kernel.launch.cooperative
                                      ? api_.launch_cooperative(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], dynamic_shared,
                                                                nullptr, pointers.data())
                                      : api_.launch_kernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], dynamic_shared, nullptr,
                                                           pointers.data(), nullptr);
        if (launched != 0) return Failure{api_.text(launched)};
        api_.event_record(end, nullptr);
        if (CuResult e = api_.synchronize(); e != 0) return Failure{failure_text(e)};
        float milliseconds = 0;
        api_.event_elapsed(&milliseconds, begin, end);
        return static_cast<double>(milliseconds);
    }

  private:
    // Gives the module a record of failed checks, when it has the variable for one. It stays for the process's life: after a
    // failure the context frees nothing.
    Status set_up_record(const CompiledImage& image) {
        DevicePtr variable = 0, address = 0;
        std::size_t bytes = 0;
        void* host = nullptr;
        if (image.embedded.find(abi::kPanicRecordSymbol) == std::string::npos) return Unit{};
        if (CuResult e = api_.get_global(&variable, &bytes, module_, std::string(abi::kPanicRecordSymbol).c_str()); e != 0) return Failure{api_.text(e)};
        if (CuResult e = api_.host_allocate(&host, sizeof(abi::PanicRecord), kHostDeviceMap); e != 0) return Failure{api_.text(e)};
        record_ = new (host) abi::PanicRecord;
        if (CuResult e = api_.host_address(&address, host, 0); e != 0) return Failure{api_.text(e)};
        if (CuResult e = api_.to_device(variable, &address, sizeof address); e != 0) return Failure{api_.text(e)};
        return Unit{};
    }

    std::string failure_text(CuResult code) const {
        const std::string check = record_ == nullptr ? "" : abi::panic_text(*record_, sites_);
        return check.empty() ? api_.text(code) : check + "\n" + api_.text(code);
    }

    const CudaApi api_;
    std::string name_;
    std::uint32_t capability_ = 0;
    void* module_ = nullptr;
    std::vector<abi::PanicSite> sites_;
    const abi::PanicRecord* record_ = nullptr;   // written by the device
};

}  // namespace

Result<std::unique_ptr<LaunchDevice>> open_cuda(int ordinal) {
    const Result<CudaApi> api = load_api();
    if (!api.ok()) return Failure{api.error()};
    auto device = std::make_unique<CudaDevice>(api.value());
    if (Status opened = device->open(ordinal); !opened.ok()) return Failure{opened.error()};
    return std::unique_ptr<LaunchDevice>(std::move(device));
}

Result<std::string> native_target() {
    Result<std::unique_ptr<LaunchDevice>> device = open_cuda(0);
    if (!device.ok()) return Failure{device.error()};
    const std::uint32_t sm = device.value()->compute_capability();
    return fmt::format("sm_{}{}", sm, sm == 90 || sm == 100 || sm == 120 ? "a" : "");
}

}  // namespace ockc::driver
