// Products of a warpgroup (sm_90a). Each warp computes its 16 of the 64 rows by itself when it comes to the instruction.
//
// Sums come to the registers when a wait covers their group; until then the registers hold a pattern, so that code which
// reads them too early goes wrong here, too. A product without a fence before it must find its sums as the last wait left them.
//
// A matrix in shared memory is described by start (bits 0..13, times 16), leading (16..29) and stride (32..45) offset and the
// swizzle (62, 63). Offsets of an element: with K-major rows of W bytes, row r and byte b of a row, (r % 8) W + r/8 stride + b; with
// M- or N-major ones, byte b of the row k, b/W leading + k/8 stride + (k % 8) W + b % W; without a swizzle pieces of 8 rows of 16 bytes,
// leading apart along K and stride along the other dimension. The swizzle changes the sum's address (tensor_map.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "emu/async.hpp"
#include "emu/matrix_elements.hpp"
#include "emu/tensor_map.hpp"
#include "ptx/matrix.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Type;

constexpr U32 kWarpsOfGroup = 4;
constexpr U32 kRowsOfWarp = 16;
constexpr U32 kMostColumns = 256;
constexpr U32 kDepthBytes = 32;       // of a row of A along K
constexpr U32 kPattern = 0xFFFF'DEADu;   // a NaN as f32 and as f16

const Op* bad_product(Warp& warp, const Op& op, std::string what) {
    return fault(warp, op, ErrorKind::LaunchFailed, static_cast<U32>(__builtin_ctz(warp.active)), std::move(what));
}

// Are all lanes of the warp here, in a whole warpgroup? If not, `next` is what runs instead.
bool whole_group(const Op& op, Warp& warp, const Op*& next) {
    if (!converged(warp, op, kAllLanes, next)) return false;
    const U32 first = warp.index / kWarpsOfGroup * kWarpsOfGroup;
    if (warp.exited == 0 && first + kWarpsOfGroup <= warp.block->warps.size()) return true;
    next = bad_product(warp, op, fmt::format("warp {} is not in a group of four whole warps, which this operation needs", warp.index));
    return false;
}

// ---------------------------------------------------------------------------------------------------------
// fence, commit, wait

const Op* run_wgmma_fence(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_group(op, warp, next)) return next;
    warp.products.fenced = true;
    warp.products.settled.clear();
    return &op + 1;
}

const Op* run_wgmma_commit(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_group(op, warp, next)) return next;
    ++warp.products.groups;
    return &op + 1;
}

const Op* run_wgmma_wait(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_group(op, warp, next)) return next;
    WarpgroupProducts& products = warp.products;
    const auto done = [&](const Accumulators& sums) { return sums.group + op.imm < products.groups; };
    for (Accumulators& sums : products.pending) {
        if (!done(sums)) continue;
        for (std::size_t i = 0; i < sums.slots.size(); ++i) std::copy_n(&sums.values[i * kLanes], kLanes, warp.lanes<U32>(sums.slots[i]));
        products.fenced = false;
        products.settled.push_back(sums);
    }
    std::erase_if(products.pending, done);
    return &op + 1;
}

const Op* run_setmaxnreg(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_group(op, warp, next)) return next;
    constexpr U64 kFewest = 24, kMost = 256, kUnit = 8;
    if (op.imm >= kFewest && op.imm <= kMost && op.imm % kUnit == 0) return &op + 1;
    return bad_product(warp, op, fmt::format("setmaxnreg takes a multiple of 8 from 24 to 256, not {}", op.imm));
}

// ---------------------------------------------------------------------------------------------------------
// operands

struct MatrixAt {
    U64 start, leading, stride;
    TensorSwizzle swizzle;
    bool down;   // M- or N-major: a row of memory goes along that dimension

    explicit MatrixAt(U64 bits, bool down)
        : start((bits & 0x3FFF) << 4), leading((bits >> 16 & 0x3FFF) << 4), stride((bits >> 32 & 0x3FFF) << 4), down(down) {
        constexpr TensorSwizzle kModes[] = {TensorSwizzle::None, TensorSwizzle::B128, TensorSwizzle::B64, TensorSwizzle::B32};
        swizzle = kModes[bits >> 62];
    }
    // Of the element in row (of A; of B: column) r and k-th place, each `bytes` wide.
    U64 address(U32 r, U32 k, U32 bytes) const {
        const U32 row = swizzle_bytes(swizzle);
        U64 at = start;
        if (row == 0) {
            const U32 along = down ? r * bytes : k * bytes, across = down ? k : r;
            const U64 next_along = down ? stride : leading, next_across = down ? leading : stride;
            at += along / 16 * next_along + across / 8 * next_across + across % 8 * 16 + along % 16;
        } else if (down) {
            const U32 along = r * bytes;
            at += along / row * leading + k / 8 * stride + k % 8 * row + along % row;
        } else {
            at += r % 8 * row + r / 8 * stride + k * bytes;
        }
        return swizzled(at, swizzle);
    }
};

template <class K>
constexpr U32 bytes_of() {
    return K::kBits < 8 ? 1 : K::kBits / 8;   // of what is read at once
}

// out[r][k] for `rows` rows from `first` on; false after a fault.
template <class K, class Out>
bool read_matrix(const Op& op, Warp& warp, U64 descriptor, bool down, U32 first, U32 rows, U32 depth, Out out) {
    constexpr U64 kBaseOffset = 7ull << 49;
    if ((descriptor & kBaseOffset) != 0) {
        bad_product(warp, op, "the emulator reads matrix descriptors whose base offset is 0: align the matrix to its swizzle pattern");
        return false;
    }
    const MatrixAt matrix(descriptor, down);
    constexpr U32 kInPiece = 8 * bytes_of<K>() / K::kBits;   // elements
    for (U32 r = 0; r < rows; ++r) {
        for (U32 k = 0; k < depth; k += kInPiece) {
            const U64 at = matrix.address(first + r, k / kInPiece, bytes_of<K>());
            const std::byte* place = shared_place(warp, at, bytes_of<K>());
            if (place == nullptr) {
                fault(warp, op, ErrorKind::IllegalAddress, 0,
                      fmt::format("illegal address: a matrix in shared memory goes to {:#x}; the block has {} bytes", at, warp.block->shared_bytes), at);
                return false;
            }
            if (!watch_bytes(warp, op, true, at, bytes_of<K>(), 0, false)) return false;
            U32 bits = 0;
            __builtin_memcpy(&bits, place, bytes_of<K>());
            for (U32 j = 0; j < kInPiece; ++j) out(r, k + j, element<K>(bits, j));
        }
    }
    return true;
}

// A from the registers of the warp, as mma has it.
template <class K, class Out>
void read_fragment(const Op& op, Warp& warp, U32 first, Out out) {
    constexpr U32 kPacked = 32 / K::kBits;
    for (U32 r = 0; r < 4; ++r) {
        const U32* reg = warp.lanes<U32>(warp.worker->program->slots[op.list + first + r]);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            for (U32 j = 0; j < kPacked; ++j)
                out(lane / 4 + 8 * (r % 2), lane % 4 * kPacked + j + 4 * kPacked * (r / 2), element<K>(reg[lane], j));
        }
    }
}

// ---------------------------------------------------------------------------------------------------------
// sums

bool shares_register(const Accumulators& sums, const Slot* begin, const Slot* end) {
    return std::any_of(begin, end, [&](Slot slot) { return std::find(sums.slots.begin(), sums.slots.end(), slot) != sums.slots.end(); });
}

// The sums that the product goes on from, as an entry of those on their way; null after a fault.
Accumulators* take_sums(const Op& op, Warp& warp, U32 count, bool keeps) {
    WarpgroupProducts& products = warp.products;
    const Slot* slots = &warp.worker->program->slots[op.list];
    const auto same = [&](const Accumulators& sums) { return std::equal(sums.slots.begin(), sums.slots.end(), slots, slots + count); };
    Accumulators* found = nullptr;
    for (Accumulators& sums : products.pending) {
        if (same(sums)) {
            found = &sums;
        } else if (shares_register(sums, slots, slots + op.list_size)) {
            bad_product(warp, op, "a register of a product that is on its way: `wgmma.wait_group` comes first");
            return nullptr;
        }
    }
    if (found != nullptr && !shares_register(*found, slots + count, slots + op.list_size)) {
        found->group = products.groups;
        return found;
    }
    if (found != nullptr) {
        bad_product(warp, op, "A is in registers of a product that is on its way: `wgmma.wait_group` comes first");
        return nullptr;
    }
    Accumulators sums;
    sums.slots.assign(slots, slots + count);
    sums.group = products.groups;
    for (const Slot slot : sums.slots) sums.values.insert(sums.values.end(), warp.lanes<U32>(slot), warp.lanes<U32>(slot) + kLanes);
    const auto untouched = [&](const Accumulators& old) { return same(old) && old.values == sums.values; };
    if (!products.fenced && std::none_of(products.settled.begin(), products.settled.end(), untouched)) {
        bad_product(warp, op, keeps ? "the sums have changed since the last wait: `wgmma.fence` comes between that and the product"
                              : "`wgmma.fence` comes before the first product, and behind a wait");
        return nullptr;
    }
    products.pending.push_back(std::move(sums));
    return &products.pending.back();
}

template <Sums kSums, class Sum>
void add_to(Accumulators& sums, U32 lane, U32 i, bool keeps, Sum sum) {
    if constexpr (kSums == Sums::F16) {
        U32& reg = sums.values[i / 2 * kLanes + lane];
        const U32 shift = 16 * (i % 2);
        if (keeps) sum += Half::value(static_cast<U16>(reg >> shift));
        reg = (reg & ~(0xFFFFu << shift)) | sum_bits<kSums>(sum) << shift;
    } else {
        U32& reg = sums.values[i * kLanes + lane];
        if constexpr (kSums == Sums::F32) sum += keeps ? Single::value(reg) : 0;
        else sum += keeps ? static_cast<S32>(reg) : 0;
        reg = sum_bits<kSums>(sum);
    }
}

template <class KA, class KB, Sums kSums, bool kRegisters>
const Op* run_product(const Op& op, Warp& warp) {
    using Sum = typename KA::Sum;
    const Op* next = nullptr;
    if (!whole_group(op, warp, next)) return next;
    constexpr U32 kDepth = kDepthBytes * 8 / KA::kBits;
    const ptx::Instr& instr = warp.worker->program->instr(op);
    const U32 columns = 8u * instr.mods.columns, registers = ptx::matrix_registers(instr.form, instr.mods, 0);
    const U32 keep = warp.predicate(op.source[kRegisters ? 1 : 2]) ^ op.flip;
    if (keep != 0 && keep != kAllLanes) return bad_product(warp, op, "the predicate of the product is not the same in all lanes");
    const auto constant = [&](U32 i) { return static_cast<int>(op.imm >> 2 * i & 3) - 1; };   // absent: -1, and not asked for
    const bool halves = KA::kBits == 16, floats = kSums == Sums::F32 || kSums == Sums::F16;
    const bool a_down = halves && !kRegisters && constant(2) == 1, b_down = halves && constant(kRegisters ? 2 : 3) == 1;
    Accumulators* sums = take_sums(op, warp, registers, keep != 0);
    if (sums == nullptr) return nullptr;

    struct Factors {
        Sum a[kRowsOfWarp][kDepth], b[kMostColumns][kDepth];
    };
    const auto factors = std::make_unique_for_overwrite<Factors>();   // too large for a thread's stack, where thread_local lies, too
    auto& a = factors->a;
    auto& b = factors->b;
    const auto to_a = [&](U32 r, U32 k, Sum value) { a[r][k] = floats ? value * static_cast<Sum>(constant(0)) : value; };
    const auto to_b = [&](U32 r, U32 k, Sum value) { b[r][k] = floats ? value * static_cast<Sum>(constant(1)) : value; };
    if constexpr (kRegisters) {
        read_fragment<KA>(op, warp, registers, to_a);
    } else {
        const U64 descriptor = warp.lanes<U64>(op.source[0])[0];
        if (!read_matrix<KA>(op, warp, descriptor, a_down, warp.index % kWarpsOfGroup * kRowsOfWarp, kRowsOfWarp, kDepth, to_a)) return nullptr;
    }
    if (!read_matrix<KB>(op, warp, warp.lanes<U64>(op.source[kRegisters ? 0 : 1])[0], b_down, 0, columns, kDepth, to_b)) return nullptr;

    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 i = 0; i < columns / 2; ++i) {
            const U32 row = lane / 4 + 8 * (i / 2 % 2), column = i / 4 * 8 + lane % 4 * 2 + i % 2;
            Sum sum = 0;
            for (U32 k = 0; k < kDepth; ++k) sum += KA::product(a[row][k], b[column][k]);
            add_to<kSums>(*sums, lane, i, keep != 0, sum);
        }
    }
    for (const Slot slot : sums->slots) std::fill_n(warp.lanes<U32>(slot), kLanes, kPattern);
    return &op + 1;
}

// ---------------------------------------------------------------------------------------------------------
// selection

template <class KA, class KB, Sums kSums>
Handler wgmma_product(Form form) {
    const bool registers = ptx::form_info(form).operands[1].role == ptx::Role::List;
    return registers ? run_product<KA, KB, kSums, true> : run_product<KA, KB, kSums, false>;
}
template <class KA, class KB>
Handler wgmma_of_integers(const Request& request) {
    return request.mods.sat_finite ? wgmma_product<KA, KB, Sums::Clamped>(request.form) : wgmma_product<KA, KB, Sums::Wrapping>(request.form);
}
template <class KA, class KB>
Handler wgmma_of_floats(const Request& request) {
    return request.mods.type == Type::F16 ? wgmma_product<KA, KB, Sums::F16>(request.form) : wgmma_product<KA, KB, Sums::F32>(request.form);
}

Handler wgmma_handler(const Request& request) {
    const ptx::Mods& mods = request.mods;
    const Type other = mods.other_type == Type::None ? mods.source_type : mods.other_type;
    switch (mods.source_type) {
        case Type::F16: return wgmma_of_floats<OfF16, OfF16>(request);
        case Type::BF16: return wgmma_product<OfBf16, OfBf16, Sums::F32>(request.form);
        case Type::TF32: return wgmma_product<OfTf32, OfTf32, Sums::F32>(request.form);
        case Type::E4M3: return other == Type::E4M3 ? wgmma_of_floats<OfE4m3, OfE4m3>(request) : wgmma_of_floats<OfE4m3, OfE5m2>(request);
        case Type::E5M2: return other == Type::E4M3 ? wgmma_of_floats<OfE5m2, OfE4m3>(request) : wgmma_of_floats<OfE5m2, OfE5m2>(request);
        case Type::U8: return other == Type::U8 ? wgmma_of_integers<OfU8, OfU8>(request) : wgmma_of_integers<OfU8, OfS8>(request);
        case Type::S8: return other == Type::U8 ? wgmma_of_integers<OfS8, OfU8>(request) : wgmma_of_integers<OfS8, OfS8>(request);
        case Type::B1: return wgmma_product<OfBit<false>, OfBit<false>, Sums::Wrapping>(request.form);
        default: return nullptr;
    }
}

}  // namespace

Handlers select_wgmma(const Request& request) {
    const auto same = [](Handler handler) { return Handlers{handler, handler}; };
    switch (request.form) {
        case Form::WgmmaFence: return same(run_wgmma_fence);
        case Form::WgmmaCommit: return same(run_wgmma_commit);
        case Form::WgmmaWait: return same(run_wgmma_wait);
        case Form::SetMaxNReg: return same(run_setmaxnreg);
        default: return same(wgmma_handler(request));
    }
}

}  // namespace ockc::emu
