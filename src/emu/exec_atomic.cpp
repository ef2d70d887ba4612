// Atomic operations, lane by lane from the lowest, each on the host's atomics: other blocks run on other
// threads.
#include "emu/float_formats.hpp"
#include "emu/isa.hpp"

namespace ockc::emu {
namespace {

using namespace baseline;
using ptx::Form;
using ptx::Mode;
using ptx::Type;

template <class U, class Change>
U exchange(U* at, Change change) {
    U old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (true) {
        const U wanted = change(old);
        if (__atomic_compare_exchange_n(at, &old, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            return old;
    }
}

// The operations: `apply(op, in_shared, old, b, c)` is the new value.
template <class U>
struct Bitwise {
    using Bits = U;
    static U apply(const Op& op, bool, U old, U b, U) {
        return op.mode == Mode::And ? old & b : op.mode == Mode::Or ? old | b : old ^ b;
    }
};
template <class U>
struct Exchange {
    using Bits = U;
    static U apply(const Op&, bool, U, U b, U) { return b; }
};
template <class U>
struct CompareExchange {
    using Bits = U;
    static U apply(const Op&, bool, U old, U b, U c) { return old == b ? c : old; }
};
template <class U>
struct AddInt {
    using Bits = U;
    static U apply(const Op&, bool, U old, U b, U) { return old + b; }
};
// atom.add.f32 flushes subnormals in global memory and keeps them in shared memory.
struct AddSingle {
    using Bits = U32;
    static U32 apply(const Op&, bool in_shared, U32 old, U32 b, U32) {
        if (in_shared) return Single::add(old, b);
        return Single::flush(Single::add(Single::flush(old), Single::flush(b)));
    }
};
template <class T>
struct AddFloat {
    using Bits = typename T::Bits;
    static Bits apply(const Op&, bool, Bits old, Bits b, Bits) { return T::add(old, b); }
};
struct Count {
    using Bits = U32;
    static U32 apply(const Op& op, bool, U32 old, U32 b, U32) {
        if (op.mode == Mode::Inc) return old >= b ? 0 : old + 1;
        return old == 0 || old > b ? b : old - 1;
    }
};
template <class T>
struct MinMax {
    using Bits = Unsigned<T>;
    static Bits apply(const Op& op, bool, Bits old, Bits b, Bits) {
        const bool less = static_cast<T>(old) < static_cast<T>(b);
        return less == (op.mode == Mode::Min) ? old : b;
    }
};

template <class F>
const Op* run_atomic(const Op& op, Warp& warp) {
    using Bits = typename F::Bits;
    const Bits* b = warp.lanes<Bits>(op.source[1]);
    const Bits* c = op.source[2] == kNoSlot ? b : warp.lanes<Bits>(op.source[2]);
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        const U64 address = lane_address(warp, op, lane);
        std::byte* at = resolve(warp, op, address, lane, sizeof(Bits), true);
        if (at == nullptr) return nullptr;
        const bool in_shared =
            at - warp.block->shared >= 0 && at - warp.block->shared < warp.block->shared_bytes;
        const Bits b_lane = b[lane];
        const Bits c_lane = c[lane];
        const Bits old = exchange(reinterpret_cast<Bits*>(at),
                                  [&](Bits value) { return F::apply(op, in_shared, value, b_lane, c_lane); });
        if (op.dest != kNoSlot) warp.lanes<Bits>(op.dest)[lane] = old;
    }
    if (warp.worker->detector != nullptr && !watch_access(warp, op, true, true)) return nullptr;
    return &op + 1;
}

template <class F>
Handlers one() {
    return same(run_atomic<F>);
}
template <template <class> class F>
Handlers by_width(Type type) {
    switch (ptx::type_bytes(type)) {
        case 2: return one<F<U16>>();
        case 4: return one<F<U32>>();
        default: return one<F<U64>>();
    }
}
Handlers add(Type type) {
    switch (type) {
        case Type::U32:
        case Type::S32: return one<AddInt<U32>>();
        case Type::U64:
        case Type::S64: return one<AddInt<U64>>();
        case Type::F16: return one<AddFloat<Half>>();
        case Type::BF16: return one<AddFloat<Brain>>();
        case Type::F16X2: return one<AddFloat<Pair<Half>>>();
        case Type::BF16X2: return one<AddFloat<Pair<Brain>>>();
        case Type::F32: return one<AddSingle>();
        case Type::F64: return one<AddFloat<Double>>();
        default: return {};
    }
}
Handlers min_max(Type type) {
    switch (type) {
        case Type::U32: return one<MinMax<U32>>();
        case Type::S32: return one<MinMax<S32>>();
        case Type::U64: return one<MinMax<U64>>();
        case Type::S64: return one<MinMax<S64>>();
        default: return {};
    }
}

}  // namespace

Handlers select_atomic(const Request& request) {
    const Type type = request.mods.type;
    switch (request.form) {
        case Form::AtomLogic:
        case Form::RedLogic: return by_width<Bitwise>(type);
        case Form::AtomExch: return by_width<Exchange>(type);
        case Form::AtomCas: return by_width<CompareExchange>(type);
        case Form::AtomAdd:
        case Form::RedAdd:
        case Form::AtomAddHalf:
        case Form::RedAddHalf: return add(type);
        case Form::AtomIncDec:
        case Form::RedIncDec: return one<Count>();
        case Form::AtomMinMax:
        case Form::RedMinMax: return min_max(type);
        default: return {};
    }
}

}  // namespace ockc::emu
