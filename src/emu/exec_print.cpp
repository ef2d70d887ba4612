// vprintf: reads the format and the values that stand in the thread's memory, as the ABI of varargs lays them out, and adds the
// text to what the block has printed. The driver formats on the host, with the C library's printf; so does this.
#include <cstdio>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "emu/exec_control.hpp"
#include "emu/machine.hpp"

namespace ockc::emu {
namespace {

constexpr std::size_t kLongestText = 1 << 16;   // of a format, and of a %s

// Reads one lane's memory for one call; each reader is false once a fault was reported.
class PrintReader {
  public:
    PrintReader(Warp& warp, const Op& op, std::uint32_t lane) : warp_(warp), op_(op), lane_(lane) {}

    bool text(std::uint64_t address, std::string& out) {
        while (out.size() < kLongestText) {
            const std::byte* byte = resolve(warp_, op_, address++, lane_, 1, false);
            if (byte == nullptr) return false;
            if (*byte == std::byte{0}) return true;
            out += static_cast<char>(*byte);
        }
        return true;
    }
    // The next value of the buffer, at its alignment.
    bool value(void* to, std::uint32_t bytes) {
        next_ = (next_ + bytes - 1) / bytes * bytes;
        for (std::uint32_t i = 0; i < bytes; ++i) {
            const std::byte* from = resolve(warp_, op_, next_ + i, lane_, 1, false);
            if (from == nullptr) return false;
            static_cast<std::byte*>(to)[i] = *from;
        }
        next_ += bytes;
        ++count_;
        return true;
    }
    void values_at(std::uint64_t address) { next_ = address; }
    std::uint32_t count() const { return count_; }

  private:
    Warp& warp_;
    const Op& op_;
    std::uint32_t lane_;
    std::uint64_t next_ = 0;
    std::uint32_t count_ = 0;
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
template <class T>
void append_formatted(std::string& out, const std::string& spec, T value) {
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return;
    const std::size_t at = out.size();
    out.resize(at + static_cast<std::size_t>(size) + 1);
    std::snprintf(out.data() + at, static_cast<std::size_t>(size) + 1, spec.c_str(), value);
    out.pop_back();
}
#pragma GCC diagnostic pop

// The conversion that starts at format[at] == '%'; `at` moves behind it. False: a fault. What is no conversion is printed as it is.
bool append_conversion(PrintReader& reader, const std::string& format, std::size_t& at, std::string& out) {
    const std::size_t begin = at++;
    while (at < format.size() && std::strchr("-+ #0123456789.", format[at]) != nullptr) ++at;
    std::string spec = format.substr(begin, at - begin);
    bool wide = false;
    for (; at < format.size() && std::strchr("hlL", format[at]) != nullptr; ++at) wide |= format[at] == 'l';
    const char kind = at < format.size() ? format[at++] : '\0';
    std::uint32_t narrow_value = 0;
    std::uint64_t wide_value = 0;
    double real = 0;
    switch (kind) {
        case '%': out += '%'; return true;
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
        case 'c':
            if (wide && kind != 'c') {
                if (!reader.value(&wide_value, 8)) return false;
                append_formatted(out, spec + "ll" + kind, static_cast<unsigned long long>(wide_value));
                return true;
            }
            if (!reader.value(&narrow_value, 4)) return false;
            append_formatted(out, spec + kind, narrow_value);
            return true;
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            if (!reader.value(&real, 8)) return false;
            append_formatted(out, spec + kind, real);
            return true;
        case 's': {
            std::string text;
            if (!reader.value(&wide_value, 8) || !reader.text(wide_value, text)) return false;
            append_formatted(out, spec + kind, text.c_str());
            return true;
        }
        case 'p':
            if (!reader.value(&wide_value, 8)) return false;
            append_formatted(out, spec + kind, reinterpret_cast<const void*>(wide_value));
            return true;
        default: out.append(format, begin, at - begin); return true;
    }
}

bool print_lane(Warp& warp, const Op& op, const PrintSite& site, std::uint32_t lane) {
    std::byte* local = warp.local + std::size_t{lane} * warp.worker->program->local_bytes;
    std::uint64_t format_at = 0, values_at = 0;
    std::memcpy(&format_at, local + site.format, sizeof format_at);
    std::memcpy(&values_at, local + site.values, sizeof values_at);
    PrintReader reader(warp, op, lane);
    std::string format, out;
    if (!reader.text(format_at, format)) return false;
    reader.values_at(values_at);
    for (std::size_t at = 0; at < format.size();) {
        if (format[at] != '%') out += format[at++];
        else if (!append_conversion(reader, format, at, out)) return false;
    }
    warp.block->printed += out;
    const std::uint32_t count = reader.count();
    std::memcpy(local + site.result, &count, sizeof count);
    return true;
}

const Op* run_print(const Op& op, Warp& warp) {
    const PrintSite& site = warp.worker->program->prints[op.index];
    for (std::uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
        if (!print_lane(warp, op, site, static_cast<std::uint32_t>(__builtin_ctz(lanes)))) return nullptr;
    }
    if (op.next_rank < warp.limit) return &op + 1;
    return reschedule(warp, &op + 1, op.next_rank);
}

}  // namespace

Handlers print_handlers() {
    return {run_print, run_print};
}

}  // namespace ockc::emu
