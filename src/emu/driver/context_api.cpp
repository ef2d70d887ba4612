// Contexts, streams and events. Work is done when it is asked for, so a stream is never behind.
#include "emu/driver/state.hpp"

using namespace ockc::emu::driver;

OCKC_CUDA_EXPORT CUresult cuDevicePrimaryCtxRetain(CUctx_st** context, CUdevice device) {
    return with_driver([&](Driver& driver) {
        if (context == nullptr) return code(Result::InvalidValue);
        if (device != 0) return code(Result::InvalidDevice);
        driver.retain();
        *context = driver.primary();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return with_driver([&](Driver& driver) {
        if (device != 0) return code(Result::InvalidDevice);
        return driver.release() ? 0 : code(Result::InvalidContext);
    });
}
OCKC_CUDA_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return with_driver([&](Driver& driver) {
        if (device != 0) return code(Result::InvalidDevice);
        driver.reset();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    return with_driver([&](Driver& driver) {
        if (device != 0) return code(Result::InvalidDevice);
        if (flags == nullptr || active == nullptr) return code(Result::InvalidValue);
        *flags = 0;
        *active = driver.primary_active() ? 1 : 0;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuCtxSetCurrent(CUctx_st* context) {
    return with_driver([&](Driver& driver) {
        if (context != nullptr && context != driver.primary()) return code(Result::InvalidContext);
        driver.set_current(context);
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuCtxGetCurrent(CUctx_st** context) {
    return with_driver([&](Driver& driver) {
        if (context == nullptr) return code(Result::InvalidValue);
        *context = driver.current();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuCtxPushCurrent_v2(CUctx_st* context) {
    return with_driver([&](Driver& driver) {
        if (context != driver.primary()) return code(Result::InvalidContext);
        driver.push(context);
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuCtxPopCurrent_v2(CUctx_st** context) {
    return with_driver([&](Driver& driver) {
        const auto top = driver.pop();
        if (!top) return code(Result::InvalidContext);
        if (context != nullptr) *context = *top;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
    return in_context([&](Driver&) {
        if (device == nullptr) return code(Result::InvalidValue);
        *device = 0;
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuCtxSynchronize() {
    return in_context([](Driver&) { return 0; });
}

// ---------------------------------------------------------------------------------------------------------------
// streams

OCKC_CUDA_EXPORT CUresult cuStreamCreateWithPriority(CUstream_st** stream, unsigned flags, int priority) {
    return in_context([&](Driver& driver) {
        if (stream == nullptr || flags > 1) return code(Result::InvalidValue);
        auto made = std::make_unique<CUstream_st>();
        made->flags = flags;
        made->priority = priority;
        *stream = driver.adopt(std::move(made));
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuStreamCreate(CUstream_st** stream, unsigned flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
}
OCKC_CUDA_EXPORT CUresult cuStreamDestroy_v2(CUstream_st* stream) {
    return with_driver([&](Driver& driver) { return driver.drop(stream) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuStreamSynchronize(CUstream_st* stream) {
    return in_context(
        [&](Driver& driver) { return driver.knows_stream(stream) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuStreamQuery(CUstream_st* stream) {
    return in_context(
        [&](Driver& driver) { return driver.knows_stream(stream) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuStreamWaitEvent(CUstream_st* stream, CUevent_st* event, unsigned flags) {
    return in_context([&](Driver& driver) {
        if (flags > 1) return code(Result::InvalidValue);
        return driver.knows_stream(stream) && driver.knows(event) ? 0 : code(Result::InvalidHandle);
    });
}
OCKC_CUDA_EXPORT CUresult cuStreamGetCtx(CUstream_st* stream, CUctx_st** context) {
    return in_context([&](Driver& driver) {
        if (context == nullptr) return code(Result::InvalidValue);
        if (!driver.knows_stream(stream)) return code(Result::InvalidHandle);
        *context = driver.primary();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuStreamGetFlags(CUstream_st* stream, unsigned* flags) {
    return in_context([&](Driver& driver) {
        if (flags == nullptr) return code(Result::InvalidValue);
        if (!driver.knows_stream(stream)) return code(Result::InvalidHandle);
        *flags = driver.knows(stream) ? stream->flags : 0;
        return 0;
    });
}

// ----------------------------------------------------------------------------------------------------------------
// events

namespace {

constexpr unsigned kDisableTiming = 2;

}  // namespace

OCKC_CUDA_EXPORT CUresult cuEventCreate(CUevent_st** event, unsigned flags) {
    return in_context([&](Driver& driver) {
        if (event == nullptr || flags > 7) return code(Result::InvalidValue);
        auto made = std::make_unique<CUevent_st>();
        made->flags = flags;
        *event = driver.adopt(std::move(made));
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuEventDestroy_v2(CUevent_st* event) {
    return with_driver([&](Driver& driver) { return driver.drop(event) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuEventRecord(CUevent_st* event, CUstream_st* stream) {
    return in_context([&](Driver& driver) {
        if (!driver.knows(event) || !driver.knows_stream(stream)) return code(Result::InvalidHandle);
        event->recorded = std::chrono::steady_clock::now();
        return 0;
    });
}
OCKC_CUDA_EXPORT CUresult cuEventQuery(CUevent_st* event) {
    return in_context([&](Driver& driver) { return driver.knows(event) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuEventSynchronize(CUevent_st* event) {
    return in_context([&](Driver& driver) { return driver.knows(event) ? 0 : code(Result::InvalidHandle); });
}
OCKC_CUDA_EXPORT CUresult cuEventElapsedTime(float* milliseconds, CUevent_st* start, CUevent_st* end) {
    return in_context([&](Driver& driver) {
        if (milliseconds == nullptr) return code(Result::InvalidValue);
        if (!driver.knows(start) || !driver.knows(end)) return code(Result::InvalidHandle);
        if (!start->recorded || !end->recorded || ((start->flags | end->flags) & kDisableTiming) != 0)
            return code(Result::InvalidHandle);
        *milliseconds = std::chrono::duration<float, std::milli>(*end->recorded - *start->recorded).count();
        return 0;
    });
}
