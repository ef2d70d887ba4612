// Runs behind the other files (doctest goes by file name): every form of instr.def has been executed by some
// test.
#include "harness.hpp"
#include "ptx/form.hpp"

TEST_CASE("every form has a run test") {
    const auto& executed = emu_test::executed_forms();
    if (executed.size() < 20) return;  // only some of the tests were asked for
    for (std::size_t i = 0; i < ockc::ptx::kFormCount; ++i) {
        const auto form = static_cast<ockc::ptx::Form>(i);
        CHECK_MESSAGE(executed.contains(form), ockc::ptx::form_info(form).name);
    }
}
