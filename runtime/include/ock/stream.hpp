// An ordered queue of device work: one of the context's own, the default stream, or a borrowed
// CUstream/cudaStream_t.
#pragma once
#include <memory>
#include <ock/context_state.hpp>
#include <ock/error.hpp>
#include <utility>

namespace ock {

class Context;
class Event;

class Stream {
  public:
    // Wraps a stream that somebody else owns (a cudaStream_t passes as it is). It must outlive this object.
    [[nodiscard]] static inline Stream borrow(const Context& context, driver::CUstream stream,
                                              Where where = Where::here());

    Stream(Stream&& other) noexcept
        : context_(std::move(other.context_)), slot_(std::exchange(other.slot_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        Stream(std::move(other)).swap(*this);
        return *this;
    }
    ~Stream() {
        if (slot_ != nullptr) context_->release(*slot_);
    }

    // Waits until the device has done everything enqueued so far; an error of a launch appears here at the
    // latest.
    void synchronize(Where where = Where::here()) const {
        const detail::CurrentContext current(context(where));
        detail::check(context_->api(), context_->api().cuStreamSynchronize(handle(where)),
                      "waiting for the stream's work", where);
    }
    Result<void> try_synchronize(Where where = Where::here()) const {
        return attempt([&] { synchronize(where); });
    }
    // True when nothing is left to do.
    [[nodiscard]] bool is_idle(Where where = Where::here()) const {
        const detail::CurrentContext current(context(where));
        const driver::CUresult code = context_->api().cuStreamQuery(handle(where));
        if (code == driver::kErrorNotReady) return false;
        detail::check(context_->api(), code, "asking for the stream's state", where);
        return true;
    }
    // Later work on this stream starts after the event.
    inline void wait(const Event& event, Where where = Where::here()) const;

    [[nodiscard]] driver::CUstream handle(Where where = Where::here()) const {
        return slot(where).handle.load();
    }

    // For the rest of the runtime.
    detail::ContextState& context(Where where) const {
        if (slot_ == nullptr) detail::throw_moved_from("stream", where);
        return *context_;
    }
    const std::shared_ptr<detail::ContextState>& shared_context(Where where) const {
        context(where);
        return context_;
    }
    detail::StreamSlot& slot(Where where) const {
        context(where);
        return *slot_;
    }

  private:
    friend class Context;
    Stream(std::shared_ptr<detail::ContextState> context, detail::StreamSlot& slot)
        : context_(std::move(context)), slot_(&slot) {}
    void swap(Stream& other) noexcept {
        context_.swap(other.context_);
        std::swap(slot_, other.slot_);
    }

    std::shared_ptr<detail::ContextState> context_;
    detail::StreamSlot* slot_ = nullptr;
};

}  // namespace ock
