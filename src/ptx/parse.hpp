// PTX text -> ptx::Module. Accepts everything that print writes and ordinary nvcc output within the forms of
// instr.def. Comments are dropped, `.pragma` and debug sections are skipped; nested `{ }` scopes are
// flattened, their names made unique.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ptx.hpp"

namespace ockc::ptx {

struct ParseError {
    std::uint32_t line = 0;    // from 1
    std::uint32_t column = 0;  // from 1
    std::string message;
};

struct ParseResult {
    Module module;                   // what was understood; complete when ok()
    std::vector<ParseError> errors;  // at most kMaxParseErrors: the parser goes on with the next statement
    bool ok() const { return errors.empty(); }
};
inline constexpr std::size_t kMaxParseErrors = 20;

ParseResult parse(std::string_view text);

}  // namespace ockc::ptx
