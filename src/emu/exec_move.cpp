// Moves, selection, comparison and address-space conversions.
#include "emu/float_formats.hpp"

namespace ockc::emu::OCKC_EMU_ISA {
namespace {

using ptx::Cmp;
using ptx::Form;
using ptx::Space;
using ptx::Type;

struct Quad {
    U64 low;
    U64 high;
};

template <class T>
struct Copy {
    using A = T;
    using D = T;
    static D apply(A a) { return a; }
};
Handlers copy(U32 bytes) {
    switch (bytes) {
        case 2: return unary<Copy<U16>>();
        case 4: return unary<Copy<U32>>();
        case 8: return unary<Copy<U64>>();
        case 16: return unary<Copy<Quad>>();
        default: return {};
    }
}
const Op* run_copy_predicate(const Op& op, Warp& warp) {
    set_predicate(warp, op.dest, warp.predicate(op.source[0]));
    return &op + 1;
}

template <class T, bool kFull>
const Op* run_select(const Op& op, Warp& warp) {
    const T* a = warp.lanes<T>(op.source[0]);
    const T* b = warp.lanes<T>(op.source[1]);
    const U32 chosen = warp.predicate(op.source[2]) ^ op.flip;
    store_lanes<kFull>(warp, warp.lanes<T>(op.dest),
                       [=](U32 i) { return ((chosen >> i) & 1) != 0 ? a[i] : b[i]; });
    return &op + 1;
}
template <class T>
Handlers select() {
    return {run_select<T, true>, run_select<T, false>};
}

// The elements of a list, lowest first, to and from one register.
template <class Whole, class Part>
const Op* run_pack(const Op& op, Warp& warp) {
    Whole* out = warp.lanes<Whole>(op.dest);
    const Slot* parts = warp.worker->program->slots.data() + op.list;
    each_active(warp, [&](U32 lane) {
        Part elements[sizeof(Whole) / sizeof(Part)];
        for (U32 i = 0; i < op.list_size; ++i)
            elements[i] = warp.lanes<Part>(parts[i])[lane];
        __builtin_memcpy(&out[lane], elements, sizeof(Whole));
    });
    return &op + 1;
}
template <class Whole, class Part>
const Op* run_unpack(const Op& op, Warp& warp) {
    const Whole* in = warp.lanes<Whole>(op.source[0]);
    const Slot* parts = warp.worker->program->slots.data() + op.list;
    each_active(warp, [&](U32 lane) {
        Part elements[sizeof(Whole) / sizeof(Part)];
        __builtin_memcpy(elements, &in[lane], sizeof(Whole));
        for (U32 i = 0; i < op.list_size; ++i)
            warp.lanes<Part>(parts[i])[lane] = elements[i];
    });
    return &op + 1;
}
template <bool kPack, class Whole, class Part>
Handler list_handler() {
    if constexpr (kPack)
        return run_pack<Whole, Part>;
    else
        return run_unpack<Whole, Part>;
}
// `part` is the width of an element; 1 to 4 of them make the register.
template <bool kPack>
Handlers pack(U32 whole, U32 part) {
    if (whole == 4 && part == 2) return same(list_handler<kPack, U32, U16>());
    if (whole == 8 && part == 2) return same(list_handler<kPack, U64, U16>());
    if (whole == 8 && part == 4) return same(list_handler<kPack, U64, U32>());
    if (whole == 16 && part == 4) return same(list_handler<kPack, Quad, U32>());
    if (whole == 16 && part == 8) return same(list_handler<kPack, Quad, U64>());
    return {};
}

// ----------------------------------------------------------------------------------------------------------
// comparison

template <Cmp kCmp, class T>
inline bool holds(T a, T b) {
    switch (kCmp) {
        case Cmp::Eq: return a == b;
        case Cmp::Ne: return a < b || a > b;  // false for NaN
        case Cmp::Lt:
        case Cmp::Lo: return a < b;
        case Cmp::Le:
        case Cmp::Ls: return a <= b;
        case Cmp::Gt:
        case Cmp::Hi: return a > b;
        case Cmp::Ge:
        case Cmp::Hs: return a >= b;
        case Cmp::Equ: return !(a < b || a > b);
        case Cmp::Neu: return !(a == b);
        case Cmp::Ltu: return !(a >= b);
        case Cmp::Leu: return !(a > b);
        case Cmp::Gtu: return !(a <= b);
        case Cmp::Geu: return !(a < b);
        case Cmp::Num: return a == a && b == b;
        case Cmp::Nan: return !(a == a && b == b);
        case Cmp::None: return false;
    }
    return false;
}

// How an operand is read for comparison.
template <class T>
struct AsInt {
    using Lane = Unsigned<T>;
    static T read(Lane a) { return static_cast<T>(a); }
};
template <bool kFtz>
struct AsSingle {
    using Lane = U32;
    static float read(Lane a) { return bit_to<float>(kFtz ? Single::flush(a) : a); }
};
struct AsDouble {
    using Lane = U64;
    static double read(Lane a) { return bit_to<double>(a); }
};
template <class H, bool kFtz>
struct AsHalf {
    using Lane = U16;
    static float read(Lane a) { return static_cast<float>(H::value(kFtz ? H::flush(a) : a)); }
};

inline U32 combine(ptx::BoolOp op, U32 a, U32 b) {
    switch (op) {
        case ptx::BoolOp::And: return a & b;
        case ptx::BoolOp::Or: return a | b;
        case ptx::BoolOp::Xor: return a ^ b;
        case ptx::BoolOp::None: return a;
    }
    return a;
}

template <class Read, Cmp kCmp>
const Op* run_compare(const Op& op, Warp& warp) {
    const auto* a = warp.lanes<typename Read::Lane>(op.source[0]);
    const auto* b = warp.lanes<typename Read::Lane>(op.source[1]);
    const U32 mask = gather_mask([=](U32 i) { return holds<kCmp>(Read::read(a[i]), Read::read(b[i])); });
    if (op.source[2] == kNoSlot) {
        set_predicate(warp, op.dest, mask);
        if (op.dest2 != kNoSlot) set_predicate(warp, op.dest2, ~mask);
        return &op + 1;
    }
    const U32 third = warp.predicate(op.source[2]) ^ op.flip;
    set_predicate(warp, op.dest, combine(op.bool_op, mask, third));
    if (op.dest2 != kNoSlot) set_predicate(warp, op.dest2, combine(op.bool_op, ~mask, third));
    return &op + 1;
}

template <class Read>
Handlers ordered(Cmp cmp) {
    switch (cmp) {
        case Cmp::Eq: return same(run_compare<Read, Cmp::Eq>);
        case Cmp::Ne: return same(run_compare<Read, Cmp::Ne>);
        case Cmp::Lt:
        case Cmp::Lo: return same(run_compare<Read, Cmp::Lt>);
        case Cmp::Le:
        case Cmp::Ls: return same(run_compare<Read, Cmp::Le>);
        case Cmp::Gt:
        case Cmp::Hi: return same(run_compare<Read, Cmp::Gt>);
        case Cmp::Ge:
        case Cmp::Hs: return same(run_compare<Read, Cmp::Ge>);
        default: return {};
    }
}
template <class Read>
Handlers unordered(Cmp cmp) {
    switch (cmp) {
        case Cmp::Equ: return same(run_compare<Read, Cmp::Equ>);
        case Cmp::Neu: return same(run_compare<Read, Cmp::Neu>);
        case Cmp::Ltu: return same(run_compare<Read, Cmp::Ltu>);
        case Cmp::Leu: return same(run_compare<Read, Cmp::Leu>);
        case Cmp::Gtu: return same(run_compare<Read, Cmp::Gtu>);
        case Cmp::Geu: return same(run_compare<Read, Cmp::Geu>);
        case Cmp::Num: return same(run_compare<Read, Cmp::Num>);
        case Cmp::Nan: return same(run_compare<Read, Cmp::Nan>);
        default: return ordered<Read>(cmp);
    }
}

// ------------------------------------------------------------------------------------------------------
// address spaces

U64 window_of(Space space) {
    switch (space) {
        case Space::Shared:
        case Space::SharedCluster: return kSharedWindow;
        case Space::Local: return kLocalWindow;
        case Space::Param: return kParamWindow;
        case Space::Global:
        case Space::Const:
        case Space::None: return 0;
    }
    return 0;
}
template <bool kTo, bool kFull>
const Op* run_cvta(const Op& op, Warp& warp) {
    const U64* a = warp.lanes<U64>(op.source[0]);
    const U64 window = kTo ? 0 - window_of(op.space) : window_of(op.space);
    store_lanes<kFull>(warp, warp.lanes<U64>(op.dest), [=](U32 i) { return a[i] + window; });
    return &op + 1;
}
const Op* run_isspacep(const Op& op, Warp& warp) {
    const U64* a = warp.lanes<U64>(op.source[0]);
    U32 mask = 0;
    each_active(warp,
                [&](U32 lane) { mask |= (address_in_space(warp, a[lane], op.space) ? 1u : 0u) << lane; });
    set_predicate(warp, op.dest, mask);
    return &op + 1;
}

}  // namespace

Handlers select_move(const Request& request) {
    const Type type = request.mods.type;
    const U32 bytes = ptx::type_bytes(type);
    switch (request.form) {
        case Form::Mov: return type == Type::Pred ? same(run_copy_predicate) : copy(bytes);
        case Form::MovPack: return pack<true>(bytes, request.source_bytes);
        case Form::MovUnpack: return pack<false>(bytes, request.dest_bytes);
        case Form::Selp: return bytes == 2 ? select<U16>() : bytes == 4 ? select<U32>() : select<U64>();
        case Form::Cvta:
            return type == Type::U64 ? Handlers{run_cvta<false, true>, run_cvta<false, false>} : Handlers{};
        case Form::CvtaTo:
            return type == Type::U64 ? Handlers{run_cvta<true, true>, run_cvta<true, false>} : Handlers{};
        case Form::Isspacep: return same(run_isspacep);
        default: return {};
    }
}

Handlers select_compare(const Request& request) {
    const ptx::Mods& m = request.mods;
    switch (m.type) {
        case Type::B16:
        case Type::U16: return ordered<AsInt<U16>>(m.cmp);
        case Type::S16: return ordered<AsInt<S16>>(m.cmp);
        case Type::B32:
        case Type::U32: return ordered<AsInt<U32>>(m.cmp);
        case Type::S32: return ordered<AsInt<S32>>(m.cmp);
        case Type::B64:
        case Type::U64: return ordered<AsInt<U64>>(m.cmp);
        case Type::S64: return ordered<AsInt<S64>>(m.cmp);
        case Type::F16:
            return m.ftz ? unordered<AsHalf<Half, true>>(m.cmp) : unordered<AsHalf<Half, false>>(m.cmp);
        case Type::BF16: return unordered<AsHalf<Brain, false>>(m.cmp);
        case Type::F32: return m.ftz ? unordered<AsSingle<true>>(m.cmp) : unordered<AsSingle<false>>(m.cmp);
        case Type::F64: return unordered<AsDouble>(m.cmp);
        default: return {};
    }
}

}  // namespace ockc::emu::OCKC_EMU_ISA
