// Loops, branches, switches, calls, memory: what the emulator makes of selected control flow.
#include "harness.hpp"

using namespace ockc;
using namespace ockc::test;

namespace {

// Runs `k(in, out)` from IR text with one thread per input word; one output word a thread.
std::vector<std::int32_t> run_words(std::string_view text, const std::vector<std::int32_t>& in,
                                    std::size_t words_each = 1) {
    const std::vector<std::byte> raw = run(select_text(text), std::as_bytes(std::span(in)),
                                           4 * in.size() * words_each, static_cast<std::uint32_t>(in.size()));
    std::vector<std::int32_t> out(in.size() * words_each);
    std::memcpy(out.data(), raw.data(), raw.size());
    return out;
}

// A kernel whose bb1.. see %x (i32, this thread's input) and %to (its output address, `stride` bytes a
// thread).
std::string lane_kernel(std::string_view body, int stride = 4, std::string_view entry = {}) {
    return "source \"t.rsk\"\n"
           "kernel @k(%0: ptr.global align 4, %1: ptr.global align 4) index 0 {\n"
           "bb0(%0: ptr.global, %1: ptr.global):\n"
           "    %2 = sreg.tid.x\n    %3 = zext.i64 %2\n    %4 = const.i64 4\n    %5 = imul.i64 %3, %4\n"
           "    %6 = ptradd.ptr.global %0, %5\n    %7 = load.i32 %6 align 4\n"
           "    %8 = const.i64 " +
           std::to_string(stride) + "\n    %9 = imul.i64 %3, %8\n    %10 = ptradd.ptr.global %1, %9\n" +
           std::string(entry) + "    jump bb1\n" + std::string(body) + "}\n";
}

}  // namespace

TEST_CASE("a loop that rotates three values") {
    const std::string text = lane_kernel(R"(bb1:
    %20 = const.i32 0
    %21 = const.i32 1
    %22 = const.i32 2
    jump bb2(%20, %21, %22, %20)
bb2(%30: i32, %31: i32, %32: i32, %33: i32):
    %34 = icmp.slt.i32 %33, %7
    br %34, bb3, bb4
bb3:
    %35 = iadd.i32 %33, %21
    jump bb2(%31, %32, %30, %35)
bb4:
    %40 = const.i32 10
    %41 = imul.i32 %30, %40
    %42 = iadd.i32 %41, %31
    %43 = imul.i32 %42, %40
    %44 = iadd.i32 %43, %32
    store.i32 %10, %44 align 4
    ret
)");
    const auto out = run_words(text, {0, 1, 2, 3, 4, 100});
    CHECK(out == std::vector<std::int32_t>{12, 120, 201, 12, 120, 120});
}

TEST_CASE("a swap on the back edge of a loop that tests at its end") {
    const std::string text = lane_kernel(R"(bb1:
    %20 = const.i32 7
    %21 = const.i32 9
    %22 = const.i32 0
    %23 = const.i32 1
    jump bb2(%20, %21, %22)
bb2(%30: i32, %31: i32, %32: i32):
    %33 = iadd.i32 %32, %23
    %34 = icmp.slt.i32 %33, %7
    br %34, bb2(%31, %30, %33), bb3
bb3:
    %35 = const.i32 100
    %36 = imul.i32 %30, %35
    %37 = iadd.i32 %36, %31
    store.i32 %10, %37 align 4
    ret
)");
    CHECK(run_words(text, {0, 1, 2, 3, 4}) == std::vector<std::int32_t>{709, 709, 907, 709, 907});
}

TEST_CASE("nested loops with values carried through both, and an early exit") {
    // for i in 0..x { for j in i..x { if i * j == 6 { break 'outer } s += j } }
    const std::string text = lane_kernel(R"(bb1:
    %20 = const.i32 0
    %21 = const.i32 1
    %22 = const.i32 6
    jump bb2(%20, %20)
bb2(%30: i32, %31: i32):
    %32 = icmp.slt.i32 %30, %7
    br %32, bb3(%30, %31), bb7(%31)
bb3(%40: i32, %41: i32):
    %42 = icmp.slt.i32 %40, %7
    br %42, bb4, bb6
bb4:
    %43 = imul.i32 %30, %40
    %44 = icmp.eq.i32 %43, %22
    br %44, bb7(%41), bb5
bb5:
    %45 = iadd.i32 %41, %40
    %46 = iadd.i32 %40, %21
    jump bb3(%46, %45)
bb6:
    %47 = iadd.i32 %30, %21
    jump bb2(%47, %41)
bb7(%50: i32):
    store.i32 %10, %50 align 4
    ret
)");
    std::vector<std::int32_t> in;
    std::vector<std::int32_t> expected;
    for (std::int32_t x = -1; x < 12; ++x) {
        in.push_back(x);
        std::int32_t s = 0;
        bool stop = false;
        for (std::int32_t i = 0; i < x && !stop; ++i) {
            for (std::int32_t j = i; j < x; ++j) {
                if (i * j == 6) {
                    stop = true;
                    break;
                }
                s += j;
            }
        }
        expected.push_back(s);
    }
    CHECK(run_words(text, in) == expected);
}

TEST_CASE("switches: few cases, many cases, arguments, every width") {
    for (const int count : {1, 3, 5, 9, 20}) {
        std::string cases;
        std::string blocks;
        for (int i = 0; i < count; ++i) {
            cases += ", " + std::to_string(i * i * 3) + ": bb9(%" + std::to_string(100 + i) + ")";
            blocks += "    %" + std::to_string(100 + i) + " = const.i32 " + std::to_string(1000 + i) + "\n";
        }
        const std::string text = lane_kernel("bb1:\n" + blocks + "    switch.i32 %7, bb9(%7)" + cases +
                                             "\nbb9(%50: i32):\n    store.i32 %10, %50 align 4\n    ret\n");
        std::vector<std::int32_t> in;
        std::vector<std::int32_t> expected;
        for (std::int32_t x = -2; x < 200; ++x) {
            in.push_back(x);
            expected.push_back(x);
            for (int i = 0; i < count; ++i) {
                if (x == i * i * 3) expected.back() = 1000 + i;
            }
        }
        CHECK(run_words(text, in) == expected);
    }
    for (const std::string type : {"i8", "i16", "i64", "i128"}) {
        const std::string convert = type == "i8" || type == "i16" ? "trunc" : "sext";
        const std::string text =
            lane_kernel("bb1:\n    %20 = " + convert + "." + type +
                        " %7\n    %21 = const.i32 1\n    %22 = const.i32 2\n    %23 = const.i32 3\n"
                        "    switch." +
                        type +
                        " %20, bb9(%23), 200: bb9(%21), 7: bb9(%22)\nbb9(%50: i32):\n    store.i32 %10, %50 "
                        "align 4\n    ret\n");
        CAPTURE(type);
        CHECK(run_words(text, {200, 7, 456, 8, -249}) == (type == "i8"
                                                              ? std::vector<std::int32_t>{1, 2, 1, 3, 2}
                                                              : std::vector<std::int32_t>{1, 2, 3, 3, 3}));
    }
}

TEST_CASE("calls pass and return every type") {
    const std::string text = R"(source "t.rsk"
func @many(%0: i8, %1: i16, %2: i64, %3: i128, %4: f32, %5: f64, %6: i1, %7: ptr.global) -> i1, i128, i8, f64 inline never {
bb0(%0: i8, %1: i16, %2: i64, %3: i128, %4: f32, %5: f64, %6: i1, %7: ptr.global):
    %8 = sext.i128 %0
    %9 = sext.i128 %1
    %10 = sext.i128 %2
    %11 = iadd.i128 %8, %9
    %12 = iadd.i128 %11, %10
    %13 = iadd.i128 %12, %3
    %14 = fcvt.f64 %4
    %15 = fadd.f64 %14, %5
    %16 = not.i1 %6
    %17 = load.i32 %7 align 4
    %18 = trunc.i8 %17
    ret %16, %13, %18, %15
}
)" + lane_kernel(R"(bb1:
    %20 = trunc.i8 %7
    %21 = trunc.i16 %7
    %22 = sext.i64 %7
    %23 = sext.i128 %7
    %24 = sitofp.f32 %7
    %25 = sitofp.f64 %7
    %26 = trunc.i1 %7
    %30, %31, %32, %33 = call @many(%20, %21, %22, %23, %24, %25, %26, %6) -> i1, i128, i8, f64
    %34 = trunc.i32 %31
    store.i32 %10, %34 align 4
    %35 = zext.i32 %30
    store.i32 %10 + 4, %35 align 4
    %36 = sext.i32 %32
    store.i32 %10 + 8, %36 align 4
    %37 = fptosi.i32 %33
    store.i32 %10 + 12, %37 align 4
    ret
)",
                 16)
                                 .substr(std::string("source \"t.rsk\"\n").size());
    const std::vector<std::int32_t> in{0, 5, -3, 100};
    const auto out = run_words(text, in, 4);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CHECK(out[4 * i] == 4 * in[i]);
        CHECK(out[4 * i + 1] == (in[i] & 1 ? 0 : 1));
        CHECK(out[4 * i + 2] == in[i]);
        CHECK(out[4 * i + 3] == 2 * in[i]);
    }
}

TEST_CASE("copies and fills of every size, unrolled and as loops") {
    for (const int bytes : {0, 1, 3, 8, 13, 64, 127, 128, 136, 1000, 1003}) {
        for (const int align : {1, 4, 8}) {
            CAPTURE(bytes);
            CAPTURE(align);
            const std::string n = std::to_string(bytes);
            const std::string a = std::to_string(align);
            // A local buffer is filled with 0xAA, the input copied over its start, and all of it copied out.
            const std::string text =
                "source \"t.rsk\"\nkernel @k(%0: ptr.global align 8, %1: ptr.global align 8) index 0 "
                "{\nbb0(%0: ptr.global, %1: ptr.global):\n"
                "    %2 = alloca 1024 align 8\n    %3 = const.i8 170\n    memset %2, %3, 1024 align 8\n" +
                (bytes == 0 ? std::string() : "    memcpy %2, %0, " + n + " align " + a + "\n") +
                "    memcpy %1, %2, 1024 align 8\n    ret\n}\n";
            std::vector<std::byte> in(1024);
            for (std::size_t i = 0; i < in.size(); ++i)
                in[i] = static_cast<std::byte>(i * 7 + 1);
            const std::vector<std::byte> out = run(select_text(text), in, 1024, 1);
            for (std::size_t i = 0; i < 1024; ++i) {
                const std::byte expected = i < static_cast<std::size_t>(bytes) ? in[i] : std::byte{0xAA};
                if (out[i] != expected) {
                    FAIL_CHECK("byte " << i);
                    break;
                }
            }
        }
    }
}

TEST_CASE("a fill with a byte known at run time only") {
    const std::string text =
        lane_kernel("bb1:\n    %20 = trunc.i8 %7\n    memset %10, %20, 12 align 4\n    ret\n", 12);
    const auto out = run_words(text, {0, 1, 0x1FF, -2}, 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(out[i] == 0);
        CHECK(out[3 + i] == 0x01010101);
        CHECK(out[6 + i] == -1);
        CHECK(out[9 + i] == static_cast<std::int32_t>(0xFEFEFEFE));
    }
}

TEST_CASE("under-aligned loads and stores") {
    const std::string entry =
        "    %20 = alloca 64 align 8\n    %21 = const.i8 0\n    memset %20, %21, 64 align 8\n";
    std::string body = "bb1:\n";
    int id = 30;
    int offset = 1;
    std::string sum = "%7";
    for (const auto& [type, bytes] :
         {std::pair{"i16", 2}, {"i32", 4}, {"i64", 8}, {"f32", 4}, {"f64", 8}, {"i128", 16}}) {
        const std::string t = type;
        const std::string v = "%" + std::to_string(id++);
        const bool is_float = t[0] == 'f';
        if (t == "i32") {
            body += "    " + v + " = iadd.i32 %7, %7\n";
        } else {
            body += "    " + v + " = " +
                    (is_float    ? "sitofp."
                     : bytes < 4 ? "trunc."
                                 : "sext.") +
                    t + " %7\n";
        }
        body += "    store." + t + " %20 + " + std::to_string(offset) + ", " + v + " align 1\n";
        const std::string w = "%" + std::to_string(id++);
        body += "    " + w + " = load." + t + " %20 + " + std::to_string(offset) + " align 1\n";
        const std::string x = "%" + std::to_string(id++);
        if (t == "i32") {
            body += "    " + x + " = iadd.i32 " + w + ", %7\n";
        } else {
            body += "    " + x + " = " +
                    (is_float    ? "fptosi.i32 "
                     : bytes < 4 ? "sext.i32 "
                                 : "trunc.i32 ") +
                    w + "\n";
        }
        const std::string s = "%" + std::to_string(id++);
        body += "    " + s + " = iadd.i32 " + sum + ", " + x + "\n";
        sum = s;
        offset += bytes + 1;
    }
    const auto out = run_words(
        lane_kernel(body + "    store.i32 %10, " + sum + " align 4\n    ret\n", 4, entry), {1, -5, 1000});
    CHECK(out == std::vector<std::int32_t>{9, -45, 9000});
}

TEST_CASE("shared memory, barriers, constant tables, block indices") {
    const std::string text = R"(source "t.rsk"
global @tile: shared 1024 align 4
global @table: const 8 align 4 init 0x0a00000014000000

kernel @k(%0: ptr.global align 4, %1: ptr.global align 4) index 0 domain 1 block 64 1 1 max_threads 64 {
bb0(%0: ptr.global, %1: ptr.global):
    %2 = sreg.tid.x
    %3 = zext.i64 %2
    %4 = const.i64 4
    %5 = imul.i64 %3, %4
    %6 = ptradd.ptr.global %0, %5
    %7 = load.i32 %6 align 4 readonly
    %8 = global.ptr.shared @tile
    %9 = ptradd.ptr.shared %8, %5
    store.i32 %9, %7 align 4
    barrier
    %10 = const.i32 63
    %11 = isub.i32 %10, %2
    %12 = zext.i64 %11
    %13 = imul.i64 %12, %4
    %14 = ptradd.ptr.shared %8, %13
    %15 = spacecast.ptr %14
    %16 = load.i32 %15 align 4
    %17 = const.i32 1
    %18 = and.i32 %2, %17
    %19 = zext.i64 %18
    %20 = imul.i64 %19, %4
    %21 = global.ptr.const @table
    %22 = ptradd.ptr.const %21, %20
    %23 = load.i32 %22 align 4
    %24 = iadd.i32 %16, %23
    %25 = ptradd.ptr.global %1, %5
    store.i32 %25, %24 align 4
    ret
}
)";
    std::vector<std::int32_t> in(64);
    for (std::size_t i = 0; i < 64; ++i)
        in[i] = static_cast<std::int32_t>(i * i);
    const auto out = run_words(text, in);
    for (std::size_t i = 0; i < 64; ++i)
        CHECK(out[i] == in[63 - i] + (i % 2 == 0 ? 10 : 20));
}
