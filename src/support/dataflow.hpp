// Bit sets, flow graphs and the worklist solver that every dataflow analysis shares (initialisation, loans, liveness,
// uniformity ..). A problem is a gen and a kill set per block; what happens inside a block is its owner's business.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/check.hpp"
#include "support/small_vec.hpp"

namespace ockc {

// A set of small numbers below a size fixed at construction.
class BitSet {
  public:
    BitSet() = default;
    explicit BitSet(std::size_t size, bool all = false) : size_(size) {
        words_.resize(static_cast<std::uint32_t>((size + 63) / 64), all ? ~std::uint64_t{0} : 0);
        trim();
    }
    std::size_t size() const { return size_; }
    bool test(std::size_t i) const { return i < size_ && (words_[i / 64] >> (i % 64) & 1) != 0; }
    void set(std::size_t i) {
        OCKC_DCHECK(i < size_);
        words_[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    void reset(std::size_t i) {
        OCKC_DCHECK(i < size_);
        words_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
    }
    void clear() {
        for (std::uint64_t& word : words_) word = 0;
    }
    bool any() const {
        for (const std::uint64_t word : words_) {
            if (word != 0) return true;
        }
        return false;
    }
    // Each says whether the set changed.
    bool unite(const BitSet& other) {
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            changed |= other.words_[i] & ~words_[i];
            words_[i] |= other.words_[i];
        }
        return changed != 0;
    }
    bool intersect(const BitSet& other) {
        std::uint64_t changed = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) {
            changed |= words_[i] & ~other.words_[i];
            words_[i] &= other.words_[i];
        }
        return changed != 0;
    }
    void subtract(const BitSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
    }
    template <class Fn>
    void for_each(Fn&& f) const {
        for (std::size_t w = 0; w < words_.size(); ++w) {
            for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
                f(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
            }
        }
    }
    friend bool operator==(const BitSet&, const BitSet&) = default;

  private:
    void trim() {
        if (size_ % 64 != 0 && !words_.empty()) words_.back() &= (std::uint64_t{1} << (size_ % 64)) - 1;
    }
    std::size_t size_ = 0;
    SmallVec<std::uint64_t, 2> words_;   // most bodies have few of anything
};

// Successors, predecessors and a reverse post-order of a graph whose node 0 is the entry.
class FlowGraph {
  public:
    // successors(node, emit) calls emit(successor) for each; `reversed` keeps them in the opposite order.
    template <class Successors>
    FlowGraph(std::size_t size, Successors&& successors, bool reversed = false) {
        successor_begin_.reserve(size + 1);
        successors_.reserve(size + size / 2);
        for (std::uint32_t node = 0; node < size; ++node) {
            const std::size_t begin = successors_.size();
            successor_begin_.push_back(static_cast<std::uint32_t>(begin));
            successors(node, [&](std::uint32_t to) { successors_.push_back(to); });
            if (reversed && successors_.size() > begin + 1) {
                std::reverse(successors_.begin() + static_cast<std::ptrdiff_t>(begin), successors_.end());
            }
        }
        successor_begin_.push_back(static_cast<std::uint32_t>(successors_.size()));
        index_predecessors(size);
        number(size);
    }
    std::size_t size() const { return successor_begin_.size() - 1; }
    std::span<const std::uint32_t> successors(std::uint32_t node) const { return row(successors_, successor_begin_, node); }
    std::span<const std::uint32_t> predecessors(std::uint32_t node) const {
        return row(predecessors_, predecessor_begin_, node);
    }
    // Nodes that the entry reaches, each before its successors but for back edges.
    std::span<const std::uint32_t> reverse_postorder() const { return order_; }

  private:
    using List = std::vector<std::uint32_t>;
    static std::span<const std::uint32_t> row(const List& items, const List& begin, std::uint32_t node) {
        return {items.data() + begin[node], begin[node + 1] - begin[node]};
    }
    // By node, in order of their numbers: each row is filled from its end.
    void index_predecessors(std::size_t size) {
        predecessor_begin_.assign(size + 1, 0);
        for (const std::uint32_t to : successors_) ++predecessor_begin_[to];
        std::uint32_t sum = 0;
        for (std::uint32_t& end : predecessor_begin_) end = sum += end;
        predecessors_.resize(successors_.size());
        for (std::size_t node = size; node-- > 0;) {
            for (std::uint32_t i = successor_begin_[node + 1]; i-- > successor_begin_[node];) {
                predecessors_[--predecessor_begin_[successors_[i]]] = static_cast<std::uint32_t>(node);
            }
        }
    }
    void number(std::size_t size) {
        if (size == 0) return;
        List next(successor_begin_.begin(), successor_begin_.end() - 1);   // by node: the edge to follow next
        std::vector<std::uint8_t> seen(size);
        List open;
        order_.reserve(size);
        open.reserve(size);
        open.push_back(0);
        seen[0] = 1;
        while (!open.empty()) {
            const std::uint32_t node = open.back();
            if (next[node] == successor_begin_[node + 1]) {
                order_.push_back(node);
                open.pop_back();
                continue;
            }
            const std::uint32_t to = successors_[next[node]++];
            if (seen[to] != 0) continue;
            seen[to] = 1;
            open.push_back(to);
        }
        std::reverse(order_.begin(), order_.end());
    }
    List successors_, successor_begin_, predecessors_, predecessor_begin_, order_;
};

struct GenKill {
    BitSet gen, kill;
};
enum class Direction : std::uint8_t { Forward, Backward };

// The union-join solution: per node the set at its start (Forward) or at its end (Backward). `boundary` holds at the
// entry (Forward) or at every node without successors (Backward). Unreachable nodes keep the empty set.
inline std::vector<BitSet> solve(const FlowGraph& graph, std::span<const GenKill> effects, const BitSet& boundary,
                                 Direction direction) {
    const bool forward = direction == Direction::Forward;
    std::vector<BitSet> at(graph.size(), BitSet(boundary.size()));
    const auto order = graph.reverse_postorder();
    std::vector<std::uint32_t> work(forward ? std::vector<std::uint32_t>(order.rbegin(), order.rend())
                                            : std::vector<std::uint32_t>(order.begin(), order.end()));
    std::vector<bool> queued(graph.size());
    for (const std::uint32_t node : work) {
        queued[node] = true;
        if (forward ? node == 0 : graph.successors(node).empty()) at[node].unite(boundary);
    }
    BitSet out;
    while (!work.empty()) {
        const std::uint32_t node = work.back();
        work.pop_back();
        queued[node] = false;
        out = at[node];
        out.subtract(effects[node].kill);
        out.unite(effects[node].gen);
        for (const std::uint32_t next : forward ? graph.successors(node) : graph.predecessors(node)) {
            if (!at[next].unite(out) || queued[next]) continue;
            queued[next] = true;
            work.push_back(next);
        }
    }
    return at;
}

}  // namespace ockc
