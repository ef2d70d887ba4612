// The one text builder of all printers: append, indent, end the line. No iostreams.
#pragma once
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace ockc {

class TextWriter {
  public:
    explicit TextWriter(int indent_width = 4) : width_(indent_width) {}
    template <class... Args>
    TextWriter& put(fmt::format_string<Args...> format, Args&&... args) {
        begin();
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        return *this;
    }
    TextWriter& raw(std::string_view text) {
        if (text.empty()) return *this;
        begin();
        text_ += text;
        return *this;
    }
    TextWriter& end_line() {
        text_ += '\n';
        at_line_start_ = true;
        return *this;
    }
    // Text that `fill` writes to where it is told, at most so many characters; it gives the end. Indented by itself.
    template <class Fill>
    TextWriter& fill(std::size_t at_most, Fill&& fill) {
        const std::size_t begin = text_.size();
        text_.resize(begin + at_most);
        text_.resize(static_cast<std::size_t>(fill(text_.data() + begin) - text_.data()));
        return *this;
    }
    template <class... Args>
    TextWriter& line(fmt::format_string<Args...> format, Args&&... args) {
        put(format, std::forward<Args>(args)...);
        return end_line();
    }
    void indent() { ++depth_; }
    void dedent() { --depth_; }
    const std::string& text() const { return text_; }
    std::string take() { return std::move(text_); }

  private:
    void begin() {
        if (!at_line_start_) return;
        text_.append(static_cast<std::size_t>(depth_) * static_cast<std::size_t>(width_), ' ');
        at_line_start_ = false;
    }
    std::string text_;
    int width_;
    int depth_ = 0;
    bool at_line_start_ = true;
};

}  // namespace ockc
