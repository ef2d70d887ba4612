// Resolves one source text against the library of this source tree, with module files from memory.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "diag/sink.hpp"
#include "hir/hir.hpp"
#include "resolve/resolve.hpp"
#include "source/source_map.hpp"

namespace ockc::test {

struct Resolved {
    Interner names;
    SourceMap sources;
    DiagSink sink;
    std::unique_ptr<resolve::Resolver> resolver;
    const hir::Program* program = nullptr;

    // "4: E0425 message", one for each diagnostic of the main file; the library's have their file's name instead.
    std::vector<std::string> messages() const;
    std::string all_messages() const;
    std::string hir() const;
    // The definition at a path as path_text spells it; none when there is none.
    DefId def(std::string_view path) const;
    bool lowered(std::string_view path) const;
};

struct Setup {
    std::vector<resolve::CfgEntry> cfg = {};
    std::map<std::string, std::string> files = {};   // path beside main.rsk -> text
    bool require_device_code = true;
    lex::Edition edition = lex::Edition::E2024;
    bool on_demand = false;                          // of the library only what the program names, and what the resolver is asked for
};
std::unique_ptr<Resolved> resolve_text(std::string_view text, const Setup& setup = {});
// The HIR of the body of `fn f` when the text stands in it: `let x = 1;` -> what it becomes.
std::string lower_body(std::string_view statements, std::string_view items = {});

}  // namespace ockc::test
