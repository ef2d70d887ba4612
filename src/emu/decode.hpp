// ptx::Module -> Program. In: validated PTX, one entry of it and the addresses of the module's variables.
// Out: the ops that a warp executes, with registers, constants, addresses, branch targets and ranks resolved.
#pragma once
#include <memory>
#include <string_view>

#include "emu/layout.hpp"
#include "emu/op.hpp"
#include "support/result.hpp"

namespace ockc::emu {

Result<std::unique_ptr<Program>> decode(std::shared_ptr<const ptx::Module> module, std::uint32_t entry,
                                        const VariableAddresses& variables);

// The family that executes a form, as exec.def says.
std::string_view exec_family(ptx::Form form);
// The handlers of a form with these modifiers; none if its family does not know them.
struct Request;
Handlers find_handlers(const Request& request);

}  // namespace ockc::emu
