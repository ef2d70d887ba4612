#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/hash_index.hpp"

namespace ockc {

TEST_CASE("a hash index finds by hash and key, through growth and equal hashes") {
    std::vector<std::string> texts;
    HashIndex index;
    const auto intern = [&](const std::string& text, std::uint32_t hash) {
        const std::uint32_t known = index.find(hash, [&](std::uint32_t i) { return texts[i] == text; });
        if (known != HashIndex::kNone) return known;
        texts.push_back(text);
        index.insert(hash, static_cast<std::uint32_t>(texts.size() - 1));
        return static_cast<std::uint32_t>(texts.size() - 1);
    };
    CHECK(index.find(7, [](std::uint32_t) { return true; }) == HashIndex::kNone);
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t i = 0; i < 1000; ++i) CHECK(intern(std::to_string(i), Hasher().add(std::to_string(i)).value()) == i);
        for (std::uint32_t i = 0; i < 50; ++i) CHECK(intern("same" + std::to_string(i), 12345) == 1000 + i);   // one long chain
    }
    CHECK(texts.size() == 1050);
}

TEST_CASE("the hash of a text tells lengths, zero bytes and the order of words apart") {
    const auto hash = [](std::string_view text) { return Hasher().add(text).value(); };
    CHECK(hash("") != hash(std::string_view("\0", 1)));
    CHECK(hash("a") != hash(std::string_view("a\0", 2)));
    CHECK(hash("12345678abcdefgh") != hash("abcdefgh12345678"));
    CHECK(hash("12345678") != hash("12345678x"));
    CHECK(hash("value") == hash(std::string("val") + "ue"));
}

}  // namespace ockc
