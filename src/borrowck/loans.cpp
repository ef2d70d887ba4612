// Loans in scope: a loan made at a point is in scope wherever control can come from there without leaving its region and
// without its place's path being overwritten.
#include "borrowck/loans.hpp"

namespace ockc::borrowck {

LoanScopes::LoanScopes(const BodyCx& cx, const Regions& regions) : cx_(cx), regions_(regions), scopes_(cx.loans.size()) {
    seen_.assign(cx.points.count(), 0);
    for (std::uint32_t i = 0; i < cx.loans.size(); ++i) trace(LoanId(i));
}

bool LoanScopes::kills(const Loan& loan, Location at) const {
    const mir::BasicBlock& block = cx_.body.blocks[at.block];
    const auto overwrites = [&](const Place& place) {
        if (place.local != loan.place.local) return false;
        return place.is_local() || places_conflict(cx_, loan.place, loan.kind, place, Depth::Deep, Bias::NoOverlap);
    };
    if (at.statement == block.statements.size()) {
        const auto* call = block.terminator.get_if<mir::CallTerminator>();
        return call != nullptr && overwrites(call->destination);
    }
    const mir::Statement& node = block.statements[at.statement];
    if (const auto* assign = node.get_if<mir::AssignStatement>()) return overwrites(assign->place);
    if (const auto* dead = node.get_if<mir::StorageDeadStatement>()) return dead->local == loan.place.local;
    return false;
}

void LoanScopes::trace(LoanId id) {
    const Loan& loan = cx_.loans[id];
    std::vector<std::uint32_t> members;
    std::vector<Location> open;
    const auto push_next = [&](Location at) {
        const mir::BasicBlock& block = cx_.body.blocks[at.block];
        if (at.statement < block.statements.size()) return open.push_back({at.block, at.statement + 1});
        mir::for_each_successor(block.terminator, [&](BlockId to) { open.push_back({to, 0}); });
    };
    // `r = &mut *r` ends the loan that it makes: the path to it is overwritten.
    if (!kills(loan, loan.at)) push_next(loan.at);
    while (!open.empty()) {
        const Location at = open.back();
        open.pop_back();
        const PointId point = cx_.points.of(at);
        if (seen_[point.raw] == id.raw + 1 || !regions_.contains(loan.region, point)) continue;
        seen_[point.raw] = id.raw + 1;
        members.push_back(point.raw);
        if (!kills(loan, at)) push_next(at);
    }
    std::sort(members.begin(), members.end());
    for (const std::uint32_t point : members) scopes_[id.raw].insert(point);
}

}  // namespace ockc::borrowck
