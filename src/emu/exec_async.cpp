// Asynchronous copies, which the emulator does at once (one of the orders that the hardware may choose), and mbarriers.
//
// An mbarrier is a 64-bit word of shared memory. Here its bits are: 0..19 how many arrivals a phase takes, 20..39 how many
// are still to come, 40..63 the number of the phase. A token of arrive is the word before the arrival.
#include "emu/isa.hpp"
#include "emu/machine.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U64 kCountBits = 20;
constexpr U64 kCountMask = (U64{1} << kCountBits) - 1;

struct Word {
    U64 expected, pending, phase;
    explicit Word(U64 bits) : expected(bits & kCountMask), pending(bits >> kCountBits & kCountMask), phase(bits >> 2 * kCountBits) {}
    U64 bits() const { return expected | pending << kCountBits | phase << 2 * kCountBits; }
};

// Calls use(the word's place, lane) for each active lane; false after a fault.
template <class Use>
bool each_word(const Op& op, Warp& warp, bool write, Use use) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        std::byte* at = resolve(warp, op, lane_address(warp, op, lane), lane, sizeof(U64), write);
        if (at == nullptr) return false;
        use(reinterpret_cast<U64*>(at), lane);
    }
    return true;
}

const Op* run_init(const Op& op, Warp& warp) {
    const U32* count = warp.lanes<U32>(op.source[1]);
    const bool done = each_word(op, warp, true, [&](U64* at, U32 lane) {
        const U64 expected = count[lane] & kCountMask;
        __atomic_store_n(at, expected | expected << kCountBits, __ATOMIC_SEQ_CST);
    });
    return done ? &op + 1 : nullptr;
}

const Op* run_invalidate(const Op& op, Warp& warp) {
    return each_word(op, warp, true, [](U64* at, U32) { __atomic_store_n(at, U64{0}, __ATOMIC_SEQ_CST); }) ? &op + 1 : nullptr;
}

const Op* run_arrive(const Op& op, Warp& warp) {
    const bool done = each_word(op, warp, true, [&](U64* at, U32 lane) {
        U64 old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
        for (;;) {
            Word word(old);
            word.pending = word.pending == 0 ? 0 : word.pending - 1;
            if (word.pending == 0) {
                word.pending = word.expected;
                ++word.phase;
            }
            if (__atomic_compare_exchange_n(at, &old, word.bits(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) break;
        }
        if (op.dest != kNoSlot) warp.lanes<U64>(op.dest)[lane] = old;
    });
    return done ? &op + 1 : nullptr;
}

// Has the phase of the token, or of the parity, completed?
template <bool kParity>
const Op* run_wait(const Op& op, Warp& warp) {
    U32 completed = 0;
    const bool done = each_word(op, warp, false, [&](U64* at, U32 lane) {
        const U64 phase = Word(__atomic_load_n(at, __ATOMIC_SEQ_CST)).phase;
        const U64 asked = kParity ? warp.lanes<U32>(op.source[1])[lane] & 1 : Word(warp.lanes<U64>(op.source[1])[lane]).phase;
        const bool passed = kParity ? (phase & 1) != asked : phase != asked;
        if (passed) completed |= 1u << lane;
    });
    if (!done) return nullptr;
    U32& out = warp.predicate(op.dest);
    out = (out & ~warp.active) | (completed & warp.active);
    return &op + 1;
}

// source[0] is the place in shared memory, source[1] that in global memory, imm the size; source[2], when it is there, how
// many bytes are read: the rest is zeros.
const Op* run_copy(const Op& op, Warp& warp) {
    const U32 size = static_cast<U32>(op.imm);
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        const U64 to = op.address_bytes == 8 ? warp.lanes<U64>(op.source[0])[lane] : warp.lanes<U32>(op.source[0])[lane];
        const U64 from = warp.lanes<U64>(op.source[1])[lane];
        const U32 wanted = op.source[2] == kNoSlot ? size : warp.lanes<U32>(op.source[2])[lane];
        const U32 bytes = wanted < size ? wanted : size;
        std::byte data[16] = {};
        for (U32 i = 0; i < bytes; ++i) {   // what is not read need not be there
            const std::byte* byte = resolve(warp, op, from + i, lane, 1, false);
            if (byte == nullptr) return nullptr;
            data[i] = *byte;
        }
        if (to % size != 0 || size > warp.block->shared_bytes || to > warp.block->shared_bytes - size) return bad_access(warp, op, to, lane, true);
        __builtin_memcpy(warp.block->shared + to, data, size);
    }
    return &op + 1;
}

const Op* pass_by(const Op& op, Warp&) { return &op + 1; }

}  // namespace

Handlers select_async(const Request& request) {
    const auto same = [](Handler handler) { return Handlers{handler, handler}; };
    switch (request.form) {
        case Form::CpAsync: return same(run_copy);
        case Form::CpAsyncCommit:
        case Form::CpAsyncWaitGroup:
        case Form::CpAsyncWaitAll: return same(pass_by);
        case Form::MbarInit: return same(run_init);
        case Form::MbarInval: return same(run_invalidate);
        case Form::MbarArrive: return same(run_arrive);
        case Form::MbarTestWait:
        case Form::MbarTryWait: return same(run_wait<false>);
        case Form::MbarTestWaitParity:
        case Form::MbarTryWaitParity: return same(run_wait<true>);
        default: return {};
    }
}

}  // namespace ockc::emu
