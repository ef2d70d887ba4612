// exec.def as a table: from a form to the family that executes it.
#include <array>

#include "emu/decode.hpp"
#include "emu/isa.hpp"

namespace ockc::emu {
namespace {

struct Row {
    ptx::Form form;
    Selector IsaTable::*selector;
    std::string_view family;
};
constexpr Row kRows[] = {
#define OCKC_EMU_EXEC(form, family) {ptx::Form::form, &IsaTable::family, #family},
#include "emu/exec.def"
};
constexpr std::size_t kRowCount = sizeof kRows / sizeof kRows[0];

constexpr bool rows_match_forms() {
    if (kRowCount != ptx::kFormCount) return false;
    for (std::size_t i = 0; i < kRowCount; ++i) {
        if (static_cast<std::size_t>(kRows[i].form) != i) return false;
    }
    return true;
}
static_assert(rows_match_forms(),
              "emu/exec.def and ptx/instr.def must have the same forms in the same order");

}  // namespace

std::string_view exec_family(ptx::Form form) {
    return kRows[static_cast<std::size_t>(form)].family;
}

Handlers find_handlers(const Request& request) {
    const IsaTable& table = isa_table();
    if (request.special) return table.special(request);
    return (table.*kRows[static_cast<std::size_t>(request.form)].selector)(request);
}

}  // namespace ockc::emu
