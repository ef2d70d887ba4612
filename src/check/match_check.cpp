// Drives the usefulness check over a body: `match`, `let`, parameters, `for`.
#include <fmt/format.h>

#include <bit>

#include "check/literal_value.hpp"
#include "check/passes.hpp"
#include "check/solve.hpp"
#include "check/usefulness.hpp"

namespace ockc::check {

using hir::PatId;
using Kind = Constructor::Kind;
using UInt128 = unsigned __int128;

namespace {

constexpr std::uint32_t kNoRest = 0xFFFF'FFFFu;

// Floats as unsigned keys in numeric order.
UInt128 float_key(std::uint64_t bits, std::uint32_t width) {
    const std::uint64_t sign = std::uint64_t{1} << (width - 1);
    return (bits & sign) != 0 ? (sign - 1) - (bits & (sign - 1)) : bits | sign;
}

class MatchCheck {
  public:
    MatchCheck(Context& context, const TypeTables& tables)
        : cx_(context),
          types_(context.types()),
          tables_(tables),
          body_(*context.program().bodies[tables.body]),
          env_(context.param_env(tables.owner)),
          solver_(context, env_) {}

    void run() {
        for (std::uint32_t i = 0; i < body_.pats.size(); ++i) named_as_variant(PatId(i));
        if (std::holds_alternative<hir::FnDef>(cx_.program().defs[tables_.owner].data)) {
            for (const hir::FnParam& param : body_.params) irrefutable(param.pat, "function argument");
        }
        for (const hir::Block& block : body_.blocks) {
            for (const hir::Stmt& stmt : block.stmts) {
                if (stmt.kind == hir::Stmt::Kind::Let && !stmt.else_block.valid()) irrefutable(stmt.pat, "local binding");
            }
        }
        if (!tables_.has<hir::MatchExpr>() && !tables_.has<hir::ClosureExpr>()) return;
        for (std::uint32_t i = 0; i < body_.exprs.size(); ++i) {
            const hir::ExprId id(i);
            if (!tables_.type(id).valid()) continue;
            if (const auto* match = std::get_if<hir::MatchExpr>(&body_.exprs[id].data)) check_match(id, *match);
            if (const auto* closure = std::get_if<hir::ClosureExpr>(&body_.exprs[id].data)) {
                for (const hir::ClosureParam& param : closure->params) irrefutable(param.pat, "closure argument");
            }
        }
    }

  private:
    // ---- patterns of the algorithm from typed HIR
    const MatchPat* lower(PatId id) {
        const MatchPat* inner = lower_kind(id);
        const auto derefs = tables_.implicit_derefs(id);
        for (auto it = derefs.rbegin(); it != derefs.rend(); ++it) inner = solver_.make({.kind = Kind::Single, .text = {}}, {inner}, *it);
        return inner;
    }

    const MatchPat* constant(const ConstValue* value, TypeId type) {
        if (value == nullptr) return solver_.make({.kind = Kind::Opaque, .text = {}}, {}, type);
        Constructor c;
        switch (value->kind) {
            case ConstValue::Kind::Scalar: return scalar(*value, *value, type);
            case ConstValue::Kind::Ref: c.kind = Kind::Single; return solver_.make(c, {constant(value->target, types_[type].element)}, type);
            case ConstValue::Kind::Bytes:
                c.kind = Kind::Text;
                c.text = value->bytes;
                return solver_.make(c, {}, type);
            case ConstValue::Kind::Aggregate: {
                std::vector<const MatchPat*> fields;
                const TypeData data = types_[type];
                for (const ConstValue* field : value->fields) fields.push_back(constant(field, field->type));
                if (data.kind == TypeKind::Array || data.kind == TypeKind::Slice) {
                    c.kind = Kind::Slice;
                    c.before = static_cast<std::uint32_t>(fields.size());
                } else {
                    const bool is_enum = data.kind == TypeKind::Adt && cx_.adt(data.def).kind == AdtInfo::Kind::Enum;
                    c.kind = is_enum ? Kind::Variant : Kind::Single;
                    c.index = value->variant;
                }
                return solver_.make(c, std::move(fields), type);
            }
            case ConstValue::Kind::StaticRef:
            case ConstValue::Kind::FnItem:
            case ConstValue::Kind::FnPtr:
            case ConstValue::Kind::Uninit: break;
        }
        return solver_.make({.kind = Kind::Opaque, .text = {}}, {}, type);
    }

    // A constant can stand for the pattern of its fields when `==` means the same: derived, all the way down.
    const MatchPat* named_constant(PatId id, TypeId type) {
        const ConstValue* value = tables_.pat_values[id];
        if (value != nullptr && has_nan(*value)) {
            cx_.sink()
                .error(Code::None, body_.pats[id].span, "cannot use NaN in patterns")
                .label(body_.pats[id].span, "evaluates to `NaN`, which is not allowed in patterns")
                .help("NaNs compare inequal to everything, even themselves: use `if x.is_nan()` in a guard");
            return solver_.make({.kind = Kind::Opaque, .text = {}}, {}, type);
        }
        TypeId odd = value != nullptr ? non_structural(*value) : TypeId();
        if (value != nullptr && !odd.valid() && !compares(type)) odd = type;
        if (!odd.valid()) return constant(value, type);
        const std::string name = cx_.text(odd);
        cx_.sink()
            .error(Code::None, body_.pats[id].span, fmt::format("constant of non-structural type `{}` in a pattern", name))
            .label(body_.pats[id].span, "constant of non-structural type")
            .note(fmt::format("to match on it, `{}` must be annotated with `#[derive(PartialEq)]`", name));
        return solver_.make({.kind = Kind::Opaque, .text = {}}, {}, type);
    }

    bool has_nan(const ConstValue& value) {
        if (value.kind == ConstValue::Kind::Ref) return has_nan(*value.target);
        if (value.kind == ConstValue::Kind::Aggregate) return std::any_of(value.fields.begin(), value.fields.end(), [&](const ConstValue* field) { return has_nan(*field); });
        if (value.kind != ConstValue::Kind::Scalar || types_.kind(value.type) != TypeKind::Float) return false;
        switch (types::float_bits(types_[value.type].float_kind)) {
            case 16: return types_[value.type].float_kind == types::FloatKind::F16 ? (value.bits[0] & 0x7FFF) > 0x7C00 : (value.bits[0] & 0x7FFF) > 0x7F80;
            case 32: return (value.bits[0] & 0x7FFF'FFFF) > 0x7F80'0000;
            default: return (value.bits[0] & 0x7FFF'FFFF'FFFF'FFFF) > 0x7FF0'0000'0000'0000;
        }
    }

    // The first type in the value that does not derive PartialEq; none when all do.
    TypeId non_structural(const ConstValue& value) {
        if (value.kind == ConstValue::Kind::Ref) return non_structural(*value.target);
        if (value.kind != ConstValue::Kind::Aggregate) return {};
        const TypeData data = types_[value.type];
        if (data.kind == TypeKind::Adt && !derives_partial_eq(data.def)) return value.type;
        for (const ConstValue* field : value.fields) {
            if (const TypeId odd = non_structural(*field); odd.valid()) return odd;
        }
        return {};
    }

    // Is there a `==` at all?
    bool compares(TypeId type) {
        const TypeKind kind = types_.kind(type);
        if (kind != TypeKind::Adt && kind != TypeKind::Tuple && kind != TypeKind::Array) return true;
        const ParamEnv& env = cx_.param_env(tables_.owner);
        if (kind == TypeKind::Array) return compares(types_[type].element);
        if (kind == TypeKind::Tuple) return std::all_of(types_[types_[type].elements].begin(), types_[types_[type].elements].end(), [&](TypeId part) { return compares(part); });
        InferCtxt infer(types_);
        Selector selector(cx_, infer, env);
        const GenericArg args[] = {type, type};
        Predicate predicate;
        const DefId partial_eq = cx_.state().lang_item("eq");
        predicate.trait_ref = {partial_eq, types_.args(args)};
        return !partial_eq.valid() || selector.evaluate(predicate) == Outcome::Yes;
    }

    bool derives_partial_eq(DefId adt) {
        const hir::Program& program = cx_.program();
        if (program.crates[program.defs[adt].crate].is_library) return true;
        for (const ImplEntry& entry : cx_.state().impls_for(cx_.state().lang_item("eq"), cx_.type_of(adt))) {
            const TypeData self = types_[types_[entry.trait_ref.args][0].as_type()];
            if (self.kind == TypeKind::Adt && self.def == adt && program.as<hir::ImplDef>(entry.impl).derived) return true;
        }
        return false;
    }

    const MatchPat* scalar(const ConstValue& low, const ConstValue& high, TypeId type) {
        Constructor c;
        const TypeData data = types_[type];
        if (data.kind == TypeKind::Float) {
            c.kind = Kind::Float;
            c.low = float_key(low.bits[0], types::float_bits(data.float_kind));
            c.high = float_key(high.bits[0], types::float_bits(data.float_kind));
        } else {
            c.kind = Kind::Range;
            c.low = solver_.range_key(type, static_cast<UInt128>(low.bits[1]) << 64 | low.bits[0]);
            c.high = solver_.range_key(type, static_cast<UInt128>(high.bits[1]) << 64 | high.bits[0]);
        }
        return solver_.make(c, {}, type);
    }

    const MatchPat* range(PatId id, const hir::RangePat& p) {
        const TypeId type = tables_.type(id);
        const ConstValue* from = p.from.valid() ? tables_.pat_values[p.from] : nullptr;
        const ConstValue* to = p.to.valid() ? tables_.pat_values[p.to] : nullptr;
        if ((p.from.valid() && from == nullptr) || (p.to.valid() && to == nullptr)) return solver_.make({.kind = Kind::Opaque, .text = {}}, {}, type);
        Constructor c;
        c.kind = types_.kind(type) == TypeKind::Float ? Kind::Float : Kind::Range;
        UInt128 low = 0, high = 0;
        if (c.kind == Kind::Range) {
            solver_.full_range(type, low, high);
        } else {
            high = ~UInt128{0};
        }
        c.low = from != nullptr ? scalar(*from, *from, type)->ctor.low : low;
        c.high = to != nullptr ? scalar(*to, *to, type)->ctor.low : high;
        const bool excluded = to != nullptr && p.end == hir::RangeEnd::Excluded;
        if (c.low > c.high || (excluded && c.low >= c.high)) {
            const bool inclusive = p.end == hir::RangeEnd::Included;
            cx_.sink().error(inclusive ? Code::E0030 : Code::E0579, body_.pats[id].span,
                             inclusive ? "lower bound for range pattern must be less than or equal to upper bound" : "lower bound for range pattern must be less than upper bound")
                .label(body_.pats[id].span, inclusive ? "lower bound larger than upper bound" : "lower bound not less than upper bound");
            return solver_.make({.kind = Kind::Opaque, .text = {}}, {}, type);
        }
        if (excluded) c.high -= 1;
        return solver_.make(c, {}, type);
    }

    std::vector<const MatchPat*> spread(hir::List<PatId> list, std::uint32_t rest, const std::vector<TypeId>& types) {
        std::vector<const MatchPat*> out;
        for (TypeId type : types) out.push_back(solver_.wildcard(type));
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::size_t at = rest != kNoRest && i >= rest ? i + types.size() - list.size() : i;
            if (at < out.size()) out[at] = lower(list[i]);
        }
        return out;
    }

    Constructor variant_of(PatId id) {
        Constructor c;
        const TypeData data = types_[tables_.type(id)];
        const AdtInfo& adt = cx_.adt(data.def);
        c.kind = adt.kind == AdtInfo::Kind::Enum ? Kind::Variant : Kind::Single;
        c.index = adt.kind == AdtInfo::Kind::Enum ? adt.variant_index(tables_.pat_items[id].def) : 0;
        return c;
    }

    const MatchPat* lower_kind(PatId id) {
        const TypeId type = tables_.type(id);
        return std::visit(
            ast::Overloaded{
                [&](std::monostate) { return solver_.wildcard(type); },
                [&](const hir::ErrorPat&) { return solver_.wildcard(type); },
                [&](const hir::WildPat&) { return solver_.wildcard(type); },
                [&](const hir::BindingPat& p) { return p.sub.valid() ? lower(p.sub) : solver_.wildcard(type); },
                [&](const hir::LiteralPat&) { return constant(tables_.pat_values[id], type); },
                [&](const hir::ConstBlockPat&) { return named_constant(id, type); },
                [&](const hir::PathPat&) -> const MatchPat* {
                    const ItemRef item = tables_.pat_items[id];
                    if (item.valid() && cx_.program().defs[item.def].kind != hir::DefKind::Ctor) return named_constant(id, type);
                    return solver_.make(variant_of(id), {}, type);
                },
                [&](const hir::RangePat& p) { return range(id, p); },
                [&](const hir::RefPat& p) -> const MatchPat* { return solver_.make({.kind = Kind::Single, .text = {}}, {lower(p.inner)}, type); },
                [&](const hir::TuplePat& p) -> const MatchPat* {
                    Constructor c;
                    c.kind = Kind::Single;
                    return solver_.make(c, spread(p.elements, p.rest, solver_.field_types(c, type)), type);
                },
                [&](const hir::TupleStructPat& p) -> const MatchPat* {
                    const Constructor c = variant_of(id);
                    return solver_.make(c, spread(p.elements, p.rest, solver_.field_types(c, type)), type);
                },
                [&](const hir::StructPat& p) -> const MatchPat* {
                    const Constructor c = variant_of(id);
                    std::vector<const MatchPat*> fields;
                    for (TypeId field : solver_.field_types(c, type)) fields.push_back(solver_.wildcard(field));
                    const auto indices = tables_.field_indices(id);
                    for (std::size_t i = 0; i < p.fields.size() && i < indices.size(); ++i) fields[indices[i]] = lower(p.fields[i].pat);
                    return solver_.make(c, std::move(fields), type);
                },
                [&](const hir::SlicePat& p) -> const MatchPat* {
                    Constructor c;
                    c.kind = Kind::Slice;
                    c.before = static_cast<std::uint32_t>(p.before.size());
                    c.after = static_cast<std::uint32_t>(p.after.size());
                    c.is_open = p.has_rest;
                    std::vector<const MatchPat*> fields;
                    for (PatId inner : p.before) fields.push_back(lower(inner));
                    for (PatId inner : p.after) fields.push_back(lower(inner));
                    if (c.is_open && types_.kind(type) == TypeKind::Array) {   // the length is known: wildcards between
                        const auto length = cx_.usize_value(types_[type].length);
                        if (length && *length <= 4096) {
                            const auto gap = static_cast<std::size_t>(*length) - fields.size();
                            for (std::size_t i = 0; i < gap; ++i) fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(c.before), solver_.wildcard(types_[type].element));
                            c.before = static_cast<std::uint32_t>(*length);
                            c.after = 0;
                            c.is_open = false;
                        }
                    }
                    return solver_.make(c, std::move(fields), type);
                },
                [&](const hir::OrPat& p) -> const MatchPat* {
                    std::vector<const MatchPat*> alternatives;
                    for (PatId inner : p.alternatives) alternatives.push_back(lower(inner));
                    return solver_.make({.kind = Kind::Or, .text = {}}, std::move(alternatives), type);
                },
            },
            body_.pats[id].data);
    }

    // ---- the places where patterns stand
    static std::string list(const std::vector<std::string>& witnesses) {
        std::string out;
        const std::size_t shown = witnesses.size() > 4 ? 3 : witnesses.size();
        for (std::size_t i = 0; i < shown; ++i) {
            if (i != 0) out += i + 1 == witnesses.size() ? " and " : ", ";
            out += "`" + witnesses[i] + "`";
        }
        if (shown < witnesses.size()) out += fmt::format(" and {} more", witnesses.size() - shown);
        return out;
    }

    // `Red` for a value of `enum Color { Red, .. }` binds a variable; a variant was meant.
    void named_as_variant(PatId id) {
        const auto* binding = std::get_if<hir::BindingPat>(&body_.pats[id].data);
        if (binding == nullptr || binding->sub.valid() || binding->mode.by_ref || binding->mode.is_mut || !tables_.type(id).valid()) return;
        TypeId type = tables_.type(id);
        while (types_.kind(type) == TypeKind::Ref) type = types_[type].element;
        const TypeData data = types_[type];
        if (data.kind != TypeKind::Adt || cx_.adt(data.def).kind != AdtInfo::Kind::Enum) return;
        const hir::Ident name = binding->ident;
        for (const VariantInfo& variant : cx_.adt(data.def).variants) {
            if (variant.name != name.name || variant.form != hir::VariantForm::Unit) continue;
            const std::string path = cx_.program().path_text(data.def);
            Diagnostic& lint = cx_.sink().lint("bindings_with_variant_name", name.span,
                fmt::format("pattern binding `{0}` is named the same as one of the variants of the type `{1}`", cx_.program().interner.text(name.name), path));
            lint.code = Code::E0170;
            lint.suggest(name.span, fmt::format("{}::{}", path, cx_.program().interner.text(name.name)), "to match on the variant, qualify the path", Applicability::MachineApplicable);
        }
    }

    bool is_trivial(PatId id) const {
        const hir::Pat& pat = body_.pats[id];
        if (std::holds_alternative<hir::WildPat>(pat.data)) return true;
        const auto* binding = std::get_if<hir::BindingPat>(&pat.data);
        return binding != nullptr && !binding->sub.valid();
    }

    TypeId matched_type(PatId id) const {
        const auto derefs = tables_.implicit_derefs(id);
        return derefs.empty() ? tables_.type(id) : derefs[0];
    }

    void irrefutable(PatId id, std::string_view where) {
        if (!id.valid() || is_trivial(id) || !tables_.type(id).valid()) return;
        const MatchReport report = solver_.check({{lower(id), false}}, matched_type(id));
        if (!report.witnesses.empty()) refutable(body_.pats[id].span, where, report);
    }

    void refutable(Span at, std::string_view where, const MatchReport& report) {
        Diagnostic& diagnostic = cx_.sink().error(Code::E0005, at, fmt::format("refutable pattern in {}", where));
        diagnostic.label(at, fmt::format("pattern{} {} not covered", report.witnesses.size() == 1 ? "" : "s", list(report.witnesses)));
        if (where == "local binding") diagnostic.note("`let` bindings require an \"irrefutable pattern\", like a `struct` or an `enum` with only one variant")
                                          .help("you might want to use `let else` to handle the variant that isn't matched");
    }

    void check_match(hir::ExprId id, const hir::MatchExpr& e) {
        const TypeId type = tables_.adjusted_type(e.scrutinee);
        std::vector<MatchRow> rows;
        for (const hir::Arm& arm : e.arms) rows.push_back({lower(arm.pat), arm.guard.valid()});
        const MatchReport report = solver_.check(rows, type);
        if (report.too_complex) {
            cx_.sink().error(body_.exprs[id].span, "the patterns of this `match` are too complex to check");
            return;
        }
        if (!report.witnesses.empty()) return report_missing(id, e, type, report);
        if (e.source != hir::MatchSource::Match) return;
        for (std::size_t i = 0; i < report.useful.size(); ++i) {
            if (!report.useful[i]) cx_.sink().lint("unreachable_patterns", body_.pats[e.arms[i].pat].span, "unreachable pattern").label(body_.pats[e.arms[i].pat].span, "no value can reach this");
        }
    }

    void report_missing(hir::ExprId id, const hir::MatchExpr& e, TypeId type, const MatchReport& report) {
        if (e.source == hir::MatchSource::ForLoop) {
            for (const hir::Arm& arm : e.arms) {
                const auto* some = std::get_if<hir::TupleStructPat>(&body_.pats[arm.pat].data);
                if (some == nullptr || some->elements.empty()) continue;
                const MatchReport inner = solver_.check({{lower(some->elements[0]), false}}, matched_type(some->elements[0]));
                return refutable(body_.pats[some->elements[0]].span, "`for` loop binding", inner);
            }
        }
        static_cast<void>(id);
        const Span at = body_.exprs[e.scrutinee].span;
        const bool none = e.arms.empty();
        if (none) {
            cx_.sink().error(Code::E0004, at, fmt::format("non-exhaustive patterns: type `{}` is non-empty", cx_.text(type)))
                .help("ensure that all possible cases are being handled by adding a match arm with a wildcard pattern");
            return;
        }
        const bool one = report.witnesses.size() == 1;
        cx_.sink().error(Code::E0004, at, fmt::format("non-exhaustive patterns: {} not covered", list(report.witnesses)))
            .label(at, fmt::format("pattern{} {} not covered", one ? "" : "s", list(report.witnesses)))
            .note(fmt::format("the matched value is of type `{}`", cx_.text(type)))
            .help("ensure that all possible cases are being handled by adding a match arm with a wildcard pattern or an explicit pattern as shown");
    }

    Context& cx_;
    TypeStore& types_;
    const TypeTables& tables_;
    const hir::Body& body_;
    const ParamEnv& env_;
    Usefulness solver_;
};

}  // namespace

void check_matches(Context& context, const TypeTables& tables) { MatchCheck(context, tables).run(); }

}  // namespace ockc::check
