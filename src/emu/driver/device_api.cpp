// cuInit, devices, errors, and the emulator's own two functions.
#include <algorithm>
#include <cstring>

#include "emu/driver/state.hpp"

using namespace ockc::emu;
using namespace ockc::emu::driver;

namespace {

constexpr int kDriverVersion = 13000;
constexpr char kName[] = "ockc emulator";

const char* name_of(CUresult result) {
    switch (static_cast<Result>(result)) {
#define OCKC_CUDA_RESULT(name, text, number, description) \
    case Result::name: return text;
#include "emu/driver/results.def"
    }
    return nullptr;
}
const char* description_of(CUresult result) {
    switch (static_cast<Result>(result)) {
#define OCKC_CUDA_RESULT(name, text, number, description) \
    case Result::name: return description;
#include "emu/driver/results.def"
    }
    return nullptr;
}

int attribute_value(const Device& device, int attribute) {
    const std::uint32_t sm = device.options().sm;
    const std::uint32_t shared_optin = device.shared_limit();
    switch (attribute) {
#define OCKC_DEVICE_ATTRIBUTE(name, number, value) \
    case number: return static_cast<int>(value);
#include "emu/driver/attributes.def"
        default: return 0;  // the attributes are NVIDIA's list, which grows: what is not there is off
    }
}
constexpr int kLastAttribute = 160;

}  // namespace

OCKC_CUDA_EXPORT CUresult cuInit(unsigned flags) {
    return flags == 0 ? Driver::get().initialise() : code(Result::InvalidValue);
}
OCKC_CUDA_EXPORT CUresult cuDriverGetVersion(int* version) {
    if (version == nullptr) return code(Result::InvalidValue);
    *version = kDriverVersion;
    return 0;
}
OCKC_CUDA_EXPORT CUresult cuGetErrorName(CUresult result, const char** text) {
    if (text == nullptr) return code(Result::InvalidValue);
    *text = name_of(result);
    return *text != nullptr ? 0 : code(Result::InvalidValue);
}
OCKC_CUDA_EXPORT CUresult cuGetErrorString(CUresult result, const char** text) {
    if (text == nullptr) return code(Result::InvalidValue);
    *text = description_of(result);
    return *text != nullptr ? 0 : code(Result::InvalidValue);
}

OCKC_CUDA_EXPORT CUresult cuDeviceGetCount(int* count) {
    return with_driver([&](Driver&) {
        if (count == nullptr) return code(Result::InvalidValue);
        *count = 1;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    return with_driver([&](Driver&) {
        if (device == nullptr) return code(Result::InvalidValue);
        if (ordinal != 0) return code(Result::InvalidDevice);
        *device = 0;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuDeviceGetName(char* name, int capacity, CUdevice device) {
    return with_driver([&](Driver&) {
        if (name == nullptr || capacity <= 0) return code(Result::InvalidValue);
        if (device != 0) return code(Result::InvalidDevice);
        const std::size_t length =
            std::min<std::size_t>(sizeof kName - 1, static_cast<std::size_t>(capacity) - 1);
        std::memcpy(name, kName, length);
        name[length] = '\0';
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
    return with_driver([&](Driver& driver) {
        if (value == nullptr || attribute < 1 || attribute > kLastAttribute)
            return code(Result::InvalidValue);
        if (device != 0) return code(Result::InvalidDevice);
        *value = attribute_value(driver.device(), attribute);
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    return with_driver([&](Driver& driver) {
        if (bytes == nullptr) return code(Result::InvalidValue);
        if (device != 0) return code(Result::InvalidDevice);
        *bytes = driver.device().memory().capacity();
        return 0;
    });
}

// The whole account of the last failure, cut to `size - 1` characters. Works before cuInit too.
OCKC_CUDA_EXPORT CUresult ock_emulator_last_error(char* buffer, std::size_t size) {
    if (buffer == nullptr || size == 0) return code(Result::InvalidValue);
    const std::string text = Driver::get().last_error();
    const std::size_t length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
    return 0;
}
OCKC_CUDA_EXPORT int ock_emulator_version() {
    return 1;
}
