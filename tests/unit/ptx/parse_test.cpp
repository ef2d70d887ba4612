// Text that we did not write, and text that is wrong.
#include "ptx/parse.hpp"

#include <doctest/doctest.h>

#include "assemble.hpp"
#include "ptx/print.hpp"
#include "ptx/validate.hpp"

using namespace ockc;
using namespace ockc::ptx;

namespace {

constexpr std::string_view kHead = ".version 7.0\n.target sm_80\n.address_size 64\n";

std::string kernel(std::string_view body) {
    return std::string(kHead) +
           ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg "
           ".f32 %f<4>;\n"
           ".reg .b64 %rd<8>; .reg .f64 %fd<4>;\n" +
           std::string(body) + "\nret;\n}\n";
}

// The first error as "line:column: message"; empty when there is none.
std::string error_of(std::string_view text) {
    const ParseResult result = parse(text);
    if (result.ok()) return {};
    const ParseError& e = result.errors[0];
    return std::to_string(e.line) + ":" + std::to_string(e.column) + ": " + e.message;
}

const Instr& first(const ParseResult& result) {
    return result.module.functions[0].blocks[0].instrs[0];
}

}  // namespace

TEST_CASE("literals") {
    const auto operand = [](std::string_view body, std::size_t i) {
        const ParseResult result = parse(kernel(body));
        REQUIRE(result.ok());
        return first(result).operands[i];
    };
    CHECK(operand("mov.u32 %r1, 0x10;", 1) == Operand::imm(16));
    CHECK(operand("mov.u32 %r1, 010;", 1) == Operand::imm(8));
    CHECK(operand("mov.u32 %r1, 0b101;", 1) == Operand::imm(5));
    CHECK(operand("mov.u32 %r1, 7U;", 1) == Operand::imm(7));
    CHECK(operand("mov.u64 %rd1, -1;", 1) == Operand::imm(-1));
    CHECK(operand("mov.u64 %rd1, 18446744073709551615;", 1) == Operand::imm(-1));
    CHECK(operand("mov.f32 %f1, 0f3F800000;", 1) == Operand::f32(0x3F800000));
    CHECK(operand("mov.f32 %f1, 1.5;", 1) == Operand::f32(0x3FC00000));
    CHECK(operand("mov.f64 %fd1, 0d3FF0000000000000;", 1) == Operand::f64(0x3FF0000000000000));
    CHECK(operand("mov.f64 %fd1, -2.5e1;", 1) == Operand::f64(0xC039000000000000));
    // A conversion's operand has the source's type.
    CHECK(operand("cvt.rn.f32.f64 %f1, 0d3FF0000000000000;", 1) == Operand::f64(0x3FF0000000000000));
    CHECK(operand("cvt.rn.f32.f64 %f1, 1.0;", 1) == Operand::f64(0x3FF0000000000000));
    CHECK(operand("cvt.f64.f32 %fd1, 1.5;", 1) == Operand::f32(0x3FC00000));
    CHECK(operand("cvt.rzi.s32.f32 %r1, 1.5;", 1) == Operand::f32(0x3FC00000));
    CHECK(operand("setp.lt.f32 %p1, %f1, 1.5;", 3) == Operand::f32(0x3FC00000));
}

TEST_CASE("addresses, lists, sinks, predicate pairs, negated predicates") {
    const ParseResult result =
        parse(kernel("ld.global.v2.f32 {%f1, %f2}, [%rd1+-8];\n"
                     "ld.global.f32 %f1, [%rd1 - 4];\n"
                     "ld.global.f32 %f1, [1024];\n"
                     "setp.lt.s32 %p1|%p2, %r1, 5;\n"
                     "setp.lt.and.s32 %p1, %r1, 5, !%p2;\n"
                     "@!%p1 mov.b64 {%r1, %r2}, %rd1;\n"
                     "atom.global.add.u32 _, [%rd1], 1;\n"
                     "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;\n"
                     "bar.red.popc.u32 %r1, 0, %p1;\n"
                     "bar.red.popc.u32 %r1, 0, 64, %p1;"));
    REQUIRE(result.ok());
    CHECK(validate(result.module).empty());
    const Function& f = result.module.functions[0];
    const auto& instrs = f.blocks[0].instrs;
    CHECK(f.list_of(instrs[0].operands[0]).size() == 2);
    CHECK(instrs[0].operands[1] == Operand::at(Reg(RegClass::B64, 1), -8));
    CHECK(instrs[1].operands[1] == Operand::at(Reg(RegClass::B64, 1), -4));
    CHECK(instrs[2].operands[1].kind == OperandKind::AddrImm);
    CHECK(instrs[3].operands[1] == Operand::reg(Reg(RegClass::Pred, 2)));
    CHECK(instrs[4].form == Form::SetpBool);
    CHECK(instrs[4].operands[4] == Operand::reg(Reg(RegClass::Pred, 2), true));
    CHECK(instrs[5].form == Form::MovUnpack);
    CHECK(instrs[5].guard_negated);
    CHECK(instrs[6].operands[0].kind == OperandKind::Sink);
    CHECK(instrs[8].operands[2].kind == OperandKind::None);
    CHECK(instrs[9].operands[2] == Operand::imm(64));
}

TEST_CASE("the same mnemonic in several forms") {
    const auto form = [](std::string_view body) {
        const ParseResult result = parse(kernel(body));
        REQUIRE(result.ok());
        return first(result).form;
    };
    CHECK(form("add.s32 %r1, %r2, %r3;") == Form::AddI);
    CHECK(form("add.f32 %f1, %f2, %f3;") == Form::AddF);
    CHECK(form("add.cc.u32 %r1, %r2, %r3;") == Form::AddCc);
    CHECK(form("mov.b64 %rd1, {%r1, %r2};") == Form::MovPack);
    CHECK(form("ld.global.nc.u32 %r1, [%rd1];") == Form::LdNc);
    CHECK(form("ld.global.ca.u32 %r1, [%rd1];") == Form::Ld);
    CHECK(form("cvt.rn.f16x2.f32 %r1, %f1, %f2;") == Form::CvtPack);
    CHECK(form("bar.warp.sync -1;") == Form::BarWarpSync);
}

TEST_CASE("registers under foreign names, scopes, params of calls") {
    const std::string text = std::string(kHead) + R"(
.extern .func (.param .b32 func_retval0) helper (.param .b64 helper_param_0);
.visible .entry k() {
  .reg .b64 %SP; .reg .u32 x, y; .reg .f32 z<3>;
  .reg .b32 %r<3>;
  mov.u32 x, 1;
  add.u32 y, x, %r1;
  { // callseq
    .reg .b32 x;
    .param .b64 param0; .param .b32 retval0;
    mov.u32 x, 2;
    st.param.b64 [param0+0], %SP;
    call.uni (retval0), helper, (param0);
    ld.param.b32 %r2, [retval0+0];
  }
  {
    .param .b64 param0;
    st.param.b64 [param0], %SP;
  }
  mov.f32 z0, 0f00000000;
  ret;
})";
    const ParseResult result = parse(text);
    for (const ParseError& e : result.errors)
        MESSAGE(e.line << ": " << e.message);
    REQUIRE(result.ok());
    const Function& k = result.module.functions[1];
    CHECK(k.locals.size() == 3);
    CHECK(result.module.name(k.locals[2].name) == "param0_1");
    const auto& instrs = k.blocks[0].instrs;
    CHECK(instrs[0].operands[0] != instrs[2].operands[0]);  // the inner x is another register
    const std::string printed = print(result.module);
    const ParseResult again = parse(printed);
    REQUIRE(again.ok());
    CHECK(equal(result.module, again.module));
}

TEST_CASE("errors name the place and the thing") {
    CHECK(error_of("") == "1:1: no `.version` in this text: is it PTX?");
    CHECK(error_of("hello") == "1:1: expected a directive, found `hello`");
    CHECK(error_of(".version 7.0\n.target sm_99\n") == "2:9: unknown target `sm_99`");
    CHECK(error_of(kernel("frobnicate.u32 %r1, %r2;")) == "8:1: unknown instruction `frobnicate`");
    CHECK(error_of(kernel("add.lo.u32 %r1, %r2, %r3;")) == "8:1: `add.lo.u32` is not a known form of `add`");
    CHECK(error_of(kernel("popc.u32 %r1, %r2;")) ==
          "8:1: `popc.u32`: the instruction does not exist for this type");
    CHECK(error_of(kernel("add.u32 %r1, %r2;")) == "8:1: `add.u32`: wrong number or kind of operands");
    CHECK(error_of(kernel("add.u32 %r1, %r2, %r99;")) ==
          "8:19: `%r99` is neither a declared register nor a known special register");
    CHECK(error_of(kernel("bra nowhere;")) == "8:5: label `nowhere` is not defined");
    CHECK(error_of(kernel("a: a: mov.u32 %r1, 1;")) == "8:4: label `a` is defined twice");
    CHECK(error_of(kernel("mov.u64 %rd1, nothing;")) == "8:15: unknown name `nothing`");
    CHECK(error_of(kernel("mov.u32 %r1, 99999999999999999999;")) ==
          "8:14: expected an operand, found `99999999999999999999`");
    CHECK(error_of(std::string(kHead) + ".visible .entry k() { ret;") == "4:27: the body of `k` has no end");
}

TEST_CASE("after an error the parser goes on with the next statement") {
    const ParseResult result = parse(kernel("add.u32 %r1;\nmov.u32 %r1, 1;\nsub.u32 %r1;"));
    REQUIRE(result.errors.size() == 2);
    CHECK(result.errors[0].line == 8);
    CHECK(result.errors[1].line == 10);
}

TEST_CASE("hostile text ends in errors, never in a crash or a hang") {
    std::string deep = kernel(std::string(100000, '{'));
    CHECK_FALSE(parse(deep).ok());
    std::string many(100000, '}');
    CHECK_FALSE(parse(std::string(kHead) + many).ok());
    CHECK(parse(std::string(kHead) + many).errors.size() <= kMaxParseErrors);
    CHECK_FALSE(parse(std::string(kHead) + ".global .b8 x[1099511627776][1099511627776];").ok());
    CHECK_FALSE(parse(kernel(".reg .b32 %q<4294967295>;")).ok());
    CHECK_FALSE(parse(std::string_view("\0\1\2\xff", 4)).ok());
    std::string good = kernel("ld.global.v2.f32 {%f1, %f2}, [%rd1+8];\n@%p1 bra L;\nL: call.uni k;");
    for (std::size_t cut = 0; cut < good.size(); cut += 3)
        static_cast<void>(parse(good.substr(0, cut)));
}

TEST_CASE("what nvcc writes parses, prints and assembles again") {
    if (!test::have_tool("nvcc") || !test::have_tool("ptxas")) return;
    constexpr std::string_view source = R"(
#include <cstdio>
#include <cuda_fp16.h>
__device__ __noinline__ float helper(float a, double b, int n) { float s = 0; for (int i = 0; i < n; i++) s += a * __expf(b * i); return s; }
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int* pointer = &counter;
struct S { int a; float b[3]; };
extern "C" __global__ void __launch_bounds__(256, 2) k(float* o, const float* __restrict__ i, double* d, long long* l, unsigned char* c, S s, int n) {
    __shared__ float t[256];
    extern __shared__ int dynamic[];
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    t[threadIdx.x] = i[x];
    __syncthreads();
    float v = t[255 - threadIdx.x];
    v = sqrtf(v) + rsqrtf(v) + 1.0f / v + __fdividef(v, 3) + fminf(v, 2) + fabsf(v) + copysignf(v, -1) + table[n] + s.b[n];
    o[x] = helper(v, d[x], n);
    l[x] = l[x] / 3 + __popcll(l[x]) + __clzll(l[x]) + __brevll(l[x]) + (long long)o[x] + (unsigned long long)d[x];
    c[x] = c[x] * 3 + dynamic[n];
    atomicAdd(o, v); atomicCAS((int*)o, 1, 2); atomicMax(&counter, 1);
    int r = __shfl_xor_sync(-1, n, 1) + __ballot_sync(-1, n > 3) + __match_any_sync(-1, n) + __activemask() + __reduce_add_sync(-1, n);
    __threadfence();
    r += __syncthreads_count(n > 2);
    ((float4*)o)[x] = ((const float4*)i)[x + 4];
    o[x + 1] = __byte_perm(n, r, 0x1234) + __funnelshift_l(n, r, 3) + __umulhi(n, r) + *pointer;
    d[x] = fma(d[x], d[x], 1.0) + sqrt(d[x]) / d[x] + floor(d[x]);
    __int128 q = (__int128)l[2] * l[3] + l[4];
    l[5] = q >> 64;
    o[5] = __half2float(__hadd(__float2half(v), __float2half(3.0f)));
    if (n == 77) __trap();
    if (n == 5) printf("n is %d\n", n);
}
)";
    const test::TempDir dir;
    const auto cu = dir.write("k.cu", source);
    for (const std::string target : {"sm_80", "sm_90"}) {
        int code = 0;
        const std::string log =
            test::output_of(*test::find_tool("nvcc") + " -w -ptx -lineinfo -O3 -arch=" + target + " " +
                                cu.string() + " -o " + (dir.path() / "k.ptx").string(),
                            code);
        REQUIRE_MESSAGE(code == 0, log);
        const ParseResult result = parse(test::read_file(dir.path() / "k.ptx"));
        for (const ParseError& e : result.errors)
            MESSAGE(e.line << ":" << e.column << ": " << e.message);
        REQUIRE(result.ok());
        for (const ValidationError& e : validate(result.module))
            FAIL_CHECK(e.text << ": " << e.message);
        const std::string printed = print(result.module);
        CHECK(equal(parse(printed).module, result.module));
        CHECK(test::assemble(printed, target) == "");
    }
}
