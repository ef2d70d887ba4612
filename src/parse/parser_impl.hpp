// The parser's state and grammar functions, private to this folder; the parse_*.cpp files define them by
// topic.
//
// How errors travel: after an error that has no local repair, fail() turns the current token into Eof
// ("panic"). Every grammar function then runs to its end quickly and in silence, as it would at the end of a
// file, until a recovery point (a closing delimiter, the next statement, the next item) calls resume_at() and
// real parsing goes on.
#pragma once
#include <algorithm>
#include <bitset>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parse/parser.hpp"

namespace ockc::parse {

using ast::Attributes;
using ast::BlockId;
using ast::ExprId;
using ast::GenericsId;
using ast::Ident;
using ast::ItemId;
using ast::List;
using ast::PathId;
using ast::PatId;
using ast::Precedence;
using ast::StmtId;
using ast::TypeId;
using lex::TokenKind;
using T = lex::TokenKind;

// What "expected one of .." can name besides tokens.
enum class Expect : std::uint8_t { Operator, Ident, Path, Type, Lifetime, Literal, Const, Pattern };

// Where an expression stands, as far as its syntax depends on it.
struct Restrictions {
    bool no_struct = false;  // `S {` is not a struct literal: conditions, scrutinees
    bool statement = false;  // a block-like expression ends the statement
    bool allow_let = false;  // a condition's `let`
};

enum class PathStyle : std::uint8_t { Expr, Type, Mod };  // generic args after `::` only; anywhere; nowhere
enum class AllowPlus : std::uint8_t { No, Yes };
enum class ParamNames : std::uint8_t { Required, Optional };

class Parser {
  public:
    Parser(lex::TokenRange range, const ParseContext& context);

    ast::SourceUnit source_unit();
    List<ItemId> items_until_end(ItemPlace place);
    Fragment fragment(FragmentKind kind);

    template <class Element>
    class Scratch;  // a list under construction

    // ---- tokens: parser.cpp ----
    TokenKind kind() const { return kind_; }
    TokenKind peek(std::uint32_t ahead = 1) const {
        return failed_ || pos_ + ahead >= end_ ? T::Eof : buffer_.kind(pos_ + ahead);
    }
    bool at(TokenKind kind) const { return kind_ == kind; }
    bool at_any(std::initializer_list<TokenKind> kinds) const;
    // at(kind), and it belongs into "expected one of"
    bool check(TokenKind kind) {
        expected_[static_cast<std::size_t>(kind)] = true;
        return kind_ == kind;
    }
    // check, and bump when there
    bool eat(TokenKind kind) {
        if (!check(kind)) return false;
        bump();
        return true;
    }
    bool expect(TokenKind kind);  // eat, or report and fail
    bool eat_first(
        TokenKind kind);  // the same for a token that may be the first half of a longer one: `>` of `>>`
    bool at_first(TokenKind kind) const;
    bool expect_first(TokenKind kind);
    void bump() {
        if (failed_ || pos_ >= end_) return;
        prev_span_ = span_;
        ++pos_;
        look();
    }
    bool at_end() const { return kind_ == T::Eof; }
    std::uint32_t position() const { return pos_; }
    Span span() const { return span_; }  // of the current token
    Span prev_span() const { return prev_span_; }
    std::string_view token_text() const { return context_.sources.text(span()); }
    // From `start` to the end of the previous token. Inside an expansion, neighbours may come from different files; a span
    // then stays where it began.
    Span from(Span start) const {
        return prev_span_.file != start.file || prev_span_.end < start.begin ? start : start.to(prev_span_);
    }
    Ident take_ident();           // the current token as a name, and bump
    Ident ident_here() const;
    bool expect_ident(Ident& out);
    Symbol intern(std::string_view text) { return context_.interner.intern(text); }
    std::string_view text(Symbol symbol) const { return context_.interner.text(symbol); }
    lex::Edition edition() const { return buffer_.edition(); }

    // ---- errors and recovery: recover.cpp ----
    Diagnostic& error(Span span, std::string message) { return error(Code::None, span, std::move(message)); }
    Diagnostic& error(Code code, Span span, std::string message);
    void fail();  // enter panic
    bool failed() const { return failed_; }
    Span end_span() const;
    void unexpected();  // "expected one of .., found ..", and fail
    void missing_function_params();
    void expected(std::string_view what);  // "expected WHAT, found ..", and fail
    void also(Expect what) { expected_extra_ |= 1u << static_cast<unsigned>(what); }
    std::string describe_token() const;      // "`x`", "keyword `fn`"
    void resume_at(std::uint32_t position);  // leave panic, unless inside an attempt
    void rewind(std::uint32_t position);
    void skip_to_close(std::uint32_t close);  // leave panic (if any) before `close` and take it
    void skip_tree();                         // one token, or a whole delimited group
    void skip_statement(
        std::uint32_t end);  // behind the next `;` or block at this level, or to a statement keyword
    void skip_to_item(std::uint32_t start);  // to the next item keyword at this level
    void too_deep();
    void unstable(Span span, std::string message);  // E0658: parsed, but no stable Rust
    void check_lifetime_name(const Ident& name, std::string_view what);

    // ---- attributes, visibility, macros: parse_attribute.cpp, parse_macro.cpp ----
    Attributes outer_attributes();
    Attributes inner_attributes();
    Attributes join(Attributes a, Attributes b);
    ast::AttributeId one_attribute(bool inner);
    ast::MetaItem meta_item();
    ast::MetaItem meta_argument(std::uint32_t end);
    List<ast::MetaItem> meta_list(std::uint32_t open);
    Symbol doc_text() const;
    ast::Visibility visibility(bool tuple_field);
    bool delimited_body(ast::Delimiter& delimiter, lex::TokenRange& body);
    ast::MacroCallId macro_call(PathId path, Span start);  // at the `!`
    void reject_dangling(Attributes attributes, std::string_view what);
    void decl_macro_item(ast::Item& item);
    void macro_with_visibility(const ast::Item& item, std::string_view what);

    // ---- paths, types, generics: parse_path.cpp, parse_type.cpp, parse_generics.cpp ----
    bool at_path_start() const;
    PathId path(PathStyle style);
    PathId qualified_path(PathStyle style);
    bool path_segment(PathStyle style, ast::PathSegment& segment);
    ast::GenericArgsId angle_args();
    ast::GenericArgsId paren_args();
    ast::GenericArg generic_arg();
    ast::GenericArg constraint(Span start, TypeId type);
    bool at_const_arg() const;
    ExprId const_arg();

    TypeId type(AllowPlus plus = AllowPlus::Yes);
    TypeId type_inner(AllowPlus plus);
    TypeId paren_type(AllowPlus plus);
    TypeId bracket_type();
    TypeId reference_type();
    TypeId pointer_type();
    TypeId fn_pointer_type(Span start, List<ast::GenericParam> for_params);
    TypeId path_type(AllowPlus plus);
    TypeId for_type(AllowPlus plus);
    void reject_type_plus(TypeId type);
    TypeId bare_bounds_type(Span start, List<ast::Bound> first, AllowPlus plus);
    TypeId return_type(AllowPlus plus = AllowPlus::Yes);  // after `->`; none when there is no arrow
    bool at_fn_pointer() const;
    TypeId make_type(Span start, ast::TypeData data) {
        return crate_.add(ast::Type{from(start), std::move(data)});
    }

    GenericsId generics();  // `<..>` or nothing; no where clause
    void where_clause(ast::Generics& generics);
    List<ast::GenericParam> for_binder();
    List<ast::GenericParam> generic_params();
    ast::GenericParam generic_param(bool first);
    List<ast::Bound> bounds(AllowPlus plus = AllowPlus::Yes);
    List<ast::Bound> more_bounds(ast::Bound first);
    bool at_bound() const;
    ast::Bound bound();
    ast::Bound trait_bound();
    ast::Bound use_bound();
    ast::GenericsId add_generics(ast::Generics generics) { return crate_.add(std::move(generics)); }

    // ---- patterns: parse_pattern.cpp ----
    PatId pattern(bool top_alternatives = true);
    bool bad_declaration() const;
    PatId pattern_no_top_alternatives(std::string_view where);
    PatId pattern_single(bool allow_range = true);
    PatId pattern_inner();
    PatId reference_pattern();
    PatId paren_pattern();
    PatId ident_pattern(Span start, bool by_ref, bool ref_mut, bool is_mut);
    PatId path_pattern();
    PatId struct_pattern(Span start, PathId path);
    ast::FieldPat field_pattern();
    PatId literal_or_range(Span start);
    PatId range_rest(Span start, ExprId from);
    ExprId range_end();
    bool at_range_end() const;
    void reject_const_block(Span start);
    bool at_range_operator() const { return at_any({T::DotDot, T::DotDotEqual, T::DotDotDot}); }
    List<PatId> pattern_list(T close);
    PatId make_pat(Span start, ast::PatData data) {
        return crate_.add(ast::Pat{from(start), std::move(data)});
    }

    // ---- expressions: parse_expr.cpp, parse_primary.cpp, parse_control.cpp ----
    ExprId expr() { return expr_with({}); }
    ExprId expr_with(Restrictions restrictions);
    ExprId expr_assoc(Precedence min, Attributes attributes);
    ExprId expr_rest(ExprId lhs, Precedence min);
    ExprId prefix(Attributes attributes);
    ExprId prefix_range();
    ExprId unary(ast::UnaryOp op);
    ExprId address_of();
    ExprId leading_plus();
    ExprId postfix(ExprId base);
    ExprId dot_suffix(ExprId base, Span start);
    ExprId tuple_index(ExprId base, Span start);
    ExprId call(ExprId callee, Span start);
    ExprId cast(ExprId operand, Span start);
    ExprId range(ExprId from, Span start);
    ExprId binary(ast::BinaryOp op, ExprId lhs);
    bool check_chained_comparison(ExprId lhs, ast::BinaryOp op, Span op_span);
    void check_let_operand(ExprId lhs);
    ExprId primary(Attributes& attributes);
    ExprId paren_expr();
    ExprId bracket_expr();
    ExprId path_expr();
    ExprId after_path(PathId path, Span start);
    ExprId struct_literal(PathId path, Span start);
    ast::FieldInit field_init();
    bool struct_literal_follows();
    ExprId literal();
    ExprId negative_or_literal();
    ast::LiteralId literal_token();
    ExprId keyword_expr(Attributes& attributes);
    ExprId let_expr();
    ExprId jump_value();
    ExprId break_expr();
    ExprId closure();
    List<ast::Param> closure_params();
    bool at_closure() const;
    bool at_block_start(T keyword) const;
    ExprId if_expr();
    ExprId condition(Restrictions restrictions);
    BlockId plain_block(ExprId expr) const;
    ExprId match_expr(Attributes& attributes);
    ast::MatchArm match_arm();
    ExprId labelled();
    ExprId loop_like(Ident label, Span start);
    ExprId block_expr(ast::BlockKind kind, bool is_move, Ident label, Span start);
    List<ExprId> expr_list(T close);
    bool at_expr_start() const;
    bool is_complete(ExprId expr) const;  // ends the statement it starts
    ExprId make_expr(Span start, ast::ExprData data) {
        return crate_.add(ast::Expr{from(start), {}, std::move(data)});
    }
    ExprId error_expr() { return crate_.add(ast::Expr{span(), {}, ast::ErrorExpr{}}); }
    void attach(ExprId expr, Attributes attributes);

    // ---- statements and items: parse_stmt.cpp, parse_item.cpp, parse_fn.cpp, parse_adt.cpp, parse_assoc.cpp
    // ----
    BlockId block();  // `{ .. }`
    BlockId block_contents(Span start, Attributes inner, std::uint32_t end);
    void statement(Scratch<StmtId>& out, ExprId& tail, std::uint32_t end);
    void let_statement(Span start, Attributes attributes, Scratch<StmtId>& out);
    bool macro_statement(PathId path, Span start, Attributes attributes, Scratch<StmtId>& out, ExprId& tail);
    void expression_statement(ExprId expr, Span start, Scratch<StmtId>& out, ExprId& tail);
    void end_statement(bool may_be_tail);
    void one_statement();
    bool at_compound_assignment() const;
    void reject_let_else(ExprId init);
    bool ends_in_brace(ExprId expr) const;

    ItemId item(ItemPlace place);  // none when no item starts here
    ItemId item_after_attributes(Attributes attributes, ItemPlace place, bool statement = false);
    bool item_kind(ast::Item& item, ItemPlace place, bool statement);
    bool at_fn() const { return at_fn_pointer(); }
    void missing_item_keyword(ast::Item& item);
    void where_into(GenericsId& id);
    bool at_item_start() const;
    List<ItemId> item_list(ItemPlace place, std::uint32_t end);
    void not_an_item(Attributes attributes, ItemPlace place);
    void fn_item(ast::Item& item, ItemPlace place, bool is_default);
    bool arm_follows();
    ast::FnHeader fn_header();
    void fn_params(ast::FnDecl& decl, ParamNames names);
    bool self_param(ast::SelfParam& self);
    bool at_named_param() const;
    ast::Param fn_param(ParamNames names);
    void const_item(ast::Item& item, bool is_default);
    void static_item(ast::Item& item, ast::Safety safety);
    void module_item(ast::Item& item, ast::Safety safety);
    void extern_item(ast::Item& item, ast::Safety safety);
    void use_item(ast::Item& item);
    ast::UseTreeId use_tree();
    void type_alias(ast::Item& item, bool is_default);
    void struct_item(ast::Item& item);
    void union_item(ast::Item& item);
    void enum_item(ast::Item& item);
    ast::Variant variant();
    void struct_body(ast::StructItem& out);
    ast::FieldDef named_field();
    ast::FieldDef tuple_field();
    List<ast::FieldDef> named_fields();
    List<ast::FieldDef> tuple_fields();
    void trait_item(ast::Item& item, ast::Safety safety, bool is_auto);
    bool at_impl_generics() const;
    void impl_item(ast::Item& item, ast::Safety safety, bool is_default);
    void reject_inherent(const ast::ImplItem& impl);
    void check_place(const ast::Item& item, ItemPlace place);
    void macro_item(ast::Item& item);
    void macro_rules_item(ast::Item& item);
    List<ItemId> braced_items(ItemPlace place, Attributes& attributes);
    ast::Safety eat_safety();
    void expect_semi();

    // Runs `element` for each part of a list up to the closing delimiter of the group that starts here,
    // separated by commas; panics inside end at the closer. Returns whether the last part was followed by a
    // comma.
    template <class F>
    bool comma_list(T close, F element) {
        bool trailing = false;
        const std::uint32_t end = buffer_.partner(pos_);
        bump();
        while (!check(close) && !failed_) {
            element();
            trailing = false;
            if (failed_ || check(close)) break;
            if (!eat(T::Comma)) {
                unexpected();
                break;
            }
            trailing = true;
        }
        skip_to_close(end);
        return trailing;
    }

    // Scratch space for lists under construction: nested lists of one type share a vector.
    template <class Element>
    class Scratch {
      public:
        explicit Scratch(Parser& parser)
            : parser_(parser),
              items_(std::get<std::vector<Element>>(parser.scratch_)),
              mark_(items_.size()) {}
        ~Scratch() { items_.resize(mark_); }
        Scratch(const Scratch&) = delete;
        Scratch& operator=(const Scratch&) = delete;
        void push(Element element) { items_.push_back(std::move(element)); }
        std::size_t size() const { return items_.size() - mark_; }
        const Element& back() const { return items_.back(); }
        List<Element> finish() {
            return parser_.crate_.list(std::span<const Element>(items_).subspan(mark_));
        }

      private:
        Parser& parser_;
        std::vector<Element>& items_;
        std::size_t mark_;
    };

    // Counts nesting and measures the height of what is parsed inside; see ParseOptions.
    class Nested {
      public:
        explicit Nested(Parser& parser) : parser_(parser), outer_height_(parser.height_) {
            parser.height_ = 0;
            if (++parser.depth_ > parser.context_.options.max_depth) parser.too_deep();
        }
        ~Nested() {
            --parser_.depth_;
            parser_.height_ = std::max(outer_height_, parser_.height_ + 1);
        }
        Nested(const Nested&) = delete;
        Nested& operator=(const Nested&) = delete;

      private:
        Parser& parser_;
        std::uint32_t outer_height_;
    };
    // One more node on top of what was parsed inside the current Nested: a link of a chain.
    void grow() {
        if (++height_ + depth_ > context_.options.max_height) too_deep();
    }

    // Sets the expression restrictions for a scope.
    class With {
      public:
        With(Parser& parser, Restrictions restrictions) : parser_(parser), saved_(parser.restrictions_) {
            parser.restrictions_ = restrictions;
        }
        ~With() { parser_.restrictions_ = saved_; }
        With(const With&) = delete;
        With& operator=(const With&) = delete;

      private:
        Parser& parser_;
        Restrictions saved_;
    };

    // Tries `parse` without reporting anything; when it fails the parser is back where it was.
    template <class F>
    bool attempt(F parse) {
        const std::uint32_t position = pos_;
        ++quiet_;
        const bool outer_failed = failed_;
        parse();
        const bool ok = !failed_;
        --quiet_;
        if (!ok && !outer_failed) rewind(position);
        return ok;
    }

    const ParseContext& context() const { return context_; }
    bool finished();  // all tokens of the range used up; reports the rest otherwise

  private:
    // Makes the token at pos_ the current one. At the end of a range inside a buffer that is the place behind the range.
    void look() {
        split_ = 0;
        kind_ = pos_ < end_ ? buffer_.kind(pos_) : T::Eof;
        span_ = pos_ < end_ || pos_ + 1 == buffer_.size() ? buffer_.span(pos_) : prev_span_.after();
        expected_.reset();
        expected_extra_ = 0;
    }

    const lex::TokenBuffer& buffer_;
    const ParseContext& context_;
    ast::Crate& crate_;
    std::uint32_t pos_;
    std::uint32_t end_;
    TokenKind kind_ = T::Eof;
    std::uint32_t split_ = 0;  // characters already taken of the current token
    Span span_;                // of what is left of it
    Span prev_span_;
    Restrictions restrictions_;
    std::string_view pattern_word_ = "pattern";  // what a missing pattern is called at the next place for one
    bool failed_ = false;
    bool stopped_ = false;  // failed for good: nothing resumes
    int quiet_ = 0;
    std::uint32_t depth_ = 0;
    std::uint32_t height_ = 0;
    std::size_t reported_ = 0;
    std::bitset<lex::kTokenKindCount> expected_;
    std::uint32_t expected_extra_ = 0;
    Diagnostic silent_;  // where the labels of suppressed errors go
    std::tuple<std::vector<ExprId>, std::vector<PatId>, std::vector<TypeId>, std::vector<StmtId>,
               std::vector<ItemId>, std::vector<ast::PathSegment>, std::vector<ast::GenericArg>,
               std::vector<ast::GenericParam>, std::vector<ast::Bound>, std::vector<ast::WherePredicate>,
               std::vector<ast::Param>, std::vector<ast::FieldInit>, std::vector<ast::FieldPat>,
               std::vector<ast::MatchArm>, std::vector<ast::FieldDef>, std::vector<ast::Variant>,
               std::vector<ast::UseTreeId>, std::vector<ast::AttributeId>, std::vector<ast::MetaItem>>
        scratch_;
};

}  // namespace ockc::parse
