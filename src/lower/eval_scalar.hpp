// Scalar arithmetic at compile time, as the kernel would do it: integers wrap, shifts are masked, float casts saturate.
#pragma once
#include <optional>

#include "mir/mir.hpp"
#include "types/type_store.hpp"

namespace ockc::lower {

using Bits = unsigned __int128;   // a scalar's bits, zero-extended from its width

// Nothing where the operation would fail (division by zero) or the type is no scalar.
std::optional<Bits> eval_unary(const types::TypeStore& types, mir::UnOp op, types::TypeId type, Bits a);
std::optional<Bits> eval_binary(const types::TypeStore& types, mir::BinOp op, types::TypeId type, Bits a, Bits b);
std::optional<Bits> eval_cast(const types::TypeStore& types, mir::CastKind cast, types::TypeId from, types::TypeId to, Bits a);

}  // namespace ockc::lower
