// Kernels written by hand, ABI and PTX, so that header, manifest and runtime are tested without the compiler:
// `vecadd` as in the sample, and a module with one kernel for each thing that a signature or a contract can
// say.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "abi/kernel_abi.hpp"

namespace fixture {

namespace abi = ockc::abi;

inline abi::AbiType scalar(abi::Scalar which) {
    abi::AbiType type;
    type.scalar = which;
    type.size = abi::scalar_info(which).bytes;
    type.align = static_cast<std::uint32_t>(type.size);
    return type;
}

inline abi::AbiType array(const abi::AbiType& element, std::uint64_t length) {
    abi::AbiType type;
    type.kind = abi::AbiType::Kind::Array;
    type.element = {element};
    type.array_length = length;
    type.size = element.size * length;
    type.align = element.align;
    return type;
}

inline abi::AbiType structure(std::uint32_t index, std::uint64_t size, std::uint32_t align) {
    abi::AbiType type;
    type.kind = abi::AbiType::Kind::Struct;
    type.struct_index = index;
    type.size = size;
    type.align = align;
    return type;
}

// Builds a KernelAbi with the .param list that the kernel ABI prescribes.
class KernelBuilder {
  public:
    KernelBuilder(std::string module, std::string name) {
        kernel_.module = std::move(module);
        kernel_.symbol = name;
        kernel_.name = std::move(name);
        kernel_.file = "fixture.rsk";
        kernel_.line = 1;
    }
    KernelBuilder& slice(const std::string& name, const abi::AbiType& type, const std::string& rust) {
        abi::KernelParam& param = add(name, "&[" + rust + "]", abi::ParamKind::Slice, type);
        add_slice_slots(param);
        return *this;
    }
    KernelBuilder& atomics(const std::string& name, const abi::AbiType& type, const std::string& rust) {
        abi::KernelParam& param = add(name, "&[" + rust + "]", abi::ParamKind::Slice, type);
        param.is_atomic = true;
        add_slice_slots(param);
        return *this;
    }
    KernelBuilder& output(const std::string& name, const abi::AbiType& type, const std::string& rust) {
        abi::KernelParam& param =
            add(name, "DisjointSlice<" + rust + ">", abi::ParamKind::DisjointSlice, type);
        param.writable = true;
        param.index_space = "Index1D";
        add_slice_slots(param);
        return *this;
    }
    KernelBuilder& rows(const std::string& name, const abi::AbiType& type, const std::string& rust) {
        abi::KernelParam& param =
            add(name, "DisjointSlice<" + rust + ", Runtime2DIndex>", abi::ParamKind::DisjointSlice, type);
        param.writable = true;
        param.has_row_width = true;
        param.index_space = "Runtime2DIndex";
        add_slice_slots(param);
        add_slot(param, "_width", 4, 4, false, abi::Scalar::U32);
        return *this;
    }
    KernelBuilder& value(const std::string& name, abi::Scalar which) {
        const abi::AbiType type = scalar(which);
        abi::KernelParam& param = add(name, abi::scalar_info(which).rust, abi::ParamKind::Scalar, type);
        add_slot(param, "", static_cast<std::uint32_t>(type.size), type.align, false, which);
        return *this;
    }
    KernelBuilder& by_value(const std::string& name, const abi::AbiType& type, const std::string& rust) {
        abi::KernelParam& param = add(name, rust, abi::ParamKind::Struct, type);
        add_slot(param, "", static_cast<std::uint32_t>(type.size), type.align, true, abi::Scalar::U8);
        return *this;
    }
    KernelBuilder& pointer(const std::string& name, abi::Scalar which, bool writable) {
        const std::string rust = std::string(writable ? "*mut " : "*const ") + abi::scalar_info(which).rust;
        abi::KernelParam& param = add(name, rust, abi::ParamKind::Pointer, scalar(which));
        param.writable = writable;
        add_slot(param, "", 8, 8, false, abi::Scalar::U64);
        return *this;
    }
    KernelBuilder& marker(const std::string& name, const std::string& rust) {
        abi::AbiType type;
        add(name, rust, abi::ParamKind::ZeroSized, type);
        return *this;
    }
    KernelBuilder& contract(std::uint32_t domain, abi::Dim3 block) {
        kernel_.launch.has_contract = true;
        kernel_.launch.domain = domain;
        kernel_.launch.block = block;
        kernel_.launch.max_threads = block[0] * block[1] * block[2];
        return *this;
    }
    KernelBuilder& bounded(std::uint32_t domain, std::uint32_t max_threads) {
        kernel_.launch.has_contract = true;
        kernel_.launch.domain = domain;
        kernel_.launch.max_threads = max_threads;
        return *this;
    }
    KernelBuilder& doc(std::string text) {
        kernel_.doc = std::move(text);
        return *this;
    }
    abi::KernelAbi& kernel() { return kernel_; }
    abi::KernelAbi build() { return std::move(kernel_); }

  private:
    abi::KernelParam& add(const std::string& name, std::string rust, abi::ParamKind kind, abi::AbiType type) {
        abi::KernelParam param;
        param.name = name;
        param.rust_type = std::move(rust);
        param.kind = kind;
        param.type = std::move(type);
        param.first_slot = static_cast<std::uint32_t>(kernel_.slots.size());
        kernel_.params.push_back(std::move(param));
        return kernel_.params.back();
    }
    void add_slice_slots(abi::KernelParam& param) {
        add_slot(param, "_ptr", 8, 8, false, abi::Scalar::U64);
        add_slot(param, "_len", 8, 8, false, abi::Scalar::U64);
    }
    void add_slot(abi::KernelParam& param, const char* suffix, std::uint32_t size, std::uint32_t align,
                  bool bytes, abi::Scalar type) {
        kernel_.slots.push_back({param.name + suffix, size, align, bytes, type});
        ++param.slot_count;
    }
    abi::KernelAbi kernel_;
};

inline abi::SizeExpr size_leaf(abi::SizeExpr::Kind kind, std::uint32_t param) {
    abi::SizeExpr expr;
    expr.kind = kind;
    expr.param = param;
    return expr;
}

// The announcement's kernel.
abi::ModuleAbi vecadd_module();
const char* vecadd_ptx();

// One kernel per feature, in two device modules and without one.
abi::ModuleAbi zoo_module();
const char* zoo_ptx();

}  // namespace fixture
