#include <array>
#include <vector>

#include "generate.hpp"
#include "random.hpp"

namespace ockc::test {

using namespace ir;

namespace {

constexpr Type kInts[] = {Type::I8, Type::I16, Type::I32, Type::I64};

class SmallGenerator {
  public:
    SmallGenerator(Function& function, std::uint64_t seed)
        : function_(function), random_(seed + 5), builder_(function) {}

    void expression_function() {
        type_ = kInts[random_.below(4)];
        start({type_, type_, Type::F32});
        const bool floats = random_.one_in(4);
        finish(floats ? float_tree(3) : int_tree(type_, 1 + static_cast<int>(random_.below(4))));
    }

    void decision_function() {
        type_ = kInts[random_.below(4)];
        start({type_, type_});
        decide(4);
    }

  private:
    void start(std::initializer_list<Type> types) {
        function_.name = "root";
        const BlockId entry = function_.add_block();
        builder_.at_end(entry);
        for (const Type type : types)
            params_.push_back(function_.add_block_param(entry, type));
        function_.param_attrs.resize(types.size());
        function_.results = {Type::I64};
    }
    void finish(ValueId value) {
        const Type type = function_.type_of(value);
        if (is_float(type)) value = builder_.convert(Op::Bitcast, int_type(type_bits(type)), value);
        if (type_bits(function_.type_of(value)) < 64) value = builder_.convert(Op::Zext, Type::I64, value);
        builder_.ret(std::array{value});
    }

    ValueId constant(Type type) {
        const std::uint32_t bits = type_bits(type);
        const std::uint64_t choices[] = {0,
                                         1,
                                         2,
                                         3,
                                         4,
                                         5,
                                         7,
                                         10,
                                         bits - 1,
                                         bits,
                                         std::uint64_t{1} << (bits - 1),
                                         (std::uint64_t{1} << (bits - 1)) - 1,
                                         ~std::uint64_t{0},
                                         ~std::uint64_t{1},
                                         random_.next(),
                                         random_.below(256)};
        return builder_.const_int(type, choices[random_.below(std::size(choices))]);
    }
    ValueId leaf(Type type) {
        if (random_.one_in(3)) return constant(type);
        const ValueId param = params_[random_.below(2)];
        const std::uint32_t from = type_bits(type_);
        if (type_bits(type) == from) return param;
        if (type_bits(type) < from) return builder_.convert(Op::Trunc, type, param);
        return builder_.convert(random_.one_in(2) ? Op::Zext : Op::Sext, type, param);
    }

    // Every value may be used again: x + y and x are often at hand together.
    ValueId int_tree(Type type, int depth) {
        if (!made_.empty() && random_.one_in(3)) {
            const ValueId value = made_[random_.below(made_.size())];
            if (function_.type_of(value) == type) return value;
        }
        const ValueId value = depth == 0 ? leaf(type) : new_int_tree(type, depth);
        made_.push_back(value);
        return value;
    }

    ValueId new_int_tree(Type type, int depth) {
        constexpr Op kBinary[] = {Op::Iadd, Op::Iadd, Op::Isub, Op::Isub, Op::Imul, Op::Udiv,
                                  Op::Sdiv, Op::Urem, Op::Srem, Op::And,  Op::And,  Op::Or,
                                  Op::Xor,  Op::Smin, Op::Smax, Op::Umin, Op::Umax};
        constexpr Op kShift[] = {Op::Shl, Op::Lshr, Op::Ashr, Op::Rotl, Op::Rotr};
        constexpr Op kUnary[] = {Op::Ineg, Op::Not, Op::Iabs,   Op::Popcnt,
                                 Op::Clz,  Op::Ctz, Op::Bitrev, Op::Bswap};
        switch (random_.below(8)) {
            case 0: {
                const ValueId c = bool_tree(depth - 1);
                const ValueId a = int_tree(type, depth - 1);
                return builder_.select(c, a, int_tree(type, depth - 1));
            }
            case 1: {
                const ValueId a = int_tree(type, depth - 1);
                const ValueId by = random_.one_in(3) ? int_tree(Type::I32, depth - 1) : constant(Type::I32);
                return builder_.binary(kShift[random_.below(5)], type, a, by);
            }
            case 2: return builder_.unary(kUnary[random_.below(8)], type, int_tree(type, depth - 1));
            case 3: {
                const Type from = kInts[random_.below(4)];
                const ValueId value = int_tree(from, depth - 1);
                if (from == type) return value;
                if (type_bits(from) > type_bits(type)) return builder_.convert(Op::Trunc, type, value);
                return builder_.convert(random_.one_in(2) ? Op::Zext : Op::Sext, type, value);
            }
            default: {
                const ValueId a = int_tree(type, depth - 1);
                const ValueId b = random_.one_in(2) ? constant(type) : int_tree(type, depth - 1);
                return builder_.binary(kBinary[random_.below(std::size(kBinary))], type, a, b);
            }
        }
    }

    ValueId bool_tree(int depth) {
        if (depth > 0 && random_.one_in(4)) {
            const Op op = random_.one_in(2) ? Op::And : Op::Or;
            const ValueId a = bool_tree(depth - 1);
            return builder_.binary(op, Type::I1, a, bool_tree(depth - 1));
        }
        if (depth > 0 && random_.one_in(5)) return builder_.unary(Op::Not, Type::I1, bool_tree(depth - 1));
        const Type type = random_.one_in(2) ? type_ : kInts[random_.below(4)];
        const ValueId a = int_tree(type, depth > 0 ? depth - 1 : 0);
        const ValueId b = random_.one_in(2) ? constant(type) : int_tree(type, depth > 0 ? depth - 1 : 0);
        constexpr Op kOverflow[] = {Op::UaddOv, Op::SaddOv, Op::UsubOv, Op::SsubOv, Op::UmulOv, Op::SmulOv};
        if (random_.one_in(6)) return builder_.binary(kOverflow[random_.below(6)], type, a, b);
        return builder_.icmp(static_cast<IntCond>(random_.below(10)), a, b);
    }

    ValueId float_tree(int depth) {
        if (depth == 0) {
            if (!random_.one_in(3)) return params_[2];
            constexpr std::uint64_t kBits[] = {0,           0x8000'0000, 0x3F80'0000, 0x4000'0000,
                                               0x3F00'0000, 0xBF80'0000, 0x4040'0000};
            return builder_.const_float(Type::F32, kBits[random_.below(std::size(kBits))]);
        }
        constexpr Op kBinary[] = {Op::Fadd, Op::Fsub, Op::Fmul, Op::Fdiv, Op::Fmin, Op::Fmax, Op::Fcopysign};
        switch (random_.below(6)) {
            case 0:
                return builder_.unary(random_.one_in(2) ? Op::Fabs : Op::Ftrunc, Type::F32,
                                      float_tree(depth - 1));
            case 1: {
                const ValueId wide = builder_.convert(Op::Fcvt, Type::F64, float_tree(depth - 1));
                return builder_.convert(Op::Fcvt, Type::F32, wide);
            }
            case 2: {
                const ValueId number = builder_.convert(random_.one_in(2) ? Op::Fptosi : Op::Fptoui, type_,
                                                        float_tree(depth - 1));
                return builder_.convert(random_.one_in(2) ? Op::Sitofp : Op::Uitofp, Type::F32, number);
            }
            case 3: {
                const ValueId a = float_tree(depth - 1);
                const ValueId c =
                    builder_.fcmp(static_cast<FloatCond>(random_.below(14)), a, float_tree(depth - 1));
                const ValueId yes = float_tree(depth - 1);
                return builder_.select(c, yes, float_tree(depth - 1));
            }
            default: {
                const ValueId a = float_tree(depth - 1);
                return builder_.binary(kBinary[random_.below(std::size(kBinary))], Type::F32, a,
                                       float_tree(depth - 1));
            }
        }
    }

    // x, y, x + 1, y - 1, min, a half, or a constant.
    ValueId neighbour() {
        const ValueId x = params_[random_.below(2)];
        switch (random_.below(9)) {
            case 0: return builder_.binary(Op::Iadd, type_, x, builder_.const_int(type_, 1));
            case 1: return builder_.binary(Op::Isub, type_, x, builder_.const_int(type_, 1));
            case 2: return builder_.binary(Op::Umin, type_, params_[0], params_[1]);
            case 3: return builder_.binary(Op::Lshr, type_, x, builder_.const_int(Type::I32, 1));
            case 4: return builder_.binary(Op::Urem, type_, params_[0], params_[1]);
            case 5: return builder_.const_int(type_, random_.below(8));
            case 6: return builder_.binary(Op::Isub, type_, params_[0], params_[1]);
            default: return x;
        }
    }

    void decide(int depth) {
        if (depth == 0) {
            const ValueId leaf = builder_.const_int(Type::I64, ++leaves_);
            builder_.ret(std::array{leaf});
            return;
        }
        const BlockId yes = function_.add_block();
        const BlockId no = function_.add_block();
        if (random_.one_in(6)) {
            builder_.switch_on(params_[random_.below(2)], {1, 3},
                               {Target{no, {}}, Target{yes, {}}, Target{no, {}}});
        } else {
            const ValueId a = neighbour();
            builder_.br(builder_.icmp(static_cast<IntCond>(random_.below(10)), a, neighbour()), yes, no);
        }
        builder_.at_end(yes);
        decide(depth - 1);
        builder_.at_end(no);
        decide(depth - 1);
    }

    Function& function_;
    Random random_;
    Builder builder_;
    Type type_ = Type::I32;
    std::vector<ValueId> params_;
    std::vector<ValueId> made_;
    std::uint64_t leaves_ = 0;
};

}  // namespace

Module generate_expression(std::uint64_t seed) {
    Module module;
    Function function;
    SmallGenerator(function, seed).expression_function();
    module.functions.push(std::move(function));
    return module;
}

Module generate_decisions(std::uint64_t seed) {
    Module module;
    Function function;
    SmallGenerator(function, seed).decision_function();
    module.functions.push(std::move(function));
    return module;
}

}  // namespace ockc::test
