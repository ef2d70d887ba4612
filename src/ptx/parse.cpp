// A recursive-descent parser for PTX text (nothing in PTX nests but `{ }` scopes, which are counted, not recursed into).
// In: text. Out: a Module and errors with line and column. After an error the parser skips to the end of the statement.
//
// Registers keep their names when they are declared as print declares them (`%r<5>` as .b32); others get the next free
// numbers of the class that fits their type. Instructions are matched against the rows of instr.def: modifiers first,
// then the shape of the operands, so that forms sharing a mnemonic and a type are told apart by what stands in the text.
#include "ptx/parse.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ptx/text_lexer.hpp"

namespace ockc::ptx {

namespace {

// `%r<5>` maps %r0..%r4 to numbers from `first`.
struct RegRange {
    RegClass reg_class = RegClass::B32;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// The names that one `{ }` declares.
struct ScopeNames {
    std::unordered_map<std::string_view, Reg> regs;
    std::unordered_map<std::string_view, RegRange> ranges;
    std::unordered_map<std::string_view, SymbolId> variables;
};

// An operand as it stands in the text; names are resolved when the form's row says what they are.
struct TextOperand {
    Operand value;
    std::string_view name;     // an identifier that is no register: label, function, variable, `_`
    bool joined = false;       // after `|`
    bool parenthesised = false;
    std::vector<TextOperand> items;   // of `{..}` and `(..)`
    Token token;
};

constexpr std::size_t kMaxScopeDepth = 256;

class Parser {
  public:
    explicit Parser(std::string_view text) : lexer_(text) {
        token_ = lexer_.next();
        ahead_ = lexer_.next();
    }

    ParseResult run() {
        while (token_.kind != TokenKind::End && !full()) module_item();
        if (!seen_version_ && !full()) error(token_, "no `.version` in this text: is it PTX?");
        return std::move(result_);
    }

  private:
    // ----------------------------------------------------------------------------------------------- tokens and errors
    Token take() {
        Token token = token_;
        token_ = ahead_;
        ahead_ = lexer_.next();
        return token;
    }
    bool full() const { return result_.errors.size() >= kMaxParseErrors; }
    void error(const Token& at, std::string message) {
        if (full()) return;
        result_.errors.push_back({at.line, lexer_.column(at.begin), std::move(message)});
    }
    static std::string quoted(const Token& token) {
        if (token.kind == TokenKind::End) return "the end of the text";
        std::string out = "`";
        if (token.kind == TokenKind::Dotted) out += '.';
        return (out += token.text) += '`';
    }
    bool accept(char punct) {
        if (!token_.is(punct)) return false;
        take();
        return true;
    }
    bool expect(char punct) {
        if (accept(punct)) return true;
        error(token_, std::string("expected `") + punct + "`, found " + quoted(token_));
        return false;
    }
    std::optional<std::uint64_t> expect_integer() {
        if (token_.kind == TokenKind::Integer) return take().value;
        error(token_, "expected a number, found " + quoted(token_));
        return std::nullopt;
    }
    std::string_view expect_name() {
        if (token_.kind == TokenKind::Ident) return take().text;
        error(token_, "expected a name, found " + quoted(token_));
        return {};
    }
    // To behind the next `;`, or in front of a brace or the end.
    void skip_statement() {
        while (token_.kind != TokenKind::End && !token_.is('{') && !token_.is('}')) {
            if (take().is(';')) return;
        }
    }
    // Past a balanced `{ .. }`.
    void skip_braces() {
        std::size_t depth = 0;
        while (token_.kind != TokenKind::End) {
            const Token token = take();
            if (token.is('{')) ++depth;
            if (token.is('}') && --depth == 0) return;
        }
    }

    // ---------------------------------------------------------------------------------------------------- module level
    Module& module() { return result_.module; }

    void module_item() {
        if (token_.kind != TokenKind::Dotted) {
            error(token_, "expected a directive, found " + quoted(token_));
            take();
            skip_statement();
            if (token_.is('{') || token_.is('}')) skip_module_braces();
            return;
        }
        const std::string_view word = token_.text;
        if (word == "version") return version();
        if (word == "target") return target();
        if (word == "address_size") return address_size();
        if (word == "file") return file();
        if (word == "section") return skip_section();
        if (word == "pragma") return skip_statement();
        declaration();
    }

    void skip_module_braces() {
        if (token_.is('{')) {
            skip_braces();
        } else {
            take();
        }
    }

    void version() {
        take();
        seen_version_ = true;
        // `7.0` lexes as a decimal; PTX writes it as major.minor.
        const Token token = take();
        double value = 0;
        if (token.kind == TokenKind::Float64) value = std::bit_cast<double>(token.value);
        const auto tenfold = static_cast<std::uint16_t>(value * 10 + 0.5);
        if (token.kind != TokenKind::Float64 || tenfold < 10 || tenfold > 999) {
            error(token, "expected a PTX version such as `7.0`, found " + quoted(token));
            return;
        }
        module().ptx_version = tenfold;
    }

    void target() {
        take();
        const Token token = token_;
        const std::string_view text = expect_name();
        if (!text.empty()) {
            const std::optional<Target> found = target_from_text(text);
            if (found) {
                module().target = *found;
            } else {
                error(token, "unknown target `" + std::string(text) + "`");
            }
        }
        while (accept(',')) expect_name();   // debug, texmode_..
    }

    void address_size() {
        take();
        const Token token = token_;
        const auto value = expect_integer();
        if (value && *value != 64) error(token, "only 64-bit addresses are supported");
    }

    void file() {
        take();
        const Token token = token_;
        const auto index = expect_integer();
        std::string_view name;
        if (token_.kind == TokenKind::String) {
            name = take().text;
        } else {
            error(token_, "expected a file name, found " + quoted(token_));
        }
        while (accept(',')) expect_integer();   // time stamp, size
        if (!index) return;
        if (*index == 0 || *index > 65536) {
            error(token, "file numbers go from 1 to 65536");
            return;
        }
        if (module().files.size() < *index) module().files.resize(*index);
        module().files[*index - 1] = std::string(name);
    }

    void skip_section() {
        while (token_.kind != TokenKind::End && !token_.is('{')) take();
        skip_braces();
    }

    void declaration() {
        Linkage linkage = Linkage::None;
        for (;;) {
            if (token_.kind == TokenKind::Dotted && token_.text == "visible") {
                linkage = Linkage::Visible;
            } else if (token_.kind == TokenKind::Dotted && token_.text == "extern") {
                linkage = Linkage::Extern;
            } else if (token_.kind == TokenKind::Dotted && (token_.text == "weak" || token_.text == "common")) {
                linkage = Linkage::Weak;
            } else {
                break;
            }
            take();
        }
        const std::string_view word = token_.kind == TokenKind::Dotted ? token_.text : std::string_view();
        if (word == "entry" || word == "func") return function(linkage);
        const std::optional<Space> space = variable_space(word);
        if (space) {
            variables(linkage, *space, module().variables, module_names_);
            return;
        }
        error(token_, "unknown directive " + quoted(token_));
        take();
        skip_statement();
        if (token_.is('{') || token_.is('}')) skip_module_braces();
    }

    static std::optional<Space> variable_space(std::string_view word) {
        const auto value = field_value(Field::Space, ~std::uint64_t{0}, word);
        if (!value) return std::nullopt;
        return static_cast<Space>(*value);
    }

    // -------------------------------------------------------------------------------------------------------- variables
    struct Declared {
        Type type = Type::None;
        std::uint32_t align = 0;
    };

    // `.align 4 .v2 .f32`: attributes in any order up to the name.
    std::optional<Declared> declared_type() {
        Declared out;
        std::uint32_t lanes = 1;
        while (token_.kind == TokenKind::Dotted) {
            const Token token = take();
            if (token.text == "align") {
                const auto value = expect_integer();
                if (!value) return std::nullopt;
                if (!std::has_single_bit(*value) || *value > 65536) {
                    error(token, "an alignment is a power of two");
                    return std::nullopt;
                }
                out.align = static_cast<std::uint32_t>(*value);
            } else if (token.text == "ptr" || variable_space(token.text)) {
                continue;   // `.ptr .global .align 4`: what a parameter points to; the alignment below is the pointee's
            } else if (token.text == "v2" || token.text == "v4") {
                lanes = token.text == "v2" ? 2 : 4;
            } else if (const auto type = field_value(Field::Type, 0, token.text)) {
                out.type = static_cast<Type>(*type);
            } else {
                error(token, "unknown type or attribute " + quoted(token));
                return std::nullopt;
            }
        }
        if (lanes != 1) {
            error(token_, "vector variables are not supported");
            return std::nullopt;
        }
        if (out.type == Type::None) {
            error(token_, "expected a type, found " + quoted(token_));
            return std::nullopt;
        }
        return out;
    }

    // `name`, `name[4]`, `name[2][3]`, `name[]`.
    template <class V>
    bool declarator(V& v) {
        name_token_ = token_;
        if (expect_name().empty()) return false;
        while (accept('[')) {
            v.array = true;
            if (accept(']')) {
                v.count = 0;
                continue;
            }
            const auto count = expect_integer();
            if (!count || !expect(']')) return false;
            if (*count != 0 && v.count > (std::uint64_t{1} << 40) / *count) {
                error(name_token_, "the array is too large");
                return false;
            }
            v.count *= *count;
        }
        return true;
    }

    // One `.space type a, b = 1;` statement; names are added to `names` under their text.
    void variables(Linkage linkage, Space space, std::vector<Variable>& out,
                   std::unordered_map<std::string_view, SymbolId>& names) {
        take();
        const auto declared = declared_type();
        if (!declared) return skip_statement();
        do {
            if (parameterised_name(space, *declared, linkage, out, names)) continue;
            Variable v;
            v.linkage = linkage;
            v.space = space;
            v.type = declared->type;
            v.align = declared->align;
            if (!declarator(v)) return skip_statement();
            if (token_.is('=')) {
                take();
                if (!initialiser(v)) return skip_statement();
            }
            v.name = declare(name_token_, names);
            out.push_back(std::move(v));
        } while (accept(','));
        if (!expect(';')) skip_statement();
    }

    // `param<3>` declares param0, param1, param2.
    bool parameterised_name(Space space, const Declared& declared, Linkage linkage, std::vector<Variable>& out,
                            std::unordered_map<std::string_view, SymbolId>& names) {
        if (token_.kind != TokenKind::Ident || !ahead_.is('<')) return false;
        const Token token = take();
        take();
        const auto count = expect_integer();
        expect('>');
        if (!count || *count > 65536) {
            error(token, "expected a number of variables");
            return true;
        }
        for (std::uint64_t i = 0; i < *count; ++i) {
            generated_.push_back(std::make_unique<std::string>(std::string(token.text) + std::to_string(i)));
            Token each = token;
            each.text = *generated_.back();
            Variable v;
            v.linkage = linkage;
            v.space = space;
            v.type = declared.type;
            v.align = declared.align;
            v.name = declare(each, names);
            out.push_back(std::move(v));
        }
        return true;
    }

    // A module-level name keeps its text; a name inside a function gets a suffix when the function has it already.
    SymbolId declare(const Token& token, std::unordered_map<std::string_view, SymbolId>& names) {
        std::string unique(token.text);
        if (function_ != nullptr) {
            for (int i = 1; !used_names_.insert(unique).second; ++i) unique = std::string(token.text) + "_" + std::to_string(i);
        }
        const SymbolId id = module().symbol(unique);
        if (!names.emplace(token.text, id).second && !(function_ == nullptr && may_redeclare_)) {
            error(token, "`" + std::string(token.text) + "` is declared twice");
        }
        return id;
    }

    bool initialiser(Variable& v) {
        if (!accept('{')) return init_value(v);
        std::size_t depth = 1;   // nested braces of multi-dimensional arrays add nothing to the order of the values
        while (depth > 0) {
            if (accept('{')) {
                ++depth;
            } else if (accept('}')) {
                --depth;
                accept(',');
            } else {
                if (!init_value(v)) return false;
                if (!token_.is('}') && !expect(',')) return false;
            }
        }
        if (v.array && v.count == 0) v.count = v.init.size();
        if (v.init.size() <= v.count) return true;
        error(name_token_, "more initial values than elements");
        return false;
    }

    bool init_value(Variable& v) {
        Init init;
        const bool negative = accept('-');
        const Token token = take();
        switch (token.kind) {
            case TokenKind::Integer: init.bits = negative ? 0 - token.value : token.value; break;
            case TokenKind::Float32: init.bits = token.value; break;
            case TokenKind::Float64: init.bits = float_bits(v.type, token.value, negative); break;
            case TokenKind::Ident: {
                init.generic = token.text == "generic" && accept('(');
                const Token name = init.generic ? take() : token;
                if (init.generic && !expect(')')) return false;
                init.symbol = known_symbol(name);
                if (!init.symbol.valid()) return false;
                if (accept('+')) {
                    const auto offset = expect_integer();
                    if (!offset) return false;
                    init.bits = *offset;
                }
                break;
            }
            case TokenKind::End:
            case TokenKind::Dotted:
            case TokenKind::String:
            case TokenKind::Punct:
            case TokenKind::Bad: error(token, "expected an initial value, found " + quoted(token)); return false;
        }
        v.init.push_back(init);
        return true;
    }

    static std::uint64_t float_bits(Type type, std::uint64_t double_bits, bool negative) {
        double value = std::bit_cast<double>(double_bits);
        if (negative) value = -value;
        if (type == Type::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        return std::bit_cast<std::uint64_t>(value);
    }

    // -------------------------------------------------------------------------------------------------------- functions
    void function(Linkage linkage) {
        Function f;
        f.linkage = linkage;
        f.entry = take().text == "entry";
        f.has_body = false;
        function_ = &f;
        scopes_.assign(1, {});
        label_ids_.clear();
        used_names_.clear();
        undefined_.clear();
        loc_ = {};
        const bool ok = function_head(f);
        if (ok && token_.is('{')) {
            f.has_body = true;
            body(f);
        } else if (!ok || !accept(';')) {
            if (ok) error(token_, "expected a body or `;`, found " + quoted(token_));
            skip_statement();
            if (token_.is('{')) skip_braces();
        }
        function_ = nullptr;
        if (f.name.valid()) module().functions.push_back(std::move(f));
    }

    bool function_head(Function& f) {
        if (!f.entry && token_.is('(') && !parameters(f.results)) return false;
        const Token token = token_;
        const std::string_view name = expect_name();
        if (name.empty()) return false;
        f.name = module().symbol(name);
        module_names_.emplace(token.text, f.name);   // again after a declaration: the same id
        if (token_.is('(') && !parameters(f.params)) return false;
        while (token_.kind == TokenKind::Dotted) {
            if (!directive(f.directives)) return false;
        }
        return true;
    }

    bool parameters(std::vector<Param>& out) {
        take();
        if (accept(')')) return true;
        do {
            if (token_.kind == TokenKind::Dotted && token_.text == "reg") {
                error(token_, "register parameters are not supported");
                return false;
            }
            const bool pointer_attributes = has_ptr_attribute();
            const auto declared = declared_type();
            if (!declared) return false;
            Param param;
            param.type = declared->type;
            param.align = pointer_attributes ? 0 : declared->align;
            if (!declarator(param)) return false;
            param.name = declare(name_token_, scopes_.front().variables);
            out.push_back(param);
        } while (accept(','));
        return expect(')');
    }

    // `.param .u64 .ptr .align 1 name`: the alignment then belongs to the pointee.
    bool has_ptr_attribute() {
        TextLexer look = lexer_;
        for (Token token = ahead_; token.kind == TokenKind::Dotted || token.kind == TokenKind::Integer; token = look.next()) {
            if (token.kind == TokenKind::Dotted && token.text == "ptr") return true;
        }
        return false;
    }

    bool directive(Directives& d) {
        const Token token = take();
        const auto dims = [this]() -> std::optional<Dim3> {
            Dim3 out{1, 1, 1};
            for (std::size_t i = 0; i < 3; ++i) {
                const auto value = expect_integer();
                if (!value) return std::nullopt;
                out[i] = static_cast<std::uint32_t>(*value);
                if (!accept(',')) break;
            }
            return out;
        };
        const auto number = [this]() -> std::optional<std::uint32_t> {
            const auto value = expect_integer();
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
            skip_statement();
            return true;
        }
        error(token, "unknown directive " + quoted(token));
        return false;
    }

    // ------------------------------------------------------------------------------------------------------------- body
    void body(Function& f) {
        take();
        scopes_.emplace_back();
        f.blocks.emplace_back();
        while (scopes_.size() > 1 && !full()) {
            if (token_.kind == TokenKind::End) {
                error(token_, "the body of `" + std::string(module().name(f.name)) + "` has no end");
                return;
            }
            statement(f);
        }
        for (const auto& [label, token] : undefined_) {
            error(token, "label `" + f.labels[label] + "` is not defined");
        }
    }

    void statement(Function& f) {
        if (token_.is('{')) {
            if (scopes_.size() > kMaxScopeDepth) {
                error(token_, "scopes are nested too deeply");
                return skip_braces();
            }
            take();
            scopes_.emplace_back();
        } else if (token_.is('}')) {
            take();
            scopes_.pop_back();
        } else if (token_.is(';')) {
            take();
        } else if (token_.kind == TokenKind::Dotted) {
            body_directive(f);
        } else if (token_.kind == TokenKind::Ident && ahead_.is(':')) {
            label(f);
        } else if (token_.kind == TokenKind::Ident || token_.is('@')) {
            instruction(f);
        } else {
            error(token_, "expected an instruction, found " + quoted(token_));
            take();
            skip_statement();
        }
    }

    void body_directive(Function& f) {
        const std::string_view word = token_.text;
        if (word == "reg") return registers(f);
        if (word == "loc") return loc();
        if (word == "pragma") return skip_statement();
        const std::optional<Space> space = variable_space(word);
        if (space) return variables(Linkage::None, *space, f.locals, scopes_.back().variables);
        error(token_, "unknown directive " + quoted(token_));
        take();
        skip_statement();
    }

    void loc() {
        const Token token = take();
        std::uint64_t values[3] = {0, 0, 0};
        for (std::uint64_t& value : values) {
            const auto number = expect_integer();
            if (!number) return;
            value = *number;
        }
        while (accept(',')) {   // function_name label[+n], inlined_at file line column
            while (token_.line == token.line && !token_.is(',') && token_.kind != TokenKind::End) take();
        }
        if (values[0] == 0 || values[0] > 65536) return error(token, "file numbers go from 1 to 65536");
        if (values[1] == 0) return;   // "no line": the place before stays
        loc_ = {static_cast<std::uint32_t>(values[0] - 1), static_cast<std::uint32_t>(values[1]),
                static_cast<std::uint32_t>(values[2])};
    }

    static std::optional<RegClass> class_for(Type type) {
        switch (type_info(type).kind) {
            case TypeKind::Predicate: return RegClass::Pred;
            case TypeKind::Float:
                if (type == Type::F32) return RegClass::F32;
                if (type == Type::F64) return RegClass::F64;
                if (type == Type::TF32) return RegClass::B32;
                return RegClass::Half;
            case TypeKind::Packed: return RegClass::B32;
            case TypeKind::Untyped:
            case TypeKind::Unsigned:
            case TypeKind::Signed:
                switch (type_bits(type)) {
                    case 8:
                    case 16: return RegClass::B16;
                    case 32: return RegClass::B32;
                    case 64: return RegClass::B64;
                    case 128: return RegClass::B128;
                    default: return std::nullopt;
                }
            case TypeKind::None: return std::nullopt;
        }
        return std::nullopt;
    }

    // The class for registers named `prefix..` of a declared type: print's own when both agree, so that text keeps its form.
    static std::optional<RegClass> class_named(std::string_view prefix, Type type) {
        for (std::size_t i = 0; i < kRegClassCount; ++i) {
            const RegClassInfo& info = reg_class_info(static_cast<RegClass>(i));
            if (info.prefix == prefix && info.type == type) return static_cast<RegClass>(i);
        }
        return class_for(type);
    }

    void registers(Function& f) {
        take();
        const auto declared = declared_type();
        if (!declared) return skip_statement();
        do {
            const Token token = token_;
            const std::string_view name = expect_name();
            if (name.empty()) return skip_statement();
            if (accept('<')) {
                const auto count = expect_integer();
                if (!count || !expect('>')) return skip_statement();
                declare_range(f, token, declared->type, *count);
            } else {
                const auto reg_class = class_for(declared->type);
                if (!reg_class) return error(token, "no registers of this type");
                if (!scopes_.back().regs.emplace(name, f.new_reg(*reg_class)).second) {
                    error(token, "`" + std::string(name) + "` is declared twice");
                }
            }
        } while (accept(','));
        if (!expect(';')) skip_statement();
    }

    void declare_range(Function& f, const Token& token, Type type, std::uint64_t count) {
        const auto reg_class = class_named(token.text, type);
        if (!reg_class) return error(token, "no registers of this type");
        std::uint32_t& used = f.reg_counts[static_cast<std::size_t>(*reg_class)];
        if (count > (1u << 26) || used + count > (1u << 26)) return error(token, "too many registers");
        const RegRange range{*reg_class, used, static_cast<std::uint32_t>(count)};
        used += range.count;
        if (!scopes_.back().ranges.emplace(token.text, range).second) {
            error(token, "`" + std::string(token.text) + "` is declared twice");
        }
    }

    std::optional<Reg> find_reg(std::string_view name) const {
        std::size_t digits = name.size();
        while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
        std::uint64_t number = 0;
        for (const char c : name.substr(digits)) number = std::min<std::uint64_t>(number * 10 + static_cast<unsigned>(c - '0'), 1u << 30);
        const bool numbered = digits != name.size() && (name[digits] != '0' || digits + 1 == name.size());
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto it = scope->regs.find(name); it != scope->regs.end()) return it->second;
            if (!numbered || scope->ranges.empty()) continue;
            const auto it = scope->ranges.find(name.substr(0, digits));
            if (it != scope->ranges.end() && number < it->second.count) {
                return Reg(it->second.reg_class, it->second.first + static_cast<std::uint32_t>(number));
            }
        }
        return std::nullopt;
    }

    SymbolId find_symbol(std::string_view name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto it = scope->variables.find(name); it != scope->variables.end()) return it->second;
        }
        const auto it = module_names_.find(name);
        return it == module_names_.end() ? SymbolId::none() : it->second;
    }
    SymbolId known_symbol(const Token& token) {
        const SymbolId id = find_symbol(token.text);
        if (!id.valid()) error(token, "unknown name " + quoted(token));
        return id;
    }

    LabelId label_id(Function& f, const Token& token, bool define) {
        const auto [it, added] = label_ids_.try_emplace(token.text, LabelId::none());
        if (added) {
            it->second = f.new_label(std::string(token.text));
            if (!define) undefined_.emplace(it->second, token);
        } else if (define && undefined_.erase(it->second) == 0) {
            error(token, "label " + quoted(token) + " is defined twice");
        }
        return it->second;
    }

    void label(Function& f) {
        const Token token = take();
        take();
        const LabelId id = label_id(f, token, true);
        if (f.blocks.size() == 1 && f.blocks[0].instrs.empty() && !f.blocks[0].label.valid()) {
            f.blocks[0].label = id;
        } else {
            f.blocks.push_back({id, {}});
        }
    }

    // ----------------------------------------------------------------------------------------------------- instructions
    void instruction(Function& f) {
        Instr instr;
        instr.text_line = token_.line;
        instr.loc = loc_;
        if (token_.is('@') && !guard(instr)) return skip_statement();
        const Token mnemonic = token_;
        if (expect_name().empty()) return skip_statement();
        instr.text_line = mnemonic.line;
        words_.clear();
        while (token_.kind == TokenKind::Dotted && token_.attached) words_.push_back(take());
        operands_.clear();
        if (!token_.is(';') && !operand_list()) return skip_statement();
        if (!expect(';')) return skip_statement();
        if (match(f, instr, mnemonic)) f.blocks.back().instrs.push_back(instr);
    }

    bool guard(Instr& instr) {
        take();
        instr.guard_negated = accept('!');
        const Token token = token_;
        const std::string_view name = expect_name();
        const auto reg = find_reg(name);
        if (!reg || reg->reg_class() != RegClass::Pred) {
            if (!name.empty()) error(token, "`" + std::string(name) + "` is not a predicate register");
            return false;
        }
        instr.guard = *reg;
        return true;
    }

    bool operand_list() {
        bool joined = false;
        for (;;) {
            TextOperand operand;
            if (!this->operand(operand, true)) return false;
            operand.joined = joined;
            operands_.push_back(std::move(operand));
            joined = token_.is('|');
            if (!joined && !token_.is(',')) return true;
            take();
        }
    }

    // `lists`: may a brace list or parentheses stand here (they do not nest).
    bool operand(TextOperand& out, bool lists) {
        out.token = token_;
        if (lists && (token_.is('{') || token_.is('('))) return list(out);
        if (token_.is('[')) return address(out);
        const bool negated = accept('!');
        if (accept('-')) return negative(out);
        const Token token = take();
        switch (token.kind) {
            case TokenKind::Integer: out.value = Operand::imm(static_cast<std::int64_t>(token.value)); return true;
            case TokenKind::Float32: out.value = Operand::f32(static_cast<std::uint32_t>(token.value)); return true;
            case TokenKind::Float64: out.value = Operand::f64(token.value); return true;
            case TokenKind::Ident: return named(out, token, negated);
            case TokenKind::End:
            case TokenKind::Dotted:
            case TokenKind::String:
            case TokenKind::Punct:
            case TokenKind::Bad: error(token, "expected an operand, found " + quoted(token)); return false;
        }
        return false;
    }

    bool negative(TextOperand& out) {
        const Token token = take();
        if (token.kind == TokenKind::Integer) {
            out.value = Operand::imm(static_cast<std::int64_t>(0 - token.value));
        } else if (token.kind == TokenKind::Float64) {
            out.value = Operand::f64(token.value ^ (std::uint64_t{1} << 63));
        } else {
            error(token, "expected a number, found " + quoted(token));
            return false;
        }
        return true;
    }

    bool named(TextOperand& out, const Token& token, bool negated) {
        if (const auto reg = find_reg(token.text)) {
            out.value = Operand::reg(*reg, negated);
            return true;
        }
        if (token.text[0] == '%' && !find_symbol(token.text).valid()) return special(out, token);
        out.name = token.text;
        if (token_.is('+') || token_.is('-')) {
            const bool minus = take().is('-');
            const auto offset = expect_integer();
            if (!offset) return false;
            out.value.value = static_cast<std::int64_t>(minus ? 0 - *offset : *offset);
        }
        return true;
    }

    bool special(TextOperand& out, const Token& token) {
        std::string text(token.text);
        if (token_.kind == TokenKind::Dotted && token_.attached) (text += '.') += take().text;
        const auto found = special_from_text(text);
        if (!found) {
            error(token, "`" + text + "` is neither a declared register nor a known special register");
            return false;
        }
        out.value = Operand::special(*found);
        return true;
    }

    bool list(TextOperand& out) {
        out.parenthesised = take().is('(');
        out.value.kind = OperandKind::List;
        const char close = out.parenthesised ? ')' : '}';
        if (accept(close)) return true;
        do {
            TextOperand item;
            if (!operand(item, false)) return false;
            out.items.push_back(std::move(item));
        } while (accept(','));
        return expect(close);
    }

    bool address(TextOperand& out) {
        take();
        const Token token = take();
        if (token.kind == TokenKind::Integer) {
            out.value.kind = OperandKind::AddrImm;
            out.value.value = static_cast<std::int64_t>(token.value);
            return expect(']');
        }
        if (token.kind != TokenKind::Ident) {
            error(token, "expected a register or a name, found " + quoted(token));
            return false;
        }
        if (const auto reg = find_reg(token.text)) {
            out.value = Operand::at(*reg);
        } else {
            const SymbolId symbol = known_symbol(token);
            if (!symbol.valid()) return false;
            out.value = Operand::at(symbol);
        }
        while (token_.is('+') || token_.is('-')) {
            bool minus = take().is('-');
            if (token_.is('-')) minus = !minus, take();
            const auto offset = expect_integer();
            if (!offset) return false;
            out.value.value += static_cast<std::int64_t>(minus ? 0 - *offset : *offset);
        }
        return expect(']');
    }

    // ----------------------------------------------------------------------------------------------- matching the table
    // How far the best candidate came decides which error is shown.
    enum class Match : std::uint8_t { Words, Type, Shape, Full };

    bool match(Function& f, Instr& instr, const Token& mnemonic) {
        const std::span<const Form> forms = forms_of(mnemonic.text);
        if (forms.empty()) {
            error(mnemonic, "unknown instruction " + quoted(mnemonic));
            return false;
        }
        Match best = Match::Words;
        for (const Form form : forms) {
            instr.form = form;
            instr.mods = {};
            const Match got = match_form(form, instr.mods);
            if (got == Match::Full) return bind(f, instr);
            best = std::max(best, got);
        }
        std::string text(mnemonic.text);
        for (const Token& word : words_) (text += '.') += word.text;
        switch (best) {
            case Match::Words: error(mnemonic, "`" + text + "` is not a known form of `" + std::string(mnemonic.text) + "`"); break;
            case Match::Type: error(mnemonic, "`" + text + "`: the instruction does not exist for this type"); break;
            case Match::Shape:
            case Match::Full: error(mnemonic, "`" + text + "`: wrong number or kind of operands"); break;
        }
        return false;
    }

    Match match_form(Form form, Mods& mods) const {
        const FormInfo& info = form_info(form);
        std::size_t at = 0;
        for (const Word& word : info.word_list()) {
            const std::string_view text = at < words_.size() ? words_[at].text : std::string_view();
            if (word.field == Field::Literal) {
                if (text != word.text) return Match::Words;
                ++at;
            } else if (const auto value = text.empty() ? std::nullopt : field_value(word.field, word.allowed, text)) {
                set_field(mods, word.field, *value);
                ++at;
            } else if (!word.optional) {
                return Match::Words;
            }
        }
        if (at != words_.size()) return Match::Words;
        if (!types_exist(form, mods)) return Match::Type;
        return shape_fits(info) ? Match::Full : Match::Shape;
    }

    // Calls `use(spec index, text operand)` for each operand of the text in its place; false when they do not fit.
    // Optional operands are taken from the left while enough operands remain for the required ones.
    template <class Use>
    bool place_operands(const FormInfo& info, Use use) const {
        std::size_t required = 0;
        for (const OperandSpec& spec : info.operand_list()) required += spec.optional ? 0 : 1;
        std::size_t at = 0;
        for (std::size_t i = 0; i < info.operand_count; ++i) {
            const OperandSpec& spec = info.operands[i];
            const std::size_t left = operands_.size() - at;
            if (spec.optional) {
                const bool wanted = left > required && operands_[at].joined == spec.joined && role_fits(spec, operands_[at]);
                if (wanted && !use(i, at++)) return false;
                continue;
            }
            --required;
            if (left == 0 || operands_[at].joined != spec.joined || !role_fits(spec, operands_[at])) return false;
            if (!use(i, at++)) return false;
        }
        return at == operands_.size();
    }

    bool shape_fits(const FormInfo& info) const {
        return place_operands(info, [](std::size_t, std::size_t) { return true; });
    }

    static bool role_fits(const OperandSpec& spec, const TextOperand& operand) {
        const OperandKind kind = operand.value.kind;
        const bool named = !operand.name.empty();
        const bool constant = kind == OperandKind::Imm || kind == OperandKind::ImmF32 || kind == OperandKind::ImmF64;
        const bool negated = operand.value.negated;
        switch (spec.role) {
            case Role::Dest: return (kind == OperandKind::Reg && !negated) || operand.name == "_";
            case Role::Source: return (kind == OperandKind::Reg && !negated) || constant || (negated && spec.type == OperandType::Predicate);
            case Role::SourceReg: return kind == OperandKind::Reg && (!negated || spec.type == OperandType::Predicate);
            case Role::SourceAny: return (kind == OperandKind::Reg && !negated) || constant || kind == OperandKind::Special || named;
            case Role::Immediate: return kind == OperandKind::Imm;
            case Role::VectorOrReg: return kind == OperandKind::Reg || constant || (kind == OperandKind::List && !operand.parenthesised);
            case Role::List: return kind == OperandKind::List && !operand.parenthesised;
            case Role::Address: return operand.value.is_address();
            case Role::Label:
            case Role::Function: return named;
            case Role::Params: return kind == OperandKind::List && operand.parenthesised;
        }
        return false;
    }

    bool bind(Function& f, Instr& instr) {
        const FormInfo& info = instr.info();
        return place_operands(info, [&, this](std::size_t spec, std::size_t at) {
            return bind_operand(f, instr, info.operands[spec], operands_[at], instr.operands[spec]);
        });
    }

    bool bind_operand(Function& f, const Instr& instr, const OperandSpec& spec, TextOperand& text, Operand& out) {
        if (text.value.kind == OperandKind::List) {
            std::vector<Operand> items;
            for (TextOperand& item : text.items) {
                items.emplace_back();
                if (!bind_operand(f, instr, spec, item, items.back())) return false;
            }
            out = Operand::list(f.new_list(std::move(items)));
            return true;
        }
        if (text.name.empty()) {
            out = text.value;
            // A decimal literal takes the instruction's type.
            if (out.kind == OperandKind::ImmF64 && instr.mods.type == Type::F32) {
                out = Operand::f32(static_cast<std::uint32_t>(float_bits(Type::F32, static_cast<std::uint64_t>(out.value), false)));
            }
            return true;
        }
        if (spec.role == Role::Label) {
            out = Operand::label(label_id(f, text.token, false));
            return true;
        }
        if (text.name == "_") {
            out = Operand::sink();
            return true;
        }
        const SymbolId symbol = known_symbol(text.token);
        out = Operand::symbol(symbol, text.value.value);
        return symbol.valid();
    }

    TextLexer lexer_;
    Token token_;
    Token ahead_;
    ParseResult result_;
    bool seen_version_ = false;
    static constexpr bool may_redeclare_ = true;   // `.extern` declarations may repeat at module level

    std::unordered_map<std::string_view, SymbolId> module_names_;
    std::vector<std::unique_ptr<std::string>> generated_;   // names made from `name<n>`
    Token name_token_;

    // The function being parsed.
    Function* function_ = nullptr;
    std::vector<ScopeNames> scopes_;
    std::unordered_map<std::string_view, LabelId> label_ids_;
    std::map<LabelId, Token> undefined_;   // ordered: errors come in the order of first use
    std::unordered_set<std::string> used_names_;
    SourceLoc loc_;

    // The instruction being parsed.
    std::vector<Token> words_;
    std::vector<TextOperand> operands_;
};

}  // namespace

ParseResult parse(std::string_view text) { return Parser(text).run(); }

}  // namespace ockc::ptx
