// Parallel moves against their definition: every register gets what its source held before.
#include <doctest/doctest.h>

#include <map>

#include "isel/machine.hpp"

using namespace ockc;
using namespace ockc::isel;

namespace {

void check(const std::vector<Move>& moves, std::size_t most) {
    ptx::Function f;
    for (int i = 0; i < 16; ++i)
        static_cast<void>(f.new_reg(ptx::RegClass::B32));
    std::vector<ptx::Instr> out;
    sequence_moves(f, moves, {}, out);
    CHECK(out.size() <= most);
    std::map<std::uint32_t, std::int64_t> now;
    const auto value = [&](const ptx::Operand& o) {
        if (!o.is_reg()) return o.value;
        const auto it = now.find(o.index);
        return it == now.end() ? static_cast<std::int64_t>(o.index) : it->second;
    };
    for (const ptx::Instr& instr : out)
        now[instr.operands[0].index] = value(instr.operands[1]);
    for (const Move& move : moves) {
        const std::int64_t expected =
            move.from.is_reg() ? static_cast<std::int64_t>(move.from.index) : move.from.value;
        CHECK(value(ptx::Operand::reg(move.to)) == expected);
    }
}

ptx::Reg reg(std::uint32_t n) {
    return {ptx::RegClass::B32, n};
}
ptx::Operand from(std::uint32_t n) {
    return ptx::Operand::reg(reg(n));
}

}  // namespace

TEST_CASE("chains, constants, copies to itself") {
    check({{reg(1), from(2)}, {reg(2), from(3)}, {reg(3), ptx::Operand::imm(7)}, {reg(4), from(4)}}, 3);
    check({{reg(3), ptx::Operand::imm(7)}, {reg(2), from(3)}, {reg(1), from(2)}}, 3);
}

TEST_CASE("cycles cost one more move each") {
    check({{reg(1), from(2)}, {reg(2), from(1)}}, 3);
    check({{reg(1), from(2)}, {reg(2), from(3)}, {reg(3), from(1)}}, 4);
    check({{reg(1), from(2)}, {reg(2), from(1)}, {reg(3), from(4)}, {reg(4), from(3)}}, 6);
}

TEST_CASE("a cycle with branches: the branch needs no extra register") {
    check({{reg(1), from(2)}, {reg(2), from(1)}, {reg(5), from(1)}}, 4);
    check({{reg(1), from(2)}, {reg(2), from(3)}, {reg(3), from(1)}, {reg(4), from(1)}, {reg(5), from(4)}}, 6);
}

TEST_CASE("every assignment of four registers to four") {
    for (std::uint32_t code = 0; code < 256; ++code) {
        std::vector<Move> moves;
        for (std::uint32_t i = 0; i < 4; ++i)
            moves.push_back({reg(1 + i), from(1 + (code >> (2 * i) & 3))});
        check(moves, 6);
    }
}
