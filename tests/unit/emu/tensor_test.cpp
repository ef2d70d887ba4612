// Copies of boxes of tensors. Which element a byte of shared memory is, and what is written back, is worked out here from the
// coordinates, not from the map.
#include <algorithm>

#include "harness.hpp"

using namespace emu_test;

namespace {

// A kernel of one block: `steps` find the map in %rd1, shared memory in %r2 (16 KiB), the barrier in %r3, thread 0 in %p1;
// then all of shared memory goes to `out`.
std::string tensor_kernel(const std::string& steps, std::uint32_t bytes, const char* directives = "") {
    return std::string(".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 map, .param .u64 out)") + directives +
           "\n{\n.reg .pred %p<8>;\n.reg .b16 %rs<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bar;\n"
           "ld.param.u64 %rd1, [map];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\nmov.u32 %r3, bar;\nsetp.eq.u32 %p1, %r1, 0;\n"
           "cvt.u64.u32 %rd3, %r2;\ncvt.u64.u32 %rd4, %r3;\n"
           "mov.u32 %r4, 1;\n@%p1 mbarrier.init.shared.b64 [%rd4], %r4;\n@%p1 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n" +
           steps +
           "mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, 4096;\nmad.lo.u32 %r12, %r10, %r11, %r1;\nmov.u32 %r13, %r1;\n"
           "OUT:\nshl.b32 %r14, %r13, 2;\nadd.u32 %r14, %r14, %r2;\nld.shared.u32 %r15, [%r14];\nmul.wide.u32 %rd10, %r12, 4;\nadd.u64 %rd10, %rd2, %rd10;\n"
           "st.global.u32 [%rd10], %r15;\nadd.u32 %r13, %r13, 32;\nadd.u32 %r12, %r12, 32;\nsetp.lt.u32 %p2, %r13, " + std::to_string(bytes / 4) + ";\n@%p2 bra OUT;\nret;\n}\n";
}
std::string wait_for(std::uint32_t bytes, const std::string& copy) {
    return "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd5, [%rd4], " + std::to_string(bytes) + ";\n" + copy +
           "WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%rd4], 0;\n@!%p3 bra WAIT;\n";
}
std::string coordinates(const std::vector<int>& at) {
    std::string text = "{";
    for (std::size_t i = 0; i < at.size(); ++i) text += (i == 0 ? "%r" : ", %r") + std::to_string(20 + i);
    return text + "}";
}
std::string set_coordinates(const std::vector<int>& at) {
    std::string text;
    for (std::size_t i = 0; i < at.size(); ++i) text += "mov.u32 %r" + std::to_string(20 + i) + ", " + std::to_string(at[i]) + ";\n";
    return text;
}
std::string load_box(const std::vector<int>& at, std::uint32_t bytes) {
    const std::string dims = std::to_string(at.size());
    return wait_for(bytes, set_coordinates(at) + "@%p1 cp.async.bulk.tensor." + dims + "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%rd3], [%rd1, " +
                               coordinates(at) + "], [%rd4];\n");
}

// The box of a two-dimensional tensor of 16-bit numbers, as it should stand in shared memory.
std::vector<std::uint16_t> box_of(std::uint64_t columns, std::uint64_t rows, std::uint32_t width, std::uint32_t height, int x, int y, std::uint32_t swizzle) {
    std::vector<std::uint16_t> memory(std::size_t{width} * height);
    for (std::uint32_t r = 0; r < height; ++r) {
        for (std::uint32_t c = 0; c < width; ++c) {
            const std::int64_t row = y + static_cast<std::int64_t>(r), column = x + static_cast<std::int64_t>(c);
            const bool inside = row >= 0 && column >= 0 && row < static_cast<std::int64_t>(rows) && column < static_cast<std::int64_t>(columns);
            std::uint32_t at = (r * width + c) * 2;
            if (swizzle == 128) at ^= (at >> 7 & 7) << 4;
            if (swizzle == 64) at ^= (at >> 7 & 3) << 4;
            if (swizzle == 32) at ^= (at >> 7 & 1) << 4;
            memory[at / 2] = inside ? static_cast<std::uint16_t>(row * static_cast<std::int64_t>(columns) + column) : 0;
        }
    }
    return memory;
}
std::vector<std::uint16_t> counted(std::size_t size) {
    std::vector<std::uint16_t> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::uint16_t>(i);
    return values;
}

}  // namespace

TEST_CASE("tensor copies to shared memory: swizzles, and boxes beyond the edges") {
    struct Case {
        TensorSwizzle swizzle;
        std::uint32_t bytes, width;
    };
    for (const Case& one : {Case{TensorSwizzle::None, 0, 24}, {TensorSwizzle::B32, 32, 16}, {TensorSwizzle::B64, 64, 32}, {TensorSwizzle::B128, 128, 64}}) {
        for (const auto& [x, y] : {std::pair(0, 0), std::pair(8, 3), std::pair(-5, -2), std::pair(70, 33), std::pair(200, 0)}) {
            CAPTURE(one.bytes);
            CAPTURE(x);
            Machine machine;
            const std::uint32_t height = 20, bytes = one.width * height * 2;
            machine.load(tensor_kernel(load_box({x, y}, bytes), bytes));
            const DeviceAddress tensor = machine.upload(counted(80 * 40)), out = machine.allocate(std::max(bytes, 128u));
            const DeviceAddress map = machine.tensor_map({TensorType::U16, tensor, {80, 40}, {160}, {one.width, height}, one.swizzle});
            machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {map, out});
            CHECK(machine.download<std::uint16_t>(out, bytes / 2) == box_of(80, 40, one.width, height, x, y, one.bytes));
        }
    }
}

TEST_CASE("tensor copies: one to five dimensions there and back") {
    for (std::size_t rank = 1; rank <= 5; ++rank) {
        CAPTURE(rank);
        // A tensor of 16 x 3 x 3 x 3 x 3 words, a box of 8 x 2 x 2 x 2 x 2 from (4, 1, 1, ..) on, to (8, 0, 0, ..).
        std::vector<std::uint64_t> dims{16}, strides;
        std::vector<std::uint32_t> box{8};
        std::vector<int> from{4}, to{8};
        std::size_t elements = 16;
        for (std::size_t d = 1; d < rank; ++d) {
            strides.push_back(elements * 4);
            dims.push_back(3);
            box.push_back(2);
            from.push_back(1);
            to.push_back(0);
            elements *= 3;
        }
        const std::uint32_t bytes = 32u << (rank - 1);
        const std::string dim = std::to_string(rank) + "d";
        const std::string back = set_coordinates(to) + "fence.proxy.async;\nbar.sync 0;\n@%p1 cp.async.bulk.tensor." + dim + ".global.shared::cta.tile.bulk_group [%rd1, " +
                                 coordinates(to) + "], [%rd3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
        const std::string fetch = "prefetch.tensormap [%rd1];\n" + set_coordinates(from) + "cp.async.bulk.prefetch.tensor." + dim + ".L2.global.tile [%rd1, " + coordinates(from) + "];\n";
        Machine machine;
        machine.load(tensor_kernel(fetch + load_box(from, bytes) + back, bytes));
        std::vector<std::uint32_t> values(elements);
        for (std::size_t i = 0; i < elements; ++i) values[i] = static_cast<std::uint32_t>(i);
        const DeviceAddress tensor = machine.upload(values), out = machine.allocate(std::max(bytes, 128u));
        const DeviceAddress map = machine.tensor_map({TensorType::U32, tensor, dims, strides, box});
        machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {map, out});
        std::vector<std::uint32_t> expected = values, in_box;
        for (std::uint32_t i = 0; i < bytes / 4; ++i) {
            std::size_t source = 4 + i % 8, target = 8 + i % 8, stride = 16;
            for (std::size_t d = 1; d < rank; ++d, stride *= 3) {
                const std::size_t bit = i >> (2 + d) & 1;
                source += (bit + 1) * stride;
                target += bit * stride;
            }
            in_box.push_back(values[source]);
            expected[target] = values[source];
        }
        CHECK(machine.download<std::uint32_t>(out, bytes / 4) == in_box);
        CHECK(machine.download<std::uint32_t>(tensor, elements) == expected);
    }
}

TEST_CASE("tensor copies that combine, clipped at the edge") {
    struct Case {
        const char* op;
        TensorType type;
        std::uint32_t old, value, result;
    };
    for (const Case& one : {Case{"add", TensorType::S32, 5, 0xFFFFFFFE, 3}, {"add", TensorType::F32, 0x3F800000, 0x40000000, 0x40400000}, {"min", TensorType::S32, 5, 0xFFFFFFFE, 0xFFFFFFFE},
                            {"max", TensorType::U32, 5, 0xFFFFFFFE, 0xFFFFFFFE}, {"inc", TensorType::U32, 5, 5, 0}, {"dec", TensorType::U32, 5, 9, 4}, {"and", TensorType::U32, 6, 3, 2},
                            {"or", TensorType::U32, 6, 3, 7}, {"xor", TensorType::U32, 6, 3, 5}, {"add", TensorType::F16, 0x3C003C00, 0x40003C00, 0x42004000}}) {
        CAPTURE(one.op);
        const std::uint32_t per_word = tensor_element_bytes(one.type) == 2 ? 2 : 1;
        const std::string fill = "shl.b32 %r5, %r1, 2;\nadd.u32 %r5, %r5, %r2;\nmov.u32 %r6, " + std::to_string(one.value) + ";\nst.shared.u32 [%r5], %r6;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n";
        const std::string reduce = "mov.u32 %r20, " + std::to_string(20 * per_word) + ";\n@%p1 cp.reduce.async.bulk.tensor.1d.global.shared::cta." + std::string(one.op) +
                                   ".tile.bulk_group [%rd1, {%r20}], [%rd3];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\n";
        Machine machine;
        machine.load(tensor_kernel(fill + reduce, 128));
        const DeviceAddress tensor = machine.upload(std::vector<std::uint32_t>(48, one.old)), out = machine.allocate(128);
        const DeviceAddress map = machine.tensor_map({one.type, tensor, {40 * per_word}, {}, {32 * per_word}});
        machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {map, out});
        const auto got = machine.download<std::uint32_t>(tensor, 48);
        for (std::size_t i = 0; i < 48; ++i) CHECK(got[i] == (i >= 20 && i < 40 ? one.result : one.old));
    }
}

TEST_CASE("a tensor copy to several blocks of a cluster") {
    const std::string copy = set_coordinates({0, 2}) +
                             "mov.u32 %r7, %cluster_ctarank;\nsetp.eq.u32 %p4, %r7, 0;\nand.pred %p4, %p4, %p1;\nmov.u16 %rs1, 3;\n"
                             "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                             "@%p4 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%rd3], [%rd1, {%r20, %r21}], [%rd4], %rs1;\n";
    const std::string leave = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
    Machine machine;
    machine.load(tensor_kernel(wait_for(256, copy) + leave, 256, "\n.explicitcluster\n.reqnctapercluster 2, 1, 1"));
    const DeviceAddress tensor = machine.upload(counted(16 * 20)), out = machine.allocate(2 * 16384);
    const DeviceAddress map = machine.tensor_map({TensorType::U16, tensor, {16, 20}, {32}, {16, 8}});
    machine.run("k", {{2, 1, 1}, {32, 1, 1}}, {map, out});
    const auto got = machine.download<std::uint16_t>(out, 16384);
    const auto expected = box_of(16, 20, 16, 8, 0, 2, 0);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(got[i] == expected[i]);
        CHECK(got[8192 + i] == expected[i]);
    }
}

TEST_CASE("NaN outside of a tensor of floats; every second row") {
    Machine machine;
    machine.load(tensor_kernel(load_box({6, 0}, 64), 64));
    const DeviceAddress tensor = machine.upload(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31, 32, 33, 34, 35, 36, 37});
    const DeviceAddress out = machine.allocate(128);
    const DeviceAddress map = machine.tensor_map({TensorType::F32, tensor, {8, 4}, {32}, {8, 4}, TensorSwizzle::None, true, {1, 2}});
    machine.run("k", {{1, 1, 1}, {32, 1, 1}}, {map, out});
    const auto got = machine.download<float>(out, 16);
    CHECK(got[0] == 6);
    CHECK(got[1] == 7);
    CHECK(got[2] != got[2]);
    CHECK(got[8] == 26);
    CHECK(got[15] != got[15]);
}

TEST_CASE("what goes wrong with tensor copies") {
    Machine machine;
    if (machine.on_gpu()) return;
    const DeviceAddress memory = machine.upload(counted(4096)), out = machine.allocate(4096);
    const auto message = [&](const std::string& steps, DeviceAddress map) {
        machine.load(tensor_kernel(steps, 128));
        return machine.fail("k", {{1, 1, 1}, {32, 1, 1}}, {map, out}).message;
    };
    const DeviceAddress map = machine.tensor_map({TensorType::U16, memory, {64, 64}, {128}, {64, 16}, TensorSwizzle::B128});
    CHECK(message(load_box({0, 0}, 2048), memory).find("no tensor map at") != std::string::npos);
    CHECK(message(load_box({0}, 2048), map).find("1 coordinates for a tensor of 2 dimensions") != std::string::npos);
    CHECK(message("add.u64 %rd3, %rd3, 256;\n" + load_box({0, 0}, 2048), map).find("wants a multiple of 1024") != std::string::npos);
    CHECK(message("add.u64 %rd3, %rd3, 15360;\n" + load_box({0, 0}, 2048), map).find("uses 2048 bytes at") != std::string::npos);
    const DeviceAddress longer = machine.tensor_map({TensorType::U16, memory, {64, 128}, {128}, {64, 16}});
    CHECK(message(load_box({0, 66}, 2048), longer).find("illegal address") != std::string::npos);
    TensorMap unused;
    const auto refused = [&](std::uint64_t address, std::uint64_t dim, std::uint64_t stride, std::uint32_t width, TensorSwizzle swizzle) {
        const std::uint64_t dims[] = {dim, 8}, strides[] = {stride};
        const std::uint32_t box[] = {width, 8}, steps[] = {1, 1};
        return !encode_tensor_map({TensorType::U16, swizzle, false, 2, address, dims, strides, box, steps}, unused);
    };
    CHECK_FALSE(refused(memory, 64, 128, 64, TensorSwizzle::B128));
    CHECK(refused(memory + 8, 64, 128, 64, TensorSwizzle::B128));
    CHECK(refused(memory, 64, 120, 64, TensorSwizzle::None));
    CHECK(refused(memory, 64, 64, 64, TensorSwizzle::None));
    CHECK(refused(memory, 64, 128, 64, TensorSwizzle::B64));
    CHECK(refused(memory, 64, 128, 4, TensorSwizzle::None));
    CHECK(refused(memory, 0, 128, 64, TensorSwizzle::None));
}
