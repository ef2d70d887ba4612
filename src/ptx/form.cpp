// The tables of form.hpp, generated from the .def files. A row's syntax and operand strings are taken apart
// at compile time: a slot name or operand class that does not exist fails the build.
#include "ptx/form.hpp"

#include <array>
#include <iterator>
#include <string_view>

namespace ockc::ptx {

namespace {

// ---------------------------------------------------------------------------------------------------- words
// and names

constexpr TypeInfo kTypes[] = {
    {"", 0, TypeKind::None},
#define OCKC_PTX_TYPE(name, text, bits, kind) {text, bits, TypeKind::kind},
#include "ptx/types.def"
};

constexpr RegClassInfo kRegClasses[] = {
#define OCKC_PTX_REG_CLASS(name, prefix, type, bits) {prefix, Type::type, bits},
#include "ptx/types.def"
};

constexpr std::string_view kTypeTexts[] = {
    "",
#define OCKC_PTX_TYPE(name, text, bits, kind) text,
#include "ptx/types.def"
};
constexpr std::string_view kSpaceTexts[] = {
    "",
#define OCKC_PTX_SPACE(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kSemTexts[] = {
    "",
#define OCKC_PTX_SEM(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kScopeTexts[] = {
    "",
#define OCKC_PTX_SCOPE(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kCacheTexts[] = {
    "",
#define OCKC_PTX_CACHE(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kVecTexts[] = {
    "",
#define OCKC_PTX_VEC(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kCmpTexts[] = {
    "",
#define OCKC_PTX_CMP(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kBoolTexts[] = {
    "",
#define OCKC_PTX_BOOL(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kRoundTexts[] = {
    "",
#define OCKC_PTX_ROUND(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kModeTexts[] = {
    "",
#define OCKC_PTX_MODE(name, text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kColumnsK8Texts[] = {
    "",
#define OCKC_PTX_COLUMNS(k8, k16, k32, k256) k8,
#include "ptx/mods.def"
};
constexpr std::string_view kColumnsK16Texts[] = {
    "",
#define OCKC_PTX_COLUMNS(k8, k16, k32, k256) k16,
#include "ptx/mods.def"
};
constexpr std::string_view kColumnsK32Texts[] = {
    "",
#define OCKC_PTX_COLUMNS(k8, k16, k32, k256) k32,
#include "ptx/mods.def"
};
constexpr std::string_view kColumnsK256Texts[] = {
    "",
#define OCKC_PTX_COLUMNS(k8, k16, k32, k256) k256,
#include "ptx/mods.def"
};
constexpr std::string_view kDimsTexts[] = {
    "",
#define OCKC_PTX_DIMS(text) text,
#include "ptx/mods.def"
};
constexpr std::string_view kFtzTexts[] = {"", "ftz"};
constexpr std::string_view kSatTexts[] = {"", "sat"};
constexpr std::string_view kSatFiniteTexts[] = {"", "satfinite"};
constexpr std::string_view kNanTexts[] = {"", "NaN"};
constexpr std::string_view kCarryTexts[] = {"", "cc"};
constexpr std::string_view kUniTexts[] = {"", "uni"};
constexpr std::string_view kShiftAmountTexts[] = {"", "shiftamt"};

constexpr std::span<const std::string_view> texts_of(Field field) {
    switch (field) {
        case Field::Literal: return {};
        case Field::Type:
        case Field::SourceType:
        case Field::OtherType: return kTypeTexts;
        case Field::Space: return kSpaceTexts;
        case Field::Sem: return kSemTexts;
        case Field::Scope: return kScopeTexts;
        case Field::Cache: return kCacheTexts;
        case Field::Vec: return kVecTexts;
        case Field::Cmp: return kCmpTexts;
        case Field::Bool: return kBoolTexts;
        case Field::Round: return kRoundTexts;
        case Field::Mode: return kModeTexts;
        case Field::Ftz: return kFtzTexts;
        case Field::Sat: return kSatTexts;
        case Field::SatFinite: return kSatFiniteTexts;
        case Field::NanFlag: return kNanTexts;
        case Field::CarryOut: return kCarryTexts;
        case Field::UniFlag: return kUniTexts;
        case Field::ShiftAmount: return kShiftAmountTexts;
        case Field::ColumnsK8: return kColumnsK8Texts;
        case Field::ColumnsK16: return kColumnsK16Texts;
        case Field::ColumnsK32: return kColumnsK32Texts;
        case Field::ColumnsK256: return kColumnsK256Texts;
        case Field::Dims: return kDimsTexts;
    }
    return {};
}

constexpr std::uint64_t bits(auto... values) {
    return (std::uint64_t{0} | ... | (std::uint64_t{1} << static_cast<unsigned>(values)));
}

// Every multiple of 8 up to 256; with integers 8, 24 and the multiples of 16.
constexpr std::uint64_t kAllColumns = ((std::uint64_t{1} << 32) - 1) << 1;
constexpr std::uint64_t kIntegerColumns = [] {
    std::uint64_t columns = bits(1, 3);
    for (unsigned n = 2; n <= 32; n += 2) columns |= bits(n);
    return columns;
}();

struct Slot {
    std::string_view name;
    Field field;
    std::uint64_t allowed;
};
constexpr Slot kSlots[] = {
#define OCKC_PTX_SLOT(name, field, allowed) {name, Field::field, (allowed)},
#include "ptx/mods.def"
};

struct ModFloor {
    Field field;
    std::uint32_t value;
    Floor floor;
};
constexpr ModFloor kModFloors[] = {
#define OCKC_PTX_MOD_FLOOR(field, value, sm, ptx) \
    {Field::field, static_cast<std::uint32_t>(value), {sm, ptx}},
#include "ptx/mods.def"
};

// ------------------------------------------------------------------------------------- rows, taken apart
// while compiling

// Flag slots stand for one word; where the syntax always has that word (`add.cc`) it is a literal.
constexpr Word word_named(std::string_view name, bool optional) {
    for (const Slot& slot : kSlots) {
        if (slot.name != name) continue;
        const bool flag = slot.allowed == 1;
        if (flag && !optional) break;
        return {name, slot.field, optional, flag ? std::uint64_t{2} : slot.allowed};
    }
    return {name, Field::Literal, optional, 0};
}

consteval void parse_syntax(FormInfo& info) {
    const std::string_view text = info.syntax;
    std::size_t at = text.find_first_of(".{");
    if (at == std::string_view::npos) at = text.size();
    info.mnemonic = text.substr(0, at);
    while (at < text.size()) {
        const bool optional = text[at] == '{';
        if (optional) ++at;
        if (text[at] != '.') throw "a word of the syntax starts with a dot";
        ++at;
        std::size_t end = text.find_first_of(".{}", at);
        if (end == std::string_view::npos) end = text.size();
        const Word word = word_named(text.substr(at, end - at), optional);
        if (optional && word.field == Field::Literal) throw "an optional word needs a slot";
        if (info.word_count == kMaxWords) throw "kMaxWords is too small";
        info.words[info.word_count++] = word;
        at = end;
        if (optional) {
            if (text[at] != '}') throw "unclosed optional word";
            ++at;
        }
    }
}

consteval Role role_of(char c) {
    switch (c) {
        case 'd': return Role::Dest;
        case 'o': return Role::Sink;
        case 's': return Role::Source;
        case 'r': return Role::SourceReg;
        case 'x': return Role::SourceAny;
        case 'i': return Role::Immediate;
        case 'v': return Role::VectorOrReg;
        case 'l': return Role::List;
        case 'u': return Role::Updated;
        case 'I': return Role::Immediates;
        case 'm': return Role::Address;
        case 'T': return Role::TensorMap;
        case 'L': return Role::Label;
        case 'F': return Role::Function;
        case 'P': return Role::Params;
        default: throw "unknown operand role";
    }
}

consteval OperandType operand_type_of(char c) {
    switch (c) {
        case 't': return OperandType::Type;
        case 'u': return OperandType::SourceType;
        case 'w': return OperandType::Wide;
        case 'e': return OperandType::Element;
        case 'p': return OperandType::Predicate;
        case '2': return OperandType::Bytes2;
        case '4': return OperandType::Bytes4;
        case '8': return OperandType::Bytes8;
        default: throw "unknown operand class";
    }
}

consteval void parse_operands(FormInfo& info, std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        OperandSpec spec;
        spec.joined = text[at] == '|';
        if (spec.joined) ++at;
        spec.role = role_of(text[at++]);
        if (at < text.size() && text[at] == ':') {
            spec.type = operand_type_of(text[at + 1]);
            at += 2;
        }
        spec.optional = at < text.size() && text[at] == '?';
        if (spec.optional) ++at;
        if (at < text.size() && text[at++] != ' ') throw "operands are separated by one space";
        if (info.operand_count == kMaxOperands) throw "kMaxOperands is too small";
        info.operands[info.operand_count++] = spec;
    }
}

consteval FormInfo row(std::string_view name, std::string_view syntax, TypeSet types, TypeSet source_types,
                       std::string_view operands, std::uint16_t sm, std::uint16_t ptx, Effects effects,
                       std::string_view doc) {
    FormInfo info;
    info.name = name;
    info.syntax = syntax;
    info.doc = doc;
    info.types = types;
    info.source_types = source_types;
    info.sm = sm;
    info.ptx = ptx;
    info.effects = effects;
    parse_syntax(info);
    parse_operands(info, operands);
    for (std::size_t i = 0; i < info.operand_count; ++i) {
        const Role role = info.operands[i].role;
        // A store's vector is read, a load's is written: the only role that goes both ways.
        const bool written = role == Role::Dest || role == Role::Updated || (role == Role::List && i == 0) || (role == Role::VectorOrReg && name != "St");
        if (written) info.defs |= static_cast<std::uint8_t>(1u << i);
        if (role == Role::Updated) info.updates |= static_cast<std::uint8_t>(1u << i);
    }
    return info;
}

constexpr FormInfo kForms[] = {
#define OCKC_PTX_FORM(name, syntax, types, stypes, operands, sm, ptx, effects, doc) \
    row(#name, syntax, types, stypes, operands, sm, ptx, Effects::effects, doc),
#include "ptx/instr.def"
};

// Rows about combinations of a form's types.
struct TypePair {
    Form form;
    TypeSet types;
    TypeSet source_types;
    Floor floor;

    bool matches(Form f, const Mods& mods) const {
        return form == f && contains(types, mods.type) && contains(source_types, mods.source_type);
    }
};
constexpr TypePair kTypeFloors[] = {
#define OCKC_PTX_TYPE_FLOOR(name, types, stypes, sm, ptx) {Form::name, types, stypes, {sm, ptx}},
#include "ptx/instr.def"
};
struct OnlySpecific {
    Form form;
    Only only;
};
constexpr OnlySpecific kSpecific[] = {
#define OCKC_PTX_SPECIFIC(name, only) {Form::name, Only::only},
#include "ptx/instr.def"
};
constexpr TypePair kNoPairs[] = {
#define OCKC_PTX_NO_PAIR(name, types, stypes) {Form::name, types, stypes, {}},
#include "ptx/instr.def"
};

constexpr SpecialInfo kSpecials[] = {
#define OCKC_PTX_SPECIAL(name, text, bits, sm, ptx) {text, bits, sm, ptx},
#include "ptx/special.def"
};

constexpr TargetInfo kTargets[] = {
#define OCKC_PTX_TARGET(name, text, sm, ptx, shared, shared_optin, threads, registers, specific) \
    {text, sm, ptx, shared, shared_optin, threads, registers, specific},
#include "ptx/target.def"
};

// Forms sorted by mnemonic, table order kept among equals: forms_of is a binary search.
consteval std::array<Form, kFormCount> sort_forms() {
    std::array<Form, kFormCount> order{};
    for (std::size_t i = 0; i < kFormCount; ++i) {
        std::size_t at = i;
        while (at > 0 && kForms[i].mnemonic < kForms[static_cast<std::size_t>(order[at - 1])].mnemonic) {
            order[at] = order[at - 1];
            --at;
        }
        order[at] = static_cast<Form>(i);
    }
    return order;
}
constexpr std::array<Form, kFormCount> kByMnemonic = sort_forms();

void raise(Floor& floor, Floor by) {
    if (by.sm > floor.sm) floor.sm = by.sm;
    if (by.ptx > floor.ptx) floor.ptx = by.ptx;
}

}  // namespace

const TypeInfo& type_info(Type type) {
    return kTypes[static_cast<std::size_t>(type)];
}
const RegClassInfo& reg_class_info(RegClass reg_class) {
    return kRegClasses[static_cast<std::size_t>(reg_class)];
}

std::string_view text(Space value) {
    return kSpaceTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Sem value) {
    return kSemTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Scope value) {
    return kScopeTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Cache value) {
    return kCacheTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Vec value) {
    return kVecTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Cmp value) {
    return kCmpTexts[static_cast<std::size_t>(value)];
}
std::string_view text(BoolOp value) {
    return kBoolTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Round value) {
    return kRoundTexts[static_cast<std::size_t>(value)];
}
std::string_view text(Mode value) {
    return kModeTexts[static_cast<std::size_t>(value)];
}

std::uint32_t get_field(const Mods& mods, Field field) {
    switch (field) {
        case Field::Literal: return 0;
        case Field::Type: return static_cast<std::uint32_t>(mods.type);
        case Field::SourceType: return static_cast<std::uint32_t>(mods.source_type);
        case Field::OtherType: return static_cast<std::uint32_t>(mods.other_type);
        case Field::Space: return static_cast<std::uint32_t>(mods.space);
        case Field::Sem: return static_cast<std::uint32_t>(mods.sem);
        case Field::Scope: return static_cast<std::uint32_t>(mods.scope);
        case Field::Cache: return static_cast<std::uint32_t>(mods.cache);
        case Field::Vec: return static_cast<std::uint32_t>(mods.vec);
        case Field::Cmp: return static_cast<std::uint32_t>(mods.cmp);
        case Field::Bool: return static_cast<std::uint32_t>(mods.bool_op);
        case Field::Round: return static_cast<std::uint32_t>(mods.round);
        case Field::Mode: return static_cast<std::uint32_t>(mods.mode);
        case Field::Ftz: return mods.ftz ? 1 : 0;
        case Field::Sat: return mods.sat ? 1 : 0;
        case Field::SatFinite: return mods.sat_finite ? 1 : 0;
        case Field::NanFlag: return mods.nan ? 1 : 0;
        case Field::CarryOut: return mods.carry_out ? 1 : 0;
        case Field::UniFlag: return mods.uni ? 1 : 0;
        case Field::ShiftAmount: return mods.shift_amount ? 1 : 0;
        case Field::ColumnsK8:
        case Field::ColumnsK16:
        case Field::ColumnsK32:
        case Field::ColumnsK256: return mods.columns;
        case Field::Dims: return mods.dims;
    }
    return 0;
}

bool fill_slot(Mods& mods, Field field, std::uint32_t value) {
    const std::uint32_t before = get_field(mods, field);
    set_field(mods, field, value);
    return before == 0 || before == value;
}

void set_field(Mods& mods, Field field, std::uint32_t value) {
    switch (field) {
        case Field::Literal: return;
        case Field::Type: mods.type = static_cast<Type>(value); return;
        case Field::SourceType: mods.source_type = static_cast<Type>(value); return;
        case Field::OtherType: mods.other_type = static_cast<Type>(value); return;
        case Field::Space: mods.space = static_cast<Space>(value); return;
        case Field::Sem: mods.sem = static_cast<Sem>(value); return;
        case Field::Scope: mods.scope = static_cast<Scope>(value); return;
        case Field::Cache: mods.cache = static_cast<Cache>(value); return;
        case Field::Vec: mods.vec = static_cast<Vec>(value); return;
        case Field::Cmp: mods.cmp = static_cast<Cmp>(value); return;
        case Field::Bool: mods.bool_op = static_cast<BoolOp>(value); return;
        case Field::Round: mods.round = static_cast<Round>(value); return;
        case Field::Mode: mods.mode = static_cast<Mode>(value); return;
        case Field::Ftz: mods.ftz = value != 0; return;
        case Field::Sat: mods.sat = value != 0; return;
        case Field::SatFinite: mods.sat_finite = value != 0; return;
        case Field::NanFlag: mods.nan = value != 0; return;
        case Field::CarryOut: mods.carry_out = value != 0; return;
        case Field::UniFlag: mods.uni = value != 0; return;
        case Field::ShiftAmount: mods.shift_amount = value != 0; return;
        case Field::ColumnsK8:
        case Field::ColumnsK16:
        case Field::ColumnsK32:
        case Field::ColumnsK256: mods.columns = static_cast<std::uint8_t>(value); return;
        case Field::Dims: mods.dims = static_cast<std::uint8_t>(value); return;
    }
}

std::string_view field_text(Field field, std::uint32_t value) {
    const std::span<const std::string_view> texts = texts_of(field);
    return value < texts.size() ? texts[value] : std::string_view();
}

std::optional<std::uint32_t> field_value(Field field, std::uint64_t allowed, std::string_view word) {
    const bool any = field == Field::Type || field == Field::SourceType || field == Field::OtherType;
    if (field == Field::Space && word == "shared::cta")
        word = "shared";  // the explicit spelling of the same space
    const std::span<const std::string_view> texts = texts_of(field);
    for (std::uint32_t value = 1; value < texts.size(); ++value) {
        if (texts[value] == word && (any || (allowed >> value & 1) != 0)) return value;
    }
    return std::nullopt;
}

const SpecialInfo& special_info(Special special) {
    return kSpecials[static_cast<std::size_t>(special)];
}

std::optional<Special> special_from_text(std::string_view text) {
    for (std::size_t i = 0; i < std::size(kSpecials); ++i) {
        if (kSpecials[i].text == text) return static_cast<Special>(i);
    }
    return std::nullopt;
}

const TargetInfo& target_info(Target target) {
    return kTargets[static_cast<std::size_t>(target)];
}
std::span<const TargetInfo> all_targets() {
    return kTargets;
}

std::optional<Target> target_from_text(std::string_view text) {
    for (std::size_t i = 0; i < std::size(kTargets); ++i) {
        if (kTargets[i].text == text) return static_cast<Target>(i);
    }
    return std::nullopt;
}

const FormInfo& form_info(Form form) {
    return kForms[static_cast<std::size_t>(form)];
}
std::span<const FormInfo> all_forms() {
    return kForms;
}

std::span<const Form> forms_of(std::string_view mnemonic) {
    std::size_t low = 0;
    std::size_t high = kFormCount;
    while (low < high) {
        const std::size_t mid = (low + high) / 2;
        if (form_info(kByMnemonic[mid]).mnemonic < mnemonic) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    std::size_t end = low;
    while (end < kFormCount && form_info(kByMnemonic[end]).mnemonic == mnemonic)
        ++end;
    return std::span<const Form>(kByMnemonic).subspan(low, end - low);
}

bool takes_registers_only(const OperandSpec& spec, const Mods& mods) {
    const Type type = spec.type == OperandType::Type ? mods.type : spec.type == OperandType::SourceType ? mods.source_type : Type::None;
    if (type == Type::None) return false;
    return type == Type::F16 || type == Type::BF16 || type_info(type).kind == TypeKind::Packed || type_info(mods.type).kind == TypeKind::Packed;
}

bool types_exist(Form form, const Mods& mods) {
    const FormInfo& info = form_info(form);
    if (mods.type != Type::None && !contains(info.types, mods.type)) return false;
    if (mods.source_type != Type::None && !contains(info.source_types, mods.source_type)) return false;
    if (mods.other_type != Type::None) {
        if (!contains(info.source_types, mods.other_type) || type_bits(mods.other_type) != type_bits(mods.source_type)) return false;
    }
    for (const TypePair& row : kNoPairs) {
        if (row.matches(form, mods)) return false;
    }
    return true;
}

namespace {

// The text after the mnemonic, word for word; slots are filled into `mods`.
bool takes_words(const FormInfo& info, std::string_view rest, Mods& mods) {
    const auto first = [&rest] { return rest.substr(0, rest.find('.', 1)); };   // with its dot
    for (const Word& word : info.word_list()) {
        const std::string_view text = rest.empty() ? std::string_view() : first().substr(1);
        if (word.field == Field::Literal) {
            if (text != word.text) return false;
        } else if (const auto value = text.empty() ? std::nullopt : field_value(word.field, word.allowed, text)) {
            if (!fill_slot(mods, word.field, *value)) return false;
        } else if (word.optional) {
            continue;
        } else {
            return false;
        }
        rest.remove_prefix(first().size());
    }
    return rest.empty();
}

}  // namespace

std::optional<std::pair<Form, Mods>> form_from_words(std::string_view text) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    for (const Form form : forms_of(text.substr(0, dot))) {
        Mods mods;
        if (takes_words(form_info(form), text.substr(dot), mods) && types_exist(form, mods)) return std::pair(form, mods);
    }
    return std::nullopt;
}

Floor form_floor(Form form, const Mods& mods) {
    const FormInfo& info = form_info(form);
    Floor floor{info.sm, info.ptx};
    for (const TypePair& row : kTypeFloors) {
        if (row.matches(form, mods)) raise(floor, row.floor);
    }
    for (const ModFloor& row : kModFloors) {
        if (get_field(mods, row.field) == row.value) raise(floor, row.floor);
    }
    for (const OnlySpecific& row : kSpecific) {
        if (row.form == form) floor.only = row.only;
    }
    return floor;
}

bool target_has(const TargetInfo& target, const Floor& floor) {
    if (target.sm < floor.sm) return false;
    if (floor.only == Only::Any) return true;
    return target.specific && (floor.only == Only::Specific || target.sm == floor.sm);
}

Target lowest_target(const Floor& floor) {
    std::size_t lowest = 0;
    while (lowest + 1 < std::size(kTargets) && !target_has(kTargets[lowest], floor)) ++lowest;
    return static_cast<Target>(lowest);
}

}  // namespace ockc::ptx
