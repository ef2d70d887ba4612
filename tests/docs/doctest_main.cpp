// ockc_doctest PATH..: compiles the ```rust blocks of Markdown files. The word after the comma says what must happen:
//   ```rust              compiles to PTX
//   ```rust,E0382        is refused with this code (any other code is a failure)
//   ```rust,part         shows a part of a program: not compiled
//   ```rust,sm_90a       a further word: the target, sm_80 where there is none
// A page docs/errors/CODE.md must hold a block that is refused with CODE and one that compiles.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ockc/compiler.hpp"
#include "support/file_io.hpp"

namespace fs = std::filesystem;
using namespace ockc;

namespace {

struct Block {
    std::string expected;     // empty: compiles
    std::string target;
    std::string text;
    std::uint32_t line = 0;
};

Block begin(std::string_view info, std::uint32_t line) {
    Block block;
    block.line = line;
    while (!info.empty()) {
        const std::size_t end = std::min(info.find(','), info.size());
        const std::string word(info.substr(0, end));
        if (word.starts_with("sm_")) block.target = word;
        else if (word != "rust") block.expected = word;
        info.remove_prefix(std::min(end + 1, info.size()));
    }
    return block;
}

std::vector<Block> blocks_of(const std::string& text) {
    std::vector<Block> blocks;
    Block block;
    bool inside = false, rust = false;
    std::uint32_t number = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++number;
        if (line.substr(0, 3) == "```") {
            if (inside && rust) blocks.push_back(block);
            inside = !inside;
            const std::string_view info = line.substr(3);
            rust = inside && (info == "rust" || info.substr(0, 5) == "rust,");
            block = begin(info, number);
        } else if (inside && rust) {
            block.text += line;
            block.text += '\n';
        }
    }
    return blocks;
}

// The complaint about one block, or empty.
std::string check(const Block& block) {
    CompileOptions options;
    if (!block.target.empty()) options.targets = {block.target};
    const CompileResult result = compile({"block.rsk", "", block.text}, options);
    if (block.expected.empty()) return result.ok ? "" : "does not compile:\n" + result.diagnostics[0].rendered;
    if (result.ok) return fmt::format("compiles, but should be refused with {}", block.expected);
    for (const DiagnosticText& one : result.diagnostics) {
        if (one.is_error && one.code != block.expected) return fmt::format("is refused with {} too:\n{}", one.code, one.rendered);
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> pages;
    for (int i = 1; i < argc; ++i) {
        if (!fs::is_directory(argv[i])) {
            pages.emplace_back(argv[i]);
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
            if (entry.path().extension() == ".md") pages.push_back(entry.path().string());
        }
    }
    std::sort(pages.begin(), pages.end());
    std::size_t passed = 0, failed = 0;
    for (const std::string& page : pages) {
        const Result<std::string> text = read_file(page, 64u << 20);
        if (!text.ok()) {
            fmt::print("{}\n", text.error());
            ++failed;
            continue;
        }
        const std::string stem = fs::path(page).stem().string();
        const bool is_error_page = fs::path(page).parent_path().filename() == "errors";
        bool refused = false, compiled = false;
        for (const Block& block : blocks_of(text.value())) {
            if (block.expected == "part") continue;
            const std::string wrong = check(block);
            refused = refused || block.expected == stem;
            compiled = compiled || block.expected.empty();
            if (!wrong.empty()) fmt::print("{}:{}: {}\n", page, block.line, wrong);
            ++(wrong.empty() ? passed : failed);
        }
        if (is_error_page && !(refused && compiled)) {
            fmt::print("{}: needs a block that is refused with {} and one that compiles\n", page, stem);
            ++failed;
        }
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed == 0 && passed != 0 ? 0 : 1;
}
