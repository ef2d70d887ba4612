// The CUDA Toolkit's assembler as a checker and for machine code. Everything here is optional: without ptxas, verification
// is a note, and what needs it is an error that says so.
#pragma once
#include <string>
#include <vector>

#include "ockc/compiler.hpp"
#include "support/result.hpp"

namespace ockc::driver {

struct KernelResources {
    std::string kernel;
    unsigned registers = 0;
    unsigned shared_bytes = 0;
    unsigned stack_bytes = 0;
    unsigned spill_stores = 0, spill_loads = 0;
};
struct Assembled {
    std::string cubin;
    std::vector<KernelResources> resources;
};

// Path of ptxas, or empty.
std::string find_ptxas();
// Assembles PTX text for its target; the failure text is ptxas's own.
// Did ptxas refuse because it is older than the target or the PTX version, not because of the PTX.
bool is_too_old(const std::string& error);
Result<Assembled> assemble(const std::string& ptxas, const CompiledImage& image);
// Parses what `ptxas -v` prints.
std::vector<KernelResources> parse_resources(const std::string& text);
// A table of resources, one line a kernel.
std::string resource_report(const std::vector<KernelResources>& resources, const std::string& target);
// One fatbin out of PTX and machine code of all targets, by the toolkit's fatbinary.
Result<std::string> make_fatbin(const std::string& ptxas, const std::vector<CompiledImage>& images);
// Machine code as text, by cuobjdump or nvdisasm.
Result<std::string> disassemble(const std::string& cubin);

}  // namespace ockc::driver
