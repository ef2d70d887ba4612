#include "resolve/launch.hpp"

#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "support/enum_table.hpp"

namespace ockc::resolve {

namespace {

using hir::AttributeKind;
using hir::LaunchDims;
using hir::LaunchExpr;
using hir::LaunchSpec;

constexpr std::uint64_t kMaxBlockThreads = 1024;

class LaunchReader {
  public:
    LaunchReader(State& state, DefId fn, std::span<const hir::FnParam> params) : s_(state), ast_(state.ast_of(state[fn].crate)), crate_(state[fn].crate), fn_(fn), params_(params) {}

    void read();

  private:
    Diagnostic& error(Code code, Span span, std::string message) { return s_.sink->error(code, span, std::move(message)); }
    Diagnostic& malformed(Span span, std::string message) { return error(Code::OCK0110, span, std::move(message)); }
    Diagnostic& contradiction(Span span, std::string message) { return error(Code::OCK0111, span, std::move(message)); }

    ast::ExprId strip(ast::ExprId id) const {
        while (const auto* paren = ast::get_if<ast::ParenExpr>(ast_[id])) id = paren->inner;
        return id;
    }
    std::optional<std::uint64_t> number(ast::ExprId id, std::string_view what, std::uint64_t max);
    std::optional<std::uint64_t> in_range(std::optional<std::uint64_t> value, Span span, std::string_view what, std::uint64_t max);
    ModuleId module() const { return s_.origin[fn_].module; }
    std::optional<std::uint64_t> number(const ast::MetaItem& item, std::string_view what, std::uint64_t max);
    std::vector<ast::ExprId> elements(ast::ExprId id) const;
    std::optional<LaunchDims> dims(std::span<const ast::ExprId> list, Span span, std::string_view what);

    void entry_arguments(const hir::Attribute& attribute);
    void kernel_arguments(const hir::Attribute& attribute);
    void launch_context(const ast::MetaItem& item);
    void bounds(const hir::Attribute& attribute);
    void cluster(const hir::Attribute& attribute);
    void contract(const hir::Attribute& attribute);
    void field(std::string_view name, const ast::MetaItem& item);
    void shared_range(const ast::MetaItem& item);
    void capability(const ast::MetaItem& item);
    void requirements(ast::ExprId value);
    const LaunchExpr* side(ast::ExprId id);
    const LaunchExpr* param_expr(LaunchExpr::Kind kind, ast::ExprId path, Span span);
    void check_contract();
    void check_dims(const hir::Spanned<LaunchDims>& dims, std::string_view what);

    State& s_;
    const ast::Crate& ast_;
    std::uint32_t crate_;
    DefId fn_;
    std::span<const hir::FnParam> params_;
    LaunchSpec spec_;
    std::vector<hir::LaunchRequirement> requires_;
};

std::optional<std::uint64_t> LaunchReader::number(ast::ExprId id, std::string_view what, std::uint64_t max) {
    return in_range(launch_number(s_, crate_, module(), id), ast_[id].span, what, max);
}

std::optional<std::uint64_t> LaunchReader::number(const ast::MetaItem& item, std::string_view what, std::uint64_t max) {
    if (item.kind == ast::MetaKind::Word) return in_range(launch_number(s_, crate_, module(), item.path), item.span, what, max);
    const bool has_value = item.value.valid() && (item.kind == ast::MetaKind::Value || item.kind == ast::MetaKind::NameValue);
    return has_value ? number(item.value, what, max) : in_range(std::nullopt, item.span, what, max);
}

std::optional<std::uint64_t> LaunchReader::in_range(std::optional<std::uint64_t> value, Span span, std::string_view what, std::uint64_t max) {
    if (value && *value <= max) return value;
    if (value) malformed(span, fmt::format("{} is at most {}", what, max));
    else malformed(span, fmt::format("{} is an integer literal or a constant that is computed from literals", what));
    return std::nullopt;
}

// `(a, b, c)`, `(a)` or `a`.
std::vector<ast::ExprId> LaunchReader::elements(ast::ExprId id) const {
    const ast::Expr& expr = ast_[id];
    if (const auto* tuple = ast::get_if<ast::TupleExpr>(expr)) return {tuple->elements.begin(), tuple->elements.end()};
    if (const auto* paren = ast::get_if<ast::ParenExpr>(expr)) return {paren->inner};
    return {id};
}

std::optional<LaunchDims> LaunchReader::dims(std::span<const ast::ExprId> list, Span span, std::string_view what) {
    if (list.empty() || list.size() > 3) {
        malformed(span, fmt::format("{} has one, two or three dimensions", what));
        return std::nullopt;
    }
    LaunchDims result{1, 1, 1};
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto value = number(list[i], fmt::format("a dimension of {}", what), 0x7FFF'FFFF);
        if (!value) return std::nullopt;
        if (*value == 0) {
            contradiction(ast_[list[i]].span, fmt::format("a dimension of {} is zero", what));
            return std::nullopt;
        }
        result[i] = static_cast<std::uint32_t>(*value);
    }
    return result;
}

void LaunchReader::kernel_arguments(const hir::Attribute& attribute) {
    for (const ast::MetaItem& item : attribute.meta.items) {
        const std::string name = meta_path_text(s_, crate_, item);
        if (name == "launch_context") {
            launch_context(item);
            continue;
        }
        if (name == "unchecked_indexing") {   // asks for undefined behaviour in safe code
            s_.sink->lint("unused_attributes", item.span, "`unchecked_indexing` has no effect: an index is checked unless it is proved to be in bounds");
            continue;
        }
        if (generic_parameters(s_, fn_) != 0) continue;   // an instance: Lowerer::lower_kernel_instances
        if (prim_type(name) || item.kind == ast::MetaKind::Value) {
            error(Code::OCK0105, item.span, "only generic kernels have instances").label(s_[fn_].name.span, "this one has no generic parameter").help("write `fn kernel<T>(..)`, or leave the argument out");
            continue;
        }
        auto& e = malformed(item.span, fmt::format("`#[kernel]` has no argument `{}`", name.empty() ? std::string(s_.sources.text(item.span)) : name));
        static constexpr std::string_view kNames[] = {"launch_context", "unchecked_indexing"};
        if (const auto near = nearest_name(kNames, name); !near.empty()) e.suggest(item.span, std::string(near), "an argument with a similar name exists");
    }
}

// Of a tile kernel. What is left to the compiler may be hinted at.
void LaunchReader::entry_arguments(const hir::Attribute& attribute) {
    static constexpr std::string_view kNames[] = {"deny_in_kernel_checks", "unchecked_accesses", "optimization_hints"};
    for (const ast::MetaItem& item : attribute.meta.items) {
        const std::string name = meta_path_text(s_, crate_, item);
        if (name == "optimization_hints") continue;
        const bool word = item.kind == ast::MetaKind::Word;
        if (name == "deny_in_kernel_checks" && word) {
            spec_.deny_tile_checks = true;
        } else if (name == "unchecked_accesses" && word) {
            spec_.unchecked_tiles = true;   // of an `unsafe fn`: check/kernel_rules.cpp
        } else {
            auto& e = malformed(item.span, fmt::format("`#[cutile::entry]` has no argument `{}`", name.empty() ? std::string(s_.sources.text(item.span)) : name));
            if (const auto near = nearest_name(kNames, name); !near.empty()) e.suggest(item.span, std::string(near), "an argument with a similar name exists");
            else e.help("its arguments are `deny_in_kernel_checks`, `unchecked_accesses` and `optimization_hints = (..)`");
        }
    }
}

// `launch_context = NAME`: a variable of the body with what the contract says, as a type.
void LaunchReader::launch_context(const ast::MetaItem& item) {
    const auto* path = item.kind == ast::MetaKind::NameValue && item.value.valid() ? ast::get_if<ast::PathExpr>(ast_[strip(item.value)]) : nullptr;
    if (path == nullptr || ast_[path->path].segments.size() != 1) {
        malformed(item.span, "`launch_context` gives a variable its name").help("write `#[kernel(launch_context = launch)]`");
        return;
    }
    if (spec_.context.valid()) {
        error(Code::OCK0114, item.span, "`launch_context` is given twice").label(spec_.context_span, "given here first");
        return;
    }
    const ast::Ident ident = ast_[path->path].segments[0].ident;
    spec_.context = ident.name;
    spec_.context_span = ident.span;
}

void LaunchReader::bounds(const hir::Attribute& attribute) {
    const auto& items = attribute.meta.items;
    if (attribute.meta.kind != ast::MetaKind::List || items.empty() || items.size() > 2) {
        malformed(attribute.span, "`#[launch_bounds]` takes the most threads a block may have and, if wanted, the fewest blocks of a multiprocessor").help("write `#[launch_bounds(256)]` or `#[launch_bounds(256, 2)]`");
        return;
    }
    if (const auto max = number(items[0], "the number of threads", 0xFFFF'FFFF)) {
        if (*max == 0) contradiction(items[0].span, "`launch_bounds` allows no thread");
        else if (*max > kMaxBlockThreads) contradiction(items[0].span, fmt::format("a block has at most {} threads", kMaxBlockThreads));
        else spec_.max_threads = {static_cast<std::uint32_t>(*max), items[0].span};
    }
    if (items.size() == 2) {
        if (const auto min = number(items[1], "the number of blocks", 0xFFFF)) spec_.min_blocks = {static_cast<std::uint32_t>(*min), items[1].span};
    }
}

void LaunchReader::cluster(const hir::Attribute& attribute) {
    std::vector<ast::ExprId> list;
    for (const ast::MetaItem& item : attribute.meta.items) {
        if (item.kind == ast::MetaKind::Value) list.push_back(item.value);
    }
    if (list.size() != attribute.meta.items.size() || list.empty()) {
        malformed(attribute.span, "`#[cluster_launch]` takes one, two or three dimensions").help("write `#[cluster_launch(2, 1, 1)]`");
        return;
    }
    if (const auto value = dims(list, attribute.span, "a cluster")) {
        if (std::uint64_t{(*value)[0]} * (*value)[1] * (*value)[2] > 16) contradiction(attribute.span, "a cluster has at most 16 blocks");
        else spec_.cluster = {*value, attribute.span};
    }
}

void LaunchReader::shared_range(const ast::MetaItem& item) {
    const auto list = elements(item.value);
    if (list.size() != 2) {
        malformed(item.span, "`dynamic_shared_range` is a pair `(min, max)` of bytes");
        return;
    }
    const auto low = number(list[0], "a number of bytes", 0xFFFF'FFFF), high = number(list[1], "a number of bytes", 0xFFFF'FFFF);
    if (!low || !high) return;
    if (*low > *high) contradiction(item.span, "the range of `dynamic_shared_range` is empty");
    else spec_.dynamic_shared_range = {{*low, *high}, item.span};
}

void LaunchReader::capability(const ast::MetaItem& item) {
    const auto list = elements(item.value);
    if (list.size() != 2) {
        malformed(item.span, "`min_compute_capability` is a pair `(major, minor)`");
        return;
    }
    const auto major = number(list[0], "a compute capability", 99), minor = number(list[1], "a compute capability", 99);
    if (major && minor) spec_.min_compute_capability = {{static_cast<std::uint32_t>(*major), static_cast<std::uint32_t>(*minor)}, item.span};
}

const LaunchExpr* LaunchReader::param_expr(LaunchExpr::Kind kind, ast::ExprId id, Span span) {
    const auto* path_expr = ast::get_if<ast::PathExpr>(ast_[id]);
    if (path_expr == nullptr || ast_[path_expr->path].segments.size() != 1) {
        error(Code::OCK0113, ast_[id].span, "a `requires` relation is made of parameters, `.len()`, integer literals, `+`, `-` and `*`");
        return nullptr;
    }
    const Symbol name = ast_[path_expr->path].segments[0].ident.name;
    for (std::size_t i = 0; i < params_.size(); ++i) {
        if (params_[i].name.name != name) continue;
        LaunchExpr expr;
        expr.kind = kind;
        expr.span = span;
        expr.param = static_cast<std::uint32_t>(i);
        return s_.program.arena.make<LaunchExpr>(expr);
    }
    auto& e = error(Code::OCK0113, ast_[id].span, fmt::format("the kernel has no parameter `{}`", s_.text(name)));
    std::vector<std::string_view> names;
    for (const hir::FnParam& param : params_) {
        if (param.name.name.valid()) names.push_back(s_.text(param.name.name));
    }
    if (const auto near = nearest_name(names, s_.text(name)); !near.empty()) e.suggest(ast_[id].span, std::string(near), "a parameter with a similar name exists");
    return nullptr;
}

const LaunchExpr* LaunchReader::side(ast::ExprId written) {
    const ast::ExprId id = strip(written);
    const ast::Expr expr = ast_[id];
    const auto wrong = [&]() -> const LaunchExpr* {
        error(Code::OCK0113, expr.span, "a `requires` relation is made of parameters, `.len()`, integer literals, `+`, `-` and `*`");
        return nullptr;
    };
    if (ast::get_if<ast::LiteralExpr>(expr) != nullptr) {
        const auto value = number(id, "this side", ~0ull);
        if (!value) return nullptr;
        LaunchExpr literal;
        literal.span = expr.span;
        literal.literal = *value;
        return s_.program.arena.make<LaunchExpr>(literal);
    }
    if (ast::get_if<ast::PathExpr>(expr) != nullptr) return param_expr(LaunchExpr::Kind::Param, id, expr.span);
    if (const auto* call = ast::get_if<ast::MethodCallExpr>(expr)) {
        const std::string_view method = s_.text(call->method.ident.name);
        if (!call->args.empty() || (method != "len" && method != "row_width")) return wrong();
        return param_expr(method == "len" ? LaunchExpr::Kind::Len : LaunchExpr::Kind::RowWidth, call->receiver, expr.span);
    }
    const auto* binary = ast::get_if<ast::BinaryExpr>(expr);
    if (binary == nullptr) return wrong();
    LaunchExpr sum;
    if (binary->op == ast::BinaryOp::Add) sum.kind = LaunchExpr::Kind::Add;
    else if (binary->op == ast::BinaryOp::Sub) sum.kind = LaunchExpr::Kind::Sub;
    else if (binary->op == ast::BinaryOp::Mul) sum.kind = LaunchExpr::Kind::Mul;
    else return wrong();
    sum.span = expr.span;
    sum.lhs = side(binary->lhs);
    sum.rhs = side(binary->rhs);
    return sum.lhs != nullptr && sum.rhs != nullptr ? s_.program.arena.make<LaunchExpr>(sum) : nullptr;
}

std::optional<hir::LaunchRelation> relation_of(ast::BinaryOp op) {
    if (op == ast::BinaryOp::Lt) return hir::LaunchRelation::Lt;
    if (op == ast::BinaryOp::Le) return hir::LaunchRelation::Le;
    if (op == ast::BinaryOp::Gt) return hir::LaunchRelation::Gt;
    if (op == ast::BinaryOp::Ge) return hir::LaunchRelation::Ge;
    if (op == ast::BinaryOp::Eq) return hir::LaunchRelation::Eq;
    if (op == ast::BinaryOp::Ne) return hir::LaunchRelation::Ne;
    return std::nullopt;
}

void LaunchReader::requirements(ast::ExprId value) {
    for (const ast::ExprId id : elements(value)) {
        const ast::Expr expr = ast_[strip(id)];
        const auto* binary = ast::get_if<ast::BinaryExpr>(expr);
        const auto relation = binary != nullptr ? relation_of(binary->op) : std::nullopt;
        if (!relation) {
            error(Code::OCK0113, expr.span, "each `requires` entry is one comparison").help("for example `requires = (a.len() >= n, b.len() >= n)`");
            continue;
        }
        hir::LaunchRequirement requirement;
        requirement.span = expr.span;
        requirement.text = s_.program.arena.copy(s_.sources.text(expr.span));
        requirement.relation = *relation;
        requirement.lhs = side(binary->lhs);
        requirement.rhs = side(binary->rhs);
        if (requirement.lhs != nullptr && requirement.rhs != nullptr) requires_.push_back(requirement);
    }
}

void LaunchReader::field(std::string_view name, const ast::MetaItem& item) {
    if (name == "domain") {
        if (const auto value = number(item, "the domain", 1000)) {
            if (*value < 1 || *value > 3) contradiction(item.span, "the domain is 1, 2 or 3");
            else spec_.domain = {static_cast<std::uint32_t>(*value), item.span};
        }
    } else if (name == "coordinates") {
        if (s_.sources.text(ast_[item.value].span) == "u32") spec_.coordinates_u32 = true;
        else malformed(item.span, "`coordinates` can only be `u32`");
    } else if (name == "block") {
        if (const auto value = dims(elements(item.value), item.span, "a block")) spec_.block = {*value, item.span};
    } else if (name == "dynamic_shared") {
        if (const auto value = number(item, "a number of bytes", 0xFFFF'FFFF)) spec_.dynamic_shared = {*value, item.span};
    } else if (name == "dynamic_shared_range") {
        shared_range(item);
    } else if (name == "dynamic_shared_alignment") {
        if (const auto value = number(item, "an alignment", 1u << 20)) {
            if (*value == 0 || (*value & (*value - 1)) != 0) contradiction(item.span, "`dynamic_shared_alignment` is not a power of two");
            else spec_.dynamic_shared_alignment = {static_cast<std::uint32_t>(*value), item.span};
        }
    } else if (name == "min_compute_capability") {
        capability(item);
    } else {
        requirements(item.value);
    }
}

void LaunchReader::contract(const hir::Attribute& attribute) {
    static constexpr std::string_view kFields[] = {"domain", "coordinates", "block", "dynamic_shared", "dynamic_shared_range", "dynamic_shared_alignment", "min_compute_capability", "requires"};
    spec_.has_contract = true;
    spec_.contract_span = attribute.span;
    std::vector<std::pair<std::string_view, Span>> seen;
    for (const ast::MetaItem& item : attribute.meta.items) {
        const std::string name = meta_path_text(s_, crate_, item);
        std::string_view known;
        for (const std::string_view candidate : kFields) {
            if (candidate == name) known = candidate;
        }
        if (known.empty()) {
            const Span span = item.path.valid() ? ast_[item.path].span : item.span;
            auto& e = malformed(span, fmt::format("`launch_contract` has no field `{}`", name.empty() ? std::string(s_.sources.text(item.span)) : name));
            if (const auto near = nearest_name(kFields, name); !near.empty()) e.suggest(span, std::string(near), "a field with a similar name exists");
            continue;
        }
        if (item.kind != ast::MetaKind::NameValue) {
            malformed(item.span, fmt::format("`{}` needs a value: `{} = ..`", known, known));
            continue;
        }
        bool twice = false;
        for (const auto& [other, span] : seen) {
            if (other != known) continue;
            malformed(item.span, fmt::format("`{}` is given twice", known)).label(span, "first given here");
            twice = true;
        }
        if (twice) continue;
        seen.emplace_back(known, item.span);
        field(known, item);
    }
    if (spec_.domain.value == 0) {
        bool given = false;
        for (const auto& [name, span] : seen) given = given || name == "domain";
        if (!given) malformed(attribute.span, "a launch contract names its domain").help("add `domain = 1`, `2` or `3`");
    }
}

void LaunchReader::check_dims(const hir::Spanned<LaunchDims>& dims, std::string_view what) {
    for (std::uint32_t axis = spec_.domain.value; spec_.domain.value != 0 && axis < 3; ++axis) {
        if (dims.value[axis] == 1) continue;
        contradiction(dims.span, fmt::format("the {} has a dimension beyond the domain", what)).label(spec_.domain.span, fmt::format("the domain is {}", spec_.domain.value));
        return;
    }
}

void LaunchReader::check_contract() {
    if (spec_.block) {
        const std::uint64_t threads = std::uint64_t{spec_.block->value[0]} * spec_.block->value[1] * spec_.block->value[2];
        if (threads > kMaxBlockThreads || spec_.block->value[0] > kMaxBlockThreads || spec_.block->value[1] > kMaxBlockThreads || spec_.block->value[2] > 64) {
            contradiction(spec_.block->span, fmt::format("a block has at most {} threads, and at most 64 along z", kMaxBlockThreads));
        } else if (spec_.max_threads && threads > spec_.max_threads->value) {
            contradiction(spec_.block->span, fmt::format("the block has {} threads, more than `launch_bounds` allows", threads)).label(spec_.max_threads->span, fmt::format("at most {} threads", spec_.max_threads->value));
        }
        check_dims(*spec_.block, "block");
    }
    if (spec_.cluster) check_dims(*spec_.cluster, "cluster");
    if (spec_.has_contract && !spec_.block && !spec_.max_threads) {
        contradiction(spec_.contract_span, "a launch contract says how large a block is").help("add `block = (256, 1, 1)`, or `#[launch_bounds(256)]`");
    }
    if (spec_.dynamic_shared && spec_.dynamic_shared_range) {
        contradiction(spec_.dynamic_shared_range->span, "`dynamic_shared` and `dynamic_shared_range` exclude each other").label(spec_.dynamic_shared->span, "the exact size is given here");
    }
}

void LaunchReader::read() {
    const bool kernel = s_.program.attribute(fn_, AttributeKind::Kernel) != nullptr;
    bool any = false;
    const std::size_t errors = s_.sink->error_count();
    for (const hir::Attribute& attribute : s_[fn_].attributes) {
        const bool launch = attribute.kind == AttributeKind::LaunchBounds || attribute.kind == AttributeKind::LaunchContract ||
                            attribute.kind == AttributeKind::ClusterLaunch || attribute.kind == AttributeKind::CooperativeLaunch;
        if (attribute.kind == AttributeKind::Kernel) kernel_arguments(attribute);
        if (attribute.kind == AttributeKind::TileEntry) entry_arguments(attribute);
        if (!launch) continue;
        if (!kernel) {
            error(Code::OCK0112, attribute.span, fmt::format("`#[{}]` stands on a function that is no kernel", attribute_name(attribute.kind))).label(s_[fn_].name.span, "this function has no `#[kernel]`");
            continue;
        }
        any = true;
        if (attribute.kind == AttributeKind::LaunchBounds) bounds(attribute);
        else if (attribute.kind == AttributeKind::LaunchContract) contract(attribute);
        else if (attribute.kind == AttributeKind::ClusterLaunch) cluster(attribute);
        else spec_.cooperative = true;
    }
    if (!any && !spec_.context.valid() && !spec_.deny_tile_checks && !spec_.unchecked_tiles) return;
    if (s_.sink->error_count() == errors) check_contract();
    spec_.requirements = s_.program.arena.copy(std::span<const hir::LaunchRequirement>(requires_));
    s_.program.launches.emplace(fn_, s_.program.arena.make<LaunchSpec>(spec_));
}

}  // namespace

void check_launch_attributes(State& state, DefId fn, std::span<const hir::FnParam> params) { LaunchReader(state, fn, params).read(); }

}  // namespace ockc::resolve
