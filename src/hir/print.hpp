// The HIR as text that reads like Rust: what `inspect --emit=hir` shows.
#pragma once
#include <string>

#include "hir/hir.hpp"

namespace ockc::hir {

struct PrintOptions {
    bool library = false;   // the built-in library's lowered items too
};
std::string print(const Program& program, const PrintOptions& options = {});
std::string print_type(const Program& program, TyId type);
std::string print_path(const Program& program, const QPath& path);

}  // namespace ockc::hir
