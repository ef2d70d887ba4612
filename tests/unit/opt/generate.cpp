#include "generate.hpp"

#include <array>
#include <vector>

#include "random.hpp"

namespace ockc::test {

using namespace ir;

namespace {

constexpr Type kScalars[] = {Type::I8, Type::I16, Type::I32, Type::I64, Type::I1, Type::F32, Type::F64};
// The buffer of 512 bytes: integers in the lower half, floats in the upper one, so that no float is read
// whose bits are a NaN that no arithmetic made.
constexpr std::uint64_t kBufferMask = 31;
constexpr std::int64_t kFloatHalf = 256;

struct Variable {
    ValueId slot;
    Type type;
};

// A struct { i32, i64, f32 } on the stack.
constexpr std::uint64_t kStructSize = 24;
struct FieldInfo {
    Type type;
    std::int64_t offset;
};
constexpr FieldInfo kFields[] = {{Type::I32, 0}, {Type::I64, 8}, {Type::F32, 16}};

class FunctionGenerator {
  public:
    FunctionGenerator(Function& function, Random& random, std::vector<FuncId> helpers)
        : function_(function), random_(random), builder_(function), helpers_(std::move(helpers)) {}

    // Parameters of every generated function: buffer, length, two numbers, a float, and a place for a result.
    void run(std::uint32_t statements, bool is_helper) {
        const BlockId entry = function_.add_block();
        builder_.at_end(entry);
        for (const Type type : {Type::PtrGlobal, Type::I64, Type::I32, Type::I64, Type::F32}) {
            params_.push_back(function_.add_block_param(entry, type));
            function_.param_attrs.push_back({});
        }
        function_.param_attrs[0].noalias = random_.one_in(2);
        function_.param_attrs[0].nonnull = true;
        if (is_helper) {
            params_.push_back(function_.add_block_param(entry, Type::Ptr));  // out: { i8 tag, i64 value }
            function_.param_attrs.push_back({});
        }
        function_.results = {Type::I64};
        buffer_ = builder_.convert(Op::SpaceCast, Type::Ptr, params_[0]);
        make_variables();
        for (std::uint32_t i = 0; i < statements; ++i)
            statement(3);
        if (is_helper) write_option();
        builder_.ret(std::array{checksum()});
    }

  private:
    void make_variables() {
        for (int i = 0; i < 8; ++i) {
            const Type type = kScalars[random_.below(std::size(kScalars))];
            variables_.push_back({builder_.alloca_slot(type_bytes(type), type_bytes(type)), type});
            if (!random_.one_in(4)) assign(variables_.back(), constant(type));
        }
        for (int i = 0; i < 3; ++i) {
            structs_.push_back(builder_.alloca_slot(kStructSize, 8));
            builder_.memcpy(structs_.back(), structs_.front(), i == 0 ? 0 : kStructSize, 8);
            for (const FieldInfo& field : kFields) {
                builder_.store(structs_.back(), constant(field.type), memory(field.type), field.offset);
            }
        }
        array_ = builder_.alloca_slot(64, 8);
        builder_.append(memset(array_, 64), {});
        reference_ = builder_.alloca_slot(8, 8);
        builder_.store(reference_, builder_.convert(Op::SpaceCast, Type::Ptr, structs_[random_.below(3)]),
                       memory(Type::Ptr));
    }

    Instruction memset(ValueId slot, std::uint64_t bytes) {
        Instruction inst;
        inst.op = Op::Memset;
        inst.imm = bytes;
        inst.memory.align = 8;
        inst.args = {slot, builder_.const_int(Type::I8, random_.below(2) * 0xFF)};
        return inst;
    }

    static MemoryInfo memory(Type type) { return {type_bytes(type), false, false}; }
    void assign(const Variable& variable, ValueId value) {
        builder_.store(variable.slot, value, memory(variable.type));
    }

    // ---- expressions
    // -------------------------------------------------------------------------------------------------

    ValueId constant(Type type) {
        if (type == Type::F32) return builder_.const_float(type, 0x3F80'0000u + (random_.below(64) << 20));
        if (type == Type::F64)
            return builder_.const_float(type, 0x3FF0'0000'0000'0000u + (random_.below(64) << 48));
        const std::uint64_t choices[] = {0, 1, 2, 3, 7, 8, 31, 100, ~std::uint64_t{0}, random_.next()};
        return builder_.const_int(type, choices[random_.below(std::size(choices))]);
    }

    ValueId any_value(Type type) {
        std::vector<ValueId> slots;
        for (const Variable& variable : variables_) {
            if (variable.type == type) slots.push_back(variable.slot);
        }
        if (!slots.empty() && !random_.one_in(4))
            return builder_.load(type, slots[random_.below(slots.size())], memory(type));
        for (const FieldInfo& field : kFields) {
            if (field.type == type && random_.one_in(2)) {
                return builder_.load(type, structs_[random_.below(3)], memory(type), field.offset);
            }
        }
        if (type == Type::I32)
            return random_.one_in(2) ? params_[2] : builder_.sreg(static_cast<Sreg>(random_.below(6)));
        if (type == Type::I64) return random_.one_in(2) ? params_[3] : params_[1];
        if (type == Type::F32) return params_[4];
        return constant(type);
    }

    ValueId expression(Type type, int depth) {
        if (depth == 0) return random_.one_in(3) ? constant(type) : any_value(type);
        if (type == Type::I1) return condition(depth);
        switch (random_.below(is_float(type) ? 5 : 7)) {
            case 0: return any_value(type);
            case 1:
                return builder_.select(condition(depth - 1), expression(type, depth - 1),
                                       expression(type, depth - 1));
            case 2: return conversion(type, depth);
            case 3: return load_buffer(type, depth);
            case 5: return shift(type, depth);
            default: return is_float(type) ? float_binary(type, depth) : int_binary(type, depth);
        }
    }

    ValueId int_binary(Type type, int depth) {
        constexpr Op kOps[] = {Op::Iadd, Op::Iadd, Op::Isub, Op::Imul, Op::Udiv, Op::Sdiv, Op::Urem, Op::Srem,
                               Op::And,  Op::Or,   Op::Xor,  Op::Smin, Op::Umax, Op::Umin, Op::Smax};
        const Op op = kOps[random_.below(std::size(kOps))];
        const ValueId a = expression(type, depth - 1);
        const ValueId b = random_.one_in(2) ? constant(type) : expression(type, depth - 1);
        return builder_.binary(op, type, a, b);
    }
    ValueId float_binary(Type type, int depth) {
        constexpr Op kOps[] = {Op::Fadd, Op::Fsub, Op::Fmul, Op::Fdiv, Op::Fmin, Op::Fmax, Op::Fcopysign};
        const Op op = kOps[random_.below(std::size(kOps))];
        const ValueId a = expression(type, depth - 1);
        const ValueId b = expression(type, depth - 1);
        return random_.one_in(5) ? builder_.unary(random_.one_in(2) ? Op::Fneg : Op::Fabs, type, a)
                                 : builder_.binary(op, type, a, b);
    }
    ValueId shift(Type type, int depth) {
        constexpr Op kOps[] = {Op::Shl, Op::Lshr, Op::Ashr, Op::Rotl, Op::Rotr};
        const ValueId a = expression(type, depth - 1);
        const ValueId by = random_.one_in(2) ? constant(Type::I32) : expression(Type::I32, depth - 1);
        return builder_.binary(kOps[random_.below(std::size(kOps))], type, a, by);
    }
    ValueId conversion(Type type, int depth) {
        const Type from = kScalars[random_.below(std::size(kScalars))];
        const ValueId value = expression(from, depth - 1);
        if (from == type) return value;
        if (is_float(type)) {
            if (is_float(from)) return builder_.convert(Op::Fcvt, type, value);
            const ValueId number = from == Type::I1 ? builder_.convert(Op::Zext, Type::I8, value) : value;
            return builder_.convert(random_.one_in(2) ? Op::Sitofp : Op::Uitofp, type, number);
        }
        if (is_float(from)) return builder_.convert(random_.one_in(2) ? Op::Fptosi : Op::Fptoui, type, value);
        if (type_bits(from) > type_bits(type)) return builder_.convert(Op::Trunc, type, value);
        return builder_.convert(random_.one_in(2) ? Op::Zext : Op::Sext, type, value);
    }
    ValueId condition(int depth) {
        if (depth == 0) return any_value(Type::I1);
        const Type type = kScalars[random_.below(std::size(kScalars))];
        if (random_.one_in(6)) return builder_.unary(Op::Not, Type::I1, condition(depth - 1));
        if (type == Type::I1) {
            const Op op = random_.one_in(2) ? Op::And : Op::Or;
            const ValueId a = condition(depth - 1);
            return builder_.binary(op, type, a, condition(depth - 1));
        }
        const ValueId a = expression(type, depth - 1);
        const ValueId b = random_.one_in(2) ? constant(type) : expression(type, depth - 1);
        if (is_float(type)) return builder_.fcmp(static_cast<FloatCond>(random_.below(14)), a, b);
        if (random_.one_in(8))
            return builder_.binary(random_.one_in(2) ? Op::UaddOv : Op::SsubOv, type, a, b);
        return builder_.icmp(static_cast<IntCond>(random_.below(10)), a, b);
    }

    // ---- memory
    // ------------------------------------------------------------------------------------------------------

    // The address of a random element in bounds, through the generic pointer.
    ValueId element(ValueId base, std::uint64_t mask, std::uint64_t size, int depth) {
        const ValueId any = expression(Type::I64, depth);
        const ValueId index = builder_.binary(Op::And, Type::I64, any, builder_.const_int(Type::I64, mask));
        const ValueId bytes =
            builder_.binary(Op::Imul, Type::I64, index, builder_.const_int(Type::I64, size));
        return builder_.ptr_add(base, bytes);
    }
    ValueId load_buffer(Type type, int depth) {
        if (type == Type::I1) return condition(0);
        return builder_.load(type, buffer_element(type, depth - 1), memory(type));
    }
    ValueId buffer_element(Type type, int depth) {
        const ValueId base = is_float(type) ? builder_.ptr_add_const(buffer_, kFloatHalf) : buffer_;
        return element(base, kBufferMask, type_bytes(type), depth);
    }

    // ---- statements
    // --------------------------------------------------------------------------------------------------

    void statement(int depth) {
        switch (random_.below(depth > 0 ? 14 : 7)) {
            case 0:
            case 1:
            case 2: {
                const Variable variable = variables_[random_.below(variables_.size())];
                return assign(variable, expression(variable.type, 2));
            }
            case 3: {
                const Type type = random_.one_in(2) ? Type::I32 : Type::F64;
                const ValueId to = buffer_element(type, 1);
                return builder_.store(to, expression(type, 2), memory(type));
            }
            case 4: return struct_statement();
            case 5: return array_statement();
            case 6: return check();
            case 7:
            case 8: return if_statement(depth - 1);
            case 9: return loop(depth - 1);
            case 10: return switch_statement(depth - 1);
            case 11: return call_helper();
            case 12: return short_circuit(depth - 1);
            default: return random_.one_in(3) ? builder_.barrier() : builder_.fence(Scope::Device);
        }
    }

    void struct_statement() {
        const FieldInfo& field = kFields[random_.below(3)];
        switch (random_.below(4)) {
            case 0: return builder_.memcpy(structs_[0], structs_[1 + random_.below(2)], kStructSize, 8);
            case 1: return builder_.memcpy(structs_[1], structs_[2], 16, 8);
            case 2: {  // through a reference
                const ValueId pointer = builder_.load(Type::Ptr, reference_, memory(Type::Ptr));
                return builder_.store(pointer, expression(field.type, 1), memory(field.type), field.offset);
            }
            default:
                return builder_.store(structs_[random_.below(3)], expression(field.type, 2),
                                      memory(field.type), field.offset);
        }
    }

    void array_statement() {
        const bool constant_index = random_.one_in(2);
        const ValueId at =
            constant_index ? builder_.ptr_add_const(array_, static_cast<std::int64_t>(random_.below(16)) * 4)
                           : element(array_, 15, 4, 1);
        if (random_.one_in(2)) return builder_.store(at, expression(Type::I32, 1), memory(Type::I32));
        const ValueId value = builder_.load(Type::I32, at, memory(Type::I32));
        assign({structs_[0], Type::I32}, value);
    }

    BlockId block() { return function_.add_block(); }

    // A bounds check: what no pass may drop unless it is implied.
    void check() {
        ValueId index = expression(Type::I64, 1);
        if (!random_.one_in(8)) {  // most checks pass
            index = builder_.binary(Op::And, Type::I64, index, builder_.const_int(Type::I64, 0xFFFF));
        }
        const BlockId good = block();
        const BlockId bad = block();
        function_.blocks[bad].cold = true;
        const ValueId length =
            random_.one_in(2) ? params_[1] : builder_.const_int(Type::I64, 1 + random_.below(200));
        const ValueId large =
            builder_.binary(Op::Or, Type::I64, length, builder_.const_int(Type::I64, 1u << 20));
        builder_.br(builder_.icmp(IntCond::Ult, index, random_.one_in(6) ? length : large), good, bad);
        builder_.at_end(bad);
        builder_.panic(static_cast<std::uint32_t>(random_.below(100)), std::array{index, length});
        builder_.at_end(good);
    }

    void body(int depth, BlockId next) {
        const std::uint64_t count = random_.below(4);
        for (std::uint64_t i = 0; i < count; ++i)
            statement(depth);
        if (random_.one_in(12)) {
            builder_.ret(std::array{any_value(Type::I64)});
        } else {
            builder_.jump(next);
        }
    }

    void if_statement(int depth) {
        const BlockId yes = block();
        const BlockId no = block();
        const BlockId next = random_.one_in(3) ? no : block();
        builder_.br(condition(2), yes, no);
        builder_.at_end(yes);
        body(depth, next);
        if (next != no) {
            builder_.at_end(no);
            body(depth, next);
        }
        builder_.at_end(next);
    }

    // a && b, a || b as control flow with a truth value through memory.
    void short_circuit(int depth) {
        const ValueId flag = builder_.alloca_slot(1, 1);
        const BlockId second = block();
        const BlockId join = block();
        builder_.store(flag, builder_.const_bool(random_.one_in(2)), memory(Type::I1));
        builder_.br(condition(1), second, join);
        builder_.at_end(second);
        builder_.store(flag, condition(2), memory(Type::I1));
        builder_.jump(join);
        builder_.at_end(join);
        const BlockId yes = block();
        const BlockId next = block();
        builder_.br(builder_.load(Type::I1, flag, memory(Type::I1)), yes, next);
        builder_.at_end(yes);
        body(depth, next);
        builder_.at_end(next);
    }

    // A counted loop: constant or masked bound, tested at the top, sometimes left early.
    void loop(int depth) {
        const Type type = random_.one_in(2) ? Type::I32 : Type::I64;
        const ValueId counter = builder_.alloca_slot(type_bytes(type), type_bytes(type));
        const ValueId bound = random_.one_in(2) ? builder_.const_int(type, random_.below(7))
                                                : builder_.binary(Op::And, type, expression(type, 1),
                                                                  builder_.const_int(type, 7));
        builder_.store(counter, builder_.const_int(type, 0), memory(type));
        const BlockId header = block();
        const BlockId inside = block();
        const BlockId step = block();
        const BlockId next = block();
        builder_.jump(header);
        builder_.at_end(header);
        if (random_.one_in(4)) function_.blocks[header].unroll = random_.one_in(2) ? kUnrollFull : 3;
        builder_.br(builder_.icmp(IntCond::Ult, builder_.load(type, counter, memory(type)), bound), inside,
                    next);
        builder_.at_end(inside);
        if (random_.one_in(3)) {
            const BlockId stay = block();
            builder_.br(condition(1), next, stay);
            builder_.at_end(stay);
        }
        if (type == Type::I64 && random_.one_in(2)) {  // an element at the counter
            const ValueId index = builder_.load(type, counter, memory(type));
            const ValueId bytes = builder_.binary(Op::Shl, type, index, builder_.const_int(Type::I32, 2));
            const ValueId old = builder_.load(Type::I32, builder_.ptr_add(array_, bytes), memory(Type::I32));
            builder_.store(builder_.ptr_add(array_, bytes),
                           builder_.binary(Op::Iadd, Type::I32, old, expression(Type::I32, 1)),
                           memory(Type::I32));
        }
        body(depth, step);
        builder_.at_end(step);
        const ValueId again = builder_.load(type, counter, memory(type));
        builder_.store(counter, builder_.binary(Op::Iadd, type, again, builder_.const_int(type, 1)),
                       memory(type));
        builder_.jump(header);
        builder_.at_end(next);
    }

    void switch_statement(int depth) {
        const Type type = random_.one_in(2) ? Type::I8 : Type::I32;
        const ValueId value =
            builder_.binary(Op::And, type, expression(type, 2), builder_.const_int(type, 3));
        const BlockId next = block();
        std::vector<Target> targets;
        std::vector<BlockId> arms;
        for (int i = 0; i < 3; ++i) {
            arms.push_back(block());
            targets.push_back({arms.back(), {}});
        }
        builder_.switch_on(value, {0, 2}, targets);
        for (const BlockId arm : arms) {
            builder_.at_end(arm);
            body(depth, next);
        }
        builder_.at_end(next);
    }

    // match helper(..) { Some(v) => use v, None => .. } with the result through memory.
    void call_helper() {
        if (helpers_.empty()) return;
        const FuncId helper = helpers_[random_.below(helpers_.size())];
        const ValueId option = builder_.alloca_slot(16, 8);
        const ValueId out = builder_.convert(Op::SpaceCast, Type::Ptr, option);
        const ValueId args[] = {params_[0],
                                params_[1],
                                expression(Type::I32, 1),
                                expression(Type::I64, 1),
                                expression(Type::F32, 1),
                                out};
        const Type result = Type::I64;
        const ValueId returned = builder_.call(helper, args, {&result, 1})[0];
        assign({structs_[0], Type::I32}, builder_.convert(Op::Trunc, Type::I32, returned));
        const BlockId some = block();
        const BlockId none = block();
        const BlockId next = block();
        const ValueId tag = builder_.load(Type::I8, option, memory(Type::I8));
        builder_.switch_on(tag, {1}, {Target{none, {}}, Target{some, {}}});
        builder_.at_end(some);
        builder_.store(structs_[0], builder_.load(Type::I64, option, memory(Type::I64), 8), memory(Type::I64),
                       8);
        builder_.jump(next);
        builder_.at_end(none);
        builder_.store(structs_[0], constant(Type::I64), memory(Type::I64), 8);
        builder_.jump(next);
        builder_.at_end(next);
    }

    void write_option() {
        const BlockId some = block();
        const BlockId none = block();
        const BlockId next = block();
        builder_.br(condition(2), some, none);
        builder_.at_end(some);
        builder_.store(params_[5], builder_.const_int(Type::I8, 1), memory(Type::I8));
        builder_.store(params_[5], any_value(Type::I64), memory(Type::I64), 8);
        builder_.jump(next);
        builder_.at_end(none);
        builder_.store(params_[5], builder_.const_int(Type::I8, 0), memory(Type::I8));
        builder_.jump(next);
        builder_.at_end(next);
    }

    // Everything that the function has computed, in one number.
    ValueId checksum() {
        ValueId sum = builder_.const_int(Type::I64, 0);
        const auto mix = [&](ValueId value) {
            const Type type = function_.type_of(value);
            ValueId word = value;
            if (is_float(type)) word = builder_.convert(Op::Bitcast, int_type(type_bits(type)), value);
            if (type_bits(type) < 64) word = builder_.convert(Op::Zext, Type::I64, word);
            const ValueId scaled =
                builder_.binary(Op::Imul, Type::I64, sum, builder_.const_int(Type::I64, 31));
            sum = builder_.binary(Op::Iadd, Type::I64, scaled, word);
        };
        for (const Variable& variable : variables_)
            mix(builder_.load(variable.type, variable.slot, memory(variable.type)));
        for (const ValueId slot : structs_) {
            for (const FieldInfo& field : kFields)
                mix(builder_.load(field.type, slot, memory(field.type), field.offset));
        }
        mix(builder_.load(Type::I32, array_, memory(Type::I32), 12));
        return sum;
    }

    Function& function_;
    Random& random_;
    Builder builder_;
    std::vector<FuncId> helpers_;
    std::vector<ValueId> params_;
    std::vector<Variable> variables_;
    std::vector<ValueId> structs_;
    ValueId buffer_;
    ValueId array_;
    ValueId reference_;
};

}  // namespace

Module generate(std::uint64_t seed, std::uint32_t statements) {
    Random random(seed + 77);
    Module module;
    std::vector<FuncId> helpers;
    for (int i = 0; i < 2; ++i) {
        Function helper;
        helper.name = "helper" + std::to_string(i);
        if (random.one_in(4)) helper.inline_hint = Inline::Never;
        FunctionGenerator(helper, random, helpers).run(1 + statements / 4, true);
        helpers.push_back(module.functions.push(std::move(helper)));
    }
    Function root;
    root.name = "root";
    FunctionGenerator(root, random, helpers).run(statements, false);
    module.functions.push(std::move(root));
    return module;
}

}  // namespace ockc::test
