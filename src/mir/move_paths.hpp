// Move paths: the places whose being initialised is tracked one by one, as a forest of locals, their fields, and theirs.
// Only places that some statement moves out of or assigns have paths; a place without one shares the fate of its nearest
// prefix. Nothing behind a reference and no element of an array has a path: moves out of those are errors (MoveError).
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "check/context.hpp"
#include "mir/mir.hpp"

namespace ockc::mir {

using MovePathId = Id<struct MovePathTag>;
using MoveOutId = Id<struct MoveOutTag>;
using InitId = Id<struct InitTag>;

struct MovePath {
    Place place;
    MovePathId parent, first_child, next_sibling;
};
struct MoveOut {
    MovePathId path;
    Location at;
    bool ends_storage = false;   // a StorageDead: what was initialised before does not count any more
};
struct Init {
    MovePathId path;
    Location at;              // of an argument: the entry
    bool is_argument = false;
};
// A move out of a place that cannot be moved out of.
struct MoveError {
    enum class Kind : std::uint8_t { Borrowed, DropType, ArrayElement } kind = Kind::Borrowed;
    Place from;               // the whole place that was to be moved
    std::uint32_t steps = 0;  // from.prefix(steps) is what forbids it
    Location at;
};

class MovePaths {
  public:
    MovePaths(const Body& body, check::Context& context);

    const IndexVec<MovePathId, MovePath>& paths() const { return paths_; }
    const IndexVec<MoveOutId, MoveOut>& moves() const { return moves_; }
    const IndexVec<InitId, Init>& inits() const { return inits_; }
    const std::vector<MoveError>& errors() const { return errors_; }
    MovePathId of(LocalId local) const { return MovePathId(local.raw); }
    // The path of the place itself, if it has one; else of its nearest prefix.
    struct Lookup {
        MovePathId path;
        bool exact = false;
    };
    Lookup find(const Place& place) const {
        const MovePathId root = of(place.local);
        if (place.is_local()) return {root, true};
        return is_leaf(root) ? Lookup{root, false} : find_below(place);
    }
    // What a point moves out of and initialises; points are numbered block by block.
    std::uint32_t point(Location at) const { return block_begin_[at.block.raw] + at.statement; }
    std::span<const MoveOut> moves_at(std::uint32_t point) const {
        return std::span(moves_.raw()).subspan(moves_begin_[point], moves_begin_[point + 1] - moves_begin_[point]);
    }
    std::span<const Init> inits_at(std::uint32_t point) const {
        return std::span(inits_.raw()).subspan(inits_begin_[point], inits_begin_[point + 1] - inits_begin_[point]);
    }
    std::span<const MoveOut> moves_at(Location at) const { return moves_at(point(at)); }
    std::span<const Init> inits_at(Location at) const { return inits_at(point(at)); }
    bool is_leaf(MovePathId path) const { return !paths_[path].first_child.valid(); }
    template <class Fn>
    void for_each_descendant(MovePathId root, Fn&& f) const {   // root included, parents first
        f(root);
        for (MovePathId child = paths_[root].first_child; child.valid(); child = paths_[child].next_sibling) {
            for_each_descendant(child, f);
        }
    }

  private:
    Lookup find_below(const Place& place) const;
    void gather(Location at, const Statement& statement);
    void gather(Location at, const Terminator& terminator);
    void gather(Location at, const Operand& operand);
    void add_init(Location at, const Place& place);
    std::optional<MovePathId> make(const Place& place, Location at, bool report);
    MovePathId child(MovePathId parent, const Place& place, std::size_t steps);

    const Body& body_;
    check::Context& context_;
    const check::ParamEnv& env_;
    IndexVec<MovePathId, MovePath> paths_;
    IndexVec<MoveOutId, MoveOut> moves_;
    IndexVec<InitId, Init> inits_;
    std::vector<MoveError> errors_;
    std::vector<std::unique_ptr<std::vector<Projection>>> arrays_;   // the projections of paths that no statement names

    // What one point moves and initialises stands together, so a point keeps only where its moves and inits begin; one more
    // entry ends the last.
    void begin_point();
    std::vector<std::uint32_t> block_begin_, moves_begin_, inits_begin_;
};

}  // namespace ockc::mir
