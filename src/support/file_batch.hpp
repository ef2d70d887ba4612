// Files that are written together: all of them or, as far as the file system allows, none.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace ockc {

class FileBatch {
  public:
    FileBatch() = default;
    ~FileBatch();   // what was not committed leaves no trace
    FileBatch(const FileBatch&) = delete;
    FileBatch& operator=(const FileBatch&) = delete;

    // Writes the bytes under a temporary name beside `path`; nothing when the file has these
    // bytes already (its time stays). A symbolic link is followed: the file that it names changes, not the link. What is no
    // regular file (a pipe, a device) keeps its bytes here until commit().
    Status stage(const std::string& path, std::string_view bytes);

    // Devices and pipes first, for their writes may fail; then the renames, which hardly can.
    Status commit();

  private:
    struct Staged {
        std::string path, target, temporary;   // as given; behind its links; empty for a device
        std::string bytes;                     // of a device
    };
    std::vector<Staged> staged_;
};

}  // namespace ockc
