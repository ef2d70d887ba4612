// What names mean while PTX text is read: registers and variables by scope, labels by function, the rest by
// module. Private to the parser.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/parse_tokens.hpp"
#include "ptx/ptx.hpp"

namespace ockc::ptx {

using SymbolNames = std::unordered_map<std::string_view, SymbolId>;

class Names {
  public:
    Names(TokenStream& tokens, Module& module) : tokens_(tokens), module_(module) {}

    void begin_function(Function& function);
    void end_function();  // reports labels that were never defined
    Function* function() const { return function_; }

    // Scopes: the first is the function's parameters, the second its body.
    void open_scope() { scopes_.emplace_back(); }
    void close_scope() { scopes_.pop_back(); }
    std::size_t depth() const { return scopes_.size(); }

    // Declares a variable or parameter in the innermost scope, or in the module outside of functions. A name
    // that the function has already gets a suffix; two of one name in one scope are an error.
    SymbolId declare(const Token& token);
    // A function's name; it may come again when the declaration is followed by the definition.
    SymbolId declare_function(std::string_view name);
    // Text that lives as long as the parser, for names made from `name<n>`.
    std::string_view keep(std::string text);
    SymbolId find_symbol(std::string_view name) const;
    SymbolId known_symbol(const Token& token);  // error when there is none

    // `%r<5>` and single registers of a declared type.
    void declare_registers(const Token& token, Type type, std::uint64_t count);
    void declare_register(const Token& token, Type type);
    std::optional<Reg> find_reg(std::string_view name) const;

    LabelId label(const Token& token, bool define);

  private:
    // `%r<5>` maps %r0..%r4 to numbers from `first`.
    struct RegRange {
        RegClass reg_class = RegClass::B32;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    struct Scope {
        std::unordered_map<std::string_view, Reg> regs;
        std::unordered_map<std::string_view, RegRange> ranges;
        SymbolNames variables;
    };

    TokenStream& tokens_;
    Module& module_;
    SymbolNames module_names_;
    std::vector<std::unique_ptr<std::string>> kept_;

    Function* function_ = nullptr;
    std::vector<Scope> scopes_;
    std::unordered_map<std::string_view, LabelId> labels_;
    std::map<LabelId, Token> undefined_;  // ordered: errors come in the order of first use
    std::unordered_set<std::string> used_names_;
};

}  // namespace ockc::ptx
