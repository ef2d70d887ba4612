// The arguments of a planned launch on a device: arrays in its memory, and the slots that the kernel's parameters fill.
#pragma once
#include <string>
#include <vector>

#include "driver/device.hpp"
#include "driver/launch_plan.hpp"
#include "support/result.hpp"

namespace ockc::driver {

class DeviceArguments {
  public:
    // Copies every array of `plan` to `device`. Failures carry the device's text.
    static Result<DeviceArguments> upload(const LaunchPlan& plan, LaunchDevice& device);

    // Runs the kernel once and waits for it; milliseconds.
    Result<double> launch(const LaunchPlan& plan, LaunchDevice& device) const;

    // Brings array `argument` of `plan` back into it.
    Status download(LaunchPlan& plan, LaunchDevice& device, std::size_t argument) const;

  private:
    std::vector<DevicePtr> addresses_;   // by argument; 0 for what is no array
    std::vector<std::string> slots_;
};

}  // namespace ockc::driver
