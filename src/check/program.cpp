// Which bodies are checked, in which order: declarations first, then all bodies reached from device code, then what rustc checks
// on typed bodies, so that messages come in rustc's order.
#include <fmt/format.h>

#include <algorithm>

#include "check/body.hpp"
#include "check/passes.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

bool is_library(const hir::Program& program, DefId def) { return program.crates[program.defs[def].crate].is_library; }

hir::BodyId own_body(const hir::Program& program, DefId owner) {
    const hir::Def& def = program.defs[owner];
    if (!def.lowered) return {};
    if (const auto* fn = std::get_if<hir::FnDef>(&def.data)) return fn->body;
    if (const auto* constant = std::get_if<hir::ConstDef>(&def.data)) return constant->body;
    if (const auto* item = std::get_if<hir::StaticDef>(&def.data)) return item->body;
    if (const auto* anon = std::get_if<hir::AnonConstDef>(&def.data)) return anon->body;
    return {};
}

bool has_body(const hir::Program& program, DefId owner) { return own_body(program, owner).valid(); }

// `const { .. }` of code that is not generic is evaluated even when nothing runs it.
void evaluate_inline_constants(Context& cx, const TypeTables& tables) {
    if (!tables.has<hir::ConstBlockExpr>()) return;
    if (cx.types().has(cx.identity_args(cx.body_owner(tables.owner)), types::kHasParam)) return;
    for (const hir::Expr& expr : cx.program().bodies[tables.body]->exprs) {
        if (const auto* block = std::get_if<hir::ConstBlockExpr>(&expr.data)) cx.eval_const({block->constant, cx.types().no_args});
    }
}

// Queues what a definition that was mentioned makes reachable.
class Reach {
  public:
    explicit Reach(Context& context) : cx_(context), program_(context.program()), state_(context.state()) {}

    void mention(DefId def) {
        if (!def.valid() || !state_.queued.insert(def).second) return;
        state_.queue.push_back(def);
    }

    // An item declared inside a body, with everything that it declares.
    void mention_inside(DefId item);

    void mention_all(const TypeTables& tables) {
        const hir::Body& body = *program_.bodies[tables.body];
        const bool has_constants = tables.has<hir::ConstBlockExpr>();
        for (std::uint32_t i = 0; i < body.exprs.size(); ++i) {
            const hir::ExprId id(i);
            mention(tables.expr_items[id].def);
            mention(tables.callees[id].def);
            for (const Adjustment& step : tables.adjustments(id)) mention(step.callee.def);
            if (!has_constants) continue;
            if (const auto* block = std::get_if<hir::ConstBlockExpr>(&body.exprs[id].data)) mention(block->constant);
        }
        for (std::uint32_t i = 0; i < body.pats.size(); ++i) mention(tables.pat_items[hir::PatId(i)].def);
    }

    // Items declared in a body are checked even when the body is wrong.
    void mention_declared(DefId owner) {
        for (const hir::Block& block : program_.bodies[own_body(program_, owner)]->blocks) {
            for (const hir::Stmt& stmt : block.stmts) {
                if (stmt.kind == hir::Stmt::Kind::Item) mention_inside(stmt.item);
            }
        }
    }

    // The things behind a definition: a trait's method may be any user impl's.
    void expand(DefId def) {
        const hir::Def& d = program_.defs[def];
        switch (d.kind) {
            case DefKind::Ctor:
            case DefKind::Variant:
            case DefKind::Field: mention(d.parent); return;
            case DefKind::Struct:
            case DefKind::Enum:
            case DefKind::Union: mention_drop(def); return;
            case DefKind::AssocFn:
            case DefKind::AssocConst: {
                mention(d.parent);
                if (program_.defs[d.parent].kind != DefKind::Trait) return;
                state_.index_impls();
                for (DefId impl : state_.impls_of_trait[d.parent]) {
                    if (!is_library(program_, impl)) mention(state_.item_named(impl, d.name.name));
                }
                return;
            }
            default: return;
        }
    }

  private:
    void mention_drop(DefId adt) {
        if (!state_.lang.drop.valid()) return;
        for (const ImplEntry& entry : state_.impls_for(state_.lang.drop, cx_.type_of(adt))) {
            const TypeData data = cx_.types()[cx_.types()[entry.trait_ref.args][0].as_type()];
            if (data.kind == TypeKind::Adt && data.def == adt) mention(state_.item_named(entry.impl, program_.interner.intern("drop")));
        }
    }

    Context& cx_;
    const hir::Program& program_;
    Context::State& state_;
};

// All definitions declared by an item of a device module.
void collect_items(const hir::Program& program, DefId def, std::vector<DefId>& out) {
    out.push_back(def);
    const hir::Def& d = program.defs[def];
    if (!d.lowered) return;
    const auto add = [&](hir::List<DefId> items) {
        for (DefId item : items) collect_items(program, item, out);
    };
    if (const auto* mod = std::get_if<hir::ModDef>(&d.data)) add(mod->items);
    if (const auto* impl = std::get_if<hir::ImplDef>(&d.data)) add(impl->items);
    if (const auto* trait = std::get_if<hir::TraitDef>(&d.data)) add(trait->items);
}

void Reach::mention_inside(DefId item) {
    std::vector<DefId> declared;
    collect_items(program_, item, declared);
    for (DefId def : declared) mention(def);
}

// Unions are checked as in Rust, so that what is wrong with one is said; the phases behind do not know them yet.
void refuse_unions(Context& context) {
    const hir::Program& program = context.program();
    for (DefId id(0); id.raw < program.defs.size(); id = DefId(id.raw + 1)) {
        const hir::Def& def = program.defs[id];
        if (def.kind != DefKind::Union || !def.lowered || program.crates[def.crate].is_library) continue;
        context.sink().error(Code::OCK0910, def.span, "unions are not supported in device code").help("use an enum, or `to_bits` and `from_bits`");
    }
}

}  // namespace

namespace {

// Constants in patterns may have failed where they stand, and been reported there.
bool has_pattern_values(const hir::Program& program, const TypeTables& tables) {
    for (std::uint32_t i = 0; i < program.bodies[tables.body]->pats.size(); ++i) {
        const ItemRef item = tables.pat_items[hir::PatId(i)];
        const bool is_const = item.valid() && (program.defs[item.def].kind == DefKind::Const || program.defs[item.def].kind == DefKind::AssocConst);
        if (is_const && tables.pat_values[hir::PatId(i)] == nullptr) return false;
    }
    return true;
}

}  // namespace

const TypeTables* Context::check_body(DefId owner) {
    State::BodySlot& slot = state_->bodies[owner];
    if (slot.done || slot.tables != nullptr) return slot.done && slot.ok ? slot.tables.get() : nullptr;   // or being checked
    state_->need_body(owner);
    state_->need(owner);
    if (!has_body(program_, owner) || state_->failed_derives.contains(program_.defs[owner].parent)) return nullptr;
    slot.tables = std::make_unique<TypeTables>();
    TypeTables& tables = *slot.tables;
    bool ok = BodyChecker(*this, owner, tables).run() && !program_.bodies[tables.body]->has_errors;
    if (ok) {
        for (const auto& closure : tables.closures) state_->closures[closure->def] = closure.get();
        const std::size_t errors = sink_.error_count();
        fill_pattern_values(*this, tables);
        ok = sink_.error_count() == errors && has_pattern_values(program_, tables);
    }
    State::BodySlot& after = state_->bodies[owner];   // the map may have grown
    after.done = true;
    after.ok = ok;
    state_->checked.push_back(owner);
    return ok ? after.tables.get() : nullptr;
}

const ClosureInfo& Context::closure_info(DefId closure) {
    const auto found = state_->closures.find(closure);
    if (found != state_->closures.end()) return *found->second;
    check_body(body_owner(closure));
    const auto again = state_->closures.find(closure);
    static const ClosureInfo unknown{};
    return again != state_->closures.end() ? *again->second : unknown;
}

bool Context::check_program() {
    const std::size_t errors = sink_.error_count();
    Reach reach(*this);
    std::vector<DefId> declared;
    std::vector<const TypeTables*> linted;
    for (DefId root : program_.device_roots) collect_items(program_, root, declared);
    // Declarations.
    for (std::size_t i = 0; i < program_.impls.size(); ++i) {   // constants may bring in more
        if (!is_library(program_, program_.impls[i])) check_item(*this, program_.impls[i]);
    }
    for (DefId def : declared) {
        check_item(*this, def);
        reach.mention(def);
    }
    check_coherence(*this);
    // Bodies: the user's, then what they reach.
    for (std::size_t i = 0; i < state_->queue.size(); ++i) {
        const DefId def = state_->queue[i];
        state_->need(def);
        reach.expand(def);
        if (!is_library(program_, def)) {
            check_item(*this, def);
        } else if (!program_.defs[def].intrinsic.empty()) {
            check_intrinsic(*this, def);
        }
        state_->need_body(def);
        if (!has_body(program_, def)) continue;
        reach.mention_declared(def);
        if (const TypeTables* tables = check_body(def)) reach.mention_all(*tables);
    }
    // What rustc checks on typed bodies.
    std::stable_partition(state_->checked.begin(), state_->checked.end(), [&](DefId def) { return !is_library(program_, def); });
    for (std::size_t i = 0; i < state_->checked.size(); ++i) {
        const DefId def = state_->checked[i];
        if (is_library(program_, def)) break;
        State::BodySlot& slot = state_->bodies[def];
        if (!slot.ok) continue;
        check_const_body(*this, *slot.tables);
        evaluate_inline_constants(*this, *slot.tables);
        check_unsafety(*this, *slot.tables);
        check_transmutes(*this, *slot.tables);
        const std::size_t before = sink_.error_count();
        check_matches(*this, *slot.tables);
        if (sink_.error_count() != before) slot.ok = false;   // no MIR can be made of it
    }
    state_->consts_used.assign(options_.consts.size(), false);
    for (DefId kernel : program_.kernels) check_kernel(*this, kernel);
    for (std::size_t i = 0; i < options_.consts.size(); ++i) {
        if (!state_->consts_used[i]) sink_.error(Code::OCK0110, Span(), fmt::format("--const {}={}: no kernel has such a generic parameter", options_.consts[i].first, options_.consts[i].second));
    }
    // Lints come last and speak about programs that are right otherwise.
    for (std::size_t i = 0; i < state_->checked.size() && sink_.error_count() == errors; ++i) {
        const State::BodySlot& slot = state_->bodies[state_->checked[i]];
        if (!is_library(program_, state_->checked[i]) && slot.ok) linted.push_back(slot.tables.get());
    }
    PrivacyMemo privacy;
    for (const TypeTables* tables : linted) {
        check_literals(*this, *tables);
        if (!options_.edition_2021) check_static_refs(*this, *tables);   // a warning there
        check_type_privacy(*this, *tables, privacy);
    }
    if (!sink_.has_errors()) refuse_unions(*this);
    return sink_.error_count() == errors;
}

const std::vector<types::ArgsId>& Context::kernel_instances(DefId kernel) const {
    static const std::vector<types::ArgsId> kNone;
    const auto found = state_->kernel_instances.find(kernel);
    return found == state_->kernel_instances.end() ? kNone : found->second;
}

const std::vector<DefId>& Context::checked_bodies() const { return state_->checked; }

}  // namespace ockc::check
