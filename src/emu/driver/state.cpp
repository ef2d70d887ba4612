#include "emu/driver/state.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ockc::emu::driver {
namespace {

thread_local std::vector<CUctx_st*> context_stack;

// The bytes that start images which are not PTX text.
bool is_binary(const char* image) {
    static constexpr unsigned char kElf[] = {0x7F, 'E', 'L', 'F'};
    static constexpr unsigned char kFatbin[] = {0x50, 0xED, 0x55, 0xBA};
    return std::memcmp(image, kElf, 4) == 0 || std::memcmp(image, kFatbin, 4) == 0;
}

// The launch's parameter block from one pointer a parameter, or from a buffer given as a whole.
CUresult gather_params(const KernelInfo& kernel, const LaunchCall& call, std::vector<std::byte>& out) {
    out.resize(kernel.param_bytes);
    if (call.extra != nullptr) {
        if (call.params != nullptr) return code(Result::InvalidValue);
        const void* buffer = nullptr;
        std::size_t size = 0;
        for (void** entry = call.extra; *entry != nullptr; entry += 2) {
            const auto what = reinterpret_cast<std::uintptr_t>(entry[0]);
            if (what == 1)
                buffer = entry[1];
            else if (what == 2)
                size = *static_cast<std::size_t*>(entry[1]);
            else
                return code(Result::InvalidValue);
        }
        if (size < kernel.param_bytes || (buffer == nullptr && size != 0)) return code(Result::InvalidValue);
        if (kernel.param_bytes != 0) std::memcpy(out.data(), buffer, kernel.param_bytes);
        return 0;
    }
    if (kernel.params.empty()) return 0;
    if (call.params == nullptr) return code(Result::InvalidValue);
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
        if (call.params[i] == nullptr) return code(Result::InvalidValue);
        std::memcpy(out.data() + kernel.params[i].offset, call.params[i], kernel.params[i].size);
    }
    return 0;
}

bool is_device_fault(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::IllegalAddress:
        case ErrorKind::Timeout:
        case ErrorKind::Trap:
        case ErrorKind::Misaligned:
        case ErrorKind::LaunchFailed: return true;
        case ErrorKind::InvalidValue:
        case ErrorKind::OutOfMemory:
        case ErrorKind::InvalidImage:
        case ErrorKind::NoBinary:
        case ErrorKind::NotFound:
        case ErrorKind::OutOfResources:
        case ErrorKind::CooperativeTooLarge:
        case ErrorKind::InvalidCluster:
        case ErrorKind::NotSupported: return false;
    }
    return false;
}

}  // namespace

Driver& Driver::get() {
    static Driver* const driver = new Driver;
    return *driver;
}

CUresult Driver::initialise() {
    const std::lock_guard lock(mutex_);
    if (device_ != nullptr) return 0;
    const auto options = options_from_environment();
    if (!options) {
        last_error_ = options.error();
        return code(Result::InvalidValue);
    }
    device_ = std::make_unique<Device>(options.value());
    return 0;
}

CUctx_st* Driver::current() const {
    return context_stack.empty() ? nullptr : context_stack.back();
}
void Driver::set_current(CUctx_st* context) {
    if (!context_stack.empty()) context_stack.pop_back();
    if (context != nullptr) context_stack.push_back(context);
}
void Driver::push(CUctx_st* context) {
    context_stack.push_back(context);
}
std::optional<CUctx_st*> Driver::pop() {
    if (context_stack.empty()) return std::nullopt;
    CUctx_st* top = context_stack.back();
    context_stack.pop_back();
    return top;
}

int Driver::retain() {
    return ++retained_;
}
bool Driver::release() {
    int count = retained_.load();
    while (count > 0 && !retained_.compare_exchange_weak(count, count - 1)) {
    }
    return count > 0;
}
void Driver::reset() {
    sticky_ = 0;
    const std::lock_guard lock(mutex_);
    last_error_.clear();
}

CUresult Driver::remember(CUresult result, std::string text) {
    const std::lock_guard lock(mutex_);
    last_error_ = std::move(text);
    return result;
}
std::string Driver::last_error() const {
    const std::lock_guard lock(mutex_);
    return last_error_;
}

bool Driver::knows_function(const CUfunc_st* function) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, module] : modules_) {
        for (const CUfunc_st& known : module->functions) {
            if (&known == function) return true;
        }
    }
    return false;
}
bool Driver::knows_stream(CUstream_st* stream) const {
    return reinterpret_cast<std::uintptr_t>(stream) <= 2 || knows(stream);  // null, legacy, per thread
}

CUresult Driver::load(CUmod_st** out, const void* image, std::string& log) {
    const auto* text = static_cast<const char*>(image);
    if (is_binary(text)) {
        log = "the emulator runs PTX text; this image is a cubin or a fat binary\n";
        return remember(code(Result::NoBinary), log);
    }
    auto loaded = device_->load(text);
    if (!loaded.ok()) {
        log = loaded.error.message;
        return remember(code(loaded.error.kind), log);
    }
    auto handle = std::make_unique<CUmod_st>();
    handle->module = std::move(*loaded.value);
    for (std::uint32_t i = 0; i < handle->module->kernels().size(); ++i) {
        CUfunc_st& function = handle->functions.emplace_back();
        function.module = handle.get();
        function.kernel = i;
        const std::uint32_t used = handle->module->kernels()[i].static_shared;
        function.dynamic_shared_limit = used < kDefaultShared ? kDefaultShared - used : 0;
    }
    *out = adopt(std::move(handle));
    return 0;
}

CUresult Driver::launch(const LaunchCall& call) {
    if (!knows_function(call.function) || !knows_stream(call.stream)) return code(Result::InvalidHandle);
    const Module& module = *call.function->module->module;
    const KernelInfo& kernel = module.kernels()[call.function->kernel];
    if (call.config.dynamic_shared > call.function->dynamic_shared_limit) {
        return remember(
            code(Result::InvalidValue),
            fmt::format("cannot launch `{}`: {} bytes of dynamic shared memory, its limit is {} "
                        "(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES raises it)",
                        kernel.name, call.config.dynamic_shared, call.function->dynamic_shared_limit.load()));
    }
    std::vector<std::byte> params;
    if (const CUresult result = gather_params(kernel, call, params); result != 0) return result;
    auto outcome = device_->launch(module, call.function->kernel, call.config, params);
    if (outcome.ok()) return 0;
    const CUresult result = remember(code(outcome.error.kind), std::move(outcome.error.message));
    if (!is_device_fault(outcome.error.kind)) return result;
    sticky_ = result;  // a real launch only starts the kernel: the next call finds out
    return 0;
}

}  // namespace ockc::emu::driver
