// What a kernel's launch attributes say, parsed and checked for everything that needs no types: #[launch_bounds],
// #[launch_contract], #[cluster_launch], #[cooperative_launch]. Lowering turns it into abi::LaunchFacts.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "source/span.hpp"
#include "support/interner.hpp"

namespace ockc::hir {

// One side of a `requires` relation: unsigned 64-bit arithmetic over parameters.
struct LaunchExpr {
    enum class Kind : std::uint8_t { Literal, Param, Len, RowWidth, Add, Sub, Mul } kind = Kind::Literal;
    Span span;
    std::uint64_t literal = 0;
    std::uint32_t param = 0;             // Param, Len, RowWidth: index of the kernel's parameter; its type is check's matter
    const LaunchExpr* lhs = nullptr;     // Add, Sub, Mul
    const LaunchExpr* rhs = nullptr;
};
enum class LaunchRelation : std::uint8_t { Lt, Le, Gt, Ge, Eq, Ne };
struct LaunchRequirement {
    Span span;
    std::string_view text;               // as written
    const LaunchExpr* lhs = nullptr;
    LaunchRelation relation = LaunchRelation::Eq;
    const LaunchExpr* rhs = nullptr;
};

template <class T>
struct Spanned {
    T value{};
    Span span;
};
using LaunchDims = std::array<std::uint32_t, 3>;

struct LaunchSpec {
    std::optional<Spanned<std::uint32_t>> max_threads;       // launch_bounds(max, ..)
    std::optional<Spanned<std::uint32_t>> min_blocks;        // launch_bounds(.., min_blocks)
    bool has_contract = false;
    Span contract_span;
    Spanned<std::uint32_t> domain;                           // 1, 2, 3; 0 without a contract
    bool coordinates_u32 = false;
    std::optional<Spanned<LaunchDims>> block;                // exact block
    std::optional<Spanned<std::uint64_t>> dynamic_shared;    // exact bytes
    std::optional<Spanned<std::array<std::uint64_t, 2>>> dynamic_shared_range;
    std::optional<Spanned<std::uint32_t>> dynamic_shared_alignment;
    std::optional<Spanned<std::array<std::uint32_t, 2>>> min_compute_capability;
    std::optional<Spanned<LaunchDims>> cluster;
    bool cooperative = false;
    Symbol context;                                          // #[kernel(launch_context = NAME)], or none
    Span context_span;
    std::span<const LaunchRequirement> requirements;
    bool deny_tile_checks = false;                           // entry(deny_in_kernel_checks)
    bool unchecked_tiles = false;                            // entry(unchecked_accesses)
};

}  // namespace ockc::hir
