// A device, ready for work: ock::Context(0). Holds the device's primary context, which it shares with the
// CUDA runtime API and with every library in the process. Buffers, streams and modules keep what they need
// alive.
#pragma once
#include <memory>
#include <ock/context_state.hpp>
#include <ock/stream.hpp>
#include <utility>

namespace ock {

class Context {
  public:
    explicit Context(int ordinal = 0, Where where = Where::here())
        : state_(detail::context_state(ordinal, where)) {}
    Context(Context&&) noexcept = default;
    Context& operator=(Context&&) noexcept = default;

    // CUDA's legacy default stream: ordered with every blocking stream of the process.
    [[nodiscard]] Stream default_stream(Where where = Where::here()) const {
        const auto& state = shared_state(where);
        return Stream(state, state->acquire_borrowed(nullptr, where));
    }
    // A stream of its own, not ordered with the default stream.
    [[nodiscard]] Stream new_stream(Where where = Where::here()) const {
        const auto& state = shared_state(where);
        return Stream(state, state->acquire_owned(where));
    }
    // Waits for all streams.
    void synchronize(Where where = Where::here()) const {
        const driver::Api& api = shared_state(where)->api();
        const detail::CurrentContext current(*state_);
        detail::check(api, api.cuCtxSynchronize(), "waiting for the device", where);
    }
    Result<void> try_synchronize(Where where = Where::here()) const {
        return attempt([&] { synchronize(where); });
    }

    [[nodiscard]] const DeviceLimits& limits(Where where = Where::here()) const {
        return shared_state(where)->limits();
    }
    [[nodiscard]] bool is_emulator(Where where = Where::here()) const {
        return shared_state(where)->api().is_emulator;
    }
    [[nodiscard]] driver::CUcontext handle(Where where = Where::here()) const {
        return shared_state(where)->handle();
    }

    // For the rest of the runtime.
    explicit Context(std::shared_ptr<detail::ContextState> state) : state_(std::move(state)) {}
    const std::shared_ptr<detail::ContextState>& shared_state(Where where) const {
        if (!state_) detail::throw_moved_from("context", where);
        return state_;
    }

  private:
    std::shared_ptr<detail::ContextState> state_;
};

[[nodiscard]] inline Result<Context> try_context(int ordinal = 0, Where where = Where::here()) {
    return attempt([&] { return Context(ordinal, where); });
}

inline Stream Stream::borrow(const Context& context, driver::CUstream stream, Where where) {
    const auto& state = context.shared_state(where);
    return Stream(state, state->acquire_borrowed(stream, where));
}

}  // namespace ock
