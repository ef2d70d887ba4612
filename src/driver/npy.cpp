#include "driver/npy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace ockc::driver {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The value of `'key': value` in the header's dictionary, up to the matching comma or brace.
std::optional<std::string_view> entry(std::string_view header, std::string_view key) {
    const std::size_t at = header.find(fmt::format("'{}'", key));
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t colon = header.find(':', at);
    if (colon == std::string_view::npos) return std::nullopt;
    std::size_t begin = header.find_first_not_of(' ', colon + 1);
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = header[begin] == '(' ? header.find(')', begin) + 1 : header.find_first_of(",}", begin);
    if (end == std::string_view::npos || end <= begin) return std::nullopt;
    return header.substr(begin, end - begin);
}

std::optional<abi::Scalar> scalar_from_descr(std::string_view descr) {
    if (descr.size() < 2 || descr.front() != '\'' || descr.back() != '\'') return std::nullopt;
    descr = descr.substr(1, descr.size() - 2);
    if (descr == "|b1") return abi::Scalar::Bool;
    if (descr == "|i1" || descr == "<i1") return abi::Scalar::I8;
    if (descr == "|u1" || descr == "<u1") return abi::Scalar::U8;
    struct Row {
        std::string_view text;
        abi::Scalar scalar;
    };
    static constexpr Row kRows[] = {{"<i2", abi::Scalar::I16}, {"<i4", abi::Scalar::I32}, {"<i8", abi::Scalar::I64},
                                    {"<u2", abi::Scalar::U16}, {"<u4", abi::Scalar::U32}, {"<u8", abi::Scalar::U64},
                                    {"<f2", abi::Scalar::F16}, {"<f4", abi::Scalar::F32}, {"<f8", abi::Scalar::F64}};
    for (const Row& row : kRows) {
        if (row.text == descr) return row.scalar;
    }
    return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> parse_shape(std::string_view text) {
    std::vector<std::uint64_t> shape;
    if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
        const std::size_t begin = text.find_first_not_of(" ,");
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        std::uint64_t dim = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
        if (error != std::errc()) return std::nullopt;
        shape.push_back(dim);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
    return shape;
}

}  // namespace

std::uint64_t Array::size() const {
    std::uint64_t count = 1;
    for (std::uint64_t dim : shape) count *= dim;
    return count;
}

Result<Array> parse_npy(std::string_view file) {
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(file[i])); };
    if (file.size() < 12 || file.substr(0, 6) != kMagic) return Failure{"not a .npy file"};
    const bool wide = byte(6) >= 2;
    const std::size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
    const std::size_t start = wide ? 12 : 10;
    if (byte(6) < 1 || byte(6) > 3 || start + length > file.size()) return Failure{"a damaged .npy header"};
    const std::string_view header = file.substr(start, length);
    const auto descr = entry(header, "descr"), order = entry(header, "fortran_order"), shape_text = entry(header, "shape");
    if (!descr || !order || !shape_text) return Failure{"a damaged .npy header"};
    const auto scalar = scalar_from_descr(*descr);
    const auto shape = parse_shape(*shape_text);
    if (!scalar) return Failure{fmt::format("elements of kind {} are not supported", *descr)};
    if (*order != "False") return Failure{"Fortran order is not supported: save np.ascontiguousarray(a)"};
    if (!shape) return Failure{"a damaged .npy header"};
    Array array{*scalar, *shape, {}};
    const std::string_view data = file.substr(start + length);
    std::uint64_t bytes = abi::scalar_info(*scalar).bytes;
    for (std::uint64_t dim : *shape) {
        if (dim != 0 && bytes > data.size() / dim + 16) return Failure{"the file is shorter than its shape"};
        bytes *= dim;
    }
    if (data.size() < bytes) return Failure{"the file is shorter than its shape"};
    array.bytes = std::string(data.substr(0, bytes));
    return array;
}

std::string format_npy(const Array& array) {
    const abi::ScalarInfo& info = abi::scalar_info(array.type);
    const char kind = array.type == abi::Scalar::BF16 ? 'u' : info.npy_kind;
    std::string shape;
    for (std::uint64_t dim : array.shape) shape += fmt::format("{}, ", dim);
    if (array.shape.size() > 1) shape.resize(shape.size() - 2);
    if (array.shape.size() == 1) shape.resize(shape.size() - 1);
    std::string header = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}), }}", info.bytes == 1 ? '|' : '<', kind,
                                     info.bytes, shape);
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string file(kMagic);
    file += '\x01';
    file += '\0';
    file += static_cast<char>(header.size() & 0xFF);
    file += static_cast<char>(header.size() >> 8);
    return file + header + array.bytes;
}

}  // namespace ockc::driver
