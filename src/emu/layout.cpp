#include "emu/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace ockc::emu {
namespace {

using ptx::Form;
using ptx::Space;
using ptx::SymbolId;

constexpr std::uint32_t kFrameAlign = 16;
constexpr std::uint64_t kMaxLocal = 1 << 19;   // the hardware's 512 KiB a thread
constexpr std::uint64_t kMaxShared = 1 << 20;  // checked against the device's limit at launch

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
    return (value + align - 1) / align * align;
}

// Calls made by a function, each callee once.
Result<std::vector<std::uint32_t>> callees_of(const ptx::Module& module, const ptx::Function& function) {
    std::vector<std::uint32_t> out;
    for (const ptx::Block& block : function.blocks) {
        for (const ptx::Instr& instr : block.instrs) {
            if (instr.form != Form::Call) continue;
            const SymbolId name = instr.operands[1].as_symbol();
            const auto index = function_index(module, name);
            if (!index && module.name(name) == kVprintf) continue;  // the emulator's own
            if (!index) {
                return Failure{
                    fmt::format("PTX line {}: `{}` has no body to call", instr.text_line, module.name(name))};
            }
            if (std::find(out.begin(), out.end(), *index) == out.end()) out.push_back(*index);
        }
    }
    return out;
}

// The functions reachable from the entry, callers first; a Failure for a cycle.
Result<std::vector<std::uint32_t>> reachable(const ptx::Module& module, std::uint32_t entry) {
    struct Visit {
        std::uint32_t function;
        std::vector<std::uint32_t> callees;
        std::size_t next = 0;
    };
    enum class State : std::uint8_t { New, Open, Done };
    std::vector<State> state(module.functions.size(), State::New);
    std::vector<std::uint32_t> order;
    std::vector<Visit> path;
    const auto enter = [&](std::uint32_t function) -> Status {
        auto callees = callees_of(module, module.functions[function]);
        if (!callees) return Failure{callees.error()};
        state[function] = State::Open;
        path.push_back({function, std::move(callees.value())});
        return Unit{};
    };
    if (auto status = enter(entry); !status) return Failure{status.error()};
    while (!path.empty()) {
        Visit& top = path.back();
        if (top.next == top.callees.size()) {
            state[top.function] = State::Done;
            order.push_back(top.function);
            path.pop_back();
            continue;
        }
        const std::uint32_t callee = top.callees[top.next++];
        if (state[callee] == State::Open) {
            return Failure{
                fmt::format("`{}` calls itself, directly or through others: the emulator has no recursion",
                            module.name(module.functions[callee].name))};
        }
        if (state[callee] == State::Done) continue;
        if (auto status = enter(callee); !status) return Failure{status.error()};
    }
    std::reverse(order.begin(), order.end());
    return order;
}

class Builder {
  public:
    Builder(const ptx::Module& module, const VariableAddresses& addresses)
        : module_(module), addresses_(addresses) {}

    Result<Layout> run(std::uint32_t entry) {
        auto order = reachable(module_, entry);
        if (!order) return Failure{order.error()};
        layout_.functions = std::move(order.value());
        layout_.symbols.resize(layout_.functions.size());
        if (auto status = place_frames(); !status) return Failure{status.error()};
        place_used_variables();
        layout_.dynamic_shared_offset = static_cast<std::uint32_t>(round_up(shared_, dynamic_align_));
        for (auto& symbols : layout_.symbols) {
            for (const SymbolId name : dynamic_) {
                if (const auto found = symbols.find(name); found != symbols.end())
                    found->second.offset = layout_.dynamic_shared_offset;
            }
        }
        if (deepest_ > kMaxLocal)
            return Failure{fmt::format("a thread needs {} bytes of local memory; at most {} are there",
                                       deepest_, kMaxLocal)};
        if (shared_ > kMaxShared)
            return Failure{fmt::format("a block needs {} bytes of shared memory", shared_)};
        layout_.local_bytes = static_cast<std::uint32_t>(round_up(deepest_, kFrameAlign));
        layout_.shared_bytes = static_cast<std::uint32_t>(shared_);
        return std::move(layout_);
    }

  private:
    using Symbols = std::unordered_map<SymbolId, SymbolPlace>;

    // A frame begins where the deepest frame of a caller ends: functions that never wait for each other share memory.
    Status place_frames() {
        std::vector<std::uint32_t> position(module_.functions.size());
        for (std::uint32_t i = 0; i < layout_.functions.size(); ++i) position[layout_.functions[i]] = i;
        std::vector<std::uint64_t> base(layout_.functions.size());
        for (std::size_t i = 0; i < layout_.functions.size(); ++i) {
            const ptx::Function& function = module_.functions[layout_.functions[i]];
            local_ = round_up(base[i], kFrameAlign);
            place_params(function, layout_.symbols[i]);
            for (const ptx::Variable& local : function.locals)
                place_local(local, layout_.symbols[i]);
            deepest_ = std::max(deepest_, local_);
            const auto callees = callees_of(module_, function);
            if (!callees) return Failure{callees.error()};
            for (const std::uint32_t callee : callees.value()) base[position[callee]] = std::max(base[position[callee]], local_);
        }
        return Unit{};
    }

    std::uint64_t take_local(std::uint64_t size, std::uint64_t align) {
        const std::uint64_t at = round_up(local_, align == 0 ? 1 : align);
        local_ = at + size;
        return at;
    }
    std::uint64_t take_shared(std::uint64_t size, std::uint64_t align) {
        const std::uint64_t at = round_up(shared_, align == 0 ? 1 : align);
        shared_ = at + size;
        return at;
    }

    void place_params(const ptx::Function& function, Symbols& symbols) {
        if (function.entry) {
            layout_.params = param_offsets(function.params, layout_.param_bytes);
            for (std::size_t i = 0; i < function.params.size(); ++i) {
                symbols[function.params[i].name] = {Space::Param, layout_.params[i].offset,
                                                    function.params[i].size(), true};
            }
            return;
        }
        for (const auto* list : {&function.results, &function.params}) {
            for (const ptx::Param& param : *list) {
                symbols[param.name] = {Space::Local,
                                       take_local(param.size(), std::max(param.alignment(), 1u)),
                                       param.size(), false};
            }
        }
    }

    void place_local(const ptx::Variable& variable, Symbols& symbols) {
        switch (variable.space) {
            case Space::Local:
            case Space::Param:
                symbols[variable.name] = {Space::Local, take_local(variable.size(), variable.alignment()),
                                          variable.size(), false};
                break;
            case Space::Shared:
            case Space::SharedCluster: symbols[variable.name] = place_shared(variable); break;
            case Space::Global:
            case Space::Const:
            case Space::None: place_global(variable.name, variable, symbols); break;
        }
    }

    SymbolPlace place_shared(const ptx::Variable& variable) {
        if (variable.array && variable.count == 0) {
            dynamic_align_ = std::max<std::uint64_t>(dynamic_align_, variable.alignment());
            dynamic_.insert(variable.name);
            return {Space::Shared, 0, 0, false};  // the offset comes when the static ones are placed
        }
        return {Space::Shared, take_shared(variable.size(), variable.alignment()), variable.size(), false};
    }

    void place_global(SymbolId name, const ptx::Variable& variable, Symbols& symbols) {
        const auto found = addresses_.find(name);
        if (found != addresses_.end())
            symbols[name] = {variable.space, found->second, variable.size(), false};
    }

    // Module variables that the reachable code names, in order of declaration.
    void place_used_variables() {
        std::vector<std::unordered_set<SymbolId>> used(layout_.functions.size());
        for (std::size_t i = 0; i < layout_.functions.size(); ++i) {
            for (const ptx::Block& block : module_.functions[layout_.functions[i]].blocks) {
                for (const ptx::Instr& instr : block.instrs) {
                    for (const ptx::Operand& operand : instr.operands) {
                        const bool named = operand.kind == ptx::OperandKind::Symbol ||
                                           operand.kind == ptx::OperandKind::AddrSym;
                        if (named && !layout_.symbols[i].contains(operand.as_symbol()))
                            used[i].insert(operand.as_symbol());
                    }
                }
            }
        }
        for (const ptx::Variable& variable : module_.variables) {
            std::optional<SymbolPlace> shared;
            for (std::size_t i = 0; i < used.size(); ++i) {
                if (!used[i].contains(variable.name)) continue;
                if (variable.space != Space::Shared) {
                    place_global(variable.name, variable, layout_.symbols[i]);
                    continue;
                }
                if (!shared) shared = place_shared(variable);
                layout_.symbols[i][variable.name] = *shared;
            }
        }
    }

    const ptx::Module& module_;
    const VariableAddresses& addresses_;
    Layout layout_;
    std::uint64_t local_ = 0, deepest_ = 0;
    std::uint64_t shared_ = 0;
    std::uint64_t dynamic_align_ = kFrameAlign;
    std::unordered_set<SymbolId> dynamic_;
};

}  // namespace

std::optional<std::uint32_t> function_index(const ptx::Module& module, SymbolId name) {
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
        if (module.functions[i].name == name && module.functions[i].has_body) return i;
    }
    return std::nullopt;
}

std::vector<ProgramParam> param_offsets(const std::vector<ptx::Param>& params, std::uint32_t& bytes) {
    std::vector<ProgramParam> out;
    bytes = 0;
    for (const ptx::Param& param : params) {
        const std::uint32_t align = std::max(param.alignment(), 1u);
        const auto offset = static_cast<std::uint32_t>(round_up(bytes, align));
        const auto size = static_cast<std::uint32_t>(param.size());
        out.push_back({offset, size, align});
        bytes = offset + size;
    }
    return out;
}

std::optional<std::uint32_t> Layout::position_of(std::uint32_t function) const {
    const auto found = std::find(functions.begin(), functions.end(), function);
    if (found == functions.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - functions.begin());
}

const SymbolPlace* Layout::find(std::uint32_t position, SymbolId symbol) const {
    const auto found = symbols[position].find(symbol);
    return found == symbols[position].end() ? nullptr : &found->second;
}

Result<Layout> lay_out(const ptx::Module& module, std::uint32_t entry, const VariableAddresses& variables) {
    return Builder(module, variables).run(entry);
}

}  // namespace ockc::emu
