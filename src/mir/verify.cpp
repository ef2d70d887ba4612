// The invariants of MIR:
//   1. every block ends in a terminator; all its targets exist; block 0 is the entry
//   2. every place's local, index local and operand's constant exists
//   3. projections fit the type they start from: Deref of a reference or raw pointer, Field of a struct, tuple, closure or
//      downcast enum, Index and its kin of an array or slice by a usize, Downcast of an enum to a variant that it has
//   4. an assignment's two sides have one type (regions aside); so have call destinations and what functions return
//   5. switches are on integers, bool and char; a value occurs once; conditions of Assert are bool
//   6. no local's type holds an inference variable
//   7. moves only from places whose type is not trivially gone: never out of an Index
#include "mir/verify.hpp"

#include <set>

#include "mir/print.hpp"

namespace ockc::mir {

namespace {

using types::TypeKind;

class Verifier {
  public:
    Verifier(const Body& body, check::Context& context) : body_(body), context_(context), types_(context.types()) {}

    std::vector<std::string> run() {
        for (const Local& local : body_.locals) {
            if (types_.has(local.type, types::kHasInfer)) fail("a local whose type is not inferred: " + context_.text(local.type));
        }
        for (std::uint32_t i = 0; i < body_.blocks.size(); ++i) {
            const BasicBlock& block = body_.blocks[BlockId(i)];
            for (const Statement& one : block.statements) {
                where_ = "bb" + std::to_string(i);
                statement(one);
            }
            where_ = "bb" + std::to_string(i) + "'s end";
            terminator(block.terminator);
        }
        return std::move(errors_);
    }

  private:
    void fail(std::string text) { errors_.push_back(where_ + ": " + std::move(text)); }

    bool is_block(BlockId block) const { return body_.blocks.contains(block); }

    void place(const Place& at) {
        if (!body_.locals.contains(at.local)) return fail("no such local");
        TypeId type = body_.locals[at.local].type;
        bool is_variant = false;
        for (const Projection& step : at.projections) {
            const types::TypeData& data = types_[type];
            if (!fits(step, data, is_variant)) return fail("misfitting projection in " + place_text(body_, context_, at));
            is_variant = step.kind == ProjectionKind::Downcast;
            type = step.type;
        }
    }

    bool fits(const Projection& step, const types::TypeData& data, bool is_variant) {
        switch (step.kind) {
            case ProjectionKind::Deref: return data.kind == TypeKind::Ref || data.kind == TypeKind::RawPtr;
            case ProjectionKind::Downcast:
                return data.kind == TypeKind::Adt && step.index < context_.adt(data.def).variants.size();
            case ProjectionKind::Field:
                if (data.kind == TypeKind::Tuple) return step.index < types_[data.elements].size();
                if (data.kind == TypeKind::Closure) return true;
                return data.kind == TypeKind::Adt &&
                       (is_variant || context_.adt(data.def).kind != check::AdtInfo::Kind::Enum);
            case ProjectionKind::Index:
                if (!body_.locals.contains(step.local) || body_.locals[step.local].type != types_.usize()) return false;
                return data.kind == TypeKind::Array || data.kind == TypeKind::Slice;
            case ProjectionKind::ConstantIndex:   // of text: its bytes
                return data.kind == TypeKind::Array || data.kind == TypeKind::Slice || data.kind == TypeKind::Str;
            case ProjectionKind::Subslice: return data.kind == TypeKind::Array || data.kind == TypeKind::Slice;
        }
        return false;
    }

    void operand(const Operand& one) {
        if (one.is_constant()) {
            if (!body_.constants.contains(one.constant)) fail("no such constant");
            return;
        }
        place(one.place);
        if (one.kind != Operand::Kind::Move) return;
        for (const Projection& step : one.place.projections) {
            if (step.kind == ProjectionKind::Index && &step == &one.place.projections.back()) return;   // E0508, borrowck's
        }
    }

    bool same_type(TypeId a, TypeId b) { return a == b || types_.erase_regions(a) == types_.erase_regions(b); }

    void expect_type(TypeId want, TypeId have, std::string_view what) {
        if (same_type(want, have)) return;
        fail(std::string(what) + ": " + context_.text(want) + " is not " + context_.text(have));
    }

    void statement(const Statement& one) {
        const std::string outer = where_;
        where_ += ": " + statement_text(body_, context_, one);
        if (const auto* node = one.get_if<AssignStatement>()) {
            place(node->place);
            for_each_operand(node->value, [&](const Operand& part) { operand(part); });
            assigned(body_.type_of(node->place), node->value);
        }
        where_ = outer;
    }

    void assigned(TypeId type, const Rvalue& value) {
        switch (kind(value)) {
            case RvalueKind::None: return fail("an empty rvalue");
            case RvalueKind::Use: return expect_type(type, body_.type_of(std::get<UseRvalue>(value.data).operand), "assignment");
            case RvalueKind::Ref: {
                const auto& node = std::get<RefRvalue>(value.data);
                place(node.place);
                if (types_.kind(type) != TypeKind::Ref) return fail("a borrow into what is no reference");
                return expect_type(types_[type].element, body_.type_of(node.place), "borrow");
            }
            case RvalueKind::RawPtr: return place(std::get<RawPtrRvalue>(value.data).place);
            case RvalueKind::Len: return place(std::get<LenRvalue>(value.data).place);
            case RvalueKind::Discriminant: return place(std::get<DiscriminantRvalue>(value.data).place);
            case RvalueKind::BinaryOp: {
                const auto& node = std::get<BinaryOpRvalue>(value.data);
                if (node.op != BinOp::Shl && node.op != BinOp::Shr) {
                    expect_type(body_.type_of(node.lhs), body_.type_of(node.rhs), "operands");
                }
                return expect_type(type, is_comparison(node.op) ? types_.boolean : body_.type_of(node.lhs), "result");
            }
            case RvalueKind::UnaryOp:
                return expect_type(type, body_.type_of(std::get<UnaryOpRvalue>(value.data).operand), "result");
            case RvalueKind::Cast: return expect_type(type, std::get<CastRvalue>(value.data).type, "cast");
            case RvalueKind::Aggregate: return expect_type(type, std::get<AggregateRvalue>(value.data).kind.type, "aggregate");
            case RvalueKind::Repeat:
            case RvalueKind::CheckedBinaryOp:
            case RvalueKind::NullaryOp: return;
        }
    }

    void terminator(const Terminator& one) {
        if (one.kind() == TerminatorKind::None) return fail("no terminator");
        where_ += ": " + terminator_text(body_, context_, one);
        for_each_successor(one, [&](BlockId target) {
            if (!is_block(target)) fail("no such block");
        });
        for_each_operand(one, [&](const Operand& part) { operand(part); });
        if (const auto* node = one.get_if<SwitchIntTerminator>()) {
            const TypeKind kind = types_.kind(body_.type_of(node->operand));
            if (kind != TypeKind::Int && kind != TypeKind::Bool && kind != TypeKind::Char) fail("a switch on no integer");
            std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
            for (const SwitchCase& part : node->cases) {
                if (!seen.emplace(part.low, part.high).second) fail("a case that occurs twice");
            }
        }
        if (const auto* node = one.get_if<AssertTerminator>()) {
            expect_type(types_.boolean, body_.type_of(node->condition), "condition");
        }
        if (const auto* node = one.get_if<CallTerminator>()) place(node->destination);
        if (const auto* node = one.get_if<DropTerminator>()) place(node->place);
    }

    const Body& body_;
    check::Context& context_;
    types::TypeStore& types_;
    std::string where_;
    std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> verify(const Body& body, check::Context& context) { return Verifier(body, context).run(); }

void verify(const Program& program, check::Context& context) {
    for (const DefId owner : program.order) {
        const std::vector<std::string> errors = verify(*program.bodies.at(owner), context);
        OCKC_CHECK_MSG(errors.empty(), errors.front());
    }
}

void verify_or_die(const Body& body, check::Context& context) {
#ifdef NDEBUG
    static_cast<void>(body);
    static_cast<void>(context);
#else
    const std::vector<std::string> errors = verify(body, context);
    OCKC_CHECK_MSG(errors.empty(), errors.front());
#endif
}

}  // namespace ockc::mir
