// Patterns as the match builder sees them. A pattern becomes a list of match pairs (a place and a test that it must pass)
// and bindings; an arm becomes a Candidate. See build_match.cpp for the algorithm.
#pragma once
#include <vector>

#include "check/const_value.hpp"
#include "check/type_tables.hpp"
#include "mir/place_builder.hpp"

namespace ockc::mir {

// 128 bits, compared in the order of their type after to_key.
struct ScalarBits {
    std::uint64_t low = 0, high = 0;
    friend bool operator==(const ScalarBits&, const ScalarBits&) = default;
};

struct MatchPair;
struct MatchBinding {
    hir::LocalId local;
    Span span;
    PlaceBuilder source;
    check::BindMode mode = check::BindMode::Value;
};
struct FlatPattern {
    std::vector<MatchPair> pairs;          // or-patterns last
    std::vector<MatchBinding> bindings;
    Span span;
};

struct MatchPair {
    enum class Kind : std::uint8_t {
        Variant,     // the enum place holds variant `variant`
        Int,         // an integer, char or bool equals `low`
        Value,       // a float equals `low` (its bits; -0.0 == 0.0)
        Range,       // low..=high, as keys (see range_key)
        Slice,       // the slice has `length` elements, or at least so many with has_rest
        Or,          // one of `alternatives`
    } kind = Kind::Variant;
    PlaceBuilder place{};
    Span span{};
    std::uint32_t variant = 0;
    ScalarBits low{}, high{};
    bool has_low = false, has_high = false, high_included = true;   // Range
    std::uint64_t length = 0;
    bool has_rest = false;
    std::vector<MatchPair> subpairs{};       // to be tested after this one passed
    std::vector<FlatPattern> alternatives{};
};

// One arm, or one alternative of an or-pattern of it.
struct Candidate {
    std::vector<MatchPair> pairs;          // what is left to test
    std::vector<MatchBinding> bindings;
    std::vector<Candidate> alternatives;   // once its or-pattern is expanded
    bool has_guard = false;
    Span span;
    BlockId start_block;                   // where testing it begins: the imaginary target of the candidate before
    BlockId matched_block;                 // where all tests have passed
    BlockId otherwise_block;               // where to go on when its guard fails
    BlockId next_start;                    // start_block of the next candidate, or none

    bool starts_with_or() const { return !pairs.empty() && pairs.front().kind == MatchPair::Kind::Or; }
};

}  // namespace ockc::mir
