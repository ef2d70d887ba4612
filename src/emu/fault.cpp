// What a launch says when it goes wrong.
#include <fmt/format.h>

#include "emu/machine.hpp"
#include "ptx/print.hpp"

namespace ockc::emu {
namespace {

std::string block_text(Dim3 index) {
    return fmt::format("({},{},{})", index.x, index.y, index.z);
}

// The instruction as in the text, without the padding between mnemonic and operands.
std::string instruction_text(const Program& program, const Op& op) {
    const ptx::Function& function = program.module->functions[program.origin(op).function];
    std::string out;
    for (const char c : ptx::print(*program.module, function, program.instr(op))) {
        if (c != ' ' || out.empty() || out.back() != ' ') out += c;
    }
    if (!out.empty() && out.back() == ';') out.pop_back();
    return out;
}

ptx::SourceLoc loc_of(const Program& program, const Op& op) {
    return program.instr(op).loc;
}

void call_chain(const Program& program, const Warp& warp, std::string& out) {
    for (std::uint32_t frame = warp.frame; frame != 0; frame = warp.frames[frame].parent) {
        out += fmt::format("\n  called at {}", place_of(program, *warp.frames[frame].call));
    }
}

}  // namespace

Dim3 thread_index(const Launch& launch, const Warp& warp, std::uint32_t lane) {
    const std::uint32_t linear = warp.index * kLanes + lane;
    return {linear % launch.block.x, linear / launch.block.x % launch.block.y,
            linear / launch.block.x / launch.block.y};
}

std::string place_of(const Program& program, const Op& op) {
    const ptx::SourceLoc loc = loc_of(program, op);
    if (loc.valid() && loc.file < program.module->files.size()) {
        return fmt::format("{}:{}:{}", program.module->files[loc.file], loc.line, loc.column);
    }
    return fmt::format("PTX line {}", program.instr(op).text_line);
}

std::string describe_waiting(const Launch& launch, const Op& op, std::uint32_t threads, std::uint32_t warps) {
    const Program& program = *launch.program;
    return fmt::format("{} thread{} in {} warp{} at `{}` ({})", threads, threads == 1 ? "" : "s", warps,
                       warps == 1 ? "" : "s", instruction_text(program, op), place_of(program, op));
}

const Op* fault(Warp& warp, const Op& op, ErrorKind kind, std::uint32_t lane, std::string what,
                std::uint64_t address) {
    Launch& launch = *warp.worker->launch;
    const Program& program = *launch.program;
    warp.stop = Stop::Faulted;
    warp.block->faulted = true;
    const std::lock_guard lock(launch.fault_mutex);
    if (warp.block->linear >= launch.first_fault.load(std::memory_order_relaxed)) return nullptr;
    launch.first_fault.store(warp.block->linear, std::memory_order_relaxed);

    LaunchError error;
    const ptx::Instr& instr = program.instr(op);
    const ptx::SourceLoc loc = instr.loc;
    error.kind = kind;
    error.kernel = program.name;
    error.instruction = instruction_text(program, op);
    error.line = instr.text_line;
    if (loc.valid() && loc.file < program.module->files.size()) {
        error.file = program.module->files[loc.file];
        error.line = loc.line;
        error.column = loc.column;
    }
    error.address = address;
    error.block = warp.block->index;
    error.thread = thread_index(launch, warp, lane);
    error.message = fmt::format("{}\n  at {}, in kernel `{}`, block {} thread {}\n  instruction `{}`", what,
                                place_of(program, op), program.name, block_text(error.block),
                                block_text(error.thread), error.instruction);
    call_chain(program, warp, error.message);
    launch.fault = std::move(error);
    return nullptr;
}

}  // namespace ockc::emu
