// The tests of a decision tree as code: switches on discriminants and integers, comparisons, ranges, lengths.
#include "mir/match_builder.hpp"

namespace ockc::mir {

using types::TypeKind;

void MatchBuilder::branch_on(Operand condition, Span span, BlockId success, BlockId failure) {
    const std::vector<SwitchCase> cases{SwitchCase{0, 0, failure}};
    b_.terminate(span, SwitchIntTerminator{condition, b_.list(cases), success});
}

void MatchBuilder::perform_test(BlockId start, const MatchPair& test, const std::vector<Target>& targets,
                                BlockId otherwise) {
    b_.start(start);
    BlockId success = otherwise, failure = otherwise;
    for (const Target& target : targets) {
        if (target.branch.kind == Branch::Kind::Success) success = target.block;
        if (target.branch.kind == Branch::Kind::Failure) failure = target.block;
    }
    switch (test.kind) {
        case MatchPair::Kind::Variant: return test_variant(test, targets, otherwise);
        case MatchPair::Kind::Int: return test_int(test, targets, failure);
        case MatchPair::Kind::Range: return test_range(test, success, failure);
        case MatchPair::Kind::Value: {
            const Operand value = b_.scalar(span_, test.place.type, test.low.low, test.low.high);
            const Rvalue equal{BinaryOpRvalue{BinOp::Eq, Operand::copy(b_.to_place(test.place)), value}};
            const LocalId temp = b_.assign_temp(span_, b_.types_.boolean, equal);
            return branch_on(Operand::move(Place{temp, {}}), span_, success, failure);
        }
        case MatchPair::Kind::Slice: {
            const LocalId length =
                b_.assign_temp(span_, b_.types_.usize(), Rvalue{LenRvalue{b_.to_place(test.place)}});
            const Rvalue compare{BinaryOpRvalue{test.has_rest ? BinOp::Ge : BinOp::Eq, Operand::move(Place{length, {}}),
                                                b_.scalar(span_, b_.types_.usize(), test.length)}};
            const LocalId temp = b_.assign_temp(span_, b_.types_.boolean, compare);
            return branch_on(Operand::move(Place{temp, {}}), span_, success, failure);
        }
        case MatchPair::Kind::Or: break;   // expanded before
    }
    OCKC_UNREACHABLE("or-patterns are no tests");
}

namespace {
ScalarBits truncate(std::array<std::uint64_t, 2> bits, std::uint32_t width) {
    if (width >= 128) return {bits[0], bits[1]};
    if (width >= 64) return {bits[0], 0};
    return {bits[0] & ((std::uint64_t{1} << width) - 1), 0};
}
}  // namespace

void MatchBuilder::test_variant(const MatchPair& test, const std::vector<Target>& targets, BlockId otherwise) {
    const check::AdtInfo& adt = b_.context_.adt(b_.types_[test.place.type].def);
    const TypeId type = b_.types_.int_type(adt.discriminant_type);
    const LocalId tag = b_.assign_temp(span_, type, Rvalue{DiscriminantRvalue{b_.to_place(test.place)}});
    std::vector<SwitchCase> cases;
    for (const Target& target : targets) {
        const ScalarBits value =
            truncate(adt.variants[target.branch.variant].discriminant, types::int_bits(adt.discriminant_type));
        cases.push_back(SwitchCase{value.low, value.high, target.block});
    }
    b_.terminate(span_, SwitchIntTerminator{Operand::move(Place{tag, {}}), b_.list(cases), otherwise});
}

void MatchBuilder::test_int(const MatchPair& test, const std::vector<Target>& targets, BlockId otherwise) {
    const Operand value = Operand::copy(b_.to_place(test.place));
    if (b_.types_.kind(test.place.type) == TypeKind::Bool) {
        BlockId yes = otherwise, no = otherwise;
        for (const Target& target : targets) {
            if (target.branch.kind == Branch::Kind::Int) (target.branch.value.low != 0 ? yes : no) = target.block;
        }
        return branch_on(value, span_, yes, no);
    }
    std::vector<SwitchCase> cases;
    for (const Target& target : targets) {
        if (target.branch.kind != Branch::Kind::Int) continue;
        cases.push_back(SwitchCase{target.branch.value.low, target.branch.value.high, target.block});
    }
    b_.terminate(span_, SwitchIntTerminator{value, b_.list(cases), otherwise});
}

void MatchBuilder::test_range(const MatchPair& test, BlockId success, BlockId failure) {
    const Place place = b_.to_place(test.place);
    const auto check = [&](BinOp op, ScalarBits bound) {
        const Operand value = b_.scalar(span_, test.place.type, bound.low, bound.high);
        const LocalId temp = b_.assign_temp(span_, b_.types_.boolean,
                                            Rvalue{BinaryOpRvalue{op, Operand::copy(place), value}});
        return Operand::move(Place{temp, {}});
    };
    if (test.has_low && test.has_high) {
        const BlockId above = b_.new_block();
        branch_on(check(BinOp::Ge, test.low), span_, above, failure);
        b_.start(above);
    } else if (test.has_low) {
        return branch_on(check(BinOp::Ge, test.low), span_, success, failure);
    }
    branch_on(check(test.high_included ? BinOp::Le : BinOp::Lt, test.high), span_, success, failure);
}

// Bits as an unsigned number in the order of the type's values.
unsigned __int128 MatchBuilder::key(TypeId type, ScalarBits bits) const {
    const types::TypeData& data = b_.types_[type];
    unsigned __int128 value = (static_cast<unsigned __int128>(bits.high) << 64) | bits.low;
    if (data.kind == TypeKind::Int && types::int_signed(data.int_kind)) {
        return value ^ (static_cast<unsigned __int128>(1) << (types::int_bits(data.int_kind) - 1));
    }
    if (data.kind == TypeKind::Float) {
        const std::uint64_t sign = std::uint64_t{1} << (types::float_bits(data.float_kind) - 1);
        if ((bits.low & ~sign) == 0) return sign;   // both zeros
        return (bits.low & sign) != 0 ? sign - (bits.low & ~sign) : sign + bits.low;
    }
    return value;
}

bool MatchBuilder::range_contains(const MatchPair& range, ScalarBits value) const {
    const TypeId type = range.place.type;
    const unsigned __int128 at = key(type, value);
    if (range.has_low && at < key(type, range.low)) return false;
    if (!range.has_high) return true;
    const unsigned __int128 high = key(type, range.high);
    return range.high_included ? at <= high : at < high;
}

bool MatchBuilder::ranges_disjoint(const MatchPair& a, const MatchPair& b) const {
    const TypeId type = a.place.type;
    const auto ends_before = [&](const MatchPair& first, const MatchPair& second) {
        if (!first.has_high || !second.has_low) return false;
        const unsigned __int128 high = key(type, first.high), low = key(type, second.low);
        return first.high_included ? high < low : high <= low;
    };
    return ends_before(a, b) || ends_before(b, a);
}

}  // namespace ockc::mir
