#include "ir/parse.hpp"

#include <bit>
#include <charconv>
#include <limits>
#include <string>
#include <unordered_map>

#include "ir/names.hpp"
#include "ir/parse_lex.hpp"

namespace ockc::ir {

namespace {

struct Number {
    std::uint64_t low = 0;
    std::uint64_t high = 0;  // sign extension, or the upper half of a long hexadecimal number
    bool hex = false;
};

// Recursive descent over the grammar of docs/ir.md. Every method returns false once the first error is
// recorded. Values are first stored under their text number and renamed at the end of the function, calls at
// the end of the module: both may be used above their definition.
class Parser {
  public:
    explicit Parser(std::string_view text) : lexer_(text) {}

    Result<Module> run() {
        while (error_.empty() && lexer_.kind() != TextToken::End)
            item();
        if (error_.empty()) resolve_calls();
        if (!error_.empty()) return Failure{error_};
        return std::move(module_);
    }

  private:
    bool fail_at(std::uint32_t line, std::string message) {
        if (error_.empty()) error_ = "line " + std::to_string(line) + ": " + message;
        return false;
    }
    bool fail(std::string message) { return fail_at(lexer_.line(), std::move(message)); }
    bool expected(std::string_view what) {
        const std::string seen(lexer_.text());
        return fail("expected " + std::string(what) +
                    (lexer_.kind() == TextToken::End ? ", found the end" : ", found `" + seen + "`"));
    }

    // Token helpers.
    bool at_punct(char c) const { return lexer_.kind() == TextToken::Punct && lexer_.text()[0] == c; }
    bool at_word(std::string_view word) const {
        return lexer_.kind() == TextToken::Word && lexer_.text() == word;
    }
    bool accept(char c) {
        if (!at_punct(c)) return false;
        lexer_.advance();
        return true;
    }
    bool accept_word(std::string_view word) {
        if (!at_word(word)) return false;
        lexer_.advance();
        return true;
    }
    bool expect(char c) { return accept(c) || expected(std::string("`") + c + "`"); }
    bool take(TextToken kind, std::string_view what, std::string_view& out) {
        if (lexer_.kind() != kind) return expected(what);
        out = lexer_.text();
        lexer_.advance();
        return true;
    }
    template <class Int>
    bool integer(Int& out) {
        Number number;
        if (!big_number(number)) return false;
        if (number.high != 0 || number.low > std::numeric_limits<Int>::max())
            return fail("number out of range");
        out = static_cast<Int>(number.low);
        return true;
    }
    bool big_number(Number& out) {
        std::string_view text;
        if (!take(TextToken::Number, "a number", text)) return false;
        if (text.starts_with("0x")) return hex_number(text.substr(2), out);
        const bool negative = text.starts_with("-");
        if (negative) text.remove_prefix(1);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.low);
        if (error != std::errc{} || end != text.data() + text.size()) return fail("bad integer");
        if (negative) {
            out.low = std::uint64_t{0} - out.low;
            out.high = out.low == 0 ? 0 : ~std::uint64_t{0};
        }
        return true;
    }
    bool hex_number(std::string_view digits, Number& out) {
        out.hex = true;
        if (digits.empty() || digits.size() > 32) return fail("bad hexadecimal number");
        const std::size_t split = digits.size() > 16 ? digits.size() - 16 : 0;
        if (split != 0 && !hex_half(digits.substr(0, split), out.high)) return false;
        return hex_half(digits.substr(split), out.low);
    }
    bool hex_half(std::string_view digits, std::uint64_t& out) {
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
        return (error == std::errc{} && end == digits.data() + digits.size()) ||
               fail("bad hexadecimal number");
    }
    bool type(Type& out) {
        std::string_view text;
        if (!take(TextToken::Word, "a type", text)) return false;
        const auto found = type_from_text(text);
        if (!found) return fail("unknown type `" + std::string(text) + "`");
        out = *found;
        return true;
    }

    // item = "source" STRING | global | function
    bool item() {
        if (accept_word("source")) {
            std::string_view name;
            if (!take(TextToken::String, "a file name in quotes", name)) return false;
            module_.source_name = name;
            return true;
        }
        if (accept_word("global")) return global();
        if (at_word("kernel") || at_word("func")) return function();
        return expected("`source`, `global`, `kernel` or `func`");
    }

    // global = "global" NAME ":" space bytes "align" N ["extern"] ["visible"] ["init" hex] {"at" offset NAME}
    bool global() {
        Global out;
        std::string_view name;
        std::string_view space;
        if (!take(TextToken::Name, "a name", name) || !expect(':') ||
            !take(TextToken::Word, "a space", space)) {
            return false;
        }
        const auto pointer = type_from_text("ptr." + std::string(space));
        if (!pointer) return fail("unknown space `" + std::string(space) + "`");
        out.name = name;
        out.space = ptr_space(*pointer);
        if (!integer(out.size)) return false;
        if (!accept_word("align")) return expected("`align`");
        if (!integer(out.align)) return false;
        out.is_extern = accept_word("extern");
        out.visible = accept_word("visible");
        if (accept_word("init") && !bytes(out.init)) return false;
        while (accept_word("at")) {
            Relocation one;
            std::string_view target;
            if (!integer(one.offset) || !take(TextToken::Name, "a global's name", target)) return false;
            const auto found = globals_.find(std::string(target));
            if (found == globals_.end()) return fail("unknown global @" + std::string(target));
            one.target = found->second;
            out.relocations.push_back(one);
        }
        if (!globals_.emplace(out.name, module_.globals.next_id()).second)
            return fail("second global of that name");
        module_.globals.push(std::move(out));
        return true;
    }

    bool bytes(std::vector<std::uint8_t>& out) {
        std::string_view text;
        if (!take(TextToken::Number, "bytes as 0x..", text)) return false;
        if (!text.starts_with("0x") || text.size() % 2 != 0) return fail("bad bytes");
        for (std::size_t i = 2; i < text.size(); i += 2) {
            std::uint64_t byte = 0;
            if (!hex_half(text.substr(i, 2), byte)) return false;
            out.push_back(static_cast<std::uint8_t>(byte));
        }
        return true;
    }

    // function = ("kernel" | "func") NAME "(" [param {"," param}] ")" ["->" types] attributes "{" {block} "}"
    bool function() {
        function_ = {};
        numbers_.clear();
        block_numbers_.clear();
        inst_lines_.clear();
        function_.is_kernel = at_word("kernel");
        lexer_.advance();
        std::string_view name;
        if (!take(TextToken::Name, "a name", name) || !params()) return false;
        function_.name = name;
        if (lexer_.kind() == TextToken::Arrow && !arrow_types(function_.results)) return false;
        if (!function_attributes() || !expect('{')) return false;
        while (!at_punct('}')) {
            if (!block()) return false;
        }
        lexer_.advance();
        if (!resolve_values()) return false;
        if (!functions_.emplace(function_.name, module_.functions.next_id()).second) {
            return fail("second function named @" + function_.name);
        }
        module_.functions.push(std::move(function_));
        return true;
    }

    bool params() {
        const BlockId entry = function_.blocks.push({});
        if (!expect('(')) return false;
        while (!accept(')')) {
            if (!function_.param_attrs.empty() && !expect(',')) return false;
            if (!declare_param(entry)) return false;
            ParamAttrs attrs;
            while (lexer_.kind() == TextToken::Word) {
                if (accept_word("readonly")) {
                    attrs.readonly = true;
                } else if (accept_word("noalias")) {
                    attrs.noalias = true;
                } else if (accept_word("nonnull")) {
                    attrs.nonnull = true;
                } else if (!accept_word("align")) {
                    return expected("a parameter attribute");
                } else if (!integer(attrs.align)) {
                    return false;
                }
            }
            function_.param_attrs.push_back(attrs);
        }
        return true;
    }

    bool declare_param(BlockId block) {
        std::string_view number;
        Type param_type = Type::Void;
        if (!take(TextToken::Value, "a value", number) || !expect(':') || !type(param_type)) return false;
        const ValueId param = function_.add_block_param(block, param_type);
        const bool typed = is_tile(param_type) && lexer_.kind() == TextToken::Word;
        if (typed && !tile_type(function_.values[param].tile)) return false;
        return define(number, param);
    }

    bool arrow_types(std::vector<Type>& out) {
        lexer_.advance();
        do {
            Type result = Type::Void;
            if (!type(result)) return false;
            out.push_back(result);
        } while (accept(','));
        return true;
    }

    // attributes = {"inline" ("always" | "never") | "index" N | "domain" N | "block" X Y Z | "max_threads" N |
    //               "dynamic_shared" N}
    bool function_attributes() {
        KernelFacts& facts = function_.facts;
        while (lexer_.kind() == TextToken::Word) {
            if (accept_word("inline")) {
                if (!at_word("always") && !at_word("never")) return expected("`always` or `never`");
                function_.inline_hint = at_word("always") ? Inline::Always : Inline::Never;
                lexer_.advance();
                continue;
            }
            bool good = true;
            if (accept_word("index")) {
                good = integer(function_.kernel_index);
            } else if (accept_word("domain")) {
                good = integer(facts.domain);
            } else if (accept_word("block")) {
                good = integer(facts.block[0]) && integer(facts.block[1]) && integer(facts.block[2]);
            } else if (accept_word("max_threads")) {
                good = integer(facts.max_threads);
            } else if (accept_word("dynamic_shared")) {
                good = integer(facts.dynamic_shared);
            } else {
                return expected("an attribute or `{`");
            }
            if (!good) return false;
        }
        return true;
    }

    // block = "bbN" ["(" %n ":" type .. ")"] ["cold"] ["unroll" (N | "full")] ":" {instruction}
    bool block() {
        BlockId id;
        if (!block_ref(id)) return false;
        const bool is_entry = function_.layout.empty();
        if (function_.blocks[id].removed) {
            function_.blocks[id].removed = false;
        } else if (!is_entry) {
            return fail("second block of that number");
        }
        function_.layout.push_back(id);
        if (accept('(') && !(is_entry ? entry_params(id) : block_params(id))) return false;
        function_.blocks[id].cold = accept_word("cold");
        if (accept_word("unroll")) {
            if (accept_word("full")) {
                function_.blocks[id].unroll = kUnrollFull;
            } else if (!integer(function_.blocks[id].unroll)) {
                return false;
            }
        }
        if (!expect(':')) return false;
        while (!at_punct('}') && !at_block_label()) {
            if (!instruction(id)) return false;
        }
        return true;
    }

    bool block_params(BlockId id) {
        do {
            if (!declare_param(id)) return false;
        } while (accept(','));
        return expect(')');
    }

    // The entry block may repeat the function's parameters, without their attributes.
    bool entry_params(BlockId id) {
        for (const ValueId param : std::vector<ValueId>(function_.blocks[id].params)) {
            std::string_view number;
            Type param_type = Type::Void;
            if (param.index() != 0 && !expect(',')) return false;
            if (!take(TextToken::Value, "a value", number) || !expect(':') || !type(param_type)) return false;
            const auto found = numbers_.find(std::string(number));
            if (found == numbers_.end() || found->second != param || param_type != function_.type_of(param)) {
                return fail("the entry block repeats the function's parameters differently");
            }
        }
        return expect(')');
    }

    bool at_block_label() const {
        const std::string_view text = lexer_.text();
        return lexer_.kind() == TextToken::Word && text.size() > 2 && text.starts_with("bb") &&
               text[2] >= '0' && text[2] <= '9';
    }

    // Blocks are made at their first mention and stay `removed` until their label comes.
    bool block_ref(BlockId& out) {
        if (!at_block_label()) return expected("a block");
        const std::string number(lexer_.text().substr(2));
        lexer_.advance();
        if (function_.layout.empty()) {  // the first label is the entry block, whatever its number
            out = BlockId(0);
            block_numbers_.emplace(number, out);
            return true;
        }
        const auto [found, fresh] = block_numbers_.emplace(number, function_.blocks.next_id());
        if (fresh) {
            Block forward;
            forward.removed = true;
            function_.blocks.push(forward);
        }
        out = found->second;
        return true;
    }

    // instruction = [%n {"," %n} "="] mnemonic operands
    bool instruction(BlockId block) {
        const std::uint32_t line = lexer_.line();
        std::vector<std::string_view> results;
        if (lexer_.kind() == TextToken::Value) {
            do {
                std::string_view number;
                if (!take(TextToken::Value, "a value", number)) return false;
                results.push_back(number);
            } while (accept(','));
            if (!expect('=')) return false;
        }
        Instruction inst;
        std::vector<Type> types;
        if (!mnemonic(inst) || !operands(inst, types)) return false;
        if (!result_types(inst, types)) return false;
        if (is_machine(inst.op) && !types.empty()) inst.type = types[0];
        if (types.size() != results.size()) {
            return fail_at(
                line, std::string(op_text(inst.op)) + " has " + std::to_string(types.size()) + " results");
        }
        const InstId id = function_.make_inst(std::move(inst), types);
        function_.blocks[block].insts.push_back(id);
        inst_lines_.push_back(line);
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (!define(results[i], function_.insts[id].results[i])) return false;
        }
        return true;
    }

    bool result_types(const Instruction& inst, std::vector<Type>& out) {
        switch (op_info(inst.op).result) {
            case ResultRule::None: return true;
            case ResultRule::Type: out = {inst.type}; return true;
            case ResultRule::Bool: out = {Type::I1}; return true;
            case ResultRule::PtrLocal: out = {Type::PtrLocal}; return true;
            case ResultRule::Many: break;  // operands() has read a call's
        }
        if (!is_machine(inst.op)) return inst.op == Op::Call;
        const intrinsic::MachineInfo& row = intrinsic::info(inst.machine());
        const std::size_t count = machine_results(row, inst.args.size());
        for (std::size_t i = 0; i < count; ++i) out.push_back(machine_type(intrinsic::letter_at(row.results, i)));
        return true;
    }

    // mnemonic = operation ["." condition | "." register | "." scope] ["." type]
    bool mnemonic(Instruction& inst) {
        std::string_view text;
        mnemonic_line_ = lexer_.line();
        if (!take(TextToken::Word, "an operation", text)) return false;
        const std::size_t dot = std::min(text.find('.'), text.size());
        const auto op = op_from_text(text.substr(0, dot));
        if (!op) return fail("unknown operation `" + std::string(text) + "`");
        std::string_view rest = dot < text.size() ? text.substr(dot + 1) : std::string_view();
        inst.op = *op;
        if (!mnemonic_aux(inst, rest))
            return fail("unknown condition, register or scope in `" + std::string(text) + "`");
        if (mnemonic_has_type(*op)) {
            const auto found = type_from_text(rest);
            if (!found) return fail("unknown type in `" + std::string(text) + "`");
            inst.type = *found;
            rest = {};
        } else if (*op == Op::Sreg) {
            inst.type = sreg_type(inst.sreg());
        } else if (*op == Op::Alloca) {
            inst.type = Type::PtrLocal;
        }
        return rest.empty() ||
               fail("`" + std::string(op_text(*op)) + "` takes no `" + std::string(rest) + "`");
    }

    // Reads the middle of a mnemonic and takes it off `rest`.
    bool mnemonic_aux(Instruction& inst, std::string_view& rest) {
        const AuxKind kind = op_info(inst.op).aux;
        if (kind == AuxKind::None) return true;
        const bool whole = kind == AuxKind::Sreg || kind == AuxKind::Scope || kind == AuxKind::Machine;
        const bool before_type = kind == AuxKind::Order || kind == AuxKind::Atomic;
        const std::size_t dot = before_type ? rest.rfind('.') : rest.find('.');
        const std::size_t end = whole ? rest.size() : std::min(dot, rest.size());
        const std::string_view text = rest.substr(0, end);
        rest = end < rest.size() ? rest.substr(end + 1) : std::string_view();
        const auto set = [&inst](const auto& found) {
            if (found) inst.aux = static_cast<std::uint16_t>(*found);
            return found.has_value();
        };
        switch (kind) {
            case AuxKind::None: return true;
            case AuxKind::IntCond: return set(int_cond_from_text(text));
            case AuxKind::FloatCond: return set(float_cond_from_text(text));
            case AuxKind::Sreg: return set(sreg_from_text(text));
            case AuxKind::Scope: return set(scope_from_text(text));
            case AuxKind::Machine: return set(intrinsic::machine_from_key(text));
            case AuxKind::Order:
            case AuxKind::Atomic: {
                const auto found = atomic_from_text(text, kind == AuxKind::Atomic);
                if (found) inst.aux = found->pack();
                return found.has_value();
            }
        }
        return false;
    }

    bool operands(Instruction& inst, std::vector<Type>& results) {
        switch (text_form(inst.op)) {
            case TextForm::Const: return constant(inst);
            case TextForm::Global: return global_name(inst);
            case TextForm::Alloca: return integer(inst.imm) && memory_flags(inst);
            case TextForm::Load: return address(inst) && memory_flags(inst);
            case TextForm::Store:
                return address(inst) && expect(',') && value_use(inst) && memory_flags(inst);
            case TextForm::Bulk:
                return value_use(inst) && expect(',') && value_use(inst) && expect(',') &&
                       integer(inst.imm) && memory_flags(inst);
            case TextForm::Call: return call(inst, results);
            case TextForm::Panic: return integer(inst.imm) && expect('(') && value_list(inst);
            case TextForm::Asm:
                if (!integer(inst.imm) || !expect('(') || !value_list(inst)) return false;
                if (lexer_.kind() == TextToken::Arrow && !arrow_types(results)) return false;
                inst.type = results.empty() ? Type::Void : results[0];
                return true;
            case TextForm::Bounded: return value_use(inst) && (!accept(',') || integer(inst.imm));
            case TextForm::Tile: return tile(inst);
            case TextForm::Plain: return plain(inst);
        }
        return false;
    }

    // tile = ["@" name] [N] "(" values ")" ":" tile type
    bool tile(Instruction& inst) {
        inst.type = Type::Tile;
        std::string_view name;
        const std::uint32_t line = lexer_.line();
        if (lexer_.kind() == TextToken::Name) {
            if (!take(TextToken::Name, "a function's name", name)) return false;
            calls_.push_back({module_.functions.next_id(), function_.insts.next_id(), std::string(name), line});
        }
        if (lexer_.kind() == TextToken::Number && !integer(inst.imm)) return false;
        if (!expect('(') || !value_list(inst) || !expect(':') || !tile_type(inst.tile)) return false;
        if (inst.op == Op::TileScalar) inst.type = module_.tile_types[inst.tile].element;
        return true;
    }

    // tile type = type "[" extents "]" ["registers" places] ["lanes" places] ["warps" places] ["shared" bytes ..]
    bool tile_type(TileTypeId& out) {
        TileType type;
        if (!this->type(type.element) || !expect('[')) return false;
        while (!accept(']')) {
            if (!type.shape.empty() && !expect(',')) return false;
            std::uint32_t extent = 0;
            if (!integer(extent)) return false;
            type.shape.push_back(extent);
        }
        if (accept_word("registers") && !places(type.shape, type.layout.registers)) return false;
        if (accept_word("lanes") && !places(type.shape, type.layout.lanes)) return false;
        if (accept_word("warps") && !places(type.shape, type.layout.warps)) return false;
        if (accept_word("shared")) {
            while (lexer_.kind() == TextToken::Number) {
                if (!integer(type.layout.shared.emplace_back())) return false;
            }
        }
        out = module_.tile_types.intern(std::move(type));
        return true;
    }

    // places = "(" indices ")" ..
    bool places(const std::vector<std::uint32_t>& shape, std::vector<std::uint32_t>& out) {
        while (accept('(')) {
            std::uint32_t place = 0;
            for (std::size_t k = 0; k < shape.size(); ++k) {
                std::uint32_t index = 0;
                if ((k != 0 && !expect(',')) || !integer(index)) return false;
                place = place * shape[k] + index;
            }
            if (!expect(')')) return false;
            out.push_back(place);
        }
        return true;
    }

    bool value_use(Instruction& inst) {
        ValueId value;
        if (!value_number(value)) return false;
        inst.args.push_back(value);
        return true;
    }

    bool value_number(ValueId& out) {
        std::string_view text;
        if (!take(TextToken::Value, "a value", text)) return false;
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size()) return fail("bad value number");
        out = ValueId(number);
        return true;
    }

    // The rest of a parenthesised list, after "(".
    bool value_list(Instruction& inst) {
        if (accept(')')) return true;
        do {
            if (!value_use(inst)) return false;
        } while (accept(','));
        return expect(')');
    }

    bool constant(Instruction& inst) {
        const std::string_view text = lexer_.text();
        const bool hex = text.starts_with("0x");
        if (!hex && inst.type == Type::F32) return decimal<float, std::uint32_t>(inst);
        if (!hex && inst.type == Type::F64) return decimal<double, std::uint64_t>(inst);
        if (!hex && is_float(inst.type))
            return fail("constants of that type are written as their bits, 0x..");
        Number number;
        if (!big_number(number)) return false;
        return fit_constant(inst, number);
    }

    bool fit_constant(Instruction& inst, const Number& number) {
        const std::uint32_t bits = type_bits(inst.type);
        inst.imm = number.low;
        if (bits == 128) {
            inst.imm_high = number.high;
            return true;
        }
        if (bits == 64) return number.high == 0 || (!number.hex && (number.low >> 63) != 0) || too_wide();
        const auto as_signed = static_cast<std::int64_t>(number.low);
        const bool negative_fits =
            number.high != 0 && as_signed < 0 && as_signed >= -(std::int64_t{1} << (bits - 1));
        const bool positive_fits = number.high == 0 && number.low >> bits == 0;
        inst.imm &= (std::uint64_t{1} << bits) - 1;
        return negative_fits || positive_fits || too_wide();
    }
    bool too_wide() { return fail("the constant does not fit its type"); }

    template <class Float, class Bits>
    bool decimal(Instruction& inst) {
        std::string_view text;
        if (!take(TextToken::Number, "a number", text)) return false;
        Float number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size()) return fail("bad float");
        inst.imm = std::bit_cast<Bits>(number);
        return true;
    }

    bool global_name(Instruction& inst) {
        std::string_view name;
        if (!take(TextToken::Name, "a global's name", name)) return false;
        const auto found = globals_.find(std::string(name));
        if (found == globals_.end()) return fail("unknown global @" + std::string(name));
        inst.global = found->second;
        return true;
    }

    // address = %n [("+" | "-") N]
    bool address(Instruction& inst) {
        if (!value_use(inst)) return false;
        const bool minus = at_punct('-');
        if (!accept('+') && !accept('-')) return true;
        if (!integer(inst.imm)) return false;
        if (minus) inst.imm = std::uint64_t{0} - inst.imm;
        return true;
    }

    bool memory_flags(Instruction& inst) {
        if (accept_word("align") && !integer(inst.memory.align)) return false;
        inst.memory.readonly = accept_word("readonly");
        inst.memory.is_volatile = accept_word("volatile");
        return true;
    }

    // call = "@" name "(" values ")" ["->" types]
    bool call(Instruction& inst, std::vector<Type>& results) {
        std::string_view name;
        const std::uint32_t line = lexer_.line();
        if (!take(TextToken::Name, "a function's name", name) || !expect('(') || !value_list(inst))
            return false;
        if (lexer_.kind() == TextToken::Arrow && !arrow_types(results)) return false;
        inst.type = results.empty() ? Type::Void : results[0];
        calls_.push_back({module_.functions.next_id(), function_.insts.next_id(), std::string(name), line});
        return true;
    }

    // Values and targets separated by commas; a switch's targets after the first have "case:" in front.
    bool plain(Instruction& inst) {
        const bool same_line = lexer_.line() == mnemonic_line_;
        const bool has_values = op_info(inst.op).arity != 0 && lexer_.kind() == TextToken::Value;
        const bool has_targets = is_branch(inst.op) && at_block_label();
        if (!same_line || (!has_values && !has_targets)) return true;  // the next instruction or label
        do {
            if (lexer_.kind() == TextToken::Value) {
                if (!value_use(inst)) return false;
            } else if (!branch_target(inst)) {
                return false;
            }
        } while (accept(','));
        return true;
    }

    bool branch_target(Instruction& inst) {
        if (inst.op == Op::Switch && !inst.targets.empty()) {
            std::uint64_t value = 0;
            if (!integer(value) || !expect(':')) return false;
            inst.cases.push_back(value);
        }
        Target target;
        if (!block_ref(target.block)) return false;
        if (accept('(')) {
            do {
                ValueId value;
                if (!value_number(value)) return false;
                target.args.push_back(value);
            } while (accept(','));
            if (!expect(')')) return false;
        }
        inst.targets.push_back(std::move(target));
        return true;
    }

    bool define(std::string_view number, ValueId value) {
        if (numbers_.emplace(std::string(number), value).second) return true;
        return fail("second definition of %" + std::string(number));
    }

    bool rename(ValueId& value, std::uint32_t line) {
        const std::string number = std::to_string(value.raw);
        const auto found = numbers_.find(number);
        if (found == numbers_.end()) return fail_at(line, "undefined value %" + number);
        value = found->second;
        return true;
    }

    bool resolve_values() {
        for (const auto& [number, block] : block_numbers_) {
            if (function_.blocks[block].removed) return fail("undefined block bb" + number);
        }
        if (function_.layout.empty()) return fail("a function without blocks");
        std::uint32_t index = 0;
        for (Instruction& inst : function_.insts) {
            const std::uint32_t line = inst_lines_[index++];
            for (ValueId& value : inst.args) {
                if (!rename(value, line)) return false;
            }
            for (Target& target : inst.targets) {
                for (ValueId& value : target.args) {
                    if (!rename(value, line)) return false;
                }
            }
        }
        return true;
    }

    bool resolve_calls() {
        for (const PendingCall& call : calls_) {
            const auto found = functions_.find(call.name);
            if (found == functions_.end()) return fail_at(call.line, "unknown function @" + call.name);
            module_.functions[call.function].insts[call.inst].callee = found->second;
        }
        return true;
    }

    struct PendingCall {
        FuncId function;
        InstId inst;
        std::string name;
        std::uint32_t line;
    };

    TextLexer lexer_;
    std::string error_;
    Module module_;
    Function function_;
    std::unordered_map<std::string, ValueId> numbers_;
    std::unordered_map<std::string, BlockId> block_numbers_;
    std::unordered_map<std::string, GlobalId> globals_;
    std::unordered_map<std::string, FuncId> functions_;
    std::vector<std::uint32_t> inst_lines_;
    std::uint32_t mnemonic_line_ = 0;  // the first operand stands on the line of its operation
    std::vector<PendingCall> calls_;
};

}  // namespace

Result<Module> parse(std::string_view text) {
    return Parser(text).run();
}

}  // namespace ockc::ir
