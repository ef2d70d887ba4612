#include "reduce.hpp"

#include <algorithm>

namespace ockc::difftest {

namespace {

using Lines = std::vector<std::string>;

Lines split_lines(const std::string& text) {
    Lines lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

std::string join_lines(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

// Brackets opened minus brackets closed; character literals are never brackets in generated programs.
int balance(const std::string& line) {
    int depth = 0;
    for (const char c : line) {
        if (c == '{' || c == '(' || c == '[') ++depth;
        if (c == '}' || c == ')' || c == ']') --depth;
    }
    return depth;
}

// The line after the last one that belongs to what begins at `from`: an item, a statement, a match arm.
std::size_t end_of(const Lines& lines, std::size_t from) {
    int depth = 0;
    for (std::size_t i = from; i < lines.size(); ++i) {
        depth += balance(lines[i]);
        if (depth < 0) return from;
        if (depth == 0) return i + 1;
    }
    return from;
}

}  // namespace

Program reduce(Program program, const std::function<bool(const Program&)>& fails) {
    Lines lines = split_lines(program.text);
    const auto accept = [&](const Lines& candidate) {
        Program smaller = program;
        smaller.text = join_lines(candidate);
        if (!fails(smaller)) return false;
        lines = candidate;
        return true;
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {   // roots
        if (lines[i].rfind("pub fn r", 0) != 0) continue;
        Lines candidate = lines;
        const std::size_t end = end_of(lines, i);
        candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i) + 1, candidate.begin() + static_cast<std::ptrdiff_t>(end) - 1);
        candidate.insert(candidate.begin() + static_cast<std::ptrdiff_t>(i) + 1, "    0");
        accept(candidate);
    }
    for (bool again = true; again;) {   // from the end: users go before what they use
        again = false;
        for (std::size_t i = lines.size(); i-- > 0;) {
            if (i >= lines.size()) continue;
            const std::size_t end = end_of(lines, i);
            if (end == i || lines[i].find_first_not_of(" }") == std::string::npos) continue;
            Lines candidate = lines;
            candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i), candidate.begin() + static_cast<std::ptrdiff_t>(end));
            again = accept(candidate) || again;
        }
    }
    program.text = join_lines(lines);
    return program;
}

}  // namespace ockc::difftest
