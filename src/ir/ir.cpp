#include "ir/ir.hpp"

#include <utility>

namespace ockc::ir {

Type int_type(std::uint32_t bits) {
    switch (bits) {
        case 1: return Type::I1;
        case 8: return Type::I8;
        case 16: return Type::I16;
        case 32: return Type::I32;
        case 64: return Type::I64;
        case 128: return Type::I128;
    }
    OCKC_UNREACHABLE("no integer type of that width");
}

Type ptr_type(Space space) {
    return static_cast<Type>(static_cast<std::uint8_t>(Type::Ptr) + static_cast<std::uint8_t>(space));
}

Space ptr_space(Type type) {
    OCKC_CHECK(is_ptr(type));
    return static_cast<Space>(static_cast<std::uint8_t>(type) - static_cast<std::uint8_t>(Type::Ptr));
}

BlockId Function::add_block() {
    const BlockId block = blocks.push({});
    layout.push_back(block);
    return block;
}

ValueId Function::add_block_param(BlockId block, Type type) {
    Block& b = blocks[block];
    const ValueId value =
        values.push({type, InstId::none(), block, static_cast<std::uint32_t>(b.params.size())});
    b.params.push_back(value);
    return value;
}

InstId Function::make_inst(Instruction&& inst, std::span<const Type> result_types) {
    const InstId id = insts.next_id();
    for (std::uint32_t i = 0; i < result_types.size(); ++i) {
        inst.results.push_back(values.push({result_types[i], id, BlockId::none(), i}));
    }
    insts.push(std::move(inst));
    return id;
}

}  // namespace ockc::ir
