// Literals as constants of a known type.
#pragma once
#include "hir/hir.hpp"
#include "types/type_store.hpp"

namespace ockc::check {

// The value of a scalar literal of type `type`; none for strings and for types that do not fit the literal.
// Integers are truncated to the type's width: the overflowing_literals lint speaks of that.
types::ConstId scalar_literal(types::TypeStore& types, const hir::Literal& literal, types::TypeId type);
// The bits of a float literal in a format; `negative` flips the sign.
std::uint64_t float_bits_of(std::string_view digits, types::FloatKind kind);
double float_value(std::uint64_t bits, types::FloatKind kind);
// Rounds to the format, ties to even.
std::uint64_t bits_of_double(double value, types::FloatKind kind);

}  // namespace ockc::check
