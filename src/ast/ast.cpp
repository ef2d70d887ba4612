#include "ast/ast.hpp"

#include <array>

namespace ockc::ast {

#define V(value) #value,
#define OCKC_ENUM(name, values)                                \
    std::string_view enum_name(name value) {                   \
        static constexpr std::string_view kNames[] = {values}; \
        return kNames[static_cast<std::size_t>(value)];        \
    }
#include "ast/node.def"
#undef V

namespace {

constexpr std::size_t kBinaryOpCount = 0
#define OCKC_BINARY_OP(name, text, token, precedence, trait, method) +1
#include "ast/operators.def"
    ;

constexpr std::array<BinaryOpInfo, kBinaryOpCount> make_binary_infos() {
    std::array<BinaryOpInfo, kBinaryOpCount> infos{{
#define OCKC_BINARY_OP(name, text, token, precedence, trait, method) \
    BinaryOpInfo{text, Precedence::precedence, trait, method, {}, {}, {}},
#include "ast/operators.def"
    }};
#define OCKC_ASSIGN_OP(name, text, token, trait, method)                  \
    infos[static_cast<std::size_t>(BinaryOp::name)].assign_text = text;   \
    infos[static_cast<std::size_t>(BinaryOp::name)].assign_trait = trait; \
    infos[static_cast<std::size_t>(BinaryOp::name)].assign_method = method;
#include "ast/operators.def"
    return infos;
}

constexpr std::array<BinaryOpInfo, kBinaryOpCount> kBinaryInfos = make_binary_infos();

constexpr UnaryOpInfo kUnaryInfos[] = {
#define OCKC_UNARY_OP(name, text, token, trait, method) {text, trait, method},
#include "ast/operators.def"
};

}  // namespace

const BinaryOpInfo& info(BinaryOp op) {
    return kBinaryInfos[static_cast<std::size_t>(op)];
}
const UnaryOpInfo& info(UnaryOp op) {
    return kUnaryInfos[static_cast<std::size_t>(op)];
}

}  // namespace ockc::ast
