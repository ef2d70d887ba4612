// Backward liveness of a body's variables. A borrow is a read, as the borrow checker lets nothing write while it is used; of what raw
// pointers lead to nothing is said. A value that a variable begins with is told at the variable, and only where something reads others.
#include "mir/unused_assignments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/init_flow.hpp"

namespace ockc::mir {

namespace {

class UnusedAssignments {
  public:
    UnusedAssignments(const Body& body, check::Context& context, const hir::Body& hir, std::vector<UnusedAssignment>& out)
        : body_(body), context_(context), hir_(hir), out_(out), seen_(body.locals.size()) {}

    void run() {
        choose();
        if (candidates_ == 0) return;
        const FlowGraph graph = flow_graph(body_);
        std::vector<GenKill> effects(body_.blocks.size(), GenKill{BitSet(candidates_), BitSet(candidates_)});
        for (std::uint32_t b = 0; b < body_.blocks.size(); ++b) {
            // Backwards, what comes earlier decides last.
            const auto use = [&](std::uint32_t bit, LocalId) { effects[b].gen.set(bit); };
            const auto define = [&](std::uint32_t bit, LocalId, Span) {
                effects[b].gen.reset(bit);
                effects[b].kill.set(bit);
            };
            walk_candidates(body_.blocks[BlockId(b)], use, define);
        }
        const std::vector<BitSet> live = solve(graph, effects, BitSet(candidates_), Direction::Backward);
        for (const std::uint32_t b : graph.reverse_postorder()) {
            BitSet now = live[b];
            const auto use = [&](std::uint32_t bit, LocalId) { now.set(bit); };
            const auto define = [&](std::uint32_t bit, LocalId local, Span span) {
                if (!now.test(bit)) found_.emplace_back(local, span);
                now.reset(bit);
            };
            walk_candidates(body_.blocks[BlockId(b)], use, define);
            if (b != 0) continue;
            for (std::uint32_t i = 1; i <= body_.arg_count; ++i) {
                const Seen& argument = seen_[i];
                if (argument.bit != kNone && argument.is_read && !now.test(argument.bit)) passed_.emplace_back(LocalId(i));
            }
        }
        report();
    }

  private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    struct Seen {
        std::uint32_t definitions = 0;
        std::uint32_t bit = kNone;   // of a candidate
        bool is_watched = false, is_read = false;
    };

    // Variables of the user that hold plain values (a destructor would be a use), and of them those of which a value may be lost:
    // what is written once and read somewhere is read after it was written.
    void choose() {
        bool any = false;
        for (std::uint32_t i = 0; i < body_.locals.size(); ++i) any = (seen_[i].is_watched = is_watched(body_.locals[LocalId(i)])) || any;
        if (!any) return;
        for (std::uint32_t i = 1; i <= body_.arg_count; ++i) ++seen_[i].definitions;
        for (const BasicBlock& block : body_.blocks) {
            walk(block, [&](LocalId local) { seen_[local.raw].is_read = true; }, [&](LocalId local, Span) { ++seen_[local.raw].definitions; });
            for (const Statement& node : block.statements) {
                const auto* assign = node.get_if<AssignStatement>();
                if (assign != nullptr && kind(assign->value) == RvalueKind::RawPtr) seen_[read_place(assign->value)->local.raw].is_watched = false;
                if (assign != nullptr && !assign->place.is_local()) seen_[assign->place.local.raw].is_watched = false;   // parts of it
            }
            if (const auto* drop = block.terminator.get_if<DropTerminator>()) seen_[drop->place.local.raw].is_watched = false;
        }
        for (Seen& one : seen_) {
            if (one.is_watched && (one.definitions > 1 || !one.is_read)) one.bit = candidates_++;
        }
    }

    bool is_watched(const Local& local) const {
        const bool is_variable = local.kind == LocalKind::Var || (local.kind == LocalKind::Arg && local.name.valid());
        if (!is_variable || !local.hir_local.valid() || local.info == LocalInfo::GuardRef || local.by_ref_binding) return false;
        const std::string_view name = context_.program().interner.text(local.name);
        return !name.empty() && name[0] != '_' && name != "self" && !hir_.locals[local.hir_local].desugared;
    }

    // walk() for the candidates, with their bits.
    template <class Use, class Define>
    void walk_candidates(const BasicBlock& block, Use&& use, Define&& define) const {
        walk(
            block,
            [&](LocalId local) {
                if (const std::uint32_t bit = seen_[local.raw].bit; bit != kNone) use(bit, local);
            },
            [&](LocalId local, Span span) {
                if (const std::uint32_t bit = seen_[local.raw].bit; bit != kNone) define(bit, local, span);
            });
    }

    // use(local) and define(local, span) for everything in the block, the last first.
    template <class Use, class Define>
    void walk(const BasicBlock& block, Use&& use, Define&& define) const {
        const auto place = [&](const Place& one) {
            use(one.local);
            for (const Projection& step : one.projections) {
                if (step.kind == ProjectionKind::Index) use(step.local);
            }
        };
        const auto operand = [&](const Operand& one) {
            if (!one.is_constant()) place(one.place);
        };
        if (const auto* call = block.terminator.get_if<CallTerminator>()) {
            if (call->destination.is_local()) {
                define(call->destination.local, block.terminator.span);
            } else {
                place(call->destination);
            }
        }
        if (block.terminator.get_if<ReturnTerminator>() != nullptr) use(kReturnLocal);
        for_each_operand(block.terminator, operand);
        for (std::size_t i = block.statements.size(); i-- > 0;) {
            const Statement& node = block.statements[i];
            if (const auto* deep = node.get_if<DeepAccessStatement>()) {
                for (const Place& root : deep->roots) place(root);
            }
            const auto* assign = node.get_if<AssignStatement>();
            if (assign == nullptr) continue;
            if (assign->place.is_local()) {
                define(assign->place.local, node.span);
            } else {
                place(assign->place);
            }
            for_each_operand(assign->value, operand);
            if (const Place* read = read_place(assign->value)) place(*read);
        }
    }

    bool is_assignment(Span span) const {
        return std::any_of(hir_.exprs.begin(), hir_.exprs.end(), [&](const hir::Expr& e) {
            const bool assigns = std::holds_alternative<hir::AssignExpr>(e.data) || std::holds_alternative<hir::AssignOpExpr>(e.data);
            return assigns && e.span.begin <= span.begin && span.end <= e.span.end;
        });
    }

    void report() {
        for (const LocalId local : passed_) tell(local, body_.locals[local].span, "passed");
        std::vector<LocalId> told;
        for (const auto& [local, span] : found_) {
            if (is_assignment(span)) {
                tell(local, span, "assigned");
            } else if (seen_[local.raw].is_read && std::find(told.begin(), told.end(), local) == told.end()) {
                told.push_back(local);
                tell(local, body_.locals[local].span, "assigned");
            }
        }
    }

    void tell(LocalId local, Span span, std::string_view how) { out_.push_back({body_.locals[local].name, span, how}); }

    const Body& body_;
    check::Context& context_;
    const hir::Body& hir_;
    std::vector<UnusedAssignment>& out_;
    std::vector<Seen> seen_;                            // by LocalId
    std::uint32_t candidates_ = 0;
    std::vector<std::pair<LocalId, Span>> found_;
    std::vector<LocalId> passed_;
};

}  // namespace

void find_unused_assignments(const Body& body, check::Context& context, std::vector<UnusedAssignment>& out) {
    const hir::Program& items = context.program();
    DefId fn = body.owner;
    while (items.defs[fn].kind == hir::DefKind::Closure) fn = items.defs[fn].parent;
    const check::TypeTables* tables = context.check_body(fn);
    if (tables != nullptr) UnusedAssignments(body, context, *items.bodies[tables->body], out).run();
}

void report_unused_assignments(std::span<const UnusedAssignment> found, check::Context& context) {
    for (const UnusedAssignment& one : found) {
        const std::string_view name = context.program().interner.text(one.name);
        context.sink()
            .lint("unused_assignments", one.span, fmt::format("value {} to `{}` is never read", one.how, name))
            .help("maybe it is overwritten before being read?");
    }
}

}  // namespace ockc::mir
