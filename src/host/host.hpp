// What the host side of a compilation looks like, as text: the C++ launcher header and the JSON manifest. In:
// the ModuleAbi of one source file and its PTX images. Out: bytes that depend on nothing else.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "abi/kernel_abi.hpp"

namespace ockc::host {

// One PTX text of the module. The header embeds every image; loading takes the best fit for the device.
struct Image {
    std::string target;    // "sm_80", "sm_90a"
    std::string_view ptx;  // must outlive the call; no terminator needed
    std::string file;      // the .ptx file's name for the manifest; empty when none is written
};

// The header `stem.h`: compiles alone, includes only <ock/runtime.hpp>.
std::string emit_header(const abi::ModuleAbi& module, std::span<const Image> images);

// The manifest: everything that a program without the header needs to launch the kernels (docs/abi.md is its
// schema).
std::string emit_manifest(const abi::ModuleAbi& module, std::span<const Image> images);

}  // namespace ockc::host
