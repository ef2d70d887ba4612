#include "driver/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace ockc::driver {

namespace fs = std::filesystem;

namespace {

struct Pipe {
    int read = -1, write = -1;
    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        read = ends[0];
        write = ends[1];
        return true;
    }
    static void close_end(int& fd) {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }
    ~Pipe() {
        close_end(read);
        close_end(write);
    }
};

int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Feeds `input` and gathers both outputs until the child has closed them.
void pump(Pipe& in, Pipe& out, Pipe& err, const std::string& input, ProcessResult& result) {
    std::size_t written = 0;
    if (input.empty()) Pipe::close_end(in.write);
    while (out.read >= 0 || err.read >= 0) {
        pollfd fds[3] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {in.write, POLLOUT, 0}};
        if (::poll(fds, 3, -1) < 0 && errno != EINTR) return;
        char buffer[1 << 14];
        const auto drain = [&](int& fd, short events, std::string& to) {
            if (fd < 0 || events == 0) return;
            const ssize_t n = ::read(fd, buffer, sizeof buffer);
            if (n > 0) to.append(buffer, static_cast<std::size_t>(n));
            if (n == 0 || (n < 0 && errno != EINTR)) Pipe::close_end(fd);
        };
        drain(out.read, fds[0].revents, result.output);
        drain(err.read, fds[1].revents, result.error_output);
        if (in.write >= 0 && fds[2].revents != 0) {
            const ssize_t n = ::write(in.write, input.data() + written, input.size() - written);
            if (n > 0) written += static_cast<std::size_t>(n);
            if ((n < 0 && errno != EINTR) || written == input.size()) Pipe::close_end(in.write);
        }
    }
}

std::vector<char*> c_arguments(const std::vector<std::string>& arguments) {
    std::vector<char*> list;
    for (const std::string& one : arguments) list.push_back(const_cast<char*>(one.c_str()));
    list.push_back(nullptr);
    return list;
}

bool is_executable(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& arguments, const std::string& input) {
    Pipe in, out, err;
    if (!in.open() || !out.open() || !err.open()) return Failure{std::string("pipe: ") + std::strerror(errno)};
    std::signal(SIGPIPE, SIG_IGN);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.read, 0);
    posix_spawn_file_actions_adddup2(&actions, out.write, 1);
    posix_spawn_file_actions_adddup2(&actions, err.write, 2);
    pid_t child = 0;
    std::vector<char*> list = c_arguments(arguments);
    const int error = ::posix_spawnp(&child, list[0], &actions, nullptr, list.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return Failure{arguments[0] + ": " + std::strerror(error)};
    Pipe::close_end(in.read);
    Pipe::close_end(out.write);
    Pipe::close_end(err.write);
    ProcessResult result;
    pump(in, out, err, input, result);
    result.exit_code = wait_for(child);
    return result;
}

Result<int> run_process_attached(const std::vector<std::string>& arguments) {
    pid_t child = 0;
    std::vector<char*> list = c_arguments(arguments);
    const int error = ::posix_spawnp(&child, list[0], nullptr, nullptr, list.data(), environ);
    if (error != 0) return Failure{arguments[0] + ": " + std::strerror(error)};
    return wait_for(child);
}

std::string find_on_path(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const fs::path candidate = fs::path(rest.substr(0, end)) / name;
        if (end != 0 && is_executable(candidate)) return candidate;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return {};
}

std::string find_cuda_tool(const std::string& name) {
    if (std::string found = find_on_path(name); !found.empty()) return found;
    std::vector<fs::path> roots;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
        if (const char* value = std::getenv(variable); value != nullptr && *value != 0) roots.emplace_back(value);
    }
    roots.emplace_back("/usr/local/cuda");
    std::vector<fs::path> versions;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
        if (entry.path().filename().string().rfind("cuda-", 0) == 0) versions.push_back(entry.path());
    }
    std::sort(versions.rbegin(), versions.rend());
    roots.insert(roots.end(), versions.begin(), versions.end());
    roots.emplace_back("/opt/cuda");
    for (const fs::path& root : roots) {
        if (is_executable(root / "bin" / name)) return root / "bin" / name;
    }
    return {};
}

}  // namespace ockc::driver
