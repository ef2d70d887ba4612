// The intrinsics that the library declares and lower turns into IR; intrinsics.def is the one list.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ockc::intrinsic {

enum class Intrinsic : std::uint16_t {
#define OCKC_INTRINSIC(name, key, arity, effect, min_sm, doc) name,
#include "intrinsic/intrinsics.def"
#define OCKC_MACHINE(name, key, operands, results, effect, words, ptx, doc) name,
#include "intrinsic/machine.def"
};
// Those of them that are one PTX instruction: rows of machine.def.
enum class Machine : std::uint16_t {
#define OCKC_MACHINE(name, key, operands, results, effect, words, ptx, doc) name,
#include "intrinsic/machine.def"
};
enum class Effect : std::uint8_t { Pure, Memory, Convergent, Diverge };

struct Info {
    std::string_view key;
    std::uint8_t arity;
    Effect effect;
    std::uint16_t min_sm;
    std::string_view doc;
};
const Info& info(Intrinsic intrinsic);
std::optional<Intrinsic> from_key(std::string_view key);
std::size_t count();

struct MachineInfo {
    std::string_view key;
    std::string_view operands;       // a letter each, see machine.def; `*f` at the end: any number
    std::string_view results;
    Effect effect;
    std::string_view words;          // "shfl.sync.idx.b32"
    std::string_view ptx_operands;   // "d0 - a0 a1 a2 a3"
    std::string_view doc;
};
const MachineInfo& info(Machine machine);
// The letters in front of a `*`.
std::string_view plain_letters(std::string_view letters);
// The letter of the operand or result at that position.
char letter_at(std::string_view letters, std::size_t index);
std::size_t machine_count();
std::optional<Machine> machine_of(Intrinsic intrinsic);
std::optional<Machine> machine_from_key(std::string_view key);

}  // namespace ockc::intrinsic
