// The launchers of tile kernels: for each kernel a table of its compiled instances and a function that takes the outputs,
// shares the inputs and describes the launch. Instances that take the same C++ types share a function, which finds the one
// that fits when it is called.
#include <fmt/format.h>

#include "host/emit.hpp"
#include "host/names.hpp"
#include "support/check.hpp"

namespace ockc::host {

using abi::KernelAbi;
using abi::KernelParam;
using abi::ModuleAbi;
using abi::ParamKind;

namespace {

bool is_tensor(const KernelParam& param) { return param.kind == ParamKind::Tensor; }

std::string param_type(const ModuleAbi& module, const KernelParam& param) {
    const std::string type = cpp_type(module, param.type);
    if (!is_tensor(param)) return type;
    return fmt::format("ock::{}<{}>", !param.map.empty() ? "MappedPartition" : param.writable ? "Partition" : "Tensor", type);
}

// The types of all arguments, as the launch hands them back.
std::string result_type(const ModuleAbi& module, const KernelAbi& kernel) {
    std::string text;
    for (const KernelParam& param : kernel.params) {
        if (param.kind != ParamKind::ZeroSized) text += (text.empty() ? "" : ", ") + param_type(module, param);
    }
    return fmt::format("ock::Operation<std::tuple<{}>>", text);
}

std::string generics_text(const KernelAbi& kernel) {
    std::string text;
    for (const abi::GenericValue& one : kernel.generics) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", one.name, one.value);
    return text;
}

// "{1, {128}}, {2, {-1, 64}}"
std::string shapes_text(const KernelAbi& kernel) {
    std::string text;
    for (const KernelParam& param : kernel.params) {
        if (!is_tensor(param)) continue;
        const std::string map = param.map.empty() ? "" : fmt::format(", {{{}}}", fmt::join(param.map, ", "));
        text += fmt::format("{}{{{}, {{{}}}{}}}", text.empty() ? "" : ", ", param.shape.size(), fmt::join(param.shape, ", "), map);
    }
    return text;
}

std::string term_text(const KernelAbi& kernel, const abi::TileTerm& term) {
    std::uint32_t tensor = 0;   // tensors are numbered in the order of the parameters
    for (std::uint32_t i = 0; i < term.param && term.kind == abi::TileTerm::Kind::Tiles; ++i) tensor += is_tensor(kernel.params[i]) ? 1 : 0;
    switch (term.kind) {
        case abi::TileTerm::Kind::Number: return fmt::format("ock::TileTerm::number({})", term.number);
        case abi::TileTerm::Kind::Grid: return fmt::format("ock::TileTerm::grid({})", term.axis);
        case abi::TileTerm::Kind::Tiles: return fmt::format("ock::TileTerm::tiles({}, {}, {})", tensor, term.axis, term.number);
    }
    OCKC_UNREACHABLE("a side of a check");
}

std::string checks_text(const KernelAbi& kernel) {
    std::string text;
    for (const abi::TileCheck& check : kernel.tile_checks) {
        text += fmt::format("{}{{{}, {}}}", text.empty() ? "" : ", ", term_text(kernel, check.least), term_text(kernel, check.most));
    }
    return text;
}

void emit_instances(TextWriter& out, std::span<const KernelAbi* const> instances, const std::string& name) {
    for (std::size_t i = 0; i < instances.size(); ++i) {
        const std::string shapes = shapes_text(*instances[i]);
        if (!shapes.empty()) out.line("inline constexpr ock::TileShape {}_tensors_{}[] = {{{}}};", name, i, shapes);
        const std::string checks = checks_text(*instances[i]);
        if (!checks.empty()) out.line("inline constexpr ock::TileCheck {}_checks_{}[] = {{{}}};", name, i, checks);
    }
    out.line("inline constexpr ock::TileInstance {}_instances[] = {{", name);
    out.indent();
    for (std::size_t i = 0; i < instances.size(); ++i) {
        const KernelAbi& one = *instances[i];
        const abi::Dim3 block = one.launch.block.value_or(abi::Dim3{1, 1, 1});
        const std::uint64_t bytes = one.launch.dynamic_shared.value_or(0);
        const std::string shared = bytes == 0 ? "" : fmt::format(", .dynamic_shared_min = {0}, .dynamic_shared_max = {0}", bytes);
        const std::string shapes = shapes_text(one).empty() ? "{}" : fmt::format("{}_tensors_{}", name, i);
        const std::string checks = one.tile_checks.empty() ? "" : fmt::format(", {}_checks_{}", name, i);
        out.line("{{{{.name = {}, .symbol = {}, .domain = 3, .block = {{{}}}{}}}, {}, {}{}}},", cpp_string(one.name), cpp_string(one.symbol),
                 fmt::join(block, ", "), shared, cpp_string(generics_text(one)), shapes, checks);
    }
    out.dedent();
    text_line(out, "};");
}

void emit_function(TextWriter& out, const ModuleAbi& module, const KernelAbi& kernel, const std::string& launcher, const std::string& table, bool panics) {
    emit_doc(out, kernel.doc);
    std::string params, names, args, rust;
    for (const KernelParam& param : kernel.params) {
        rust += fmt::format("{}{}: {}", rust.empty() ? "" : ", ", param.name, param.rust_type);
        if (param.kind == ParamKind::ZeroSized) continue;
        const std::string name = cpp_identifier(param.name);
        const bool shared = is_tensor(param) && !param.writable;
        params += fmt::format("{}{} {}, ", shared ? "const " : "", param_type(module, param) + (shared ? "&" : ""), name);
        names += (names.empty() ? "" : ", ") + cpp_string(param.name);
        args += shared ? fmt::format(", {}.shared(where)", name) : is_tensor(param) ? fmt::format(", std::move({})", name) : ", " + name;
    }
    out.line("/// Rust: {}fn {}({})", kernel.is_unsafe ? "unsafe " : "", kernel.name, rust);
    out.line("[[nodiscard]] inline {} {}{}(", result_type(module, kernel), kernel.is_unsafe ? "unsafe_" : "", launcher);
    out.line("    {}ock::Where where = ock::Where::here()) {{", params);
    out.line("    return ock::launch_tiles<{}>(tile_modules, images, {}, {}_instances, {{{}}}, where{});", kernel.slots.size(),
             panics ? "panic_sites" : "std::span<const ock::PanicSite>()", table, names, args);
    text_line(out, "}");
    out.end_line();
}

}  // namespace

void emit_tile_launchers(TextWriter& out, const ModuleAbi& module, std::span<const KernelAbi* const> kernels, bool panics) {
    if (kernels.empty()) return;
    text_line(out, "inline ock::ModuleCache tile_modules;");
    out.end_line();
    std::vector<bool> done(kernels.size());
    UniqueNames tables("_instances");
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        if (done[i]) continue;
        const auto same = [&](const KernelAbi& other) { return other.name == kernels[i]->name && result_type(module, other) == result_type(module, *kernels[i]); };
        std::vector<const KernelAbi*> instances;
        for (std::size_t j = i; j < kernels.size(); ++j) {
            if (done[j] || !same(*kernels[j])) continue;
            done[j] = true;
            instances.push_back(kernels[j]);
        }
        const std::string launcher = launcher_name(*kernels[i]);
        const std::string table = tables.take(launcher);
        emit_instances(out, instances, table);
        emit_function(out, module, *kernels[i], launcher, table, panics);
    }
}

}  // namespace ockc::host
