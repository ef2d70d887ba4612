// Operations for which PTX has no instruction sequence of sensible length: 128-bit division, exact float
// remainder, conversions between i128 and floats. They are device functions, built as IR on first use and
// selected like the user's.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/ir.hpp"

namespace ockc::isel {

// ONE ROW PER FUNCTION: (enum, PTX symbol)
#define OCKC_ISEL_LIBRARY(X)            \
    X(Udiv128, "$udiv_i128")            \
    X(Urem128, "$urem_i128")            \
    X(Sdiv128, "$sdiv_i128")            \
    X(Srem128, "$srem_i128")            \
    X(FremF32, "$frem_f32")             \
    X(FremF64, "$frem_f64")             \
    X(U128ToF32, "$u128_to_f32")        \
    X(U128ToF64, "$u128_to_f64")        \
    X(S128ToF32, "$s128_to_f32")        \
    X(S128ToF64, "$s128_to_f64")        \
    X(U128ToOddF32, "$u128_to_odd_f32") \
    X(S128ToOddF32, "$s128_to_odd_f32") \
    X(F32ToU128, "$f32_to_u128")        \
    X(F64ToU128, "$f64_to_u128")        \
    X(F32ToS128, "$f32_to_s128")        \
    X(F64ToS128, "$f64_to_s128")

enum class LibraryFunction : std::uint8_t {
#define OCKC_ISEL_LIBRARY_ENUM(name, symbol) name,
    OCKC_ISEL_LIBRARY(OCKC_ISEL_LIBRARY_ENUM)
#undef OCKC_ISEL_LIBRARY_ENUM
};
std::string_view library_symbol(LibraryFunction function);
// The function as IR. It calls no other function.
ir::Function build_library_function(LibraryFunction function);

// Which functions a module has asked for, in the order of first use.
class Library {
  public:
    void need(LibraryFunction function) {
        const std::uint32_t bit = 1u << static_cast<unsigned>(function);
        if ((asked_ & bit) == 0) needed_.push_back(function);
        asked_ |= bit;
    }
    const std::vector<LibraryFunction>& needed() const { return needed_; }

  private:
    std::vector<LibraryFunction> needed_;
    std::uint32_t asked_ = 0;  // bit mask
};

}  // namespace ockc::isel
