#include "support/file_batch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "support/file_io.hpp"

namespace ockc {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxLinks = 40;   // as the kernel follows

Failure failure_of(const std::string& path, int error) { return Failure{fmt::format("{}: {}", path, std::strerror(error))}; }

// The path behind symbolic links, which need not exist; `path` itself when the links go in a circle.
std::string behind_links(const std::string& path) {
    fs::path at = path;
    std::error_code error;
    for (int i = 0; i < kMaxLinks; ++i) {
        if (!fs::is_symlink(fs::symlink_status(at, error))) return at.string();
        const fs::path to = fs::read_symlink(at, error);
        at = to.is_absolute() ? to : at.parent_path() / to;
    }
    return path;
}

// 0 or the error number.
int write_in_place(const std::string& path, int flags, std::string_view bytes) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0) return errno;
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            const int error = errno;
            ::close(fd);
            return error;
        }
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::close(fd) == 0 ? 0 : errno;
}

// Are these the bytes of the file? Read piece by piece: a header may be large, and most have changed near their beginning.
bool holds(const std::string& path, std::string_view bytes) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    char buffer[1 << 16];
    bool same = true;
    for (;;) {
        const ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            same = same && n == 0 && bytes.empty();
            break;
        }
        same = bytes.substr(0, static_cast<std::size_t>(n)) == std::string_view(buffer, static_cast<std::size_t>(n));
        if (!same) break;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    ::close(fd);
    return same;
}

}  // namespace

FileBatch::~FileBatch() {
    for (const Staged& one : staged_) {
        if (!one.temporary.empty()) ::unlink(one.temporary.c_str());
    }
}

Status FileBatch::stage(const std::string& path, std::string_view bytes) {
    Staged one{path, behind_links(path), {}, {}};
    struct stat info {};
    const bool exists = ::stat(one.target.c_str(), &info) == 0;
    if (exists && S_ISDIR(info.st_mode)) return failure_of(path, EISDIR);
    if (exists && !S_ISREG(info.st_mode)) {
        one.bytes = bytes;
        staged_.push_back(std::move(one));
        return Unit{};
    }
    if (exists && static_cast<std::uint64_t>(info.st_size) == bytes.size()) {
        if (holds(one.target, bytes)) return Unit{};
    }
    one.temporary = fmt::format("{}.tmp{}.{}", one.target, ::getpid(), staged_.size());
    const std::string temporary = one.temporary;
    staged_.push_back(std::move(one));
    if (const int error = write_in_place(temporary, O_CREAT | O_TRUNC, bytes); error != 0) return failure_of(path, error);
    return Unit{};
}

Status FileBatch::commit() {
    for (const Staged& one : staged_) {
        if (!one.temporary.empty()) continue;
        if (const int error = write_in_place(one.target, 0, one.bytes); error != 0) return failure_of(one.path, error);
    }
    for (Staged& one : staged_) {
        if (one.temporary.empty()) continue;
        if (::rename(one.temporary.c_str(), one.target.c_str()) != 0) return failure_of(one.path, errno);
        one.temporary.clear();
    }
    staged_.clear();
    return Unit{};
}

}  // namespace ockc
