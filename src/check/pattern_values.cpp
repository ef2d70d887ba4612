// Literal and constant patterns as values.
#include "check/literal_value.hpp"
#include "check/passes.hpp"

namespace ockc::check {

using hir::DefKind;

namespace {

class PatternValues {
  public:
    PatternValues(Context& context, TypeTables& tables)
        : cx_(context), types_(context.types()), tables_(tables), body_(*context.program().bodies[tables.body]) {}

    void run() {
        for (std::uint32_t i = 0; i < body_.pats.size(); ++i) {
            const hir::PatId id(i);
            if (const ConstValue* value = value_of(id)) tables_.pat_values.set(id, value);
        }
    }

  private:
    const ConstValue* value_of(hir::PatId id) {
        const hir::Pat& pat = body_.pats[id];
        if (const auto* literal = std::get_if<hir::LiteralPat>(&pat.data)) return literal_value(*literal, tables_.type(id));
        const ItemRef item = tables_.pat_items[id];
        if (!item.valid()) return nullptr;
        const DefKind kind = cx_.program().defs[item.def].kind;
        if (kind != DefKind::Const && kind != DefKind::AssocConst && kind != DefKind::AnonConst) return nullptr;
        if (types_.has(item.args, types::kHasParam)) {
            cx_.sink().error(Code::E0158, pat.span, "constant pattern cannot depend on generic parameters").label(pat.span, "`const` depends on a generic parameter");
            return nullptr;
        }
        return cx_.eval_const(item);
    }

    ConstValue* make(ConstValue::Kind kind, TypeId type) {
        ConstValue* value = cx_.state().arena.make<ConstValue>();
        value->kind = kind;
        value->type = type;
        return value;
    }

    const ConstValue* literal_value(const hir::LiteralPat& pattern, TypeId type) {
        const hir::Literal& literal = pattern.value;
        if (literal.kind == hir::Literal::Kind::Str) {
            ConstValue* text = make(ConstValue::Kind::Bytes, types_.str);
            text->bytes = literal.text;
            ConstValue* reference = make(ConstValue::Kind::Ref, type);
            reference->target = text;
            return reference;
        }
        if (literal.kind == hir::Literal::Kind::ByteStr) return byte_string(literal, type);
        const ConstId scalar = scalar_literal(types_, literal, type);
        if (!scalar.valid()) return nullptr;
        ConstValue* value = make(ConstValue::Kind::Scalar, type);
        value->bits = types_[scalar].bits;
        if (pattern.negative) negate(*value);
        return value;
    }

    const ConstValue* byte_string(const hir::Literal& literal, TypeId type) {
        const TypeId byte = types_.int_type(types::IntKind::U8);
        std::vector<const ConstValue*> bytes;
        for (const char c : literal.text) {
            ConstValue* value = make(ConstValue::Kind::Scalar, byte);
            value->bits[0] = static_cast<unsigned char>(c);
            bytes.push_back(value);
        }
        ConstValue* array = make(ConstValue::Kind::Aggregate, types_.array(byte, types_.const_usize(bytes.size())));
        array->fields = cx_.state().arena.copy(std::span<const ConstValue* const>(bytes));
        ConstValue* reference = make(ConstValue::Kind::Ref, type);
        reference->target = array;
        return reference;
    }

    void negate(ConstValue& value) {
        const TypeData& data = types_[value.type];
        if (data.kind == TypeKind::Float) {
            value.bits[0] ^= std::uint64_t{1} << (types::float_bits(data.float_kind) - 1);
            return;
        }
        unsigned __int128 raw = -(static_cast<unsigned __int128>(value.bits[1]) << 64 | value.bits[0]);
        const std::uint32_t bits = data.kind == TypeKind::Int ? types::int_bits(data.int_kind) : 64;
        if (bits < 128) raw &= (static_cast<unsigned __int128>(1) << bits) - 1;
        value.bits = {static_cast<std::uint64_t>(raw), static_cast<std::uint64_t>(raw >> 64)};
    }

    Context& cx_;
    TypeStore& types_;
    TypeTables& tables_;
    const hir::Body& body_;
};

}  // namespace

void fill_pattern_values(Context& context, TypeTables& tables) { PatternValues(context, tables).run(); }

}  // namespace ockc::check
