#include "test_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <variant>

#include "driver/options.hpp"
#include "support/file_io.hpp"

namespace ockc::filetest {

namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    for (text = trim(text); !text.empty(); text = trim(text)) {
        const std::size_t end = std::min(text.find(' '), text.size());
        out.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return out;
}

template <class T>
bool number(std::string_view text, T& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

bool dims(std::string_view text, std::optional<std::array<std::uint32_t, 3>>& out) {
    std::array<std::uint32_t, 3> parsed{1, 1, 1};
    for (std::size_t i = 0; i < 3 && !text.empty(); ++i) {
        const std::size_t end = std::min(text.find(','), text.size());
        if (!number(text.substr(0, end), parsed[i])) return false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    out = parsed;
    return text.empty();
}

bool parse_launch(std::string_view text, std::uint32_t line, TestFile& test) {
    Launch launch;
    launch.line = line;
    for (const std::string& word : words(text)) {
        const std::size_t equal = word.find('=');
        if (launch.kernel.empty()) {
            launch.kernel = word;
        } else if (equal == std::string::npos) {
            return false;
        } else if (word.substr(0, equal) == "grid") {
            if (!dims(std::string_view(word).substr(equal + 1), launch.grid)) return false;
        } else if (word.substr(0, equal) == "block") {
            if (!dims(std::string_view(word).substr(equal + 1), launch.block)) return false;
        } else {
            launch.args.emplace_back(word.substr(0, equal), word.substr(equal + 1));
        }
    }
    if (launch.kernel.empty()) return false;
    test.launches.push_back(std::move(launch));
    return true;
}

// `c = [1, 2, ..]`, `c[5] = 7`, `c all 3`
bool parse_expect(std::string_view text, std::uint32_t line, TestFile& test) {
    if (test.launches.empty()) return false;
    Expectation expect;
    expect.line = line;
    const std::size_t name_end = text.find_first_of(" [=");
    if (name_end == std::string_view::npos || name_end == 0) return false;
    expect.array = std::string(text.substr(0, name_end));
    text = trim(text.substr(name_end));
    if (text.substr(0, 4) == "all ") {
        expect.kind = Expectation::Kind::All;
        expect.values.emplace_back(trim(text.substr(4)));
    } else if (text[0] == '[') {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos || !number(text.substr(1, close - 1), expect.index)) return false;
        text = trim(text.substr(close + 1));
        if (text.empty() || text[0] != '=') return false;
        expect.kind = Expectation::Kind::Element;
        expect.values.emplace_back(trim(text.substr(1)));
    } else {
        if (text[0] != '=') return false;
        text = trim(text.substr(1));
        if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
        text = text.substr(1, text.size() - 2);
        while (!trim(text).empty()) {
            const std::size_t end = std::min(text.find(','), text.size());
            const std::string_view value = trim(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
            if (value == "..") {
                expect.prefix = true;
            } else {
                expect.values.emplace_back(value);
            }
        }
    }
    test.launches.back().expectations.push_back(std::move(expect));
    return true;
}

bool parse_fact(PtxFact::Kind kind, std::string_view text, std::uint32_t line, TestFile& test) {
    PtxFact fact{kind, std::string(text), 0, line};
    if (kind == PtxFact::Kind::Count) {
        const std::size_t space = text.find(' ');
        if (space == std::string_view::npos || !number(text.substr(0, space), fact.count)) return false;
        fact.text = std::string(trim(text.substr(space)));
    }
    test.facts.push_back(std::move(fact));
    return true;
}

// The test's options are those of the command line, parsed by the same code.
bool parse_args(std::string_view text, TestFile& test) {
    std::vector<std::string> arguments = words(text);
    arguments.push_back(test.path);
    const auto parsed = driver::parse_options(arguments);
    const auto* options = std::get_if<driver::Options>(&parsed);
    if (options == nullptr) return false;
    test.options = options->compile;
    test.has_target = text.find("--target") != std::string_view::npos || text.find("-arch") != std::string_view::npos;
    return true;
}

bool parse_directive(std::string_view text, std::uint32_t line, TestFile& test) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view key = trim(text.substr(0, colon)), value = trim(text.substr(colon + 1));
    if (key == "args") return parse_args(value, test);
    if (key == "launch") return parse_launch(value, line, test);
    if (key == "expect") return parse_expect(value, line, test);
    if (key == "ptx-has") return parse_fact(PtxFact::Kind::Has, value, line, test);
    if (key == "ptx-lacks") return parse_fact(PtxFact::Kind::Lacks, value, line, test);
    if (key == "ptx-count") return parse_fact(PtxFact::Kind::Count, value, line, test);
    if (key == "rustc") return true;   // tests/oracle reads it
    if (key == "reads") {
        test.reads_files = true;
        return true;
    }
    if (key == "prints" && !test.launches.empty()) {
        std::optional<std::string>& text = test.launches.back().prints;
        text = text.value_or("") + std::string(value) + "\n";
        return true;
    }
    if (key == "fails" && !test.launches.empty()) {
        test.launches.back().fails = std::string(value);
        return true;
    }
    return false;
}

void parse_marks(std::string_view line_text, std::uint32_t line, TestFile& test) {
    for (std::size_t at = line_text.find("//~"); at != std::string_view::npos; at = line_text.find("//~", at + 3)) {
        std::string_view rest = line_text.substr(at + 3);
        rest = rest.substr(0, rest.find("//~"));
        Mark mark{line, {}, {}};
        while (!rest.empty() && rest.front() == '^') {
            --mark.line;
            rest.remove_prefix(1);
        }
        rest = trim(rest);
        const std::size_t end = std::min(rest.find(' '), rest.size());
        mark.code = std::string(rest.substr(0, end));
        mark.text = std::string(trim(rest.substr(end)));
        test.marks.push_back(std::move(mark));
    }
}

}  // namespace

Result<TestFile> read_test(const std::string& path) {
    Result<std::string> text = read_file(path, 64u << 20);
    if (!text.ok()) return Failure{text.error()};
    TestFile test;
    test.path = path;
    test.name = std::filesystem::path(path).filename().string();
    test.text = std::move(text.value());
    std::uint32_t line = 0;
    for (std::string_view rest = test.text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line_text = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++line;
        const std::string_view start = trim(line_text);
        if (start.substr(0, 4) == "//@ ") {
            if (!parse_directive(start.substr(4), line, test)) return Failure{fmt::format("{}:{}: cannot read `{}`", path, line, start)};
        } else {
            parse_marks(line_text, line, test);
        }
    }
    return test;
}

}  // namespace ockc::filetest
