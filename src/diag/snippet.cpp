// How it is done: each label becomes annotations on the lines it touches (one for a short span; a start, an
// end and bars for a long one, each long span at a depth of its own). Then, line by line, the annotations of
// a line are given rows so that labels do not run into each other: rightmost first, the first may stand
// behind its underline, the others hang below on a `|`.
#include "diag/snippet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "diag/display_text.hpp"

namespace ockc {

namespace {

enum class Shape : std::uint8_t { Single, Start, Bar, End };

struct Annotation {
    std::size_t begin = 0;  // display columns
    std::size_t end = 0;
    std::size_t file_begin = 0;  // character columns, for cutting long lines
    std::size_t file_end = 0;
    bool primary = false;
    std::string label;
    Shape shape = Shape::Single;
    std::size_t depth = 0;

    bool takes_space() const { return shape == Shape::Start || shape == Shape::End; }
    bool has_label() const { return !label.empty(); }
    std::size_t length() const { return end > begin ? end - begin : begin - end; }
    Style style() const { return primary ? Style::Primary : Style::Secondary; }
};

struct Position {
    std::uint32_t line = 0;
    std::size_t column = 0;   // characters from 0
    std::size_t display = 0;  // columns from 0
};

struct LongSpan {
    Position begin;
    Position end;
    bool primary = false;
    std::string label;
    std::size_t depth = 1;
    bool exact_twin = false;  // another label covers the very same lines and columns

    bool same_span(const LongSpan& other) const {
        return begin.line == other.begin.line && end.line == other.end.line &&
               begin.column == other.begin.column && end.column == other.end.column;
    }
};

struct AnnotatedFile {
    FileId file;
    std::size_t depth = 0;  // of the deepest long span
    std::map<std::uint32_t, std::vector<Annotation>> lines;
    Span place;  // for the header
};

bool ranges_overlap(std::size_t a_begin, std::size_t a_end, std::size_t b_begin, std::size_t b_end,
                    std::size_t extra) {
    return (b_begin <= a_begin && a_begin < b_end + extra) || (a_begin <= b_begin && b_begin < a_end + extra);
}

bool overlaps(const Annotation& a, const Annotation& b, std::size_t padding) {
    return ranges_overlap(a.begin, a.end + padding, b.begin, b.end, 0);
}

Position position_of(const SourceMap& sources, FileId file, std::uint32_t offset) {
    const SourceFile& source = sources.file(file);
    const auto size = static_cast<std::uint32_t>(source.text.size());
    offset = std::min(offset, size);
    const LineColumn at = sources.line_column(file, offset);
    const std::uint32_t begin = source.line_starts()[at.line - 1];
    return {at.line, at.column - 1,
            display_width(std::string_view(source.text).substr(begin, offset - begin))};
}

// ---- from labels to annotations ----

class Collector {
  public:
    explicit Collector(const SourceMap& sources) : sources_(sources) {}

    std::vector<AnnotatedFile> collect(const std::vector<Label>& labels) {
        Span primary;
        for (const Label& label : labels) {
            if (!label.primary ||
                (primary.valid() && (primary.file != label.span.file || primary.begin <= label.span.begin)))
                continue;
            primary = label.span;
        }
        if (!primary.valid() && !labels.empty()) primary = labels.front().span;
        file_of(primary.file).place = primary;  // the primary file comes first
        for (const Label& label : labels) {
            if (label.span.valid()) add(label);
        }
        for (auto& [file, spans] : long_spans_)
            place_long_spans(file_of(file), spans);
        for (AnnotatedFile& file : files_) {
            if (!file.place.valid()) file.place = first_place(file);
        }
        return std::move(files_);
    }

  private:
    AnnotatedFile& file_of(FileId id) {
        for (AnnotatedFile& file : files_) {
            if (file.file == id) return file;
        }
        files_.push_back({id, 0, {}, {}});
        return files_.back();
    }

    void add(const Label& label) {
        const Position begin = position_of(sources_, label.span.file, label.span.begin);
        Position end = position_of(sources_, label.span.file, label.span.end);
        if (begin.line == end.line && begin.display == end.display)
            ++end.display;  // an empty span is one column wide
        if (begin.line != end.line) {
            long_spans_[label.span.file].push_back({begin, end, label.primary, label.text, 1, false});
            return;
        }
        file_of(label.span.file)
            .lines[begin.line]
            .push_back({begin.display, end.display, begin.column, end.column, label.primary, label.text,
                        Shape::Single, 0});
    }

    // Gives overlapping long spans different depths, the inner ones nearer to the code.
    void place_long_spans(AnnotatedFile& file, std::vector<LongSpan>& spans) {
        std::stable_sort(spans.begin(), spans.end(), [](const LongSpan& a, const LongSpan& b) {
            return a.begin.line != b.begin.line ? a.begin.line < b.begin.line : a.end.line > b.end.line;
        });
        const std::vector<LongSpan> fixed = spans;
        for (std::size_t i = 0; i < fixed.size(); ++i) {
            for (std::size_t j = 0; j < spans.size(); ++j) {
                const bool touch = ranges_overlap(fixed[i].begin.line, fixed[i].end.line, spans[j].begin.line,
                                                  spans[j].end.line, 1);
                if (!fixed[i].same_span(spans[j]) && touch) {
                    ++spans[j].depth;
                } else if (fixed[i].same_span(spans[j]) && i != j) {
                    spans[j].exact_twin = true;
                } else {
                    break;
                }
            }
        }
        for (const LongSpan& span : spans)
            file.depth = std::max(file.depth, span.depth);
        for (LongSpan& span : spans) {
            span.depth = file.depth - span.depth + 1;
            place(file, span);
        }
    }

    void place(AnnotatedFile& file, const LongSpan& span) {
        const Position& b = span.begin;
        const Position& e = span.end;
        Annotation end{e.display == 0 ? 0 : e.display - 1,
                       e.display,
                       e.column == 0 ? 0 : e.column - 1,
                       e.column,
                       span.primary,
                       span.label,
                       Shape::End,
                       span.depth};
        if (span.exact_twin) {
            end.shape = Shape::Single;
        } else {
            file.lines[b.line].push_back({b.display,
                                          b.display + 1,
                                          b.column,
                                          b.column + 1,
                                          span.primary,
                                          {},
                                          Shape::Start,
                                          span.depth});
            // Up to four lines after the start are shown, less those at their end that say nothing.
            const std::uint32_t middle = std::min(b.line + 4, e.line);
            std::uint32_t until = b.line;
            for (std::uint32_t line = middle; line-- > b.line;) {
                if (!says_something(file.file, line)) continue;
                until = line + 1;
                break;
            }
            for (std::uint32_t line = b.line + 1; line < until; ++line)
                bar(file, line, span);
            const std::uint32_t last = e.line - 1;
            if (middle < last && says_something(file.file, last)) bar(file, last, span);
        }
        file.lines[e.line].push_back(end);
    }

    void bar(AnnotatedFile& file, std::uint32_t line, const LongSpan& span) {
        file.lines[line].push_back({0, 0, 0, 0, span.primary, {}, Shape::Bar, span.depth});
    }

    bool says_something(FileId file, std::uint32_t line) const {
        std::string_view text = sources_.line_text(file, line);
        while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
            text.remove_prefix(1);
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
            text.remove_suffix(1);
        if (text.substr(0, 2) == "//" && text.substr(0, 3) != "///" && text.substr(0, 3) != "//!")
            return false;
        return text.size() > 1 ||
               (text.size() == 1 && std::string_view("{}()[]").find(text[0]) == std::string_view::npos);
    }

    // The first annotated place of a file, for its `:::` header.
    Span first_place(const AnnotatedFile& file) const {
        const auto& [line, annotations] = *file.lines.begin();
        std::size_t column = annotations.front().file_begin;
        const SourceFile& source = sources_.file(file.file);
        std::uint32_t offset = source.line_starts()[line - 1];
        std::size_t at = offset;
        while (column-- > 0 && at < source.text.size())
            next_char(source.text, at);
        offset = static_cast<std::uint32_t>(at);
        return {file.file, offset, offset};
    }

    const SourceMap& sources_;
    std::vector<AnnotatedFile> files_;
    std::map<FileId, std::vector<LongSpan>> long_spans_;
};

// ---- which part of long lines is shown ----

// Columns of a line that are shown for a span that no terminal holds: the rest of a line of a megabyte helps
// nobody.
constexpr std::size_t kLongestExcerpt = 1000;

struct Margin {
    std::size_t left = 0;
    std::size_t right = 0;
    std::size_t width = 0;
    bool cuts_spans = false;  // a span itself is too long to show

    std::size_t left_of(std::size_t line_length) const { return std::min(left, line_length); }
    std::size_t right_of(std::size_t line_length) const {
        const std::size_t rest = line_length > left ? line_length - left : 0;
        return rest <= width ? line_length : std::min(line_length, right);
    }
};

Margin margin_of(const AnnotatedFile& file, const SourceMap& sources, std::size_t width) {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    const auto minus = [](std::size_t a, std::size_t b) { return a > b ? a - b : 0; };
    std::size_t whitespace = kNone, span_left = kNone, span_right = 0, label_right = 0, longest = 0;
    for (const auto& [line, annotations] : file.lines) {
        const std::string_view text = sources.line_text(file.file, line);
        std::size_t leading = 0, i = 0;
        while (i < text.size() && (text[i] == ' ' || text[i] == '\t'))
            leading += text[i++] == '\t' ? 4 : 1;
        if (i < text.size()) whitespace = std::min(whitespace, leading);
        longest = std::max(longest, text.size());
        for (const Annotation& annotation : annotations) {
            span_left = std::min({span_left, annotation.file_begin, annotation.file_end});
            span_right = std::max({span_right, annotation.file_begin, annotation.file_end});
            const std::size_t label = annotation.has_label() ? annotation.label.size() + 1 : 0;
            label_right = std::max(label_right, annotation.file_end + label);
        }
    }
    constexpr std::size_t kPadding = 6;  // room for `...`
    whitespace = minus(whitespace == kNone ? 0 : whitespace, kPadding);
    span_left = minus(span_left == kNone ? 0 : span_left, kPadding);
    span_right += kPadding;
    label_right += kPadding;
    Margin margin;
    margin.width = width;
    margin.left = whitespace > 20 ? whitespace - 16 : 0;
    margin.right = std::max(longest, margin.left);
    if (margin.right - margin.left <= width) return margin;
    if (minus(label_right, whitespace) <= width) {
        margin.left = whitespace;
        margin.right = margin.left + width;
    } else if (minus(label_right, span_left) <= width) {
        margin.left = minus(span_left, (width - minus(label_right, span_left)) / 2);
        margin.right = margin.left + width;
    } else if (minus(span_right, span_left) <= width) {
        margin.left = minus(span_left, (width - minus(span_right, span_left)) / 5 * 2);
        margin.right = margin.left + width;
    } else {
        margin.left = span_left;
        margin.right = std::min(span_right, span_left + kLongestExcerpt);
        margin.cuts_spans = margin.right < span_right;
    }
    return margin;
}

// ---- drawing ----

using DepthStyle = std::pair<std::size_t, Style>;

class FileDrawing {
  public:
    FileDrawing(StyledBuffer& buffer, const AnnotatedFile& file, const SourceMap& sources, std::size_t gutter)
        : buffer_(buffer),
          file_(file),
          sources_(sources),
          gutter_(gutter),
          width_offset_(gutter + 3),
          code_offset_(width_offset_ + (file.depth == 0 ? 0 : file.depth + 1)),
          margin_(margin_of(file, sources, kRenderWidth > code_offset_ ? kRenderWidth - code_offset_ : 0)) {}

    void draw() {
        std::map<std::size_t, Style> open;  // depth of each long span that has begun and not ended
        for (auto it = file_.lines.begin(); it != file_.lines.end(); ++it) {
            const std::size_t first_row = buffer_.lines();
            std::map<std::size_t, Style> begun;
            for (const auto& [depth, style] : draw_line_with_annotations(it->first, it->second)) {
                if (open.erase(depth) == 0) begun.emplace(depth, style);
            }
            for (const auto& [depth, style] : open) {
                for (std::size_t row = first_row; row < buffer_.lines(); ++row)
                    bar(row, depth, style);
            }
            if (const auto next = std::next(it); next != file_.lines.end())
                bridge(it->first, next->first, it->second, open);
            open.insert(begun.begin(), begun.end());
        }
    }

  private:
    void bar(std::size_t row, std::size_t depth, Style style) {
        buffer_.put(row, width_offset_ + depth - 1, '|', style);
    }

    // Between two annotated lines: nothing, the one line in between, or `...`.
    void bridge(std::uint32_t line, std::uint32_t next, const std::vector<Annotation>& annotations,
                const std::map<std::size_t, Style>& open) {
        if (next - line < 2) return;
        const std::size_t row = buffer_.lines();
        if (next - line > 2) {
            buffer_.puts(row, 0, "...", Style::LineNumber);
        } else {
            draw_source(row, line + 1);
        }
        for (const auto& [depth, style] : open)
            bar(row, depth, style);
        for (const Annotation& annotation : annotations) {
            if (annotation.shape == Shape::Start) bar(row, annotation.depth, annotation.style());
        }
    }

    // The line itself; returns how many columns were cut off at its left.
    std::size_t draw_source(std::size_t row, std::uint32_t line) {
        const std::string_view text = sources_.line_text(file_.file, line);
        const std::size_t left = margin_.left_of(text.size());
        const std::size_t right = margin_.right_of(text.size());
        std::string code, rest;
        std::size_t index = 0;
        for_each_char(text, [&](char32_t c) {
            if (index >= left && index < right) append_char(code, c);
            if (index >= right) append_char(rest, c);
            ++index;
        });
        code = displayed(code);
        const bool cut_right = rest.find_first_not_of(" \t") != std::string::npos;
        draw_line_number(buffer_, row, line, gutter_);
        draw_bar(buffer_, row, gutter_);
        buffer_.puts(row, code_offset_, code, Style::None);
        const std::size_t shown = char_count(code);
        if (margin_.left > 0) buffer_.puts(row, code_offset_, "...", Style::LineNumber);
        if (cut_right)
            buffer_.puts(row, code_offset_ + (shown > 3 ? shown - 3 : 0), "...", Style::LineNumber);
        return left;
    }

    // A span that starts before any code of its line is drawn as a `/` beside the line.
    bool draw_short_starts(std::size_t row, std::uint32_t line, const std::vector<Annotation>& annotations,
                           std::vector<DepthStyle>& depths) {
        const std::string_view text = sources_.line_text(file_.file, line);
        const std::size_t leading = std::min(text.find_first_not_of(" \t"), text.size());
        for (const Annotation& annotation : annotations) {
            if (annotation.shape == Shape::Bar) continue;
            if (annotation.shape != Shape::Start || annotation.file_begin > leading) return false;
        }
        for (const Annotation& annotation : annotations) {
            if (annotation.shape != Shape::Start) continue;
            buffer_.put(row, width_offset_ + annotation.depth - 1, '/', annotation.style());
            depths.emplace_back(annotation.depth, annotation.style());
        }
        return true;
    }

    struct Placed {
        std::size_t row;  // 0: beside the underline
        const Annotation* annotation;
    };

    // Rows for the annotations of a line, which are sorted from right to left; `rows` becomes the number of
    // extra rows.
    std::vector<Placed> place(const std::vector<Annotation>& sorted, std::size_t& rows) {
        std::vector<Placed> placed;
        std::size_t p = 0;
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            const Annotation& a = sorted[i];
            for (std::size_t j = i + 1; j < sorted.size() && p == 0; ++j) {
                const Annotation& next = sorted[j];
                if (!overlaps(next, a, 0) || !a.has_label()) continue;
                if (next.begin == a.begin && next.end == a.end && !next.has_label()) continue;
                ++p;
            }
            placed.push_back({p, &a});
            for (std::size_t j = i + 1; j < sorted.size(); ++j) {
                const Annotation& next = sorted[j];
                const std::size_t label = next.has_label() ? char_count(next.label) + 2 : 0;
                const bool collide = overlaps(next, a, label);
                if ((collide && a.has_label() && next.has_label()) || (a.takes_space() && next.has_label()) ||
                    (a.has_label() && next.takes_space()) || (a.takes_space() && next.takes_space()) ||
                    (collide && next.end <= a.end && next.has_label() && p == 0)) {
                    ++p;
                    break;
                }
            }
            rows = std::max(rows, p);
        }
        if (rows != 0) ++rows;
        return placed;
    }

    std::vector<DepthStyle> draw_line_with_annotations(std::uint32_t line,
                                                       const std::vector<Annotation>& annotations) {
        const std::size_t row = buffer_.lines();
        const std::size_t left = draw_source(row, line);
        std::vector<DepthStyle> depths;
        if (draw_short_starts(row, line, annotations, depths)) return depths;
        std::vector<Annotation> sorted = annotations;
        if (margin_.cuts_spans) {
            for (Annotation& annotation : sorted) {
                annotation.begin = std::min(annotation.begin, margin_.right);
                annotation.end = std::min(annotation.end, margin_.right + 1);
            }
        }
        std::stable_sort(sorted.begin(), sorted.end(),
                         [](const Annotation& a, const Annotation& b) { return a.begin > b.begin; });
        std::size_t rows = 0;
        std::vector<Placed> placed = place(sorted, rows);
        if (std::all_of(sorted.begin(), sorted.end(),
                        [](const Annotation& a) { return a.shape == Shape::Bar; }))
            return depths;
        if (std::all_of(sorted.begin(), sorted.end(),
                        [](const Annotation& a) { return a.shape == Shape::Start; })) {
            // Starts alone: the leftmost turns first, which saves a row.
            std::size_t last = 0;
            for (const Placed& p : placed)
                last = std::max(last, p.row);
            for (Placed& p : placed)
                p.row = last - p.row;
            rows = rows == 0 ? 0 : rows - 1;
        }
        for (std::size_t r = 0; r <= rows; ++r)
            draw_bar(buffer_, row + r + 1, gutter_);
        const auto column = [&](std::size_t display) {
            return code_offset_ + (display > left ? display - left : 0);
        };
        draw_connections(row, rows, placed, column);
        draw_labels(row, placed, column, left);
        std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
            if (a.annotation->length() != b.annotation->length())
                return a.annotation->length() > b.annotation->length();
            return a.annotation->primary < b.annotation->primary;
        });
        for (const Placed& p : placed) {
            for (std::size_t c = p.annotation->begin; c < p.annotation->end; ++c) {
                buffer_.put(row + 1, column(c), p.annotation->primary ? '^' : '-', p.annotation->style());
            }
            if (p.annotation->takes_space()) depths.emplace_back(p.annotation->depth, p.annotation->style());
        }
        return depths;
    }

    template <class Column>
    void draw_connections(std::size_t row, std::size_t rows, const std::vector<Placed>& placed,
                          Column column) {
        for (const Placed& p : placed) {  // `____` from the bracket to the span's end
            if (!p.annotation->takes_space()) continue;
            for (std::size_t c = width_offset_ + p.annotation->depth; c < column(p.annotation->begin); ++c) {
                buffer_.put(row + p.row + 1, c, '_', p.annotation->style());
            }
        }
        for (const Placed& p : placed) {  // `|` down to hanging labels, and the brackets themselves
            const Annotation& a = *p.annotation;
            if (p.row > 0 && (a.has_label() || a.takes_space())) {
                for (std::size_t r = row + 1; r <= row + p.row + 1; ++r)
                    buffer_.put(r, column(a.begin), '|', a.style());
            }
            if (a.shape == Shape::Start) {
                for (std::size_t r = row + p.row + 2; r < row + rows + 2; ++r)
                    bar(r, a.depth, a.style());
            } else if (a.shape == Shape::End) {
                for (std::size_t r = row; r <= row + p.row + 1; ++r)
                    bar(r, a.depth, a.style());
            }
        }
    }

    template <class Column>
    void draw_labels(std::size_t row, const std::vector<Placed>& placed, Column column, std::size_t left) {
        for (const Placed& p : placed) {
            const Annotation& a = *p.annotation;
            if (!a.has_label()) continue;
            if (p.row != 0) {
                buffer_.puts(row + p.row + 2, column(a.begin), a.label, a.style());
                continue;
            }
            const std::size_t behind = a.end + (a.end == 0 ? 2 : 1);
            buffer_.puts(row + 1, code_offset_ + (behind > left ? behind - left : 0), a.label, a.style());
        }
    }

    StyledBuffer& buffer_;
    const AnnotatedFile& file_;
    const SourceMap& sources_;
    std::size_t gutter_;
    std::size_t width_offset_;
    std::size_t code_offset_;
    Margin margin_;
};

}  // namespace

void draw_line_number(StyledBuffer& buffer, std::size_t row, std::uint32_t line, std::size_t gutter) {
    buffer.puts(row, 0, fmt::format("{:>{}}", line, gutter), Style::LineNumber);
}

void draw_bar(StyledBuffer& buffer, std::size_t line, std::size_t gutter) {
    buffer.put(line, gutter + 1, '|', Style::LineNumber);
}

void draw_location(StyledBuffer& buffer, Span span, const SourceMap& sources, std::size_t gutter,
                   bool primary) {
    const std::size_t row = buffer.lines();
    const LineColumn at = sources.line_column(
        span.file,
        std::min<std::uint32_t>(span.begin, static_cast<std::uint32_t>(sources.file(span.file).text.size())));
    buffer.puts(row, gutter, primary ? "--> " : "::: ", Style::LineNumber);
    buffer.append(row, fmt::format("{}:{}:{}", sources.file(span.file).display_name(), at.line, at.column),
                  Style::None);
}

std::uint32_t last_line(Span span, const SourceMap& sources) {
    if (!span.valid()) return 0;
    const auto size = static_cast<std::uint32_t>(sources.file(span.file).text.size());
    return sources.line_column(span.file, std::min(span.end, size)).line;
}

void draw_snippets(StyledBuffer& buffer, const std::vector<Label>& labels, const SourceMap& sources,
                   std::size_t gutter) {
    std::vector<AnnotatedFile> files = Collector(sources).collect(labels);
    bool first = true;
    for (const AnnotatedFile& file : files) {
        if (!first) draw_bar(buffer, buffer.lines(), gutter);
        draw_location(buffer, file.place, sources, gutter, first);
        draw_bar(buffer, buffer.lines(), gutter);
        FileDrawing(buffer, file, sources, gutter).draw();
        first = false;
    }
}

}  // namespace ockc
