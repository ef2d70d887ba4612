// A mark in a stream: another stream or the host can wait for it, and two of them measure time.
#pragma once
#include <memory>
#include <ock/context.hpp>
#include <ock/stream.hpp>
#include <utility>

namespace ock {

class Event {
  public:
    explicit Event(const Context& context, Where where = Where::here())
        : context_(context.shared_state(where)) {
        const detail::CurrentContext current(*context_);
        detail::check(context_->api(), context_->api().cuEventCreate(&handle_, 0), "creating an event",
                      where);
    }
    Event(Event&& other) noexcept
        : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        context_.swap(other.context_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Event() {
        if (handle_ == nullptr) return;
        const detail::CurrentContext current(*context_);
        context_->api().cuEventDestroy_v2(handle_);
    }

    void record(const Stream& stream, Where where = Where::here()) {
        const driver::Api& api = live_api(where);
        const detail::CurrentContext current(*context_);
        detail::check(api, api.cuEventRecord(handle_, stream.handle(where)), "recording an event", where);
    }
    void synchronize(Where where = Where::here()) const {
        const driver::Api& api = live_api(where);
        const detail::CurrentContext current(*context_);
        detail::check(api, api.cuEventSynchronize(handle_), "waiting for an event", where);
    }
    Result<void> try_synchronize(Where where = Where::here()) const {
        return attempt([&] { synchronize(where); });
    }
    // Milliseconds from `earlier` to this event; both must have happened.
    [[nodiscard]] float elapsed_since(const Event& earlier, Where where = Where::here()) const {
        const driver::Api& api = live_api(where);
        earlier.live_api(where);
        const detail::CurrentContext current(*context_);
        float milliseconds = 0;
        detail::check(api, api.cuEventElapsedTime(&milliseconds, earlier.handle_, handle_),
                      "timing two events", where);
        return milliseconds;
    }
    [[nodiscard]] driver::CUevent handle(Where where = Where::here()) const {
        live_api(where);
        return handle_;
    }

  private:
    const driver::Api& live_api(Where where) const {
        if (handle_ == nullptr) detail::throw_moved_from("event", where);
        return context_->api();
    }
    std::shared_ptr<detail::ContextState> context_;
    driver::CUevent handle_ = nullptr;
};

inline void Stream::wait(const Event& event, Where where) const {
    const detail::CurrentContext current(context(where));
    const driver::Api& api = context_->api();
    detail::check(api, api.cuStreamWaitEvent(handle(where), event.handle(where), 0), "waiting for an event",
                  where);
}

}  // namespace ock
