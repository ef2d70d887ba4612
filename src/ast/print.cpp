#include "ast/print.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "ast/visit.hpp"
#include "support/text_writer.hpp"

namespace ockc::ast {

namespace {

// The row names of payloads.
#define OCKC_GENERIC_ARG(name, fields)                               \
    [[maybe_unused]] const char* row_name(const name##GenericArg*) { \
        return #name;                                                \
    }
#define OCKC_EXPR(name, fields)               \
    const char* row_name(const name##Expr*) { \
        return #name;                         \
    }
#define OCKC_PAT(name, fields)               \
    const char* row_name(const name##Pat*) { \
        return #name;                        \
    }
#define OCKC_TYPE(name, fields)               \
    const char* row_name(const name##Type*) { \
        return #name;                         \
    }
#define OCKC_STMT(name, fields)               \
    const char* row_name(const name##Stmt*) { \
        return #name;                         \
    }
#define OCKC_ITEM(name, fields)               \
    const char* row_name(const name##Item*) { \
        return #name;                         \
    }
#define OCKC_PART(name, fields)                          \
    [[maybe_unused]] const char* row_name(const name*) { \
        return #name;                                    \
    }
#define OCKC_RECORD(name, fields)                        \
    [[maybe_unused]] const char* row_name(const name*) { \
        return #name;                                    \
    }
#include "ast/node.def"

template <class Enum>
auto enum_text(Enum value) -> decltype(enum_name(value)) {
    return enum_name(value);
}
std::string_view enum_text(BinaryOp op) {
    return info(op).text;
}
std::string_view enum_text(UnaryOp op) {
    return info(op).text;
}

class Printer {
  public:
    explicit Printer(const PrintContext& context) : context_(context), out_(2) {}

    std::string take() { return out_.take(); }

    void unit(const SourceUnit& unit) {
        attributes(unit.attributes);
        for (const ItemId id : unit.items)
            value(id), out_.end_line();
    }

    // ---- leaves ----
    void value(bool) {}
    void value(std::uint32_t) {}
    void value(Span) {}
    void value(const Ident& ident) {
        if (ident.raw) out_.raw("r#");
        out_.raw(text(ident.name));
    }
    void value(Symbol symbol) { out_.put("\"{}\"", text(symbol)); }
    void value(LiteralId id) { out_.raw(context_.sources.text(context_.crate[id].span)); }
    void value(const TokenRange& range) {
        out_.raw("`");
        for (std::uint32_t i = range.begin; i < range.end; ++i) {
            if (i != range.begin && !range.buffer->touches_next(i - 1)) out_.raw(" ");
            out_.raw(context_.sources.text(range.buffer->span(i)));
        }
        out_.raw("`");
    }
    template <class Enum>
    requires std::is_enum_v<Enum>
    void value(Enum e) { out_.raw(enum_text(e)); }

    // ---- families ----
    void value(ExprId id) {
        const Expr& expr = context_.crate[id];
        attributes(expr.attributes);
        if (const auto* path = get_if<PathExpr>(expr)) return value(path->path);
        if (const auto* literal = get_if<LiteralExpr>(expr)) return value(literal->literal);
        payload(expr);
    }
    void value(TypeId id) {
        if (const auto* path = get_if<PathType>(context_.crate[id])) return value(path->path);
        payload(context_.crate[id]);
    }
    void value(PatId id) {
        const Pat& pat = context_.crate[id];
        if (const auto* path = get_if<PathPat>(pat)) return value(path->path);
        if (const auto* literal = get_if<LiteralPat>(pat)) return value(literal->value);
        const auto* ident = get_if<IdentPat>(pat);
        if (ident == nullptr || ident->sub.valid()) return payload(pat);
        if (ident->by_ref) out_.raw("ref ");
        if (ident->ref_mut || ident->is_mut) out_.raw("mut ");
        value(ident->ident);
    }
    void value(StmtId id) {
        const Stmt& stmt = context_.crate[id];
        attributes(stmt.attributes);
        if (const auto* item = get_if<ItemStmt>(stmt)) return value(item->item);
        payload(stmt);
    }
    void value(ItemId id) {
        const Item& item = context_.crate[id];
        attributes(item.attributes);
        out_.put("({}", std::visit([](const auto& p) { return row_name(&p); }, item.data));
        if (item.visibility.kind != VisibilityKind::Inherited) out_.raw(" "), value(item.visibility);
        if (item.ident.valid()) out_.raw(" "), value(item.ident);
        std::visit([&](const auto& p) { fields(p); }, item.data);
        out_.raw(")");
    }
    void value(const GenericArg& arg) {
        if (const auto* type = get_if<TypeGenericArg>(arg)) return value(type->type);
        if (const auto* lifetime = get_if<LifetimeGenericArg>(arg)) return value(lifetime->lifetime);
        if (const auto* constant = get_if<ConstGenericArg>(arg)) return value(constant->value);
        payload(arg);
    }

    // ---- records and parts with a form of their own ----
    void value(PathId id) {
        const Path& path = context_.crate[id];
        std::uint32_t first = 0;
        if (path.qself.valid()) {
            out_.raw("<");
            value(path.qself);
            if (path.qself_position != 0) {
                out_.raw(" as ");
                if (path.global) out_.raw("::");
                for (; first < path.qself_position; ++first) {
                    if (first != 0) out_.raw("::");
                    value(path.segments[first]);
                }
            }
            out_.raw(">::");
        } else if (path.global) {
            out_.raw("::");
        }
        for (std::uint32_t i = first; i < path.segments.size(); ++i) {
            if (i != first) out_.raw("::");
            value(path.segments[i]);
        }
    }
    void value(const PathSegment& segment) {
        value(segment.ident);
        if (segment.args.valid()) value(segment.args);
    }
    void value(GenericArgsId id) {
        const GenericArgs& args = context_.crate[id];
        if (args.form == ArgsForm::ReturnNotation) return static_cast<void>(out_.raw("(..)"));
        const bool angle = args.form == ArgsForm::Angle;
        out_.raw(angle ? "<" : "(");
        inline_list(args.args, ", ");
        out_.raw(angle ? ">" : ")");
        if (args.output.valid()) out_.raw(" -> "), value(args.output);
    }
    void value(const Visibility& vis) {
        if (vis.kind == VisibilityKind::Inherited) return;
        out_.raw("pub");
        if (vis.kind == VisibilityKind::In) {
            out_.raw("(in "), value(vis.path), out_.raw(")");
        } else if (vis.kind != VisibilityKind::Public) {
            out_.put("({})", enum_text(vis.kind));
        }
    }
    void value(BlockId id) {
        const Block& block = context_.crate[id];
        out_.raw("{");
        out_.end_line();
        out_.indent();
        attributes(block.attributes);
        for (const StmtId stmt : block.statements)
            value(stmt), out_.end_line();
        if (block.tail.valid()) out_.raw("tail "), value(block.tail), out_.end_line();
        out_.dedent();
        out_.raw("}");
    }
    void value(AttributeId id) {
        const Attribute& attribute = context_.crate[id];
        out_.raw(attribute.is_inner ? "#![" : "#[");
        if (attribute.kind == AttributeKind::Doc) {
            out_.put("doc \"{}\"", text(attribute.doc));
        } else {
            if (attribute.is_unsafe) out_.raw("unsafe ");
            value(attribute.meta);
        }
        out_.raw("] ");
    }
    void value(const MetaItem& meta) {
        if (meta.path.valid()) value(meta.path);
        switch (meta.kind) {
            case MetaKind::Word: break;
            case MetaKind::NameValue: out_.raw(" = "), value(meta.value); break;
            case MetaKind::List: out_.raw("("), inline_list(meta.items, ", "), out_.raw(")"); break;
            case MetaKind::Value: value(meta.value); break;
            case MetaKind::Tokens: value(meta.tokens); break;
        }
    }
    void value(const MatchArm& arm) { boxed(arm); }

    // ---- everything else: by its fields ----
    template <class RecordId>
    requires requires(const Crate& c, RecordId id) { row_name(&c[id]); }
    void value(RecordId id) { boxed(context_.crate[id]); }
    template <class Part>
    requires requires(const Part* p) { row_name(p); }
    void value(const Part& part) { boxed(part); }

  private:
    std::string_view text(Symbol symbol) const { return context_.interner.text(symbol); }

    template <class Node>
    void payload(const Node& node) {
        std::visit([&](const auto& p) { boxed(p); }, node.data);
    }
    template <class Payload>
    void boxed(const Payload& p) {
        out_.put("({}", row_name(&p));
        fields(p);
        out_.raw(")");
    }
    template <class Payload>
    void fields(const Payload& p) {
        each_field(p, [&](const char* name, const auto& v) { field(name, v); });
    }
    void attributes(const Attributes& list) {
        for (const AttributeId id : list)
            value(id);
    }
    template <class T>
    void inline_list(const List<T>& list, std::string_view separator) {
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            if (i != 0) out_.raw(separator);
            value(list[i]);
        }
    }
    template <class T>
    static constexpr bool kOwnLine = std::is_same_v<T, ItemId> || std::is_same_v<T, MatchArm> ||
                                     std::is_same_v<T, Variant> || std::is_same_v<T, FieldDef>;

    // ---- which fields are worth a word ----
    template <class T>
    void field(const char* name, const List<T>& list) {
        if (list.empty()) return;
        if constexpr (std::is_same_v<T, AttributeId>) {
            out_.raw(" ");
            attributes(list);
        } else if constexpr (kOwnLine<T>) {
            out_.put(" {}=[", name);
            out_.end_line();
            out_.indent();
            for (const T& element : list)
                value(element), out_.end_line();
            out_.dedent();
            out_.raw("]");
        } else {
            out_.put(" {}=[", name);
            inline_list(list, " ");
            out_.raw("]");
        }
    }
    void field(const char* name, bool flag) {
        if (flag) out_.put(" {}", name);
    }
    void field(const char*, Span) {}
    void field(const char*, std::uint32_t) {}
    void field(const char* name, const Ident& ident) {
        if (ident.valid()) out_.put(" {}=", name), value(ident);
    }
    void field(const char* name, const Visibility& vis) {
        if (vis.kind != VisibilityKind::Inherited) out_.put(" {}=", name), value(vis);
    }
    void field(const char* name, const SelfParam& self) {
        if (self.kind != SelfKind::None) out_.put(" {}=", name), boxed(self);
    }
    void field(const char*, const FnHeader& header) { fields(header); }
    void field(const char* name, GenericsId id) {
        if (!id.valid()) return;
        const Generics& generics = context_.crate[id];
        if (generics.params.empty() && generics.predicates.empty()) return;
        out_.put(" {}=", name);
        boxed(generics);
    }
    template <class Tag>
    void field(const char* name, Id<Tag> id) {
        if (!id.valid()) return;
        out_.put(" {}=", name);
        value(id);
    }
    // The first value of an enumeration is the ordinary case.
    template <class Enum>
    requires std::is_enum_v<Enum>
    void field(const char* name, Enum e) {
        const bool is_operator = std::is_same_v<Enum, BinaryOp> || std::is_same_v<Enum, UnaryOp>;
        if (is_operator || static_cast<int>(e) != 0) out_.put(" {}=", name), value(e);
    }
    void field(const char* name, const PathSegment& segment) { out_.put(" {}=", name), value(segment); }
    void field(const char* name, const TokenRange& range) { out_.put(" {}=", name), value(range); }
    template <class T>
    requires requires(const T* p) { row_name(p); }
    void field(const char* name, const T& part) {
        out_.put(" {}=", name);
        value(part);
    }

    const PrintContext& context_;
    TextWriter out_;
};

template <class T>
std::string print_one(const T& id, const PrintContext& context) {
    Printer printer(context);
    printer.value(id);
    return printer.take();
}

}  // namespace

std::string print(const SourceUnit& unit, const PrintContext& context) {
    Printer printer(context);
    printer.unit(unit);
    return printer.take();
}
std::string print(ItemId item, const PrintContext& context) {
    return print_one(item, context);
}
std::string print(ExprId expr, const PrintContext& context) {
    return print_one(expr, context);
}
std::string print(PatId pat, const PrintContext& context) {
    return print_one(pat, context);
}
std::string print(TypeId type, const PrintContext& context) {
    return print_one(type, context);
}
std::string print(BlockId block, const PrintContext& context) {
    return print_one(block, context);
}
std::string print(PathId path, const PrintContext& context) {
    return print_one(path, context);
}

}  // namespace ockc::ast
