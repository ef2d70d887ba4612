// Joins the two registers of a copy where no point of the program needs both, deepest loops first. Liveness
// is computed for the registers that occur in copies only, as lists of segments in layout order; a class's
// list is the merge of its members'. In: machine blocks with copies on the edges. Out: the same with most
// copies gone.
#include <algorithm>
#include <vector>

#include "isel/machine.hpp"

namespace ockc::isel {

namespace {

// Positions: instruction i reads at 2i and writes at 2i+1; a block's jump reads behind its last instruction.
struct Segment {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;  // exclusive
    friend auto operator<=>(const Segment&, const Segment&) = default;
};

struct Event {
    MBlockId block;
    std::uint32_t index = 0;  // of the instruction, over the whole function
    bool is_def = false;
};

// A class with more segments than this is not joined further: keeps the work linear in the size of the
// function.
constexpr std::size_t kMaxSegments = 4096;

class Coalescer {
  public:
    explicit Coalescer(MFunction& function) : f_(function), out_(*function.out) {}

    void run() {
        number();
        collect_related();
        if (moves_.empty()) return;
        collect_events();
        for (std::uint32_t v = 0; v < related_.size(); ++v)
            live_segments(v);
        std::stable_sort(moves_.begin(), moves_.end(),
                         [](const Copy& a, const Copy& b) { return a.depth > b.depth; });
        for (const Copy& copy : moves_)
            join(find(copy.to), find(copy.from));
        rewrite();
    }

  private:
    struct Copy {
        std::uint32_t to;
        std::uint32_t from;
        std::uint32_t depth;
    };
    static constexpr std::uint32_t kUnrelated = 0xFFFF'FFFFu;

    static bool is_copy(const ptx::Instr& instr) {
        return instr.form == ptx::Form::Mov && !instr.guarded() && instr.operands[0].is_reg() &&
               instr.operands[1].is_reg() &&
               instr.operands[0].as_reg().reg_class() == instr.operands[1].as_reg().reg_class();
    }
    std::size_t dense(ptx::Reg reg) const {
        return class_base_[static_cast<std::size_t>(reg.reg_class())] + reg.number();
    }

    // First index of each block; predecessors.
    void number() {
        std::uint32_t next = 0;
        preds_.resize(f_.blocks.size());
        for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
            const MBlock& block = f_.blocks[MBlockId(b)];
            starts_.push_back(next);
            next += static_cast<std::uint32_t>(block.instrs.size()) + 1;
            if (block.taken.valid()) preds_[block.taken.raw].push_back(MBlockId(b));
            if (block.other.valid()) preds_[block.other.raw].push_back(MBlockId(b));
        }
        std::size_t base = 0;
        for (std::size_t c = 0; c < ptx::kRegClassCount; ++c) {
            class_base_[c] = base;
            base += out_.reg_counts[c];
        }
        related_index_.assign(base, kUnrelated);
    }

    std::uint32_t relate(ptx::Reg reg) {
        std::uint32_t& index = related_index_[dense(reg)];
        if (index == kUnrelated) {
            index = static_cast<std::uint32_t>(related_.size());
            related_.push_back(reg);
        }
        return index;
    }

    void collect_related() {
        for (const MBlock& block : f_.blocks) {
            for (const ptx::Instr& instr : block.instrs) {
                if (!is_copy(instr)) continue;
                const std::uint32_t to = relate(instr.operands[0].as_reg());
                moves_.push_back({to, relate(instr.operands[1].as_reg()), block.loop_depth});
            }
        }
        events_.resize(related_.size());
        segments_.resize(related_.size());
        parent_.resize(related_.size());
        for (std::uint32_t v = 0; v < parent_.size(); ++v)
            parent_[v] = v;
    }

    void collect_events() {
        for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
            MBlock& block = f_.blocks[MBlockId(b)];
            std::uint32_t index = starts_[b];
            const auto note = [&](ptx::Reg reg, bool is_def) {
                const std::uint32_t v = related_index_[dense(reg)];
                if (v != kUnrelated) events_[v].push_back({MBlockId(b), index, is_def});
            };
            for (ptx::Instr& instr : block.instrs) {
                if (instr.guarded()) {   // what it does not write stays: a read, too
                    for_each_reg(out_, instr, [&](ptx::Reg& reg, bool is_def) {
                        if (is_def) note(reg, false);
                    });
                }
                for_each_reg(out_, instr, [&](ptx::Reg& reg, bool is_def) { note(reg, is_def); });
                ++index;
            }
            if (block.end == End::Cond) note(block.cond.as_reg(), false);
        }
    }

    std::uint32_t block_begin(MBlockId b) const { return 2 * starts_[b.raw]; }
    std::uint32_t block_end(MBlockId b) const {
        return 2 * (starts_[b.raw] + static_cast<std::uint32_t>(f_.blocks[b].instrs.size()) + 1);
    }

    // Events of one register stand in block order, reads of an instruction before its writes.
    void live_segments(std::uint32_t v) {
        const std::vector<Event>& events = events_[v];
        stamp_.resize(f_.blocks.size(), {kUnrelated, false, false});
        std::vector<MBlockId>& work = work_;
        const auto mark = [&](MBlockId b) -> Stamp& {
            if (stamp_[b.raw].owner != v) stamp_[b.raw] = {v, false, false};
            return stamp_[b.raw];
        };
        std::vector<MBlockId>& touched = touched_;
        touched.clear();
        for (std::size_t i = 0; i < events.size(); ++i) {
            const bool first = i == 0 || events[i - 1].block != events[i].block;
            Stamp& stamp = mark(events[i].block);
            if (first) touched.push_back(events[i].block);
            if (first && !events[i].is_def)
                work.push_back(events[i].block);  // read before any write: live on entry
            stamp.defines |= events[i].is_def;
        }
        live_through_.clear();
        while (!work.empty()) {
            const MBlockId b = work.back();
            work.pop_back();
            for (const MBlockId pred : preds_[b.raw]) {
                Stamp& stamp = mark(pred);
                if (stamp.live_out) continue;
                stamp.live_out = true;
                if (stamp.defines) continue;
                const bool reads = std::binary_search(touched.begin(), touched.end(), pred);
                if (!reads) live_through_.push_back(pred);
                if (!reads) work.push_back(pred);  // one that reads is in the work list already
            }
        }
        for (const MBlockId b : live_through_)
            segments_[v].push_back({block_begin(b), block_end(b)});
        local_segments(v);
        std::sort(segments_[v].begin(), segments_[v].end());
    }

    // Inside each block, backwards from its end.
    void local_segments(std::uint32_t v) {
        const std::vector<Event>& events = events_[v];
        std::size_t end = events.size();
        while (end > 0) {
            const MBlockId b = events[end - 1].block;
            std::size_t begin = end;
            while (begin > 0 && events[begin - 1].block == b)
                --begin;
            const bool live_out = stamp_[b.raw].owner == v && stamp_[b.raw].live_out;
            std::uint32_t live_to = live_out ? block_end(b) : 0;  // 0: not alive
            for (std::size_t i = end; i > begin; --i) {
                const Event& event = events[i - 1];
                if (!event.is_def) {
                    if (live_to == 0) live_to = 2 * event.index + 1;
                    continue;
                }
                const std::uint32_t from = 2 * event.index + 1;
                segments_[v].push_back({from, live_to == 0 ? from + 1 : live_to});
                live_to = 0;
            }
            if (live_to != 0) segments_[v].push_back({block_begin(b), live_to});
            end = begin;
        }
    }

    std::uint32_t find(std::uint32_t v) {
        while (parent_[v] != v)
            v = parent_[v] = parent_[parent_[v]];
        return v;
    }

    // Searches each segment of the shorter list in the longer one.
    static bool overlap(const std::vector<Segment>& a, const std::vector<Segment>& b) {
        if (a.size() > b.size()) return overlap(b, a);
        for (const Segment& s : a) {
            const auto it = std::lower_bound(b.begin(), b.end(), s.begin,
                                             [](const Segment& x, std::uint32_t at) { return x.end <= at; });
            if (it != b.end() && it->begin < s.end) return true;
        }
        return false;
    }

    void join(std::uint32_t a, std::uint32_t b) {
        if (a == b || segments_[a].size() + segments_[b].size() > kMaxSegments ||
            overlap(segments_[a], segments_[b]))
            return;
        parent_[b] = a;
        const auto middle = static_cast<std::ptrdiff_t>(segments_[a].size());
        segments_[a].insert(segments_[a].end(), segments_[b].begin(), segments_[b].end());
        std::inplace_merge(segments_[a].begin(), segments_[a].begin() + middle, segments_[a].end());
        segments_[b].clear();
    }

    void rewrite() {
        const auto rename = [this](ptx::Reg reg) {
            const std::uint32_t v = related_index_[dense(reg)];
            return v == kUnrelated ? reg : related_[find(v)];
        };
        for (MBlock& block : f_.blocks) {
            for (ptx::Instr& instr : block.instrs) {
                for_each_reg(out_, instr, [&](ptx::Reg& reg, bool) { reg = rename(reg); });
            }
            if (block.end == End::Cond) block.cond.index = rename(block.cond.as_reg()).raw;
            std::erase_if(block.instrs, [](const ptx::Instr& instr) {
                return is_copy(instr) && instr.operands[0].as_reg() == instr.operands[1].as_reg();
            });
        }
    }

    struct Stamp {
        std::uint32_t owner;  // the register that the two flags are about
        bool defines;
        bool live_out;
    };

    MFunction& f_;
    ptx::Function& out_;
    std::vector<std::uint32_t> starts_;
    std::vector<std::vector<MBlockId>> preds_;
    std::array<std::size_t, ptx::kRegClassCount> class_base_{};
    std::vector<std::uint32_t> related_index_;
    std::vector<ptx::Reg> related_;
    std::vector<Copy> moves_;
    std::vector<std::vector<Event>> events_;
    std::vector<std::vector<Segment>> segments_;
    std::vector<std::uint32_t> parent_;
    std::vector<Stamp> stamp_;
    std::vector<MBlockId> live_through_, work_, touched_;   // of one register at a time
};

}  // namespace

void join_copies(MFunction& function) {
    Coalescer(function).run();
}

}  // namespace ockc::isel
