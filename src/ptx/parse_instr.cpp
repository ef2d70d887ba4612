// An instruction's words and operands are read first, then matched against the forms of its mnemonic:
// modifiers first, then the shape of the operands, so that forms sharing a mnemonic and a type are told apart
// by what stands in the text.
#include "ptx/parse_instr.hpp"

#include <algorithm>
#include <bit>

namespace ockc::ptx {

std::uint64_t float_bits(Type type, std::uint64_t double_bits, bool negative) {
    double value = std::bit_cast<double>(double_bits);
    if (negative) value = -value;
    if (type == Type::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::bit_cast<std::uint64_t>(value);
}

std::optional<Instr> InstrParser::parse(SourceLoc loc) {
    Instr instr;
    instr.text_line = tokens_.peek().line;
    instr.loc = loc;
    if (statement(instr)) return instr;
    return std::nullopt;
}

bool InstrParser::statement(Instr& instr) {
    const auto failed = [this] {
        tokens_.skip_statement();
        return false;
    };
    if (tokens_.peek().is('@') && !guard(instr)) return failed();
    const Token mnemonic = tokens_.peek();
    if (tokens_.expect_name().empty()) return failed();
    instr.text_line = mnemonic.line;
    words_.clear();
    while (tokens_.at_directive() && tokens_.peek().attached)
        words_.push_back(tokens_.take());
    operands_.clear();
    if (!tokens_.peek().is(';') && !operand_list()) return failed();
    if (!tokens_.expect(';')) return failed();
    return match(instr, mnemonic);
}

bool InstrParser::guard(Instr& instr) {
    tokens_.take();
    instr.guard_negated = tokens_.accept('!');
    const Token token = tokens_.peek();
    const std::string_view name = tokens_.expect_name();
    const auto reg = names_.find_reg(name);
    if (!reg || reg->reg_class() != RegClass::Pred) {
        if (!name.empty()) tokens_.error(token, "`" + std::string(name) + "` is not a predicate register");
        return false;
    }
    instr.guard = *reg;
    return true;
}

bool InstrParser::operand_list() {
    bool joined = false;
    for (;;) {
        TextOperand operand;
        if (!this->operand(operand, true)) return false;
        operand.joined = joined;
        const bool opens = operand.opens;
        operands_.push_back(std::move(operand));
        if (opens && !coordinates()) return false;
        joined = tokens_.peek().is('|');
        if (!joined && !tokens_.peek().is(',')) return true;
        tokens_.take();
    }
}

// `lists`: may a brace list or parentheses stand here (they do not nest).
bool InstrParser::operand(TextOperand& out, bool lists) {
    out.token = tokens_.peek();
    if (lists && (tokens_.peek().is('{') || tokens_.peek().is('('))) return list(out);
    if (tokens_.peek().is('[')) return address(out);
    const bool negated = tokens_.accept('!');
    if (tokens_.accept('-')) return negative(out);
    const Token token = tokens_.take();
    switch (token.kind) {
        case TokenKind::Integer:
            out.value = Operand::imm(static_cast<std::int64_t>(token.value));
            return true;
        case TokenKind::Float32:
            out.value = Operand::f32(static_cast<std::uint32_t>(token.value));
            return true;
        case TokenKind::Float64: out.value = Operand::f64(token.value); return true;
        case TokenKind::Ident: return named(out, token, negated);
        case TokenKind::End:
        case TokenKind::Dotted:
        case TokenKind::String:
        case TokenKind::Punct:
        case TokenKind::Bad:
            tokens_.error(token, "expected an operand, found " + TokenStream::quoted(token));
            return false;
    }
    return false;
}

bool InstrParser::negative(TextOperand& out) {
    const Token token = tokens_.take();
    if (token.kind == TokenKind::Integer) {
        out.value = Operand::imm(static_cast<std::int64_t>(0 - token.value));
    } else if (token.kind == TokenKind::Float64) {
        out.value = Operand::f64(token.value ^ (std::uint64_t{1} << 63));
    } else {
        tokens_.error(token, "expected a number, found " + TokenStream::quoted(token));
        return false;
    }
    return true;
}

bool InstrParser::named(TextOperand& out, const Token& token, bool negated) {
    if (const auto reg = names_.find_reg(token.text)) {
        out.value = Operand::reg(*reg, negated);
        return true;
    }
    if (token.text[0] == '%' && !names_.find_symbol(token.text).valid()) return special(out, token);
    out.name = token.text;
    if (tokens_.peek().is('+') || tokens_.peek().is('-')) {
        const bool minus = tokens_.take().is('-');
        const auto offset = tokens_.expect_integer();
        if (!offset) return false;
        out.value.value = static_cast<std::int64_t>(minus ? 0 - *offset : *offset);
    }
    return true;
}

bool InstrParser::special(TextOperand& out, const Token& token) {
    std::string text(token.text);
    if (tokens_.peek().kind == TokenKind::Dotted && tokens_.peek().attached)
        (text += '.') += tokens_.take().text;
    const auto found = special_from_text(text);
    if (!found) {
        tokens_.error(token, "`" + text + "` is neither a declared register nor a known special register");
        return false;
    }
    out.value = Operand::special(*found);
    return true;
}

bool InstrParser::list(TextOperand& out) {
    out.parenthesised = tokens_.take().is('(');
    out.value.kind = OperandKind::List;
    const char close = out.parenthesised ? ')' : '}';
    if (tokens_.accept(close)) return true;
    do {
        TextOperand item;
        if (!operand(item, false)) return false;
        out.items.push_back(std::move(item));
    } while (tokens_.accept(','));
    return tokens_.expect(close);
}

bool InstrParser::address(TextOperand& out) {
    tokens_.take();
    const Token token = tokens_.take();
    if (token.kind == TokenKind::Integer) {
        out.value.kind = OperandKind::AddrImm;
        out.value.value = static_cast<std::int64_t>(token.value);
        return tokens_.expect(']');
    }
    if (token.kind != TokenKind::Ident) {
        tokens_.error(token, "expected a register or a name, found " + TokenStream::quoted(token));
        return false;
    }
    if (const auto reg = names_.find_reg(token.text)) {
        out.value = Operand::at(*reg);
    } else {
        const SymbolId symbol = names_.known_symbol(token);
        if (!symbol.valid()) return false;
        out.value = Operand::at(symbol);
    }
    while (tokens_.peek().is('+') || tokens_.peek().is('-')) {
        bool minus = tokens_.take().is('-');
        if (tokens_.peek().is('-')) minus = !minus, tokens_.take();
        const auto offset = tokens_.expect_integer();
        if (!offset) return false;
        out.value.value += static_cast<std::int64_t>(minus ? 0 - *offset : *offset);
    }
    out.opens = tokens_.accept(',');
    return out.opens || tokens_.expect(']');
}

// `{..}]` behind the address of a tensor map: an operand of its own.
bool InstrParser::coordinates() {
    TextOperand operand;
    operand.token = tokens_.peek();
    if (!tokens_.peek().is('{')) return tokens_.expect('{');
    if (!list(operand)) return false;
    operands_.push_back(std::move(operand));
    return tokens_.expect(']');
}

// ----------------------------------------------------------------------------------------------- matching
// the table
bool InstrParser::match(Instr& instr, const Token& mnemonic) {
    const std::span<const Form> forms = forms_of(mnemonic.text);
    if (forms.empty()) {
        tokens_.error(mnemonic, "unknown instruction " + TokenStream::quoted(mnemonic));
        return false;
    }
    Match best = Match::Words;
    for (const Form form : forms) {
        instr.form = form;
        instr.mods = {};
        const Match got = match_form(form, instr.mods);
        if (got == Match::Full) return bind(instr);
        best = std::max(best, got);
    }
    std::string text(mnemonic.text);
    for (const Token& word : words_)
        (text += '.') += word.text;
    switch (best) {
        case Match::Words:
            tokens_.error(mnemonic,
                          "`" + text + "` is not a known form of `" + std::string(mnemonic.text) + "`");
            break;
        case Match::Type:
            tokens_.error(mnemonic, "`" + text + "`: the instruction does not exist for this type");
            break;
        case Match::Shape:
        case Match::Full: tokens_.error(mnemonic, "`" + text + "`: wrong number or kind of operands"); break;
    }
    return false;
}

InstrParser::Match InstrParser::match_form(Form form, Mods& mods) const {
    const FormInfo& info = form_info(form);
    std::size_t at = 0;
    for (const Word& word : info.word_list()) {
        const std::string_view text = at < words_.size() ? words_[at].text : std::string_view();
        if (word.field == Field::Literal) {
            if (text != word.text) return Match::Words;
            ++at;
        } else if (const auto value =
                       text.empty() ? std::nullopt : field_value(word.field, word.allowed, text)) {
            if (!fill_slot(mods, word.field, *value)) return Match::Type;
            ++at;
        } else if (!word.optional) {
            return Match::Words;
        }
    }
    if (at != words_.size()) return Match::Words;
    if (!types_exist(form, mods)) return Match::Type;
    return shape_fits(info) ? Match::Full : Match::Shape;
}

// Calls `use(spec index, text operand)` for each operand of the text in its place; false when they do not
// fit. Optional operands are taken from the left while enough operands remain for the required ones.
template <class Use>
bool InstrParser::place_operands(const FormInfo& info, Use use) const {
    std::size_t required = 0;
    for (const OperandSpec& spec : info.operand_list())
        required += spec.optional ? 0 : 1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < info.operand_count; ++i) {
        const OperandSpec& spec = info.operands[i];
        const std::size_t left = operands_.size() - at;
        if (spec.optional) {
            const bool wanted =
                left > required && operands_[at].joined == spec.joined && role_fits(spec, operands_[at]);
            if (wanted && !use(i, at++)) return false;
            continue;
        }
        --required;
        if (spec.role == Role::Immediates) {
            for (std::size_t rest = at; rest < operands_.size(); ++rest) {
                if (operands_[rest].value.kind != OperandKind::Imm) return false;
            }
            return left != 0 && use(i, at);
        }
        if (left == 0 || operands_[at].joined != spec.joined || !role_fits(spec, operands_[at])) return false;
        if (!use(i, at++)) return false;
    }
    return at == operands_.size();
}

bool InstrParser::shape_fits(const FormInfo& info) const {
    return place_operands(info, [](std::size_t, std::size_t) { return true; });
}

bool InstrParser::role_fits(const OperandSpec& spec, const TextOperand& operand) {
    const OperandKind kind = operand.value.kind;
    const bool named = !operand.name.empty();
    const bool constant =
        kind == OperandKind::Imm || kind == OperandKind::ImmF32 || kind == OperandKind::ImmF64;
    const bool negated = operand.value.negated;
    switch (spec.role) {
        case Role::Dest: return (kind == OperandKind::Reg && !negated) || operand.name == "_";
        case Role::Sink: return operand.name == "_";
        case Role::Source:
            return (kind == OperandKind::Reg && !negated) || constant ||
                   (negated && spec.type == OperandType::Predicate);
        case Role::SourceReg:
            return kind == OperandKind::Reg && (!negated || spec.type == OperandType::Predicate);
        case Role::SourceAny:
            return (kind == OperandKind::Reg && !negated) || constant || kind == OperandKind::Special ||
                   named;
        case Role::Immediate: return kind == OperandKind::Imm;
        case Role::VectorOrReg:
            return kind == OperandKind::Reg || constant ||
                   (kind == OperandKind::List && !operand.parenthesised);
        case Role::List:
        case Role::Updated: return kind == OperandKind::List && !operand.parenthesised;
        case Role::Immediates: return kind == OperandKind::Imm;
        case Role::Address: return operand.value.is_address() && !operand.opens;
        case Role::TensorMap: return operand.value.is_address() && operand.opens;
        case Role::Label:
        case Role::Function: return named;
        case Role::Params: return kind == OperandKind::List && operand.parenthesised;
    }
    return false;
}

bool InstrParser::bind(Instr& instr) {
    const FormInfo& info = instr.info();
    return place_operands(info, [&, this](std::size_t spec, std::size_t at) {
        if (info.operands[spec].role == Role::Immediates) {
            std::vector<Operand> items;
            for (; at < operands_.size(); ++at) items.push_back(operands_[at].value);
            instr.operands[spec] = Operand::list(names_.function()->new_list(std::move(items)));
            return true;
        }
        return bind_operand(instr, info.operands[spec], operands_[at], instr.operands[spec]);
    });
}

bool InstrParser::bind_operand(const Instr& instr, const OperandSpec& spec, TextOperand& text, Operand& out) {
    if (text.value.kind == OperandKind::List) {
        std::vector<Operand> items;
        for (TextOperand& item : text.items) {
            items.emplace_back();
            if (!bind_operand(instr, spec, item, items.back())) return false;
        }
        out = Operand::list(names_.function()->new_list(std::move(items)));
        return true;
    }
    if (text.name.empty()) {
        out = text.value;
        // A decimal literal takes its operand's type: the source's where that has one of its own.
        const bool own = spec.type == OperandType::SourceType && instr.mods.source_type != Type::None;
        const Type type = own ? instr.mods.source_type : instr.mods.type;
        if (out.kind == OperandKind::ImmF64 && type == Type::F32) {
            out = Operand::f32(static_cast<std::uint32_t>(
                float_bits(Type::F32, static_cast<std::uint64_t>(out.value), false)));
        }
        return true;
    }
    if (spec.role == Role::Label) {
        out = Operand::label(names_.label(text.token, false));
        return true;
    }
    if (text.name == "_") {
        out = Operand::sink();
        return true;
    }
    const SymbolId symbol = names_.known_symbol(text.token);
    out = Operand::symbol(symbol, text.value.value);
    return symbol.valid();
}

}  // namespace ockc::ptx
