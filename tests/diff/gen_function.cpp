// Functions, and the whole program.
#include <fmt/format.h>

#include "body.hpp"

namespace ockc::difftest {

const std::array<ConstructInfo, kConstructs>& constructs() {
    static constexpr std::array<ConstructInfo, kConstructs> kInfo = {{
#define DIFF_EXPR(id, weight, types, name) {name, weight},
#define DIFF_STMT(id, weight, name) {name, weight},
#define DIFF_PATTERN(id, weight, types, name) {name, weight},
#define DIFF_ITEM(id, percent, name) {name, percent},
#define DIFF_CHAIN(id, weight, name) {name, weight},
#include "constructs.def"
#define DIFF_METHOD(name, receiver, shape, weight) {#receiver " " #name, weight},
#include "methods.def"
    }};
    return kInfo;
}

std::vector<Param> Generator::parameters(std::uint32_t count) {
    std::vector<Param> params;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t at = random_.below(100);
        params.push_back({any_type(), at < 60 ? Pass::Value : at < 80 ? Pass::Ref : Pass::Mut});
    }
    return params;
}

// `, x0: T, x1: &U`, and the variables that the body sees.
std::string Generator::declare_parameters(const std::vector<Param>& params, std::size_t first) {
    std::string text;
    for (std::size_t i = first; i < params.size(); ++i) {
        const Param& param = params[i];
        const std::string name = fresh("x");
        switch (param.pass) {
            case Pass::Value: {
                const bool is_mutable = random_.chance(25);
                text += fmt::format(", {}{}: {}", is_mutable ? "mut " : "", name, param.type->name);
                declare(name, param.type, is_mutable);
                break;
            }
            case Pass::Ref:
            case Pass::Mut:
                text += fmt::format(", {}: &{}{}", name, param.pass == Pass::Mut ? "mut " : "", param.type->name);
                declare("(*" + name + ")", param.type, param.pass == Pass::Mut);
                break;
            case Pass::Slice:
            case Pass::SliceMut:
                text += fmt::format(", {}: &{}[{}]", name, param.pass == Pass::SliceMut ? "mut " : "", param.type->name);
                declare(name, make_type({Kind::Array, "[" + param.type->name + "]", 0, false, {param.type}, 0, {}}), param.pass == Pass::SliceMut);
                break;
        }
    }
    return text;
}

// The head's line, statements, a value, `}`.
void Generator::function_body(const std::string& head, TypePtr result, std::uint32_t count) {
    line(head);
    ++indent_;
    statements(count, 4);
    line(expr(result, 4).text);
    --indent_;
    line("}");
}

void Generator::plain_function(TypePtr result, const std::string& module_path) {
    Function made{{}, {}, parameters(random_.below(4)), result, 1};
    const std::string name = fresh("f");
    made.path = module_path + name;
    {
        Body function(*this, result);
        const std::string params = declare_parameters(made.params, 0);
        if (random_.chance(15)) line(random_.chance(50) ? "#[inline(never)]" : "#[inline]");
        function_body(fmt::format("{}fn {}(s: u64{}) -> {} {{", module_path.empty() ? "" : "pub ", name, params, result->name), result, random_.between(2, 6));
        made.cost = cost_ + 1;
    }
    functions_.push_back(std::move(made));
}

void Generator::itemOptionFn() { plain_function(option_of(any_type())); }
void Generator::itemResultFn() { plain_function(result_of(any_type(), scalar_type())); }

void Generator::itemInnerModule() {
    const std::string name = fresh("inner_mod");
    line(fmt::format("mod {} {{", name));
    ++indent_;
    line("use super::*;");
    plain_function(any_type(), name + "::");
    --indent_;
    line("}");
    if (random_.chance(50)) {
        const std::string alias = fresh("f");
        line(fmt::format("use {}{} as {};", random_.chance(50) ? "self::" : "", functions_.back().path, alias));
        functions_.back().path = alias;
    }
}

void Generator::itemGenericFn() {
    if (traits_.empty()) return;
    const std::size_t index = random_.below(static_cast<std::uint32_t>(traits_.size()));
    const Trait trait = traits_[index];
    const TypePtr param = make_type({Kind::Param, "T", 0, false, {}, 0, {}});
    GenericFunction made{fresh("g"), index, random_.chance(40), 1};
    const TypePtr result = made.gives_param ? param : trait.result;
    {
        Body function(*this, result);
        declare("a", param, false);
        declare("(*b)", param, false);
        const std::string bound = trait.name + " + Copy";
        const bool where = random_.chance(40);
        line(fmt::format("fn {}<T{}>(s: u64, a: T, b: &T) -> {}{} {{", made.path, where ? "" : ": " + bound, result->name, where ? " where T: " + bound : ""));
        ++indent_;
        const std::string t = fresh("v"), u = fresh("v"), c = fresh("v"), k = fresh("v");
        line(fmt::format("let {}: {} = a.act{}(s, {});", t, trait.result->name, trait.name, expr(trait.argument, 2).text));
        declare(t, trait.result, false);
        line(fmt::format("let mut {}: T = {};", c, expr(param, 3).text));
        declare(c, param, true);
        line(fmt::format("let {}: {} = {}.twice{}(s);", u, trait.result->name, random_.chance(50) ? "b" : c, trait.name));
        declare(u, trait.result, false);
        line(fmt::format("let {}: {} = T::K;", k, trait.result->name));
        declare(k, trait.result, false);
        statements(random_.below(3), 3);
        line(expr(result, 3).text);
        --indent_;
        line("}");
        made.cost = cost_ + 1;
    }
    generics_.push_back(std::move(made));
}

void Generator::itemConstGenericFn() {
    const TypePtr element = scalar_type(), result = scalar_type();
    ConstGenericFunction made{fresh("h"), element, result, 1};
    {
        Body function(*this, result);
        line(fmt::format("fn {}<const N: usize>(s: u64, a: [{}; N]) -> {} {{", made.path, element->name, result->name));
        ++indent_;
        line("let n = N;");
        declare("n", int_type(64, false, true), false);
        line(fmt::format("let mut acc: {} = {};", result->name, expr(result, 2).text));
        declare("acc", result, true);
        line("let mut i = 0usize;");
        line("while i < N {");
        repeat_ = 5;
        ++indent_;
        {
            const Scope scope(*this);
            line("let e = a[i];");
            declare("e", element, false);
            line("i += 1;");
            line(fmt::format("acc = {};", expr(result, 3).text));
        }
        --indent_;
        repeat_ = 1;
        line("}");
        line(expr(result, 2).text);
        --indent_;
        line("}");
        made.cost = cost_ + 1;
    }
    const_generics_.push_back(std::move(made));
}

void Generator::itemClosureTaker() {
    const TypePtr argument = scalar_type(), result = any_type();
    ClosureTaker made{fresh("k"), argument, result, random_.between(1, 3)};
    {
        Body function(*this, result);
        const std::string bound = fmt::format("{}({}) -> {}", random_.chance(70) ? "Fn" : "FnMut", argument->name, result->name);
        const bool is_mut = bound[2] == 'M';
        if (random_.chance(50)) {
            line(fmt::format("fn {}(s: u64, {}f: impl {}) -> {} {{", made.path, is_mut ? "mut " : "", bound, result->name));
        } else {
            line(fmt::format("fn {}<F: {}>(s: u64, {}f: F) -> {} {{", made.path, bound, is_mut ? "mut " : "", result->name));
        }
        ++indent_;
        for (std::uint64_t i = 0; i < made.calls; ++i) {
            const std::string name = fresh("v");
            line(fmt::format("let {} = f({});", name, expr(argument, 2).text));
            declare(name, result, false);
        }
        line(expr(result, 2).text);
        --indent_;
        line("}");
    }
    takers_.push_back(std::move(made));
}

void Generator::itemSliceFn() {
    const TypePtr result = any_type();
    Function made{fresh("f"), {}, {}, result, 1};
    made.params.push_back({any_type(), random_.chance(60) ? Pass::Slice : Pass::SliceMut});
    if (random_.chance(50)) made.params.push_back({scalar_type(), Pass::Value});
    {
        Body function(*this, result);
        const std::string params = declare_parameters(made.params, 0);
        function_body(fmt::format("fn {}(s: u64{}) -> {} {{", made.path, params, result->name), result, random_.between(2, 5));
        made.cost = cost_ + 1;
    }
    functions_.push_back(std::move(made));
}

// pub fn rN(s: u64) -> u64: calls one function with arguments made of the seed.
void Generator::roots() {
    const std::vector<Function> functions = functions_;
    std::uint32_t next = 0;
    for (const Function& called : functions) {
        Body function(*this, int_type(64, false));
        fuel_ = 20;
        line(fmt::format("pub fn r{}(s: u64) -> u64 {{", next++));
        ++indent_;
        line(fmt::format("let v: {} = {}({});", called.result->name, called.path, arguments(called, 0, 2)));
        line("v.bits()");
        --indent_;
        line("}");
    }
}

// pub fn grid: what one thread of many does with a slice, its position and a cell of its own. Loops and exits depend on the
// thread, reads beyond the slice come as None.
void Generator::grid_function() {
    Body function(*this, nullptr);
    fuel_ = 60;
    line("pub fn grid(a: &[u64], t: usize, lane: u32, block: u32, cell: &mut u64) {");
    ++indent_;
    line(fmt::format("let Some(&s) = a.get(t.wrapping_mul({}) % {}) else {{", random_.between(1, 9), random_.between(40, 70)));
    line("    *cell = t as u64;");
    line("    return;");
    line("};");
    declare("a", make_type({Kind::Array, "[u64]", 0, false, {int_type(64, false)}, 0, {}}), false);
    declare("t", int_type(64, false, true), false);
    declare("lane", int_type(32, false), false);
    declare("block", int_type(32, false), false);
    declare("(*cell)", int_type(64, false), true);
    const std::uint32_t rounds = random_.between(2, 4);
    for (std::uint32_t i = 0; i < rounds; ++i) {
        const std::string name = fresh("i");
        line(fmt::format("for {} in 0..{} % {} {{", name, random_.chance(50) ? "lane" : "(s as u32)", random_.between(2, 5)));
        {
            const Scope scope(*this);
            repeat_ = 4;
            declare(name, int_type(32, false), false);
            frames_.back().labels.clear();
            body(3);
            repeat_ = 1;
        }
        line("}");
        statements(1, 3);
        const TypePtr type = any_type();
        line(fmt::format("let {} = {};", name, expr(type, 2).text));
        line(fmt::format("*cell = mix(*cell, {}.bits());", name));
    }
    --indent_;
    line("}");
}

Generator::Generator(std::uint64_t seed) : random_(seed) {}

Program Generator::program() {
    Program program;
    make_scalars();
    const auto item = [&](Construct construct, void (Generator::*make)()) {
        const std::size_t written = out_.size();
        if (random_.chance(constructs()[static_cast<std::size_t>(construct)].weight)) (this->*make)();
        if (out_.size() != written) use(construct);
    };
    make_composites();
#define DIFF_ITEM(id, percent, name) item(Construct::id##Item, &Generator::item##id);
#include "constructs.def"
    const std::uint32_t count = random_.between(2, 4);
    for (std::uint32_t i = 0; i < count; ++i) plain_function(any_type());
    roots();
    grid_function();
    program.slots = static_cast<std::uint32_t>(functions_.size());
    program.text = std::move(out_);
    program.used = used_;
    return program;
}

}  // namespace ockc::difftest
