#include "ir/tile_type.hpp"

#include "ir/ir.hpp"

namespace ockc::ir {

TileTypeId TileTypes::intern(TileType type) {
    for (std::uint32_t i = 0; i < types_.size(); ++i) {
        if (types_[TileTypeId(i)] == type) return TileTypeId(i);
    }
    return types_.push(std::move(type));
}

namespace {

// Where a basis leads, axis by axis: "(0, 4)".
std::string place_text(std::uint32_t basis, const std::vector<std::uint32_t>& shape) {
    std::vector<std::uint32_t> at(shape.size());
    for (std::size_t k = shape.size(); k-- > 0;) {
        at[k] = basis % shape[k];
        basis /= shape[k];
    }
    std::string text = "(";
    for (std::size_t k = 0; k < at.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(at[k]);
    return text + ")";
}

void add_bases(std::string& text, std::string_view name, const std::vector<std::uint32_t>& bases, const std::vector<std::uint32_t>& shape) {
    if (bases.empty()) return;
    (text += ' ') += name;
    for (const std::uint32_t basis : bases) (text += ' ') += place_text(basis, shape);
}

}  // namespace

std::string tile_type_text(const TileType& type) {
    std::string text(type_text(type.element));
    text += '[';
    for (std::size_t k = 0; k < type.shape.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(type.shape[k]);
    text += ']';
    add_bases(text, "registers", type.layout.registers, type.shape);
    add_bases(text, "lanes", type.layout.lanes, type.shape);
    add_bases(text, "warps", type.layout.warps, type.shape);
    if (type.layout.is_shared()) text += " shared";
    for (const std::uint32_t offset : type.layout.shared) (text += ' ') += std::to_string(offset);
    return text;
}

}  // namespace ockc::ir
