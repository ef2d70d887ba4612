#include "driver/launch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "driver/launch_value.hpp"
#include "support/enum_table.hpp"

namespace ockc::driver {

namespace {

constexpr std::uint32_t kDefaultBlock = 256;

bool takes_array(const abi::KernelParam& param) {
    return param.kind == abi::ParamKind::Slice || param.kind == abi::ParamKind::DisjointSlice || param.kind == abi::ParamKind::Pointer ||
           param.kind == abi::ParamKind::Tensor || param.kind == abi::ParamKind::TensorMap;
}

// A tensor's rank, and the extents that its type fixes.
Status check_shape(const abi::KernelParam& param, const Array& array) {
    if (param.kind != abi::ParamKind::Tensor) return Unit{};
    if (array.shape.size() != param.shape.size()) {
        return Failure{fmt::format("`{}` has {} ax{}, but an array with {} was given", param.name, param.shape.size(), param.shape.size() == 1 ? "is" : "es", array.shape.size())};
    }
    for (std::size_t k = 0; k < param.shape.size(); ++k) {
        if (array.shape[k] == 0 || array.shape[k] > std::numeric_limits<std::int32_t>::max()) {
            return Failure{fmt::format("`{}` has extent {} on axis {}: tensors have 1 to 2^31 - 1", param.name, array.shape[k], k)};
        }
        if (param.writable || param.shape[k] < 0 || array.shape[k] == static_cast<std::uint64_t>(param.shape[k])) continue;
        return Failure{fmt::format("`{}` has extent {} on axis {}, not {}", param.name, param.shape[k], k, array.shape[k])};
    }
    return Unit{};
}

Status check_element_type(const abi::KernelParam& param, const Array& array) {
    if (param.type.kind != abi::AbiType::Kind::Scalar) {
        return Failure{fmt::format("`{}` is an array of `{}`: only arrays of scalars can be given on the command line", param.name, param.rust_type)};
    }
    const abi::ScalarInfo& want = abi::scalar_info(param.type.scalar);
    const abi::ScalarInfo& have = abi::scalar_info(array.type);
    const bool bits_of_bf16 = param.type.scalar == abi::Scalar::BF16 && array.type == abi::Scalar::U16;
    // What .npy tells apart: usize and u64 are one type there, f16 and bf16 are not.
    const bool other_half = (param.type.scalar == abi::Scalar::BF16) != (array.type == abi::Scalar::BF16);
    const bool same = want.bytes == have.bytes && want.npy_kind == have.npy_kind && !other_half;
    if (!same && !bits_of_bf16) {
        return Failure{fmt::format("`{}` has elements of type {}, but {} were given", param.name, want.rust, have.rust)};
    }
    if (const auto bad = invalid_element(param.type.scalar, array.bytes)) {
        return Failure{fmt::format("element {} of `{}` is not a value of type {}", *bad, param.name, want.rust)};
    }
    return Unit{};
}

const abi::KernelAbi* find_kernel(const abi::ModuleAbi& module, const std::string& name) {
    for (const abi::KernelAbi& kernel : module.kernels) {
        if (kernel.name == name || kernel.symbol == name) return &kernel;
    }
    const abi::KernelAbi* only = nullptr;   // instance of the generic kernel
    for (const abi::KernelAbi& kernel : module.kernels) {
        if (kernel.generic_name != name) continue;
        if (only != nullptr) return nullptr;
        only = &kernel;
    }
    return only;
}

std::string no_such(std::string_view what, const std::string& name, const std::vector<std::string_view>& names) {
    std::string text = fmt::format("no {} `{}`", what, name);
    if (const std::string_view near = nearest_name(names, name); !near.empty()) {
        text += fmt::format("; did you mean `{}`?", near);
    } else if (!names.empty()) {
        text += fmt::format(" (there are: {})", fmt::join(names, ", "));
    }
    return text;
}

class Planner {
  public:
    Planner(const abi::KernelAbi& kernel, const LaunchOptions& options) : kernel_(kernel), options_(options) { plan_.kernel = &kernel; }

    Result<LaunchPlan> run() {
        if (Status s = read_arguments(); !s.ok()) return Failure{s.error()};
        if (Status s = choose_block(); !s.ok()) return Failure{s.error()};
        if (Status s = choose_grid(); !s.ok()) return Failure{s.error()};
        if (Status s = choose_shared(); !s.ok()) return Failure{s.error()};
        for (const abi::Requirement& one : kernel_.launch.requirements) {
            if (Status s = check_requirement(one); !s.ok()) return Failure{s.error()};
        }
        return std::move(plan_);
    }

  private:
    Status read_arguments() {
        std::map<std::string, std::string> given;
        std::vector<std::string_view> names;
        for (const abi::KernelParam& param : kernel_.params) names.push_back(param.name);
        for (const auto& [name, value] : options_.args) {
            if (std::find(names.begin(), names.end(), name) == names.end()) return Failure{no_such("parameter", name, names)};
            if (!given.emplace(name, value).second) return Failure{fmt::format("`{}` is given twice", name)};
        }
        for (const auto& [name, file] : options_.saves) {
            const auto at = std::find(names.begin(), names.end(), name);
            if (at == names.end()) return Failure{no_such("parameter", name, names)};
            if (!takes_array(kernel_.params[static_cast<std::size_t>(at - names.begin())])) {
                return Failure{fmt::format("`{}` is no array: there is nothing to save", name)};
            }
        }
        plan_.arguments.resize(kernel_.params.size());
        std::optional<std::uint64_t> longest;   // of the arrays that were given; they may all be empty
        for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
            PlannedArgument& argument = plan_.arguments[i];
            argument.param = &kernel_.params[i];
            const auto value = given.find(argument.param->name);
            if (value == given.end()) continue;
            if (Status s = read_argument(argument, value->second); !s.ok()) return s;
            if (argument.is_array()) longest = std::max(longest.value_or(0), argument.array.size());
        }
        return fill_in(given, longest);
    }

    Status read_argument(PlannedArgument& argument, const std::string& text) {
        const abi::KernelParam& param = *argument.param;
        if (param.kind == abi::ParamKind::TensorMap) return read_map(argument, text);
        if (takes_array(param)) {
            Result<Array> array = parse_array(text);
            if (!array.ok()) return Failure{fmt::format("--arg {}: {}", param.name, array.error())};
            argument.array = std::move(array.value());
            if (Status s = check_shape(param, argument.array); !s.ok()) return s;
            return check_element_type(param, argument.array);
        }
        if (param.kind == abi::ParamKind::Struct) {
            return Failure{fmt::format("`{}` has the struct type `{}`: launch it from a program through the generated header", param.name, param.rust_type)};
        }
        Result<std::string> bytes = parse_scalar(param.type.scalar, text);
        if (!bytes.ok()) return Failure{fmt::format("--arg {}: {}", param.name, bytes.error())};
        argument.scalar = std::move(bytes.value());
        return Unit{};
    }

    // `map:BOX:SWIZZLE:ARRAY`, "map:16,64:128:iota:f16[64,256]".
    static Status read_map(PlannedArgument& argument, const std::string& text) {
        const std::string& name = argument.param->name;
        const Failure shape{fmt::format("--arg {}: a tensor map is given as map:BOX:SWIZZLE:ARRAY, as in map:16,64:128:iota:f16[64,256]", name)};
        const std::size_t box = text.find(':'), swizzle = box == std::string::npos ? box : text.find(':', box + 1);
        const std::size_t array = swizzle == std::string::npos ? swizzle : text.find(':', swizzle + 1);
        if (array == std::string::npos || text.substr(0, box) != "map") return shape;
        for (std::size_t at = box + 1; at <= swizzle;) {
            const std::size_t end = std::min(text.find(',', at), swizzle);
            const Result<std::string> extent = parse_scalar(abi::Scalar::U32, text.substr(at, end - at));
            if (!extent.ok()) return shape;
            argument.box.emplace_back();
            std::memcpy(&argument.box.back(), extent.value().data(), sizeof(std::uint32_t));
            at = end + 1;
        }
        const std::string bytes = text.substr(swizzle + 1, array - swizzle - 1);
        if (bytes != "0" && bytes != "32" && bytes != "64" && bytes != "128") return Failure{fmt::format("--arg {}: a swizzle has 0, 32, 64 or 128 bytes, not {}", name, bytes)};
        argument.swizzle = static_cast<std::uint32_t>(std::stoul(bytes));
        Result<Array> value = parse_array(text.substr(array + 1));
        if (!value.ok()) return Failure{fmt::format("--arg {}: {}", name, value.error())};
        argument.array = std::move(value.value());
        if (abi::scalar_info(argument.array.type).bytes > sizeof(std::uint64_t)) return Failure{fmt::format("--arg {}: a tensor's elements have up to 64 bits", name)};
        if (argument.array.shape.size() != argument.box.size())
            return Failure{fmt::format("--arg {}: the box has {} dimensions, the array {}", name, argument.box.size(), argument.array.shape.size())};
        return Unit{};
    }

    // Outputs that were not given are zeros, as long as the longest array; everything else must be given.
    Status fill_in(const std::map<std::string, std::string>& given, std::optional<std::uint64_t> longest) {
        std::string missing;
        for (PlannedArgument& argument : plan_.arguments) {
            const abi::KernelParam& param = *argument.param;
            if (given.count(param.name) != 0 || param.kind == abi::ParamKind::ZeroSized) continue;
            if (const std::vector<std::uint64_t>* shape = shape_for(param); shape != nullptr) {
                std::uint64_t size = 1;
                for (const std::uint64_t extent : *shape) size *= extent;
                argument.array = {param.type.scalar, *shape, std::string(size * param.type.size, '\0')};
                continue;
            }
            const bool output = param.kind == abi::ParamKind::DisjointSlice && param.type.kind == abi::AbiType::Kind::Scalar && longest.has_value();
            if (!output) {
                missing += fmt::format("{}`{}: {}`", missing.empty() ? "" : ", ", param.name, param.rust_type);
                continue;
            }
            argument.array = {param.type.scalar, {*longest}, std::string(*longest * param.type.size, '\0')};
        }
        if (!missing.empty()) return Failure{fmt::format("no value for {}: give it with --arg NAME=VALUE", missing)};
        return Unit{};
    }

    // Of an output tensor that was not given: that of the first given tensor with as many axes.
    const std::vector<std::uint64_t>* shape_for(const abi::KernelParam& param) const {
        if (param.kind != abi::ParamKind::Tensor || !param.writable) return nullptr;
        for (const PlannedArgument& other : plan_.arguments) {
            const bool given = other.param->kind == abi::ParamKind::Tensor && !other.array.bytes.empty();
            if (given && other.array.shape.size() == param.shape.size()) return &other.array.shape;
        }
        return nullptr;
    }

    // One block for each tile of the outputs.
    Status choose_tile_grid() {
        const PlannedArgument* first = nullptr;
        std::array<std::uint64_t, 3> grid{1, 1, 1};
        for (const PlannedArgument& argument : plan_.arguments) {
            if (argument.param->kind != abi::ParamKind::Tensor || !argument.param->writable) continue;
            const std::array<std::uint64_t, 3> own = argument.param->map.empty() ? tiles_of(argument) : blocks_for(argument);
            if (own[0] == 0) return Failure{fmt::format("`{}` is gone through by 1 to {} blocks: --grid says how many", argument.param->name, streamed(argument))};
            if (first != nullptr && own != grid) {
                return Failure{fmt::format("`{}` has {} tiles and `{}` has {}: outputs of one launch have equally many on every axis", first->param->name, fmt::join(grid, " x "), argument.param->name, fmt::join(own, " x "))};
            }
            grid = own;
            first = &argument;
        }
        if (first == nullptr && !options_.grid) return Failure{"the grid does not follow from the arguments: give it with --grid X[,Y[,Z]]"};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (grid[axis] > (axis == 0 ? 0x7FFF'FFFFu : 0xFFFFu)) return Failure{"the grid would be too large"};
            plan_.grid[axis] = static_cast<std::uint32_t>(grid[axis]);
        }
        if (!options_.grid) return check_tiles();
        if (first != nullptr && *options_.grid != plan_.grid) return Failure{fmt::format("the tiles of `{}` ask for a grid of ({})", first->param->name, fmt::join(plan_.grid, ", "))};
        plan_.grid = *options_.grid;
        return check_tiles();
    }

    std::uint64_t term_value(const abi::TileTerm& term) const {
        switch (term.kind) {
            case abi::TileTerm::Kind::Number: return term.number;
            case abi::TileTerm::Kind::Grid: return plan_.grid[term.axis];
            case abi::TileTerm::Kind::Tiles: return (plan_.arguments[term.param].array.shape[term.axis] + term.number - 1) / term.number;
        }
        OCKC_UNREACHABLE("a side of a check");
    }

    // The indices of tiles that every launch uses lead to tiles.
    Status check_tiles() const {
        for (const abi::TileCheck& check : kernel_.tile_checks) {
            const std::uint64_t least = term_value(check.least), most = term_value(check.most);
            if (least <= most) continue;
            const abi::TileTerm& tensor = check.most.kind == abi::TileTerm::Kind::Tiles ? check.most : check.least;
            const std::string name = tensor.kind == abi::TileTerm::Kind::Tiles ? fmt::format("`{}` on axis {}", kernel_.params[tensor.param].name, tensor.axis) : "a tensor";
            return Failure{fmt::format("{} has {} tile{} of {}, but the launch uses {}", name, &tensor == &check.most ? most : least, most == 1 ? "" : "s", tensor.number, &tensor == &check.most ? least : most)};
        }
        return Unit{};
    }

    // How many tiles the blocks of a mapped output have to share.
    static std::uint64_t streamed(const PlannedArgument& argument) {
        std::uint64_t tiles = 1;
        for (std::size_t k = 0; k < argument.param->shape.size(); ++k) {
            const auto tile = static_cast<std::uint64_t>(argument.param->shape[k]);
            if (argument.param->map[k] != 0) tiles *= (argument.array.shape[k] + tile - 1) / tile;
        }
        return tiles;
    }

    // As --grid says; a block for each tile without it. 0 blocks: a number that cannot be.
    std::array<std::uint64_t, 3> blocks_for(const PlannedArgument& argument) const {
        const std::uint64_t tiles = streamed(argument);
        if (!options_.grid) return {tiles, 1, 1};
        const auto& grid = *options_.grid;
        const bool good = grid[0] >= 1 && grid[0] <= tiles && grid[1] == 1 && grid[2] == 1;
        return {good ? grid[0] : 0, 1, 1};
    }

    // Axis k of the grid is axis k of the tensor; above rank 3 the leading axes are one.
    static std::array<std::uint64_t, 3> tiles_of(const PlannedArgument& argument) {
        std::array<std::uint64_t, 3> grid{1, 1, 1};
        const std::size_t rank = argument.param->shape.size();
        const std::size_t together = rank > 3 ? rank - 2 : 1;
        for (std::size_t k = 0; k < rank; ++k) {
            const auto tile = static_cast<std::uint64_t>(argument.param->shape[k]);
            grid[k < together ? 0 : k - together + 1] *= (argument.array.shape[k] + tile - 1) / tile;
        }
        return grid;
    }

    static std::uint64_t product(const std::array<std::uint32_t, 3>& dims) { return std::uint64_t{dims[0]} * dims[1] * dims[2]; }

    Status choose_block() {
        const abi::LaunchFacts& facts = kernel_.launch;
        if (options_.block) {
            plan_.block = *options_.block;
        } else if (facts.block) {
            plan_.block = *facts.block;
        } else {
            plan_.block = {std::min(kDefaultBlock, facts.max_threads.value_or(kDefaultBlock)), 1, 1};
        }
        if (facts.block && plan_.block != *facts.block) {
            return Failure{fmt::format("the contract of `{}` asks for blocks of ({}), not ({})", kernel_.name, fmt::join(*facts.block, ", "),
                                       fmt::join(plan_.block, ", "))};
        }
        if (facts.max_threads && product(plan_.block) > *facts.max_threads) {
            return Failure{fmt::format("`{}` takes at most {} threads in a block, not {}", kernel_.name, *facts.max_threads, product(plan_.block))};
        }
        for (std::uint32_t axis = facts.domain; facts.domain != 0 && axis < 3; ++axis) {
            if (plan_.block[axis] != 1) return Failure{fmt::format("the contract of `{}` has domain {}: block axis {} must be 1", kernel_.name, facts.domain, "xyz"[axis])};
        }
        return Unit{};
    }

    Status choose_grid() {
        if (kernel_.is_tile) return choose_tile_grid();
        if (options_.grid) {
            plan_.grid = *options_.grid;
            for (std::uint32_t axis = kernel_.launch.domain; kernel_.launch.domain != 0 && axis < 3; ++axis) {
                if (plan_.grid[axis] != 1) return Failure{fmt::format("the contract of `{}` has domain {}: grid axis {} must be 1", kernel_.name, kernel_.launch.domain, "xyz"[axis])};
            }
            return Unit{};
        }
        const PlannedArgument* output = nullptr;
        for (const PlannedArgument& argument : plan_.arguments) {
            if (argument.param->kind == abi::ParamKind::DisjointSlice) {
                output = &argument;
                break;
            }
        }
        if (output == nullptr) return Failure{"the grid does not follow from the arguments: give it with --grid X[,Y[,Z]]"};
        return cover(*output);
    }

    // A thread for each element of the first output; the last axis of its shape is x, as rows lie in memory.
    Status cover(const PlannedArgument& output) {
        static constexpr std::uint64_t kMost[3] = {std::numeric_limits<std::int32_t>::max(), 65535, 65535};
        const std::uint32_t used = plan_.block[2] != 1 ? 3 : plan_.block[1] != 1 ? 2 : 1;
        const std::uint32_t rank = std::max(kernel_.launch.domain, used);
        std::vector<std::uint64_t> shape = output.array.shape;
        if (rank == 1) shape = {output.array.size()};
        if (shape.size() != rank) {
            return Failure{fmt::format("the grid does not follow from `{}`, which has {} dimension{}: give it {}, or give --grid X[,Y[,Z]]", output.param->name,
                                       shape.size(), shape.size() == 1 ? "" : "s", rank)};
        }
        for (std::uint32_t axis = 0; axis < rank; ++axis) {
            const std::uint64_t threads = plan_.block[axis];
            const std::uint64_t blocks = shape[rank - 1 - axis] / threads + (shape[rank - 1 - axis] % threads != 0);
            if (blocks > kMost[axis]) return Failure{"the grid would be too large"};
            plan_.grid[axis] = static_cast<std::uint32_t>(std::max<std::uint64_t>(blocks, 1));
        }
        return Unit{};
    }

    Status choose_shared() {
        const abi::LaunchFacts& facts = kernel_.launch;
        const std::uint64_t bytes = facts.dynamic_shared ? *facts.dynamic_shared : facts.dynamic_shared_range ? (*facts.dynamic_shared_range)[0] : 0;
        plan_.dynamic_shared = static_cast<std::uint32_t>(bytes);
        return Unit{};
    }

    // Checked 64-bit arithmetic, as the generated launcher does it.
    std::optional<std::uint64_t> evaluate(const abi::SizeExpr& expr) const {
        const auto operand = [&](std::size_t i) { return evaluate(expr.operands[i]); };
        std::uint64_t result = 0;
        switch (expr.kind) {
            case abi::SizeExpr::Kind::Literal: return expr.literal;
            case abi::SizeExpr::Kind::Len: return plan_.arguments[expr.param].array.size();
            case abi::SizeExpr::Kind::RowWidth: {
                const auto& shape = plan_.arguments[expr.param].array.shape;
                return shape.empty() ? 0 : shape.back();
            }
            case abi::SizeExpr::Kind::Param: {
                std::uint64_t value = 0;
                const std::string& bytes = plan_.arguments[expr.param].scalar;
                std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
                return value;
            }
            case abi::SizeExpr::Kind::Add:
            case abi::SizeExpr::Kind::Sub:
            case abi::SizeExpr::Kind::Mul: break;
        }
        const auto a = operand(0), b = operand(1);
        if (!a || !b) return std::nullopt;
        const bool overflow = expr.kind == abi::SizeExpr::Kind::Add   ? __builtin_add_overflow(*a, *b, &result)
                              : expr.kind == abi::SizeExpr::Kind::Sub ? __builtin_sub_overflow(*a, *b, &result)
                                                                      : __builtin_mul_overflow(*a, *b, &result);
        return overflow ? std::nullopt : std::optional(result);
    }

    Status check_requirement(const abi::Requirement& one) const {
        const auto lhs = evaluate(one.lhs), rhs = evaluate(one.rhs);
        if (!lhs || !rhs) return Failure{fmt::format("`requires {}` of `{}` overflows 64 bits", one.text, kernel_.name)};
        bool holds = false;
        switch (one.relation) {
            case abi::Relation::Lt: holds = *lhs < *rhs; break;
            case abi::Relation::Le: holds = *lhs <= *rhs; break;
            case abi::Relation::Gt: holds = *lhs > *rhs; break;
            case abi::Relation::Ge: holds = *lhs >= *rhs; break;
            case abi::Relation::Eq: holds = *lhs == *rhs; break;
            case abi::Relation::Ne: holds = *lhs != *rhs; break;
        }
        if (holds) return Unit{};
        return Failure{fmt::format("`requires {}` of `{}` does not hold: left side {}, right side {}", one.text, kernel_.name, *lhs, *rhs)};
    }

    const abi::KernelAbi& kernel_;
    const LaunchOptions& options_;
    LaunchPlan plan_;
};

}  // namespace

bool PlannedArgument::is_array() const { return takes_array(*param); }

// The bytes of a constant: a scalar, or an array of scalars of its very length.
static Status plan_constant(const abi::ModuleAbi& module, const std::string& name, const std::string& text, LaunchPlan& plan) {
    std::vector<std::string_view> names;
    for (const abi::ConstantAbi& constant : module.constants) {
        names.push_back(constant.name);
        if (constant.name != name) continue;
        const bool is_array = constant.type.kind == abi::AbiType::Kind::Array;
        const abi::AbiType& element = is_array ? constant.type.element[0] : constant.type;
        if (element.kind != abi::AbiType::Kind::Scalar) return Failure{fmt::format("constant `{}` holds more than numbers: set it from a program", name)};
        std::string bytes;
        if (is_array) {
            Result<Array> array = parse_array(text);
            if (!array.ok()) return Failure{fmt::format("--constant {}: {}", name, array.error())};
            if (array.value().type != element.scalar) return Failure{fmt::format("constant `{}` has elements of type {}", name, abi::scalar_info(element.scalar).rust)};
            bytes = std::move(array.value().bytes);
        } else {
            Result<std::string> scalar = parse_scalar(element.scalar, text);
            if (!scalar.ok()) return Failure{fmt::format("--constant {}: {}", name, scalar.error())};
            bytes = std::move(scalar.value());
        }
        if (bytes.size() != constant.type.size) return Failure{fmt::format("constant `{}` has {} bytes, but {} were given", name, constant.type.size, bytes.size())};
        plan.constants.emplace_back(constant.symbol, std::move(bytes));
        return Unit{};
    }
    return Failure{no_such("constant", name, names)};
}

Result<LaunchPlan> plan_launch(const abi::ModuleAbi& module, const LaunchOptions& options) {
    const abi::KernelAbi* kernel = find_kernel(module, options.kernel);
    if (kernel == nullptr) {
        std::vector<std::string_view> names;
        for (const abi::KernelAbi& one : module.kernels) names.push_back(one.name);
        return Failure{no_such("kernel", options.kernel, names)};
    }
    Result<LaunchPlan> plan = Planner(*kernel, options).run();
    if (!plan.ok()) return plan;
    for (const auto& [name, text] : options.constants) {
        if (Status set = plan_constant(module, name, text, plan.value()); !set.ok()) return Failure{set.error()};
    }
    return plan;
}

}  // namespace ockc::driver
