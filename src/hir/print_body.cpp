#include <utility>

#include "hir/print_impl.hpp"

namespace ockc::hir {

namespace {

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') result += "\\n";
        else if (c == '"' || c == '\\') result += std::string("\\") + c;
        else if (byte < 0x20) result += fmt::format("\\x{:02x}", byte);
        else result += c;
    }
    return result;
}

}  // namespace

std::string Printer::literal(const Literal& l, bool negative) {
    std::string result = negative ? "-" : "";
    switch (l.kind) {
        case Literal::Kind::Bool: return l.low != 0 ? "true" : "false";
        case Literal::Kind::Char: return fmt::format("'\\u{{{:x}}}'", l.low);
        case Literal::Kind::Byte: return fmt::format("b'\\x{:02x}'", l.low);
        case Literal::Kind::Int: result += l.high != 0 ? fmt::format("0x{:x}{:016x}", l.high, l.low) : fmt::format("{}", l.low); break;
        case Literal::Kind::Float: result += l.text; break;
        case Literal::Kind::Str: return "\"" + escaped(l.text) + "\"";
        case Literal::Kind::ByteStr: return "b\"" + escaped(l.text) + "\"";
        case Literal::Kind::CStr: return "c\"" + escaped(l.text) + "\"";
        case Literal::Kind::Error: return "{error}";
    }
    if (l.has_suffix) result += kPrimNames[static_cast<std::size_t>(l.suffix)];
    return result;
}

// Two locals of one name are told apart by their number.
std::string Printer::local(LocalId id) {
    if (body_ == nullptr) return "{local}";
    const Local& l = body_->locals[id];
    for (std::uint32_t i = 0; i < body_->locals.size(); ++i) {
        if (i != id.raw && body_->locals[LocalId(i)].name.name == l.name.name) return fmt::format("{}#{}", text(l.name.name), id.raw);
    }
    return std::string(text(l.name.name));
}

std::string Printer::pats(List<PatId> list, std::uint32_t rest) {
    std::string result;
    const auto add = [&](const std::string& part) { result += (result.empty() ? "" : ", ") + part; };
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        if (i == rest) add("..");
        add(pat(list[i]));
    }
    if (rest == list.size()) add("..");
    return result;
}

std::string Printer::pat(PatId id) {
    if (!id.valid()) return "_";
    return std::visit(
        ast::Overloaded{
            [&](std::monostate) { return std::string("{none}"); },
            [&](const WildPat&) { return std::string("_"); },
            [&](const BindingPat& p) {
                return fmt::format("{}{}{}{}{}", p.mode.by_ref ? "ref " : "", p.mode.ref_mut || p.mode.is_mut ? "mut " : "", local(p.local), p.sub.valid() ? " @ " : "", p.sub.valid() ? pat(p.sub) : "");
            },
            [&](const LiteralPat& p) { return literal(p.value, p.negative); },
            [&](const PathPat& p) { return path(*p.path); },
            [&](const RangePat& p) {
                return fmt::format("{}{}{}", p.from.valid() ? pat(p.from) : "", p.end == RangeEnd::Included ? "..=" : "..", p.to.valid() ? pat(p.to) : "");
            },
            [&](const RefPat& p) { return fmt::format("&{}{}", p.mutability == Mutability::Mut ? "mut " : "", pat(p.inner)); },
            [&](const TuplePat& p) { return "(" + pats(p.elements, p.rest) + (p.elements.size() == 1 && p.rest > 1 ? ",)" : ")"); },
            [&](const TupleStructPat& p) { return path(*p.path) + "(" + pats(p.elements, p.rest) + ")"; },
            [&](const StructPat& p) {
                std::string result = path(*p.path) + " { ";
                for (std::size_t i = 0; i < p.fields.size(); ++i) result += fmt::format("{}{}: {}", i == 0 ? "" : ", ", text(p.fields[i].field.name), pat(p.fields[i].pat));
                return result + (p.has_rest ? (p.fields.empty() ? ".. }" : ", .. }") : " }");
            },
            [&](const SlicePat& p) {
                std::string result = "[" + pats(p.before);
                const auto add = [&](const std::string& part) { result += (result.size() > 1 ? ", " : "") + part; };
                if (p.has_rest) add(p.middle.valid() ? pat(p.middle) + " @ .." : "..");
                if (!p.after.empty()) add(pats(p.after));
                return result + "]";
            },
            [&](const OrPat& p) {
                std::string result;
                for (std::size_t i = 0; i < p.alternatives.size(); ++i) result += (i == 0 ? "" : " | ") + pat(p.alternatives[i]);
                return result;
            },
            [&](const ConstBlockPat& p) { return "const { " + constant(p.constant) + " }"; },
            [&](const ErrorPat&) { return std::string("{error}"); },
        },
        body_->pats[id].data);
}

// ---- bodies and blocks

void Printer::body(BodyId id) {
    const Body* outer = std::exchange(body_, p_.bodies[id].get());
    expr(body_->value);
    body_ = outer;
}

std::string Printer::body_value(BodyId id) {
    Printer inner(p_);
    inner.body_ = p_.bodies[id].get();
    ExprId value = inner.body_->value;
    // `{ N + 1 }` without its braces: those are the place's.
    if (const auto* expr = std::get_if<BlockExpr>(&inner.body_->exprs[value].data)) {
        const Block& b = inner.body_->blocks[expr->block];
        if (b.stmts.empty() && b.tail.valid() && b.safety == BlockSafety::Safe) value = b.tail;
    }
    inner.expr(value);
    return inner.take();
}

void Printer::block(const Block& b) {
    if (b.label.valid()) out_.put("{}: ", text(b.label));
    if (b.safety == BlockSafety::Unsafe) out_.raw("unsafe ");
    if (b.stmts.empty() && !b.tail.valid()) {
        out_.raw("{}");
        return;
    }
    out_.raw("{").end_line();
    out_.indent();
    for (const Stmt& s : b.stmts) stmt(s);
    if (b.tail.valid()) {
        expr(b.tail);
        out_.end_line();
    }
    out_.dedent();
    out_.raw("}");
}

void Printer::stmt(const Stmt& s) {
    switch (s.kind) {
        case Stmt::Kind::Let:
            out_.put("let {}", pat(s.pat));
            if (s.type.valid()) out_.put(": {}", type(s.type));
            if (s.init.valid()) {
                out_.raw(" = ");
                expr(s.init);
            }
            if (s.else_block.valid()) {
                out_.raw(" else ");
                block(body_->blocks[s.else_block]);
            }
            out_.raw(";").end_line();
            return;
        case Stmt::Kind::Expr:
        case Stmt::Kind::Semi:
            expr(s.expr);
            out_.raw(s.kind == Stmt::Kind::Semi ? ";" : "").end_line();
            return;
        case Stmt::Kind::Item: {
            const Body* outer = body_;
            item(s.item);
            body_ = outer;
            return;
        }
    }
}

// ---- expressions

void Printer::exprs(List<ExprId> list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i != 0) out_.raw(", ");
        expr(list[i]);
    }
}

void Printer::operand(ExprId id) {
    const ExprData& data = body_->exprs[id].data;
    const bool simple = std::holds_alternative<LiteralExpr>(data) || std::holds_alternative<PathExpr>(data) || std::holds_alternative<CallExpr>(data) ||
                        std::holds_alternative<MethodCallExpr>(data) || std::holds_alternative<FieldExpr>(data) || std::holds_alternative<IndexExpr>(data) ||
                        std::holds_alternative<TupleExpr>(data) || std::holds_alternative<ArrayExpr>(data) || std::holds_alternative<RepeatExpr>(data);
    if (!simple) out_.raw("(");
    expr(id);
    if (!simple) out_.raw(")");
}

void Printer::if_expr(const IfExpr& e) {
    out_.raw("if ");
    expr(e.condition);
    out_.raw(" ");
    expr(e.then_expr);
    if (!e.else_expr.valid()) return;
    out_.raw(" else ");
    expr(e.else_expr);
}

void Printer::match_expr(const MatchExpr& e) {
    out_.raw("match ");
    expr(e.scrutinee);
    out_.raw(" {").end_line();
    out_.indent();
    for (const Arm& arm : e.arms) {
        out_.raw(pat(arm.pat));
        if (arm.guard.valid()) {
            out_.raw(" if ");
            expr(arm.guard);
        }
        out_.raw(" => ");
        expr(arm.body);
        out_.raw(",").end_line();
    }
    out_.dedent();
    out_.raw("}");
}

void Printer::loop_expr(const LoopExpr& e) {
    if (e.unroll == 0xFFFF'FFFFu) out_.raw("#[unroll] ");
    else if (e.unroll != 0) out_.put("#[unroll({})] ", e.unroll);
    if (e.label.valid()) out_.put("{}: ", text(e.label));
    out_.raw("loop ");
    block(body_->blocks[e.body]);
}

void Printer::struct_expr(const StructExpr& e) {
    out_.put("{} {{ ", path(*e.path));
    for (std::size_t i = 0; i < e.fields.size(); ++i) {
        out_.put("{}{}: ", i == 0 ? "" : ", ", text(e.fields[i].field.name));
        expr(e.fields[i].value);
    }
    if (e.base.valid()) {
        out_.raw(e.fields.empty() ? ".." : ", ..");
        expr(e.base);
    }
    out_.raw(" }");
}

void Printer::closure(const ClosureExpr& e) {
    out_.raw(e.is_move ? "move |" : "|");
    for (std::size_t i = 0; i < e.params.size(); ++i) {
        out_.put("{}{}", i == 0 ? "" : ", ", pat(e.params[i].pat));
        if (e.params[i].type.valid()) out_.put(": {}", type(e.params[i].type));
    }
    out_.raw("| ");
    if (e.output.valid()) out_.put("-> {} ", type(e.output));
    expr(e.body);
}

void Printer::panic(const PanicExpr& e) {
    constexpr std::string_view kNames[] = {"panic", "assert", "assert_eq", "assert_ne", "unreachable", "todo", "unimplemented"};
    out_.put("panic[{}](\"{}\"", kNames[static_cast<std::size_t>(e.kind)], escaped(e.message));
    for (const ExprId arg : e.args) {
        out_.raw(", &");
        operand(arg);
    }
    out_.raw(")");
}

void Printer::jump(std::string_view word, ExprId target, ExprId value) {
    out_.raw(word);
    if (target.valid()) {
        Symbol label;
        if (const auto* loop = std::get_if<LoopExpr>(&body_->exprs[target].data)) label = loop->label;
        else if (const auto* b = std::get_if<BlockExpr>(&body_->exprs[target].data)) label = body_->blocks[b->block].label;
        if (label.valid()) out_.put(" {}", text(label));
    }
    if (!value.valid()) return;
    out_.raw(" ");
    expr(value);
}

void Printer::expr(ExprId id) {
    if (!id.valid()) {
        out_.raw("{none}");
        return;
    }
    std::visit(
        ast::Overloaded{
            [&](std::monostate) { out_.raw("{none}"); },
            [&](const LiteralExpr& e) { out_.raw(literal(e.value)); },
            [&](const PathExpr& e) { out_.raw(path(*e.path)); },
            [&](const UnaryExpr& e) {
                out_.raw(ast::info(e.op).text);
                operand(e.operand);
            },
            [&](const BinaryExpr& e) {
                operand(e.lhs);
                out_.put(" {} ", ast::info(e.op).text);
                operand(e.rhs);
            },
            [&](const AssignExpr& e) {
                expr(e.lhs);
                out_.raw(" = ");
                expr(e.rhs);
            },
            [&](const AssignOpExpr& e) {
                expr(e.lhs);
                out_.put(" {} ", ast::info(e.op).assign_text);
                expr(e.rhs);
            },
            [&](const AddressOfExpr& e) {
                const bool mut = e.mutability == Mutability::Mut;
                out_.raw(e.raw ? (mut ? "&raw mut " : "&raw const ") : (mut ? "&mut " : "&"));
                operand(e.operand);
            },
            [&](const FieldExpr& e) {
                operand(e.base);
                out_.put(".{}", text(e.field.name));
            },
            [&](const IndexExpr& e) {
                operand(e.base);
                out_.raw("[");
                expr(e.index);
                out_.raw("]");
            },
            [&](const CallExpr& e) {
                operand(e.callee);
                out_.raw("(");
                exprs(e.args);
                out_.raw(")");
            },
            [&](const MethodCallExpr& e) {
                operand(e.receiver);
                out_.put(".{}(", segment(*e.method, true));
                exprs(e.args);
                out_.raw(")");
            },
            [&](const TupleExpr& e) {
                out_.raw("(");
                exprs(e.elements);
                out_.raw(e.elements.size() == 1 ? ",)" : ")");
            },
            [&](const ArrayExpr& e) {
                out_.raw("[");
                exprs(e.elements);
                out_.raw("]");
            },
            [&](const RepeatExpr& e) {
                out_.raw("[");
                expr(e.value);
                out_.put("; {}]", constant(e.count));
            },
            [&](const StructExpr& e) { struct_expr(e); },
            [&](const CastExpr& e) {
                operand(e.operand);
                out_.put(" as {}", type(e.type));
            },
            [&](const LetExpr& e) {
                out_.put("let {} = ", pat(e.pat));
                expr(e.init);
            },
            [&](const IfExpr& e) { if_expr(e); },
            [&](const MatchExpr& e) { match_expr(e); },
            [&](const LoopExpr& e) { loop_expr(e); },
            [&](const BlockExpr& e) { block(body_->blocks[e.block]); },
            [&](const BreakExpr& e) { jump("break", e.target, e.value); },
            [&](const ContinueExpr& e) { jump("continue", e.target, {}); },
            [&](const ReturnExpr& e) { jump("return", {}, e.value); },
            [&](const ClosureExpr& e) { closure(e); },
            [&](const ConstBlockExpr& e) { out_.put("const {}", constant(e.constant)); },
            [&](const PanicExpr& e) { panic(e); },
            [&](const ErrorExpr&) { out_.raw("{error}"); },
        },
        body_->exprs[id].data);
}

}  // namespace ockc::hir
