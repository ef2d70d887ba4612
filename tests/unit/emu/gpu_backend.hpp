// The same kernels on a GPU: with OCK_TEST_DRIVER=libcuda.so.1 in the environment, Machine (harness.hpp)
// loads and launches through that driver, so that the expected values of the run tests are held against the
// hardware. Meant for the run-test files (unit_emu
// -sf=*integer_test*,*float_test*,*convert_test*,*memory_test*,*control_test*,*warp_test*); the others are
// about the emulator itself. A GPU need not bring lanes together where the emulator does: tests that count
// the lanes of an activemask may differ there.
#pragma once
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "emu/emulator.hpp"

// Entry points are called with handles as plain pointers, which clang's sanitizer would hold against their declarations.
#if defined(__clang__)
#define OCKC_ANY_FUNCTION_TYPE __attribute__((no_sanitize("function")))
#else
#define OCKC_ANY_FUNCTION_TYPE
#endif

namespace emu_test {

class GpuBackend {
  public:
    // Null unless the environment asks for it; one for the whole process.
    static GpuBackend* get() {
        static GpuBackend* const backend =
            std::getenv("OCK_TEST_DRIVER") == nullptr ? nullptr : new GpuBackend;
        return backend;
    }

    void* load(const std::string& text) {
        void* module = nullptr;
        REQUIRE_MESSAGE(call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str())) == 0, text);
        return module;
    }
    void unload(void* module) { call("cuModuleUnload", module); }
    std::uint64_t allocate(std::uint64_t bytes) {
        unsigned long long address = 0;
        REQUIRE(call("cuMemAlloc_v2", &address, static_cast<std::size_t>(bytes)) == 0);
        REQUIRE(call("cuMemsetD8_v2", address, static_cast<unsigned char>(0),
                     static_cast<std::size_t>(bytes)) == 0);
        return address;
    }
    void copy_in(std::uint64_t to, const void* from, std::uint64_t bytes) {
        REQUIRE(call("cuMemcpyHtoD_v2", static_cast<unsigned long long>(to), from,
                     static_cast<std::size_t>(bytes)) == 0);
    }
    void copy_out(void* to, std::uint64_t from, std::uint64_t bytes) {
        REQUIRE(call("cuMemcpyDtoH_v2", to, static_cast<unsigned long long>(from),
                     static_cast<std::size_t>(bytes)) == 0);
    }
    // A tensor map's 128 bytes, as cuTensorMapEncodeTiled takes its arguments.
    void tensor_map(void* map, int type, std::uint32_t rank, std::uint64_t address, const std::uint64_t* dims, const std::uint64_t* strides,
                    const std::uint32_t* box, const std::uint32_t* steps, int swizzle, int fill) {
        REQUIRE(call("cuTensorMapEncodeTiled", map, type, rank, reinterpret_cast<void*>(address), dims, strides, box, steps, 0, swizzle, 0, fill) == 0);
    }
    void run(void* module, const std::string& kernel, const ockc::emu::LaunchConfig& config,
             std::vector<std::uint64_t> params) {
        void* function = nullptr;
        REQUIRE(call("cuModuleGetFunction", &function, module, kernel.c_str()) == 0);
        std::vector<void*> pointers;
        for (std::uint64_t& param : params)
            pointers.push_back(&param);
        const auto g = config.grid;
        const auto b = config.block;
        void* stream = nullptr;
        void** extra = nullptr;
        const int result = config.cooperative
                               ? call("cuLaunchCooperativeKernel", function, g.x, g.y, g.z, b.x, b.y, b.z,
                                      config.dynamic_shared, stream, pointers.data())
                               : call("cuLaunchKernel", function, g.x, g.y, g.z, b.x, b.y, b.z,
                                      config.dynamic_shared, stream, pointers.data(), extra);
        REQUIRE(result == 0);
        REQUIRE(call("cuCtxSynchronize") == 0);
    }

  private:
    GpuBackend() : library_(dlopen(std::getenv("OCK_TEST_DRIVER"), RTLD_NOW)) {
        REQUIRE_MESSAGE(library_ != nullptr, dlerror());
        void* context = nullptr;
        REQUIRE(call("cuInit", 0u) == 0);
        REQUIRE(call("cuDevicePrimaryCtxRetain", &context, 0) == 0);
        REQUIRE(call("cuCtxSetCurrent", context) == 0);
    }
    template <class... Args>
    OCKC_ANY_FUNCTION_TYPE int call(const char* name, Args... args) {
        void* symbol = dlsym(library_, name);
        REQUIRE_MESSAGE(symbol != nullptr, name);
        return reinterpret_cast<int (*)(Args...)>(symbol)(args...);
    }

    void* library_;
};

}  // namespace emu_test
