// Copies of boxes of tensors between global and shared memory, done at once. What lies outside of the tensor is filled in on the
// way to shared memory and left alone on the way back. In shared memory the box is dense, its rows permuted by the map's swizzle.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "emu/async.hpp"
#include "emu/matrix_elements.hpp"
#include "emu/tensor_map.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Mode;

constexpr U32 kSharedAlign = 128;   // of a box
constexpr U32 kPiece = 16;          // bytes that a swizzle keeps together

// One lane's copy.
struct Box {
    TensorMap map;
    std::array<std::int64_t, kMostDims> first{};   // coordinates of its first element
    std::array<U32, kMostDims> count{};            // elements that are copied
    U32 element = 0;                               // bytes

    U32 row_bytes() const { return count[0] * element; }
    U32 rows() const { return count[1] * count[2] * count[3] * count[4]; }
    U32 bytes() const { return row_bytes() * rows(); }

    // The address of row `index`'s element with coordinate 0, and whether the row is in the tensor.
    bool row(U32 index, U64& address) const {
        address = map.address;
        bool inside = true;
        for (U32 d = 1; d < map.rank; ++d) {
            const std::int64_t at = first[d] + static_cast<std::int64_t>(index % count[d]) * map.steps[d];
            index /= count[d];
            inside &= at >= 0 && at <= static_cast<std::int64_t>(map.dims[d]);
            address += static_cast<U64>(at) * map.strides[d - 1];
        }
        return inside;
    }
    // Which elements of a row are in the tensor: begin .. end - 1 of it.
    std::pair<U32, U32> inside() const {
        const std::int64_t size = std::int64_t{map.dims[0]} + 1, most = count[0];
        const std::int64_t begin = std::clamp<std::int64_t>(-first[0], 0, most), end = std::clamp<std::int64_t>(size - first[0], begin, most);
        return {static_cast<U32>(begin), static_cast<U32>(end)};
    }
};

bool read_tensor_map(const Op& op, Warp& warp, U32 lane, U64 address, TensorMap& map) {
    constexpr U32 kHalf = sizeof(TensorMap) / 2;
    for (U32 i = 0; i < 2; ++i) {
        const std::byte* half = resolve(warp, op, address + i * kHalf, lane, kHalf, false);
        if (half == nullptr) return false;
        __builtin_memcpy(reinterpret_cast<std::byte*>(&map) + i * kHalf, half, kHalf);
    }
    if (map.magic == kTensorMapMagic) return true;
    fault(warp, op, ErrorKind::LaunchFailed, lane, fmt::format("no tensor map at {:#x}: cuTensorMapEncodeTiled makes them", address), address);
    return false;
}

bool read_tensor_box(const Op& op, Warp& warp, U32 lane, U32 map_operand, Box& box) {
    if (!read_tensor_map(op, warp, lane, warp.lanes<U64>(op.source[map_operand])[lane], box.map)) return false;
    const TensorMap& map = box.map;
    if (map.rank != op.list_size) {
        fault(warp, op, ErrorKind::LaunchFailed, lane, fmt::format("{} coordinates for a tensor of {} dimensions", op.list_size, map.rank));
        return false;
    }
    box.element = tensor_element_bytes(map.type);
    box.count.fill(1);
    for (U32 d = 0; d < map.rank; ++d) {
        box.first[d] = warp.lanes<S32>(warp.worker->program->slots[op.list + d])[lane];
        box.count[d] = (map.box[d] + map.steps[d] - 1u) / map.steps[d];
    }
    return true;
}

// The place of a box or a barrier in shared memory; null after a fault.
std::byte* place_of_box(const Op& op, Warp& warp, U32 lane, U64 at, U32 bytes, U32 align) {
    std::byte* place = at % align == 0 ? shared_place(warp, at, bytes) : nullptr;
    if (place == nullptr) {
        const bool crooked = at % align != 0;
        fault(warp, op, crooked ? ErrorKind::Misaligned : ErrorKind::IllegalAddress, lane,
              crooked ? fmt::format("a tensor copy uses {:#x} of shared memory, which is not a multiple of {}", at, align)
                      : fmt::format("illegal address: a tensor copy uses {} bytes at {:#x} of shared memory; a block has {}", bytes, at, warp.block->shared_bytes),
              at);
    }
    return place;
}

// `bytes` bytes of global memory in one piece; null after a fault.
std::byte* global_bytes(const Op& op, Warp& warp, U32 lane, U64 address, U32 bytes, bool write) {
    std::byte* begin = resolve(warp, op, address, lane, 1, write);
    if (begin == nullptr || resolve(warp, op, address + bytes - 1, lane, 1, write) == nullptr) return nullptr;
    return watch_bytes(warp, op, false, address, bytes, lane, write) ? begin : nullptr;
}

// What fills an element outside of the tensor.
void fill_row(const Box& box, std::byte* row) {
    std::fill_n(row, box.row_bytes(), std::byte{0});
    if (!box.map.fill_nan) return;
    for (U32 i = 0; i < box.row_bytes(); ++i) row[i] = i % box.element == box.element - 1 ? std::byte{0x7F} : std::byte{0xFF};
}

constexpr U32 kMostRowBytes = 256 * 8;

// Row `index` of the box as it comes from the tensor; false after a fault.
bool gather_row(const Op& op, Warp& warp, U32 lane, const Box& box, U32 index, std::byte* row) {
    fill_row(box, row);
    U64 address = 0;
    const auto [begin, end] = box.inside();
    if (!box.row(index, address) || begin == end) return true;
    address += static_cast<U64>(box.first[0] + begin) * box.element;
    const U32 bytes = (end - begin) * box.element;
    const std::byte* from = global_bytes(op, warp, lane, address, bytes, false);
    if (from == nullptr) return false;
    __builtin_memcpy(row + begin * box.element, from, bytes);
    return true;
}

// Calls move(where the piece is in the row, its place in shared memory) for the pieces of a row.
template <class Move>
void each_row_piece(const Box& box, U64 shared, std::byte* base, U32 index, Move move) {
    for (U32 at = 0; at < box.row_bytes(); at += kPiece) {
        const U64 plain = shared + U64{index} * box.row_bytes() + at;
        move(at, base + (swizzled(plain, box.map.swizzle) - shared));
    }
}

// In shared memory: where the box goes. The swizzle pattern counts from multiples of its size, so a box must begin at one.
bool pattern_fits(const Op& op, Warp& warp, U32 lane, const Box& box, U64 shared) {
    const U32 pattern = std::max(kSharedAlign, swizzle_bytes(box.map.swizzle) * 8);
    if (shared % pattern == 0) return true;
    fault(warp, op, ErrorKind::Misaligned, lane,
          fmt::format("a tensor copy uses {:#x} of shared memory: with this swizzle the emulator wants a multiple of {}", shared, pattern), shared);
    return false;
}

// ---------------------------------------------------------------------------------------------------------
// to shared memory

// source: 0 the place, 1 the map, 2 the barrier, 3 the blocks.
template <bool kMulticast>
const Op* run_tensor_load(const Op& op, Warp& warp) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        Box box;
        if (!read_tensor_box(op, warp, lane, 1, box)) return nullptr;
        const U64 to = warp.lanes<U64>(op.source[0])[lane], barrier = warp.lanes<U64>(op.source[2])[lane];
        if (!pattern_fits(op, warp, lane, box, to % kClusterStride)) return nullptr;
        U32 blocks = kMulticast ? warp.lanes<U16>(op.source[3])[lane] : 1;
        for (U32 rank = 0; blocks != 0; blocks >>= 1, ++rank) {
            if ((blocks & 1) == 0) continue;
            const auto in_block = [&](U64 at) { return kMulticast ? (U64{rank} + 1) * kClusterStride + at % kClusterStride : at; };
            std::byte* place = place_of_box(op, warp, lane, in_block(to), box.bytes(), kSharedAlign);
            if (place == nullptr) return nullptr;
            std::byte* word = place_of_box(op, warp, lane, in_block(barrier), sizeof(U64), sizeof(U64));
            if (word == nullptr) return nullptr;
            std::byte row[kMostRowBytes];
            for (U32 index = 0; index < box.rows(); ++index) {
                if (!gather_row(op, warp, lane, box, index, row)) return nullptr;
                each_row_piece(box, to % kClusterStride, place, index, [&](U32 at, std::byte* piece) { __builtin_memcpy(piece, row + at, kPiece); });
            }
            bytes_have_come(word, box.bytes());
        }
    }
    return &op + 1;
}

// ---------------------------------------------------------------------------------------------------------
// to global memory

// What stands there and what comes, combined; the type says how.
template <class T>
T combine_integers(Mode mode, T old, T value) {
    switch (mode) {
        case Mode::Add: return static_cast<T>(static_cast<U64>(old) + static_cast<U64>(value));
        case Mode::Min: return value < old ? value : old;
        case Mode::Max: return value < old ? old : value;
        case Mode::Inc: return old >= value ? T{0} : static_cast<T>(old + 1);
        case Mode::Dec: return old == 0 || old > value ? value : static_cast<T>(old - 1);
        case Mode::And: return old & value;
        case Mode::Or: return old | value;
        case Mode::Xor: return old ^ value;
        default: return value;   // a plain store
    }
}
template <class Format, class Bits>
Bits combine_floats(Mode mode, Bits old, Bits value) {
    const auto a = Format::value(old), b = Format::value(value);
    switch (mode) {
        case Mode::Add: return static_cast<Bits>(Format::bits(a + b));
        case Mode::Min: return b < a ? value : old;
        case Mode::Max: return a < b ? value : old;
        default: return value;
    }
}

// Does the reduction exist for the tensor's type?
bool reduces(Mode mode, TensorType type) {
    const bool half = type == TensorType::F16 || type == TensorType::BF16, wide = type == TensorType::U64 || type == TensorType::S64;
    const bool integer = wide || type == TensorType::U32 || type == TensorType::S32;
    switch (mode) {
        case Mode::Add: return half || type == TensorType::U32 || type == TensorType::S32 || type == TensorType::U64 || type == TensorType::F32;
        case Mode::Min:
        case Mode::Max: return half || integer;
        case Mode::Inc:
        case Mode::Dec: return type == TensorType::U32;
        default: return integer;   // and, or, xor
    }
}

U64 combine_bits(Mode mode, TensorType type, U64 old, U64 value) {
    switch (type) {
        case TensorType::S32: return static_cast<U32>(combine_integers(mode, static_cast<S32>(old), static_cast<S32>(value)));
        case TensorType::U32: return combine_integers(mode, static_cast<U32>(old), static_cast<U32>(value));
        case TensorType::S64: return static_cast<U64>(combine_integers(mode, static_cast<S64>(old), static_cast<S64>(value)));
        case TensorType::F16: return combine_floats<Half>(mode, static_cast<U16>(old), static_cast<U16>(value));
        case TensorType::BF16: return combine_floats<Brain>(mode, static_cast<U16>(old), static_cast<U16>(value));
        case TensorType::F32: return combine_floats<Single>(mode, static_cast<U32>(old), static_cast<U32>(value));
        default: return combine_integers(mode, old, value);
    }
}

template <class Cell>
void reduce_cell(std::byte* at, const std::byte* from, Mode mode, TensorType type) {
    Cell value;
    __builtin_memcpy(&value, from, sizeof value);
    auto* cell = reinterpret_cast<Cell*>(at);
    Cell old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(cell, &old, static_cast<Cell>(combine_bits(mode, type, old, value)), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

// source: 0 the map, 1 the place. Mode None: a store.
const Op* run_tensor_store(const Op& op, Warp& warp) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        Box box;
        if (!read_tensor_box(op, warp, lane, 0, box)) return nullptr;
        if (op.mode != Mode::None && !reduces(op.mode, box.map.type))
            return fault(warp, op, ErrorKind::LaunchFailed, lane, fmt::format("`{}` of a tensor with elements of this type does not exist", ptx::text(op.mode)));
        const U64 from = warp.lanes<U64>(op.source[1])[lane];
        std::byte* place = pattern_fits(op, warp, lane, box, from) ? place_of_box(op, warp, lane, from, box.bytes(), kSharedAlign) : nullptr;
        if (place == nullptr || !watch_bytes(warp, op, true, from, box.bytes(), lane, false)) return nullptr;
        const auto [begin, end] = box.inside();
        for (U32 index = 0; index < box.rows(); ++index) {
            std::byte row[kMostRowBytes];
            each_row_piece(box, from, place, index, [&](U32 at, std::byte* piece) { __builtin_memcpy(row + at, piece, kPiece); });
            U64 address = 0;
            if (!box.row(index, address) || begin == end) continue;
            address += static_cast<U64>(box.first[0] + begin) * box.element;
            const U32 bytes = (end - begin) * box.element;
            std::byte* to = global_bytes(op, warp, lane, address, bytes, true);
            if (to == nullptr) return nullptr;
            const std::byte* source = row + begin * box.element;
            if (op.mode == Mode::None) {
                __builtin_memcpy(to, source, bytes);
                continue;
            }
            for (U32 at = 0; at < bytes; at += box.element) {
                if (box.element == 2) reduce_cell<U16>(to + at, source + at, op.mode, box.map.type);
                else if (box.element == 4) reduce_cell<U32>(to + at, source + at, op.mode, box.map.type);
                else reduce_cell<U64>(to + at, source + at, op.mode, box.map.type);
            }
        }
    }
    return &op + 1;
}

// Nothing comes nearer here, but the map must be one.
template <bool kBox>
const Op* run_tensor_prefetch(const Op& op, Warp& warp) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        Box box;
        if (kBox ? !read_tensor_box(op, warp, lane, 0, box) : !read_tensor_map(op, warp, lane, warp.lanes<U64>(op.source[0])[lane], box.map)) return nullptr;
    }
    return &op + 1;
}

}  // namespace

Handlers select_tensor(const Request& request) {
    const auto same = [](Handler handler) { return Handlers{handler, handler}; };
    switch (request.form) {
        case Form::TensorLoad: return same(run_tensor_load<false>);
        case Form::TensorLoadMulticast: return same(run_tensor_load<true>);
        case Form::TensorStore:
        case Form::TensorReduce: return same(run_tensor_store);
        case Form::TensorPrefetch: return same(run_tensor_prefetch<true>);
        case Form::PrefetchMap: return same(run_tensor_prefetch<false>);
        default: return {};
    }
}

}  // namespace ockc::emu
