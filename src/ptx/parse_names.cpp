#include "ptx/parse_names.hpp"

#include <algorithm>

namespace ockc::ptx {

void Names::begin_function(Function& function) {
    function_ = &function;
    scopes_.assign(1, {});
    labels_.clear();
    undefined_.clear();
    used_names_.clear();
}

void Names::end_function() {
    for (const auto& [label, token] : undefined_) {
        tokens_.error(token, "label `" + function_->labels[label] + "` is not defined");
    }
    undefined_.clear();
    function_ = nullptr;
}

std::string_view Names::keep(std::string text) {
    kept_.push_back(std::make_unique<std::string>(std::move(text)));
    return *kept_.back();
}

SymbolId Names::declare(const Token& token) {
    if (function_ == nullptr) {  // an `.extern` declaration may be repeated
        const SymbolId id = module_.symbol(token.text);
        module_names_.emplace(token.text, id);
        return id;
    }
    std::string unique(token.text);
    for (int i = 1; !used_names_.insert(unique).second; ++i)
        unique = std::string(token.text) + "_" + std::to_string(i);
    const SymbolId id = module_.symbol(unique);
    if (!scopes_.back().variables.emplace(token.text, id).second) {
        tokens_.error(token, "`" + std::string(token.text) + "` is declared twice");
    }
    return id;
}

SymbolId Names::declare_function(std::string_view name) {
    const SymbolId id = module_.symbol(name);
    module_names_.emplace(name, id);
    return id;
}

SymbolId Names::find_symbol(std::string_view name) const {
    if (function_ != nullptr) {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto it = scope->variables.find(name); it != scope->variables.end()) return it->second;
        }
    }
    const auto it = module_names_.find(name);
    return it == module_names_.end() ? SymbolId::none() : it->second;
}

SymbolId Names::known_symbol(const Token& token) {
    const SymbolId id = find_symbol(token.text);
    if (!id.valid()) tokens_.error(token, "unknown name " + TokenStream::quoted(token));
    return id;
}

// ----------------------------------------------------------------------------------------------------------
// registers

namespace {

std::optional<RegClass> class_for(Type type) {
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

// The class for registers named `prefix..` of a declared type: print's own when both agree, so that text
// keeps its form.
std::optional<RegClass> class_named(std::string_view prefix, Type type) {
    for (std::size_t i = 0; i < kRegClassCount; ++i) {
        const RegClassInfo& info = reg_class_info(static_cast<RegClass>(i));
        if (info.prefix == prefix && info.type == type) return static_cast<RegClass>(i);
    }
    return class_for(type);
}

}  // namespace

void Names::declare_registers(const Token& token, Type type, std::uint64_t count) {
    const auto reg_class = class_named(token.text, type);
    if (!reg_class) return tokens_.error(token, "no registers of this type");
    std::uint32_t& used = function_->reg_counts[static_cast<std::size_t>(*reg_class)];
    if (count > (1u << 26) || used + count > (1u << 26)) return tokens_.error(token, "too many registers");
    const RegRange range{*reg_class, used, static_cast<std::uint32_t>(count)};
    used += range.count;
    if (!scopes_.back().ranges.emplace(token.text, range).second) {
        tokens_.error(token, "`" + std::string(token.text) + "` is declared twice");
    }
}

void Names::declare_register(const Token& token, Type type) {
    const auto reg_class = class_for(type);
    if (!reg_class) return tokens_.error(token, "no registers of this type");
    if (!scopes_.back().regs.emplace(token.text, function_->new_reg(*reg_class)).second) {
        tokens_.error(token, "`" + std::string(token.text) + "` is declared twice");
    }
}

std::optional<Reg> Names::find_reg(std::string_view name) const {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        --digits;
    std::uint64_t number = 0;
    for (const char c : name.substr(digits))
        number = std::min<std::uint64_t>(number * 10 + static_cast<unsigned>(c - '0'), 1u << 30);
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

// -------------------------------------------------------------------------------------------------------------
// labels

LabelId Names::label(const Token& token, bool define) {
    const auto [it, added] = labels_.try_emplace(token.text, LabelId::none());
    if (added) {
        it->second = function_->new_label(std::string(token.text));
        if (!define) undefined_.emplace(it->second, token);
    } else if (define && undefined_.erase(it->second) == 0) {
        tokens_.error(token, "label " + TokenStream::quoted(token) + " is defined twice");
    }
    return it->second;
}

}  // namespace ockc::ptx
