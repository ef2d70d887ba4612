// Exhaustiveness and usefulness of patterns after Maranget ("Warnings for pattern matching", 2007), with constructors split as
// rustc does: integer ranges at the borders of the ranges in the column, slices by length.
//
// In: rows of patterns over one value. Out: what no row covers (witnesses, as text), and which rows can ever match.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "check/state.hpp"

namespace ockc::check {

struct Constructor {
    enum class Kind : std::uint8_t {
        Wildcard,
        Single,      // structs, tuples, references
        Variant,     // index
        Range,       // low ..= high: integers, char, bool; biased so that order is unsigned order
        Float,       // one value or a range: bits as ordered keys in low, high
        Text,        // a str or other constant that is only equal to itself: text
        Slice,       // `before` elements at the front, `after` at the back; is_open: anything between
        Opaque,      // never provably covers anything
        Or,          // alternatives in fields
        Missing,     // during the algorithm: all constructors that no row names
    } kind = Kind::Wildcard;
    std::uint32_t index = 0;
    unsigned __int128 low = 0, high = 0;
    std::string text;
    std::uint32_t before = 0, after = 0;
    bool is_open = false;
};

struct MatchPat {
    Constructor ctor;
    std::vector<const MatchPat*> fields;
    TypeId type;
};

struct MatchRow {
    const MatchPat* pattern = nullptr;
    bool guarded = false;
};

struct MatchReport {
    std::vector<std::string> witnesses;   // patterns that no row covers
    std::vector<bool> useful;             // per row
    bool too_complex = false;
};

class Usefulness {
  public:
    Usefulness(Context& context, const ParamEnv& env) : cx_(context), types_(context.types()), env_(env) {}
    MatchPat* make(Constructor ctor, std::vector<const MatchPat*> fields, TypeId type);
    const MatchPat* wildcard(TypeId type) { return make({}, {}, type); }
    MatchReport check(const std::vector<MatchRow>& rows, TypeId scrutinee);
    // The types of the fields of a constructor.
    std::vector<TypeId> field_types(const Constructor& ctor, TypeId type);
    bool is_uninhabited(TypeId type);
    // The key of a scalar value in the order of its type: usize and isize have room for "beyond the last value" at both ends.
    unsigned __int128 range_key(TypeId type, unsigned __int128 bits) const;
    void full_range(TypeId type, unsigned __int128& low, unsigned __int128& high) const;

  private:
    struct Row {
        std::vector<const MatchPat*> patterns;
        bool guarded = false;
        std::uint32_t arm = 0;
    };
    class RowIndex {
      public:
        explicit RowIndex(const std::vector<Row>& rows);
        std::vector<std::uint32_t> candidates(const Constructor& ctor) const;   // in the rows' order

      private:
        std::vector<std::pair<unsigned __int128, std::uint32_t>> single_;   // by number
        std::vector<std::uint32_t> others_;
    };
    struct Split {
        std::vector<Constructor> present;
        std::vector<Constructor> missing;
        bool all_listed = true;      // false: there are more than can be listed (strings, floats)
    };
    using Witness = std::vector<std::string>;    // one text per column, last column first
    std::vector<Witness> solve(std::vector<Row> rows, std::vector<TypeId> columns, bool top);
    void expand_or(std::vector<Row>& rows);
    bool taken_whole(const std::vector<Row>& rows, const std::vector<TypeId>& columns);
    bool nothing_to_learn(const std::vector<Row>& rows);
    Split split(const std::vector<Row>& rows, TypeId type);
    void split_ranges(const std::vector<Row>& rows, TypeId type, Split& out);
    void split_slices(const std::vector<Row>& rows, TypeId type, Split& out);
    bool covers(const Constructor& pattern, const Constructor& ctor) const;
    std::vector<const MatchPat*> specialize(const MatchPat& pattern, const Constructor& ctor, const std::vector<TypeId>& fields);
    std::string text(const Constructor& ctor, TypeId type, const std::vector<std::string>& fields);
    std::string range_text(const Constructor& ctor, TypeId type);
    std::string key_text(TypeId type, unsigned __int128 key);

    Context& cx_;
    TypeStore& types_;
    const ParamEnv& env_;
    std::deque<MatchPat> store_;
    std::vector<bool> useful_;
    std::uint64_t steps_ = 0;
    std::uint32_t uninhabited_depth_ = 0;
};

}  // namespace ockc::check
