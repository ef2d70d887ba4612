// Whole-file reading and atomic writing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.hpp"

namespace ockc {

// Reads a whole file ("-" is standard input); fails on folders, missing files and files above `max_bytes`.
Result<std::string> read_file(const std::string& path, std::uint64_t max_bytes);

// Is there something that can be opened by that name (a file, a pipe, not a folder).
bool file_exists(const std::string& path);

// Writes through a temporary name beside `path` and renames, only when the bytes differ (mtimes stay).
Status write_file_if_changed(const std::string& path, std::string_view bytes);

}  // namespace ockc
