// The decoded program: what a warp executes. decode.cpp makes one Program for each entry (with the functions
// that it can reach), so that every register, shared variable and branch target is a constant in an Op.
//
// A register is a slot in the warp's register file: 32 lanes of 2, 4, 8 or 16 bytes side by side; a predicate
// is one 32-bit mask. Constants are slots too, filled in once for each warp.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emu/block_order.hpp"
#include "ptx/ptx.hpp"

namespace ockc::emu {

inline constexpr std::uint32_t kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xFFFF'FFFFu;
inline constexpr std::uint32_t kMaxSources = 4;
inline constexpr std::uint32_t kNoSlot = 0xFFFF'FFFFu;

struct Op;
struct Warp;

// Executes one op for the warp's active lanes and returns the next one; null: the warp stops (Warp::stop says
// why).
using Handler = const Op* (*)(const Op&, Warp&);

// One handler for a warp with all lanes active and one that leaves inactive lanes alone; often the same.
struct Handlers {
    Handler full = nullptr;
    Handler some = nullptr;
    bool valid() const { return full != nullptr; }
};

using Slot = std::uint32_t;  // byte offset in the register file

struct Op {
    Handler run[2] = {nullptr, nullptr};  // [0] all lanes are active, [1] some are
    Slot dest = kNoSlot;
    Slot dest2 = kNoSlot;  // the operand behind `|`
    std::array<Slot, kMaxSources> source{kNoSlot, kNoSlot, kNoSlot, kNoSlot};
    std::uint64_t imm = 0;       // address displacement, truth table, ..
    const Op* target = nullptr;  // branch target
    Rank target_rank = 0;
    Rank next_rank = 0;        // of the op behind this one, where that starts a block
    std::uint32_t flip = 0;    // xored into the predicate that the op reads: all ones for `!%p`
    std::uint32_t counts = 0;  // ones: counted as an instruction; zero: a joint that the text does not have
    std::uint32_t site = 0;    // memory access: its place in Worker::windows
    std::uint32_t list = 0;    // first of `list_size` slots in Program::slots
    std::uint16_t list_size = 0;
    std::uint8_t address_bytes = 8;  // width of the address register
    std::uint8_t access_bytes = 0;   // bytes a lane touches at its address
    ptx::Space space = ptx::Space::None;
    ptx::Mode mode = ptx::Mode::None;
    ptx::Sem sem = ptx::Sem::None;
    ptx::Scope scope = ptx::Scope::None;
    ptx::Type type = ptx::Type::None;
    ptx::Type source_type = ptx::Type::None;
    std::uint8_t dest_bytes =
        0;  // width of the destination register's lanes, where it may differ from the type's
    std::uint8_t source_bytes = 0;
    ptx::Round round = ptx::Round::None;
    ptx::BoolOp bool_op = ptx::BoolOp::None;
    bool ftz = false;
    bool sat = false;
    std::uint32_t index = 0;  // special register, callee, ..
};

// Where an op comes from.
struct Origin {
    std::uint32_t function = 0;  // index into ptx::Module::functions
    std::uint32_t block = 0;
    std::uint32_t instr = 0;
    Rank rank = 0;  // of the piece of straight-line code that it is in
};

struct ConstantSlot {
    Slot slot = 0;
    std::uint8_t bytes = 4;  // of a lane; 0: a predicate mask
    std::uint64_t value = 0;
};

// A stretch of bytes copied between the lanes' param areas at a call or return.
struct ParamCopy {
    std::uint32_t from = 0;  // offsets in local memory
    std::uint32_t to = 0;
    std::uint32_t bytes = 0;
};
struct CallSite {
    const Op* entry = nullptr;
    std::vector<ParamCopy> arguments;
    std::vector<ParamCopy> results;
};

// A call of vprintf: where in local memory its arguments (two addresses) and its result lie.
struct PrintSite {
    std::uint32_t format = 0;
    std::uint32_t values = 0;
    std::uint32_t result = kNoSlot;
};
inline constexpr std::string_view kVprintf = "vprintf";

struct ProgramParam {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t align = 0;
};

struct Program {
    std::shared_ptr<const ptx::Module> module;
    std::string name;
    std::uint32_t function = 0;   // index of the entry in module->functions
    std::vector<Op> ops;          // never resized once decoded: ops point at each other
    std::vector<Origin> origins;  // by op
    std::vector<Slot> slots;      // lists of vector and pack operands
    std::vector<CallSite> calls;
    std::vector<PrintSite> prints;
    std::vector<ConstantSlot> constants;
    std::uint32_t constant_bytes = 0;         // the front of a warp's register file
    std::uint32_t register_bytes = 0;         // the whole of it
    std::uint32_t local_bytes = 0;            // of one thread
    std::uint32_t shared_bytes = 0;           // static
    std::uint32_t dynamic_shared_offset = 0;  // where `.extern .shared` starts
    std::uint32_t param_bytes = 0;
    std::uint32_t sites = 0;
    std::uint32_t registers = 0;        // 32-bit registers a thread, as declared
    std::uint8_t smallest_access = 16;  // bytes; the grain of the race detector
    std::vector<ProgramParam> params;

    const Op* entry() const { return ops.data(); }
    std::uint32_t index_of(const Op& op) const { return static_cast<std::uint32_t>(&op - ops.data()); }
    const Origin& origin(const Op& op) const { return origins[index_of(op)]; }
    const ptx::Function& entry_function() const { return module->functions[function]; }
    const ptx::Instr& instr(const Op& op) const {
        const Origin& from = origin(op);
        return module->functions[from.function].blocks[from.block].instrs[from.instr];
    }
};

}  // namespace ockc::emu
