// Walkers over MIR nodes: successors of a terminator, operands and places of a node. Each switches over all rows of
// mir.def without a default, so that a new row must be thought about here.
#pragma once
#include "mir/mir.hpp"

namespace ockc::mir {

template <class Fn>
void for_each_successor(const Terminator& terminator, Fn&& f) {
    switch (terminator.kind()) {
        case TerminatorKind::None:
        case TerminatorKind::Return:
        case TerminatorKind::Unreachable:
        case TerminatorKind::Panic: return;
        case TerminatorKind::Goto: return f(terminator.as<GotoTerminator>().target);
        case TerminatorKind::SwitchInt: {
            const auto& node = terminator.as<SwitchIntTerminator>();
            for (const SwitchCase& one : node.cases) f(one.target);
            if (node.otherwise.valid()) f(node.otherwise);
            return;
        }
        case TerminatorKind::Drop: return f(terminator.as<DropTerminator>().target);
        case TerminatorKind::Call:
            if (terminator.as<CallTerminator>().target.valid()) f(terminator.as<CallTerminator>().target);
            return;
        case TerminatorKind::Assert: return f(terminator.as<AssertTerminator>().target);
        case TerminatorKind::FalseEdge:
            f(terminator.as<FalseEdgeTerminator>().real_target);
            return f(terminator.as<FalseEdgeTerminator>().imaginary_target);
        case TerminatorKind::FalseUnwind: return f(terminator.as<FalseUnwindTerminator>().real_target);
    }
}

// Replaces each successor s by f(s). SwitchInt's cases are copied into `arena`.
template <class Fn>
void map_successors(Arena& arena, Terminator& terminator, Fn&& f) {
    switch (terminator.kind()) {
        case TerminatorKind::None:
        case TerminatorKind::Return:
        case TerminatorKind::Unreachable:
        case TerminatorKind::Panic: return;
        case TerminatorKind::Goto: {
            auto& node = std::get<GotoTerminator>(terminator.data);
            node.target = f(node.target);
            return;
        }
        case TerminatorKind::SwitchInt: {
            auto& node = std::get<SwitchIntTerminator>(terminator.data);
            const std::span<SwitchCase> cases = arena.copy(node.cases);
            for (SwitchCase& one : cases) one.target = f(one.target);
            node.cases = cases;
            if (node.otherwise.valid()) node.otherwise = f(node.otherwise);
            return;
        }
        case TerminatorKind::Drop: {
            auto& node = std::get<DropTerminator>(terminator.data);
            node.target = f(node.target);
            return;
        }
        case TerminatorKind::Call: {
            auto& node = std::get<CallTerminator>(terminator.data);
            if (node.target.valid()) node.target = f(node.target);
            return;
        }
        case TerminatorKind::Assert: {
            auto& node = std::get<AssertTerminator>(terminator.data);
            node.target = f(node.target);
            return;
        }
        case TerminatorKind::FalseEdge: {
            auto& node = std::get<FalseEdgeTerminator>(terminator.data);
            node.real_target = f(node.real_target);
            node.imaginary_target = f(node.imaginary_target);
            return;
        }
        case TerminatorKind::FalseUnwind: {
            auto& node = std::get<FalseUnwindTerminator>(terminator.data);
            node.real_target = f(node.real_target);
            return;
        }
    }
}

// Calls f(const Operand&) for each operand of an rvalue, in order of evaluation.
template <class Fn>
void for_each_operand(const Rvalue& value, Fn&& f) {
    switch (kind(value)) {
        case RvalueKind::None:
        case RvalueKind::Ref:
        case RvalueKind::RawPtr:
        case RvalueKind::Len:
        case RvalueKind::Discriminant:
        case RvalueKind::NullaryOp: return;
        case RvalueKind::Use: return f(std::get<UseRvalue>(value.data).operand);
        case RvalueKind::Repeat: return f(std::get<RepeatRvalue>(value.data).operand);
        case RvalueKind::Cast: return f(std::get<CastRvalue>(value.data).operand);
        case RvalueKind::UnaryOp: return f(std::get<UnaryOpRvalue>(value.data).operand);
        case RvalueKind::BinaryOp:
            f(std::get<BinaryOpRvalue>(value.data).lhs);
            return f(std::get<BinaryOpRvalue>(value.data).rhs);
        case RvalueKind::CheckedBinaryOp:
            f(std::get<CheckedBinaryOpRvalue>(value.data).lhs);
            return f(std::get<CheckedBinaryOpRvalue>(value.data).rhs);
        case RvalueKind::Aggregate:
            for (const Operand& operand : std::get<AggregateRvalue>(value.data).operands) f(operand);
            return;
    }
}

// The place that an rvalue borrows or looks at without copying it out; null when it has none.
inline const Place* read_place(const Rvalue& value) {
    switch (kind(value)) {
        case RvalueKind::Ref: return &std::get<RefRvalue>(value.data).place;
        case RvalueKind::RawPtr: return &std::get<RawPtrRvalue>(value.data).place;
        case RvalueKind::Len: return &std::get<LenRvalue>(value.data).place;
        case RvalueKind::Discriminant: return &std::get<DiscriminantRvalue>(value.data).place;
        case RvalueKind::None:
        case RvalueKind::Use:
        case RvalueKind::Repeat:
        case RvalueKind::Cast:
        case RvalueKind::BinaryOp:
        case RvalueKind::CheckedBinaryOp:
        case RvalueKind::UnaryOp:
        case RvalueKind::Aggregate:
        case RvalueKind::NullaryOp: return nullptr;
    }
    OCKC_UNREACHABLE("rvalue kind");
}

// Calls f(const Operand&) for each operand of a terminator, in order of evaluation.
template <class Fn>
void for_each_operand(const Terminator& terminator, Fn&& f) {
    switch (terminator.kind()) {
        case TerminatorKind::None:
        case TerminatorKind::Goto:
        case TerminatorKind::Return:
        case TerminatorKind::Unreachable:
        case TerminatorKind::Drop:
        case TerminatorKind::FalseEdge:
        case TerminatorKind::FalseUnwind: return;
        case TerminatorKind::SwitchInt: return f(terminator.as<SwitchIntTerminator>().operand);
        case TerminatorKind::Call: {
            const auto& node = terminator.as<CallTerminator>();
            f(node.callee);
            for (const Operand& operand : node.args) f(operand);
            return;
        }
        case TerminatorKind::Assert: {
            const auto& node = terminator.as<AssertTerminator>();
            f(node.condition);
            if (node.a.constant.valid() || node.a.place.local.valid()) f(node.a);
            if (node.b.constant.valid() || node.b.place.local.valid()) f(node.b);
            return;
        }
        case TerminatorKind::Panic:
            for (const Operand& operand : terminator.as<PanicTerminator>().args) f(operand);
            return;
    }
}

}  // namespace ockc::mir
