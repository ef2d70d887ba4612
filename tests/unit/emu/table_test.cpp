// exec.def against instr.def: every form, with every type and every modifier that its row allows, has a
// handler.
#include "emu/decode.hpp"
#include "emu/isa.hpp"
#include "harness.hpp"
#include "ptx/form.hpp"

using namespace emu_test;
namespace ptx = ockc::ptx;

namespace {

constexpr unsigned kTypes = 32;
constexpr unsigned kValues = 64;

// What a row allows and the manual does not: directed rounding of halves, 32-bit generic addresses.
bool outside_manual(const ptx::FormInfo& info, const ptx::Mods& m) {
    const bool directed = m.round == ptx::Round::Rz || m.round == ptx::Round::Rm || m.round == ptx::Round::Rp;
    const bool half = m.type == ptx::Type::F16 || m.type == ptx::Type::BF16 || m.type == ptx::Type::F16X2 ||
                      m.type == ptx::Type::BF16X2;
    if (directed && half &&
        (info.mnemonic == "add" || info.mnemonic == "sub" || info.mnemonic == "mul" ||
         info.mnemonic == "fma"))
        return true;
    return info.mnemonic == "cvta" && m.type == ptx::Type::U32;
}
// Comparisons that fit the type.
bool fits(const ptx::Mods& m) {
    if (m.cmp == ptx::Cmp::None) return true;
    const ptx::TypeKind kind = ptx::type_info(m.type).kind;
    if (m.cmp >= ptx::Cmp::Equ) return kind == ptx::TypeKind::Float;
    return true;
}

ockc::emu::Request request_of(ptx::Form form, const ptx::Mods& mods) {
    const auto lane_bytes = [](ptx::Type type) {
        return static_cast<std::uint8_t>(ptx::type_bits(type) <= 16 ? 2 : ptx::type_bytes(type));
    };
    ockc::emu::Request request{};
    request.form = form;
    request.mods = mods;
    const std::uint8_t own = lane_bytes(mods.type);
    const bool list = form == ptx::Form::MovPack || form == ptx::Form::MovUnpack;
    request.dest_bytes = form == ptx::Form::MovUnpack ? static_cast<std::uint8_t>(own / 2) : own;
    request.source_bytes = list                                  ? static_cast<std::uint8_t>(own / 2)
                           : mods.source_type != ptx::Type::None ? lane_bytes(mods.source_type)
                                                                 : own;
    return request;
}

}  // namespace

TEST_CASE("every form has handlers for all of its types and words") {
    for (std::size_t i = 0; i < ptx::kFormCount; ++i) {
        const auto form = static_cast<ptx::Form>(i);
        const ptx::FormInfo& info = ptx::form_info(form);
        CAPTURE(info.name);
        CHECK(!ockc::emu::exec_family(form).empty());
        ptx::Mods base;
        for (const ptx::Word& word : info.word_list()) {
            if (word.optional || word.field == ptx::Field::Literal) continue;
            for (unsigned value = kValues; value-- > 1;) {
                if ((word.allowed >> value & 1) != 0) ptx::set_field(base, word.field, value);
            }
        }
        for (unsigned type = 0; type < kTypes; ++type) {
            if (info.types != 0 ? (info.types >> type & 1) == 0 : type != 0) continue;
            for (unsigned source = 0; source < kTypes; ++source) {
                if (info.source_types != 0 ? (info.source_types >> source & 1) == 0 : source != 0) continue;
                ptx::Mods mods = base;
                mods.type = static_cast<ptx::Type>(type);
                mods.source_type = static_cast<ptx::Type>(source);
                CAPTURE(ptx::type_info(mods.type).text);
                CHECK(ockc::emu::find_handlers(request_of(form, mods)).valid());
                for (const ptx::Word& word : info.word_list()) {
                    if (word.field == ptx::Field::Literal || word.field == ptx::Field::Type ||
                        word.field == ptx::Field::SourceType)
                        continue;
                    for (unsigned value = 1; value < kValues; ++value) {
                        if ((word.allowed >> value & 1) == 0 || ptx::field_text(word.field, value).empty())
                            continue;
                        ptx::Mods varied = mods;
                        ptx::set_field(varied, word.field, value);
                        if (outside_manual(info, varied) || !fits(varied) || outside_manual(info, mods))
                            continue;
                        CAPTURE(ptx::field_text(word.field, value));
                        CHECK(ockc::emu::find_handlers(request_of(form, varied)).valid());
                    }
                }
            }
        }
    }
}
