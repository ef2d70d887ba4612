// Bodies as a whole: entry points, parameters, the return block, what becomes of the blocks in the end.
#include "mir/build.hpp"

#include "mir/builder.hpp"
#include "mir/verify.hpp"

namespace ockc::mir {

Builder::Builder(Program& program, check::Context& context, const check::TypeTables& tables, const BuildOptions& options,
                 Body& body)
    : program_(program),
      context_(context),
      types_(context.types()),
      hir_program_(context.program()),
      tables_(tables),
      hir_(*context.program().bodies[tables.body]),
      env_(context.param_env(tables.owner)),
      options_(options),
      body_(body) {}

void Builder::begin_body(Span span) {
    body_.span = span;
    source_scope_ = body_.scopes.push(SourceScope{ScopeId(), span});
    body_.locals.reserve(16);
    body_.blocks.reserve(16);
    start_new();
    return_block_ = new_block();
}

void Builder::finish_body(Span span) {
    OCKC_CHECK(scopes_.empty());
    go_to(span.valid() ? Span{span.file, span.end > span.begin ? span.end - 1 : span.end, span.end} : span, return_block_);
    start(return_block_);
    terminate(Span{span.file, span.end > span.begin ? span.end - 1 : span.end, span.end}, ReturnTerminator{});
    tidy_blocks();
    body_.has_errors = failed_;
}

void Builder::build_fn(const hir::FnDef& fn) {
    const hir::Def& def = hir_program_.defs[tables_.owner];
    begin_body(def.span);
    const check::FnSigInfo signature = context_.fn_sig({tables_.owner, context_.identity_args(tables_.owner)});
    body_.locals.push(Local{.type = context_.normalize(context_.reveal_own(tables_.owner, signature.output), env_), .kind = LocalKind::Return, .span = fn.sig.output_span});
    for (std::size_t i = 0; i < fn.sig.inputs.size(); ++i) {
        const hir::FnParam& param = fn.sig.inputs[i];
        body_.locals.push(Local{.type = context_.normalize(signature.inputs[i], env_),
                                .mutability = Mutability::Not,
                                .kind = LocalKind::Arg,
                                .name = param.name.name,
                                .span = param.span});
    }
    body_.arg_count = static_cast<std::uint32_t>(fn.sig.inputs.size());
    push_scope(false, def.span);
    bind_params(hir_.params);
    push_scope(is_edition_2024(), def.span);
    into(Place{kReturnLocal, {}}, hir_.value);
    pop_scope();
    pop_scope();
    finish_body(def.span);
}

// Arguments are dropped after everything else, in reverse order; a plain name is the argument itself.
void Builder::bind_params(hir::List<hir::FnParam> params) {
    for (std::size_t i = 0; i < params.size(); ++i) {
        const LocalId local(static_cast<std::uint32_t>(i) + 1);
        if (needs_drop(body_.locals[local].type)) schedule_drop(0, local, DropKind::Value);
    }
    for (std::size_t i = 0; i < params.size(); ++i) {
        bind_param(LocalId(static_cast<std::uint32_t>(i) + 1), params[i].pat, params[i].type, params[i].span);
    }
}

void Builder::bind_param(LocalId local, hir::PatId pat, hir::TyId, Span span) {
    if (!pat.valid()) return;
    const auto* binding = std::get_if<hir::BindingPat>(&hir_.pats[pat].data);
    if (binding != nullptr && !binding->sub.valid() && tables_.bind_modes[pat] == check::BindMode::Value) {
        Local& decl = body_.locals[local];
        decl.mutability = hir_.locals[binding->local].is_mut ? Mutability::Mut : Mutability::Not;
        decl.name = hir_.locals[binding->local].name.name;
        decl.hir_local = binding->local;
        decl.span = hir_.pats[pat].span;
        decl.scope = source_scope_;
        variables_.set(binding->local, local);
        return;
    }
    body_.locals[local].span = span;
    declare_bindings(pat);
    bind_irrefutable(pat, root(local), 0, span);
}

void Builder::build_constant(hir::ExprId value) {
    in_constant_ = true;
    const Span span = hir_program_.defs[tables_.owner].span;
    begin_body(span);
    body_.locals.push(Local{.type = tables_.adjusted_type(value), .kind = LocalKind::Return, .span = span});
    push_scope(true, span);
    extend_if_borrow(value, kForever);
    into(Place{kReturnLocal, {}}, value);
    pop_scope();
    finish_body(span);
}

void Builder::build_promoted(hir::ExprId value) {
    in_constant_ = true;
    const Span span = span_of(value);
    begin_body(span);
    body_.locals.push(Local{.type = tables_.type(value), .kind = LocalKind::Return, .span = span});
    push_scope(true, span);
    extend_if_borrow(value, kForever);
    into(Place{kReturnLocal, {}}, Adjusted{value, 0});
    pop_scope();
    finish_body(span);
}

void Builder::build_closure(const check::ClosureInfo& closure) {
    closure_ = &closure;
    body_.is_closure = true;
    const auto& node = std::get<hir::ClosureExpr>(expr(closure.expr).data);
    const Span span = span_of(closure.expr);
    begin_body(span);
    body_.locals.push(Local{.type = closure.output, .kind = LocalKind::Return, .span = span});
    const TypeId self = types_.closure(closure.def, context_.identity_args(closure.owner));
    TypeId env_type = self;
    if (closure.kind != check::ClosureKind::FnOnce) {
        env_type = types_.ref(types_.erased, self,
                              closure.kind == check::ClosureKind::FnMut ? Mutability::Mut : Mutability::Not);
    }
    const LocalId env = body_.locals.push(
        Local{.type = env_type, .mutability = Mutability::Mut, .kind = LocalKind::Arg, .span = span});
    for (std::size_t i = 0; i < node.params.size(); ++i) {
        body_.locals.push(Local{.type = closure.inputs[i],
                                .mutability = Mutability::Not,
                                .kind = LocalKind::Arg,
                                .span = node.params[i].span});
    }
    body_.arg_count = static_cast<std::uint32_t>(node.params.size()) + 1;
    for (const check::Capture& capture : closure.captures) {
        body_.upvars.push_back(Upvar{.name = hir_.locals[capture.local].name.name,
                                     .variable = capture.local,
                                     .by_ref = capture.kind != check::CaptureKind::ByValue,
                                     .mutability = Mutability::Not,
                                     .span = capture.use_span});
    }
    for (std::size_t i = 0; i < closure.captures.size(); ++i) {
        PlaceBuilder place = captured_place(closure.captures[i]);
        if (is_declared_mutable(place)) body_.upvars[i].mutability = Mutability::Mut;
        body_.upvars[i].behind_shared = body_.upvars[i].by_ref && is_behind_shared(place);
    }
    push_scope(false, span);
    if (closure.kind == check::ClosureKind::FnOnce && needs_drop(self)) schedule_drop(0, env, DropKind::Value);
    for (std::size_t i = 0; i < node.params.size(); ++i) {
        const LocalId local(static_cast<std::uint32_t>(i) + 2);
        if (needs_drop(body_.locals[local].type)) schedule_drop(0, local, DropKind::Value);
    }
    for (std::size_t i = 0; i < node.params.size(); ++i) {
        bind_param(LocalId(static_cast<std::uint32_t>(i) + 2), node.params[i].pat, node.params[i].type, node.params[i].span);
    }
    push_scope(is_edition_2024(), span);
    into(Place{kReturnLocal, {}}, node.body);
    pop_scope();
    pop_scope();
    finish_body(span);
}

// The block that control comes to from each without meeting a statement; of an endless round of jumps, one of its blocks.
SideMap<BlockId, BlockId> Builder::jump_targets() const {
    SideMap<BlockId, BlockId> target(body_.blocks.size());
    std::vector<BlockId> chain;
    for (std::uint32_t b = 0; b < body_.blocks.size(); ++b) {
        chain.clear();
        BlockId at(b);
        while (!target[at].valid()) {
            target.set(at, at);
            const BasicBlock& block = body_.blocks[at];
            const auto* jump = block.terminator.get_if<GotoTerminator>();
            if (jump == nullptr || !block.statements.empty()) break;
            chain.push_back(at);
            at = jump->target;
        }
        for (const BlockId one : chain) target.set(one, target[at]);
    }
    return target;
}

// Keeps the blocks that the entry reaches, in the order of a depth-first walk, first successor first: roughly that of the
// source. A jump to a jump goes where that one goes; a block that only one jump leads to becomes part of the block before it.
void Builder::tidy_blocks() {
    const SideMap<BlockId, BlockId> jump = jump_targets();
    std::vector<std::uint32_t> entries(body_.blocks.size());   // ways into each block
    std::vector<BlockId> open{BlockId(0)};
    entries[0] = 1;
    while (!open.empty()) {
        const BlockId block = open.back();
        open.pop_back();
        for_each_successor(body_.blocks[block].terminator, [&](BlockId successor) {
            if (entries[jump[successor].raw]++ == 0) open.push_back(jump[successor]);
        });
    }
    SideMap<BlockId, BlockId> renumber(body_.blocks.size());
    std::vector<BlockId> next;
    IndexVec<BlockId, BasicBlock> kept;
    kept.reserve(body_.blocks.size());
    open.push_back(BlockId(0));
    while (!open.empty()) {
        const BlockId block = open.back();
        open.pop_back();
        if (renumber[block].valid()) continue;
        BasicBlock whole = std::move(body_.blocks[block]);
        for (const auto* go = whole.terminator.get_if<GotoTerminator>(); go != nullptr; go = whole.terminator.get_if<GotoTerminator>()) {
            const BlockId rest = jump[go->target];
            if (entries[rest.raw] != 1 || rest == block) break;
            BasicBlock& follower = body_.blocks[rest];
            whole.statements.insert(whole.statements.end(), follower.statements.begin(), follower.statements.end());
            whole.terminator = follower.terminator;
        }
        next.clear();
        for_each_successor(whole.terminator, [&](BlockId successor) { next.push_back(jump[successor]); });
        for (std::size_t i = next.size(); i-- > 0;) {
            if (!renumber[next[i]].valid()) open.push_back(next[i]);
        }
        renumber.set(block, kept.push(std::move(whole)));
    }
    for (BasicBlock& block : kept) {
        map_successors(program_.arena, block.terminator, [&](BlockId target) { return renumber[jump[target]]; });
    }
    body_.blocks = std::move(kept);
}

bool Builder::enter_nested(Span span) {
    if (++nesting_ <= kMaxNesting) return true;
    if (!failed_) context_.sink().error(span, "this expression is nested too deeply").help("give a part of it a name with `let`");
    failed_ = true;
    return false;
}

// ---- emitting -----------------------------------------------------------------------------------------------------------

void Builder::push(Span span, StatementData data) {
    std::vector<Statement>& statements = body_.blocks[current_].statements;
    if (statements.capacity() == 0) statements.reserve(4);
    statements.push_back(Statement{span, source_scope_, data});
}
void Builder::assign(Span span, Place place, Rvalue value) { push(span, AssignStatement{place, value}); }
void Builder::terminate(Span span, TerminatorData data) {
    Terminator& terminator = body_.blocks[current_].terminator;
    OCKC_CHECK(terminator.kind() == TerminatorKind::None);
    terminator = Terminator{span, source_scope_, data};
}
LocalId Builder::new_temp(TypeId type, Span span) {
    return body_.locals.push(Local{.type = type, .kind = LocalKind::Temp, .span = span, .scope = source_scope_});
}
Operand Builder::scalar(Span span, TypeId type, std::uint64_t low, std::uint64_t high) {
    return Operand::of(constant(Constant{.kind = Constant::Kind::Scalar, .type = type, .span = span, .low = low, .high = high}));
}
Operand Builder::unit(Span span) {
    return Operand::of(constant(Constant{.kind = Constant::Kind::ZeroSized, .type = types_.unit, .span = span}));
}
Operand Builder::fn_operand(Span span, check::ItemRef fn) {
    const TypeId type = types_.fn_def(fn.def, fn.args);
    return Operand::of(constant(
        Constant{.kind = Constant::Kind::ZeroSized, .type = type, .span = span, .def = fn.def, .args = fn.args}));
}
Operand Builder::array_length(Span span, types::ConstId length) {
    if (const auto value = context_.usize_value(length)) return scalar(span, types_.usize(), *value);
    return Operand::of(constant(
        Constant{.kind = Constant::Kind::Const, .type = types_.usize(), .span = span, .value = length}));
}
Operand Builder::consume(Place place, TypeId type) { return is_copy(type) ? Operand::copy(place) : Operand::move(place); }
Operand Builder::consume(const PlaceBuilder& place) { return consume(to_place(place), place.type); }

// ---- entry points ---------------------------------------------------------------------------------------------------------

namespace {
void keep(Program& program, std::unique_ptr<Body> body) {
    const DefId owner = body->owner;
    program.order.push_back(owner);
    program.bodies[owner] = std::move(body);
}
}  // namespace

bool build_body(Program& program, check::Context& context, DefId owner, const BuildOptions& options) {
    const check::TypeTables* tables = context.check_body(owner);
    if (tables == nullptr || tables->has_errors) return false;
    const CrashContext note("building MIR of", context.program().name(owner));
    auto body = std::make_unique<Body>();
    body->owner = owner;
    Builder builder(program, context, *tables, options, *body);
    const hir::Def& def = context.program().defs[owner];
    if (const auto* fn = std::get_if<hir::FnDef>(&def.data)) {
        builder.build_fn(*fn);
    } else {
        builder.build_constant(context.program().bodies[tables->body]->value);
    }
    bool good = !body->has_errors;
    std::vector<std::unique_ptr<Body>> closures;
    for (const auto& closure : tables->closures) {
        auto inner = std::make_unique<Body>();
        inner->owner = closure->def;
        Builder(program, context, *tables, options, *inner).build_closure(*closure);
        good = good && !inner->has_errors;
        closures.push_back(std::move(inner));
    }
    if (!good) return false;
    verify_or_die(*body, context);
    for (const auto& closure : closures) verify_or_die(*closure, context);
    keep(program, std::move(body));
    for (auto& closure : closures) keep(program, std::move(closure));
    return true;
}

// The last one built comes last, and closures directly after what they stand in.
void drop_body(Program& program, const check::Context& context, DefId owner) {
    const hir::Program& items = context.program();
    while (!program.order.empty()) {
        const DefId last = program.order.back();
        if (last != owner && items.defs[last].kind != hir::DefKind::Closure) return;
        program.order.pop_back();
        program.bodies.erase(last);
        if (last == owner) return;
    }
}

bool build(Program& program, check::Context& context, const BuildOptions& options) {
    bool good = true;
    for (const DefId owner : context.checked_bodies()) good = build_body(program, context, owner, options) && good;
    return good;
}

}  // namespace ockc::mir
