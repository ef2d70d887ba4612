// The contract between the two wings and the host: what a kernel looks like from outside. Pure data, no types of the
// front end, no IR. `lower` fills it in, isel lays the .param space out from it, host/ writes the C++ header and the JSON
// manifest from it, the driver prepares launches from it. docs/abi.md is the prose.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ockc::abi {

// ONE ROW PER SCALAR that can cross the launch: name in Rust, name in C++, bytes, .npy kind ('b','i','u','f').
#define OCKC_ABI_SCALARS(X)                 \
    X(Bool, "bool", "bool", 1, 'b')         \
    X(Char, "char", "char32_t", 4, 'u')     \
    X(I8, "i8", "std::int8_t", 1, 'i')      \
    X(I16, "i16", "std::int16_t", 2, 'i')   \
    X(I32, "i32", "std::int32_t", 4, 'i')   \
    X(I64, "i64", "std::int64_t", 8, 'i')   \
    X(I128, "i128", "ock::i128", 16, 'i')   \
    X(Isize, "isize", "std::int64_t", 8, 'i') \
    X(U8, "u8", "std::uint8_t", 1, 'u')     \
    X(U16, "u16", "std::uint16_t", 2, 'u')  \
    X(U32, "u32", "std::uint32_t", 4, 'u')  \
    X(U64, "u64", "std::uint64_t", 8, 'u')  \
    X(U128, "u128", "ock::u128", 16, 'u')   \
    X(Usize, "usize", "std::uint64_t", 8, 'u') \
    X(F16, "f16", "ock::f16", 2, 'f')       \
    X(BF16, "bf16", "ock::bf16", 2, 'f')    \
    X(F32, "f32", "float", 4, 'f')          \
    X(F64, "f64", "double", 8, 'f')

enum class Scalar : std::uint8_t {
#define OCKC_ABI_SCALAR_ENUM(name, rust, cpp, bytes, kind) name,
    OCKC_ABI_SCALARS(OCKC_ABI_SCALAR_ENUM)
#undef OCKC_ABI_SCALAR_ENUM
};

struct ScalarInfo {
    const char* rust;   // "f32"
    const char* cpp;    // "float"
    std::uint32_t bytes;
    char npy_kind;
};
const ScalarInfo& scalar_info(Scalar scalar);

// A type that crosses the launch. Struct and Array refer to ModuleAbi::structs / `element`.
struct AbiType {
    enum class Kind : std::uint8_t { Scalar, Struct, Array } kind = Kind::Scalar;
    Scalar scalar = Scalar::U8;        // Kind::Scalar
    std::uint32_t struct_index = 0;    // Kind::Struct: index into ModuleAbi::structs
    std::uint64_t array_length = 0;    // Kind::Array
    std::vector<AbiType> element;      // Kind::Array: exactly one
    std::uint64_t size = 0;            // bytes
    std::uint32_t align = 1;           // bytes
};

struct AbiField {
    std::string name;                  // "0", "1" for tuple structs
    AbiType type;
    std::uint64_t offset = 0;          // bytes from the start of the struct
};

struct AbiVariant {
    std::string name;
    std::uint64_t tag = 0;             // what its bytes hold, sign-extended when the tag is signed
};

struct AbiStruct {
    std::string name;                  // unique in the module; the C++ name
    std::string rust_type;             // as the user would write it
    std::uint64_t size = 0;
    std::uint32_t align = 1;
    std::vector<AbiField> fields;      // in memory order
    std::vector<AbiVariant> variants = {};   // of an enum whose variants have no fields: then it is just the tag
    Scalar tag = Scalar::U8;
};

enum class ParamKind : std::uint8_t {
    Slice,          // &[T]: pointer, length
    DisjointSlice,  // DisjointSlice<T, Space>: pointer, length (+ width for runtime-width spaces); an output
    Scalar,         // by value
    Uniform,        // Uniform<T>: by value, the host passes T
    Struct,         // by value, `.param .align A .b8 name[N]`
    Pointer,        // *const T / *mut T: one address
    Tensor,         // &Tensor<E, D>, &mut Tensor<E, S>, MappedPartitionMut<E, S, MAP>: pointer, then an i32 extent and an i32 stride (in elements) for each axis
    TensorMap,      // &TmaDescriptor: its 128 bytes, which stay where the launch put them
    ZeroSized,      // takes part in the signature, has no .param
};

// One .param of the entry, in order. Named as in the PTX text.
struct ParamSlot {
    std::string name;          // "a_ptr", "a_len", "n"
    std::uint32_t size = 0;    // bytes
    std::uint32_t align = 1;   // bytes
    bool bytes = false;        // .b8 array instead of one register-sized scalar
    Scalar scalar = Scalar::U64;   // register type when !bytes
};

struct KernelParam {
    std::string name;          // as in the source
    std::string rust_type;     // "&[f32]", "DisjointSlice<f32>"
    ParamKind kind = ParamKind::Scalar;
    AbiType type;              // the element type of slices and pointers, the value type otherwise
    bool writable = false;     // DisjointSlice, *mut T
    bool is_atomic = false;    // element is an atomic cell: shared and yet written
    std::string index_space;   // DisjointSlice: "Index1D", "Index2D<64>", "Runtime2DIndex" ..
    bool has_row_width = false;
    std::vector<std::int32_t> shape = {};   // Tensor: extents, -1 for those of the launch; of an output its tile's
    std::vector<std::int32_t> map = {};     // Tensor: of a MappedPartitionMut how blocks go through its tiles, 0: an axis that they do not; else empty
    std::uint32_t first_slot = 0;   // index into KernelAbi::slots
    std::uint32_t slot_count = 0;
};

// A `requires` relation as a small tree over unsigned 64-bit values, evaluated with overflow checks on the host.
struct SizeExpr {
    enum class Kind : std::uint8_t { Literal, Param, Len, RowWidth, Add, Sub, Mul } kind = Kind::Literal;
    std::uint64_t literal = 0;
    std::uint32_t param = 0;            // index into KernelAbi::params for Param, Len, RowWidth
    std::vector<SizeExpr> operands;     // two for Add, Sub, Mul
};
// A side of what must hold of a tile kernel's launch: a number, an extent of the grid, or how many tiles a tensor has.
struct TileTerm {
    enum class Kind : std::uint8_t { Number, Grid, Tiles } kind = Kind::Number;
    std::uint32_t number = 0;           // Number; Tiles: lanes of one tile
    std::uint32_t param = 0;            // Tiles: index into KernelAbi::params
    std::uint32_t axis = 0;             // Grid, Tiles
};
struct TileCheck {
    TileTerm least, most;               // least <= most
};

enum class Relation : std::uint8_t { Lt, Le, Gt, Ge, Eq, Ne };
struct Requirement {
    std::string text;                   // as written: "a.len() >= n"
    SizeExpr lhs;
    Relation relation = Relation::Eq;
    SizeExpr rhs;
};

using Dim3 = std::array<std::uint32_t, 3>;

// #[launch_bounds], #[launch_contract], #[cluster_launch], #[cooperative_launch] as resolved facts.
struct LaunchFacts {
    std::optional<std::uint32_t> max_threads;          // launch_bounds(max, ..)
    std::optional<std::uint32_t> min_blocks;           // launch_bounds(.., min_blocks)
    bool has_contract = false;
    std::uint32_t domain = 0;                          // 1, 2, 3; 0 without a contract
    bool coordinates_u32 = false;
    std::optional<Dim3> block;                         // exact block: .reqntid
    std::optional<std::uint64_t> dynamic_shared;       // exact bytes
    std::optional<std::array<std::uint64_t, 2>> dynamic_shared_range;
    std::uint32_t dynamic_shared_alignment = 16;
    std::optional<std::array<std::uint32_t, 2>> min_compute_capability;
    std::optional<Dim3> cluster;
    bool cooperative = false;
    std::vector<Requirement> requirements;
};

// Where a failed check can happen, for host-side messages; index = site id.
struct PanicSite {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string text;                   // "index out of bounds: the len is {} but the index is {}"
};

// A generic parameter of an instance: "B" = "128", "S" = "2,4", "T" = "f32".
struct GenericValue {
    std::string name;
    std::string value;
};

struct KernelAbi {
    std::string name;                   // the Rust function's name; of an instance with its arguments: "scale_f32"
    std::string generic_name;           // the function's name alone
    std::string symbol;                 // the .entry name
    std::string module;                 // path of the device module: "kernels"; empty for a free kernel
    std::string file;                   // relative to the main source's folder
    std::uint32_t line = 0;
    bool is_tile = false;               // #[cutile::entry]: the grid is that of its outputs' tiles
    std::vector<TileCheck> tile_checks;  // what its indices of tiles ask of a launch
    std::vector<GenericValue> generics; // of an instance
    bool is_unsafe = false;             // `unsafe fn`: its launcher is unsafe_ too
    std::vector<KernelParam> params;
    std::vector<ParamSlot> slots;
    LaunchFacts launch;
    std::uint64_t static_shared_bytes = 0;
    std::string doc;                    // the kernel's doc comment, without markers
};

struct ConstantAbi {
    std::string name;
    std::string symbol;
    AbiType type;
};

// Everything that one source file offers to the host.
struct ModuleAbi {
    std::string source_name;            // "vecadd.rsk"
    std::vector<std::string> modules;   // device modules in source order
    std::vector<AbiStruct> structs;
    std::vector<KernelAbi> kernels;     // in source order
    std::vector<ConstantAbi> constants;
    std::vector<PanicSite> panic_sites;
};

}  // namespace ockc::abi
