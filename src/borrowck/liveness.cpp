// Liveness of regions. A variable is use-live where its value may still be read, drop-live where it may still be dropped;
// every region of its type is live there (for drops: the regions that a destructor could look at). Only regions that some loan
// reaches are looked at. Computed per variable, walking backwards from its uses to where it is overwritten, so the cost is the
// size of the live ranges.
#include "borrowck/body_cx.hpp"

namespace ockc::borrowck {

namespace {

struct Uses {
    LocalId local;
    std::vector<PointId> uses, drops, defs;
};

class Liveness {
  public:
    Liveness(BodyCx& cx, Regions& regions) : cx_(cx), regions_(regions), slot_(cx.body.locals.size(), kNone) {}

    void run() {
        find_reached();
        std::vector<RegionVid> held;
        for (std::uint32_t i = 0; i < cx_.body.locals.size(); ++i) {
            const TypeId type = cx_.local_types[LocalId(i)];
            if (!cx_.regions.may_hold_regions(type)) continue;
            held.clear();
            cx_.regions.collect(type, held);
            if (std::none_of(held.begin(), held.end(), [&](RegionVid region) { return reached_[region.raw] != 0; })) continue;
            slot_[i] = static_cast<std::uint32_t>(uses_.size());
            uses_.push_back(Uses{LocalId(i), {}, {}, {}});
        }
        find_uses();
        defined_.assign(cx_.points.count(), 0);
        seen_.assign(cx_.points.count(), 0);
        for (const Uses& one : uses_) {
            const TypeId type = cx_.local_types[one.local];
            mark(trace(one.uses, one.defs), cx_.regions.regions_of(type));
            if (one.drops.empty()) continue;
            held.clear();
            drop_regions(type, held, 0);
            if (!held.empty()) mark(trace_drops(one), held);
        }
    }

  private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    // Whatever the regions of loans must outlive, directly or not. Universal regions are live everywhere as they are.
    void find_reached() {
        reached_.assign(cx_.regions.region_count(), 0);
        std::vector<RegionVid> open;
        const auto reach = [&](RegionVid region) {
            if (reached_[region.raw] != 0) return;
            reached_[region.raw] = 1;
            open.push_back(region);
        };
        for (const Loan& loan : cx_.loans) reach(loan.region);
        while (!open.empty()) {
            const RegionVid region = open.back();
            open.pop_back();
            for (const std::uint32_t index : regions_.constraints_of(region)) reach(regions_.constraint(index).sub);
        }
        for (const RegionVid region : regions_.universal()) reached_[region.raw] = 0;
    }

    void mark(const IntervalSet& points, const std::vector<RegionVid>& regions) {
        for (const RegionVid region : regions) {
            if (reached_[region.raw] != 0) regions_.add_live(region, points);
        }
    }

    void use(LocalId local, PointId at) {
        if (slot_[local.raw] != kNone) uses_[slot_[local.raw]].uses.push_back(at);
    }
    void use(const Place& place, PointId at) {
        use(place.local, at);
        for (const mir::Projection& step : place.projections) {
            if (step.kind == mir::ProjectionKind::Index) use(step.local, at);
        }
    }
    void use(const mir::Operand& operand, PointId at) {
        if (!operand.is_constant()) use(operand.place, at);
    }
    // A write to the whole variable ends the life of its old value; a write to a part of it, or through it, is a use.
    void write(const Place& place, PointId at) {
        if (!place.is_local()) return use(place, at);
        if (slot_[place.local.raw] != kNone) uses_[slot_[place.local.raw]].defs.push_back(at);
    }

    void find_uses() {
        std::uint32_t point = 0;
        for (const mir::BasicBlock& block : cx_.body.blocks) {
            for (const mir::Statement& node : block.statements) statement(node, PointId(point++));
            terminator(block.terminator, PointId(point++));
        }
    }

    void statement(const mir::Statement& node, PointId at) {
        switch (node.kind()) {
            case mir::StatementKind::Assign: {
                const auto& assign = node.as<mir::AssignStatement>();
                mir::for_each_operand(assign.value, [&](const mir::Operand& operand) { use(operand, at); });
                if (const Place* place = mir::read_place(assign.value)) use(*place, at);
                return write(assign.place, at);
            }
            case mir::StatementKind::SetDiscriminant: return use(node.as<mir::SetDiscriminantStatement>().place, at);
            case mir::StatementKind::FakeRead: return use(node.as<mir::FakeReadStatement>().place, at);
            case mir::StatementKind::DeepAccess:
                for (const Place& root : node.as<mir::DeepAccessStatement>().roots) use(root, at);
                return;
            case mir::StatementKind::StorageLive: return write(Place{node.as<mir::StorageLiveStatement>().local, {}}, at);
            case mir::StatementKind::StorageDead: return write(Place{node.as<mir::StorageDeadStatement>().local, {}}, at);
            // `let _ = *a;` reads nothing, but what `a` borrows must still be there.
            case mir::StatementKind::PlaceMention: return use(node.as<mir::PlaceMentionStatement>().place, at);
            case mir::StatementKind::AscribeType:
            case mir::StatementKind::Nop:
            case mir::StatementKind::None: return;
        }
    }

    void terminator(const mir::Terminator& node, PointId at) {
        mir::for_each_operand(node, [&](const mir::Operand& operand) { use(operand, at); });
        if (const auto* call = node.get_if<mir::CallTerminator>()) {
            write(call->destination, at);
        } else if (const auto* drop = node.get_if<mir::DropTerminator>()) {
            if (slot_[drop->place.local.raw] != kNone) uses_[slot_[drop->place.local.raw]].drops.push_back(at);
        } else if (node.get_if<mir::ReturnTerminator>() != nullptr) {
            use(mir::kReturnLocal, at);
        }
    }

    // The points from which some use can be reached without a definition between; a use's own point counts.
    IntervalSet trace(const std::vector<PointId>& uses, const std::vector<PointId>& defs) {
        ++round_;
        for (const PointId def : defs) defined_[def.raw] = round_;
        std::vector<PointId> open(uses);
        std::vector<IntervalSet::Interval> runs;
        while (!open.empty()) {
            PointId at = open.back();
            open.pop_back();
            if (seen_[at.raw] == round_) continue;
            const BlockId block = cx_.points.location(at).block;
            const std::uint32_t begin = cx_.points.of({block, 0}).raw, end = at.raw + 1;
            seen_[at.raw] = round_;
            while (at.raw > begin && defined_[at.raw - 1] != round_ && seen_[at.raw - 1] != round_) {
                at = PointId(at.raw - 1);
                seen_[at.raw] = round_;
            }
            runs.push_back({at.raw, end});
            if (at.raw == begin) push_predecessors(block, open);
        }
        std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
        IntervalSet live;
        for (const IntervalSet::Interval& run : runs) live.insert(run.begin, run.end);
        return live;
    }

    void push_predecessors(BlockId block, std::vector<PointId>& open) {
        for (const std::uint32_t pred : cx_.graph.predecessors(block.raw)) {
            const std::uint32_t last = static_cast<std::uint32_t>(cx_.body.blocks[BlockId(pred)].statements.size());
            const PointId before = cx_.points.of({BlockId(pred), last});
            if (defined_[before.raw] != round_ && seen_[before.raw] != round_) open.push_back(before);
        }
    }

    // A drop counts only where the variable may be initialised: a moved-from value is not dropped.
    IntervalSet trace_drops(const Uses& one) {
        if (!init_) {
            paths_.emplace(cx_.body, cx_.context);
            init_.emplace(cx_.body, *paths_, cx_.graph);
        }
        const auto may_be_init = [&](const mir::InitState& state) {
            bool may_be = false;
            paths_->for_each_descendant(paths_->of(one.local),
                                        [&](mir::MovePathId path) { may_be = may_be || state.maybe_init(path); });
            return may_be;
        };
        std::vector<PointId> real;
        for (const PointId drop : one.drops) {
            if (may_be_init(init_->before(cx_.points.location(drop)))) real.push_back(drop);
        }
        IntervalSet kept;
        Location last;
        mir::InitState state;
        trace(real, one.defs).for_each([&](std::uint32_t point) {
            const Location at = cx_.points.location(PointId(point));
            if (at.block != last.block) {
                state = init_->at_start(at.block);
                last = {at.block, 0};
            }
            for (; last.statement < at.statement; ++last.statement) init_->apply(last, state);
            if (may_be_init(state)) kept.insert(point);
        });
        return kept;
    }

    // The regions that dropping a value of the type may look at: all those of a type with a destructor of its own.
    void drop_regions(TypeId type, std::vector<RegionVid>& out, std::uint32_t depth) {
        if (depth > 64 || !cx_.context.needs_drop(cx_.regions.erase(type), cx_.env)) return;
        const types::TypeData data = cx_.types[type];
        if (data.kind == types::TypeKind::Adt) {
            if (cx_.context.drop_impl(cx_.regions.erase(type)).valid()) return cx_.regions.collect(type, out);
            const check::AdtInfo& adt = cx_.context.adt(data.def);
            for (std::uint32_t v = 0; v < adt.variants.size(); ++v) {
                for (std::uint32_t f = 0; f < adt.variants[v].fields.size(); ++f) {
                    drop_regions(cx_.regions.field(type, v, f), out, depth + 1);
                }
            }
            return;
        }
        if (data.kind == types::TypeKind::Tuple) {
            const std::vector<TypeId> parts(cx_.types[data.elements].begin(), cx_.types[data.elements].end());
            for (const TypeId part : parts) drop_regions(part, out, depth + 1);
            return;
        }
        if (data.kind == types::TypeKind::Array) return drop_regions(data.element, out, depth + 1);
        cx_.regions.collect(type, out);
    }

    BodyCx& cx_;
    Regions& regions_;
    std::vector<std::uint8_t> reached_;           // by RegionVid
    std::vector<std::uint32_t> slot_;             // by LocalId: into uses_
    std::vector<Uses> uses_;
    std::vector<std::uint32_t> defined_, seen_;   // by PointId: the last round in which it was
    std::uint32_t round_ = 0;
    std::optional<mir::MovePaths> paths_;
    std::optional<mir::InitFlow> init_;
};

}  // namespace

void add_liveness(BodyCx& cx, Regions& regions) { Liveness(cx, regions).run(); }

}  // namespace ockc::borrowck
