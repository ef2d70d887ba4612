// SHA-256 (FIPS 180-4), so that anybody can check an image of the manifest with sha256sum.
#pragma once
#include <string>
#include <string_view>

namespace ockc::host {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace ockc::host
