// The operations that are one PTX instruction by their row of machine.def, and atomic accesses; and what the target
// does not have.
#include <fmt/format.h>

#include <charconv>

#include "isel/selector.hpp"
#include "ptx/print.hpp"

namespace ockc::isel {

namespace {

struct MachineForm {
    ptx::Form form = ptx::Form::Mov;
    ptx::Mods mods;
};

std::int64_t number(std::string_view digits) {
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::string_view next_word(std::string_view& rest, char between = ' ') {
    const std::size_t end = std::min(rest.find(between), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
}

// Forms that share their words differ in what is a list.
bool takes_operands(ptx::Form form, std::string_view operands) {
    const ptx::FormInfo& info = ptx::form_info(form);
    for (std::size_t i = 0; !operands.empty() && i <= info.operand_count;) {
        const std::string_view word = next_word(operands);
        if (word == "<" || word == ">") continue;
        if (i == info.operand_count) return false;
        const ptx::Role role = info.operands[i].role;
        if (word.find(',') != std::string_view::npos && role != ptx::Role::List && role != ptx::Role::Immediates) return false;
        ++i;
    }
    return operands.empty();
}

MachineForm machine_form(const intrinsic::MachineInfo& row) {
    const auto found = ptx::form_from_words(row.words);
    OCKC_CHECK_MSG(found.has_value(), row.words);
    ptx::Form form = found->first;
    while (!takes_operands(form, row.ptx_operands)) form = static_cast<ptx::Form>(static_cast<unsigned>(form) + 1);   // its sibling stands behind it
    OCKC_CHECK_MSG(ptx::form_info(form).syntax == ptx::form_info(found->first).syntax, row.words);
    return {form, found->second};
}

ptx::Scope ptx_scope(ir::Scope scope) {
    switch (scope) {
        case ir::Scope::Block: return ptx::Scope::Cta;
        case ir::Scope::Device: return ptx::Scope::Gpu;
        case ir::Scope::System: return ptx::Scope::Sys;
    }
    OCKC_UNREACHABLE("scope");
}

// Behind the fence of a sequentially consistent access stands an acquire (a store: relaxed), which is the mapping of
// the PTX memory model's authors.
ptx::Sem ptx_sem(ir::AtomicOrder order, bool is_store) {
    switch (order) {
        case ir::AtomicOrder::Relaxed: return ptx::Sem::Relaxed;
        case ir::AtomicOrder::Acquire: return ptx::Sem::Acquire;
        case ir::AtomicOrder::Release: return ptx::Sem::Release;
        case ir::AtomicOrder::AcqRel: return ptx::Sem::AcqRel;
        case ir::AtomicOrder::SeqCst: return is_store ? ptx::Sem::Relaxed : ptx::Sem::Acquire;
    }
    OCKC_UNREACHABLE("memory order");
}

struct RmwForm {
    ptx::Form atom, red;
    ptx::Mode mode;
    char kind;   // which PTX type: b bits, u unsigned, s signed, f float
};

RmwForm rmw_form(ir::AtomicOp op, ir::Type type) {
    using Form = ptx::Form;
    using Mode = ptx::Mode;
    switch (op) {
        case ir::AtomicOp::Exchange: return {Form::AtomExch, Form::AtomExch, Mode::None, 'b'};
        case ir::AtomicOp::Add: return {Form::AtomAdd, Form::RedAdd, Mode::None, 'u'};
        case ir::AtomicOp::And: return {Form::AtomLogic, Form::RedLogic, Mode::And, 'b'};
        case ir::AtomicOp::Or: return {Form::AtomLogic, Form::RedLogic, Mode::Or, 'b'};
        case ir::AtomicOp::Xor: return {Form::AtomLogic, Form::RedLogic, Mode::Xor, 'b'};
        case ir::AtomicOp::Smin: return {Form::AtomMinMax, Form::RedMinMax, Mode::Min, 's'};
        case ir::AtomicOp::Smax: return {Form::AtomMinMax, Form::RedMinMax, Mode::Max, 's'};
        case ir::AtomicOp::Umin: return {Form::AtomMinMax, Form::RedMinMax, Mode::Min, 'u'};
        case ir::AtomicOp::Umax: return {Form::AtomMinMax, Form::RedMinMax, Mode::Max, 'u'};
        case ir::AtomicOp::Inc: return {Form::AtomIncDec, Form::RedIncDec, Mode::Inc, 'u'};
        case ir::AtomicOp::Dec: return {Form::AtomIncDec, Form::RedIncDec, Mode::Dec, 'u'};
        case ir::AtomicOp::Fadd: {
            const bool half = type == ir::Type::F16 || type == ir::Type::BF16;
            return {half ? Form::AtomAddHalf : Form::AtomAdd, half ? Form::RedAddHalf : Form::RedAdd, Mode::None, 'f'};
        }
    }
    OCKC_UNREACHABLE("atomic operation");
}

ptx::Type sized(char kind, std::uint32_t bits) {
    using PT = ptx::Type;
    const bool wide = bits == 64, narrow = bits == 16;
    switch (kind) {
        case 'b': return wide ? PT::B64 : narrow ? PT::B16 : PT::B32;
        case 'u': return wide ? PT::U64 : narrow ? PT::U16 : PT::U32;
        case 's': return wide ? PT::S64 : PT::S32;
        default: break;
    }
    OCKC_UNREACHABLE("kind of an atomic's type");
}

}  // namespace

// One operand of a row's PTX form; what it needs goes in front.
ptx::Operand Selector::machine_operand(const ir::Instruction& inst, std::string_view word, const ptx::OperandSpec& spec,
                                       const ptx::Mods& mods, ptx::Space& space) {
    if (spec.role == ptx::Role::List) return machine_list(inst, word);
    if (spec.role == ptx::Role::Immediates) return machine_constants(inst, word);
    const auto index = [](char digit) { return static_cast<std::size_t>(digit - '0'); };
    switch (word[0]) {
        case '-': return Operand::none();
        case '_': return Operand::sink();
        case '*': return machine_sums(inst);
        case 't':
        case 'g': return Operand::at(use(inst.args[index(word[1])]));
        case '#': return imm(number(word.substr(1)));
        case '%': {
            const auto special = ptx::special_from_text(word);
            OCKC_CHECK_MSG(special.has_value(), word);
            return Operand::special(*special);
        }
        case 'd': return r(reg_of(inst.results[index(word[1])]));
        case '[': {
            if (word[1] == 's') return Operand::at(in_space(inst.args[index(word[2])], ir::Space::Shared));
            if (word[1] == 'c') return Operand::at(in_cluster(inst.args[index(word[2])]));
            const Address at = address(inst.args[index(word[2])], 0);
            space = at.space;
            return at.base;
        }
        case '@': return Operand::at(in_space(inst.args[index(word[2])], word[1] == 's' ? ir::Space::Shared : ir::Space::Global));
        case 'a': {
            const ir::ValueId value = inst.args[index(word[1])];
            if (in_.type_of(value) == VT::I1) return spec.role == ptx::Role::SourceReg && mods.columns != 0 ? plain_predicate(value) : predicate(value);
            if (spec.role == ptx::Role::Immediate) {
                const std::optional<std::uint64_t> known = int_constant(value);
                OCKC_CHECK_MSG(known.has_value(), "an operand that must be a constant");
                return imm(static_cast<std::int64_t>(*known));
            }
            const bool in_register = spec.role == ptx::Role::SourceReg || ptx::takes_registers_only(spec, mods);
            return in_register ? r(use(value)) : src(value);
        }
        default: break;
    }
    OCKC_UNREACHABLE("operand of a machine row");
}

// "d0,d1" or "a4,a5": a brace list of registers.
ptx::Operand Selector::machine_list(const ir::Instruction& inst, std::string_view words) {
    std::vector<Operand> items;
    while (!words.empty()) {
        const std::string_view word = next_word(words, ',');
        const auto index = static_cast<std::size_t>(number(word.substr(1)));
        items.push_back(r(word[0] == 'd' ? reg_of(inst.results[index]) : use(inst.args[index])));
    }
    return Operand::list(out_.new_list(std::move(items)));
}

// "a4,a5": constants, one behind the other.
ptx::Operand Selector::machine_constants(const ir::Instruction& inst, std::string_view words) {
    std::vector<Operand> items;
    while (!words.empty()) {
        const auto index = static_cast<std::size_t>(number(next_word(words, ',').substr(1)));
        const std::optional<std::uint64_t> known = int_constant(inst.args[index]);
        OCKC_CHECK_MSG(known.has_value(), "an operand that must be a constant");
        items.push_back(imm(static_cast<std::int32_t>(*known)));
    }
    return Operand::list(out_.new_list(std::move(items)));
}

// The row's `*`: the results' registers, with the operands copied there. The instruction reads and writes them, or leaves them alone.
ptx::Operand Selector::machine_sums(const ir::Instruction& inst) {
    std::vector<Operand> items;
    const std::size_t first = inst.args.size() - inst.results.size();
    for (std::size_t i = 0; i < inst.results.size(); ++i) {
        const Reg to = reg_of(inst.results[i]);
        copy(to, src(inst.args[first + i]));
        items.push_back(r(to));
    }
    return Operand::list(out_.new_list(std::move(items)));
}

// The pointer as an address of that space, in a register.
ptx::Reg Selector::in_space(ir::ValueId pointer, ir::Space space) {
    const ir::Instruction* def = in_.def(pointer);
    if (def != nullptr && def->op == ir::Op::SpaceCast && in_.type_of(def->args[0]) == ir::ptr_type(space)) return use(def->args[0]);
    if (in_.type_of(pointer) == ir::ptr_type(space)) return use(pointer);
    const Reg to = fresh(RegClass::B64);
    emit(Form::CvtaTo, PT::U64, {r(to), r(use(pointer))}).mods.space = ptx_space(space);
    return to;
}

// A generic pointer as an address in the shared memory of the cluster.
ptx::Reg Selector::in_cluster(ir::ValueId pointer) {
    const Reg to = fresh(RegClass::B64);
    Instr& instr = emit(Form::CvtaTo, PT::U64, {r(to), r(use(pointer))});
    instr.mods.space = ptx::Space::SharedCluster;
    return to;
}

// Has the product of a warpgroup as many columns as one may have?
bool Selector::product_exists(const ir::Instruction& inst, ptx::Form form, const ptx::Mods& mods) {
    const std::size_t in_columns = mods.type == PT::F16 ? 2 : 4;
    for (const ptx::Word& word : ptx::form_info(form).word_list()) {
        if (word.field < ptx::Field::ColumnsK8 || word.field > ptx::Field::ColumnsK256) continue;
        const std::size_t columns = inst.results.size() / in_columns;
        if (inst.results.size() % in_columns == 0 && columns < 64 && (word.allowed >> columns & 1) != 0) return true;
    }
    if (context_.sink == nullptr) return false;
    context_.sink->error(Code::OCK0406, user_span(inst), fmt::format("no product of a warpgroup has {} registers of sums a thread", inst.results.size()))
        .help(form == ptx::Form::WgmmaInt || form == ptx::Form::WgmmaIntReg || mods.source_type == PT::B1
                  ? "with integers B has 8, 24 or a multiple of 16 columns up to 256: 4, 12 or a multiple of 8 registers"
                  : fmt::format("B has a multiple of 8 columns up to 256, and a thread {} registers for 8 columns", in_columns));
    return false;
}

void Selector::machine_op(const ir::Instruction& inst) {
    const intrinsic::MachineInfo& row = intrinsic::info(inst.machine());
    MachineForm form = machine_form(row);
    if (form.mods.columns != 0) {   // 64 rows in 128 threads: half of the columns each, in f16 two in a register
        form.mods.columns = static_cast<std::uint8_t>(inst.results.size() / (form.mods.type == PT::F16 ? 2 : 4));
        if (!product_exists(inst, form.form, form.mods)) return;
    }
    const ptx::FormInfo& info = ptx::form_info(form.form);
    std::array<Operand, ptx::kMaxOperands> operands{};
    ptx::Space space = form.mods.space;
    std::string_view rest = row.ptx_operands;
    bool passes_on = false;   // behind the instruction
    for (std::size_t i = 0; !rest.empty();) {
        const std::string_view word = next_word(rest);
        if (word == "<") machine_sums(inst);
        else if (word == ">") passes_on = true;
        else operands[i] = machine_operand(inst, word, info.operands[i], form.mods, space), ++i;
    }
    const bool at_once = form.mods.columns != 0 && waits_at_once_[inst_] != 0;
    if (at_once) emit(Form::WgmmaFence, PT::None, {});
    Instr& instr = emit(form.form, form.mods.type, {});
    instr.mods = form.mods;
    if (form.mods.space == ptx::Space::None) instr.mods.space = space;
    instr.operands = operands;
    need(inst, instr);
    if (passes_on) machine_sums(inst);
    if (!at_once) return;
    emit(Form::WgmmaCommit, PT::None, {});
    emit(Form::WgmmaWait, PT::None, {imm(0)});
}

// ---------------------------------------------------------------------------------------------------------
// atomics

void Selector::order_before(const ir::AtomicInfo& info) {
    if (info.order != ir::AtomicOrder::SeqCst) return;
    Instr& fence = emit(Form::Fence, PT::None, {});
    fence.mods.sem = ptx::Sem::Sc;
    fence.mods.scope = ptx_scope(info.scope);
}

void Selector::finish_atomic(const ir::Instruction& inst, Instr& instr, ptx::Space space) {
    const ir::AtomicInfo info = inst.atomic();
    instr.mods.sem = ptx_sem(info.order, inst.op == ir::Op::AtomicStore);
    instr.mods.scope = ptx_scope(info.scope);
    instr.mods.space = space;
    need(inst, instr);
}

void Selector::atomic_load(const ir::Instruction& inst) {
    const Address at = address(inst.args[0], 0);
    order_before(inst.atomic());
    finish_atomic(inst, emit(Form::Ld, sized('u', ir::type_bits(inst.type)), {r(result(inst)), at.base}), at.space);
}

void Selector::atomic_store(const ir::Instruction& inst) {
    const Address at = address(inst.args[0], 0);
    const Operand value = stored(inst.args[1]);
    order_before(inst.atomic());
    finish_atomic(inst, emit(Form::St, sized('u', ir::type_bits(inst.type)), {at.base, value}), at.space);
}

// Without a use of the old value a reduction does, when its orders allow it.
void Selector::atomic_rmw(const ir::Instruction& inst) {
    const ir::AtomicInfo info = inst.atomic();
    const RmwForm form = rmw_form(info.op, inst.type);
    const PT type = form.kind == 'f' ? float_type(inst.type) : sized(form.kind, ir::type_bits(inst.type));
    const bool unused = !regs_[inst.result()].valid() && form.red != form.atom;
    const bool reduces = unused && (info.order == ir::AtomicOrder::Relaxed || info.order == ir::AtomicOrder::Release);
    const Address at = address(inst.args[0], 0);
    const Operand value = src(inst.args[1]);
    order_before(info);
    Instr& instr = reduces ? emit(form.red, type, {at.base, value}) : emit(form.atom, type, {r(result(inst)), at.base, value});
    instr.mods.mode = form.mode;
    finish_atomic(inst, instr, at.space);
}

void Selector::atomic_cas(const ir::Instruction& inst) {
    const Address at = address(inst.args[0], 0);
    const Operand expected = src(inst.args[1]), wanted = src(inst.args[2]);
    order_before(inst.atomic());
    Instr& instr = emit(Form::AtomCas, sized('b', ir::type_bits(inst.type)), {r(result(inst)), at.base, expected, wanted});
    finish_atomic(inst, instr, at.space);
}

// ---------------------------------------------------------------------------------------------------------
// what the target has

Span line_in_user_code(const SourceMap& sources, const ir::Function& function, const ir::Instruction& inst) {
    const auto is_users = [&](Span span) { return span.valid() && !sources.file(span.file).embedded; };
    if (is_users(inst.span)) return inst.span;
    for (ir::InlineScopeId scope = inst.scope; scope.valid(); scope = function.inline_scopes[scope].parent) {
        if (is_users(function.inline_scopes[scope].call_span)) return function.inline_scopes[scope].call_span;
    }
    return {};
}

namespace {

// A call of the function; none for a kernel.
std::pair<ir::FuncId, ir::InstId> call_of(const ir::Module& module, ir::FuncId callee) {
    for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
        const ir::Function& function = module.functions[ir::FuncId(i)];
        if (function.removed) continue;
        for (const ir::BlockId block : function.layout) {
            for (const ir::InstId id : function.blocks[block].insts) {
                if (function.insts[id].op == ir::Op::Call && function.insts[id].callee == callee) return {ir::FuncId(i), id};
            }
        }
    }
    return {};
}

}  // namespace

Span Selector::user_span(const ir::Instruction& inst) const {
    constexpr int kMostCalls = 64;
    if (context_.options.sources == nullptr) return inst.span;
    const ir::Function* function = &in_;
    const ir::Instruction* at = &inst;
    for (int i = 0; i < kMostCalls; ++i) {
        if (const Span span = line_in_user_code(*context_.options.sources, *function, *at); span.valid()) return span;
        ir::FuncId id;
        for (std::uint32_t f = 0; f < context_.ir.functions.size(); ++f) {
            if (&context_.ir.functions[ir::FuncId(f)] == function) id = ir::FuncId(f);
        }
        const auto [caller, call] = call_of(context_.ir, id);
        if (!caller.valid()) break;
        function = &context_.ir.functions[caller];
        at = &function->insts[call];
    }
    return inst.span;
}

void Selector::need(const ir::Instruction& inst, const Instr& instr) {
    const ptx::TargetInfo& target = ptx::target_info(context_.options.target);
    const ptx::Floor floor = ptx::form_floor(instr.form, instr.mods);
    std::uint16_t sm = floor.sm;
    std::string name = ptx::words_of(instr);
    for (const Operand& operand : instr.operands) {
        if (operand.kind != ptx::OperandKind::Special) continue;
        const ptx::SpecialInfo& special = ptx::special_info(operand.as_special());
        if (special.sm > sm) name = special.text;
        sm = std::max(sm, special.sm);
    }
    const bool specific = floor.only != ptx::Only::Any;
    if ((sm <= target.sm && ptx::target_has(target, floor)) || context_.sink == nullptr) return;
    if (specific) {
        const std::string_view lowest = ptx::target_info(ptx::lowest_target(floor)).text;
        context_.sink->error(Code::OCK0402, user_span(inst), fmt::format("`{}` does not exist on {}", name, target.text))
            .help(fmt::format("it needs {}{}: compile with `--target {}`", lowest, floor.only == ptx::Only::Specific ? " or a newer one with `a`" : ", no other has it", lowest));
        return;
    }
    context_.sink->error(Code::OCK0402, user_span(inst), fmt::format("`{}` does not exist on {}", name, target.text))
        .help(fmt::format("it needs sm_{} or newer: compile with `--target sm_{}`", sm, sm));
}

}  // namespace ockc::isel
