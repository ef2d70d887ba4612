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

// A shared reference that is passed on is borrowed again from what it refers to.
bool Checker::is_reborrowed() const {
    if (at_.statement >= block().statements.size()) return false;
    const auto* assign = block().statements[at_.statement].get_if<mir::AssignStatement>();
    return assign != nullptr && mir::kind(assign->value) == mir::RvalueKind::Use && !is_user_variable(cx_, assign->place.local);
}

void Checker::report_conflicting_borrow(const Place& place, BorrowKind kind, const Loan& loan, LoanId) {
    if (loan.kind == BorrowKind::Fake) return report_guard_mutation(place, loan, "mutably borrow");
    const std::string name = quoted(cx_, place), loaned = quoted(cx_, loan.place);
    const bool new_mut = mir::is_mutable(kind), old_mut = mir::is_mutable(loan.kind);
    const bool same_span = loan.span == span_;
    const Explanation why = explain(loan, at_);
    // Two borrows of different parts: each label names its own.
    const bool same_place = name == loaned;
    const std::string via = same_place ? "" : " (via " + loaned + ")";
    if (report_unique_capture(place, kind, loan, why)) return;
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

// Closures that borrow a variable for themselves without its being `mut` (E0500, E0501, E0524).
bool Checker::report_unique_capture(const Place& place, BorrowKind kind, const Loan& loan, const Explanation& why) {
    const bool is_new = kind == BorrowKind::UniqueCapture, is_old = loan.kind == BorrowKind::UniqueCapture;
    if (!is_new && !is_old) return false;
    const std::string name = quoted(cx_, place);
    const auto report = [&](Code code, std::string message, std::string here, std::string there) -> bool {
        Diagnostic& error = sink().error(code, span_, std::move(message));
        with_primary(error, span_, std::move(here));
        if (!(loan.span == span_)) error.label(loan.span, std::move(there));
        add_explanation(error, why, "first ", loan);
        return true;
    };
    if (is_new && is_old) {
        const bool in_loop = loan.span == span_;
        return report(Code::E0524, "two closures require unique access to " + name + " at the same time",
                      in_loop ? "closures are constructed here in different iterations of loop" : "second closure is constructed here",
                      "first closure is constructed here");
    }
    if (is_new) {
        return report(Code::E0500, "closure requires unique access to " + name + " but it is already borrowed",
                      "closure construction occurs here", "borrow occurs here");
    }
    return report(Code::E0501, "cannot borrow " + name + " as " + (mir::is_mutable(kind) ? "mutable" : "immutable") +
                                   " because previous closure requires unique access",
                  "second borrow occurs here", "closure construction occurs here");
}

void Checker::report_use_while_borrowed(const Place& place, const Loan& loan, LoanId) {
    const std::string name = quoted(cx_, place);
    const types::TypeData& type = cx_.types[cx_.body.type_of(place)];
    if (type.kind == types::TypeKind::Ref && type.mutability == types::Mutability::Not && is_reborrowed()) {
        const std::optional<std::string> described = describe(cx_, place);
        Diagnostic& error = sink().error(Code::E0502, span_,
                                         "cannot borrow " + (described ? "`*" + *described + "`" : std::string("value")) +
                                             " as immutable because it is also borrowed as mutable");
        with_primary(error, span_, "immutable borrow occurs here");
        error.label(loan.span, "mutable borrow occurs here");
        return add_explanation(error, explain(loan, at_), "mutable ", loan);
    }
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

}  // namespace ockc::borrowck
