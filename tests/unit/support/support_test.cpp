#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/arena.hpp"
#include "support/enum_table.hpp"
#include "support/file_io.hpp"
#include "support/index_map.hpp"
#include "support/interner.hpp"
#include "support/text_writer.hpp"
#include "support/tiny_vec.hpp"

namespace fs = std::filesystem;
using namespace ockc;

using ThingId = Id<struct ThingTag>;

TEST_CASE("stores and side maps") {
    IndexVec<ThingId, std::string> store;
    const ThingId a = store.push("a"), b = store.push("b");
    CHECK(store[b] == "b");
    CHECK(store.size() == 2);
    CHECK(store.contains(a));
    CHECK_FALSE(store.contains(ThingId()));
    SideMap<ThingId, int> facts(0, -1);
    CHECK(facts[b] == -1);
    facts.set(b, 5);
    CHECK(facts[b] == 5);
    CHECK(facts[a] == -1);
    CHECK_FALSE(ThingId().valid());
}

TEST_CASE("a vector of one pointer") {
    static_assert(sizeof(TinyVec<std::string>) == sizeof(void*));
    TinyVec<std::string> none;
    CHECK(none.empty());
    CHECK(TinyVec<std::string>(none).begin() == nullptr);
    TinyVec<std::string> texts(std::vector<std::string>{"a", "b"});
    texts.push_back("c, which is too long to lie inside its string");
    texts.push_back(texts[0]);
    const TinyVec<std::string> copy = texts;
    texts.erase(texts.begin() + 1);
    CHECK(texts.size() == 3);
    CHECK(texts.back() == "a");
    CHECK(copy.size() == 4);
    CHECK(copy[1] == "b");
    none = std::move(texts);
    CHECK(texts.empty());
    CHECK(none[1].size() > 16);
    none.clear();
    CHECK(none.empty());
    none = copy;
    none.pop_back();
    CHECK(none.back() == copy[2]);
}

TEST_CASE("the arena keeps what it copied, at the right alignment") {
    Arena arena;
    std::vector<std::string_view> texts;
    for (int i = 0; i < 10000; ++i)
        texts.push_back(arena.copy(std::string_view(std::to_string(i))));
    for (int i = 0; i < 10000; ++i)
        CHECK(texts[static_cast<std::size_t>(i)] == std::to_string(i));
    const std::array<double, 3> numbers{1, 2, 3};
    const auto copy = arena.copy(std::span<const double>(numbers));
    CHECK(reinterpret_cast<std::uintptr_t>(copy.data()) % alignof(double) == 0);
    CHECK(copy[2] == 3);
    CHECK(arena.copy(std::span<const double>()).empty());
    const std::vector<int> big(100000, 7);  // larger than a chunk
    CHECK(arena.copy(std::span<const int>(big))[99999] == 7);
}

TEST_CASE("equal text is one symbol") {
    Interner interner;
    const Symbol a = interner.intern("abc");
    CHECK(interner.intern(std::string("ab") + "c") == a);
    CHECK(interner.intern("abd") != a);
    CHECK(interner.text(a) == "abc");
    CHECK(interner.text(Symbol()) == "<none>");
}

TEST_CASE("names near to a misspelt one") {
    const std::array<std::string_view, 3> names{"kernel", "device", "launch_bounds"};
    CHECK(nearest_name(names, "kernal") == "kernel");
    CHECK(nearest_name(names, "devcie") == "device");
    CHECK(nearest_name(names, "launch_bound") == "launch_bounds");
    CHECK(nearest_name(names, "xyz").empty());
}

TEST_CASE("the text writer indents whole lines") {
    TextWriter out;
    out.line("a {{");
    out.indent();
    out.put("{}", 1).put(" {}", 2).end_line();
    out.end_line();
    out.dedent();
    out.raw("}");
    CHECK(out.text() == "a {\n    1 2\n\n}");
}

TEST_CASE("files") {
    const fs::path dir = fs::temp_directory_path() / ("ockc_support_" + std::to_string(::getpid()));
    fs::create_directories(dir);
    const std::string path = (dir / "f").string();
    REQUIRE(write_file_if_changed(path, "abc").ok());
    const auto first = fs::last_write_time(path);
    REQUIRE(write_file_if_changed(path, "abc").ok());
    CHECK(fs::last_write_time(path) == first);
    CHECK(read_file(path, 100).value() == "abc");
    CHECK_FALSE(read_file(path, 2).ok());
    CHECK_FALSE(read_file((dir / "none").string(), 100).ok());
    CHECK_FALSE(read_file(dir.string(), 100).ok());
    CHECK_FALSE(write_file_if_changed((dir / "no" / "f").string(), "x").ok());
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir))
        ++files;
    CHECK(files == 1);  // no temporary is left
    fs::remove_all(dir);
}
