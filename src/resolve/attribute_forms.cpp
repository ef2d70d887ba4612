#include "resolve/attribute_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ockc::resolve {

namespace {

using hir::AttributeKind;

// What an attribute takes besides what special cases below allow.
enum class Form : std::uint8_t {
    Free,         // judged elsewhere, or not at all
    Word,         // `#[cold]`
    Inline,       // a word, or one of (always), (never)
    Reason,       // a word, or `= "text"`
    List,         // `#[derive(..)]`
    Lint,         // a list of lint names, and perhaps a reason
};
Form form_of(AttributeKind kind) {
    switch (kind) {
        case AttributeKind::Cold:
        case AttributeKind::TrackCaller:
        case AttributeKind::NoMangle:
        case AttributeKind::NonExhaustive:
        case AttributeKind::AutomaticallyDerived:
        case AttributeKind::DefaultVariant: return Form::Word;
        case AttributeKind::Inline: return Form::Inline;
        case AttributeKind::MustUse: return Form::Reason;
        case AttributeKind::Derive: return Form::List;
        case AttributeKind::Allow:
        case AttributeKind::Warn:
        case AttributeKind::Deny:
        case AttributeKind::Forbid:
        case AttributeKind::Expect: return Form::Lint;
        default: return Form::Free;
    }
}

// Attributes that the linker sees: since edition 2024 they are written `#[unsafe(..)]`.
bool is_unsafe_kind(AttributeKind kind) { return kind == AttributeKind::NoMangle || kind == AttributeKind::ExportName || kind == AttributeKind::LinkSection; }

class FormCheck {
  public:
    FormCheck(State& state, std::uint32_t crate, const Attr& attr, AttributeKind kind) : s_(state), crate_(crate), attr_(attr), kind_(kind) {}

    void run() {
        const ast::MetaItem& meta = attr_.meta;
        if (is_unsafe_kind(kind_) && !s_.ast_of(crate_)[attr_.ast].is_unsafe && s_.options.edition == lex::Edition::E2024) {
            s_.sink->error(attr_.span, "unsafe attribute used without unsafe").label(attr_.span, "usage of unsafe attribute").help("wrap the attribute in `unsafe(...)`");
        }
        switch (form_of(kind_)) {
            case Form::Free: return;
            case Form::Word:
                if (meta.kind != ast::MetaKind::Word) malformed(Code::E0565, "it takes no arguments");
                return;
            case Form::Inline: return inline_form();
            case Form::Reason:
                if (meta.kind == ast::MetaKind::Word || (meta.kind == ast::MetaKind::NameValue && meta_string(s_, crate_, meta))) return;
                return malformed(Code::E0539, fmt::format("write `#[{0}]` or `#[{0} = \"reason\"]`", name()));
            case Form::List:
                if (meta.kind != ast::MetaKind::List) return malformed(Code::None, "write `#[derive(Trait1, Trait2)]`");
                for (const ast::MetaItem& item : meta.items) derived(item);
                return;
            case Form::Lint:
                if (meta.kind != ast::MetaKind::List) return malformed(Code::None, fmt::format("write `#[{}(lint1, lint2)]`", name()));
                for (std::uint32_t i = 0; i < meta.items.size(); ++i) lint(meta.items[i], i + 1 == meta.items.size());
                return;
        }
    }

  private:
    std::string_view name() const { return attribute_name(kind_); }
    void malformed(Code code, std::string help) {
        s_.sink->error(code, attr_.span, fmt::format("malformed `{}` attribute input", name())).help(std::move(help));
    }
    void inline_form() {
        const ast::MetaItem& meta = attr_.meta;
        constexpr const char* kHelp = "write `#[inline]`, `#[inline(always)]` or `#[inline(never)]`";
        if (meta.kind == ast::MetaKind::Word) return;
        if (meta.kind == ast::MetaKind::NameValue) {
            s_.sink->lint("ill_formed_attribute_input", attr_.span, "valid forms for the attribute are `#[inline(always)]`, `#[inline(never)]`, and `#[inline]`");
            return;
        }
        if (meta.items.size() != 1) return malformed(Code::E0805, kHelp);
        const std::string word = meta_path_text(s_, crate_, meta.items[0]);
        if (meta.items[0].kind != ast::MetaKind::Word || (word != "always" && word != "never")) malformed(Code::E0539, kHelp);
    }
    void derived(const ast::MetaItem& item) {
        if (item.kind == ast::MetaKind::Value || item.kind == ast::MetaKind::Tokens) {
            s_.sink->error(Code::E0777, item.span, "expected path to a trait, found literal").label(item.span, "not a trait").help("write the name without quotes");
        } else if (item.kind == ast::MetaKind::NameValue) {
            s_.sink->error(item.span, "traits in `#[derive(...)]` don't accept values");
        } else if (item.kind == ast::MetaKind::List) {
            s_.sink->error(item.span, "traits in `#[derive(...)]` don't accept arguments");
        }
    }
    void lint(const ast::MetaItem& item, bool last) {
        if (item.kind == ast::MetaKind::NameValue && last && meta_path_text(s_, crate_, item) == "reason" && meta_string(s_, crate_, item)) return;
        if (item.kind != ast::MetaKind::Word) {
            s_.sink->error(Code::E0452, item.span, "malformed lint attribute input").label(item.span, item.kind == ast::MetaKind::NameValue && !last ? "reason in lint attribute must come last" : "bad attribute argument");
            return;
        }
        const ast::Path& path = s_.ast_of(crate_)[item.path];
        if (path.segments.size() < 2 || is_tool_attribute(s_, crate_, item)) return;
        const ast::Ident tool = path.segments.front().ident;
        const std::string_view text = s_.text(tool.name);
        if (text == "rustc" || text == "rustdoc") return;
        s_.sink->error(Code::E0710, tool.span, fmt::format("unknown tool name `{}` found in scoped lint: `{}`", text, meta_path_text(s_, crate_, item)));
    }

    State& s_;
    std::uint32_t crate_;
    const Attr& attr_;
    AttributeKind kind_;
};

std::string plural(std::string_view what) {
    if (what == "implementation") return "impl blocks";
    if (what == "type alias") return "type aliases";
    return fmt::format("{}s", what);
}

std::optional<hir::IntKind> int_kind(std::string_view name) {
    static constexpr std::string_view kNames[] = {
#define OCKC_ROW(kind, text, ...) text,
        OCKC_PRIM_INTS(OCKC_ROW)
#undef OCKC_ROW
    };
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        if (kNames[i] == name) return static_cast<hir::IntKind>(i);
    }
    return std::nullopt;
}

// The number of `align(8)`, as far as it is one.
std::optional<std::uint64_t> meta_number(const ast::Crate& ast, const ast::MetaItem& meta) {
    if (meta.items.size() != 1 || !meta.items[0].value.valid()) return std::nullopt;
    const auto* literal = ast::get_if<ast::LiteralExpr>(ast[meta.items[0].value]);
    if (literal == nullptr || ast[literal->literal].kind != lex::LiteralKind::Integer || ast[literal->literal].suffix.valid()) return std::nullopt;
    const lex::UInt128 value = ast[literal->literal].value;
    return value > UINT32_MAX ? UINT32_MAX : static_cast<std::uint64_t>(value);
}

// The hints of a type's #[repr]s, and whether they go together.
class ReprReader {
  public:
    ReprReader(State& state, DefId def, const ast::Item& item) : s_(state), def_(def), item_(item), crate_(state[def].crate) {}

    hir::Repr run() {
        for (const hir::Attribute& attribute : s_[def_].attributes) {
            if (attribute.kind != AttributeKind::Repr) continue;
            if (attribute.meta.kind != ast::MetaKind::List) {
                error(Code::E0539, attribute.span, "malformed `repr` attribute input").help("write `#[repr(C)]`, `#[repr(u8)]` or the like");
                continue;
            }
            repr_.span = attribute.span;
            for (const ast::MetaItem& hint : attribute.meta.items) read(hint);
        }
        check();
        return repr_;
    }

  private:
    Diagnostic& error(Code code, Span span, std::string message) { return s_.sink->error(code, span, std::move(message)); }
    bool is_enum() const { return s_[def_].kind == DefKind::Enum; }
    void wrong_item(Span span, const char* wanted) {
        error(Code::E0517, span, fmt::format("attribute should be applied to {}", wanted)).label(s_[def_].name.span, fmt::format("not {}", wanted));
    }

    void read(const ast::MetaItem& hint) {
        if (hint.kind == ast::MetaKind::Value || hint.kind == ast::MetaKind::Tokens) {
            error(Code::E0565, hint.span, "meta item in `repr` must be an identifier").label(hint.span, "expected a valid identifier here");
            return;
        }
        const std::string name = meta_path_text(s_, crate_, hint);
        if (name == "align" || name == "packed") return alignment(hint, name == "packed");
        const auto integer = int_kind(name);
        const bool known = name == "C" || name == "Rust" || name == "transparent" || integer;
        if (known && hint.kind != ast::MetaKind::Word) {
            error(Code::E0552, hint.span, fmt::format("invalid representation hint: `{}` does not take a {}", name, hint.kind == ast::MetaKind::List ? "parenthesized argument list" : "value"));
            return;
        }
        hints_.push_back(hint.span);
        if (name == "C") {
            repr_.c = true;
        } else if (name == "Rust") {
            rust_ = true;
        } else if (name == "transparent") {
            repr_.transparent = true;
        } else if (integer) {
            ++integers_;
            if (is_enum()) repr_.integer = *integer;
            else wrong_item(hint.span, "an enum");
        } else {
            hints_.pop_back();
            error(Code::E0552, hint.span, fmt::format("unrecognized representation hint `{}`", name))
                .help("valid reprs are `Rust` (default), `C`, `align`, `packed`, `transparent`, `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `i64`, `u64`, `i128`, `u128`, `isize`, `usize`");
        }
    }

    void alignment(const ast::MetaItem& hint, bool packed) {
        const char* name = packed ? "packed" : "align";
        if (packed && is_enum()) return wrong_item(hint.span, "a struct or union");
        std::uint32_t align = 1;
        if (hint.kind == ast::MetaKind::NameValue || (hint.kind == ast::MetaKind::List && hint.items.size() != 1)) {
            error(Code::E0693, hint.span, fmt::format("incorrect `repr({})` attribute format", name)).help(fmt::format("write `{}(8)`", name));
            return;
        }
        if (hint.kind == ast::MetaKind::Word && !packed) {
            error(Code::E0589, hint.span, "invalid `repr(align)` attribute: `align` needs an argument").help("write `align(8)`");
            return;
        }
        if (hint.kind == ast::MetaKind::List) {
            const auto number = meta_number(s_.ast_of(crate_), hint);
            const char* wrong = !number ? "not an unsuffixed integer" : *number == 0 || (*number & (*number - 1)) != 0 ? "not a power of two" : *number > (1u << 29) ? "larger than 2^29" : nullptr;
            if (wrong != nullptr) {
                error(Code::E0589, hint.items[0].span, fmt::format("invalid `repr({})` attribute: {}", name, wrong));
                return;
            }
            align = static_cast<std::uint32_t>(*number);
        }
        hints_.push_back(hint.span);
        if (!packed) {
            aligned_ = true;
        } else if (repr_.packed && pack_ != align) {
            error(Code::E0634, head(), "type has conflicting packed representation hints");
        }
        if (packed) pack_ = align;
        repr_.packed = repr_.packed || packed;
        repr_.align = std::max(repr_.align, align);
    }

    Span head() const { return s_[def_].name.span; }

    void check() {
        if (repr_.packed && aligned_) error(Code::E0587, head(), "type has conflicting packed and align representation hints");
        if (repr_.transparent && hints_.size() > 1) {
            error(Code::E0692, hints_.front(), fmt::format("transparent {} cannot have other repr hints", hir::def_kind_text(s_[def_].kind)));
        }
        const auto* data = std::get_if<ast::EnumItem>(&item_.data);
        if (repr_.transparent && data != nullptr && data->variants.size() != 1) {
            error(Code::E0731, head(), fmt::format("transparent enum needs exactly one variant, but has {}", data->variants.size()))
                .label(head(), fmt::format("needs exactly one variant, but has {}", data->variants.size()));
        }
        const bool plain_enum = data != nullptr && std::all_of(data->variants.begin(), data->variants.end(), [](const ast::Variant& v) { return v.form == ast::VariantForm::Unit; });
        if (rust_ && (repr_.c || integers_ > 0)) {
            error(Code::E0566, hints_.front(), "conflicting representation hints");
        } else if (integers_ > 1 || (integers_ == 1 && repr_.c && plain_enum)) {
            error(Code::E0566, hints_.front(), "conflicting representation hints").note("`#[deny(conflicting_representation_hints)]` on by default");
        }
    }

    State& s_;
    DefId def_;
    const ast::Item& item_;
    std::uint32_t crate_;
    hir::Repr repr_;
    std::vector<Span> hints_;
    int integers_ = 0;
    bool rust_ = false, aligned_ = false;
    std::uint32_t pack_ = 0;
};

}  // namespace

void check_attribute_form(State& state, std::uint32_t crate, const Attr& attr, hir::AttributeKind kind) { FormCheck(state, crate, attr, kind).run(); }

void report_misplaced(State& state, const Attr& attr, hir::AttributeKind kind, std::string_view what) {
    static constexpr std::array kErrors = {AttributeKind::Inline, AttributeKind::TrackCaller, AttributeKind::TargetFeature, AttributeKind::NonExhaustive, AttributeKind::ExportName};
    if (kind == AttributeKind::Derive) {
        state.sink->error(Code::E0774, attr.span, "`derive` may only be applied to `struct`s, `enum`s and `union`s").label(attr.span, "not applicable here");
    } else if (kind == AttributeKind::Repr) {
        state.sink->error(Code::E0517, attr.span, "attribute should be applied to a struct, enum, or union");
    } else if (std::find(kErrors.begin(), kErrors.end(), kind) != kErrors.end()) {
        state.sink->error(attr.span, fmt::format("`#[{}]` attribute cannot be used on {}", attribute_name(kind), plural(what)));
    } else {
        state.sink->lint("unused_attributes", attr.span, fmt::format("`#[{}]` attribute cannot be used on {}", attribute_name(kind), plural(what)));
    }
}

hir::Repr read_reprs(State& state, DefId def, const ast::Item& item) { return ReprReader(state, def, item).run(); }

}  // namespace ockc::resolve
