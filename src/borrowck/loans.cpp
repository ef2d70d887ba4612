// Loans in scope: a loan made at a point is in scope wherever control can come from there without leaving its region and
// without its place's path being overwritten.
#include "borrowck/loans.hpp"

namespace ockc::borrowck {

LoanScopes::LoanScopes(const BodyCx& cx, const Regions& regions) : cx_(cx), regions_(regions), scopes_(cx.loans.size()) {
    if (!cx.loans.empty()) seen_.assign(cx.points.count(), 0);
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
    const IntervalSet& region = regions_.value(loan.region);
    std::vector<Location> open;
    const auto push_next = [&](Location at) {
        const mir::BasicBlock& block = cx_.body.blocks[at.block];
        if (at.statement < block.statements.size()) return open.push_back({at.block, at.statement + 1});
        mir::for_each_successor(block.terminator, [&](BlockId to) { open.push_back({to, 0}); });
    };
    // `r = &mut *r` ends the loan that it makes: the path to it is overwritten.
    if (!kills(loan, loan.at)) push_next(loan.at);
    // Straight on through a block while the region lasts.
    while (!open.empty()) {
        Location at = open.back();
        open.pop_back();
        const std::uint32_t begin = cx_.points.of(at).raw;
        const std::uint32_t last = static_cast<std::uint32_t>(cx_.body.blocks[at.block].statements.size());
        const std::uint32_t end = std::min(begin + (last - at.statement) + 1, region.end_of_run(begin));
        std::uint32_t point = begin;
        for (; point < end && seen_[point] != id.raw + 1; ++point, ++at.statement) {
            seen_[point] = id.raw + 1;
            if (kills(loan, at)) {
                ++point;
                break;
            }
            if (at.statement == last) push_next(at);
        }
        scopes_[id.raw].insert(begin, point);
    }
}

}  // namespace ockc::borrowck
