// Building blocks of ptx::Module: registers, symbols, look-ups, equality.
#include "ptx/ptx.hpp"

#include <algorithm>

#include "support/check.hpp"

namespace ockc::ptx {

Reg Function::new_reg(RegClass reg_class) {
    std::uint32_t& count = reg_counts[static_cast<std::size_t>(reg_class)];
    if (count == 0) count = 1;
    return Reg(reg_class, count++);
}

SymbolId Module::symbol(std::string_view name) {
    const auto [it, added] = symbol_index_.try_emplace(std::string(name), symbols.next_id());
    if (added) symbols.push(std::string(name));
    return it->second;
}

const Function* Module::find_function(std::string_view wanted) const {
    const Function* found = nullptr;
    for (const Function& function : functions) {
        if (name(function.name) != wanted) continue;
        if (function.has_body) return &function;
        found = &function;
    }
    return found;
}

const Variable* Module::find_variable(SymbolId id) const {
    const auto it =
        std::find_if(variables.begin(), variables.end(), [id](const Variable& v) { return v.name == id; });
    return it == variables.end() ? nullptr : &*it;
}

std::uint64_t param_space(const Function& function) {
    std::uint64_t size = 0;
    for (const Param& param : function.params) {
        const std::uint64_t align = param.alignment();
        size = (size + align - 1) / align * align + param.size();
    }
    return size;
}

Instr make(Form form, Type type, std::initializer_list<Operand> operands) {
    Instr instr;
    instr.form = form;
    instr.mods.type = type;
    OCKC_CHECK(operands.size() <= form_info(form).operand_count);
    std::copy(operands.begin(), operands.end(), instr.operands.begin());
    return instr;
}

namespace {

// Compares two modules whose symbols and labels have different ids for the same names.
class Comparison {
  public:
    Comparison(const Module& a, const Module& b) : a_(a), b_(b) {}

    bool modules() const {
        return a_.ptx_version == b_.ptx_version && a_.target == b_.target &&
               a_.address_size == b_.address_size && a_.files == b_.files &&
               all(a_.variables, b_.variables, [this](auto& x, auto& y) { return variable(x, y); }) &&
               all(a_.functions, b_.functions, [this](auto& x, auto& y) { return function(x, y); });
    }

  private:
    template <class T, class F>
    static bool all(const std::vector<T>& a, const std::vector<T>& b, F same) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
    }
    bool symbol(SymbolId a, SymbolId b) const {
        if (!a.valid() || !b.valid()) return a == b;
        return a_.name(a) == b_.name(b);
    }
    bool variable(const Variable& a, const Variable& b) const {
        const auto same_init = [this](const Init& x, const Init& y) {
            return x.bits == y.bits && x.generic == y.generic && symbol(x.symbol, y.symbol);
        };
        return symbol(a.name, b.name) && a.linkage == b.linkage && a.space == b.space && a.type == b.type &&
               a.alignment() == b.alignment() && a.array == b.array && a.count == b.count &&
               all(a.init, b.init, same_init);
    }
    bool param(const Param& a, const Param& b) const {
        return symbol(a.name, b.name) && a.type == b.type && a.alignment() == b.alignment() &&
               a.array == b.array && a.count == b.count;
    }
    bool function(const Function& a, const Function& b) const {
        const auto same_param = [this](const Param& x, const Param& y) { return param(x, y); };
        const auto same_block = [&, this](const Block& x, const Block& y) {
            return label(a, b, x.label, y.label) &&
                   all(x.instrs, y.instrs,
                       [&, this](const Instr& i, const Instr& j) { return instr(a, b, i, j); });
        };
        return symbol(a.name, b.name) && a.entry == b.entry && a.has_body == b.has_body &&
               a.linkage == b.linkage && all(a.results, b.results, same_param) &&
               all(a.params, b.params, same_param) && a.directives == b.directives &&
               all(a.locals, b.locals, [this](auto& x, auto& y) { return variable(x, y); }) &&
               a.reg_counts == b.reg_counts && all(a.blocks, b.blocks, same_block);
    }
    static bool label(const Function& a, const Function& b, LabelId x, LabelId y) {
        if (!x.valid() || !y.valid()) return x == y;
        return a.labels[x] == b.labels[y];
    }
    bool instr(const Function& a, const Function& b, const Instr& x, const Instr& y) const {
        if (x.form != y.form || x.mods != y.mods || x.guard != y.guard ||
            x.guard_negated != y.guard_negated || x.loc != y.loc) {
            return false;
        }
        for (std::size_t i = 0; i < kMaxOperands; ++i) {
            if (!operand(a, b, x.operands[i], y.operands[i])) return false;
        }
        return true;
    }
    bool operand(const Function& a, const Function& b, const Operand& x, const Operand& y) const {
        if (x.kind != y.kind || x.negated != y.negated || x.value != y.value) return false;
        switch (x.kind) {
            case OperandKind::Symbol:
            case OperandKind::AddrSym: return symbol(x.as_symbol(), y.as_symbol());
            case OperandKind::Label: return label(a, b, x.as_label(), y.as_label());
            case OperandKind::List:
                return all(a.list_of(x), b.list_of(y),
                           [&, this](auto& i, auto& j) { return operand(a, b, i, j); });
            case OperandKind::None:
            case OperandKind::Reg:
            case OperandKind::Sink:
            case OperandKind::Imm:
            case OperandKind::ImmF32:
            case OperandKind::ImmF64:
            case OperandKind::Special:
            case OperandKind::AddrReg:
            case OperandKind::AddrImm: return x.index == y.index;
        }
        return false;
    }

    const Module& a_;
    const Module& b_;
};

}  // namespace

bool equal(const Module& a, const Module& b) {
    return Comparison(a, b).modules();
}

}  // namespace ockc::ptx
