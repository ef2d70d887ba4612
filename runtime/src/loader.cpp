// Decides once per process which library executes kernels and fills the table of entry points from it. In:
// OCK_DEVICE, OCK_CUDA_LIBRARY, OCK_EMULATOR_LIBRARY and what the machine has. Out: driver::Api, or an
// ock::Error that lists what was tried. The choice of the emulator is announced in one line on stderr.
#include <dlfcn.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ock/driver_api.hpp>
#include <ock/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The emulator's path in a build tree. ock_add_kernels() links an object that defines it
// (src/cmake/ock_kernels.cmake); an installed program does without.
extern "C" __attribute__((weak)) const char* ock_emulator_build_path() {
    return nullptr;
}

namespace ock::driver {
namespace {

constexpr const char* kDriverLibrary = "libcuda.so.1";
constexpr const char* kEmulatorLibrary = "libock_emulator.so";

std::optional<std::string> environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
}

[[noreturn]] void fail(const std::string& what) {
    throw Error(ErrorCode::Loader, what, Where{});
}

// What OCK_DEVICE asks for.
struct Wish {
    enum class Kind { Any, Emulator, Cuda } kind = Kind::Any;
    int ordinal = 0;
};

Wish read_wish() {
    const std::optional<std::string> text = environment("OCK_DEVICE");
    if (!text) return {};
    if (*text == "emulator") return {Wish::Kind::Emulator};
    constexpr std::string_view kPrefix = "cuda:";
    if (text->starts_with(kPrefix)) {
        const char* const begin = text->data() + kPrefix.size();
        const char* const end = text->data() + text->size();
        int ordinal = -1;
        const auto [rest, error] = std::from_chars(begin, end, ordinal);
        if (error == std::errc() && rest == end && ordinal >= 0) return {Wish::Kind::Cuda, ordinal};
    }
    fail("OCK_DEVICE is `" + *text + "`; it may be `emulator` or `cuda:N`");
}

// Opens `path` and resolves every entry point. On failure `why` says what was wrong and the table is not to
// be used.
bool open_library(const std::string& path, Api& api, std::string& why) {
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: objects outlive main
    if (library == nullptr) {
        const char* const reason = dlerror();
        why = reason != nullptr ? reason : path + " cannot be opened";
        return false;
    }
    api = Api{};
    api.library = path;
    const char* missing = nullptr;
    const auto resolve = [&](auto& entry, const char* symbol, bool required) {
        void* const address = dlsym(library, symbol);
        std::memcpy(&entry, &address,
                    sizeof address);  // an object pointer becomes a function pointer, as POSIX has it
        if (address == nullptr && required && missing == nullptr) missing = symbol;
    };
    constexpr bool required = true;
    constexpr bool optional = false;
#define OCK_DRIVER_FUNCTION(name, parameters, need) resolve(api.name, #name, need);
#include <ock/driver_api.def>
#undef OCK_DRIVER_FUNCTION
    api.is_emulator = api.ock_emulator_last_error != nullptr;
    if (missing != nullptr) why = path + " has no " + missing;
    return missing == nullptr;
}

// Initialises the library and counts its devices; a stub and a driver without a device count as no driver.
bool start(Api& api, std::string& why) {
    const CUresult code = api.cuInit(0);
    if (code != kSuccess) {
        why = api.library + ": cuInit says " + detail::driver_name_of(api, code);
        return false;
    }
    if (api.cuDeviceGetCount(&api.visible_devices) != kSuccess || api.visible_devices < 1) {
        why = api.library + ": no device";
        return false;
    }
    return true;
}

bool open_driver(Api& api, std::string& why) {
    return open_library(environment("OCK_CUDA_LIBRARY").value_or(kDriverLibrary), api, why) &&
           start(api, why);
}

// Beside the program, in its sibling lib, where the build tree has it, on the loader's own path.
std::vector<std::string> emulator_places() {
    namespace fs = std::filesystem;
    std::vector<std::string> places;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        const fs::path folder = program.parent_path();
        places.push_back((folder / kEmulatorLibrary).string());
        places.push_back((folder.parent_path() / "lib" / kEmulatorLibrary).string());
    }
    if (const char* const built = ock_emulator_build_path()) places.emplace_back(built);
    std::erase_if(places, [&](const std::string& place) { return !fs::exists(place, error); });
    places.emplace_back(kEmulatorLibrary);
    return places;
}

// An explicit OCK_EMULATOR_LIBRARY is the only place that is tried.
bool open_emulator(Api& api, std::string& why) {
    std::vector<std::string> places;
    if (const auto given = environment("OCK_EMULATOR_LIBRARY")) {
        places.push_back(*given);
    } else {
        places = emulator_places();
    }
    for (const std::string& place : places) {
        if (open_library(place, api, why) && start(api, why)) {
            return true;
        }
    }
    return false;
}

void use_emulator(Api& api, const std::string& reason) {
    std::string why;
    if (!open_emulator(api, why)) {
        fail("kernels cannot run: " + reason + ", and the emulator cannot be used: " + why +
             " (OCK_EMULATOR_LIBRARY names the library)");
    }
    std::fprintf(stderr, "ock: %s: kernels run on the CPU emulator\n", reason.c_str());
}

void use_cuda_device(Api& api, int ordinal) {
    std::string why;
    const std::string wish = "OCK_DEVICE=cuda:" + std::to_string(ordinal);
    if (!open_driver(api, why)) fail(wish + ", but there is no usable NVIDIA driver: " + why);
    if (ordinal >= api.visible_devices) {
        fail(wish + ", but the driver has " + std::to_string(api.visible_devices) + " device(s)");
    }
    api.first_device = ordinal;
    api.visible_devices = 1;
}

Api choose() {
    Api api;
    const Wish wish = read_wish();
    switch (wish.kind) {
        case Wish::Kind::Emulator: use_emulator(api, "OCK_DEVICE=emulator"); break;
        case Wish::Kind::Cuda: use_cuda_device(api, wish.ordinal); break;
        case Wish::Kind::Any: {
            std::string why;
            if (!open_driver(api, why)) use_emulator(api, "no usable NVIDIA driver (" + why + ")");
            break;
        }
    }
    return api;
}

}  // namespace

const Api& api(AbiNumber) {
    // Never destroyed: objects with static storage free their memory through it. A failed choice is tried
    // again.
    static const Api& table = *new Api(choose());
    return table;
}

}  // namespace ock::driver
