// C++ types for what kernels take by value or hold in buffers. Offsets come from the ABI; where C++ would
// place a member earlier, explicit padding stands before it, and where C++ would place it later the struct is
// packed.
#include <limits>

#include "host/emit.hpp"
#include "host/names.hpp"
#include "support/check.hpp"

namespace ockc::host {

using abi::AbiField;
using abi::AbiStruct;
using abi::AbiType;

std::string cpp_type(const abi::ModuleAbi& module, const AbiType& type) {
    switch (type.kind) {
        case AbiType::Kind::Scalar: return abi::scalar_info(type.scalar).cpp;
        case AbiType::Kind::Struct:
            OCKC_CHECK(type.struct_index < module.structs.size());
            return cpp_identifier(module.structs[type.struct_index].name);
        case AbiType::Kind::Array:
            OCKC_CHECK(type.element.size() == 1);
            return fmt::format("std::array<{}, {}>", cpp_type(module, type.element.front()),
                               type.array_length);
    }
    OCKC_UNREACHABLE("kind of an ABI type");
}

namespace {

std::uint64_t align_up(std::uint64_t offset, std::uint64_t align) {
    return (offset + align - 1) / align * align;
}

// True when some member or the size is not where its own alignment would put it: repr(packed).
bool needs_packing(const AbiStruct& structure) {
    for (const AbiField& field : structure.fields) {
        if (field.offset % field.type.align != 0 || field.type.align > structure.align) return true;
    }
    return structure.size % structure.align != 0;
}

void emit_members(TextWriter& out, const abi::ModuleAbi& module, const AbiStruct& structure, bool packed) {
    std::uint64_t offset = 0;
    int paddings = 0;
    const auto pad_to = [&](std::uint64_t target, std::uint64_t align) {
        const std::uint64_t natural = packed ? offset : align_up(offset, align);
        OCKC_CHECK(natural <= target);
        if (natural == target) return;
        out.line("unsigned char padding_{}_[{}] = {{}};", paddings++, target - offset);
    };
    for (const AbiField& field : structure.fields) {
        if (field.type.size == 0) continue;
        pad_to(field.offset, field.type.align);
        out.line("{} {};", cpp_type(module, field.type), cpp_identifier(field.name));
        offset = field.offset + field.type.size;
    }
    pad_to(structure.size, structure.align);
}

void emit_enum(TextWriter& out, const AbiStruct& structure, const std::string& name) {
    const abi::ScalarInfo& tag = abi::scalar_info(structure.tag);
    out.line("/// Rust: {}", structure.rust_type);
    out.line("enum class {} : {} {{", name, tag.cpp);
    out.indent();
    for (const abi::AbiVariant& variant : structure.variants) {
        // The lowest 64-bit number is no literal in C++.
        const auto number = static_cast<std::int64_t>(variant.tag);
        const bool lowest = tag.npy_kind == 'i' && number == std::numeric_limits<std::int64_t>::min();
        const std::string value = lowest                 ? "INT64_MIN"
                                  : tag.npy_kind == 'i' ? fmt::format("{}", number)
                                                        : fmt::format("{}u", variant.tag);
        out.line("{} = {},", cpp_identifier(variant.name), value);
    }
    out.dedent();
    text_line(out, "};");
    out.line("static_assert(sizeof({}) == {});", name, structure.size);
    out.end_line();
}

}  // namespace

void emit_struct(TextWriter& out, const abi::ModuleAbi& module, const AbiStruct& structure) {
    const std::string name = cpp_identifier(structure.name);
    if (!structure.variants.empty()) return emit_enum(out, structure, name);
    const bool packed = needs_packing(structure);
    out.line("/// Rust: {}", structure.rust_type);
    if (packed) text_line(out, "#pragma pack(push, 1)");
    // In a packed struct alignas would raise the size again; it is only written where it says more than the
    // members.
    out.line("struct {}{} {{", packed ? "" : fmt::format("alignas({}) ", structure.align), name);
    out.indent();
    emit_members(out, module, structure, packed);
    out.dedent();
    text_line(out, "};");
    if (packed) text_line(out, "#pragma pack(pop)");
    if (structure.size == 0) {
        // C++ has no type of size 0. The kernel reads and writes nothing of it: only lengths count.
        out.line("static_assert(sizeof({}) == {});", name, structure.align);
    } else {
        out.line("static_assert(sizeof({}) == {});", name, structure.size);
    }
    for (const AbiField& field : structure.fields) {
        if (field.type.size == 0) continue;
        out.line("static_assert(offsetof({}, {}) == {});", name, cpp_identifier(field.name), field.offset);
    }
    out.end_line();
}

}  // namespace ockc::host
