#include "sandbox.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

namespace ockc::cli_test {

Sandbox::Sandbox() {
    std::string pattern = (fs::temp_directory_path() / "ockc-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
}

Sandbox::~Sandbox() {
    std::error_code error;
    fs::permissions(folder_, fs::perms::owner_all, error);
    fs::remove_all(folder_, error);
}

void Sandbox::write(std::string_view name, std::string_view text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
}

std::string Sandbox::read(std::string_view name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool Sandbox::exists(std::string_view name) const { return fs::exists(path(name)); }

std::vector<std::string> Sandbox::files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
        if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

driver::ProcessResult Sandbox::ockc(std::vector<std::string> arguments, const std::string& input) const {
    for (std::string& one : arguments) {
        if (!one.empty() && one[0] == ':') one = path(one.substr(1));
    }
    arguments.insert(arguments.begin(), OCKC_BINARY);
    Result<driver::ProcessResult> result = driver::run_process(arguments, input);
    REQUIRE_MESSAGE(result.ok(), result.error());
    return std::move(result.value());
}

}  // namespace ockc::cli_test
