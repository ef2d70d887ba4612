// The state of building one pattern match. build_match.cpp says how the parts work together.
#pragma once
#include <utility>

#include "mir/builder.hpp"

namespace ockc::mir {

class MatchBuilder {
  public:
    MatchBuilder(Builder& builder, Span span) : b_(builder), span_(span) {}

    // match_pattern.cpp: patterns to match pairs
    FlatPattern flatten(const PlaceBuilder& place, hir::PatId pat);
    Candidate candidate(const PlaceBuilder& place, hir::PatId pat, bool has_guard);

    // match_tree.cpp: the decision tree. Returns the block that is reached when no candidate matches.
    BlockId match(BlockId start, std::vector<Candidate*> candidates);
    BlockId match(BlockId start, std::vector<Candidate>& candidates);
    static void link_candidates(std::vector<Candidate>& candidates);

    // build_match.cpp: bindings and guards
    struct Arm {
        hir::ExprId guard;                 // or none
        Builder::Depth depth = 0;          // scope of the bindings; kForever: their storage is live already
    };
    void bind_leaves(Candidate& candidate, const Arm& arm, BlockId body);
    void fake_borrow_places(const std::vector<Candidate>& candidates);

  private:
    // Which way out of a test a candidate goes.
    struct Branch {
        enum class Kind : std::uint8_t { Variant, Int, Success, Failure } kind = Kind::Success;
        std::uint32_t variant = 0;
        ScalarBits value;
        friend bool operator==(const Branch&, const Branch&) = default;
    };
    struct Target {
        Branch branch;
        std::vector<Candidate*> candidates;
        BlockId block;
    };

    // match_pattern.cpp
    void add(FlatPattern& out, PlaceBuilder place, hir::PatId pat);
    void add_variant(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, check::ItemRef item,
                     std::span<const std::pair<std::uint32_t, hir::PatId>> fields);
    void add_adt_test(FlatPattern& out, MatchPair pair, FlatPattern inner);
    void add_elements(FlatPattern& out, const PlaceBuilder& place, hir::List<hir::PatId> elements, std::uint32_t rest);
    void add_tuple_struct(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::TupleStructPat& node);
    void add_struct(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::StructPat& node);
    void add_slice(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::SlicePat& node);
    void add_range(FlatPattern& out, const PlaceBuilder& place, hir::PatId pat, const hir::RangePat& node);
    void add_value(FlatPattern& out, PlaceBuilder place, const check::ConstValue& value, Span span);
    void add_bytes(FlatPattern& out, const PlaceBuilder& place, std::string_view bytes, Span span);
    void add_aggregate(FlatPattern& out, const PlaceBuilder& place, const check::ConstValue& value, Span span);
    void add_pair(FlatPattern& out, MatchPair pair);
    PlaceBuilder element(const PlaceBuilder& base, TypeId type, std::uint64_t offset, std::uint64_t min_length, bool from_end);
    bool is_irrefutable_variant(TypeId type, std::uint32_t variant);

    // match_tree.cpp
    BlockId match_expanded(BlockId start, std::vector<Candidate*> candidates);
    BlockId test_candidates(BlockId start, std::vector<Candidate*> candidates);
    BlockId expand_or_patterns(BlockId start, std::vector<Candidate*> candidates);
    void merge_trivial(Candidate& candidate);
    void test_rest_after_or(Candidate& candidate);
    std::optional<Branch> sort(const MatchPair& test, Candidate& candidate, const std::vector<Target>& targets);
    std::optional<Branch> sort_pair(const MatchPair& test, const MatchPair& pair, const std::vector<Target>& targets, bool& done);
    void remove_pair(Candidate& candidate, std::size_t index);

    // match_test.cpp
    void perform_test(BlockId start, const MatchPair& test, const std::vector<Target>& targets, BlockId otherwise);
    void test_variant(const MatchPair& test, const std::vector<Target>& targets, BlockId otherwise);
    void test_int(const MatchPair& test, const std::vector<Target>& targets, BlockId otherwise);
    void test_range(const MatchPair& test, BlockId success, BlockId failure);
    void branch_on(Operand condition, Span span, BlockId success, BlockId failure);
    unsigned __int128 key(TypeId type, ScalarBits bits) const;
    bool range_contains(const MatchPair& range, ScalarBits value) const;
    bool ranges_disjoint(const MatchPair& a, const MatchPair& b) const;

    // build_match.cpp
    using Bindings = std::vector<const MatchBinding*>;
    void bind_leaf(Candidate& leaf, const Bindings& bindings, const Arm& arm, bool first, BlockId body);
    void bind_for_body(const Bindings& bindings, Builder::Depth depth);
    void bind_for_guard(const Bindings& bindings, Builder::Depth depth, bool first);
    void guard(Candidate& leaf, const Bindings& bindings, const Arm& arm, bool first);
    LocalId live_binding(const MatchBinding& binding, Builder::Depth depth);
    void collect_fake(const std::vector<MatchPair>& pairs);
    void fake_borrow(const PlaceBuilder& place);

    struct FakeBorrow {
        PlaceBuilder place;
        LocalId temp;
    };
    Builder& b_;
    Span span_;
    std::vector<FakeBorrow> fake_borrows_;
};

// Calls f(leaf, bindings): the candidates without alternatives, with the bindings of what they are alternatives of.
template <class Fn>
void for_each_leaf(Candidate& candidate, std::vector<const MatchBinding*>& bindings, Fn&& f) {
    const std::size_t outer = bindings.size();
    for (const MatchBinding& binding : candidate.bindings) bindings.push_back(&binding);
    if (candidate.alternatives.empty()) {
        f(candidate, bindings);
    } else {
        for (Candidate& alternative : candidate.alternatives) for_each_leaf(alternative, bindings, f);
    }
    bindings.resize(outer);
}

}  // namespace ockc::mir
