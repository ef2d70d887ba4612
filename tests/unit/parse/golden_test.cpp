// The sources of tests/golden/parse, labelled by rustc: each file of accept/ parses without an error; each
// file of reject/ has rustc's verdict in its head line, `//@ error LINE CODE WORDS`, that the first error
// must have (`error-in-other-words`: not the words).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "parse_helper.hpp"
#include "support/file_io.hpp"

namespace fs = std::filesystem;
using namespace ockc;
using namespace ockc::parse;

namespace {

std::vector<fs::path> sources(const char* folder) {
    std::vector<fs::path> files;
    for (const auto& entry :
         fs::directory_iterator(fs::path(OCKC_SOURCE_DIR) / "tests/golden/parse" / folder))
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::string read(const fs::path& path) {
    Result<std::string> text = read_file(path.string(), 1u << 20);
    REQUIRE(text.ok());
    return text.value();
}

// The rest of the line that starts with `key`, wherever it stands among the head lines.
std::string head(const std::string& text, std::string_view key) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos) return {};
    return text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

std::string take_word(std::string& rest) {
    const std::size_t end = rest.find(' ');
    std::string word = rest.substr(0, end);
    rest = end == std::string::npos ? std::string() : rest.substr(end + 1);
    return word;
}

}  // namespace

TEST_CASE("what rustc accepts parses") {
    const auto files = sources("accept");
    CHECK(files.size() >= 500);
    for (const fs::path& file : files) {
        CAPTURE(file.filename().string());
        const Parsed parsed(read(file));
        CHECK(parsed.first_error() == "");
        CHECK_FALSE(ast::print(parsed.unit, parsed.printing()).empty() == !parsed.unit.items.empty());
    }
}

TEST_CASE("what rustc rejects is rejected on the same line, with the same code") {
    const auto files = sources("reject");
    CHECK(files.size() >= 500);
    for (const fs::path& file : files) {
        CAPTURE(file.filename().string());
        const std::string text = read(file);
        const bool old = head(text, "//@ edition ") == "2021";
        std::string verdict = head(text, "//@ error ");
        const bool same_words = !verdict.empty();
        if (!same_words) verdict = head(text, "//@ error-in-other-words ");
        const std::string line = take_word(verdict), code = take_word(verdict);
        const Parsed parsed(text, old ? lex::Edition::E2021 : lex::Edition::E2024);
        REQUIRE(parsed.sink.has_errors());
        const std::string want = line + ":" + (code == "-" ? "" : code + " ");
        const std::string got = parsed.first_error().substr(0, parsed.first_error().find('\n'));
        CHECK(got.substr(0, want.size()) == want);
        if (same_words) CHECK(got == want + verdict);
    }
}
