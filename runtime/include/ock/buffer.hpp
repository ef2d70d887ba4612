// Device memory. DeviceBuffer<T> owns it and is the name to write; DevSpan<T> is a bare (pointer, length) of
// memory that somebody else owns. A buffer remembers which streams may still read or write it, and a stream
// that comes later waits on an event: two streams cannot race on one buffer. The factories return Owned<T,
// Brand>, a DeviceBuffer whose type is new at every place in the source, so that a launch that gives one
// buffer two roles does not compile.
#pragma once
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <ock/abi.hpp>
#include <ock/stream.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ock {

// Somebody else's device memory: no ownership, and no ordering between streams either.
template <class T>
class DevSpan {
  public:
    using element_type = T;

    constexpr DevSpan() = default;
    constexpr DevSpan(T* device_pointer, std::size_t size) : data_(device_pointer), size_(size) {}
    DevSpan(driver::CUdeviceptr address, std::size_t size)
        : data_(reinterpret_cast<T*>(static_cast<std::uintptr_t>(address))), size_(size) {}
    template <class U>
    requires std::is_same_v<const U, T>
    constexpr DevSpan(DevSpan<U> other) : data_(other.data()), size_(other.size()) {}  // NOLINT: adds const

    constexpr T* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr DevSpan subspan(std::size_t first, std::size_t count) const {
        if (first > size_ || count > size_ - first) {
            throw Error(ErrorCode::InvalidArgument, "subspan reaches past the end of a device span", Where{});
        }
        return DevSpan(data_ + first, count);
    }

  private:
    T* data_ = nullptr;
    std::uint64_t size_ = 0;
};
static_assert(sizeof(DevSpan<float>) == 16);

namespace detail {

// Which streams may still touch a piece of memory. A read by a new stream waits for the last writer; a write
// waits for the writer and for every reader since. Reads may come from several host threads at once (readers_
// only grows then); writing needs exclusive access, as changing any C++ object does.
class UseRecord {
  public:
    UseRecord() = default;
    UseRecord(UseRecord&& other) noexcept : readers_(other.readers_.load()), writer_(other.writer_) {}
    UseRecord& operator=(UseRecord&& other) noexcept {
        readers_.store(other.readers_.load());
        writer_ = other.writer_;
        return *this;
    }

    void before_read(ContextState& context, StreamSlot& stream, Where where) const {
        const std::uint64_t bit = std::uint64_t{1} << stream.index;
        if ((readers_.load(std::memory_order_acquire) & bit) != 0) return;
        if (writer_ != kNone) context.order_after(context.slot(writer_), stream, where);
        readers_.fetch_or(bit, std::memory_order_acq_rel);
    }
    void before_write(ContextState& context, StreamSlot& stream, Where where) {
        if (writer_ != kNone) context.order_after(context.slot(writer_), stream, where);
        for (std::uint64_t left = readers_.load(); left != 0; left &= left - 1) {
            context.order_after(context.slot(static_cast<unsigned>(std::countr_zero(left))), stream, where);
        }
        writer_ = stream.index;
        readers_.store(0);
    }

  private:
    static constexpr unsigned kNone = ~0u;
    mutable std::atomic<std::uint64_t> readers_{0};
    unsigned writer_ = kNone;
};

// The untyped part of a buffer.
class Memory {
  public:
    Memory() = default;
    Memory(std::shared_ptr<ContextState> context, std::size_t bytes, Where where)
        : context_(std::move(context)), bytes_(bytes) {
        if (bytes == 0) return;
        const CurrentContext current(*context_);
        const driver::Api& api = context_->api();
        const driver::CUresult code = api.cuMemAlloc_v2(&address_, bytes);
        if (code != driver::kSuccess) {
            throw_driver_error(api, code, "allocating " + std::to_string(bytes) + " bytes on the device",
                               where);
        }
    }
    Memory(Memory&& other) noexcept
        : context_(std::move(other.context_)),
          address_(std::exchange(other.address_, 0)),
          bytes_(std::exchange(other.bytes_, 0)),
          uses_(std::move(other.uses_)) {}
    Memory& operator=(Memory&& other) noexcept {
        if (this == &other) return *this;
        free();
        context_ = std::move(other.context_);
        address_ = std::exchange(other.address_, 0);
        bytes_ = std::exchange(other.bytes_, 0);
        uses_ = std::move(other.uses_);
        return *this;
    }
    ~Memory() { free(); }

    bool live() const { return context_ != nullptr; }
    driver::CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    ContextState& context(Where where) const {
        if (!context_) throw_moved_from("device buffer", where);
        return *context_;
    }
    // The stream's context, after checking that it is also ours.
    ContextState& shared_with(const Stream& stream, Where where) const {
        ContextState& ours = context(where);
        if (&stream.context(where) != &ours) {
            throw Error(ErrorCode::InvalidArgument, "the stream belongs to another context than the buffer",
                        where);
        }
        return ours;
    }
    const UseRecord& uses() const { return uses_; }
    UseRecord& uses() { return uses_; }

    void fill_zero(const Stream& stream, Where where) {
        ContextState& state = shared_with(stream, where);
        if (bytes_ == 0) return;
        const CurrentContext current(state);
        uses_.before_write(state, stream.slot(where), where);
        check(state.api(), state.api().cuMemsetD8Async(address_, 0, bytes_, stream.handle(where)),
              "clearing a device buffer", where);
    }
    // Host copies return when the host memory may be reused, pageable or pinned.
    void copy_from_host(const Stream& stream, const void* source, Where where) {
        ContextState& state = shared_with(stream, where);
        if (bytes_ == 0) return;
        const CurrentContext current(state);
        uses_.before_write(state, stream.slot(where), where);
        check(state.api(), state.api().cuMemcpyHtoDAsync_v2(address_, source, bytes_, stream.handle(where)),
              "copying to the device", where);
        check(state.api(), state.api().cuStreamSynchronize(stream.handle(where)), "copying to the device",
              where);
    }
    void copy_to_host(const Stream& stream, void* target, Where where) const {
        ContextState& state = shared_with(stream, where);
        const CurrentContext current(state);
        if (bytes_ != 0) {
            uses_.before_read(state, stream.slot(where), where);
            check(state.api(),
                  state.api().cuMemcpyDtoHAsync_v2(target, address_, bytes_, stream.handle(where)),
                  "copying from the device", where);
        }
        check(state.api(), state.api().cuStreamSynchronize(stream.handle(where)), "copying from the device",
              where);
    }
    void copy_from_device(const Stream& stream, const Memory& source, Where where) {
        ContextState& state = shared_with(stream, where);
        source.shared_with(stream, where);
        if (bytes_ == 0 || &source == this) return;
        const CurrentContext current(state);
        source.uses_.before_read(state, stream.slot(where), where);
        uses_.before_write(state, stream.slot(where), where);
        check(state.api(),
              state.api().cuMemcpyDtoDAsync_v2(address_, source.address_, bytes_, stream.handle(where)),
              "copying on the device", where);
    }

  private:
    // cuMemFree waits for work on memory of cuMemAlloc; after a trap, or when the driver is gone, nobody is
    // told.
    void free() noexcept {
        if (address_ == 0) return;
        const CurrentContext current(*context_);
        context_->api().cuMemFree_v2(address_);
        address_ = 0;
    }

    std::shared_ptr<ContextState> context_;
    driver::CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    UseRecord uses_;
};

}  // namespace detail

template <DeviceCopy T>
class DeviceBuffer {
  public:
    using element_type = T;

    DeviceBuffer() = default;  // like a moved-from buffer: any use but assignment throws
    DeviceBuffer(DeviceBuffer&&) noexcept = default;
    DeviceBuffer& operator=(DeviceBuffer&&) noexcept = default;

    [[nodiscard]] static DeviceBuffer zeroed(const Stream& stream, std::size_t size,
                                             Where where = Where::here()) {
        DeviceBuffer buffer(stream, size, where);
        buffer.memory_.fill_zero(stream, where);
        return buffer;
    }
    [[nodiscard]] static DeviceBuffer from_host(const Stream& stream, std::span<const T> source,
                                                Where where = Where::here()) {
        DeviceBuffer buffer(stream, source.size(), where);
        buffer.memory_.copy_from_host(stream, source.data(), where);
        return buffer;
    }

    [[nodiscard]] std::size_t size(Where where = Where::here()) const {
        return live(where).bytes() / sizeof(T);
    }
    [[nodiscard]] bool empty(Where where = Where::here()) const { return size(where) == 0; }
    // The device address, for other libraries and raw-pointer parameters; uses through it are not tracked.
    [[nodiscard]] T* device_pointer(Where where = Where::here()) {
        return reinterpret_cast<T*>(static_cast<std::uintptr_t>(live(where).address()));
    }
    [[nodiscard]] const T* device_pointer(Where where = Where::here()) const {
        return reinterpret_cast<const T*>(static_cast<std::uintptr_t>(live(where).address()));
    }
    [[nodiscard]] DevSpan<T> span(Where where = Where::here()) {
        return {device_pointer(where), size(where)};
    }
    [[nodiscard]] DevSpan<const T> span(Where where = Where::here()) const {
        return {device_pointer(where), size(where)};
    }

    // Everything enqueued on `stream` before is done when this returns.
    [[nodiscard]] std::vector<T> to_host(const Stream& stream, Where where = Where::here()) const {
        if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> keeps bits, not bools
            const auto values = std::make_unique<bool[]>(size(where));
            memory_.copy_to_host(stream, values.get(), where);
            return std::vector<bool>(values.get(), values.get() + size(where));
        } else {
            std::vector<T> values(size(where));
            memory_.copy_to_host(stream, values.data(), where);
            return values;
        }
    }
    [[nodiscard]] Result<std::vector<T>> try_to_host(const Stream& stream,
                                                     Where where = Where::here()) const {
        return attempt([&] { return to_host(stream, where); });
    }
    void copy_to(const Stream& stream, std::span<T> target, Where where = Where::here()) const {
        require_size(target.size(), where);
        memory_.copy_to_host(stream, target.data(), where);
    }
    void copy_from(const Stream& stream, std::span<const T> source, Where where = Where::here()) {
        require_size(source.size(), where);
        memory_.copy_from_host(stream, source.data(), where);
    }
    void copy_from(const Stream& stream, const DeviceBuffer& source, Where where = Where::here()) {
        require_size(source.size(where), where);
        memory_.copy_from_device(stream, source.memory_, where);
    }
    void set_zero(const Stream& stream, Where where = Where::here()) { memory_.fill_zero(stream, where); }

    // For the launchers.
    const detail::Memory& live(Where where) const {
        memory_.context(where);
        return memory_;
    }
    detail::Memory& live(Where where) {
        memory_.context(where);
        return memory_;
    }

  private:
    DeviceBuffer(const Stream& stream, std::size_t size, Where where)
        : memory_(stream.shared_context(where), bytes_for(size, where), where) {}
    static std::size_t bytes_for(std::size_t size, Where where) {
        if (size > PTRDIFF_MAX / sizeof(T)) {
            throw Error(ErrorCode::InvalidArgument,
                        "a buffer of " + std::to_string(size) + " elements has more bytes than memory has",
                        where);
        }
        return size * sizeof(T);
    }
    void require_size(std::size_t other, Where where) const {
        if (other == size(where)) return;
        throw Error(
            ErrorCode::InvalidArgument,
            "copy between " + std::to_string(other) + " and " + std::to_string(size(where)) + " elements",
            where);
    }

    detail::Memory memory_;
};

// What the factories return: the same buffer, with a type of its own for every place in the source that makes
// one. Declare a variable, member or parameter as DeviceBuffer<T> to do without the brand.
template <DeviceCopy T, class Brand>
class Owned : public DeviceBuffer<T> {
  public:
    explicit Owned(DeviceBuffer<T>&& buffer) : DeviceBuffer<T>(std::move(buffer)) {}
    template <class Range>
    Owned(const Stream& stream, const Range& source, Where where = Where::here())
        : DeviceBuffer<T>(DeviceBuffer<T>::from_host(stream, std::span<const T>(source), where)) {}
};

template <class Range>
using HostElement =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Range&>()))>>;

// nvcc's front end does not take a lambda as a default template argument, so there the factories return the
// plain type and only the run-time overlap check is left.
#ifdef __CUDACC__
#define OCK_BRAND_PARAMETER
#define OCK_BUFFER_TYPE(T) DeviceBuffer<T>
#else
#define OCK_BRAND_PARAMETER , auto Brand = [] {}
#define OCK_BUFFER_TYPE(T) Owned<T, decltype(Brand)>

template <class Range OCK_BRAND_PARAMETER>
Owned(const Stream&, const Range&) -> Owned<HostElement<Range>, decltype(Brand)>;
template <class Range OCK_BRAND_PARAMETER>
Owned(const Stream&, const Range&, Where) -> Owned<HostElement<Range>, decltype(Brand)>;
#endif

// `size` zeros, cleared on the stream.
template <DeviceCopy T OCK_BRAND_PARAMETER>
[[nodiscard]] OCK_BUFFER_TYPE(T) zeroed(const Stream& stream, std::size_t size, Where where = Where::here()) {
    return OCK_BUFFER_TYPE(T)(DeviceBuffer<T>::zeroed(stream, size, where));
}

// A copy of contiguous host data: vector, array, span, C array.
template <class Range OCK_BRAND_PARAMETER>
[[nodiscard]] OCK_BUFFER_TYPE(HostElement<Range>)
    from_host(const Stream& stream, const Range& source, Where where = Where::here()) {
    using T = HostElement<Range>;
    return OCK_BUFFER_TYPE(T)(DeviceBuffer<T>::from_host(stream, std::span<const T>(source), where));
}
template <DeviceCopy T OCK_BRAND_PARAMETER>
[[nodiscard]] OCK_BUFFER_TYPE(T)
    from_host(const Stream& stream, std::initializer_list<T> source, Where where = Where::here()) {
    const std::span<const T> values(source.begin(), source.size());
    return OCK_BUFFER_TYPE(T)(DeviceBuffer<T>::from_host(stream, values, where));
}

template <DeviceCopy T OCK_BRAND_PARAMETER>
[[nodiscard]] Result<OCK_BUFFER_TYPE(T)> try_zeroed(const Stream& stream, std::size_t size,
                                                    Where where = Where::here()) {
    return attempt([&] { return OCK_BUFFER_TYPE(T)(DeviceBuffer<T>::zeroed(stream, size, where)); });
}
template <class Range OCK_BRAND_PARAMETER>
[[nodiscard]] Result<OCK_BUFFER_TYPE(HostElement<Range>)> try_from_host(const Stream& stream,
                                                                        const Range& source,
                                                                        Where where = Where::here()) {
    using T = HostElement<Range>;
    return attempt([&] {
        return OCK_BUFFER_TYPE(T)(DeviceBuffer<T>::from_host(stream, std::span<const T>(source), where));
    });
}

#undef OCK_BUFFER_TYPE
#undef OCK_BRAND_PARAMETER

// An output whose index space takes its row width from the host: RowWidth(image, 640).
template <class Buffer>
class RowWidth {
  public:
    RowWidth(Buffer& buffer, std::uint32_t width) : buffer_(&buffer), width_(width) {}
    Buffer& buffer() const { return *buffer_; }
    std::uint32_t width() const { return width_; }

  private:
    Buffer* buffer_;
    std::uint32_t width_;
};

}  // namespace ock
