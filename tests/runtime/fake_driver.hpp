// A driver library without a device: device memory is host memory, every call is written down, and a test
// sets what the device is like and what fails. tests/runtime loads it through OCK_CUDA_LIBRARY or as the
// emulator.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct FakeDriver {
    std::map<int, int> device_attributes;    // by ock::driver::DeviceAttribute
    std::map<int, int> function_attributes;  // by ock::driver::FunctionAttribute
    int potential_cluster_size = 8;
    int active_clusters = 4;
    int active_clusters_result = 0;
    int blocks_per_multiprocessor = 2;

    int launch_result = 0;
    int synchronize_result = 0;
    std::string account;         // of ock_emulator_last_error
    std::string refused_target;  // an image that says .target of this is refused ..
    int refusal = 0;             // .. with this code ..
    std::string refusal_log;     // .. and this JIT log

    std::vector<std::string> calls;                      // orders between streams and launches, in words
    std::vector<std::vector<unsigned char>> parameters;  // of the last launch of a kernel it knows
    int live_allocations = 0;
    int live_modules = 0;

    void reset();
};

extern "C" FakeDriver* fake_driver();
