// Rust names as C++ names. A Rust identifier is nearly always one in C++ too; the exceptions are C++'s
// keywords, macros that every C++ program has, and, for namespaces, functions that the C library puts at
// global scope.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace ockc::host {

// `name`, or `name_` when C++ has other plans for the word.
std::string cpp_identifier(std::string_view name);

// A namespace for a file stem or a device module: letters, digits and underscores, no reserved word.
std::string cpp_namespace(std::string_view name);

// "row_sums" -> "RowSums".
std::string upper_camel(std::string_view name);

// The file name without folder and extension: "dir/vecadd.rsk" -> "vecadd".
std::string_view file_stem(std::string_view file);

// `text` as a C++ string literal with quotes.
std::string cpp_string(std::string_view text);

// A number that tells contents apart. For names only: it resists accidents, not attacks. The upper bits are the better
// ones.
std::uint64_t content_hash(std::string_view bytes);

// Hands out names that differ from all before: "A", "AArg", "AArg2" ...
class UniqueNames {
  public:
    explicit UniqueNames(std::string_view suffix) : suffix_(suffix) {}
    void reserve(std::string name) { taken_.insert(std::move(name)); }
    std::string take(std::string name);

  private:
    std::string suffix_;
    std::set<std::string> taken_;
};

}  // namespace ockc::host
