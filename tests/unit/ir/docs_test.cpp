// docs/ir.md lists every row of the tables, with the same words.
#include <doctest/doctest.h>

#include <string>

#include "ir/ir.hpp"
#include "ir/names.hpp"
#include "ir/parse.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "support/file_io.hpp"

using namespace ockc;

namespace {

constexpr std::string_view kDocs[] = {
#define OCKC_IR_OP(name, text, arity, result, aux, effect, doc) doc,
#include "ir/ops.def"
};
constexpr std::string_view kEffects[] = {
#define OCKC_IR_OP(name, text, arity, result, aux, effect, doc) #effect,
#include "ir/ops.def"
};

std::string docs() {
    auto text = read_file(std::string(OCKC_SOURCE_DIR) + "/docs/ir.md", 1 << 20);
    REQUIRE_MESSAGE(text.ok(), text.error());
    return text.value();
}

}  // namespace

TEST_CASE("docs: every operation has its row, and no row is left over") {
    const std::string text = docs();
    const std::string table = text.substr(text.find("## Operations"));
    std::size_t rows = 0;
    for (std::size_t at = table.find("\n| `"); at != std::string::npos; at = table.find("\n| `", at + 1))
        ++rows;
    CHECK(rows == std::size(kDocs));
    for (std::size_t i = 0; i < std::size(kDocs); ++i) {
        const auto& info = ir::op_info(static_cast<ir::Op>(i));
        const std::string arity = info.arity < 0 ? "any" : std::to_string(info.arity);
        const std::string start = "| `" + std::string(info.text) + "` | " + arity + " | ";
        const std::size_t at = table.find(start);
        CHECK_MESSAGE(at != std::string::npos, start);
        if (at == std::string::npos) continue;
        const std::string row = table.substr(at, table.find('\n', at) - at);
        const std::string end =
            std::string(" | ") + std::string(kEffects[i]) + " | " + std::string(kDocs[i]) + " |";
        CHECK_MESSAGE(row.ends_with(end), row);
    }
}

TEST_CASE("docs: every type is named") {
    const std::string text = docs();
    for (int i = 0; i <= static_cast<int>(ir::Type::Tile); ++i) {
        const std::string name(ir::type_text(static_cast<ir::Type>(i)));
        CHECK_MESSAGE(text.find("`" + name + "`") != std::string::npos, name);
    }
}

TEST_CASE("docs: the example is valid and canonical") {
    const std::string text = docs();
    const std::size_t begin = text.find("    source \"vecadd.rsk\"");
    const std::size_t end = text.find("    }\n", begin) + 6;
    std::string example;
    for (std::size_t at = begin; at < end;) {
        const std::size_t next = text.find('\n', at) + 1;
        const std::string line = text.substr(at, next - at);
        example += line.starts_with("    ") ? line.substr(4) : line;
        at = next;
    }
    const auto module = ir::parse(example);
    REQUIRE_MESSAGE(module.ok(), module.error());
    const Status status = ir::verify(module.value());
    CHECK_MESSAGE(status.ok(), status.error());
    CHECK(ir::print(module.value()) == example);
}
