// Word tables and character classes. Words are looked up in a small open-addressing table that is built at
// compile time from the rows of token.def; characters beyond ASCII by binary search in the ranges of
// unicode.def.
#include "lex/token.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace ockc::lex {

namespace {

constexpr std::size_t kSlots = 256;

constexpr std::size_t word_slot(std::string_view word) {
    std::size_t h = word.size() * 5 + static_cast<unsigned char>(word.front()) * 3 +
                    static_cast<unsigned char>(word.back()) * 37;
    if (word.size() > 1) h += static_cast<unsigned char>(word[1]) * 11;
    return h % kSlots;
}

constexpr bool is_word(const TokenInfo& row) {
    return row.token_class == TokenClass::Keyword || row.token_class == TokenClass::WeakKeyword;
}

constexpr std::array<TokenKind, kSlots> make_words() {
    std::array<TokenKind, kSlots> slots{};  // Eof = empty
    for (std::size_t i = 0; i < kTokenKindCount; ++i) {
        if (!is_word(kTokenInfos[i])) continue;
        std::size_t slot = word_slot(kTokenInfos[i].text);
        while (slots[slot] != TokenKind::Eof)
            slot = (slot + 1) % kSlots;
        slots[slot] = static_cast<TokenKind>(i);
    }
    return slots;
}

constexpr std::array<TokenKind, kSlots> kWords = make_words();

struct Range {
    char32_t first;
    char32_t last;
};

constexpr Range kStart[] = {
#define OCKC_XID_START(first, last) {first, last},
#include "lex/unicode.def"
};
constexpr Range kContinueOnly[] = {
#define OCKC_XID_CONTINUE(first, last) {first, last},
#include "lex/unicode.def"
};

template <std::size_t N>
bool contains(const Range (&ranges)[N], char32_t c) {
    const Range* at = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                       [](Range r, char32_t x) { return r.last < x; });
    return at != std::end(ranges) && at->first <= c;
}

}  // namespace

TokenKind word_kind(std::string_view text, Edition edition) {
    constexpr std::size_t kLongestWord = 11;  // macro_rules
    if (text.size() > kLongestWord) return TokenKind::Ident;
    for (std::size_t slot = word_slot(text); kWords[slot] != TokenKind::Eof; slot = (slot + 1) % kSlots) {
        const TokenInfo& row = info(kWords[slot]);
        if (row.text != text) continue;
        return row.first_edition <= static_cast<std::uint16_t>(edition) ? kWords[slot] : TokenKind::Ident;
    }
    return TokenKind::Ident;
}

bool is_ident_start(char32_t c) {
    if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return contains(kStart, c);
}

bool is_ident_continue(char32_t c) {
    if (c < 0x80) return is_ident_start(c) || (c >= '0' && c <= '9');
    return contains(kStart, c) || contains(kContinueOnly, c);
}

}  // namespace ockc::lex
