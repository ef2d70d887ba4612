// The module around the selected functions: which functions and variables are reached, in which order they
// are written (callees first), launch directives, head.
#include "isel/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "abi/panic_record.hpp"
#include "isel/selector.hpp"
#include "ptx/validate.hpp"

namespace ockc::isel {

namespace {

// Functions reachable from the kernels, each after those that it calls. Call cycles do not exist in the
// language.
std::vector<ir::FuncId> call_order(const ir::Module& module, std::string_view only_kernel) {
    struct Visit {
        ir::FuncId function;
        std::vector<ir::FuncId> callees;
        std::size_t next = 0;
    };
    const auto callees = [&](ir::FuncId id) {
        std::vector<ir::FuncId> out;
        const ir::Function& f = module.functions[id];
        for (const ir::BlockId b : f.layout) {
            for (const ir::InstId inst : f.blocks[b].insts) {
                if (f.insts[inst].op == ir::Op::Call) out.push_back(f.insts[inst].callee);
            }
        }
        return out;
    };
    std::vector<bool> seen(module.functions.size(), false);
    std::vector<ir::FuncId> order;
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
        const ir::Function& root = module.functions[ir::FuncId(i)];
        if (!root.is_kernel || root.removed || seen[i] || (!only_kernel.empty() && root.name != only_kernel)) continue;
        seen[i] = true;
        std::vector<Visit> stack{{ir::FuncId(i), callees(ir::FuncId(i)), 0}};
        while (!stack.empty()) {
            Visit& visit = stack.back();
            if (visit.next == visit.callees.size()) {
                order.push_back(visit.function);
                stack.pop_back();
                continue;
            }
            const ir::FuncId next = visit.callees[visit.next++];
            if (seen[next.raw]) continue;
            seen[next.raw] = true;
            stack.push_back({next, callees(next), 0});
        }
    }
    return order;
}

std::vector<bool> used_globals(const ir::Module& module, const std::vector<ir::FuncId>& functions) {
    std::vector<bool> used(module.globals.size(), false);
    for (const ir::FuncId id : functions) {
        const ir::Function& f = module.functions[id];
        for (const ir::BlockId b : f.layout) {
            for (const ir::InstId inst : f.blocks[b].insts) {
                if (f.insts[inst].op == ir::Op::GlobalAddr) used[f.insts[inst].global.raw] = true;
            }
        }
    }
    // What a used one points to; targets stand before those that point to them.
    for (std::uint32_t i = module.globals.size(); i-- > 0;) {
        if (!used[i]) continue;
        for (const ir::Relocation& one : module.globals[ir::GlobalId(i)].relocations) used[one.target.raw] = true;
    }
    return used;
}

// Eight bytes an element, so that addresses can stand among them.
void words_with_addresses(const ir::Module& module, const ir::Global& global, ptx::Module& out, ptx::Variable& v) {
    v.type = ptx::Type::U64;
    v.count = (global.size + 7) / 8;
    v.init.resize(v.count);
    for (std::size_t i = 0; i < global.init.size(); ++i) v.init[i / 8].bits |= std::uint64_t{global.init[i]} << (i % 8 * 8);
    for (const ir::Relocation& one : global.relocations) {
        v.init[one.offset / 8] = {0, out.symbol(module.globals[one.target].name), true};
    }
}

ptx::Variable variable(const ir::Module& module, const ir::Global& global, ptx::Module& out) {
    ptx::Variable v;
    v.name = out.symbol(global.name);
    v.space = ptx_space(global.space);
    v.align = global.align;
    v.array = true;
    v.count = global.size;
    if (global.is_extern) {
        v.linkage = ptx::Linkage::Extern;
        v.count = 0;
    } else if (global.visible) {
        v.linkage = ptx::Linkage::Visible;
    }
    if (!global.relocations.empty()) {
        words_with_addresses(module, global, out, v);
        return v;
    }
    // Trailing zeros need not be written.
    std::size_t length = global.init.size();
    while (length > 0 && global.init[length - 1] == 0)
        --length;
    for (std::size_t i = 0; i < length; ++i)
        v.init.push_back({global.init[i], ptx::SymbolId::none(), false});
    return v;
}

ptx::Directives directives(const abi::LaunchFacts& launch) {
    ptx::Directives d;
    if (launch.block) {
        d.reqntid = launch.block;
    } else if (launch.max_threads) {
        d.maxntid = ptx::Dim3{*launch.max_threads, 1, 1};
    }
    if (launch.min_blocks && (d.reqntid || d.maxntid)) d.minnctapersm = launch.min_blocks;
    if (launch.cluster) {
        d.explicitcluster = true;
        d.reqnctapercluster = launch.cluster;
    }
    return d;
}

// int vprintf(const char* format, const void* values), which the driver brings.
ptx::Function vprintf_declaration(ptx::Module& out) {
    ptx::Function f;
    f.name = out.symbol("vprintf");
    f.linkage = ptx::Linkage::Extern;
    f.has_body = false;
    const auto param = [&](std::string_view name, ptx::Type type) {
        ptx::Param p;
        p.name = out.symbol(name);
        p.type = type;
        return p;
    };
    f.results.push_back(param("$result", ptx::Type::B32));
    f.params.push_back(param("format", ptx::Type::B64));
    f.params.push_back(param("values", ptx::Type::B64));
    return f;
}

// Without an ABI entry (functions read from IR text) the IR's own facts.
ptx::Directives directives(const ir::KernelFacts& facts) {
    ptx::Directives d;
    if (facts.block[0] != 0) {
        d.reqntid = ptx::Dim3{facts.block[0], std::max(facts.block[1], 1u), std::max(facts.block[2], 1u)};
    } else if (facts.max_threads != 0) {
        d.maxntid = ptx::Dim3{facts.max_threads, 1, 1};
    }
    return d;
}

bool calls_reach(const ir::Module& module, const ir::Function& from, const ir::Function& to, std::unordered_set<const ir::Function*>& seen) {
    if (&from == &to) return true;
    if (!seen.insert(&from).second) return false;
    for (const ir::BlockId b : from.layout) {
        for (const ir::InstId inst : from.blocks[b].insts) {
            if (from.insts[inst].op == ir::Op::Call && calls_reach(module, module.functions[from.insts[inst].callee], to, seen)) return true;
        }
    }
    return false;
}

// A grid whose blocks do not run side by side must not wait for all of them.
void check_grid_barriers(const ModuleContext& context, const abi::ModuleAbi& abi) {
    for (const auto& [user, span] : context.workspace_users) {
        for (std::uint32_t i = 0; i < context.ir.functions.size(); ++i) {
            const ir::Function& kernel = context.ir.functions[ir::FuncId(i)];
            if (!kernel.is_kernel || kernel.removed || kernel.kernel_index >= abi.kernels.size()) continue;
            std::unordered_set<const ir::Function*> seen;
            if (abi.kernels[kernel.kernel_index].launch.cooperative || !calls_reach(context.ir, kernel, *user, seen)) continue;
            context.sink->error(Code::OCK0405, span, fmt::format("kernel `{}` waits for the whole grid, but its blocks need not run side by side", kernel.name))
                .label(kernel.span, "this kernel")
                .help("put `#[cooperative_launch]` on the kernel");
        }
    }
}

}  // namespace

ptx::Module select(const ir::Module& module, const abi::ModuleAbi& abi, const Options& options,
                   DiagSink& sink) {
    ptx::Module out;
    out.target = options.target;
    out.comment = options.comment;
    const std::vector<ir::FuncId> order = call_order(module, options.only_kernel);
    const std::vector<bool> used = used_globals(module, order);
    std::unordered_set<std::string> names;
    for (std::uint32_t i = 0; i < module.globals.size(); ++i) {
        const ir::Global& global = module.globals[ir::GlobalId(i)];
        if (!used[i] && !global.visible) continue;
        names.insert(global.name);
        out.variables.push_back(variable(module, global, out));
    }
    for (const ir::FuncId id : order)
        names.insert(module.functions[id].name);

    Library library;
    ModuleContext context{module, &abi, options, out, library, names};
    context.sink = &sink;
    for (const ir::FuncId id : order) {
        const ir::Function& in = module.functions[id];
        ptx::Function function = Selector(context, in).run();
        if (in.is_kernel) {
            const bool known = in.kernel_index < abi.kernels.size();
            const std::uint64_t bytes = ptx::param_space(function);
            const bool small = options.ptx_version != 0 && options.ptx_version < ptx::kLargeParamPtx;
            const std::uint64_t limit = small ? ptx::kSmallParamSpace : ptx::kLargeParamSpace;
            if (bytes > limit) {
                sink.error(Code::OCK0401, in.span,
                           fmt::format("the parameters of kernel `{}` take {} bytes, but a launch can pass {}",
                                       in.name, bytes, limit))
                    .help("pass large data by reference: `&[T]` takes 16 bytes whatever its length");
            }
            function.directives =
                known ? directives(abi.kernels[in.kernel_index].launch) : directives(in.facts);
        }
        out.functions.push_back(std::move(function));
    }
    check_grid_barriers(context, abi);
    std::vector<ptx::Function> library_functions;
    for (const LibraryFunction function : library.needed()) {
        const ir::Function in = build_library_function(function);
        library_functions.push_back(Selector(context, in).run());
    }
    if (context.prints) library_functions.insert(library_functions.begin(), vprintf_declaration(out));
    if (context.panics || context.wide_panics) out.variables.insert(out.variables.begin(), panic_record_variable(out));
    if (context.panics) library_functions.push_back(panic_function(out, kShortPanicWords));
    if (context.wide_panics) library_functions.push_back(panic_function(out, abi::kPanicWords));
    out.functions.insert(out.functions.begin(), std::make_move_iterator(library_functions.begin()),
                         std::make_move_iterator(library_functions.end()));
    out.ptx_version = options.ptx_version != 0 ? options.ptx_version : ptx::lowest_ptx_version(out);
    return out;
}

}  // namespace ockc::isel
