// ptx::Module -> text. Instructions are laid out in two columns (opcode, operands); labels stand at the
// margin; .loc is written where the place changes.
#include "ptx/print.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "support/check.hpp"

namespace ockc::ptx {

namespace {

constexpr std::size_t kOperandColumn = 20;  // of the operands, from the start of the opcode

// A string that grows by small pieces.
class Text {
  public:
    Text& operator+=(char c) {
        need(1);
        text_[size_++] = c;
        return *this;
    }
    Text& operator+=(std::string_view piece) {
        need(piece.size());
        copy(text_.data() + size_, piece.data(), piece.size());
        size_ += piece.size();
        return *this;
    }
    void append(const char* begin, const char* end) {
        *this += std::string_view(begin, static_cast<std::size_t>(end - begin));
    }
    void append(std::size_t count, char c) {
        need(count);
        std::fill_n(text_.data() + size_, count, c);
        size_ += count;
    }
    void drop() { --size_; }   // the last character
    std::size_t size() const { return size_; }
    std::string take() {
        text_.resize(size_);
        return std::move(text_);
    }

  private:
    // Most pieces are a few characters: two overlapping words each, which is not worth a call.
    static void copy(char* to, const char* from, std::size_t size) {
        if (size > 16) {
            std::memcpy(to, from, size);
        } else if (size >= 8) {
            std::memcpy(to, from, 8);
            std::memcpy(to + size - 8, from + size - 8, 8);
        } else if (size >= 4) {
            std::memcpy(to, from, 4);
            std::memcpy(to + size - 4, from + size - 4, 4);
        } else if (size != 0) {
            to[0] = from[0];
            to[size / 2] = from[size / 2];
            to[size - 1] = from[size - 1];
        }
    }
    void need(std::size_t more) {
        if (text_.size() - size_ < more) text_.resize(std::max<std::size_t>(text_.size() * 2, size_ + more + 256));
    }
    std::string text_;   // beyond size_: room
    std::size_t size_ = 0;
};

class Printer {
  public:
    Printer(const Module& module, const PrintOptions& options) : module_(module), options_(options) {}

    std::string run() {
        write();
        return out_.take();
    }

    Texts run_both() {
        write();
        Texts texts;
        texts.with_locations = out_.take();
        const std::string_view all = texts.with_locations;
        std::size_t at = 0;
        for (const Range& range : location_text_) {
            texts.plain += all.substr(at, range.begin - at);
            at = range.end;
        }
        texts.plain += all.substr(at);
        return texts;
    }

    std::string mnemonic(const Instr& instr) {
        words(instr);
        return out_.take();
    }

    std::string one(const Function& function, const Instr& instr) {
        opcode(instr);
        operands(function, instr);
        return out_.take();
    }

  private:
    void write() {
        head();
        for (const Variable& variable : module_.variables) {
            this->variable(variable);
            out_ += '\n';
        }
        for (const Function& function : module_.functions)
            this->function(function);
    }

    // -------------------------------------------------------------------------------------------------------
    // pieces
    void number(std::int64_t value) {
        char buffer[24];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
        out_.append(buffer, end);
    }
    void unsigned_number(std::uint64_t value) {
        char buffer[24];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
        out_.append(buffer, end);
    }
    void hex(std::uint64_t value, int digits) {
        for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
            out_ += "0123456789ABCDEF"[value >> shift & 15];
    }
    void type(Type type) { (out_ += '.') += type_info(type).text; }
    void name(SymbolId id) { out_ += module_.name(id); }
    void reg(Reg reg) {
        out_ += reg_class_info(reg.reg_class()).prefix;
        unsigned_number(reg.number());
    }
    // Negative ones as `+-4`: ptxas knows no minus between a base and its offset.
    void offset(std::int64_t value) {
        if (value == 0) return;
        out_ += '+';
        number(value);
    }
    void pad_to(std::size_t column) {
        const std::size_t width = out_.size() - line_start_;
        out_.append(width < column ? column - width : 1, ' ');
    }

    // ---------------------------------------------------------------------------------------------------------
    // module
    void head() {
        comment_lines(module_.comment);
        out_ += ".version ";
        unsigned_number(module_.ptx_version / 10);
        out_ += '.';
        unsigned_number(module_.ptx_version % 10);
        (out_ += "\n.target ") += target_info(module_.target).text;
        out_ += "\n.address_size ";
        unsigned_number(module_.address_size);
        out_ += '\n';
        if (options_.locations && !module_.files.empty()) {
            const std::size_t begin = out_.size();
            out_ += '\n';
            for (std::size_t i = 0; i < module_.files.size(); ++i) {
                out_ += ".file ";
                unsigned_number(i + 1);
                ((out_ += " \"") += module_.files[i]) += "\"\n";
            }
            location_text_.push_back({begin, out_.size()});
        }
        if (!module_.variables.empty()) out_ += '\n';
    }

    void comment_lines(std::string_view text) {
        if (!options_.comments) return;
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            const std::string_view line = text.substr(0, end);
            out_ += "//";
            if (!line.empty()) (out_ += ' ') += line;
            out_ += '\n';
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }

    static std::string_view linkage(Linkage value) {
        switch (value) {
            case Linkage::None: return "";
            case Linkage::Visible: return ".visible ";
            case Linkage::Extern: return ".extern ";
            case Linkage::Weak: return ".weak ";
        }
        return "";
    }

    template <class V>
    void declared(const V& v) {
        if (v.align != 0) {
            out_ += ".align ";
            unsigned_number(v.align);
            out_ += ' ';
        }
        type(v.type);
        out_ += ' ';
        name(v.name);
        if (!v.array) return;
        out_ += '[';
        if (v.count != 0) unsigned_number(v.count);
        out_ += ']';
    }

    void variable(const Variable& v) {
        out_ += linkage(v.linkage);
        ((out_ += '.') += text(v.space)) += ' ';
        declared(v);
        if (!v.init.empty()) {
            out_ += " = ";
            if (v.array) out_ += '{';
            for (std::size_t i = 0; i < v.init.size(); ++i) {
                if (i != 0) out_ += i % 16 == 0 ? ",\n    " : ", ";
                init(v, v.init[i]);
            }
            if (v.array) out_ += '}';
        }
        out_ += ';';
    }

    void init(const Variable& v, const Init& value) {
        if (value.symbol.valid()) {
            if (value.generic) out_ += "generic(";
            name(value.symbol);
            if (value.generic) out_ += ')';
            offset(static_cast<std::int64_t>(value.bits));
        } else if (v.type == Type::F32) {
            out_ += "0f";
            hex(value.bits, 8);
        } else if (v.type == Type::F64) {
            out_ += "0d";
            hex(value.bits, 16);
        } else if (type_info(v.type).kind == TypeKind::Signed) {
            number(static_cast<std::int64_t>(value.bits));
        } else {
            unsigned_number(value.bits);
        }
    }

    // ------------------------------------------------------------------------------------------------------
    // functions
    void params(const std::vector<Param>& list) {
        out_ += '(';
        for (std::size_t i = 0; i < list.size(); ++i) {
            out_ += i == 0 ? "\n    .param " : ",\n    .param ";
            declared(list[i]);
        }
        out_ += list.empty() ? ")" : "\n)";
    }

    void function(const Function& f) {
        out_ += '\n';
        out_ += linkage(f.linkage);
        out_ += f.entry ? ".entry " : ".func ";
        if (!f.results.empty()) {
            OCKC_CHECK(!f.entry && f.results.size() == 1);
            out_ += "(.param ";
            declared(f.results[0]);
            out_ += ") ";
        }
        name(f.name);
        params(f.params);
        directives(f.directives);
        if (!f.has_body) {
            out_ += ";\n";
            return;
        }
        out_ += "\n{\n";
        declarations(f);
        place_ = {};
        for (const Block& block : f.blocks)
            this->block(f, block);
        out_ += "}\n";
    }

    void dims(std::string_view word, const std::optional<Dim3>& value) {
        if (!value) return;
        out_ += word;
        for (std::size_t i = 0; i < 3; ++i) {
            out_ += i == 0 ? " " : ", ";
            unsigned_number((*value)[i]);
        }
    }
    void count(std::string_view word, const std::optional<std::uint32_t>& value) {
        if (!value) return;
        (out_ += word) += ' ';
        unsigned_number(*value);
    }
    void directives(const Directives& d) {
        if (d.noreturn) out_ += "\n.noreturn";
        dims("\n.maxntid", d.maxntid);
        dims("\n.reqntid", d.reqntid);
        count("\n.minnctapersm", d.minnctapersm);
        count("\n.maxnreg", d.maxnreg);
        if (d.explicitcluster) out_ += "\n.explicitcluster";
        dims("\n.reqnctapercluster", d.reqnctapercluster);
        count("\n.maxclusterrank", d.maxclusterrank);
    }

    void declarations(const Function& f) {
        bool any = false;
        for (const Variable& v : f.locals) {
            out_ += "    ";
            variable(v);
            out_ += '\n';
            any = true;
        }
        for (std::size_t i = 0; i < kRegClassCount; ++i) {
            if (f.reg_counts[i] == 0) continue;
            const RegClassInfo& info = reg_class_info(static_cast<RegClass>(i));
            line_start_ = out_.size();
            out_ += "    .reg ";
            type(info.type);
            pad_to(15);
            (out_ += info.prefix) += '<';
            unsigned_number(f.reg_counts[i]);
            out_ += ">;\n";
            any = true;
        }
        if (any) out_ += '\n';
    }

    void block(const Function& f, const Block& block) {
        if (block.label.valid()) (out_ += f.labels[block.label]) += ":\n";
        for (const Instr& instr : block.instrs) {
            location(instr.loc);
            out_ += "    ";
            line_start_ = out_.size();
            opcode(instr);
            operands(f, instr);
            out_ += ';';
            if (options_.comments && instr.comment != 0) {
                pad_to(48);
                (out_ += "// ") += f.comments[instr.comment];
            }
            out_ += '\n';
        }
    }

    void location(const SourceLoc& loc) {
        if (!options_.locations || !loc.valid() || loc == place_) return;
        place_ = loc;
        const std::size_t begin = out_.size();
        out_ += "    .loc ";
        unsigned_number(loc.file + 1);
        out_ += ' ';
        unsigned_number(loc.line);
        out_ += ' ';
        unsigned_number(loc.column);
        out_ += '\n';
        location_text_.push_back({begin, out_.size()});
    }

    // ---------------------------------------------------------------------------------------------------
    // instructions
    void opcode(const Instr& instr) {
        if (instr.guarded()) {
            out_ += instr.guard_negated ? "@!" : "@";
            reg(instr.guard);
            out_ += ' ';
        }
        words(instr);
    }

    void words(const Instr& instr) {
        const FormInfo& info = instr.info();
        out_ += info.mnemonic;
        for (const Word& word : info.word_list()) {
            const std::uint32_t value = get_field(instr.mods, word.field);
            if (word.field == Field::Literal) {
                (out_ += '.') += word.text;
            } else if (value != 0) {
                (out_ += '.') += field_text(word.field, value);
            }
        }
    }

    void operands(const Function& f, const Instr& instr) {
        const FormInfo& info = instr.info();
        bool first = true;
        for (std::size_t i = 0; i < info.operand_count; ++i) {
            const Operand& operand = instr.operands[i];
            if (!operand.present()) continue;
            if (first) {
                pad_to(kOperandColumn);
            } else {
                out_ += info.operands[i].joined ? "|" : ", ";
            }
            first = false;
            const Role role = info.operands[i].role;
            if (role == Role::Immediates) {
                items(f, operand);
            } else {
                this->operand(f, operand, role == Role::Params);
            }
            if (role == Role::TensorMap) out_.drop();                              // the bracket closes behind the coordinates
            if (i != 0 && info.operands[i - 1].role == Role::TensorMap) out_ += ']';
        }
    }

    void operand(const Function& f, const Operand& o, bool parenthesised) {
        switch (o.kind) {
            case OperandKind::None: return;
            case OperandKind::Reg:
                if (o.negated) out_ += '!';
                reg(o.as_reg());
                return;
            case OperandKind::Sink: out_ += '_'; return;
            case OperandKind::Imm: number(o.value); return;
            case OperandKind::ImmF32:
                out_ += "0f";
                hex(static_cast<std::uint64_t>(o.value), 8);
                return;
            case OperandKind::ImmF64:
                out_ += "0d";
                hex(static_cast<std::uint64_t>(o.value), 16);
                return;
            case OperandKind::Special: out_ += special_info(o.as_special()).text; return;
            case OperandKind::Symbol:
                name(o.as_symbol());
                offset(o.value);
                return;
            case OperandKind::AddrReg:
                out_ += '[';
                reg(o.as_reg());
                offset(o.value);
                out_ += ']';
                return;
            case OperandKind::AddrSym:
                out_ += '[';
                name(o.as_symbol());
                offset(o.value);
                out_ += ']';
                return;
            case OperandKind::AddrImm:
                out_ += '[';
                number(o.value);
                out_ += ']';
                return;
            case OperandKind::Label: out_ += f.labels[o.as_label()]; return;
            case OperandKind::List: list(f, o, parenthesised); return;
        }
    }

    // Lists do not nest, so this recursion is one level deep.
    void list(const Function& f, const Operand& o, bool parenthesised) {
        out_ += parenthesised ? '(' : '{';
        items(f, o);
        out_ += parenthesised ? ')' : '}';
    }

    void items(const Function& f, const Operand& o) {
        bool first = true;
        for (const Operand& item : f.list_of(o)) {
            if (!first) out_ += ", ";
            first = false;
            OCKC_CHECK(item.kind != OperandKind::List);
            operand(f, item, false);
        }
    }

    const Module& module_;
    const PrintOptions options_;
    struct Range {
        std::size_t begin, end;
    };
    Text out_;
    std::size_t line_start_ = 0;
    SourceLoc place_;
    std::vector<Range> location_text_;   // where .file and .loc stand in out_
};

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
    return Printer(module, options).run();
}

Texts print_both(const Module& module) {
    return Printer(module, PrintOptions()).run_both();
}

std::string print(const Module& module, const Function& function, const Instr& instr) {
    return Printer(module, PrintOptions()).one(function, instr);
}

std::string words_of(const Instr& instr) {
    const Module none;
    return Printer(none, PrintOptions()).mnemonic(instr);
}

}  // namespace ockc::ptx
