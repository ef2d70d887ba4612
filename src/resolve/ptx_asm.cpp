// ptx_asm!("text", out("=r") y, inout("+r") z, in("r") x, clobber("memory"), options(register_only)) =>
//     match ptx_asm("..", (asm_r(z), asm_r(x))) { (out0, out1) => { y = asm_r(out0); z = asm_r(out1); } }
//
// What the library gets as text begins with the operands, the effect and the places of the text in the source
// (isel/inline_asm.cpp reads it). Operands are numbered as they are written, outputs and inputs alike.
#include <algorithm>

#include <fmt/format.h>

#include "resolve/format_string.hpp"
#include "resolve/lower.hpp"
#include "resolve/ptx_asm.hpp"
#include "resolve/reach.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

namespace {

constexpr std::size_t kMostOperands = 16;   // of a direction

std::string_view letter_types(char letter) {
    switch (letter) {
        case 'h': return "asm_h";
        case 'r': return "asm_r";
        case 'l': return "asm_l";
        case 'q': return "asm_q";
        case 'f': return "asm_f";
        case 'd': return "asm_d";
        default: return {};
    }
}

// The parts of a macro's body between commas that stand outside of brackets.
std::vector<lex::TokenRange> comma_parts(lex::TokenRange body) {
    std::vector<lex::TokenRange> parts;
    std::uint32_t begin = body.begin, depth = 0;
    for (std::uint32_t i = body.begin; i < body.end; ++i) {
        switch (body.buffer->kind(i)) {
            case lex::TokenKind::OpenParen:
            case lex::TokenKind::OpenBracket:
            case lex::TokenKind::OpenBrace: ++depth; break;
            case lex::TokenKind::CloseParen:
            case lex::TokenKind::CloseBracket:
            case lex::TokenKind::CloseBrace: --depth; break;
            case lex::TokenKind::Comma:
                if (depth != 0) break;
                parts.push_back({body.buffer, begin, i});
                begin = i + 1;
                break;
            default: break;
        }
    }
    if (begin < body.end) parts.push_back({body.buffer, begin, body.end});
    return parts;
}

}  // namespace

// Reads the parts behind the text.
class AsmReader {
  public:
    explicit AsmReader(Lowerer& lowerer) : l_(lowerer) {}

    bool part(lex::TokenRange range) {
        if (range.empty()) return true;
        const std::string_view word = word_at(range, range.begin);
        const bool bracketed = range.begin + 2 < range.end && range.buffer->kind(range.begin + 1) == lex::TokenKind::OpenParen;
        if (bracketed) {
            std::uint32_t close = range.begin + 2;
            while (close < range.end && range.buffer->kind(close) != lex::TokenKind::CloseParen) ++close;
            const lex::TokenRange inside{range.buffer, range.begin + 2, close};
            const lex::TokenRange rest{range.buffer, std::min(close + 1, range.end), range.end};
            if (word == "in") return operand(AsmOperand::Kind::In, inside, rest);
            if (word == "out" || word == "lateout") return operand(AsmOperand::Kind::Out, inside, rest);
            if (word == "inout" || word == "inlateout") return operand(AsmOperand::Kind::InOut, inside, rest);
            if (word == "clobber") return clobber(inside);
            if (word == "options") return options_list(inside);
        }
        Diagnostic& diagnostic = mistake(span_of(range, range.begin), fmt::format("`{}` is no part of `ptx_asm!`", word));
        static constexpr std::string_view kWords[] = {"in", "out", "inout", "lateout", "clobber", "options"};
        if (const std::string_view near = nearest_name(kWords, word); !near.empty() && near != word) diagnostic.help(fmt::format("did you mean `{}`?", near));
        else diagnostic.help("behind the text stand `out(\"=r\") place`, `inout(\"+r\") place`, `in(\"r\") value`, `clobber(\"memory\")` and `options(..)`");
        return false;
    }

    std::vector<AsmOperand> operands;
    AsmOptions options;

  private:
    Diagnostic& mistake(Span span, std::string text) { return l_.error(Code::OCK0116, span, std::move(text)); }
    Span span_of(lex::TokenRange range, std::uint32_t token) const { return token < range.end ? range.buffer->span(token) : range.buffer->span(range.end - 1); }
    std::string_view word_at(lex::TokenRange range, std::uint32_t token) const { return l_.s_.sources.text(span_of(range, token)); }

    // The text of one string literal.
    bool literal(lex::TokenRange range, std::string& text) {
        const std::string_view source = range.end == range.begin + 1 ? word_at(range, range.begin) : "";
        if (source.size() < 2 || source.front() != '"' || source.back() != '"') {
            mistake(span_of(range, range.begin), "a string literal is wanted here");
            return false;
        }
        text = source.substr(1, source.size() - 2);
        return true;
    }

    bool operand(AsmOperand::Kind kind, lex::TokenRange inside, lex::TokenRange rest) {
        std::string constraint;
        if (inside.empty() || !literal(inside, constraint)) return false;
        const Span at = span_of(inside, inside.begin);
        AsmOperand out;
        out.kind = kind;
        out.span = at;
        const char sign = kind == AsmOperand::Kind::Out ? '=' : kind == AsmOperand::Kind::InOut ? '+' : '\0';
        const std::string letters = sign != '\0' && !constraint.empty() && constraint[0] == sign ? constraint.substr(1) : sign == '\0' ? constraint : "";
        if (letters.size() != 1 || std::string_view("hrlqfdnC").find(letters[0]) == std::string_view::npos || (sign != '\0' && (letters == "n" || letters == "C"))) {
            const std::string_view shape = kind == AsmOperand::Kind::Out ? "`=r`" : kind == AsmOperand::Kind::InOut ? "`+r`" : "`r`";
            mistake(at, fmt::format("`{}` is no register of this operand", constraint))
                .help(fmt::format("write {}, with h (16 bits), r (32), l (64), q (128), f (f32) or d (f64){}", shape,
                                  kind == AsmOperand::Kind::In ? "; n is a constant, C a text" : ""));
            return false;
        }
        out.letter = letters[0];
        if (rest.empty()) {
            mistake(at, kind == AsmOperand::Kind::In ? "a value is missing behind this" : "a place is missing behind this");
            return false;
        }
        out.value = parse::parse_expr(rest, l_.s_.parse_context(l_.crate_));
        if (out.letter == 'C' && !constant_text(out)) return false;
        operands.push_back(std::move(out));
        return true;
    }

    // in("C") "text" or b"text": becomes part of the instruction.
    bool constant_text(AsmOperand& operand) {
        operand.kind = AsmOperand::Kind::Text;
        const auto* literal = ast::get_if<ast::LiteralExpr>(l_.ast()[operand.value]);
        const bool bytes = literal != nullptr && (l_.ast()[literal->literal].kind == lex::LiteralKind::String || l_.ast()[literal->literal].kind == lex::LiteralKind::ByteString);
        if (!bytes) {
            mistake(l_.ast()[operand.value].span, "the text of a `C` operand is a literal");
            return false;
        }
        operand.text = std::string(l_.text(l_.ast()[literal->literal].text));
        return true;
    }

    bool clobber(lex::TokenRange inside) {
        std::string what;
        if (inside.empty() || !literal(inside, what)) return false;
        if (what != "memory") {
            mistake(span_of(inside, inside.begin), fmt::format("`{}` cannot be clobbered", what)).help("registers of the text are its own; only `memory` is known");
            return false;
        }
        options.memory = true;
        return true;
    }

    bool options_list(lex::TokenRange inside) {
        for (const lex::TokenRange& part : comma_parts(inside)) {
            const std::string_view word = word_at(part, part.begin);
            const Span at = span_of(part, part.begin);
            if (word == "register_only") {
                options.register_only = true;
                options.register_only_span = at;
            } else if (word == "may_diverge") {
                options.may_diverge = true;
            } else if (word != "volatile" && word != "convergent") {   // which it is by default
                static constexpr std::string_view kWords[] = {"register_only", "may_diverge", "volatile", "convergent"};
                Diagnostic& diagnostic = mistake(at, fmt::format("unknown option `{}`", word));
                if (const std::string_view near = nearest_name(kWords, word); !near.empty()) diagnostic.help(fmt::format("did you mean `{}`?", near));
                else diagnostic.help("there are `register_only`, `may_diverge`, `volatile` and `convergent`");
                return false;
            }
        }
        return true;
    }

    Lowerer& l_;
};

// %0 .. of the text against the operands, `C` operands filled in: what isel reads.
bool Lowerer::asm_text(std::string_view text, const std::vector<AsmOperand>& operands, const std::function<Span(std::size_t, std::size_t)>& place, std::string& out,
                       std::vector<std::uint32_t>& origin) {
    std::vector<std::uint32_t> number(operands.size());   // without the texts
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) number[i] = operands[i].kind == AsmOperand::Kind::Text ? 0 : next++;
    const auto add = [&](std::string_view piece, std::size_t from) {
        out += piece;
        origin.resize(out.size(), static_cast<std::uint32_t>(from));
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            add(text.substr(i, 1), i);
            continue;
        }
        if (i + 1 < text.size() && text[i + 1] == '%') {
            add("%", i++);
            continue;
        }
        std::size_t end = i + 1;
        std::size_t index = 0;
        while (end < text.size() && end < i + 4 && text[end] >= '0' && text[end] <= '9') index = index * 10 + static_cast<std::size_t>(text[end++] - '0');
        if (end == i + 1) {
            std::size_t word = end;
            while (word < text.size() && (text[word] == '_' || text[word] == '.' || (text[word] >= 'a' && text[word] <= 'z') || (text[word] >= '0' && text[word] <= '9'))) ++word;
            error(Code::OCK0116, place(i, word), "a `%` that no operand's number follows").help(fmt::format("write `%{}` for a register of PTX", text.substr(i, word - i)));
            return false;
        }
        if (index >= operands.size()) {
            error(Code::OCK0116, place(i, end), fmt::format("there is no operand {}: {} {} given", index, operands.size(), operands.size() == 1 ? "is" : "are"));
            return false;
        }
        const AsmOperand& operand = operands[index];
        add(operand.kind == AsmOperand::Kind::Text ? operand.text : fmt::format("$op{}", number[index]), i);
        i = end - 1;
    }
    return true;
}

hir::ExprId Lowerer::ptx_asm_macro(const ast::MacroCall& call, Span span) {
    const std::vector<lex::TokenRange> parts = comma_parts(call.body);
    if (parts.empty()) {
        error(Code::OCK0116, span, "`ptx_asm!` takes the text of PTX instructions").help("`ptx_asm!(\"add.u32 %0, %1, 1;\", out(\"=r\") y, in(\"r\") x)`");
        return error_expr(span);
    }
    const ast::ExprId text_expr = parse::parse_expr(parts[0], s_.parse_context(crate_));
    std::string text;
    std::vector<std::uint32_t> offsets;
    if (!string_literal(text_expr, Code::OCK0116, "the text of `ptx_asm!` must be a string literal", text, offsets)) return error_expr(span);
    AsmReader reader(*this);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (!reader.part(parts[i])) return error_expr(span);
    }
    const Span whole = ast()[text_expr].span;
    const auto place = [&](std::size_t begin, std::size_t end) {
        return offsets.empty() ? whole : Span{whole.file, whole.begin + offsets[begin], whole.begin + offsets[end]};
    };
    if (reader.options.register_only && reader.options.memory) {
        error(Code::OCK0116, reader.options.register_only_span, "`register_only` and `clobber(\"memory\")` contradict each other").help("leave one of them out");
        return error_expr(span);
    }
    const auto count = [&](auto... kinds) {
        return static_cast<std::size_t>(std::count_if(reader.operands.begin(), reader.operands.end(), [&](const AsmOperand& o) { return ((o.kind == kinds) || ...); }));
    };
    using Kind = AsmOperand::Kind;
    if (count(Kind::Out, Kind::InOut) > kMostOperands || count(Kind::In, Kind::InOut) > kMostOperands) {
        error(Code::OCK0116, span, fmt::format("`ptx_asm!` takes at most {} outputs and {} inputs", kMostOperands, kMostOperands));
        return error_expr(span);
    }
    std::string body;
    std::vector<std::uint32_t> origin;   // for each byte of `body`, where in `text` it comes from
    if (!asm_text(text, reader.operands, place, body, origin)) return error_expr(span);
    return asm_expr(reader.operands, asm_spec(reader.operands, reader.options.register_only, reader.options.may_diverge, whole, offsets, origin, body), span);
}

// "effect;operands;file begin end;from:to,..;" and the text. Effects: P depends on its operands only, S its threads come together,
// M neither. An operand is its direction (o, i, x both) and its letter. from:to: byte `from` of the text stands at byte `to` of
// the source file, and so do those behind it up to the next pair.
std::string Lowerer::asm_spec(const std::vector<AsmOperand>& operands, bool register_only, bool may_diverge, Span whole, const std::vector<std::uint32_t>& offsets,
                              const std::vector<std::uint32_t>& origin, std::string_view body) {
    std::size_t outputs = 0;
    std::string list;
    for (const AsmOperand& operand : operands) {
        if (operand.kind == AsmOperand::Kind::Text) continue;
        outputs += operand.kind != AsmOperand::Kind::In ? 1 : 0;
        list += operand.kind == AsmOperand::Kind::In ? 'i' : operand.kind == AsmOperand::Kind::Out ? 'o' : 'x';
        list += operand.letter;
    }
    std::string spec = !may_diverge ? "S" : register_only && outputs == 1 ? "P" : "M";
    const Span at_whole = at(whole);
    spec += fmt::format(";{};{} {};", list, at_whole.begin, at_whole.end);
    std::int64_t last = -1;
    for (std::size_t i = 0; i < origin.size() && !offsets.empty() && at_whole.begin == whole.begin; ++i) {
        const std::int64_t to = std::int64_t{whole.begin} + offsets[origin[i]];
        if (i == 0 || to != last + 1) spec += fmt::format("{}:{},", i, to);
        last = to;
    }
    spec += ';';
    return spec.append(body);
}

hir::ExprId Lowerer::asm_expr(const std::vector<AsmOperand>& operands, const std::string& spec, Span span) {
    for (const char* letter : {"asm_h", "asm_r", "asm_l", "asm_q", "asm_f", "asm_d"}) mention(s_, letter);
    std::vector<hir::ExprId> inputs;
    std::vector<hir::PatId> outputs;
    std::vector<hir::Stmt> assigns;
    for (const AsmOperand& operand : operands) {
        if (operand.kind == AsmOperand::Kind::Text) continue;
        const std::string_view check = letter_types(operand.letter);
        if (operand.letter == 'n') {   // const { value }
            const Span where = ast()[operand.value].span;
            inputs.push_back(add_expr(where, hir::ConstBlockExpr{anon_const(operand.value, ScopeBarrier::Kind::InlineConst, {}, where)}));
            continue;
        }
        if (operand.kind != AsmOperand::Kind::Out) inputs.push_back(call_lang(check, operand.span, {lower_expr(operand.value)}));
        if (operand.kind == AsmOperand::Kind::In) continue;
        const hir::LocalId local = fresh_local("out", operand.span);
        outputs.push_back(binding_pat(operand.span, local));
        const hir::ExprId value = call_lang(check, operand.span, {local_path(local, operand.span)});
        hir::Stmt stmt;
        stmt.kind = hir::Stmt::Kind::Semi;
        stmt.span = at(operand.span);
        stmt.expr = add_expr(span, hir::AssignExpr{at(operand.span), lower_expr(operand.value), value}, true);
        assigns.push_back(stmt);
    }
    const hir::ExprId tuple = add_expr(span, hir::TupleExpr{list(inputs)}, true);
    const hir::ExprId call = call_lang("ptx_asm", span, {string_expr(spec, span), tuple});
    hir::Arm arm;
    arm.span = at(span);
    arm.pat = add_pat(span, hir::TuplePat{list(outputs), 0xFFFF'FFFFu});
    arm.body = block_expr(make_block(span, assigns, {}), span, true);
    return add_expr(span, hir::MatchExpr{call, list({arm}), hir::MatchSource::Match}, true);
}

}  // namespace ockc::resolve
