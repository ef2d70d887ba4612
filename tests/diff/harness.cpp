#include "harness.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "driver/npy.hpp"
#include "driver/process.hpp"
#include "random.hpp"
#include "support/file_io.hpp"

namespace ockc::difftest {

namespace fs = std::filesystem;

namespace {

std::uint32_t slots_of(const std::vector<Program>& programs) {
    std::uint32_t total = 0;
    for (const Program& program : programs) total += program.slots + 1;
    return total;
}

// The first lines of a long text.
std::string head(const std::string& text, std::size_t limit = 2500) { return text.size() <= limit ? text : text.substr(0, limit) + "\n..\n"; }

}  // namespace

Harness::Harness(Setup setup) : setup_(std::move(setup)) {
    const Result<std::string> text = read_file(setup_.source_dir + "/prelude.rsk", 1 << 20);
    if (text.ok()) prelude_ = text.value();
}

std::string Harness::prepare() {
    if (prelude_.empty()) return "cannot read prelude.rsk";
    std::error_code error;
    fs::create_directories(setup_.work_dir, error);
    const std::string& out = setup_.work_dir;
    const std::vector<std::vector<std::string>> commands = {
        {setup_.rustc, "--edition", "2024", "--crate-type", "proc-macro", setup_.shim_dir + "/cuda_macros.rs", "--out-dir", out},
        {setup_.rustc, "--edition", "2024", "--crate-type", "lib", "-O", "-A", "warnings", "-L", out, setup_.shim_dir + "/cuda_device.rs", "--out-dir", out},
    };
    for (const auto& command : commands) {
        const Result<driver::ProcessResult> run = driver::run_process(command);
        if (!run.ok()) return run.error();
        if (run.value().exit_code != 0) return "cannot build the stand-in crates:\n" + run.value().error_output;
    }
    return {};
}

// The edges first, then anything.
std::vector<std::uint64_t> Harness::input(std::uint64_t seed) const {
    std::vector<std::uint64_t> words = {0, 1, ~std::uint64_t{0}, 0x8000'0000'0000'0000ull, 0x7fff'ffff'ffff'ffffull, 0x80, 0xffff'ffff, 0x7f80'0000};
    Random random(mix_seed(seed, 77));
    while (words.size() < kInputs) words.push_back(random.chance(30) ? random.below(300) : random.bits());
    return words;
}

std::string Harness::source(const std::vector<Program>& programs) const {
    std::string text = "use cuda_device::{DisjointSlice, cuda_module, kernel, launch_contract, thread};\n\n#[cuda_module]\npub mod kernels {\nuse super::*;\n" + prelude_;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        text += fmt::format("\n// seed {}\nmod p{} {{\nuse super::*;\n{}}}\n", programs[i].seed, i, programs[i].text);
    }
    text += "\n#[kernel]\n#[launch_contract(domain = 1, block = (32, 1, 1))]\npub fn all(input: &[u64], mut out: DisjointSlice<u64>) {\n";
    text += "    let t = thread::index_1d().get();\n    let (lane, block) = (thread::threadIdx_x(), thread::blockIdx_x());\n";
    text += fmt::format("    let base = t * {}usize;\n    let Some(&s) = input.get(t) else {{\n        return;\n    }};\n", slots_of(programs));
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        for (std::uint32_t r = 0; r < programs[i].slots; ++r) text += fmt::format("    unsafe {{ *out.get_unchecked_mut(base + {}) = p{}::r{}(s); }}\n", at++, i, r);
        text += fmt::format("    unsafe {{ p{}::grid(input, t, lane, block, out.get_unchecked_mut(base + {})); }}\n", i, at++);
    }
    return text + "}\n}\n";
}

Outcome Harness::on_host(const std::vector<Program>& programs, std::uint64_t seed, const std::string& slot) const {
    const std::string base = setup_.work_dir + "/" + slot, batch = base + ".rsk", main = base + "_main.rs", binary = base + "_host";
    Outcome outcome;
    const std::vector<std::uint64_t> words = input(seed);
    std::string values;
    for (const std::uint64_t word : words) values += fmt::format("{}, ", word);
    const std::string text = fmt::format(
        "#![allow(warnings)]\n#[path = \"{}\"]\nmod batch;\nfn main() {{\n"
        "    std::thread::spawn(|| {{ std::thread::sleep(std::time::Duration::from_secs(60)); std::process::exit(99); }});\n    let input: [u64; {}] = [{}];\n    let mut out = vec![0u64; {}];\n"
        "    for t in 0..{}u32 {{\n        {}\n"
        "        batch::kernels::all(&input, cuda_device::DisjointSlice::from_host(&mut out));\n    }}\n"
        "    let bytes: Vec<u8> = out.iter().flat_map(|w| w.to_le_bytes()).collect();\n    std::fs::write({:?}, bytes).unwrap();\n}}\n",
        fs::absolute(batch).string(), kInputs, values, slots_of(programs) * kThreads, kThreads,
        fmt::format("cuda_device::host::set_position((t / {0}, 0, 0), (t % {0}, 0, 0), ({1}, 1, 1), ({0}, 1, 1));", kBlock, kThreads / kBlock), base + ".bin");
    if (Status s = write_file_if_changed(batch, source(programs)); !s.ok()) return {false, s.error(), false, {}};
    if (Status s = write_file_if_changed(main, text); !s.ok()) return {false, s.error(), false, {}};
    const Result<driver::ProcessResult> built = driver::run_process({setup_.rustc, "--edition", "2024", "-O", "-C", "overflow-checks=off", "-C", "debug-assertions=off", "-C",
                                                                     "codegen-units=1", "-A", "warnings", "-L", setup_.work_dir, "--extern", "cuda_device", main, "-o", binary});
    if (!built.ok()) return {false, built.error(), false, {}};
    if (built.value().exit_code != 0) return {false, "rustc refuses the program:\n" + head(built.value().error_output), false, {}};
    const Result<driver::ProcessResult> ran = driver::run_process({binary});
    if (!ran.ok()) return {false, ran.error(), false, {}};
    if (ran.value().exit_code != 0) return {false, "the host program fails:\n" + head(ran.value().error_output), false, {}};
    const Result<std::string> bytes = read_file(base + ".bin", std::size_t{1} << 30);
    if (!bytes.ok()) return {false, bytes.error(), false, {}};
    outcome.words.resize(bytes.value().size() / 8);
    std::memcpy(outcome.words.data(), bytes.value().data(), outcome.words.size() * 8);
    outcome.ok = true;
    return outcome;
}

Outcome Harness::on_device(const std::vector<Program>& programs, std::uint64_t seed, const std::string& slot, const std::string& level,
                             const std::string& target) const {
    const std::string base = setup_.work_dir + "/" + slot, batch = base + ".rsk", in = base + "_in.npy", out = base + "_out.npy";
    driver::Array array{abi::Scalar::U64, {kInputs}, {}};
    const std::vector<std::uint64_t> words = input(seed);
    array.bytes.assign(reinterpret_cast<const char*>(words.data()), words.size() * 8);
    if (Status s = write_file_if_changed(in, driver::format_npy(array)); !s.ok()) return {false, s.error(), false, {}};
    if (Status s = write_file_if_changed(batch, source(programs)); !s.ok()) return {false, s.error(), false, {}};
    std::error_code ignored;
    fs::remove(out, ignored);
    const Result<driver::ProcessResult> ran = driver::run_process({setup_.ockc, "launch", batch, "all", "--device", setup_.device, "--fmad", "off", "-O" + level, "--target", target,
                                                                   "-A", "warnings", "--arg", "input=@" + in, "--arg", fmt::format("out=zeros:u64[{}]", slots_of(programs) * kThreads),
                                                                   "--save", "out=" + out, "--grid", std::to_string(kThreads / kBlock), "--block", std::to_string(kBlock), "--color", "never"});
    if (!ran.ok()) return {false, ran.error(), false, {}};
    constexpr int kEnvironment = 3;
    if (ran.value().exit_code == kEnvironment && setup_.device != "emulator") return {false, head(ran.value().error_output), true, {}};
    if (ran.value().exit_code != 0) return {false, fmt::format("ockc -O{} --target {} ends with {}:\n{}", level, target, ran.value().exit_code, head(ran.value().error_output)), false, {}};
    const Result<std::string> bytes = read_file(out, std::size_t{1} << 30);
    if (!bytes.ok()) return {false, bytes.error(), false, {}};
    const Result<driver::Array> result = driver::parse_npy(bytes.value());
    if (!result.ok()) return {false, result.error(), false, {}};
    Outcome outcome;
    outcome.words.resize(result.value().bytes.size() / 8);
    std::memcpy(outcome.words.data(), result.value().bytes.data(), outcome.words.size() * 8);
    outcome.ok = true;
    return outcome;
}

}  // namespace ockc::difftest
