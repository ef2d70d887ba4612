// Launching: PreparedLaunch<K> is the proof that a configuration meets kernel K's contract on the live
// device; only it opens K's safe launcher. Enqueueing allocates nothing and takes no lock. unsafe_launch()
// takes any configuration and promises nothing but the order between streams.
#pragma once
#include <cstdint>
#include <ock/arguments.hpp>
#include <ock/module.hpp>
#include <utility>

namespace ock {

namespace detail {

inline driver::CUresult call_driver(const Function& function, const LaunchConfig& config,
                                    driver::CUstream stream, void** params) {
    const driver::Api& api = function.context(Where{}).api();
    const KernelContract& contract = function.contract();
    const auto u32 = [](std::uint64_t value) { return static_cast<unsigned>(value); };
    if (!contract.has_cluster() && !contract.cooperative) {
        return api.cuLaunchKernel(function.handle(), u32(config.grid.x), u32(config.grid.y),
                                  u32(config.grid.z), u32(config.block.x), u32(config.block.y),
                                  u32(config.block.z), u32(config.dynamic_shared), stream, params, nullptr);
    }
    driver::CUlaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (contract.cooperative) {
        attributes[count].id = driver::kLaunchCooperative;
        attributes[count++].cooperative = 1;
    }
    if (contract.has_cluster()) {
        attributes[count].id = driver::kLaunchClusterDimension;
        attributes[count].cluster[0] = u32(contract.cluster.x);
        attributes[count].cluster[1] = u32(contract.cluster.y);
        attributes[count++].cluster[2] = u32(contract.cluster.z);
    }
    const driver::CUlaunchConfig extended{u32(config.grid.x),
                                          u32(config.grid.y),
                                          u32(config.grid.z),
                                          u32(config.block.x),
                                          u32(config.block.y),
                                          u32(config.block.z),
                                          u32(config.dynamic_shared),
                                          stream,
                                          attributes,
                                          count};
    return api.cuLaunchKernelEx(&extended, function.handle(), params, nullptr);
}

template <std::size_t kParams, std::size_t kSlices>
void enqueue(const Function& function, const LaunchConfig& config, const Stream& stream,
             Arguments<kParams, kSlices>& arguments) {
    const Where where = arguments.where();
    ContextState& context = function.context(where);
    if (&stream.context(where) != &context) {
        ContractViolation violation;
        violation.kind = ContractErrorKind::ContextMismatch;
        violation.kernel = function.contract().name;
        throw LaunchContractError(std::move(violation), "the stream", where);
    }
    arguments.check_context(context);
    const CurrentContext current(context);
    arguments.order_streams(context, stream.slot(where));
    const driver::CUresult code = call_driver(function, config, stream.handle(where), arguments.params());
    if (code != driver::kSuccess) [[unlikely]] {
        throw_driver_error(context.api(), code, std::string("launching `") + function.contract().name + "`",
                           where);
    }
}

}  // namespace detail

// May be copied, kept and used for many launches. K is a type that the generated header makes for one kernel.
template <class K>
class PreparedLaunch {
  public:
    // What prepare_ calls: every check of the contract.
    PreparedLaunch(const Function& function, const LaunchConfig& config, Where where)
        : function_(function), config_(function.check(config, where)) {}

    [[nodiscard]] const LaunchConfig& config() const { return config_; }

    template <std::size_t kParams, std::size_t kSlices>
    void launch(const Stream& stream, Arguments<kParams, kSlices>& arguments) const {
        arguments.check_disjoint();
        detail::enqueue(function_, config_, stream, arguments);
    }

  private:
    Function function_;
    LaunchConfig config_;
};

// No check but what the driver does; `config` may be of any rank.
template <std::size_t kParams, std::size_t kSlices>
void unsafe_launch(const Function& function, const LaunchConfig& config, const Stream& stream,
                   Arguments<kParams, kSlices>& arguments) {
    const auto fits = [](const Dim3& dims) { return (dims.x | dims.y | dims.z) <= UINT32_MAX; };
    if (!fits(config.grid) || !fits(config.block) || config.dynamic_shared > UINT32_MAX) {
        throw Error(ErrorCode::InvalidArgument, "a launch dimension does not fit 32 bits", arguments.where());
    }
    detail::ContextState& context = function.context(arguments.where());
    const detail::CurrentContext current(context);
    if (config.dynamic_shared + function.facts().static_shared > context.limits().shared_per_block) {
        const driver::Api& api = context.api();
        detail::check(api,
                      api.cuFuncSetAttribute(function.handle(), driver::kFunctionMaxDynamicSharedSizeBytes,
                                             static_cast<int>(config.dynamic_shared)),
                      "raising the kernel's dynamic shared memory limit", arguments.where());
    }
    detail::enqueue(function, config, stream, arguments);
}

// The extent that a launch has to cover, instead of a grid: the launcher derives the grid from the contract's
// block. Axis x is the fastest (columns), then y (rows), then z (planes).
template <unsigned kDomain>
struct Cover {
    std::uint64_t x = 1;
    std::uint64_t y = 1;
    std::uint64_t z = 1;

    constexpr bool empty() const { return x == 0 || y == 0 || z == 0; }
};

template <std::integral Count>
constexpr Cover<1> cover(Count count) {
    return {static_cast<std::uint64_t>(count)};
}
template <std::integral Rows, std::integral Columns>
constexpr Cover<2> cover(Rows rows, Columns columns) {
    return {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows)};
}
template <std::integral Planes, std::integral Rows, std::integral Columns>
constexpr Cover<3> cover(Planes planes, Rows rows, Columns columns) {
    return {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows),
            static_cast<std::uint64_t>(planes)};
}
template <class Buffer>
requires(!std::integral<Buffer>) Cover<1> cover(const Buffer& buffer) {
    return {buffer.size()};
}
// Every row of an output with a row width.
template <class Buffer>
Cover<2> cover(const RowWidth<Buffer>& rows) {
    if (rows.width() == 0) return {0, 0};
    return {rows.width(), div_ceil(rows.buffer().size(), rows.width())};
}

}  // namespace ock
