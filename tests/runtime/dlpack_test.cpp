// Tensors of other frameworks: what is taken as it is, and what is refused with its reason.
#include <array>
#include <ock/dlpack.hpp>

#include "driver_test.hpp"

namespace {

// A 2 x 3 x 4 tensor of f32 at an address that nobody reads.
struct Tensor {
    std::array<std::int64_t, 3> shape = {2, 3, 4};
    std::array<std::int64_t, 3> strides = {12, 4, 1};
    DLTensor tensor{};

    Tensor() {
        tensor.data = reinterpret_cast<void*>(std::uintptr_t{0x1000});
        tensor.device = {kDLCUDA, 0};
        tensor.ndim = 3;
        tensor.dtype = {kDLFloat, 32, 1};
        tensor.shape = shape.data();
        tensor.strides = strides.data();
    }
};

std::string refusal(const DLTensor& tensor) {
    const auto error = error_of([&] { (void)ock::from_dlpack<float>(tensor); });
    return error ? error->what() : "";
}

}  // namespace

TEST_CASE("contiguous tensors are taken without a copy") {
    Tensor t;
    CHECK(ock::from_dlpack<float>(t.tensor).size() == 24);
    t.tensor.byte_offset = 16;
    CHECK(ock::from_dlpack<const float>(t.tensor).data() ==
          reinterpret_cast<const float*>(std::uintptr_t{0x1010}));
    t.tensor.strides = nullptr;
    t.tensor.device.device_type = kDLCUDAManaged;
    CHECK(ock::from_dlpack<float>(t.tensor).size() == 24);
    t.tensor.ndim = 0;
    CHECK(ock::from_dlpack<float>(t.tensor).size() == 1);
    Tensor one;
    one.shape = {1, 6, 1};
    one.strides = {99, 1, 7};
    CHECK(ock::from_dlpack<float>(one.tensor).size() == 6);
    Tensor none;
    none.shape = {0, 3, 4};
    none.tensor.data = nullptr;
    CHECK(ock::from_dlpack<float>(none.tensor).empty());
}

TEST_CASE("what cannot be taken is refused with its reason") {
    Tensor host;
    host.tensor.device.device_type = kDLCPU;
    CHECK(refusal(host.tensor).find("not on a CUDA device") != std::string::npos);
    Tensor other;
    other.tensor.dtype = {kDLInt, 32, 1};
    CHECK(refusal(other.tensor).find("another type: code 0, 32 bits, 1 lanes") != std::string::npos);
    Tensor vectors;
    vectors.tensor.dtype.lanes = 4;
    CHECK(refusal(vectors.tensor).find("another type") != std::string::npos);
    Tensor transposed;
    transposed.strides = {1, 2, 6};
    CHECK(refusal(transposed.tensor).find("not contiguous") != std::string::npos);
    Tensor odd;
    odd.tensor.byte_offset = 2;
    CHECK(refusal(odd.tensor).find("not aligned") != std::string::npos);
    Tensor negative;
    negative.shape[1] = -1;
    CHECK(refusal(negative.tensor).find("negative extent") != std::string::npos);
}

TEST_CASE("a view of ours goes out and comes back") {
    Device device;
    ock::Context ctx(0);
    const auto stream = ctx.default_stream();
    auto buffer = ock::zeroed<ock::bf16>(stream, 5);
    const ock::DlpackView<ock::bf16> view(buffer.span());
    CHECK(view.tensor().dtype.code == kDLBfloat);
    CHECK(ock::from_dlpack<ock::bf16>(view.tensor()).data() == buffer.device_pointer());
    CHECK(ock::detail::dlpack_type<bool>().code == kDLBool);
    CHECK(ock::detail::dlpack_type<ock::f16>().bits == 16);
    CHECK(ock::detail::dlpack_type<std::int64_t>().code == kDLInt);
    CHECK(ock::detail::dlpack_type<const std::uint8_t>().code == kDLUInt);
}
