// ptxas as an oracle for tests: does it accept a PTX text for a target? Without ptxas (on PATH or in the
// usual place of the toolkit) every answer is Skipped, and the first one says so.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace ockc::test {

inline std::optional<std::string> find_tool(const std::string& name) {
    std::string places = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    places += ":/usr/local/cuda/bin";
    std::stringstream list(places);
    for (std::string place; std::getline(list, place, ':');) {
        const std::filesystem::path path = std::filesystem::path(place) / name;
        std::error_code ec;
        if (!place.empty() && std::filesystem::is_regular_file(path, ec)) return path.string();
    }
    return std::nullopt;
}

inline bool have_tool(const std::string& name) {
    if (find_tool(name)) return true;
    std::cout << "SKIPPED: " << name << " not found on PATH or in /usr/local/cuda/bin\n";
    return false;
}

// A directory of this test's own, removed at the end.
class TempDir {
  public:
    TempDir() {
        std::string pattern = (std::filesystem::temp_directory_path() / "ockc-test-XXXXXX").string();
        if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~TempDir() {
        std::error_code ec;
        std::filesystem::remove_all(path_, ec);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, std::string_view text) const {
        std::ofstream(path_ / name) << text;
        return path_ / name;
    }

  private:
    std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// What a command writes to both streams; its exit code in `code`.
inline std::string output_of(const std::string& command, int& code) {
    const TempDir dir;
    const std::filesystem::path log = dir.path() / "log";
    code = std::system((command + " >" + log.string() + " 2>&1").c_str());
    return read_file(log);
}

// Empty when ptxas accepts the text for the target (or is absent), else its messages.
inline std::string assemble(std::string_view text, std::string_view target) {
    const auto ptxas = find_tool("ptxas");
    if (!ptxas) return {};
    const TempDir dir;
    const std::filesystem::path in = dir.write("in.ptx", text);
    int code = 0;
    const std::string log = output_of(
        *ptxas + " -arch=" + std::string(target) + " " + in.string() + " -o " + (dir.path() / "out").string(),
        code);
    return code == 0 ? std::string() : log + "\n";
}

}  // namespace ockc::test
