// What a context owns, shared by everything made from it: the retained primary context, the device's limits,
// and a table of streams. A stream has a slot for life, so "which streams may still touch this memory" is one
// 64-bit mask (buffer.hpp) and ordering one stream after another is two driver calls on fixed handles,
// without a lock.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ock/driver_api.hpp>
#include <ock/error.hpp>
#include <string>

namespace ock {

// What the live device allows; prepared launches are checked against it.
struct DeviceLimits {
    std::string name;
    int compute_capability = 0;  // 10 * major + minor
    std::uint32_t max_threads_per_block = 0;
    std::array<std::uint32_t, 3> max_block{};
    std::array<std::uint32_t, 3> max_grid{};
    std::uint64_t shared_per_block = 0;         // without asking
    std::uint64_t shared_per_block_opt_in = 0;  // after raising the function's attribute
    std::uint32_t multiprocessors = 0;
    bool cooperative_launch = false;
    bool cluster_launch = false;
};

namespace detail {

struct StreamSlot {
    std::atomic<driver::CUstream> handle{nullptr};
    driver::CUevent event = nullptr;   // re-recorded whenever another stream has to wait for this one
    std::atomic<bool> retired{false};  // a borrowed stream that was given back: `event` marks its end
    bool borrowed = false;
    bool in_use = false;  // guarded by ContextState::mutex_, as the next
    int references = 0;
    unsigned index = 0;
};

class ContextState {
  public:
    ContextState(const driver::Api& api, int ordinal, Where where);
    ~ContextState();
    ContextState(const ContextState&) = delete;
    ContextState& operator=(const ContextState&) = delete;

    const driver::Api& api() const { return api_; }
    driver::CUcontext handle() const { return handle_; }
    const DeviceLimits& limits() const { return limits_; }

    static constexpr unsigned kMaxStreams = 64;
    StreamSlot& slot(unsigned index) { return slots_[index]; }
    StreamSlot& default_slot() { return slots_[0]; }
    StreamSlot& acquire_owned(Where where);
    StreamSlot& acquire_borrowed(driver::CUstream stream, Where where);
    void release(StreamSlot& slot);
    // `later` waits for all that `earlier` has been given so far.
    void order_after(StreamSlot& earlier, StreamSlot& later, Where where);

  private:
    void read_limits(driver::CUdevice device, Where where);
    StreamSlot* unused_slot(bool with_stream);
    void create_event(StreamSlot& slot, Where where);

    const driver::Api& api_;
    driver::CUdevice device_ = 0;
    driver::CUcontext handle_ = nullptr;
    DeviceLimits limits_;
    std::mutex mutex_;
    unsigned slot_count_ = 1;  // slot 0 is the default stream
    std::array<StreamSlot, kMaxStreams> slots_;
};

// Makes a context current for one scope; costs one query when it already is.
class CurrentContext {
  public:
    explicit CurrentContext(const ContextState& state) : api_(state.api()) {
        driver::CUcontext now = nullptr;
        if (api_.cuCtxGetCurrent(&now) == driver::kSuccess && now == state.handle()) return;
        pushed_ = api_.cuCtxPushCurrent_v2(state.handle()) == driver::kSuccess;
    }
    ~CurrentContext() {
        driver::CUcontext previous = nullptr;
        if (pushed_) api_.cuCtxPopCurrent_v2(&previous);
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

  private:
    const driver::Api& api_;
    bool pushed_ = false;
};

inline ContextState::ContextState(const driver::Api& api, int ordinal, Where where) : api_(api) {
    if (ordinal < 0 || ordinal >= api.visible_devices) {
        throw Error(ErrorCode::NoDevice,
                    "there is no device " + std::to_string(ordinal) + ": " +
                        std::to_string(api.visible_devices) + " visible through " + api.library,
                    where);
    }
    check(api, api.cuDeviceGet(&device_, api.first_device + ordinal), "finding the device", where);
    read_limits(device_, where);
    check(api, api.cuDevicePrimaryCtxRetain(&handle_, device_), "making the device's context", where);
    for (unsigned i = 0; i < kMaxStreams; ++i)
        slots_[i].index = i;
    slots_[0].in_use = true;
    slots_[0].borrowed = true;
    slots_[0].references = 1;
    try {
        const CurrentContext current(*this);
        create_event(slots_[0], where);
    } catch (...) {
        api.cuDevicePrimaryCtxRelease_v2(device_);
        throw;
    }
}

// Failures are not reported: a program that ends after a trap, or in static destruction, has nobody to tell.
inline ContextState::~ContextState() {
    {
        const CurrentContext current(*this);
        for (unsigned i = 0; i < slot_count_; ++i) {
            StreamSlot& slot = slots_[i];
            if (!slot.borrowed && slot.handle.load() != nullptr) api_.cuStreamDestroy_v2(slot.handle.load());
            if (slot.event != nullptr) api_.cuEventDestroy_v2(slot.event);
        }
    }
    api_.cuDevicePrimaryCtxRelease_v2(device_);
}

inline void ContextState::read_limits(driver::CUdevice device, Where where) {
    const auto attribute = [&](driver::DeviceAttribute which) {
        int value = 0;
        check(api_, api_.cuDeviceGetAttribute(&value, which, device), "reading the device's limits", where);
        return static_cast<std::uint32_t>(value);
    };
    const auto optional_flag =
        [&](driver::DeviceAttribute which) {  // older drivers do not know the newer ones
            int value = 0;
            return api_.cuDeviceGetAttribute(&value, which, device) == driver::kSuccess && value != 0;
        };
    char name[256] = {};
    check(api_, api_.cuDeviceGetName(name, sizeof name, device), "reading the device's name", where);
    limits_.name = name;
    limits_.compute_capability = static_cast<int>(attribute(driver::kComputeCapabilityMajor) * 10 +
                                                  attribute(driver::kComputeCapabilityMinor));
    limits_.max_threads_per_block = attribute(driver::kMaxThreadsPerBlock);
    limits_.max_block = {attribute(driver::kMaxBlockDimX), attribute(driver::kMaxBlockDimY),
                         attribute(driver::kMaxBlockDimZ)};
    limits_.max_grid = {attribute(driver::kMaxGridDimX), attribute(driver::kMaxGridDimY),
                        attribute(driver::kMaxGridDimZ)};
    limits_.shared_per_block = attribute(driver::kMaxSharedMemoryPerBlock);
    limits_.shared_per_block_opt_in = attribute(driver::kMaxSharedMemoryPerBlockOptin);
    limits_.multiprocessors = attribute(driver::kMultiprocessorCount);
    limits_.cooperative_launch = optional_flag(driver::kCooperativeLaunch);
    limits_.cluster_launch = optional_flag(driver::kClusterLaunch);
}

inline void ContextState::create_event(StreamSlot& slot, Where where) {
    if (slot.event != nullptr) return;
    check(api_, api_.cuEventCreate(&slot.event, driver::kEventDisableTiming), "creating an event", where);
}

// A slot nobody uses: one that still has our stream (`with_stream`), or one that can take a new handle.
inline StreamSlot* ContextState::unused_slot(bool with_stream) {
    for (unsigned i = 1; i < slot_count_; ++i) {
        StreamSlot& slot = slots_[i];
        if (!slot.in_use && slot.borrowed != with_stream) return &slot;
    }
    if (with_stream || slot_count_ == kMaxStreams) return nullptr;
    return &slots_[slot_count_++];
}

// Our own streams are pooled, never destroyed before the context: their handles stay valid for every buffer
// that remembers them.
inline StreamSlot& ContextState::acquire_owned(Where where) {
    const std::scoped_lock lock(mutex_);
    if (StreamSlot* pooled = unused_slot(true)) {
        pooled->in_use = true;
        return *pooled;
    }
    StreamSlot* slot = unused_slot(false);
    if (slot == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "more than 63 streams are alive in one context", where);
    }
    const CurrentContext current(*this);
    slot->borrowed =
        true;  // until it has a stream of ours: a failure below leaves a slot that can be taken again
    create_event(*slot, where);
    if (slot->retired.load())
        check(api_, api_.cuEventSynchronize(slot->event), "waiting for a stream", where);
    driver::CUstream stream = nullptr;
    check(api_, api_.cuStreamCreate(&stream, driver::kStreamNonBlocking), "creating a stream", where);
    slot->handle.store(stream);
    slot->retired.store(false);
    slot->borrowed = false;
    slot->in_use = true;
    return *slot;
}

inline StreamSlot& ContextState::acquire_borrowed(driver::CUstream stream, Where where) {
    const std::scoped_lock lock(mutex_);
    for (unsigned i = 0; i < slot_count_; ++i) {
        StreamSlot& slot = slots_[i];
        if (slot.in_use && slot.borrowed && slot.handle.load() == stream) {
            ++slot.references;
            return slot;
        }
    }
    StreamSlot* slot = unused_slot(false);
    if (slot == nullptr) {
        throw Error(ErrorCode::InvalidArgument, "more than 63 streams are alive in one context", where);
    }
    const CurrentContext current(*this);
    slot->borrowed = true;
    create_event(*slot, where);
    if (slot->retired.load())
        check(api_, api_.cuEventSynchronize(slot->event), "waiting for a stream", where);
    slot->handle.store(stream);
    slot->retired.store(false);
    slot->in_use = true;
    slot->references = 1;
    return *slot;
}

inline void ContextState::release(StreamSlot& slot) {
    const std::scoped_lock lock(mutex_);
    if (slot.borrowed) {
        if (--slot.references > 0) return;
        const CurrentContext current(*this);
        api_.cuEventRecord(slot.event, slot.handle.load());
        slot.retired.store(true);
    }
    slot.in_use = false;
}

inline void ContextState::order_after(StreamSlot& earlier, StreamSlot& later, Where where) {
    if (&earlier == &later) return;
    if (!earlier.retired.load()) {
        check(api_, api_.cuEventRecord(earlier.event, earlier.handle.load()), "ordering two streams", where);
    }
    check(api_, api_.cuStreamWaitEvent(later.handle.load(), earlier.event, 0), "ordering two streams", where);
}

// One state per device and process, for as long as anything uses it: two Contexts of one device share
// streams.
inline std::shared_ptr<ContextState> context_state(int ordinal, Where where) {
    static std::mutex mutex;
    static std::array<std::weak_ptr<ContextState>, 64> states;
    const std::scoped_lock lock(mutex);
    const driver::Api& api = driver::api();
    const std::size_t index = static_cast<std::size_t>(ordinal);
    if (ordinal >= 0 && index < states.size()) {
        if (auto shared = states[index].lock()) return shared;
    }
    auto state = std::make_shared<ContextState>(api, ordinal, where);
    if (index < states.size()) states[index] = state;
    return state;
}

}  // namespace detail
}  // namespace ock
