// The page of an error code: docs/errors/CODE.md as it is embedded in the binary.
#pragma once
#include <string_view>

namespace ockc::driver {

// Markdown, for a code spelt as in diagnostics ("E0382", "OCK0103"); empty when it has no page.
std::string_view error_page(std::string_view code);

}  // namespace ockc::driver
