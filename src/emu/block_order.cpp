#include "emu/block_order.hpp"

#include <algorithm>
#include <array>

#include "support/check.hpp"

namespace ockc::emu {
namespace {

constexpr std::uint32_t kNone = 0xFFFF'FFFFu;

// What is still to be written down, newest on top of a stack: a block, the latch of a head, or a set yet to
// be ordered.
struct Pending {
    enum class Kind : std::uint8_t { Block, Latch, Set } kind;
    std::uint32_t block = kNone;         // the block or the head; for a set: the head in front of it
    std::vector<std::uint32_t> members;  // of a set, in text order
};

// Tarjan's components of the subgraph whose nodes have scope_[node] == scope, found depth first without
// recursion.
class ComponentFinder {
  public:
    explicit ComponentFinder(const FlowGraph& graph)
        : graph_(graph),
          scope_(graph.size(), 0),
          index_(graph.size(), kNone),
          low_(graph.size(), 0),
          on_stack_(graph.size(), false) {}

    // Components in topological order; each component's first element is where the search entered it.
    std::vector<std::vector<std::uint32_t>> run(const std::vector<std::uint32_t>& members,
                                                std::uint32_t head) {
        ++current_;
        for (const std::uint32_t block : members) {
            scope_[block] = current_;
            index_[block] = kNone;
        }
        next_index_ = 0;
        found_.clear();
        if (head != kNone) {
            for (const std::uint32_t next : graph_.successors[head])
                search(next);
        }
        for (const std::uint32_t block : members)
            search(block);
        std::reverse(found_.begin(), found_.end());
        return std::move(found_);
    }
    bool is_loop(const std::vector<std::uint32_t>& component) const {
        if (component.size() > 1) return true;
        const auto& next = graph_.successors[component[0]];
        return std::find(next.begin(), next.end(), component[0]) != next.end();
    }

  private:
    struct Visit {
        std::uint32_t block;
        std::size_t next = 0;
    };

    void search(std::uint32_t root) {
        if (scope_[root] != current_ || index_[root] != kNone) return;
        enter(root);
        while (!path_.empty()) {
            Visit& top = path_.back();
            const auto& next = graph_.successors[top.block];
            if (top.next == next.size()) {
                leave();
                continue;
            }
            const std::uint32_t to = next[top.next++];
            if (scope_[to] != current_) continue;
            if (index_[to] == kNone) {
                enter(to);
            } else if (on_stack_[to]) {
                low_[top.block] = std::min(low_[top.block], index_[to]);
            }
        }
    }
    void enter(std::uint32_t block) {
        index_[block] = low_[block] = next_index_++;
        on_stack_[block] = true;
        stack_.push_back(block);
        path_.push_back({block});
    }
    void leave() {
        const std::uint32_t block = path_.back().block;
        path_.pop_back();
        if (!path_.empty()) low_[path_.back().block] = std::min(low_[path_.back().block], low_[block]);
        if (low_[block] != index_[block]) return;
        const auto first = std::find(stack_.rbegin(), stack_.rend(), block).base() - 1;
        found_.emplace_back(first, stack_.end());
        for (const std::uint32_t member : found_.back())
            on_stack_[member] = false;
        stack_.erase(first, stack_.end());
    }

    const FlowGraph& graph_;
    std::vector<std::uint32_t> scope_;  // the run that a block belongs to
    std::uint32_t current_ = 0;
    std::vector<std::uint32_t> index_;
    std::vector<std::uint32_t> low_;
    std::vector<bool> on_stack_;
    std::uint32_t next_index_ = 0;
    std::vector<std::uint32_t> stack_;
    std::vector<Visit> path_;
    std::vector<std::vector<std::uint32_t>> found_;
};

void push_components(std::vector<Pending>& pending, std::vector<std::vector<std::uint32_t>> components,
                     const ComponentFinder& finder) {
    for (auto component = components.rbegin(); component != components.rend(); ++component) {
        const std::uint32_t head = component->front();
        if (!finder.is_loop(*component)) {
            pending.push_back({Pending::Kind::Block, head, {}});
            continue;
        }
        pending.push_back({Pending::Kind::Latch, head, {}});
        std::vector<std::uint32_t> rest(component->begin() + 1, component->end());
        std::sort(rest.begin(), rest.end());
        if (!rest.empty()) pending.push_back({Pending::Kind::Set, head, std::move(rest)});
        pending.push_back({Pending::Kind::Block, head, {}});
    }
}

}  // namespace

BlockOrder::BlockOrder(const FlowGraph& graph) : rank_(graph.size(), 0), latch_(graph.size(), 0) {
    if (graph.size() == 0) return;
    std::vector<std::uint32_t> all(graph.size());
    for (std::uint32_t block = 0; block < all.size(); ++block)
        all[block] = block;
    ComponentFinder finder(graph);
    std::vector<Pending> pending;
    pending.push_back({Pending::Kind::Set, kNone, std::move(all)});
    while (!pending.empty()) {
        const Pending item = std::move(pending.back());
        pending.pop_back();
        switch (item.kind) {
            case Pending::Kind::Block: rank_[item.block] = count_++; break;
            case Pending::Kind::Latch: latch_[item.block] = count_++; break;
            case Pending::Kind::Set:
                push_components(pending, finder.run(item.members, item.block), finder);
                break;
        }
    }
}

}  // namespace ockc::emu
