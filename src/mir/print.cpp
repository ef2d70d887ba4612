// MIR to text: `_3 = copy (*_1)[_2];`, `goto -> bb1;`. Deterministic, no spans.
#include "mir/print.hpp"

#include "support/text_writer.hpp"
#include "types/print.hpp"

namespace ockc::mir {

namespace {

class Printer {
  public:
    Printer(const Body& body, const check::Context& context, const Notes& notes = {})
        : body_(body), context_(context), types_(const_cast<check::Context&>(context).types()), notes_(notes) {}

    std::string place(const Place& place) const {
        std::string text = fmt::format("_{}", place.local.raw);
        for (const Projection& step : place.projections) text = project(std::move(text), step);
        return text;
    }

    std::string operand(const Operand& operand) const {
        switch (operand.kind) {
            case Operand::Kind::Copy: return "copy " + place(operand.place);
            case Operand::Kind::Move: return "move " + place(operand.place);
            case Operand::Kind::Constant: return "const " + constant(body_.constants[operand.constant]);
        }
        OCKC_UNREACHABLE("operand kind");
    }

    // `region`: of a borrow.
    std::string rvalue(const Rvalue& value, std::string_view region = {}) const;
    std::string statement(const Statement& statement, std::string_view region = {}) const;
    std::string terminator(const Terminator& terminator) const;
    std::string aggregate(const AggregateRvalue& node) const;
    void body(TextWriter& out) const;

  private:
    std::string project(std::string base, const Projection& step) const {
        switch (step.kind) {
            case ProjectionKind::Deref: return "(*" + base + ")";
            case ProjectionKind::Field: return fmt::format("({}.{}: {})", base, step.index, type(step.type));
            case ProjectionKind::Index: return fmt::format("{}[_{}]", base, step.local.raw);
            case ProjectionKind::ConstantIndex:
                return fmt::format("{}[{}{} of {}]", base, step.from_end ? "-" : "", step.offset, step.min_length);
            case ProjectionKind::Subslice:
                return fmt::format("{}[{}:{}{}]", base, step.offset, step.from_end ? "-" : "", step.min_length);
            case ProjectionKind::Downcast:
                return fmt::format("({} as {})", base, variant_name(types_[step.type].def, step.index));
        }
        OCKC_UNREACHABLE("projection kind");
    }
    std::string_view variant_name(DefId adt, std::uint32_t variant) const {
        const check::AdtInfo& info = const_cast<check::Context&>(context_).adt(adt);
        return context_.program().interner.text(info.variants[variant].name);
    }
    std::string type(TypeId type) const { return context_.text(type); }
    std::string constant(const Constant& value) const;
    std::string bb(BlockId block) const { return fmt::format("bb{}", block.raw); }
    std::string list(List<Operand> operands) const {
        std::string text;
        for (const Operand& one : operands) text += (text.empty() ? "" : ", ") + operand(one);
        return text;
    }
    std::string locals_text() const;
    std::string head() const;
    std::string local_type(LocalId local) const { return notes_.local_type ? notes_.local_type(local) : type(body_.locals[local].type); }
    void line(TextWriter& out, Location at, const std::string& text) const {
        const std::string comment = notes_.comment ? notes_.comment(at) : std::string();
        out.line("{};{}{}", text, comment.empty() ? "" : "  // ", comment);
    }

    const Body& body_;
    const check::Context& context_;
    const types::TypeStore& types_;
    const Notes& notes_;
};

std::string Printer::constant(const Constant& value) const {
    switch (value.kind) {
        case Constant::Kind::Scalar: {
            const types::TypeData& data = types_[value.type];
            std::string text = types::scalar_text(types_, value.type, value.low, value.high);
            if (data.kind == types::TypeKind::Int) text += fmt::format("_{}", types::int_name(data.int_kind));
            if (data.kind == types::TypeKind::Float) text += types::float_name(data.float_kind);
            return text;
        }
        case Constant::Kind::ZeroSized:
            if (types_.kind(value.type) == types::TypeKind::FnDef) {
                return context_.text(check::ItemRef{types_[value.type].def, types_[value.type].args});
            }
            return type(value.type);
        case Constant::Kind::Item: return context_.text(check::ItemRef{value.def, value.args});
        case Constant::Kind::Param: return std::string(context_.program().interner.text(types_[value.value].name));
        case Constant::Kind::Const: {
            const types::ConstData& data = types_[value.value];
            if (data.kind == types::ConstKind::Param) return std::string(context_.program().interner.text(data.name));
            if (data.kind == types::ConstKind::Value) return fmt::format("{}", data.bits[0]);
            return "_";
        }
        case Constant::Kind::Static: return "&" + context_.program().path_text(value.def);
        case Constant::Kind::Promoted: return fmt::format("promoted[{}]", value.index);
        case Constant::Kind::Str: return fmt::format("{:?}", value.text);
        case Constant::Kind::Bytes: return fmt::format("b{:?}", value.text);
    }
    OCKC_UNREACHABLE("constant kind");
}

std::string Printer::aggregate(const AggregateRvalue& node) const {
    switch (node.kind.kind) {
        case AggregateKind::Kind::Tuple:
            return fmt::format("({}{})", list(node.operands), node.operands.size() == 1 ? "," : "");
        case AggregateKind::Kind::Array: return fmt::format("[{}]", list(node.operands));
        case AggregateKind::Kind::Closure: return fmt::format("{} {{ {} }}", type(node.kind.type), list(node.operands));
        case AggregateKind::Kind::Adt: break;
    }
    const check::AdtInfo& adt = const_cast<check::Context&>(context_).adt(node.kind.def);
    const check::VariantInfo& variant = adt.variants[node.kind.variant];
    std::string text = type(node.kind.type);
    if (adt.kind == check::AdtInfo::Kind::Enum) text += fmt::format("::{}", context_.program().interner.text(variant.name));
    switch (variant.form) {
        case hir::VariantForm::Unit: return text;
        case hir::VariantForm::Tuple: return fmt::format("{}({})", text, list(node.operands));
        case hir::VariantForm::Named: break;
    }
    std::string fields;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
        fields += fmt::format("{}{}: {}", i == 0 ? "" : ", ", context_.program().interner.text(variant.fields[i].name),
                              operand(node.operands[i]));
    }
    return fmt::format("{} {{ {} }}", text, fields);
}

std::string_view borrow_text(BorrowKind kind) {
    switch (kind) {
        case BorrowKind::Shared: return "&";
        case BorrowKind::Fake: return "&fake ";
        case BorrowKind::Mut: return "&mut ";
        case BorrowKind::TwoPhaseMut: return "&two_phase mut ";
        case BorrowKind::UniqueCapture: return "&uniq ";
    }
    OCKC_UNREACHABLE("borrow kind");
}

std::string Printer::rvalue(const Rvalue& value, std::string_view region) const {
    switch (kind(value)) {
        case RvalueKind::None: return "?";
        case RvalueKind::Use: return operand(std::get<UseRvalue>(value.data).operand);
        case RvalueKind::Repeat: {
            const auto& node = std::get<RepeatRvalue>(value.data);
            const auto count = const_cast<check::Context&>(context_).usize_value(node.count);
            const std::string text = count ? fmt::format("{}", *count) : std::string("_");
            return fmt::format("[{}; {}]", operand(node.operand), text);
        }
        case RvalueKind::Ref: {
            const auto& node = std::get<RefRvalue>(value.data);
            const std::string_view amp = borrow_text(node.borrow);
            if (region.empty()) return fmt::format("{}{}", amp, place(node.place));
            return fmt::format("&{} {}{}", region, amp.substr(1), place(node.place));
        }
        case RvalueKind::RawPtr: {
            const auto& node = std::get<RawPtrRvalue>(value.data);
            return fmt::format("&raw {} {}", node.mutability == Mutability::Mut ? "mut" : "const", place(node.place));
        }
        case RvalueKind::Len: return fmt::format("Len({})", place(std::get<LenRvalue>(value.data).place));
        case RvalueKind::Cast: {
            const auto& node = std::get<CastRvalue>(value.data);
            return fmt::format("{} as {} ({})", operand(node.operand), type(node.type), cast_name(node.cast));
        }
        case RvalueKind::BinaryOp: {
            const auto& node = std::get<BinaryOpRvalue>(value.data);
            return fmt::format("{}({}, {})", binop_name(node.op), operand(node.lhs), operand(node.rhs));
        }
        case RvalueKind::CheckedBinaryOp: {
            const auto& node = std::get<CheckedBinaryOpRvalue>(value.data);
            return fmt::format("{}WithOverflow({}, {})", binop_name(node.op), operand(node.lhs), operand(node.rhs));
        }
        case RvalueKind::UnaryOp: {
            const auto& node = std::get<UnaryOpRvalue>(value.data);
            return fmt::format("{}({})", node.op == UnOp::Neg ? "Neg" : "Not", operand(node.operand));
        }
        case RvalueKind::Discriminant:
            return fmt::format("discriminant({})", place(std::get<DiscriminantRvalue>(value.data).place));
        case RvalueKind::Aggregate: return aggregate(std::get<AggregateRvalue>(value.data));
        case RvalueKind::NullaryOp: {
            const auto& node = std::get<NullaryOpRvalue>(value.data);
            return fmt::format("{}({})", node.op == NullOp::SizeOf ? "SizeOf" : "AlignOf", type(node.type));
        }
    }
    OCKC_UNREACHABLE("rvalue kind");
}

std::string_view cause_text(FakeReadCause cause) {
    switch (cause) {
        case FakeReadCause::ForMatchedPlace: return "ForMatchedPlace";
        case FakeReadCause::ForLet: return "ForLet";
        case FakeReadCause::ForGuardBinding: return "ForGuardBinding";
        case FakeReadCause::ForMatchGuard: return "ForMatchGuard";
        case FakeReadCause::ForIndex: return "ForIndex";
    }
    OCKC_UNREACHABLE("cause");
}

std::string Printer::statement(const Statement& statement, std::string_view region) const {
    switch (statement.kind()) {
        case StatementKind::None: return "?";
        case StatementKind::Assign: {
            const auto& node = statement.as<AssignStatement>();
            return fmt::format("{} = {}", place(node.place), rvalue(node.value, region));
        }
        case StatementKind::SetDiscriminant: {
            const auto& node = statement.as<SetDiscriminantStatement>();
            return fmt::format("discriminant({}) = {}", place(node.place), node.variant);
        }
        case StatementKind::StorageLive: return fmt::format("StorageLive(_{})", statement.as<StorageLiveStatement>().local.raw);
        case StatementKind::StorageDead: return fmt::format("StorageDead(_{})", statement.as<StorageDeadStatement>().local.raw);
        case StatementKind::FakeRead: {
            const auto& node = statement.as<FakeReadStatement>();
            return fmt::format("FakeRead({}, {})", cause_text(node.cause), place(node.place));
        }
        case StatementKind::PlaceMention:
            return fmt::format("PlaceMention({})", place(statement.as<PlaceMentionStatement>().place));
        case StatementKind::AscribeType: {
            const auto& node = statement.as<AscribeTypeStatement>();
            return fmt::format("AscribeType({}, {})", place(node.place), type(node.type));
        }
        case StatementKind::DeepAccess: {
            const auto& node = statement.as<DeepAccessStatement>();
            std::string roots;
            for (const Place& root : node.roots) roots += (roots.empty() ? "" : ", ") + place(root);
            return fmt::format("{}({})", node.is_write ? "DeepWrite" : "DeepRead", roots);
        }
        case StatementKind::Nop: return "nop";
    }
    OCKC_UNREACHABLE("statement kind");
}

std::string Printer::terminator(const Terminator& terminator) const {
    switch (terminator.kind()) {
        case TerminatorKind::None: return "?";
        case TerminatorKind::Goto: return "goto -> " + bb(terminator.as<GotoTerminator>().target);
        case TerminatorKind::SwitchInt: {
            const auto& node = terminator.as<SwitchIntTerminator>();
            std::string text = fmt::format("switchInt({}) -> [", operand(node.operand));
            const TypeId type = body_.type_of(node.operand);
            const bool plain = types_.kind(type) != types::TypeKind::Int;
            for (const SwitchCase& one : node.cases) {
                text += plain ? fmt::format("{}", one.low) : types::scalar_text(types_, type, one.low, one.high);
                text += ": " + bb(one.target) + ", ";
            }
            if (!node.otherwise.valid()) return text.substr(0, text.size() - 2) + "]";
            return text + "otherwise: " + bb(node.otherwise) + "]";
        }
        case TerminatorKind::Return: return "return";
        case TerminatorKind::Unreachable: return "unreachable";
        case TerminatorKind::Drop: {
            const auto& node = terminator.as<DropTerminator>();
            return fmt::format("drop({}) -> {}", place(node.place), bb(node.target));
        }
        case TerminatorKind::Call: {
            const auto& node = terminator.as<CallTerminator>();
            std::string callee = operand(node.callee);
            if (node.callee.is_constant()) callee = callee.substr(6);   // without "const "
            return fmt::format("{} = {}({}) -> {}", place(node.destination), callee, list(node.args),
                               node.target.valid() ? bb(node.target) : "!");
        }
        case TerminatorKind::Assert: {
            const auto& node = terminator.as<AssertTerminator>();
            std::string args;
            for (const Operand* one : {&node.a, &node.b}) {
                if (one->constant.valid() || one->place.local.valid()) args += ", " + operand(*one);
            }
            return fmt::format("assert({}{}, {}{}) -> {}", node.expected ? "" : "!", operand(node.condition),
                               node.kind == AssertKind::Overflow
                                   ? fmt::format("{}({})", assert_name(node.kind), binop_name(node.op))
                                   : std::string(assert_name(node.kind)),
                               args, bb(node.target));
        }
        case TerminatorKind::Panic: {
            const auto& node = terminator.as<PanicTerminator>();
            const std::string args = list(node.args);
            return fmt::format("panic({:?}{}{})", node.message, args.empty() ? "" : ", ", args);
        }
        case TerminatorKind::FalseEdge: {
            const auto& node = terminator.as<FalseEdgeTerminator>();
            return fmt::format("falseEdge -> [real: {}, imaginary: {}]", bb(node.real_target), bb(node.imaginary_target));
        }
        case TerminatorKind::FalseUnwind: return "falseUnwind -> " + bb(terminator.as<FalseUnwindTerminator>().real_target);
    }
    OCKC_UNREACHABLE("terminator kind");
}

std::string Printer::head() const {
    const std::string path = context_.program().path_text(body_.owner);
    if (body_.promoted_index != 0xFFFFFFFFu) {
        return fmt::format("promoted[{}] in {}: {} = {{", body_.promoted_index, path, type(body_.locals[kReturnLocal].type));
    }
    const hir::DefKind kind = context_.program().defs[body_.owner].kind;
    const bool is_fn = kind == hir::DefKind::Fn || kind == hir::DefKind::AssocFn || kind == hir::DefKind::Closure;
    if (!is_fn) return fmt::format("{} {}: {} = {{", def_kind_text(kind), path, type(body_.locals[kReturnLocal].type));
    std::string params;
    for (std::uint32_t i = 1; i <= body_.arg_count; ++i) {
        params += fmt::format("{}_{}: {}", i == 1 ? "" : ", ", i, local_type(LocalId(i)));
    }
    return fmt::format("fn {}({}) -> {} {{", path, params, local_type(kReturnLocal));
}

void Printer::body(TextWriter& out) const {
    out.line("{}", head());
    out.indent();
    for (std::uint32_t i = 0; i < body_.locals.size(); ++i) {
        const Local& local = body_.locals[LocalId(i)];
        if (local.kind == LocalKind::Var || local.kind == LocalKind::Arg) {
            if (local.name.valid()) out.line("debug {} => _{};", context_.program().interner.text(local.name), i);
        }
    }
    for (std::uint32_t i = 0; i < body_.locals.size(); ++i) {
        const Local& local = body_.locals[LocalId(i)];
        if (local.kind == LocalKind::Arg) continue;
        out.line("let {}_{}: {};", local.mutability == Mutability::Mut ? "mut " : "", i, local_type(LocalId(i)));
    }
    for (const std::string& one : notes_.table) out.line("// {}", one);
    for (std::uint32_t i = 0; i < body_.blocks.size(); ++i) {
        out.end_line();
        out.line("bb{}: {{", i);
        out.indent();
        Location at{BlockId(i), 0};
        for (const Statement& one : body_.blocks[at.block].statements) {
            line(out, at, statement(one, notes_.borrow_region ? notes_.borrow_region(at) : std::string()));
            ++at.statement;
        }
        line(out, at, terminator(body_.blocks[at.block].terminator));
        out.dedent();
        out.line("}}");
    }
    out.dedent();
    out.line("}}");
}

}  // namespace

std::string place_text(const Body& body, const check::Context& context, const Place& place) {
    return Printer(body, context).place(place);
}
std::string operand_text(const Body& body, const check::Context& context, const Operand& operand) {
    return Printer(body, context).operand(operand);
}
std::string rvalue_text(const Body& body, const check::Context& context, const Rvalue& value) {
    return Printer(body, context).rvalue(value);
}
std::string statement_text(const Body& body, const check::Context& context, const Statement& statement) {
    return Printer(body, context).statement(statement);
}
std::string terminator_text(const Body& body, const check::Context& context, const Terminator& terminator) {
    return Printer(body, context).terminator(terminator);
}

std::string print(const Body& body, const check::Context& context, const Notes& notes) {
    TextWriter out;
    Printer(body, context, notes).body(out);
    for (const auto& promoted : body.promoted) {
        out.end_line();
        out.raw(print(*promoted, context));
    }
    return out.take();
}

std::string print(const Program& program, const check::Context& context) {
    std::string text;
    const hir::Program& items = context.program();
    for (const DefId owner : program.order) {
        if (items.crates[items.defs[owner].crate].is_library) continue;
        if (!text.empty()) text += '\n';
        text += print(*program.bodies.at(owner), context);
    }
    return text;
}

}  // namespace ockc::mir
