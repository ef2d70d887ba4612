// A recursive-descent parser for PTX text (nothing in PTX nests but `{ }` scopes, which are counted, not
// recursed into). In: text. Out: a Module and errors with line and column. After an error the parser skips to
// the end of the statement. This file reads what surrounds instructions: module directives, variables,
// function heads, declarations in bodies.
#include "ptx/parse.hpp"

#include <bit>
#include <optional>
#include <utility>

#include "ptx/parse_instr.hpp"
#include "ptx/parse_names.hpp"
#include "ptx/parse_tokens.hpp"

namespace ockc::ptx {

namespace {

constexpr std::size_t kMaxScopeDepth = 256;

class Parser {
  public:
    explicit Parser(std::string_view text)
        : tokens_(text), names_(tokens_, result_.module), instrs_(tokens_, names_) {}

    ParseResult run() {
        while (!tokens_.at_end() && !tokens_.full())
            module_item();
        if (!seen_version_ && !tokens_.full())
            tokens_.error(tokens_.peek(), "no `.version` in this text: is it PTX?");
        result_.errors = tokens_.take_errors();
        return std::move(result_);
    }

  private:
    // ----------------------------------------------------------------------------------------------------
    // module level
    Module& module() { return result_.module; }

    void module_item() {
        if (tokens_.peek().kind != TokenKind::Dotted) {
            tokens_.error(tokens_.peek(),
                          "expected a directive, found " + TokenStream::quoted(tokens_.peek()));
            tokens_.take();
            tokens_.skip_statement();
            if (tokens_.peek().is('{') || tokens_.peek().is('}')) skip_module_braces();
            return;
        }
        const std::string_view word = tokens_.peek().text;
        if (word == "version") return version();
        if (word == "target") return target();
        if (word == "address_size") return address_size();
        if (word == "file") return file();
        if (word == "section") return skip_section();
        if (word == "pragma") return tokens_.skip_statement();
        declaration();
    }

    void skip_module_braces() {
        if (tokens_.peek().is('{')) {
            tokens_.skip_braces();
        } else {
            tokens_.take();
        }
    }

    void version() {
        tokens_.take();
        seen_version_ = true;
        // `7.0` lexes as a decimal; PTX writes it as major.minor.
        const Token token = tokens_.take();
        double value = 0;
        if (token.kind == TokenKind::Float64) value = std::bit_cast<double>(token.value);
        const auto tenfold = static_cast<std::uint16_t>(value * 10 + 0.5);
        if (token.kind != TokenKind::Float64 || tenfold < 10 || tenfold > 999) {
            tokens_.error(token, "expected a PTX version such as `7.0`, found " + TokenStream::quoted(token));
            return;
        }
        module().ptx_version = tenfold;
    }

    void target() {
        tokens_.take();
        const Token token = tokens_.peek();
        const std::string_view text = tokens_.expect_name();
        if (!text.empty()) {
            const std::optional<Target> found = target_from_text(text);
            if (found) {
                module().target = *found;
            } else {
                tokens_.error(token, "unknown target `" + std::string(text) + "`");
            }
        }
        while (tokens_.accept(','))
            tokens_.expect_name();  // debug, texmode_..
    }

    void address_size() {
        tokens_.take();
        const Token token = tokens_.peek();
        const auto value = tokens_.expect_integer();
        if (value && *value != 64) tokens_.error(token, "only 64-bit addresses are supported");
    }

    void file() {
        tokens_.take();
        const Token token = tokens_.peek();
        const auto index = tokens_.expect_integer();
        std::string_view name;
        if (tokens_.peek().kind == TokenKind::String) {
            name = tokens_.take().text;
        } else {
            tokens_.error(tokens_.peek(),
                          "expected a file name, found " + TokenStream::quoted(tokens_.peek()));
        }
        while (tokens_.accept(','))
            tokens_.expect_integer();  // time stamp, size
        if (!index) return;
        if (*index == 0 || *index > 65536) {
            tokens_.error(token, "file numbers go from 1 to 65536");
            return;
        }
        if (module().files.size() < *index) module().files.resize(*index);
        module().files[*index - 1] = std::string(name);
    }

    void skip_section() {
        while (tokens_.peek().kind != TokenKind::End && !tokens_.peek().is('{'))
            tokens_.take();
        tokens_.skip_braces();
    }

    void declaration() {
        Linkage linkage = Linkage::None;
        for (;;) {
            if (tokens_.peek().kind == TokenKind::Dotted && tokens_.peek().text == "visible") {
                linkage = Linkage::Visible;
            } else if (tokens_.peek().kind == TokenKind::Dotted && tokens_.peek().text == "extern") {
                linkage = Linkage::Extern;
            } else if (tokens_.peek().kind == TokenKind::Dotted &&
                       (tokens_.peek().text == "weak" || tokens_.peek().text == "common")) {
                linkage = Linkage::Weak;
            } else {
                break;
            }
            tokens_.take();
        }
        const std::string_view word =
            tokens_.peek().kind == TokenKind::Dotted ? tokens_.peek().text : std::string_view();
        if (word == "entry" || word == "func") return function(linkage);
        const std::optional<Space> space = variable_space(word);
        if (space) {
            return variables(linkage, *space, module().variables);
        }
        tokens_.error(tokens_.peek(), "unknown directive " + TokenStream::quoted(tokens_.peek()));
        tokens_.take();
        tokens_.skip_statement();
        if (tokens_.peek().is('{') || tokens_.peek().is('}')) skip_module_braces();
    }

    static std::optional<Space> variable_space(std::string_view word) {
        const auto value = field_value(Field::Space, ~std::uint64_t{0}, word);
        if (!value) return std::nullopt;
        return static_cast<Space>(*value);
    }

    // --------------------------------------------------------------------------------------------------------
    // variables
    struct Declared {
        Type type = Type::None;
        std::uint32_t align = 0;
    };

    // `.align 4 .v2 .f32`: attributes in any order up to the name.
    std::optional<Declared> declared_type() {
        Declared out;
        std::uint32_t lanes = 1;
        while (tokens_.peek().kind == TokenKind::Dotted) {
            const Token token = tokens_.take();
            if (token.text == "align") {
                const auto value = tokens_.expect_integer();
                if (!value) return std::nullopt;
                if (!std::has_single_bit(*value) || *value > 65536) {
                    tokens_.error(token, "an alignment is a power of two");
                    return std::nullopt;
                }
                out.align = static_cast<std::uint32_t>(*value);
            } else if (token.text == "ptr" || variable_space(token.text)) {
                continue;  // `.ptr .global .align 4`: what a parameter points to; the alignment below is the
                           // pointee's
            } else if (token.text == "v2" || token.text == "v4") {
                lanes = token.text == "v2" ? 2 : 4;
            } else if (const auto type = field_value(Field::Type, 0, token.text)) {
                out.type = static_cast<Type>(*type);
            } else {
                tokens_.error(token, "unknown type or attribute " + TokenStream::quoted(token));
                return std::nullopt;
            }
        }
        if (lanes != 1) {
            tokens_.error(tokens_.peek(), "vector variables are not supported");
            return std::nullopt;
        }
        if (out.type == Type::None) {
            tokens_.error(tokens_.peek(), "expected a type, found " + TokenStream::quoted(tokens_.peek()));
            return std::nullopt;
        }
        return out;
    }

    // `name`, `name[4]`, `name[2][3]`, `name[]`.
    template <class V>
    bool declarator(V& v) {
        name_token_ = tokens_.peek();
        if (tokens_.expect_name().empty()) return false;
        while (tokens_.accept('[')) {
            v.array = true;
            if (tokens_.accept(']')) {
                v.count = 0;
                continue;
            }
            const auto count = tokens_.expect_integer();
            if (!count || !tokens_.expect(']')) return false;
            if (*count != 0 && v.count > (std::uint64_t{1} << 40) / *count) {
                tokens_.error(name_token_, "the array is too large");
                return false;
            }
            v.count *= *count;
        }
        return true;
    }

    // One `.space type a, b = 1;` statement.
    void variables(Linkage linkage, Space space, std::vector<Variable>& out) {
        tokens_.take();
        const auto declared = declared_type();
        if (!declared) return tokens_.skip_statement();
        do {
            if (parameterised_name(space, *declared, linkage, out)) continue;
            Variable v;
            v.linkage = linkage;
            v.space = space;
            v.type = declared->type;
            v.align = declared->align;
            if (!declarator(v)) return tokens_.skip_statement();
            if (tokens_.peek().is('=')) {
                tokens_.take();
                if (!initialiser(v)) return tokens_.skip_statement();
            }
            v.name = names_.declare(name_token_);
            out.push_back(std::move(v));
        } while (tokens_.accept(','));
        if (!tokens_.expect(';')) tokens_.skip_statement();
    }

    // `param<3>` declares param0, param1, param2.
    bool parameterised_name(Space space, const Declared& declared, Linkage linkage,
                            std::vector<Variable>& out) {
        if (tokens_.peek().kind != TokenKind::Ident || !tokens_.ahead().is('<')) return false;
        const Token token = tokens_.take();
        tokens_.take();
        const auto count = tokens_.expect_integer();
        tokens_.expect('>');
        if (!count || *count > 65536) {
            tokens_.error(token, "expected a number of variables");
            return true;
        }
        for (std::uint64_t i = 0; i < *count; ++i) {
            Token each = token;
            each.text = names_.keep(std::string(token.text) + std::to_string(i));
            Variable v;
            v.linkage = linkage;
            v.space = space;
            v.type = declared.type;
            v.align = declared.align;
            v.name = names_.declare(each);
            out.push_back(std::move(v));
        }
        return true;
    }

    bool initialiser(Variable& v) {
        if (!tokens_.accept('{')) return init_value(v);
        std::size_t depth =
            1;  // nested braces of multi-dimensional arrays add nothing to the order of the values
        while (depth > 0) {
            if (tokens_.accept('{')) {
                ++depth;
            } else if (tokens_.accept('}')) {
                --depth;
                tokens_.accept(',');
            } else {
                if (!init_value(v)) return false;
                if (!tokens_.peek().is('}') && !tokens_.expect(',')) return false;
            }
        }
        if (v.array && v.count == 0) v.count = v.init.size();
        if (v.init.size() <= v.count) return true;
        tokens_.error(name_token_, "more initial values than elements");
        return false;
    }

    bool init_value(Variable& v) {
        Init init;
        const bool negative = tokens_.accept('-');
        const Token token = tokens_.take();
        switch (token.kind) {
            case TokenKind::Integer: init.bits = negative ? 0 - token.value : token.value; break;
            case TokenKind::Float32: init.bits = token.value; break;
            case TokenKind::Float64: init.bits = float_bits(v.type, token.value, negative); break;
            case TokenKind::Ident: {
                init.generic = token.text == "generic" && tokens_.accept('(');
                const Token name = init.generic ? tokens_.take() : token;
                if (init.generic && !tokens_.expect(')')) return false;
                init.symbol = names_.known_symbol(name);
                if (!init.symbol.valid()) return false;
                if (tokens_.accept('+')) {
                    const auto offset = tokens_.expect_integer();
                    if (!offset) return false;
                    init.bits = *offset;
                }
                break;
            }
            case TokenKind::End:
            case TokenKind::Dotted:
            case TokenKind::String:
            case TokenKind::Punct:
            case TokenKind::Bad:
                tokens_.error(token, "expected an initial value, found " + TokenStream::quoted(token));
                return false;
        }
        v.init.push_back(init);
        return true;
    }

    // --------------------------------------------------------------------------------------------------------
    // functions
    void function(Linkage linkage) {
        Function f;
        f.linkage = linkage;
        f.entry = tokens_.take().text == "entry";
        f.has_body = false;
        names_.begin_function(f);
        loc_ = {};
        const bool ok = function_head(f);
        if (ok && tokens_.peek().is('{')) {
            f.has_body = true;
            body(f);
        } else if (!ok || !tokens_.accept(';')) {
            if (ok)
                tokens_.error(tokens_.peek(),
                              "expected a body or `;`, found " + TokenStream::quoted(tokens_.peek()));
            tokens_.skip_statement();
            if (tokens_.peek().is('{')) tokens_.skip_braces();
        }
        names_.end_function();
        if (f.name.valid()) module().functions.push_back(std::move(f));
    }

    bool function_head(Function& f) {
        if (!f.entry && tokens_.peek().is('(') && !parameters(f.results)) return false;
        const std::string_view name = tokens_.expect_name();
        if (name.empty()) return false;
        f.name = names_.declare_function(name);
        if (tokens_.peek().is('(') && !parameters(f.params)) return false;
        while (tokens_.peek().kind == TokenKind::Dotted) {
            if (!directive(f.directives)) return false;
        }
        return true;
    }

    bool parameters(std::vector<Param>& out) {
        tokens_.take();
        if (tokens_.accept(')')) return true;
        do {
            if (tokens_.peek().kind == TokenKind::Dotted && tokens_.peek().text == "reg") {
                tokens_.error(tokens_.peek(), "register parameters are not supported");
                return false;
            }
            const bool pointer_attributes = has_ptr_attribute();
            const auto declared = declared_type();
            if (!declared) return false;
            Param param;
            param.type = declared->type;
            param.align = pointer_attributes ? 0 : declared->align;
            if (!declarator(param)) return false;
            param.name = names_.declare(name_token_);
            out.push_back(param);
        } while (tokens_.accept(','));
        return tokens_.expect(')');
    }

    // `.param .u64 .ptr .align 1 name`: the alignment then belongs to the pointee.
    bool has_ptr_attribute() {
        TextLexer look = tokens_.look_ahead();
        for (Token token = tokens_.ahead();
             token.kind == TokenKind::Dotted || token.kind == TokenKind::Integer; token = look.next()) {
            if (token.kind == TokenKind::Dotted && token.text == "ptr") return true;
        }
        return false;
    }

    bool directive(Directives& d) {
        const Token token = tokens_.take();
        const auto dims = [this]() -> std::optional<Dim3> {
            Dim3 out{1, 1, 1};
            for (std::size_t i = 0; i < 3; ++i) {
                const auto value = tokens_.expect_integer();
                if (!value) return std::nullopt;
                out[i] = static_cast<std::uint32_t>(*value);
                if (!tokens_.accept(',')) break;
            }
            return out;
        };
        const auto number = [this]() -> std::optional<std::uint32_t> {
            const auto value = tokens_.expect_integer();
            if (!value) return std::nullopt;
            return static_cast<std::uint32_t>(*value);
        };
        if (token.text == "maxntid") return (d.maxntid = dims()).has_value();
        if (token.text == "reqntid") return (d.reqntid = dims()).has_value();
        if (token.text == "reqnctapercluster") return (d.reqnctapercluster = dims()).has_value();
        if (token.text == "minnctapersm") return (d.minnctapersm = number()).has_value();
        if (token.text == "maxnreg") return (d.maxnreg = number()).has_value();
        if (token.text == "maxclusterrank") return (d.maxclusterrank = number()).has_value();
        if (token.text == "explicitcluster") return d.explicitcluster = true;
        if (token.text == "noreturn") return d.noreturn = true;
        if (token.text == "pragma") {
            tokens_.skip_statement();
            return true;
        }
        tokens_.error(token, "unknown directive " + TokenStream::quoted(token));
        return false;
    }

    // -------------------------------------------------------------------------------------------------------------
    // body
    void body(Function& f) {
        tokens_.take();
        names_.open_scope();
        f.blocks.emplace_back();
        while (names_.depth() > 1 && !tokens_.full()) {
            if (tokens_.peek().kind == TokenKind::End) {
                tokens_.error(tokens_.peek(),
                              "the body of `" + std::string(module().name(f.name)) + "` has no end");
                return;
            }
            statement(f);
        }
    }

    void statement(Function& f) {
        if (tokens_.peek().is('{')) {
            if (names_.depth() > kMaxScopeDepth) {
                tokens_.error(tokens_.peek(), "scopes are nested too deeply");
                return tokens_.skip_braces();
            }
            tokens_.take();
            names_.open_scope();
        } else if (tokens_.peek().is('}')) {
            tokens_.take();
            names_.close_scope();
        } else if (tokens_.peek().is(';')) {
            tokens_.take();
        } else if (tokens_.peek().kind == TokenKind::Dotted) {
            body_directive(f);
        } else if (tokens_.peek().kind == TokenKind::Ident && tokens_.ahead().is(':')) {
            label(f);
        } else if (tokens_.peek().kind == TokenKind::Ident || tokens_.peek().is('@')) {
            if (const std::optional<Instr> instr = instrs_.parse(loc_))
                f.blocks.back().instrs.push_back(*instr);
        } else {
            tokens_.error(tokens_.peek(),
                          "expected an instruction, found " + TokenStream::quoted(tokens_.peek()));
            tokens_.take();
            tokens_.skip_statement();
        }
    }

    void body_directive(Function& f) {
        const std::string_view word = tokens_.peek().text;
        if (word == "reg") return registers();
        if (word == "loc") return loc();
        if (word == "pragma") return tokens_.skip_statement();
        const std::optional<Space> space = variable_space(word);
        if (space) return variables(Linkage::None, *space, f.locals);
        tokens_.error(tokens_.peek(), "unknown directive " + TokenStream::quoted(tokens_.peek()));
        tokens_.take();
        tokens_.skip_statement();
    }

    void loc() {
        const Token token = tokens_.take();
        std::uint64_t values[3] = {0, 0, 0};
        for (std::uint64_t& value : values) {
            const auto number = tokens_.expect_integer();
            if (!number) return;
            value = *number;
        }
        while (tokens_.accept(',')) {  // function_name label[+n], inlined_at file line column
            while (tokens_.peek().line == token.line && !tokens_.peek().is(',') &&
                   tokens_.peek().kind != TokenKind::End)
                tokens_.take();
        }
        if (values[0] == 0 || values[0] > 65536)
            return tokens_.error(token, "file numbers go from 1 to 65536");
        if (values[1] == 0) return;  // "no line": the place before stays
        loc_ = {static_cast<std::uint32_t>(values[0] - 1), static_cast<std::uint32_t>(values[1]),
                static_cast<std::uint32_t>(values[2])};
    }

    void registers() {
        tokens_.take();
        const auto declared = declared_type();
        if (!declared) return tokens_.skip_statement();
        do {
            const Token token = tokens_.peek();
            const std::string_view name = tokens_.expect_name();
            if (name.empty()) return tokens_.skip_statement();
            if (tokens_.accept('<')) {
                const auto count = tokens_.expect_integer();
                if (!count || !tokens_.expect('>')) return tokens_.skip_statement();
                names_.declare_registers(token, declared->type, *count);
            } else {
                names_.declare_register(token, declared->type);
            }
        } while (tokens_.accept(','));
        if (!tokens_.expect(';')) tokens_.skip_statement();
    }

    void label(Function& f) {
        const Token token = tokens_.take();
        tokens_.take();
        const LabelId id = names_.label(token, true);
        if (f.blocks.size() == 1 && f.blocks[0].instrs.empty() && !f.blocks[0].label.valid()) {
            f.blocks[0].label = id;
        } else {
            f.blocks.push_back({id, {}});
        }
    }

    ParseResult result_;
    TokenStream tokens_;
    Names names_;
    InstrParser instrs_;
    bool seen_version_ = false;
    Token name_token_;  // of the last declarator
    SourceLoc loc_;     // of the last .loc
};

}  // namespace

ParseResult parse(std::string_view text) {
    return Parser(text).run();
}

}  // namespace ockc::ptx
