// One pass over the module. For every instruction: the modifiers that its syntax asks for, a type that its
// row allows, each operand against its spec, registers within the declared counts, then floors against target
// and PTX version.
#include "ptx/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ptx/matrix.hpp"
#include "ptx/print.hpp"

namespace ockc::ptx {

namespace {

bool is_float_type(Type type) {
    return type_info(type).kind == TypeKind::Float;
}

// Instructions whose registers may be wider than the type that they move or convert.
bool is_relaxed(Form form) {
    return form == Form::Ld || form == Form::LdNc || form == Form::St || form == Form::Cvt;
}

class Validator {
  public:
    explicit Validator(const Module& module) : module_(module) {}

    std::vector<ValidationError> run() {
        module_head();
        for (const Variable& v : module_.variables)
            variable(v);
        for (const Function& f : module_.functions)
            function(f);
        return std::move(errors_);
    }

  private:
    void error(std::string message) {
        ValidationError e;
        if (function_ != nullptr) e.function = module_.name(function_->name);
        if (instr_ != nullptr) e.text = print(module_, *function_, *instr_);
        e.message = std::move(message);
        errors_.push_back(std::move(e));
    }

    void module_head() {
        const TargetInfo& target = target_info(module_.target);
        if (module_.ptx_version < target.ptx) {
            error(fmt::format("{} needs PTX {}.{}", target.text, target.ptx / 10, target.ptx % 10));
        }
        if (module_.address_size != 64) error("only 64-bit addresses are supported");
    }

    void variable(const Variable& v) {
        if (v.init.size() > v.count)
            error(fmt::format("`{}` has more initial values than elements", module_.name(v.name)));
        if (v.array && v.count == 0 && v.linkage != Linkage::Extern) {
            error(fmt::format("`{}` has no size and is not .extern", module_.name(v.name)));
        }
        if (!v.init.empty() && v.space != Space::Global && v.space != Space::Const) {
            error(fmt::format("`{}`: only .global and .const variables have initial values",
                              module_.name(v.name)));
        }
    }

    void function(const Function& f) {
        function_ = &f;
        if (f.entry && !f.results.empty()) error("an entry has no results");
        const bool large = module_.ptx_version >= kLargeParamPtx;
        const std::uint64_t limit = large ? kLargeParamSpace : kSmallParamSpace;
        if (f.entry && param_space(f) > limit) {
            error(fmt::format("the parameters take {} bytes, a launch passes {}", param_space(f), limit));
        }
        if (f.directives.maxntid && f.directives.reqntid) error(".maxntid and .reqntid exclude each other");
        if ((f.directives.reqnctapercluster || f.directives.explicitcluster) &&
            target_info(module_.target).sm < 90) {
            error("clusters need sm_90");
        }
        std::vector<std::uint32_t> defined(f.labels.size(), 0);
        for (std::size_t i = 0; i < f.blocks.size(); ++i) {
            const Block& block = f.blocks[i];
            if (block.label.valid()) {
                if (++defined[block.label.raw] == 2)
                    error(fmt::format("label `{}` is defined twice", f.labels[block.label]));
            } else if (i != 0) {
                error("only a function's first block may have no label");
            }
        }
        for (const Block& block : f.blocks) {
            for (const Instr& instr : block.instrs)
                instruction(f, instr, defined);
        }
        if (f.has_body && falls_off(f)) error("control runs off the end of the body");
        function_ = nullptr;
    }

    static bool falls_off(const Function& f) {
        for (auto block = f.blocks.rbegin(); block != f.blocks.rend(); ++block) {
            if (block->instrs.empty()) continue;
            const Instr& last = block->instrs.back();
            const bool leaves = last.form == Form::Bra || last.form == Form::Ret || last.form == Form::Exit ||
                                last.form == Form::Trap;
            return !leaves || last.guarded();
        }
        return true;
    }

    void instruction(const Function& f, const Instr& instr, const std::vector<std::uint32_t>& defined) {
        instr_ = &instr;
        if (instr.guarded()) {
            if (instr.guard.reg_class() != RegClass::Pred) error("the guard is not a predicate");
            declared(f, instr.guard);
        }
        modifiers(instr);
        const FormInfo& info = instr.info();
        for (std::size_t i = 0; i < kMaxOperands; ++i) {
            const Operand& operand = instr.operands[i];
            if (i >= info.operand_count) {
                if (operand.present()) error("too many operands");
                continue;
            }
            if (!operand.present()) {
                if (!info.operands[i].optional) error(fmt::format("operand {} is missing", i + 1));
                continue;
            }
            this->operand(f, instr, info.operands[i], operand, defined);
        }
        floors(instr);
        instr_ = nullptr;
    }

    void modifiers(const Instr& instr) {
        const FormInfo& info = instr.info();
        Mods known;
        for (const Word& word : info.word_list()) {
            const std::uint32_t value = get_field(instr.mods, word.field);
            if (word.field == Field::Literal) continue;
            set_field(known, word.field, value);
            if (value == 0) {
                if (!word.optional) error(fmt::format(".{} is missing", word.text));
                continue;
            }
            const bool type = word.field == Field::Type || word.field == Field::SourceType || word.field == Field::OtherType;
            const TypeSet types = word.field == Field::Type ? info.types : info.source_types;
            const bool allowed =
                type ? contains(types, static_cast<Type>(value)) : (word.allowed >> value & 1) != 0;
            if (!allowed)
                error(fmt::format(".{} does not fit this instruction", field_text(word.field, value)));
        }
        if (!types_exist(instr.form, instr.mods))
            error("no conversion between these types");
        if (known != instr.mods) error("a modifier is set that the instruction does not have");
        combinations(instr);
    }

    // What the syntax alone does not say.
    void combinations(const Instr& instr) {
        const Mods& m = instr.mods;
        const bool scoped =
            m.sem == Sem::Relaxed || m.sem == Sem::Acquire || m.sem == Sem::Release || m.sem == Sem::AcqRel;
        if ((instr.form == Form::Ld || instr.form == Form::St) && scoped != (m.scope != Scope::None)) {
            error("ordered loads and stores have a scope, others do not");
        }
        if (m.ftz && m.type != Type::F32 && m.type != Type::F16 && m.type != Type::F16X2 &&
            m.source_type != Type::F32) {
            error(".ftz is for f32 and f16");
        }
        if (m.sat && !is_float_type(m.type) && m.type != Type::S32 && m.type != Type::F16X2 &&
            instr.form != Form::Cvt) {
            error(".sat is for s32 and floats");
        }
        if (m.vec != Vec::None && lanes(m.vec) * type_bits(m.type) > 128)
            error("a vector access moves at most 128 bits");
        if (m.cmp != Cmp::None) comparison(m);
        if (instr.form == Form::Cvt) conversion(m);
        const bool f64_needs_rounding =
            m.type == Type::F64 &&
            (instr.form == Form::Rcp || instr.form == Form::Sqrt || instr.form == Form::DivF);
        if (f64_needs_rounding && m.round == Round::None) error("f64 needs a rounding mode");
    }

    void comparison(const Mods& m) {
        const TypeKind kind = type_info(m.type).kind;
        const bool unsigned_only =
            m.cmp == Cmp::Lo || m.cmp == Cmp::Ls || m.cmp == Cmp::Hi || m.cmp == Cmp::Hs;
        const bool float_only = m.cmp >= Cmp::Equ;
        const bool any = m.cmp == Cmp::Eq || m.cmp == Cmp::Ne;
        if (unsigned_only && kind != TypeKind::Unsigned)
            error(fmt::format(".{} compares unsigned integers", text(m.cmp)));
        if (float_only && kind != TypeKind::Float) error(fmt::format(".{} compares floats", text(m.cmp)));
        if (kind == TypeKind::Untyped && !any) error("untyped values have no order");
    }

    // Rounding is required exactly where a result may be inexact.
    void conversion(const Mods& m) {
        const bool to_float = is_float_type(m.type);
        const bool from_float = is_float_type(m.source_type);
        const bool integral =
            m.round == Round::Rni || m.round == Round::Rzi || m.round == Round::Rmi || m.round == Round::Rpi;
        if (!to_float && !from_float && m.round != Round::None) error("no rounding between integers");
        if (!to_float && from_float && !integral) error("float to integer needs .rni, .rzi, .rmi or .rpi");
        if (to_float && !from_float && (m.round == Round::None || integral))
            error("integer to float needs .rn, .rz, .rm or .rp");
        if (to_float && from_float) {
            const bool narrows = type_bits(m.type) < type_bits(m.source_type);
            if (narrows && (m.round == Round::None || integral))
                error("a narrowing float conversion needs .rn, .rz, .rm or .rp");
            if (m.type == m.source_type && m.round != Round::None && !integral)
                error("a float of the same type rounds to integral values only");
        }
    }

    // --------------------------------------------------------------------------------------------------------
    // operands
    void declared(const Function& f, Reg reg) {
        if (reg.number() >= f.reg_counts[static_cast<std::size_t>(reg.reg_class())]) {
            error(fmt::format("register {}{} is not declared", reg_class_info(reg.reg_class()).prefix,
                              reg.number()));
        }
    }

    // Type and width that an operand must have; Pred for predicates.
    struct Expected {
        Type type = Type::None;  // None: untyped of `bits`
        std::uint32_t bits = 0;
    };
    static Expected expected(const Instr& instr, OperandType type, std::uint32_t list_size) {
        switch (type) {
            case OperandType::None: return {};
            case OperandType::Type: return {instr.mods.type, type_bits(instr.mods.type)};
            case OperandType::SourceType: return {instr.mods.source_type, type_bits(instr.mods.source_type)};
            case OperandType::Wide: return {Type::None, 2 * type_bits(instr.mods.type)};
            case OperandType::Element:
                return {Type::None, list_size == 0 ? 0 : type_bits(instr.mods.type) / list_size};
            case OperandType::Predicate: return {Type::Pred, 1};
            case OperandType::Bytes2: return {Type::None, 16};
            case OperandType::Bytes4: return {Type::None, 32};
            case OperandType::Bytes8: return {Type::None, 64};
        }
        return {};
    }

    void operand(const Function& f, const Instr& instr, const OperandSpec& spec, const Operand& o,
                 const std::vector<std::uint32_t>& defined) {
        switch (spec.role) {
            case Role::Label:
                if (o.kind != OperandKind::Label) return error("a jump needs a label");
                if (defined[o.index] == 0)
                    error(fmt::format("label `{}` is not defined", f.labels[o.as_label()]));
                return;
            case Role::Function:
                if (o.kind != OperandKind::Symbol) error("a call needs a function");
                return;
            case Role::Params:
                if (o.kind != OperandKind::List) error("arguments stand in parentheses");
                return;
            case Role::Address:
            case Role::TensorMap: return address(f, o);
            case Role::Immediates:
                if (o.kind != OperandKind::List) return error("constants are needed here");
                return list(f, instr, spec, o);
            case Role::List:
            case Role::Updated:
            case Role::VectorOrReg:
                if (o.kind == OperandKind::List) return list(f, instr, spec, o);
                if (spec.role == Role::List || spec.role == Role::Updated) return error("a brace list is needed here");
                if (instr.mods.vec != Vec::None) return error("a vector access needs a brace list");
                break;
            case Role::Dest:
                if (o.kind != OperandKind::Reg && o.kind != OperandKind::Sink)
                    return error("the destination is not a register");
                break;
            case Role::Sink:
                if (o.kind != OperandKind::Sink) error("this form has no result: `_` stands in its place");
                return;
            case Role::SourceReg:
                if (o.kind != OperandKind::Reg) return error("a register is needed here");
                break;
            case Role::Immediate:
                if (o.kind != OperandKind::Imm) return error("a constant is needed here");
                break;
            case Role::Source:
            case Role::SourceAny: break;
        }
        value(f, instr, spec, o, expected(instr, spec.type, 0));
    }

    void address(const Function& f, const Operand& o) {
        if (!o.is_address()) return error("an address is needed here");
        if (o.kind != OperandKind::AddrReg) return;
        declared(f, o.as_reg());
        const RegClass reg_class = o.as_reg().reg_class();
        if (reg_class != RegClass::B64 && reg_class != RegClass::B32)
            error("an address is held by a %rd or %r register");
    }

    void list(const Function& f, const Instr& instr, const OperandSpec& spec, const Operand& o) {
        const std::vector<Operand>& items = f.list_of(o);
        if (spec.role == Role::VectorOrReg && items.size() != lanes(instr.mods.vec)) {
            return error("the list's length differs from the vector's");
        }
        const std::size_t at = static_cast<std::size_t>(&spec - instr.info().operands);
        if (const std::uint32_t wanted = matrix_registers(instr.form, instr.mods, at); wanted != 0 && items.size() != wanted) {
            return error(fmt::format("the list has {} registers, {} are needed", items.size(), wanted));
        }
        for (const Operand& item : items) {
            value(f, instr, spec, item, expected(instr, spec.type, static_cast<std::uint32_t>(items.size())));
        }
    }

    void value(const Function& f, const Instr& instr, const OperandSpec& spec, const Operand& o,
               Expected want) {
        switch (o.kind) {
            case OperandKind::Reg: return reg(f, instr, o, want);
            case OperandKind::ImmF32:
                if (takes_registers_only(spec, instr.mods)) error("a constant where a register is needed");
                if (want.type != Type::F32 && want.type != Type::B32)
                    error("an f32 constant in an operand of another type");
                return;
            case OperandKind::ImmF64:
                if (want.type != Type::F64 && want.type != Type::B64)
                    error("an f64 constant in an operand of another type");
                return;
            case OperandKind::Special:
                if (spec.role != Role::SourceAny) error("special registers are read by mov");
                if (special_info(o.as_special()).bits != want.bits)
                    error("the special register has another width");
                return;
            case OperandKind::Imm:
                if (is_float_type(want.type) || takes_registers_only(spec, instr.mods)) error("an integer constant in a float operand");
                return;
            case OperandKind::Symbol:
                if (spec.role != Role::SourceAny) error("addresses of symbols are taken by mov and cvta");
                return;
            case OperandKind::Sink: return;
            case OperandKind::None:
            case OperandKind::AddrReg:
            case OperandKind::AddrSym:
            case OperandKind::AddrImm:
            case OperandKind::Label:
            case OperandKind::List: return error("an operand of the wrong kind");
        }
    }

    void reg(const Function& f, const Instr& instr, const Operand& o, Expected want) {
        declared(f, o.as_reg());
        const RegClass reg_class = o.as_reg().reg_class();
        const RegClassInfo& info = reg_class_info(reg_class);
        if (o.negated && reg_class != RegClass::Pred) return error("only predicates are negated");
        if ((want.type == Type::Pred) != (reg_class == RegClass::Pred)) {
            return error(fmt::format("{}{} is of the wrong class", info.prefix, o.as_reg().number()));
        }
        const bool relaxed = is_relaxed(instr.form);
        const bool width_fits =
            info.bits == want.bits || (relaxed && info.bits > want.bits && !is_float_type(want.type));
        if (!width_fits) {
            return error(fmt::format("{}{} has {} bits where {} are needed", info.prefix, o.as_reg().number(),
                                     info.bits, want.bits));
        }
        // Registers declared as floats hold floats and plain bits, not integers.
        const TypeKind kind = type_info(want.type).kind;
        const bool integer = kind == TypeKind::Signed || kind == TypeKind::Unsigned;
        if (is_float_type(info.type) && integer)
            error(fmt::format("{}{} holds a float", info.prefix, o.as_reg().number()));
    }

    // ----------------------------------------------------------------------------------------------------------
    // floors
    void floors(const Instr& instr) {
        Floor floor = form_floor(instr.form, instr.mods);
        for (const Operand& o : instr.operands) {
            if (o.kind != OperandKind::Special) continue;
            floor.sm = std::max(floor.sm, special_info(o.as_special()).sm);
            floor.ptx = std::max(floor.ptx, special_info(o.as_special()).ptx);
        }
        const TargetInfo& target = target_info(module_.target);
        if (target.sm < floor.sm) {
            error(fmt::format("needs sm_{}, the target is {}", floor.sm, target.text));
        } else if (!target_has(target, floor)) {
            error(fmt::format("needs {}, the target is {}", target_info(lowest_target(floor)).text, target.text));
        }
        if (module_.ptx_version < floor.ptx) {
            error(fmt::format("needs PTX {}.{}, the module says {}.{}", floor.ptx / 10, floor.ptx % 10,
                              module_.ptx_version / 10, module_.ptx_version % 10));
        }
    }

    const Module& module_;
    const Function* function_ = nullptr;
    const Instr* instr_ = nullptr;
    std::vector<ValidationError> errors_;
};

}  // namespace

std::vector<ValidationError> validate(const Module& module) {
    return Validator(module).run();
}

std::uint16_t lowest_ptx_version(const Module& module) {
    std::uint16_t version = target_info(module.target).ptx;
    for (const Function& f : module.functions) {
        if (f.entry && param_space(f) > kSmallParamSpace) version = std::max(version, kLargeParamPtx);
        for (const Block& block : f.blocks) {
            for (const Instr& instr : block.instrs) {
                version = std::max(version, form_floor(instr.form, instr.mods).ptx);
                for (const Operand& o : instr.operands) {
                    if (o.kind == OperandKind::Special)
                        version = std::max(version, special_info(o.as_special()).ptx);
                }
            }
        }
    }
    return version;
}

}  // namespace ockc::ptx
