// Asynchronous copies, which the emulator does at once (one of the orders that the hardware may choose), and mbarriers.
//
// An mbarrier is a 64-bit word of shared memory. Here its bits are: 0..19 how many arrivals a phase takes, 20..39 how many
// are still to come, 40..61 how many bytes of bulk copies (signed: a copy may be done before it is announced), 62 and 63 the
// number of the phase. A token of arrive is the word before the arrival.
#include <fmt/format.h>

#include "emu/async.hpp"
#include "emu/isa.hpp"
#include "emu/machine.hpp"
#include "emu/race_detector.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U64 kCountBits = 20;
constexpr U64 kCountMask = (U64{1} << kCountBits) - 1;

constexpr U64 kBytesMask = (U64{1} << 22) - 1;
constexpr U32 kPhaseShift = 62;

struct Word {
    U64 expected, pending, bytes, phase;
    explicit Word(U64 bits)
        : expected(bits & kCountMask),
          pending(bits >> kCountBits & kCountMask),
          bytes(bits >> 2 * kCountBits & kBytesMask),
          phase(bits >> kPhaseShift) {}
    U64 bits() const { return expected | pending << kCountBits | bytes << 2 * kCountBits | phase << kPhaseShift; }
    // `arrivals` of the phase and `more` bytes that are to come (negative: that have come).
    void change(U64 arrivals, std::int64_t more) {
        pending = pending < arrivals ? 0 : pending - arrivals;
        bytes = (bytes + static_cast<U64>(more)) & kBytesMask;
        if (pending != 0 || bytes != 0) return;
        pending = expected;
        phase = (phase + 1) & 3;
    }
};

// The word before the change.
U64 change_word(U64* at, U64 arrivals, std::int64_t more) {
    U64 old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    for (;;) {
        Word word(old);
        word.change(arrivals, more);
        if (__atomic_compare_exchange_n(at, &old, word.bits(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
    }
}

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

template <bool kArrives, bool kBytes>
const Op* run_change(const Op& op, Warp& warp) {
    const bool done = each_word(op, warp, true, [&](U64* at, U32 lane) {
        const U64 old = change_word(at, kArrives ? 1 : 0, kBytes ? warp.lanes<U32>(op.source[1])[lane] : 0);
        if (kArrives && op.dest != kNoSlot) warp.lanes<U64>(op.dest)[lane] = old;
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
        std::byte* place = to % size == 0 ? shared_place(warp, to, size) : nullptr;
        if (place == nullptr) return bad_access(warp, op, to, lane, true);
        if (!watch_bytes(warp, op, false, from, bytes, lane, false) || !watch_bytes(warp, op, true, to, size, lane, true)) return nullptr;
        __builtin_memcpy(place, data, size);
    }
    return &op + 1;
}

// A lane's 32- or 64-bit address operand.
U64 address_of(const Op& op, Warp& warp, U32 lane) {
    return op.address_bytes == 8 ? warp.lanes<U64>(op.source[0])[lane] : warp.lanes<U32>(op.source[0])[lane];
}

const Op* bad_bulk(Warp& warp, const Op& op, U32 lane, U64 shared, U64 global, U32 size) {
    if ((shared | global | size) % 16 != 0) {
        return fault(warp, op, ErrorKind::Misaligned, lane,
                     fmt::format("a bulk copy of {} bytes between {:#x} and {:#x} of shared memory: all must be multiples of 16", size, global, shared), global);
    }
    return fault(warp, op, ErrorKind::IllegalAddress, lane,
                 fmt::format("illegal address: a bulk copy of {} bytes at {:#x} of shared memory; a block has {} bytes", size, shared, warp.block->shared_bytes), shared);
}

// source[0] in shared memory (of the cluster), source[1] in global memory, source[2] the size, source[3] the mbarrier.
const Op* run_bulk_load(const Op& op, Warp& warp) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        const U64 to = address_of(op, warp, lane), from = warp.lanes<U64>(op.source[1])[lane];
        const U32 size = warp.lanes<U32>(op.source[2])[lane];
        const U64 barrier = warp.lanes<U64>(op.source[3])[lane];
        std::byte* place = shared_place(warp, to, size);
        std::byte* word = shared_place(warp, barrier, sizeof(U64));
        if (place == nullptr || word == nullptr || barrier % sizeof(U64) != 0 || (to | from | size) % 16 != 0) {
            return bad_bulk(warp, op, lane, place == nullptr || word != nullptr ? to : barrier, from, size);
        }
        for (U32 i = 0; i < size; ++i) {
            const std::byte* byte = resolve(warp, op, from + i, lane, 1, false);
            if (byte == nullptr) return nullptr;
            place[i] = *byte;
        }
        if (!watch_bytes(warp, op, false, from, size, lane, false)) return nullptr;   // what comes by the barrier is ordered by it
        bytes_have_come(word, size);
    }
    return &op + 1;
}

const Op* run_bulk_store(const Op& op, Warp& warp) {
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        const U64 to = address_of(op, warp, lane), from = warp.lanes<U64>(op.source[1])[lane];
        const U32 size = warp.lanes<U32>(op.source[2])[lane];
        const std::byte* place = shared_place(warp, from, size);
        if (place == nullptr || (to | from | size) % 16 != 0) return bad_bulk(warp, op, lane, from, to, size);
        for (U32 i = 0; i < size; ++i) {
            std::byte* byte = resolve(warp, op, to + i, lane, 1, true);
            if (byte == nullptr) return nullptr;
            *byte = place[i];
        }
        if (!watch_bytes(warp, op, true, from, size, lane, false) || !watch_bytes(warp, op, false, to, size, lane, true)) return nullptr;
    }
    return &op + 1;
}

const Op* pass_by(const Op& op, Warp&) { return &op + 1; }

}  // namespace

bool watch_bytes(Warp& warp, const Op& op, bool shared, std::uint64_t at, std::uint32_t bytes, std::uint32_t lane, bool write) {
    RaceDetector* detector = warp.worker->detector;
    if (detector == nullptr || (shared && at >= kClusterStride)) return true;
    for (U32 i = 0; i < bytes; ++i) {
        if (!detector->access(warp, op, shared, at + i, lane, write, false)) return false;
    }
    return true;
}

void bytes_have_come(std::byte* barrier, std::uint32_t bytes) {
    change_word(reinterpret_cast<U64*>(barrier), 0, -static_cast<std::int64_t>(bytes));
}

Handlers select_async(const Request& request) {
    const auto same = [](Handler handler) { return Handlers{handler, handler}; };
    switch (request.form) {
        case Form::CpAsync: return same(run_copy);
        case Form::CpAsyncCommit:
        case Form::CpAsyncWaitGroup:
        case Form::CpAsyncWaitAll: return same(pass_by);
        case Form::CpAsyncArrive: return same(run_change<false, false>);   // one more is expected, and comes at once
        case Form::CpAsyncArriveNoInc: return same(run_change<true, false>);
        case Form::MbarInit: return same(run_init);
        case Form::MbarInval: return same(run_invalidate);
        case Form::MbarArrive: return same(run_change<true, false>);
        case Form::MbarArriveCluster: return same(run_change<true, false>);
        case Form::MbarExpectTx: return same(run_change<false, true>);
        case Form::MbarArriveExpectTx: return same(run_change<true, true>);
        case Form::CpBulkLoad: return same(run_bulk_load);
        case Form::CpBulkStore: return same(run_bulk_store);
        case Form::CpBulkCommit:
        case Form::CpBulkWait:
        case Form::CpBulkWaitRead:
        case Form::FenceMbarInit:
        case Form::FenceProxyAsync:
        case Form::FenceProxyAsyncShared: return same(pass_by);
        case Form::MbarTestWait:
        case Form::MbarTryWait: return same(run_wait<false>);
        case Form::MbarTestWaitParity:
        case Form::MbarTryWaitParity:
        case Form::MbarTryWaitParityCluster: return same(run_wait<true>);
        default: return {};
    }
}

}  // namespace ockc::emu
