// Programs without end: instances that beget ever larger ones, and cycles of calls among the finished ones.
#include <fmt/format.h>

#include <algorithm>

#include "lower/module_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

namespace {
constexpr std::uint32_t kRecursionLimit = 128;          // instances of one function in a chain, as rustc's
constexpr std::uint64_t kTypeParts = std::uint64_t{1} << 16;
constexpr std::size_t kShownChain = 6;
}  // namespace

// How many types a type is written with; shared parts count each time. At most kTypeParts + 1.
std::uint64_t ModuleLowering::type_parts(TypeId type) {
    if (const auto found = type_parts_.find(type); found != type_parts_.end()) return found->second;
    std::uint64_t sum = 1;
    const auto add = [&](TypeId part) { sum = std::min(sum + type_parts(part), kTypeParts + 1); };
    const auto add_args = [&](types::ArgsId args) {
        for (const types::GenericArg arg : types()[args]) {
            if (arg.kind() == types::GenericArg::Kind::Type) add(arg.as_type());
        }
    };
    const types::TypeData data = types()[type];
    switch (data.kind) {
        case TypeKind::Tuple:
        case TypeKind::FnPtr:
            for (const TypeId part : types()[data.elements]) add(part);
            break;
        case TypeKind::Array:
        case TypeKind::Slice:
        case TypeKind::Ref:
        case TypeKind::RawPtr: add(data.element); break;
        case TypeKind::Adt:
        case TypeKind::Closure:
        case TypeKind::FnDef:
        case TypeKind::Projection:
        case TypeKind::Opaque: add_args(data.args); break;
        case TypeKind::Bool: case TypeKind::Char: case TypeKind::Int: case TypeKind::Float: case TypeKind::Str:
        case TypeKind::Never: case TypeKind::Param: case TypeKind::Infer: case TypeKind::Error: break;
    }
    type_parts_[type] = sum;
    return sum;
}

// The instance as text, its generic arguments cut where they are long.
std::string ModuleLowering::short_text(ItemRef item) {
    constexpr std::size_t kShown = 64;
    constexpr std::uint64_t kPrintable = 256;
    std::uint64_t parts = 0;
    for (const types::GenericArg arg : types()[item.args]) {
        if (arg.kind() == types::GenericArg::Kind::Type) parts += type_parts(arg.as_type());
    }
    std::string text = parts <= kPrintable ? context().text(item) : context().program().path_text(item.def) + "<..>";
    if (text.size() > kShown) text = text.substr(0, kShown) + "..";
    return text;
}

std::string ModuleLowering::origin_text(ir::FuncId function) {
    const Origin& origin = origins_.at(function);
    return origin.pointer.valid() ? fmt::format("a function through `{}`", context().text(origin.pointer))
                                  : fmt::format("`{}`", short_text(origin.item));
}

// Whether the instance `item`, new and called from current_, may be made; else an error at the call.
bool ModuleLowering::within_limits(ItemRef item, Span site) {
    std::uint64_t parts = 0;
    for (const types::GenericArg arg : types()[item.args]) {
        if (arg.kind() == types::GenericArg::Kind::Type) parts += type_parts(arg.as_type());
    }
    std::uint32_t same = 0;
    std::vector<ir::FuncId> chain;
    if (!types()[item.args].empty()) {
        for (ir::FuncId at = current_; at.valid(); at = origins_.at(at).caller) {
            const ItemRef caller = origins_.at(at).item;
            same += caller.def == item.def ? 1 : 0;
            chain.push_back(at);
        }
    }
    if (parts <= kTypeParts && same < kRecursionLimit) return true;
    Diagnostic& error = context().sink().error(
        Code::OCK0403, site,
        fmt::format("reached the {} limit while instantiating `{}`", parts > kTypeParts ? "type-length" : "recursion", short_text(item)));
    std::string text;
    for (std::size_t i = 0; i < chain.size(); ++i) {
        if (chain.size() > 2 * kShownChain && i == kShownChain) {
            text += fmt::format(" from .. ({} more)", chain.size() - 2 * kShownChain);
            i = chain.size() - kShownChain;
        }
        text += fmt::format("{}{}", i == 0 ? "" : " from ", origin_text(chain[i]));
    }
    error.note("instantiated from " + text);
    return false;
}

// Depth-first over the calls; a call of a function that is still open closes a cycle.
void ModuleLowering::refuse_call_cycles() {
    struct Call {
        ir::FuncId callee;
        Span span;
    };
    struct Open {
        ir::FuncId function;
        std::size_t next = 0;
    };
    enum class State : std::uint8_t { New, Open, Done };
    const std::size_t count = module().functions.size();
    std::vector<std::vector<Call>> calls(count);
    for (std::uint32_t f = 0; f < count; ++f) {
        const ir::Function& function = module().functions[ir::FuncId(f)];
        for (const ir::Block& block : function.blocks) {
            for (const ir::InstId id : block.insts) {
                const ir::Instruction& inst = function.insts[id];
                if (inst.callee.valid()) calls[f].push_back({inst.callee, inst.span});
            }
        }
    }
    std::vector<State> states(count, State::New);
    std::vector<bool> reported(count);
    std::vector<Open> open;
    const auto report = [&](std::size_t first, Span span) {
        bool known = true;
        for (std::size_t i = first; i < open.size(); ++i) known = known && reported[open[i].function.raw];
        if (known) return;
        std::string chain;
        for (std::size_t i = first; i < open.size(); ++i) {
            reported[open[i].function.raw] = true;
            chain += fmt::format("{} calls ", origin_text(open[i].function));
        }
        const std::string name = origin_text(open[first].function);
        Diagnostic& error = context().sink().error(
            Code::OCK0905, span,
            first + 1 == open.size() ? fmt::format("{} calls itself: device code has no call cycles", name)
                                     : fmt::format("this call closes a cycle back to {}: device code has no call cycles", name));
        if (first + 1 != open.size()) error.note(chain + name);
        error.help("write a loop, with an array of fixed size as the stack where one is needed");
    };
    for (std::uint32_t root = 0; root < count; ++root) {
        if (states[root] != State::New) continue;
        states[root] = State::Open;
        open.push_back({ir::FuncId(root)});
        while (!open.empty()) {
            Open& top = open.back();
            if (top.next == calls[top.function.raw].size()) {
                states[top.function.raw] = State::Done;
                open.pop_back();
                continue;
            }
            const Call call = calls[top.function.raw][top.next++];
            State& state = states[call.callee.raw];
            if (state == State::New) {
                state = State::Open;
                open.push_back({call.callee});
            } else if (state == State::Open) {
                std::size_t first = open.size();
                while (open[first - 1].function != call.callee) --first;
                report(first - 1, call.span);
            }
        }
    }
}

}  // namespace ockc::lower
