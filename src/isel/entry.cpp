// The outside of a function: .param declarations and the loads of what the body asks for. An entry's
// parameters follow the kernel's ABI slots; pointers arrive generic and are taken to .global once.
#include "isel/selector.hpp"

namespace ockc::isel {

using ir::Op;

namespace {

ptx::Type slot_type(abi::Scalar scalar) {
    using abi::Scalar;
    switch (scalar) {
        case Scalar::Bool:
        case Scalar::I8:
        case Scalar::U8: return ptx::Type::U8;
        case Scalar::I16:
        case Scalar::U16: return ptx::Type::U16;
        case Scalar::F16:
        case Scalar::BF16: return ptx::Type::B16;
        case Scalar::Char:
        case Scalar::I32:
        case Scalar::U32: return ptx::Type::U32;
        case Scalar::I64:
        case Scalar::U64:
        case Scalar::Isize:
        case Scalar::Usize: return ptx::Type::U64;
        case Scalar::F32: return ptx::Type::F32;
        case Scalar::F64: return ptx::Type::F64;
        case Scalar::I128:
        case Scalar::U128: return ptx::Type::B128;
    }
    OCKC_UNREACHABLE("ABI scalar");
}

}  // namespace

void Selector::declare_params() {
    const std::vector<ir::ValueId>& values = in_.blocks[in_.entry()].params;
    const abi::KernelAbi* kernel = nullptr;
    if (in_.is_kernel && context_.abi != nullptr && in_.kernel_index < context_.abi->kernels.size()) {
        kernel = &context_.abi->kernels[in_.kernel_index];
        OCKC_CHECK_MSG(kernel->slots.size() == values.size(), in_.name);
    }
    out_.entry = in_.is_kernel;
    out_.linkage = in_.is_kernel ? ptx::Linkage::Visible : ptx::Linkage::None;
    out_.name = context_.out.symbol(in_.name);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const VT type = in_.type_of(values[i]);
        ptx::Param param;
        std::string name = kernel != nullptr ? kernel->slots[i].name : "param" + std::to_string(i);
        if (context_.taken_names.contains(name)) name += "$";  // positions count, names do not
        param.name = context_.out.symbol(name);
        if (kernel != nullptr) {
            const abi::ParamSlot& slot = kernel->slots[i];
            param.type = slot.bytes ? PT::B8 : slot_type(slot.scalar);
            if (slot.bytes || param.type == PT::B128) {
                param.type = PT::B8;
                param.align = slot.align;
                param.array = true;
                param.count = slot.size;
            }
        } else {
            param_shape({&type, 1}, param.type, param.align, param.array, param.count);
        }
        if (type == VT::PtrParam) params_.set(values[i], param.name);
        out_.params.push_back(param);
    }
    if (in_.results.empty()) return;
    ptx::Param result;
    result.name = context_.out.symbol("$result");
    param_shape(in_.results, result.type, result.align, result.array, result.count);
    out_.results.push_back(result);
}

// All loads first, then the conversions, in the order of the parameters. Only what was asked for.
void Selector::load_params() {
    const std::vector<ir::ValueId>& values = in_.blocks[in_.entry()].params;
    std::vector<Instr> conversions;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ir::ValueId value = values[i];
        if (!regs_[value].valid() && !highs_[value].valid()) continue;
        const VT type = in_.type_of(value);
        const ptx::SymbolId symbol = out_.params[i].name;
        if (type == VT::PtrParam) {
            emit(Form::Mov, PT::U64, {r(reg_of(value)), Operand::symbol(symbol)});
        } else if (type == VT::PtrGlobal && in_.is_kernel) {
            const Reg generic = fresh(RegClass::B64);
            from_param(symbol, 0, {r(generic), VT::Ptr, {}});
            Instr to_global = ptx::make(Form::CvtaTo, PT::U64, {r(reg_of(value)), r(generic)});
            to_global.mods.space = ptx::Space::Global;
            to_global.loc = loc_;
            conversions.push_back(to_global);
        } else if (type == VT::I128) {
            from_param(symbol, 0, {r(reg_of(value)), type, r(high_of(value))});
        } else {
            from_param(symbol, 0, {r(reg_of(value)), type, {}});
        }
    }
    current_.insert(current_.end(), conversions.begin(), conversions.end());
}

}  // namespace ockc::isel
