// Suggestions as changed code. Where something goes away the old and the new line stand below each other
// (`-`, `+`); where text is only added it is marked with `+` underneath; where the change has several lines
// they are shown with `+` or `~` in the gutter.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diag/display_text.hpp"
#include "diag/render_impl.hpp"

namespace ockc {

namespace {

std::string_view trim(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\n\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

// A part reduced to what really changes: `x` -> `(x` is an insertion of `(`.
SuggestionPart reduced(SuggestionPart part, const SourceMap& sources) {
    std::string_view old = sources.text(part.span);
    std::string_view now = part.replacement;
    std::size_t same = 0;
    while (same < old.size() && same < now.size() && old[same] == now[same])
        ++same;
    while (same > 0 && same < now.size() && (static_cast<unsigned char>(now[same]) & 0xC0) == 0x80)
        --same;
    const std::string_view rest = old.substr(same);
    if (now.size() < same + rest.size() || now.substr(now.size() - rest.size()) != rest) return part;
    const auto at = static_cast<std::uint32_t>(part.span.begin + same);
    return {{part.span.file, at, at}, std::string(now.substr(same, now.size() - same - rest.size()))};
}

std::vector<std::string> split_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        lines.emplace_back(line);
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

// Whether a part takes something away: more than white space, and not only by writing around it.
bool removes_text(const SuggestionPart& part, const SourceMap& sources) {
    const std::string_view old = trim(sources.text(part.span));
    const std::string_view now = trim(part.replacement);
    if (old.empty()) return false;
    std::size_t same = 0;
    while (same < old.size() && same < now.size() && old[same] == now[same])
        ++same;
    const std::string_view rest = old.substr(same);
    return now.size() < same + rest.size() || now.substr(now.size() - rest.size()) != rest;
}

class SuggestionDrawing {
  public:
    SuggestionDrawing(StyledBuffer& buffer, const Suggestion& suggestion, const SourceMap& sources,
                      std::size_t gutter)
        : buffer_(buffer), sources_(sources), gutter_(gutter), file_(suggestion.span.file) {
        parts_.push_back({suggestion.span, suggestion.replacement});
        parts_.insert(parts_.end(), suggestion.more.begin(), suggestion.more.end());
        std::stable_sort(parts_.begin(), parts_.end(),
                         [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
        build_lines();
        for (SuggestionPart& part : parts_)
            part = reduced(std::move(part), sources);
    }

    void draw(FileId primary_file) {
        row_ = buffer_.lines();
        if (primary_file.valid() && primary_file != file_) {
            draw_location(buffer_, parts_.front().span, sources_, gutter_, true);
            ++row_;
        }
        bar(row_++);
        const bool removes = std::any_of(parts_.begin(), parts_.end(),
                                         [&](const SuggestionPart& p) { return removes_text(p, sources_); });
        const bool multiline = new_lines_.size() > 1;
        const std::string_view only =
            parts_.size() == 1 ? std::string_view(parts_[0].replacement) : std::string_view();
        const bool adds_line =
            !only.empty() && only.back() == '\n' && !new_lines_.empty() && trim(only) == trim(complete_);
        if (new_lines_.empty() || (removes && !multiline)) {
            draw_diff();
        } else if (multiline && !adds_line) {
            draw_changed_lines();
        } else if (adds_line) {
            number(first_line_);
            buffer_.puts(row_, gutter_ + 1, "+ ", Style::Addition);
            buffer_.append(row_++, displayed(new_lines_[0]), Style::Addition);
            const std::string_view line = trim(only);
            if (line.substr(0, 2) == "#[" && line.back() == ']') {  // an attribute, shown with what it is for
                number(first_line_ + 1);
                bar(row_);
                buffer_.puts(row_++, gutter_ + 3, displayed(sources_.line_text(file_, first_line_)),
                             Style::None);
            }
        } else {
            number(first_line_);
            spaced_bar(row_);
            buffer_.puts(row_++, gutter_ + 3, displayed(new_lines_[0]), Style::None);
            if (trim(only) != trim(complete_)) mark_additions();
        }
        bar(row_);
    }

  private:
    // The text of all touched lines, with the parts put in.
    void build_lines() {
        const SourceFile& file = sources_.file(file_);
        const auto size = static_cast<std::uint32_t>(file.text.size());
        first_line_ = sources_.line_column(file_, std::min(parts_.front().span.begin, size)).line;
        last_line_ = sources_.line_column(file_, std::min(parts_.back().span.end, size)).line;
        std::uint32_t at = file.line_starts()[first_line_ - 1];
        for (const SuggestionPart& part : parts_) {
            if (part.span.begin > at)
                complete_ += file.text.substr(at, part.span.begin - at);
            part_begin_.push_back(complete_.size());
            complete_ += part.replacement;
            part_end_.push_back(complete_.size());
            at = std::max(at, part.span.end);
        }
        const std::size_t end =
            last_line_ < file.line_starts().size() ? file.line_starts()[last_line_] - 1 : file.text.size();
        if (end > at && (complete_.empty() || complete_.back() != '\n'))
            complete_ += file.text.substr(at, end - at);
        new_lines_ = split_lines(complete_);
        if (trim(complete_).empty()) new_lines_.clear();
    }

    void bar(std::size_t row) { draw_bar(buffer_, row, gutter_); }
    void spaced_bar(std::size_t row) { buffer_.puts(row, gutter_ + 1, "| ", Style::LineNumber); }
    void number(std::uint32_t line) { draw_line_number(buffer_, row_, line, gutter_); }

    void draw_diff() {
        for (std::uint32_t line = first_line_; line <= last_line_; ++line) {
            number(line);
            buffer_.puts(row_, gutter_ + 1, "- ", Style::Removal);
            buffer_.append(row_, displayed(sources_.line_text(file_, line)), Style::None);
            for (const SuggestionPart& part : parts_)
                color_removed(part, line);
            ++row_;
        }
        if (new_lines_.empty()) return;
        number(first_line_);
        buffer_.puts(row_, gutter_ + 1, "+ ", Style::Addition);
        buffer_.append(row_, displayed(new_lines_[0]), Style::None);
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            const std::size_t begin = display_width(std::string_view(complete_).substr(0, part_begin_[i]));
            const std::size_t end = display_width(std::string_view(complete_).substr(0, part_end_[i]));
            buffer_.recolor(row_, gutter_ + 3 + begin, gutter_ + 3 + end, Style::Addition);
        }
        ++row_;
    }

    void color_removed(const SuggestionPart& part, std::uint32_t line) {
        const SourceFile& file = sources_.file(file_);
        const std::uint32_t line_begin = file.line_starts()[line - 1];
        const std::string_view text = sources_.line_text(file_, line);
        const auto column = [&](std::uint32_t offset) {
            const std::size_t in_line =
                offset > line_begin ? std::min<std::size_t>(offset - line_begin, text.size()) : 0;
            return gutter_ + 3 + display_width(text.substr(0, in_line));
        };
        if (part.span.size() == 0 || part.span.end < line_begin) return;
        buffer_.recolor(row_, column(part.span.begin), column(part.span.end), Style::Removal);
    }

    void mark_additions() {
        std::size_t shift = 0;
        const std::uint32_t line_begin = sources_.file(file_).line_starts()[first_line_ - 1];
        for (const SuggestionPart& part : parts_) {
            const std::string_view text = part.replacement;
            const bool blank = trim(text).empty();
            const std::size_t lead = blank ? 0 : text.find_first_not_of(" \t\n\r");
            const std::size_t width = display_width(blank ? text : trim(text));
            const std::size_t column = display_width(
                sources_.file(file_).text.substr(line_begin, part.span.begin - line_begin));
            buffer_.recolor(row_ - 1, gutter_ + 3 + column + shift,
                            gutter_ + 3 + column + shift + display_width(text), Style::Addition);
            for (std::size_t i = 0; i < width; ++i)
                buffer_.put(row_, gutter_ + 3 + column + lead + shift + i, '+', Style::Addition);
            shift += display_width(text) - display_width(sources_.text(part.span));
        }
    }

    // The lines of a longer change, with `+` for wholly new ones and `~` for changed ones; stretches of
    // unchanged lines are cut.
    void draw_changed_lines() {
        std::size_t offset = 0, shown = 0;
        std::vector<std::pair<std::size_t, char>> pending;  // unchanged lines not drawn yet
        constexpr std::size_t kMaxLines = 6;
        for (std::size_t i = 0; i < new_lines_.size(); ++i) {
            const std::size_t end = offset + new_lines_[i].size();
            char sign = ' ';
            for (std::size_t p = 0; p < parts_.size(); ++p) {
                if (part_begin_[p] > end || part_end_[p] < offset || part_begin_[p] == part_end_[p]) continue;
                if (part_begin_[p] == end && end != offset && part_end_[p] > end) {
                    sign = sign == ' ' ? '~' : sign;
                    continue;
                }
                if (part_end_[p] == offset) continue;
                sign = part_begin_[p] <= offset && part_end_[p] >= end && sign == ' ' ? '+' : '~';
            }
            offset = end + 1;
            if (sign == ' ') {
                pending.emplace_back(i, sign);
                continue;
            }
            flush_pending(pending, shown);
            if (shown++ >= kMaxLines) {
                buffer_.puts(row_++, gutter_ == 0 ? 0 : gutter_ - 1, "...", Style::LineNumber);
                return;
            }
            draw_new_line(i, sign);
        }
    }

    void flush_pending(std::vector<std::pair<std::size_t, char>>& pending, std::size_t& shown) {
        if (pending.size() > 3) {
            draw_new_line(pending.front().first, ' ');
            buffer_.puts(row_++, 0, "...", Style::LineNumber);
            draw_new_line(pending.back().first, ' ');
        } else {
            for (const auto& [line, sign] : pending)
                draw_new_line(line, sign);
        }
        shown += pending.size();
        pending.clear();
    }

    void draw_new_line(std::size_t i, char sign) {
        number(first_line_ + static_cast<std::uint32_t>(i));
        if (sign == ' ') {
            spaced_bar(row_);
        } else {
            buffer_.puts(row_, gutter_ + 1, std::string(1, sign) + " ", Style::Addition);
        }
        buffer_.puts(row_++, gutter_ + 3, displayed(new_lines_[i]),
                     sign == '+' ? Style::Addition : Style::None);
    }

    StyledBuffer& buffer_;
    const SourceMap& sources_;
    std::size_t gutter_;
    FileId file_;
    std::vector<SuggestionPart> parts_;
    std::uint32_t first_line_ = 1;
    std::uint32_t last_line_ = 1;
    std::string complete_;
    std::vector<std::size_t> part_begin_;  // where each replacement stands in complete_
    std::vector<std::size_t> part_end_;
    std::vector<std::string> new_lines_;
    std::size_t row_ = 0;
};

}  // namespace

std::string_view case_hint(const Suggestion& suggestion, const SourceMap& sources) {
    const std::string_view old = sources.text(suggestion.span);
    if (!suggestion.more.empty() || old.size() != suggestion.replacement.size() ||
        old == suggestion.replacement)
        return {};
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    for (std::size_t i = 0; i < old.size(); ++i) {
        if (lower(old[i]) != lower(suggestion.replacement[i])) return {};
        // Only letters whose two forms look alike need the hint.
        const bool alike = std::string_view("cfikosuvwxyz").find(lower(old[i])) != std::string_view::npos;
        if (old[i] != suggestion.replacement[i] && !alike) return {};
    }
    return " (notice the capitalization)";
}

void draw_suggestion(StyledBuffer& buffer, const Suggestion& suggestion, const SourceMap& sources,
                     std::size_t gutter, FileId primary_file) {
    if (!suggestion.span.valid()) return;
    SuggestionDrawing(buffer, suggestion, sources, gutter).draw(primary_file);
}

}  // namespace ockc
