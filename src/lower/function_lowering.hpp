// Lowering of one MIR body at concrete types to one IR function.
#pragma once
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "intrinsic/intrinsic.hpp"
#include "lower/local_values.hpp"
#include "lower/module_lowering.hpp"

namespace ockc::lower {

// A place: an address (pointer plus constant offset), the length of an unsized place, and the type found there. A local that
// lives in SSA values has no address: its scalar at `offset` is the variable `var`, its second scalar the one after it.
struct PlaceRef {
    ir::ValueId ptr;
    std::int64_t offset = 0;
    ir::ValueId meta;              // slices and str: element count
    TypeId type;
    const Layout* layout = nullptr;   // of `type`, or of one variant of it after a downcast
    VarId var = kNoVar;
    std::uint32_t align = 1;          // known of `ptr`, whatever the type of the place asks for

    bool in_values() const { return var != kNoVar; }
};

// A value: nothing, one or two scalars, or bytes in memory that nobody else changes.
struct Value {
    TypeId type;
    ValueForm form = ValueForm::Zero;
    ir::ValueId a, b;              // Scalar, Pair
    PlaceRef memory;               // Memory
    TypeId fn_target{};            // function pointers: the function item or closure meant, where known
};

class FunctionLowering {
  public:
    FunctionLowering(ModuleLowering& module, const mir::Body& body, std::span<const types::GenericArg> args, ir::FuncId function);
    // `shape` is the function's own; kernels bind their parameters from the ABI instead.
    void run(const CallShape& shape, std::span<const TypeId> fn_targets);
    void run_kernel(const abi::KernelAbi& abi);
    void run_dispatcher(const CallShape& shape, std::span<const TypeId> targets);   // lower_fn_pointer.cpp

  private:
    // lower_body.cpp
    static ir::Type scalar_slot_type(abi::Scalar scalar);
    void declare_parameters(const CallShape& shape);
    bool make_locals();   // false: reported
    void give_up();
    bool check_size(TypeId type, Span span);
    void bind_arguments(const CallShape& shape);
    void bind_kernel_parameter(mir::LocalId local, const abi::KernelParam& param, std::span<const ir::ValueId> slots);
    ir::ValueId size_value(const abi::SizeExpr& expr, const abi::KernelAbi& abi, std::span<const ir::ValueId> slots);
    void assume(const abi::Requirement& one, const abi::KernelAbi& abi, std::span<const ir::ValueId> slots);
    void bind_rows(const PlaceRef& local, std::span<const ir::ValueId> slots);
    void lower_blocks();
    void lower_block(mir::BlockId block);
    void count_predecessors();
    void go_on(mir::BlockId target);
    void finish();
    void lower_statement(const mir::Statement& statement);
    void lower_terminator(const mir::Terminator& terminator);
    void lower_switch(const mir::SwitchIntTerminator& node);
    void lower_return();
    // lower_panic.cpp
    void lower_assert(const mir::AssertTerminator& node, Span span);
    void lower_panic(const mir::PanicTerminator& node, Span span);
    bool message_words(const mir::Operand& shown, std::string& type, std::vector<ir::ValueId>& words);
    std::string assert_message(const mir::AssertTerminator& node);

    // lower_place.cpp
    PlaceRef lower_place(const mir::Place& place);
    PlaceRef project(PlaceRef base, const mir::Projection& step);
    PlaceRef field(const PlaceRef& base, std::uint32_t index, TypeId type);
    PlaceRef element(const PlaceRef& base, ir::ValueId index, TypeId type);
    ir::ValueId address(const PlaceRef& place);          // generic pointer to the place
    ir::ValueId base_pointer(const PlaceRef& place) { return place.ptr.valid() ? place.ptr : address(place); }
    ir::ValueId length(const PlaceRef& place);           // of an array or slice place
    Value load(const PlaceRef& place);
    void store(const PlaceRef& place, const Value& value);
    void store_scalar(const PlaceRef& place, std::int64_t offset, ir::ValueId value, std::uint32_t align);
    ir::ValueId load_scalar(const PlaceRef& place, std::int64_t offset, const types::Scalar& scalar, std::uint32_t align);
    VarId var_at(const PlaceRef& place, std::int64_t offset) const;
    PlaceRef temporary(TypeId type);
    PlaceRef in_variables(TypeId type);
    // The value's bytes in memory: its own, or a fresh temporary.
    PlaceRef in_memory(const Value& value);

    // lower_rvalue.cpp
    void assign(const mir::Place& place, const mir::Rvalue& value);
    Value operand(const mir::Operand& operand);
    ir::ValueId scalar_operand(const mir::Operand& operand) { return this->operand(operand).a; }
    Value rvalue(const mir::Rvalue& value, TypeId type);
    Value cast(const mir::CastRvalue& node, TypeId to);
    Value binary(mir::BinOp op, const Value& lhs, const Value& rhs, TypeId type);
    ir::ValueId integer_binary(mir::BinOp op, ir::ValueId a, ir::ValueId b, bool is_signed);
    ir::ValueId compare(mir::BinOp op, const Value& lhs, const Value& rhs);
    ir::ValueId shift(mir::BinOp op, ir::ValueId a, ir::ValueId count, bool is_signed);
    ir::ValueId overflows(mir::BinOp op, ir::ValueId a, ir::ValueId b, bool is_signed);
    Value checked_binary(const mir::CheckedBinaryOpRvalue& node, TypeId type);
    Value unary(mir::UnOp op, const Value& value, TypeId type);
    ir::ValueId within(ir::ValueId pointer, std::uint64_t bytes);
    Value reference(const mir::Place& place, TypeId type);
    void assign_aggregate(const PlaceRef& to, const mir::AggregateRvalue& node);
    void assign_repeat(const PlaceRef& to, const mir::RepeatRvalue& node);

    // lower_discriminant.cpp
    ir::ValueId discriminant(const PlaceRef& place, TypeId result);
    void set_discriminant(const PlaceRef& place, std::uint32_t variant);
    const Layout& variant_layout(TypeId type, std::uint32_t variant);

    // lower_const.cpp
    Value constant(const mir::Constant& constant);
    Value const_value(const ConstValue& value, TypeId type);
    Value scalar_constant(TypeId type, std::uint64_t low, std::uint64_t high);
    void store_const(const PlaceRef& to, const ConstValue& value);
    Value bytes_constant(std::string_view bytes, TypeId type, bool fat);
    Value promoted_reference(const mir::Body& promoted, TypeId value_type, TypeId type);
    Value const_pointer(const ConstValue& value, TypeId type);
    ir::ValueId generic_address(ir::GlobalId global);

    // lower_call.cpp
    void lower_call(const mir::CallTerminator& node, Span span);
    void call_instance(ItemRef callee, std::span<const Value> args, const PlaceRef* destination, TypeId output);
    void call_function(ItemRef callee, const CallShape& shape, std::span<const Value> args, const PlaceRef* destination);
    void call_ir(ir::FuncId function, const CallShape& shape, std::span<const Value> args, const PlaceRef* destination);
    std::vector<Value> spread_tuple(std::span<const Value> args);
    PlaceRef for_parts(const PlaceRef& to, const Layout& variant, std::span<const Value> parts);
    void construct(DefId ctor, TypeId type, std::span<const Value> args, const PlaceRef& destination);
    bool is_ctor(DefId def) const;

    // lower_fn_pointer.cpp
    void find_fn_targets(std::span<const TypeId> targets);
    TypeId const_fn_target(const mir::Constant& constant);
    TypeId fn_target(const mir::Operand& operand);
    Value fn_pointer(TypeId function, TypeId type);
    void call_pointer(const Value& callee, std::span<const Value> args, const PlaceRef* destination, TypeId output);

    // lower_drop.cpp
    void lower_drop(const mir::DropTerminator& node);
    void drop_value(const PlaceRef& place);
    void drop_fields(const PlaceRef& place, std::span<const TypeId> parts);
    void drop_elements(const PlaceRef& place, TypeId type);
    void drop_adt(const PlaceRef& place, const types::TypeData& data);
    void drop_enum(const PlaceRef& place, const check::AdtInfo& adt);
    std::vector<TypeId> variant_types(const check::AdtInfo& adt, std::uint32_t variant, types::ArgsId args);

    // lower_scalar_op.cpp
    void lower_scalar_op(ItemRef method, std::span<const Value> args, const PlaceRef& destination, Span span);
    Value through_reference(const Value& value);
    void refuse_if(ir::ValueId bad, Span span, std::string text);
    void check_division(mir::BinOp op, const Value& lhs, const Value& rhs, Span span);
    void check_overflow(mir::BinOp op, const Value& lhs, const Value& rhs, Span span);
    ir::ValueId is_min(const Value& value);

    // lower_clone.cpp
    void clone_builtin(const PlaceRef& from, const PlaceRef& to);
    void clone_part(const PlaceRef& from, const PlaceRef& to);
    // Runs `body` for every index below `count`: written out when there are few, a loop otherwise.
    void for_each_index(std::uint64_t count, const std::function<void(ir::ValueId)>& body);

    // lower_intrinsic.cpp
    void lower_intrinsic(intrinsic::Intrinsic which, ItemRef item, std::span<const Value> args, const PlaceRef& destination);
    ir::ValueId integer_intrinsic(intrinsic::Intrinsic which, TypeId type, std::span<const Value> args);
    ir::ValueId float_intrinsic(intrinsic::Intrinsic which, std::span<const Value> args);
    void memory_intrinsic(intrinsic::Intrinsic which, TypeId type, std::span<const Value> args, const PlaceRef& destination);
    std::vector<std::uint64_t> const_arguments(ItemRef item);
    std::vector<ir::ValueId> array_elements(const Value& array);
    void machine_intrinsic(intrinsic::Machine which, ItemRef item, std::span<const Value> args, const PlaceRef& destination);
    void atomic_intrinsic(intrinsic::Intrinsic which, ItemRef item, std::span<const Value> args, const PlaceRef& destination);
    // lower_print.cpp
    void asm_intrinsic(std::span<const Value> args, const PlaceRef& destination);
    ir::ValueId tuple_part(const PlaceRef& part);
    void print_intrinsic(std::span<const Value> args, const PlaceRef& destination);
    std::string_view literal_bytes(ir::ValueId pointer) const;
    ir::ValueId raw_slot(std::uint64_t size, std::uint32_t align);
    // lower_tile.cpp
    ir::TileTypeId tile_type(TypeId type);
    Value tile_operation(ir::Op op, TypeId type, std::vector<ir::ValueId> args, std::uint64_t imm, ir::FuncId callee);
    void add_axes(std::span<const Value> arrays, std::size_t rank, std::vector<ir::ValueId>& out);
    ir::FuncId lane_function(std::span<const Value> args, std::vector<ir::ValueId>& same_for_all);
    void tile_store(std::span<const Value> args);
    void tile_scalar(const Value& tile, const PlaceRef& destination);
    void tile_extent(ItemRef item, const Value& axis, const PlaceRef& destination);
    std::uint64_t product_format(TypeId lhs, TypeId rhs);
    void tile_intrinsic(intrinsic::Intrinsic which, ItemRef item, std::span<const Value> args, const PlaceRef& destination);
    std::vector<ir::ValueId> block_origin(const abi::KernelParam& param, std::span<const ir::ValueId> extents);
    void bind_tensor(const PlaceRef& local, const abi::KernelParam& param, std::span<const ir::ValueId> slots);
    ir::ValueId reinterpret(ir::ValueId value, ir::Type to);   // the same bits as another scalar type
    void volatile_copy(const PlaceRef& from, const PlaceRef& to, const Layout& shape, bool read);

    // shared
    TypeId subst(TypeId type);
    TypeId type_of(const mir::Place& place) { return subst(body_.type_of(place)); }
    const Layout& layout(TypeId type) { return module_.layout(type); }
    Value scalar_value(TypeId type, ir::ValueId a) { return {type, ValueForm::Scalar, a, {}, {}, {}}; }
    Value zero_value(TypeId type) { return {type, ValueForm::Zero, {}, {}, {}, {}}; }
    bool is_signed(TypeId type);
    bool is_float(TypeId type) { return types_.kind(type) == types::TypeKind::Float; }
    ir::BlockId block_of(mir::BlockId block) {
        if (!blocks_[block.raw].valid()) blocks_[block.raw] = function_.add_block();
        return blocks_[block.raw];
    }

    ModuleLowering& module_;
    types::TypeStore& types_;
    const mir::Body& body_;
    std::vector<types::GenericArg> args_;
    std::unordered_map<TypeId, TypeId> concrete_;   // what subst gave
    ir::FuncId function_id_;
    ir::Function function_;              // moved into the module at the end: its store grows meanwhile
    ir::Builder builder_;
    LocalValues values_;
    std::vector<PlaceRef> locals_;       // by mir::LocalId; ptr none for zero-sized ones
    std::vector<TypeId> fn_targets_;     // by mir::LocalId: see lower_fn_pointer.cpp
    std::vector<ir::BlockId> blocks_;    // by mir::BlockId; none: not branched to yet, or continues its only predecessor
    std::vector<std::uint32_t> predecessors_;   // by mir::BlockId: how many edges lead there
    mir::BlockId next_{};                // the block that continues the IR block of the one just lowered
    std::vector<ir::InstId> allocas_;    // placed at the head of the entry block when the body is done
    PlaceRef return_place_;              // sret memory, when the result goes through memory
    bool returns_memory_ = false;
    bool is_kernel_ = false;
};

}  // namespace ockc::lower
