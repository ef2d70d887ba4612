// `ockc new DIR` and `ockc run [DIR]`: a complete CMake project around one kernel, and building and running it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/process.hpp"
#include "support/embedded.hpp"
#include "support/file_io.hpp"

namespace ockc {
extern const EmbeddedFile project_files[];       // made by ockc_embed from src/driver/project/
extern const std::size_t project_files_count;
}  // namespace ockc

namespace ockc::driver {

namespace fs = std::filesystem;

namespace {

// Targets that CMake makes by itself (cmake-policies, CMP0037).
constexpr std::string_view kReservedTargets[] = {
    "all",          "ALL_BUILD", "help",          "install", "INSTALL",       "preinstall", "clean", "edit_cache", "rebuild_cache",
    "test",         "RUN_TESTS", "package",       "PACKAGE", "package_source", "ZERO_CHECK", "depend", "list_install_components",
};

constexpr std::string_view kTileFolder = "tile/";

std::string with_name(std::string_view text, const std::string& name) {
    constexpr std::string_view kHole = "@NAME@";
    std::string out;
    while (true) {
        const std::size_t at = text.find(kHole);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        out += name;
        text.remove_prefix(at + kHole.size());
    }
}

bool is_project_name(const std::string& name) {
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
    for (char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') return false;
    }
    return true;
}

// Where the CMake package of this very ockc lies, from the place of the executable; empty when it is not installed.
std::string package_folder() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) return {};
    const fs::path prefix = self.parent_path().parent_path();
    std::vector<fs::path> folders{prefix / "lib/cmake/ock", prefix / "share/cmake/ock"};
    for (const auto& entry : fs::directory_iterator(prefix / "lib", error)) folders.push_back(entry.path() / "cmake/ock");
    for (const fs::path& folder : folders) {
        if (fs::exists(folder / "ockConfig.cmake", error)) return folder;
    }
    return {};
}

// The name given to project() in a CMakeLists.txt: the program has that name.
std::string project_name(const std::string& cmake) {
    const std::size_t at = cmake.find("project(");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + 8;
    return cmake.substr(begin, cmake.find_first_of(" )", begin) - begin);
}

int step(const std::vector<std::string>& arguments) {
    const Result<int> code = run_process_attached(arguments);
    if (code.ok()) return code.value();
    print_error("cannot start " + code.error());
    return -1;
}

}  // namespace

int run_new(const Options& options) {
    std::error_code error;
    const fs::path folder = options.project_dir;
    const fs::path whole = fs::absolute(folder, error).lexically_normal();   // `.` and `x/` have the folder's name
    const std::string name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
    if (!is_project_name(name)) {
        print_error(fmt::format("`{}` is not a project name: letters, digits, `_` and `-`, not a digit first", name));
        return kBadCommandLine;
    }
    if (std::find(std::begin(kReservedTargets), std::end(kReservedTargets), name) != std::end(kReservedTargets)) {
        print_error(fmt::format("CMake keeps the name `{}` for a target of its own", name), fmt::format("take another, such as `{}_kernels`", name));
        return kBadCommandLine;
    }
    if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
        print_error(fmt::format("{} exists and is not empty", folder.string()));
        return kEnvironment;
    }
    for (std::size_t i = 0; i < project_files_count; ++i) {
        std::string file_name(project_files[i].name);
        const bool is_tile = file_name.starts_with(kTileFolder);   // the files of a tile project
        if (is_tile != options.tile) continue;
        if (is_tile) file_name.erase(0, kTileFolder.size());
        if (file_name.size() > 3 && file_name.compare(file_name.size() - 3, 3, ".in") == 0) file_name.resize(file_name.size() - 3);
        const fs::path path = folder / file_name;
        fs::create_directories(path.parent_path(), error);
        if (Status written = write_file_if_changed(path.string(), with_name(project_files[i].text, name)); !written.ok()) {
            print_error("cannot write " + written.error());
            return kEnvironment;
        }
    }
    print_output(fmt::format("made {}: `ockc run {}` builds and runs it\n", folder.string(), folder.string()));
    return kOk;
}

int run_project(const Options& options) {
    const std::string folder = options.project_dir.empty() ? "." : options.project_dir;
    const Result<std::string> cmake = read_file(folder + "/CMakeLists.txt", 1 << 20);
    if (!cmake.ok()) {
        print_error("no project here: " + cmake.error());
        return kEnvironment;
    }
    const std::string name = project_name(cmake.value());
    const std::string build = folder + "/build";
    std::vector<std::string> configure{"cmake", "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release"};
    if (const std::string package = package_folder(); !package.empty()) configure.push_back("-Dock_DIR=" + package);
    if (step(configure) != 0 || step({"cmake", "--build", build}) != 0) return kEnvironment;
    const int code = step({build + "/" + name});
    return code < 0 ? kEnvironment : code;
}

}  // namespace ockc::driver
