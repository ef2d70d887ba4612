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

    bool whole_library = false;                   // not only what the program reaches

    Session(const CompileOptions& compile_options, bool all) : options(compile_options), whole_library(all) {}
};

// library.cpp: the built-in library, embedded or from options.library_dir. The main file is the first of the sources.
void load_library(Session& session, resolve::Inputs& inputs);
// Serves `mod x;` of library and disk files.
resolve::LoadResult load_module(Session& session, const std::string& path, const SourceFile& from);

}  // namespace ockc::driver
