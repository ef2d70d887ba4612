// Matrices in the registers of a warp: ptx/matrix.hpp says which element a register holds. All 32 lanes take part.
//
// The sum of an element of D: f64 and integers start with c and add the products in the order of k, f64 with one rounding at
// each step (fma). The others are computed in f64, which holds their products exactly, in the same order, and rounded once
// to nearest. The hardware aligns the products of a group to the largest and cuts them off, so that its sums differ from
// these by at most K 2^-22 (|c| + sum of |a b|) for f32 (f16: 2^-10), and not at all where all partial sums are exact in 24 bits.
#include <fmt/format.h>

#include "emu/matrix_elements.hpp"
#include "ptx/matrix.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Type;

constexpr U32 kRowBytes = 16;   // of an 8x8 matrix of 16-bit elements

// Are all lanes here? If not, `next` is what runs instead.
bool whole_warp(const Op& op, Warp& warp, const Op*& next) {
    if (!converged(warp, op, kAllLanes, next)) return false;
    if (warp.exited == 0) return true;
    next = fault(warp, op, ErrorKind::LaunchFailed, static_cast<U32>(__builtin_ctz(warp.exited)),
                 fmt::format("lane {} of the warp does not run (any more): a matrix operation needs all 32", __builtin_ctz(warp.exited)));
    return false;
}

template <class T>
T* list_register(const Op& op, Warp& warp, U32 index) {
    return warp.lanes<T>(warp.worker->program->slots[op.list + index]);
}

// -----------------------------------------------------------------------------------------------------------
// ldmatrix, stmatrix, movmatrix

struct Rows {
    std::byte* at[kLanes] = {};
};
// The rows that the first `8 * matrices` lanes name; false after a fault.
bool rows_of(const Op& op, Warp& warp, bool write, Rows& rows) {
    const U32 count = 8u * op.list_size;
    for (U32 lane = 0; lane < count; ++lane) {
        rows.at[lane] = resolve(warp, op, lane_address(warp, op, lane), lane, kRowBytes, write);
        if (rows.at[lane] == nullptr) return false;
    }
    if (warp.worker->detector == nullptr) return true;
    warp.set_active(count == kLanes ? kAllLanes : (1u << count) - 1);
    const bool fine = watch_access(warp, op, write, false);
    warp.set_active(kAllLanes);
    return fine;
}

// Row and column of the first and the second half of a lane's register.
struct Place {
    U32 row, column;
};
template <bool kTrans>
Place half_place(U32 lane, U32 half) {
    const U32 group = lane / 4, element = lane % 4 * 2 + half;
    return kTrans ? Place{element, group} : Place{group, element};
}

template <bool kTrans>
const Op* run_ldmatrix(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    Rows rows;
    if (!rows_of(op, warp, false, rows)) return nullptr;
    for (U32 m = 0; m < op.list_size; ++m) {
        U32* out = list_register<U32>(op, warp, m);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            U16 half[2];
            for (U32 i = 0; i < 2; ++i) {
                const Place from = half_place<kTrans>(lane, i);
                __builtin_memcpy(&half[i], rows.at[8 * m + from.row] + 2 * from.column, sizeof half[i]);
            }
            out[lane] = half[0] | static_cast<U32>(half[1]) << 16;
        }
    }
    return &op + 1;
}

template <bool kTrans>
const Op* run_stmatrix(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    Rows rows;
    if (!rows_of(op, warp, true, rows)) return nullptr;
    for (U32 m = 0; m < op.list_size; ++m) {
        const U32* in = list_register<U32>(op, warp, m);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            for (U32 i = 0; i < 2; ++i) {
                const Place to = half_place<kTrans>(lane, i);
                const U16 half = static_cast<U16>(in[lane] >> 16 * i);
                __builtin_memcpy(rows.at[8 * m + to.row] + 2 * to.column, &half, sizeof half);
            }
        }
    }
    return &op + 1;
}

const Op* run_movmatrix(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    const U32* in = warp.lanes<U32>(op.source[0]);
    U16 matrix[8][8];
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 i = 0; i < 2; ++i) matrix[lane / 4][lane % 4 * 2 + i] = static_cast<U16>(in[lane] >> 16 * i);
    }
    U32* out = warp.lanes<U32>(op.dest);
    for (U32 lane = 0; lane < kLanes; ++lane) {
        const U32 column = lane / 4, row = lane % 4 * 2;
        out[lane] = matrix[row][column] | static_cast<U32>(matrix[row + 1][column]) << 16;
    }
    return &op + 1;
}

// -----------------------------------------------------------------------------------------------------------
// mma

constexpr U32 kMostDepth = 256;
template <class Sum>
struct Factors {
    Sum a[16][kMostDepth];
    Sum b[kMostDepth][8];
};

// A and B from the registers behind D's, by the formulas of ptx/matrix.hpp.
template <class KA, class KB>
void read_factors(const Op& op, Warp& warp, const ptx::MmaShape& shape, Factors<typename KA::Sum>& out) {
    const U32 packed = shape.packed;
    for (U32 r = 0; r < shape.a; ++r) {
        const U32* reg = list_register<U32>(op, warp, shape.c + r);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            for (U32 j = 0; j < packed; ++j)
                out.a[lane / 4 + 8 * (r % 2)][lane % 4 * packed + j + 4 * packed * (r / 2)] = element<KA>(reg[lane], j);
        }
    }
    for (U32 r = 0; r < shape.b; ++r) {
        const U32* reg = list_register<U32>(op, warp, static_cast<U32>(shape.c) + shape.a + r);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            for (U32 j = 0; j < packed; ++j) out.b[lane % 4 * packed + j + 4 * packed * r][lane / 4] = element<KB>(reg[lane], j);
        }
    }
}

// The i-th sum of a lane, from the registers behind `first`.
template <Sums kSums, class Sum>
Sum sum_at(const Op& op, Warp& warp, U32 first, U32 lane, U32 i) {
    if constexpr (kSums == Sums::F16) return Half::value(static_cast<U16>(list_register<U32>(op, warp, first + i / 2)[lane] >> 16 * (i % 2)));
    const U32 bits = list_register<U32>(op, warp, first + i)[lane];
    if constexpr (kSums == Sums::F32) return Single::value(bits);
    return static_cast<S32>(bits);
}
template <class KA, class KB, Sums kSums>
const Op* run_mma(const Op& op, Warp& warp) {
    using Sum = typename KA::Sum;
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    const ptx::Instr& instr = warp.worker->program->instr(op);
    const ptx::MmaShape shape = ptx::mma_shape(instr.form, instr.mods);
    Factors<Sum> factors;
    read_factors<KA, KB>(op, warp, shape, factors);
    const U32 sums = shape.rows / 4u;
    U32 results[4][kLanes];
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 i = 0; i < sums; ++i) {
            const U32 row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            Sum sum = sum_at<kSums, Sum>(op, warp, static_cast<U32>(shape.c) + shape.a + shape.b, lane, i);
            for (U32 k = 0; k < shape.depth; ++k) sum += KA::product(factors.a[row][k], factors.b[k][column]);
            results[i][lane] = sum_bits<kSums>(sum);
        }
    }
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 r = 0; r < shape.c; ++r) {
            U32* out = list_register<U32>(op, warp, r);
            out[lane] = kSums == Sums::F16 ? results[2 * r][lane] | results[2 * r + 1][lane] << 16 : results[r][lane];
        }
    }
    return &op + 1;
}

const Op* run_mma_f64(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    const ptx::Instr& instr = warp.worker->program->instr(op);
    const ptx::MmaShape shape = ptx::mma_shape(instr.form, instr.mods);
    const auto a = [&](U32 row, U32 k) {
        return list_register<U64>(op, warp, shape.c + row / 8 + k / 4 * (shape.rows / 8u))[row % 8 * 4 + k % 4];
    };
    const auto b = [&](U32 k, U32 column) { return list_register<U64>(op, warp, static_cast<U32>(shape.c) + shape.a + k / 4)[column * 4 + k % 4]; };
    U64 results[4][kLanes];
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 i = 0; i < shape.c; ++i) {
            const U32 row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            U64 sum = list_register<U64>(op, warp, static_cast<U32>(shape.c) + shape.a + shape.b + i)[lane];
            for (U32 k = 0; k < shape.depth; ++k) sum = Double::fma(a(row, k), b(k, column), sum);
            results[i][lane] = sum;
        }
    }
    for (U32 i = 0; i < shape.c; ++i) __builtin_memcpy(list_register<U64>(op, warp, i), results[i], sizeof results[i]);
    return &op + 1;
}

template <class KA, class KB>
Handler of_integers(const ptx::Mods& mods) {
    return mods.sat_finite ? run_mma<KA, KB, Sums::Clamped> : run_mma<KA, KB, Sums::Wrapping>;
}
template <class KA, class KB>
Handler of_floats(const ptx::Mods& mods) {
    return mods.type == Type::F16 ? run_mma<KA, KB, Sums::F16> : run_mma<KA, KB, Sums::F32>;
}

Handler mma(const ptx::Mods& mods) {
    const Type other = mods.other_type == Type::None ? mods.source_type : mods.other_type;
    switch (mods.source_type) {
        case Type::F16: return of_floats<OfF16, OfF16>(mods);
        case Type::BF16: return run_mma<OfBf16, OfBf16, Sums::F32>;
        case Type::TF32: return run_mma<OfTf32, OfTf32, Sums::F32>;
        case Type::E4M3: return other == Type::E4M3 ? of_floats<OfE4m3, OfE4m3>(mods) : of_floats<OfE4m3, OfE5m2>(mods);
        case Type::E5M2: return other == Type::E4M3 ? of_floats<OfE5m2, OfE4m3>(mods) : of_floats<OfE5m2, OfE5m2>(mods);
        case Type::U8: return other == Type::U8 ? of_integers<OfU8, OfU8>(mods) : of_integers<OfU8, OfS8>(mods);
        case Type::S8: return other == Type::U8 ? of_integers<OfS8, OfU8>(mods) : of_integers<OfS8, OfS8>(mods);
        case Type::U4: return other == Type::U4 ? of_integers<OfU4, OfU4>(mods) : of_integers<OfU4, OfS4>(mods);
        case Type::S4: return other == Type::U4 ? of_integers<OfS4, OfU4>(mods) : of_integers<OfS4, OfS4>(mods);
        case Type::B1:
            return mods.mode == ptx::Mode::Xor ? run_mma<OfBit<true>, OfBit<true>, Sums::Wrapping> : run_mma<OfBit<false>, OfBit<false>, Sums::Wrapping>;
        case Type::F64: return run_mma_f64;
        default: return nullptr;
    }
}

}  // namespace

Handlers select_matrix(const Request& request) {
    switch (request.form) {
        case Form::Ldmatrix: return same(run_ldmatrix<false>);
        case Form::LdmatrixTrans: return same(run_ldmatrix<true>);
        case Form::Stmatrix: return same(run_stmatrix<false>);
        case Form::StmatrixTrans: return same(run_stmatrix<true>);
        case Form::Movmatrix: return same(run_movmatrix);
        default: break;
    }
    return same(mma(request.mods));
}

}  // namespace ockc::emu
