#include "fixture.hpp"

namespace fixture {

using abi::Scalar;
using abi::SizeExpr;

abi::ModuleAbi vecadd_module() {
    const abi::AbiType f32 = scalar(Scalar::F32);
    abi::ModuleAbi module;
    module.source_name = "vecadd.rsk";
    module.modules = {"kernels"};
    module.kernels.push_back(KernelBuilder("kernels", "vecadd")
                                 .slice("a", f32, "f32")
                                 .slice("b", f32, "f32")
                                 .output("c", f32, "f32")
                                 .contract(1, {256, 1, 1})
                                 .doc("Adds two vectors, one element a thread.")
                                 .build());
    return module;
}

const char* vecadd_ptx() {
    return R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry vecadd(
    .param .u64 a_ptr, .param .u64 a_len,
    .param .u64 b_ptr, .param .u64 b_len,
    .param .u64 c_ptr, .param .u64 c_len)
.reqntid 256, 1, 1
{
    .reg .pred %p<4>;
    .reg .b32 %r<4>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<16>;

    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.wide.u32 %rd1, %r1, %r2, 0;
    cvt.u64.u32 %rd2, %r3;
    add.s64 %rd1, %rd1, %rd2;
    ld.param.u64 %rd3, [c_len];
    setp.ge.u64 %p1, %rd1, %rd3;
    @%p1 bra done;
    ld.param.u64 %rd4, [a_len];
    setp.ge.u64 %p2, %rd1, %rd4;
    @%p2 bra fail;
    ld.param.u64 %rd5, [b_len];
    setp.ge.u64 %p3, %rd1, %rd5;
    @%p3 bra fail;
    ld.param.u64 %rd6, [a_ptr];
    cvta.to.global.u64 %rd7, %rd6;
    ld.param.u64 %rd8, [b_ptr];
    cvta.to.global.u64 %rd9, %rd8;
    ld.param.u64 %rd10, [c_ptr];
    cvta.to.global.u64 %rd11, %rd10;
    shl.b64 %rd12, %rd1, 2;
    add.s64 %rd13, %rd7, %rd12;
    add.s64 %rd14, %rd9, %rd12;
    add.s64 %rd15, %rd11, %rd12;
    ld.global.f32 %f1, [%rd13];
    ld.global.f32 %f2, [%rd14];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd15], %f3;
done:
    ret;
fail:
    trap;
}
)";
}

abi::ModuleAbi zoo_module() {
    const abi::AbiType f32 = scalar(Scalar::F32);
    abi::ModuleAbi module;
    module.source_name = "zoo.rsk";
    module.modules = {"zoo", "zoo::inner"};
    // #[repr(C)] with a hole, one inside the other, and a packed one.
    module.structs.push_back({"Particle",
                              "Particle",
                              24,
                              8,
                              {{"mass", scalar(Scalar::F64), 0},
                               {"class", scalar(Scalar::U8), 8},
                               {"position", array(f32, 3), 12}}});
    module.structs.push_back(
        {"Pair", "Pair", 64, 16, {{"0", scalar(Scalar::I128), 0}, {"1", structure(0, 24, 8), 32}}});
    module.structs.push_back(
        {"Packed", "Packed", 5, 1, {{"tag", scalar(Scalar::U8), 0}, {"value", scalar(Scalar::F32), 1}}});

    // fn scale(scale: f32, x: &[f32], out: DisjointSlice<f32>) where x.len() >= out.len() * 2
    KernelBuilder scale("zoo", "scale");
    scale.value("scale", Scalar::F32).slice("x", f32, "f32").output("out", f32, "f32").bounded(1, 128);
    scale.doc("Ends with a backslash \\\n\nand has \"quotes\".");
    {
        SizeExpr twice;
        twice.kind = SizeExpr::Kind::Mul;
        SizeExpr two;
        two.literal = 2;
        twice.operands = {size_leaf(SizeExpr::Kind::Len, 2), two};
        scale.kernel().launch.requirements.push_back(
            {"x.len() >= out.len() * 2", size_leaf(SizeExpr::Kind::Len, 1), abi::Relation::Ge, twice});
    }
    module.kernels.push_back(scale.build());

    module.kernels.push_back(KernelBuilder("zoo", "image")
                                 .rows("pixels", scalar(Scalar::F16), "f16")
                                 .value("stream", Scalar::U32)
                                 .contract(2, {16, 16, 1})
                                 .build());
    module.kernels.push_back(KernelBuilder("zoo", "volume")
                                 .output("cells", scalar(Scalar::U64), "u64")
                                 .contract(3, {4, 4, 4})
                                 .build());
    module.kernels.push_back(KernelBuilder("zoo", "count")
                                 .slice("input", structure(0, 24, 8), "Particle")
                                 .atomics("bins", scalar(Scalar::U32), "DeviceAtomicU32")
                                 .atomics("more_bins", scalar(Scalar::U32), "DeviceAtomicU32")
                                 .contract(1, {64, 1, 1})
                                 .build());
    module.kernels.push_back(KernelBuilder("zoo", "histogram")
                                 .slice("keys", scalar(Scalar::U32), "u32")
                                 .atomics("bins", scalar(Scalar::U32), "DeviceAtomicU32")
                                 .contract(1, {64, 1, 1})
                                 .build());
    module.kernels.push_back(KernelBuilder("zoo", "move_particle")
                                 .output("particle", structure(0, 24, 8), "Particle")
                                 .by_value("pair", structure(1, 64, 16), "Pair")
                                 .by_value("packed", structure(2, 5, 1), "Packed")
                                 .value("letter", Scalar::Char)
                                 .value("flag", Scalar::Bool)
                                 .marker("phantom", "PhantomData<f32>")
                                 .contract(1, {32, 1, 1})
                                 .build());
    module.kernels.push_back(KernelBuilder("zoo", "swap_halves")
                                 .output("left", f32, "f32")
                                 .output("right", f32, "f32")
                                 .contract(1, {32, 1, 1})
                                 .build());
    KernelBuilder shared("zoo", "with_shared");
    shared.output("out", f32, "f32").bounded(1, 256);
    shared.kernel().launch.dynamic_shared_range = {1024, 65536};
    shared.kernel().launch.min_compute_capability = {8, 0};
    module.kernels.push_back(shared.build());
    KernelBuilder cluster("zoo::inner", "clustered");
    cluster.output("out", f32, "f32").contract(1, {128, 1, 1});
    cluster.kernel().launch.cluster = abi::Dim3{2, 1, 1};
    cluster.kernel().launch.coordinates_u32 = true;
    module.kernels.push_back(cluster.build());
    KernelBuilder grid("zoo::inner", "grid_wide");
    grid.output("out", f32, "f32").contract(1, {128, 1, 1});
    grid.kernel().launch.cooperative = true;
    module.kernels.push_back(grid.build());
    module.kernels.push_back(
        KernelBuilder("zoo::inner", "loose").slice("a", f32, "f32").output("b", f32, "f32").build());
    KernelBuilder raw("zoo::inner", "delete");
    raw.pointer("from", Scalar::F32, false).pointer("to", Scalar::F32, true).value("int", Scalar::I32);
    raw.contract(1, {32, 1, 1});
    raw.kernel().is_unsafe = true;
    module.kernels.push_back(raw.build());
    module.kernels.push_back(KernelBuilder("", "free_kernel").value("n", Scalar::U32).bounded(1, 64).build());
    module.constants.push_back({"WEIGHTS", "WEIGHTS", array(f32, 4)});
    return module;
}

const char* zoo_ptx() {
    return ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry scale() { ret; }\n";
}

}  // namespace fixture
