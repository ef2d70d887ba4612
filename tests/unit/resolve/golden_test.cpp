// tests/golden/resolve/*.rsk: `//~ CODE text` marks an expected diagnostic on its line, `//~^ CODE text` on the line above;
// `error` stands for errors without a code. Everything reported must be marked and the other way round.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "fixture.hpp"
#include "support/file_io.hpp"

namespace ockc::test {

namespace {

struct Mark {
    std::size_t line = 0;
    std::string code;
    std::string text;
    bool met = false;
};

std::vector<Mark> marks_of(const std::string& source) {
    std::vector<Mark> marks;
    std::size_t line = 1;
    for (std::size_t at = 0; at < source.size(); ++line) {
        const std::size_t end = std::min(source.find('\n', at), source.size());
        const std::string_view text(source.data() + at, end - at);
        at = end + 1;
        std::size_t mark = text.find("//~");
        if (mark == std::string_view::npos) continue;
        mark += 3;
        std::size_t up = 0;
        while (mark + up < text.size() && text[mark + up] == '^') ++up;
        std::string_view rest = text.substr(mark + up);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        const std::size_t space = std::min(rest.find(' '), rest.size());
        std::string_view message = rest.substr(space);
        message.remove_prefix(std::min(message.find_first_not_of(' '), message.size()));
        marks.push_back({line - up, std::string(rest.substr(0, space)), std::string(message), false});
    }
    return marks;
}

void check_file(const std::filesystem::path& path) {
    const auto source = read_file(path.string(), 1 << 20);
    REQUIRE(source.ok());
    const auto resolved = resolve_text(source.value());
    std::vector<Mark> marks = marks_of(source.value());
    for (const std::string& message : resolved->messages()) {
        bool expected = false;
        for (Mark& mark : marks) {
            if (mark.met || !message.starts_with(fmt::format("{}: {} ", mark.line, mark.code)) || message.find(mark.text) == std::string::npos) continue;
            mark.met = expected = true;
            break;
        }
        CHECK_MESSAGE(expected, path.filename().string(), ": not marked: ", message);
    }
    for (const Mark& mark : marks) CHECK_MESSAGE(mark.met, path.filename().string(), ": not reported: ", mark.line, ": ", mark.code, " ", mark.text);
}

}  // namespace

TEST_CASE("resolve goldens report exactly what they mark") {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(OCKC_SOURCE_DIR) + "/tests/golden/resolve")) {
        if (entry.path().extension() == ".rsk") files.insert(entry.path());
    }
    REQUIRE(files.size() > 10);
    for (const auto& file : files) check_file(file);
}

}  // namespace ockc::test
