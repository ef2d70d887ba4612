// Work that is described first and done later: an Operation<T> gives a T when it is run on a stream. Nothing touches the
// device before sync_on or async_on; a chain has one synchronisation, at its end.
#pragma once
#include <memory>
#include <ock/stream.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ock {

template <class T>
class Operation;
template <class T>
class Tensor;
template <class T>
class Partition;
template <class T>
class MappedPartition;

namespace detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... Parts>
inline constexpr bool is_tuple<std::tuple<Parts...>> = true;
template <class T>
inline constexpr bool is_partition = false;
template <class T>
inline constexpr bool is_partition<Partition<T>> = true;
template <class T>
inline constexpr bool is_partition<MappedPartition<T>> = true;
template <class T>
inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<Tensor<T>> = true;

// A function that is called once and may hold what cannot be copied.
template <class T>
class Deferred {
  public:
    template <class Run>
    explicit Deferred(Run run) : held_(std::make_unique<Holder<Run>>(std::move(run))) {}
    T run(const Stream& stream, Where where) {
        if (!held_) throw_moved_from("operation", where);
        const std::unique_ptr<Base> once = std::move(held_);
        return once->run(stream, where);
    }

  private:
    struct Base {
        virtual ~Base() = default;
        virtual T run(const Stream& stream, Where where) = 0;
    };
    template <class Run>
    struct Holder final : Base {
        explicit Holder(Run held) : held(std::move(held)) {}
        T run(const Stream& stream, Where where) override { return held(stream, where); }
        Run held;
    };
    std::unique_ptr<Base> held_;
};

}  // namespace detail

template <class T>
class [[nodiscard]] Operation {
  public:
    // `run` is called as run(stream, where) and gives a T.
    template <class Run>
    explicit Operation(Run run) : deferred_(std::move(run)) {}

    // Does it and waits until the device is done.
    T sync_on(const Stream& stream, Where where = Where::here()) && {
        T result = deferred_.run(stream, where);
        stream.synchronize(where);
        return result;
    }
    // Enqueues it: what it gives is ready for work on this stream, and for others by the order of its buffers.
    T async_on(const Stream& stream, Where where = Where::here()) && { return deferred_.run(stream, where); }

    // What `next` makes of the result, on the same stream.
    template <class Next>
    auto then(Next next) && {
        using Result = std::invoke_result_t<Next, T>;
        return Operation<Result>([held = std::move(deferred_), next = std::move(next)](const Stream& stream, Where where) mutable -> Result {
            return next(held.run(stream, where));
        });
    }

    // Of what a launch hands back: the first or last argument, the others are dropped.
    auto first() && requires detail::is_tuple<T> {
        return std::move(*this).then([](T parts) { return std::move(std::get<0>(parts)); });
    }
    auto last() && requires detail::is_tuple<T> {
        return std::move(*this).then([](T parts) { return std::move(std::get<std::tuple_size_v<T> - 1>(parts)); });
    }
    auto unpartition() && requires detail::is_partition<T> {
        return std::move(*this).then([](T partition) { return std::move(partition).unpartition(); });
    }
    auto to_host() && requires detail::is_tensor<T> {
        using Element = typename T::element_type;
        return Operation<std::vector<Element>>([held = std::move(deferred_)](const Stream& stream, Where where) mutable {
            return held.run(stream, where).to_host(stream, where);
        });
    }

  private:
    detail::Deferred<T> deferred_;
};

}  // namespace ock
