#include "tile/tile.hpp"

#include <algorithm>

#include "tile/place_shared.hpp"

namespace ockc::tile {

bool has_tiles(const ir::Function& function) {
    if (function.removed) return false;
    const auto is_tile = [](const ir::Value& value) { return ir::is_tile(value.type); };
    return std::any_of(function.values.begin(), function.values.end(), is_tile);
}

bool counts_tiles(const ir::Function& function) {
    const auto is_count = [](const ir::Instruction& inst) { return inst.op == ir::Op::TileCount || inst.op == ir::Op::TileInRange; };
    return !function.removed && std::any_of(function.insts.begin(), function.insts.end(), is_count);
}

bool is_tile_kernel(const ir::Function& function) { return !function.removed && function.is_kernel && (function.facts.is_tile || has_tiles(function)); }

bool has_tiles(const ir::Module& module) {
    return std::any_of(module.functions.begin(), module.functions.end(), [](const ir::Function& function) { return is_tile_kernel(function) || has_tiles(function) || counts_tiles(function); });
}

Span user_span(const ir::Function& function, const ir::Instruction& inst) {
    Span span = inst.span;
    for (ir::InlineScopeId scope = inst.scope; scope.valid(); scope = function.inline_scopes[scope].parent) span = function.inline_scopes[scope].call_span;
    return span;
}

std::optional<std::vector<Wishes>> lower(ir::Module& module, DiagSink& sink, const Device& device, const Step& seen) {
    const Context context{module, sink, device};
    std::vector<ir::FuncId> kernels;
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
        const ir::Function& function = module.functions[ir::FuncId(i)];
        if (is_tile_kernel(function)) kernels.push_back(ir::FuncId(i));
    }
    const auto step = [&](std::string_view name, auto&& run) {
        for (const ir::FuncId id : kernels) {
            const CrashContext crash("lowering tiles", module.functions[id].name);
            run(module.functions[id]);
        }
        if (seen) seen(name);
    };
    bool good = true;
    step("tile-types", [&](ir::Function& function) { good = infer_types(function, context) && check_threads(function, context) && check_shapes(function, context) && good; });
    if (!good) return std::nullopt;
    step("tile-checks", [&](ir::Function& function) { good = place_checks(function, context) && good; });
    for (ir::Function& function : module.functions) {
        if (counts_tiles(function)) expand_counts(function);
    }
    if (!good) return std::nullopt;
    for (const ir::FuncId id : kernels) split_batches(module.functions[id], context);
    step("tile-layouts", [&](ir::Function& function) { choose_layouts(function, context); });
    std::vector<Wishes> wishes;
    for (const ir::FuncId id : kernels) wishes.push_back({id, 0});
    std::size_t next = 0;
    step("tile-pipeline", [&](ir::Function& function) { pipeline_loads(function, context, wishes[next++]); });
    std::vector<Placement> placements;
    for (const ir::FuncId id : kernels) good = place_shared(module.functions[id], context, placements.emplace_back()) && good;
    if (!good) return std::nullopt;
    next = 0;
    step("tile-lower", [&](ir::Function& function) { lower_function(function, context, placements[next++]); });
    return wishes;
}

}  // namespace ockc::tile
