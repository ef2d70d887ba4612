// The arguments of one launch, on the stack: the values behind each .param in order, and for every slice who
// owns it and whether the kernel writes it. From that follow the rules that Rust's borrow checker holds at a
// call: an output overlaps no other argument (at compile time where the types tell, before the launch
// otherwise), a `requires` relation holds, and a stream waits for others that still use its buffers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ock/buffer.hpp>
#include <ock/contract.hpp>
#include <string>
#include <type_traits>

namespace ock {

namespace detail {

template <class T>
struct BufferTraits {
    using element = void;
    static constexpr bool is_owned = false;
    static constexpr bool is_span = false;
};
template <class T>
struct BufferTraits<DeviceBuffer<T>> {
    using element = T;
    static constexpr bool is_owned = false;
    static constexpr bool is_span = false;
};
template <class T, class Brand>
struct BufferTraits<Owned<T, Brand>> {
    using element = T;
    static constexpr bool is_owned = true;
    static constexpr bool is_span = false;
};
template <class T>
struct BufferTraits<DevSpan<T>> {
    using element = T;
    static constexpr bool is_owned = false;
    static constexpr bool is_span = true;
};

// The buffer inside a RowWidth; any other argument as it is.
template <class T>
struct Unwrapped {
    using type = T;
};
template <class T>
struct Unwrapped<RowWidth<T>> {
    using type = std::remove_const_t<T>;
};
template <class A>
using BufferOf = typename Unwrapped<std::remove_cvref_t<A>>::type;

}  // namespace detail

// A `&[T]`: a buffer or span of exactly T.
template <class A, class T>
concept Input =
    std::is_same_v<std::remove_const_t<typename detail::BufferTraits<std::remove_cvref_t<A>>::element>, T>;

// A `DisjointSlice<T>`, or a slice of atomics: a buffer that is not const, or a span of T.
template <class A, class T>
concept Output = std::is_same_v<typename detail::BufferTraits<std::remove_cvref_t<A>>::element, T> &&
    (detail::BufferTraits<std::remove_cvref_t<A>>::is_span || !std::is_const_v<std::remove_reference_t<A>>);

// A `DisjointSlice` whose index space takes its width from the host.
template <class A, class T>
concept RowOutput =
    !std::is_same_v<detail::BufferOf<A>, std::remove_cvref_t<A>> && Output<detail::BufferOf<A>&, T>;

// False when an output's type says that it is also the other argument: both come from one factory expression.
template <class Out, class Other>
inline constexpr bool distinct = !(detail::BufferTraits<detail::BufferOf<Out>>::is_owned &&
                                   std::is_same_v<detail::BufferOf<Out>, detail::BufferOf<Other>>);

// An unsigned 64-bit size that remembers having overflowed: both sides of a `requires` relation.
class Size {
  public:
    constexpr explicit Size(std::uint64_t value) : value_(value) {}
    constexpr std::uint64_t value() const { return value_; }
    constexpr bool overflowed() const { return overflowed_; }

    friend constexpr Size operator+(Size a, Size b) {
        return Size(a.value_ + b.value_, a.overflowed_ || b.overflowed_ || a.value_ > UINT64_MAX - b.value_);
    }
    friend constexpr Size operator-(Size a, Size b) {
        return Size(a.value_ - b.value_, a.overflowed_ || b.overflowed_ || a.value_ < b.value_);
    }
    friend constexpr Size operator*(Size a, Size b) {
        return Size(a.value_ * b.value_,
                    a.overflowed_ || b.overflowed_ || (b.value_ != 0 && a.value_ > UINT64_MAX / b.value_));
    }

    struct Relation {
        std::uint64_t lhs, rhs;
        bool holds, overflowed;
    };
    friend constexpr Relation operator<(Size a, Size b) { return relate(a, b, a.value_ < b.value_); }
    friend constexpr Relation operator<=(Size a, Size b) { return relate(a, b, a.value_ <= b.value_); }
    friend constexpr Relation operator>(Size a, Size b) { return relate(a, b, a.value_ > b.value_); }
    friend constexpr Relation operator>=(Size a, Size b) { return relate(a, b, a.value_ >= b.value_); }
    friend constexpr Relation operator==(Size a, Size b) { return relate(a, b, a.value_ == b.value_); }
    friend constexpr Relation operator!=(Size a, Size b) { return relate(a, b, a.value_ != b.value_); }

  private:
    constexpr Size(std::uint64_t value, bool overflowed) : value_(value), overflowed_(overflowed) {}
    static constexpr Relation relate(Size a, Size b, bool holds) {
        return {a.value_, b.value_, holds, a.overflowed_ || b.overflowed_};
    }
    std::uint64_t value_;
    bool overflowed_ = false;
};

// `a.len()` and `c.row_width()` of a relation.
template <class Buffer>
Size length_of(const Buffer& buffer) {
    return Size(buffer.size());
}
template <class Buffer>
Size length_of(const RowWidth<Buffer>& rows) {
    return Size(rows.buffer().size());
}
template <class Buffer>
Size row_width_of(const RowWidth<Buffer>& rows) {
    return Size(rows.width());
}

// Rust's char is a Unicode scalar value; C++'s char32_t is any number.
inline char32_t checked_char(char32_t value, const char* parameter, Where where) {
    if (value <= 0x10ffff && (value < 0xd800 || value > 0xdfff)) return value;
    throw Error(ErrorCode::InvalidArgument,
                "argument `" + std::string(parameter) +
                    "` is no Unicode scalar value: " + std::to_string(static_cast<std::uint32_t>(value)),
                where);
}

// Rust's enum has its variants only; a C++ enum class holds any number of its type.
template <class Enum>
void checked_variant(Enum value, std::initializer_list<Enum> variants, const char* parameter, Where where) {
    for (const Enum one : variants) {
        if (one == value) return;
    }
    using Number = std::underlying_type_t<Enum>;
    const auto shown = static_cast<std::conditional_t<std::is_signed_v<Number>, long long, unsigned long long>>(value);
    throw Error(ErrorCode::InvalidArgument, "argument `" + std::string(parameter) + "` is no variant of its enum: " + std::to_string(shown), where);
}

namespace detail {

enum class SliceUse : std::uint8_t { Read, Write, Atomic };

struct SliceArgument {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::uint64_t bytes = 0;
    const char* name = "";
    const UseRecord* read_record = nullptr;  // null for spans: their owner orders the streams
    UseRecord* write_record = nullptr;
    const ContextState* context = nullptr;
    std::uint32_t row_width = 0;
    SliceUse use = SliceUse::Read;
};

[[noreturn]] inline void throw_aliasing(const KernelContract& kernel, const SliceArgument& out,
                                        const SliceArgument& other, Where where) {
    const bool both = other.use == SliceUse::Write;
    throw Error(ErrorCode::Aliasing,
                std::string(both ? "error[E0499]" : "error[E0502]") + ": kernel `" + kernel.name +
                    "`: cannot borrow the memory of `" + out.name + "` as mutable " +
                    (both ? "more than once: it overlaps `"
                          : "because it is also borrowed as immutable: it overlaps `") +
                    other.name + "`",
                where);
}

inline bool overlap(const SliceArgument& a, const SliceArgument& b) {
    return a.address < b.address + b.bytes && b.address < a.address + a.bytes && a.bytes != 0 && b.bytes != 0;
}

}  // namespace detail

// Arguments for `kParams` .params, `kSlices` of the kernel's parameters being slices.
template <std::size_t kParams, std::size_t kSlices>
class Arguments {
  public:
    Arguments(const KernelContract& kernel, Where where) : kernel_(kernel), where_(where) {}
    Arguments(const Arguments&) = delete;  // the pointers lead into this object
    Arguments& operator=(const Arguments&) = delete;

    template <class T, Input<T> Buffer>
    void input(const char* name, const Buffer& buffer) {
        add_slice<T>(name, buffer, detail::SliceUse::Read);
    }
    template <class T, Output<T> Buffer>
    void output(const char* name, Buffer&& buffer) {
        add_slice<T>(name, buffer, detail::SliceUse::Write);
    }
    // A slice of atomics: written, yet shared, so two of them may be one.
    template <class T, Output<T> Buffer>
    void atomic(const char* name, Buffer&& buffer) {
        add_slice<T>(name, buffer, detail::SliceUse::Atomic);
    }
    template <class T, class Buffer>
    void rows(const char* name, const RowWidth<Buffer>& rows) {
        if (rows.width() == 0) {
            ContractViolation violation;
            violation.kind = ContractErrorKind::ZeroRowWidth;
            violation.kernel = kernel_.name;
            throw LaunchContractError(std::move(violation), "`" + std::string(name) + "`", where_);
        }
        detail::SliceArgument& slice = add_slice<T>(name, rows.buffer(), detail::SliceUse::Write);
        slice.row_width = rows.width();
        params_[param_count_++] = &slice.row_width;
    }
    // A tensor of a tile kernel: its address, then an extent and a stride for each axis, which must live until the launch.
    template <class T, class Buffer>
    void tensor(const char* name, Buffer& buffer, detail::SliceUse use, unsigned rank, std::int32_t* extents,
                std::int32_t* strides) {
        add_slice<T>(name, buffer, use);
        --param_count_;   // a tensor has no length
        for (unsigned k = 0; k < rank; ++k) params_[param_count_++] = extents + k;
        for (unsigned k = 0; k < rank; ++k) params_[param_count_++] = strides + k;
    }
    // Scalars, structs and raw pointers. The value must live until the launch.
    template <class T>
    void value(const T& value) {
        params_[param_count_++] = const_cast<T*>(&value);  // the driver only reads it
    }

    void require(const char* text, const Size::Relation& relation) const {
        if (relation.holds && !relation.overflowed) [[likely]]
            return;
        ContractViolation violation;
        violation.kind = relation.overflowed ? ContractErrorKind::SizeRequirementOverflow
                                             : ContractErrorKind::SizeRequirementViolated;
        violation.kernel = kernel_.name;
        violation.relation = text;
        violation.actual = relation.lhs;
        violation.limit = relation.rhs;
        throw LaunchContractError(std::move(violation),
                                  std::string(text) + ", with " + std::to_string(relation.lhs) + " and " +
                                      std::to_string(relation.rhs),
                                  where_);
    }

    void check_disjoint() const {
        for (std::size_t i = 1; i < slice_count_; ++i) {
            for (std::size_t k = 0; k < i; ++k)
                check_pair(slices_[k], slices_[i]);
        }
    }
    void check_context(const detail::ContextState& context) const {
        for (std::size_t i = 0; i < slice_count_; ++i) {
            if (slices_[i].context == nullptr || slices_[i].context == &context) continue;
            ContractViolation violation;
            violation.kind = ContractErrorKind::ContextMismatch;
            violation.kernel = kernel_.name;
            throw LaunchContractError(std::move(violation), "buffer `" + std::string(slices_[i].name) + "`",
                                      where_);
        }
    }
    void order_streams(detail::ContextState& context, detail::StreamSlot& stream) const {
        for (std::size_t i = 0; i < slice_count_; ++i) {
            const detail::SliceArgument& slice = slices_[i];
            if (slice.write_record != nullptr) {
                slice.write_record->before_write(context, stream, where_);
            } else if (slice.read_record != nullptr) {
                slice.read_record->before_read(context, stream, where_);
            }
        }
    }
    void** params() { return params_.data(); }
    Where where() const { return where_; }

  private:
    template <class T, class Buffer>
    detail::SliceArgument& add_slice(const char* name, Buffer& buffer, detail::SliceUse use) {
        detail::SliceArgument& slice = slices_[slice_count_++];
        slice.name = name;
        slice.use = use;
        if constexpr (detail::BufferTraits<std::remove_const_t<Buffer>>::is_span) {
            slice.address = reinterpret_cast<std::uintptr_t>(buffer.data());
            slice.length = buffer.size();
            slice.bytes = buffer.size() * sizeof(T);
        } else {
            auto& memory = buffer.live(where_);
            slice.address = memory.address();
            slice.length = memory.bytes() / sizeof(T);
            slice.bytes = memory.bytes();
            slice.context = &memory.context(where_);
            slice.read_record = &memory.uses();
            if constexpr (!std::is_const_v<Buffer>) {
                if (use != detail::SliceUse::Read) slice.write_record = &memory.uses();
            }
        }
        params_[param_count_++] = &slice.address;
        params_[param_count_++] = &slice.length;
        return slice;
    }
    void check_pair(const detail::SliceArgument& a, const detail::SliceArgument& b) const {
        using detail::SliceUse;
        if (a.use == SliceUse::Read && b.use == SliceUse::Read) return;
        if (a.use == SliceUse::Atomic && b.use == SliceUse::Atomic) return;
        if (!detail::overlap(a, b)) [[likely]]
            return;
        const bool first_writes =
            a.use == SliceUse::Write || (a.use == SliceUse::Atomic && b.use == SliceUse::Read);
        if (first_writes) detail::throw_aliasing(kernel_, a, b, where_);
        detail::throw_aliasing(kernel_, b, a, where_);
    }

    const KernelContract& kernel_;
    Where where_;
    std::size_t param_count_ = 0;
    std::size_t slice_count_ = 0;
    std::array<void*, kParams == 0 ? 1 : kParams> params_{};
    std::array<detail::SliceArgument, kSlices == 0 ? 1 : kSlices> slices_{};
};

}  // namespace ock
