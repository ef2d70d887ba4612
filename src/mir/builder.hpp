// The state of building one MIR body and its methods by topic. The statements go to the block under the cursor
// (`current_`); an expression that diverges leaves the cursor in a fresh block without predecessors, dropped at the end.
//
// The order of evaluation, the temporaries and their scopes are rustc's. An expression is built in one of these ways:
//   into(place, e)   evaluate e and store its value
//   as_place(e)      the place that e names, or a temporary with its value
//   as_operand(e)    a constant, or a temporary that will be moved
//   as_rvalue(e)     the right-hand side of one assignment
//   statement(e)     for its effect
//
// build.cpp body and parameters; build_scope.cpp scopes, drops and exits; build_block.cpp blocks and `let`;
// build_expr.cpp into and statement; build_rvalue.cpp operands, operators and casts; build_place.cpp places;
// build_call.cpp calls and aggregates; build_closure.cpp closures and captures; build_cond.cpp `if` and conditions;
// build_loop.cpp loops and jumps; build_match.cpp and its neighbours match_*.cpp; build_promote.cpp promoted constants.
#pragma once
#include <optional>
#include <vector>

#include "check/context.hpp"
#include "mir/build.hpp"
#include "mir/match.hpp"
#include "mir/mir.hpp"
#include "mir/place_builder.hpp"

namespace ockc::mir {

// An expression with the first `steps` of its adjustments applied.
struct Adjusted {
    hir::ExprId expr;
    std::uint32_t steps = 0;
};

class Builder {
  public:
    Builder(Program& program, check::Context& context, const check::TypeTables& tables, const BuildOptions& options,
            Body& body);
    void build_fn(const hir::FnDef& fn);
    void build_constant(hir::ExprId value);
    void build_closure(const check::ClosureInfo& closure);
    void build_promoted(hir::ExprId value);

  private:
    friend class MatchBuilder;

    enum class DropKind : std::uint8_t { Storage, Value };
    struct DropEntry {
        LocalId local;
        DropKind kind = DropKind::Storage;
    };
    struct Scope {
        bool terminating = false;              // temporaries of the expressions inside are dropped at its end
        Span end;                              // where its drops are said to happen
        std::vector<DropEntry> drops;
    };
    using Depth = std::uint32_t;               // index into scopes_
    struct Breakable {
        hir::ExprId target;
        Place destination;                     // of the loop's or block's value
        BlockId break_block, continue_block;   // continue_block: loops
        Depth depth = 0;                       // scopes that stay when jumping out
        bool break_used = false;
    };
    // Where a false condition goes; see build_cond.cpp.
    struct ElseTarget {
        BlockId block;
        Depth depth = 0;
    };
    static constexpr Depth kForever = 0xFFFFFFFFu;

    // ---- build.cpp
    void begin_body(Span span);
    void finish_body(Span span);
    void bind_params(hir::List<hir::FnParam> params);
    void bind_param(LocalId local, hir::PatId pat, hir::TyId written, Span span);
    SideMap<BlockId, BlockId> jump_targets() const;
    void tidy_blocks();
    bool enter_nested(Span span);              // counts nesting; false and an error beyond the limit
    void leave_nested() { --nesting_; }

    // ---- emitting
    BlockId new_block() { return body_.blocks.push(BasicBlock{}); }
    void push(Span span, StatementData data);
    void assign(Span span, Place place, Rvalue value);
    void assign_use(Span span, Place place, Operand operand) { assign(span, place, Rvalue{UseRvalue{operand}}); }
    void terminate(Span span, TerminatorData data);
    void go_to(Span span, BlockId target) { terminate(span, GotoTerminator{target}); }
    void start(BlockId block) { current_ = block; }
    void start_new() { current_ = new_block(); }
    LocalId new_temp(TypeId type, Span span);
    ConstantId constant(Constant value) { return body_.constants.push(value); }
    Operand scalar(Span span, TypeId type, std::uint64_t low, std::uint64_t high = 0);
    Operand unit(Span span);
    Operand fn_operand(Span span, check::ItemRef fn);
    Operand array_length(Span span, types::ConstId length);
    Operand consume(const PlaceBuilder& place);
    Operand consume(Place place, TypeId type);
    template <class T>
    List<T> list(const std::vector<T>& items) { return program_.arena.copy(std::span<const T>(items)); }

    // ---- build_scope.cpp
    Depth push_scope(bool terminating, Span whole);
    void pop_scope();
    Depth innermost_terminating() const;
    Depth temp_depth(hir::ExprId expr) const;
    void schedule_drop(Depth depth, LocalId local, DropKind kind);
    void schedule_drops(Depth depth, LocalId local);
    void emit_drops(const Scope& scope);
    void exit_to(Span span, Depth depth, BlockId target);   // drops the scopes above `depth`, then jumps
    void storage_live(Span span, LocalId local, Depth depth);

    // ---- build_block.cpp
    void block_into(Place destination, hir::ExprId expr, hir::BlockId block);
    void block_contents_into(Place destination, const hir::Block& block);
    void block_statement(const hir::Block& block, const hir::Stmt& stmt);
    void let_statement(const hir::Block& block, const hir::Stmt& stmt);
    void let_else(const hir::Block& block, const hir::Stmt& stmt);
    void let_into(hir::PatId pat, hir::ExprId init, hir::TyId written, Depth variables, Span span);
    void extend_let_temporaries(hir::PatId pat, hir::ExprId init, Depth depth);
    void extend_if_borrow(hir::ExprId expr, Depth depth);
    void extend_operand(hir::ExprId expr, Depth depth);
    void ascribe(Span span, Place place, hir::TyId written);

    // ---- build_expr.cpp
    void into(Place destination, Adjusted node);
    void into(Place destination, hir::ExprId expr) { into(destination, full(expr)); }
    void into_unadjusted(Place destination, hir::ExprId expr);
    void statement(hir::ExprId expr);
    void assign_expr(const hir::AssignExpr& node, Span span);
    void assign_op_expr(hir::ExprId expr, const hir::AssignOpExpr& node);
    void never_to_any(Adjusted inner);
    void panic_expr(const hir::PanicExpr& node, Span span);
    Place temp_place(TypeId type, Span span);   // a temporary with storage in the innermost scope, to be written

    // ---- build_rvalue.cpp
    LocalId as_temp(Adjusted node);
    LocalId as_temp_in(Adjusted node, Depth depth, bool only_value = false);
    LocalId as_value(Adjusted node);   // a temporary that is read, and never borrowed
    bool needs_storage(TypeId type) const;
    Operand as_operand(Adjusted node);
    Operand as_operand(hir::ExprId expr) { return as_operand(full(expr)); }
    std::optional<Operand> as_constant(Adjusted node);
    Rvalue as_rvalue(Adjusted node);
    Rvalue as_rvalue_unadjusted(hir::ExprId expr);
    Rvalue adjustment_rvalue(Adjusted node);
    Rvalue binary_rvalue(hir::ExprId expr, const hir::BinaryExpr& node);
    Rvalue arithmetic(Span span, BinOp op, TypeId type, Operand lhs, Operand rhs);
    void check_division(Span span, BinOp op, TypeId type, Operand lhs, Operand rhs);
    Rvalue checked_arithmetic(Span span, BinOp op, TypeId type, Operand lhs, Operand rhs);
    Rvalue checked_shift(Span span, BinOp op, Operand lhs, Operand rhs);
    Rvalue unary_rvalue(hir::ExprId expr, const hir::UnaryExpr& node);
    Rvalue cast_rvalue(hir::ExprId expr, const hir::CastExpr& node);
    Rvalue borrow_rvalue(Adjusted operand, Mutability mutability, bool two_phase, TypeId type);
    LocalId assign_temp(Span span, TypeId type, Rvalue value);
    void assert_that(Span span, Operand condition, bool expected, AssertKind kind, BinOp op, Operand a, Operand b = {});
    std::optional<Operand> literal_constant(hir::ExprId expr, bool negated);

    // ---- build_place.cpp
    // `promote`: a base that is a constant expression becomes one that lives for ever (for shared borrows).
    PlaceBuilder as_place_builder(Adjusted node, bool promote = false);
    Place as_place(Adjusted node) { return to_place(as_place_builder(node)); }
    Place as_place(hir::ExprId expr) { return as_place(full(expr)); }
    bool is_place(Adjusted node);
    PlaceBuilder local_place(hir::LocalId local);
    PlaceBuilder static_place(check::ItemRef item, Span span);
    PlaceBuilder index_place(hir::ExprId expr, const hir::IndexExpr& node, bool promote);
    PlaceBuilder shared_cells_place(hir::ExprId id, check::ItemRef callee, Operand array);
    PlaceBuilder promoted_place(hir::ExprId value);
    PlaceBuilder call_place(hir::ExprId expr, check::ItemRef callee, std::vector<Operand> args, TypeId pointee);
    PlaceBuilder overloaded_deref(Adjusted node);
    PlaceBuilder root(LocalId local) { return {local, hir::LocalId(), {}, body_.locals[local].type}; }
    void deref(PlaceBuilder& place, TypeId type);
    void field(PlaceBuilder& place, std::uint32_t index, TypeId type);
    void downcast(PlaceBuilder& place, std::uint32_t variant);
    Place to_place(const PlaceBuilder& place);
    std::optional<Place> try_place(const PlaceBuilder& place);   // nothing: a place that the closure does not capture
    TypeId field_type(TypeId adt_or_tuple, std::uint32_t variant, std::uint32_t index);
    TypeId pointee(TypeId pointer);

    // ---- build_call.cpp
    void call_into(Place destination, hir::ExprId expr, const hir::CallExpr& node);
    void method_into(Place destination, hir::ExprId expr, const hir::MethodCallExpr& node);
    void operator_into(Place destination, hir::ExprId expr, std::initializer_list<hir::ExprId> operands);
    void emit_call(Span span, Span fn_span, Operand callee, std::vector<Operand> args, Place destination, CallSource source);
    Rvalue struct_rvalue(hir::ExprId expr, const hir::StructExpr& node);
    Rvalue constructor_rvalue(hir::ExprId expr, check::ItemRef ctor, hir::List<hir::ExprId> args);
    Rvalue aggregate(AggregateKind kind, const std::vector<Operand>& operands);
    AggregateKind adt_kind(TypeId type, DefId variant_or_struct);
    bool is_constructor(DefId def) const { return hir_program_.defs[def].kind == hir::DefKind::Ctor; }
    bool is_inhabited(TypeId type);

    // ---- build_closure.cpp
    Rvalue closure_rvalue(hir::ExprId expr, const hir::ClosureExpr& node);
    Operand capture_operand(const check::Capture& capture, Span span);
    PlaceBuilder captured_place(const check::Capture& capture);
    bool is_declared_mutable(const PlaceBuilder& place);
    bool is_behind_shared(const PlaceBuilder& place);
    bool is_root_mutable(const PlaceBuilder& place);
    struct CapturedPart {
        std::uint32_t capture = 0;
        std::size_t steps = 0;                  // of the place, that lead to it
    };
    std::optional<CapturedPart> captured_part(const PlaceBuilder& place);   // what of this closure's captures the place is part of
    bool is_enum(TypeId type);
    std::optional<PlaceBuilder> resolve_upvar(const PlaceBuilder& place);

    // ---- build_cond.cpp
    void if_into(Place destination, hir::ExprId expr, const hir::IfExpr& node);
    void condition(hir::ExprId cond, const ElseTarget& on_false, Depth variables);
    void bool_condition(hir::ExprId cond, const ElseTarget& on_false);
    void let_condition(hir::ExprId cond, const hir::LetExpr& node, const ElseTarget& on_false, Depth variables);
    void lazy_bool_into(Place destination, hir::ExprId expr, const hir::BinaryExpr& node);
    bool contains_let(hir::ExprId cond) const;
    void let_pattern(hir::PatId pat, hir::ExprId init, const ElseTarget& on_false, Depth variables);

    // ---- build_loop.cpp
    void loop_into(Place destination, hir::ExprId expr, const hir::LoopExpr& node);
    void break_expr(const hir::BreakExpr& node, Span span);
    void continue_expr(const hir::ContinueExpr& node, Span span);
    void return_expr(const hir::ReturnExpr& node, Span span);
    Breakable* breakable(hir::ExprId target);

    // ---- build_match.cpp
    void match_into(Place destination, hir::ExprId expr, const hir::MatchExpr& node);
    void declare_bindings(hir::PatId pat);
    template <class Fn>
    void for_each_binding(hir::PatId pat, Fn&& f);
    void bind_irrefutable(hir::PatId pat, PlaceBuilder place, Depth variables, Span value);
    LocalId storage_live_binding(hir::LocalId local, Span span, Depth depth);

    // ---- build_promote.cpp
    bool is_promotable(hir::ExprId expr);
    bool is_promotable_node(hir::ExprId expr, std::uint32_t depth);
    Operand promote(hir::ExprId value, TypeId reference_type, Span span);

    // ---- the body at hand
    const hir::Expr& expr(hir::ExprId id) const { return hir_.exprs[id]; }
    Span span_of(hir::ExprId id) const { return hir_.exprs[id].span; }
    // Of an expression with adjustments: those of a block happen at its tail.
    Span span_of(Adjusted node) const {
        hir::ExprId id = node.expr;
        while (node.steps != 0) {
            const auto* block = std::get_if<hir::BlockExpr>(&hir_.exprs[id].data);
            if (block == nullptr || !hir_.blocks[block->block].tail.valid()) break;
            id = hir_.blocks[block->block].tail;
        }
        return hir_.exprs[id].span;
    }
    Adjusted full(hir::ExprId expr) const {
        return {expr, static_cast<std::uint32_t>(tables_.adjustments(expr).size())};
    }
    TypeId type_of(Adjusted node) const {
        return node.steps == 0 ? tables_.type(node.expr) : tables_.adjustments(node.expr)[node.steps - 1].target;
    }
    const check::Adjustment& last_step(Adjusted node) const { return tables_.adjustments(node.expr)[node.steps - 1]; }
    bool is_copy(TypeId type) { return context_.is_copy(type, env_); }
    bool needs_drop(TypeId type) { return context_.needs_drop(type, env_); }
    std::optional<hir::LocalId> path_local(hir::ExprId expr) const;
    bool is_edition_2024() const { return options_.edition >= 2024; }

    Program& program_;
    check::Context& context_;
    types::TypeStore& types_;
    const hir::Program& hir_program_;
    const check::TypeTables& tables_;
    const hir::Body& hir_;
    const check::ParamEnv& env_;
    const BuildOptions& options_;
    Body& body_;
    const check::ClosureInfo* closure_ = nullptr;   // the body is this closure's

    BlockId current_;
    ScopeId source_scope_;
    std::vector<Scope> scopes_;
    std::vector<Breakable> breakables_;
    SideMap<hir::ExprId, std::uint32_t> extended_;  // temporaries that outlive their statement: depth + 1
    SideMap<hir::LocalId, LocalId> variables_;
    SideMap<hir::LocalId, LocalId> guard_refs_;     // inside a match guard: the reference that stands for the binding
    BlockId return_block_;
    std::uint32_t nesting_ = 0;
    bool in_constant_ = false;
    bool failed_ = false;
};

// A child of a body's expressions that is nested deeper than this is refused (the parser's own limit is lower).
inline constexpr std::uint32_t kMaxNesting = 2000;

template <class Fn>
void Builder::for_each_binding(hir::PatId pat, Fn&& f) {
    std::vector<hir::PatId> open{pat};
    while (!open.empty()) {
        const hir::PatId id = open.back();
        open.pop_back();
        const hir::PatData& data = hir_.pats[id].data;
        auto push_reversed = [&open](hir::List<hir::PatId> list) { open.insert(open.end(), list.rbegin(), list.rend()); };
        if (const auto* binding = std::get_if<hir::BindingPat>(&data)) {
            f(id, *binding);
            if (binding->sub.valid()) open.push_back(binding->sub);
        } else if (const auto* ref = std::get_if<hir::RefPat>(&data)) {
            open.push_back(ref->inner);
        } else if (const auto* tuple = std::get_if<hir::TuplePat>(&data)) {
            push_reversed(tuple->elements);
        } else if (const auto* ts = std::get_if<hir::TupleStructPat>(&data)) {
            push_reversed(ts->elements);
        } else if (const auto* st = std::get_if<hir::StructPat>(&data)) {
            for (std::size_t i = st->fields.size(); i-- > 0;) open.push_back(st->fields[i].pat);
        } else if (const auto* slice = std::get_if<hir::SlicePat>(&data)) {
            push_reversed(slice->after);
            if (slice->middle.valid()) open.push_back(slice->middle);
            push_reversed(slice->before);
        } else if (const auto* alternatives = std::get_if<hir::OrPat>(&data)) {
            if (!alternatives->alternatives.empty()) open.push_back(alternatives->alternatives[0]);   // all bind the same
        }
    }
}

}  // namespace ockc::mir
