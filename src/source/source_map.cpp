#include "source/source_map.hpp"

#include <algorithm>

namespace ockc {

const std::vector<std::uint32_t>& SourceFile::line_starts() const {
    if (!line_starts_.empty()) return line_starts_;
    line_starts_.push_back(0);
    // A final newline ends the last line and begins none, so the end of the file belongs to the last line.
    for (std::size_t i = text.find('\n'); i != std::string_view::npos && i + 1 < text.size(); i = text.find('\n', i + 1)) {
        line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
    }
    return line_starts_;
}

FileId SourceMap::add(std::string name, std::string path, std::string text, bool embedded) {
    auto file = std::make_unique<SourceFile>();
    file->name = std::move(name);
    file->path = std::move(path);
    file->owned = std::move(text);
    file->text = file->owned;
    file->embedded = embedded;
    return files_.push(std::move(file));
}

FileId SourceMap::add_embedded(std::string name, std::string_view text) {
    auto file = std::make_unique<SourceFile>();
    file->name = std::move(name);
    file->text = text;
    file->embedded = true;
    return files_.push(std::move(file));
}

std::string_view SourceMap::text(Span span) const {
    if (!span.valid()) return {};
    return file(span.file).text.substr(span.begin, span.end - span.begin);
}

std::uint32_t SourceFile::line_of(std::uint32_t offset) const {
    const std::vector<std::uint32_t>& starts = line_starts();
    const bool again = starts[last_line_ - 1] <= offset && (last_line_ == starts.size() || offset < starts[last_line_]);
    if (!again) last_line_ = static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin());
    return last_line_;
}

LineColumn SourceMap::line_column(FileId id, std::uint32_t offset) const {
    const SourceFile& f = file(id);
    const std::uint32_t line = f.line_of(offset);
    std::uint32_t column = 1;
    const std::size_t stop = std::min<std::size_t>(offset, f.text.size());
    for (std::size_t i = f.line_starts()[line - 1]; i < stop; ++i) {
        if ((static_cast<unsigned char>(f.text[i]) & 0xC0) != 0x80) ++column;
    }
    return {line, column};
}

std::string_view SourceMap::line_text(FileId id, std::uint32_t line) const {
    const SourceFile& f = file(id);
    const std::vector<std::uint32_t>& starts = f.line_starts();
    if (line == 0 || line > starts.size()) return {};
    const std::size_t begin = starts[line - 1];
    std::size_t end = line < starts.size() ? starts[line] - 1 : f.text.size();
    if (end > begin && f.text[end - 1] == '\n') --end;
    if (end > begin && f.text[end - 1] == '\r') --end;
    return f.text.substr(begin, end - begin);
}

}  // namespace ockc
