// Every IR operation in every type that it has, selected for every target, assembled by ptxas.
#include "harness.hpp"

using namespace ockc;
using namespace ockc::test;
using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

const std::vector<Type> kInts{Type::I8, Type::I16, Type::I32, Type::I64, Type::I128};
const std::vector<Type> kFloats{Type::F16, Type::BF16, Type::F32, Type::F64};

ir::MemoryInfo aligned(Type type) {
    ir::MemoryInfo info;
    info.align = ir::type_bytes(type);
    return info;
}

// One kernel that loads its operands and stores its results around a body of pure operations.
class Everything {
  public:
    Everything() {
        f_.name = "k";
        f_.is_kernel = true;
        const ir::BlockId entry = f_.add_block();
        base_ = f_.add_block_param(entry, Type::PtrGlobal);
        f_.param_attrs.resize(1);
        b_.at_end(entry);
    }

    ir::Module build() {
        for (const Type t : kInts)
            integers(t);
        for (const Type t : kFloats)
            floats(t);
        conversions();
        b_.ret();
        ir::Module m;
        m.functions.push(std::move(f_));
        return m;
    }

  private:
    ValueId in(Type type) { return b_.load(type, base_, aligned(type), 16 * ++offset_); }
    void out(ValueId value) { b_.store(base_, value, aligned(f_.type_of(value)), 16 * ++offset_); }

    void integers(Type t) {
        const ValueId x = in(t);
        const ValueId y = in(t);
        const ValueId n = in(Type::I32);
        for (int i = 0; i <= static_cast<int>(Op::Unreachable); ++i) {
            const auto op = static_cast<Op>(i);
            if (op == Op::Shl || op == Op::Lshr || op == Op::Ashr || op == Op::Rotl || op == Op::Rotr) {
                out(b_.binary(op, t, x, n));
            } else if (op >= Op::Iadd && op <= Op::SmulOv) {
                out(ir::op_info(op).arity == 1 ? b_.unary(op, t, x) : b_.binary(op, t, x, y));
            }
        }
        for (int c = 0; c < 10; ++c)
            out(b_.icmp(static_cast<ir::IntCond>(c), x, y));
    }

    void floats(Type t) {
        const ValueId x = in(t);
        const ValueId y = in(t);
        for (int i = static_cast<int>(Op::Fadd); i <= static_cast<int>(Op::Frint); ++i) {
            const auto op = static_cast<Op>(i);
            const int arity = ir::op_info(op).arity;
            out(arity == 1 ? b_.unary(op, t, x) : arity == 2 ? b_.binary(op, t, x, y) : b_.fma(t, x, y, x));
        }
        for (int c = 0; c < 14; ++c)
            out(b_.fcmp(static_cast<ir::FloatCond>(c), x, y));
        out(b_.select(b_.fcmp(ir::FloatCond::Olt, x, y), y, x));
    }

    void conversions() {
        for (const Type f : kFloats) {
            const ValueId x = in(f);
            for (const Type t : kFloats) {
                if (t != f) out(b_.convert(Op::Fcvt, t, x));
            }
            for (const Type t : kInts) {
                out(b_.convert(Op::Fptosi, t, x));
                out(b_.convert(Op::Fptoui, t, x));
                if (ir::type_bits(t) == ir::type_bits(f)) out(b_.convert(Op::Bitcast, t, x));
            }
        }
        for (const Type t : kInts) {
            const ValueId x = in(t);
            for (const Type f : kFloats) {
                out(b_.convert(Op::Sitofp, f, x));
                out(b_.convert(Op::Uitofp, f, x));
            }
        }
    }

    ir::Function f_;
    ir::Builder b_{f_};
    ValueId base_;
    std::int64_t offset_ = 0;
};

}  // namespace

TEST_CASE("all operations on all targets") {
    const bool ptxas = have_tool("ptxas");
    for (std::size_t t = 0; t < ptx::all_targets().size(); ++t) {
        const auto target = static_cast<ptx::Target>(t);
        const ptx::TargetInfo& info = ptx::target_info(target);
        CAPTURE(info.text);
        const std::string text = select_text(Everything().build(), target);
        if (ptxas) CHECK(assemble(text, info.text) == "");
    }
}
