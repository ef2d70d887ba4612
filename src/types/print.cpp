#include "types/print.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ockc::types {

namespace {

constexpr std::uint32_t kDepthLimit = 48;   // deeper types end in `...`, as rustc shortens them

class Printer {
  public:
    Printer(const TypeStore& types, const NameSource& names) : types_(types), names_(names) {}

    void type(TypeId id) {
        if (++depth_ > kDepthLimit) {
            out_ += "...";
        } else {
            type_inner(types_[id]);
        }
        --depth_;
    }

    void arg(GenericArg arg) {
        switch (arg.kind()) {
            case GenericArg::Kind::Type: return type(arg.as_type());
            case GenericArg::Kind::Const: {
                const ConstData& data = types_[arg.as_const()];
                const bool is_array = data.kind == ConstKind::Value && types_.kind(data.type) == TypeKind::Array;
                if (is_array) out_ += '{';   // as it is written in the source
                constant(arg.as_const());
                if (is_array) out_ += '}';
                return;
            }
            case GenericArg::Kind::Region: out_ += region_name(arg.as_region()); return;
        }
    }

    void args(ArgsId list, std::size_t begin) {
        const auto all = types_[list];
        if (all.size() <= begin) return;
        out_ += '<';
        for (std::size_t i = begin; i < all.size(); ++i) {
            if (i != begin) out_ += ", ";
            arg(all[i]);
        }
        out_ += '>';
    }

    void constant(ConstId id) {
        const ConstData& data = types_[id];
        switch (data.kind) {
            case ConstKind::Error: out_ += "{const error}"; return;
            case ConstKind::Param: out_ += names_.text(data.name); return;
            case ConstKind::Infer: out_ += '_'; return;
            case ConstKind::Unevaluated: out_ += names_.constant(data.def, data.args); return;
            case ConstKind::Value: break;
        }
        if (types_.kind(data.type) != TypeKind::Array) {
            out_ += scalar_text(types_, data.type, data.bits[0], data.bits[1]);
            return;
        }
        out_ += '[';
        bool first = true;
        for (ConstId element : types_.const_elements(id)) {
            if (!first) out_ += ", ";
            first = false;
            constant(element);
        }
        out_ += ']';
    }

    std::string take() { return std::move(out_); }

  private:
    std::string_view region_name(RegionId region) const {
        const RegionData& data = types_[region];
        switch (data.kind) {
            case RegionKind::Static: return "'static";
            case RegionKind::EarlyParam:
            case RegionKind::LateParam:
            case RegionKind::Bound: return data.name.valid() ? names_.text(data.name) : std::string_view("'_");
            case RegionKind::Erased:
            case RegionKind::Var:
            case RegionKind::Error: return "'_";
        }
        return "'_";
    }

    void list(std::span<const TypeId> items) {
        bool first = true;
        for (TypeId item : items) {
            if (!first) out_ += ", ";
            first = false;
            type(item);
        }
    }

    void type_inner(const TypeData& data) {
        switch (data.kind) {
            case TypeKind::Error: out_ += "{type error}"; return;
            case TypeKind::Never: out_ += '!'; return;
            case TypeKind::Bool: out_ += "bool"; return;
            case TypeKind::Char: out_ += "char"; return;
            case TypeKind::Str: out_ += "str"; return;
            case TypeKind::Int: out_ += int_name(data.int_kind); return;
            case TypeKind::Float: out_ += float_name(data.float_kind); return;
            case TypeKind::Tuple: return tuple(types_[data.elements]);
            case TypeKind::Array:
                out_ += '[';
                type(data.element);
                out_ += "; ";
                constant(data.length);
                out_ += ']';
                return;
            case TypeKind::Slice:
                out_ += '[';
                type(data.element);
                out_ += ']';
                return;
            case TypeKind::Ref: return reference(data);
            case TypeKind::RawPtr:
                out_ += data.mutability == Mutability::Mut ? "*mut " : "*const ";
                return type(data.element);
            case TypeKind::Adt:
                out_ += names_.name(data.def);
                return args(data.args, 0);
            case TypeKind::FnDef: out_ += names_.fn_item(data.def, data.args); return;
            case TypeKind::FnPtr: return fn_ptr(data);
            case TypeKind::Closure: out_ += names_.closure(data.def); return;
            case TypeKind::Param: out_ += names_.text(data.name); return;
            case TypeKind::Projection: return projection(data);
            case TypeKind::Opaque: out_ += names_.opaque(data.def, data.args); return;
            case TypeKind::Infer: return infer(data.infer_kind);
        }
    }

    void tuple(std::span<const TypeId> elements) {
        out_ += '(';
        list(elements);
        out_ += elements.size() == 1 ? ",)" : ")";
    }

    void reference(const TypeData& data) {
        out_ += '&';
        const RegionKind kind = types_[data.region].kind;
        if (kind == RegionKind::Static || kind == RegionKind::EarlyParam || ((kind == RegionKind::LateParam || kind == RegionKind::Bound) && types_[data.region].name.valid())) {
            out_ += region_name(data.region);
            out_ += ' ';
        }
        if (data.mutability == Mutability::Mut) out_ += "mut ";
        type(data.element);
    }

    void fn_ptr(const TypeData& data) {
        const auto all = types_[data.elements];
        out_ += data.is_unsafe ? "unsafe fn(" : "fn(";
        list(all.first(all.size() - 1));
        out_ += ')';
        if (types_.kind(all.back()) == TypeKind::Tuple && types_[types_[all.back()].elements].empty()) return;
        out_ += " -> ";
        type(all.back());
    }

    void projection(const TypeData& data) {
        const auto all = types_[data.args];
        const std::uint32_t trait_args = names_.parent_arg_count(data.def);
        out_ += '<';
        arg(all[0]);
        out_ += " as ";
        out_ += names_.name(names_.parent(data.def));
        if (trait_args > 1) {
            out_ += '<';
            for (std::uint32_t i = 1; i < trait_args; ++i) {
                if (i != 1) out_ += ", ";
                arg(all[i]);
            }
            out_ += '>';
        }
        out_ += ">::";
        out_ += names_.name(data.def);
        args(data.args, trait_args);
    }

    void infer(InferKind kind) {
        switch (kind) {
            case InferKind::Type: out_ += '_'; return;
            case InferKind::Int: out_ += "{integer}"; return;
            case InferKind::Float: out_ += "{float}"; return;
        }
    }

    const TypeStore& types_;
    const NameSource& names_;
    std::string out_;
    std::uint32_t depth_ = 0;
};

std::string char_text(std::uint32_t code) {
    switch (code) {
        case '\n': return "'\\n'";
        case '\r': return "'\\r'";
        case '\t': return "'\\t'";
        case '\'': return "'\\''";
        case '\\': return "'\\\\'";
        case 0: return "'\\0'";
        default: break;
    }
    if (code < 0x20 || code >= 0x7f) return fmt::format("'\\u{{{:x}}}'", code);
    return fmt::format("'{}'", static_cast<char>(code));
}

std::string float_text(FloatKind kind, std::uint64_t bits) {
    double value = 0;
    if (kind == FloatKind::F64) {
        std::memcpy(&value, &bits, sizeof value);
        return fmt::format("{}", value);
    }
    if (kind == FloatKind::F32) {
        const auto low = static_cast<std::uint32_t>(bits);
        float single = 0;
        std::memcpy(&single, &low, sizeof single);
        return fmt::format("{}", single);
    }
    return fmt::format("0x{:04x}", bits);   // half formats: their bits
}

}  // namespace

std::string decimal_text(unsigned __int128 value, bool is_signed) {
    const bool negative = is_signed && static_cast<__int128>(value) < 0;
    if (negative) value = -value;
    std::string digits;
    do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
        value /= 10;
    } while (value != 0);
    return negative ? "-" + digits : digits;
}

std::string scalar_text(const TypeStore& types, TypeId type, std::uint64_t low, std::uint64_t high) {
    const TypeData& data = types[type];
    if (data.kind == TypeKind::Bool) return low != 0 ? "true" : "false";
    if (data.kind == TypeKind::Char) return char_text(static_cast<std::uint32_t>(low));
    if (data.kind == TypeKind::Float) return float_text(data.float_kind, low);
    unsigned __int128 value = static_cast<unsigned __int128>(high) << 64 | low;
    if (data.kind != TypeKind::Int) return decimal_text(value, false);
    const std::uint32_t bits = int_bits(data.int_kind);
    if (int_signed(data.int_kind) && bits < 128 && (value >> (bits - 1) & 1) != 0) value |= ~static_cast<unsigned __int128>(0) << bits;
    return decimal_text(value, int_signed(data.int_kind));
}

std::string type_text(const TypeStore& types, const NameSource& names, TypeId type) {
    Printer printer(types, names);
    printer.type(type);
    return printer.take();
}

std::string const_text(const TypeStore& types, const NameSource& names, ConstId constant) {
    Printer printer(types, names);
    printer.constant(constant);
    return printer.take();
}

std::string arg_text(const TypeStore& types, const NameSource& names, GenericArg arg) {
    Printer printer(types, names);
    printer.arg(arg);
    return printer.take();
}

std::string args_text(const TypeStore& types, const NameSource& names, ArgsId args, std::size_t begin) {
    Printer printer(types, names);
    printer.args(args, begin);
    return printer.take();
}

}  // namespace ockc::types
