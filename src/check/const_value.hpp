// The value of a constant as an immutable tree, owned by check::Context. What a reference points to is a value of its own:
// pointer identity is not kept, as Rust does not promise it for constants.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "types/type.hpp"

namespace ockc::check {

struct ConstValue {
    enum class Kind : std::uint8_t {
        Scalar,      // bool, char, integers, floats, integer-valued raw pointers: bits, zero-extended
        Aggregate,   // tuples, structs, arrays, enums (variant), closures: fields in declaration order
        Ref,         // & or raw pointer to target; a slice pointer: target is an array; to a str: target is Bytes
        Bytes,       // str behind a reference; bytes
        StaticRef,   // address of a static: static_def
        FnItem,      // function item (zero-sized); its type says which
        FnPtr,       // function pointer to the function item type in fn_item
        Uninit,      // MaybeUninit and UNINIT intrinsics
    };
    Kind kind = Kind::Scalar;
    std::uint32_t variant = 0;                     // Aggregate: index of the enum's variant, else 0
    types::TypeId type;                            // concrete, regions erased
    std::array<std::uint64_t, 2> bits{};
    std::span<const ConstValue* const> fields;     // may share nodes
    const ConstValue* target = nullptr;
    std::string_view bytes;
    DefId static_def;
    types::TypeId fn_item;
};

}  // namespace ockc::check
