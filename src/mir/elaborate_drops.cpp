// Algorithm: move paths and their initialisation (init_flow) at each Drop say whether a path is initialised there always,
// never, or sometimes. Sometimes asks for a drop flag: a bool that is set where the path is initialised, cleared where it is
// moved out of. A path with moved parts is opened: its fields are dropped one by one; an enum switches on its variant first.
#include "mir/elaborate_drops.hpp"

#include <unordered_map>

#include "mir/init_flow.hpp"

namespace ockc::mir {

namespace {

class Elaborator {
  public:
    Elaborator(Program& program, check::Context& context, Body& body)
        : program_(program), context_(context), types_(context.types()), body_(body),
          env_(context.param_env(context.body_owner(body.owner))), paths_(body, context), graph_(flow_graph(body)),
          init_(body, paths_, graph_), flags_(paths_.paths().size()) {}

    void run() {
        const std::uint32_t blocks = static_cast<std::uint32_t>(body_.blocks.size());
        for (std::uint32_t b = 0; b < blocks; ++b) {
            if (body_.blocks[BlockId(b)].terminator.kind() == TerminatorKind::Drop) elaborate(BlockId(b));
        }
        if (any_flag_) place_flags(blocks);
    }

  private:
    struct Liveness {
        bool maybe_init = false, maybe_uninit = false;
    };
    Liveness of(MovePathId path) const { return {state_.maybe_init(path), state_.maybe_uninit(path)}; }
    Liveness of_all(MovePathId root) const {
        Liveness sum;
        paths_.for_each_descendant(root, [&](MovePathId path) {
            sum.maybe_init = sum.maybe_init || of(path).maybe_init;
            sum.maybe_uninit = sum.maybe_uninit || of(path).maybe_uninit;
        });
        return sum;
    }

    void elaborate(BlockId block) {
        const DropTerminator drop = body_.blocks[block].terminator.as<DropTerminator>();
        span_ = body_.blocks[block].terminator.span;
        scope_ = body_.blocks[block].terminator.scope;
        state_ = init_.before({block, static_cast<std::uint32_t>(body_.blocks[block].statements.size())});
        const MovePaths::Lookup found = paths_.find(drop.place);
        if (!found.exact) return;   // behind a reference: always there
        // Flags are tested by the drop and cleared after it.
        const Liveness all = of_all(found.path);
        BlockId next = drop.target;
        if (all.maybe_init && all.maybe_uninit) {
            next = add(GotoTerminator{drop.target});
            after_drop_.emplace(block.raw, next);
        }
        const BlockId start = drop_path(found.path, drop.place, next);
        body_.blocks[block].terminator.data = GotoTerminator{start};
    }

    BlockId add(TerminatorData data) {
        BasicBlock block;
        block.terminator = Terminator{span_, scope_, data};
        return body_.blocks.push(std::move(block));
    }

    // A block that drops what is left of the path and goes on to `next`.
    BlockId drop_path(MovePathId path, const Place& place, BlockId next) {
        const Liveness all = of_all(path);
        if (!all.maybe_init || !context_.needs_drop(body_.type_of(place), env_)) return next;
        if (!all.maybe_uninit) return add(DropTerminator{place, next, false});
        if (!paths_.paths()[path].first_child.valid()) return guarded(path, add(DropTerminator{place, next, false}), next);
        return open(path, place, next);
    }

    // `then` if the path's flag is set, else `next`.
    BlockId guarded(MovePathId path, BlockId then, BlockId next) {
        if (then == next || !of(path).maybe_uninit) return then;
        if (!of(path).maybe_init) return next;
        LocalId& flag = flags_.at(path);
        if (!flag.valid()) {
            flag = body_.locals.push(Local{.type = types_.boolean, .kind = LocalKind::Temp, .span = span_, .scope = scope_});
            any_flag_ = true;
        }
        const SwitchCase cases[] = {SwitchCase{0, 0, next}};
        return add(SwitchIntTerminator{Operand::copy(Place{flag, {}}), program_.arena.copy(std::span<const SwitchCase>(cases)), then});
    }

    Place extend(const Place& place, Projection step) {
        std::vector<Projection> steps(place.projections.begin(), place.projections.end());
        steps.push_back(step);
        return Place{place.local, program_.arena.copy(std::span<const Projection>(steps))};
    }
    MovePathId child(MovePathId path, const Projection& step) const {
        for (MovePathId at = paths_.paths()[path].first_child; at.valid(); at = paths_.paths()[at].next_sibling) {
            if (same_projection(paths_.paths()[at].place.projections.back(), step)) return at;
        }
        return MovePathId();
    }

    // The parts of a place, last first, so that the first is dropped first.
    BlockId fields(MovePathId path, const Place& place, const std::vector<TypeId>& parts, BlockId next) {
        for (std::uint32_t i = static_cast<std::uint32_t>(parts.size()); i-- > 0;) {
            const Projection step{.kind = ProjectionKind::Field, .index = i, .type = parts[i]};
            const Place part = extend(place, step);
            if (const MovePathId own = child(path, step); own.valid()) {
                next = drop_path(own, part, next);
            } else if (context_.needs_drop(parts[i], env_)) {
                next = guarded(path, add(DropTerminator{part, next, false}), next);
            }
        }
        return next;
    }

    std::vector<TypeId> variant_fields(const check::AdtInfo& adt, std::uint32_t variant, types::ArgsId args) {
        std::vector<TypeId> parts;
        for (const check::FieldInfo& field : adt.variants[variant].fields) parts.push_back(context_.field_type(field, args, env_));
        return parts;
    }

    BlockId open(MovePathId path, const Place& place, BlockId next) {
        const types::TypeData data = types_[body_.type_of(place)];
        if (data.kind == types::TypeKind::Tuple) {
            const std::span<const TypeId> parts = types_[data.elements];
            return fields(path, place, {parts.begin(), parts.end()}, next);
        }
        if (data.kind == types::TypeKind::Closure) {
            std::vector<TypeId> parts;
            for (const check::Capture& capture : context_.closure_info(data.def).captures) {
                parts.push_back(types_.subst(capture.type, data.args));
            }
            return fields(path, place, parts, next);
        }
        if (data.kind == types::TypeKind::Array) return elements(path, place, data, next);
        OCKC_CHECK(data.kind == types::TypeKind::Adt);
        const check::AdtInfo& adt = context_.adt(data.def);
        if (adt.kind != check::AdtInfo::Kind::Enum) return fields(path, place, variant_fields(adt, 0, data.args), next);
        const TypeId tag = types_.int_type(adt.discriminant_type);
        const LocalId discriminant = body_.locals.push(Local{.type = tag, .kind = LocalKind::Temp, .span = span_, .scope = scope_});
        std::vector<SwitchCase> cases;
        for (std::uint32_t v = 0; v < adt.variants.size(); ++v) {
            const Projection step{.kind = ProjectionKind::Downcast, .index = v, .type = body_.type_of(place)};
            const MovePathId own = child(path, step);
            if (!own.valid()) continue;
            const BlockId parts = fields(own, extend(place, step), variant_fields(adt, v, data.args), next);
            const std::uint32_t bits = types::int_bits(adt.discriminant_type);
            const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
            cases.push_back(SwitchCase{adt.variants[v].discriminant[0] & mask, bits > 64 ? adt.variants[v].discriminant[1] : 0, parts});
        }
        // The variants that nothing was moved out of are whole.
        const BlockId whole = add(DropTerminator{place, next, false});
        const BlockId choose = add(SwitchIntTerminator{Operand::move(Place{discriminant, {}}),
                                                       program_.arena.copy(std::span<const SwitchCase>(cases)), whole});
        const AssignStatement read{Place{discriminant, {}}, Rvalue{DiscriminantRvalue{place}}};
        body_.blocks[choose].statements.push_back(Statement{span_, scope_, read});
        return guarded(path, choose, next);
    }

    BlockId elements(MovePathId path, const Place& place, const types::TypeData& data, BlockId next) {
        const std::uint64_t count = context_.usize_value(data.length).value_or(0);
        for (std::uint64_t i = 0; i < count; ++i) {   // a last element first: rustc's order for arrays taken apart
            const Projection step{
                .kind = ProjectionKind::ConstantIndex, .offset = i, .min_length = count, .type = data.element};
            const Place part = extend(place, step);
            const MovePathId own = child(path, step);
            next = own.valid() ? drop_path(own, part, next) : guarded(path, add(DropTerminator{part, next, false}), next);
        }
        return next;
    }

    // ---- flags

    Statement set_flag(LocalId flag, bool value) {
        const ConstantId constant = body_.constants.push(
            Constant{.kind = Constant::Kind::Scalar, .type = types_.boolean, .span = span_, .low = value ? 1u : 0u});
        return Statement{span_, scope_, AssignStatement{Place{flag, {}}, Rvalue{UseRvalue{Operand::of(constant)}}}};
    }
    void add_flags(MovePathId root, bool value, std::vector<Statement>& out) {
        paths_.for_each_descendant(root, [&](MovePathId path) {
            if (flags_[path].valid()) out.push_back(set_flag(flags_[path], value));
        });
    }

    // `blocks`: those of the body as it came; the new ones move and initialise nothing that a flag is about.
    void place_flags(std::uint32_t blocks) {
        std::vector<std::vector<Statement>> at_start(blocks);
        for (std::uint32_t p = 0; p < paths_.paths().size(); ++p) {
            const LocalId flag = flags_[MovePathId(p)];
            if (!flag.valid()) continue;
            const std::uint32_t root = paths_.paths()[MovePathId(p)].place.local.raw;
            at_start[0].push_back(set_flag(flag, root >= 1 && root <= body_.arg_count));
        }
        for (std::uint32_t b = 0; b < blocks; ++b) {
            BasicBlock& block = body_.blocks[BlockId(b)];
            std::vector<Statement> out;
            const std::uint32_t count = static_cast<std::uint32_t>(block.statements.size());
            for (std::uint32_t i = 0; i <= count; ++i) {
                const Location at{BlockId(b), i};
                if (i < count) out.push_back(block.statements[i]);
                const auto after = i == count ? after_drop_.find(b) : after_drop_.end();
                std::vector<Statement>& cleared = after != after_drop_.end() ? body_.blocks[after->second].statements : out;
                for (const MoveOut& move : paths_.moves_at(at)) add_flags(move.path, false, cleared);
                for (const Init& init : paths_.inits_at(at)) {
                    // A call initialises its destination on the way to its target, a block of its own.
                    const auto* call = i == count ? block.terminator.get_if<CallTerminator>() : nullptr;
                    std::vector<Statement>& where = call != nullptr ? at_start[call->target.raw] : out;
                    add_flags(init.path, true, where);
                }
            }
            block.statements = std::move(out);
        }
        for (std::uint32_t b = 0; b < blocks; ++b) {
            std::vector<Statement>& list = body_.blocks[BlockId(b)].statements;
            list.insert(list.begin(), at_start[b].begin(), at_start[b].end());
        }
    }

    Program& program_;
    check::Context& context_;
    types::TypeStore& types_;
    Body& body_;
    const check::ParamEnv& env_;
    const MovePaths paths_;
    const FlowGraph graph_;
    const InitFlow init_;
    SideMap<MovePathId, LocalId> flags_;
    bool any_flag_ = false;
    std::unordered_map<std::uint32_t, BlockId> after_drop_;   // of a block whose drop tests flags: where it is done
    InitState state_;
    Span span_;
    ScopeId scope_;
};

}  // namespace

void elaborate_drops(Program& program, check::Context& context, Body& body) {
    bool any = false;
    for (const BasicBlock& block : body.blocks) any = any || block.terminator.kind() == TerminatorKind::Drop;
    if (any) Elaborator(program, context, body).run();
}

void elaborate_drops(Program& program, check::Context& context) {
    for (const DefId owner : program.order) {
        Body& body = *program.bodies.at(owner);
        elaborate_drops(program, context, body);
        for (const auto& promoted : body.promoted) elaborate_drops(program, context, *promoted);
    }
}

}  // namespace ockc::mir
