#include "check/context.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <algorithm>

#include "check/solve.hpp"
#include "types/fold.hpp"

namespace ockc::check {

using hir::DefKind;

// ---- names -----------------------------------------------------------------------------------------------------------------------------

std::string Names::fn_item(DefId def, ArgsId args) const {
    const hir::Program& program = cx_.program();
    const hir::Def& d = program.defs[def];
    std::string name(program.name(def));
    if (d.kind == DefKind::Ctor) name = program.name(d.parent);
    if (d.kind != DefKind::Ctor && !d.lowered) return fmt::format("fn item {{{}}}", name);
    const FnSigInfo sig = cx_.fn_sig(ItemRef{def, args});
    std::string out = sig.is_unsafe ? "unsafe fn(" : "fn(";
    for (std::size_t i = 0; i < sig.inputs.size(); ++i) {
        if (i != 0) out += ", ";
        out += cx_.text(sig.inputs[i]);
    }
    out += ")";
    if (sig.output != cx_.types().unit) out += " -> " + cx_.text(sig.output);
    std::string prefix;
    if (d.kind == DefKind::AssocFn && program.defs[d.parent].kind == DefKind::Trait) {
        prefix = fmt::format("<{} as {}>::", types::arg_text(cx_.types(), *this, cx_.types()[args][0]), program.name(d.parent));
    } else if (d.kind == DefKind::AssocFn) {
        prefix = cx_.text(cx_.types().subst(cx_.type_of(d.parent), args)) + "::";
    } else if (d.kind == DefKind::Ctor && program.defs[d.parent].kind == DefKind::Variant) {
        prefix = fmt::format("{}::", cx_.text(sig.output));
    }
    std::string own;
    const std::uint32_t skip = cx_.generics_of(def).parent_count;
    std::vector<GenericArg> shown;
    for (GenericArg arg : cx_.types()[args].subspan(std::min<std::size_t>(skip, cx_.types()[args].size()))) {
        if (arg.kind() != GenericArg::Kind::Region) shown.push_back(arg);
    }
    if (!shown.empty()) own = "::" + types::args_text(cx_.types(), *this, cx_.types().args(shown));
    return fmt::format("{} {{{}{}{}}}", out, prefix, name, own);
}

std::string Names::closure(DefId def) const {
    return fmt::format("{{closure@{}}}", cx_.place_text(cx_.program().defs[def].span));
}
std::string Names::opaque(DefId def, ArgsId) const { return std::string(cx_.program().name(def)); }   // as written
std::string Names::constant(DefId def, ArgsId) const {
    const std::string_view name = cx_.program().name(def);
    return std::string(cx_.program().defs[def].kind == DefKind::AnonConst ? std::string_view("_") : name);
}

std::string Context::text(types::TypeId type) const { return types::type_text(types_, state_->names, type); }

std::string Context::text(types::GenericArg arg) const { return types::arg_text(types_, state_->names, arg); }

std::string Context::text(ItemRef item) const {
    return program_.path_text(item.def) + types::args_text(types_, state_->names, item.args);
}

std::string Context::place_text(Span span) const {
    if (options_.sources == nullptr || !span.valid()) return "..";
    const LineColumn begin = options_.sources->line_column(span.file, span.begin);
    const LineColumn end = options_.sources->line_column(span.file, span.end);
    return fmt::format("{}:{}:{}: {}:{}", options_.sources->file(span.file).name, begin.line, begin.column, end.line, end.column);
}

// ---- construction ----------------------------------------------------------------------------------------------------------------------

Context::State::State(Context& context) : cx(context), names(context), layouts(context.types(), context) {
    if (cx.options().demand != nullptr) {   // what the language implies without being written
#define OCKC_LANG(member, key)
#define OCKC_LANG_IMPLIED(member, key) cx.options().demand->lang_item(key);
#include "check/lang_items.def"
    }
    note_lang_items();
}

// Again when more of the library has been read.
void Context::State::note_lang_items() {
    Context& context = cx;
    lang_items_noted = context.program().lang_items.size();
#define OCKC_LANG(member, key) lang.member = context.program().lang_item(key);
#include "check/lang_items.def"
    const auto add = [&](std::string_view key, ScalarTrait op) {
        if (const DefId trait = context.program().lang_item(key); trait.valid()) scalar_traits.emplace(trait, op);
    };
    for (hir::BinaryOp op : {hir::BinaryOp::Add, hir::BinaryOp::Sub, hir::BinaryOp::Mul, hir::BinaryOp::Div, hir::BinaryOp::Rem, hir::BinaryOp::BitAnd,
                             hir::BinaryOp::BitOr, hir::BinaryOp::BitXor, hir::BinaryOp::Shl, hir::BinaryOp::Shr}) {
        add(ast::info(op).method, {false, false, op, {}});
        add(ast::info(op).assign_method, {false, true, op, {}});
    }
    add("neg", {true, false, {}, hir::UnaryOp::Neg});
    add("not", {true, false, {}, hir::UnaryOp::Not});
}

Context::Context(const hir::Program& program, types::TypeStore& types, DiagSink& sink, Options options)
    : program_(program), types_(types), sink_(sink), options_(options), state_(std::make_unique<State>(*this)) {}
Context::~Context() = default;

Context::ScalarOperator Context::scalar_operator(DefId method) const { return state_->scalar_traits.at(program_.defs[method].parent); }

// ---- impls and traits --------------------------------------------------------------------------------------------------------------------

namespace {

std::uint64_t inherent_key(TypeKey self, Symbol name) { return self * 0x9E37'79B9'7F4A'7C15ull ^ name.raw; }

}  // namespace

const std::vector<AssocItem>& Context::inherent_items(types::TypeId self, Symbol name) {
    static const std::vector<AssocItem> none;
    state_->index_impls();
    state_->need_inherent(self, name);
    const auto found = state_->inherent_items.find(inherent_key(type_key(types_, self), name));
    return found == state_->inherent_items.end() ? none : found->second;
}

const std::vector<AssocItem>& Context::trait_items(Symbol name) {
    static const std::vector<AssocItem> none;
    state_->index_impls();
    state_->need_traits(name);
    const auto found = state_->trait_items.find(name);
    return found == state_->trait_items.end() ? none : found->second;
}

void Context::State::index_impls() {
    if (indexed) return;
    indexed = true;
    const hir::Program& program = cx.program();
    if (cx.options().demand != nullptr) cx.options().demand->take_new();   // they are in the lists made here
    const std::vector<DefId> impls = program.impls;   // what comes while they are indexed, take_new takes in
    std::vector<DefId> traits;
    for (std::uint32_t i = 0; i < program.defs.size(); ++i) {
        const DefId trait(i);
        if (program.defs[trait].kind == DefKind::Trait && program.defs[trait].lowered) traits.push_back(trait);
    }
    for (DefId impl : impls) index_impl(impl);
    for (DefId trait : traits) index_trait(trait);
}

void Context::State::index_impl(DefId impl) {
    const hir::Program& program = cx.program();
    const hir::ImplDef& data = program.as<hir::ImplDef>(impl);
    if (data.has_trait) {
        if (data.trait_path.res.kind == hir::Res::Kind::Def) impls_of_trait[data.trait_path.res.def].push_back(impl);
        return;
    }
    const TypeKey self = type_key(cx.types_, cx.type_of(impl));
    if (self == 0) return;
    for (DefId item : data.items) inherent_items[inherent_key(self, program.defs[item].name.name)].push_back({item, impl});
}

void Context::State::index_trait(DefId trait) {
    const hir::Program& program = cx.program();
    for (DefId item : program.as<hir::TraitDef>(trait).items) trait_items[program.defs[item].name.name].push_back({item, trait});
}

Context::State::TraitImpls& Context::State::trait_impls(DefId trait) {
    index_impls();
    if (const auto known = lowered_impls.find(trait); known != lowered_impls.end()) return *known->second;
    auto made = std::make_unique<TraitImpls>();
    for (std::size_t i = 0; i < impls_of_trait[trait].size(); ++i) {   // may grow meanwhile
        const DefId impl = impls_of_trait[trait][i];
        const TraitRef trait_ref = cx.impl_trait_ref(impl);
        if (!trait_ref.valid()) continue;
        const ArgsId args = cx.types_.erase_regions(trait_ref.args);
        if (cx.types_.has(args, types::kHasError)) continue;
        made->add({impl, type_key(cx.types_, cx.types_[args][0].as_type()), {trait, args}});
    }
    return *(lowered_impls[trait] = std::move(made));
}

const std::vector<ImplEntry>& Context::State::impls_for(DefId trait, TypeId self) {
    need_impls(trait, self);
    TraitImpls& impls = trait_impls(trait);
    const types::TypeKind kind = cx.types_.kind(self);
    if (kind == types::TypeKind::Infer || kind == types::TypeKind::Error) return impls.all;
    const TypeKey key = type_key(cx.types_, self);
    const auto [list, fresh] = impls.by_key.try_emplace(key);
    if (fresh) list->second = impls.find(key);
    return list->second;
}

void Context::State::TraitImpls::add(const ImplEntry& entry) {
    places[entry.self_key].push_back(static_cast<std::uint32_t>(all.size()));
    all.push_back(entry);
}

// Without a look at the impls for other types: a program may have one for each of thousands.
std::vector<ImplEntry> Context::State::TraitImpls::find(TypeKey key) const {
    const auto places_of = [&](TypeKey one) {
        const auto found = places.find(one);
        return found == places.end() ? std::span<const std::uint32_t>() : std::span<const std::uint32_t>(found->second);
    };
    const auto blanket = places_of(0), own = key == 0 ? std::span<const std::uint32_t>() : places_of(key);
    std::vector<std::uint32_t> both(blanket.size() + own.size());
    std::merge(blanket.begin(), blanket.end(), own.begin(), own.end(), both.begin());
    std::vector<ImplEntry> entries;
    entries.reserve(both.size());
    for (const std::uint32_t place : both) entries.push_back(all[place]);
    return entries;
}

std::vector<DefId> Context::impls_that_may_match(DefId trait, types::TypeId self) {
    std::vector<DefId> impls;
    for (const ImplEntry& entry : state_->impls_for(trait, self)) impls.push_back(entry.impl);
    return impls;
}

const std::unordered_set<DefId>& Context::State::traits_in(hir::List<DefId> scope) {
    const auto [place, fresh] = scopes.try_emplace(scope.data());
    if (fresh) place->second.insert(scope.begin(), scope.end());
    return place->second;
}

DefId Context::State::item_named(DefId container, Symbol name) {
    const auto known = items_by_name.find(container);
    if (known != items_by_name.end()) {
        const auto item = known->second.find(name);
        if (item == known->second.end()) return {};
        need(item->second);
        return item->second;
    }
    OCKC_CHECK_MSG(container.valid(), "an item of a trait that was not asked for (State::lang_item)");
    need(container);
    const hir::Def& def = cx.program().defs[container];
    if (!def.lowered) return {};   // it may be, later
    auto& map = items_by_name[container];
    const auto items = def.kind == DefKind::Trait ? std::get<hir::TraitDef>(def.data).items : std::get<hir::ImplDef>(def.data).items;
    for (DefId item : items) map.emplace(cx.program().defs[item].name.name, item);
    const auto item = map.find(name);
    if (item == map.end()) return {};
    const DefId found = item->second;
    need(found);
    return found;
}

// ---- environments --------------------------------------------------------------------------------------------------------------------------

namespace {

// Adds what follows from the predicates: supertraits, and what they say about associated types.
void elaborate(Context& cx, std::vector<Predicate>& predicates) {
    TypeStore& types = cx.types();
    const auto known = [&](const Predicate& p) {
        for (const Predicate& q : predicates) {
            if (p.kind == q.kind && p.trait_ref == q.trait_ref && p.assoc == q.assoc && p.term == q.term) return true;
        }
        return false;
    };
    constexpr std::size_t kLimit = 4096;
    for (std::size_t i = 0; i < predicates.size() && predicates.size() < kLimit; ++i) {
        if (predicates[i].kind != Predicate::Kind::Trait) continue;
        const TraitRef trait_ref = predicates[i].trait_ref;
        const Span span = predicates[i].span;
        for (const Predicate& super : cx.predicates_of(trait_ref.trait)) {
            // Only what is said about Self itself: supertraits and their constraints.
            const bool is_trait = super.kind == Predicate::Kind::Trait;
            if (!is_trait && super.kind != Predicate::Kind::Projection) continue;
            const TypeData self = types[types[super.trait_ref.args][0].as_type()];
            if (self.kind != TypeKind::Param || self.index != 0) continue;
            Predicate implied = super;
            implied.span = span;
            implied.trait_ref.args = types.erase_regions(types.subst(super.trait_ref.args, trait_ref.args));
            if (!is_trait && super.term.kind() == GenericArg::Kind::Type) {
                implied.term = types.erase_regions(types.subst(super.term.as_type(), trait_ref.args));
            }
            if (!known(implied)) predicates.push_back(implied);
        }
    }
}

void erase_predicate(TypeStore& types, Predicate& predicate) {
    if (predicate.trait_ref.args.valid()) predicate.trait_ref.args = types.erase_regions(predicate.trait_ref.args);
    if (predicate.term.kind() == GenericArg::Kind::Type) predicate.term = types.erase_regions(predicate.term.as_type());
}

}  // namespace

const ParamEnv& Context::param_env(DefId def) {
    const DefId owner = generics_owner(program_, body_owner(def));
    if (const ParamEnv* known = state_->envs.find(owner)) return *known;
    ParamEnv raw;
    raw.owner = owner;
    for (const Predicate& predicate : predicates_of(owner)) {
        if (predicate.kind != Predicate::Kind::Trait && predicate.kind != Predicate::Kind::Projection) continue;
        raw.predicates.push_back(predicate);
        erase_predicate(types_, raw.predicates.back());
    }
    elaborate(*this, raw.predicates);
    ParamEnv& env = state_->envs.put(owner, raw);
    if (env.predicates.empty()) return env;
    // Bounds may speak of associated types that other bounds determine.
    ++state_->raw_envs;
    InferCtxt infer(types_);
    Selector selector(*this, infer, raw);
    for (Predicate& predicate : env.predicates) {
        std::vector<Obligation> nested;
        Predicate normal = predicate;
        normal.trait_ref.args = selector.normalize(predicate.trait_ref.args, Cause{}, 0, nested);
        if (normal.term.kind() == GenericArg::Kind::Type) normal.term = selector.normalize(predicate.term.as_type(), Cause{}, 0, nested);
        if (!types_.has(normal.trait_ref.args, types::kHasInfer | types::kHasError)) predicate = normal;
    }
    --state_->raw_envs;
    return env;
}

// ---- questions about types ---------------------------------------------------------------------------------------------------------------------

types::TypeId Context::normalize(types::TypeId type, const ParamEnv& env) {
    if (!types_.has(type, types::kHasProjection)) return type;
    const std::uint64_t key = static_cast<std::uint64_t>(env.owner.raw) << 32 | type.raw;
    if (const auto known = state_->normalized.find(key); known != state_->normalized.end()) return known->second;
    InferCtxt infer(types_);
    Selector selector(*this, infer, env);
    Fulfill fulfill(selector);
    std::vector<Obligation> nested;
    TypeId result = selector.normalize(type, Cause{}, 0, nested);
    fulfill.add(std::move(nested));
    std::vector<FulfillError> errors;
    fulfill.run(errors);
    result = infer.resolve(result);
    state_->normalized.emplace(key, result);
    return result;
}

types::ArgsId Context::normalize(types::ArgsId args, const ParamEnv& env) {
    if (!types_.has(args, types::kHasProjection)) return args;
    std::vector<GenericArg> out;
    for (GenericArg arg : types_[args]) {
        switch (arg.kind()) {
            case GenericArg::Kind::Type: out.push_back(normalize(arg.as_type(), env)); break;
            case GenericArg::Kind::Const: out.push_back(normalize(arg.as_const(), env)); break;
            case GenericArg::Kind::Region: out.push_back(arg); break;
        }
    }
    return types_.args(out);
}

types::ConstId Context::normalize(types::ConstId constant, const ParamEnv& env) {
    const types::ConstData data = types_[constant];
    if (data.kind != types::ConstKind::Unevaluated) return constant;
    const ArgsId args = normalize(data.args, env);
    if (types_.has(args, types::kHasParam | types::kHasInfer)) return types_.const_unevaluated(data.def, args, data.type);
    return const_to_type_level({data.def, args}, data.type);
}

bool Context::implements(types::TypeId type, DefId trait, const ParamEnv& env) {
    if (!trait.valid()) return false;
    InferCtxt infer(types_);
    Selector selector(*this, infer, env);
    return selector.holds(types_.erase_regions(type), trait);
}

bool Context::is_copy(types::TypeId type, const ParamEnv& env) {
    switch (types_.kind(type)) {
        case TypeKind::Never:
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::RawPtr:
        case TypeKind::FnDef:
        case TypeKind::FnPtr:
        case TypeKind::Error: return true;
        case TypeKind::Ref: return types_[type].mutability == types::Mutability::Not;
        case TypeKind::Str:
        case TypeKind::Slice: return false;
        default: return implements(type, state_->lang.copy, env);
    }
}

bool Context::is_sized(types::TypeId type, const ParamEnv& env) {
    switch (types_.kind(type)) {
        case TypeKind::Str:
        case TypeKind::Slice: return false;
        case TypeKind::Adt:
        case TypeKind::Tuple:
        case TypeKind::Param:
        case TypeKind::Projection:
        case TypeKind::Opaque: return !state_->lang.sized.valid() || implements(type, state_->lang.sized, env);
        default: return true;
    }
}

DefId Context::clone_method() { return state_->item_named(state_->lang_item("clone"), program_.interner.intern("clone")); }

ItemRef Context::drop_impl(types::TypeId type) {
    const TypeData data = types_[type];
    if (data.kind != TypeKind::Adt || !state_->lang.drop.valid()) return {};
    for (const ImplEntry& entry : state_->impls_for(state_->lang.drop, type)) {
        if (entry.self_key != type_key(types_, type)) continue;
        // A Drop impl covers every instance of its type, so its parameters are the type's, perhaps in another order.
        InferCtxt infer(types_);
        Selector selector(*this, infer, empty_env_);
        const ArgsId args = selector.fresh_args(entry.impl, {});
        if (!infer.unify(types_.subst(types_[entry.trait_ref.args][0].as_type(), args), types_.erase_regions(type))) continue;
        const DefId item = state_->item_named(entry.impl, program_.interner.intern("drop"));
        return {item, infer.resolve(args)};
    }
    return {};
}

bool Context::needs_drop(types::TypeId type, const ParamEnv& env) {
    switch (types_.kind(type)) {   // what most places hold
        case TypeKind::Bool:
        case TypeKind::Char:
        case TypeKind::Int:
        case TypeKind::Float:
        case TypeKind::Ref:
        case TypeKind::RawPtr:
        case TypeKind::FnDef:
        case TypeKind::FnPtr: return false;
        default: break;
    }
    if (!state_->lang.drop.valid()) return false;
    if (types_.has(type, types::kHasInfer | types::kHasClosure)) return find_drop(type, env);
    const bool generic = types_.has(type, types::kHasParam | types::kHasProjection) && env.owner.valid();
    const std::uint64_t key = static_cast<std::uint64_t>(generic ? env.owner.raw + 1 : 0) << 32 | type.raw;
    if (const auto known = state_->drops.find(key); known != state_->drops.end()) return known->second;
    return state_->drops[key] = find_drop(type, env);
}

bool Context::find_drop(types::TypeId type, const ParamEnv& env) {
    bool needed = false;
    std::vector<TypeId> open{type};
    std::unordered_set<TypeId> seen;
    while (!open.empty() && !needed) {
        const TypeId at = open.back();
        open.pop_back();
        if (!seen.insert(at).second) continue;
        const TypeData data = types_[at];
        switch (data.kind) {
            case TypeKind::Array:
            case TypeKind::Slice: open.push_back(data.element); break;
            case TypeKind::Tuple: {
                const auto elements = types_[data.elements];
                open.insert(open.end(), elements.begin(), elements.end());
                break;
            }
            case TypeKind::Closure:
                for (const Capture& capture : closure_info(data.def).captures) open.push_back(types_.subst(capture.type, data.args));
                break;
            case TypeKind::Param:
            case TypeKind::Projection:
            case TypeKind::Opaque: needed = !is_copy(at, env); break;
            case TypeKind::Adt: {
                const AdtInfo& info = adt(data.def);
                if (info.is_box_like_no_drop) break;
                needed = drop_impl(at).valid();
                if (info.kind == AdtInfo::Kind::Union) break;
                for (const VariantInfo& variant : info.variants) {
                    for (const FieldInfo& field : variant.fields) open.push_back(field_type(field, data.args, env));
                }
                break;
            }
            default: break;
        }
    }
    return needed;
}

const types::Layout& Context::layout_of(types::TypeId type) { return state_->layouts.layout_of(normalize(types_.erase_regions(type), empty_env_)); }

types::AdtShape Context::adt_shape(types::TypeId type) {
    const TypeData data = types_[type];
    types::AdtShape shape;
    if (data.kind == TypeKind::Closure) {
        types::VariantShape& fields = shape.variants.emplace_back();
        for (const Capture& capture : closure_info(data.def).captures) {
            fields.fields.push_back(normalize(types_.erase_regions(types_.subst(capture.type, data.args)), empty_env_));
        }
        return shape;
    }
    const AdtInfo& info = adt(data.def);
    shape.kind = info.kind == AdtInfo::Kind::Enum    ? types::AdtShape::Kind::Enum
                 : info.kind == AdtInfo::Kind::Union ? types::AdtShape::Kind::Union
                                                     : types::AdtShape::Kind::Struct;
    shape.repr = info.repr;
    shape.discriminant_type = info.discriminant_type;
    for (const VariantInfo& variant : info.variants) {   // asked for while its own fields are looked at: `[u8; size_of::<Self>()]`
        const bool open = std::any_of(variant.fields.begin(), variant.fields.end(), [](const FieldInfo& field) { return !field.type.valid(); });
        if (!open) continue;
        sink_.error(Code::E0391, program_.defs[data.def].name.span, fmt::format("cycle detected when computing layout of `{}`", program_.path_text(data.def)));
        shape.variants.resize(info.variants.size());
        return shape;
    }
    if (info.kind == AdtInfo::Kind::Struct && !info.variants[0].fields.empty()) {
        const TypeId tail = types_.erase_regions(info.variants[0].fields.back().type);
        const TypeKind kind = types_.kind(tail);   // only generic tails can be unsized elsewhere
        if (kind == TypeKind::Param || kind == TypeKind::Adt || kind == TypeKind::Projection) shape.fixed_tail = !is_sized(tail, param_env(data.def));
    }
    shape.is_tile = data.def == state_->lang.tile;
    shape.hides_niches = data.def == state_->lang.unsafe_cell || data.def == state_->lang.maybe_uninit;
    if (data.def == state_->lang.nonzero || data.def == state_->lang.non_null) {   // 1..=MAX
        shape.has_valid_range = true;
        shape.valid_low = {1, 0};
        shape.valid_high = {~std::uint64_t{0}, ~std::uint64_t{0}};
    }
    for (const VariantInfo& variant : info.variants) {
        types::VariantShape& out = shape.variants.emplace_back();
        out.discriminant = variant.discriminant;
        for (const FieldInfo& field : variant.fields) out.fields.push_back(field_type(field, data.args, empty_env_));
    }
    return shape;
}

}  // namespace ockc::check
