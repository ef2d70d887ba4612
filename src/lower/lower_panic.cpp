// Failed checks: those that the language makes, and panic!, assert! and their relatives with the values of their messages.
#include <fmt/format.h>

#include "abi/panic_record.hpp"
#include "lower/function_lowering.hpp"

namespace ockc::lower {

using types::TypeKind;

// The table's text with the operator's verb filled in; {} stands for each operand, in the order of the panic's values.
std::string FunctionLowering::assert_message(const mir::AssertTerminator& node) {
    std::string text(mir::assert_text(node.kind));
    const auto replace = [&](std::string_view what, std::string_view with) {
        if (const auto at = text.find(what); at != std::string::npos) text.replace(at, what.size(), with);
    };
    replace("{op}", mir::binop_verb(node.op));
    replace("{a}", "{}");
    replace("{b}", "{}");
    return text;
}

void FunctionLowering::lower_assert(const mir::AssertTerminator& node, Span span) {
    const ir::ValueId condition = scalar_operand(node.condition);
    const ir::BlockId good = block_of(node.target), bad = function_.add_block();
    function_.blocks[bad].cold = true;
    if (node.expected) {
        builder_.br(condition, good, bad);
    } else {
        builder_.br(condition, bad, good);
    }
    builder_.at_end(bad);
    std::string text = assert_message(node);
    std::vector<ir::ValueId> values;
    if (text.find("{}") != std::string::npos) values = {scalar_operand(node.a), scalar_operand(node.b)};
    builder_.panic(module_.panic_site(span, std::move(text)), values);
}

namespace {

// What runtime/include/ock/panic_text.hpp calls a type of values that a message can show; empty for all others.
std::string word_type(const types::TypeData& type) {
    switch (type.kind) {
        case TypeKind::Bool: return "bool";
        case TypeKind::Char: return "char";
        case TypeKind::Int: return fmt::format("{}{}", types::int_signed(type.int_kind) ? 'i' : 'u', types::int_bits(type.int_kind));
        case TypeKind::Float: return std::string(types::float_name(type.float_kind));
        default: return {};
    }
}

}  // namespace

// The value behind the references of `shown` as words of the panic record; false when its type has none.
bool FunctionLowering::message_words(const mir::Operand& shown, std::string& type, std::vector<ir::ValueId>& words) {
    Value value = operand(shown);
    const auto pointee = [&](TypeId of) {
        while (types_.kind(of) == TypeKind::Ref) of = types_[of].element;
        return of;
    };
    type = word_type(types_[pointee(value.type)]);
    if (type.empty()) return false;
    while (types_.kind(value.type) == TypeKind::Ref) value = through_reference(value);
    ir::ValueId word = value.a;
    const ir::Type held = function_.type_of(word);
    if (ir::is_float(held)) word = reinterpret(word, ir::type_bits(held) == 64 ? ir::Type::I64 : ir::type_bits(held) == 32 ? ir::Type::I32 : ir::Type::I16);
    if (held != ir::Type::I128) {
        words.push_back(word);
        return true;
    }
    const ir::ValueId high = builder_.binary(ir::Op::Lshr, ir::Type::I128, word, builder_.const_int(ir::Type::I32, 64));
    words.push_back(builder_.convert(ir::Op::Trunc, ir::Type::I64, word));
    words.push_back(builder_.convert(ir::Op::Trunc, ir::Type::I64, high));
    return true;
}

// The holes of the message get the types of their values; `..` stands for what the record cannot hold: texts, records and the
// values beyond its words.
void FunctionLowering::lower_panic(const mir::PanicTerminator& node, Span span) {
    function_.blocks[builder_.block()].cold = true;
    std::string text;
    std::vector<ir::ValueId> values;
    std::size_t next = 0;
    for (std::size_t at = 0; at < node.message.size(); ++at) {
        const char c = node.message[at];
        text += c;
        if (c != '{' && c != '}') continue;
        if (at + 1 < node.message.size() && node.message[at + 1] == c) {
            text += node.message[++at];
            continue;
        }
        const std::size_t end = node.message.find('}', at);
        OCKC_CHECK(c == '{' && end != std::string_view::npos && next < node.args.size());
        std::string type;
        std::vector<ir::ValueId> words;
        if (message_words(node.args[next++], type, words) && values.size() + words.size() <= abi::kPanicWords) {
            text += type;
            text += node.message.substr(at + 1, end - at);
            values.insert(values.end(), words.begin(), words.end());
        } else {
            text.back() = '.';
            text += '.';
        }
        at = end;
    }
    builder_.panic(module_.panic_site(span, std::move(text)), values);
}

}  // namespace ockc::lower
