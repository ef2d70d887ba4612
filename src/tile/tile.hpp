// From tiles to threads. In: kernels whose calls that handle tiles are inlined, with tiles in SSA values (the optimiser's
// early passes have run). Out: the same kernels without tiles, and the number of threads in their blocks.
//
//   infer_types      the tile type of every value, block parameters included
//   check_threads    nothing that one of many threads does
//   check_shapes     does the shape of every result follow from its operands
//   choose_layouts   how many warps; a layout for every value; conversions where two do not fit
//   lower            every tile becomes the registers that one thread has of it
// docs/tile.md describes operations, layouts and passes.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "diag/sink.hpp"
#include "ir/ir.hpp"

namespace ockc::tile {

// Has the function values that are tiles?
bool has_tiles(const ir::Function& function);
bool has_tiles(const ir::Module& module);

struct Context {
    ir::Module& module;
    DiagSink& sink;
};

// Where the kernel itself calls what an operation came from: the library's own lines say nothing to its users.
Span user_span(const ir::Function& function, const ir::Instruction& inst);

// False: reported.
bool infer_types(ir::Function& function, const Context& context);
bool check_threads(const ir::Function& function, const Context& context);
bool check_shapes(const ir::Function& function, const Context& context);
void choose_layouts(ir::Function& function, const Context& context);
void lower_function(ir::Function& function, const Context& context);

// All three for every kernel with tiles; KernelFacts::block is set to the threads that it needs. `seen` is called after
// each step with its name, for dumps. False: reported.
using Step = std::function<void(std::string_view name)>;
bool lower(ir::Module& module, DiagSink& sink, const Step& seen = {});

}  // namespace ockc::tile
