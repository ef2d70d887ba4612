// Loads and stores. The fast path of a full warp: all addresses one element apart (one block copy) or all
// equal (one load); else lane by lane. Every lane's address is checked against the window of memory that this
// instruction hit last; only a miss leaves for access.cpp.
#include "emu/lanes.hpp"

namespace ockc::emu::OCKC_EMU_ISA {
namespace {

using ptx::Form;
using ptx::Space;
using ptx::Type;

struct Quad {
    U64 low;
    U64 high;
};

// Register value of a memory value and back.
template <class Reg, class Mem>
inline Reg widen(Mem m) {
    if constexpr (sizeof(Mem) == 16)
        return m;
    else
        return static_cast<Reg>(m);
}

inline void read_addresses(const Op& op, Warp& warp, U64* address) {
    if (op.address_bytes == 8) {
        const U64* a = warp.lanes<U64>(op.source[0]);
        for (U32 i = 0; i < kLanes; ++i)
            address[i] = a[i] + op.imm;
    } else {
        const U32* a = warp.lanes<U32>(op.source[0]);
        for (U32 i = 0; i < kLanes; ++i)
            address[i] = static_cast<U32>(a[i] + static_cast<U32>(op.imm));
    }
}

// Where the bytes of one kind of memory lie. `Flat` is the global and the generic space.
enum class Kind { Flat, Shared, Local };

template <Kind kKind>
struct View {
    const Op& op;
    Warp& warp;
    U64 base;
    U64 span;
    std::byte* host;
    U64 stride;  // between lanes

    View(const Op& o, Warp& w) : op(o), warp(w), base(0), span(0), host(nullptr), stride(0) { refresh(); }
    void refresh() {
        if constexpr (kKind == Kind::Flat) {
            const Window& window = warp.worker->windows[op.site];
            base = window.base;
            span = window.span;
            host = window.host;
        } else if constexpr (kKind == Kind::Shared) {
            span = warp.block->shared_bytes < op.access_bytes
                       ? 0
                       : warp.block->shared_bytes - op.access_bytes + 1;
            host = warp.block->shared;
        } else {
            stride = warp.worker->program->local_bytes;
            span = stride < op.access_bytes ? 0 : stride - op.access_bytes + 1;
            host = warp.local;
        }
    }
    bool good(U64 address) const { return address - base < span && (address & (op.access_bytes - 1u)) == 0; }
    std::byte* at(U64 address, U32 lane) const { return host + (address - base) + stride * lane; }
    // The host address of one lane's access; null after a fault.
    std::byte* lane(U64 address, U32 lane_index, bool write) {
        if (good(address)) [[likely]]
            return at(address, lane_index);
        std::byte* out = resolve(warp, op, address, lane_index, op.access_bytes, write);
        if constexpr (kKind == Kind::Flat) refresh();
        return out;
    }
};

enum class Pattern { Scattered, Contiguous, Uniform };

// Lanes are `step` bytes apart, or all at one place.
inline Pattern pattern_of(const U64* address, U64 step) {
    U64 apart = 0;
    U64 differ = 0;
    for (U32 i = 0; i < kLanes; ++i) {
        apart |= address[i] - (address[0] + i * step);
        differ |= address[i] ^ address[0];
    }
    return apart == 0 ? Pattern::Contiguous : differ == 0 ? Pattern::Uniform : Pattern::Scattered;
}

inline void fence_if_ordered(const Op& op) {
    if (op.sem != ptx::Sem::None && op.sem != ptx::Sem::Weak) [[unlikely]]
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline const Op* watched(const Op& op, Warp& warp, bool write) {
    if (warp.worker->detector != nullptr) [[unlikely]] {
        if (!watch_access(warp, op, write, op.sem != ptx::Sem::None && op.sem != ptx::Sem::Weak))
            return nullptr;
    }
    return &op + 1;
}

template <class Mem, class Reg, Kind kKind>
const Op* run_load(const Op& op, Warp& warp) {
    U64 address[kLanes];
    read_addresses(op, warp, address);
    fence_if_ordered(op);
    View<kKind> view(op, warp);
    Reg* out = warp.lanes<Reg>(op.dest);
    if (warp.partial == 0 && kKind != Kind::Local) {
        const Pattern pattern = pattern_of(address, sizeof(Mem));
        if (pattern == Pattern::Contiguous && view.good(address[0]) && view.good(address[kLanes - 1])) {
            Mem values[kLanes];
            __builtin_memcpy(values, view.at(address[0], 0), sizeof values);
            OCKC_EMU_LANES
            for (U32 i = 0; i < kLanes; ++i)
                out[i] = widen<Reg>(values[i]);
            return watched(op, warp, false);
        }
        if (pattern == Pattern::Uniform && view.good(address[0])) {
            Mem value;
            __builtin_memcpy(&value, view.at(address[0], 0), sizeof value);
            for (U32 i = 0; i < kLanes; ++i)
                out[i] = widen<Reg>(value);
            return watched(op, warp, false);
        }
    }
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        const std::byte* from = view.lane(address[lane], lane, false);
        if (from == nullptr) [[unlikely]]
            return nullptr;
        Mem value;
        __builtin_memcpy(&value, from, sizeof value);
        out[lane] = widen<Reg>(value);
    }
    return watched(op, warp, false);
}

template <class Mem, class Reg, Kind kKind>
const Op* run_load_vector(const Op& op, Warp& warp) {
    U64 address[kLanes];
    read_addresses(op, warp, address);
    fence_if_ordered(op);
    View<kKind> view(op, warp);
    const Slot* slots = warp.worker->program->slots.data() + op.list;
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        const std::byte* from = view.lane(address[lane], lane, false);
        if (from == nullptr) [[unlikely]]
            return nullptr;
        for (U32 i = 0; i < op.list_size; ++i) {
            Mem value;
            __builtin_memcpy(&value, from + i * sizeof(Mem), sizeof value);
            if (slots[i] != kNoSlot) warp.lanes<Reg>(slots[i])[lane] = widen<Reg>(value);
        }
    }
    return watched(op, warp, false);
}

template <class Mem, class Reg, Kind kKind>
const Op* run_store(const Op& op, Warp& warp) {
    U64 address[kLanes];
    read_addresses(op, warp, address);
    fence_if_ordered(op);
    View<kKind> view(op, warp);
    const Reg* in = warp.lanes<Reg>(op.source[1]);
    if (warp.partial == 0 && kKind != Kind::Local &&
        pattern_of(address, sizeof(Mem)) == Pattern::Contiguous && view.good(address[0]) &&
        view.good(address[kLanes - 1])) {
        Mem values[kLanes];
        OCKC_EMU_LANES
        for (U32 i = 0; i < kLanes; ++i)
            values[i] = widen<Mem>(in[i]);
        __builtin_memcpy(view.at(address[0], 0), values, sizeof values);
        fence_if_ordered(op);
        return watched(op, warp, true);
    }
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        std::byte* to = view.lane(address[lane], lane, true);
        if (to == nullptr) [[unlikely]]
            return nullptr;
        const Mem value = widen<Mem>(in[lane]);
        __builtin_memcpy(to, &value, sizeof value);
    }
    fence_if_ordered(op);
    return watched(op, warp, true);
}

template <class Mem, class Reg, Kind kKind>
const Op* run_store_vector(const Op& op, Warp& warp) {
    U64 address[kLanes];
    read_addresses(op, warp, address);
    fence_if_ordered(op);
    View<kKind> view(op, warp);
    const Slot* slots = warp.worker->program->slots.data() + op.list;
    for (U32 lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        const U32 lane = static_cast<U32>(__builtin_ctz(lanes));
        std::byte* to = view.lane(address[lane], lane, true);
        if (to == nullptr) [[unlikely]]
            return nullptr;
        for (U32 i = 0; i < op.list_size; ++i) {
            const Mem value = widen<Mem>(warp.lanes<Reg>(slots[i])[lane]);
            __builtin_memcpy(to + i * sizeof(Mem), &value, sizeof value);
        }
    }
    fence_if_ordered(op);
    return watched(op, warp, true);
}

// A kernel parameter at a fixed offset: the same for every lane of the grid.
template <class Mem, class Reg>
const Op* run_load_param(const Op& op, Warp& warp) {
    Mem value;
    __builtin_memcpy(&value, warp.worker->launch->params + op.imm, sizeof value);
    const Reg reg = widen<Reg>(value);
    Reg* out = warp.lanes<Reg>(op.dest);
    if (warp.partial == 0) {
        for (U32 i = 0; i < kLanes; ++i)
            out[i] = reg;
    } else {
        each_active(warp, [=](U32 lane) { out[lane] = reg; });
    }
    return &op + 1;
}
template <class Mem, class Reg>
const Op* run_load_param_vector(const Op& op, Warp& warp) {
    const Slot* slots = warp.worker->program->slots.data() + op.list;
    for (U32 i = 0; i < op.list_size; ++i) {
        if (slots[i] == kNoSlot) continue;
        Mem value;
        __builtin_memcpy(&value, warp.worker->launch->params + op.imm + i * sizeof(Mem), sizeof value);
        each_active(warp, [&](U32 lane) { warp.lanes<Reg>(slots[i])[lane] = widen<Reg>(value); });
    }
    return &op + 1;
}

// -----------------------------------------------------------------------------------------------------------
// selection

enum class Where { Flat, Shared, Local, Param };
Where where(Space space, bool fixed_param) {
    switch (space) {
        case Space::Shared: return Where::Shared;
        case Space::Local: return Where::Local;
        case Space::Param: return fixed_param ? Where::Param : Where::Flat;
        case Space::Const:
        case Space::Global:
        case Space::SharedCluster:
        case Space::None: return Where::Flat;
    }
    return Where::Flat;
}

template <class Mem, class Reg>
Handlers load_from(const Request& r) {
    const bool vector = r.mods.vec != ptx::Vec::None;
    switch (where(r.mods.space, r.fixed_param)) {
        case Where::Flat:
            return same(vector ? run_load_vector<Mem, Reg, Kind::Flat> : run_load<Mem, Reg, Kind::Flat>);
        case Where::Shared:
            return same(vector ? run_load_vector<Mem, Reg, Kind::Shared> : run_load<Mem, Reg, Kind::Shared>);
        case Where::Local:
            return same(vector ? run_load_vector<Mem, Reg, Kind::Local> : run_load<Mem, Reg, Kind::Local>);
        case Where::Param: return same(vector ? run_load_param_vector<Mem, Reg> : run_load_param<Mem, Reg>);
    }
    return {};
}
template <class Mem, class Reg>
Handlers store_to(const Request& r) {
    const bool vector = r.mods.vec != ptx::Vec::None;
    switch (where(r.mods.space, false)) {
        case Where::Flat:
            return same(vector ? run_store_vector<Mem, Reg, Kind::Flat> : run_store<Mem, Reg, Kind::Flat>);
        case Where::Shared:
            return same(vector ? run_store_vector<Mem, Reg, Kind::Shared>
                               : run_store<Mem, Reg, Kind::Shared>);
        case Where::Local:
            return same(vector ? run_store_vector<Mem, Reg, Kind::Local> : run_store<Mem, Reg, Kind::Local>);
        case Where::Param: return {};
    }
    return {};
}
template <class Mem>
Handlers load_narrow(const Request& r) {
    switch (r.dest_bytes) {
        case 2: return load_from<Mem, U16>(r);
        case 4: return load_from<Mem, U32>(r);
        case 8: return load_from<Mem, U64>(r);
        default: return {};
    }
}
template <class Mem>
Handlers load_word(const Request& r) {
    return r.dest_bytes == 4 ? load_from<Mem, U32>(r) : load_from<Mem, U64>(r);
}
template <class Mem>
Handlers store_narrow(const Request& r) {
    switch (r.source_bytes) {
        case 2: return store_to<Mem, U16>(r);
        case 4: return store_to<Mem, U32>(r);
        case 8: return store_to<Mem, U64>(r);
        default: return {};
    }
}

}  // namespace

Handlers select_load(const Request& r) {
    switch (r.mods.type) {
        case Type::B8:
        case Type::U8: return load_narrow<U8>(r);
        case Type::S8: return load_narrow<S8>(r);
        case Type::B16:
        case Type::U16: return load_narrow<U16>(r);
        case Type::S16: return load_narrow<S16>(r);
        case Type::B32:
        case Type::U32:
        case Type::F32: return load_word<U32>(r);
        case Type::S32: return load_word<S32>(r);
        case Type::B64:
        case Type::U64:
        case Type::S64:
        case Type::F64: return load_from<U64, U64>(r);
        case Type::B128: return load_from<Quad, Quad>(r);
        default: return {};
    }
}

Handlers select_store(const Request& r) {
    switch (ptx::type_bytes(r.mods.type)) {
        case 1: return store_narrow<U8>(r);
        case 2: return store_narrow<U16>(r);
        case 4: return r.source_bytes == 4 ? store_to<U32, U32>(r) : store_to<U32, U64>(r);
        case 8: return store_to<U64, U64>(r);
        case 16: return store_to<Quad, Quad>(r);
        default: return {};
    }
}

}  // namespace ockc::emu::OCKC_EMU_ISA
