// Obligations of a declaration: registered while it is looked at, solved at its end, reported as E0277 and its kin.
#pragma once
#include "check/solve.hpp"

namespace ockc::check {

class ItemEnv {
  public:
    ItemEnv(Context& context, DefId item) : cx_(context), infer_(context.types()), selector_(context, infer_, context.param_env(item)), fulfill_(selector_) {}

    InferCtxt& infer() { return infer_; }
    Selector& selector() { return selector_; }
    TypeId normalize(TypeId type, Span span);
    void require(Predicate predicate, Span span, CauseKind kind = CauseKind::Misc);
    void require_trait(TypeId type, DefId trait, Span span, CauseKind kind = CauseKind::Misc);
    void require_all(DefId item, ArgsId args, Span span);
    // Everything that the parts of a type demand: bounds of structs, sized elements.
    void well_formed(TypeId type, Span span);
    void finish();

  private:
    void report(const FulfillError& failure);

    Context& cx_;
    InferCtxt infer_;
    Selector selector_;
    Fulfill fulfill_;
    Span reported_at_;
};

}  // namespace ockc::check
