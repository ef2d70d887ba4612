// Literals as constants of a known type.
#pragma once
#include "hir/hir.hpp"
#include "types/type_store.hpp"

namespace ockc::check {

// The value of a scalar literal of type `type`; none for strings and for types that do not fit the literal.
// Integers are truncated to the type's width: the overflowing_literals lint speaks of that.
types::ConstId scalar_literal(types::TypeStore& types, const hir::Literal& literal, types::TypeId type);
// The bits of a decimal number in a format, correctly rounded.
std::uint64_t float_bits_of(std::string_view digits, types::FloatKind kind);
double float_value(std::uint64_t bits, types::FloatKind kind);
// Rounds to the format, ties to even.
std::uint64_t bits_of_double(double value, types::FloatKind kind);
// The same of an integer in two's complement, sign-extended to 128 bits when it is negative.
std::uint64_t bits_of_int(unsigned __int128 value, bool negative, types::FloatKind kind);

}  // namespace ockc::check
