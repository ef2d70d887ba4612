// Memory: allocation, copies, fills, and what a pointer points at. Stream forms do the work at once.
#include <cstring>
#include <limits>

#include "emu/driver/state.hpp"

using namespace ockc::emu;
using namespace ockc::emu::driver;

namespace {

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
    return in_context([&](Driver& driver) {
        if (address == nullptr || bytes == 0) return code(Result::InvalidValue);
        const auto base = driver.device().memory().allocate(bytes, MemoryKind::Device);
        if (!base) return code(Result::OutOfMemory);
        *address = *base;
        return 0;
    });
}
CUresult release(CUdeviceptr address) {
    return in_context([&](Driver& driver) {
        if (address == 0) return 0;
        return driver.device().memory().release(address, MemoryKind::Device) ? 0 : code(Result::InvalidValue);
    });
}
CUresult done(bool worked) {
    return worked ? 0 : code(Result::InvalidValue);
}

CUresult host_to_device(CUdeviceptr to, const void* from, std::size_t bytes) {
    return in_context([&](Driver& driver) {
        return done((from != nullptr || bytes == 0) && driver.device().memory().copy_in(to, from, bytes));
    });
}
CUresult device_to_host(void* to, CUdeviceptr from, std::size_t bytes) {
    return in_context([&](Driver& driver) {
        return done((to != nullptr || bytes == 0) && driver.device().memory().copy_out(to, from, bytes));
    });
}
CUresult device_to_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return in_context(
        [&](Driver& driver) { return done(driver.device().memory().copy_between(to, from, bytes)); });
}
CUresult fill(CUdeviceptr to, std::uint32_t value, std::uint32_t width, std::size_t count) {
    return in_context([&](Driver& driver) {
        if (to % width != 0 || count > std::numeric_limits<std::size_t>::max() / width)
            return code(Result::InvalidValue);
        return done(driver.device().memory().fill(to, value, width, count));
    });
}
CUresult allocate_host(void** pointer, std::size_t bytes) {
    return in_context([&](Driver& driver) {
        if (pointer == nullptr || bytes == 0) return code(Result::InvalidValue);
        *pointer = driver.device().memory().allocate_host(bytes);
        return *pointer != nullptr ? 0 : code(Result::OutOfMemory);
    });
}

}  // namespace

OCKC_CUDA_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    return allocate(address, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
    return release(address);
}
OCKC_CUDA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream_st*) {
    return allocate(address, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream_st*) {
    return release(address);
}
OCKC_CUDA_EXPORT CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
    return allocate_host(pointer, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
    return allocate_host(pointer, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemFreeHost(void* pointer) {
    return in_context([&](Driver& driver) {
        if (pointer == nullptr) return 0;
        return done(driver.device().memory().release_host(pointer, false));
    });
}
OCKC_CUDA_EXPORT CUresult cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned) {
    return in_context([&](Driver& driver) {
        if (pointer == nullptr || bytes == 0) return code(Result::InvalidValue);
        return driver.device().memory().adopt_host(pointer, bytes)
                   ? 0
                   : code(Result::HostMemoryAlreadyRegistered);
    });
}
OCKC_CUDA_EXPORT CUresult cuMemHostUnregister(void* pointer) {
    return in_context([&](Driver& driver) {
        return driver.device().memory().release_host(pointer, true) ? 0
                                                                    : code(Result::HostMemoryNotRegistered);
    });
}
OCKC_CUDA_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned) {
    return in_context([&](Driver& driver) {
        if (address == nullptr) return code(Result::InvalidValue);
        const auto found = driver.device().memory().find_copy(reinterpret_cast<CUdeviceptr>(pointer));
        if (!found || found->kind != MemoryKind::Host) return code(Result::InvalidValue);
        *address = reinterpret_cast<CUdeviceptr>(pointer);
        return 0;
    });
}

OCKC_CUDA_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
    return host_to_device(to, from, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return device_to_host(to, from, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    return device_to_device(to, from, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                               CUstream_st*) {
    return host_to_device(to, from, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream_st*) {
    return device_to_host(to, from, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                               CUstream_st*) {
    return device_to_device(to, from, bytes);
}
OCKC_CUDA_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
    return fill(to, value, 1, count);
}
OCKC_CUDA_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
    return fill(to, value, 2, count);
}
OCKC_CUDA_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
    return fill(to, value, 4, count);
}
OCKC_CUDA_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                          CUstream_st*) {
    return fill(to, value, 1, count);
}
OCKC_CUDA_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                                           CUstream_st*) {
    return fill(to, value, 2, count);
}
OCKC_CUDA_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream_st*) {
    return fill(to, value, 4, count);
}

OCKC_CUDA_EXPORT CUresult cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
    return in_context([&](Driver& driver) {
        if (available == nullptr || total == nullptr) return code(Result::InvalidValue);
        const Memory& memory = driver.device().memory();
        *total = memory.capacity();
        *available = memory.capacity() - memory.used();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
    return in_context([&](Driver& driver) {
        const auto found = driver.device().memory().find_copy(address);
        if (!found) return code(Result::NotFound);
        if (base != nullptr) *base = found->base;
        if (size != nullptr) *size = found->size;
        return 0;
    });
}

// ------------------------------------------------------------------------------------------------------
// about a pointer

namespace {

enum PointerAttribute : int {  // the numbers of cuda.h
    kContext = 1,
    kMemoryType = 2,
    kDevicePointer = 3,
    kHostPointer = 4,
    kBufferId = 7,
    kIsManaged = 8,
    kDeviceOrdinal = 9,
    kRangeStart = 11,
    kRangeSize = 12,
    kMapped = 13,
};
constexpr unsigned kTypeHost = 1;
constexpr unsigned kTypeDevice = 2;

template <class T>
void put(void* to, T value) {
    std::memcpy(to, &value, sizeof value);
}
bool write_attribute(Driver& driver, void* to, int attribute, CUdeviceptr address, const Allocation& in) {
    const bool host = in.kind == MemoryKind::Host;
    switch (attribute) {
        case kContext: put(to, driver.primary()); return true;
        case kMemoryType: put(to, host ? kTypeHost : kTypeDevice); return true;
        case kDevicePointer: put(to, address); return true;
        case kHostPointer: put<void*>(to, host ? in.at(address) : nullptr); return host;
        case kBufferId: put<unsigned long long>(to, in.serial); return true;
        case kIsManaged: put<unsigned>(to, 0); return true;
        case kDeviceOrdinal: put<int>(to, 0); return true;
        case kRangeStart: put<CUdeviceptr>(to, in.base); return true;
        case kRangeSize: put<std::size_t>(to, in.size); return true;
        case kMapped: put<int>(to, 1); return true;
        default: return false;  // NVIDIA's list grows
    }
}
std::size_t attribute_size(int attribute) {
    return attribute == kMemoryType || attribute == kIsManaged || attribute == kDeviceOrdinal ||
                   attribute == kMapped
               ? 4
               : 8;
}

}  // namespace

OCKC_CUDA_EXPORT CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
    return in_context([&](Driver& driver) {
        if (value == nullptr) return code(Result::InvalidValue);
        const auto found = driver.device().memory().find_copy(address);
        return done(found && write_attribute(driver, value, attribute, address, *found));
    });
}
// Unlike the single form, unknown pointers give zeros.
OCKC_CUDA_EXPORT CUresult cuPointerGetAttributes(unsigned count, int* attributes, void** values,
                                                 CUdeviceptr address) {
    return in_context([&](Driver& driver) {
        if (count == 0 || attributes == nullptr || values == nullptr) return code(Result::InvalidValue);
        const auto found = driver.device().memory().find_copy(address);
        for (unsigned i = 0; i < count; ++i) {
            if (values[i] == nullptr) return code(Result::InvalidValue);
            if (!found)
                std::memset(values[i], 0, attribute_size(attributes[i]));
            else if (!write_attribute(driver, values[i], attributes[i], address, *found) &&
                     attributes[i] != kHostPointer) {
                return code(Result::InvalidValue);
            }
        }
        return 0;
    });
}
