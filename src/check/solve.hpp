// Trait solving over inference variables: selecting what makes `T: Trait` true, normalising associated types, and keeping
// the obligations that cannot be decided yet.
//
// As in rustc: bounds of the environment come before impls; an impl is chosen by unifying its header and discarding those
// whose own bounds fail; more than one left, or an unknown Self, means "not yet".
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/infer.hpp"
#include "check/state.hpp"

namespace ockc::check {

enum class CauseKind : std::uint8_t {
    Misc,
    ItemBound,       // a bound of `item`, whose generic arguments stand at the span
    SizedVariable,   // local variables, parameters, results have a known size
    SizedArgument,
    SizedReturn,
    SizedField,
    Operator,        // operands of a binary operator
    RepeatCopy,      // [value; N]
    Iterate,         // the expression of a `for` loop
    Question,        // the operand of `?`
    WellFormed,
    ImplItem,
};
struct Cause {
    Span span;
    CauseKind kind = CauseKind::Misc;
    DefId item;              // ItemBound
    Span bound_span;         // where the bound was written
    hir::ExprId expr;
    const Predicate* written = nullptr;   // the bound itself, with its regions; it is the obligation's own unless others follow from it
};
struct Obligation {
    Predicate predicate;
    Cause cause;
    std::uint32_t depth = 0;
};

enum class Outcome : std::uint8_t { Yes, Maybe, No };

struct Selection {
    enum class Kind : std::uint8_t { Impl, Bound, Builtin, Callable, Scalar } kind = Kind::Builtin;
    DefId impl;
    ArgsId impl_args;
    TypeId output;           // Callable: of the call; Scalar: of the operator
    std::vector<Obligation> nested;
};

// The view of a closure that selection needs; bodies answer for closures that they are still checking.
struct ClosureView {
    std::vector<TypeId> inputs;
    TypeId output;
    std::optional<ClosureKind> kind;
    std::optional<std::vector<TypeId>> captures;
};
class ClosureSource {
  public:
    virtual ~ClosureSource() = default;
    virtual std::optional<ClosureView> closure_view(TypeId closure) = 0;
};

// Sized, whatever its parts are.
bool is_sized_by_head(const types::TypeData& type);

class Selector {
  public:
    Selector(Context& context, InferCtxt& infer, const ParamEnv& env, ClosureSource* closures = nullptr);

    Context& context() { return cx_; }
    InferCtxt& infer() { return infer_; }
    const ParamEnv& env() const { return env_; }

    // Decides a trait goal and binds what the decision implies. Maybe and No bind nothing.
    Outcome select(const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out);
    // Would the predicate hold? Binds nothing.
    Outcome evaluate(const Predicate& predicate, std::uint32_t depth = 0);
    bool holds(TypeId type, DefId trait) { return evaluate_trait(type, trait) == Outcome::Yes; }
    Outcome evaluate_trait(TypeId type, DefId trait, std::uint32_t depth = 0);
    // Replaces associated types by what they are. Undecided ones become variables with an obligation.
    TypeId normalize(TypeId type, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested);
    ArgsId normalize(ArgsId args, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested);
    ConstId normalize(ConstId constant, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested);
    Predicate normalize(Predicate predicate, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested);

    enum class Projected : std::uint8_t { Known, Rigid, Ambiguous, Failed };
    Projected project(DefId assoc, ArgsId args, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& nested, GenericArg& out);

    // Fresh variables for every parameter of an item, parents included; regions are Erased.
    ArgsId fresh_args(DefId item, Span span);
    // The predicates of an item with arguments filled in, as obligations.
    void item_obligations(DefId item, ArgsId args, const Cause& cause, std::uint32_t depth, std::vector<Obligation>& out);

    static constexpr std::uint32_t kDepthLimit = 128;
    bool overflowed() const { return overflowed_; }

  private:
    friend class Fulfill;
    struct Candidate {
        const ImplEntry* impl = nullptr;
        TraitRef bound;
    };
    std::optional<Outcome> select_builtin(const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out);
    Outcome select_sized(TypeId self, const Cause& cause, std::uint32_t depth, Selection& out, bool* undecided);
    std::optional<Outcome> select_copy_clone(const TraitRef& goal, TypeId self, const Cause& cause, std::uint32_t depth, Selection& out);
    std::optional<Outcome> select_callable(const TraitRef& goal, TypeId self, Selection& out);
    std::optional<Outcome> select_scalar(const TraitRef& goal, TypeId self, Selection& out);
    std::optional<Outcome> select_auto(const TraitRef& goal, TypeId self, const Cause& cause, std::uint32_t depth, Selection& out);
    Outcome select_bound(const TraitRef& goal, std::vector<TraitRef>& bounds, Selection& out);
    Outcome select_impl(const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out);
    void collect_bounds(const TraitRef& goal, std::vector<TraitRef>& out);
    bool key_may_match(TypeKey impl_key, TypeId self);
    bool match_impl(const ImplEntry& entry, const TraitRef& goal, const Cause& cause, std::uint32_t depth, Selection& out);
    bool contradicted(DefId assoc, ArgsId args, GenericArg first, const Cause& cause);
    bool project_from_predicates(std::span<const Predicate> predicates, std::span<const GenericArg> subst, DefId assoc, ArgsId args, GenericArg& out);
    Projected project_impl(DefId assoc, ArgsId args, Selection& selection, const Cause& cause, std::uint32_t depth,
                           std::vector<Obligation>& nested, GenericArg& out);
    Projected project_unnamed(DefId assoc, ArgsId args, Selection& selection, const Cause& cause, std::uint32_t depth,
                              std::vector<Obligation>& nested, GenericArg& out);
    Outcome evaluate_trait_goal(const TraitRef& goal, std::uint32_t depth);
    std::optional<Outcome> remembered(const TraitRef& goal) const;
    Outcome evaluate_all(std::vector<Obligation> nested, std::uint32_t depth);
    void nested_trait(TypeId type, DefId trait, const Cause& cause, std::uint32_t depth, Selection& out);
    std::uint64_t cache_key(const TraitRef& goal) const;

    Context& cx_;
    TypeStore& types_;
    InferCtxt& infer_;
    const ParamEnv& env_;
    ClosureSource* closures_;
    bool overflowed_ = false;
};

struct FulfillError {
    enum class Kind : std::uint8_t { Unimplemented, Mismatch, Overflow, Ambiguous } kind = Kind::Unimplemented;
    Obligation obligation;      // the leaf that failed
    GenericArg found;           // Mismatch: what the associated type is
};

// The obligations that wait.
class Fulfill {
  public:
    explicit Fulfill(Selector& selector) : selector_(selector) {}
    void add(Obligation obligation) { pending_.push_back(std::move(obligation)); }
    void add(std::vector<Obligation> obligations);
    // Something else than a variable has become known (a closure's kind): tries everything again.
    void reconsider() { settled_ = 0; }
    // Works until nothing more can be decided.
    void run(std::vector<FulfillError>& errors);
    const std::vector<Obligation>& pending() const { return pending_; }
    std::vector<Obligation> take_pending() { return std::move(pending_); }
    bool idle() const { return pending_.empty(); }

  private:
    enum class Step : std::uint8_t { Done, Wait };
    Step process(const Obligation& obligation, std::vector<Obligation>& fresh, std::vector<FulfillError>& errors);
    Step process_trait(const Obligation& obligation, std::vector<Obligation>& fresh, std::vector<FulfillError>& errors);
    Step process_projection(const Obligation& obligation, std::vector<Obligation>& fresh, std::vector<FulfillError>& errors);
    bool still_stalled(const Obligation& obligation);

    Selector& selector_;
    std::vector<Obligation> pending_;
    std::size_t settled_ = 0;             // pending_[0, settled_) were tried at `seen_bindings_`
    std::uint64_t seen_bindings_ = 0;
};

}  // namespace ockc::check
