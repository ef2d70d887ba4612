// Launching tile kernels: which instance fits the arguments, what must hold of them, and the launch itself. Generated headers
// call launch_tiles; a launch takes its outputs, shares its inputs, and hands all back when it is run.
#pragma once
#include <array>
#include <cstdint>
#include <list>
#include <mutex>
#include <ock/arguments.hpp>
#include <ock/launch.hpp>
#include <ock/module.hpp>
#include <ock/tensor.hpp>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace ock {

// What an instance says of one tensor parameter: extents of an input, -1 for any; the tile of an output.
struct TileShape {
    unsigned rank = 0;
    std::array<std::int32_t, kMaxRank> extents{};
    std::array<std::int32_t, kMaxRank> map{};    // of a mapped output
};
// A side of what must hold of a launch so that the kernel's tile indices lead to tiles.
struct TileTerm {
    enum class Kind : std::uint8_t { Number, Grid, Tiles } kind = Kind::Number;
    std::uint32_t value = 0;                     // Number; Tiles: lanes of a tile
    unsigned tensor = 0, axis = 0;
    static constexpr TileTerm number(std::uint32_t value) { return {Kind::Number, value, 0, 0}; }
    static constexpr TileTerm grid(unsigned axis) { return {Kind::Grid, 0, 0, axis}; }
    static constexpr TileTerm tiles(unsigned tensor, unsigned axis, std::uint32_t lanes) { return {Kind::Tiles, lanes, tensor, axis}; }
};
struct TileCheck {
    TileTerm least, most;                        // least <= most
};
struct TileInstance {
    KernelContract contract;
    const char* generics = "";                   // "B = 128"
    std::span<const TileShape> tensors;          // in the order of the parameters
    std::span<const TileCheck> checks = {};
};

// The loaded module of a header, once for each context. Headers have one as a global variable, so what it holds is never
// given back: when a program's globals are destroyed, the driver (or the emulator, which was loaded later) may be gone.
class ModuleCache {
  public:
    Function function(const std::shared_ptr<detail::ContextState>& context, std::span<const Image> images, std::span<const PanicSite> sites,
                      const KernelContract& contract, Where where) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Loaded& one : loaded_) {
            if (one.context == context) return one.module.function(contract, where);
        }
        loaded_.push_back({context, Module(Context(context), images, sites, where)});
        return loaded_.back().module.function(contract, where);
    }

  private:
    struct Loaded {
        std::shared_ptr<detail::ContextState> context;
        Module module;
    };
    std::mutex mutex_;
    std::list<Loaded>& loaded_ = *new std::list<Loaded>();
};

namespace detail {

// One argument while it is checked and passed: the tensor's extents and row-major strides, as the kernel reads them.
struct TileTensor {
    const char* name = "";
    bool is_output = false;
    TensorShape shape, tile;
    std::array<std::int32_t, kMaxRank> map{};
    Dim3 grid;
    std::uint64_t address = 0;
    std::array<std::int32_t, kMaxRank> extents{}, strides{};
};

inline bool fits(const TileTensor& tensor, const TileShape& wanted) {
    const TensorShape& given = tensor.is_output ? tensor.tile : tensor.shape;
    if (given.rank() != wanted.rank) return false;
    for (unsigned k = 0; k < wanted.rank; ++k) {
        if (wanted.extents[k] != -1 && wanted.extents[k] != given[k]) return false;
    }
    return wanted.map == tensor.map;
}

inline const TileInstance& choose_instance(std::span<const TileInstance> instances, std::span<const TileTensor> tensors, Where where) {
    for (const TileInstance& instance : instances) {
        bool good = true;
        for (std::size_t i = 0; i < tensors.size(); ++i) good = good && fits(tensors[i], instance.tensors[i]);
        if (good) return instance;
    }
    std::string text = "no instance of kernel `" + std::string(instances[0].contract.name) + "` takes";
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TileTensor& one = tensors[i];
        text += (i == 0 ? " `" : ", `") + std::string(one.name) + "` " + one.shape.text() + (one.is_output ? " in tiles of " + one.tile.text() : "");
    }
    text += "; compiled:";
    for (const TileInstance& instance : instances) text += " (" + std::string(instance.generics) + ")";
    throw Error(ErrorCode::InvalidArgument, text + "; ockc --const NAME=VALUE compiles another", where);
}

inline Dim3 common_grid(const KernelContract& kernel, std::span<const TileTensor> tensors, Where where) {
    const TileTensor* first = nullptr;
    for (const TileTensor& one : tensors) {
        if (!one.is_output) continue;
        if (first == nullptr) first = &one;
        if (one.grid == first->grid) continue;
        throw Error(ErrorCode::InvalidArgument, "kernel `" + std::string(kernel.name) + "`: `" + first->name + "` and `" + one.name + "` have different numbers of tiles or blocks", where);
    }
    return first == nullptr ? Dim3{1, 1, 1} : first->grid;
}

inline std::uint64_t term_value(const TileTerm& term, const Dim3& grid, std::span<const TileTensor> tensors) {
    if (term.kind == TileTerm::Kind::Number) return term.value;
    if (term.kind == TileTerm::Kind::Grid) return term.axis == 0 ? grid.x : term.axis == 1 ? grid.y : grid.z;
    const auto extent = static_cast<std::uint64_t>(tensors[term.tensor].extents[term.axis]);
    return (extent + term.value - 1) / term.value;
}

inline void check_tiles(const TileInstance& instance, const Dim3& grid, std::span<const TileTensor> tensors, Where where) {
    for (const TileCheck& check : instance.checks) {
        const std::uint64_t least = term_value(check.least, grid, tensors), most = term_value(check.most, grid, tensors);
        if (least <= most) continue;
        const bool short_one = check.most.kind == TileTerm::Kind::Tiles;
        const TileTerm& term = short_one ? check.most : check.least;
        const std::string name = term.kind == TileTerm::Kind::Tiles ? "`" + std::string(tensors[term.tensor].name) + "` on axis " + std::to_string(term.axis) : "a tensor";
        throw Error(ErrorCode::InvalidArgument, "kernel `" + std::string(instance.contract.name) + "`: " + name + " has " + std::to_string(short_one ? most : least) +
                    " tiles of " + std::to_string(term.value) + ", but the launch uses " + std::to_string(short_one ? least : most), where);
    }
}

template <class T>
TileTensor describe(const char* name, const Tensor<T>& tensor, Where where) {
    TileTensor result;
    result.name = name;
    result.shape = tensor.shape(where);
    std::int64_t stride = 1;
    for (unsigned k = result.shape.rank(); k-- > 0;) {
        result.extents[k] = result.shape[k];
        result.strides[k] = static_cast<std::int32_t>(stride);
        if (stride > INT32_MAX) throw Error(ErrorCode::InvalidArgument, "`" + std::string(name) + "`: a stride does not fit 32 bits", where);
        stride *= result.shape[k];
    }
    return result;
}
template <class T>
TileTensor describe(const char* name, const Partition<T>& partition, Where where) {
    TileTensor result = describe(name, partition.tensor(), where);
    result.is_output = true;
    result.tile = partition.tile();
    result.grid = partition.grid(where);
    return result;
}

template <class T>
TileTensor describe(const char* name, const MappedPartition<T>& partition, Where where) {
    TileTensor result = describe(name, partition.tensor(), where);
    result.is_output = true;
    result.tile = partition.tile();
    result.map = partition.map();
    result.grid = {partition.blocks(), 1, 1};
    return result;
}

// Adds an argument to what is passed; tensors come in the order in which they were described.
template <class Args, class T>
void pass(Args& arguments, TileTensor*& next, const Tensor<T>& tensor, const Stream& stream, Where where) {
    TileTensor& described = *next++;
    DeviceBuffer<T>& buffer = tensor.live(where).on(stream, where);
    arguments.template tensor<T>(described.name, buffer, described.is_output ? SliceUse::Write : SliceUse::Read, described.shape.rank(),
                                 described.extents.data(), described.strides.data());
}
template <class Args, class T>
void pass(Args& arguments, TileTensor*& next, const Partition<T>& partition, const Stream& stream, Where where) {
    pass(arguments, next, partition.tensor(), stream, where);
}
template <class Args, class T>
void pass(Args& arguments, TileTensor*& next, const MappedPartition<T>& partition, const Stream& stream, Where where) {
    pass(arguments, next, partition.tensor(), stream, where);
}
template <class Args, class T>
void pass(Args& arguments, TileTensor*&, const T& scalar, const Stream&, Where) {
    arguments.value(scalar);
}

// The tensors among the arguments, and their names.
template <class T>
void add_tensor(TileTensor*& next, const char* name, const T& argument, Where where) {
    if constexpr (is_tensor<T> || is_partition<T>) *next++ = describe(name, argument, where);
}

}  // namespace detail

// Runs one kernel: checks what the launch must hold, loads the module when it is new, enqueues, and gives the arguments back.
// `names` are the parameters' names, `kParams` counts the kernel's .params.
template <std::size_t kParams, class... Args>
Operation<std::tuple<Args...>> launch_tiles(ModuleCache& modules, std::span<const Image> images, std::span<const PanicSite> sites,
                                            std::span<const TileInstance> instances,
                                            const std::array<const char*, sizeof...(Args)>& names, Where where, Args... args) {
    constexpr std::size_t kTensors = (std::size_t{0} + ... + std::size_t{detail::is_tensor<Args> || detail::is_partition<Args>});
    std::array<detail::TileTensor, kTensors == 0 ? 1 : kTensors> tensors;
    detail::TileTensor* next = tensors.data();
    std::size_t index = 0;
    (detail::add_tensor(next, names[index++], args, where), ...);
    const TileInstance& instance = detail::choose_instance(instances, std::span(tensors).first(kTensors), where);
    LaunchConfig config;
    config.grid = detail::common_grid(instance.contract, std::span(tensors).first(kTensors), where);
    config.block = instance.contract.block;
    config.dynamic_shared = instance.contract.dynamic_shared_min;
    detail::check_tiles(instance, config.grid, std::span(tensors).first(kTensors), where);
    return Operation<std::tuple<Args...>>(
        [&modules, images, sites, &instance, config, tensors, held = std::tuple<Args...>(std::move(args)...)](const Stream& stream, Where at) mutable {
            const Function function = modules.function(stream.shared_context(at), images, sites, instance.contract, at);
            Arguments<kParams, kTensors> arguments(instance.contract, at);
            detail::TileTensor* argument = tensors.data();
            std::apply([&](const Args&... each) { (detail::pass(arguments, argument, each, stream, at), ...); }, held);
            arguments.check_disjoint();
            detail::enqueue(function, function.check(config, at), stream, arguments);
            return std::move(held);
        });
}

}  // namespace ock
