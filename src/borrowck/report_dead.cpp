// Storage that ends while it is borrowed (E0597, E0716), for a reference that goes to the caller (E0515, E0373, E0521) or
// because a destructor needs what is borrowed (E0713).
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

namespace {

Diagnostic& only_label(Diagnostic& error, Span span, std::string text) {
    error.labels.clear();
    error.labels.push_back(Label{span, std::move(text), true});
    return error;
}

// The outermost type with a destructor that the borrowed place is inside of.
TypeId destructor_of(const BodyCx& cx, const Place& place) {
    for (std::size_t i = 0; i < place.projections.size(); ++i) {
        const TypeId type = cx.erased_type(place, i);
        const bool is_field = place.projections[i].kind == mir::ProjectionKind::Field;
        if (is_field && cx.types.kind(type) == types::TypeKind::Adt && cx.context.drop_impl(type).valid()) return type;
    }
    return TypeId();
}

// A constraint that says that a closure goes where it lives longer.
bool is_closure_blame(Category category) {
    return category == Category::Return || category == Category::CallArgument || category == Category::Opaque || category == Category::OpaqueReturn;
}

}  // namespace

void Checker::report_dead_while_borrowed(const Place& place, LoanId id, bool unwinding) {
    const Loan& loan = cx_.loans[id];
    const Place root{loan.place.local, {}};
    // A closure's capture stands inside it, the borrow of it in front.
    const Span borrowed = loan.is_capture ? loan.use_span : loan.span;
    if (is_reported(root, borrowed)) return;
    reported_at_.emplace_back(root, borrowed);
    const Explanation why = unwinding ? explain_outlives(loan) : explain(loan, at_);
    if (report_destructor(place, loan, why) || report_escape(loan, why) || report_returned(loan, why)) return;
    if (!is_user_variable(cx_, loan.place.local)) return report_temporary(loan, why);
    const std::string name = quoted(cx_, loan.place);
    Diagnostic& error = sink().error(Code::E0597, borrowed, name + " does not live long enough");
    only_label(error, borrowed, "borrowed value does not live long enough");
    if (loan.is_capture) error.label(loan.span, "value captured here");
    error.label(cx_.body.locals[loan.place.local].span, "binding " + quoted(cx_, root) + " declared here");
    // Its storage ends where the body does when nothing else says where.
    const Span end = unwinding ? Span{cx_.body.span.file, cx_.body.span.end == 0 ? 0 : cx_.body.span.end - 1, cx_.body.span.end} : span_;
    error.label(end, quoted(cx_, root) + " dropped here while still borrowed");
    add_explanation(error, why, "", loan);
}

void Checker::report_temporary(const Loan& loan, const Explanation& why) {
    const mir::Local& local = cx_.body.locals[loan.place.local];
    Diagnostic& error = sink().error(Code::E0716, loan.span, "temporary value dropped while borrowed");
    const Span made = local.span.valid() ? local.span : loan.span;
    only_label(error, made, "creates a temporary value which is freed while still in use");
    error.label(span_, "temporary value is freed at the end of this statement");
    add_explanation(error, why, "", loan);
    if (why.kind == Explanation::Kind::Later || why.kind == Explanation::Kind::LaterInLoop) {
        error.help("consider using a `let` binding to create a longer lived value");
    }
}

// What is borrowed is inside a value whose destructor runs.
bool Checker::report_destructor(const Place& place, const Loan& loan, const Explanation& why) {
    const TypeId type = destructor_of(cx_, loan.place);
    if (!type.valid() || loan.place.projections.size() <= place.projections.size()) return false;
    Diagnostic& error = sink().error(Code::E0713, loan.span, "borrow may still be in use when destructor runs");
    error.labels.clear();
    error.labels.push_back(Label{loan.span, {}, true});
    const std::optional<std::string> dropped = describe(cx_, place);
    const std::string what = dropped ? "`" + *dropped + "`" : std::string("temporary value");
    error.label(span_, "here, drop of " + what + " needs exclusive access to " + quoted(cx_, loan.place) + ", because the type `" +
                           cx_.text(type) + "` implements the `Drop` trait");
    if (why.kind != Explanation::Kind::Outlives && why.kind != Explanation::Kind::None) {
        error.note("consider using a `let` binding to create a longer lived value");
    }
    add_explanation(error, why, "", loan);
    return true;
}

// A closure that lives longer than the variable it borrows (E0373); data of a closure's own that is stored in a variable of
// its surroundings (E0521).
bool Checker::report_escape(const Loan& loan, const Explanation& why) {
    if (why.kind != Explanation::Kind::Outlives) return false;
    const Outlives& blamed = regions_.constraint(why.blame);
    const std::string name = quoted(cx_, loan.place);
    const bool is_named = describe(cx_, loan.place).has_value();
    if (loan.is_capture && is_named && !blamed.from_closure && is_closure_blame(blamed.category)) {
        Diagnostic& error = sink().error(Code::E0373, loan.span,
                                         "closure may outlive the current function, but it borrows " + name +
                                             ", which is owned by the current function");
        only_label(error, loan.span, "may outlive borrowed value " + name);
        error.note_at(blamed.span, blamed.category != Category::CallArgument ? "closure is returned here" : "function requires argument type to outlive " +
                      (cx_.regions.info(why.region).name.empty() ? std::string("the closure") : "`" + std::string(cx_.regions.info(why.region).name) + "`"));
        error.suggest(loan.span.start(), "move ", "to force the closure to take ownership of " + name + ", use the `move` keyword",
                      Applicability::MachineApplicable);
        return true;
    }
    const RegionInfo& region = cx_.regions.info(why.region);
    const bool is_captured = cx_.body.is_closure && region.role == RegionRole::External && region.argument.valid();
    if (!is_captured || blamed.category != Category::Assignment || blamed.from_closure) return false;
    Diagnostic& error = sink().error(Code::E0521, loan.span, "borrowed data escapes outside of closure");
    only_label(error, loan.span, "borrow is only valid in the closure body");
    error.label(blamed.span, "reference to " + name + " escapes the closure body here");
    return true;
}

// A reference to the function's own data that goes to the caller.
bool Checker::report_returned(const Loan& loan, const Explanation& why) {
    if (why.kind != Explanation::Kind::Outlives) return false;
    const Outlives& blamed = regions_.constraint(why.blame);
    if (blamed.category != Category::Return || blamed.from_closure) return false;
    const mir::Local& local = cx_.body.locals[loan.place.local];
    const bool direct = blamed.span == loan.span;
    const bool whole = loan.place.is_local();
    std::string what, note;
    if (const std::optional<std::string> described = describe(cx_, loan.place)) {
        const std::string_view kind = !whole                                   ? "local data "
                                      : local.kind == mir::LocalKind::Arg      ? "function parameter "
                                                                               : "local variable ";
        what = std::string(kind) + "`" + *described + "`";
        note = "`" + *described + "` is borrowed here";
    } else {
        what = "temporary value";
        note = "temporary value created here";
    }
    Diagnostic& error = sink().error(Code::E0515, blamed.span,
                                     std::string("cannot return ") + (direct ? "reference to " : "value referencing ") + what);
    only_label(error, blamed.span,
                 std::string("returns a ") + (direct ? "reference to" : "value referencing") + " data owned by the current function");
    if (!direct) error.label(what == "temporary value" && local.span.valid() ? local.span : loan.span, note);
    return true;
}

}  // namespace ockc::borrowck
