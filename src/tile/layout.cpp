#include "tile/layout.hpp"

#include <algorithm>
#include <bit>

namespace ockc::tile {

namespace {

constexpr std::uint32_t kPanelBytes = 128;
constexpr std::uint32_t kSwizzledRows = 8;

std::uint32_t size_of(const Shape& shape) {
    std::uint32_t size = 1;
    for (const std::uint32_t extent : shape) size *= extent;
    return size;
}

// Applies `change` to every basis.
template <class Change>
TileLayout with_bases(const TileLayout& layout, Change change) {
    TileLayout result = layout;
    for (std::vector<std::uint32_t>* bases : {&result.registers, &result.lanes, &result.warps}) {
        for (std::uint32_t& basis : *bases) basis = change(basis);
    }
    return result;
}

}  // namespace

std::uint32_t axis_weight(const Shape& shape, std::size_t axis) {
    std::uint32_t weight = 1;
    for (std::size_t k = axis + 1; k < shape.size(); ++k) weight *= shape[k];
    return weight;
}

std::uint32_t axis_index(const Shape& shape, std::size_t axis, std::uint32_t place) {
    return place / axis_weight(shape, axis) % shape[axis];
}

TileLayout blocked(const Shape& shape, std::uint32_t vector, std::uint32_t warp_bits) {
    TileLayout layout;
    const std::uint32_t size = size_of(shape);
    const std::uint32_t row = shape.empty() ? 1 : shape.back();
    std::uint32_t next = 1;   // the lowest bit of the place that nobody has yet
    const auto take = [&](std::vector<std::uint32_t>& bases, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            bases.push_back(next < size ? next : 0);
            if (next < size) next *= 2;
        }
    };
    take(layout.registers, static_cast<std::uint32_t>(std::countr_zero(std::min(vector, row))));
    take(layout.lanes, kLaneBits);
    take(layout.warps, warp_bits);
    while (next < size) take(layout.registers, 1);
    return layout;
}

TileLayout permuted(const TileLayout& layout, const Shape& from, std::span<const std::uint32_t> axes) {
    Shape to;
    for (const std::uint32_t axis : axes) to.push_back(from[axis]);
    const auto moved = [&](std::uint32_t basis) {
        std::uint32_t place = 0;
        for (std::size_t k = 0; k < axes.size(); ++k) place += axis_index(from, axes[k], basis) * axis_weight(to, k);
        return place;
    };
    TileLayout result = with_bases(layout, moved);
    for (std::size_t b = 0; b < layout.shared.size(); ++b) {
        const std::uint32_t place = moved(1u << b);
        if (place != 0) result.shared[static_cast<std::size_t>(std::countr_zero(place))] = layout.shared[b];
    }
    return result;
}

TileLayout swizzled(const Shape& shape, std::uint32_t element_bytes) {
    TileLayout layout;
    const std::uint32_t columns = shape.empty() ? 1 : shape.back(), size = size_of(shape);
    const std::uint32_t panel = std::min(columns * element_bytes, kPanelBytes);
    for (std::uint32_t place = 1; place < size; place *= 2) {
        const std::uint32_t byte = place * element_bytes;
        if (byte < panel) {
            layout.shared.push_back(byte);
        } else if (place < columns) {
            layout.shared.push_back(byte / panel * (size / columns) * panel);
        } else {
            const std::uint32_t row = place / columns * panel;
            const bool moves_pieces = row >= kPanelBytes && row < kPanelBytes * kSwizzledRows;
            const std::uint32_t piece = row / kSwizzledRows;
            layout.shared.push_back(row | (moves_pieces && piece < panel ? piece : 0));
        }
    }
    if (layout.shared.empty()) layout.shared.push_back(0);   // one lane
    return layout;
}

std::uint32_t shared_offset(const TileLayout& layout, std::uint32_t place) {
    std::uint32_t offset = 0;
    for (std::size_t b = 0; b < layout.shared.size(); ++b) {
        if ((place >> b & 1u) != 0) offset ^= layout.shared[b];
    }
    return offset;
}

std::uint32_t shared_bytes(const TileLayout& layout, std::uint32_t element_bytes) {
    std::uint32_t last = 0;
    for (const std::uint32_t offset : layout.shared) last |= offset;
    return last + element_bytes;
}

TileLayout projected(const TileLayout& layout, const Shape& shape, const Shape& keep) {
    TileLayout result = with_bases(layout, [&](std::uint32_t basis) {
        std::uint32_t place = 0;
        for (std::size_t k = 0; k < shape.size(); ++k) {
            if (keep[k] != 1) place += axis_index(shape, k, basis) * axis_weight(keep, k);
        }
        return place;
    });
    std::erase(result.registers, 0u);
    return result;
}

std::uint32_t register_place(const TileLayout& layout, std::uint32_t number) {
    std::uint32_t place = 0;
    for (std::size_t b = 0; b < layout.registers.size(); ++b) {
        if ((number >> b & 1u) != 0) place ^= layout.registers[b];
    }
    return place;
}

std::vector<std::uint32_t> thread_bases(const TileLayout& layout) {
    std::vector<std::uint32_t> bases = layout.lanes;
    bases.insert(bases.end(), layout.warps.begin(), layout.warps.end());
    return bases;
}

}  // namespace ockc::tile
