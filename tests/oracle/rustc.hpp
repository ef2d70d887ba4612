// rustc as a function: a file in, its errors out. Device code compiles against the stand-in crates of shim/.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ockc::oracle {

enum class Warnings : std::uint8_t { Off, KnownLints };   // KnownLints: those of diag/lints.def, as errors are

constexpr int kOldestMinor = 85;   // 1.85: the first with edition 2024

struct RustcError {
    std::string code;          // empty: an error without one
    std::uint32_t line = 0;    // of the first primary span
    std::string message;
    std::string rendered;
};

class Rustc {
  public:
    // Looks for rustc on PATH and in ~/.cargo/bin. Stand-in crates and outputs go to `work`.
    Rustc(std::string shim, std::string work);
    // 1.85 or newer is there.
    bool is_usable() const;
    // Builds the stand-in crates; prints why when it cannot.
    bool build_shim() const;
    // Errors in the order in which rustc prints them; `slot` keeps concurrent calls apart. A rustc that cannot be started
    // is an error on line 0. A warning gives one entry for each of its primary places: rustc says in one what several have
    // in common.
    std::vector<RustcError> check(const std::string& path, int edition, std::size_t slot, Warnings warnings = Warnings::Off) const;

  private:
    std::string rustc_, shim_, work_;
};

}  // namespace ockc::oracle
