// Instruction selection: ir::Module -> ptx::Module. In: verified SIMT-level IR, the kernels' outside (abi),
// the target. Out: PTX with registers numbered in text order, blocks laid out so that the hot path falls
// through. See select.cpp for the order of the steps and docs/ptx.md for the forms that each IR operation
// becomes.
#pragma once
#include <cstdint>
#include <string>

#include "abi/kernel_abi.hpp"
#include "diag/sink.hpp"
#include "ir/ir.hpp"
#include "ptx/ptx.hpp"
#include "source/source_map.hpp"

namespace ockc::isel {

struct Options {
    ptx::Target target = ptx::Target::Sm80;
    std::uint16_t ptx_version = 0;  // times 10; 0: the lowest that the target and the instructions used allow
    bool panic_record = false;      // failed checks write abi::PanicRecord before they trap
    bool fast_math = false;         // f32 division and square root are approximate and flush subnormals
    bool line_info = false;         // .file and .loc; never changes an instruction
    const SourceMap* sources = nullptr;  // needed for line_info
    std::string only_kernel;             // the symbol of the one kernel that is wanted; empty: all
    std::string comment;                 // head comment of the PTX text
};

// What the target cannot do is reported to the sink (OCK0401, OCK0402); the module is then incomplete and must not be
// printed.
ptx::Module select(const ir::Module& module, const abi::ModuleAbi& abi, const Options& options,
                   DiagSink& sink);

// Leaves only those of `abi.panic_sites` that the optimised module still has, and numbers them anew in it. A check that fails
// in the library names the user's line that led there, where that is known.
void number_panic_sites(ir::Module& module, abi::ModuleAbi& abi, const SourceMap& sources);
// The user's line: where the instruction stands, or the innermost call in a file of the user that led to it; invalid when
// there is none.
Span line_in_user_code(const SourceMap& sources, const ir::Function& function, const ir::Instruction& inst);

}  // namespace ockc::isel
