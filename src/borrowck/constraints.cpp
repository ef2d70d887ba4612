// The type check of MIR: every assignment, call and return says which type must be a subtype of which, and so which regions
// outlive which; every borrow is a loan. In: a body with erased regions. Out: region types of the locals, constraints, loans.
#include "borrowck/describe.hpp"
#include "borrowck/obligations.hpp"
#include "borrowck/signature.hpp"

namespace ockc::borrowck {

using types::GenericArg;
using types::TypeData;
using types::TypeKind;

Points::Points(const mir::Body& body) {
    begin_.reserve(body.blocks.size());
    std::size_t count = 0;
    for (const mir::BasicBlock& block : body.blocks) {
        begin_.push_back(static_cast<std::uint32_t>(count));
        count += block.statements.size() + 1;
    }
    block_of_.resize(count);
    for (std::uint32_t b = 0; b < begin_.size(); ++b) {
        const std::size_t end = b + 1 < begin_.size() ? begin_[b + 1] : count;
        std::fill(block_of_.begin() + begin_[b], block_of_.begin() + static_cast<std::ptrdiff_t>(end), BlockId(b));
    }
}

BodyCx::BodyCx(const mir::Body& body_in, const mir::Program& program_in, check::Context& context_in, Closures& closures_in)
    : body(body_in),
      program(program_in),
      context(context_in),
      closures(closures_in),
      types(context_in.types()),
      env(context_in.param_env(context_in.body_owner(body_in.owner))),
      points(body_in),
      graph(mir::flow_graph(body_in)),
      regions(context_in, env, closures_in.type_facts()) {}

void LoansByLocal::build(const IndexVec<LoanId, Loan>& loans, std::size_t locals) {
    if (loans.empty()) return;
    begin_.resize(locals + 1);
    for (const Loan& loan : loans) ++begin_[loan.place.local.raw + 1];
    for (std::size_t i = 0; i < locals; ++i) begin_[i + 1] += begin_[i];
    std::vector<std::uint32_t> at(begin_);
    ids_.resize(loans.size());
    for (std::uint32_t i = 0; i < loans.size(); ++i) ids_[at[loans[LoanId(i)].place.local.raw]++] = LoanId(i);
}

TypeId BodyCx::type_of(const Place& place) {
    TypeId type = local_types[place.local];
    std::uint32_t variant = 0;
    for (const mir::Projection& step : place.projections) type = regions.project(type, step, variant);
    return type;
}

namespace {

class TypeCheck {
  public:
    explicit TypeCheck(BodyCx& cx) : cx_(cx), regions_(cx.regions), types_(cx.types), signature_(cx), obligations_(cx) {}

    void run() {
        signature_.read();
        locals();
        // In the order of control flow: of two reasons for an error the first is told.
        for (const std::uint32_t b : cx_.graph.reverse_postorder()) {
            const mir::BasicBlock& block = cx_.body.blocks[BlockId(b)];
            for (std::uint32_t i = 0; any_regions_ && i < block.statements.size(); ++i) {
                at_ = {BlockId(b), i};
                span_ = block.statements[i].span;
                statement(block.statements[i]);
            }
            at_ = {BlockId(b), static_cast<std::uint32_t>(block.statements.size())};
            span_ = block.terminator.span;
            terminator(block.terminator);
        }
        activate_loans();
        cx_.loans_by_local.build(cx_.loans, cx_.body.locals.size());
        for (std::uint32_t i = 0; i < cx_.loans.size(); ++i) {
            Loan& loan = cx_.loans[LoanId(i)];
            const auto captured = loan.assigned.valid() ? captured_into_.find(loan.assigned.raw) : captured_into_.end();
            loan.is_capture = captured != captured_into_.end();
            if (loan.is_capture) loan.use_span = captured->second;
        }
    }

  private:
    void locals() {
        const bool has_signature = signature_.is_fn();
        any_regions_ = types_.has(cx_.context.identity_args(cx_.context.body_owner(cx_.body.owner)), types::kHasParam);
        cx_.local_types = SideMap<LocalId, TypeId>(cx_.body.locals.size());
        if (cx_.body.is_closure) surroundings();
        for (std::uint32_t i = 0; i < cx_.body.locals.size(); ++i) {
            const mir::Local& local = cx_.body.locals[LocalId(i)];
            TypeId type = cx_.local_types[LocalId(i)];
            if (type.valid()) {
                // a closure's
            } else if (has_signature && i <= cx_.body.arg_count) {
                const check::FnSigInfo& sig = cx_.context.fn_sig(cx_.body.owner);
                type = regions_.renumber(i == 0 ? cx_.context.reveal_own(cx_.body.owner, sig.output) : sig.inputs[i - 1]);
            } else {
                type = regions_.renumber(local.type);
            }
            cx_.local_types.set(LocalId(i), type);
            any_regions_ = any_regions_ || regions_.may_hold_regions(type);
            if (has_signature && i == 0) signature_.hide(type);
        }
    }

    // The type of the place that is written. Each value that is returned has a view of the result of its own: what it hides must
    // outlive what the `impl Trait` says here, and is part of the result.
    TypeId target_type(const Place& place) {
        if (!signature_.hides() || place.local != mir::kReturnLocal || !place.is_local()) return cx_.type_of(place);
        const TypeId view = regions_.renumber(cx_.body.locals[mir::kReturnLocal].type);
        signature_.promise(view, reason(Category::Return), obligations_);
        const Category hidden = returns_ ? Category::OpaqueReturn : Category::Opaque;
        returns_ = true;
        const std::size_t first = regions_.constraints().size();
        sub_type(view, cx_.local_types[mir::kReturnLocal], Category::Return);
        for (Outlives& one : regions_.constraints_from(first)) {
            if (signature_.is_hidden(one.sub)) one.category = hidden;
        }
        return view;
    }

    // A closure's type holds regions of its surroundings: as good as universal inside. Those that a call chooses, and that of its own
    // borrow, are not theirs.
    void surroundings() {
        const mir::Local& self = cx_.body.locals[LocalId(1)];
        const TypeData erased = types_[self.type];
        const TypeId closure = erased.kind == TypeKind::Ref ? erased.element : self.type;
        for (const GenericArg arg : types_[types_[closure].args]) {
            if (arg.kind() != GenericArg::Kind::Region || types_[arg.as_region()].kind != types::RegionKind::EarlyParam) continue;
            RegionInfo info;
            info.role = RegionRole::External;
            info.name = cx_.name(types_[arg.as_region()].name);
            regions_.bind(arg.as_region(), regions_.add_universal(info));
        }
        for (const check::Predicate& bound : cx_.context.predicates_of(cx_.context.body_owner(cx_.body.owner))) {
            const bool names_region = bound.kind == check::Predicate::Kind::TypeOutlives && types_[bound.region].kind != types::RegionKind::Bound;
            if (names_region) cx_.known_type_outlives.emplace_back(regions_.erase(bound.type), regions_.vid(bound.region));
        }
        const TypeId env = regions_.renumber(self.type);
        const TypeData data = types_[env];
        const TypeId type = data.kind == TypeKind::Ref ? data.element : env;
        regions_.collect(type, cx_.captured);
        std::vector<RegionVid> inside;
        regions_.collect(types_[types_[type].args].back().as_type(), inside);
        for (const RegionVid region : cx_.captured) make_universal(region, RegionRole::External, LocalId());
        for (const RegionVid region : inside) regions_.info(region).argument = LocalId(1);
        if (data.kind == TypeKind::Ref) {
            make_universal(regions_.vid(data.region), RegionRole::Env, LocalId(1));
            for (const RegionVid region : cx_.captured) cx_.known_outlives.emplace_back(region, regions_.vid(data.region));
        }
        cx_.local_types.set(LocalId(1), env);
        closure_parameters(type);
    }

    void closure_parameters(TypeId type) {
        RegionTypes::LateRegions bound;
        const std::optional<RegionTypes::CallSignature> signature = regions_.call_signature(type, &bound);
        for (const auto& [key, region] : bound) make_universal(region, RegionRole::Parameter, LocalId());
        for (std::uint32_t i = 0; i < signature->inputs.size(); ++i) {
            const LocalId local(i + 2);
            cx_.local_types.set(local, signature->inputs[i]);
            for (const RegionVid region : regions_.regions_of(signature->inputs[i])) {
                if (!regions_.info(region).argument.valid() && regions_.info(region).role == RegionRole::Parameter) regions_.info(region).argument = local;
            }
            signature_.imply(signature->inputs[i]);
        }
        cx_.local_types.set(mir::kReturnLocal, signature->output);
        signature_.imply(signature->output);
    }

    void make_universal(RegionVid region, RegionRole role, LocalId argument) {
        RegionInfo& info = regions_.info(region);
        info.is_universal = true;
        info.role = role;
        info.argument = argument;
    }

    // ---- statements

    Outlives reason(Category category) const { return {RegionVid(), RegionVid(), category, at_, span_, false}; }
    void sub_type(TypeId sub, TypeId super, Category category) {
        regions_.relate(sub, super, Variance::Covariant, reason(category));
    }
    Category category_of(const Place& destination) const {
        if (destination.local == mir::kReturnLocal) return signature_.hides() && destination.is_local() ? Category::Boring : Category::Return;
        const bool is_temporary = destination.is_local() && !is_user_variable(cx_, destination.local);
        return is_temporary ? Category::Boring : Category::Assignment;
    }

    void statement(const mir::Statement& node) {
        if (const auto* assign = node.get_if<mir::AssignStatement>()) return assignment(*assign);
        if (const auto* ascribe = node.get_if<mir::AscribeTypeStatement>()) {
            const TypeId written = regions_.renumber(ascribe->type);
            regions_.relate(cx_.type_of(ascribe->place), written, Variance::Invariant, reason(Category::Annotation));
        }
    }

    void assignment(const mir::AssignStatement& node) {
        const TypeId target = target_type(node.place);
        // What is made into a struct may hold regions though the struct's type shows none: `&'static` fields.
        if (!regions_.may_hold_regions(target) && mir::kind(node.value) != mir::RvalueKind::Aggregate) return;
        const Category category = category_of(node.place);
        switch (mir::kind(node.value)) {
            case mir::RvalueKind::Use:
                return sub_type(operand_type(std::get<mir::UseRvalue>(node.value.data).operand), target, category);
            case mir::RvalueKind::Repeat:
                return sub_type(operand_type(std::get<mir::RepeatRvalue>(node.value.data).operand), types_[target].element, category);
            case mir::RvalueKind::Ref: return borrow(node, std::get<mir::RefRvalue>(node.value.data), target);
            case mir::RvalueKind::RawPtr: {
                const auto& raw = std::get<mir::RawPtrRvalue>(node.value.data);
                return regions_.relate(cx_.type_of(raw.place), types_[target].element, Variance::Covariant, reason(category));
            }
            case mir::RvalueKind::Cast: return cast(std::get<mir::CastRvalue>(node.value.data), target, category);
            case mir::RvalueKind::Aggregate: return aggregate(std::get<mir::AggregateRvalue>(node.value.data), target, category);
            case mir::RvalueKind::None:
            case mir::RvalueKind::Len:
            case mir::RvalueKind::BinaryOp:
            case mir::RvalueKind::CheckedBinaryOp:
            case mir::RvalueKind::UnaryOp:
            case mir::RvalueKind::Discriminant:
            case mir::RvalueKind::NullaryOp: return;   // no regions in the result
        }
    }

    void cast(const mir::CastRvalue& node, TypeId target, Category category) {
        const TypeId source = operand_type(node.operand);
        const TypeData from = types_[source], to = types_[target];
        if (from.kind == TypeKind::Ref && to.kind == TypeKind::Ref) {
            regions_.outlives({regions_.vid(from.region), regions_.vid(to.region), category, at_, span_, false});
        }
        if (to.kind == TypeKind::FnPtr && from.kind != TypeKind::FnPtr) return reify(source, target, category);
        const bool pointers = from.element.valid() && to.element.valid();
        if (!pointers) return;
        const Variance variance = to.mutability == types::Mutability::Mut ? Variance::Invariant : Variance::Covariant;
        TypeId a = from.element, b = to.element;
        if (types_.kind(a) == TypeKind::Array && types_.kind(b) == TypeKind::Slice) a = types_[a].element, b = types_[b].element;
        regions_.relate(a, b, variance, reason(category));
    }

    // A function item or closure as a function pointer.
    void reify(TypeId source, TypeId target, Category category) {
        const auto from = regions_.call_signature(source), to = regions_.call_signature(target);
        if (!from || !to) return;
        for (std::size_t i = 0; i < std::min(from->inputs.size(), to->inputs.size()); ++i) sub_type(to->inputs[i], from->inputs[i], category);
        sub_type(from->output, to->output, category);
    }

    void aggregate(const mir::AggregateRvalue& node, TypeId target, Category category) {
        const TypeData data = types_[target];
        for (std::uint32_t i = 0; i < node.operands.size(); ++i) {
            const TypeId value = operand_type(node.operands[i]);
            if (!regions_.may_hold_regions(value)) continue;
            const TypeId part = data.kind == TypeKind::Array ? data.element : regions_.field(target, node.kind.variant, i);
            const bool is_closure = node.kind.kind == mir::AggregateKind::Kind::Closure;
            const bool is_field = node.kind.kind == mir::AggregateKind::Kind::Adt && types_.kind(value) == TypeKind::Closure;
            sub_type(value, part, is_field && category == Category::Boring ? Category::Usage : category);
            if (!is_closure || node.operands[i].is_constant()) continue;
            captured_into_[node.operands[i].place.local.raw] = cx_.context.closure_info(data.def).captures[i].use_span;
        }
        if (node.kind.kind == mir::AggregateKind::Kind::Closure) closure_requirements(data.def, target);
        if (node.kind.kind == mir::AggregateKind::Kind::Adt) obligations_.item(data.def, data.args, {}, reason(Category::Predicate));
    }

    // What the closure's body needs of its captures holds where it is made.
    void closure_requirements(DefId closure, TypeId type) {
        std::vector<RegionVid> captured;
        regions_.collect(type, captured);
        const auto region = [&](std::uint32_t position) { return position == kStaticPosition ? kStatic : captured.at(position); };
        for (const ClosureRequirement& one : cx_.closures.requirements(closure)) {
            if (one.type.valid()) {
                cx_.type_tests.push_back({one.type, region(one.shorter), {RegionVid(), RegionVid(), one.category, at_, one.span, true}});
                continue;
            }
            regions_.outlives({region(one.longer), region(one.shorter), one.category, at_, one.span, true});
        }
    }

    TypeId operand_type(const mir::Operand& operand) {
        if (!operand.is_constant()) return cx_.type_of(operand.place);
        const mir::Constant& constant = cx_.body.constants[operand.constant];
        switch (constant.kind) {
            case mir::Constant::Kind::Str:
            case mir::Constant::Kind::Bytes:
            case mir::Constant::Kind::Static:
            case mir::Constant::Kind::Promoted: {
                const TypeData data = types_[constant.type];
                if (data.kind != TypeKind::Ref) return regions_.renumber(constant.type);
                const TypeId inner = constant.kind == mir::Constant::Kind::Static ? cx_.context.type_of(constant.def) : data.element;
                return regions_.renumber(types_.ref(types_.static_region, inner, data.mutability));
            }
            case mir::Constant::Kind::Item:
                if (cx_.context.program().defs[constant.def].kind == hir::DefKind::AnonConst) break;
                return regions_.instantiate(cx_.context.type_of(constant.def), regions_.renumber(constant.args), nullptr);
            case mir::Constant::Kind::Scalar:
            case mir::Constant::Kind::ZeroSized:
            case mir::Constant::Kind::Param:
            case mir::Constant::Kind::Const: break;
        }
        return regions_.renumber(constant.type);
    }

    // ---- borrows

    // Is the borrowed place behind something that nobody can change or end: a shared reference, a raw pointer.
    bool is_untracked(const Place& place) const {
        for (std::size_t i = 0; i < place.projections.size(); ++i) {
            if (place.projections[i].kind != mir::ProjectionKind::Deref) continue;
            const TypeData& base = types_[cx_.erased_type(place, i)];
            if (base.kind == TypeKind::RawPtr || base.mutability == types::Mutability::Not) return true;
        }
        return false;
    }

    void borrow(const mir::AssignStatement& node, const mir::RefRvalue& ref, TypeId target) {
        const TypeData data = types_[target];
        const RegionVid region = regions_.fresh();
        regions_.outlives({region, regions_.vid(data.region), category_of(node.place), at_, span_, false});
        const Variance variance = mir::is_mutable(ref.borrow) ? Variance::Invariant : Variance::Covariant;
        regions_.relate(cx_.type_of(ref.place), data.element, variance, reason(category_of(node.place)));
        reborrow(region, ref.place);
        if (cx_.closures.keeps_texts()) cx_.borrow_regions.emplace(cx_.points.of(at_).raw, region);
        if (is_untracked(ref.place)) return;
        Loan loan;
        loan.region = region;
        loan.kind = ref.borrow;
        loan.place = ref.place;
        loan.at = at_;
        loan.span = span_;
        if (node.place.is_local()) loan.assigned = node.place.local;
        cx_.loans.push(std::move(loan));
    }

    // What is borrowed through a reference lives no longer than that reference; through a mutable one, nor than those before.
    void reborrow(RegionVid region, const Place& place) {
        for (std::size_t i = place.projections.size(); i-- > 0;) {
            if (place.projections[i].kind != mir::ProjectionKind::Deref) continue;
            const TypeData base = types_[cx_.type_of(place.prefix(i))];
            if (base.kind != TypeKind::Ref) return;
            regions_.outlives({regions_.vid(base.region), region, Category::Boring, at_, span_, false});
            if (base.mutability == types::Mutability::Not) return;
        }
    }

    // ---- terminators

    void terminator(const mir::Terminator& node) {
        if (const auto* call = node.get_if<mir::CallTerminator>()) return this->call(*call);
    }

    void call(const mir::CallTerminator& node) {
        const TypeId callee_type = operand_type(node.callee), result = target_type(node.destination);
        SmallVec<TypeId, 8> args;
        bool any = regions_.may_hold_regions(callee_type) || regions_.may_hold_regions(result);
        for (const mir::Operand& operand : node.args) {
            args.push_back(operand_type(operand));
            any = any || regions_.may_hold_regions(args.back());
        }
        const TypeData callee = types_[callee_type];
        if (!any) {   // what generic parameters must outlive is left, and bounds on functions
            if (callee.kind == TypeKind::FnDef && obligations_.mention_regions(callee.def)) {
                obligations_.item(callee.def, callee.args, {}, reason(Category::Predicate));
            }
            return;
        }
        if (callee.kind == TypeKind::FnPtr) {
            const std::optional<RegionTypes::CallSignature> signature = regions_.call_signature(callee_type);
            return relate_call(node, args.view(), signature->inputs, signature->output, result);
        }
        if (callee.kind != TypeKind::FnDef) return;
        const check::FnSigInfo& sig = cx_.context.fn_sig(callee.def);
        RegionTypes::LateRegions late;
        // A type without regions is the same on both sides.
        SmallVec<TypeId, 8> inputs;
        for (std::uint32_t i = 0; i < sig.inputs.size(); ++i) {
            const bool is_plain = i < args.size() && !regions_.may_hold_regions(args[i]);
            inputs.push_back(is_plain ? args[i] : regions_.instantiate(sig.inputs[i], callee.args, &late));
        }
        const TypeId output = regions_.may_hold_regions(result) ? regions_.instantiate(sig.output, callee.args, &late) : result;
        obligations_.item(callee.def, callee.args, late, reason(Category::Predicate));
        relate_call(node, args.view(), inputs.view(), output, result);
    }

    void relate_call(const mir::CallTerminator& node, std::span<const TypeId> args, std::span<const TypeId> inputs, TypeId output, TypeId result) {
        for (std::size_t i = 0; i < std::min(args.size(), inputs.size()); ++i) sub_type(args[i], inputs[i], Category::CallArgument);
        sub_type(output, result, category_of(node.destination));
    }

    // ---- two-phase borrows

    // A two-phase borrow comes to life where its temporary is used first; until then it only reserves the place.
    void activate_loans() {
        for (std::uint32_t i = 0; i < cx_.loans.size(); ++i) {
            Loan& loan = cx_.loans[LoanId(i)];
            if (loan.kind != mir::BorrowKind::TwoPhaseMut || !loan.assigned.valid()) continue;
            follow(loan, LoanId(i));
        }
        std::sort(cx_.activations.begin(), cx_.activations.end());
    }

    bool uses(const mir::Operand& operand, LocalId local) const { return !operand.is_constant() && operand.place.local == local; }
    bool uses_at(Location at, LocalId local) const {
        const mir::BasicBlock& block = cx_.body.blocks[at.block];
        bool used = false;
        if (at.statement == block.statements.size()) {
            mir::for_each_operand(block.terminator, [&](const mir::Operand& one) { used = used || uses(one, local); });
            return used;
        }
        const mir::Statement& node = block.statements[at.statement];
        if (const auto* assign = node.get_if<mir::AssignStatement>()) {
            mir::for_each_operand(assign->value, [&](const mir::Operand& one) { used = used || uses(one, local); });
            const Place* read = mir::read_place(assign->value);
            return used || (read != nullptr && read->local == local) || (!assign->place.is_local() && assign->place.local == local);
        }
        return false;
    }

    void follow(Loan& loan, LoanId id) {
        std::vector<Location> open;
        std::set<Location> seen;
        const auto step = [&](Location at) {
            const mir::BasicBlock& block = cx_.body.blocks[at.block];
            if (at.statement < block.statements.size()) return open.push_back({at.block, at.statement + 1});
            mir::for_each_successor(block.terminator, [&](BlockId to) { open.push_back({to, 0}); });
        };
        step(loan.at);
        while (!open.empty()) {
            const Location at = open.back();
            open.pop_back();
            if (!seen.insert(at).second) continue;
            if (uses_at(at, loan.assigned)) {
                loan.activation = at;
                loan.is_two_phase = true;
                cx_.activations.emplace_back(cx_.points.of(at), id);
                continue;
            }
            loan.reserved.insert(cx_.points.of(at).raw);
            step(at);
        }
    }

    BodyCx& cx_;
    RegionTypes& regions_;
    types::TypeStore& types_;
    Signature signature_;
    Obligations obligations_;
    bool returns_ = false;       // some value was returned before
    bool any_regions_ = false;   // or parameters, in the type of some local: if not, only what is called may ask something of regions
    Location at_;
    Span span_;
    std::map<std::uint32_t, Span> captured_into_;   // locals that closures were made of, and the uses inside
};

}  // namespace

void collect_constraints(BodyCx& cx) { TypeCheck(cx).run(); }

}  // namespace ockc::borrowck
