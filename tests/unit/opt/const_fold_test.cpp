// Values that do not come from our own arithmetic: IEEE tables, Rust's documentation, the host's own
// conversions.
#include "opt/const_fold.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "opt/float_bits.hpp"

using namespace ockc;
using ir::Op;
using ir::Type;
using opt::Constant;

namespace {

std::optional<std::uint64_t> fold(Op op, Type type, Type from, std::initializer_list<std::uint64_t> args) {
    ir::Instruction inst;
    inst.op = op;
    inst.type = type;
    std::vector<Constant> constants;
    for (const std::uint64_t arg : args)
        constants.push_back({arg, 0});
    const auto value = opt::fold(inst, from, constants);
    return value ? std::optional(value->low) : std::nullopt;
}
std::optional<std::uint64_t> fold(Op op, Type type, std::initializer_list<std::uint64_t> args) {
    return fold(op, type, type, args);
}
std::uint64_t bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}
std::uint64_t bits(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

}  // namespace

TEST_CASE("fold: integers wrap and divisions that Rust refuses stay") {
    CHECK(fold(Op::Iadd, Type::I8, {200, 100}) == 44);
    CHECK(fold(Op::Isub, Type::I16, {0, 1}) == 0xFFFF);
    CHECK(fold(Op::Imul, Type::I64, {~std::uint64_t{0}, 3}) == ~std::uint64_t{0} - 2);
    CHECK(fold(Op::Sdiv, Type::I8, {0x80, 2}) == 0xC0);
    CHECK(fold(Op::Srem, Type::I32, {static_cast<std::uint32_t>(-7), 2}) == 0xFFFF'FFFF);
    CHECK_FALSE(fold(Op::Udiv, Type::I32, {1, 0}));
    CHECK_FALSE(fold(Op::Sdiv, Type::I8, {0x80, 0xFF}));
    CHECK(fold(Op::Umulh, Type::I32, {0xFFFF'FFFF, 0xFFFF'FFFF}) == 0xFFFF'FFFE);
    CHECK(fold(Op::Smulh, Type::I64, {~std::uint64_t{0}, ~std::uint64_t{0}}) == 0);
}

TEST_CASE("fold: shifts mask their amount") {
    CHECK(fold(Op::Shl, Type::I8, {1, 9}) == 2);
    CHECK(fold(Op::Ashr, Type::I8, {0x80, 7}) == 0xFF);
    CHECK(fold(Op::Lshr, Type::I64, {0x8000'0000'0000'0000, 63}) == 1);
    CHECK(fold(Op::Rotl, Type::I16, {0x8001, 1}) == 0x0003);
    CHECK(fold(Op::Rotr, Type::I8, {0x01, 1}) == 0x80);
}

TEST_CASE("fold: bits") {
    CHECK(fold(Op::Clz, Type::I16, {1}) == 15);
    CHECK(fold(Op::Clz, Type::I8, {0}) == 8);
    CHECK(fold(Op::Ctz, Type::I32, {0}) == 32);
    CHECK(fold(Op::Ctz, Type::I32, {8}) == 3);
    CHECK(fold(Op::Popcnt, Type::I64, {0xFF00FF}) == 16);
    CHECK(fold(Op::Bitrev, Type::I8, {0x13}) == 0xC8);
    CHECK(fold(Op::Bswap, Type::I32, {0x12345678}) == 0x78563412);
    CHECK(fold(Op::Iabs, Type::I8, {0x80}) == 0x80);
}

TEST_CASE("fold: overflow tests") {
    CHECK(fold(Op::UaddOv, Type::I8, {200, 56}) == 1);
    CHECK(fold(Op::UaddOv, Type::I8, {200, 55}) == 0);
    CHECK(fold(Op::SaddOv, Type::I8, {100, 28}) == 1);
    CHECK(fold(Op::SsubOv, Type::I32, {0x8000'0000, 1}) == 1);
    CHECK(fold(Op::SmulOv, Type::I64, {0x8000'0000'0000'0000, ~std::uint64_t{0}}) == 1);
    CHECK(fold(Op::UmulOv, Type::I64, {std::uint64_t{1} << 32, std::uint64_t{1} << 32}) == 1);
}

TEST_CASE("fold: f32 and f64 are the host's IEEE") {
    CHECK(fold(Op::Fadd, Type::F32, {bits(0.1f), bits(0.2f)}) == bits(0.1f + 0.2f));
    CHECK(fold(Op::Fdiv, Type::F32, {bits(1.0f), bits(3.0f)}) == bits(1.0f / 3.0f));
    CHECK(fold(Op::Fmul, Type::F32, {bits(1e-30f), bits(1e-12f)}) == bits(1e-30f * 1e-12f));  // subnormal
    CHECK(fold(Op::Fsqrt, Type::F64, {bits(2.0)}) == bits(1.4142135623730951));
    CHECK(fold(Op::Frint, Type::F32, {bits(2.5f)}) == bits(2.0f));
    CHECK(fold(Op::Fma, Type::F32, {bits(16777217.0f), bits(0.1f), bits(1.0f)}) ==
          bits(std::fma(16777217.0f, 0.1f, 1.0f)));
    CHECK(fold(Op::Fneg, Type::F32, {0x7FC0'0000}) == 0xFFC0'0000);
}

TEST_CASE("fold: a multiply-add of halves is rounded once") {
    // Sums that f64 rounds, products that need all of its bits, ties, and what lies a little above them.
    CHECK(fold(Op::Fma, Type::BF16, {0x3F81, 0x3F81, 0x0001}) == 0x3F82);
    CHECK(fold(Op::Fma, Type::BF16, {0x3F80, 0x3F81, 0x3B80}) == 0x3F82);  // a tie goes to even
    CHECK(fold(Op::Fma, Type::BF16, {0x3F80, 0x3F80, 0x3B80}) == 0x3F80);
    CHECK(fold(Op::Fma, Type::BF16, {0x7F00, 0x0001, 0x3F80}) == 0x3F82);
    CHECK(fold(Op::Fma, Type::F16, {0x3C01, 0x3C01, 0x8001}) == 0x3C02);
    CHECK(fold(Op::Fma, Type::F16, {0x7BFF, 0x7BFF, 0xFC00}) == 0xFC00);
    CHECK(fold(Op::Fma, Type::F16, {0x0001, 0x0001, 0x3C00}) == 0x3C00);
    CHECK(fold(Op::Fma, Type::F16, {0x0001, 0x0001, 0x0000}) == 0x0000);
    // 2048 * 1 + 1 is a tie; 2^-20 more is not.
    CHECK(fold(Op::Fma, Type::F16, {0x6800, 0x3C00, 0x3C00}) == 0x6800);
    CHECK(fold(Op::Fma, Type::F16, {0x6800, 0x3C00, 0x3C01}) == 0x6801);
}

TEST_CASE("fold: NaN results and zeros of two signs are the device's business") {
    CHECK_FALSE(fold(Op::Fdiv, Type::F32, {0, 0}));
    CHECK_FALSE(fold(Op::Fsqrt, Type::F64, {bits(-1.0)}));
    CHECK_FALSE(fold(Op::Fadd, Type::F32, {0x7FC0'0000, bits(1.0f)}));
    CHECK_FALSE(fold(Op::Fmin, Type::F32, {0, 0x8000'0000}));
    CHECK(fold(Op::Fmin, Type::F32, {0x7FC0'0000, bits(1.0f)}) == bits(1.0f));
}

TEST_CASE("fold: float to integer saturates") {
    CHECK(fold(Op::Fptosi, Type::I32, Type::F32, {bits(1e20f)}) == 0x7FFF'FFFF);
    CHECK(fold(Op::Fptosi, Type::I32, Type::F32, {bits(-1e20f)}) == 0x8000'0000);
    CHECK(fold(Op::Fptosi, Type::I32, Type::F32, {0x7FC0'0000}) == 0);
    CHECK(fold(Op::Fptoui, Type::I8, Type::F64, {bits(300.5)}) == 255);
    CHECK(fold(Op::Fptoui, Type::I8, Type::F64, {bits(-0.5)}) == 0);
    CHECK(fold(Op::Fptosi, Type::I8, Type::F64, {bits(-127.9)}) == 0x81);
    CHECK(fold(Op::Fptosi, Type::I64, Type::F64, {bits(9.3e18)}) == 0x7FFF'FFFF'FFFF'FFFF);
}

TEST_CASE("fold: integer to float rounds once") {
    CHECK(fold(Op::Uitofp, Type::F32, Type::I32, {16777217}) == bits(16777216.0f));
    CHECK(fold(Op::Sitofp, Type::F32, Type::I8, {0xFF}) == bits(-1.0f));
    const std::uint64_t tricky = 0x8000'0080'0000'0001;  // rounds down, then up, when it goes through f64
    CHECK(fold(Op::Uitofp, Type::F32, Type::I64, {tricky}) == bits(static_cast<float>(tricky)));
    CHECK(fold(Op::Uitofp, Type::F64, Type::I64, {~std::uint64_t{0}}) == bits(18446744073709551616.0));
}

TEST_CASE("fold: half formats") {
    CHECK(fold(Op::Fcvt, Type::F16, Type::F32, {bits(1.0f)}) == 0x3C00);
    CHECK(fold(Op::Fcvt, Type::F16, Type::F32, {bits(65504.0f)}) == 0x7BFF);
    CHECK(fold(Op::Fcvt, Type::F16, Type::F32, {bits(65520.0f)}) == 0x7C00);  // rounds to infinity
    CHECK(fold(Op::Fcvt, Type::F16, Type::F64, {bits(65519.99)}) == 0x7BFF);
    CHECK(fold(Op::Fcvt, Type::F16, Type::F32, {bits(5.9604645e-8f)}) == 0x0001);  // smallest subnormal
    CHECK(fold(Op::Fcvt, Type::F16, Type::F32, {bits(2.9802322e-8f)}) == 0x0000);  // half of it: ties to even
    CHECK(fold(Op::Fcvt, Type::F16, Type::F32, {bits(2.9802326e-8f)}) == 0x0001);
    CHECK(fold(Op::Fcvt, Type::BF16, Type::F32, {bits(3.140625f)}) == 0x4049);
    CHECK(fold(Op::Fcvt, Type::BF16, Type::F32, {0x3F80'8000}) == 0x3F80);  // tie to even
    CHECK(fold(Op::Fcvt, Type::BF16, Type::F32, {0x3F81'8000}) == 0x3F82);
    CHECK(fold(Op::Fcvt, Type::F32, Type::F16, {0x3555}) == bits(0.33325195f));
    CHECK(fold(Op::Fadd, Type::F16, {0x3C00, 0x1000}) == 0x3C00);   // 1 + 2^-11: ties to even
    CHECK(fold(Op::Fmul, Type::BF16, {0x4040, 0x4040}) == 0x4110);  // 3 * 3
}

TEST_CASE("fold: packing inverts unpacking for every half") {
    for (const Type type : {Type::F16, Type::BF16}) {
        for (std::uint32_t value = 0; value < 0x10000; ++value) {
            const opt::Unpacked number = opt::unpack(type, value);
            if (number.kind == opt::FloatKind::Nan) continue;
            if (opt::pack(type, number) != value) FAIL_CHECK(ir::type_text(type), " ", value);
        }
    }
}

TEST_CASE("fold: narrowing matches the host") {
    std::uint64_t state = 1;
    for (int i = 0; i < 20000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double value = std::bit_cast<double>(state);
        if (std::isnan(value)) continue;
        const float near =
            static_cast<float>(std::ldexp(value, -(std::ilogb(value == 0 ? 1 : value)) + (i % 300) - 160));
        const double again = std::ldexp(value, -(std::ilogb(value == 0 ? 1 : value)) + (i % 300) - 160);
        if (!std::isfinite(again)) continue;
        if (fold(Op::Fcvt, Type::F32, Type::F64, {bits(again)}) != bits(near)) FAIL_CHECK(again);
    }
}
