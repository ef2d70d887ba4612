// Why a loan is still in scope: the use that comes later, the drop at the end, or a region that the caller knows.
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

namespace {

enum class Use : std::uint8_t { None, Def, Use, Drop };

// What the point does with a local whose type holds `region`.
class PointUse {
  public:
    PointUse(BodyCx& cx, RegionVid region) : cx_(cx), region_(region) {}

    Use at(Location where) {
        found_ = Use::None;
        const mir::BasicBlock& block = cx_.body.blocks[where.block];
        if (where.statement < block.statements.size()) {
            statement(block.statements[where.statement]);
        } else {
            terminator(block.terminator);
        }
        return found_;
    }
    LocalId local() const { return local_; }

  private:
    bool holds(LocalId local) {
        const std::vector<RegionVid>& regions = cx_.regions.regions_of(cx_.local_types[local]);
        return std::binary_search(regions.begin(), regions.end(), region_);
    }
    void note(LocalId local, Use use) {
        if (!local.valid() || found_ == Use::Use || !holds(local)) return;
        found_ = use;
        local_ = local;
    }
    void place(const Place& one) {
        note(one.local, Use::Use);
        for (const mir::Projection& step : one.projections) {
            if (step.kind == mir::ProjectionKind::Index) note(step.local, Use::Use);
        }
    }
    void operand(const mir::Operand& one) {
        if (!one.is_constant()) place(one.place);
    }
    void write(const Place& one) {
        if (one.is_local()) {
            note(one.local, Use::Def);
        } else {
            place(one);
        }
    }
    void statement(const mir::Statement& node) {
        if (const auto* assign = node.get_if<mir::AssignStatement>()) {
            write(assign->place);
            mir::for_each_operand(assign->value, [&](const mir::Operand& one) { operand(one); });
            if (const Place* read = mir::read_place(assign->value)) place(*read);
        } else if (const auto* fake = node.get_if<mir::FakeReadStatement>()) {
            place(fake->place);
        } else if (const auto* deep = node.get_if<mir::DeepAccessStatement>()) {
            for (const Place& root : deep->roots) place(root);
        } else if (const auto* live = node.get_if<mir::StorageLiveStatement>()) {
            note(live->local, Use::Def);
        } else if (const auto* dead = node.get_if<mir::StorageDeadStatement>()) {
            note(dead->local, Use::Def);
        }
    }
    void terminator(const mir::Terminator& node) {
        if (const auto* call = node.get_if<mir::CallTerminator>()) write(call->destination);
        mir::for_each_operand(node, [&](const mir::Operand& one) { operand(one); });
        if (const auto* drop = node.get_if<mir::DropTerminator>()) note(drop->place.local, Use::Drop);
        if (node.get_if<mir::ReturnTerminator>() != nullptr) note(mir::kReturnLocal, Use::Use);
    }

    BodyCx& cx_;
    RegionVid region_;
    Use found_ = Use::None;
    LocalId local_;
};

bool makes_result(const BodyCx& cx, Location at) {
    const mir::BasicBlock& block = cx.body.blocks[at.block];
    if (at.statement >= block.statements.size()) return block.terminator.get_if<mir::ReturnTerminator>() != nullptr;
    const auto* assign = block.statements[at.statement].get_if<mir::AssignStatement>();
    return assign != nullptr && assign->place.local == mir::kReturnLocal;
}

}  // namespace

// The first use, going forward from the point in breadth, of a variable whose type holds the region.
std::optional<Checker::Explanation> Checker::find_use(RegionVid region, Location from) const {
    PointUse uses(cx_, region);
    std::vector<std::uint32_t> rank(cx_.graph.size());
    for (std::uint32_t i = 0; i < cx_.graph.reverse_postorder().size(); ++i) rank[cx_.graph.reverse_postorder()[i]] = i;
    struct Step {
        Location at;
        bool again;   // behind a jump back
    };
    std::vector<Step> queue{{from, false}};
    std::set<Location> seen;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const Location at = queue[head].at;
        const bool again = queue[head].again;
        if (!seen.insert(at).second || !regions_.contains(region, cx_.points.of(at))) continue;
        const Use use = uses.at(at);
        if (use == Use::Def) continue;
        if (use != Use::None) return explain_use(at, uses.local(), use == Use::Drop, again);
        const mir::BasicBlock& block = cx_.body.blocks[at.block];
        if (at.statement < block.statements.size()) {
            queue.push_back({{at.block, at.statement + 1}, again});
        } else {
            const auto follow = [&](BlockId next) { queue.push_back({{next, 0}, again || rank[next.raw] <= rank[at.block.raw]}); };
            mir::for_each_successor(block.terminator, follow);
        }
    }
    return std::nullopt;
}

Checker::Explanation Checker::explain_use(Location at, LocalId local, bool is_drop, bool again) const {
    Explanation why{Explanation::Kind::Later, cx_.body.span_at(at), local, {}, 0, false, false};
    if (is_drop) {
        why.kind = Explanation::Kind::Dropped;
        return why;
    }
    if (again) why.kind = Explanation::Kind::LaterInLoop;
    why.into_result = makes_result(cx_, at);
    const mir::BasicBlock& block = cx_.body.blocks[at.block];
    const auto* call = at.statement == block.statements.size() ? block.terminator.get_if<mir::CallTerminator>() : nullptr;
    why.by_call = call != nullptr && call->source != mir::CallSource::Operator;
    if (why.by_call) why.span = call->fn_span;
    return why;
}

Checker::Explanation Checker::explain(const Loan& loan, Location at) const {
    const PointId point = cx_.points.of(at);
    RegionVid live = loan.region;
    if (!regions_.is_live_at(live, point)) {
        const std::vector<std::uint32_t> path =
            regions_.find_path(loan.region, [&](RegionVid region) { return regions_.is_live_at(region, point); });
        if (!path.empty()) live = regions_.constraint(path.back()).sub;
    }
    if (!cx_.is_universal(live)) {
        if (std::optional<Explanation> use = find_use(live, at)) {
            // A reference that goes to the caller: the result's lifetime says more than where it is made.
            if (use->into_result || !is_user_variable(cx_, use->local)) {
                const Explanation outlives = explain_outlives(loan);
                const bool is_known = outlives.kind != Explanation::Kind::None;
                const Category category = is_known ? regions_.constraint(outlives.blame).category : Category::Boring;
                if (category == Category::Return || category == Category::Opaque || category == Category::OpaqueReturn) return outlives;
            }
            return *use;
        }
    }
    return explain_outlives(loan);
}

// The loan must last as long as a region that the caller knows.
Checker::Explanation Checker::explain_outlives(const Loan& loan) const {
    const std::vector<std::uint32_t> path =
        regions_.find_path(loan.region, [&](RegionVid region) { return cx_.is_universal(region); });
    if (path.empty()) return {};
    Explanation why;
    why.kind = Explanation::Kind::Outlives;
    why.region = regions_.constraint(path.back()).sub;
    why.blame = blame(path);
    why.span = regions_.constraint(why.blame).span;
    return why;
}

// `borrow`: "", "first ", "mutable ", ..
void Checker::add_explanation(Diagnostic& error, const Explanation& why, std::string_view borrow, const Loan& loan) {
    const std::string what = std::string(borrow) + "borrow";
    switch (why.kind) {
        case Explanation::Kind::None: return;
        case Explanation::Kind::Later:
            if (!(why.span == loan.span && why.span == span_)) error.label(why.span, what + (why.by_call ? " later used by call" : " later used here"));
            return;
        case Explanation::Kind::LaterInLoop:
            error.label(why.span, what + (why.by_call ? " later used by call" : " later used here") + ", in later iteration of loop");
            return;
        case Explanation::Kind::Dropped: {
            const mir::Local& local = cx_.body.locals[why.local];
            const std::string type = cx_.text(local.type);
            if (is_user_variable(cx_, why.local)) {
                error.label(why.span, what + " might be used here, when `" + std::string(cx_.name(local.name)) +
                                          "` is dropped and runs the destructor for type `" + type + "`");
            } else {
                error.label(why.span, "... and the " + what + " might be used here, when that temporary is dropped and runs the destructor for type `" + type + "`");
            }
            return;
        }
        case Explanation::Kind::Outlives: {
            const RegionInfo& info = cx_.regions.info(why.region);
            const Outlives& constraint = regions_.constraint(why.blame);
            const std::string place = quoted(cx_, loan.place);
            const std::string for_region = info.name.empty() ? std::string("a lifetime of the caller") : "`" + std::string(info.name) + "`";
            switch (constraint.category) {
                case Category::Return: error.label(why.span, "returning this value requires that " + place + " is borrowed for " + for_region); return;
                case Category::CallArgument: error.label(why.span, "argument requires that " + place + " is borrowed for " + for_region); return;
                case Category::Annotation: error.label(why.span, "type annotation requires that " + place + " is borrowed for " + for_region); return;
                case Category::Cast: error.label(why.span, "cast requires that " + place + " is borrowed for " + for_region); return;
                case Category::Assignment: error.label(why.span, "assignment requires that " + place + " is borrowed for " + for_region); return;
                case Category::OpaqueReturn:
                case Category::Opaque: error.label(why.span, "opaque type requires that " + place + " is borrowed for " + for_region); return;
                case Category::Usage: error.label(why.span, "this usage requires that " + place + " is borrowed for " + for_region); return;
                case Category::Predicate:
                case Category::Boring: error.label(why.span, "this requires that " + place + " is borrowed for " + for_region); return;
            }
        }
    }
}

}  // namespace ockc::borrowck
