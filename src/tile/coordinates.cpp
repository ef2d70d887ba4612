// Where a thread stands: runs of bits of its number that go to neighbouring bits of an index are moved together.
#include <algorithm>
#include <bit>

#include "tile/lowering.hpp"

namespace ockc::tile {

using namespace ir;

ValueId Coordinates::index(const TileType& type, std::size_t axis) {
    std::vector<std::uint32_t> contributions;
    for (const std::uint32_t basis : thread_bases(type.layout)) contributions.push_back(axis_index(type.shape, axis, basis));
    return combined(contributions);
}

ValueId Coordinates::place(const TileType& type) { return combined(thread_bases(type.layout)); }

ValueId Coordinates::is_first(const TileType& type) {
    const std::vector<std::uint32_t> bases = thread_bases(type.layout);
    std::uint32_t repeated = 0;   // bits of the thread's number that make no difference
    for (std::size_t b = 0; b < bases.size(); ++b) repeated |= (bases[b] == 0 ? 1u : 0u) << b;
    return has_none_of(repeated);
}

ValueId Coordinates::has_bit(std::uint32_t bit) {
    start();
    const ValueId bits = builder_.binary(Op::And, Type::I32, thread_, builder_.const_int(Type::I32, 1u << bit));
    return builder_.icmp(IntCond::Ne, bits, builder_.const_int(Type::I32, 0));
}

ValueId Coordinates::has_none_of(std::uint32_t mask) {
    if (mask == 0) return ValueId::none();
    start();
    const ValueId bits = builder_.binary(Op::And, Type::I32, thread_, builder_.const_int(Type::I32, mask));
    return builder_.icmp(IntCond::Eq, bits, builder_.const_int(Type::I32, 0));
}

void Coordinates::start() {
    if (started_) return;
    started_ = true;
    scratch_ = function_.add_block();
    function_.layout.pop_back();
    builder_.at_end(scratch_);
    thread_ = builder_.sreg(Sreg::TidX);
}

// ((number >> first) & (2^count - 1)) << shift
static ValueId some_bits(Builder& builder, ValueId number, std::uint32_t first, std::uint32_t count, std::uint32_t shift) {
    const auto constant = [&](std::uint32_t value) { return builder.const_int(Type::I32, value); };
    if (first != 0) number = builder.binary(Op::Lshr, Type::I32, number, constant(first));
    number = builder.binary(Op::And, Type::I32, number, constant((1u << count) - 1));
    return shift == 0 ? number : builder.binary(Op::Shl, Type::I32, number, constant(shift));
}

ValueId combined_bits(Builder& builder, ValueId number, const std::vector<std::uint32_t>& contributions) {
    ValueId sum;
    std::uint32_t seen = 0;
    const auto add = [&](ValueId term, std::uint32_t bits) {
        const Op op = (seen & bits) != 0 ? Op::Xor : Op::Or;
        sum = sum.valid() ? builder.binary(op, Type::I32, sum, term) : term;
        seen |= bits;
    };
    for (std::uint32_t b = 0; b < contributions.size();) {
        const std::uint32_t basis = contributions[b];
        if (basis == 0) {
            ++b;
        } else if (std::has_single_bit(basis)) {
            std::uint32_t count = 1;
            while (b + count < contributions.size() && contributions[b + count] == basis << count) ++count;
            add(some_bits(builder, number, b, count, static_cast<std::uint32_t>(std::countr_zero(basis))), basis * ((1u << count) - 1));
            b += count;
        } else {
            const ValueId bit = some_bits(builder, number, b, 1, 0);
            add(builder.binary(Op::Imul, Type::I32, bit, builder.const_int(Type::I32, basis)), basis);
            ++b;
        }
    }
    return sum.valid() ? sum : builder.const_int(Type::I32, 0);
}

ValueId Coordinates::combined(const std::vector<std::uint32_t>& contributions) {
    if (const auto known = combined_.find(contributions); known != combined_.end()) return known->second;
    start();
    return combined_[contributions] = combined_bits(builder_, thread_, contributions);
}

void Coordinates::finish() {
    if (!started_) return;
    auto& made = function_.blocks[scratch_].insts;
    auto& entry = function_.blocks[function_.entry()].insts;
    entry.insert(entry.begin(), made.begin(), made.end());
    made.clear();
    function_.blocks[scratch_].removed = true;
}

}  // namespace ockc::tile
