// The front wing up to MIR, for tests: source text in; program, types, MIR and diagnostics out. The library is read from
// the source tree.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "check/context.hpp"
#include "mir/build.hpp"
#include "mir/mir.hpp"
#include "resolve/resolve.hpp"
#include "source/source_map.hpp"
#include "types/type_store.hpp"

namespace ockc::test {

struct FromSource {
    // `body` is wrapped into a device module.
    explicit FromSource(const std::string& body, mir::BuildOptions options = {});
    static std::string wrap(const std::string& body);

    const mir::Body* body(std::string_view name) const;    // of the user's function
    std::string mir_of(std::string_view name);
    std::vector<std::string> codes() const;                // of the errors, or "error"
    std::string messages() const;

    SourceMap sources;
    Interner interner;
    DiagSink sink;
    types::TypeStore types;
    std::unique_ptr<hir::Program> program;
    std::unique_ptr<check::Context> context;
    mir::Program mir;
    bool good = false;                                      // no errors up to and with MIR
};

}  // namespace ockc::test
