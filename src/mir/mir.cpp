// Small facts about MIR: equality of places, names from mir.def.
#include "mir/mir.hpp"

#include <iterator>

namespace ockc::mir {

bool same_projection(const Projection& a, const Projection& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
        case ProjectionKind::Deref: return true;
        case ProjectionKind::Field:
        case ProjectionKind::Downcast: return a.index == b.index;
        case ProjectionKind::Index: return a.local == b.local;
        case ProjectionKind::ConstantIndex:
        case ProjectionKind::Subslice:
            return a.offset == b.offset && a.min_length == b.min_length && a.from_end == b.from_end;
    }
    OCKC_UNREACHABLE("projection kind");
}

bool operator==(const Place& a, const Place& b) {
    if (a.local != b.local || a.projections.size() != b.projections.size()) return false;
    for (std::size_t i = 0; i < a.projections.size(); ++i) {
        if (!same_projection(a.projections[i], b.projections[i])) return false;
    }
    return true;
}

namespace {
struct BinOpRow {
    std::string_view name, text, verb;
};
constexpr BinOpRow kBinOps[] = {
#define OCKC_MIR_BINOP(name, text, verb) {#name, text, verb},
#include "mir/mir.def"
};
constexpr std::string_view kCasts[] = {
#define OCKC_MIR_CAST(name, doc) #name,
#include "mir/mir.def"
};
struct AssertRow {
    std::string_view name, text;
};
constexpr AssertRow kAsserts[] = {
#define OCKC_MIR_ASSERT(name, operands, text) {#name, text},
#include "mir/mir.def"
};
}  // namespace

std::string_view binop_name(BinOp op) { return kBinOps[static_cast<std::size_t>(op)].name; }
std::string_view binop_text(BinOp op) { return kBinOps[static_cast<std::size_t>(op)].text; }
std::string_view binop_verb(BinOp op) { return kBinOps[static_cast<std::size_t>(op)].verb; }
std::string_view cast_name(CastKind kind) { return kCasts[static_cast<std::size_t>(kind)]; }
std::string_view assert_name(AssertKind kind) { return kAsserts[static_cast<std::size_t>(kind)].name; }
std::string_view assert_text(AssertKind kind) { return kAsserts[static_cast<std::size_t>(kind)].text; }

}  // namespace ockc::mir
