#include "ir/names.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "support/enum_table.hpp"

namespace ockc::ir {

namespace {

constexpr std::string_view kOpTexts[] = {
#define OCKC_IR_OP(name, text, arity, result, aux, effect, doc) text,
#include "ir/ops.def"
};
constexpr std::string_view kTypeTexts[] = {
#define OCKC_IR_TYPE(name, text, bits, cls) text,
#include "ir/types.def"
};
constexpr std::string_view kSregTexts[] = {
#define OCKC_IR_SREG(name, text, type) text,
#include "ir/sregs.def"
};
constexpr Type kSregTypes[] = {
#define OCKC_IR_SREG(name, text, type) Type::type,
#include "ir/sregs.def"
};

// One row per condition: its text, its negation, and the condition with the operands exchanged.
template <class Cond>
struct CondRow {
    std::string_view text;
    Cond inverted;
    Cond swapped;
};
constexpr CondRow<IntCond> kIntConds[] = {
    {"eq", IntCond::Ne, IntCond::Eq},    {"ne", IntCond::Eq, IntCond::Ne},
    {"ult", IntCond::Uge, IntCond::Ugt}, {"ule", IntCond::Ugt, IntCond::Uge},
    {"ugt", IntCond::Ule, IntCond::Ult}, {"uge", IntCond::Ult, IntCond::Ule},
    {"slt", IntCond::Sge, IntCond::Sgt}, {"sle", IntCond::Sgt, IntCond::Sge},
    {"sgt", IntCond::Sle, IntCond::Slt}, {"sge", IntCond::Slt, IntCond::Sle},
};
constexpr CondRow<FloatCond> kFloatConds[] = {
    {"oeq", FloatCond::Une, FloatCond::Oeq}, {"une", FloatCond::Oeq, FloatCond::Une},
    {"olt", FloatCond::Uge, FloatCond::Ogt}, {"ole", FloatCond::Ugt, FloatCond::Oge},
    {"ogt", FloatCond::Ule, FloatCond::Olt}, {"oge", FloatCond::Ult, FloatCond::Ole},
    {"ord", FloatCond::Uno, FloatCond::Ord}, {"uno", FloatCond::Ord, FloatCond::Uno},
    {"ueq", FloatCond::One, FloatCond::Ueq}, {"one", FloatCond::Ueq, FloatCond::One},
    {"ult", FloatCond::Oge, FloatCond::Ugt}, {"ule", FloatCond::Ogt, FloatCond::Uge},
    {"ugt", FloatCond::Ole, FloatCond::Ult}, {"uge", FloatCond::Olt, FloatCond::Ule},
};
static_assert(std::size(kIntConds) == static_cast<std::size_t>(IntCond::Sge) + 1);
static_assert(std::size(kFloatConds) == static_cast<std::size_t>(FloatCond::Uge) + 1);
constexpr std::string_view kScopeTexts[] = {"block", "device", "system"};
constexpr std::string_view kOrderTexts[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
constexpr std::string_view kAtomicOpTexts[] = {"exchange", "add",  "and",  "or",  "xor", "smin",
                                               "smax",     "umin", "umax", "inc", "dec", "fadd"};
static_assert(std::size(kAtomicOpTexts) == static_cast<std::size_t>(AtomicOp::Fadd) + 1);

template <class E, class Row, std::size_t N>
std::optional<E> row_from_text(const Row (&rows)[N], std::string_view text) {
    for (std::size_t i = 0; i < N; ++i) {
        if (rows[i].text == text) return static_cast<E>(i);
    }
    return std::nullopt;
}

const CondRow<IntCond>& row(IntCond cond) {
    return kIntConds[static_cast<std::size_t>(cond)];
}
const CondRow<FloatCond>& row(FloatCond cond) {
    return kFloatConds[static_cast<std::size_t>(cond)];
}

}  // namespace

std::string_view op_text(Op op) {
    return kOpTexts[static_cast<std::size_t>(op)];
}
std::string_view int_cond_text(IntCond cond) {
    return row(cond).text;
}
std::string_view float_cond_text(FloatCond cond) {
    return row(cond).text;
}
std::string_view sreg_text(Sreg reg) {
    return kSregTexts[static_cast<std::size_t>(reg)];
}
std::string_view scope_text(Scope scope) {
    return kScopeTexts[static_cast<std::size_t>(scope)];
}
Type sreg_type(Sreg reg) {
    return kSregTypes[static_cast<std::size_t>(reg)];
}

bool mnemonic_has_type(Op op) {
    const ResultRule rule = op_info(op).result;
    if (is_tile_op(op)) return false;   // the whole type stands at the end
    if (op == Op::Store || op == Op::Switch) return true;
    return op != Op::Sreg && (rule == ResultRule::Type || rule == ResultRule::Bool);
}

TextForm text_form(Op op) {
    if (is_tile_op(op)) return TextForm::Tile;
    switch (op) {
        case Op::Const: return TextForm::Const;
        case Op::GlobalAddr: return TextForm::Global;
        case Op::Alloca: return TextForm::Alloca;
        case Op::Load: return TextForm::Load;
        case Op::Store: return TextForm::Store;
        case Op::Memcpy:
        case Op::Memset: return TextForm::Bulk;
        case Op::Nonnull: return TextForm::Bounded;
        case Op::Call: return TextForm::Call;
        case Op::Panic: return TextForm::Panic;
        case Op::Asm:
        case Op::AsmMemory:
        case Op::AsmSync: return TextForm::Asm;
        default: return TextForm::Plain;  // every new operation prints as its operands until it needs more
    }
}

std::optional<Op> op_from_text(std::string_view text) {
    return enum_from_name<Op>(kOpTexts, text);
}
std::optional<Type> type_from_text(std::string_view text) {
    return enum_from_name<Type>(kTypeTexts, text);
}
std::optional<IntCond> int_cond_from_text(std::string_view text) {
    return row_from_text<IntCond>(kIntConds, text);
}
std::optional<FloatCond> float_cond_from_text(std::string_view text) {
    return row_from_text<FloatCond>(kFloatConds, text);
}
std::optional<Sreg> sreg_from_text(std::string_view text) {
    return enum_from_name<Sreg>(kSregTexts, text);
}
std::optional<Scope> scope_from_text(std::string_view text) {
    return enum_from_name<Scope>(kScopeTexts, text);
}

std::string atomic_text(AtomicInfo info, bool with_op) {
    std::string text;
    if (with_op) (text += kAtomicOpTexts[static_cast<std::size_t>(info.op)]) += '.';
    (text += kOrderTexts[static_cast<std::size_t>(info.order)]) += '.';
    return text += scope_text(info.scope);
}

std::optional<AtomicInfo> atomic_from_text(std::string_view text, bool with_op) {
    const auto word = [&text] {
        const std::size_t dot = std::min(text.find('.'), text.size());
        const std::string_view first = text.substr(0, dot);
        text.remove_prefix(std::min(dot + 1, text.size()));
        return first;
    };
    const auto op = with_op ? enum_from_name<AtomicOp>(kAtomicOpTexts, word()) : AtomicOp::Exchange;
    const auto order = enum_from_name<AtomicOrder>(kOrderTexts, word());
    const auto scope = scope_from_text(text);
    if (!op || !order || !scope) return std::nullopt;
    return AtomicInfo{*op, *order, *scope};
}

Op machine_op(intrinsic::Effect effect) {
    switch (effect) {
        case intrinsic::Effect::Pure: return Op::Machine;
        case intrinsic::Effect::Memory: return Op::MachineMemory;
        case intrinsic::Effect::Convergent: return Op::MachineSync;
        case intrinsic::Effect::Diverge: break;
    }
    OCKC_UNREACHABLE("a machine operation that ends the thread");
}

std::size_t machine_results(const intrinsic::MachineInfo& row, std::size_t operands) {
    const std::size_t plain = intrinsic::plain_letters(row.results).size();
    if (plain == row.results.size()) return plain;
    const std::size_t fixed = intrinsic::plain_letters(row.operands).size();
    return plain + (operands > fixed ? operands - fixed : 0);
}

Type machine_type(char letter) {
    switch (letter) {
        case 'p': return Type::I1;
        case 'h': return Type::I16;
        case 'i': return Type::I32;
        case 'l': return Type::I64;
        case 'x': return Type::F16;
        case 'y': return Type::BF16;
        case 'f': return Type::F32;
        case 'd': return Type::F64;
        case 'P': return Type::Ptr;
        default: break;
    }
    OCKC_UNREACHABLE("letter of machine.def");
}

IntCond invert(IntCond cond) {
    return row(cond).inverted;
}
IntCond swap(IntCond cond) {
    return row(cond).swapped;
}
FloatCond invert(FloatCond cond) {
    return row(cond).inverted;
}
FloatCond swap(FloatCond cond) {
    return row(cond).swapped;
}
bool is_signed_cond(IntCond cond) {
    return cond >= IntCond::Slt;
}
bool true_when_equal(IntCond cond) {
    return cond == IntCond::Eq || cond == IntCond::Ule || cond == IntCond::Uge || cond == IntCond::Sle ||
           cond == IntCond::Sge;
}

}  // namespace ockc::ir
