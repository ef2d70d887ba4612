// The state behind the cu* functions: one emulated device, its primary context, and the handles that callers
// hold. A launch runs to its end inside cuLaunchKernel; what goes wrong on the device is remembered and, as
// in a real driver, returned by every later call until the primary context is reset.
#pragma once
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emu/emulator.hpp"

#define OCKC_CUDA_EXPORT extern "C" __attribute__((visibility("default")))

// Opaque to callers; NVIDIA's header names them so.
struct CUctx_st {
    int device = 0;
};
struct CUstream_st {
    unsigned flags = 0;
    int priority = 0;
};
struct CUevent_st {
    unsigned flags = 0;
    std::optional<std::chrono::steady_clock::time_point> recorded;
};
struct CUmod_st;
struct CUfunc_st {
    CUmod_st* module = nullptr;
    std::uint32_t kernel = 0;
    std::atomic<std::uint32_t> dynamic_shared_limit{0};
};
struct CUmod_st {
    std::unique_ptr<ockc::emu::Module> module;
    std::deque<CUfunc_st> functions;  // by kernel
};

namespace ockc::emu::driver {

enum class Result : int {
#define OCKC_CUDA_RESULT(name, text, number, description) name = number,
#include "emu/driver/results.def"
};
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;

constexpr CUresult code(Result result) {
    return static_cast<CUresult>(result);
}
inline CUresult code(ErrorKind kind) {
    return error_number(kind);
}

// What a kernel is launched with, whichever call it came by.
struct LaunchCall {
    CUfunc_st* function = nullptr;
    LaunchConfig config;
    CUstream_st* stream = nullptr;
    void** params = nullptr;
    void** extra = nullptr;
};

class Driver {
  public:
    // Lives until the process ends: callers' static destructors may still use it.
    static Driver& get();

    CUresult initialise();
    bool initialised() const { return device_ != nullptr; }
    Device& device() { return *device_; }
    CUctx_st* primary() { return &primary_; }

    CUctx_st* current() const;
    void set_current(CUctx_st* context);
    void push(CUctx_st* context);
    std::optional<CUctx_st*> pop();

    int retain();
    bool release();
    bool primary_active() const { return retained_.load() > 0; }

    CUresult sticky() const { return sticky_.load(); }
    void reset();
    // Keeps `text` for ock_emulator_last_error and gives back `result`.
    CUresult remember(CUresult result, std::string text);
    std::string last_error() const;

    template <class T>
    T* adopt(std::unique_ptr<T> handle) {
        const std::lock_guard lock(mutex_);
        T* raw = handle.get();
        table<T>().emplace(raw, std::move(handle));
        return raw;
    }
    template <class T>
    bool knows(T* handle) const {
        const std::lock_guard lock(mutex_);
        return const_cast<Driver*>(this)->template table<T>().contains(handle);
    }
    template <class T>
    bool drop(T* handle) {
        std::unique_ptr<T> dead;  // destroyed outside of the lock
        const std::lock_guard lock(mutex_);
        const auto found = table<T>().find(handle);
        if (found == table<T>().end()) return false;
        dead = std::move(found->second);
        table<T>().erase(found);
        return true;
    }
    bool knows_function(const CUfunc_st* function) const;
    bool knows_stream(CUstream_st* stream) const;

    CUresult load(CUmod_st** out, const void* image, std::string& log);
    CUresult launch(const LaunchCall& call);

  private:
    Driver() = default;
    template <class T>
    std::unordered_map<T*, std::unique_ptr<T>>& table();

    mutable std::mutex mutex_;
    std::unique_ptr<Device> device_;
    CUctx_st primary_;
    std::atomic<int> retained_{0};
    std::atomic<CUresult> sticky_{0};
    std::string last_error_;
    std::unordered_map<CUstream_st*, std::unique_ptr<CUstream_st>> streams_;
    std::unordered_map<CUevent_st*, std::unique_ptr<CUevent_st>> events_;
    std::unordered_map<CUmod_st*, std::unique_ptr<CUmod_st>> modules_;
};

template <>
inline std::unordered_map<CUstream_st*, std::unique_ptr<CUstream_st>>& Driver::table<CUstream_st>() {
    return streams_;
}
template <>
inline std::unordered_map<CUevent_st*, std::unique_ptr<CUevent_st>>& Driver::table<CUevent_st>() {
    return events_;
}
template <>
inline std::unordered_map<CUmod_st*, std::unique_ptr<CUmod_st>>& Driver::table<CUmod_st>() {
    return modules_;
}

// The frame of a call that needs a device and a current context in good health.
template <class Body>
CUresult in_context(Body body) {
    Driver& driver = Driver::get();
    if (!driver.initialised()) return code(Result::NotInitialized);
    if (driver.current() == nullptr) return code(Result::InvalidContext);
    if (const CUresult sticky = driver.sticky(); sticky != 0) return sticky;
    return body(driver);
}
// The frame of a call that only needs cuInit.
template <class Body>
CUresult with_driver(Body body) {
    Driver& driver = Driver::get();
    if (!driver.initialised()) return code(Result::NotInitialized);
    return body(driver);
}

}  // namespace ockc::emu::driver
