// Extended-precision integer arithmetic. Each lane's carry flag is a bit of Warp::carry; for differences it
// is the borrow.
#include "emu/lanes.hpp"

namespace ockc::emu::OCKC_EMU_ISA {
namespace {

using ptx::Form;
using ptx::Type;

template <class U>
struct Sum {
    U value;
    bool carry;
};
template <class U>
Sum<U> add(U a, U b, bool carry) {
    const U sum = static_cast<U>(a + b);
    const U whole = static_cast<U>(sum + (carry ? 1 : 0));
    return {whole, sum < a || whole < sum};
}
template <class U>
Sum<U> sub(U a, U b, bool borrow) {
    const U difference = static_cast<U>(a - b);
    return {static_cast<U>(difference - (borrow ? 1 : 0)), a < b || (borrow && difference == 0)};
}

// What the first two operands become before the carry chain.
enum class Product { None, Low, High };

template <class T, Product kProduct, bool kSub, bool kIn, bool kOut>
const Op* run_carry(const Op& op, Warp& warp) {
    using U = Unsigned<T>;
    const U* a = warp.lanes<U>(op.source[0]);
    const U* b = warp.lanes<U>(op.source[1]);
    const U* c = kProduct == Product::None ? b : warp.lanes<U>(op.source[2]);
    U* out = warp.lanes<U>(op.dest);
    U32 carries = 0;
    each_active(warp, [&](U32 i) {
        const bool in = kIn && ((warp.carry >> i) & 1) != 0;
        Sum<U> sum;
        if constexpr (kProduct == Product::None) {
            sum = kSub ? sub<U>(a[i], b[i], in) : add<U>(a[i], b[i], in);
        } else {
            const Wide<T> product = Wide<T>(static_cast<T>(a[i])) * Wide<T>(static_cast<T>(b[i]));
            sum = add<U>(static_cast<U>(kProduct == Product::Low ? product : product >> kBits<T>), c[i], in);
        }
        out[i] = sum.value;
        carries |= (sum.carry ? 1u : 0u) << i;
    });
    if (kOut) warp.carry = (warp.carry & ~warp.active) | carries;
    return &op + 1;
}

template <Product kProduct, bool kSub, bool kIn, bool kOut>
Handlers by_type(Type type) {
    switch (type) {
        case Type::U32: return same(run_carry<U32, kProduct, kSub, kIn, kOut>);
        case Type::S32: return same(run_carry<S32, kProduct, kSub, kIn, kOut>);
        case Type::U64: return same(run_carry<U64, kProduct, kSub, kIn, kOut>);
        case Type::S64: return same(run_carry<S64, kProduct, kSub, kIn, kOut>);
        default: return {};
    }
}
template <Product kProduct, bool kSub>
Handlers chained(const ptx::Mods& m) {
    return m.carry_out ? by_type<kProduct, kSub, true, true>(m.type)
                       : by_type<kProduct, kSub, true, false>(m.type);
}

}  // namespace

Handlers select_carry(const Request& request) {
    const ptx::Mods& m = request.mods;
    switch (request.form) {
        case Form::AddCc: return by_type<Product::None, false, false, true>(m.type);
        case Form::Addc: return chained<Product::None, false>(m);
        case Form::SubCc: return by_type<Product::None, true, false, true>(m.type);
        case Form::Subc: return chained<Product::None, true>(m);
        case Form::MadLoCc: return by_type<Product::Low, false, false, true>(m.type);
        case Form::MadHiCc: return by_type<Product::High, false, false, true>(m.type);
        case Form::MadcLo: return chained<Product::Low, false>(m);
        case Form::MadcHi: return chained<Product::High, false>(m);
        default: return {};
    }
}

}  // namespace ockc::emu::OCKC_EMU_ISA
