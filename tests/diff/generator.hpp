// Writes one well-typed program from a seed. Every expression has a type that is known before it is written, every loop a bound,
// every index and divisor is made safe, and no variable is used against rustc's borrow checker: frozen while it is borrowed,
// hidden while it is borrowed mutably. So rustc accepts every program, and any difference is a finding.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model.hpp"
#include "random.hpp"

namespace ockc::difftest {

struct Expr {
    std::string text;
    bool known = false;   // built from literals only: rustc's lints may compute it
};
using MaybeExpr = std::optional<Expr>;
struct Binding {
    std::string text;
    TypePtr type = nullptr;
};
using Bindings = std::vector<Binding>;

class Generator {
  public:
    explicit Generator(std::uint64_t seed);
    Program program();

  private:
    struct Label {
        std::string name;
        TypePtr value = nullptr;      // of `break 'name value`; null: a loop without value
        bool is_loop = true;
    };
    struct Frame {                    // a function or closure body
        TypePtr result = nullptr;
        bool is_closure = false;
        std::vector<Label> labels;
    };
    class Scope;                      // variables declared inside go at its end
    class Freeze;                     // no variable declared so far may be written
    class Hide;                       // one variable may not be used

    void use(Construct construct) { used_.set(static_cast<std::size_t>(construct)); }
    bool has(Construct construct) const { return used_.test(static_cast<std::size_t>(construct)); }
    std::string fresh(const char* prefix) { return prefix + std::to_string(next_name_++); }

    // Types: gen_type.cpp
    TypePtr make_type(Type type);
    TypePtr int_type(std::uint32_t bits, bool is_signed, bool size = false) const;
    TypePtr scalar_type();
    TypePtr integer();
    TypePtr any_type();
    TypePtr tuple_of(std::vector<TypePtr> parts);
    TypePtr array_of(TypePtr element, std::uint32_t length);
    TypePtr option_of(TypePtr type);
    TypePtr result_of(TypePtr value, TypePtr error);
    void make_scalars();
    void make_composites();

    // Expressions: gen_expr.cpp, gen_flow.cpp, gen_call.cpp, gen_scalar.cpp
    Expr expr(TypePtr type, std::uint32_t depth);
    Expr leaf(TypePtr type);
    Expr dynamic(TypePtr type);                      // not known to the lints, small
    Expr cast_of_seed(TypePtr type);
    Expr literal(TypePtr type, std::uint32_t depth);
    std::string literal_scalar(TypePtr type, bool in_pattern);
    std::string literal_int(TypePtr type, bool in_pattern);
    std::string literal_float(TypePtr type, bool in_pattern);
    std::string literal_char();
    Expr construct(TypePtr type, const Variant& variant, std::uint32_t depth);
    std::string block(TypePtr type, std::uint32_t depth);   // `{ statements; value }`
    std::string frozen(TypePtr type, std::uint32_t depth);  // while nothing may be written
    std::string boolean(std::uint32_t depth);
    std::string index(std::uint32_t length, std::uint32_t depth);
    MaybeExpr place(TypePtr type, bool writable, std::size_t* root = nullptr);
    // Any place that may be written, a part of a variable now and then, and its type.
    struct Target {
        std::string text;
        TypePtr type = nullptr;
        std::size_t root = 0;
    };
    std::optional<Target> target(bool scalar = false);
    void places_in(const std::string& text, TypePtr have, TypePtr want, std::uint32_t depth, std::vector<std::string>& out);
    // A variable that is an array or a slice, of `element` or of anything.
    bool usable(std::size_t variable, bool writable) const;   // neither borrowed nor shadowed
    std::optional<std::size_t> array_variable(TypePtr element, bool writable);
    std::string index_of(const Variable& variable, std::uint32_t depth);
    MaybeExpr arms(TypePtr type, TypePtr subject, const std::string& text, bool by_ref, std::uint32_t depth);
    MaybeExpr call(const Function& function, std::uint32_t depth);
    std::string arguments(const Function& function, std::size_t first, std::uint32_t depth);
    std::string argument(const Param& param, std::uint32_t depth);
    bool affordable(std::uint64_t cost);
    void declare(const Bindings& bindings, bool is_mutable = false);   // their values count as known
    void declare(std::string text, TypePtr type, bool is_mutable, bool known = false);
    std::string int_literal_text(unsigned __int128 magnitude, bool negative, TypePtr type);
    MaybeExpr scalar_method(TypePtr type, std::uint32_t depth, bool option_only);

    // Iterators: gen_iter.cpp
    struct Chain {
        std::string text;
        TypePtr item = nullptr;
        bool double_ended = false, exact = false;
        std::uint32_t most = 0;        // items
    };
    std::optional<Chain> chain(std::uint32_t depth);
    std::optional<Chain> source(std::uint32_t depth);
    std::optional<Chain> adapt(Chain from, std::uint32_t depth);
    // `|x| value` with x of a type; by_ref: the closure gets a reference.
    std::string closure(TypePtr argument, TypePtr result, bool by_ref, std::uint32_t rounds, std::uint32_t depth);
    std::string thunk(TypePtr result, std::uint32_t depth);

#define DIFF_EXPR(id, weight, types, name) MaybeExpr expr##id(TypePtr type, std::uint32_t depth);
#define DIFF_STMT(id, weight, name) bool stmt##id(std::uint32_t depth);
#define DIFF_PATTERN(id, weight, types, name) \
    std::optional<std::string> pattern##id(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings);
#define DIFF_ITEM(id, percent, name) void item##id();
#include "constructs.def"

    // Patterns: gen_pattern.cpp. Null bindings: none may be made.
    std::string pattern(TypePtr type, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings);
    std::string variant_pattern(TypePtr type, const Variant& variant, std::uint32_t depth, bool refutable, bool by_ref, Bindings* bindings);

    // Statements: gen_stmt.cpp, gen_loop.cpp, gen_borrow.cpp
    void statements(std::uint32_t count, std::uint32_t depth);
    void statement(std::uint32_t depth);
    void line(const std::string& text);
    void body(std::uint32_t depth);                  // `{` statements `}` on lines of their own, in a scope
    std::string loop_open(std::uint32_t iterations, bool labeled);
    bool for_range(std::uint32_t depth, std::uint32_t most, std::uint32_t beyond, std::string_view dots);

    // Items: gen_item.cpp, gen_function.cpp, gen_shapes.cpp
    struct Body;                                     // a function's frame, variables and cost, until it is closed
    std::vector<Param> parameters(std::uint32_t count);
    std::string declare_parameters(const std::vector<Param>& params, std::size_t first);
    void function_body(const std::string& head, TypePtr result, std::uint32_t count);
    void plain_function(TypePtr result, const std::string& module_path = {});
    void methods_of(TypePtr type);
    void struct_item(Shape shape);
    void fields_text(const Variant& variant, std::string& text) const;
    void bits_impl(TypePtr type);
    void derives(bool comparable);
    void shape(const std::string& name, std::vector<Param> params, TypePtr result, const std::string& head, const std::vector<std::string>& lines, std::uint64_t cost);
    std::string enclosed(TypePtr type, std::uint32_t depth);
    TypePtr ordered_type();
    std::string constant_text(TypePtr type);
    void roots();
    void grid_function();

    Random random_;
    ConstructSet used_;
    std::deque<Type> types_;
    std::vector<TypePtr> scalars_, ints_, composites_, all_;
    std::vector<TypePtr> structs_, enums_;
    std::vector<Variable> variables_;
    std::vector<Function> functions_, methods_;
    std::vector<Trait> traits_;
    std::vector<GenericFunction> generics_;
    std::vector<ConstGenericFunction> const_generics_;
    std::vector<ClosureTaker> takers_;
    std::vector<OwnIterator> iterators_;
    std::vector<Constant> constants_;
    std::vector<std::pair<TypePtr, TypePtr>> operators_;    // struct with an operator impl, and its right side
    std::vector<Frame> frames_;
    std::string out_;
    std::uint32_t indent_ = 0, next_name_ = 0;
    std::uint64_t cost_ = 0, repeat_ = 1;
    std::int32_t fuel_ = 0;
};

}  // namespace ockc::difftest
