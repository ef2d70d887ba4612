// Every integer operation of every width, on the emulator, against the host's arithmetic.
#include <algorithm>
#include <bit>
#include <limits>

#include "harness.hpp"

using namespace ockc;
using namespace ockc::test;
using ir::IntCond;
using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

template <class U>
struct Traits;
template <>
struct Traits<std::uint8_t> {
    using S = std::int8_t;
    static constexpr Type type = Type::I8;
};
template <>
struct Traits<std::uint16_t> {
    using S = std::int16_t;
    static constexpr Type type = Type::I16;
};
template <>
struct Traits<std::uint32_t> {
    using S = std::int32_t;
    static constexpr Type type = Type::I32;
};
template <>
struct Traits<std::uint64_t> {
    using S = std::int64_t;
    static constexpr Type type = Type::I64;
};
template <>
struct Traits<U128> {
    using S = I128;
    static constexpr Type type = Type::I128;
};

template <class U>
constexpr int kBits = static_cast<int>(sizeof(U) * 8);

template <class U>
std::vector<U> samples() {
    const U one = 1;
    const U top = static_cast<U>(one << (kBits<U> - 1));
    std::vector<U> out{0,
                       1,
                       2,
                       3,
                       5,
                       7,
                       10,
                       100,
                       static_cast<U>(-1),
                       static_cast<U>(-2),
                       static_cast<U>(-7),
                       static_cast<U>(-100),
                       top,
                       static_cast<U>(top - 1),
                       static_cast<U>(top + 1),
                       static_cast<U>(one << (kBits<U> / 2)),
                       static_cast<U>((one << (kBits<U> / 2)) - 1),
                       static_cast<U>(~U{0} / 3),
                       static_cast<U>(~U{0} / 5)};
    std::uint64_t state = 12345;
    for (int i = 0; i < 6; ++i) {
        U value = 0;
        for (std::size_t j = 0; j < sizeof(U); ++j) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            value = static_cast<U>(value << 4 << 4) | static_cast<U>(state >> 56);
        }
        out.push_back(value);
    }
    return out;
}

template <class U>
int leading_zeros(U v) {
    int n = 0;
    for (int i = kBits<U> - 1; i >= 0 && (v >> i & 1) == 0; --i)
        ++n;
    return n;
}
template <class U>
int trailing_zeros(U v) {
    int n = 0;
    for (int i = 0; i < kBits<U> && (v >> i & 1) == 0; ++i)
        ++n;
    return n;
}
template <class U>
U population(U v) {
    int n = 0;
    for (int i = 0; i < kBits<U>; ++i)
        n += static_cast<int>(v >> i & 1);
    return static_cast<U>(n);
}
template <class U>
U reversed(U v, int unit) {
    U out = 0;
    const U mask = static_cast<U>((U{1} << unit) - 1);
    for (int i = 0; i < kBits<U>; i += unit)
        out |= static_cast<U>((v >> i & mask) << (kBits<U> - unit - i));
    return out;
}
// The upper half of the product, by schoolbook multiplication of single bits.
template <class U>
U high_product(U a, U b) {
    U high = 0;
    U low = 0;
    for (int i = kBits<U> - 1; i >= 0; --i) {
        high = static_cast<U>(static_cast<U>(high << 1) | static_cast<U>(low >> (kBits<U> - 1)));
        low = static_cast<U>(low << 1);
        if ((b >> i & 1) == 0) continue;
        const U sum = static_cast<U>(low + a);
        if (sum < low) high = static_cast<U>(high + 1);
        low = sum;
    }
    return high;
}
template <class U>
U signed_high_product(U a, U b) {
    using S = typename Traits<U>::S;
    U high = high_product(a, b);
    if (static_cast<S>(a) < 0) high = static_cast<U>(high - b);
    if (static_cast<S>(b) < 0) high = static_cast<U>(high - a);
    return high;
}

template <class U>
U bits_of(U128 value) {
    return static_cast<U>(value);
}

void report(std::string_view what, U128 a, U128 b, U128 got, U128 expected) {
    const auto hex = [](U128 v) {
        std::string out;
        for (int i = 124; i >= 0; i -= 4)
            out += "0123456789abcdef"[static_cast<int>(v >> i & 15)];
        return out;
    };
    FAIL_CHECK(what << "(" << hex(a) << ", " << hex(b) << ") gave " << hex(got) << ", expected "
                    << hex(expected));
}

template <class U>
struct Binary {
    std::string name;
    std::function<ValueId(ir::Builder&, ValueId, ValueId)> build;
    std::function<U(U, U)> expected;  // truth values as 0 and 1
    bool divides = false;             // not defined for a zero divisor or MIN / -1
};

template <class U>
std::vector<Binary<U>> binary_rows() {
    using S = typename Traits<U>::S;
    constexpr Type T = Traits<U>::type;
    std::vector<Binary<U>> rows;
    const auto add = [&](const char* name, Op op, auto expected, bool divides = false) {
        rows.push_back({name, [op](ir::Builder& b, ValueId x, ValueId y) { return b.binary(op, T, x, y); },
                        expected, divides});
    };
    const auto s = [](U v) { return static_cast<S>(v); };
    add("iadd", Op::Iadd, [](U a, U b) { return static_cast<U>(a + b); });
    add("isub", Op::Isub, [](U a, U b) { return static_cast<U>(a - b); });
    add("imul", Op::Imul, [](U a, U b) { return static_cast<U>(static_cast<U128>(a) * b); });
    add(
        "udiv", Op::Udiv, [](U a, U b) { return static_cast<U>(a / b); }, true);
    add(
        "urem", Op::Urem, [](U a, U b) { return static_cast<U>(a % b); }, true);
    add(
        "sdiv", Op::Sdiv, [s](U a, U b) { return static_cast<U>(s(a) / s(b)); }, true);
    add(
        "srem", Op::Srem, [s](U a, U b) { return static_cast<U>(s(a) % s(b)); }, true);
    add("umulh", Op::Umulh, [](U a, U b) { return high_product(a, b); });
    add("smulh", Op::Smulh, [](U a, U b) { return signed_high_product(a, b); });
    add("and", Op::And, [](U a, U b) { return static_cast<U>(a & b); });
    add("or", Op::Or, [](U a, U b) { return static_cast<U>(a | b); });
    add("xor", Op::Xor, [](U a, U b) { return static_cast<U>(a ^ b); });
    add("umin", Op::Umin, [](U a, U b) { return a < b ? a : b; });
    add("umax", Op::Umax, [](U a, U b) { return a > b ? a : b; });
    add("smin", Op::Smin, [s](U a, U b) { return s(a) < s(b) ? a : b; });
    add("smax", Op::Smax, [s](U a, U b) { return s(a) > s(b) ? a : b; });
    add("uadd_ov", Op::UaddOv, [](U a, U b) { return static_cast<U>(static_cast<U>(a + b) < a); });
    add("usub_ov", Op::UsubOv, [](U a, U b) { return static_cast<U>(a < b); });
    add("sadd_ov", Op::SaddOv, [s](U a, U b) {
        S r;
        return static_cast<U>(__builtin_add_overflow(s(a), s(b), &r));
    });
    add("ssub_ov", Op::SsubOv, [s](U a, U b) {
        S r;
        return static_cast<U>(__builtin_sub_overflow(s(a), s(b), &r));
    });
    add("umul_ov", Op::UmulOv, [](U a, U b) { return static_cast<U>(high_product(a, b) != 0); });
    add("smul_ov", Op::SmulOv, [s](U a, U b) {
        const U low = static_cast<U>(static_cast<U128>(a) * b);
        return static_cast<U>(signed_high_product(a, b) != (s(low) < 0 ? static_cast<U>(-1) : U{0}));
    });
    const auto compare = [&](const char* name, IntCond cond, auto expected) {
        rows.push_back({name, [cond](ir::Builder& b, ValueId x, ValueId y) { return b.icmp(cond, x, y); },
                        [expected](U a, U b) { return static_cast<U>(expected(a, b)); }});
    };
    compare("eq", IntCond::Eq, [](U a, U b) { return a == b; });
    compare("ne", IntCond::Ne, [](U a, U b) { return a != b; });
    compare("ult", IntCond::Ult, [](U a, U b) { return a < b; });
    compare("ule", IntCond::Ule, [](U a, U b) { return a <= b; });
    compare("ugt", IntCond::Ugt, [](U a, U b) { return a > b; });
    compare("uge", IntCond::Uge, [](U a, U b) { return a >= b; });
    compare("slt", IntCond::Slt, [s](U a, U b) { return s(a) < s(b); });
    compare("sle", IntCond::Sle, [s](U a, U b) { return s(a) <= s(b); });
    compare("sgt", IntCond::Sgt, [s](U a, U b) { return s(a) > s(b); });
    compare("sge", IntCond::Sge, [s](U a, U b) { return s(a) >= s(b); });
    rows.push_back(
        {"select",
         [](ir::Builder& b, ValueId x, ValueId y) { return b.select(b.icmp(IntCond::Ult, x, y), y, x); },
         [](U a, U b) { return a < b ? b : a; }});
    return rows;
}

// With both operands from memory, and with the second (then the first) a constant.
template <class U>
void check_binary() {
    using S = typename Traits<U>::S;
    constexpr Type T = Traits<U>::type;
    const std::vector<Binary<U>> rows = binary_rows<U>();
    const std::vector<U> values = samples<U>();
    const auto undefined = [](const Binary<U>& row, U a, U b) {
        const bool overflows = static_cast<S>(a) == std::numeric_limits<S>::min() && b == static_cast<U>(-1);
        return row.divides && (b == 0 || overflows ||
                               (sizeof(U) == 16 && a == U{1} << (kBits<U> - 1) && b == static_cast<U>(-1)));
    };
    const auto check = [&](const std::vector<U128>& got, std::size_t lane, U a, U b) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (undefined(rows[i], a, b)) continue;
            const Op op = Op::Const;
            static_cast<void>(op);
            const U result = bits_of<U>(got[lane * rows.size() + i]);
            const U expected = rows[i].expected(a, b);
            if (result != expected) report(rows[i].name, a, b, result, expected);
        }
    };

    std::vector<U128> pairs;
    for (const U a : values) {
        for (const U b : values) {
            pairs.push_back(a);
            pairs.push_back(b);
        }
    }
    const LaneKernel both({T, T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        std::vector<ValueId> out;
        for (const Binary<U>& row : rows)
            out.push_back(row.build(b, in[0], in[1]));
        return out;
    });
    const std::vector<U128> got = both.run(pairs);
    for (std::size_t lane = 0; lane < pairs.size() / 2; ++lane)
        check(got, lane, static_cast<U>(pairs[2 * lane]), static_cast<U>(pairs[2 * lane + 1]));

    std::vector<U128> singles(values.begin(), values.end());
    for (const U c : {U{0}, U{1}, U{5}, static_cast<U>(-1), static_cast<U>(U{1} << (kBits<U> - 1)),
                      static_cast<U>(~U{0} / 5)}) {
        for (const bool second : {true, false}) {
            const LaneKernel with_constant({T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
                std::vector<ValueId> out;
                const ValueId k = b.const_int(T, static_cast<std::uint64_t>(c),
                                              static_cast<std::uint64_t>(static_cast<U128>(c) >> 64));
                for (const Binary<U>& row : rows)
                    out.push_back(second ? row.build(b, in[0], k) : row.build(b, k, in[0]));
                return out;
            });
            const std::vector<U128> results = with_constant.run(singles);
            for (std::size_t lane = 0; lane < singles.size(); ++lane) {
                const U x = static_cast<U>(singles[lane]);
                check(results, lane, second ? x : c, second ? c : x);
            }
        }
    }
}

template <class U>
void check_unary() {
    using S = typename Traits<U>::S;
    constexpr Type T = Traits<U>::type;
    struct Row {
        Op op;
        std::function<U(U)> expected;
    };
    const std::vector<Row> rows{
        {Op::Ineg, [](U a) { return static_cast<U>(0 - a); }},
        {Op::Not, [](U a) { return static_cast<U>(~a); }},
        {Op::Iabs, [](U a) { return static_cast<S>(a) < 0 ? static_cast<U>(0 - a) : a; }},
        {Op::Popcnt, [](U a) { return population(a); }},
        {Op::Clz, [](U a) { return static_cast<U>(leading_zeros(a)); }},
        {Op::Ctz, [](U a) { return static_cast<U>(trailing_zeros(a)); }},
        {Op::Bitrev, [](U a) { return reversed(a, 1); }},
        {Op::Bswap, [](U a) { return reversed(a, 8); }},
    };
    const std::vector<U> values = samples<U>();
    const LaneKernel kernel({T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        std::vector<ValueId> out;
        for (const Row& row : rows)
            out.push_back(b.unary(row.op, T, in[0]));
        return out;
    });
    const std::vector<U128> got = kernel.run({values.begin(), values.end()});
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const U result = bits_of<U>(got[lane * rows.size() + i]);
            const U expected = rows[i].expected(values[lane]);
            if (result != expected) report(ir::op_info(rows[i].op).text, values[lane], 0, result, expected);
        }
    }
}

template <class U>
void check_shifts() {
    using S = typename Traits<U>::S;
    constexpr Type T = Traits<U>::type;
    constexpr unsigned mask = kBits<U> - 1;
    struct Row {
        Op op;
        std::function<U(U, unsigned)> expected;  // amounts are below the width
    };
    const std::vector<Row> rows{
        {Op::Shl, [](U a, unsigned n) { return static_cast<U>(a << n); }},
        {Op::Lshr, [](U a, unsigned n) { return static_cast<U>(a >> n); }},
        {Op::Ashr, [](U a, unsigned n) { return static_cast<U>(static_cast<S>(a) >> n); }},
        {Op::Rotl,
         [](U a, unsigned n) {
             return n == 0 ? a : static_cast<U>(static_cast<U>(a << n) | static_cast<U>(a >> (kBits<U> - n)));
         }},
        {Op::Rotr,
         [](U a, unsigned n) {
             return n == 0 ? a : static_cast<U>(static_cast<U>(a >> n) | static_cast<U>(a << (kBits<U> - n)));
         }},
    };
    std::vector<U> values = samples<U>();
    values.resize(20);
    std::vector<U128> pairs;
    std::vector<unsigned> amounts;
    for (unsigned n = 0; n < 2 * kBits<U>; n += n < 8 || n + 9 > kBits<U> ? 1 : 5)
        amounts.push_back(n);
    amounts.push_back(0x80000001u);
    for (const U a : values) {
        for (const unsigned n : amounts) {
            pairs.push_back(a);
            pairs.push_back(n);
        }
    }
    const LaneKernel variable({T, Type::I32}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        std::vector<ValueId> out;
        for (const Row& row : rows)
            out.push_back(b.binary(row.op, T, in[0], in[1]));
        return out;
    });
    const std::vector<U128> got = variable.run(pairs);
    for (std::size_t lane = 0; lane < pairs.size() / 2; ++lane) {
        const U a = static_cast<U>(pairs[2 * lane]);
        const auto n = static_cast<unsigned>(pairs[2 * lane + 1]) & mask;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const U result = bits_of<U>(got[lane * rows.size() + i]);
            if (result != rows[i].expected(a, n))
                report(ir::op_info(rows[i].op).text, a, n, result, rows[i].expected(a, n));
        }
    }
    for (const unsigned n : {0u, 1u, 3u, mask / 2, mask / 2 + 1, mask - 1, mask, mask + 1, mask + 4}) {
        const LaneKernel constant({T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
            std::vector<ValueId> out;
            for (const Row& row : rows)
                out.push_back(b.binary(row.op, T, in[0], b.const_int(Type::I32, n)));
            return out;
        });
        const std::vector<U128> results = constant.run({values.begin(), values.end()});
        for (std::size_t lane = 0; lane < values.size(); ++lane) {
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const U result = bits_of<U>(results[lane * rows.size() + i]);
                const U expected = rows[i].expected(values[lane], n & mask);
                if (result != expected)
                    report(ir::op_info(rows[i].op).text, values[lane], n, result, expected);
            }
        }
    }
}

// From U to every other integer type and to i1, and back up.
template <class U>
void check_conversions() {
    using S = typename Traits<U>::S;
    constexpr Type T = Traits<U>::type;
    const std::vector<Type> types{Type::I8, Type::I16, Type::I32, Type::I64, Type::I128};
    std::vector<Type> narrower{Type::I1};
    std::vector<Type> wider;
    for (const Type t : types) {
        if (ir::type_bits(t) < ir::type_bits(T)) narrower.push_back(t);
        if (ir::type_bits(t) > ir::type_bits(T)) wider.push_back(t);
    }
    const LaneKernel kernel({T}, [&](ir::Builder& b, const std::vector<ValueId>& in) {
        std::vector<ValueId> out;
        for (const Type t : narrower)
            out.push_back(b.convert(Op::Trunc, t, in[0]));
        for (const Type t : narrower)
            out.push_back(b.convert(Op::Zext, T, b.convert(Op::Trunc, t, in[0])));
        for (const Type t : narrower)
            out.push_back(b.convert(Op::Sext, T, b.convert(Op::Trunc, t, in[0])));
        for (const Type t : wider)
            out.push_back(b.convert(Op::Zext, t, in[0]));
        for (const Type t : wider)
            out.push_back(b.convert(Op::Sext, t, in[0]));
        // Of a computed value, whose upper bits a register may not have cleared.
        const ValueId doubled = b.binary(Op::Iadd, T, in[0], in[0]);
        for (const Type t : wider)
            out.push_back(b.convert(Op::Zext, t, doubled));
        for (const Type t : wider)
            out.push_back(b.convert(Op::Sext, t, doubled));
        return out;
    });
    const auto cut = [](U128 v, std::uint32_t bits) { return bits == 128 ? v : v & ((U128{1} << bits) - 1); };
    const auto extended = [&](U128 v, std::uint32_t bits) {
        return static_cast<U128>(static_cast<I128>(v << (128 - bits)) >> (128 - bits));
    };
    const std::vector<U> values = samples<U>();
    const std::vector<U128> got = kernel.run({values.begin(), values.end()});
    for (std::size_t lane = 0; lane < values.size(); ++lane) {
        const U a = values[lane];
        std::vector<U128> expected;
        std::vector<std::uint32_t> widths;
        const auto want = [&](U128 v, std::uint32_t bits) {
            expected.push_back(cut(v, bits));
            widths.push_back(bits);
        };
        for (const Type t : narrower)
            want(a, ir::type_bits(t));
        for (const Type t : narrower)
            want(cut(a, ir::type_bits(t)), kBits<U>);
        for (const Type t : narrower)
            want(extended(a, ir::type_bits(t)), kBits<U>);
        for (const Type t : wider)
            want(a, ir::type_bits(t));
        for (const Type t : wider)
            want(static_cast<U128>(static_cast<I128>(static_cast<S>(a))), ir::type_bits(t));
        const U doubled = static_cast<U>(a + a);
        for (const Type t : wider)
            want(doubled, ir::type_bits(t));
        for (const Type t : wider)
            want(static_cast<U128>(static_cast<I128>(static_cast<S>(doubled))), ir::type_bits(t));
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const U128 result = cut(got[lane * kernel.result_count() + i], widths[i]);
            if (result != expected[i]) report("conversion " + std::to_string(i), a, 0, result, expected[i]);
        }
    }
}

}  // namespace

TEST_CASE_TEMPLATE("binary operations", U, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, U128) {
    check_binary<U>();
}
TEST_CASE_TEMPLATE("unary operations", U, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, U128) {
    check_unary<U>();
}
TEST_CASE_TEMPLATE("shifts and rotations", U, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   U128) {
    check_shifts<U>();
}
TEST_CASE_TEMPLATE("integer conversions", U, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   U128) {
    check_conversions<U>();
}

TEST_CASE("truth values") {
    const LaneKernel kernel({Type::I1, Type::I1, Type::I1},
                            [](ir::Builder& b, const std::vector<ValueId>& in) {
                                std::vector<ValueId> out;
                                for (const Op op : {Op::And, Op::Or, Op::Xor})
                                    out.push_back(b.binary(op, Type::I1, in[0], in[1]));
                                out.push_back(b.unary(Op::Not, Type::I1, in[0]));
                                for (int c = 0; c < 10; ++c)
                                    out.push_back(b.icmp(static_cast<IntCond>(c), in[0], in[1]));
                                out.push_back(b.select(in[2], in[0], in[1]));
                                out.push_back(b.select(b.unary(Op::Not, Type::I1, in[2]), in[0], in[1]));
                                return out;
                            });
    std::vector<U128> rows;
    for (unsigned i = 0; i < 8; ++i)
        rows.insert(rows.end(), {i & 1, i >> 1 & 1, i >> 2 & 1});
    const std::vector<U128> got = kernel.run(rows);
    for (std::size_t i = 0; i < 8; ++i) {
        const bool a = i & 1;
        const bool b = i >> 1 & 1;
        const bool c = i >> 2 & 1;
        // Signed, a true i1 is -1.
        const bool expected[] = {a && b, a || b, a != b, !a,    a == b, a != b,    a<b, a <= b, a> b,
                                 a >= b, a > b,  a >= b, a < b, a <= b, c ? a : b, c ? b : a};
        for (std::size_t j = 0; j < std::size(expected); ++j) {
            CAPTURE(i);
            CAPTURE(j);
            CHECK((got[i * kernel.result_count() + j] & 0xFF) == static_cast<U128>(expected[j]));
        }
    }
}

TEST_CASE("products of extended operands are one wide product") {
    const auto kernel = [](Op extend) {
        return LaneKernel({Type::I32, Type::I32, Type::I64}, [extend](ir::Builder& b,
                                                                      const std::vector<ValueId>& in) {
            const ValueId x = b.convert(extend, Type::I64, in[0]);
            const ValueId y = b.convert(extend, Type::I64, in[1]);
            const ValueId product = b.binary(Op::Imul, Type::I64, x, y);
            const ValueId by_constant = b.binary(Op::Imul, Type::I64, x, b.const_int(Type::I64, 12));
            const ValueId shifted = b.binary(Op::Shl, Type::I64, x, b.const_int(Type::I32, 3));
            return std::vector<ValueId>{product, b.binary(Op::Iadd, Type::I64, product, in[2]), by_constant,
                                        shifted, b.binary(Op::Iadd, Type::I64, in[2], shifted)};
        });
    };
    std::vector<U128> rows;
    for (const std::uint32_t a : samples<std::uint32_t>()) {
        for (const std::uint32_t b : samples<std::uint32_t>())
            rows.insert(rows.end(), {a, b, static_cast<U128>(0x123456789ABCDEFu)});
    }
    for (const Op extend : {Op::Zext, Op::Sext}) {
        const LaneKernel k = kernel(extend);
        CHECK(k.ptx().find("mul.lo.s64") == std::string::npos);
        const std::vector<U128> got = k.run(rows);
        for (std::size_t lane = 0; lane < rows.size() / 3; ++lane) {
            const auto widen = [&](U128 v) {
                const auto word = static_cast<std::uint32_t>(v);
                return extend == Op::Sext ? static_cast<std::uint64_t>(
                                                static_cast<std::int64_t>(static_cast<std::int32_t>(word)))
                                          : std::uint64_t{word};
            };
            const std::uint64_t x = widen(rows[3 * lane]);
            const std::uint64_t y = widen(rows[3 * lane + 1]);
            const auto c = static_cast<std::uint64_t>(rows[3 * lane + 2]);
            const std::uint64_t expected[] = {x * y, x * y + c, x * 12, x << 3, c + (x << 3)};
            for (std::size_t i = 0; i < 5; ++i)
                CHECK(static_cast<std::uint64_t>(got[lane * 5 + i]) == expected[i]);
        }
    }
}
