#include "abi/kernel_abi.hpp"

#include <cstddef>

namespace ockc::abi {

const ScalarInfo& scalar_info(Scalar scalar) {
    static constexpr ScalarInfo kRows[] = {
#define OCKC_ABI_SCALAR_ROW(name, rust, cpp, bytes, kind) {rust, cpp, bytes, kind},
        OCKC_ABI_SCALARS(OCKC_ABI_SCALAR_ROW)
#undef OCKC_ABI_SCALAR_ROW
    };
    return kRows[static_cast<std::size_t>(scalar)];
}

}  // namespace ockc::abi
