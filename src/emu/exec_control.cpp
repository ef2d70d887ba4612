// Jumps, calls, ends, and the two ops that the decoder adds: joints, where lanes may have to wait for others,
// and guards in front of predicated instructions.
#include "emu/exec_control.hpp"

#include <fmt/format.h>

#include "emu/isa.hpp"
#include "emu/machine.hpp"

namespace ockc::emu {
namespace {

using ptx::Form;

const Op* run_jump(const Op& op, Warp& warp) {
    if (op.target_rank < warp.limit) [[likely]]
        return op.target;
    return reschedule(warp, op.target, op.target_rank);
}

const Op* run_branch(const Op& op, Warp& warp) {
    const std::uint32_t taken = (warp.predicate(op.source[0]) ^ op.flip) & warp.active;
    if (taken == warp.active) return run_jump(op, warp);
    if (taken != 0 && op.target != &op + 1) return diverge(warp, op, taken);
    if (op.next_rank < warp.limit) [[likely]]
        return &op + 1;
    return reschedule(warp, &op + 1, op.next_rank);
}

const Op* run_joint(const Op& op, Warp& warp) {
    if (op.next_rank < warp.limit) [[likely]]
        return &op + 1;
    return reschedule(warp, &op + 1, op.next_rank);
}

// Runs the next op for the lanes whose predicate holds.
const Op* run_guard(const Op& op, Warp& warp) {
    const Op& guarded = (&op)[1];
    const std::uint32_t chosen = (warp.predicate(op.source[0]) ^ op.flip) & warp.active;
    if (chosen == 0) return &op + 2;
    if (chosen == warp.active) return guarded.run[warp.partial](guarded, warp);
    const std::uint32_t all = warp.active;
    warp.set_active(chosen);
    const Op* next = guarded.run[warp.partial](guarded, warp);
    if (next != nullptr) warp.set_active(all);
    return next;
}

const Op* run_call(const Op& op, Warp& warp) {
    return call_function(warp, op);
}
const Op* run_return(const Op& op, Warp& warp) {
    return return_from_function(warp, op);
}
const Op* run_exit(const Op& op, Warp& warp) {
    return exit_lanes(warp, op);
}

const Op* run_trap(const Op& op, Warp& warp) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(warp.active));
    return fault(warp, op, ErrorKind::Trap, lane, "the kernel gave up: `trap`");
}
const Op* run_breakpoint(const Op& op, Warp& warp) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(warp.active));
    return fault(warp, op, ErrorKind::Trap, lane, "a breakpoint, and no debugger");
}
const Op* run_nothing(const Op& op, Warp&) {
    return &op + 1;
}

Handlers both(Handler handler) {
    return {handler, handler};
}

}  // namespace

Handlers joint_handlers() {
    return both(run_joint);
}
Handlers guard_handlers() {
    return both(run_guard);
}
Handlers branch_handlers() {
    return both(run_branch);
}
Handlers jump_handlers() {
    return both(run_jump);
}

Handlers select_control(const Request& request) {
    switch (request.form) {
        case Form::Bra: return both(run_jump);
        case Form::Call: return request.prints ? print_handlers() : both(run_call);
        case Form::Ret: return both(run_return);
        case Form::Exit: return both(run_exit);
        case Form::Trap: return both(run_trap);
        case Form::Brkpt: return both(run_breakpoint);
        case Form::Pmevent:  // nobody profiles
        case Form::Nanosleep:
            return both(run_nothing);  // time stands still: other warps run when this one waits
        default: return {};
    }
}

}  // namespace ockc::emu
