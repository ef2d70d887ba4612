// Items whose shape is the point: macros, function pointers, traits of the standard library for types of the program, lifetimes,
// constants computed by loops. The holes in each are expressions of the generator.
#include <fmt/format.h>

#include "body.hpp"

namespace ockc::difftest {

// A function of the program whose body is these lines.
void Generator::shape(const std::string& name, std::vector<Param> params, TypePtr result, const std::string& head, const std::vector<std::string>& lines, std::uint64_t cost) {
    line(fmt::format("fn {}({}) -> {} {{", name, head, result->name));
    for (const std::string& one : lines) line("    " + one);
    line("}");
    functions_.push_back({name, {}, std::move(params), result, cost});
}

// A value computed by a closure of its own: `return` and `?` inside stay inside.
std::string Generator::enclosed(TypePtr type, std::uint32_t depth) {
    frames_.push_back({type, true, {}});
    const std::string value = frozen(type, depth);
    frames_.pop_back();
    return fmt::format("(|| -> {} {{ {} }})()", type->name, value);
}

TypePtr Generator::ordered_type() {
    const std::uint32_t at = random_.below(static_cast<std::uint32_t>(ints_.size()) + 2);
    return at < ints_.size() ? ints_[at] : scalars_[scalars_.size() - 1 - (at - ints_.size())];   // char, bool
}

void Generator::itemMacro() {
    const TypePtr type = integer();
    const std::string mac = fresh("mac"), made = fresh("f"), name = fresh("f");
    line(fmt::format("macro_rules! {} {{", mac));
    line("    (pick $c:expr => $a:expr, $b:expr) => { if $c { $a } else { $b } };");
    line(fmt::format("    (sum $($x:expr),* $(,)?) => {{{{ let mut t: {} = 0; $(t = t.wrapping_add($x);)* t }}}};", type->name));
    line(fmt::format("    (fun $name:ident $op:tt) => {{ fn $name(a: {0}, b: {0}) -> {0} {{ a $op b }} }};", type->name));
    line(fmt::format("    (nest [$($k:literal: $($v:ident)+);+]) => {{ 0{} $($(^ ({}!(sum $v, $k)))+)+ }};", type->name, mac));
    line("}");
    line(fmt::format("{}!(fun {} {});", mac, made, std::array{"^", "&", "|"}[random_.below(3)]));
    Body function(*this, type);
    declare("t", type, false);
    declare("x", type, false);
    const std::string first = expr(type, 3).text, condition = boolean(2), second = expr(type, 2).text;
    shape(name, {{type, Pass::Value}, {type, Pass::Value}}, type, fmt::format("s: u64, t: {0}, x: {0}", type->name),
          {fmt::format("let n = {}!(nest [1: t x; 2: x]);", mac),
           fmt::format("{0}!(pick {1} => {0}!(sum {2}, t, n), {3}({4}, x))", mac, condition, first, made, second)}, cost_ + 20);
}

void Generator::itemFnPointer() {
    const TypePtr argument = any_type(), result = any_type();
    const std::string pointer = fmt::format("fn(u64, {}) -> {}", argument->name, result->name), table = fresh("PT"), holder = fresh("PS"), name = fresh("f");
    std::string targets[3];
    std::uint64_t cost = 10;
    for (std::uint32_t i = 0; i < 2; ++i) {
        targets[i] = fresh("p");
        Body function(*this, result);
        declare("x", argument, false);
        function_body(fmt::format("fn {}(s: u64, x: {}) -> {} {{", targets[i], argument->name, result->name), result, random_.below(3));
        cost += 3 * cost_;
    }
    line(fmt::format("const {}: [{}; 3] = [{}, {}, |_, _| {}];", table, pointer, targets[0], targets[1], constant_text(result)));
    line(fmt::format("struct {} {{ f: {}, g: Option<{}> }}", holder, pointer, pointer));
    Body function(*this, result);
    declare("x", argument, false);
    const std::string condition = boolean(2), other = expr(argument, 2).text;
    shape(name, {{argument, Pass::Value}}, result, fmt::format("s: u64, x: {}", argument->name),
          {fmt::format("let g = {}[(s % 3) as usize];", table),
           fmt::format("let h = {} {{ f: if {} {{ {} }} else {{ g }}, g: (s & 8 == 0).then_some({} as {}) }};", holder, condition, targets[1], targets[0], pointer),
           "let _a = (h.f)(s, x);",
           fmt::format("match h.g {{ Some(k) => k(s, x), None => g(mix(s, 1), {}) }}", other)}, cost + cost_);
}

void Generator::itemImplReturn() {
    const TypePtr item = any_type(), word = int_type(64, false);
    const std::string made = fresh("it"), closure = fresh("mk"), name = fresh("f");
    line(fmt::format("fn {}(s: u64) -> impl Iterator<Item = {}> {{", made, item->name));
    std::uint64_t cost = 0;
    {
        Body function(*this, item);
        frames_.back().is_closure = true;
        repeat_ = 4;
        line(fmt::format("    (0..s % 4).map(move |i| {{ let s = mix(s, i); {} }})", expr(item, 3).text));
        cost = cost_;
    }
    line("}");
    line(fmt::format("fn {0}(k: {1}) -> impl Fn(u64, {1}) -> {1} {{", closure, word->name));
    {
        Body function(*this, word);
        frames_.back().is_closure = true;
        declare("k", word, false);
        declare("x", word, false);
        line(fmt::format("    move |s, x| {}", expr(word, 3).text));
        cost += 3 * cost_;
    }
    line("}");
    Body function(*this, word);
    shape(name, {}, word, "s: u64",
          {fmt::format("let g = {}(s);", closure), "let twice = |x| g(s, g(s, x));", "let mut calls = 0u64;",
           "let mut step = || { calls += 1; twice(calls) };", "let a = step();", "let b = step();",
           fmt::format("fn once<F: FnOnce(u64) -> u64>(f: F) -> u64 {{ f({}) }}", random_.below(100)),
           fmt::format("{}(s).fold(once(move |x| x ^ a ^ b), |h, x| mix(h, x.bits()))", made)}, cost + 40);
}

void Generator::itemIndexed() {
    const TypePtr element = any_type(), word = int_type(64, false);
    const std::uint32_t length = random_.between(1, 5);
    const std::string type = fresh("N"), name = fresh("f");
    line(fmt::format("struct {} {{ a: [{}; {}] }}", type, element->name, length));
    line(fmt::format("impl core::ops::Index<u32> for {} {{ type Output = {}; fn index(&self, i: u32) -> &Self::Output {{ &self.a[i as usize % {}] }} }}", type, element->name, length));
    line(fmt::format("impl core::ops::IndexMut<u32> for {} {{ fn index_mut(&mut self, i: u32) -> &mut {} {{ &mut self.a[i as usize % {}] }} }}", type, element->name, length));
    line(fmt::format("impl core::ops::Deref for {} {{ type Target = [{}]; fn deref(&self) -> &[{}] {{ &self.a }} }}", type, element->name, element->name));
    line(fmt::format("impl core::ops::DerefMut for {} {{ fn deref_mut(&mut self) -> &mut [{}] {{ &mut self.a }} }}", type, element->name));
    Body function(*this, word);
    declare("x", element, false);
    const std::string all = expr(array_of(element, length), 2).text, other = expr(element, 2).text;
    shape(name, {{element, Pass::Value}}, word, fmt::format("s: u64, x: {}", element->name),
          {fmt::format("let mut n = {} {{ a: {} }};", type, all), "n[s as u32] = x;", "let last = n.len() - 1;", "n.swap(0, last);",
           fmt::format("if let Some(e) = n.last_mut() && s & 2 != 0 {{ *e = {}; }}", other),
           "let h = mix(n[1].bits(), n[s as u32 ^ 5].bits());", "n.iter().rev().fold(h, |h, e| mix(h, e.bits()))"}, cost_ + 40);
}

void Generator::itemAssignOps() {
    const TypePtr type = integer(), word = int_type(64, false);
    const std::string made = fresh("N"), name = fresh("f");
    const auto body = [&](const char* trait, const char* rhs, const char* method, const std::string& text) {
        line(fmt::format("impl core::ops::{}{} for {} {{ fn {}(&mut self, x: {}) {{ let s = mix(7, x.bits()); {} }} }}", trait, rhs, made, method, type->name, text));
    };
    line("#[derive(Clone, Copy)]");
    line(fmt::format("struct {0} {{ a: {1}, b: {1} }}", made, type->name));
    std::string texts[4];
    {
        Body function(*this, type);
        declare("x", type, false);
        declare("self.a", type, false);
        declare("self.b", type, false);
        for (std::string& text : texts) text = enclosed(type, 3);   // the operators give other types
    }
    const std::string rhs = "<" + type->name + ">";
    body("AddAssign", rhs.c_str(), "add_assign", fmt::format("self.a = {};", texts[0]));
    body("ShlAssign", rhs.c_str(), "shl_assign", fmt::format("self.b = {};", texts[1]));
    line(fmt::format("impl core::ops::Neg for {0} {{ type Output = {0}; fn neg(self) -> {0} {{ let s = self.a.bits(); let x = self.b; {0} {{ a: {1}, ..self }} }} }}", made, texts[2]));
    line(fmt::format("impl core::ops::Not for {0} {{ type Output = {1}; fn not(self) -> {1} {{ let s = self.b.bits(); let x = self.a; {2} }} }}", made, type->name, texts[3]));
    Body function(*this, word);
    declare("x", type, false);
    const std::string a = expr(type, 2).text, b = expr(type, 2).text;
    shape(name, {{type, Pass::Value}}, word, fmt::format("s: u64, x: {}", type->name),
          {fmt::format("let mut n = {} {{ a: x, b: {} }};", made, a), fmt::format("n += {};", b), "n <<= x;", "let m = -n;",
           "mix(mix((!m).bits(), m.a.bits()), n.b.bits())"}, 600);
}

void Generator::itemFromError() {
    const TypePtr cause = any_type(), value = any_type(), word = int_type(64, false);
    const std::string small = fresh("Small"), large = fresh("Large"), tries = fresh("f"), inner = fresh("f"), name = fresh("f");
    line(fmt::format("struct {}({});", small, cause->name));
    line(fmt::format("enum {} {{ Cause({}), Number(u8) }}", large, cause->name));
    line(fmt::format("impl From<{0}> for {1} {{ fn from(e: {0}) -> {1} {{ {1}::Cause(e.0) }} }}", small, large));
    line(fmt::format("impl From<u8> for {0} {{ fn from(e: u8) -> Self {{ {0}::Number(e) }} }}", large));
    std::uint64_t cost = 0;
    {
        Body function(*this, word);
        declare("x", cause, false);
        line(fmt::format("fn {}(s: u64, x: {}) -> Result<{}, {}> {{", tries, cause->name, value->name, small));
        const std::string condition = enclosed(scalars_[scalars_.size() - 2], 2);
        line(fmt::format("    if {} {{ Err({}(x)) }} else {{ Ok({}) }}", condition, small, enclosed(value, 3)));
        line("}");
        cost += 2 * cost_;
    }
    {
        Body function(*this, word);
        declare("x", cause, false);
        line(fmt::format("fn {}(s: u64, x: {}) -> Result<{}, {}> {{", inner, cause->name, value->name, large));
        line(fmt::format("    let v = {}(s, x)?;", tries));
        line(fmt::format("    if s & 4 == 0 {{ Err({})?; }}", random_.chance(50) ? "3u8" : small + "(x)"));
        line(fmt::format("    let w = {}(mix(s, 3), {})?;", tries, enclosed(cause, 2)));
        line("    Ok(if s & 1 == 0 { v } else { w })");
        line("}");
        cost += cost_;
    }
    shape(name, {{cause, Pass::Value}}, word, fmt::format("s: u64, x: {}", cause->name),
          {fmt::format("let into: {} = {}(x).into();", large, small),
           fmt::format("let h = match into {{ {0}::Cause(c) => c.bits(), {0}::Number(n) => n as u64 }};", large),
           fmt::format("match {}(s, x) {{ Ok(v) => mix(h, v.bits()), Err({}::Cause(c)) => mix(1, c.bits()), Err({}::Number(n)) => n as u64 }}", inner, large, large)}, cost + 20);
}

void Generator::itemDefaults() {
    const TypePtr a = scalar_type(), b = scalar_type(), word = int_type(64, false);
    const std::string type = fresh("N"), choice = fresh("M"), name = fresh("f");
    line("#[derive(Clone, Copy, Default, PartialEq)]");
    line(fmt::format("struct {} {{ a: {}, b: {}, c: [bool; 2], d: Option<char> }}", type, a->name, b->name));
    line("#[derive(Clone, Copy, Default)]");
    line(fmt::format("enum {}<T> {{ A(T), #[default] B, C {{ x: u8, n: {} }} }}", choice, type));
    Body function(*this, word);
    declare("x", a, false);
    const std::string other = expr(b, 2).text, condition = boolean(2);
    shape(name, {{a, Pass::Value}}, word, fmt::format("s: u64, x: {}", a->name),
          {fmt::format("let n = {} {{ a: x, ..Default::default() }};", type),
           fmt::format("let m = {0} {{ b: {1}, ..{0}::default() }};", type, other),
           fmt::format("let c: {0}<u16> = if {1} {{ Default::default() }} else if s & 1 == 0 {{ {0}::A(s as u16) }} else {{ {0}::C {{ x: 3, n }} }};", choice, condition),
           fmt::format("let h = match c {{ {0}::A(t) => t as u64, {0}::B => 77, {0}::C {{ x, n: inner }} => mix(x as u64, inner.a.bits()) }};", choice),
           "mix(mix(h, m.b.bits()), (n == m) as u64 + n.c[1] as u64 + m.d.is_some() as u64)"}, cost_ + 30);
}

void Generator::itemOrders() {
    const TypePtr a = ordered_type(), b = ordered_type(), word = int_type(64, false);
    const std::string type = fresh("N"), choice = fresh("O"), name = fresh("f");
    const char* derive = "#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]";
    line(derive);
    line(fmt::format("struct {} {{ a: {}, b: {} }}", type, a->name, b->name));
    line(derive);
    line(fmt::format("enum {0} {{ P, Q({1}), R {{ n: {1}, flag: bool }} }}", choice, type));
    Body function(*this, word);
    std::string items;
    const std::uint32_t count = random_.between(2, 5);
    for (std::uint32_t i = 0; i < count; ++i) items += fmt::format("{} {{ a: {}, b: {} }}, ", type, expr(a, 2).text, expr(b, 1).text);
    shape(name, {}, word, "s: u64",
          {fmt::format("let mut v = [{}];", items), "let first = v[0];", random_.chance(50) ? "v.sort_unstable();" : "v.sort_unstable_by(|x, y| y.cmp(x));",
           fmt::format("let c = if s & 1 == 0 {{ {0}::Q(v[0]) }} else {{ {0}::R {{ n: v[1], flag: s & 2 == 0 }} }};", choice),
           fmt::format("let d = [{0}::P, {0}::Q(v[1]), {0}::R {{ n: first, flag: true }}][(s % 3) as usize];", choice),
           "let found = v.binary_search(&first).unwrap_or(9) as u64;", "let (low, high) = (v[0].min(v[1]), v[0].max(v[1]));",
           "let mut h = v.iter().fold(found, |h, n| mix(mix(h, n.a.bits()), n.b.bits()));",
           "h = mix(h, c.cmp(&d) as u64 ^ (c < d) as u64 ^ ((c.max(d) == c) as u64) << 4);",
           "h = mix(h, first.clamp(low, high).a.bits());",
           "let top = v.iter().enumerate().max_by_key(|&(_, n)| core::cmp::Reverse(*n)).map_or(9, |(i, _)| i);",
           "mix(h, (v[0].b, v[0].a).cmp(&(first.b, first.a)) as u64 + top as u64)"}, cost_ + 200);
}

void Generator::itemLifetimes() {
    const TypePtr element = any_type(), word = int_type(64, false);
    const std::string type = fresh("R"), longest = fresh("longest"), name = fresh("f");
    line(fmt::format("struct {}<'a> {{ a: &'a [{}], at: usize }}", type, element->name));
    line(fmt::format("impl<'a> {}<'a> {{", type));
    line(fmt::format("    fn step(&mut self) -> Option<&'a {}> {{ let x = self.a.get(self.at)?; self.at += 1; Some(x) }}", element->name));
    line(fmt::format("    fn rest(&self) -> &'a [{}] {{ &self.a[self.at.min(self.a.len())..] }}", element->name));
    line("}");
    line(fmt::format("fn {0}<'a, T>(x: &'a [T], y: &'a [T]) -> &'a [T] {{ if x.len() >= y.len() {{ x }} else {{ y }} }}", longest));
    Body function(*this, word);
    declare("(*x)", element, false);
    const std::string seen = expr(int_type(64, false), 2).text;
    shape(name, {{element, Pass::Slice}}, word, fmt::format("s: u64, a: &[{}]", element->name),
          {fmt::format("let mut r = {} {{ a, at: (s % 3) as usize }};", type), "let mut h = s;",
           fmt::format("while let Some(x) = r.step() && h & 64 == 0 {{ h = mix(h, {}) ^ x.bits(); }}", seen),
           fmt::format("let part = {}(r.rest(), &a[..a.len() / 2]);", longest), "part.iter().fold(h, |h, x| mix(h, x.bits()))"}, 6 * cost_ + 50);
}

void Generator::itemGenericTrait() {
    const TypePtr self = any_type(), a = scalar_type(), word = int_type(64, false);
    TypePtr b = scalar_type();
    while (b == a) b = scalar_type();
    const std::string trait = fresh("Conv"), apply = fresh("f"), name = fresh("f");
    line(fmt::format("trait {0}<T> {{ fn conv{0}(&self, s: u64) -> T; fn both{0}(&self, s: u64) -> (T, T) where T: Copy {{ let x = self.conv{0}(s); (x, self.conv{0}(mix(s, 2))) }} }}", trait));
    std::uint64_t cost = 20;
    for (const TypePtr to : {a, b}) {
        line(fmt::format("impl {}<{}> for {} {{", trait, to->name, self->name));
        ++indent_;
        Body function(*this, to);
        declare("(*self)", self, false);
        function_body(fmt::format("fn conv{}(&self, s: u64) -> {} {{", trait, to->name), to, random_.below(2));
        --indent_;
        line("}");
        cost += 3 * cost_;
    }
    line(fmt::format("fn {0}<X, T>(x: &X, s: u64) -> T where X: {1}<T> + ?Sized, T: Copy {{ let pair: (T, T) = x.both{1}(s); if s & 1 == 0 {{ pair.0 }} else {{ pair.1 }} }}", apply, trait));
    shape(name, {{self, Pass::Value}}, word, fmt::format("s: u64, x: {}", self->name),
          {fmt::format("let a: {} = {}(&x, s);", a->name, apply), fmt::format("let b = {}::<_, {}>(&x, s);", apply, b->name),
           fmt::format("let c: {} = x.conv{}(s);", a->name, trait), "mix(mix(a.bits(), b.bits()), c.bits())"}, cost);
}

void Generator::itemSupertraits() {
    const TypePtr a = integer(), b = any_type(), word = int_type(64, false);
    const std::string base = fresh("Base"), over = fresh("Over"), wide = fresh("Wide"), type = fresh("N"), name = fresh("f");
    line(fmt::format("trait {0} {{ type Out: Bits + Copy; const LIMIT: usize = 2; fn make{0}(&self, s: u64) -> Self::Out; }}", base));
    line(fmt::format("trait {0}: {1} + Copy {{ fn twice{0}(self, s: u64) -> [Self::Out; 2] {{ [self.make{1}(s), self.make{1}(mix(s, 4))] }} }}", over, base));
    line(fmt::format("impl<T: {1} + Copy> {0} for T where T::Out: Copy {{}}", over, base));
    line(fmt::format("trait {} {{ fn total(self, s: u64) -> u64; }}", wide));
    line(fmt::format("impl<T, const K: usize> {0} for [T; K] where T: {1}<Out = {2}> {{", wide, over, b->name));
    line("    fn total(self, s: u64) -> u64 {");
    line("        let mut h = T::LIMIT as u64 ^ (K as u64) << 8;");
    line(fmt::format("        self.into_iter().take(T::LIMIT).for_each(|x| {{ let [p, q] = x.twice{}(s); h = mix(h ^ p.bits(), q.bits()); }});", over));
    line("        h");
    line("    }");
    line("}");
    line("#[derive(Clone, Copy)]");
    line(fmt::format("struct {}<T>({}, core::marker::PhantomData<T>);", type, a->name));
    line(fmt::format("impl<T: Copy> {} for {}<T> {{", base, type));
    line(fmt::format("    type Out = {};", b->name));
    if (random_.chance(50)) line(fmt::format("    const LIMIT: usize = {};", random_.between(0, 4)));
    ++indent_;
    std::uint64_t cost = 40;
    {
        Body function(*this, b);
        declare("self.0", a, false);
        function_body(fmt::format("fn make{}(&self, s: u64) -> Self::Out {{", base), b, random_.below(3));
        cost += 6 * cost_;
    }
    --indent_;
    line("}");
    Body function(*this, word);
    declare("x", a, false);
    const std::string first = expr(a, 2).text;
    shape(name, {{a, Pass::Value}}, word, fmt::format("s: u64, x: {}", a->name),
          {fmt::format("let n = {}({}, core::marker::PhantomData::<char>);", type, first), fmt::format("let m = {} {{ 0: x, ..n }};", type),
           fmt::format("{}::total([n, m, n], s) ^ match s & 3 {{ 0 => 1, 1 => m.make{}(s).bits(), 2 | 3 => [m].total(7), _ => {} }}", wide, base,
                       std::array{"unreachable!()", "panic!(\"never {}\", s)", "todo!()"}[random_.below(3)])},
          cost + cost_);
}

void Generator::itemConstTable() {
    const TypePtr type = integer();
    const std::uint32_t length = random_.between(1, 12);
    const std::string table = fresh("TAB"), holder = fresh("H"), name = fresh("f");
    line(fmt::format("const {}: [{}; {}] = {{", table, type->name, length));
    line(fmt::format("    let mut t = [{}; {}];", literal_int(type, false), length));
    line("    let mut i = 0;");
    line(fmt::format("    while i < {} {{", length));
    line(fmt::format("        t[i] = (i as {0}).wrapping_mul({1}) ^ match i % 3 {{ 0 => {2}, 1 => t[i / 2], _ => !t[i - 1] }};", type->name, literal_int(type, false), literal_int(type, false)));
    line("        i += 1;");
    line("    }");
    line("    t");
    line("};");
    line(fmt::format("struct {}<const N: usize>;", holder));
    line(fmt::format("impl<const N: usize> {}<N> {{", holder));
    line(fmt::format("    const LAST: {} = {}[N % {}];", type->name, table, length));
    line(fmt::format("    const ALL: [{0}; N] = [Self::LAST; N];", type->name));
    line("}");
    Body function(*this, type);
    declare("x", type, false);
    const std::string other = expr(type, 3).text;
    shape(name, {{type, Pass::Value}}, type, fmt::format("s: u64, x: {}", type->name),
          {fmt::format("const K: {} = {}::<{}>::LAST;", type->name, holder, random_.below(20)),
           fmt::format("let n = const {{ {}::<{}>::ALL.len() }} as {};", holder, random_.between(1, 9), type->name),
           fmt::format("{}[(s % {}) as usize] ^ K ^ n ^ {}::<{}>::ALL[(s % 2) as usize] ^ ({})", table, length, holder, random_.between(2, 5), other)}, cost_ + 20);
}

void Generator::itemPointers() {
    const TypePtr element = any_type(), word = int_type(64, false);
    const std::string sum = fresh("f"), name = fresh("f");
    line(fmt::format("unsafe fn {}(p: *const {}, n: usize) -> u64 {{", sum, element->name));
    line("    let mut h = n as u64;");
    line("    let mut i = 0;");
    line("    while i < n { h = mix(h, unsafe { *p.add(i) }.bits()); i += 1; }");
    line("    h");
    line("}");
    Body function(*this, word);
    declare("x", element, false);
    const std::string other = expr(element, 2).text;
    shape(name, {{element, Pass::Slice}, {element, Pass::Value}}, word, fmt::format("s: u64, a: &[{0}], x: {0}", element->name),
          {fmt::format("let mut room = [x, {}, x];", other), "let p = &raw mut room[0];",
           "unsafe { *p.add((s % 3) as usize) = p.add(1).read(); p.write(x); core::ptr::swap(p, p.add(2)); }",
           "let q = room.as_ptr();", fmt::format("let h = unsafe {{ {0}(a.as_ptr(), a.len()) ^ {0}(q, 3) }};", sum),
           "mix(h, unsafe { (&*q.add(1)).bits() } ^ (q.is_null() as u64))"}, cost_ + 60);
}

void Generator::itemModules() {
    const TypePtr type = integer();
    const std::string outer = fresh("outer"), p = fresh("P"), q = fresh("Q"), name = fresh("f"), deep = fresh("deep"), d = fresh("D"), renamed = fresh("RE");
    line(fmt::format("mod {} {{", outer));
    line("    use super::*;");
    line(fmt::format("    pub mod {} {{", deep));
    line("        use super::super::*;");
    line(fmt::format("        pub const A: {} = {};", type->name, literal_int(type, false)));
    line(fmt::format("        pub struct C(pub {0}, pub(crate) {0});", type->name));
    line(fmt::format("        pub enum {} {{ {}, {}({}) }}", d, p, q, type->name));
    ++indent_;
    ++indent_;
    std::uint64_t cost = 10;
    {
        Body function(*this, type);
        function_body(fmt::format("pub(super) fn hidden(s: u64) -> {} {{", type->name), type, random_.below(2));
        cost += cost_;
    }
    --indent_;
    --indent_;
    line("    }");
    line(fmt::format("    pub fn b(s: u64) -> {} {{ self::{}::hidden(s) }}", type->name, deep));
    line("}");
    line(fmt::format("use {0}::{{{1}::{{self, {2}::{{self, *}}, A as {3}}}, b as b{0}}};", outer, deep, d, renamed));
    shape(name, {}, type, "s: u64",
          {fmt::format("let v = if s & 1 == 0 {{ {} }} else {{ {}(b{}(s)) }};", p, q, outer), fmt::format("let w: {0} = if s & 2 == 0 {{ v }} else {{ {0}::{1} }};", d, p),
           fmt::format("match w {{ {} => {}, {}(x) => {{ let c = {}::C(x, {}::A); c.0 ^ c.1 }} }}", p, renamed, q, deep, deep)}, cost);
}

void Generator::itemText() {
    const TypePtr word = int_type(64, false);
    const std::string names = fresh("f"), name = fresh("f");
    line(fmt::format("fn {}(s: u64) -> &'static str {{ match s % 5 {{ 0 => \"alpha\", 1 => \"b\\u{{e9}}\\t\", 2 => r#\"raw \"x\"\"#, 3 => \"\", _ => concat!(\"n\", 1, true) }} }}", names));
    Body function(*this, word);
    declare("k", word, false);
    const std::string other = expr(word, 3).text;
    shape(name, {}, word, "s: u64",
          {fmt::format("let t = {}(s);", names), "let k = match t { \"alpha\" => 1, \"\" | \"n1true\" => 2, _ if t.len() > 4 => 3, _ => t.len() as u64 };",
           "let h = t.bytes().fold(k, |h, b| mix(h, b as u64));", "let h = t.chars().rev().fold(h, |h, c| mix(h, c as u64));",
           "let c = match t.chars().next() { Some('a'..='m') => b'\\n', Some('\\u{72}' | 's') => b\"xyz\"[1], Some(c) if c.is_ascii() => c as u8, Some(_) | None => 0x7f };",
           fmt::format("mix(h ^ c as u64, {}) ^ (t < {}(s >> 8)) as u64", other, names)}, cost_ + 120);
}

void Generator::itemDiverging() {
    const TypePtr result = any_type(), other = any_type();
    const std::string name = fresh("f");
    Body function(*this, result);
    declare("x", result, false);
    std::string e[5];
    for (std::string& text : e) text = expr(result, 2).text;
    const std::string o = expr(other, 2).text, condition = boolean(2);
    shape(name, {{result, Pass::Value}}, result, fmt::format("s: u64, x: {}", result->name),
          {fmt::format("let v = match s % 4 {{ 0 => {}, 1 => return {}, 2 => loop {{ break {}; }}, _ => x }};", e[0], e[1], e[2]),
           fmt::format("let _w: {} = if {} {{ {} }} else {{ return {} }};", other->name, condition, o, e[3]), "let mut hits = 0u32;",
           "'rows: for i in 0..4u32 {", "    for j in (0..3).rev() {", "        if (s >> (i * 3 + j)) & 3 == 0 { continue 'rows; }", "        if i + j > 4 { break 'rows; }",
           "        hits += 1;", "    }", "    hits += 10;", "}", "let total = 'out: { if hits > 20 { break 'out 1; } while hits > 3 { hits -= 2; } hits };",
           fmt::format("if total & 1 == 0 {{ v }} else {{ {} }}", e[4])}, cost_ + 120);
}

void Generator::itemPatterns() {
    const TypePtr type = integer(), element = any_type(), word = int_type(64, false);
    const std::string name = fresh("f");
    Body function(*this, word);
    const std::string condition = boolean(2);
    const std::uint32_t low = random_.between(1, 4), high = low + random_.between(2, 5);
    shape(name, {{type, Pass::Value}, {element, Pass::Slice}}, word, fmt::format("s: u64, x: {}, a: &[{}]", type->name, element->name),
          {"let y = x & 15;", "let k = match (y, a) {", fmt::format("    (..={}, []) => 1,", low),
           fmt::format("    (n @ ({} | {}..={}), [one]) => mix(n.bits(), one.bits()),", low + 1, low + 2, high),
           fmt::format("    ({}.., [f, .., l]) if {} => mix(f.bits(), l.bits()),", high, condition), "    (_, [f, rest @ ..]) if rest.len() > 2 => mix(f.bits(), rest.len() as u64),",
           "    (n, [.., l] | [l, _, ..]) => mix(l.bits(), n.bits()),", "    (n, _) => n.bits(),", "};",
           "let pair = &(Some((y, k)), [s, k]);", "let (Some((m, _)), [p, q]) = pair else { return k; };",
           "let &(ref whole, [_, last]) = pair;", fmt::format("let t = matches!(whole, Some(({}..={}, _)) | None) as u64;", low, high),
           "mix(mix(m.bits(), *p ^ *q), last ^ t)"}, 80);
}

void Generator::itemLiterals() {
    const TypePtr word = int_type(64, false);
    const std::string name = fresh("f");
    shape(name, {}, word, "s: u64",
          {fmt::format("let a = [0x{:x}_u32, 0b{:b}, 0o{:o}_u32, 1_000 + {}];", random_.below(1u << 20), random_.below(512), random_.below(4096), random_.below(9)),
           fmt::format("let f = [{}.5e-{}_f64, {}e{}, 2., 1E+2];", random_.below(99), random_.below(9), random_.between(1, 99), random_.below(9)),
           fmt::format("let g = {}_f32 * s as u16 as f32;", random_.below(1000)),
           fmt::format("let b = (b'\\x{:02x}', '\\u{{{:x}}}', b\"\\0a\\\\\", -{}i128);", random_.below(128), random_.below(0xd000), random_.bits()),
           "let h = a.iter().fold(s, |h, x| mix(h, *x as u64));", "let h = f.iter().fold(h, |h, x| mix(h, (*x * s as f64).bits()));",
           "mix(mix(h, g.bits()), b.0 as u64 ^ b.1 as u64 ^ b.2[2] as u64 ^ b.3 as u64 ^ (b.3 >> 64) as u64)"}, 40);
}

void Generator::itemRanges() {
    const TypePtr element = any_type(), word = int_type(64, false);
    const std::string name = fresh("f");
    shape(name, {{element, Pass::Slice}}, word, fmt::format("s: u64, a: &[{}]", element->name),
          {"let n = a.len();", "let (lo, hi) = ((s % 3) as usize, (s >> 9) as usize % (n + 1));", "let r = lo.min(n)..hi.max(lo.min(n));",
           "let part = &a[r.clone()];", "let mut h = mix(part.len() as u64, r.len() as u64 ^ (r.contains(&1) as u64) << 9);",
           "for (i, x) in a[..hi].iter().chain(&a[hi..]).enumerate() { h = mix(h, x.bits() ^ i as u64); }",
           "h = mix(h, a.get(lo..=hi).map_or(7, |p| p.len() as u64));", "for c in a.chunks(2) { h = mix(h, c[c.len() - 1].bits()); }",
           "for [x, y] in a.windows(2).filter_map(|w| <[_; 2]>::try_from(w).ok()) { h = mix(h, x.bits() ^ y.bits()); }",
           "let step: u64 = (1..=9u64).rev().step_by(1 + lo).map(|k| k * k).sum();", "let (l, r) = a.split_at(hi);",
           "mix(h, step ^ l.first().map_or(1, |x| x.bits()) ^ (r.len() as u64))"}, 150);
}

void Generator::itemSizes() {
    const TypePtr word = int_type(64, false), a = any_type(), b = any_type();
    const std::string name = fresh("f"), twice = fresh("tw");
    line(fmt::format("fn {}<T: Copy, const N: usize>(x: T) -> ([T; N], usize) {{ ([x; N], core::mem::size_of::<[T; N]>()) }}", twice));
    Body function(*this, word);
    declare("x", a, false);
    const std::string other = expr(b, 2).text;
    shape(name, {{a, Pass::Value}}, word, fmt::format("s: u64, x: {}", a->name),
          {fmt::format("let (mut v, n) = {}::<_, {}>(x);", twice, random_.between(1, 4)), fmt::format("let mut o = Some({});", other),
           "let old = core::mem::replace(&mut v[0], x);", "let taken = o.take();", "let back = core::mem::take(&mut o);",
           "core::mem::swap(&mut o, &mut { taken });",
           fmt::format("let z = size_of::<Option<{0}>>() + align_of::<({0}, u8)>() + size_of_val(&v) + n;", b->name),
           "mix(mix(old.bits(), taken.bits()), z as u64 ^ back.is_some() as u64 ^ (o.is_some() as u64) << 40)"}, cost_ + 40);
}

MaybeExpr Generator::exprIterReduce(TypePtr type, std::uint32_t depth) {
    if (type->kind != Kind::Option) return std::nullopt;
    const TypePtr item = type->parts[0];
    std::optional<Chain> from = chain(depth);
    if (!from) return std::nullopt;
    if (from->item != item) from->text += fmt::format(".map({})", closure(from->item, item, false, from->most, depth));
    switch (random_.below(3)) {
        case 0: {
            const std::string a = fresh("x"), b = fresh("x");
            const Freeze freeze(*this);
            const Scope scope(*this);
            frames_.push_back({item, true, {}});
            declare(a, item, false);
            declare(b, item, false);
            repeat_ *= from->most + 1;
            const std::string value = expr(item, depth).text;
            repeat_ /= from->most + 1;
            frames_.pop_back();
            return Expr{fmt::format("{}.reduce(|{}, {}| {})", from->text, a, b, value)};
        }
        case 1: return Expr{fmt::format("{}.{}({})", from->text, random_.chance(50) ? "min_by_key" : "max_by_key", closure(item, integer(), true, from->most, depth))};
        default: return Expr{fmt::format("{}.find_map(|x| {}(x))", from->text, "Some")};
    }
}

MaybeExpr Generator::exprIterTry(TypePtr type, std::uint32_t depth) {
    const bool option = type->kind == Kind::Option;
    if (!option && type->kind != Kind::Result) return std::nullopt;
    const std::optional<Chain> from = chain(depth);
    if (!from) return std::nullopt;
    const TypePtr value = type->parts[0];
    const std::string h = fresh("x"), x = fresh("x"), start = frozen(value, depth);
    const Freeze freeze(*this);
    const Scope scope(*this);
    frames_.push_back({type, true, {}});
    declare(h, value, false);
    declare(x, from->item, false);
    repeat_ *= from->most + 1;
    const std::string step = expr(type, depth).text;
    repeat_ /= from->most + 1;
    frames_.pop_back();
    // A range as the receiver would be a temporary like any other: `try_fold` takes it by mutable reference.
    return Expr{fmt::format("({{ let mut it = {}; it.try_fold({}, |{}, {}| -> {} {{ {} }}) }})", from->text, start, h, x, type->name, step)};
}

}  // namespace ockc::difftest
