#include "driver/argv_pass.hpp"

#include <fmt/format.h>

#include <string_view>

#include "support/file_io.hpp"

namespace ockc::driver {

namespace {

constexpr int kMaxNesting = 16;                       // of response files that name response files
constexpr std::uint64_t kMaxResponseBytes = 1u << 20;

constexpr ArgumentRewrite kRewrites[] = {
    {"-arch", "--target"}, {"-lineinfo", "--lineinfo"}, {"-MD", "--write-deps"}, {"-MF", "--deps-file"}, {"-MT", "--deps-target"},
};

std::string rewrite_one(const std::string& argument) {
    for (const ArgumentRewrite& row : kRewrites) {
        if (argument == row.from) return std::string(row.to);
        const bool with_value = argument.size() > row.from.size() && argument.compare(0, row.from.size(), row.from) == 0 &&
                                argument[row.from.size()] == '=';
        if (with_value) return std::string(row.to) + argument.substr(row.from.size());
    }
    return argument;
}

Status expand(const std::vector<std::string>& arguments, int depth, std::vector<std::string>& out) {
    bool options = true;
    for (const std::string& argument : arguments) {
        if (argument == "--") options = false;
        if (!options || argument.size() < 2 || argument[0] != '@') {
            out.push_back(options ? rewrite_one(argument) : argument);
            continue;
        }
        if (depth == kMaxNesting) return Failure{"response files nest too deeply: " + argument};
        Result<std::string> text = read_file(argument.substr(1), kMaxResponseBytes);
        if (!text.ok()) return Failure{"response file " + text.error()};
        Result<std::vector<std::string>> words = split_response(text.value());
        if (!words.ok()) return Failure{fmt::format("response file {}: {}", argument.substr(1), words.error())};
        if (Status inner = expand(words.value(), depth + 1, out); !inner.ok()) return inner;
    }
    return Unit{};
}

}  // namespace

std::span<const ArgumentRewrite> argument_rewrites() { return kRewrites; }

Result<std::vector<std::string>> split_response(const std::string& text) {
    std::vector<std::string> words;
    std::string word;
    bool in_word = false;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
            word += text[++i];
            in_word = true;
        } else if (quote != 0) {
            if (c == quote) {
                quote = 0;
            } else {
                word += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            in_word = true;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (in_word) words.push_back(std::move(word));
            word.clear();
            in_word = false;
        } else {
            word += c;
            in_word = true;
        }
    }
    if (quote != 0) return Failure{fmt::format("a quote ({}) is not closed", quote)};
    if (in_word) words.push_back(std::move(word));
    return words;
}

Result<std::vector<std::string>> rewrite_arguments(const std::vector<std::string>& arguments) {
    std::vector<std::string> out;
    if (Status done = expand(arguments, 0, out); !done.ok()) return Failure{done.error()};
    return out;
}

}  // namespace ockc::driver
