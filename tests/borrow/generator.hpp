// Random well-typed functions for the borrow checker: shapes of grammar.def filled in with variables that are in scope. Types
// and scopes are kept right, ownership is left to chance and to the mutations, so that about half of them are rejected.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ockc::borrow_test {

// splitmix64: the same numbers on every machine.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint32_t below(std::uint32_t bound) { return bound == 0 ? 0 : static_cast<std::uint32_t>(next() % bound); }
    bool chance(std::uint32_t percent) { return below(100) < percent; }

  private:
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

// A piece of program. A Block holds Sequences (its statements), a Sequence the parts of one shape.
struct Piece {
    enum class Kind : std::uint8_t { Text, Sequence, Block, Declare, DeclareInner, Use, Mut } kind = Kind::Text;
    std::string text;                    // Text
    std::string type;                    // Declare, Use; of an expression's Sequence
    std::uint32_t variable = 0;          // Declare, Use
    bool is_mut = false;                 // Mut
    bool is_place = false;               // Sequence of a PLACE row
    bool in_loop = false, in_closure = false;   // Block
    std::vector<Piece> parts;
};

struct Function {
    Piece signature, body;               // body: Block; its last statement is the tail when `result` is not empty
    std::string result;
};

struct Variable {
    std::string type;
    std::uint32_t id = 0;
    bool is_mut = false;
};

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}
    Function function();
    // One near miss: the function with a statement moved or repeated, a `mut` dropped, an expression replaced, .. False when
    // the chosen change is not possible.
    bool mutate(Function& function);

  private:
    // What stands around the piece that is being made.
    struct Where {
        std::uint32_t depth = 0;
        bool in_loop = false, in_closure = false;
    };
    enum class Need : std::uint8_t { Value, Place, Writable };
    Piece shape(std::string_view text, Where where);
    Piece block(std::uint32_t statements, Where where);
    Piece statement(Where where);
    Piece expression(const std::string& type, std::uint32_t depth, Need need);
    Piece tail();
    Piece declaration();
    void leave_block(std::uint32_t mark);
    bool is_careless(std::string_view type, std::string_view text, bool is_writable, Need need);
    void spend(std::uint32_t variable);
    Piece hole(char kind, const std::string& type, const std::string& label, bool is_base, Where where);
    Piece use(const std::string& type, const std::string& label);
    Piece declare(Piece::Kind kind, const std::string& type);
    bool can_fill(std::string_view text, std::uint32_t depth) const;
    bool can_make(std::string_view type, std::uint32_t depth, Need need) const;
    bool has(std::string_view type) const;

    // ---- mutate.cpp
    bool move_statement(Function& function);
    bool repeat_statement(Function& function);
    bool use_late(Function& function);
    bool replace_expression(Function& function);
    bool replace_variable(Function& function);
    bool toggle_mut(Function& function);
    bool wrap_in_loop(Function& function);
    bool change_lifetime(Function& function);

    Random random_;
    std::vector<Variable> visible_, inner_, outer_;   // declared so far; for the next block; for the next statements
    std::vector<std::pair<std::string, std::uint32_t>> labels_;
    std::uint32_t next_variable_ = 0;
    std::uint32_t parameters_ = 0;   // variables up to this one are parameters
    bool careful_ = false, in_loop_ = false;
    bool is_mut_ = false, needs_mut_ = false;   // of the variable declared next; of the one used next
    std::string result_;
};

// Every variable that is used is declared before, in a block around it.
bool is_well_scoped(const Function& function);
// The function's text, its lines indented by four; the first is `fn NAME..`.
std::string print(const Function& function, const std::string& name);
// A function and, by the seed's last bit, a near miss of it.
std::string generate(std::uint64_t seed, const std::string& name);

}  // namespace ockc::borrow_test
