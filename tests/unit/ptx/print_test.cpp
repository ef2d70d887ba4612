// What the text looks like.
#include "ptx/print.hpp"

#include <doctest/doctest.h>

#include "assemble.hpp"
#include "ptx/parse.hpp"
#include "ptx/validate.hpp"

using namespace ockc;
using namespace ockc::ptx;

namespace {

// out[i] = 2.0 * in[i] for i < n, with everything a module can hold around it.
Module sample() {
    Module m;
    m.target = Target::Sm80;
    m.ptx_version = 70;
    m.comment = "made by a test";
    m.files = {"scale.rsk"};
    Variable table;
    table.name = m.symbol("table");
    table.space = Space::Const;
    table.type = Type::F32;
    table.array = true;
    table.count = 4;
    table.init = {{0x3F800000, {}, false}, {0x40000000, {}, false}};
    m.variables.push_back(table);
    Variable dynamic;
    dynamic.name = m.symbol("smem");
    dynamic.linkage = Linkage::Extern;
    dynamic.space = Space::Shared;
    dynamic.align = 16;
    dynamic.array = true;
    dynamic.count = 0;
    m.variables.push_back(dynamic);

    Function f;
    f.name = m.symbol("scale");
    f.entry = true;
    f.linkage = Linkage::Visible;
    for (const char* name : {"in", "out"}) {
        Param p;
        p.name = m.symbol(name);
        p.type = Type::U64;
        f.params.push_back(p);
    }
    Param n;
    n.name = m.symbol("n");
    n.type = Type::U32;
    f.params.push_back(n);
    f.directives.reqntid = Dim3{256, 1, 1};
    f.directives.minnctapersm = 2;

    const Reg in = f.new_reg(RegClass::B64);
    const Reg out = f.new_reg(RegClass::B64);
    const Reg count = f.new_reg(RegClass::B32);
    const Reg i = f.new_reg(RegClass::B32);
    const Reg past = f.new_reg(RegClass::Pred);
    const Reg value = f.new_reg(RegClass::F32);
    const auto r = [](Reg reg) { return Operand::reg(reg); };
    const LabelId done = f.new_label("$done");
    Block body;
    const auto emit = [&](Instr instr, std::uint32_t line) -> Instr& {
        instr.loc = {0, line, 5};
        body.instrs.push_back(instr);
        return body.instrs.back();
    };
    emit(make(Form::Ld, Type::U64, {r(in), Operand::at(f.params[0].name)}), 3).mods.space = Space::Param;
    emit(make(Form::Ld, Type::U64, {r(out), Operand::at(f.params[1].name)}), 3).mods.space = Space::Param;
    emit(make(Form::Ld, Type::U32, {r(count), Operand::at(f.params[2].name)}), 3).mods.space = Space::Param;
    emit(make(Form::Mov, Type::U32, {r(i), Operand::special(Special::TidX)}), 4);
    emit(make(Form::Setp, Type::U32, {r(past), Operand::none(), r(i), r(count)}), 4).mods.cmp = Cmp::Ge;
    Instr& skip = emit(make(Form::Bra, Type::None, {Operand::label(done)}), 4);
    skip.guard = past;
    emit(make(Form::MadWide, Type::U32, {r(in), r(i), Operand::imm(4), r(in)}), 5);
    emit(make(Form::MadWide, Type::U32, {r(out), r(i), Operand::imm(4), r(out)}), 5);
    emit(make(Form::LdNc, Type::F32, {r(value), Operand::at(in)}), 5);
    Instr& twice = emit(make(Form::MulF, Type::F32, {r(value), r(value), Operand::f32(0x40000000)}), 5);
    twice.mods.round = Round::Rn;
    f.comments.push_back("2.0");
    twice.comment = 1;
    emit(make(Form::St, Type::F32, {Operand::at(out, -4), r(value)}), 6).mods.space = Space::Global;
    f.blocks.push_back(std::move(body));
    Block last;
    last.label = done;
    last.instrs.push_back(make(Form::Ret, Type::None, {}));
    last.instrs.back().loc = {0, 6, 5};
    f.blocks.push_back(std::move(last));
    m.functions.push_back(std::move(f));
    return m;
}

constexpr std::string_view kExpected = R"(// made by a test
.version 7.0
.target sm_80
.address_size 64

.file 1 "scale.rsk"

.const .f32 table[4] = {0f3F800000, 0f40000000};
.extern .shared .align 16 .b8 smem[];

.visible .entry scale(
    .param .u64 in,
    .param .u64 out,
    .param .u32 n
)
.reqntid 256, 1, 1
.minnctapersm 2
{
    .reg .pred %p<2>;
    .reg .b32  %r<3>;
    .reg .f32  %f<2>;
    .reg .b64  %rd<3>;

    .loc 1 3 5
    ld.param.u64        %rd1, [in];
    ld.param.u64        %rd2, [out];
    ld.param.u32        %r1, [n];
    .loc 1 4 5
    mov.u32             %r2, %tid.x;
    setp.ge.u32         %p1, %r2, %r1;
    @%p1 bra            $done;
    .loc 1 5 5
    mad.wide.u32        %rd1, %r2, 4, %rd1;
    mad.wide.u32        %rd2, %r2, 4, %rd2;
    ld.global.nc.f32    %f1, [%rd1];
    mul.rn.f32          %f1, %f1, 0f40000000;       // 2.0
    .loc 1 6 5
    st.global.f32       [%rd2+-4], %f1;
$done:
    ret;
}
)";

}  // namespace

TEST_CASE("a module is printed as a reader expects it") {
    const Module m = sample();
    CHECK(validate(m).empty());
    CHECK(print(m) == kExpected);
    CHECK(test::assemble(print(m), "sm_80") == "");
}

TEST_CASE("printing is a function of the module alone, and parses back to it") {
    const Module m = sample();
    CHECK(print(m) == print(m));
    const ParseResult again = parse(print(m));
    REQUIRE(again.errors.empty());
    CHECK(equal(m, again.module));
    CHECK(print(again.module, {true, false}) == print(m, {true, false}));
}

TEST_CASE("locations and comments can be left out, and leaving them out changes no instruction") {
    const std::string bare = print(sample(), {false, false});
    CHECK(bare.find(".loc") == std::string::npos);
    CHECK(bare.find(".file") == std::string::npos);
    CHECK(bare.find("//") == std::string::npos);
    CHECK(bare.find("mul.rn.f32          %f1, %f1, 0f40000000;\n") != std::string::npos);
}

TEST_CASE("one instruction on its own") {
    const Module m = sample();
    const Function& f = m.functions[0];
    CHECK(print(m, f, f.blocks[0].instrs[5]) == "@%p1 bra            $done");
}

TEST_CASE("equality sees operands, modifiers, places and directives") {
    const Module m = sample();
    const auto differs = [&](auto change) {
        Module other = m;
        change(other);
        return !equal(m, other);
    };
    CHECK_FALSE(differs([](Module&) {}));
    CHECK_FALSE(differs([](Module& x) { x.comment = "other"; }));
    CHECK(differs(
        [](Module& x) { x.functions[0].blocks[0].instrs[3].operands[1] = Operand::special(Special::TidY); }));
    CHECK(differs([](Module& x) { x.functions[0].blocks[0].instrs[4].mods.cmp = Cmp::Gt; }));
    CHECK(differs([](Module& x) { x.functions[0].blocks[0].instrs[4].loc.line = 9; }));
    CHECK(differs([](Module& x) { x.functions[0].directives.minnctapersm = 3; }));
    CHECK(differs([](Module& x) { x.variables[0].init[0].bits = 1; }));
    CHECK(differs([](Module& x) { x.ptx_version = 71; }));
}
