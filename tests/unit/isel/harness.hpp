// From IR text or a builder to PTX, and to results: the emulator executes what was selected. Expected values
// in the tests come from the host's own arithmetic.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/emulator.hpp"
#include "ir/parse.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "isel/select.hpp"
#include "ptx/assemble.hpp"
#include "ptx/parse.hpp"
#include "ptx/print.hpp"
#include "ptx/validate.hpp"

namespace ockc::test {

__extension__ using I128 = __int128;
__extension__ using U128 = unsigned __int128;

// Selects, checks the result against the validator and the parser, and gives its text.
inline std::string select_text(const ir::Module& module, ptx::Target target = ptx::Target::Sm80) {
    const Status ok = ir::verify(module);
    if (!ok.ok()) FAIL(ok.error());
    isel::Options options;
    options.target = target;
    DiagSink sink;
    const ptx::Module out = isel::select(module, abi::ModuleAbi{}, options, sink);
    for (const Diagnostic& d : sink.all())
        FAIL_CHECK(d.message);
    for (const ptx::ValidationError& e : ptx::validate(out))
        FAIL_CHECK(e.function << ": " << e.text << ": " << e.message);
    const std::string text = ptx::print(out);
    const ptx::ParseResult again = ptx::parse(text);
    for (const ptx::ParseError& e : again.errors)
        FAIL_CHECK(e.line << ": " << e.message);
    CHECK(ptx::equal(out, again.module));
    return text;
}

inline std::string select_text(std::string_view ir_text, ptx::Target target = ptx::Target::Sm80) {
    const Result<ir::Module> module = ir::parse(ir_text);
    if (!module.ok()) FAIL(module.error());
    return select_text(module.value(), target);
}

// The instructions of the first kernel, without declarations and indentation, one a line, blanks squeezed.
inline std::string body_of(std::string_view ptx) {
    std::string out;
    std::size_t at = ptx.find("{\n", ptx.find(".entry"));
    while (at != std::string_view::npos && at < ptx.size()) {
        const std::size_t start = ptx.find('\n', at) + 1;
        const std::size_t end = ptx.find('\n', start);
        std::string_view line = ptx.substr(start, end - start);
        if (line == "}") break;
        at = start;
        while (!line.empty() && line.front() == ' ')
            line.remove_prefix(1);
        if (line.empty() || line.starts_with(".reg") || line.starts_with(".local") ||
            line.starts_with(".param"))
            continue;
        char last = '\0';
        for (const char c : line) {
            if (c != ' ' || last != ' ') out += c;
            last = c;
        }
        out += '\n';
    }
    return out;
}

// Runs the kernel `k(in, out)` with one thread a lane; both are global pointers.
inline std::vector<std::byte> run(const std::string& ptx, std::span<const std::byte> in,
                                  std::size_t out_bytes, std::uint32_t threads) {
    emu::Options options;
    options.host_threads = 1;
    options.max_steps = 10'000'000;
    emu::Device device(options);
    auto module = device.load(ptx);
    if (!module.ok()) FAIL(module.error.message << "\n" << ptx);
    const auto allocate = [&](std::size_t bytes) {
        const auto address =
            device.memory().allocate(std::max<std::size_t>(bytes, 16), emu::MemoryKind::Device);
        REQUIRE(address);
        return *address;
    };
    const auto in_address = allocate(in.size());
    const auto out_address = allocate(out_bytes);
    REQUIRE(device.memory().copy_in(in_address, in.data(), in.size()));
    std::vector<std::byte> params(16);
    std::memcpy(params.data(), &in_address, 8);
    std::memcpy(params.data() + 8, &out_address, 8);
    const auto kernel = (*module.value)->find_kernel("k");
    REQUIRE(kernel);
    emu::LaunchConfig config;
    config.block.x = std::min<std::uint32_t>(threads, 256);
    config.grid.x = (threads + config.block.x - 1) / config.block.x;
    const auto result = device.launch(**module.value, *kernel, config, params);
    if (!result.ok()) FAIL(result.error.message << "\n" << ptx);
    std::vector<std::byte> out(out_bytes);
    REQUIRE(device.memory().copy_out(out.data(), out_address, out.size()));
    return out;
}

// A kernel that computes `results` from `inputs` for each thread: thread i reads its values at in[i * stride
// + 16 * j], of the types given, and writes at out[i * 16 * results + 16 * j].
class LaneKernel {
  public:
    using Body = std::function<std::vector<ir::ValueId>(ir::Builder&, const std::vector<ir::ValueId>&)>;

    LaneKernel(std::vector<ir::Type> inputs, const Body& body) : inputs_(std::move(inputs)) {
        ir::Function f;
        f.name = "k";
        f.is_kernel = true;
        const ir::BlockId entry = f.add_block();
        const ir::ValueId in = f.add_block_param(entry, ir::Type::PtrGlobal);
        const ir::ValueId out = f.add_block_param(entry, ir::Type::PtrGlobal);
        f.param_attrs.resize(2);
        ir::Builder b(f);
        b.at_end(entry);
        const ir::ValueId block =
            b.binary(ir::Op::Imul, ir::Type::I32, b.sreg(ir::Sreg::CtaidX), b.sreg(ir::Sreg::NtidX));
        const ir::ValueId lane =
            b.convert(ir::Op::Zext, ir::Type::I64,
                      b.binary(ir::Op::Iadd, ir::Type::I32, block, b.sreg(ir::Sreg::TidX)));
        const auto element = [&](ir::ValueId base, std::size_t stride) {
            return b.ptr_add(base,
                             b.binary(ir::Op::Imul, ir::Type::I64, lane, b.const_int(ir::Type::I64, stride)));
        };
        const ir::ValueId from = element(in, 16 * inputs_.size());
        std::vector<ir::ValueId> values;
        for (std::size_t j = 0; j < inputs_.size(); ++j) {
            values.push_back(b.load(inputs_[j], from, memory(inputs_[j]), static_cast<std::int64_t>(16 * j)));
        }
        const std::vector<ir::ValueId> results = body(b, values);
        result_count_ = results.size();
        const ir::ValueId to = element(out, 16 * results.size());
        for (std::size_t j = 0; j < results.size(); ++j) {
            b.store(to, results[j], memory(f.type_of(results[j])), static_cast<std::int64_t>(16 * j));
        }
        b.ret();
        module_.functions.push(std::move(f));
    }

    std::string ptx(ptx::Target target = ptx::Target::Sm80) const { return select_text(module_, target); }

    // rows: for each thread 16 bytes for each input. The result likewise.
    std::vector<U128> run(const std::vector<U128>& rows, ptx::Target target = ptx::Target::Sm80) const {
        const auto threads = static_cast<std::uint32_t>(rows.size() / inputs_.size());
        // No tail guard in the kernel: the grid is padded, so the memory is too.
        const std::uint32_t padded = threads <= 256 ? threads : (threads + 255) / 256 * 256;
        std::vector<U128> in(rows);
        in.resize(padded * inputs_.size());
        const std::size_t bytes = padded * result_count_ * 16;
        const std::vector<std::byte> raw =
            test::run(ptx(target), std::as_bytes(std::span(in)), bytes, padded);
        std::vector<U128> out(threads * result_count_);
        std::memcpy(out.data(), raw.data(), out.size() * 16);
        return out;
    }
    std::size_t result_count() const { return result_count_; }

  private:
    static ir::MemoryInfo memory(ir::Type type) {
        ir::MemoryInfo info;
        info.align = ir::type_bytes(type);
        return info;
    }
    std::vector<ir::Type> inputs_;
    std::size_t result_count_ = 0;
    ir::Module module_;
};

}  // namespace ockc::test
