#include "hir/print.hpp"

#include "hir/print_impl.hpp"

namespace ockc::hir {

// ---- paths and types

std::string Printer::lifetime(const Lifetime& l) {
    switch (l.kind) {
        case Lifetime::Kind::Elided: return "";
        case Lifetime::Kind::Static: return "'static";
        case Lifetime::Kind::Infer: return "'_";
        case Lifetime::Kind::Param:
        case Lifetime::Kind::Error: return std::string(text(l.ident.name));
    }
    OCKC_UNREACHABLE("lifetime kind");
}

std::string Printer::for_lifetimes(List<DefId> lifetimes) {
    if (lifetimes.empty()) return "";
    std::string result = "for<";
    for (std::size_t i = 0; i < lifetimes.size(); ++i) result += fmt::format("{}{}", i == 0 ? "" : ", ", p_.name(lifetimes[i]));
    return result + "> ";
}

std::string Printer::constant(DefId id) {
    if (!id.valid()) return "_";
    const BodyId body = p_.as<AnonConstDef>(id).body;
    return body.valid() ? body_value(body) : "{error}";
}

std::string Printer::args(const GenericArgs& a) {
    std::string result = "<";
    const auto add = [&](const std::string& part) { result += (result.size() > 1 ? ", " : "") + part; };
    for (const GenericArg& arg : a.args) {
        switch (arg.kind) {
            case GenericArg::Kind::Lifetime: add(lifetime(arg.lifetime)); break;
            case GenericArg::Kind::Type: add(type(arg.type)); break;
            case GenericArg::Kind::Const: add("{ " + constant(arg.constant) + " }"); break;
        }
    }
    for (const AssocConstraint& c : a.constraints) {
        const std::string name = std::string(text(c.name.name)) + (c.args != nullptr ? args(*c.args) : "");
        if (c.type.valid()) add(fmt::format("{} = {}", name, type(c.type)));
        else if (c.constant.valid()) add(fmt::format("{} = {{ {} }}", name, constant(c.constant)));
        else add(fmt::format("{}: {}", name, bounds(c.bounds)));
    }
    return result + ">";
}

std::string Printer::segment(const PathSegment& s, bool last) {
    static_cast<void>(last);
    std::string result(text(s.ident.name));
    if (s.args != nullptr) result += "::" + args(*s.args);
    return result;
}

// Items print as their full path, whatever the source called them.
std::string Printer::path(const Path& p) {
    std::string own;
    for (std::size_t i = 0; i < p.segments.size(); ++i) own += (i == 0 ? "" : "::") + segment(p.segments[i], i + 1 == p.segments.size());
    switch (p.res.kind) {
        case Res::Kind::Error: return "{error}";
        case Res::Kind::Prim: return std::string(kPrimNames[static_cast<std::size_t>(p.res.prim)]);
        case Res::Kind::Local: return local(p.res.local);
        case Res::Kind::SelfParam:
        case Res::Kind::SelfAlias:
        case Res::Kind::SelfCtor: return "Self";
        case Res::Kind::Def: break;
    }
    const DefKind kind = p_.defs[p.res.def].kind;
    if (kind == DefKind::TyParam || kind == DefKind::ConstParam || kind == DefKind::AssocFn || kind == DefKind::AssocTy || kind == DefKind::AssocConst) return own;
    std::string result = p_.path_text(p.res.def);
    // Arguments may stand on the enum of a variant; they are shown at the end.
    for (const PathSegment& s : p.segments) {
        if (s.args != nullptr) result += "::" + args(*s.args);
    }
    return result;
}

std::string Printer::path(const QPath& q) {
    if (q.kind == QPath::Kind::TypeRelative) return fmt::format("<{}>::{}", type(q.self_type), segment(q.segment, true));
    if (!q.self_type.valid() || q.path.segments.empty()) return path(q.path);
    std::string trait;
    for (std::size_t i = 0; i + 1 < q.path.segments.size(); ++i) trait += (i == 0 ? "" : "::") + segment(q.path.segments[i], false);
    return fmt::format("<{} as {}>::{}", type(q.self_type), trait, segment(q.path.segments.back(), true));
}

std::string Printer::type(TyId id) {
    if (!id.valid()) return "()";
    const auto list = [&](List<TyId> types) {
        std::string result;
        for (std::size_t i = 0; i < types.size(); ++i) result += (i == 0 ? "" : ", ") + type(types[i]);
        return result;
    };
    return std::visit(
        ast::Overloaded{
            [&](std::monostate) { return std::string("{none}"); },
            [&](const InferTy&) { return std::string("_"); },
            [&](const NeverTy&) { return std::string("!"); },
            [&](const PathTy& t) { return path(*t.path); },
            [&](const RefTy& t) {
                const std::string l = lifetime(t.lifetime);
                return fmt::format("&{}{}{}{}", l, l.empty() ? "" : " ", t.mutability == Mutability::Mut ? "mut " : "", type(t.inner));
            },
            [&](const RawPtrTy& t) { return fmt::format("*{} {}", t.mutability == Mutability::Mut ? "mut" : "const", type(t.inner)); },
            [&](const SliceTy& t) { return "[" + type(t.element) + "]"; },
            [&](const ArrayTy& t) { return "[" + type(t.element) + "; " + constant(t.length) + "]"; },
            [&](const TupleTy& t) { return "(" + list(t.elements) + (t.elements.size() == 1 ? ",)" : ")"); },
            [&](const FnPtrTy& t) {
                return fmt::format("{}{}{}fn({}) -> {}", for_lifetimes(t.fn.for_lifetimes), t.fn.is_unsafe ? "unsafe " : "", t.fn.is_extern ? "extern " : "", list(t.fn.inputs), type(t.fn.output));
            },
            [&](const ImplTraitTy& t) { return "impl " + bounds(p_.as<TypeAliasDef>(t.def).bounds); },
            [&](const ErrorTy&) { return std::string("{error}"); },
        },
        p_.types[id].data);
}

std::string Printer::bounds(List<Bound> list) {
    std::string result;
    for (const Bound& b : list) {
        if (!result.empty()) result += " + ";
        switch (b.kind) {
            case Bound::Kind::Outlives: result += lifetime(b.lifetime); break;
            case Bound::Kind::Trait: result += (b.maybe ? "?" : "") + for_lifetimes(b.for_lifetimes) + path(b.trait_path); break;
            case Bound::Kind::Use: {
                std::string names;
                for (const Lifetime& one : b.captures) names += (names.empty() ? "" : ", ") + lifetime(one);
                result += "use<" + names + ">";
                break;
            }
        }
    }
    return result;
}

std::string Printer::generics(const Generics& g) {
    if (g.params.empty()) return "";
    std::string result = "<";
    for (const GenericParam& param : g.params) {
        if (result.size() > 1) result += ", ";
        if (param.kind == GenericParam::Kind::Const) result += "const ";
        result += text(param.ident.name);
        if (param.kind == GenericParam::Kind::Const) result += ": " + type(param.const_type);
        else if (!param.bounds.empty()) result += ": " + bounds(param.bounds);
        if (param.default_type.valid()) result += " = " + type(param.default_type);
        if (param.default_const.valid()) result += " = { " + constant(param.default_const) + " }";
    }
    return result + ">";
}

std::string Printer::where(const Generics& g) {
    if (g.predicates.empty()) return "";
    std::string result = " where ";
    for (std::size_t i = 0; i < g.predicates.size(); ++i) {
        const WherePredicate& w = g.predicates[i];
        if (i != 0) result += ", ";
        result += for_lifetimes(w.for_lifetimes) + (w.bounded_type.valid() ? type(w.bounded_type) : lifetime(w.lifetime)) + ": " + bounds(w.bounds);
    }
    return result;
}

// ---- items

namespace {

constexpr std::string_view kAttributeNames[] = {
#define OCKC_ATTRIBUTE(kind, name, origin, targets) name,
#include "hir/attributes.def"
};

}  // namespace

void Printer::head(const Def& def) {
    for (const Attribute& a : def.attributes) out_.line("#[{}]", kAttributeNames[static_cast<std::size_t>(a.kind)]);
    if (!def.lang_item.empty()) out_.line("#[lang = \"{}\"]", def.lang_item);
    if (!def.intrinsic.empty()) out_.line("#[intrinsic(\"{}\")]", def.intrinsic);
    if (def.visibility.is_public) out_.raw("pub ");
}

void Printer::fn(DefId id, const Def& def, const FnDef& data) {
    head(def);
    std::string inputs;
    for (const FnParam& input : data.sig.inputs) {
        if (!inputs.empty()) inputs += ", ";
        if (data.body.valid()) {
            body_ = p_.bodies[data.body].get();
            inputs += pat(input.pat) + ": ";
            body_ = nullptr;
        } else if (input.name.name.valid()) {
            inputs += fmt::format("{}: ", text(input.name.name));
        }
        inputs += type(input.type);
    }
    out_.put("{}{}fn {}{}({})", data.sig.is_const ? "const " : "", data.sig.is_unsafe ? "unsafe " : "", p_.name(id), generics(data.generics), inputs);
    if (data.sig.output.valid()) out_.put(" -> {}", type(data.sig.output));
    out_.raw(where(data.generics));
    if (!data.body.valid()) {
        out_.raw(";").end_line();
        return;
    }
    out_.raw(" ");
    body(data.body);
    out_.end_line();
}

void Printer::adt(const Def& def, const AdtDef& data) {
    head(def);
    const auto fields = [&](const VariantData& variant) {
        if (variant.form == VariantForm::Unit) return;
        out_.raw(variant.form == VariantForm::Tuple ? "(" : " { ");
        for (std::size_t i = 0; i < variant.fields.size(); ++i) {
            const FieldDef& field = variant.fields[i];
            out_.raw(i == 0 ? "" : ", ").raw(field.visibility.is_public ? "pub " : "");
            if (variant.form == VariantForm::Named) out_.put("{}: ", text(field.name.name));
            out_.raw(type(field.type));
        }
        out_.raw(variant.form == VariantForm::Tuple ? ")" : " }");
    };
    out_.put("{} {}{}{}", def_kind_text(def.kind), text(def.name.name), generics(data.generics), where(data.generics));
    if (def.kind != DefKind::Enum) {
        if (!data.variants.empty()) fields(data.variants[0]);
        out_.raw(";").end_line();
        return;
    }
    out_.raw(" {").end_line();
    out_.indent();
    for (const VariantData& variant : data.variants) {
        out_.raw(text(variant.name.name));
        fields(variant);
        if (variant.discriminant.valid()) out_.put(" = {}", constant(variant.discriminant));
        out_.raw(",").end_line();
    }
    out_.dedent();
    out_.line("}}");
}

void Printer::trait(const Def& def, const TraitDef& data) {
    head(def);
    out_.put("{}{}trait {}{}", data.is_unsafe ? "unsafe " : "", data.is_auto ? "auto " : "", text(def.name.name), generics(data.generics));
    if (!data.supertraits.empty()) out_.put(": {}", bounds(data.supertraits));
    out_.put("{} {{", where(data.generics)).end_line();
    out_.indent();
    for (const DefId member : data.items) item(member);
    out_.dedent();
    out_.line("}}");
}

void Printer::impl(const ImplDef& data) {
    if (data.derived) out_.line("#[derived]");
    out_.put("{}impl{} ", data.is_unsafe ? "unsafe " : "", generics(data.generics));
    if (data.has_trait) out_.put("{}{} for ", data.is_negative ? "!" : "", path(data.trait_path));
    out_.put("{}{} {{", type(data.self_type), where(data.generics)).end_line();
    out_.indent();
    for (const DefId member : data.items) item(member);
    out_.dedent();
    out_.line("}}");
}

void Printer::item(DefId id) {
    const Def& def = p_.defs[id];
    if (!def.lowered) return;
    std::visit(
        ast::Overloaded{
            [&](const PlainDef&) {},
            [&](const ModDef& d) {
                if (d.is_device) out_.line("#[cuda_module]");
                if (d.is_tile) out_.line("#[cutile::module]");
                if (def.parent.valid()) out_.line("mod {} {{", text(def.name.name)).indent();
                for (const DefId member : d.items) item(member);
                for (const DefId i : p_.impls) {   // derived ones are no items of the source
                    if (p_.defs[i].parent == id && p_.as<ImplDef>(i).derived) item(i);
                }
                if (!def.parent.valid()) return;
                out_.dedent();
                out_.line("}}");
            },
            [&](const AdtDef& d) { adt(def, d); },
            [&](const TraitDef& d) { trait(def, d); },
            [&](const ImplDef& d) { impl(d); },
            [&](const FnDef& d) { fn(id, def, d); },
            [&](const ConstDef& d) {
                head(def);
                out_.put("const {}: {}", text(def.name.name), type(d.type));
                if (d.body.valid()) out_.put(" = {}", body_value(d.body));
                out_.raw(";").end_line();
            },
            [&](const StaticDef& d) {
                head(def);
                out_.put("static {}{}: {}", d.is_mut ? "mut " : "", text(def.name.name), type(d.type));
                if (d.body.valid()) out_.put(" = {}", body_value(d.body));
                out_.raw(";").end_line();
            },
            [&](const TypeAliasDef& d) {
                head(def);
                out_.put("type {}{}", text(def.name.name), generics(d.generics));
                if (!d.bounds.empty()) out_.put(": {}", bounds(d.bounds));
                if (d.type.valid()) out_.put(" = {}", type(d.type));
                out_.raw(";").end_line();
            },
            [&](const AnonConstDef&) {},
            [&](const ParamDef&) {},
        },
        def.data);
}

std::string print(const Program& program, const PrintOptions& options) {
    Printer printer(program);
    for (const Crate& crate : program.crates) {
        if (!crate.is_library || options.library) printer.item(crate.root);
    }
    return printer.take();
}

std::string print_type(const Program& program, TyId type) { return Printer(program).type(type); }
std::string print_path(const Program& program, const QPath& path) { return Printer(program).path(path); }

}  // namespace ockc::hir
