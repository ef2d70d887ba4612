// Types as the user would write them, and as rustc prints them in messages: `&mut [f32]`, `Option<u32>`, `[i32; 4]`, `_`,
// `{integer}`, `<T as Iterator>::Item`.
#pragma once
#include <string>
#include <string_view>

#include "support/interner.hpp"
#include "types/type_store.hpp"

namespace ockc::types {

// What a printer must know about definitions; hir::Program's owner implements it.
class NameSource {
  public:
    virtual ~NameSource() = default;
    virtual std::string_view text(Symbol symbol) const = 0;
    virtual std::string_view name(DefId def) const = 0;              // last path segment
    virtual std::uint32_t parent_arg_count(DefId def) const = 0;     // arguments that belong to the parent item
    virtual DefId parent(DefId def) const = 0;                       // trait of an associated type, enum of a variant
    virtual std::string fn_item(DefId def, ArgsId args) const = 0;   // "fn(i32) -> i32 {name}"
    virtual std::string closure(DefId def) const = 0;                // "{closure@kernels.rsk:3:9: 3:12}"
    virtual std::string opaque(DefId def, ArgsId args) const = 0;    // "impl Trait"
    virtual std::string constant(DefId def, ArgsId args) const = 0;  // an unevaluated constant
};

std::string type_text(const TypeStore& types, const NameSource& names, TypeId type);
std::string const_text(const TypeStore& types, const NameSource& names, ConstId constant);
std::string arg_text(const TypeStore& types, const NameSource& names, GenericArg arg);
// "<u32, 4>" for the arguments from `begin` on; empty when there are none.
std::string args_text(const TypeStore& types, const NameSource& names, ArgsId args, std::size_t begin = 0);
// A value of a scalar type as Rust would write it (no suffix): -3, true, 'x', 1.5.
std::string scalar_text(const TypeStore& types, TypeId type, std::uint64_t low, std::uint64_t high);
// 128-bit two's complement or unsigned decimal.
std::string decimal_text(unsigned __int128 value, bool is_signed);

}  // namespace ockc::types
