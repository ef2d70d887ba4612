// Owns the text of every file of a compilation: disk files, standard input, and the embedded library.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "source/span.hpp"
#include "support/index_map.hpp"

namespace ockc {

struct LineColumn {
    std::uint32_t line = 1;     // from 1
    std::uint32_t column = 1;   // in characters (Unicode scalar values), from 1
};

struct SourceFile {
    std::string name;           // as outputs say it: relative to the main source's folder, or <std>/..
    std::string path;           // where it was read from; empty for embedded files and standard input
    std::string_view text;      // UTF-8
    std::string owned;          // the text, unless it lies elsewhere for good (in the binary)
    bool embedded = false;      // part of the built-in library
    // The byte offset of each line; found when a line is first asked for.
    const std::vector<std::uint32_t>& line_starts() const;
    // The 1-based line of a byte.
    std::uint32_t line_of(std::uint32_t offset) const;
    // As diagnostics say it: the way the user named the file.
    const std::string& display_name() const { return path.empty() ? name : path; }

  private:
    mutable std::vector<std::uint32_t> line_starts_;
    mutable std::uint32_t last_line_ = 1;   // that line_of found: the next place is often on it, too
};

class SourceMap {
  public:
    FileId add(std::string name, std::string path, std::string text, bool embedded = false);
    // A file of the library whose text outlives the map.
    FileId add_embedded(std::string name, std::string_view text);
    const SourceFile& file(FileId id) const { return *files_[id]; }
    std::string_view text(Span span) const;
    LineColumn line_column(FileId file, std::uint32_t offset) const;
    // The text of a 1-based line, without its end.
    std::string_view line_text(FileId file, std::uint32_t line) const;
    std::size_t size() const { return files_.size(); }

  private:
    IndexVec<FileId, std::unique_ptr<SourceFile>> files_;   // stable addresses: string_views into text stay good
};

}  // namespace ockc
