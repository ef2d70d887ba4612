// Name resolution: source files in, hir::Program out. Loads the crates (lex, parse, `mod x;` files, cfg), builds the module
// tree and resolves imports by fixpoint, then lowers to HIR what device code refers to and nothing else: a worklist starts at
// kernels, #[device] functions and the items of device modules and follows every name. Errors of code that is never reached
// (the host part of a file) are not reported.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/sink.hpp"
#include "hir/demand.hpp"
#include "lex/token.hpp"
#include "parse/parser.hpp"
#include "source/source_map.hpp"
#include "support/interner.hpp"

namespace ockc::resolve {

// What `mod x;` asks for. `path` is relative to nothing: it was built from the including file's own path (its name for
// embedded files). The loader adds the file to the SourceMap.
struct LoadResult {
    enum class Kind : std::uint8_t { Missing, Loaded, Failed } kind = Kind::Missing;
    FileId file;
    std::string error;      // Failed: why the file that exists cannot be read
};
using FileLoader = std::function<LoadResult(const std::string& path, const SourceFile& from)>;

// One `--cfg name` or `--cfg name="value"`.
struct CfgEntry {
    std::string name;
    std::string value;
    bool has_value = false;
};

struct Options {
    lex::Edition edition = lex::Edition::E2024;
    std::vector<CfgEntry> cfg;
    FileLoader load;                     // without one, every `mod x;` is E0583
    parse::ParseOptions parse;
    bool require_device_code = true;     // an input without any is an error (OCK0101); the library's own tests switch it off
};

// A crate of the built-in library: "core", "cuda_device", .. and its root file.
struct LibraryCrate {
    std::string name;
    FileId root;
};
struct Inputs {
    std::vector<LibraryCrate> libraries;   // in the order of dependence, core first
    FileId main;
    std::string crate_name;                // of the user's crate: the file's stem
    // The libraries as an image: then of their files only what is asked for is read (Resolver). Every file of
    // library_image_files() must follow the main file in the SourceMap. Errors may then lack suggestions that the whole
    // library would give, so a program with errors is resolved again without.
    std::span<const std::byte> library_image;
};

// Name resolution that goes on while later phases ask for more of a library that came as an image. Where names do not resolve,
// the program holds Error nodes that later phases pass over in silence.
class Resolver final : public hir::Demand {
  public:
    Resolver(const Inputs& inputs, const Options& options, Interner& interner, SourceMap& sources, DiagSink& sink);
    ~Resolver() override;
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    const hir::Program& program() const;
    std::unique_ptr<hir::Program> take_program();
    bool has_syntax_errors() const;                 // some file has

    void item(DefId def) override;
    void body(DefId fn) override;
    void impls(DefId trait, const hir::TypeHead& self) override;
    void inherent_impls(const hir::TypeHead& self, Symbol name) override;
    void traits_with_item(Symbol name) override;
    void lang_item(std::string_view key) override;
    std::vector<DefId> take_new() override;

  private:
    struct Work;
    std::unique_ptr<Work> work_;
};

// All of it at once. Never null; where names do not resolve, the program holds Error nodes that later phases pass over in silence.
std::unique_ptr<hir::Program> resolve(const Inputs& inputs, const Options& options, Interner& interner, SourceMap& sources,
                                      DiagSink& sink);

// The image of the libraries; main is none or an empty file, the first in `sources`. Empty when the libraries have errors.
std::string write_library_image(const Inputs& inputs, const Options& options, Interner& interner, SourceMap& sources,
                                DiagSink& sink);
// The files that an image was made from, in order, and its crates.
struct LibraryFile {
    std::string_view name;
    std::string_view text;
};
std::vector<LibraryFile> library_image_files(std::span<const std::byte> image);
std::vector<LibraryCrate> library_image_crates(std::span<const std::byte> image);

}  // namespace ockc::resolve
