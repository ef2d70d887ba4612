// Matrices in the registers of a warp: ptx/matrix.hpp says which element a register holds. All 32 lanes take part.
//
// The sum of an element of D: f64 and integers start with c and add the products in the order of k, f64 with one rounding at
// each step (fma). The others are computed in f64, which holds their products exactly, in the same order, and rounded once
// to nearest. The hardware aligns the products of a group to the largest and cuts them off, so that its sums differ from
// these by at most K 2^-22 (|c| + sum of |a b|) for f32 (f16: 2^-10), and not at all where all partial sums are exact in 24 bits.
#include <fmt/format.h>

#include "emu/fp8.hpp"
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

// What the elements of A and B are, and what their products add up to.
template <class Element, class SumOf>
struct Kind {
    using E = Element;
    using Sum = SumOf;
};
struct OfF16 : Kind<U16, double> {
    static double value(U16 bits) { return Half::value(bits); }
};
struct OfBf16 : Kind<U16, double> {
    static double value(U16 bits) { return Brain::value(bits); }
};
struct OfTf32 : Kind<U32, double> {   // the last 13 bits are not looked at
    static double value(U32 bits) { return Single::value(bits & 0xFFFF'E000u); }
};
struct OfE4m3 : Kind<U8, double> {
    static double value(U8 bits) { return fp8_value<true>(bits); }
};
struct OfE5m2 : Kind<U8, double> {
    static double value(U8 bits) { return fp8_value<false>(bits); }
};
struct OfU8 : Kind<U8, U32> {
    static U32 value(U8 bits) { return bits; }
};
struct OfS8 : Kind<U8, U32> {
    static U32 value(U8 bits) { return static_cast<U32>(static_cast<S32>(static_cast<S8>(bits))); }
};

constexpr U32 kMostDepth = 32;
template <class K>
struct Factors {
    typename K::Sum a[16][kMostDepth];
    typename K::Sum b[kMostDepth][8];
};

// A and B from the registers behind D's, by the formulas of ptx/matrix.hpp.
template <class K>
void read_factors(const Op& op, Warp& warp, const ptx::MmaShape& shape, Factors<K>& out) {
    using E = typename K::E;
    const U32 packed = shape.packed;
    const auto element = [](U32 reg, U32 j) { return K::value(static_cast<E>(reg >> 8 * sizeof(E) * j % 32)); };
    for (U32 r = 0; r < shape.a; ++r) {
        const U32* reg = list_register<U32>(op, warp, shape.c + r);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            for (U32 j = 0; j < packed; ++j)
                out.a[lane / 4 + 8 * (r % 2)][lane % 4 * packed + j + 4 * packed * (r / 2)] = element(reg[lane], j);
        }
    }
    for (U32 r = 0; r < shape.b; ++r) {
        const U32* reg = list_register<U32>(op, warp, shape.c + shape.a + r);
        for (U32 lane = 0; lane < kLanes; ++lane) {
            for (U32 j = 0; j < packed; ++j) out.b[lane % 4 * packed + j + 4 * packed * r][lane / 4] = element(reg[lane], j);
        }
    }
}

// The i-th sum of a lane as it stands in the registers.
template <class Sum, bool kHalfSums>
Sum sum_at(const Op& op, Warp& warp, U32 first, U32 lane, U32 i) {
    if constexpr (kHalfSums) return Half::value(static_cast<U16>(list_register<U32>(op, warp, first + i / 2)[lane] >> 16 * (i % 2)));
    const U32 bits = list_register<U32>(op, warp, first + i)[lane];
    if constexpr (sizeof(Sum) == sizeof(U32)) return bits;
    else return Single::value(bits);
}

template <class K, bool kHalfSums>
const Op* run_mma(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    const ptx::Instr& instr = warp.worker->program->instr(op);
    const ptx::MmaShape shape = ptx::mma_shape(instr.form, instr.mods);
    Factors<K> factors;
    read_factors<K>(op, warp, shape, factors);
    U32 results[4][kLanes];
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 i = 0; i < 4; ++i) {
            const U32 row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            auto sum = sum_at<typename K::Sum, kHalfSums>(op, warp, static_cast<U32>(shape.c) + shape.a + shape.b, lane, i);
            for (U32 k = 0; k < shape.depth; ++k) sum += factors.a[row][k] * factors.b[k][column];
            if constexpr (kHalfSums) results[i][lane] = Half::bits(sum);
            else if constexpr (sizeof sum == sizeof(U32)) results[i][lane] = sum;
            else results[i][lane] = Single::bits(static_cast<float>(sum));
        }
    }
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 r = 0; r < shape.c; ++r) {
            U32* out = list_register<U32>(op, warp, r);
            out[lane] = kHalfSums ? results[2 * r][lane] | results[2 * r + 1][lane] << 16 : results[r][lane];
        }
    }
    return &op + 1;
}

const Op* run_mma_f64(const Op& op, Warp& warp) {
    const Op* next = nullptr;
    if (!whole_warp(op, warp, next)) return next;
    const U64* a = list_register<U64>(op, warp, 2);
    const U64* b = list_register<U64>(op, warp, 3);
    U64 results[2][kLanes];
    for (U32 lane = 0; lane < kLanes; ++lane) {
        for (U32 i = 0; i < 2; ++i) {
            const U32 row = lane / 4, column = lane % 4 * 2 + i;
            U64 sum = list_register<U64>(op, warp, 4 + i)[lane];
            for (U32 k = 0; k < 4; ++k) sum = Double::fma(a[row * 4 + k], b[column * 4 + k], sum);
            results[i][lane] = sum;
        }
    }
    for (U32 i = 0; i < 2; ++i) __builtin_memcpy(list_register<U64>(op, warp, i), results[i], sizeof results[i]);
    return &op + 1;
}

Handler mma(const ptx::Mods& mods) {
    const bool halves = mods.type == Type::F16;
    switch (mods.source_type) {
        case Type::F16: return halves ? run_mma<OfF16, true> : run_mma<OfF16, false>;
        case Type::BF16: return run_mma<OfBf16, false>;
        case Type::TF32: return run_mma<OfTf32, false>;
        case Type::E4M3: return run_mma<OfE4m3, false>;
        case Type::E5M2: return run_mma<OfE5m2, false>;
        case Type::U8: return run_mma<OfU8, false>;
        case Type::S8: return run_mma<OfS8, false>;
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
