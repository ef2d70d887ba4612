// Random programs must do the same before and after: the whole pipeline at every level, and each pass on its
// own behind the passes that feed it.
#include <doctest/doctest.h>

#include <cstdlib>

#include "generate.hpp"
#include "interp.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "opt/pipeline.hpp"

using namespace ockc;

namespace {

constexpr std::uint32_t kInputs = 6;

// The outcome of @root on each input.
std::vector<test::Outcome> outcomes(const ir::Module& module) {
    std::vector<test::Outcome> out;
    const ir::Function& root =
        module.functions[ir::FuncId(static_cast<std::uint32_t>(module.functions.size()) - 1)];
    for (std::uint32_t seed = 0; seed < kInputs; ++seed) {
        out.push_back(test::interpret(module, root, test::make_input(module, root, seed)));
    }
    return out;
}

std::string first_difference(const std::vector<test::Outcome>& before,
                             const std::vector<test::Outcome>& after) {
    for (std::uint32_t i = 0; i < kInputs; ++i) {
        const std::string difference = test::compare(before[i], after[i]);
        if (!difference.empty()) return "input " + std::to_string(i) + ": " + difference;
    }
    return {};
}

std::uint32_t setting(const char* name, std::uint32_t fallback) {
    const char* text = std::getenv(name);
    return text != nullptr ? static_cast<std::uint32_t>(std::atoi(text)) : fallback;
}

// After the pipeline differs: runs it again with a look after every pass, to name the guilty one.
std::string guilty_pass(const ir::Module& source, const opt::Options& options,
                        const std::vector<test::Outcome>& before) {
    ir::Module module = source;
    std::string guilty;
    opt::run(module, options, [&](const opt::PassEvent& event) {
        if (!guilty.empty() || !event.changed) return;
        if (!first_difference(before, outcomes(event.module)).empty())
            guilty = opt::pass_info(event.pass).name;
    });
    return guilty;
}

}  // namespace

TEST_CASE("differential: the pipeline keeps the meaning of random programs") {
    const std::uint32_t first = setting("OCK_SEED", 0);
    const std::uint32_t count = setting("OCK_COUNT", 120);
    std::uint32_t returned = 0;
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
        const ir::Module source = test::generate(seed, 4 + seed % 20);
        const Status sound = ir::verify(source);
        REQUIRE_MESSAGE(sound.ok(), sound.error());
        const std::vector<test::Outcome> before = outcomes(source);
        for (const test::Outcome& outcome : before)
            returned += outcome.ending == test::Ending::Returned ? 1 : 0;
        opt::Options options;
        options.level = seed % 7 == 0 ? 1 : 3;
        options.fmad = false;  // contraction changes results on purpose
        ir::Module module = source;
        opt::run(module, options);
        const std::string difference = first_difference(before, outcomes(module));
        if (difference.empty()) continue;
        FAIL_CHECK("seed ", seed, ": ", difference, "; first wrong after ",
                   guilty_pass(source, options, before));
    }
    CHECK(returned > count);  // most runs get to the end
}

namespace {

// Inputs for two numbers: all small ones, and the ends of the range.
std::vector<test::Input> small_inputs(const ir::Module& module, const ir::Function& root) {
    std::vector<test::Input> out;
    const std::uint32_t bits = ir::type_bits(root.type_of(root.blocks[root.entry()].params[0]));
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 7, 8, all, all - 1, all >> 1, (all >> 1) + 1, 100};
    std::uint32_t seed = 0;
    for (const std::uint64_t x : numbers) {
        for (const std::uint64_t y : numbers) {
            test::Input input = test::make_input(module, root, seed++);
            input.args[0] = x;
            input.args[1] = y;
            out.push_back(std::move(input));
        }
    }
    return out;
}

void check_small(const ir::Module& source, std::uint32_t seed) {
    const ir::FuncId root(0);
    const Status sound = ir::verify(source);
    REQUIRE_MESSAGE(sound.ok(), sound.error());
    ir::Module module = source;
    opt::Options options;
    options.fmad = false;
    opt::run(module, options);
    for (const test::Input& input : small_inputs(source, source.functions[root])) {
        const std::string difference = test::compare(test::interpret(source, source.functions[root], input),
                                                     test::interpret(module, module.functions[root], input));
        if (difference.empty()) continue;
        FAIL_CHECK("seed ", seed, ", x = ", static_cast<std::uint64_t>(input.args[0]),
                   ", y = ", static_cast<std::uint64_t>(input.args[1]), ": ", difference, "\n",
                   ir::print(source), ir::print(module));
        return;
    }
}

}  // namespace

TEST_CASE("differential: expression trees") {
    const std::uint32_t first = setting("OCK_SEED", 0);
    const std::uint32_t count = setting("OCK_COUNT", 600);
    for (std::uint32_t seed = first; seed < first + count; ++seed)
        check_small(test::generate_expression(seed), seed);
}

TEST_CASE("differential: nested decisions") {
    const std::uint32_t first = setting("OCK_SEED", 0);
    const std::uint32_t count = setting("OCK_COUNT", 300);
    for (std::uint32_t seed = first; seed < first + count; ++seed)
        check_small(test::generate_decisions(seed), seed);
}
