// Rendering in a test: places are given by the text they cover.
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "diag/render.hpp"

namespace ockc {

struct Scene {
    SourceMap sources;
    DiagSink sink;
    FileId file;

    explicit Scene(std::string_view text, std::string name = "k.rsk") {
        file = sources.add(std::move(name), "", std::string(text));
    }
    // The n-th occurrence of `text` (from 0) in the file.
    Span at(std::string_view text, int n = 0) const {
        const std::string_view all = sources.file(file).text;
        std::size_t begin = all.find(text);
        for (; n > 0; --n)
            begin = all.find(text, begin + 1);
        REQUIRE(begin != std::string::npos);
        return {file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + text.size())};
    }
    Span between(std::string_view first, std::string_view last) const { return at(first).to(at(last)); }
    std::string human(bool color = false) const {
        return render(sink.all().back(), sources, {ErrorFormat::Human, color});
    }
    std::string brief() const { return render(sink.all().back(), sources, {ErrorFormat::Short, false}); }
    std::string json() const { return render(sink.all().back(), sources, {ErrorFormat::Json, false}); }
    std::string summary() const { return render_summary(sink, sources, {ErrorFormat::Human, false}); }
};

}  // namespace ockc
