// From tiles to threads. In: kernels whose calls that handle tiles are inlined, with tiles in SSA values (the optimiser's
// early passes have run). Out: the same kernels without tiles, and the number of threads in their blocks.
//
//   infer_types      the tile type of every value, block parameters included
//   check_threads    nothing that one of many threads does
//   check_shapes     does the shape of every result follow from its operands
//   place_checks     which tile indices are known to be in range, which are asked at the launch, which on the device
//   split_batches    products with an axis in front become one for each of its indices
//   choose_layouts   how many warps; a layout for every value; conversions where two do not fit
//   pipeline_loads   what is loaded to shared memory comes in stages, ahead of the loop that needs it
//   place_shared     where in shared memory everything lies
//   lower            every tile becomes the registers that one thread has of it
// docs/tile.md describes operations, layouts and passes.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "diag/sink.hpp"
#include "ir/ir.hpp"

namespace ockc::tile {

// Has the function values that are tiles?
bool has_tiles(const ir::Function& function);
// Does it count the tiles of an axis?
bool counts_tiles(const ir::Function& function);
// Is a block of it one logical thread?
bool is_tile_kernel(const ir::Function& function);
// Does some function need the lowering of tiles?
bool has_tiles(const ir::Module& module);

// What the machine has: of several targets, the least.
struct Device {
    std::uint16_t sm = 80;                       // compute capability, times ten
    std::uint32_t shared_bytes = 166912;         // that a block can have
};

struct Context {
    ir::Module& module;
    DiagSink& sink;
    Device device;
};

struct Placement;

// What the launch of a kernel should have besides what its KernelFacts say.
struct Wishes {
    ir::FuncId kernel;
    std::uint32_t blocks = 0;                    // of a multiprocessor at the same time; 0: whatever fits
};

// Where the kernel itself calls what an operation came from: the library's own lines say nothing to its users.
Span user_span(const ir::Function& function, const ir::Instruction& inst);

// False: reported.
bool infer_types(ir::Function& function, const Context& context);
bool check_threads(const ir::Function& function, const Context& context);
bool check_shapes(const ir::Function& function, const Context& context);
bool place_checks(ir::Function& function, const Context& context);
void expand_counts(ir::Function& function);
void split_batches(ir::Function& function, const Context& context);
void choose_layouts(ir::Function& function, const Context& context);
void pipeline_loads(ir::Function& function, const Context& context, Wishes& wishes);
void lower_function(ir::Function& function, const Context& context, const Placement& placement);

// All of them for every kernel with tiles; KernelFacts says how many threads it needs, and how much dynamic shared memory.
// `seen` is called after each step with its name, for dumps. None: reported.
using Step = std::function<void(std::string_view name)>;
std::optional<std::vector<Wishes>> lower(ir::Module& module, DiagSink& sink, const Device& device = {}, const Step& seen = {});

}  // namespace ockc::tile
