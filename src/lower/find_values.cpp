#include "lower/find_values.hpp"

namespace ockc::lower {

using types::VariantsKind;

bool is_component(const Layout& whole, std::uint64_t offset, const types::Scalar& part) {
    const ValueForm form = form_of(whole);
    if (form != ValueForm::Scalar && form != ValueForm::Pair) return false;
    if (offset == 0) return ir_type(whole.scalars[0]) == ir_type(part);
    return form == ValueForm::Pair && offset == whole.pair_offset && ir_type(whole.scalars[1]) == ir_type(part);
}

bool is_component(const Layout& whole, std::uint64_t offset, const Layout& part) {
    switch (form_of(part)) {
        case ValueForm::Zero: return true;
        case ValueForm::Scalar: return is_component(whole, offset, part.scalars[0]);
        case ValueForm::Pair: return is_component(whole, offset, part.scalars[0]) && is_component(whole, offset + part.pair_offset, part.scalars[1]);
        case ValueForm::Memory: return false;
    }
    OCKC_UNREACHABLE("form of a value");
}

const Layout& variant_of(const Layout& shape, std::uint32_t variant) {
    // No value is of a variant with a field of an uninhabited type: it has no bytes and no layout of its own.
    static const Layout absent = [] {
        Layout layout;
        layout.abi = types::AbiKind::Uninhabited;
        return layout;
    }();
    if (shape.variants_kind == VariantsKind::Multiple) return shape.variants[variant];
    return variant == shape.single_variant ? shape : absent;
}

namespace {

class ValueLocals {
  public:
    ValueLocals(const mir::Body& body, const BodyTypes& types) : body_(body), module_(types.module), concrete_(types.concrete), layouts_(types.locals) {
        possible_.reserve(layouts_.size());
        for (const Layout* layout : layouts_) {
            const ValueForm form = form_of(*layout);
            possible_.push_back(form == ValueForm::Scalar || form == ValueForm::Pair);
        }
    }

    std::vector<bool> run() {
        for (const mir::BasicBlock& block : body_.blocks) {
            for (const mir::Statement& statement : block.statements) {
                if (const auto* assign = statement.get_if<mir::AssignStatement>()) {
                    access(assign->place);
                    look_at(assign->value);
                } else if (const auto* set = statement.get_if<mir::SetDiscriminantStatement>()) {
                    access_tag(set->place);
                }
            }
            look_at(block.terminator);
        }
        return std::move(possible_);
    }

  private:
    // What a place comes to before its first deref.
    struct Part {
        std::uint64_t offset = 0;
        const Layout* layout = nullptr;
        bool through_pointer = false;   // the part is the pointer
        bool good = true;
    };
    Part part_of(const mir::Place& place) {
        Part part{0, layouts_[place.local.raw], false, true};
        for (const mir::Projection& step : place.projections) {
            switch (step.kind) {
                case mir::ProjectionKind::Deref: part.through_pointer = true; return part;
                case mir::ProjectionKind::Field: {
                    const Layout& from = *part.layout;
                    if (step.index < from.offsets.size()) part.offset += from.offsets[step.index];
                    part.layout = &module_.layout(concrete_(step.type));
                    break;
                }
                case mir::ProjectionKind::Downcast: part.layout = &variant_of(*part.layout, step.index); break;
                case mir::ProjectionKind::Index:
                case mir::ProjectionKind::ConstantIndex:
                case mir::ProjectionKind::Subslice: part.good = false; return part;
            }
        }
        return part;
    }

    bool is_possible(const mir::Place& place) const { return possible_[place.local.raw]; }
    void settle(const mir::Place& place, bool good) {
        if (!good) possible_[place.local.raw] = false;
    }
    void access(const mir::Place& place) {
        if (!is_possible(place)) return;
        const Part part = part_of(place);
        settle(place, part.good && is_component(*layouts_[place.local.raw], part.offset, *part.layout));
    }
    void access_tag(const mir::Place& place) {
        if (!is_possible(place)) return;
        const Part part = part_of(place);
        if (part.through_pointer) return access(place);
        const bool tagged = part.layout->variants_kind == VariantsKind::Multiple;
        settle(place, part.good && (!tagged || is_component(*layouts_[place.local.raw], part.offset + part.layout->tag_offset, part.layout->tag)));
    }
    // An address, or the length of what is behind one, is asked for.
    void refer(const mir::Place& place) {
        if (!is_possible(place)) return;
        if (part_of(place).through_pointer) return access(place);
        settle(place, false);
    }
    void access(const mir::Operand& operand) {
        if (!operand.is_constant()) access(operand.place);
    }

    void look_at(const mir::Rvalue& value) {
        switch (mir::kind(value)) {
            case mir::RvalueKind::None:
            case mir::RvalueKind::NullaryOp: return;
            case mir::RvalueKind::Use: return access(std::get<mir::UseRvalue>(value.data).operand);
            case mir::RvalueKind::Repeat: return access(std::get<mir::RepeatRvalue>(value.data).operand);
            case mir::RvalueKind::Ref: return refer(std::get<mir::RefRvalue>(value.data).place);
            case mir::RvalueKind::RawPtr: return refer(std::get<mir::RawPtrRvalue>(value.data).place);
            case mir::RvalueKind::Len: return refer(std::get<mir::LenRvalue>(value.data).place);
            case mir::RvalueKind::Cast: return access(std::get<mir::CastRvalue>(value.data).operand);
            case mir::RvalueKind::BinaryOp: {
                const auto& node = std::get<mir::BinaryOpRvalue>(value.data);
                access(node.lhs);
                return access(node.rhs);
            }
            case mir::RvalueKind::CheckedBinaryOp: {
                const auto& node = std::get<mir::CheckedBinaryOpRvalue>(value.data);
                access(node.lhs);
                return access(node.rhs);
            }
            case mir::RvalueKind::UnaryOp: return access(std::get<mir::UnaryOpRvalue>(value.data).operand);
            case mir::RvalueKind::Discriminant: return access_tag(std::get<mir::DiscriminantRvalue>(value.data).place);
            case mir::RvalueKind::Aggregate:
                for (const mir::Operand& one : std::get<mir::AggregateRvalue>(value.data).operands) access(one);
                return;
        }
    }

    void look_at(const mir::Terminator& terminator) {
        if (const auto* node = terminator.get_if<mir::SwitchIntTerminator>()) access(node->operand);
        if (const auto* node = terminator.get_if<mir::DropTerminator>()) {
            check::Context& context = module_.context();
            if (context.needs_drop(concrete_(body_.type_of(node->place)), context.empty_env())) refer(node->place);
        }
        if (const auto* node = terminator.get_if<mir::CallTerminator>()) {
            access(node->callee);
            for (const mir::Operand& one : node->args) access(one);
            access(node->destination);
        }
        if (const auto* node = terminator.get_if<mir::AssertTerminator>()) {
            access(node->condition);
            access(node->a);
            access(node->b);
        }
    }

    const mir::Body& body_;
    ModuleLowering& module_;
    const std::function<TypeId(TypeId)>& concrete_;
    const std::vector<const Layout*>& layouts_;   // by mir::LocalId
    std::vector<bool> possible_;           // by mir::LocalId
};

}  // namespace

std::vector<bool> find_value_locals(const mir::Body& body, const BodyTypes& types) { return ValueLocals(body, types).run(); }

}  // namespace ockc::lower
