// The operands and options of `ptx_asm!`, as they are written.
#pragma once
#include <cstdint>
#include <string>

#include "ast/ast.hpp"
#include "source/source_map.hpp"

namespace ockc::resolve {

struct AsmOperand {
    enum class Kind : std::uint8_t { In, Out, InOut, Text } kind = Kind::In;
    char letter = 'r';
    ast::ExprId value;
    Span span;
    std::string text;        // Text: what stands for it
};

struct AsmOptions {
    bool register_only = false, may_diverge = false, memory = false;
    Span register_only_span;
};

}  // namespace ockc::resolve
