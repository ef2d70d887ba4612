// Where everything that a kernel names lies. In: a module, one of its entries, the addresses that the
// module's variables were given. Out: the functions that the entry can reach and, for each symbol that they
// use, its space and offset.
//
// Recursion is refused, so every function has one frame at a fixed place, behind those of all its callers: its .local
// variables, its parameters, and the .param variables of its calls all lie in the thread's local memory.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "emu/address.hpp"
#include "emu/op.hpp"
#include "support/result.hpp"

namespace ockc::emu {

using VariableAddresses = std::unordered_map<ptx::SymbolId, DeviceAddress>;

struct SymbolPlace {
    ptx::Space space = ptx::Space::Global;
    std::uint64_t offset = 0;  // in its space; the address for .global and .const
    std::uint64_t size = 0;    // bytes; 0: not known
    bool kernel_param = false;
};

struct Layout {
    std::vector<std::uint32_t> functions;  // indices into the module; the entry first, callers before callees
    std::vector<std::unordered_map<ptx::SymbolId, SymbolPlace>> symbols;  // by position in `functions`
    std::vector<ProgramParam> params;
    std::uint32_t param_bytes = 0;
    std::uint32_t local_bytes = 0;
    std::uint32_t shared_bytes = 0;
    std::uint32_t dynamic_shared_offset = 0;

    std::optional<std::uint32_t> position_of(std::uint32_t function) const;
    const SymbolPlace* find(std::uint32_t position, ptx::SymbolId symbol) const;
};

Result<Layout> lay_out(const ptx::Module& module, std::uint32_t entry, const VariableAddresses& variables);

// The definition that a symbol names, or nothing.
std::optional<std::uint32_t> function_index(const ptx::Module& module, ptx::SymbolId name);

// Byte offsets of parameters that follow each other, and the size of all.
std::vector<ProgramParam> param_offsets(const std::vector<ptx::Param>& params, std::uint32_t& bytes);

}  // namespace ockc::emu
