// Which locals of a body can live in SSA values: scalars and pairs of scalars that are only read and written as such, whole or
// one scalar at a time, and never referred to.
#pragma once
#include <functional>
#include <vector>

#include "lower/module_lowering.hpp"

namespace ockc::lower {

// What a body's types are where it is lowered.
struct BodyTypes {
    ModuleLowering& module;
    std::vector<const Layout*> locals;                     // by mir::LocalId
    const std::function<TypeId(TypeId)>& concrete;
};

// By mir::LocalId.
std::vector<bool> find_value_locals(const mir::Body& body, const BodyTypes& types);

// Is the scalar, or are the scalars of `part`, at this offset exactly scalars that a value of layout `whole` is held in?
bool is_component(const Layout& whole, std::uint64_t offset, const types::Scalar& part);
bool is_component(const Layout& whole, std::uint64_t offset, const Layout& part);

// The layout of one variant of a type, for its fields; offsets are within the whole value.
const Layout& variant_of(const Layout& shape, std::uint32_t variant);

// Calls f(mir::BlockId) for each block that control goes to: not where only the borrow checker must think it goes.
template <class Fn>
void for_each_real_successor(const mir::Terminator& terminator, Fn f) {
    switch (terminator.kind()) {
        case mir::TerminatorKind::Goto: return f(terminator.as<mir::GotoTerminator>().target);
        case mir::TerminatorKind::SwitchInt: {
            const auto& node = terminator.as<mir::SwitchIntTerminator>();
            for (const mir::SwitchCase& one : node.cases) f(one.target);
            if (node.otherwise.valid()) f(node.otherwise);
            return;
        }
        case mir::TerminatorKind::Drop: return f(terminator.as<mir::DropTerminator>().target);
        case mir::TerminatorKind::Call: {
            const mir::BlockId target = terminator.as<mir::CallTerminator>().target;
            if (target.valid()) f(target);
            return;
        }
        case mir::TerminatorKind::Assert: return f(terminator.as<mir::AssertTerminator>().target);
        case mir::TerminatorKind::FalseEdge: return f(terminator.as<mir::FalseEdgeTerminator>().real_target);
        case mir::TerminatorKind::FalseUnwind: return f(terminator.as<mir::FalseUnwindTerminator>().real_target);
        case mir::TerminatorKind::None:
        case mir::TerminatorKind::Return:
        case mir::TerminatorKind::Unreachable:
        case mir::TerminatorKind::Panic: return;
    }
}

}  // namespace ockc::lower
