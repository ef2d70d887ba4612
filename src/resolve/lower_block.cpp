#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/collect.hpp"
#include "resolve/imports.hpp"
#include "resolve/library.hpp"
#include "resolve/lower.hpp"
#include "resolve/macro_rules.hpp"
#include "resolve/reach.hpp"

namespace ockc::resolve {

hir::ExprId Lowerer::block_expr(hir::BlockId block, Span span, bool desugared) { return add_expr(span, hir::BlockExpr{block}, desugared); }

hir::BlockId Lowerer::make_block(Span span, std::span<const hir::Stmt> stmts, hir::ExprId tail) {
    hir::Block block;
    block.span = at(span);
    block.stmts = s_.program.arena.copy(stmts);
    block.tail = tail;
    return body().blocks.push(block);
}

hir::BlockId Lowerer::lower_block(ast::BlockId id, Symbol label, hir::BlockSafety safety) {
    const ast::Block block = ast()[id];
    const ScopeGuard guard(*this);
    if (!block.attributes.empty()) note_lint_levels(s_, crate_, evaluate(s_, crate_, block.attributes).attrs, block.span);
    std::vector<hir::Stmt> stmts;
    hir::Block result;
    result.span = at(block.span);
    lower_stmts(block, stmts, result.tail);
    result.stmts = list(stmts);
    result.label = label;
    result.safety = safety;
    return body().blocks.push(result);
}

// ---- items in blocks

// Items of a block are in scope in all of it, so they are collected before the first statement.
Lowerer::BlockContents Lowerer::open_block_items(const ast::Block& block) {
    BlockContents contents;
    BlockItems items;
    MacroScopeId macros = macros_;
    items.macros = &macros;
    items.owner = owner_;
    const std::size_t first_import = s_.imports.size(), first_impl = s_.impls.size(), first_root = s_.program.device_roots.size();
    for (const ast::StmtId id : block.statements) {
        const ast::Stmt stmt = ast()[id];
        const auto* item = ast::get_if<ast::ItemStmt>(stmt);
        if (item == nullptr || !cfg_enabled(s_, crate_, stmt.attributes)) continue;
        if (!items.module.valid()) {
            items.module = s_.new_module(ModuleKind::Block, {}, module_, crate_, !s_.crates[crate_].is_library);
            module_ = items.module;
            scopes_.push_barrier(ScopeBarrier::Kind::Block, module_.raw);
        }
        const std::size_t before = items.defs.size();
        const MacroScopeId macros_before = macros;
        collect_block_item(s_, items, item->item);
        if (items.defs.size() != before) contents.defs.emplace(item->item, items.defs.back());
        if (macros != macros_before) contents.macros.emplace(item->item, macros);
    }
    if (!items.module.valid()) return contents;
    do {
        resolve_imports(s_, first_import, false);
    } while (expand_pending_macros(s_));
    report_pending_macros(s_);
    resolve_imports(s_, first_import, true);
    index_impls(s_, first_impl);
    const Module& module = s_[items.module];
    for (const NameKey& key : module.order) {
        const Binding& binding = module.names.at(key);
        if (key.ns == Ns::Type && binding.res.kind == Res::Kind::Def && s_[binding.res.def].kind == DefKind::Trait) body_->block_traits.push_back(binding.res.def);
    }
    for (const DefId trait : module.unnamed_traits) body_->block_traits.push_back(trait);
    for (const DefId def : items.defs) {
        if (s_[def].kind == DefKind::Trait) s_.reached_traits.insert(def);
        if (s_[def].kind == DefKind::Struct || s_[def].kind == DefKind::Enum || s_[def].kind == DefKind::Union) s_.reached_adts.insert(def);
    }
    for (std::size_t i = first_impl; i < s_.impls.size(); ++i) {
        const ImplInfo& impl = s_.impls[i];
        if (s_.crates[s_[impl.def].crate].is_library) continue;
        if (impl.trait.valid()) reach(s_, impl.trait);
        if (s_.origin[impl.def].in_body) continue;
        s_.impls[i].active = true;      // of a module in this block
        want(s_, impl.def);
    }
    for (std::size_t i = first_root; i < s_.program.device_roots.size(); ++i) want(s_, s_.program.device_roots[i]);
    return contents;
}

// Items are lowered where they stand: what they may not use of the function is in scope and known.
void Lowerer::lower_block_item(DefId def) {
    lower_nested_item(def);
    const auto impl_items = [&](std::size_t index) {
        const std::vector<DefId> items = s_.impls[index].items;
        for (const DefId item : items) lower_nested_item(item);
    };
    if (s_[def].kind == DefKind::Impl) return impl_items(s_.origin[def].index);
    if (s_[def].kind == DefKind::Trait) {
        const std::vector<DefId> items = s_[s_.origin[def].scope].items;
        for (const DefId item : items) lower_nested_item(item);
    }
    const auto found = s_.impls_of_adt.find(def);
    if (found == s_.impls_of_adt.end()) return;
    const std::vector<std::uint32_t> impls = found->second;
    for (const std::uint32_t index : impls) {   // derived ones have no place of their own
        if (!s_.impls[index].derive || !s_.origin[s_.impls[index].def].in_body) continue;
        lower_nested_item(s_.impls[index].def);
        impl_items(index);
    }
}

void Lowerer::lower_nested_item(DefId def) {
    if (s_.origin[def].state == DefSource::State::Done || s_[def].kind == DefKind::Mod) return;
    s_.origin[def].state = DefSource::State::Done;
    const ScopeGuard guard(*this);
    const bool constant = s_[def].kind == DefKind::Const || s_[def].kind == DefKind::Static;
    scopes_.push_barrier(constant ? ScopeBarrier::Kind::ConstItem : ScopeBarrier::Kind::Item);
    BodyState* const outer_body = std::exchange(body_, nullptr);
    const Elision elision = std::exchange(elision_, Elision::Error);
    const bool bare = std::exchange(allow_bare_param_, false);
    const Span forced = std::exchange(forced_span_, {});
    if (const DefId parent = s_[def].parent; parent.valid() && s_[parent].kind == DefKind::Impl) {
        const ImplInfo& impl = s_.impls[s_.origin[parent].index];
        if (impl.derive) forced_span_ = impl.derive_span;
    }
    module_ = s_.origin[def].module;
    macros_ = s_.origin[def].macros;
    lower_kind(def);
    body_ = outer_body;
    elision_ = elision;
    allow_bare_param_ = bare;
    forced_span_ = forced;
}

// ---- statements

void Lowerer::lower_stmts(const ast::Block& block, std::vector<hir::Stmt>& out, hir::ExprId& tail) {
    const BlockContents contents = open_block_items(block);
    for (std::uint32_t i = 0; i < block.statements.size(); ++i) {
        const ast::Stmt stmt = ast()[block.statements[i]];
        if (!cfg_enabled(s_, crate_, stmt.attributes)) continue;
        const bool last = i + 1 == block.statements.size() && !block.tail.valid();
        lower_stmt(stmt, last, contents, out, tail);
    }
    if (block.tail.valid() && cfg_enabled(s_, crate_, ast()[block.tail].attributes)) tail = lower_expr(block.tail);
}

void Lowerer::lower_stmt(const ast::Stmt& stmt, bool last, const BlockContents& contents, std::vector<hir::Stmt>& out, hir::ExprId& tail) {
    const Span span = stmt.span;
    if (!stmt.attributes.empty() && !ast::get_if<ast::ItemStmt>(stmt)) {
        const Evaluated evaluated = evaluate(s_, crate_, stmt.attributes);
        note_lint_levels(s_, crate_, evaluated.attrs, span);
        check_attributes(s_, crate_, evaluated.attrs, Target::Other, "statement", !s_.crates[crate_].is_library);
    }
    std::visit(ast::Overloaded{
                   [&](const ast::LetStmt& s) { lower_let_stmt(s, span, out); },
                   [&](const ast::ItemStmt& s) {
                       if (const auto macros = contents.macros.find(s.item); macros != contents.macros.end()) {
                           macros_ = macros->second;
                           scopes_.push_barrier(ScopeBarrier::Kind::MacroRules, s_.macro_scopes[macros_].macro.raw);
                       }
                       const auto def = contents.defs.find(s.item);
                       if (def == contents.defs.end()) return;
                       hir::Stmt item;
                       item.kind = hir::Stmt::Kind::Item;
                       item.span = at(span);
                       item.item = def->second;
                       out.push_back(item);
                       lower_block_item(def->second);
                   },
                   [&](const ast::ExprStmt& s) {
                       if (!cfg_enabled(s_, crate_, ast()[s.expr].attributes)) return;
                       hir::Stmt result;
                       result.kind = s.semi ? hir::Stmt::Kind::Semi : hir::Stmt::Kind::Expr;
                       result.span = at(span);
                       result.expr = lower_expr(s.expr);
                       out.push_back(result);
                   },
                   [&](const ast::MacroStmt& s) { lower_macro_stmt(s, span, last, out, tail); },
                   [&](const ast::EmptyStmt&) {},
               },
               stmt.data);
}

void Lowerer::lower_let_stmt(const ast::LetStmt& let, Span span, std::vector<hir::Stmt>& out) {
    hir::Stmt stmt;
    stmt.kind = hir::Stmt::Kind::Let;
    stmt.span = at(span);
    if (let.type.valid()) stmt.type = lower_type(let.type);
    if (let.init.valid() && !let.else_block.valid()) note_parens(let.init, "assigned value");
    if (let.init.valid()) stmt.init = lower_expr(let.init);
    if (let.else_block.valid()) stmt.else_block = lower_block(let.else_block);
    Bindings bindings;
    bindings.place = PatternPlace::Let;
    stmt.pat = lower_pattern(let.pattern, bindings);
    declare(bindings);
    out.push_back(stmt);
}

// A macro as a statement: its expansion's statements stand in the block itself.
void Lowerer::lower_macro_stmt(const ast::MacroStmt& stmt, Span span, bool last, std::vector<hir::Stmt>& out, hir::ExprId& tail) {
    const ast::MacroCall call = ast()[stmt.call];
    const DefId macro = find_macro(call);
    if (!macro.valid()) return;
    if (s_.macros[s_.origin[macro].index].kind != MacroInfo::Kind::Rules) {
        hir::Stmt result;
        result.kind = hir::Stmt::Kind::Semi;
        result.span = at(span);
        result.expr = is_include(s_, macro) ? expand_expr(macro, stmt.call, call.span) : lower_builtin_call(macro, call, call.span);
        if (last && !stmt.semi) tail = result.expr;
        else out.push_back(result);
        return;
    }
    if (!enter_expansion(span)) return;
    const ast::Block expanded = ast()[expand_stmts(s_, macro, crate_, stmt.call)];
    hir::ExprId value;
    const std::size_t first = s_.sink->all().size();
    lower_stmts(expanded, out, value);
    note_expansion(s_, first, macro, span);
    --expansion_depth_;
    if (!value.valid()) return;
    if (last && !stmt.semi) {
        tail = value;
        return;
    }
    hir::Stmt result;
    result.kind = stmt.semi ? hir::Stmt::Kind::Semi : hir::Stmt::Kind::Expr;
    result.span = at(span);
    result.expr = value;
    out.push_back(result);
}

// ---- closures

hir::ExprId Lowerer::lower_closure(ast::ClosureId id, Span span) {
    const ast::Closure closure = ast()[id];
    if (closure.is_async) {
        error(Code::OCK0904, span, "`async` closures are not supported in device code").help("use an ordinary closure");
        return error_expr(span);
    }
    for (const char* method : {"call", "call_mut", "call_once"}) mention(s_, method);
    const DefId def = new_def(DefKind::Closure, {}, span);
    const DefId outer = std::exchange(owner_, def);
    const ScopeGuard guard(*this);
    scopes_.push_barrier(ScopeBarrier::Kind::Closure);
    if (!closure.for_params.empty()) error(Code::E0658, closure.head_span, "`for<...>` binders for closures are experimental");
    declare_for_lifetimes(closure.for_params);
    body_->targets.push_back({JumpTarget::Kind::Closure, {}, at(closure.head_span), false, hir::LoopSource::Loop});
    std::vector<hir::ClosureParam> params;
    Bindings bindings;
    bindings.place = PatternPlace::Closure;
    for (const ast::Param& param : closure.params) {
        if (!cfg_enabled(s_, crate_, param.attributes)) continue;
        hir::ClosureParam lowered;
        lowered.span = at(param.span);
        if (param.type.valid()) lowered.type = lower_type(param.type);
        bindings.pattern_start = bindings.bound.size();
        lowered.pat = lower_pattern(param.pattern, bindings);
        params.push_back(lowered);
    }
    declare(bindings);
    hir::ClosureExpr result;
    result.def = def;
    result.is_move = closure.is_move;
    result.params = list(params);
    if (closure.output.valid()) result.output = lower_type(closure.output);
    result.body = lower_expr(closure.body);
    result.head_span = at(closure.head_span);
    body_->targets.pop_back();
    owner_ = outer;
    return add_expr(span, result);
}

// ---- traits whose methods can be called

hir::List<DefId> Lowerer::traits_in_scope() {
    const ModuleId module = s_.normal_module(module_);
    ModuleTraits& own = s_.module_traits[module];
    const std::uint32_t version = s_.library == nullptr ? 0 : s_.library->version();
    if (!own.known || own.version != version) {
        own.known = true;
        own.version = version;
        std::vector<DefId> traits;
        const auto add = [&](ModuleId scope) {
            if (!scope.valid()) return;
            if (s_[scope].image_row != kNoImageRow) return s_.library->add_traits(scope, traits);
            for (const NameKey& key : s_[scope].order) {
                if (key.ns != Ns::Type) continue;
                const Res res = s_[scope].names.at(key).res;
                if (res.kind == Res::Kind::Def && s_[res.def].kind == DefKind::Trait) traits.push_back(res.def);
            }
            for (const DefId trait : s_[scope].unnamed_traits) traits.push_back(trait);
        };
        add(module);
        if (s_.prelude != module) add(s_.prelude);
        own.traits = list(traits);
    }
    // Blocks of enclosing bodies count too.
    std::vector<DefId> extra = body_->block_traits;
    for (const ScopeBarrier& barrier : scopes_.barriers()) {
        if (barrier.kind != ScopeBarrier::Kind::Block) continue;
        for (const NameKey& key : s_[ModuleId(barrier.payload)].order) {
            const Res res = s_[ModuleId(barrier.payload)].names.at(key).res;
            if (key.ns == Ns::Type && res.kind == Res::Kind::Def && s_[res.def].kind == DefKind::Trait) extra.push_back(res.def);
        }
    }
    if (extra.empty()) return own.traits;
    extra.insert(extra.end(), own.traits.begin(), own.traits.end());
    return list(extra);
}

}  // namespace ockc::resolve
