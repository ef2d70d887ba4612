#include "ptx/matrix.hpp"

namespace ockc::ptx {

MmaShape mma_shape(Form form, const Mods& mods) {
    const auto sums = static_cast<std::uint8_t>(mods.type == Type::F16 ? 2 : 4);   // f16: two in a register
    switch (form) {
        case Form::MmaK8:
            if (mods.source_type == Type::TF32) return {4, 2, sums, 1, 16, 8};
            return {2, 1, sums, 2, 16, 8};
        case Form::MmaK16: return {4, 2, sums, 2, 16, 16};
        case Form::MmaK4: return {2, 1, 4, 1, 16, 4};
        case Form::MmaInt8: return {1, 1, 2, 4, 8, 16};
        case Form::MmaIntK16: return {2, 1, 4, 4, 16, 16};
        case Form::MmaInt:
            if (contains(kNibbles, mods.source_type)) return {2, 1, 4, 8, 16, 32};
            return {4, 2, 4, 4, 16, 32};
        case Form::MmaNibble8: return {1, 1, 2, 8, 8, 32};
        case Form::MmaNibble: return {4, 2, 4, 8, 16, 64};
        case Form::MmaBits8: return {1, 1, 2, 32, 8, 128};
        case Form::MmaBitsK128: return {2, 1, 4, 32, 16, 128};
        case Form::MmaBits: return {4, 2, 4, 32, 16, 256};
        case Form::MmaFp8K16: return {2, 1, sums, 4, 16, 16};
        case Form::MmaFp8: return {4, 2, sums, 4, 16, 32};
        case Form::MmaF64: return {1, 1, 2, 1, 8, 4};
        case Form::MmaF64K4: return {2, 1, 4, 1, 16, 4};
        case Form::MmaF64K8: return {4, 2, 4, 1, 16, 8};
        case Form::MmaF64K16: return {8, 4, 4, 1, 16, 16};
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

bool is_wgmma(Form form) {
    return form >= Form::WgmmaK16 && form <= Form::WgmmaBitsReg;
}

namespace {

// D: f16 sums two in a register; A in registers: 16 rows of a warp. The constants are signs and, of halves, directions.
std::uint32_t wgmma_list(Form form, const Mods& mods, std::size_t operand) {
    if (operand == 0) return mods.columns * (mods.type == Type::F16 ? 2u : 4u);
    const bool registers = form_info(form).operands[1].role == Role::List;
    if (operand == 1) return 4;
    const std::uint32_t directions = form == Form::WgmmaK16 || form == Form::WgmmaK16Reg ? (registers ? 1 : 2) : 0;
    return 2 + directions;
}

}  // namespace

std::uint32_t matrix_registers(Form form, const Mods& mods, std::size_t operand) {
    if (mods.dims != 0) return mods.dims;
    if (is_wgmma(form)) return wgmma_list(form, mods, operand);
    if (const std::uint32_t count = matrix_count(form, mods); count != 0) return count;
    const MmaShape shape = mma_shape(form, mods);
    return operand == 1 ? shape.a : operand == 2 ? shape.b : shape.c;
}

}  // namespace ockc::ptx
