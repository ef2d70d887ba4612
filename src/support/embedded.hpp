// A file that ockc_embed (src/cmake/embed.cmake) put into the binary.
#pragma once
#include <cstddef>
#include <string_view>

namespace ockc {

struct EmbeddedFile {
    std::string_view name;   // relative to the embedded folder, with '/'
    std::string_view text;
};

}  // namespace ockc
