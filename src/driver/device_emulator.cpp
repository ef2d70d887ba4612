#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "abi/panic_record.hpp"
#include "driver/device.hpp"
#include "emu/emulator.hpp"
#include "emu/tensor_map.hpp"

namespace ockc::driver {

namespace {

class EmulatorDevice final : public LaunchDevice {
  public:
    explicit EmulatorDevice(const emu::Options& options) : device_(with_print(options, printed_)), sm_(options.sm) {}

    std::string name() const override { return "the emulator"; }
    std::uint32_t compute_capability() const override { return sm_; }

    Status load(const CompiledImage& image, std::span<const abi::PanicSite> sites) override {
        sites_.assign(sites.begin(), sites.end());
        auto loaded = device_.load(image.embedded);
        if (!loaded.ok()) return Failure{loaded.error.message};
        module_ = std::move(*loaded.value);
        return set_up_record();
    }

    Result<DevicePtr> upload(const std::string& bytes) override {
        const auto address = device_.memory().allocate(std::max<std::size_t>(bytes.size(), 1), emu::MemoryKind::Device);
        if (!address) return Failure{"the emulator is out of memory"};
        if (!bytes.empty() && !device_.memory().copy_in(*address, bytes.data(), bytes.size())) return Failure{"cannot write memory"};
        return DevicePtr{*address};
    }

    Result<std::string> tensor_map(DevicePtr at, const TensorMapRequest& request) override {
        const std::vector<std::uint64_t> strides = request.strides();
        const std::vector<std::uint32_t> steps(request.dims.size(), 1);
        emu::TensorRequest wanted;
        wanted.type = static_cast<emu::TensorType>(request.type_number());
        wanted.swizzle = static_cast<emu::TensorSwizzle>(request.swizzle_number());
        wanted.rank = static_cast<std::uint32_t>(request.dims.size());
        wanted.address = at;
        wanted.dims = request.dims.data();
        wanted.strides = strides.data();
        wanted.box = request.box.data();
        wanted.steps = steps.data();
        emu::TensorMap map;
        if (!emu::encode_tensor_map(wanted, map)) return Failure{"no tensor map can be made of this array and box"};
        return std::string(reinterpret_cast<const char*>(&map), sizeof map);
    }

    Status set_constant(const std::string& symbol, const std::string& bytes) override {
        const emu::ModuleVariable* variable = module_->find_variable(symbol);
        if (variable == nullptr) return Failure{fmt::format("the module has no variable `{}`", symbol)};
        if (!device_.memory().copy_in(variable->address, bytes.data(), bytes.size())) return Failure{"cannot write memory"};
        return Unit{};
    }

    Status download(DevicePtr from, std::string& bytes) override {
        if (!bytes.empty() && !device_.memory().copy_out(bytes.data(), from, bytes.size())) return Failure{"cannot read memory"};
        return Unit{};
    }

    Result<double> launch(const abi::KernelAbi& kernel, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                          std::uint32_t dynamic_shared, const std::vector<std::string>& arguments) override {
        const auto index = module_->find_kernel(kernel.symbol);
        if (!index) return Failure{fmt::format("the module has no kernel `{}`", kernel.symbol)};
        const emu::KernelInfo& info = module_->kernels()[*index];
        std::vector<std::byte> params(info.param_bytes);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            std::memcpy(params.data() + info.params[i].offset, arguments[i].data(), arguments[i].size());
        }
        emu::LaunchConfig config;
        config.grid = {grid[0], grid[1], grid[2]};
        config.block = {block[0], block[1], block[2]};
        config.dynamic_shared = dynamic_shared;
        config.cooperative = kernel.launch.cooperative;
        const auto start = std::chrono::steady_clock::now();
        const auto outcome = device_.launch(*module_, *index, config, params);
        if (!outcome.ok()) return Failure{failure_text(outcome.error)};
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }

    std::string take_printed() override { return std::exchange(printed_, {}); }

  private:
    static emu::Options with_print(emu::Options options, std::string& to) {
        options.print = [&to](std::string_view text) { to += text; };
        return options;
    }

    // Gives the module a record of failed checks, when it has the variable for one.
    Status set_up_record() {
        const emu::ModuleVariable* variable = module_->find_variable(abi::kPanicRecordSymbol);
        if (variable == nullptr) return Unit{};
        const abi::PanicRecord empty;
        const Result<DevicePtr> record = upload(std::string(reinterpret_cast<const char*>(&empty), sizeof empty));
        if (!record.ok()) return Failure{record.error()};
        record_ = record.value();
        if (!device_.memory().copy_in(variable->address, &record_, sizeof record_)) return Failure{"cannot write memory"};
        return Unit{};
    }

    // A trap's text begins with the check that failed: as the record has it, else as the place of the trap tells.
    std::string failure_text(const emu::LaunchError& error) {
        const std::size_t first_line = error.message.find('\n');
        if (error.kind != emu::ErrorKind::Trap || first_line == std::string::npos) return error.message;
        abi::PanicRecord record;
        if (record_ != 0 && device_.memory().copy_out(&record, record_, sizeof record) && record.taken != 0 && record.site < sites_.size()) {
            return abi::panic_message(record, sites_[record.site]) + error.message.substr(first_line);
        }
        const std::string check = failed_check(sites_, error.file, error.line, error.column);
        return check.empty() ? error.message : check + error.message.substr(first_line);
    }

    std::string printed_;
    emu::Device device_;
    std::vector<abi::PanicSite> sites_;
    std::uint32_t sm_;
    DevicePtr record_ = 0;                  // an abi::PanicRecord
    std::unique_ptr<emu::Module> module_;   // goes before the device
};

// "index out of bounds: the len is {} but the index is {}" -> "index out of bounds"; other values become `..`.
std::string without_values(const std::string& text) {
    const std::size_t hole = text.find_first_of("{}");
    if (hole == std::string::npos) return text;
    if (const std::size_t colon = text.find(": "); colon < hole) return text.substr(0, colon);
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool doubled = (text[at] == '{' || text[at] == '}') && at + 1 < text.size() && text[at + 1] == text[at];
        if (text[at] != '{' || doubled) {
            out += text[at];
            at += doubled ? 1 : 0;
            continue;
        }
        out += "..";
        at = std::min(text.find('}', at), text.size() - 1);
    }
    return out;
}

}  // namespace

std::vector<std::uint64_t> TensorMapRequest::strides() const {
    std::vector<std::uint64_t> result;
    std::uint64_t bytes = abi::scalar_info(type).bytes;
    for (std::size_t d = 0; d + 1 < dims.size(); ++d) result.push_back(bytes *= dims[d]);
    return result;
}

int TensorMapRequest::type_number() const {
    using abi::Scalar;
    switch (type) {
        case Scalar::F16: return 6;
        case Scalar::BF16: return 9;
        case Scalar::F32: return 7;
        case Scalar::F64: return 8;
        case Scalar::I32: return 3;
        case Scalar::I64:
        case Scalar::Isize: return 5;
        default: break;   // unsigned, or no different
    }
    switch (abi::scalar_info(type).bytes) {
        case 1: return 0;
        case 2: return 1;
        case 4: return 2;
        default: return 4;
    }
}

std::string failed_check(std::span<const abi::PanicSite> sites, std::string_view file, std::uint32_t line, std::uint32_t column) {
    std::vector<std::string> texts;
    for (const abi::PanicSite& site : sites) {
        if (site.file != file || site.line != line || site.column != column) continue;
        std::string text = without_values(site.text);
        if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
    }
    return fmt::format("{}", fmt::join(texts, ", or "));
}

Result<std::unique_ptr<LaunchDevice>> open_emulator(bool check_races) {
    Result<emu::Options> options = emu::options_from_environment();
    if (!options.ok()) return Failure{options.error()};
    options.value().check_races = options.value().check_races || check_races;
    return std::unique_ptr<LaunchDevice>(std::make_unique<EmulatorDevice>(options.value()));
}

}  // namespace ockc::driver
