#include "support/file_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/file_batch.hpp"

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
    FileBatch batch;
    if (Status staged = batch.stage(path, bytes); !staged.ok()) return staged;
    return batch.commit();
}

}  // namespace ockc
