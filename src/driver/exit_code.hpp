// What the process exit code means (see docs/cli.md).
#pragma once

namespace ockc::driver {

enum ExitCode : int {
    kOk = 0,
    kSourceErrors = 1,       // errors in the source
    kBadCommandLine = 2,
    kEnvironment = 3,        // unreadable file, no device that was asked for by name
    kPtxRejected = 4,        // ptxas refused our PTX: a bug of ockc
    kKernelFailed = 5,       // the kernel failed on the device
    kInternalError = 101,    // support/check.hpp
};

}  // namespace ockc::driver
