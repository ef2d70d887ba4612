// One instruction of every form and every type of its row is built from the table, validated, printed, parsed
// back and, when ptxas is there, assembled for each target that its floor allows. So a row cannot claim what
// ptxas refuses.
#include <doctest/doctest.h>

#include <map>

#include "assemble.hpp"
#include "ptx/matrix.hpp"
#include "ptx/parse.hpp"
#include "ptx/print.hpp"
#include "ptx/validate.hpp"

using namespace ockc;
using namespace ockc::ptx;

namespace {

RegClass class_for(Type type, std::uint32_t bits) {
    if (type == Type::Pred) return RegClass::Pred;
    if (type == Type::F32) return RegClass::F32;
    if (type == Type::F64) return RegClass::F64;
    switch (bits) {
        case 8:
        case 16: return RegClass::B16;
        case 32: return RegClass::B32;
        case 64: return RegClass::B64;
        default: return RegClass::B128;
    }
}

class Sampler {
  public:
    Sampler(Module& module, Function& function) : m_(module), f_(function) {}

    Instr sample(Form form, Type type, Type source_type, std::uint8_t columns) {
        Instr instr;
        instr.form = form;
        instr.mods.type = type;
        instr.mods.source_type = source_type;
        instr.mods.columns = columns;
        instr.mods.dims = columns;
        keep_fields(instr);
        for (const Word& word : instr.info().word_list())
            required_word(instr, word);
        adjust(instr);
        for (std::size_t i = 0; i < instr.info().operand_count; ++i) {
            if (!instr.info().operands[i].optional)
                instr.operands[i] = operand(instr, instr.info().operands[i]);
        }
        if (form == Form::CpAsync) instr.operands[2] = Operand::imm(16);
        if (form == Form::SetMaxNReg) instr.operands[0] = Operand::imm(64);
        return instr;
    }

  private:
    // The types of both factors are the same; only some forms have columns or dimensions.
    static void keep_fields(Instr& instr) {
        Mods known;
        for (const Word& word : instr.info().word_list()) {
            if (word.field == Field::OtherType) instr.mods.other_type = instr.mods.source_type;
            set_field(known, word.field, get_field(instr.mods, word.field));
        }
        instr.mods = known;
    }
    static void required_word(Instr& instr, const Word& word) {
        const bool needed = !word.optional && word.field != Field::Literal && word.field != Field::Type &&
                            word.field != Field::SourceType && word.field != Field::OtherType;
        if (!needed || get_field(instr.mods, word.field) != 0) return;
        for (std::uint32_t v = 1; v < 64; ++v) {
            if ((word.allowed >> v & 1) == 0) continue;
            set_field(instr.mods, word.field, v);
            return;
        }
    }

    // What the syntax alone does not say (Validator::combinations).
    static void adjust(Instr& instr) {
        Mods& m = instr.mods;
        const auto is_float = [](Type t) { return type_info(t).kind == TypeKind::Float; };
        if (instr.form == Form::Cvt) {
            if (is_float(m.source_type) && !is_float(m.type)) m.round = Round::Rzi;
            if (is_float(m.type) && !is_float(m.source_type)) m.round = Round::Rn;
            if (is_float(m.type) && is_float(m.source_type) && type_bits(m.type) < type_bits(m.source_type))
                m.round = Round::Rn;
        }
        if (instr.form == Form::MinF || instr.form == Form::MaxF || instr.form == Form::NegF) m.ftz = false;
        if (instr.form == Form::Cvta || instr.form == Form::CvtaTo || instr.form == Form::Isspacep)
            m.space = Space::Global;
        if (instr.form == Form::Ld || instr.form == Form::St) m.space = Space::Global;
    }

    Reg reg(Type type, std::uint32_t bits) { return f_.new_reg(class_for(type, bits)); }

    Operand operand(const Instr& instr, const OperandSpec& spec) {
        Type type = Type::None;
        std::uint32_t bits = 0;
        switch (spec.type) {
            case OperandType::None: break;
            case OperandType::Type:
                type = instr.mods.type;
                bits = type_bits(type);
                break;
            case OperandType::SourceType:
                type = instr.mods.source_type;
                bits = type_bits(type);
                break;
            case OperandType::Wide: bits = 2 * type_bits(instr.mods.type); break;
            case OperandType::Element: bits = type_bits(instr.mods.type) / 2; break;
            case OperandType::Predicate: type = Type::Pred; break;
            case OperandType::Bytes2: bits = 16; break;
            case OperandType::Bytes4: bits = 32; break;
            case OperandType::Bytes8: bits = 64; break;
        }
        switch (spec.role) {
            case Role::Dest:
            case Role::Source:
            case Role::SourceReg:
            case Role::SourceAny:
            case Role::VectorOrReg: return Operand::reg(reg(type, bits));
            case Role::Sink: return Operand::sink();
            case Role::Immediate: return Operand::imm(3);
            case Role::List:
            case Role::Updated: {
                const auto at = static_cast<std::size_t>(&spec - instr.info().operands);
                const std::uint32_t fixed = matrix_registers(instr.form, instr.mods, at);
                std::vector<Operand> items;
                for (std::uint32_t n = fixed != 0 ? fixed : 2; n > 0; --n) items.push_back(Operand::reg(reg(type, bits)));
                return Operand::list(f_.new_list(std::move(items)));
            }
            case Role::Immediates: {
                const auto at = static_cast<std::size_t>(&spec - instr.info().operands);
                return Operand::list(f_.new_list(std::vector<Operand>(matrix_registers(instr.form, instr.mods, at), Operand::imm(1))));
            }
            case Role::Address:
            case Role::TensorMap: return Operand::at(reg(Type::B64, 64));
            case Role::Label: return Operand::label(LabelId(0));
            case Role::Function: return Operand::symbol(m_.symbol("callee"));
            case Role::Params: return Operand::none();
        }
        return Operand::none();
    }

    Module& m_;
    Function& f_;
};

Function declare_callee(Module& m) {
    Function callee;
    callee.name = m.symbol("callee");
    callee.blocks.emplace_back();
    callee.blocks[0].instrs.push_back(make(Form::Ret, Type::None, {}));
    return callee;
}

// The columns or dimensions that an instruction of the form may have: all of them once, then the first.
std::vector<std::uint8_t> numbers_of(Form form, bool all) {
    for (const Word& word : form_info(form).word_list()) {
        const bool numbered = word.field >= Field::ColumnsK8 && word.field <= Field::Dims;
        if (!numbered) continue;
        std::vector<std::uint8_t> numbers;
        for (std::uint8_t n = 1; n < 64; ++n) {
            if ((word.allowed >> n & 1) != 0 && (all || numbers.empty())) numbers.push_back(n);
        }
        return numbers;
    }
    return {0};
}

// A module for `target` with a kernel for each form, holding an instruction for each type that fits the
// target.
Module everything(Target target) {
    Module m;
    m.target = target;
    m.ptx_version = kNewestPtx;
    m.functions.push_back(declare_callee(m));
    for (std::size_t i = 0; i < kFormCount; ++i) {
        const auto form = static_cast<Form>(i);
        const FormInfo& info = form_info(form);
        Function f;
        f.name = m.symbol("k_" + std::string(info.name));
        f.entry = true;
        f.linkage = Linkage::Visible;
        const LabelId label = f.new_label("$end");
        f.blocks.emplace_back();
        Sampler sampler(m, f);
        for (int t = 0; t < 64; ++t) {
            const auto type = static_cast<Type>(t);
            if (info.types == 0 ? t != 0 : !contains(info.types, type)) continue;
            for (int s = 0; s < 64; ++s) {
                const auto source = static_cast<Type>(s);
                if (info.source_types == 0 ? s != 0 : !contains(info.source_types, source)) continue;
                for (const std::uint8_t number : numbers_of(form, f.blocks[0].instrs.empty())) {
                    const Instr instr = sampler.sample(form, type, source, number);
                    if (!types_exist(form, instr.mods) || !target_has(target_info(target), form_floor(form, instr.mods))) continue;
                    f.blocks[0].instrs.push_back(instr);
                }
            }
        }
        if (f.blocks[0].instrs.empty()) continue;  // nothing of this form on this target
        Block end;
        end.label = label;
        end.instrs.push_back(make(Form::Ret, Type::None, {}));
        f.blocks.push_back(end);
        m.functions.push_back(std::move(f));
    }
    return m;
}

}  // namespace

TEST_CASE("every form and type: valid, printed, parsed back, assembled") {
    const bool ptxas = test::have_tool("ptxas");
    for (std::size_t t = 0; t < all_targets().size(); ++t) {
        const auto target = static_cast<Target>(t);
        CAPTURE(target_info(target).text);
        Module m = everything(target);
        for (const ValidationError& e : validate(m))
            FAIL_CHECK(e.text << ": " << e.message);
        const std::string text = print(m);
        const ParseResult again = parse(text);
        for (const ParseError& e : again.errors)
            FAIL_CHECK(e.line << ":" << e.column << ": " << e.message);
        CHECK(equal(m, again.module));
        m.ptx_version = lowest_ptx_version(m);
        if (ptxas) CHECK(test::assemble(print(m), target_info(target).text) == "");
    }
}
