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

std::vector<std::string> words(std::string_view text, char between = ' ') {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(between, at), text.size());
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

// Constants at the end of a product of a warpgroup.
std::size_t matrix_constants(const std::pair<ptx::Form, ptx::Mods>& form) { return ptx::matrix_registers(form.first, form.second, 4); }

}  // namespace

TEST_CASE("machine.def: every row is an instruction form with operands that fit") {
    for (std::size_t i = 0; i < intrinsic::machine_count(); ++i) {
        const intrinsic::MachineInfo& row = intrinsic::info(static_cast<intrinsic::Machine>(i));
        INFO(row.key);
        auto found = ptx::form_from_words(row.words);
        REQUIRE(found.has_value());
        std::vector<std::string> operands = words(row.ptx_operands);
        const bool passes_on = std::erase_if(operands, [](const std::string& word) { return word == "<" || word == ">"; }) != 0;
        if (row.key.ends_with("_registers")) found->first = static_cast<ptx::Form>(static_cast<unsigned>(found->first) + 1);   // A is a list
        const ptx::FormInfo& form = ptx::form_info(found->first);
        REQUIRE(operands.size() == form.operand_count);
        CHECK((row.effect == intrinsic::Effect::Convergent) == (form.effects == ptx::Effects::Sync));
        if (row.effect == intrinsic::Effect::Pure) CHECK(form.effects == ptx::Effects::Pure);
        if (row.effect == intrinsic::Effect::Pure) CHECK(row.results.size() == 1);
        std::vector<bool> used(row.operands.size());
        std::size_t results = 0;
        if (passes_on) {   // the number of sums, the sums
            results = 2;
            for (std::size_t k = used.size() - 3; k < used.size(); ++k) used[k] = true;
        }
        for (std::size_t k = 0; k < operands.size(); ++k) {
            INFO(operands[k]);
            const std::string& word = operands[k];
            if (word == "*") {
                CHECK(form.operands[k].role == ptx::Role::Updated);
                CHECK(row.results[0] == '*');
                CHECK(row.operands.substr(row.operands.size() - 2) == row.results);
                results += 2;
                used[used.size() - 1] = used[used.size() - 2] = true;                 // `*` and its letter
                used[used.size() - 3 - (form.operand_count > 4 ? matrix_constants(*found) : 0)] = true;   // the number of sums, which the list shows
                continue;
            }
            if (form.operands[k].role == ptx::Role::List || form.operands[k].role == ptx::Role::Immediates) {
                std::vector<std::string> items = words(word, ',');
                CHECK(items.size() == ptx::matrix_registers(found->first, found->second, k));
                for (const std::string& item : items) {
                    const auto index = static_cast<std::size_t>(std::stoul(item.substr(1)));
                    const char letter = item[0] == 'd' ? row.results[index] : row.operands[index];
                    CHECK(bytes_of(letter) == bytes_of(form.operands[k], found->second));
                    if (item[0] == 'd') ++results;
                    else used[index] = true;
                }
                continue;
            }
            if (word[0] == '-') CHECK(form.operands[k].optional);
            if (word[0] == 'd') {
                CHECK(form.operands[k].role == ptx::Role::Dest);
                CHECK(bytes_of(row.results[results++]) == bytes_of(form.operands[k], found->second));
            } else if (word[0] == 'a' || word[0] == '[' || word[0] == '@' || word[0] == 't' || word[0] == 'g') {
                const std::size_t index = static_cast<std::size_t>(word[word[0] == '[' || word[0] == '@' ? 2 : 1] - '0');
                REQUIRE(index < used.size());
                used[index] = true;
                CHECK(bytes_of(row.operands[index]) == bytes_of(form.operands[k], found->second));
                const ptx::Role role = form.operands[k].role;
                CHECK((word[0] != 'a') == (role == ptx::Role::Address || role == ptx::Role::TensorMap));
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
