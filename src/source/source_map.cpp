#include "source/source_map.hpp"

#include <algorithm>

namespace ockc {

FileId SourceMap::add(std::string name, std::string path, std::string text, bool embedded) {
    auto file = std::make_unique<SourceFile>();
    file->name = std::move(name);
    file->path = std::move(path);
    file->text = std::move(text);
    file->embedded = embedded;
    file->line_starts.push_back(0);
    for (std::size_t i = 0; i < file->text.size(); ++i) {
        // A final newline ends the last line and begins none, so the end of the file belongs to the last
        // line.
        if (file->text[i] == '\n' && i + 1 < file->text.size())
            file->line_starts.push_back(static_cast<std::uint32_t>(i + 1));
    }
    return files_.push(std::move(file));
}

std::string_view SourceMap::text(Span span) const {
    if (!span.valid()) return {};
    return std::string_view(file(span.file).text).substr(span.begin, span.end - span.begin);
}

LineColumn SourceMap::line_column(FileId id, std::uint32_t offset) const {
    const SourceFile& f = file(id);
    const auto next = std::upper_bound(f.line_starts.begin(), f.line_starts.end(), offset);
    const auto line = static_cast<std::uint32_t>(next - f.line_starts.begin());
    std::uint32_t column = 1;
    const std::size_t stop = std::min<std::size_t>(offset, f.text.size());
    for (std::size_t i = f.line_starts[line - 1]; i < stop; ++i) {
        if ((static_cast<unsigned char>(f.text[i]) & 0xC0) != 0x80) ++column;
    }
    return {line, column};
}

std::string_view SourceMap::line_text(FileId id, std::uint32_t line) const {
    const SourceFile& f = file(id);
    if (line == 0 || line > f.line_starts.size()) return {};
    const std::size_t begin = f.line_starts[line - 1];
    std::size_t end = line < f.line_starts.size() ? f.line_starts[line] - 1 : f.text.size();
    if (end > begin && f.text[end - 1] == '\n') --end;
    if (end > begin && f.text[end - 1] == '\r') --end;
    return std::string_view(f.text).substr(begin, end - begin);
}

}  // namespace ockc
