// Failed checks. Each panic passes its site and values to one function of the module, `ock_panic` (`ock_panic_4` for a message
// with more than two words of values), and traps; where the
// loader gave the module a record (abi/panic_record.hpp) the function writes it first. It is called from cold blocks
// only and gives nothing back, so the hot path keeps its registers.
#include "abi/panic_record.hpp"

#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include "isel/selector.hpp"

namespace ockc::isel {

using abi::PanicRecord;

void Selector::panic(const ir::Instruction& inst) {
    if (!context_.options.panic_record) return leave(Form::Trap);
    const bool wide = inst.args.size() > kShortPanicWords;
    const std::size_t count = wide ? abi::kPanicWords : kShortPanicWords;
    (wide ? context_.wide_panics : context_.panics) = true;
    if (!panic_params_[count].valid()) {
        static constexpr std::string_view kNames[] = {"$panic_site", "$panic_a", "$panic_b", "$panic_c", "$panic_d"};
        for (std::size_t i = count + 1; i-- > 0;) {  // locals are met last one first
            if (panic_params_[i].valid()) break;
            ptx::Variable v;
            v.name = panic_params_[i] = context_.out.symbol(kNames[i]);
            v.space = ptx::Space::Param;
            v.type = i == 0 ? PT::B32 : PT::B64;
            out_.locals.push_back(v);
        }
    }
    const auto pass = [&](std::size_t i, PT type, const Operand& value) {
        store_piece(type, {Operand::at(panic_params_[i], 0), ptx::Space::Param}, 0, value, {});
    };
    pass(0, PT::U32, imm(static_cast<std::int64_t>(inst.imm)));
    for (std::size_t i = 0; i < count; ++i) {
        pass(i + 1, PT::U64, i < inst.args.size() ? panic_value(inst.args[i]) : imm(0));
    }
    Instr call = ptx::make(Form::Call, PT::None, {});
    call.loc = loc_;
    call.mods.uni = true;
    call.operands[1] = Operand::symbol(context_.out.symbol(wide ? abi::kWidePanicFunctionSymbol : abi::kPanicFunctionSymbol));
    std::vector<Operand> params;
    for (std::size_t i = 0; i <= count; ++i) params.push_back(Operand::symbol(panic_params_[i]));
    call.operands[2] = Operand::list(out_.new_list(std::move(params)));
    current_.push_back(call);
    leave(Form::Trap);
}

// As 64 bits; what is above a narrower value does not count.
ptx::Operand Selector::panic_value(ir::ValueId value) {
    const VT type = in_.type_of(value);
    if (type == VT::I64) return src(value);
    OCKC_CHECK(type == VT::I1 || type == VT::I8 || type == VT::I16 || type == VT::I32);
    const Reg wide = fresh(RegClass::B64);
    convert(wide, PT::U64, as_32(value, false), PT::U32);
    return r(wide);
}

ptx::Variable panic_record_variable(ptx::Module& module) {
    ptx::Variable v;
    v.name = module.symbol(abi::kPanicRecordSymbol);
    v.linkage = ptx::Linkage::Visible;
    v.space = ptx::Space::Global;
    v.type = ptx::Type::U64;
    return v;
}

namespace {

// Appends to one function: just what ock_panic and ock_panic_4 need.
class PanicFunction {
  public:
    PanicFunction(ptx::Module& module, std::size_t words) : module_(module), words_(words) {}

    ptx::Function build() {
        using ptx::Form;
        using ptx::Operand;
        using ptx::Type;
        out_.name = module_.symbol(words_ > kShortPanicWords ? abi::kWidePanicFunctionSymbol : abi::kPanicFunctionSymbol);
        const Operand site = param("site", Type::B32, Type::U32, ptx::RegClass::B32);
        std::vector<Operand> values;
        for (std::size_t i = 0; i < words_; ++i) values.push_back(param(std::string_view("abcd").substr(i, 1), Type::B64, Type::U64, ptx::RegClass::B64));
        record_ = out_.new_reg(ptx::RegClass::B64);
        load(Operand::reg(record_), Operand::at(module_.symbol(abi::kPanicRecordSymbol)), ptx::Space::Global, Type::U64);
        const ptx::Reg unset = test(ptx::Cmp::Eq, Type::S64, Operand::reg(record_));
        emit(Form::Ret, Type::None, {}).guard = unset;
        const ptx::Reg before = out_.new_reg(ptx::RegClass::B32);
        emit(Form::AtomCas, Type::B32, {Operand::reg(before), at(offsetof(PanicRecord, taken)), Operand::imm(0), Operand::imm(1)})
            .mods.space = ptx::Space::Global;
        const ptx::Reg late = test(ptx::Cmp::Ne, Type::S32, Operand::reg(before));
        emit(Form::Exit, Type::None, {}).guard = late;
        store(offsetof(PanicRecord, site), Type::U32, site);
        for (std::size_t i = 0; i < kShortPanicWords; ++i) store(offsetof(PanicRecord, values) + 8 * i, Type::U64, values[i]);
        for (std::size_t i = kShortPanicWords; i < words_; ++i) store(offsetof(PanicRecord, more_values) + 8 * (i - kShortPanicWords), Type::U64, values[i]);
        static constexpr ptx::Special kBlock[] = {ptx::Special::CtaidX, ptx::Special::CtaidY, ptx::Special::CtaidZ};
        static constexpr ptx::Special kThread[] = {ptx::Special::TidX, ptx::Special::TidY, ptx::Special::TidZ};
        for (std::size_t i = 0; i < 3; ++i) store_special(offsetof(PanicRecord, block) + 4 * i, kBlock[i]);
        for (std::size_t i = 0; i < 3; ++i) store_special(offsetof(PanicRecord, thread) + 4 * i, kThread[i]);
        emit(Form::Membar, Type::None, {}).mods.mode = ptx::Mode::Sys;
        emit(Form::Ret, Type::None, {});
        out_.blocks.push_back(std::move(block_));
        return std::move(out_);
    }

  private:
    ptx::Instr& emit(ptx::Form form, ptx::Type type, std::initializer_list<ptx::Operand> operands) {
        return block_.instrs.emplace_back(ptx::make(form, type, operands));
    }
    ptx::Operand at(std::size_t offset) const { return ptx::Operand::at(record_, static_cast<std::int64_t>(offset)); }
    void load(const ptx::Operand& to, const ptx::Operand& from, ptx::Space space, ptx::Type type) {
        emit(ptx::Form::Ld, type, {to, from}).mods.space = space;
    }
    void store(std::size_t offset, ptx::Type type, const ptx::Operand& value) {
        emit(ptx::Form::St, type, {at(offset), value}).mods.space = ptx::Space::Global;
    }
    void store_special(std::size_t offset, ptx::Special special) {
        const ptx::Operand value = ptx::Operand::reg(out_.new_reg(ptx::RegClass::B32));
        emit(ptx::Form::Mov, ptx::Type::U32, {value, ptx::Operand::special(special)});
        store(offset, ptx::Type::U32, value);
    }
    ptx::Reg test(ptx::Cmp cmp, ptx::Type type, const ptx::Operand& value) {
        const ptx::Reg hit = out_.new_reg(ptx::RegClass::Pred);
        emit(ptx::Form::Setp, type, {ptx::Operand::reg(hit), ptx::Operand::none(), value, ptx::Operand::imm(0)}).mods.cmp = cmp;
        return hit;
    }
    ptx::Operand param(std::string_view name, ptx::Type type, ptx::Type loaded, ptx::RegClass reg_class) {
        ptx::Param p;
        p.name = module_.symbol(name);
        p.type = type;
        out_.params.push_back(p);
        const ptx::Operand to = ptx::Operand::reg(out_.new_reg(reg_class));
        load(to, ptx::Operand::at(p.name), ptx::Space::Param, loaded);
        return to;
    }

    ptx::Module& module_;
    std::size_t words_;
    ptx::Function out_;
    ptx::Block block_;
    ptx::Reg record_;
};

}  // namespace

ptx::Function panic_function(ptx::Module& module, std::size_t words) { return PanicFunction(module, words).build(); }

namespace {

// Gives the checks of the library sites in user code: where they were inlined, or where the only call of their function stands.
class UserSites {
  public:
    UserSites(const ir::Module& module, abi::ModuleAbi& abi, const SourceMap& sources) : abi_(abi), sources_(sources) {
        for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
            const ir::Function& f = module.functions[ir::FuncId(i)];
            if (f.removed) continue;
            for (const ir::BlockId b : f.layout) {
                for (const ir::InstId inst : f.blocks[b].insts) {
                    if (f.insts[inst].op != ir::Op::Call) continue;
                    const auto [found, added] = calls_.try_emplace(&module.functions[f.insts[inst].callee], Call{&f, &f.insts[inst]});
                    if (!added) found->second = {};   // several
                }
            }
        }
    }

    void move(const ir::Function& function, ir::Instruction& inst) {
        if (!inst.span.valid() || !sources_.file(inst.span.file).embedded) return;
        const Span span = place(function, inst);
        if (!span.valid()) return;
        const std::uint64_t key = std::uint64_t{span.file.raw} << 32 | span.begin;
        const auto [found, added] = sites_.try_emplace({key, static_cast<std::uint32_t>(inst.imm)}, static_cast<std::uint32_t>(abi_.panic_sites.size()));
        if (added) {
            abi::PanicSite site = abi_.panic_sites[inst.imm];
            const LineColumn at = sources_.line_column(span.file, span.begin);
            site.file = sources_.file(span.file).name;
            site.line = at.line;
            site.column = at.column;
            abi_.panic_sites.push_back(std::move(site));
        }
        inst.imm = found->second;
        inst.span = span;   // for .loc, which the emulator and --panic trap go by
    }

  private:
    struct Call {
        const ir::Function* caller = nullptr;
        const ir::Instruction* inst = nullptr;
    };

    Span place(const ir::Function& function, const ir::Instruction& inst) const {
        constexpr int kMostCalls = 64;
        Call at{&function, &inst};
        for (int i = 0; i < kMostCalls; ++i) {
            if (const Span span = line_in_user_code(sources_, *at.caller, *at.inst); span.valid()) return span;
            const auto found = calls_.find(at.caller);
            if (found == calls_.end() || found->second.caller == nullptr) break;
            at = found->second;
        }
        return {};
    }

    abi::ModuleAbi& abi_;
    const SourceMap& sources_;
    std::unordered_map<const ir::Function*, Call> calls_;   // by callee; empty: several
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> sites_;   // by place and the library's site
};

}  // namespace

void number_panic_sites(ir::Module& module, abi::ModuleAbi& abi, const SourceMap& sources) {
    const auto each_panic = [&](auto&& visit) {
        for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
            ir::Function& f = module.functions[ir::FuncId(i)];
            if (f.removed) continue;
            for (const ir::BlockId b : f.layout) {
                for (const ir::InstId inst : f.blocks[b].insts) {
                    if (f.insts[inst].op == ir::Op::Panic) visit(f, f.insts[inst]);
                }
            }
        }
    };
    UserSites user_sites(module, abi, sources);
    each_panic([&](const ir::Function& f, ir::Instruction& inst) { user_sites.move(f, inst); });
    std::vector<std::uint32_t> number(abi.panic_sites.size(), 0);
    each_panic([&](const ir::Function&, ir::Instruction& inst) { number[inst.imm] = 1; });
    std::vector<abi::PanicSite> kept;
    for (std::size_t i = 0; i < number.size(); ++i) {
        if (number[i] == 0) continue;
        number[i] = static_cast<std::uint32_t>(kept.size());
        kept.push_back(std::move(abi.panic_sites[i]));
    }
    each_panic([&](const ir::Function&, ir::Instruction& inst) { inst.imm = number[inst.imm]; });
    abi.panic_sites = std::move(kept);
}

}  // namespace ockc::isel
