#include "mir/body_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/init_flow.hpp"

namespace ockc::mir {

using types::TypeKind;

namespace {

class BodyRules {
  public:
    BodyRules(const Body& body, check::Context& context)
        : body_(body), context_(context), types_(context.types()), env_(context.param_env(context.body_owner(body.owner))) {}

    bool run() {
        for (const BasicBlock& block : body_.blocks) {
            for (const Statement& statement : block.statements) reference(statement);
        }
        if (const std::string_view place = constant_kind(); !place.empty()) destructors(place);
        return good_;
    }

  private:
    Diagnostic& error(Code code, Span span, std::string message) {
        good_ = false;
        return context_.sink().error(code, span, std::move(message));
    }

    // ---- E0793
    void reference(const Statement& statement) {
        const auto* assign = statement.get_if<AssignStatement>();
        if (assign == nullptr || kind(assign->value) != RvalueKind::Ref) return;
        const Place& place = *read_place(assign->value);
        const std::uint64_t pack = packing(place);
        if (pack == 0 || alignment(body_.type_of(place)) <= pack) return;
        error(Code::E0793, statement.span, "reference to field of packed struct is unaligned")
            .note("packed structs are only aligned by one byte, or as `packed(N)` says, and references must always be aligned")
            .help("copy the field to a local variable, or use a raw pointer");
    }

    // The least alignment that the packed types on the way promise; 0: no packed type.
    std::uint64_t packing(const Place& place) {
        std::uint64_t least = 0;
        TypeId type = body_.locals[place.local].type;
        for (const Projection& step : place.projections) {
            if (step.kind == ProjectionKind::Deref) least = 0;
            if (step.kind == ProjectionKind::Field && types_.kind(type) == TypeKind::Adt) {
                const std::uint64_t pack = context_.adt(types_[type].def).repr.pack;
                if (pack != 0) least = least == 0 ? pack : std::min(least, pack);
            }
            type = step.type;
        }
        return least;
    }

    std::uint64_t alignment(TypeId type) {
        while (types_.kind(type) == TypeKind::Array || types_.kind(type) == TypeKind::Slice) type = types_[type].element;
        if (types_.has(type, types::kHasParam | types::kHasProjection)) return ~std::uint64_t{0};   // not known
        if (types_.kind(type) == TypeKind::Str) return 1;
        return context_.layout_of(type).align;
    }

    // ---- E0493
    // Empty for bodies that run on the device.
    std::string_view constant_kind() {
        const hir::Program& program = context_.program();
        const hir::Def& def = program.defs[body_.owner];
        if (program.crates[def.crate].is_library) return "";   // constants are built with it where nothing is dropped
        switch (def.kind) {
            case hir::DefKind::Const:
            case hir::DefKind::AssocConst:
            case hir::DefKind::AnonConst: return "constants";
            case hir::DefKind::Static: return "statics";
            case hir::DefKind::Fn:
            case hir::DefKind::AssocFn: return context_.fn_sig(body_.owner).is_const ? "constant functions" : "";
            default: return "";
        }
    }

    void destructors(std::string_view place) {
        const MovePaths paths(body_, context_);
        const FlowGraph graph = flow_graph(body_);
        const InitFlow init(body_, paths, graph);
        std::vector<LocalId> reported;
        for (std::uint32_t b = 0; b < body_.blocks.size(); ++b) {
            const BasicBlock& block = body_.blocks[BlockId(b)];
            const auto* drop = block.terminator.get_if<DropTerminator>();
            if (drop == nullptr || !context_.needs_drop(body_.type_of(drop->place), env_) || holds_nothing(drop->place.local)) continue;
            const InitState state = init.before({BlockId(b), static_cast<std::uint32_t>(block.statements.size())});
            bool alive = false;
            paths.for_each_descendant(paths.find(drop->place).path, [&](MovePathId path) { alive |= state.maybe_init(path); });
            if (!alive || std::find(reported.begin(), reported.end(), drop->place.local) != reported.end()) continue;
            reported.push_back(drop->place.local);
            const Span at = body_.locals[drop->place.local].span;
            error(Code::E0493, at, fmt::format("destructor of `{}` cannot be evaluated at compile-time", context_.text(body_.type_of(drop->place))))
                .label(at, fmt::format("the destructor for this type cannot be evaluated in {}", place))
                .label(block.terminator.span, "value is dropped here");
        }
    }

    // Only ever `None` and the like: the type has a destructor, the value nothing to destroy.
    bool holds_nothing(LocalId local) {
        if (local.raw >= 1 && local.raw <= body_.arg_count) return false;
        for (const BasicBlock& block : body_.blocks) {
            for (const Statement& statement : block.statements) {
                const auto* assign = statement.get_if<AssignStatement>();
                if (assign == nullptr || assign->place.local != local) continue;
                const auto* aggregate = std::get_if<AggregateRvalue>(&assign->value.data);
                if (aggregate == nullptr || !assign->place.projections.empty()) return false;
                if (types_.kind(body_.locals[local].type) == TypeKind::Adt && context_.drop_impl(body_.locals[local].type).valid()) return false;
                for (const Operand& operand : aggregate->operands) {
                    if (context_.needs_drop(body_.type_of(operand), env_)) return false;
                }
            }
            if (const auto* call = block.terminator.get_if<CallTerminator>(); call != nullptr && call->destination.local == local) return false;
        }
        return true;
    }

    const Body& body_;
    check::Context& context_;
    types::TypeStore& types_;
    const check::ParamEnv& env_;
    bool good_ = true;
};

}  // namespace

bool check_body_rules(const Body& body, check::Context& context) { return BodyRules(body, context).run(); }

}  // namespace ockc::mir
