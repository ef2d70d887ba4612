// tests/golden/opt/<pass>/*.ir: a module, a separator line, and the module after the pass. The folder
// `pipeline` runs the whole pipeline. OCK_BLESS=1 rewrites what stands behind the separator. Every function
// is also executed before and after on several inputs. A first line `// -O1 --fmad off` sets options.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "interp.hpp"
#include "ir/parse.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "opt/call_order.hpp"
#include "opt/pipeline.hpp"
#include "support/file_io.hpp"

using namespace ockc;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSeparator = "// ====\n";
constexpr std::uint64_t kMaxFile = 1 << 20;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder))
        out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

opt::Options options_of(std::string_view text) {
    opt::Options options;
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!line.starts_with("// -")) return options;
    if (const auto at = line.find("-O"); at != std::string_view::npos) options.level = line[at + 2] - '0';
    if (line.find("--fmad off") != std::string_view::npos) options.fmad = false;
    return options;
}

bool is_pass(std::string_view name) {
    for (std::size_t i = 0; i < opt::kPassCount; ++i) {
        if (opt::pass_info(static_cast<opt::Pass>(i)).name == name) return true;
    }
    return false;
}

void run_named(std::string_view name, ir::Module& module, const opt::Options& options) {
    if (name == "pipeline") return opt::run(module, options);
    for (std::size_t i = 0; i < opt::kPassCount; ++i) {
        const opt::PassInfo& info = opt::pass_info(static_cast<opt::Pass>(i));
        if (info.name != name) continue;
        for (const ir::FuncId id : opt::callees_first(module)) {
            opt::Analyses analyses;
            analyses.start(module.functions[id]);
            info.run(module.functions[id], {module, options, analyses});
        }
    }
}

void check_execution(const ir::Module& before, const ir::Module& after) {
    for (std::uint32_t i = 0; i < before.functions.size(); ++i) {
        const ir::FuncId id(i);
        if (after.functions[id].removed) continue;
        for (std::uint32_t seed = 0; seed < 24; ++seed) {
            const test::Input input = test::make_input(before, before.functions[id], seed);
            const std::string difference = test::compare(test::interpret(before, before.functions[id], input),
                                                         test::interpret(after, after.functions[id], input));
            CHECK_MESSAGE(difference.empty(), "@", before.functions[id].name, " seed ", seed, ": ",
                          difference);
            if (!difference.empty()) break;
        }
    }
}

void run_file(std::string_view pass, const fs::path& path) {
    INFO(path.string());
    const auto file = read_file(path.string(), kMaxFile);
    REQUIRE_MESSAGE(file.ok(), file.error());
    const std::string& text = file.value();
    const std::size_t split = text.find(kSeparator);
    const std::string source = text.substr(0, split);
    auto module = ir::parse(source);
    REQUIRE_MESSAGE(module.ok(), module.error());
    const Status sound = ir::verify(module.value());
    REQUIRE_MESSAGE(sound.ok(), sound.error());
    const ir::Module before = module.value();
    run_named(pass, module.value(), options_of(text));
    const Status still_sound = ir::verify(module.value());
    CHECK_MESSAGE(still_sound.ok(), still_sound.error());
    check_execution(before, module.value());

    const std::string actual = ir::print(module.value());
    const std::string expected = split == std::string::npos ? "" : text.substr(split + kSeparator.size());
    if (actual == expected) return;
    if (std::getenv("OCK_BLESS") != nullptr) {
        const std::string head = source.ends_with('\n') ? source : source + "\n";
        CHECK(write_file_if_changed(path.string(), head + std::string(kSeparator) + actual).ok());
        return;
    }
    FAIL_CHECK("output differs (OCK_BLESS=1 rewrites it); now:\n", actual);
}

}  // namespace

TEST_CASE("golden: every pass on its examples") {
    const fs::path root = fs::path(OCKC_SOURCE_DIR) / "tests/golden/opt";
    for (const fs::path& folder : sorted_entries(root)) {
        const std::string pass = folder.filename().string();
        CHECK_MESSAGE((pass == "pipeline" || is_pass(pass)), "no pass named ", pass);
        for (const fs::path& file : sorted_entries(folder))
            run_file(pass, file);
    }
}

TEST_CASE("golden: every pass has an example") {
    for (std::size_t i = 0; i < opt::kPassCount; ++i) {
        const std::string name(opt::pass_info(static_cast<opt::Pass>(i)).name);
        CHECK_MESSAGE(fs::exists(fs::path(OCKC_SOURCE_DIR) / "tests/golden/opt" / name), name);
    }
}
