// From syntax to HIR, one item at a time: names are resolved on the way and sugar is taken away. One Lowerer serves a whole
// compilation; between items its scopes are empty.
//
//   lower_item.cpp       items, signatures, fields         lower_generics.cpp  parameters, bounds, lifetimes
//   lower_path.cpp       paths; path_errors.cpp what is wrong with them
//   lower_type.cpp       types                             lower_pattern.cpp   patterns and their bindings
//   lower_expr.cpp       expressions                       lower_block.cpp     blocks, statements, items in bodies, closures
//   desugar.cpp          ranges, ?, assignments            desugar_loop.cpp    while, for, break and continue
//   lower_macro.cpp      macro calls; panic.cpp their messages
#pragma once
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "resolve/lookup.hpp"
#include "resolve/scopes.hpp"
#include "resolve/state.hpp"

namespace ockc::resolve {

enum class PathSource : std::uint8_t {
#define OCKC_PATH_SOURCE(name, ...) name,
#include "resolve/path_sources.def"
};

// What an elided lifetime means where it stands.
enum class Elision : std::uint8_t {
    Fresh,       // a parameter of a function: a new lifetime
    Infer,       // in bodies: the borrow checker's matter
    Error,       // fields, associated types, bounds: must be named (E0106)
    Static,      // types of constants and statics
    ImplType,    // associated types of trait impls: must come from the impl
    Output,      // a function's result: from its inputs, or E0106
    Bound,       // bounds and where clauses of generics: must be named (E0637)
    Header,      // impl headers: fresh, but not when hidden in a path (E0726)
};

struct AsmOperand;

class Lowerer {
    friend class AsmReader;   // of ptx_asm!

  public:
    explicit Lowerer(State& state) : s_(state) {}
    Lowerer(const Lowerer&) = delete;
    Lowerer& operator=(const Lowerer&) = delete;

    // Lowers a definition that is not lowered yet; its impl or trait first.
    void item(DefId def);
    // The body of a library function whose signature is lowered already.
    void late_body(DefId fn);

  private:
    // ---- lower_item.cpp
    void enter(DefId def);
    void lower_kind(DefId def);
    void finish_attributes(DefId def, ast::Attributes attributes);
    void lower_fn(DefId def);
    void lower_kernel_instances(DefId fn);   // kernel_instances.cpp
    bool instance_argument(ast::ExprId id, std::vector<ast::GenericArg>& out);
    hir::BodyId lower_fn_body(DefId def, std::vector<hir::FnParam>& inputs);
    void lower_const(DefId def);
    void lower_static(DefId def);
    void lower_alias(DefId def);
    void lower_struct(DefId def);
    void lower_enum(DefId def);
    void lower_trait(DefId def);
    void lower_impl(DefId def);
    void make_derived_impl(DefId def);
    void lower_foreign(DefId def);
    void push_parent_scope(DefId parent);
    void push_generics_of(DefId def);
    void check_impl_members(DefId impl);
    void check_adt_attributes(DefId def, const ast::Item& item, hir::AdtDef& adt);
    hir::VariantData lower_variant(DefId variant, DefId ctor, hir::Ident name, hir::VariantForm form, ast::List<ast::FieldDef> fields, Span span,
                                   const hir::Visibility* enum_visibility);
    void lower_self_param(const ast::SelfParam& self, std::vector<hir::FnParam>& inputs);
    void lower_params(const ast::FnDecl& decl, hir::FnSig& sig, std::vector<hir::FnParam>& inputs);
    void lower_output(const ast::FnDecl& decl, hir::FnSig& sig);
    DefId anon_const(ast::ExprId value, ScopeBarrier::Kind barrier, hir::TyId expected, Span span);

    struct OpenBody;
    // Starts a body and ends it; expressions go to the innermost.
    void open_body(OpenBody& open, DefId owner);
    void close_body(OpenBody& open, hir::ExprId value, std::span<const hir::FnParam> params);

    // ---- lower_generics.cpp
    hir::Generics lower_generics(DefId owner, ast::GenericsId generics);
    void declare_params(DefId owner, ast::List<ast::GenericParam> params, std::vector<hir::GenericParam>& out);
    void lower_param_bounds(ast::List<ast::GenericParam> params, std::vector<hir::GenericParam>& out);
    hir::List<hir::WherePredicate> lower_where(ast::List<ast::WherePredicate> predicates);
    hir::List<hir::Bound> lower_bounds(ast::List<ast::Bound> bounds);
    std::optional<hir::Bound> lower_bound(const ast::Bound& bound);
    hir::List<DefId> declare_for_lifetimes(ast::List<ast::GenericParam> params);
    hir::Lifetime lower_lifetime(const ast::Ident& ident);
    hir::Lifetime elided_lifetime(Span span);
    void report_missing_lifetime(Span span, std::size_t count);
    void note_hidden_lifetimes(const Res& res, Span span);
    std::size_t lifetime_count(DefId def);
    hir::TyId impl_trait_param(const ast::Type& type, ast::List<ast::Bound> bounds);
    hir::TyId impl_trait_type(const ast::Type& type, ast::List<ast::Bound> bounds);

    // ---- lower_type.cpp
    hir::TyId lower_type(ast::TypeId id);
    hir::TyId lower_type_path(ast::PathId path, Span span);
    hir::TyId lower_fn_pointer(const ast::FnPointerType& fn, Span span);
    void check_fn_pointer_param(ast::PatId pattern);
    hir::TyId lower_macro_type(DefId macro, ast::MacroCallId call, Span span);
    hir::TyId add_ty(Span span, hir::TyData data);
    hir::TyId error_ty(Span span) { return add_ty(span, hir::ErrorTy{}); }
    // `Self`, or the Res of a single name, as a type.
    hir::TyId res_ty(Span span, Symbol name, const Res& res);

    // ---- lower_path.cpp
    hir::QPath lower_path(ast::PathId id, PathSource source);
    std::optional<hir::QPath> lower_variable(const ast::Path& path, PathSource source);
    hir::QPath lower_qualified_path(const ast::Path& path, PathSource source);
    hir::QPath finish_path(const ast::Path& path, PathSegments segments, const PathEnd& end, const PathTrace& trace, PathSource source, bool lexical);
    hir::QPath type_relative(hir::TyId base, const Res& base_res, const ast::Path& path, std::uint32_t from);
    hir::Path lower_trait_path(ast::PathId id);
    hir::PathSegment lower_segment(const ast::PathSegment& segment, const Res& res);
    const hir::GenericArgs* lower_args(ast::GenericArgsId id);
    void lower_arg(const ast::GenericArg& arg, std::vector<hir::GenericArg>& args, std::vector<hir::AssocConstraint>& constraints);
    bool type_arg_is_const(ast::TypeId type);
    // The meaning of the first segment; nothing when there is none. Sets `failed` when it was found but must not be used.
    struct First {
        std::optional<Res> res;
        bool failed = false;
        std::optional<Binding> binding;
    };
    First find_first(const ast::PathSegment& segment, Ns ns);
    void prefer_primitive(PathSegments segments, Ns ns, PathEnd& end, PathTrace& trace) const;
    bool generic_self(const ScopeEntry& entry);
    std::optional<Res> use_entry(const ScopeFound& found, const ast::Ident& ident);
    Res reached(const Res& res, Span span);
    bool accepted(const Res& res, PathSource source) const;
    bool refuse_opaque(const Res& res, Span span);
    static SmallVec<ImportSegment, 4> segments_of(const ast::Path& path);

    // ---- path_errors.cpp
    void report_not_found(const ast::Path& path, PathSegments segments, const PathEnd& end, PathSource source);
    void report_unresolved_prefix(const ast::Path& path, PathSegments segments, const PathEnd& end);
    void report_missing_name(const ast::Path& path, PathSegments segments, const PathEnd& end, PathSource source);
    void report_wrong_kind(const ast::Path& path, const Res& res, PathSource source);
    void report_missing_self_value(Span span);
    bool suggest_local_name(Diagnostic& error, const ast::Ident& ident, PathSource source);

    // ---- lower_pattern.cpp
    enum class PatternPlace : std::uint8_t { Match, Let, Param, Loop, Closure };
    struct Bound {
        Symbol name;
        std::uint32_t context = 0;
        hir::LocalId local;
        Span span;
        hir::BindingMode mode;
    };
    struct Bindings {
        PatternPlace place = PatternPlace::Match;
        std::vector<Bound> bound;           // of all patterns so far (parameters share one list)
        std::size_t pattern_start = 0;      // where the names of the current pattern begin
        const std::vector<Bound>* inherited = nullptr;   // of the first alternative, inside the others
    };
    hir::PatId lower_pattern(ast::PatId id, Bindings& bindings);
    hir::PatId lower_ident_pattern(const ast::IdentPat& pat, Span span, Bindings& bindings);
    hir::PatId lower_builtin_pattern(DefId macro, const ast::MacroCall& call, Span span);
    hir::PatId lower_macro_pattern(ast::MacroCallId id, Span span, Bindings& bindings);
    hir::PatId lower_or_pattern(ast::List<ast::PatId> alternatives, Span span, Bindings& bindings);
    hir::PatId lower_struct_pattern(const ast::StructPat& pat, Span span, Bindings& bindings);
    hir::PatId lower_slice_pattern(ast::List<ast::PatId> elements, Span span, Bindings& bindings);
    hir::PatId lower_literal_pattern(ast::ExprId value, Span span);
    hir::PatId lower_range_end(ast::ExprId value);
    void report_obsolete_range(const ast::RangePat& range, Span span);
    hir::List<hir::PatId> lower_pattern_list(ast::List<ast::PatId> list, std::uint32_t& rest, Bindings& bindings);
    std::optional<Res> constant_for_binding(const ast::IdentPat& pat, PatternPlace place, bool& refused);
    hir::LocalId bind_name(const ast::IdentPat& pat, Bindings& bindings, hir::BindingMode mode);
    void check_alternatives(const std::vector<Bound>& first, Span first_span, const std::vector<Bound>& other, Span other_span);
    // Puts the names of a finished pattern into scope.
    void declare(const Bindings& bindings);
    hir::PatId add_pat(Span span, hir::PatData data);
    hir::PatId binding_pat(Span span, hir::LocalId local);
    hir::LocalId fresh_local(std::string_view name, Span span, bool is_mut = false);

    // ---- lower_expr.cpp
    hir::ExprId lower_expr(ast::ExprId id);
    hir::ExprId lower_expr_data(const ast::Expr& expr);
    void note_parens(ast::ExprId value, std::string_view what);
    hir::List<hir::ExprId> lower_exprs(ast::List<ast::ExprId> list);
    hir::ExprId lower_path_expr(ast::PathId path, Span span, PathSource source);
    hir::ExprId lower_literal(ast::LiteralId id, Span span);
    hir::Literal literal_value(const ast::Literal& literal);
    hir::ExprId lower_struct(const ast::StructExpr& expr, Span span);
    hir::ExprId lower_call(const ast::CallExpr& call, Span span);
    hir::ExprId lower_method_call(const ast::MethodCallExpr& call, Span span);
    hir::ExprId lower_binary(const ast::BinaryExpr& expr, Span span);
    hir::ExprId lower_unary(const ast::UnaryExpr& expr, Span span);
    hir::ExprId lower_address_of(const ast::AddressOfExpr& expr, Span span);
    hir::ExprId lower_let(const ast::LetExpr& expr, Span span);
    hir::ExprId lower_if(const ast::IfExpr& expr, Span span);
    hir::ExprId lower_match(const ast::MatchExpr& expr, Span span);
    hir::ExprId lower_return(const ast::ReturnExpr& expr, Span span);
    hir::ExprId lower_block_expr(const ast::BlockExpr& expr, Span span);
    hir::ExprId add_expr(Span span, hir::ExprData data, bool desugared = false);
    hir::ExprId reserve_expr(Span span);
    hir::ExprId error_expr(Span span) { return add_expr(span, hir::ErrorExpr{}); }
    hir::ExprId lang_path(std::string_view key, Span span);
    hir::ExprId local_path(hir::LocalId local, Span span);
    hir::ExprId call_lang(std::string_view key, Span span, std::initializer_list<hir::ExprId> args);
    hir::Path lang_item_path(DefId def, Span span);

    // ---- lower_block.cpp
    hir::BlockId lower_block(ast::BlockId id, Symbol label = {}, hir::BlockSafety safety = hir::BlockSafety::Safe);
    hir::ExprId with_launch_context(hir::LocalId context, const hir::LaunchSpec& launch, hir::ExprId value, Span span);
    hir::ExprId block_expr(hir::BlockId block, Span span, bool desugared = false);
    hir::BlockId make_block(Span span, std::span<const hir::Stmt> stmts, hir::ExprId tail);
    // What the item statements of a block define: a DefId, or for macro_rules the scope from there on.
    struct BlockContents {
        std::unordered_map<ast::ItemId, DefId> defs;
        std::unordered_map<ast::ItemId, MacroScopeId> macros;
    };
    BlockContents open_block_items(const ast::Block& block);
    void lower_block_item(DefId def);
    void lower_stmts(const ast::Block& block, std::vector<hir::Stmt>& out, hir::ExprId& tail);
    void lower_stmt(const ast::Stmt& stmt, bool last, const BlockContents& contents, std::vector<hir::Stmt>& out, hir::ExprId& tail);
    void lower_let_stmt(const ast::LetStmt& let, Span span, std::vector<hir::Stmt>& out);
    void lower_nested_item(DefId def);
    hir::ExprId lower_closure(ast::ClosureId id, Span span);
    hir::List<DefId> traits_in_scope();

    // ---- desugar.cpp
    hir::ExprId desugar_range(const ast::RangeExpr& range, Span span);
    hir::ExprId desugar_try(const ast::TryExpr& expr, Span span);
    hir::ExprId desugar_assign(const ast::AssignExpr& assign, Span span);
    bool needs_destructuring(ast::ExprId lhs);
    hir::PatId assignee_pattern(ast::ExprId lhs, std::vector<hir::Stmt>& assigns, Span op_span);
    hir::PatId assignee_struct(const ast::StructExpr& s, Span span, std::vector<hir::Stmt>& assigns, Span op_span);
    hir::PatId lang_pattern(std::string_view key, Span span, std::initializer_list<hir::PatId> elements);
    bool is_tuple_constructor(ast::ExprId callee);
    hir::List<hir::PatId> assignee_list(ast::List<ast::ExprId> list, std::uint32_t& rest, std::vector<hir::Stmt>& assigns, Span op_span);

    // ---- desugar_loop.cpp
    // What `break` and `continue` leave or go to, innermost last.
    struct JumpTarget {
        enum class Kind : std::uint8_t { Loop, Block, Closure } kind = Kind::Loop;
        hir::ExprId expr;
        Span span;
        bool in_condition = false;          // its `while` condition is being lowered
        hir::LoopSource source = hir::LoopSource::Loop;
    };
    hir::ExprId lower_loop(const ast::LoopExpr& loop, Span span, std::uint32_t unroll);
    hir::ExprId desugar_while(const ast::WhileExpr& loop, Span span, std::uint32_t unroll);
    hir::ExprId desugar_for(const ast::ForExpr& loop, Span span, std::uint32_t unroll);
    hir::ExprId lower_break(const ast::BreakExpr& expr, Span span);
    hir::ExprId lower_continue(const ast::ContinueExpr& expr, Span span);
    const JumpTarget* find_label(const ast::Ident& label, bool is_break, Span span);
    const JumpTarget* find_target(const ast::Ident& label, bool is_break, Span span);
    void push_label(const ast::Ident& label, hir::ExprId target);
    void note_label_use(const ast::Ident& label, hir::ExprId target);
    std::uint32_t unroll_factor(const Attrs& attrs);

    // ---- lower_macro.cpp, panic.cpp
    hir::ExprId lower_macro_expr(ast::MacroCallId id, Span span);
    hir::ExprId expand_expr(DefId macro, ast::MacroCallId id, Span span);
    hir::ExprId include_text_macro(BuiltinMacro macro, const ast::MacroCall& call, Span span);
    hir::ExprId lower_builtin_macro(BuiltinMacro macro, const ast::MacroCall& call, Span span);
    hir::ExprId lower_builtin_call(DefId macro, const ast::MacroCall& call, Span span);   // any macro that is not macro_rules
    DefId find_macro(const ast::MacroCall& call);
    bool enter_expansion(Span span);    // counts nested expansions; reports when there are too many
    void lower_macro_stmt(const ast::MacroStmt& stmt, Span span, bool last, std::vector<hir::Stmt>& out, hir::ExprId& tail);
    hir::ExprId panic_macro(hir::PanicKind kind, const ast::MacroCall& call, Span span);
    hir::ExprId assert_macro(const ast::MacroCall& call, Span span);
    hir::ExprId assert_compare_macro(hir::PanicKind kind, const ast::MacroCall& call, Span span);
    hir::ExprId matches_macro(const ast::MacroCall& call, Span span);
    hir::ExprId text_macro(BuiltinMacro macro, const ast::MacroCall& call, Span span);
    hir::ExprId string_expr(std::string_view text, Span span);
    hir::ExprId printf_macro(const ast::MacroCall& call, Span span);   // printf.cpp
    // A string literal (or a macro that gives one) and, by byte, where it stands in the source; reports what is none.
    bool string_literal(ast::ExprId id, Code code, std::string_view message, std::string& text, std::vector<std::uint32_t>& offsets);
    hir::ExprId ptx_asm_macro(const ast::MacroCall& call, Span span);   // ptx_asm.cpp
    bool asm_text(std::string_view text, const std::vector<AsmOperand>& operands, const std::function<Span(std::size_t, std::size_t)>& place, std::string& out,
                  std::vector<std::uint32_t>& origin);
    std::string asm_spec(const std::vector<AsmOperand>& operands, bool register_only, bool may_diverge, Span whole, const std::vector<std::uint32_t>& offsets,
                         const std::vector<std::uint32_t>& origin, std::string_view body);
    hir::ExprId asm_expr(const std::vector<AsmOperand>& operands, const std::string& spec, Span span);
    ast::ExprId captured_name(std::string_view name, Span span);
    hir::ExprId panic_expr(hir::PanicKind kind, std::string message, std::span<const hir::ExprId> args, Span span);
    // A format string and its arguments: the message with `{}` for each argument in order.
    bool format_message(std::span<const ast::ExprId> args, std::span<const ast::Ident> names, Span span, std::string& message, std::vector<hir::ExprId>& values);
    bool format_arguments(lex::TokenRange range, std::vector<ast::ExprId>& args, std::vector<ast::Ident>& names);

    // ---- helpers
    const hir::QPath* kept(const hir::QPath& path) { return s_.program.arena.make<hir::QPath>(path); }
    template <class T>
    hir::List<T> list(const std::vector<T>& items) {
        return s_.program.arena.copy(std::span<const T>(items));
    }
    template <class T>
    hir::List<T> list(std::initializer_list<T> items) {
        return s_.program.arena.copy(std::span<const T>(items.begin(), items.size()));
    }
    std::string_view text(Symbol symbol) const { return s_.text(symbol); }
    const ast::Crate& ast() const { return *s_.crates[crate_].ast; }
    hir::Body& body() { return *body_->body; }
    // Derived code has the place of its #[derive].
    Span at(Span span) const { return forced_span_.valid() ? forced_span_ : span; }
    hir::Ident name_of(const ast::Ident& ident) const { return {ident.name, at(ident.span)}; }
    Diagnostic& error(Code code, Span span, std::string message) { return s_.sink->error(code, at(span), std::move(message)); }
    // "`what` not supported in device code" ("C string literals are"), with a way round.
    void refuse(Code code, Span span, std::string_view what, std::string_view way_round);
    DefId new_def(DefKind kind, hir::Ident name, Span span);

    // Everything that belongs to the body being lowered; nested bodies keep the outer one on the C++ stack.
    struct BodyState {
        hir::Body* body = nullptr;
        std::vector<JumpTarget> targets;
        std::vector<DefId> block_traits;
        std::unordered_set<std::uint32_t> used_labels;   // ExprId of their targets
    };
    struct OpenBody {
        hir::BodyId id;
        BodyState state;
        BodyState* outer = nullptr;
        Elision outer_elision = Elision::Error;
        std::size_t errors = 0;     // reported before it
    };
    // An elision mode for the time of a signature part.
    class ElisionScope {
      public:
        ElisionScope(Lowerer& lowerer, Elision mode) : lowerer_(lowerer), outer_(lowerer.elision_) { lowerer.elision_ = mode; }
        ~ElisionScope() { lowerer_.elision_ = outer_; }
        ElisionScope(const ElisionScope&) = delete;
        ElisionScope& operator=(const ElisionScope&) = delete;

      private:
        Lowerer& lowerer_;
        Elision outer_;
    };
    class ScopeGuard {
      public:
        explicit ScopeGuard(Lowerer& lowerer) : lowerer_(lowerer), mark_(lowerer.scopes_.mark()), macros_(lowerer.macros_), module_(lowerer.module_) {}
        ~ScopeGuard() {
            lowerer_.scopes_.rewind(mark_);
            lowerer_.macros_ = macros_;
            lowerer_.module_ = module_;
        }
        ScopeGuard(const ScopeGuard&) = delete;
        ScopeGuard& operator=(const ScopeGuard&) = delete;

      private:
        Lowerer& lowerer_;
        ScopeStack::Mark mark_;
        MacroScopeId macros_;
        ModuleId module_;
    };

    State& s_;
    std::uint32_t crate_ = 0;
    ModuleId module_;               // innermost scope with items
    MacroScopeId macros_;
    DefId owner_;                   // the item whose parameters, constants and closures are being made
    ScopeStack scopes_;
    BodyState* body_ = nullptr;
    Elision elision_ = Elision::Error;
    Span forced_span_;
    std::uint32_t depth_ = 0;
    std::uint32_t expansion_depth_ = 0;
    bool const_param_type_ = false; // in the type of a const parameter: E0770
    std::uint32_t first_undeclared_ = 0;   // scope positions from here on are parameters not yet declared (defaults): E0128; 0: none
    bool inside_impl_trait_ = false;       // in the generic arguments of an `impl Trait`: E0666
    bool allow_bare_param_ = false; // an anonymous constant that is just `N` or `{N}`
    // The lifetimes of a signature's inputs, for elision in its output.
    struct InputLifetimes {
        std::size_t elided = 0;
        std::vector<DefId> named;
        bool any_static = false;
        bool self_reference = false;
    };
    InputLifetimes* inputs_ = nullptr;
    const InputLifetimes* output_inputs_ = nullptr;
    std::vector<hir::GenericParam>* impl_trait_params_ = nullptr;   // argument-position `impl Trait` becomes parameters here
    std::vector<hir::WherePredicate>* impl_trait_bounds_ = nullptr;
};

}  // namespace ockc::resolve
