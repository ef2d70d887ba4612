#include "resolve/attributes.hpp"

#include <fmt/format.h>

#include "resolve/attribute_forms.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

namespace {

enum class Origin : std::uint8_t { Rust, Device, Tile, Library, Test };

struct Row {
    std::string_view name;
    Origin origin;
    std::uint32_t targets;
};
constexpr std::uint32_t bit(Target target) { return static_cast<std::uint32_t>(target); }
#define T(target) bit(Target::target)
constexpr Row kRows[] = {
#define OCKC_ATTRIBUTE(kind, name, origin, targets) {name, Origin::origin, targets},
#include "hir/attributes.def"
};
#undef T

const Row& row(hir::AttributeKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

const ast::Path* path_of(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    return meta.path.valid() ? &(*state.crates[crate].ast)[meta.path] : nullptr;
}

Symbol single_word(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    if (meta.kind != ast::MetaKind::List || meta.items.size() != 1) return Symbol::none();
    const ast::MetaItem& word = meta.items[0];
    const ast::Path* path = word.kind == ast::MetaKind::Word ? path_of(state, crate, word) : nullptr;
    return path != nullptr && path->segments.size() == 1 ? path->segments[0].ident.name : Symbol::none();
}

std::string_view last_segment(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    const ast::Path* path = path_of(state, crate, meta);
    return path == nullptr || path->segments.empty() ? std::string_view() : state.text(path->segments.back().ident.name);
}

std::vector<std::string_view> visible_names(const State& state, std::uint32_t crate) {
    std::vector<std::string_view> names;
    for (const Row& r : kRows) {
        if (r.origin != Origin::Library || state.crates[crate].is_library) names.push_back(r.name);
    }
    return names;
}

bool literal_bool(const State& state, std::uint32_t crate, ast::ExprId expr, bool& value) {
    const ast::Crate& ast = *state.crates[crate].ast;
    if (!expr.valid()) return false;
    const auto* literal = ast::get_if<ast::LiteralExpr>(ast[expr]);
    if (literal == nullptr || ast[literal->literal].kind != lex::LiteralKind::Bool) return false;
    value = ast[literal->literal].value != 0;
    return true;
}

bool option_set(const State& state, std::string_view name, const std::string_view* value) {
    if (name == "target_arch") return value != nullptr && *value == "nvptx64";
    if (name == "target_os") return value != nullptr && *value == "cuda";
    if (name == "target_vendor") return value != nullptr && *value == "nvidia";
    if (name == "target_pointer_width") return value != nullptr && *value == "64";
    if (name == "target_endian") return value != nullptr && *value == "little";
    if (name == "panic") return value != nullptr && *value == "abort";
    for (const CfgEntry& entry : state.options.cfg) {
        if (entry.name == name && entry.has_value == (value != nullptr) && (value == nullptr || entry.value == *value)) return true;
    }
    return false;
}

// Attributes are evaluated whenever somebody asks for them, but complained about once.
void report_once(State& state, Code code, Span span, std::string message, std::string help) {
    const std::uint64_t place = std::uint64_t{span.file.raw} << 32 | span.begin;
    if (state.reported_attributes.insert(place).second) state.sink->error(code, span, std::move(message)).help(std::move(help));
}

// One attribute, or those inside a cfg_attr that applies. False: a cfg says no.
bool evaluate_one(State& state, std::uint32_t crate, const ast::MetaItem& meta, Span span, ast::AttributeId id, Attrs* out) {
    const std::string_view name = last_segment(state, crate, meta);
    const bool single = meta.path.valid() && (*state.crates[crate].ast)[meta.path].segments.size() == 1;
    if (single && name == "cfg") {
        if (meta.kind != ast::MetaKind::List || meta.items.size() != 1) {
            report_once(state, meta.kind == ast::MetaKind::List ? Code::E0805 : Code::E0539, span, "malformed `cfg` attribute input", "write `#[cfg(predicate)]`");
            return true;
        }
        return cfg_holds(state, crate, meta.items[0]);
    }
    if (single && name == "cfg_attr") {
        if (meta.kind != ast::MetaKind::List || meta.items.empty()) {
            report_once(state, Code::E0539, span, "malformed `cfg_attr` attribute input", "write `#[cfg_attr(predicate, attribute)]`");
            return true;
        }
        if (!cfg_holds(state, crate, meta.items[0])) return true;
        for (std::uint32_t i = 1; i < meta.items.size(); ++i) {
            if (!evaluate_one(state, crate, meta.items[i], meta.items[i].span, id, out)) return false;
        }
        return true;
    }
    if (out != nullptr) out->push_back(Attr{meta, span, id, {}});
    return true;
}

bool evaluate_into(State& state, std::uint32_t crate, ast::Attributes attributes, Attrs* out) {
    for (const ast::AttributeId id : attributes) {
        const ast::Attribute attribute = (*state.crates[crate].ast)[id];
        if (attribute.kind == ast::AttributeKind::Doc) {
            if (out != nullptr) out->push_back(Attr{attribute.meta, attribute.span, id, attribute.doc});
            continue;
        }
        if (!evaluate_one(state, crate, attribute.meta, attribute.span, id, out)) return false;
    }
    return true;
}

}  // namespace

bool cfg_holds(State& state, std::uint32_t crate, const ast::MetaItem& predicate) {
    bool value = false;
    if (predicate.kind == ast::MetaKind::Value && literal_bool(state, crate, predicate.value, value)) return value;
    const std::string_view name = last_segment(state, crate, predicate);
    switch (predicate.kind) {
        case ast::MetaKind::Word: return option_set(state, name, nullptr);
        case ast::MetaKind::NameValue:
            if (const auto text = meta_string(state, crate, predicate)) return option_set(state, name, &*text);
            report_once(state, Code::E0539, predicate.span, "malformed `cfg` attribute input", "the value is a string: `name = \"value\"`");
            return false;
        case ast::MetaKind::List: break;
        case ast::MetaKind::Value:
        case ast::MetaKind::Tokens:
            report_once(state, Code::E0539, predicate.span, "malformed `cfg` attribute input", "a predicate is `name`, `name = \"value\"`, `not(..)`, `all(..)` or `any(..)`");
            return false;
    }
    if (name == "not") {
        if (predicate.items.size() != 1) {
            report_once(state, Code::E0805, predicate.span, "malformed `cfg` attribute input", "`not` takes one predicate");
            return false;
        }
        return !cfg_holds(state, crate, predicate.items[0]);
    }
    if (name != "all" && name != "any") {
        report_once(state, Code::E0537, predicate.span, fmt::format("invalid predicate `{}`", name), "the predicates with parts are `not(..)`, `all(..)` and `any(..)`");
        return false;
    }
    const bool all = name == "all";
    bool result = all;
    for (const ast::MetaItem& item : predicate.items) {
        const bool holds = cfg_holds(state, crate, item);
        result = all ? result && holds : result || holds;
    }
    return result;
}

std::optional<bool> cfg_tokens_hold(State& state, lex::TokenRange tokens) {
    using T = lex::TokenKind;
    const lex::TokenBuffer* buffer = tokens.buffer;
    if (tokens.empty()) return std::nullopt;
    const T kind = buffer->kind(tokens.begin);
    if (kind == T::KwTrue || kind == T::KwFalse) return tokens.size() == 1 ? std::optional(kind == T::KwTrue) : std::nullopt;
    if (!lex::is_ident(kind)) return std::nullopt;
    const std::string_view name = state.sources.text(buffer->span(tokens.begin));
    if (tokens.size() == 1) return option_set(state, name, nullptr);
    const T next = buffer->kind(tokens.begin + 1);
    if (next == T::Equal && tokens.size() == 3 && lex::is_literal(buffer->kind(tokens.begin + 2))) {
        const auto literal = lex::decode_literal(buffer->kind(tokens.begin + 2), state.sources.text(buffer->span(tokens.begin + 2)));
        if (literal.kind != lex::LiteralKind::String) return std::nullopt;
        const std::string_view value = literal.text;
        return option_set(state, name, &value);
    }
    if (next != T::OpenParen || buffer->partner(tokens.begin + 1) + 1 != tokens.end) return std::nullopt;
    bool all = true, any = false;
    std::size_t count = 0;
    const std::uint32_t close = tokens.end - 1;
    for (std::uint32_t i = tokens.begin + 2; i < close;) {
        std::uint32_t end = i;
        while (end < close && buffer->kind(end) != T::Comma) end = lex::is_open(buffer->kind(end)) ? buffer->partner(end) + 1 : end + 1;
        const auto holds = cfg_tokens_hold(state, {buffer, i, end});
        if (!holds) return std::nullopt;
        all = all && *holds;
        any = any || *holds;
        ++count;
        i = end + 1;
    }
    if (name == "all") return all;
    if (name == "any") return any;
    if (name == "not" && count == 1) return !any;
    return std::nullopt;
}

void report_cfg_macro(State& state, lex::TokenRange tokens, Span call) {
    using T = lex::TokenKind;
    const lex::TokenBuffer* buffer = tokens.buffer;
    if (tokens.empty()) {
        state.sink->error(call, "macro requires a cfg-pattern as an argument");
        return;
    }
    const bool named = lex::is_ident(buffer->kind(tokens.begin));
    const std::string_view name = state.sources.text(buffer->span(tokens.begin));
    if (!named || (tokens.size() == 3 && buffer->kind(tokens.begin + 1) == T::Equal)) {
        state.sink->error(Code::E0539, call, "malformed `cfg` macro input").help("a predicate is `name`, `name = \"value\"`, `not(..)`, `all(..)` or `any(..)`");
    } else if (tokens.size() > 1 && buffer->kind(tokens.begin + 1) == T::OpenParen && name == "not") {
        state.sink->error(Code::E0805, call, "malformed `cfg` macro input").help("`not` takes one predicate");
    } else if (tokens.size() > 1 && buffer->kind(tokens.begin + 1) == T::OpenParen && name != "all" && name != "any") {
        state.sink->error(Code::E0537, buffer->span(tokens.begin), fmt::format("invalid predicate `{}`", name));
    } else {
        state.sink->error(call, "expected 1 cfg-pattern");
    }
}

Evaluated evaluate(State& state, std::uint32_t crate, ast::Attributes attributes) {
    Evaluated result;
    if (attributes.empty()) return result;
    result.enabled = evaluate_into(state, crate, attributes, &result.attrs);
    if (!result.enabled) result.attrs.clear();
    return result;
}

bool cfg_enabled(State& state, std::uint32_t crate, ast::Attributes attributes) {
    return attributes.empty() || evaluate_into(state, crate, attributes, nullptr);
}

std::string_view attribute_name(hir::AttributeKind kind) { return row(kind).name; }

std::optional<hir::AttributeKind> known_attribute(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    const ast::Path* path = path_of(state, crate, meta);
    if (path == nullptr || path->segments.empty()) return std::nullopt;
    const std::string_view name = state.text(path->segments.back().ident.name);
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
        if (kRows[i].name.size() != name.size() || kRows[i].name.back() != name.back() || kRows[i].name != name) continue;
        if (kRows[i].origin == Origin::Library && !state.crates[crate].is_library) return std::nullopt;
        if (kRows[i].origin == Origin::Rust && path->segments.size() != 1) return std::nullopt;
        // `#[tokio::main]`, `#[foo::test]`: only the crates that have our attributes.
        if (path->segments.size() > 1 && kRows[i].origin == Origin::Test) return std::nullopt;
        return static_cast<hir::AttributeKind>(i);
    }
    return std::nullopt;
}

bool is_tool_attribute(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    const ast::Path* path = path_of(state, crate, meta);
    if (path == nullptr || path->segments.size() < 2) return false;
    const std::string_view tool = state.text(path->segments.front().ident.name);
    return tool == "rustfmt" || tool == "clippy" || tool == "diagnostic" || tool == "miri" || tool == "rust_analyzer";
}

bool is_device_attribute(hir::AttributeKind kind) {
    const Origin origin = row(kind).origin;
    return origin == Origin::Device || origin == Origin::Tile;
}

const Attr* find_attribute(const State& state, std::uint32_t crate, const Attrs& attrs, hir::AttributeKind kind) {
    for (const Attr& attr : attrs) {
        if (!attr.doc.valid() && known_attribute(state, crate, attr.meta) == kind) return &attr;
    }
    return nullptr;
}

namespace {

void report_unknown(State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    const ast::Path* path = path_of(state, crate, meta);
    if (path == nullptr || path->segments.empty()) return;
    const ast::Ident ident = path->segments.back().ident;
    const std::string_view name = state.text(ident.name);
    if (path->segments.size() > 1) {
        const ast::Ident first = path->segments.front().ident;
        state.sink->error(Code::E0433, first.span, fmt::format("cannot find module or crate `{}` in this scope", state.text(first.name)))
            .label(first.span, fmt::format("use of unresolved module or unlinked crate `{}`", state.text(first.name)));
        return;
    }
    auto& error = state.sink->error(ident.span, fmt::format("cannot find attribute `{}` in this scope", meta_path_text(state, crate, meta)));
    const auto names = visible_names(state, crate);
    const std::string_view near = nearest_name(names, name);
    if (!near.empty()) error.suggest(ident.span, std::string(near), "an attribute with a similar name exists");
}

}  // namespace

bool report_near_miss(State& state, std::uint32_t crate, const Attrs& attrs) {
    bool reported = false;
    for (const Attr& attr : attrs) {
        if (attr.doc.valid() || known_attribute(state, crate, attr.meta)) continue;
        const ast::Path* path = path_of(state, crate, attr.meta);
        if (path == nullptr || path->segments.size() != 1) continue;
        const std::string_view name = state.text(path->segments[0].ident.name);
        const auto names = visible_names(state, crate);
        const std::string_view near = nearest_name(names, name);
        if (near.empty() || name.size() < 4) continue;
        for (const Row& r : kRows) {
            if (r.name != near || (r.origin != Origin::Device && r.origin != Origin::Tile)) continue;
            report_unknown(state, crate, attr.meta);
            reported = true;
        }
    }
    return reported;
}

void note_lint_levels(State& state, std::uint32_t crate, const Attrs& attrs, Span span) {
    if (state.crates[crate].is_library) return;
    for (const Attr& attr : attrs) {
        if (attr.doc.valid()) continue;
        const auto kind = known_attribute(state, crate, attr.meta);
        if (!kind) continue;
        LintLevel level{};
        if (*kind == hir::AttributeKind::Allow) level = LintLevel::Allow;
        else if (*kind == hir::AttributeKind::Warn) level = LintLevel::Warn;
        else if (*kind == hir::AttributeKind::Deny) level = LintLevel::Deny;
        else if (*kind == hir::AttributeKind::Forbid) level = LintLevel::Forbid;
        else if (*kind == hir::AttributeKind::Expect) level = LintLevel::Expect;
        else continue;
        for (const ast::MetaItem& item : attr.meta.items) {
            if (item.kind == ast::MetaKind::Word) state.levels.add_scope(span, item.span, meta_path_text(state, crate, item), level);
        }
    }
}

std::vector<hir::Attribute> check_attributes(State& state, std::uint32_t crate, const Attrs& attrs, Target target, std::string_view what, bool strict) {
    std::vector<hir::Attribute> result;
    for (const Attr& attr : attrs) {
        if (attr.doc.valid()) continue;
        const auto kind = known_attribute(state, crate, attr.meta);
        if (!kind) {
            if (strict && !is_tool_attribute(state, crate, attr.meta)) report_unknown(state, crate, attr.meta);
            continue;
        }
        const Row& r = row(*kind);
        const bool fits = (r.targets & bit(target)) != 0;
        if (!fits && r.origin == Origin::Rust) {
            if (strict && *kind == hir::AttributeKind::DefaultVariant) report_unknown(state, crate, attr.meta);
            else if (strict) report_misplaced(state, attr, *kind, what);
            continue;
        }
        if (!fits && (strict || r.origin == Origin::Device || r.origin == Origin::Tile)) {
            state.sink->error(Code::OCK0112, attr.span, fmt::format("`#[{}]` cannot stand on {} {}", r.name, article(what), what));
            continue;
        }
        if (strict && r.origin == Origin::Rust) check_attribute_form(state, crate, attr, *kind);
        const bool repeatable = r.origin == Origin::Rust;   // of most the first counts; rustc warns
        bool repeated = false;
        for (const hir::Attribute& other : result) {
            if (other.kind != *kind || repeatable) continue;
            repeated = true;
            state.sink->error(Code::OCK0114, attr.span, fmt::format("`#[{}]` is given twice", r.name)).label(other.span, "first given here");
            break;
        }
        if (!repeated) result.push_back(hir::Attribute{*kind, attr.span, attr.ast, attr.meta, single_word(state, crate, attr.meta)});
    }
    return result;
}

std::optional<std::string_view> meta_string(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    const ast::Crate& ast = *state.crates[crate].ast;
    ast::ExprId value = meta.value;
    if (meta.kind == ast::MetaKind::List && meta.items.size() == 1 && meta.items[0].kind == ast::MetaKind::Value) value = meta.items[0].value;
    if (!value.valid()) return std::nullopt;
    const auto* literal = ast::get_if<ast::LiteralExpr>(ast[value]);
    if (literal == nullptr || ast[literal->literal].kind != lex::LiteralKind::String) return std::nullopt;
    return state.text(ast[literal->literal].text);
}

std::string meta_path_text(const State& state, std::uint32_t crate, const ast::MetaItem& meta) {
    std::string text;
    if (const ast::Path* path = path_of(state, crate, meta)) {
        for (const ast::PathSegment& segment : path->segments) {
            if (!text.empty()) text += "::";
            text += state.text(segment.ident.name);
        }
    }
    return text;
}

std::string_view documentation(State& state, std::uint32_t crate, const Attrs& attrs) {
    std::string text;
    bool any = false;
    const auto add = [&](std::string_view line) {
        if (any) text += '\n';
        any = true;
        text += line.substr(line.starts_with(' ') ? 1 : 0);
    };
    for (const Attr& attr : attrs) {
        if (attr.doc.valid()) {
            add(state.text(attr.doc));
        } else if (last_segment(state, crate, attr.meta) == "doc") {
            if (const auto line = meta_string(state, crate, attr.meta)) add(*line);
        }
    }
    return state.program.arena.copy(std::string_view(text));
}

}  // namespace ockc::resolve
