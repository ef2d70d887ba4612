// Writes JSON with two spaces a level: keys in the order they are given, no other state than "is a comma
// due".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "support/text_writer.hpp"

namespace ockc::host {

class JsonWriter {
  public:
    JsonWriter() : out_(2) {}

    template <class Body>
    void object(std::string_view key, Body&& body) {
        nest(key, '{', '}', body);
    }
    template <class Body>
    void array(std::string_view key, Body&& body) {
        nest(key, '[', ']', body);
    }
    void string(std::string_view key, std::string_view value) {
        start(key);
        out_.raw(quoted(value));
    }
    void number(std::string_view key, std::uint64_t value) {
        start(key);
        out_.put("{}", value);
    }
    void boolean(std::string_view key, bool value) {
        start(key);
        out_.raw(value ? "true" : "false");
    }
    std::string take() {
        out_.end_line();
        return out_.take();
    }

    static std::string quoted(std::string_view text) {
        std::string result = "\"";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\') {
                result += '\\';
                result += c;
            } else if (c == '\n') {
                result += "\\n";
            } else if (byte < 0x20) {
                result += fmt::format("\\u{:04x}", byte);
            } else {
                result += c;
            }
        }
        return result + '"';
    }

  private:
    // A key is empty inside an array and at the top.
    void start(std::string_view key) {
        if (comma_) out_.raw(",");
        if (comma_ || depth_ > 0) out_.end_line();
        comma_ = true;
        if (!key.empty()) out_.raw(quoted(key)).raw(": ");
    }
    template <class Body>
    void nest(std::string_view key, char open, char close, Body& body) {
        start(key);
        out_.put("{}", open);
        comma_ = false;
        ++depth_;
        out_.indent();
        body();
        out_.dedent();
        --depth_;
        if (comma_) out_.end_line();  // something was written
        comma_ = true;
        out_.put("{}", close);
    }

    TextWriter out_;
    bool comma_ = false;
    int depth_ = 0;
};

}  // namespace ockc::host
