// The pass in front of CLI11, which knows neither @file nor single-dash long options.
// In: argv as given. Out: arguments with response files expanded and the closed set of nvcc- and gcc-style options
// (`-arch=sm_80`, `-lineinfo`, `-MD`, `-MF f`, ..) written with two dashes.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"

namespace ockc::driver {

struct ArgumentRewrite {
    std::string_view from;   // "-MF"
    std::string_view to;     // "--deps-file"
};
std::span<const ArgumentRewrite> argument_rewrites();

Result<std::vector<std::string>> rewrite_arguments(const std::vector<std::string>& arguments);

// Splits a response file: white space separates, '..' and ".." quote, \x escapes x outside single quotes. Fails
// on a quote that is not closed.
Result<std::vector<std::string>> split_response(const std::string& text);

}  // namespace ockc::driver
