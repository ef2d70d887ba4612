// The launchers of one kernel, as a person would write them. In: a KernelAbi. Out: the token's type with the
// contract, and Module's members prepare_K, K (token), K (cover), try_K, unsafe_launch_K. A kernel without a
// contract gets only the last; an `unsafe fn` says unsafe_ in every name.
#include <vector>

#include "host/emit.hpp"
#include "host/names.hpp"
#include "support/check.hpp"

namespace ockc::host {

using abi::KernelAbi;
using abi::KernelParam;
using abi::ModuleAbi;
using abi::ParamKind;
using abi::SizeExpr;

std::string launcher_name(const KernelAbi& kernel) {
    std::string name = cpp_identifier(kernel.name);
    if (name == "Module") name += '_';  // a member function of that name would be a constructor
    return name;
}

KernelNames names_from(const std::string& launcher) {
    // `delete_` for a kernel called delete: two underscores in a row are not for programs.
    const std::string stem = launcher.ends_with('_') ? launcher : launcher + "_";
    return {launcher, stem + "kernel", stem + "function_"};
}

void emit_doc(TextWriter& out, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view one = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        const std::size_t last = one.find_last_not_of(" \t\r");
        one = last == std::string_view::npos ? std::string_view() : one.substr(0, last + 1);
        const bool continues = one.ends_with('\\');  // the next line of code would become part of the comment
        out.line("///{}{}{}", one.empty() || one.starts_with(' ') ? "" : " ", one, continues ? "." : "");
    }
}

namespace {

constexpr std::size_t kLineWidth = 110;

// A parameter as the launcher declares, names and packs it.
struct Argument {
    const KernelParam* param = nullptr;
    std::string name;           // of the C++ parameter
    std::string template_name;  // "C"; empty for values
    std::string constraint;     // "ock::Output<float>"
    std::string declaration;    // "C&& c"
    bool is_output = false;
};

struct Launcher {
    const ModuleAbi& module;
    const KernelAbi& kernel;
    KernelNames names;
    std::vector<Argument>
        arguments;          // by index into kernel.params; `param` is null where C++ has no parameter
    std::string safe_name;  // "vecadd", "unsafe_vecadd" for an unsafe fn
};

bool is_slice(ParamKind kind) {
    return kind == ParamKind::Slice || kind == ParamKind::DisjointSlice;
}

void describe_slice(Argument& argument, const std::string& element, UniqueNames& template_names) {
    const KernelParam& param = *argument.param;
    argument.template_name = template_names.take(upper_camel(param.name));
    argument.is_output = param.kind == ParamKind::DisjointSlice;
    const std::string& type = argument.template_name;
    if (param.has_row_width) {
        argument.constraint = fmt::format("ock::RowOutput<{}>", element);
        argument.declaration = fmt::format("const {}& {}", type, argument.name);
    } else if (argument.is_output || param.is_atomic) {
        argument.constraint = fmt::format("ock::Output<{}>", element);
        argument.declaration = fmt::format("{}&& {}", type, argument.name);
    } else {
        argument.constraint = fmt::format("ock::Input<{}>", element);
        argument.declaration = fmt::format("const {}& {}", type, argument.name);
    }
}

void describe(Argument& argument, const ModuleAbi& module, UniqueNames& template_names) {
    const KernelParam& param = *argument.param;
    const std::string type = cpp_type(module, param.type);
    switch (param.kind) {
        case ParamKind::Slice:
        case ParamKind::DisjointSlice: describe_slice(argument, type, template_names); return;
        case ParamKind::Scalar:
        case ParamKind::Uniform: argument.declaration = fmt::format("{} {}", type, argument.name); return;
        case ParamKind::Struct:
            argument.declaration = fmt::format("const {}& {}", type, argument.name);
            return;
        case ParamKind::Pointer:
            argument.declaration =
                fmt::format("{}{}* {}", param.writable ? "" : "const ", type, argument.name);
            return;
        case ParamKind::TensorMap: argument.declaration = fmt::format("const ock::TensorMap& {}", argument.name); return;
        case ParamKind::Tensor:   // of tile kernels: tile_launcher.cpp
        case ParamKind::ZeroSized: break;
    }
    OCKC_UNREACHABLE("a zero-sized parameter has no C++ argument");
}

Launcher describe(const ModuleAbi& module, const KernelAbi& kernel, const KernelNames& kernel_names) {
    Launcher launcher{module, kernel, kernel_names, {}, {}};
    launcher.safe_name = (kernel.is_unsafe ? "unsafe_" : "") + launcher.names.launcher;
    UniqueNames names("_arg");
    for (const char* own : {"stream", "prepared", "arguments", "where", "config", "cover", "module_", "Module"}) {
        names.reserve(own);
    }
    for (const std::string& own : {launcher.names.launcher, launcher.safe_name, launcher.names.tag,
                                   launcher.names.function, "prepare_" + launcher.names.launcher}) {
        names.reserve(own);
    }
    UniqueNames template_names("Arg");
    template_names.reserve("Module");
    for (const abi::AbiStruct& structure : module.structs)
        template_names.reserve(cpp_identifier(structure.name));
    for (const KernelParam& param : kernel.params)
        template_names.reserve(cpp_identifier(param.name));
    for (const KernelParam& param : kernel.params) {
        Argument argument;
        if (param.kind != ParamKind::ZeroSized) {
            argument.param = &param;
            argument.name = names.take(cpp_identifier(param.name));
            describe(argument, module, template_names);
        }
        launcher.arguments.push_back(std::move(argument));
    }
    return launcher;
}

// "fn vecadd(a: &[f32], b: &[f32], c: DisjointSlice<f32>)"
std::string rust_signature(const KernelAbi& kernel) {
    std::string text = fmt::format("{}fn {}(", kernel.is_unsafe ? "unsafe " : "", kernel.name);
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
        text +=
            fmt::format("{}{}: {}", i == 0 ? "" : ", ", kernel.params[i].name, kernel.params[i].rust_type);
    }
    return text + ")";
}

std::string argument_names(const Launcher& launcher) {
    std::string text;
    for (const Argument& argument : launcher.arguments) {
        if (argument.param != nullptr) text += argument.name + ", ";
    }
    return text;
}

// `template <ock::Input<float> A, ..>`, when there is a slice.
void emit_template_line(TextWriter& out, const Launcher& launcher) {
    std::string text;
    for (const Argument& argument : launcher.arguments) {
        if (argument.template_name.empty()) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", argument.constraint, argument.template_name);
    }
    if (!text.empty()) out.line("template <{}>", text);
}

// The head of a launcher up to its opening brace, wrapped below the first parameter.
void emit_head(TextWriter& out, const Launcher& launcher, std::string_view result, std::string_view name,
               std::string_view second) {
    emit_template_line(out, launcher);
    std::vector<std::string> parts = {"const ock::Stream& stream", std::string(second)};
    for (const Argument& argument : launcher.arguments) {
        if (argument.param != nullptr) parts.push_back(argument.declaration);
    }
    parts.emplace_back("ock::Where where = ock::Where::here()");
    const std::string start = fmt::format("{} {}(", result, name);
    const std::string indent(start.size(), ' ');
    std::string line = start;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::string piece = parts[i] + (i + 1 == parts.size() ? ") const {" : ",");
        const bool first = line.size() == start.size();
        if (!first && line.size() + 1 + piece.size() + 4 > kLineWidth) {
            out.raw(line).end_line();
            line = indent;
        } else if (!first) {
            line += ' ';
        }
        line += piece;
    }
    out.raw(line).end_line();
}

// How a kernel uses a slice, weakest first.
enum class Access { None, Read, Atomic, Write };

Access access_of(const Argument& argument) {
    if (argument.param == nullptr || !is_slice(argument.param->kind)) return Access::None;
    if (argument.is_output) return Access::Write;
    return argument.param->is_atomic ? Access::Atomic : Access::Read;
}

void emit_distinct_pair(TextWriter& out, const Argument& writer, const Argument& other) {
    out.line("static_assert(ock::distinct<{}, {}>,", writer.template_name, other.template_name);
    out.indent();
    if (access_of(other) == Access::Write) {
        out.line(
            "\"error[E0499]: cannot borrow one buffer as mutable more than once, as `{}` and as `{}`; \"",
            writer.param->name, other.param->name);
    } else {
        out.line("\"error[E0502]: cannot borrow the buffer of `{}` as mutable because it is also \"",
                 writer.param->name);
        out.line("\"borrowed as immutable, by `{}`; \"", other.param->name);
    }
    text_line(out, "\"if these are different buffers, declare them ock::DeviceBuffer<T>\");");
    out.dedent();
}

// What rustc says at a call, as `static_assert`s: a written slice is no other argument's. Two slices of
// atomics may be one buffer, as two shared borrows may.
void emit_distinct(TextWriter& out, const Launcher& launcher) {
    const std::vector<Argument>& all = launcher.arguments;
    for (std::size_t second = 1; second < all.size(); ++second) {
        for (std::size_t first = 0; first < second; ++first) {
            const Access a = access_of(all[first]);
            const Access b = access_of(all[second]);
            const bool shared = a == b && a != Access::Write;
            if (a == Access::None || b == Access::None || shared) continue;
            const bool first_writes = a >= b;
            emit_distinct_pair(out, all[first_writes ? first : second], all[first_writes ? second : first]);
        }
    }
}

std::string size_expression(const Launcher& launcher, const SizeExpr& expr, bool nested) {
    const auto name = [&] { return launcher.arguments[expr.param].name; };
    const auto binary = [&](const char* op) {
        OCKC_CHECK(expr.operands.size() == 2);
        const std::string text = fmt::format("{} {} {}", size_expression(launcher, expr.operands[0], true),
                                             op, size_expression(launcher, expr.operands[1], true));
        return nested ? "(" + text + ")" : text;
    };
    switch (expr.kind) {
        case SizeExpr::Kind::Literal: return fmt::format("ock::Size({}u)", expr.literal);
        case SizeExpr::Kind::Param: return fmt::format("ock::Size({})", name());
        case SizeExpr::Kind::Len: return fmt::format("ock::length_of({})", name());
        case SizeExpr::Kind::RowWidth: return fmt::format("ock::row_width_of({})", name());
        case SizeExpr::Kind::Add: return binary("+");
        case SizeExpr::Kind::Sub: return binary("-");
        case SizeExpr::Kind::Mul: return binary("*");
    }
    OCKC_UNREACHABLE("kind of a size expression");
}

const char* relation_text(abi::Relation relation) {
    switch (relation) {
        case abi::Relation::Lt: return "<";
        case abi::Relation::Le: return "<=";
        case abi::Relation::Gt: return ">";
        case abi::Relation::Ge: return ">=";
        case abi::Relation::Eq: return "==";
        case abi::Relation::Ne: return "!=";
    }
    OCKC_UNREACHABLE("relation");
}

// C++'s enum class holds any number; a kernel may only meet the variants.
void emit_variant_check(TextWriter& out, const Launcher& launcher, const Argument& argument) {
    const abi::AbiStruct& type = launcher.module.structs[argument.param->type.struct_index];
    if (type.variants.empty()) return;
    std::string list;
    for (const abi::AbiVariant& variant : type.variants) {
        list += fmt::format("{}{}::{}", list.empty() ? "" : ", ", cpp_identifier(type.name), cpp_identifier(variant.name));
    }
    out.line("ock::checked_variant({}, {{{}}}, {}, where);", argument.name, list, cpp_string(argument.param->name));
}

void emit_argument(TextWriter& out, const Launcher& launcher, const Argument& argument) {
    const KernelParam& param = *argument.param;
    if (is_slice(param.kind)) {
        const char* const how = param.has_row_width  ? "rows"
                                : argument.is_output ? "output"
                                : param.is_atomic    ? "atomic"
                                                     : "input";
        out.line("arguments.{}<{}>({}, {});", how, cpp_type(launcher.module, param.type),
                 cpp_string(param.name), argument.name);
        return;
    }
    const bool is_char = param.type.kind == abi::AbiType::Kind::Scalar &&
                         param.type.scalar == abi::Scalar::Char && param.kind != ParamKind::Pointer && param.kind != ParamKind::TensorMap;
    if (is_char) out.line("ock::checked_char({}, {}, where);", argument.name, cpp_string(param.name));
    if (param.kind == ParamKind::Struct && param.type.kind == abi::AbiType::Kind::Struct) {
        emit_variant_check(out, launcher, argument);
    }
    out.line("arguments.value({});", argument.name);
}

// The .params in order. Sizes are those of the kernel's ABI: the emitter and the PTX read one list.
void emit_packing(TextWriter& out, const Launcher& launcher) {
    std::size_t slices = 0;
    std::size_t slots = 0;
    for (const KernelParam& param : launcher.kernel.params) {
        slices += is_slice(param.kind) ? 1 : 0;
        if (param.kind == ParamKind::ZeroSized) continue;
        slots += is_slice(param.kind) ? (param.has_row_width ? 3 : 2) : 1;
    }
    OCKC_CHECK(slots == launcher.kernel.slots.size());
    out.line("ock::Arguments<{}, {}> arguments({}::contract, where);", slots, slices, launcher.names.tag);
    for (const Argument& argument : launcher.arguments) {
        if (argument.param != nullptr) emit_argument(out, launcher, argument);
    }
}

void emit_prepare(TextWriter& out, const Launcher& launcher) {
    const std::string& name = launcher.names.launcher;
    const std::uint32_t domain = launcher.kernel.launch.domain;
    out.line("/// Checks a configuration against the contract and the device. The token opens {}().",
             launcher.safe_name);
    out.line("[[nodiscard]] ock::PreparedLaunch<{}> prepare_{}(", launcher.names.tag, name);
    out.line("    const ock::LaunchConfig{}D& config, ock::Where where = ock::Where::here()) const {{",
             domain);
    out.line("    return {{{}, config, where}};", launcher.names.function);
    text_line(out, "}");
    out.line("[[nodiscard]] ock::Result<ock::PreparedLaunch<{}>> try_prepare_{}(", launcher.names.tag, name);
    out.line("    const ock::LaunchConfig{}D& config, ock::Where where = ock::Where::here()) const {{",
             domain);
    out.line("    return ock::attempt([&] {{ return prepare_{}(config, where); }});", name);
    text_line(out, "}");
    out.end_line();
}

void emit_safe(TextWriter& out, const Launcher& launcher) {
    emit_doc(out, launcher.kernel.doc);
    out.line("/// Rust: {}", rust_signature(launcher.kernel));
    emit_head(out, launcher, "void", launcher.safe_name,
              fmt::format("const ock::PreparedLaunch<{}>& prepared", launcher.names.tag));
    out.indent();
    emit_distinct(out, launcher);
    emit_packing(out, launcher);
    for (const abi::Requirement& requirement : launcher.kernel.launch.requirements) {
        out.line("arguments.require({}, {} {} {});", cpp_string(requirement.text),
                 size_expression(launcher, requirement.lhs, false), relation_text(requirement.relation),
                 size_expression(launcher, requirement.rhs, false));
    }
    text_line(out, "prepared.launch(stream, arguments);");
    out.dedent();
    text_line(out, "}");
    out.end_line();
}

void emit_try(TextWriter& out, const Launcher& launcher) {
    out.line("/// {}() with its error as a value.", launcher.safe_name);
    emit_head(out, launcher, "ock::Result<void>", "try_" + launcher.safe_name,
              fmt::format("const ock::PreparedLaunch<{}>& prepared", launcher.names.tag));
    out.line("    return ock::attempt([&] {{ {}(stream, prepared, {}where); }});", launcher.safe_name,
             argument_names(launcher));
    text_line(out, "}");
    out.end_line();
}

// The block that a covering launch takes: the contract's, or in one dimension as many threads as it allows.
std::optional<abi::Dim3> covering_block(const KernelAbi& kernel) {
    if (kernel.launch.dynamic_shared_range) return std::nullopt;  // nobody but the caller knows how much
    if (kernel.launch.block) return kernel.launch.block;
    if (kernel.launch.domain == 1 && kernel.launch.max_threads)
        return abi::Dim3{*kernel.launch.max_threads, 1, 1};
    return std::nullopt;
}

// "ock::div_ceil(cover.x, 256)", in whole clusters where the kernel has them.
std::string covering_axis(const KernelAbi& kernel, const abi::Dim3& block, std::size_t axis) {
    const std::uint64_t cluster = kernel.launch.cluster ? (*kernel.launch.cluster)[axis] : 1;
    const std::string text = fmt::format("ock::div_ceil(cover.{}, {})", "xyz"[axis], block[axis] * cluster);
    return cluster == 1 ? text : fmt::format("{} * {}", text, cluster);
}

void emit_cover(TextWriter& out, const Launcher& launcher) {
    const KernelAbi& kernel = launcher.kernel;
    const std::optional<abi::Dim3> block = covering_block(kernel);
    if (!block) return;
    const std::size_t domain = kernel.launch.domain;
    std::string grid;
    std::string threads;
    for (std::size_t axis = 0; axis < domain; ++axis) {
        grid += (axis == 0 ? "" : ", ") + covering_axis(kernel, *block, axis);
        threads += (axis == 0 ? "" : ", ") + std::to_string((*block)[axis]);
    }
    if (domain > 1) {
        grid = "{" + grid + "}";
        threads = "{" + threads + "}";
    }
    const std::uint64_t shared = kernel.launch.dynamic_shared.value_or(0);
    out.line("/// The same with the grid that covers an extent: {}(stream, ock::cover(output), ..).",
             launcher.safe_name);
    emit_head(out, launcher, "void", launcher.safe_name, fmt::format("const ock::Cover<{}>& cover", domain));
    out.indent();
    text_line(out, "if (cover.empty()) return;");
    out.line("const ock::LaunchConfig{}D config({}, {}{});", domain, grid, threads,
             shared == 0 ? "" : fmt::format(", {}", shared));
    out.line("{}(stream, prepare_{}(config, where), {}where);", launcher.safe_name, launcher.names.launcher,
             argument_names(launcher));
    out.dedent();
    text_line(out, "}");
    out.end_line();
}

void emit_unsafe(TextWriter& out, const Launcher& launcher) {
    if (!launcher.kernel.launch.has_contract) {
        emit_doc(out, launcher.kernel.doc);
        out.line("/// Rust: {}", rust_signature(launcher.kernel));
        text_line(out,
                  "/// Unsafe: without a launch contract nothing says which grid and block the kernel is "
                  "written for.");
    } else {
        text_line(out,
                  "/// Unsafe: any grid and block, overlapping arguments, `requires` unchecked: all up to "
                  "the caller.");
    }
    emit_head(out, launcher, "void", "unsafe_launch_" + launcher.names.launcher,
              "const ock::LaunchConfig& config");
    out.indent();
    emit_packing(out, launcher);
    out.line("ock::unsafe_launch({}, config, stream, arguments);", launcher.names.function);
    out.dedent();
    text_line(out, "}");
}

}  // namespace

void emit_contract(TextWriter& out, const KernelAbi& kernel, const KernelNames& names) {
    const abi::LaunchFacts& launch = kernel.launch;
    const auto dim3 = [](const abi::Dim3& d) { return fmt::format("{{{}, {}, {}}}", d[0], d[1], d[2]); };
    out.line("/// What a launch of `{}` has to look like.", kernel.name);
    out.line("struct {} {{", names.tag);
    out.indent();
    text_line(out, "static constexpr ock::KernelContract contract{");
    out.indent();
    out.line(".name = {},", cpp_string(kernel.name));
    out.line(".symbol = {},", cpp_string(kernel.symbol));
    if (launch.has_contract) out.line(".domain = {},", launch.domain);
    if (launch.coordinates_u32) text_line(out, ".coordinates_u32 = true,");
    if (launch.block) out.line(".block = {},", dim3(*launch.block));
    if (launch.max_threads) out.line(".max_threads = {},", *launch.max_threads);
    if (launch.dynamic_shared || launch.dynamic_shared_range) {
        const std::uint64_t low =
            launch.dynamic_shared ? *launch.dynamic_shared : (*launch.dynamic_shared_range)[0];
        const std::uint64_t high =
            launch.dynamic_shared ? *launch.dynamic_shared : (*launch.dynamic_shared_range)[1];
        out.line(".dynamic_shared_min = {},", low);
        out.line(".dynamic_shared_max = {},", high);
        out.line(".dynamic_shared_alignment = {},", launch.dynamic_shared_alignment);
    }
    if (launch.min_compute_capability) {
        const auto& capability = *launch.min_compute_capability;
        out.line(".min_compute_capability = {},", capability[0] * 10 + capability[1]);
    }
    if (launch.cluster) out.line(".cluster = {},", dim3(*launch.cluster));
    if (launch.cooperative) text_line(out, ".cooperative = true,");
    out.dedent();
    text_line(out, "};");
    out.dedent();
    text_line(out, "};");
    out.end_line();
}

void emit_launchers(TextWriter& out, const ModuleAbi& module, const KernelAbi& kernel,
                    const KernelNames& names) {
    const Launcher launcher = describe(module, kernel, names);
    if (kernel.launch.has_contract) {
        emit_prepare(out, launcher);
        emit_safe(out, launcher);
        emit_cover(out, launcher);
        emit_try(out, launcher);
    }
    emit_unsafe(out, launcher);
}

}  // namespace ockc::host
