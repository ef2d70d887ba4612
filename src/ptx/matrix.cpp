#include "ptx/matrix.hpp"

namespace ockc::ptx {

MmaShape mma_shape(Form form, const Mods& mods) {
    const auto sums = static_cast<std::uint8_t>(mods.type == Type::F16 ? 2 : 4);   // f16: two in a register
    switch (form) {
        case Form::MmaK8:
            if (mods.source_type == Type::TF32) return {4, 2, sums, 1, 16, 8};
            return {2, 1, sums, 2, 16, 8};
        case Form::MmaK16: return {4, 2, sums, 2, 16, 16};
        case Form::MmaInt:
        case Form::MmaFp8: return {4, 2, 4, 4, 16, 32};
        case Form::MmaF64: return {1, 1, 2, 1, 8, 4};
        default: return {};
    }
}

std::uint32_t matrix_count(Form form, const Mods& mods) {
    switch (form) {
        case Form::Ldmatrix:
        case Form::LdmatrixTrans:
        case Form::Stmatrix:
        case Form::StmatrixTrans: return mods.mode == Mode::X1 ? 1 : mods.mode == Mode::X2 ? 2 : 4;
        default: return 0;
    }
}

std::uint32_t matrix_registers(Form form, const Mods& mods, std::size_t operand) {
    if (const std::uint32_t count = matrix_count(form, mods); count != 0) return count;
    const MmaShape shape = mma_shape(form, mods);
    return operand == 1 ? shape.a : operand == 2 ? shape.b : shape.c;
}

}  // namespace ockc::ptx
