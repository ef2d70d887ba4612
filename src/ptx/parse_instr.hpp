// One instruction of PTX text, matched against the rows of instr.def. Private to the parser.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/parse_names.hpp"
#include "ptx/parse_tokens.hpp"
#include "ptx/ptx.hpp"

namespace ockc::ptx {

class InstrParser {
  public:
    InstrParser(TokenStream& tokens, Names& names) : tokens_(tokens), names_(names) {}

    // `@%p mnemonic.words operands;` Nothing after an error; then the statement has been skipped.
    std::optional<Instr> parse(SourceLoc loc);

  private:
    // An operand as it stands in the text; names are resolved when the form's row says what they are.
    struct TextOperand {
        Operand value;
        std::string_view name;  // an identifier that is no register: label, function, variable, `_`
        bool joined = false;    // after `|`
        bool parenthesised = false;
        bool opens = false;  // an address with a list behind it in the same brackets
        std::vector<TextOperand> items;  // of `{..}` and `(..)`
        Token token;
    };
    // How far the best candidate came decides which error is shown.
    enum class Match : std::uint8_t { Words, Type, Shape, Full };

    bool statement(Instr& instr);
    bool guard(Instr& instr);
    bool operand_list();
    bool operand(TextOperand& out, bool lists);
    bool negative(TextOperand& out);
    bool named(TextOperand& out, const Token& token, bool negated);
    bool special(TextOperand& out, const Token& token);
    bool list(TextOperand& out);
    bool address(TextOperand& out);
    bool coordinates();

    bool match(Instr& instr, const Token& mnemonic);
    Match match_form(Form form, Mods& mods) const;
    template <class Use>
    bool place_operands(const FormInfo& info, Use use) const;
    bool shape_fits(const FormInfo& info) const;
    static bool role_fits(const OperandSpec& spec, const TextOperand& operand);
    bool bind(Instr& instr);
    bool bind_operand(const Instr& instr, const OperandSpec& spec, TextOperand& text, Operand& out);

    TokenStream& tokens_;
    Names& names_;
    std::vector<Token> words_;  // of the instruction being read
    std::vector<TextOperand> operands_;
};

// The bits of a decimal literal, lexed as a double, in the given type.
std::uint64_t float_bits(Type type, std::uint64_t double_bits, bool negative);

}  // namespace ockc::ptx
