// Type checking of one body: every expression and pattern gets a type, implicit steps become adjustments, names that need types
// are resolved. The algorithm is rustc's: expectations flow down, coercions happen at fixed sites, obligations wait in a
// worklist, casts and closure captures are settled at the end, what is still open falls back ({integer} to i32, {float} to f64).
//
// The class is one; its files follow the topics: body_*.cpp.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/lower_ty.hpp"
#include "check/solve.hpp"

namespace ockc::check {

using hir::BlockId;
using hir::ExprId;
using hir::LocalId;
using hir::PatId;
using types::Mutability;

// What the context would like an expression's type to be.
struct Expectation {
    enum class Kind : std::uint8_t { None, HasType, Cast } kind = Kind::None;
    TypeId type;
    static Expectation none() { return {}; }
    static Expectation has(TypeId type) { return {Kind::HasType, type}; }
    static Expectation cast(TypeId type) { return {Kind::Cast, type}; }
};

class BodyChecker;

// Type syntax inside a body: `_` and left-out arguments are inference variables.
class BodyLowerer final : public TypeLowerer {
  public:
    BodyLowerer(Context& context, BodyChecker& body, DefId owner);

  protected:
    TypeId infer_type(Span span) override;
    ConstId infer_const(TypeId type, Span span) override;
    bool in_body() const override { return true; }

  private:
    BodyChecker& body_;
};

// One way to reach a method: how often the receiver is dereferenced, then borrowed.
struct MethodPick {
    DefId item;
    enum class Source : std::uint8_t { Inherent, Trait, Bound } source = Source::Inherent;
    DefId container;              // impl or trait
    TraitRef bound;               // Bound: the caller bound that has it
    std::uint32_t autoderefs = 0;
    enum class Autoref : std::uint8_t { None, Ref, RefMut, MutToConst } autoref = Autoref::None;
    bool unsize = false;          // array to slice after the dereferences
    TypeId self_type;             // of the receiver after the adjustments
};
struct MethodProbeResult {
    std::optional<MethodPick> pick;
    std::vector<DefId> ambiguous;         // several apply: E0034
    DefId private_item;                   // would apply but is private
    DefId not_a_method;                   // an associated function of that name
    std::vector<TraitRef> unsatisfied;    // trait methods whose trait is not implemented
    bool unknown_receiver = false;        // an inference variable
    bool numeric_receiver = false;        // {integer} or {float} and the method exists for numbers
};

class BodyChecker final : public ClosureSource {
  public:
    BodyChecker(Context& context, DefId owner, TypeTables& tables);
    // True when nothing was reported.
    bool run();

    std::optional<ClosureView> closure_view(TypeId closure) override;
    InferCtxt& infer() { return infer_; }

  private:
    friend class CaptureAnalysis;
    struct LoopContext {
        TypeId expected;          // what break values are coerced to, once known
        TypeId merged;            // type of the breaks so far; none before the first
        bool may_break = false;
        bool is_loop = true;      // `loop`: breaks may have values
        bool is_block = false;
        Span span;
    };
    struct ClosureState {
        std::unique_ptr<ClosureInfo> info;
        std::optional<ClosureKind> kind;
        bool captures_known = false;
        bool mentions_outer = false;   // a variable of the code around it: no function pointer
        ExprId body;
    };
    struct DeferredCast {
        ExprId expr;              // the cast
        ExprId operand;
        TypeId from, to;
        Span to_span;
    };
    struct DeferredCall {         // a closure called before its kind is known
        ExprId call, callee;
        DefId closure;
        std::uint32_t autoderefs = 0;
    };

    // ---- body.cpp: the frame
    void check_params();
    void check_constant();
    void declare_locals();
    void finish();
    void apply_fallback();
    void report_unresolved_obligations();
    void run_obligations();
    void add_obligation(Predicate predicate, const Cause& cause);
    void add_obligations(std::vector<Obligation> obligations) { fulfill_.add(std::move(obligations)); }
    void require_trait(TypeId type, DefId trait, const Cause& cause);
    void require_sized(TypeId type, const Cause& cause);
    TypeId lower_type(hir::TyId type);
    void require_well_formed(TypeId type, Span span);
    TypeId normalize(TypeId type, Span span);
    TypeId open_opaques(TypeId type, Span span);
    void write_back_opaques();
    bool needs_itself(TypeId type, std::vector<DefId>& path);
    const ClosureInfo* known_closure(DefId def);
    TypeId shallow(TypeId type) { return infer_.shallow(type); }
    // The type as far as obligations can tell: solves what waits when it is still a variable.
    TypeId structural(TypeId type);
    TypeId structural_or_error(TypeId type, Span span);
    const hir::Expr& expr(ExprId id) const { return body_.exprs[id]; }
    const hir::Pat& pat(PatId id) const { return body_.pats[id]; }
    Span span(ExprId id) const { return body_.exprs[id].span; }
    std::string text(TypeId type) { return cx_.text(infer_.resolve(type)); }
    std::string_view name(Symbol symbol) const { return program_.interner.text(symbol); }
    bool has_error(TypeId type) { return types_.has(infer_.resolve(type), types::kHasError); }
    Diagnostic& error(Code code, Span span, std::string message);
    TypeId set_type(ExprId id, TypeId type);

    // ---- body_expr.cpp
    TypeId check_expr(ExprId id, Expectation expected = {});
    TypeId check_expr_kind(ExprId id, Expectation expected);
    TypeId check_has_type(ExprId id, TypeId type);
    TypeId check_coerce(ExprId id, TypeId type, bool two_phase = false);
    TypeId check_literal(ExprId id, const hir::Literal& literal, Expectation expected);
    TypeId check_tuple(const hir::TupleExpr& e, Expectation expected);
    TypeId check_array(const hir::ArrayExpr& e, Expectation expected);
    TypeId check_repeat(ExprId id, const hir::RepeatExpr& e, Expectation expected);
    TypeId check_address_of(ExprId id, const hir::AddressOfExpr& e, Expectation expected);
    TypeId check_assign(ExprId id, const hir::AssignExpr& e);
    TypeId check_cast(ExprId id, const hir::CastExpr& e);
    TypeId check_const_block(const hir::ConstBlockExpr& e, Expectation expected);
    TypeId check_panic(const hir::PanicExpr& e);
    void require_place(ExprId id, Code code, Span op_span);
    bool is_place(ExprId id) const;

    // ---- body_block.cpp: blocks, statements, control flow
    TypeId check_block(BlockId id, Expectation expected, ExprId as_expr, bool coerce_tail);
    void note_unreachable(Span at, std::string_view what, bool desugared);
    void check_stmt(const hir::Stmt& stmt);
    void check_let_stmt(const hir::Stmt& stmt);
    TypeId check_let_condition(const hir::LetExpr& e);
    TypeId check_if(ExprId id, const hir::IfExpr& e, Expectation expected);
    TypeId check_match(ExprId id, const hir::MatchExpr& e, Expectation expected);
    TypeId check_loop(ExprId id, const hir::LoopExpr& e, Expectation expected);
    TypeId check_break(ExprId id, const hir::BreakExpr& e);
    TypeId check_continue(ExprId id, const hir::ContinueExpr& e);
    TypeId check_return(ExprId id, const hir::ReturnExpr& e);
    TypeId check_labelled_block(ExprId id, BlockId block, Expectation expected);
    bool pattern_has_ref(PatId id) const;
    // Joins the type of one more branch to `merged` (none before the first), coercing the branch where needed.
    struct Branches {
        TypeId expected;      // none when unknown
        TypeId merged;
        std::vector<ExprId> exprs;
    };
    void join_branch(Branches& branches, ExprId branch, TypeId type, Span span, std::string_view what);
    TypeId joined(const Branches& branches) const { return branches.merged.valid() ? branches.merged : types_.never; }

    // ---- body_path.cpp
    TypeId check_path(ExprId id, const hir::QPath& path, Expectation expected);
    struct ValuePath {
        hir::Res res;
        ItemRef item;
        TypeId type;
    };
    std::optional<ValuePath> resolve_value_path(const hir::QPath& path, Span span);
    std::optional<ValuePath> resolve_assoc_value(const hir::QPath& path, Span span);
    void note_capture(LocalId local);
    ValuePath instantiate_value(ItemRef item, Span span);
    std::optional<ValuePath> value_of_def(const hir::QPath& path, Span span);
    ArgsId variant_args(const hir::Path& path, DefId adt, Span span);
    TypeId lower_expr_self(hir::TyId type);
    // Struct expressions and patterns: the struct or variant that a path means and the type built.
    struct VariantRef {
        const AdtInfo* adt = nullptr;
        std::uint32_t variant = 0;
        ArgsId args;
        TypeId type;
        DefId def;
    };
    std::optional<VariantRef> resolve_variant_path(const hir::QPath& path, Span span, Code code);
    bool report_not_ctor(TypeId self, const hir::QPath& path);
    TypeId check_struct(ExprId id, const hir::StructExpr& e, Expectation expected);
    void check_struct_fields(ExprId id, const hir::StructExpr& e, const VariantRef& variant);
    void check_struct_base(const hir::StructExpr& e, const VariantRef& variant, ExprId id);
    TypeId field_type(const FieldInfo& field, ArgsId args, Span span);
    bool is_visible(const hir::Visibility& visibility) const;
    const hir::FieldDef& field_syntax(const AdtInfo& adt, std::uint32_t variant, std::uint32_t field) const;

    // ---- body_call.cpp
    TypeId check_call(ExprId id, const hir::CallExpr& e, Expectation expected);
    TypeId check_method_call(ExprId id, const hir::MethodCallExpr& e, Expectation expected);
    struct CallSig {
        std::vector<TypeId> inputs;      // without the receiver
        TypeId output;
        DefId fn;                        // none for pointers and closures
        bool is_method = false;
        bool tupled = false;
    };
    TypeId check_args(ExprId call, const CallSig& sig, hir::List<ExprId> args, Expectation expected, Span callee_span);
    std::vector<TypeId> inputs_for_output(const CallSig& sig, Expectation expected);
    void merge_argument_errors(hir::List<ExprId> args, std::size_t first, Span callee_span);
    void report_arg_count(ExprId call, const CallSig& sig, hir::List<ExprId> args, Span callee_span);
    std::optional<CallSig> callable_sig(ExprId call, ExprId callee, TypeId type);
    std::optional<CallSig> overloaded_call(ExprId call, ExprId callee, TypeId self, std::uint32_t autoderefs, std::size_t arg_count);
    TypeId report_not_callable(ExprId id, const hir::CallExpr& e, TypeId type);
    void resolve_deferred_calls();
    bool is_destructor(DefId fn) const;

    // ---- body_field.cpp: fields, indexing, dereferences
    struct DerefStep {
        TypeId type;             // after this many dereferences
        bool overloaded = false;
    };
    // The receiver's type, then what each dereference gives; includes raw pointers only when asked.
    std::vector<DerefStep> autoderef(TypeId type, Span span, bool raw_pointers = false);
    std::optional<TypeId> overloaded_deref_target(TypeId type, Span span);
    std::vector<Adjustment> deref_adjustments(const std::vector<DerefStep>& steps, std::uint32_t count, Span span);
    TypeId check_field(ExprId id, const hir::FieldExpr& e);
    TypeId report_no_field(ExprId id, const hir::FieldExpr& e, TypeId type, DefId private_field);
    void refuse_negative_index(const hir::IndexExpr& e, TypeId self);
    TypeId check_index(ExprId id, const hir::IndexExpr& e);
    std::optional<TypeId> try_index_step(ExprId id, const hir::IndexExpr& e, TypeId self, TypeId index, const std::vector<Adjustment>& derefs);
    TypeId check_deref(ExprId id, const hir::UnaryExpr& e, Expectation expected);
    bool is_shared_array(TypeId type) const;
    std::optional<TypeId> shared_index_step(ExprId id, const hir::IndexExpr& e, TypeId self, TypeId index, std::vector<Adjustment> steps);
    // Overloaded steps of a place that turns out to be mutated use DerefMut and IndexMut.
    void make_place_mutable(ExprId id);
    void make_mutable_once(ExprId id);
    ItemRef trait_method(DefId trait, TypeId self, std::span<const TypeId> others, std::string_view method);

    // ---- body_op.cpp
    TypeId check_unary(ExprId id, const hir::UnaryExpr& e, Expectation expected);
    TypeId check_binary(ExprId id, const hir::BinaryExpr& e, Expectation expected);
    TypeId check_assign_op(ExprId id, const hir::AssignOpExpr& e);
    bool is_builtin_binary(hir::BinaryOp op, TypeId lhs, TypeId rhs);
    TypeId builtin_binary(ExprId id, hir::BinaryOp op, ExprId lhs, ExprId rhs, TypeId lhs_type, TypeId rhs_type, Span op_span);
    TypeId overloaded_binary(ExprId id, hir::BinaryOp op, ExprId lhs, ExprId rhs, TypeId lhs_type, Span op_span, bool assign);
    TypeId strip_ref(TypeId type);
    void report_no_binary(hir::BinaryOp op, ExprId lhs, TypeId lhs_type, TypeId rhs_type, Span op_span, Span whole, bool assign, ExprId rhs);
    void demote_builtin_ops();
    void check_negated();

    // ---- body_coerce.cpp
    // Makes the expression's value usable as `to`: adjusts it or reports E0308. Returns the resulting type.
    TypeId coerce(ExprId id, TypeId from, TypeId to, bool two_phase = false);
    bool try_coerce(ExprId id, TypeId from, TypeId to, bool two_phase);
    bool coerce_inner(TypeId from, TypeId to, bool two_phase, ExprId id, std::vector<Adjustment>& steps);
    bool coerce_unsized(TypeId from, TypeId to, std::vector<Adjustment>& steps);
    bool coerce_to_ref(TypeId from, TypeId to, bool two_phase, Span span, std::vector<Adjustment>& steps);
    bool coerce_to_raw(TypeId from, TypeId to, std::vector<Adjustment>& steps);
    bool coerce_to_fn_ptr(TypeId from, TypeId to, std::vector<Adjustment>& steps);
    bool can_coerce(TypeId from, TypeId to);
    void apply_adjustments(ExprId id, std::vector<Adjustment> steps);
    bool unify(TypeId a, TypeId b) { return infer_.unify(a, b); }
    void demand_eq(Span span, TypeId expected, TypeId found);

    // ---- body_pattern.cpp
    struct PatContext {
        BindMode mode = BindMode::Value;
        bool top = false;
        Span type_origin;        // what gave the expected type, for labels
    };
    void check_pattern(PatId id, TypeId expected, BindMode mode = BindMode::Value);
    TypeId peel_refs(PatId id, TypeId expected, BindMode& mode);
    void check_pattern_kind(PatId id, TypeId expected, BindMode mode);
    void check_binding(PatId id, const hir::BindingPat& p, TypeId expected, BindMode mode);
    void check_literal_pattern(PatId id, const hir::LiteralPat& p, TypeId expected);
    void check_range_pattern(PatId id, const hir::RangePat& p, TypeId expected);
    TypeId range_end_type(PatId id, TypeId expected);
    void check_path_pattern(PatId id, const hir::PathPat& p, TypeId expected);
    void check_tuple_pattern(PatId id, const hir::TuplePat& p, TypeId expected, BindMode mode);
    void check_tuple_struct_pattern(PatId id, const hir::TupleStructPat& p, TypeId expected, BindMode mode);
    void check_struct_pattern(PatId id, const hir::StructPat& p, TypeId expected, BindMode mode);
    void check_slice_pattern(PatId id, const hir::SlicePat& p, TypeId expected, BindMode mode);
    void check_ref_pattern(PatId id, const hir::RefPat& p, TypeId expected, BindMode mode);
    void poison_pattern(PatId id);
    bool pattern_demand(PatId id, TypeId expected, TypeId found);
    bool is_reference_pattern_like(PatId id);

    // ---- body_cast.cpp
    void check_casts();
    void check_one_cast(const DeferredCast& cast);
    std::optional<CastKind> cast_kind(const DeferredCast& cast, TypeId from, TypeId to);
    void report_cast(const DeferredCast& cast, TypeId from, TypeId to);

    // ---- body_closure.cpp
    TypeId check_closure(ExprId id, const hir::ClosureExpr& e, Expectation expected);
    struct ExpectedSig {
        std::vector<TypeId> inputs;
        TypeId output;
        std::vector<TypeId> written_inputs;   // as the bound has them, with its lifetimes
        TypeId written_output;
        bool known = false;
        bool from_fn_ptr = false;    // the coercion compares the signatures
    };
    void deduce_closure(TypeId expected, ExpectedSig& sig, std::optional<ClosureKind>& kind);
    TypeId lower_closure_result(hir::TyId type);
    TypeId closure_lifetimes(const hir::ClosureExpr& closure, const ExpectedSig& sig, const ClosureInfo& info);
    void analyze_captures();

    // ---- method_probe.cpp, method_confirm.cpp
    MethodProbeResult probe_method(TypeId receiver, Symbol name, Span span, std::vector<DerefStep>& steps);
    MethodProbeResult probe_path(TypeId self, Symbol name, Span span);
    struct Probe;
    friend struct Probe;
    CallSig confirm_method(ExprId call, const hir::MethodCallExpr& e, const MethodPick& pick, const std::vector<DerefStep>& steps);
    TypeId report_no_method(ExprId id, const hir::MethodCallExpr& e, TypeId receiver, const MethodProbeResult& result);
    void suggest_names(Diagnostic& diagnostic, TypeId self, Symbol wanted, Span span);

    // ---- body_report.cpp
    bool is_tile(TypeId type) const;
    std::string tile_text(TypeId tile);
    std::string tile_help(TypeId a, TypeId b) const;
    Diagnostic* report_mismatch(Span span, TypeId expected, TypeId found);
    void report_coercion(ExprId id, TypeId expected, TypeId found);
    void suggest_conversion(Diagnostic& diagnostic, ExprId id, TypeId expected, TypeId found);
    void report(const FulfillError& failure);
    bool implies_goal(const TraitRef& failed, const TraitRef& other);
    void report_unimplemented(const Obligation& obligation);
    std::string_view print_trait_text(DefId trait) const;
    void report_operands(ExprId id, hir::BinaryOp op, TypeId lhs, TypeId rhs, Span op_span);
    void report_ambiguous(const Obligation& obligation);
    Diagnostic& report_question_mark(Span at, TypeId result, TypeId residual);
    void report_need_type(Span span, TypeId type);
    void report_need_const(Span span);
    std::string describe(TypeId type);

    // ---- writeback.cpp
    void write_back();
    void note_type(TypeId type);
    void note_item(DefId item);
    TypeId resolved(TypeId type, Span span);
    ItemRef resolved(ItemRef item, Span span);

    Context& cx_;
    Context::State& state_;
    const LangItems& lang_;
    TypeStore& types_;
    const hir::Program& program_;
    DefId owner_;
    const hir::Body& body_;
    const ParamEnv& env_;
    TypeTables& tables_;
    InferCtxt infer_;
    Selector selector_;
    Fulfill fulfill_;
    BodyLowerer lowerer_;
    DefId module_;                      // for privacy

    std::unordered_map<ExprId, std::vector<Adjustment>> adjustments_;
    std::unordered_map<PatId, std::vector<TypeId>> pat_derefs_;
    std::unordered_map<ExprId, LoopContext> loops_;
    std::unordered_map<DefId, ClosureState> closures_;
    std::vector<std::pair<ExprId, TypeId>> negated_;   // whose type was not known to be signed
    std::vector<DefId> closure_order_;
    DefId current_closure_;             // whose body is being checked
    std::unordered_map<LocalId, DefId> local_closure_;   // variables of closures: which one's
    std::vector<DeferredCast> casts_;
    std::vector<DeferredCall> calls_;
    std::vector<std::pair<TypeId, Cause>> sized_locals_;
    std::vector<ExprId> operators_;     // overloaded ones that may turn out to be built in
    TypeId return_type_;                // none in constants
    std::map<DefId, TypeId> opaques_;   // `impl Trait`s of the result, being found
    Span return_span_;
    struct { ExprId lhs, rhs; } assigned_;   // the assignment looked at last, for messages
    bool in_closure_ = false;
    bool probing_ = false;              // inside a snapshot that is rolled back: obligations must stay as they are
    bool diverges_ = false;
    bool unreachable_noted_ = false;
    std::uint32_t loop_depth_ = 0;
    std::size_t errors_before_ = 0;
    bool ambiguity_reported_ = false;
    std::vector<std::pair<TraitRef, Span>> reported_;   // failing goals that were reported
};

}  // namespace ockc::check
