// A byte range of one source file. Line and column are computed only when something is rendered.
#pragma once
#include <cstdint>

#include "support/id.hpp"

namespace ockc {

using FileId = Id<struct FileTag>;

struct Span {
    FileId file;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    bool valid() const { return file.valid(); }
    std::uint32_t size() const { return end - begin; }
    // From the start of this span to the end of `other`; both lie in one file.
    Span to(Span other) const { return {file, begin, other.end}; }
    Span start() const { return {file, begin, begin}; }
    Span after() const { return {file, end, end}; }
    friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace ockc
