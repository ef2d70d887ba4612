// Running another program: arguments in, exit code and both outputs back. No shell.
#pragma once
#include <string>
#include <vector>

#include "support/result.hpp"

namespace ockc::driver {

struct ProcessResult {
    int exit_code = 0;         // 128 + signal when it was killed
    std::string output;        // stdout
    std::string error_output;  // stderr
};

// `input` is given on standard input. Fails when the program cannot be started.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments, const std::string& input = {});

// Like run_process, but with this process's own standard streams.
Result<int> run_process_attached(const std::vector<std::string>& arguments);

// An executable by name on PATH, then in the usual places of the CUDA Toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda*,
// /opt/cuda). Empty when there is none.
std::string find_cuda_tool(const std::string& name);
// On PATH only.
std::string find_on_path(const std::string& name);

}  // namespace ockc::driver
