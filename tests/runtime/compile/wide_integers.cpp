// 128-bit integers come from every integer type, and from and to the compiler's own.
#include <ock/abi.hpp>

using ock::i128;
using ock::u128;

constexpr i128 five = 5, minus_five = -5, seven = 7u;
static_assert(five.low == 5 && five.high == 0 && seven.low == 7 && seven.high == 0);
static_assert(minus_five == i128(-1, 0xFFFFFFFFFFFFFFFBull) && minus_five == -5);
constexpr u128 big = 0xFFFFFFFFFFFFFFFFull;
static_assert(big.low == 0xFFFFFFFFFFFFFFFFull && big.high == 0 && u128(5) == 5u);

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
constexpr i128 from_wide = static_cast<wide>(-3);
static_assert(static_cast<wide>(from_wide) == -3 && static_cast<wide>(minus_five) + static_cast<wide>(five) == 0);
constexpr u128 shifted = static_cast<unsigned_wide>(1) << 100;
static_assert(shifted.high == 1ull << 36 && static_cast<unsigned_wide>(shifted) >> 100 == 1);
#endif

i128 made(int a) { return a; }
u128 made(unsigned a) { return a; }
