// Conflicts between an access and a loan, told at the three points: the borrow, the access, the later use.
#include "borrowck/checker.hpp"

namespace ockc::borrowck {

using mir::BorrowKind;

namespace {

Diagnostic& with_primary(Diagnostic& error, Span span, std::string text) {
    error.labels.clear();
    error.labels.push_back(Label{span, std::move(text), true});
    return error;
}

}  // namespace

void Checker::report_conflicting_borrow(const Place& place, BorrowKind kind, const Loan& loan, LoanId id) {
    if (loan.kind == BorrowKind::Fake) return report_guard_mutation(place, loan, "mutably borrow");
    static_cast<void>(id);
    const std::string name = quoted(cx_, place), loaned = quoted(cx_, loan.place);
    const bool new_mut = mir::is_mutable(kind), old_mut = mir::is_mutable(loan.kind);
    const bool same_span = loan.span == span_;
    const Explanation why = explain(loan, at_);
    // Two borrows of different parts: each label names its own.
    const bool same_place = name == loaned;
    const std::string via = same_place ? "" : " (via " + loaned + ")";
    if (new_mut && old_mut) {
        Diagnostic& error =
            sink().error(Code::E0499, span_, "cannot borrow " + name + " as mutable more than once at a time");
        if (same_span) {
            with_primary(error, span_, name + " was mutably borrowed here in the previous iteration of the loop");
        } else {
            with_primary(error, span_, "second mutable borrow occurs here");
            error.label(loan.span, "first mutable borrow occurs here");
        }
        return add_explanation(error, why, "first ", loan);
    }
    const std::string_view fresh = new_mut ? "mutable" : "immutable", standing = old_mut ? "mutable" : "immutable";
    Diagnostic& error = sink().error(Code::E0502, span_,
                                     "cannot borrow " + name + " as " + std::string(fresh) +
                                         " because it is also borrowed as " + std::string(standing));
    with_primary(error, span_, std::string(fresh) + " borrow occurs here");
    error.label(loan.span, std::string(standing) + " borrow occurs here" + via);
    add_explanation(error, why, std::string(standing) + " ", loan);
}

void Checker::report_use_while_borrowed(const Place& place, const Loan& loan, LoanId) {
    const std::string name = quoted(cx_, place);
    Diagnostic& error =
        sink().error(Code::E0503, span_, "cannot use " + name + " because it was mutably borrowed");
    with_primary(error, span_, "use of borrowed " + quoted(cx_, loan.place));
    error.label(loan.span, quoted(cx_, loan.place) + " is borrowed here");
    add_explanation(error, explain(loan, at_), "", loan);
}

void Checker::report_move_while_borrowed(const Place& place, const Loan& loan, LoanId) {
    const std::string name = quoted(cx_, place);
    Diagnostic& error = sink().error(Code::E0505, span_, "cannot move out of " + name + " because it is borrowed");
    with_primary(error, span_, "move out of " + name + " occurs here");
    error.label(loan.span, "borrow of " + quoted(cx_, loan.place) + " occurs here");
    if (is_user_variable(cx_, place.local)) error.label(cx_.body.locals[place.local].span, "binding " + quoted(cx_, Place{place.local, {}}) + " declared here");
    add_explanation(error, explain(loan, at_), "", loan);
}

void Checker::report_assignment_while_borrowed(const Place& place, const Loan& loan, LoanId) {
    if (loan.kind == BorrowKind::Fake) return report_guard_mutation(place, loan, "assign");
    const std::string name = quoted(cx_, place);
    Diagnostic& error = sink().error(Code::E0506, span_, "cannot assign to " + name + " because it is borrowed");
    with_primary(error, span_, name + " is assigned to here but it was already borrowed");
    error.label(loan.span, quoted(cx_, loan.place) + " is borrowed here");
    add_explanation(error, explain(loan, at_), "", loan);
}

void Checker::report_guard_mutation(const Place& place, const Loan& loan, std::string_view action) {
    const std::string name = quoted(cx_, place);
    Diagnostic& error =
        sink().error(Code::E0510, span_, "cannot " + std::string(action) + " " + name + " in match guard");
    with_primary(error, span_, "cannot " + std::string(action));
    error.label(loan.span, "value is immutable in match guard");
}

// The storage of what is borrowed ends while the loan is in scope.
void Checker::report_dead_while_borrowed(const Place& place, const Loan& loan, LoanId id) {
    if (report_returned(place, loan, id)) return;
    const Explanation why = explain(loan, at_);
    const mir::Local& local = cx_.body.locals[loan.place.local];
    if (!is_user_variable(cx_, loan.place.local)) {
        Diagnostic& error = sink().error(Code::E0716, loan.span, "temporary value dropped while borrowed");
        const Span made = local.span.valid() ? local.span : loan.span;
        with_primary(error, made, "creates a temporary value which is freed while still in use");
        error.label(span_, "temporary value is freed at the end of this statement");
        add_explanation(error, why, "", loan);
        if (why.kind == Explanation::Kind::Later || why.kind == Explanation::Kind::LaterInLoop) {
            error.help("consider using a `let` binding to create a longer lived value");
        }
        return;
    }
    const std::string name = quoted(cx_, loan.place);
    Diagnostic& error = sink().error(Code::E0597, loan.span, name + " does not live long enough");
    with_primary(error, loan.span, "borrowed value does not live long enough");
    error.label(local.span, "binding " + quoted(cx_, Place{loan.place.local, {}}) + " declared here");
    error.label(span_, quoted(cx_, Place{loan.place.local, {}}) + " dropped here while still borrowed");
    add_explanation(error, why, "", loan);
}

// A reference to the function's own data that goes to the caller: E0515, or E0373 when a closure carries it.
bool Checker::report_returned(const Place&, const Loan& loan, LoanId) {
    const std::vector<std::uint32_t> path =
        regions_.find_path(loan.region, [&](RegionVid region) { return cx_.is_universal(region); });
    if (path.empty()) return false;
    const Outlives& blamed = regions_.constraint(blame(path));
    bool captured = false;
    for (const std::uint32_t index : path) captured = captured || regions_.constraint(index).category == Category::ClosureUpvar;
    const mir::Local& local = cx_.body.locals[loan.place.local];
    const std::string name = quoted(cx_, loan.place);
    if (captured && is_user_variable(cx_, loan.place.local)) {
        Diagnostic& error = sink().error(Code::E0373, loan.span,
                                         "closure may outlive the current function, but it borrows " + name +
                                             ", which is owned by the current function");
        with_primary(error, loan.span, "may outlive borrowed value " + name);
        error.help("to force the closure to take ownership of " + name + ", use the `move` keyword");
        return true;
    }
    if (blamed.category != Category::Return) return false;
    const bool direct = blamed.span == loan.span;
    std::string what, note;
    const bool whole = loan.place.is_local();
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
    with_primary(error, blamed.span,
                 std::string("returns a ") + (direct ? "reference to" : "value referencing") + " data owned by the current function");
    if (!direct) error.label(what == "temporary value" && local.span.valid() ? local.span : loan.span, note);
    return true;
}

}  // namespace ockc::borrowck
