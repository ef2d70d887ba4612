#include "driver/device_arguments.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ockc::driver {

namespace {

std::string slot_of(std::uint64_t value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

// The driver counts dimensions from the fastest.
TensorMapRequest map_of(const PlannedArgument& argument) {
    TensorMapRequest request;
    request.type = argument.array.type;
    request.dims.assign(argument.array.shape.rbegin(), argument.array.shape.rend());
    request.box.assign(argument.box.rbegin(), argument.box.rend());
    request.swizzle = argument.swizzle;
    return request;
}

// An i32: the low half.
std::string half_of(std::uint64_t value) { return slot_of(value).substr(0, sizeof(std::uint32_t)); }

}  // namespace

Result<DeviceArguments> DeviceArguments::upload(const LaunchPlan& plan, LaunchDevice& device) {
    DeviceArguments result;
    result.addresses_.resize(plan.arguments.size());
    for (const auto& [symbol, bytes] : plan.constants) {
        if (Status set = device.set_constant(symbol, bytes); !set.ok()) return Failure{set.error()};
    }
    for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
        const PlannedArgument& argument = plan.arguments[i];
        if (argument.param->slot_count == 0) continue;
        if (!argument.is_array()) {
            result.slots_.push_back(argument.scalar);
            continue;
        }
        const Result<DevicePtr> address = device.upload(argument.array.bytes);
        if (!address.ok()) return Failure{address.error()};
        result.addresses_[i] = address.value();
        if (argument.param->kind == abi::ParamKind::TensorMap) {
            const Result<std::string> map = device.tensor_map(address.value(), map_of(argument));
            if (!map.ok()) return Failure{fmt::format("`{}`: {}", argument.param->name, map.error())};
            result.slots_.push_back(map.value());
            continue;
        }
        result.slots_.push_back(slot_of(address.value()));
        if (argument.param->kind == abi::ParamKind::Tensor) {   // extents, then the strides of row-major order
            for (const std::uint64_t extent : argument.array.shape) result.slots_.push_back(half_of(extent));
            for (std::size_t k = 0; k < argument.array.shape.size(); ++k) {
                std::uint64_t stride = 1;
                for (std::size_t j = k + 1; j < argument.array.shape.size(); ++j) stride *= argument.array.shape[j];
                result.slots_.push_back(half_of(stride));
            }
            continue;
        }
        if (argument.param->slot_count > 1) result.slots_.push_back(slot_of(argument.array.size()));
        if (argument.param->has_row_width) {   // a u32: the low half
            const std::uint64_t width = argument.array.shape.empty() ? 0 : argument.array.shape.back();
            result.slots_.push_back(slot_of(width).substr(0, sizeof(std::uint32_t)));
        }
    }
    return result;
}

Result<double> DeviceArguments::launch(const LaunchPlan& plan, LaunchDevice& device) const {
    return device.launch(*plan.kernel, plan.grid, plan.block, plan.dynamic_shared, slots_);
}

Status DeviceArguments::download(LaunchPlan& plan, LaunchDevice& device, std::size_t argument) const {
    return device.download(addresses_[argument], plan.arguments[argument].array.bytes);
}

}  // namespace ockc::driver
