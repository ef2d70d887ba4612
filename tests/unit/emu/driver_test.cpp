// libock_emulator.so through dlopen, as the runtime uses it.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "harness.hpp"

namespace {

using emu_test::head;
using emu_test::kernel;

// The entry points of one opened library; every test opens its own copy of the state by forking.
class Library {
  public:
    Library() : handle_(dlopen(OCKC_EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) FAIL(dlerror());
    }
    template <class... Args>
    OCKC_ANY_FUNCTION_TYPE int call(const char* name, Args... args) {
        void* symbol = dlsym(handle_, name);
        REQUIRE_MESSAGE(symbol != nullptr, name);
        return reinterpret_cast<int (*)(Args...)>(symbol)(args...);
    }
    bool exports(const char* name) const { return dlsym(handle_, name) != nullptr; }

  private:
    void* handle_;
};

using Handle = void*;
using Address = unsigned long long;

const char* const kScale = ".visible .global .align 8 .u64 factor = 3;\n";
std::string scale_kernel() {
    return kernel(
        "mad.wide.u32 %rd1, %r30, 8, %rd30;\nld.global.u64 %rd2, [%rd1];\nld.global.u64 %rd3, "
        "[factor];\nmul.lo.u64 %rd2, %rd2, %rd3;\nst.global.u64 [%rd31], %rd2;\nret;\n",
        kScale);
}

struct Context {
    Library lib;
    Handle context = nullptr;
    Context() {
        REQUIRE(lib.call("cuInit", 0u) == 0);
        REQUIRE(lib.call("cuDevicePrimaryCtxRetain", &context, 0) == 0);
        REQUIRE(lib.call("cuCtxSetCurrent", context) == 0);
        REQUIRE(lib.call("cuDevicePrimaryCtxReset_v2", 0) == 0);  // whatever an earlier test broke
    }
    Handle load(const std::string& text) {
        Handle module = nullptr;
        REQUIRE(lib.call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str())) == 0);
        return module;
    }
    Handle function(Handle module, const char* name = "k") {
        Handle function = nullptr;
        REQUIRE(lib.call("cuModuleGetFunction", &function, module, name) == 0);
        return function;
    }
    int launch(Handle function, unsigned grid, unsigned block, unsigned shared, void** params) {
        return lib.call("cuLaunchKernel", function, grid, 1u, 1u, block, 1u, 1u, shared, Handle{nullptr},
                        params, static_cast<void**>(nullptr));
    }
    Address alloc(std::size_t bytes) {
        Address address = 0;
        REQUIRE(lib.call("cuMemAlloc_v2", &address, bytes) == 0);
        return address;
    }
    int attribute(int which) {
        int value = -1;
        REQUIRE(lib.call("cuDeviceGetAttribute", &value, which, 0) == 0);
        return value;
    }
    std::string last_error() {
        char text[2000] = "";
        REQUIRE(lib.call("ock_emulator_last_error", static_cast<char*>(text), sizeof text) == 0);
        return text;
    }
};

}  // namespace

TEST_CASE("the driver library: device, context, memory, module, launch") {
    Context c;
    char name[64];
    CHECK(c.lib.call("cuDeviceGetName", static_cast<char*>(name), 64, 0) == 0);
    CHECK(std::string(name) == "ockc emulator");
    int count = 0;
    CHECK(c.lib.call("cuDeviceGetCount", &count) == 0);
    CHECK(count == 1);
    int device = -1;
    CHECK(c.lib.call("cuDeviceGet", &device, 1) == 101);
    CHECK(c.attribute(75) == 9);
    CHECK(c.attribute(76) == 0);
    CHECK(c.attribute(1) == 1024);
    CHECK(c.attribute(10) == 32);
    CHECK(c.attribute(97) == 232448);
    CHECK(c.attribute(18) == 0);

    const Handle module = c.load(scale_kernel());
    const Handle function = c.function(module);
    Address global = 0;
    std::size_t size = 0;
    CHECK(c.lib.call("cuModuleGetGlobal_v2", &global, &size, module, "factor") == 0);
    CHECK(size == 8);
    const std::uint64_t five = 5;
    CHECK(c.lib.call("cuMemcpyHtoD_v2", global, static_cast<const void*>(&five), sizeof five) == 0);

    std::vector<std::uint64_t> data(100);
    for (std::uint64_t i = 0; i < data.size(); ++i)
        data[i] = i;
    Address in = c.alloc(800);
    Address out = c.alloc(800);
    CHECK(c.lib.call("cuMemcpyHtoDAsync_v2", in, static_cast<const void*>(data.data()), std::size_t{800},
                     Handle{nullptr}) == 0);
    void* params[] = {&in, &out};
    CHECK(c.launch(function, 4, 25, 0, params) == 0);
    CHECK(c.lib.call("cuCtxSynchronize") == 0);
    CHECK(c.lib.call("cuMemcpyDtoH_v2", static_cast<void*>(data.data()), out, std::size_t{800}) == 0);
    for (std::uint64_t i = 0; i < data.size(); ++i)
        CHECK(data[i] == 5 * i);

    CHECK(c.lib.call("cuMemsetD32_v2", out, 0x01020304u, std::size_t{10}) == 0);
    CHECK(c.lib.call("cuMemsetD8_v2", out + 4, static_cast<unsigned char>(9), std::size_t{1}) == 0);
    CHECK(c.lib.call("cuMemcpyDtoD_v2", in, out, std::size_t{8}) == 0);
    CHECK(c.lib.call("cuMemcpyDtoH_v2", static_cast<void*>(data.data()), in, std::size_t{8}) == 0);
    CHECK(data[0] == 0x0102'0309'0102'0304);
    CHECK(c.lib.call("cuMemcpyDtoH_v2", static_cast<void*>(data.data()), out + 1, std::size_t{800}) ==
          1);  // beyond the end
    CHECK(c.lib.call("cuMemFree_v2", in) == 0);
    CHECK(c.lib.call("cuMemFree_v2", in) == 1);
    CHECK(c.lib.call("cuModuleUnload", module) == 0);
    CHECK(c.lib.call("cuModuleUnload", module) == 400);
}

TEST_CASE("parameters and attributes of functions") {
    Context c;
    const Handle module =
        c.load(kernel("st.shared.u32 [tile], 1;\nret;\n", ".shared .align 4 .b8 tile[100];\n"));
    const Handle f = c.function(module);
    std::size_t offset = 9;
    std::size_t size = 9;
    CHECK(c.lib.call("cuFuncGetParamInfo", f, std::size_t{1}, &offset, &size) == 0);
    CHECK(offset == 8);
    CHECK(size == 8);
    CHECK(c.lib.call("cuFuncGetParamInfo", f, std::size_t{2}, &offset, &size) == 1);
    int value = 0;
    CHECK(c.lib.call("cuFuncGetAttribute", &value, 1, f) == 0);
    CHECK(value == 100);
    CHECK(c.lib.call("cuFuncGetAttribute", &value, 0, f) == 0);
    CHECK(value == 1024);
    Address a = 0;
    void* params[] = {&a, &a};
    CHECK(c.launch(f, 1, 1, 60000, params) == 1);
    CHECK(c.last_error().find("its limit is") != std::string::npos);
    CHECK(c.lib.call("cuFuncSetAttribute", f, 8, 60000) == 0);
    CHECK(c.launch(f, 1, 1, 60000, params) == 0);
    CHECK(c.lib.call("cuFuncSetAttribute", f, 8, 232448) == 1);
    int blocks = 0;
    CHECK(c.lib.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &blocks, f, 1024, std::size_t{0}) == 0);
    CHECK(blocks == 2);
    int grid = 0;
    int block = 0;
    CHECK(c.lib.call("cuOccupancyMaxPotentialBlockSize", &grid, &block, f,
                     static_cast<std::size_t (*)(int)>(nullptr), std::size_t{0}, 0) == 0);
    CHECK(block == 1024);
    CHECK(grid == 264);
    CHECK(c.lib.call("cuModuleUnload", module) == 0);
    CHECK(c.launch(f, 1, 1, 0, params) == 400);
}

TEST_CASE("libraries and kernels, and launches with attributes") {
    Context c;
    const std::string text = scale_kernel();
    Handle library = nullptr;
    CHECK(c.lib.call("cuLibraryLoadData", &library, static_cast<const void*>(text.c_str()),
                     static_cast<int*>(nullptr), static_cast<void**>(nullptr), 0u, static_cast<int*>(nullptr),
                     static_cast<void**>(nullptr), 0u) == 0);
    Handle k = nullptr;
    Handle f = nullptr;
    CHECK(c.lib.call("cuLibraryGetKernel", &k, library, "k") == 0);
    CHECK(c.lib.call("cuLibraryGetKernel", &k, library, "nope") == 500);
    CHECK(c.lib.call("cuKernelGetFunction", &f, k) == 0);
    struct Attribute {
        int id;
        char padding[4];
        unsigned value[16];
    } attributes[1] = {{4, {}, {2, 1, 1}}};
    struct Config {
        unsigned grid[3], block[3], shared;
        Handle stream;
        Attribute* attributes;
        unsigned count;
    } config{{1, 1, 1}, {1, 1, 1}, 0, nullptr, attributes, 1};
    Address in = c.alloc(8);
    Address out = c.alloc(8);
    void* params[] = {&in, &out};
    CHECK(c.lib.call("cuLaunchKernelEx", &config, f, static_cast<void**>(params),
                     static_cast<void**>(nullptr)) == 912);
    attributes[0].value[0] = 1;
    CHECK(c.lib.call("cuLaunchKernelEx", &config, f, static_cast<void**>(params),
                     static_cast<void**>(nullptr)) == 0);
    // The parameter block as a whole.
    std::uint64_t buffer[2] = {in, out};
    std::size_t size = sizeof buffer;
    void* extra[] = {reinterpret_cast<void*>(1), buffer, reinterpret_cast<void*>(2), &size, nullptr};
    CHECK(c.lib.call("cuLaunchKernel", f, 1u, 1u, 1u, 1u, 1u, 1u, 0u, Handle{nullptr},
                     static_cast<void**>(nullptr), static_cast<void**>(extra)) == 0);
    CHECK(c.lib.call("cuLaunchKernel", f, 1u, 1u, 1u, 0u, 1u, 1u, 0u, Handle{nullptr},
                     static_cast<void**>(params), static_cast<void**>(nullptr)) == 1);
    CHECK(c.lib.call("cuLibraryUnload", library) == 0);
}

TEST_CASE("a failed kernel poisons the context, and the library tells why") {
    Context c;
    const Handle f =
        c.function(c.load(kernel(".loc 1 7 3\nst.global.u64 [%rd30], 1;\nret;\n", ".file 1 \"bad.rsk\"\n")));
    Address nowhere = 0x1234;
    void* params[] = {&nowhere, &nowhere};
    CHECK(c.launch(f, 1, 1, 0, params) == 0);      // the launch itself goes well, as on a GPU
    CHECK(c.lib.call("cuCtxSynchronize") == 716);  // 0x1234 is no multiple of 8
    CHECK(c.lib.call("cuStreamSynchronize", Handle{nullptr}) == 716);
    Address a = 0;
    CHECK(c.lib.call("cuMemAlloc_v2", &a, std::size_t{8}) == 716);
    CHECK(c.last_error().find("bad.rsk:7:3") != std::string::npos);
    const char* text = nullptr;
    CHECK(c.lib.call("cuGetErrorName", 716, &text) == 0);
    CHECK(std::string(text) == "CUDA_ERROR_MISALIGNED_ADDRESS");
    CHECK(c.lib.call("cuDevicePrimaryCtxReset_v2", 0) == 0);
    nowhere = 0x1230;
    const Handle trap = c.function(c.load(kernel("trap;\n")));
    CHECK(c.launch(trap, 1, 1, 0, params) == 0);
    CHECK(c.lib.call("cuCtxSynchronize") == 715);
    CHECK(c.lib.call("cuDevicePrimaryCtxReset_v2", 0) == 0);
    CHECK(c.launch(f, 1, 1, 0, params) == 0);
    CHECK(c.lib.call("cuCtxSynchronize") == 700);
}

TEST_CASE("bad images and the error log") {
    Context c;
    char log[400] = "";
    int options[] = {5, 6};
    void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{400})};
    Handle module = nullptr;
    const std::string bad = head() + ".visible .entry k()\n{\nfrobnicate;\nret;\n}\n";
    CHECK(c.lib.call("cuModuleLoadDataEx", &module, static_cast<const void*>(bad.c_str()), 2u,
                     static_cast<int*>(options), static_cast<void**>(values)) == 218);
    CHECK(std::string(log).find("ptx:6") != std::string::npos);
    CHECK(reinterpret_cast<std::uintptr_t>(values[1]) == std::string(log).size());
    const char elf[] =
        "\x7F"
        "ELF....";
    CHECK(c.lib.call("cuModuleLoadData", &module, static_cast<const void*>(elf)) == 209);
    CHECK(c.last_error().find("runs PTX text") != std::string::npos);
    const std::string newer = ".version 8.6\n.target sm_100\n.address_size 64\n";
    CHECK(c.lib.call("cuModuleLoadData", &module, static_cast<const void*>(newer.c_str())) == 209);
}

TEST_CASE("streams, events and host memory") {
    Context c;
    Handle stream = nullptr;
    Handle first = nullptr;
    Handle second = nullptr;
    CHECK(c.lib.call("cuStreamCreate", &stream, 1u) == 0);
    CHECK(c.lib.call("cuEventCreate", &first, 0u) == 0);
    CHECK(c.lib.call("cuEventCreate", &second, 0u) == 0);
    CHECK(c.lib.call("cuEventRecord", first, stream) == 0);
    float ms = -1;
    CHECK(c.lib.call("cuEventElapsedTime", &ms, first, second) == 400);  // not recorded
    CHECK(c.lib.call("cuEventRecord", second, stream) == 0);
    CHECK(c.lib.call("cuStreamWaitEvent", stream, second, 0u) == 0);
    CHECK(c.lib.call("cuEventElapsedTime", &ms, first, second) == 0);
    CHECK(ms >= 0);
    CHECK(c.lib.call("cuStreamQuery", stream) == 0);
    CHECK(c.lib.call("cuStreamDestroy_v2", stream) == 0);
    CHECK(c.lib.call("cuStreamSynchronize", stream) == 400);

    // Pinned memory is device memory at its own address.
    void* host = nullptr;
    CHECK(c.lib.call("cuMemHostAlloc", &host, std::size_t{64}, 2u) == 0);
    Address device = 0;
    CHECK(c.lib.call("cuMemHostGetDevicePointer_v2", &device, host, 0u) == 0);
    CHECK(device == reinterpret_cast<Address>(host));
    const Handle f = c.function(c.load(kernel("st.global.u64 [%rd31], 42;\nret;\n")));
    void* params[] = {&device, &device};
    CHECK(c.launch(f, 1, 2, 0, params) == 0);
    CHECK(static_cast<std::uint64_t*>(host)[1] == 42);
    unsigned kind = 0;
    CHECK(c.lib.call("cuPointerGetAttribute", static_cast<void*>(&kind), 2, device) == 0);
    CHECK(kind == 1);
    CHECK(c.lib.call("cuMemFreeHost", host) == 0);

    const Address memory = c.alloc(100);
    Address base = 0;
    std::size_t size = 0;
    CHECK(c.lib.call("cuMemGetAddressRange_v2", &base, &size, memory + 50) == 0);
    CHECK(base == memory);
    CHECK(size == 100);
    CHECK(c.lib.call("cuPointerGetAttribute", static_cast<void*>(&base), 11, memory + 7) == 0);
    CHECK(base == memory);
    CHECK(c.lib.call("cuPointerGetAttribute", static_cast<void*>(&base), 11, Address{64}) == 1);
    std::size_t available = 0;
    std::size_t total = 0;
    CHECK(c.lib.call("cuMemGetInfo_v2", &available, &total) == 0);
    CHECK(available < total);
}

TEST_CASE("contexts are a stack of each thread; nothing works without one") {
    Context c;
    Handle popped = nullptr;
    CHECK(c.lib.call("cuCtxPushCurrent_v2", c.context) == 0);
    CHECK(c.lib.call("cuCtxPopCurrent_v2", &popped) == 0);
    CHECK(popped == c.context);
    CHECK(c.lib.call("cuCtxSetCurrent", Handle{nullptr}) == 0);
    CHECK(c.lib.call("cuCtxSynchronize") == 201);
    CHECK(c.lib.call("cuCtxSetCurrent", c.context) == 0);
    CHECK(c.lib.call("cuCtxSynchronize") == 0);
    CHECK(c.lib.call("cuCtxSetCurrent", static_cast<Handle>(&popped)) == 201);
}

TEST_CASE("the library before cuInit") {
    // dlopen of the same file gives the state that other tests have initialised; a copy of the file has its own.
    const std::filesystem::path copy =
        std::filesystem::temp_directory_path() / ("ock_emulator_" + std::to_string(getpid()) + ".so");
    std::filesystem::copy_file(OCKC_EMULATOR_LIBRARY, copy, std::filesystem::copy_options::overwrite_existing);
    void* fresh = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove(copy);
    REQUIRE(fresh != nullptr);
    int count = 0;
    CHECK(reinterpret_cast<int (*)(int*)>(dlsym(fresh, "cuDeviceGetCount"))(&count) == 3);
}

TEST_CASE("every required row of the runtime's table is exported, and nothing but the driver's names") {
    Library lib;
#define OCK_DRIVER_FUNCTION(name, parameters, need) CHECK_MESSAGE(lib.exports(#name), #name);
#include <ock/driver_api.def>
#undef OCK_DRIVER_FUNCTION
    CHECK(lib.exports("ock_emulator_version"));
    CHECK_FALSE(lib.exports("_ZN4ockc3emu6Device4loadESt17basic_string_viewIcSt11char_traitsIcEE"));
}
