// Items: types, constants, traits and their impls.
#include <fmt/format.h>

#include "body.hpp"

namespace ockc::difftest {

void Generator::derives(bool comparable) {
    if (!comparable) return line("#[derive(Clone, Copy)]");
    line(random_.chance(50) ? "#[derive(Clone, Copy, PartialEq, PartialOrd)]" : "#[derive(Copy, Clone, PartialOrd, PartialEq)]");
}

void Generator::fields_text(const Variant& variant, std::string& text) const {
    if (variant.shape == Shape::Unit) return;
    text += variant.shape == Shape::Tuple ? "(" : " { ";
    for (std::size_t i = 0; i < variant.fields.size(); ++i) {
        const Field& field = variant.fields[i];
        text += (i != 0 ? ", " : "") + (variant.shape == Shape::Named ? field.name + ": " : "") + field.type->name;
    }
    text += variant.shape == Shape::Tuple ? ")" : " }";
}

// `impl Bits`: one number out of every field.
void Generator::bits_impl(TypePtr type) {
    line(fmt::format("impl Bits for {} {{", type->name));
    line("    fn bits(self) -> u64 {");
    line("        match self {");
    for (std::size_t v = 0; v < type->variants.size(); ++v) {
        const Variant& variant = type->variants[v];
        std::string head = type->name + (variant.name.empty() ? "" : "::" + variant.name), names, value = fmt::format("{}u64", v + 1);
        for (std::size_t i = 0; i < variant.fields.size(); ++i) {
            const std::string name = fmt::format("b{}", i);
            names += (i != 0 ? ", " : "") + (variant.shape == Shape::Named ? variant.fields[i].name + ": " : "") + name;
            value = fmt::format("mix({}, {}.bits())", value, name);
        }
        if (variant.shape == Shape::Tuple) head += "(" + names + ")";
        if (variant.shape == Shape::Named) head += " { " + names + " }";
        line(fmt::format("            {} => {},", head, value));
    }
    line("        }");
    line("    }");
    line("}");
}

void Generator::struct_item(Shape shape) {
    Type type{Kind::Struct, fresh("S"), 0, false, {}, 0, {}};
    Variant variant{{}, shape, {}};
    if (shape != Shape::Unit) {
        const std::uint32_t count = random_.between(1, 4);
        for (std::uint32_t i = 0; i < count; ++i) {
            variant.fields.push_back({shape == Shape::Named ? fmt::format("a{}", i) : std::to_string(i), any_type()});
        }
    }
    type.variants.push_back(variant);
    std::string text = "struct " + type.name;
    fields_text(variant, text);
    derives(type.comparable());
    if (shape == Shape::Named && random_.chance(20)) line("#[repr(C)]");
    line(text + (shape == Shape::Named ? "" : ";"));
    const TypePtr made = make_type(std::move(type));
    structs_.push_back(made);
    composites_.push_back(made);
    bits_impl(made);
}

void Generator::itemNamedStruct() { struct_item(Shape::Named); }
void Generator::itemTupleStruct() { struct_item(Shape::Tuple); }
void Generator::itemUnitStruct() { struct_item(Shape::Unit); }

// struct NAME<T> with two instances and methods of both.
void Generator::itemGenericStruct() {
    const std::string name = fresh("G");
    const TypePtr other = scalar_type();
    derives(true);
    line(fmt::format("struct {}<T> {{ a: T, b: {}, c: T }}", name, other->name));
    line(fmt::format("impl<T: Bits> Bits for {}<T> {{", name));
    line("    fn bits(self) -> u64 { mix(mix(self.a.bits(), self.b.bits()), self.c.bits()) }");
    line("}");
    line(fmt::format("impl<T: Copy> {}<T> {{", name));
    line(fmt::format("    fn swapped{}(self, _s: u64) -> {}<T> {{ {} {{ a: self.c, c: self.a, ..self }} }}", name, name, name));
    line(fmt::format("    fn pick{}(&self, s: u64) -> T {{ if s & 1 == 0 {{ self.a }} else {{ self.c }} }}", name));
    line(fmt::format("    fn put{}(&mut self, _s: u64, x: T) -> T {{ let old = self.a; self.a = x; old }}", name));
    line("}");
    for (int i = 0; i < 2; ++i) {
        const TypePtr argument = any_type();
        Type type{Kind::Struct, fmt::format("{}<{}>", name, argument->name), 0, false, {}, 0, {}};
        type.generic = true;
        type.variants.push_back({{}, Shape::Named, {{"a", argument}, {"b", other}, {"c", argument}}});
        const TypePtr made = make_type(std::move(type));
        composites_.push_back(made);
        const std::string path = fmt::format("{}::<{}>::", name, argument->name);
        methods_.push_back({path + "swapped" + name, "swapped" + name, {{made, Pass::Value}}, made, 4});
        methods_.push_back({path + "pick" + name, "pick" + name, {{made, Pass::Ref}}, argument, 4});
        methods_.push_back({path + "put" + name, "put" + name, {{made, Pass::Mut}, {argument, Pass::Value}}, argument, 4});
    }
}

void Generator::itemPayloadEnum() {
    Type type{Kind::Enum, fresh("E"), 0, false, {}, 0, {}};
    const std::uint32_t count = random_.between(1, 5);
    std::string text;
    for (std::uint32_t v = 0; v < count; ++v) {
        Variant variant{fmt::format("V{}", v), static_cast<Shape>(random_.below(3)), {}};
        if (variant.shape != Shape::Unit) {
            const std::uint32_t fields = random_.between(1, 3);
            for (std::uint32_t i = 0; i < fields; ++i) variant.fields.push_back({variant.shape == Shape::Named ? fmt::format("a{}", i) : std::to_string(i), any_type()});
        }
        text += (v != 0 ? ", " : "") + variant.name;
        fields_text(variant, text);
        type.variants.push_back(std::move(variant));
    }
    derives(type.comparable());
    line(fmt::format("enum {} {{ {} }}", type.name, text));
    const TypePtr made = make_type(std::move(type));
    enums_.push_back(made);
    composites_.push_back(made);
    bits_impl(made);
}

void Generator::itemPlainEnum() {
    Type type{Kind::Enum, fresh("D"), 0, false, {}, 0, {}};
    type.plain = true;
    const TypePtr repr = ints_[random_.below(8)];
    const std::uint32_t count = random_.between(2, 6);
    std::string text;
    std::int64_t value = repr->is_signed ? -static_cast<std::int64_t>(random_.below(100)) : random_.below(100);
    for (std::uint32_t v = 0; v < count; ++v) {
        const bool is_explicit = v == 0 || random_.chance(50);
        if (is_explicit && v != 0) value += random_.below(10);
        text += fmt::format("{}V{}{}", v != 0 ? ", " : "", v, is_explicit ? fmt::format(" = {}", value) : "");
        ++value;
        type.variants.push_back({fmt::format("V{}", v), Shape::Unit, {}});
    }
    derives(type.comparable());
    if (random_.chance(60)) line(fmt::format("#[repr({})]", repr->name));
    line(fmt::format("enum {} {{ {} }}", type.name, text));
    const TypePtr made = make_type(std::move(type));
    enums_.push_back(made);
    composites_.push_back(made);
    bits_impl(made);
}

// A value that needs nothing but literals.
std::string Generator::constant_text(TypePtr type) {
    if (type->scalar()) return literal_scalar(type, false);
    std::string text;
    if (type->kind == Kind::Option) return random_.chance(30) ? "None" : fmt::format("Some({})", constant_text(type->parts[0]));
    if (type->kind == Kind::Result) {
        const bool good = random_.chance(60);
        return fmt::format("{}({})", good ? "Ok" : "Err", constant_text(type->parts[good ? 0 : 1]));
    }
    if (type->kind == Kind::Tuple) {
        for (const TypePtr part : type->parts) text += (text.empty() ? "" : ", ") + constant_text(part);
        return "(" + text + ")";
    }
    if (type->kind == Kind::Array) {
        for (std::uint32_t i = 0; i < type->length; ++i) text += (text.empty() ? "" : ", ") + constant_text(type->parts[0]);
        return "[" + text + "]";
    }
    const Variant& variant = random_.pick(type->variants);
    std::string head = type->name.substr(0, type->name.find('<')) + (variant.name.empty() ? "" : "::" + variant.name);
    for (const Field& field : variant.fields) {
        text += (text.empty() ? "" : ", ") + (variant.shape == Shape::Named ? field.name + ": " : "") + constant_text(field.type);
    }
    return variant.shape == Shape::Unit ? head : variant.shape == Shape::Tuple ? fmt::format("{}({})", head, text) : fmt::format("{} {{ {} }}", head, text);
}

void Generator::itemConst() {
    const std::uint32_t count = random_.between(2, 5);
    for (std::uint32_t i = 0; i < count; ++i) {
        const TypePtr type = any_type();
        const std::string name = fresh("K");
        line(fmt::format("const {}: {} = {};", name, type->name, constant_text(type)));
        constants_.push_back({name, type, type->scalar()});
    }
}

void Generator::itemConstFn() {
    const TypePtr type = integer();
    const std::string function = fresh("cf"), name = fresh("K");
    line(fmt::format("const fn {0}(a: {1}, b: {1}) -> {1} {{", function, type->name));
    line("    let mut r = a;");
    line("    let mut i = 0u8;");
    line("    while i < 5 {");
    line("        r = if r > b { (r >> 1) ^ b } else { (r & b) | (b << 1) };");
    line("        i += 1;");
    line("    }");
    line("    r");
    line("}");
    line(fmt::format("const {}: {} = {}({}, {});", name, type->name, function, literal_int(type, false), literal_int(type, false)));
    constants_.push_back({name, type, true});
}

void Generator::itemStatic() {
    const TypePtr type = any_type();
    const std::string name = fresh("ST");
    line(fmt::format("static {}: {} = {};", name, type->name, constant_text(type)));
    constants_.push_back({name, type, false});
}

void Generator::itemTypeAlias() {
    const TypePtr type = any_type();
    const std::string alias = fresh("A"), name = fresh("f");
    line(fmt::format("type {} = {};", alias, type->name));
    line(fmt::format("fn {0}(s: u64, x: {1}, y: {1}) -> {1} {{ if s & 4 == 0 {{ x }} else {{ y }} }}", name, alias));
    functions_.push_back({name, {}, {{type, Pass::Value}, {type, Pass::Value}}, type, 3});
}

void Generator::itemImpl() {
    for (const TypePtr type : structs_) methods_of(type);
    for (const TypePtr type : enums_) {
        if (random_.chance(50)) methods_of(type);
    }
}

void Generator::methods_of(TypePtr type) {
    const TypePtr constant = scalar_type();
    const std::string name = fresh("C");
    line(fmt::format("impl {} {{", type->name));
    ++indent_;
    line(fmt::format("const {}: {} = {};", name, constant->name, literal_scalar(constant, false)));
    constants_.push_back({type->name + "::" + name, constant, true});
    std::vector<Function> made;
    for (const Pass pass : {Pass::Ref, Pass::Value, Pass::Mut, Pass::Slice}) {
        if (random_.chance(40)) continue;
        const bool is_method = pass != Pass::Slice;
        Function method{{}, is_method ? fresh("m") : "", {}, is_method ? any_type() : type, 1};
        const std::string own = is_method ? method.method : fresh("new");
        method.path = type->name + "::" + own;
        method.params = parameters(random_.below(3));
        Body function(*this, method.result);
        const std::string rest = declare_parameters(method.params, 0);
        const char* self = pass == Pass::Ref ? "&self, " : pass == Pass::Value ? "self, " : pass == Pass::Mut ? "&mut self, " : "";
        if (is_method) {
            declare(pass == Pass::Value ? "self" : "(*self)", type, pass == Pass::Mut);
            method.params.insert(method.params.begin(), Param{type, pass});
        }
        function_body(fmt::format("fn {}({}s: u64{}) -> {} {{", own, self, rest, random_.chance(50) && !is_method ? "Self" : method.result->name), method.result,
                      random_.between(0, 2));
        method.cost = cost_ + 1;
        made.push_back(std::move(method));
    }
    --indent_;
    line("}");
    for (Function& one : made) methods_.push_back(std::move(one));
}

void Generator::itemTrait() {
    Trait trait{fresh("T"), scalar_type(), scalar_type(), {}};
    const std::string& name = trait.name;
    const bool super = random_.chance(30);
    if (super) line(fmt::format("trait Super{} {{ fn base{}(&self) -> u64 {{ 5 }} }}", name, name));
    line(fmt::format("trait {}{} {{", name, super ? ": Super" + name : ""));
    ++indent_;
    const bool has_default = random_.chance(50);
    line(fmt::format("const K: {}{};", trait.result->name, has_default ? " = " + literal_scalar(trait.result, false) : ""));
    line(fmt::format("fn act{}(&self, s: u64, x: {}) -> {};", name, trait.argument->name, trait.result->name));
    {
        Body function(*this, trait.result);
        declare("t", trait.result, false);
        if (super) declare("u", int_type(64, false), false);
        line(fmt::format("fn twice{}(&self, s: u64) -> {} {{", name, trait.result->name));
        line(fmt::format("    let t = self.act{}(s, {});", name, literal_scalar(trait.argument, false)));
        if (super) line(fmt::format("    let u = self.base{}();", name));
        ++indent_;
        line(expr(trait.result, 3).text);
        --indent_;
        line("}");
    }
    --indent_;
    line("}");
    std::vector<TypePtr> implementors = {scalar_type()};
    if (!structs_.empty()) implementors.push_back(random_.pick(structs_));
    if (!enums_.empty()) implementors.push_back(random_.pick(enums_));
    for (const TypePtr type : implementors) {
        if (super) line(fmt::format("impl Super{} for {} {{{}}}", name, type->name, random_.chance(50) ? fmt::format(" fn base{}(&self) -> u64 {{ 9 }} ", name) : ""));
        line(fmt::format("impl {} for {} {{", name, type->name));
        ++indent_;
        if (!has_default || random_.chance(50)) line(fmt::format("const K: {} = {};", trait.result->name, literal_scalar(trait.result, false)));
        Body function(*this, trait.result);
        declare("x", trait.argument, false);
        declare("(*self)", type, false);
        function_body(fmt::format("fn act{}(&self, s: u64, x: {}) -> {} {{", name, trait.argument->name, trait.result->name), trait.result, random_.below(2));
        --indent_;
        line("}");
    }
    trait.implementors = implementors;
    traits_.push_back(std::move(trait));
}

void Generator::itemAssocType() {
    const std::string name = fresh("Q");
    line(fmt::format("trait {} {{ type Out; fn conv{}(&self, s: u64) -> Self::Out; }}", name, name));
    std::vector<TypePtr> implementors = {scalar_type()};
    if (!composites_.empty() && random_.chance(60)) implementors.push_back(random_.pick(composites_));
    for (const TypePtr type : implementors) {
        const TypePtr out = any_type();
        line(fmt::format("impl {} for {} {{", name, type->name));
        ++indent_;
        line(fmt::format("type Out = {};", out->name));
        Function method{fmt::format("{}::conv{}", name, name), "conv" + name, {{type, Pass::Ref}}, out, 1};
        {
            Body function(*this, out);
            declare("(*self)", type, false);
            function_body(fmt::format("fn conv{}(&self, s: u64) -> {} {{", name, random_.chance(50) ? "Self::Out" : out->name), out, random_.below(2));
            method.cost = cost_ + 1;
        }
        --indent_;
        line("}");
        methods_.push_back(std::move(method));
    }
}

void Generator::itemOperators() {
    if (structs_.empty()) return;
    const TypePtr self = random_.pick(structs_), right = random_.chance(50) ? self : any_type();
    for (const auto& [trait, method] : {std::pair{"Add", "add"}, std::pair{"Mul", "mul"}}) {
        const std::string argument = right == self && random_.chance(50) ? "" : "<" + right->name + ">";
        line(fmt::format("impl core::ops::{}{} for {} {{", trait, argument, self->name));
        ++indent_;
        line(fmt::format("type Output = {};", self->name));
        Body function(*this, self);
        declare("self", self, false);
        declare("x", right, false);
        line(fmt::format("fn {}(self, x: {}) -> {} {{", method, right->name, self->name));
        ++indent_;
        line(fmt::format("let s = mix({}, 1);", random_.below(1000)));   // a call: no lint knows its value
        line(expr(self, 3).text);
        --indent_;
        line("}");
        --indent_;
        line("}");
    }
    operators_.push_back({self, right});
}

void Generator::itemIterator() {
    const TypePtr item = any_type();
    const std::string name = fresh("W");
    line(fmt::format("struct {} {{ left: u32, s: u64 }}", name));
    line(fmt::format("impl {0} {{ fn new(s: u64) -> {0} {{ {0} {{ left: (s % 5) as u32, s }} }} }}", name));
    line(fmt::format("impl Iterator for {} {{", name));
    ++indent_;
    line(fmt::format("type Item = {};", item->name));
    Body function(*this, option_of(item));
    declare("self.left", int_type(32, false), false);
    line(fmt::format("fn next(&mut self) -> Option<{}> {{", item->name));
    ++indent_;
    line("if self.left == 0 { return None; }");
    line("self.left -= 1;");
    line("let s = mix(self.s, self.left as u64);");
    line(fmt::format("Some({})", expr(item, 2).text));
    --indent_;
    line("}");
    --indent_;
    line("}");
    iterators_.push_back({name, item});
}

}  // namespace ockc::difftest
