#include "source/source_map.hpp"

#include <doctest/doctest.h>

using namespace ockc;

namespace {

std::string place(const SourceMap& sources, FileId file, std::uint32_t offset) {
    const LineColumn at = sources.line_column(file, offset);
    return std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace

TEST_CASE("lines and columns count characters from 1") {
    SourceMap sources;
    const FileId file = sources.add("a.rsk", "", "aé\nb\r\n\nc");
    CHECK(place(sources, file, 0) == "1:1");
    CHECK(place(sources, file, 1) == "1:2");
    CHECK(place(sources, file, 3) == "1:3");
    CHECK(place(sources, file, 4) == "2:1");
    CHECK(place(sources, file, 7) == "3:1");
    CHECK(place(sources, file, 8) == "4:1");
    CHECK(sources.line_text(file, 1) == "aé");
    CHECK(sources.line_text(file, 2) == "b");
    CHECK(sources.line_text(file, 3).empty());
    CHECK(sources.line_text(file, 4) == "c");
    CHECK(sources.line_text(file, 5).empty());
    CHECK(sources.text(Span{file, 1, 3}) == "é");
}

TEST_CASE("the end of a file belongs to its last line, as in rustc") {
    SourceMap sources;
    const FileId file = sources.add("a.rsk", "", "ab\ncd\n");
    CHECK(place(sources, file, 6) == "2:4");
    CHECK(sources.line_text(file, 2) == "cd");
    const FileId empty = sources.add("b.rsk", "", "");
    CHECK(place(sources, empty, 0) == "1:1");
    CHECK(sources.line_text(empty, 1).empty());
}

TEST_CASE("texts keep their address while files are added") {
    SourceMap sources;
    const FileId first = sources.add("a.rsk", "", "short");
    const std::string_view text = sources.text(Span{first, 0, 5});
    for (int i = 0; i < 1000; ++i)
        sources.add("b.rsk", "", "x");
    CHECK(text.data() == sources.file(first).text.data());
    CHECK(text == "short");
}

TEST_CASE("spans") {
    const Span a{FileId(0), 2, 4}, b{FileId(0), 6, 9};
    CHECK(a.to(b) == Span{FileId(0), 2, 9});
    CHECK(a.start() == Span{FileId(0), 2, 2});
    CHECK(a.after() == Span{FileId(0), 4, 4});
    CHECK_FALSE(Span{}.valid());
}
