// Promoted constants (`&EXPR` that lives for ever) by running their MIR at compile time over bytes. A promoted body is a
// straight line of literals, aggregates, copies, casts and references to constants.
#include <algorithm>
#include <cstring>

#include "lower/eval_scalar.hpp"
#include "lower/function_lowering.hpp"

namespace ockc::lower {

namespace {

// Runs one promoted body; every local is an image.
class PromotedEvaluator {
  public:
    PromotedEvaluator(ModuleLowering& module, const mir::Body& body, std::span<const types::GenericArg> args)
        : module_(module), types_(module.types()), body_(body), args_(args) {
        for (const mir::Local& local : body.locals) locals_.push_back(blank(module.layout(module.subst(local.type, args)).size));
    }
    bool run() {
        mir::BlockId at{0};
        for (std::size_t steps = 0; steps <= body_.blocks.size(); ++steps) {   // straight-line: no block comes twice
            for (const mir::Statement& statement : body_.blocks[at].statements) {
                const auto* assign = statement.get_if<mir::AssignStatement>();
                if (assign != nullptr && !this->assign(*assign)) return false;
            }
            const mir::Terminator& end = body_.blocks[at].terminator;
            if (end.kind() == mir::TerminatorKind::Return) return true;
            if (const auto* node = end.get_if<mir::GotoTerminator>()) {
                at = node->target;
            } else if (const auto* check = end.get_if<mir::AssertTerminator>()) {   // divisions by constants: holds
                at = check->target;
            } else {
                return false;
            }
        }
        return false;
    }
    const ConstImage& result() const { return locals_[0]; }

  private:
    static ConstImage blank(std::uint64_t size) { return {std::vector<std::uint8_t>(size), {}}; }
    TypeId subst(TypeId type) { return module_.subst(type, args_); }

    // The offset of a place made of fields only; nothing for any other.
    std::optional<std::uint64_t> offset(const mir::Place& place) {
        std::uint64_t at = 0;
        TypeId type = subst(body_.locals[place.local].type);
        for (const mir::Projection& step : place.projections) {
            if (step.kind == mir::ProjectionKind::Field) {
                at += module_.layout(type).offsets[step.index];
            } else if (step.kind == mir::ProjectionKind::ConstantIndex && !step.from_end) {
                at += module_.layout(type).stride * step.offset;
            } else if (step.kind != mir::ProjectionKind::Downcast) {
                return std::nullopt;
            }
            type = subst(step.type);
        }
        return at;
    }

    std::optional<ConstImage> operand(const mir::Operand& operand) {
        if (!operand.is_constant()) {
            const auto at = offset(operand.place);
            if (!at) return std::nullopt;
            const std::uint64_t size = module_.layout(subst(body_.type_of(operand.place))).size;
            const ConstImage& from = locals_[operand.place.local.raw];
            ConstImage part;
            const auto begin = from.bytes.begin() + static_cast<std::ptrdiff_t>(*at);
            part.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
            for (const ir::Relocation& one : from.relocations) {
                if (one.offset >= *at && one.offset < *at + size) part.relocations.push_back({one.offset - *at, one.target});
            }
            return part;
        }
        const mir::Constant& constant = body_.constants[operand.constant];
        ConstImage image = blank(module_.layout(subst(constant.type)).size);
        std::vector<std::uint8_t>& bytes = image.bytes;
        switch (constant.kind) {
            case mir::Constant::Kind::ZeroSized: return image;
            case mir::Constant::Kind::Scalar: {
                const std::uint64_t bits[2] = {constant.low, constant.high};
                std::memcpy(bytes.data(), bits, std::min(bytes.size(), sizeof bits));
                return image;
            }
            case mir::Constant::Kind::Item: {
                const types::ArgsId args = types_.subst(constant.args, args_);
                const ConstValue* value = module_.context().eval_const({constant.def, args});
                return value != nullptr ? std::optional(module_.image_of(*value)) : std::nullopt;
            }
            case mir::Constant::Kind::Param:
            case mir::Constant::Kind::Const: {
                const types::ConstId id = module_.context().normalize(types_.subst(constant.value, args_), module_.context().empty_env());
                std::memcpy(bytes.data(), types_[id].bits.data(), std::min<std::size_t>(bytes.size(), 16));
                return image;
            }
            case mir::Constant::Kind::Static: return pointing(std::move(image), module_.static_global(constant.def), 0);
            case mir::Constant::Kind::Promoted: return reference(std::move(image), *body_.promoted[constant.index]);
            case mir::Constant::Kind::Str:
            case mir::Constant::Kind::Bytes: {
                const ir::GlobalId text = module_.bytes_global({constant.text.begin(), constant.text.end()}, 1);
                return pointing(std::move(image), text, constant.text.size());
            }
        }
        return std::nullopt;
    }

    // An address, and the length beside it when the pointer is wide.
    static ConstImage pointing(ConstImage pointer, ir::GlobalId target, std::uint64_t length) {
        pointer.relocations.push_back({0, target});
        if (pointer.bytes.size() == 16) std::memcpy(pointer.bytes.data() + 8, &length, 8);
        return pointer;
    }

    std::optional<ConstImage> reference(ConstImage pointer, const mir::Body& promoted) {
        PromotedEvaluator inner(module_, promoted, args_);
        if (!inner.run()) return std::nullopt;
        const Layout& shape = module_.layout(subst(promoted.locals[mir::kReturnLocal].type));
        return pointing(std::move(pointer), module_.image_global(inner.result(), shape.align), shape.count);
    }

    bool put(const mir::Place& place, std::uint64_t extra, const ConstImage& image) {
        const auto at = offset(place);
        if (!at) return false;
        ConstImage& to = locals_[place.local.raw];
        std::copy(image.bytes.begin(), image.bytes.end(), to.bytes.begin() + static_cast<std::ptrdiff_t>(*at + extra));
        for (const ir::Relocation& one : image.relocations) to.relocations.push_back({*at + extra + one.offset, one.target});
        return true;
    }

    bool assign(const mir::AssignStatement& node) {
        const TypeId type = subst(body_.type_of(node.place));
        const Layout& shape = module_.layout(type);
        if (const auto* use = std::get_if<mir::UseRvalue>(&node.value.data)) {
            const auto bytes = operand(use->operand);
            return bytes && put(node.place, 0, *bytes);
        }
        if (const auto* repeat = std::get_if<mir::RepeatRvalue>(&node.value.data)) {
            const auto bytes = operand(repeat->operand);
            for (std::uint64_t i = 0; bytes && i < shape.count; ++i) {
                if (!put(node.place, i * shape.stride, *bytes)) return false;
            }
            return bytes.has_value();
        }
        if (const auto* aggregate = std::get_if<mir::AggregateRvalue>(&node.value.data)) return assign_aggregate(node.place, *aggregate, type);
        const auto* cast = std::get_if<mir::CastRvalue>(&node.value.data);
        if (cast != nullptr && cast->cast == mir::CastKind::Unsize) {
            return unsize(node.place, *cast, shape.size);
        }
        if (cast != nullptr && (cast->cast == mir::CastKind::ReifyFn || cast->cast == mir::CastKind::ClosureFn)) {
            ConstImage image = blank(shape.size);
            const std::uint64_t bits = module_.fn_address(subst(body_.type_of(cast->operand)));
            std::memcpy(image.bytes.data(), &bits, sizeof bits);
            return put(node.place, 0, image);
        }
        if (cast != nullptr && (cast->cast == mir::CastKind::PtrToPtr || cast->cast == mir::CastKind::ArrayToPointer)) {
            std::optional<ConstImage> image = operand(cast->operand);
            if (image) image->bytes.resize(shape.size);
            return image && put(node.place, 0, *image);
        }
        const std::optional<Bits> bits = scalar(node.value, type);
        if (!bits) return false;
        ConstImage image = blank(shape.size);
        std::memcpy(image.bytes.data(), &*bits, std::min<std::size_t>(shape.size, sizeof *bits));
        return put(node.place, 0, image);
    }

    // `&[T; N]` to `&[T]`: the length comes beside the address.
    bool unsize(const mir::Place& place, const mir::CastRvalue& node, std::uint64_t size) {
        const TypeId from = subst(body_.type_of(node.operand));
        std::optional<ConstImage> image = operand(node.operand);
        const types::TypeKind kind = types_.kind(from);
        if (!image || size != 16 || (kind != types::TypeKind::Ref && kind != types::TypeKind::RawPtr)) return false;
        const std::uint64_t length = module_.layout(types_[from].element).count;
        image->bytes.resize(16);
        std::memcpy(image->bytes.data() + 8, &length, 8);
        return put(place, 0, *image);
    }

    bool assign_aggregate(const mir::Place& place, const mir::AggregateRvalue& node, TypeId type) {
        const Layout& shape = module_.layout(type);
        const bool multiple = shape.variants_kind == types::VariantsKind::Multiple;
        const Layout& fields = multiple ? shape.variants[node.kind.variant] : shape;
        for (std::size_t i = 0; i < node.operands.size(); ++i) {
            const auto bytes = operand(node.operands[i]);
            const std::uint64_t at = types_.kind(type) == types::TypeKind::Array ? i * shape.stride : fields.offsets[i];
            if (!bytes || !put(place, at, *bytes)) return false;
        }
        const auto at = offset(place);
        if (multiple && at) module_.encode_tag(type, node.kind.variant, std::span(locals_[place.local.raw].bytes).subspan(*at, shape.size));
        return true;
    }

    std::optional<Bits> bits_of(const mir::Operand& one) {
        const auto image = operand(one);
        if (!image || image->bytes.size() > sizeof(Bits) || !image->relocations.empty()) return std::nullopt;
        Bits bits = 0;
        std::memcpy(&bits, image->bytes.data(), image->bytes.size());
        return bits;
    }

    std::optional<Bits> scalar(const mir::Rvalue& value, TypeId type) {
        if (const auto* node = std::get_if<mir::UnaryOpRvalue>(&value.data)) {
            const auto a = bits_of(node->operand);
            return a ? eval_unary(types_, node->op, type, *a) : std::nullopt;
        }
        if (const auto* node = std::get_if<mir::BinaryOpRvalue>(&value.data)) {
            const auto a = bits_of(node->lhs), b = bits_of(node->rhs);
            return a && b ? eval_binary(types_, node->op, subst(body_.type_of(node->lhs)), *a, *b) : std::nullopt;
        }
        if (const auto* node = std::get_if<mir::CastRvalue>(&value.data)) {
            const auto a = bits_of(node->operand);
            return a ? eval_cast(types_, node->cast, subst(body_.type_of(node->operand)), type, *a) : std::nullopt;
        }
        if (const auto* node = std::get_if<mir::DiscriminantRvalue>(&value.data)) {
            const auto image = operand(mir::Operand::copy(node->place));
            return image ? std::optional<Bits>(module_.decode_discriminant(subst(body_.type_of(node->place)), image->bytes)) : std::nullopt;
        }
        return std::nullopt;
    }

    ModuleLowering& module_;
    types::TypeStore& types_;
    const mir::Body& body_;
    std::span<const types::GenericArg> args_;
    std::vector<ConstImage> locals_;
};

}  // namespace

Value FunctionLowering::promoted_reference(const mir::Body& promoted, TypeId value_type, TypeId type) {
    PromotedEvaluator evaluator(module_, promoted, args_);
    ir::ValueId at;
    if (layout(value_type).size == 0) {
        at = address({{}, 0, {}, value_type, &layout(value_type)});
    } else {
        OCKC_CHECK(evaluator.run());   // what is promoted can be computed
        at = generic_address(module_.image_global(evaluator.result(), layout(value_type).align));
    }
    if (form_of(layout(type)) != ValueForm::Pair) return scalar_value(type, at);
    return {type, ValueForm::Pair, at, builder_.const_int(ir::Type::I64, layout(value_type).count), {}};
}

}  // namespace ockc::lower
