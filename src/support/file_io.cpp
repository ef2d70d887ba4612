#include "support/file_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ockc {

namespace {

// Reads `fd` to its end; false on an error (errno) or when the limit is passed (errno EFBIG).
bool read_all(int fd, std::string& out, std::uint64_t max_bytes) {
    char buffer[1 << 16];
    for (;;) {
        const ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) return true;
        if (out.size() + static_cast<std::uint64_t>(n) > max_bytes) {
            errno = EFBIG;
            return false;
        }
        out.append(buffer, static_cast<std::size_t>(n));
    }
}

bool write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes) {
    const bool from_stdin = path == "-";
    const int fd = from_stdin ? 0 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return Failure{fmt::format("{}: {}", path, std::strerror(errno))};
    std::string bytes;
    const bool ok = read_all(fd, bytes, max_bytes);
    const int error = errno;
    if (!from_stdin) ::close(fd);
    if (ok) return bytes;
    if (error == EFBIG) return Failure{fmt::format("{}: larger than the limit of {} bytes", path, max_bytes)};
    return Failure{fmt::format("{}: {}", path, std::strerror(error))};
}

bool file_exists(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

Status write_file_if_changed(const std::string& path, std::string_view bytes) {
    struct stat info {};
    const bool exists = ::stat(path.c_str(), &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {  // a device or pipe: write in place, renaming would replace it
        const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        const bool ok = fd >= 0 && write_all(fd, bytes);
        const int error = errno;
        if (fd >= 0) ::close(fd);
        if (!ok) return Failure{fmt::format("{}: {}", path, std::strerror(error))};
        return Unit{};
    }
    if (exists && static_cast<std::uint64_t>(info.st_size) == bytes.size()) {
        if (auto old = read_file(path, bytes.size()); old.ok() && old.value() == bytes) return Unit{};
    }
    const std::string temporary = fmt::format("{}.tmp{}", path, ::getpid());
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return Failure{fmt::format("{}: {}", path, std::strerror(errno))};
    bool ok = write_all(fd, bytes);
    ok = ::close(fd) == 0 && ok;
    ok = ok && ::rename(temporary.c_str(), path.c_str()) == 0;
    if (ok) return Unit{};
    const int error = errno;
    ::unlink(temporary.c_str());
    return Failure{fmt::format("{}: {}", path, std::strerror(error))};
}

}  // namespace ockc
