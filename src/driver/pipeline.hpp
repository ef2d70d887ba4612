// The compiler with what the public interface leaves out: the kernels' ABI, from which launches are prepared.
#pragma once
#include "abi/kernel_abi.hpp"
#include "ockc/compiler.hpp"

namespace ockc::driver {

CompileResult compile_with_abi(const CompileInput& input, const CompileOptions& options, const DiagnosticOptions& diagnostics,
                               abi::ModuleAbi& abi);

}  // namespace ockc::driver
