// ptx_asm!: the text becomes instructions among the others. It is parsed and checked as the body of a function whose registers
// $op0 .. are the operands; then its registers are exchanged for those of this function.
#include <fmt/format.h>

#include <charconv>
#include <unordered_map>

#include "isel/selector.hpp"
#include "ptx/parse.hpp"
#include "ptx/print.hpp"
#include "ptx/validate.hpp"

namespace ockc::isel {

struct InlineOperand {
    char direction;   // i in, o out, x both
    char letter;
};

// What resolve/ptx_asm.cpp wrote: "effect;operands;begin end;from:to,..;text".
struct InlineText {
    std::vector<InlineOperand> operands;
    std::uint32_t begin = 0, end = 0;   // of the literal in the source file
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
    std::string_view body;
};

namespace {

constexpr std::uint32_t kFirstLine = 6;   // of the text in the function around it

std::uint32_t take_number(std::string_view& text) {
    std::uint32_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()) + 1);   // and what ends it
    return value;
}

InlineText read_asm_text(std::string_view text) {
    InlineText out;
    text.remove_prefix(2);
    for (; text[0] != ';'; text.remove_prefix(2)) out.operands.push_back({text[0], text[1]});
    text.remove_prefix(1);
    out.begin = take_number(text);
    out.end = take_number(text);
    while (text[0] != ';') {
        const std::uint32_t from = take_number(text);
        out.places.emplace_back(from, take_number(text));
    }
    out.body = text.substr(1);
    return out;
}

struct AsmRegister {
    std::string_view type;
    ptx::RegClass reg_class;
};
AsmRegister asm_register(char letter) {
    switch (letter) {
        case 'h': return {".b16", ptx::RegClass::B16};
        case 'r': return {".b32", ptx::RegClass::B32};
        case 'l': return {".b64", ptx::RegClass::B64};
        case 'q': return {".b128", ptx::RegClass::B128};
        case 'f': return {".f32", ptx::RegClass::F32};
        case 'd': return {".f64", ptx::RegClass::F64};
        default: break;
    }
    OCKC_UNREACHABLE("letter of an operand");
}

// Replaces the name `$op3`, where no further digit follows.
void replace_name(std::string& body, const std::string& name, const std::string& value) {
    for (std::size_t at = body.find(name); at != std::string::npos; at = body.find(name, at + 1)) {
        const std::size_t after = at + name.size();
        if (after == body.size() || body[after] < '0' || body[after] > '9') body.replace(at, name.size(), value);
    }
}

std::size_t line_start(std::string_view text, std::uint32_t line) {
    std::size_t at = 0;
    for (; line > 0; --line) {
        const std::size_t next = text.find('\n', at);
        if (next == std::string_view::npos) return at;
        at = next + 1;
    }
    return at;
}

std::string_view refused_form(const ptx::Instr& instr) {
    switch (instr.form) {
        case ptx::Form::Bra:
        case ptx::Form::Ret:
        case ptx::Form::Exit: return "control flow is Rust's: write the branch or loop around `ptx_asm!`";
        case ptx::Form::Call: return "call the function from Rust";
        default: return {};
    }
}

}  // namespace

// What the parser made of one text, on its way into the function.
class Selector::AsmInsertion {
  public:
    AsmInsertion(Selector& selector, const ir::Instruction& inst)
        : s_(selector), inst_(inst), text_(read_asm_text(s_.context_.ir.asm_texts[inst.imm])), body_(text_.body) {}

    void run() {
        source_ = fmt::format(".version 8.7\n.target {}\n.address_size 64\n.func $asm()\n{{", ptx::target_info(s_.context_.options.target).text);
        if (!bind_operands()) return;
        source_ += "\n" + body_ + "\nret;\n}\n";
        ptx::ParseResult parsed = ptx::parse(source_);
        for (const ptx::ParseError& error : parsed.errors) {
            mistake(error.line, error.column, error.message);
            return;   // the first one says enough
        }
        ptx::Function& function = parsed.module.functions.front();
        if (!allowed(parsed.module, function)) return;
        for (ptx::Instr& instr : function.blocks.front().instrs) {
            if (&instr != &function.blocks.front().instrs.back()) insert(function, instr);
        }
        for (const auto& [result, from] : wide_results_) {
            s_.emit(Form::MovUnpack, PT::B128, {Operand::list(s_.out_.new_list({r(s_.reg_of(result)), r(s_.high_of(result))})), r(from)});
        }
    }

  private:
    // Declares a register for each operand and says which of ours it is; constants become part of the text.
    bool bind_operands() {
        std::array<std::uint32_t, ptx::kRegClassCount> counts{};
        std::size_t input = 0, output = 0;
        for (std::size_t i = 0; i < text_.operands.size(); ++i) {
            const InlineOperand operand = text_.operands[i];
            const std::string name = fmt::format("$op{}", i);
            if (operand.letter == 'n') {
                const auto known = s_.int_constant(inst_.args[input]);
                const VT type = s_.in_.type_of(inst_.args[input++]);
                const bool narrow = type == VT::I32;
                if (known && !narrow && type != VT::I64) return mistake(kFirstLine, 1, fmt::format("operand {} is no integer of 32 or 64 bits", i)), false;
                if (!known) return mistake(kFirstLine, 1, fmt::format("operand {} is no constant", i)), false;
                replace_name(body_, name, std::to_string(narrow ? static_cast<std::int32_t>(*known) : static_cast<std::int64_t>(*known)));
                moved_ = true;
                continue;
            }
            const AsmRegister declared = asm_register(operand.letter);
            source_ += fmt::format(".reg {} {};", declared.type, name);
            const Reg theirs(declared.reg_class, ++counts[static_cast<std::size_t>(declared.reg_class)]);
            const ir::ValueId in = operand.direction == 'o' ? ir::ValueId() : inst_.args[input++];
            const ir::ValueId out = operand.direction == 'i' ? ir::ValueId() : inst_.results[output++];
            ours_.emplace(theirs.raw, declared.reg_class == RegClass::B128 ? wide_register(in, out) : register_of(declared.reg_class, in, out));
        }
        return true;
    }
    Reg register_of(RegClass reg_class, ir::ValueId in, ir::ValueId out) {
        if (!out.valid()) return s_.use(in);
        const Reg to = s_.regs_[out].valid() ? s_.reg_of(out) : s_.fresh(reg_class);
        if (in.valid()) s_.copy(to, s_.src(in));
        return to;
    }
    Reg wide_register(ir::ValueId in, ir::ValueId out) {
        const Reg reg = s_.fresh(RegClass::B128);
        if (in.valid()) {
            const Wide halves = s_.wide(in);
            s_.emit(Form::MovPack, PT::B128, {r(reg), Operand::list(s_.out_.new_list({halves.low, halves.high}))});
        }
        if (out.valid() && (s_.regs_[out].valid() || s_.highs_[out].valid())) wide_results_.emplace_back(out, reg);
        return reg;
    }

    bool allowed(const ptx::Module& module, const ptx::Function& function) {
        const auto refuse = [&](const ptx::Instr& instr, std::string_view why) {
            mistake(instr.text_line, 1, fmt::format("`{}`: {}", ptx::print(module, function, instr), why));
            return false;
        };
        if (!function.locals.empty()) return mistake(kFirstLine, 1, "variables are declared in Rust: pass their addresses"), false;
        for (const ptx::Block& block : function.blocks) {
            for (const ptx::Instr& instr : block.instrs) {
                const bool last = &block == &function.blocks.back() && &instr == &block.instrs.back();   // the one behind the text
                if (const std::string_view why = refused_form(instr); !why.empty() && !last) return refuse(instr, why);
            }
        }
        if (function.blocks.size() != 1) return mistake(kFirstLine, 1, "labels have no place here: write the loop around `ptx_asm!`"), false;
        for (const ptx::Instr& instr : function.blocks.front().instrs) {
            const std::size_t before = s_.context_.sink->error_count();
            s_.need(inst_, instr);
            if (s_.context_.sink->error_count() != before) return false;
        }
        for (const ptx::ValidationError& error : ptx::validate(module)) {
            for (const ptx::Instr& instr : function.blocks.front().instrs) {
                if (ptx::print(module, function, instr) == error.text) return refuse(instr, error.message);
            }
            return mistake(kFirstLine, 1, error.message), false;
        }
        return true;
    }

    void insert(const ptx::Function& from, ptx::Instr instr) {
        for (Operand& operand : instr.operands) exchange(from, operand);
        if (instr.guarded()) instr.guard = exchanged(instr.guard);
        instr.loc = s_.loc_;
        instr.comment = 0;
        s_.current_.push_back(instr);
    }
    void exchange(const ptx::Function& from, Operand& operand) {
        if (operand.kind == ptx::OperandKind::Reg || operand.kind == ptx::OperandKind::AddrReg) {
            operand.index = exchanged(operand.as_reg()).raw;
        } else if (operand.kind == ptx::OperandKind::List) {
            std::vector<Operand> items = from.list_of(operand);
            for (Operand& item : items) exchange(from, item);
            operand = Operand::list(s_.out_.new_list(std::move(items)));
        }
    }
    Reg exchanged(Reg theirs) {
        const auto [at, added] = ours_.try_emplace(theirs.raw, Reg());
        if (added) at->second = s_.fresh(theirs.reg_class());
        return at->second;
    }

    // An error where the text has this line and column.
    void mistake(std::uint32_t line, std::uint32_t column, std::string message) {
        const std::uint32_t row = line < kFirstLine ? 0 : line - kFirstLine;
        std::size_t at = line_start(text_.body, row);
        if (!moved_ && line >= kFirstLine) at += column == 0 ? 0 : column - 1;
        const std::size_t line_end = std::min(text_.body.find('\n', std::min(at, text_.body.size())), text_.body.size());
        while (at < line_end && (text_.body[at] == ' ' || text_.body[at] == '\t')) ++at;
        Span span = s_.user_span(inst_);
        for (const auto& [from, to] : text_.places) {
            if (from > at) break;
            span.begin = to + static_cast<std::uint32_t>(at - from);
            span.end = std::min(to + static_cast<std::uint32_t>(std::max(line_end, at + 1) - from), text_.end);
        }
        s_.context_.sink->error(Code::OCK0116, span, std::move(message)).label(span, "in this text");
    }

    Selector& s_;
    const ir::Instruction& inst_;
    const InlineText text_;
    std::string body_;     // with the constants
    std::string source_;   // the function around it
    bool moved_ = false;   // columns are not the text's
    std::unordered_map<std::uint32_t, Reg> ours_;   // by the parser's
    std::vector<std::pair<ir::ValueId, Reg>> wide_results_;
};

void Selector::inline_asm(const ir::Instruction& inst) { AsmInsertion(*this, inst).run(); }

}  // namespace ockc::isel
