// Where each loan is in scope.
#pragma once
#include "borrowck/conflict.hpp"

namespace ockc::borrowck {

class LoanScopes {
  public:
    LoanScopes(const BodyCx& cx, const Regions& regions);
    bool in_scope(LoanId loan, PointId point) const { return scopes_[loan.raw].contains(point.raw); }
    const IntervalSet& scope(LoanId loan) const { return scopes_[loan.raw]; }

  private:
    void trace(LoanId id);
    bool kills(const Loan& loan, Location at) const;

    const BodyCx& cx_;
    const Regions& regions_;
    std::vector<IntervalSet> scopes_;
    std::vector<std::uint32_t> seen_;   // by PointId: loan + 1 that saw it last
};

}  // namespace ockc::borrowck
