// The parts of a generated header, shared by the files of this folder.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "abi/kernel_abi.hpp"
#include "support/text_writer.hpp"

namespace ockc::host {

// The C++ spelling of a type that crosses the launch.
std::string cpp_type(const abi::ModuleAbi& module, const abi::AbiType& type);

// A struct with the layout that the device code uses, and static_asserts that the C++ compiler agrees.
void emit_struct(TextWriter& out, const abi::ModuleAbi& module, const abi::AbiStruct& structure);

// The C++ names of one kernel's pieces.
struct KernelNames {
    std::string launcher;  // "vecadd"
    std::string tag;       // "vecadd_kernel", the token's type argument and owner of the contract
    std::string function;  // "vecadd_function_", the Module's member
};
// The names that a kernel would have alone in its Module; the header makes them differ from its neighbours'.
std::string launcher_name(const abi::KernelAbi& kernel);
KernelNames names_from(const std::string& launcher);

// `struct vecadd_kernel` with the contract as data.
void emit_contract(TextWriter& out, const abi::KernelAbi& kernel, const KernelNames& names);

// The member functions of Module for one kernel.
void emit_launchers(TextWriter& out, const abi::ModuleAbi& module, const abi::KernelAbi& kernel,
                    const KernelNames& names);

// The launchers of the tile kernels of one namespace, in source order; `panics`: do the images report failed checks.
void emit_tile_launchers(TextWriter& out, const abi::ModuleAbi& module, std::span<const abi::KernelAbi* const> kernels, bool panics);

// `text` as /// lines.
void emit_doc(TextWriter& out, std::string_view text);

// A line without format placeholders: braces stand for themselves.
inline void text_line(TextWriter& out, std::string_view text) {
    out.raw(text).end_line();
}

}  // namespace ockc::host
