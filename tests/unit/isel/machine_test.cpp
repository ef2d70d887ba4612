// Every row of machine.def says one instruction that ptx/instr.def has, with operands that fit it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "intrinsic/intrinsic.hpp"
#include "ptx/form.hpp"
#include "ptx/matrix.hpp"

using namespace ockc;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        out.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

std::uint32_t bytes_of(char letter) {
    switch (letter) {
        case 'h':
        case 'x':
        case 'y': return 2;
        case 'i':
        case 'f': return 4;
        case 'l':
        case 'd':
        case 'P': return 8;
        default: return 0;   // a predicate
    }
}

// How many bytes the form's operand takes; 0 for a predicate.
std::uint32_t bytes_of(const ptx::OperandSpec& spec, const ptx::Mods& mods) {
    switch (spec.type) {
        case ptx::OperandType::Type: return mods.type == ptx::Type::Pred ? 0 : ptx::type_bytes(mods.type);
        case ptx::OperandType::SourceType: return ptx::type_bytes(mods.source_type);
        case ptx::OperandType::Wide: return 2 * ptx::type_bytes(mods.type);
        case ptx::OperandType::Bytes2: return 2;
        case ptx::OperandType::Bytes4: return 4;
        case ptx::OperandType::Bytes8: return 8;
        case ptx::OperandType::Predicate: return 0;
        case ptx::OperandType::None:
        case ptx::OperandType::Element: return 8;   // addresses
    }
    return 0;
}

}  // namespace

TEST_CASE("machine.def: every row is an instruction form with operands that fit") {
    for (std::size_t i = 0; i < intrinsic::machine_count(); ++i) {
        const intrinsic::MachineInfo& row = intrinsic::info(static_cast<intrinsic::Machine>(i));
        INFO(row.key);
        const auto found = ptx::form_from_words(row.words);
        REQUIRE(found.has_value());
        const ptx::FormInfo& form = ptx::form_info(found->first);
        const std::vector<std::string> operands = words(row.ptx_operands);
        REQUIRE(operands.size() == form.operand_count);
        CHECK((row.effect == intrinsic::Effect::Convergent) == (form.effects == ptx::Effects::Sync));
        if (row.effect == intrinsic::Effect::Pure) CHECK(form.effects == ptx::Effects::Pure);
        if (row.effect == intrinsic::Effect::Pure) CHECK(row.results.size() == 1);
        std::vector<bool> used(row.operands.size());
        std::size_t results = 0;
        for (std::size_t k = 0; k < operands.size(); ++k) {
            INFO(operands[k]);
            const std::string& word = operands[k];
            if (form.operands[k].role == ptx::Role::List) {
                CHECK(word.size() / 3 + 1 == ptx::matrix_registers(found->first, found->second, k));
                for (std::size_t at = 0; at < word.size(); at += 3) {
                    const auto index = static_cast<std::size_t>(word[at + 1] - '0');
                    const char letter = word[at] == 'd' ? row.results[index] : row.operands[index];
                    CHECK(bytes_of(letter) == bytes_of(form.operands[k], found->second));
                    if (word[at] == 'd') ++results;
                    else used[index] = true;
                }
                continue;
            }
            if (word[0] == '-') CHECK(form.operands[k].optional);
            if (word[0] == 'd') {
                CHECK(form.operands[k].role == ptx::Role::Dest);
                CHECK(bytes_of(row.results[results++]) == bytes_of(form.operands[k], found->second));
            } else if (word[0] == 'a' || word[0] == '[' || word[0] == '@') {
                const std::size_t index = static_cast<std::size_t>(word[word[0] == 'a' ? 1 : 2] - '0');
                REQUIRE(index < used.size());
                used[index] = true;
                CHECK(bytes_of(row.operands[index]) == bytes_of(form.operands[k], found->second));
                CHECK((word[0] != 'a') == (form.operands[k].role == ptx::Role::Address));
            }
        }
        CHECK(results == row.results.size());
        CHECK(std::find(used.begin(), used.end(), false) == used.end());
    }
}

TEST_CASE("words: a mnemonic with its words finds its form, and nothing else does") {
    const auto shfl = ptx::form_from_words("shfl.sync.idx.b32");
    REQUIRE(shfl.has_value());
    CHECK(shfl->first == ptx::Form::Shfl);
    CHECK(shfl->second.mode == ptx::Mode::Idx);
    CHECK(shfl->second.type == ptx::Type::B32);
    CHECK_FALSE(ptx::form_from_words("shfl.sync.b32").has_value());
    CHECK_FALSE(ptx::form_from_words("shfl.sync.idx.b32.x").has_value());
    CHECK_FALSE(ptx::form_from_words("shfl.sync.idx.f32").has_value());
    CHECK_FALSE(ptx::form_from_words("").has_value());
}
