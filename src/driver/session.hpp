// What one compilation owns: the stores that every phase reads and fills. No globals: a Session is made per call.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diag/sink.hpp"
#include "ockc/compiler.hpp"
#include "resolve/resolve.hpp"
#include "source/source_map.hpp"
#include "support/interner.hpp"
#include "types/type_store.hpp"

namespace ockc::driver {

struct Session {
    const CompileOptions& options;
    Interner interner;
    SourceMap sources;
    DiagSink sink;
    types::TypeStore types;
    std::map<std::string, FileId> loaded;         // by path, so that two `mod` items of one file share its text
    std::vector<std::string> dependencies;        // disk files, in the order they were read

    explicit Session(const CompileOptions& compile_options) : options(compile_options) {}
};

// library.cpp: the built-in library, embedded or from options.library_dir.
std::vector<resolve::LibraryCrate> load_library(Session& session);
// Serves `mod x;` of library and disk files.
resolve::LoadResult load_module(Session& session, const std::string& path, const SourceFile& from);

}  // namespace ockc::driver
