#include "driver/ptxas.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "driver/process.hpp"
#include "support/file_io.hpp"

namespace ockc::driver {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxToolOutput = 1ull << 30;

// A folder that is removed with its contents.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::error_code error;
        std::string pattern = (fs::temp_directory_path(error) / "ockc-XXXXXX").string();
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code error;
        if (!path_.empty()) fs::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    bool ok() const { return !path_.empty(); }
    std::string file(std::string_view name) const { return (path_ / name).string(); }

  private:
    fs::path path_;
};

// The number right before `unit` in `text`, or 0.
unsigned number_before(std::string_view text, std::string_view unit) {
    const std::size_t at = text.find(unit);
    if (at == std::string_view::npos) return 0;
    std::size_t begin = at;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
    return static_cast<unsigned>(std::strtoul(std::string(text.substr(begin, at - begin)).c_str(), nullptr, 10));
}

}  // namespace

std::string find_ptxas() {
    if (const char* path = std::getenv("OCK_PTXAS"); path != nullptr && *path != 0) return path;
    return find_cuda_tool("ptxas");
}

std::vector<KernelResources> parse_resources(const std::string& text) {
    std::vector<KernelResources> all;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        constexpr std::string_view kEntry = "Compiling entry function '";
        if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
            const std::size_t begin = at + kEntry.size();
            all.push_back({std::string(line.substr(begin, line.find('\'', begin) - begin))});
        } else if (!all.empty() && line.find("bytes stack frame") != std::string_view::npos) {
            all.back().stack_bytes = number_before(line, " bytes stack frame");
            all.back().spill_stores = number_before(line, " bytes spill stores");
            all.back().spill_loads = number_before(line, " bytes spill loads");
        } else if (!all.empty() && line.find("Used ") != std::string_view::npos) {
            all.back().registers = number_before(line, " registers");
            all.back().shared_bytes = number_before(line, " bytes smem");
        }
    }
    return all;
}

std::string resource_report(const std::vector<KernelResources>& resources, const std::string& target) {
    std::string text = fmt::format("{:<32} {:>8} {:>10} {:>10} {:>8} {:>8}\n", "kernel (" + target + ")", "regs", "shared B", "stack B",
                                   "spill st", "spill ld");
    for (const KernelResources& one : resources) {
        text += fmt::format("{:<32} {:>8} {:>10} {:>10} {:>8} {:>8}\n", one.kernel, one.registers, one.shared_bytes, one.stack_bytes,
                            one.spill_stores, one.spill_loads);
    }
    return text;
}

bool is_too_old(const std::string& error) {
    for (std::string_view part : {"Unsupported .version", "is not defined for option 'gpu-name'"}) {
        if (error.find(part) != std::string::npos) return true;
    }
    return false;
}

Result<Assembled> assemble(const std::string& ptxas, const CompiledImage& image) {
    TemporaryFolder folder;
    if (!folder.ok()) return Failure{"cannot make a temporary folder"};
    const std::string ptx = folder.file("kernel.ptx"), cubin = folder.file("kernel.cubin");
    if (Status written = write_file_if_changed(ptx, image.ptx); !written.ok()) return Failure{written.error()};
    const Result<ProcessResult> run = run_process({ptxas, "-v", "-arch=" + image.target, ptx, "-o", cubin});
    if (!run.ok()) return Failure{run.error()};
    if (run.value().exit_code != 0) return Failure{run.value().error_output + run.value().output};
    Result<std::string> bytes = read_file(cubin, kMaxToolOutput);
    if (!bytes.ok()) return Failure{bytes.error()};
    return Assembled{std::move(bytes.value()), parse_resources(run.value().error_output)};
}

Result<std::string> make_fatbin(const std::string& ptxas, const std::vector<CompiledImage>& images) {
    const std::string tool = find_cuda_tool("fatbinary");
    if (tool.empty()) return Failure{"`fatbinary` of the CUDA Toolkit was not found"};
    TemporaryFolder folder;
    if (!folder.ok()) return Failure{"cannot make a temporary folder"};
    const std::string out = folder.file("module.fatbin");
    std::vector<std::string> arguments{tool, "--create=" + out, "--64"};
    for (const CompiledImage& image : images) {
        const Result<Assembled> assembled = assemble(ptxas, image);
        if (!assembled.ok()) return Failure{assembled.error()};
        const std::string number = image.target.substr(3);
        const std::string ptx = folder.file(image.target + ".ptx"), cubin = folder.file(image.target + ".cubin");
        if (Status s = write_file_if_changed(ptx, image.ptx); !s.ok()) return Failure{s.error()};
        if (Status s = write_file_if_changed(cubin, assembled.value().cubin); !s.ok()) return Failure{s.error()};
        arguments.push_back(fmt::format("--image3=kind=ptx,sm={},file={}", number, ptx));
        arguments.push_back(fmt::format("--image3=kind=elf,sm={},file={}", number, cubin));
    }
    const Result<ProcessResult> run = run_process(arguments);
    if (!run.ok()) return Failure{run.error()};
    if (run.value().exit_code != 0) return Failure{run.value().error_output + run.value().output};
    return read_file(out, kMaxToolOutput);
}

Result<std::string> disassemble(const std::string& cubin) {
    TemporaryFolder folder;
    if (!folder.ok()) return Failure{"cannot make a temporary folder"};
    const std::string path = folder.file("kernel.cubin");
    if (Status s = write_file_if_changed(path, cubin); !s.ok()) return Failure{s.error()};
    std::vector<std::string> arguments;
    if (std::string tool = find_cuda_tool("cuobjdump"); !tool.empty()) {
        arguments = {tool, "--dump-sass", path};
    } else if (std::string other = find_cuda_tool("nvdisasm"); !other.empty()) {
        arguments = {other, path};
    } else {
        return Failure{"neither `cuobjdump` nor `nvdisasm` of the CUDA Toolkit was found"};
    }
    const Result<ProcessResult> run = run_process(arguments);
    if (!run.ok()) return Failure{run.error()};
    if (run.value().exit_code != 0) return Failure{run.value().error_output + run.value().output};
    return run.value().output;
}

}  // namespace ockc::driver
