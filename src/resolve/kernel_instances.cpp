// #[kernel(f32, f64)], #[kernel((f32, 16), (f32, 32))]: instances of a generic kernel. Each entry stands for the arguments of a
// path, `kernel::<f32, 16>`: alone where the kernel has one parameter, in parentheses where it has several.
#include <fmt/format.h>

#include "resolve/attributes.hpp"
#include "resolve/launch.hpp"
#include "resolve/lower.hpp"

namespace ockc::resolve {

namespace {

bool is_word_of_kernel(std::string_view name) { return name == "launch_context" || name == "unchecked_indexing"; }

}  // namespace

// How many types and constants a function is generic over.
std::size_t generic_parameters(State& state, DefId fn) {
    const auto* item = std::get_if<ast::FnItem>(&state.ast_of(state[fn].crate)[state.origin[fn].item].data);
    const ast::Crate& ast = state.ast_of(state[fn].crate);
    if (item == nullptr || !ast[item->decl].generics.valid()) return 0;
    std::size_t count = 0;
    for (const ast::GenericParam& param : ast[ast[item->decl].generics].params) count += param.kind != ast::GenericParamKind::Lifetime ? 1 : 0;
    return count;
}

// One argument as it stands in a path; false when it can be none.
bool Lowerer::instance_argument(ast::ExprId id, std::vector<ast::GenericArg>& out) {
    const ast::Expr expr = ast()[id];
    ast::GenericArg arg;
    arg.span = expr.span;
    if (const auto* path = ast::get_if<ast::PathExpr>(expr)) {
        ast::Type type;
        type.span = expr.span;
        type.data = ast::PathType{path->path};
        arg.data = ast::TypeGenericArg{s_.ast_of(crate_).add(type)};
    } else if (ast::get_if<ast::LiteralExpr>(expr) != nullptr || ast::get_if<ast::UnaryExpr>(expr) != nullptr || ast::get_if<ast::BlockExpr>(expr) != nullptr) {
        arg.data = ast::ConstGenericArg{id};
    } else if (const auto* paren = ast::get_if<ast::ParenExpr>(expr)) {
        return instance_argument(paren->inner, out);
    } else {
        error(Code::OCK0110, expr.span, "an instance is made of the names of types, and of constants").help("give a longer type a name: `type Row = [f32; 4];`");
        return false;
    }
    out.push_back(arg);
    return true;
}

void Lowerer::lower_kernel_instances(DefId fn) {
    const hir::Attribute* attribute = s_.program.attribute(fn, hir::AttributeKind::Kernel);
    const std::size_t parameters = attribute == nullptr ? 0 : generic_parameters(s_, fn);
    if (parameters == 0) return;
    std::vector<hir::KernelInstance> instances;
    for (const ast::MetaItem& item : attribute->meta.items) {
        if (is_word_of_kernel(meta_path_text(s_, crate_, item))) continue;
        std::vector<ast::GenericArg> args;
        if (item.kind == ast::MetaKind::Word) {
            ast::Type type;
            type.span = item.span;
            type.data = ast::PathType{item.path};
            ast::GenericArg arg;
            arg.span = item.span;
            arg.data = ast::TypeGenericArg{s_.ast_of(crate_).add(type)};
            args.push_back(arg);
        } else if (item.kind == ast::MetaKind::Value && item.value.valid()) {
            const ast::Expr value = ast()[item.value];
            bool good = true;
            if (const auto* tuple = ast::get_if<ast::TupleExpr>(value)) {
                for (const ast::ExprId element : tuple->elements) good = good && instance_argument(element, args);
            } else {
                good = instance_argument(item.value, args);
            }
            if (!good) continue;
        } else {
            error(Code::OCK0110, item.span, "`#[kernel]` takes instances: types, or `(type, constant)` for several parameters");
            continue;
        }
        if (args.size() != parameters) {
            error(Code::E0107, item.span, fmt::format("kernel `{}` has {} generic parameter{}, but the instance gives {}", s_.name_of(fn), parameters, parameters == 1 ? "" : "s", args.size()))
                .help("one instance is one entry; with several parameters its arguments stand in parentheses: `#[kernel((f32, 16), (f32, 32))]`");
            continue;
        }
        ast::GenericArgs list;
        list.span = item.span;
        list.args = s_.ast_of(crate_).list(args);
        instances.push_back({lower_args(s_.ast_of(crate_).add(list)), at(item.span)});
    }
    if (!instances.empty()) s_.program.kernel_instances.emplace(fn, std::move(instances));
}

}  // namespace ockc::resolve
