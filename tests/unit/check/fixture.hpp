// Source text through name resolution and type checking, with the library of this tree.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/context.hpp"
#include "resolve/resolve.hpp"

namespace ockc::test {

class Checked {
  public:
    // `text` is a whole file. Without a device module around it, its items are put into one.
    explicit Checked(const std::string& text, check::Options options = {});

    bool ok() const { return ok_; }
    // "E0308:4" for every error, in order; the line is the primary label's.
    std::vector<std::string> errors() const;
    std::string messages() const;       // all of it as short text, for failures
    DefId find(std::string_view name) const;      // an item of the user's crate by name
    check::Context& context() { return *context_; }
    types::TypeStore& types() { return types_; }
    const hir::Program& program() const { return *program_; }
    DiagSink& sink() { return sink_; }

  private:
    resolve::LoadResult load(const std::string& path);

    Interner interner_;
    SourceMap sources_;
    DiagSink sink_;
    types::TypeStore types_;
    std::unordered_map<std::string, FileId> loaded_;
    std::unique_ptr<hir::Program> program_;
    std::unique_ptr<check::Context> context_;
    bool ok_ = false;
};

}  // namespace ockc::test
