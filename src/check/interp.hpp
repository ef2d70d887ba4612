// The constant evaluator: a tree-walking interpreter over typed HIR with counted steps. Values are trees; a place is an
// allocation and a path into it; references point at places. What cannot be known at compile time, overflows, panics or runs
// too long is E0080, at the operation that failed.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/state.hpp"

namespace ockc::check {

using UInt128 = unsigned __int128;
using Int128 = __int128;

class Interpreter {
  public:
    explicit Interpreter(Context& context);
    // The value of a constant's, static's or anonymous constant's body with generic arguments; null after an error was reported.
    const ConstValue* run(ItemRef item);
    // Was evaluation given up because something is still generic (nothing reported)?
    bool too_generic() const { return too_generic_; }

  private:
    using AllocId = std::uint32_t;
    static constexpr AllocId kNoAlloc = 0xFFFF'FFFFu;
    struct Place {
        AllocId alloc = kNoAlloc;
        std::vector<std::uint32_t> path;     // field and element indices
        bool is_slice = false;               // [start, start + length) of the array at the path
        std::uint64_t start = 0, length = 0;
        TypeId type;                         // of the place; a slice: [T]
        DefId static_def;                    // the place is a static's value
    };
    struct Value {
        enum class Kind : std::uint8_t { Uninit, Scalar, Aggregate, Ref, Bytes, StaticRef, FnItem, FnPtr } kind = Kind::Uninit;
        TypeId type;
        UInt128 bits = 0;
        std::uint32_t variant = 0;
        std::vector<Value> fields;
        Place target;                        // Ref
        std::string_view bytes;              // Bytes: a str value
        DefId static_def;
        TypeId fn_item;
    };
    struct Operand {
        bool is_place = false;
        Place place;
        Value value;
        TypeId type;
    };
    struct Frame {
        const TypeTables* tables = nullptr;
        const hir::Body* body = nullptr;
        ArgsId args;
        std::unordered_map<hir::LocalId, AllocId> locals;
        DefId owner;
    };
    enum class Flow : std::uint8_t { Normal, Break, Continue, Return, Fail };

    // ---- interp.cpp
    Value call(ItemRef callee, std::vector<Value> args, Span at);
    Value scalar_operator(ItemRef method, const std::vector<Value>& args, Span at);
    Value call_body(ItemRef fn, std::vector<Value> args, Span at);
    Value construct(ItemRef ctor, std::vector<Value> fields);
    TypeId instantiate(TypeId type);
    ItemRef instantiate(ItemRef item);
    bool step(Span at);
    Value fail(Span at, std::string message);
    AllocId allocate(Value value);
    static bool has_reference(const Value& value);
    static std::uint64_t node_count(const Value& value);   // values in the tree, itself included
    Value* resolve(const Place& place, Span at);
    Value read(const Place& place, Span at);
    Value to_value(Operand operand, Span at);
    Place to_place(Operand operand);
    Value from_const(const ConstValue& value);
    const ConstValue* to_const(const Value& value, Span at, std::uint32_t depth);
    Value constant_item(ItemRef item, Span at);
    Value constant_argument(ConstId constant, Span at);

    // ---- interp_expr.cpp
    Value eval(hir::ExprId id);
    Operand eval_operand(hir::ExprId id);            // adjustments applied
    Operand eval_bare(hir::ExprId id);
    Operand adjust(Operand operand, const Adjustment& step, Span at);
    Place eval_place(hir::ExprId id);
    Value eval_path(hir::ExprId id);
    Value eval_block(hir::BlockId id);
    bool exec_stmt(const hir::Stmt& stmt);
    Value eval_call(hir::ExprId id, const hir::CallExpr& e);
    Value eval_method(hir::ExprId id, const hir::MethodCallExpr& e);
    Value eval_struct(hir::ExprId id, const hir::StructExpr& e);
    Value eval_if(const hir::IfExpr& e);
    Value eval_match(hir::ExprId id, const hir::MatchExpr& e);
    Value eval_loop(hir::ExprId id, const hir::LoopExpr& e);
    Value eval_assign_op(hir::ExprId id, const hir::AssignOpExpr& e);
    Operand eval_index(hir::ExprId id, const hir::IndexExpr& e);
    Operand eval_deref(Operand pointer, TypeId type, Span at);
    Value eval_literal(hir::ExprId id, const hir::Literal& literal);
    Value eval_panic(hir::ExprId id, const hir::PanicExpr& e);

    // ---- interp_op.cpp
    Value binary(hir::BinaryOp op, const Value& lhs, const Value& rhs, TypeId result, Span at);
    Value integer_binary(hir::BinaryOp op, const Value& lhs, const Value& rhs, TypeId result, Span at);
    Value float_binary(hir::BinaryOp op, const Value& lhs, const Value& rhs, TypeId result);
    Value compare(hir::BinaryOp op, const Value& lhs, const Value& rhs, Span at);
    Value negated(const Value& operand);      // wraps
    Value unary(hir::UnaryOp op, const Value& operand, TypeId result, Span at);
    Value cast(CastKind kind, const Value& value, TypeId to, Span at);
    std::optional<double> float_intrinsic(std::string_view key, const std::vector<Value>& args);
    Value text_as_bytes(const Value& text, TypeId output, Span at);
    Value intrinsic(std::string_view key, ItemRef fn, std::vector<Value> args, Span at);
    Value scalar(TypeId type, UInt128 bits);
    Value unit();
    Int128 signed_value(const Value& value);
    std::string number_text(const Value& value);

    // ---- interp_pattern.cpp
    bool match(hir::PatId id, Operand operand);
    bool match_kind(hir::PatId id, Operand operand);
    bool equals_const(const Operand& operand, const ConstValue& value, Span at);
    bool match_range(const hir::RangePat& p, const Operand& operand, Span at);
    bool match_slice(hir::PatId id, const hir::SlicePat& p, const Operand& operand);
    Operand part(const Operand& operand, std::uint32_t index, TypeId type);
    void bind(hir::PatId id, const hir::BindingPat& p, const Operand& operand);

    const hir::Expr& expr(hir::ExprId id) const { return frame_->body->exprs[id]; }
    const hir::Pat& pat(hir::PatId id) const { return frame_->body->pats[id]; }
    TypeId type_of(hir::ExprId id) { return instantiate(frame_->tables->type(id)); }

    Context& cx_;
    TypeStore& types_;
    const hir::Program& program_;
    Frame* frame_ = nullptr;
    std::uint32_t depth_ = 0;
    std::uint64_t steps_ = 0;
    std::deque<Value> memory_;
    std::uint64_t memory_nodes_ = 0;     // values inside the values of memory_
    std::uint64_t converted_ = 0;        // to_const: values so far
    bool out_of_steps_ = false;
    Flow flow_ = Flow::Normal;
    hir::ExprId flow_target_;
    Value flow_value_;
    bool too_generic_ = false;
    std::string failure_;
    Span failure_span_;
    std::vector<std::pair<DefId, Span>> failure_frames_;   // innermost first: function and the call in it
};

}  // namespace ockc::check
