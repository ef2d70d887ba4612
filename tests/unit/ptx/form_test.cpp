// The tables: what instr.def's strings are taken apart to, names both ways, floors.
#include "ptx/form.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace ockc;
using namespace ockc::ptx;

TEST_CASE("a row's syntax becomes words, its operand string specs") {
    const FormInfo& ld = form_info(Form::Ld);
    CHECK(ld.mnemonic == "ld");
    REQUIRE(ld.word_count == 6);
    CHECK(ld.words[0].field == Field::Sem);
    CHECK(ld.words[0].optional);
    CHECK(ld.words[5].field == Field::Type);
    CHECK_FALSE(ld.words[5].optional);
    REQUIRE(ld.operand_count == 2);
    CHECK(ld.operands[0].role == Role::VectorOrReg);
    CHECK(ld.operands[1].role == Role::Address);

    const FormInfo& shfl = form_info(Form::Shfl);
    REQUIRE(shfl.operand_count == 6);
    CHECK(shfl.operands[1].joined);
    CHECK(shfl.operands[1].optional);
    CHECK(shfl.operands[1].type == OperandType::Predicate);

    const FormInfo& add_cc = form_info(Form::AddCc);
    CHECK(add_cc.words[0].field == Field::Literal);
    CHECK(form_info(Form::Addc).words[0].field == Field::CarryOut);
}

TEST_CASE("forms are found by mnemonic, in table order") {
    std::size_t total = 0;
    std::set<std::string> seen;
    for (const FormInfo& info : all_forms()) {
        if (!seen.insert(std::string(info.mnemonic)).second) continue;
        const auto forms = forms_of(info.mnemonic);
        total += forms.size();
        for (std::size_t i = 1; i < forms.size(); ++i)
            CHECK(forms[i - 1] < forms[i]);
        for (const Form form : forms)
            CHECK(form_info(form).mnemonic == info.mnemonic);
    }
    CHECK(total == kFormCount);
    CHECK(forms_of("nothing").empty());
    CHECK(forms_of("").empty());
}

TEST_CASE("two forms never share syntax and operands") {
    std::set<std::string> seen;
    for (const FormInfo& info : all_forms()) {
        std::string key(info.syntax);
        for (const OperandSpec& spec : info.operand_list())
            key += std::to_string(static_cast<int>(spec.role)) + ",";
        key += std::to_string(info.types);
        CHECK_MESSAGE(seen.insert(key).second, info.name);
    }
}

TEST_CASE("words have a text and are found by it") {
    CHECK(text(Space::SharedCluster) == "shared::cluster");
    CHECK(text(Cmp::None).empty());
    CHECK(field_value(Field::Space, ~0ull, "shared::cta") == static_cast<std::uint32_t>(Space::Shared));
    CHECK_FALSE(field_value(Field::Space, 0, "global"));
    CHECK(special_from_text("%tid.x") == Special::TidX);
    CHECK_FALSE(special_from_text("%tid"));
    CHECK(target_from_text("sm_90a") == Target::Sm90a);
    CHECK_FALSE(target_from_text("sm_91"));
    Mods mods;
    for (int f = 1; f <= static_cast<int>(Field::Dims); ++f) {
        set_field(mods, static_cast<Field>(f), 1);
        CHECK(get_field(mods, static_cast<Field>(f)) == 1);
        CHECK_FALSE(field_text(static_cast<Field>(f), 1).empty());
    }
}

TEST_CASE("floors rise with types and modifiers") {
    Mods mods;
    mods.type = Type::F32;
    CHECK(form_floor(Form::AddF, mods).sm == 75);
    mods.type = Type::BF16;
    CHECK(form_floor(Form::AddF, mods).sm == 90);
    CHECK(form_floor(Form::AddF, mods).ptx == 78);
    Mods fence;
    fence.sem = Sem::AcqRel;
    fence.scope = Scope::Cluster;
    CHECK(form_floor(Form::Fence, fence).sm == 90);
    Mods cvt;
    cvt.type = Type::F32;
    cvt.source_type = Type::BF16;
    CHECK(form_floor(Form::Cvt, cvt).sm == 90);
}
