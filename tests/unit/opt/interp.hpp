// A small interpreter of the IR, the oracle of the optimiser's tests. It shares no arithmetic with the
// optimiser's constant folder. Arithmetic gives canonical NaNs only, since the IR leaves their payload open;
// division by zero gives 0.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.hpp"

namespace ockc::test {

__extension__ typedef unsigned __int128 Bits;

struct Region {
    std::vector<std::uint8_t> bytes;
};

// What a run sees: one value per parameter, memory behind pointer parameters, special registers.
struct Input {
    std::vector<Bits> args;
    std::vector<Region> buffers;       // region i has the addresses (i + 1) << 32 and up
    std::vector<std::uint64_t> sregs;  // by ir::Sreg
    std::uint64_t max_steps = 200'000;
};

enum class Ending : std::uint8_t {
    Returned,
    Panicked,
    Trapped,
    Unreachable,
    BadAccess,
    TooLong,
    Unsupported
};

struct Outcome {
    Ending ending = Ending::Returned;
    std::vector<Bits> values;     // returned, or of the panic
    std::uint64_t site = 0;       // of the panic
    std::vector<Region> buffers;  // contents afterwards
    std::uint64_t barriers = 0;
    std::string note;  // what was unsupported or accessed badly
};

Outcome interpret(const ir::Module& module, const ir::Function& function, const Input& input);

// A deterministic input for the function's parameters: pointers get buffers, an i64 after a pointer a length
// that fits.
Input make_input(const ir::Module& module, const ir::Function& function, std::uint32_t seed);

// Empty when both runs show the same; else what differs. A run that does what must not happen (a bad access,
// an unreachable) allows anything, a run that takes too long is not compared.
std::string compare(const Outcome& before, const Outcome& after);

}  // namespace ockc::test
