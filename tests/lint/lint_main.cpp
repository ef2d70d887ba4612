// ockc_lint RULE SOURCE_DIR FLOORS_FILE: one house rule over the tree; prints what breaks it and exits with 1.
//   floors  a file of src/X includes only X and the floors in X's link list; the lists form no cycle
//   sizes   no file over 1000 lines, no function over 120
//   codes   every diagnostic code is shown by a golden, and has a page in docs/errors
//   docs    every path that a document names exists
//   words   the project speaks of the project alone
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.hpp"

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxFileLines = 1000;
constexpr std::size_t kMaxFunctionLines = 120;

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::vector<fs::path> files_below(const fs::path& folder, const std::set<std::string>& endings) {
    std::vector<fs::path> files;
    if (!fs::exists(folder)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && endings.count(entry.path().extension().string()) != 0) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

class Lint {
  public:
    Lint(fs::path root, fs::path floors) : root_(std::move(root)), floors_file_(std::move(floors)) {}

    void floors() {
        std::map<std::string, std::set<std::string>> links;
        for (const std::string& line : lines_of(read(floors_file_))) {
            std::istringstream in(line);
            std::string floor;
            in >> floor;
            for (std::string link; in >> link;) links[floor].insert(link);
            links[floor].insert(floor);
        }
        for (const auto& [floor, seen] : links) check_acyclic(floor, links);
        for (const fs::path& file : files_below(root_ / "src", {".cpp", ".hpp", ".def"})) {
            const std::string floor = fs::relative(file, root_ / "src").begin()->string();
            if (links.count(floor) == 0) continue;
            std::size_t number = 0;
            for (const std::string& line : lines_of(read(file))) {
                ++number;
                if (line.rfind("#include \"", 0) != 0) continue;
                const std::string target = line.substr(10, line.find('"', 10) - 10);
                const std::string first = target.substr(0, target.find('/'));
                if (links.count(first) == 0 || links[floor].count(first) != 0) continue;
                fail(file, number, "includes " + target + ", but " + first + " is not in the link list of " + floor);
            }
        }
        for (const fs::path& file : files_below(root_ / "runtime", {".cpp", ".hpp"})) {
            std::size_t number = 0;
            for (const std::string& line : lines_of(read(file))) {
                ++number;
                if (line.rfind("#include \"", 0) == 0 && line.rfind("#include \"ock/", 0) != 0) fail(file, number, "runtime includes only ock/ headers");
            }
        }
    }

    void sizes() {
        for (const char* folder : {"src", "include", "runtime", "tests"}) {
            for (const fs::path& file : files_below(root_ / folder, {".cpp", ".hpp"})) {
                const std::vector<std::string> lines = lines_of(read(file));
                if (lines.size() > kMaxFileLines) fail(file, lines.size(), "more than 1000 lines");
                function_sizes(file, lines);
            }
        }
    }

    void codes() {
        std::string goldens;
        for (const fs::path& file : files_below(root_ / "tests/golden", {".rsk"})) goldens += read(file);
        for (const fs::path& file : files_below(root_ / "tests", {".cpp"})) goldens += read(file);
        // The failing example of a page is compiled by tests/docs and must be refused with the page's code alone.
        for (const fs::path& file : files_below(root_ / "docs/errors", {".md"})) goldens += read(file);
        for (ockc::Code code : ockc::all_codes()) {
            const std::string name(ockc::code_name(code));
            const bool shown = goldens.find("rust," + name) != std::string::npos || goldens.find("//~ " + name) != std::string::npos ||
                               goldens.find('"' + name + '"') != std::string::npos || goldens.find("Code::" + name) != std::string::npos;
            if (!shown) fail("src/diag/codes.def", 0, name + " is shown by no test");
            if (!fs::exists(root_ / "docs/errors" / (name + ".md"))) fail("docs/errors", 0, name + " has no page");
        }
    }

    void docs() {
        for (const fs::path& file : files_below(root_ / "docs", {".md"})) paths_in(file);
        paths_in(root_ / "README.md");
    }

    void words() {
        static const std::vector<std::string> kWords = {"/wo" "rk/", "sub" "agent", "hel" "per-", "/.lib" "rary", "this ses" "sion"};
        for (const char* folder : {"src", "include", "runtime", "stdlib", "tests", "samples", "docs", "README.md", "CMakeLists.txt", ".ci"}) {
            for (const fs::path& file : text_files(root_ / folder)) {
                std::size_t number = 0;
                for (const std::string& line : lines_of(read(file))) {
                    ++number;
                    for (const std::string& word : kWords) {
                        if (line.find(word) != std::string::npos) fail(file, number, "speaks of more than the project: " + word);
                    }
                }
            }
        }
    }

    int result() const {
        std::printf("%zu problems\n", problems_);
        return problems_ == 0 ? 0 : 1;
    }

  private:
    void fail(const fs::path& file, std::size_t line, const std::string& text) {
        const std::string name = file.is_absolute() ? fs::relative(file, root_).string() : file.string();
        std::printf("%s:%zu: %s\n", name.c_str(), line, text.c_str());
        ++problems_;
    }

    void check_acyclic(const std::string& floor, const std::map<std::string, std::set<std::string>>& links) {
        std::set<std::string> seen;
        std::vector<std::string> open;
        for (const std::string& link : links.at(floor)) {
            if (link != floor) open.push_back(link);
        }
        while (!open.empty()) {
            const std::string at = open.back();
            open.pop_back();
            if (at == floor) return fail("src/" + floor, 0, "the link lists form a cycle");
            if (!seen.insert(at).second || links.count(at) == 0) continue;
            for (const std::string& link : links.at(at)) {
                if (link != at) open.push_back(link);
            }
        }
    }

    // A function body: an indented or outermost `{` at the end of a line that closes a parameter list, to the line where the
    // brace count is back. Good enough for formatted code.
    void function_sizes(const fs::path& file, const std::vector<std::string>& lines) {
        // Lists of one-line cases that read better whole. This list may only shrink.
        static const std::set<std::string> kWhole = {"src/check/interp_expr.cpp", "tests/unit/resolve/lower_test.cpp"};
        if (kWhole.count(fs::relative(file, root_).string()) != 0) return;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string& line = lines[i];
            const std::size_t indent = line.find_first_not_of(' ');
            if (indent == std::string::npos || indent > 4 || line.back() != '{') continue;
            const bool head = line.find(')') != std::string::npos && line.find("](") == std::string::npos && line.find("switch") == std::string::npos &&
                              line.find("namespace") == std::string::npos && line.find(" = ") == std::string::npos;
            if (!head || line.find("class ") != std::string::npos || line.find("struct ") != std::string::npos) continue;
            const std::string closing = std::string(indent, ' ') + "}";
            std::size_t end = i + 1;
            while (end < lines.size() && lines[end] != closing) ++end;
            if (end - i + 1 > kMaxFunctionLines && end < lines.size()) fail(file, i + 1, "function of " + std::to_string(end - i + 1) + " lines");
        }
    }

    // `src/..`, `tests/..` and the like inside backquotes or as bare words; a `*` or `<` makes a pattern of it.
    void paths_in(const fs::path& file) {
        if (!fs::exists(file)) return;
        std::size_t number = 0;
        for (const std::string& line : lines_of(read(file))) {
            ++number;
            for (const char* start : {"src/", "tests/", "docs/", "samples/", "runtime/", "stdlib/", "include/ockc/"}) {
                for (std::size_t at = line.find(start); at != std::string::npos; at = line.find(start, at + 1)) {
                    if (at > 0 && std::string_view("/.-_").find(line[at - 1]) != std::string_view::npos) continue;
                    if (at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])) != 0) continue;
                    std::size_t end = at;
                    while (end < line.size() && std::string_view(" `)(,;:|'\"").find(line[end]) == std::string_view::npos) ++end;
                    std::string path = line.substr(at, end - at);
                    while (!path.empty() && (path.back() == '.' || path.back() == '/')) path.pop_back();
                    if (path.find_first_of("*<>{}[]$@") != std::string::npos || path.find("..") != std::string::npos) continue;
                    if (!fs::exists(root_ / path)) fail(file, number, "names " + path + ", which does not exist");
                }
            }
        }
    }

    static std::vector<fs::path> text_files(const fs::path& at) {
        if (fs::is_regular_file(at)) return {at};
        std::vector<fs::path> files = files_below(at, {".cpp", ".hpp", ".def", ".rsk", ".md", ".txt", ".cmake", ".in", ".ptx", ".h", ""});
        return files;
    }

    fs::path root_, floors_file_;
    std::size_t problems_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: ockc_lint RULE SOURCE_DIR FLOORS_FILE\n");
        return 2;
    }
    Lint lint(argv[2], argv[3]);
    const std::map<std::string, std::function<void()>> rules = {{"floors", [&] { lint.floors(); }},
                                                                {"sizes", [&] { lint.sizes(); }},
                                                                {"codes", [&] { lint.codes(); }},
                                                                {"docs", [&] { lint.docs(); }},
                                                                {"words", [&] { lint.words(); }}};
    const auto rule = rules.find(argv[1]);
    if (rule == rules.end()) {
        std::fprintf(stderr, "ockc_lint: no rule %s\n", argv[1]);
        return 2;
    }
    rule->second();
    return lint.result();
}
