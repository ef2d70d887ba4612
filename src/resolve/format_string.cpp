#include "resolve/format_string.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ockc::resolve {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) & 0x80u) != 0; }

// Has the string a hole as Rust writes it?
bool has_rust_hole(std::string_view format) {
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '{') continue;
        if (i + 1 < format.size() && format[i + 1] == '{') {
            ++i;
            continue;
        }
        std::size_t at = i + 1;
        while (at < format.size() && is_word(format[at])) ++at;
        if (at < format.size() && (format[at] == '}' || format[at] == ':')) return true;
    }
    return false;
}

// Has the string a `%` that is meant as C means it? One before a space or at a doubled brace is a percent sign.
bool has_percent_conversion(std::string_view format) {
    const bool braces = format.find("{{") != std::string_view::npos || format.find("}}") != std::string_view::npos;
    for (std::size_t i = format.find('%'); i != std::string_view::npos; i = format.find('%', i + 2)) {
        if (!braces || (i + 1 < format.size() && format[i + 1] != ' ')) return true;
    }
    return false;
}

class FormatReader {
  public:
    explicit FormatReader(std::string_view format) : format_(format) { out_.texts.emplace_back(); }

    PrintFormat run() {
        if (const std::size_t zero = format_.find('\0'); zero != std::string_view::npos) {
            fail(zero, zero + 1, "a format string ends at a zero byte", "leave the zero out");
            return std::move(out_);
        }
        if (has_rust_hole(format_) || !has_percent_conversion(format_)) rust();
        else c();
        return std::move(out_);
    }

  private:
    bool ok() const { return !out_.mistake; }
    void fail(std::size_t begin, std::size_t end, std::string text, std::string help = {}) {
        if (ok()) out_.mistake = PrintMistake{begin, std::min(end, format_.size()), std::move(text), std::move(help)};
    }
    void add(PrintHole hole) {
        out_.holes.push_back(std::move(hole));
        out_.texts.emplace_back();
    }

    // ---- `{argument:spec}`

    void rust() {
        for (std::size_t i = 0; i < format_.size() && ok(); ++i) {
            const char c = format_[i];
            const bool doubled = i + 1 < format_.size() && format_[i + 1] == c;
            if (c == '%') {
                out_.texts.back() += "%%";
            } else if (c != '{' && c != '}') {
                out_.texts.back() += c;
            } else if (doubled) {
                out_.texts.back() += c;
                ++i;
            } else if (c == '}') {
                fail(i, i + 1, "an unmatched `}` in the format string", "a `}` that is meant as such is doubled: `}}`");
            } else {
                i = rust_hole(i);
            }
        }
    }

    // The hole that starts at `begin`; the place of its `}`.
    std::size_t rust_hole(std::size_t begin) {
        const std::size_t end = format_.find('}', begin);
        if (end == std::string_view::npos) {
            fail(begin, begin + 1, "an unmatched `{` in the format string", "a `{` that is meant as such is doubled: `{{`");
            return format_.size();
        }
        PrintHole hole;
        hole.begin = begin;
        hole.end = end + 1;
        const std::string_view inside = format_.substr(begin + 1, end - begin - 1);
        const std::size_t colon = inside.find(':');
        hole.argument = inside.substr(0, colon);
        while (!hole.argument.empty() && hole.argument.back() == ' ') hole.argument.remove_suffix(1);
        if (!std::all_of(hole.argument.begin(), hole.argument.end(), is_word)) {
            fail(begin, end + 1, fmt::format("`{}` is no name of an argument", hole.argument), "put the value behind the format string and write `{}` for it");
        }
        if (colon != std::string_view::npos) rust_spec(inside.substr(colon + 1), hole);
        if (ok()) add(std::move(hole));
        return end;
    }

    // [[fill]align][sign]['#']['0'][width]['.' precision][type]
    void rust_spec(std::string_view spec, PrintHole& hole) {
        std::size_t i = 0;
        const auto at = [&](std::size_t k) { return k < spec.size() ? spec[k] : '\0'; };
        const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^'; };
        const auto refuse = [&](std::string text, std::string help) { fail(hole.begin, hole.end, std::move(text), std::move(help)); };
        if (is_align(at(1))) {
            if (at(0) != ' ') return refuse(fmt::format("the GPU's printf fills with spaces, not with `{}`", at(0)), "leave the fill character out, or pad with zeros: `{:08}`");
            i = 1;
        }
        if (is_align(at(i))) {
            if (at(i) == '^') return refuse("the GPU's printf centres nothing", "align to the left (`<`) or to the right (`>`)");
            hole.layout += at(i++) == '<' ? '-' : '>';
        }
        if (at(i) == '+') {
            hole.layout += '+';
            ++i;
        }
        const bool prefixed = at(i) == '#';
        if (prefixed) ++i;
        const bool zeros = at(i) == '0' && at(i + 1) != '$';
        if (zeros) {
            hole.layout += '0';
            ++i;
        }
        std::uint32_t width = 0;
        const std::size_t width_at = i;
        while (is_digit(at(i))) width = std::min(width * 10 + static_cast<std::uint32_t>(at(i++) - '0'), 100000u);
        const bool has_width = i != width_at;
        std::string precision;
        if (at(i) == '.') {
            precision = '.';
            for (++i; is_digit(at(i)); ++i) precision += at(i);
        }
        if (at(i) == '$' || at(i) == '*') return refuse("widths and precisions are written into the format string", "write the number: `{:8}`, `{:.3}`");
        if (width > 4096 || precision.size() > 5) return refuse("the width or the precision is too large", "at most 4096");
        if (!rust_type(spec.substr(i), hole)) return;
        if (prefixed && !rust_prefix(hole, zeros, has_width, width)) return;
        if (has_width && width != 0) hole.layout += std::to_string(width);
        hole.layout += precision;
    }

    bool rust_type(std::string_view type, PrintHole& hole) {
        if (type.empty()) return true;
        if (type.size() == 1) {
            switch (type[0]) {
                case '?': hole.method = "print_debug"; return true;
                case 'x':
                case 'X':
                case 'o':
                    hole.method = "print_bits";
                    hole.kind = type[0];
                    return true;
                case 'e':
                case 'E':
                    hole.method = "print_float";
                    hole.kind = type[0];
                    return true;
                case 'p':
                    hole.method = "print_address";
                    hole.kind = 'p';
                    return true;
                default: break;
            }
        }
        const bool binary = type == "b";
        fail(hole.begin, hole.end, binary ? "the GPU's printf has no binary numbers" : fmt::format("unknown format `{}`", type),
             binary ? "print the number in hexadecimal: `{:x}`" : "there are `{}`, `{:?}`, `{:x}`, `{:X}`, `{:o}`, `{:e}`, `{:E}` and `{:p}`");
        return false;
    }

    // `#`: Rust's prefix counts in the width, so that C's width is what remains.
    bool rust_prefix(PrintHole& hole, bool zeros, bool has_width, std::uint32_t& width) {
        if (hole.kind != 'x' && hole.kind != 'X' && hole.kind != 'o') {
            fail(hole.begin, hole.end, "`#` has no meaning for this value", "leave it out");
            return false;
        }
        if (has_width && !zeros) {
            fail(hole.begin, hole.end, "the GPU's printf pads a prefixed number with zeros only", fmt::format("write `{{:#0{}{}}}`", width, hole.kind));
            return false;
        }
        hole.prefix = hole.kind == 'o' ? "0o" : "0x";
        width = width > 2 ? width - 2 : 0;
        return true;
    }

    // ---- `%[flags][width][.precision][length]conversion`

    void c() {
        for (std::size_t i = 0; i < format_.size() && ok(); ++i) {
            if (format_[i] != '%') {
                out_.texts.back() += format_[i];
            } else if (i + 1 < format_.size() && format_[i + 1] == '%') {
                out_.texts.back() += "%%";
                ++i;
            } else {
                i = c_hole(i);
            }
        }
    }

    std::size_t c_hole(std::size_t begin) {
        const auto at = [&](std::size_t k) { return k < format_.size() ? format_[k] : '\0'; };
        const auto any_of = [](std::string_view set, char c) { return c != '\0' && set.find(c) != std::string_view::npos; };
        PrintHole hole;
        hole.begin = begin;
        std::size_t i = begin + 1;
        while (any_of("-+ #0", at(i))) hole.layout += at(i++);
        const std::size_t numbers = i;
        while (is_digit(at(i))) hole.layout += at(i++);
        if (at(i) == '.') {
            hole.layout += at(i++);
            while (is_digit(at(i))) hole.layout += at(i++);
        }
        if (at(i) == '*') {
            fail(begin, i + 1, "widths and precisions are written into the format string", "write the number: `%8d`, `%.3f`");
            return i;
        }
        if (i - numbers > 8) fail(begin, i, "the width or the precision is too large", "at most 4096");
        while (any_of("hlLqjzt", at(i))) ++i;   // the argument's type says how wide it is
        hole.kind = at(i) == 'i' ? 'd' : at(i);
        hole.end = i + 1;
        hole.method = c_method(hole.kind);
        if (hole.method.empty()) {
            const std::string text = hole.kind == '\0' ? "an unfinished `%` in the format string" : fmt::format("unknown conversion `{}`", format_.substr(begin, i + 1 - begin));
            fail(begin, i + 1, text, "there are `%d %i %u %x %X %o %f %e %g %a %c %s %p`, and `%%` for a percent sign");
        }
        if (ok()) add(std::move(hole));
        return i;
    }

    static std::string_view c_method(char kind) {
        switch (kind) {
            case 'd': return "print_signed";
            case 'u': return "print_unsigned";
            case 'x':
            case 'X':
            case 'o': return "print_bits";
            case 'f':
            case 'F':
            case 'e':
            case 'E':
            case 'g':
            case 'G':
            case 'a':
            case 'A': return "print_float";
            case 'c': return "print_char";
            case 's': return "print_text";
            case 'p': return "print_address";
            default: return {};
        }
    }

    std::string_view format_;
    PrintFormat out_;
};

std::size_t utf8_bytes(std::uint32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

std::uint32_t hex(std::string_view digits) {
    std::uint32_t value = 0;
    for (const char c : digits) {
        if (c == '_') continue;
        value = value * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

}  // namespace

PrintFormat read_print_format(std::string_view format) { return FormatReader(format).run(); }

std::vector<std::uint32_t> literal_offsets(std::string_view literal, std::size_t value_size) {
    std::vector<std::uint32_t> out;
    std::size_t begin = literal.find('"'), end = literal.rfind('"');
    if (begin == std::string_view::npos || begin == end) return {};
    const bool raw = literal[0] == 'r';
    ++begin;
    for (std::size_t i = begin; i < end;) {
        std::size_t length = 1, bytes = 1;   // of the source, of the value
        if (!raw && literal[i] == '\\' && i + 1 < end) {
            const char escape = literal[i + 1];
            length = 2;
            if (escape == 'x') {
                length = 4;
            } else if (escape == 'u') {
                const std::size_t close = std::min(literal.find('}', i), end);
                length = close + 1 - i;
                bytes = length > 4 ? utf8_bytes(hex(literal.substr(i + 3, close - i - 3))) : 1;
            } else if (escape == '\n' || escape == '\r') {   // the line goes on behind the white space
                bytes = 0;
                while (i + length < end && std::string_view(" \t\n\r").find(literal[i + length]) != std::string_view::npos) ++length;
            }
        } else if (literal[i] == '\r') {
            bytes = 0;   // of a line's end
        }
        out.insert(out.end(), bytes, static_cast<std::uint32_t>(i));
        i += length;
    }
    if (out.size() != value_size) return {};
    out.push_back(static_cast<std::uint32_t>(end));
    return out;
}

}  // namespace ockc::resolve
