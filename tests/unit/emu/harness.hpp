// Runs snippets of PTX on the emulator. `lanes` executes one body per thread over rows of up to four 64-bit
// inputs, which the body finds in every register class (%rd1 = the value, %r1 and %rs1 its low bits, %f1 and
// %fd1 the same bits as floats, %p1 its lowest bit; 2, 3, 4 likewise), and gives back what it leaves in one
// register.
#pragma once
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emu/emulator.hpp"
#include "emu/tensor_map.hpp"
#include "gpu_backend.hpp"
#include "ptx/parse.hpp"

namespace emu_test {

using namespace ockc::emu;
using Row = std::array<std::uint64_t, 4>;
inline constexpr float kInf = std::numeric_limits<float>::infinity();

// The forms that any test has executed; coverage_test.cpp looks at it last.
inline std::set<ockc::ptx::Form>& executed_forms() {
    static std::set<ockc::ptx::Form> forms;
    return forms;
}
inline void note_forms(std::string_view text) {
    const auto parsed = ockc::ptx::parse(text);
    for (const auto& function : parsed.module.functions) {
        for (const auto& block : function.blocks) {
            for (const auto& instr : block.instrs)
                executed_forms().insert(instr.form);
        }
    }
}

inline std::string head() {
    return ".version 8.7\n.target sm_90\n.address_size 64\n";
}
inline std::string registers() {
    return ".reg .pred %p<20>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<20>;\n.reg .b64 "
           "%rd<40>;\n"
           ".reg .f64 %fd<20>;\n.reg .b128 %rq<4>;\n";
}

// A device with one module: the emulator's, or a GPU when the environment asks for it (gpu_backend.hpp).
class Machine {
  public:
    explicit Machine(const Options& options = {}) : device_(options) {}
    ~Machine() {
        if (gpu_module_ != nullptr) gpu_->unload(gpu_module_);
    }

    Device& device() { return device_; }
    bool on_gpu() const { return gpu_ != nullptr; }
    void load(const std::string& text) {
        note_forms(text);
        if (gpu_ != nullptr) {
            gpu_module_ = gpu_->load(text);
            return;
        }
        auto loaded = device_.load(text);
        REQUIRE_MESSAGE(loaded.ok(), loaded.error.message, "\n", text);
        module_ = std::move(*loaded.value);
    }
    const Module& module() const { return *module_; }

    DeviceAddress allocate(std::uint64_t bytes) {
        if (gpu_ != nullptr) return gpu_->allocate(bytes);
        const auto address = device_.memory().allocate(bytes, MemoryKind::Device);
        REQUIRE(address.has_value());
        return *address;
    }
    template <class T>
    DeviceAddress upload(const std::vector<T>& values) {
        const DeviceAddress address = allocate(values.size() * sizeof(T));
        if (gpu_ != nullptr)
            gpu_->copy_in(address, values.data(), values.size() * sizeof(T));
        else
            REQUIRE(device_.memory().copy_in(address, values.data(), values.size() * sizeof(T)));
        return address;
    }
    template <class T>
    std::vector<T> download(DeviceAddress address, std::size_t count) {
        std::vector<T> out(count);
        if (gpu_ != nullptr)
            gpu_->copy_out(out.data(), address, count * sizeof(T));
        else
            REQUIRE(device_.memory().copy_out(out.data(), address, count * sizeof(T)));
        return out;
    }

    // The address of a tensor map in device memory; everything of the fastest dimension first, strides in bytes.
    struct Tensor {
        TensorType type;
        DeviceAddress address;
        std::vector<std::uint64_t> dims, strides;
        std::vector<std::uint32_t> box;
        TensorSwizzle swizzle = TensorSwizzle::None;
        bool fill_nan = false;
        std::vector<std::uint32_t> steps = std::vector<std::uint32_t>(5, 1);
    };
    DeviceAddress tensor_map(const Tensor& t) {
        std::vector<TensorMap> map(1);
        const auto rank = static_cast<std::uint32_t>(t.dims.size());
        if (gpu_ != nullptr) {
            gpu_->tensor_map(map.data(), static_cast<int>(t.type), rank, t.address, t.dims.data(), t.strides.data(), t.box.data(), t.steps.data(),
                             static_cast<int>(t.swizzle), t.fill_nan ? 1 : 0);
        } else {
            REQUIRE(encode_tensor_map({t.type, t.swizzle, t.fill_nan, rank, t.address, t.dims.data(), t.strides.data(), t.box.data(), t.steps.data()}, map[0]));
        }
        return upload(map);
    }

    // All parameters are 64 bits wide. What a launch says is the emulator's alone.
    Outcome<LaunchStats, LaunchError> launch(std::string_view kernel, const LaunchConfig& config,
                                             std::vector<std::uint64_t> params) {
        REQUIRE(module_ != nullptr);
        const auto index = module_->find_kernel(kernel);
        REQUIRE(index.has_value());
        return device_.launch(*module_, *index, config, std::as_bytes(std::span(params)));
    }
    void run(std::string_view kernel, const LaunchConfig& config, std::vector<std::uint64_t> params) {
        if (gpu_ != nullptr) return gpu_->run(gpu_module_, std::string(kernel), config, std::move(params));
        const auto outcome = launch(kernel, config, std::move(params));
        REQUIRE_MESSAGE(outcome.ok(), outcome.error.message);
    }
    LaunchError fail(std::string_view kernel, const LaunchConfig& config, std::vector<std::uint64_t> params) {
        auto outcome = launch(kernel, config, std::move(params));
        REQUIRE(!outcome.ok());
        return std::move(outcome.error);
    }

  private:
    Device device_;
    std::unique_ptr<Module> module_;
    GpuBackend* gpu_ = GpuBackend::get();
    void* gpu_module_ = nullptr;
};

// A kernel of parameters `in`, `out` whose body finds its thread number in %r30 and &out[thread] (8 bytes
// each) in %rd31.
inline std::string kernel(std::string_view body, std::string_view before = "") {
    std::string text = head();
    text += before;
    text += ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n" + registers();
    text +=
        "ld.param.u64 %rd30, [in];\nld.param.u64 %rd31, [out];\nmov.u32 %r30, %tid.x;\nmov.u32 %r31, "
        "%ctaid.x;\n"
        "mov.u32 %r32, %ntid.x;\nmad.lo.u32 %r30, %r31, %r32, %r30;\n"
        "mad.wide.u32 %rd31, %r30, 8, %rd31;\n";
    text += body;
    text += "\n}\n";
    return text;
}

inline std::string store_result(std::string_view reg) {
    const std::string r(reg);
    if (r.starts_with("%rs")) return "cvt.u64.u16 %rd39, " + r + ";\n";
    if (r.starts_with("%rd")) return "mov.u64 %rd39, " + r + ";\n";
    if (r.starts_with("%r")) return "cvt.u64.u32 %rd39, " + r + ";\n";
    if (r.starts_with("%fd")) return "mov.b64 %rd39, " + r + ";\n";
    if (r.starts_with("%f")) return "mov.b32 %r39, " + r + ";\ncvt.u64.u32 %rd39, %r39;\n";
    return "selp.u32 %r39, 1, 0, " + r + ";\ncvt.u64.u32 %rd39, %r39;\n";
}

inline std::string lanes_kernel(std::string_view body, std::string_view result) {
    std::string text = "mad.wide.u32 %rd30, %r30, 32, %rd30;\n";
    for (int i = 1; i <= 4; ++i) {
        const std::string n = std::to_string(i);
        text += "ld.global.u64 %rd" + n + ", [%rd30+" + std::to_string(8 * (i - 1)) + "];\ncvt.u32.u64 %r" +
                n + ", %rd" + n + ";\ncvt.u16.u64 %rs" + n + ", %rd" + n + ";\nmov.b32 %f" + n + ", %r" + n +
                ";\nmov.b64 %fd" + n + ", %rd" + n + ";\nand.b32 %r38, %r" + n + ", 1;\nsetp.eq.u32 %p" + n +
                ", %r38, 1;\n";
    }
    text += std::string(body) + "\n" + store_result(result) + "st.global.u64 [%rd31], %rd39;\nret;\n";
    return kernel(text);
}

inline std::vector<std::uint64_t> lanes(std::string_view body, std::string_view result,
                                        const std::vector<Row>& rows) {
    Machine machine;
    machine.load(lanes_kernel(body, result));
    const DeviceAddress in = machine.upload(rows);
    const DeviceAddress out = machine.allocate(rows.size() * 8);
    machine.run("k", {{1, 1, 1}, {static_cast<std::uint32_t>(rows.size()), 1, 1}}, {in, out});
    return machine.download<std::uint64_t>(out, rows.size());
}
// One row of inputs, one result; run in a full warp and in one with most lanes off, which must agree.
inline std::uint64_t lane(std::string_view body, std::string_view result, Row row = {}) {
    const auto full = lanes(body, result, std::vector<Row>(32, row));
    const auto few = lanes(body, result, std::vector<Row>(3, row));
    for (const std::uint64_t value : full)
        CHECK(value == full[0]);
    CHECK(few[2] == full[0]);
    return full[0];
}

inline std::uint64_t bits(float v) {
    return std::bit_cast<std::uint32_t>(v);
}
inline std::uint64_t bits(double v) {
    return std::bit_cast<std::uint64_t>(v);
}
inline float to_float(std::uint64_t b) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(b));
}
inline double to_double(std::uint64_t b) {
    return std::bit_cast<double>(b);
}

}  // namespace emu_test
