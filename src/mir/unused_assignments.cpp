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
    UnusedAssignments(const Body& body, check::Context& context, const hir::Body& hir)
        : body_(body), context_(context), hir_(hir), watched_(body.locals.size()), read_(body.locals.size()) {}

    void run() {
        choose();
        if (!watched_.any()) return;
        const FlowGraph graph = flow_graph(body_);
        std::vector<GenKill> effects(body_.blocks.size(), GenKill{BitSet(body_.locals.size()), BitSet(body_.locals.size())});
        for (std::uint32_t b = 0; b < body_.blocks.size(); ++b) {
            // Backwards, what comes earlier decides last.
            const auto use = [&](LocalId local) { effects[b].gen.set(local.raw); };
            const auto define = [&](LocalId local, Span) {
                effects[b].gen.reset(local.raw);
                effects[b].kill.set(local.raw);
            };
            walk(body_.blocks[BlockId(b)], use, define);
        }
        const std::vector<BitSet> live = solve(graph, effects, BitSet(body_.locals.size()), Direction::Backward);
        for (const std::uint32_t b : graph.reverse_postorder()) {
            BitSet now = live[b];
            const auto use = [&](LocalId local) { now.set(local.raw); };
            const auto define = [&](LocalId local, Span span) {
                if (watched_.test(local.raw) && !now.test(local.raw)) found_.emplace_back(local, span);
                now.reset(local.raw);
            };
            walk(body_.blocks[BlockId(b)], use, define);
            if (b != 0) continue;
            for (std::uint32_t i = 1; i <= body_.arg_count; ++i) {
                if (watched_.test(i) && read_.test(i) && !now.test(i)) passed_.emplace_back(LocalId(i));
            }
        }
        report();
    }

  private:
    // Variables of the user that hold plain values: a destructor would be a use.
    void choose() {
        for (std::uint32_t i = 0; i < body_.locals.size(); ++i) {
            const Local& local = body_.locals[LocalId(i)];
            const bool is_variable = local.kind == LocalKind::Var || (local.kind == LocalKind::Arg && local.name.valid());
            if (!is_variable || !local.hir_local.valid() || local.info == LocalInfo::GuardRef || local.by_ref_binding) continue;
            const std::string_view name = context_.program().interner.text(local.name);
            if (name.empty() || name[0] == '_' || name == "self" || hir_.locals[local.hir_local].desugared) continue;
            watched_.set(i);
        }
        for (const BasicBlock& block : body_.blocks) {
            walk(block, [&](LocalId local) { read_.set(local.raw); }, [](LocalId, Span) {});
            for (const Statement& node : block.statements) {
                const auto* assign = node.get_if<AssignStatement>();
                if (assign != nullptr && kind(assign->value) == RvalueKind::RawPtr) watched_.reset(read_place(assign->value)->local.raw);
                if (assign != nullptr && !assign->place.is_local()) watched_.reset(assign->place.local.raw);   // parts of it
            }
            if (const auto* drop = block.terminator.get_if<DropTerminator>()) watched_.reset(drop->place.local.raw);
        }
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
            } else if (read_.test(local.raw) && std::find(told.begin(), told.end(), local) == told.end()) {
                told.push_back(local);
                tell(local, body_.locals[local].span, "assigned");
            }
        }
    }

    void tell(LocalId local, Span span, std::string_view how) {
        const std::string_view name = context_.program().interner.text(body_.locals[local].name);
        context_.sink()
            .lint("unused_assignments", span, fmt::format("value {} to `{}` is never read", how, name))
            .help("maybe it is overwritten before being read?");
    }

    const Body& body_;
    check::Context& context_;
    const hir::Body& hir_;
    BitSet watched_, read_;                             // by LocalId
    std::vector<std::pair<LocalId, Span>> found_;
    std::vector<LocalId> passed_;
};

}  // namespace

void lint_unused_assignments(const Program& program, check::Context& context) {
    const hir::Program& items = context.program();
    for (const DefId owner : program.order) {
        const Body& body = *program.bodies.at(owner);
        if (body.has_errors || items.crates[items.defs[owner].crate].is_library) continue;
        DefId fn = owner;
        while (items.defs[fn].kind == hir::DefKind::Closure) fn = items.defs[fn].parent;
        const check::TypeTables* tables = context.check_body(fn);
        if (tables != nullptr) UnusedAssignments(body, context, *items.bodies[tables->body]).run();
    }
}

}  // namespace ockc::mir
