// The facts of one body as plain tables: points, region variables with their outlives constraints, loans. Made by
// TypeCheck (constraints.cpp), Liveness and Regions; read by the access checks, and by later checkers that add accesses of
// their own (a barrier is a deep write to what it synchronises).
#pragma once
#include <string_view>
#include <vector>

#include "mir/mir.hpp"
#include "support/interval_set.hpp"

namespace ockc::borrowck {

using mir::BlockId;
using mir::LocalId;
using mir::Location;
using mir::Place;
using types::TypeId;
using RegionVid = Id<struct RegionVidTag>;
using LoanId = Id<struct LoanTag>;
using PointId = Id<struct PointTag>;

inline constexpr RegionVid kStatic{0};

// Every statement and terminator is a point; points of a block are consecutive.
class Points {
  public:
    explicit Points(const mir::Body& body);
    PointId of(Location at) const { return PointId(begin_[at.block.raw] + at.statement); }
    Location location(PointId point) const { return {block_of_[point.raw], point.raw - begin_[block_of_[point.raw].raw]}; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(block_of_.size()); }

  private:
    std::vector<std::uint32_t> begin_;
    std::vector<BlockId> block_of_;
};

// Why one region must outlive another. Usage: a closure becomes a part of the result; Opaque: an `impl Trait` hides the region,
// and the value is the first that is returned; OpaqueReturn: it is a later one, which the first has set what is hidden for.
enum class Category : std::uint8_t { Return, Assignment, CallArgument, Annotation, Cast, Usage, Predicate, Opaque, OpaqueReturn, Boring };

// sup: sub, everywhere.
struct Outlives {
    RegionVid sup, sub;
    Category category = Category::Boring;
    Location at;
    Span span;
    bool from_closure = false;       // what a closure's body needs of its captures
};

// Whose a universal region is. Of a function, all but 'static are local: the caller's. Of a closure, what it captured is
// external; its own borrow (Env) and those of its parameters are not.
enum class RegionRole : std::uint8_t { Inner, External, Local, Env, Parameter, Result };

struct RegionInfo {
    bool is_universal = false;       // known to the caller: 'static, lifetime parameters, a closure's surroundings
    RegionRole role = RegionRole::Inner;
    std::string_view name;           // "'a", "'static"; empty: without a name
    bool is_named = false;           // the user can name it
    LocalId argument;                // universal without a name: the argument whose type holds it, if one
    TypeId hidden_by;                // universal, of the result: the `impl Trait` that hides it
};

struct Loan {
    RegionVid region;
    mir::BorrowKind kind = mir::BorrowKind::Shared;
    Place place;
    Location at;                     // of the borrow
    Span span;
    LocalId assigned;                // where the reference was stored first, when that is a plain local
    bool is_capture = false;         // a closure's
    Span use_span;                   // is_capture: the use inside the closure
    Location activation;             // two-phase: where it comes to life
    bool is_two_phase = false;       // and `activation` is known
    IntervalSet reserved;            // two-phase: points at which it is only reserved
};

// A generic parameter or projection must outlive a region.
struct TypeTest {
    TypeId type;
    RegionVid region;
    Outlives reason;                 // its regions mean nothing
};

// `longer: shorter` among the regions of a closure's type, by their position in it; kStaticPosition: 'static.
struct ClosureRequirement {
    std::uint32_t longer = 0, shorter = 0;
    TypeId type;                     // if any, a type test: it must outlive `shorter`
    Category category = Category::Boring;
    Span span;
};
inline constexpr std::uint32_t kStaticPosition = 0xFFFFFFFFu;

}  // namespace ockc::borrowck
