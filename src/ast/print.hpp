// The tree as text, for `--emit=ast` and tests: s-expressions, one item, statement and arm a line,
// `field=value` for what a row of node.def names. Paths, names, literals and plain types are written as in
// the source; empty fields are left out.
#pragma once
#include <string>

#include "ast/ast.hpp"
#include "source/source_map.hpp"
#include "support/interner.hpp"

namespace ockc::ast {

struct PrintContext {
    const Crate& crate;
    const SourceMap& sources;
    const Interner& interner;
};

std::string print(const SourceUnit& unit, const PrintContext& context);
std::string print(ItemId item, const PrintContext& context);
std::string print(ExprId expr, const PrintContext& context);
std::string print(PatId pat, const PrintContext& context);
std::string print(TypeId type, const PrintContext& context);
std::string print(BlockId block, const PrintContext& context);
std::string print(PathId path, const PrintContext& context);

}  // namespace ockc::ast
