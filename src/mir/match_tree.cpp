// The decision tree. The first test of the first candidate is performed; each candidate that has an opinion about the
// tested place is sorted into the way out that it needs, up to the first one that has none: that one and all after it are
// tried again wherever the sorted ones fail. So no candidate is ever built twice and the tree's size is linear in the
// patterns' (Augustsson's backtracking automata, as in rustc).
#include "mir/match_builder.hpp"

namespace ockc::mir {

BlockId MatchBuilder::match(BlockId start, std::vector<Candidate>& candidates) {
    std::vector<Candidate*> list;
    for (Candidate& one : candidates) list.push_back(&one);
    return match(start, std::move(list));
}

BlockId MatchBuilder::match(BlockId start, std::vector<Candidate*> candidates) {
    // Each round takes care of the candidates at the front; the rest goes on in the block that these leave through.
    while (!candidates.empty()) {
        Candidate& first = *candidates.front();
        if (!first.start_block.valid()) first.start_block = start;
        if (first.pairs.empty()) {
            first.matched_block = start;
            first.otherwise_block = b_.new_block();
            start = first.otherwise_block;
            candidates.erase(candidates.begin());
            continue;
        }
        return first.starts_with_or() ? expand_or_patterns(start, std::move(candidates))
                                      : test_candidates(start, std::move(candidates));
    }
    return start;
}

BlockId MatchBuilder::test_candidates(BlockId start, std::vector<Candidate*> candidates) {
    const MatchPair test = candidates.front()->pairs.front();   // a copy: sorting takes the pair apart
    std::vector<Target> targets;
    std::size_t sorted = 0;
    for (; sorted < candidates.size(); ++sorted) {
        const std::optional<Branch> branch = sort(test, *candidates[sorted], targets);
        if (!branch) break;
        auto found = std::find_if(targets.begin(), targets.end(), [&](const Target& t) { return t.branch == *branch; });
        if (found == targets.end()) found = targets.insert(targets.end(), Target{*branch, {}, BlockId()});
        found->candidates.push_back(candidates[sorted]);
    }
    OCKC_CHECK(sorted > 0);
    const BlockId remainder = b_.new_block();
    for (Target& target : targets) target.block = b_.new_block();
    perform_test(start, test, targets, remainder);
    for (Target& target : targets) {
        const BlockId failed = match(target.block, std::move(target.candidates));
        b_.start(failed);
        b_.go_to(span_, remainder);
    }
    candidates.erase(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(sorted));
    return match(remainder, std::move(candidates));
}

// ---- or-patterns ----------------------------------------------------------------------------------------------------------------

BlockId MatchBuilder::expand_or_patterns(BlockId start, std::vector<Candidate*> candidates) {
    // Candidates are expanded together up to the first that still has something to test after its alternatives.
    std::size_t expanded = 0;
    while (expanded < candidates.size()) {
        const Candidate& one = *candidates[expanded++];
        if (one.starts_with_or() && one.pairs.size() > 1) break;
    }
    std::vector<Candidate*> list;
    for (std::size_t i = 0; i < expanded; ++i) {
        Candidate& one = *candidates[i];
        if (!one.starts_with_or()) {
            list.push_back(&one);
            continue;
        }
        MatchPair pair = std::move(one.pairs.front());
        one.pairs.erase(one.pairs.begin());
        for (FlatPattern& alternative : pair.alternatives) {
            Candidate made;
            made.pairs = std::move(alternative.pairs);
            made.bindings = std::move(alternative.bindings);
            made.has_guard = one.has_guard;
            made.span = alternative.span;
            one.alternatives.push_back(std::move(made));
        }
        for (Candidate& alternative : one.alternatives) list.push_back(&alternative);
    }
    const BlockId remainder = match(start, std::move(list));
    for (std::size_t i = 0; i < expanded; ++i) {
        merge_trivial(*candidates[i]);
        test_rest_after_or(*candidates[i]);
    }
    candidates.erase(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(expanded));
    return match(remainder, std::move(candidates));
}

// Alternatives that bind nothing lead to one block: `1 | 2 | 3`.
void MatchBuilder::merge_trivial(Candidate& candidate) {
    if (candidate.alternatives.empty() || candidate.has_guard) return;
    for (const Candidate& one : candidate.alternatives) {
        if (!one.alternatives.empty() || !one.bindings.empty()) return;
    }
    const BlockId matched = b_.new_block();
    for (std::size_t i = 0; i < candidate.alternatives.size(); ++i) {
        Candidate& one = candidate.alternatives[i];
        b_.start(one.matched_block);
        // The next alternative must look possible to the borrow checker, as the next arm does.
        const bool last = i + 1 == candidate.alternatives.size();
        const BlockId next = last ? BlockId() : candidate.alternatives[i + 1].start_block;
        if (next.valid()) {
            b_.terminate(one.span, FalseEdgeTerminator{matched, next});
        } else {
            b_.go_to(one.span, matched);
        }
    }
    if (!candidate.start_block.valid()) candidate.start_block = candidate.alternatives.front().start_block;
    candidate.matched_block = matched;
    candidate.otherwise_block = candidate.alternatives.back().otherwise_block;
    candidate.alternatives.clear();
}

// More or-patterns stand behind the one just matched: test them from each of its leaves.
void MatchBuilder::test_rest_after_or(Candidate& candidate) {
    if (candidate.pairs.empty()) return;
    const std::vector<MatchPair> rest = std::move(candidate.pairs);
    candidate.pairs.clear();
    std::vector<const MatchBinding*> ignored;
    std::vector<Candidate*> leaves;
    for_each_leaf(candidate, ignored, [&](Candidate& leaf, const auto&) { leaves.push_back(&leaf); });
    const BlockId last_otherwise = leaves.back()->otherwise_block;
    for (Candidate* leaf : leaves) {
        const BlockId from = leaf->matched_block;
        const BlockId on_failure = leaf->has_guard || leaf == leaves.back() ? leaf->otherwise_block : last_otherwise;
        leaf->pairs = rest;
        const BlockId failed = match(from, std::vector<Candidate*>{leaf});
        b_.start(failed);
        b_.go_to(span_, on_failure);
    }
}

void MatchBuilder::link_candidates(std::vector<Candidate>& candidates) {
    Candidate* previous = nullptr;
    std::vector<const MatchBinding*> ignored;
    for (Candidate& one : candidates) {
        for_each_leaf(one, ignored, [&](Candidate& leaf, const auto&) {
            if (previous != nullptr) previous->next_start = leaf.start_block;
            previous = &leaf;
        });
    }
}

// ---- sorting --------------------------------------------------------------------------------------------------------------------

std::optional<MatchBuilder::Branch> MatchBuilder::sort(const MatchPair& test, Candidate& candidate,
                                                       const std::vector<Target>& targets) {
    for (std::size_t i = 0; i < candidate.pairs.size(); ++i) {
        const MatchPair& pair = candidate.pairs[i];
        if (pair.kind == MatchPair::Kind::Or || !(pair.place == test.place)) continue;
        bool done = false;
        const std::optional<Branch> branch = sort_pair(test, pair, targets, done);
        if (branch && done) remove_pair(candidate, i);
        return branch;
    }
    return std::nullopt;
}

// The test has answered this pair: what it guarded comes up, before the or-patterns.
void MatchBuilder::remove_pair(Candidate& candidate, std::size_t index) {
    MatchPair pair = std::move(candidate.pairs[index]);
    candidate.pairs.erase(candidate.pairs.begin() + static_cast<std::ptrdiff_t>(index));
    candidate.pairs.insert(candidate.pairs.end(), std::make_move_iterator(pair.subpairs.begin()),
                           std::make_move_iterator(pair.subpairs.end()));
    std::stable_partition(candidate.pairs.begin(), candidate.pairs.end(),
                          [](const MatchPair& one) { return one.kind != MatchPair::Kind::Or; });
}

// The way that `pair` needs, when the test decides it; `done`: nothing of the pair itself is left to test there.
std::optional<MatchBuilder::Branch> MatchBuilder::sort_pair(const MatchPair& test, const MatchPair& pair,
                                                            const std::vector<Target>& targets, bool& done) {
    using Kind = MatchPair::Kind;
    const Branch success{Branch::Kind::Success, 0, {}}, failure{Branch::Kind::Failure, 0, {}};
    const auto failed = [&](bool certain) { return certain ? std::optional<Branch>(failure) : std::nullopt; };
    if (test.kind == Kind::Variant && pair.kind == Kind::Variant) {
        done = true;
        return Branch{Branch::Kind::Variant, pair.variant, {}};
    }
    if (test.kind == Kind::Int && pair.kind == Kind::Int) {
        // A range sorted into the failures may match this value: then it must be tried first.
        for (const Target& target : targets) {
            if (target.branch.kind == Branch::Kind::Failure) return std::nullopt;
        }
        done = true;
        return Branch{Branch::Kind::Int, 0, pair.low};
    }
    if (test.kind == Kind::Int && pair.kind == Kind::Range) {
        for (const Target& target : targets) {
            if (target.branch.kind == Branch::Kind::Int && range_contains(pair, target.branch.value)) return std::nullopt;
        }
        return failure;
    }
    if (test.kind == Kind::Range && pair.kind == Kind::Range) {
        done = test.low == pair.low && test.high == pair.high && test.has_low == pair.has_low &&
               test.has_high == pair.has_high && test.high_included == pair.high_included;
        return done ? std::optional<Branch>(success) : failed(ranges_disjoint(test, pair));
    }
    if (test.kind == Kind::Range) return failed(!range_contains(test, pair.low));
    if (test.kind == Kind::Value && pair.kind == Kind::Range) return failed(!range_contains(pair, test.low));
    if (test.kind == Kind::Value && pair.kind == Kind::Value) {
        done = test.low == pair.low;
        const TypeId type = test.place.type;
        return done ? std::optional<Branch>(success) : failed(key(type, test.low) != key(type, pair.low));
    }
    if (test.kind == Kind::Slice && pair.kind == Kind::Slice) {
        if (test.length == pair.length && test.has_rest == pair.has_rest) {
            done = true;
            return success;
        }
        if (!test.has_rest) return failed(pair.length > test.length || !pair.has_rest);
        if (pair.length >= test.length) return success;
        return failed(!pair.has_rest);
    }
    return std::nullopt;
}

}  // namespace ockc::mir
