// The lifetimes of an impl's methods against the trait's: a caller that knows the trait only must be able to call the impl's.
// `for<..> fn(impl inputs) -> impl output` must be a subtype of the trait's, whose lifetimes are any (universal) while the
// impl's own late-bound ones may be chosen for the call.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "borrowck/borrowck.hpp"
#include "borrowck/region_types.hpp"

namespace ockc::borrowck {

using types::GenericArg;
using types::RegionKind;
using types::TypeKind;

namespace {

class SignatureCheck {
  public:
    SignatureCheck(check::Context& context, TypeFacts& facts, DefId impl, DefId item, DefId promised)
        : context_(context), types_(context.types()), impl_(impl), item_(item), promised_(promised), regions_(context, context.param_env(item), facts) {}

    bool run() {
        bind_parameters();
        const check::FnSigInfo mine = context_.fn_sig(item_), theirs = context_.fn_sig(promised_);
        if (mine.inputs.size() != theirs.inputs.size()) return true;   // E0050
        const ArgsId identity = context_.identity_args(item_), args = trait_args();
        std::vector<std::pair<TypeId, TypeId>> pairs;   // sub, super
        for (std::size_t i = 0; i < mine.inputs.size(); ++i) pairs.emplace_back(view(theirs.inputs[i], args), view(mine.inputs[i], identity));
        for (const auto& [wanted, have] : pairs) imply(wanted);
        pairs.emplace_back(view(mine.output, identity), view(theirs.output, args));
        for (const auto& [sub, super] : pairs) {
            if (regions_.erase(sub) != regions_.erase(super)) return true;   // E0053, or a type that only normalisation tells
        }
        classify_late();
        for (const auto& [sub, super] : pairs) regions_.relate(sub, super, Variance::Covariant, Outlives{{}, {}, Category::Boring, {}, {}});
        return holds();
    }

  private:
    TypeId view(TypeId type, ArgsId args) { return regions_.instantiate(type, args, &late_); }

    RegionVid bind(RegionId region) {
        const RegionVid vid = regions_.fresh();
        regions_.bind(region, vid);
        bound_.emplace(region, vid);
        return vid;
    }

    // The impl's lifetimes and the trait method's are given; the impl method's own ones are free.
    void bind_parameters() {
        universals_.insert(kStatic);
        bound_.emplace(types_.static_region, kStatic);
        for (GenericArg arg : types_[context_.identity_args(impl_)]) {
            if (arg.kind() == GenericArg::Kind::Region) named_.insert(bind(arg.as_region()));
        }
        universals_.insert(named_.begin(), named_.end());
        for (RegionId region : own_lifetimes(promised_)) universals_.insert(bind(region));
        for (RegionId region : own_lifetimes(item_)) bind(region);
    }

    std::vector<RegionId> own_lifetimes(DefId fn) {
        std::vector<RegionId> out;
        const auto all = types_[context_.identity_args(fn)];
        for (GenericArg arg : all.subspan(context_.generics_of(fn).parent_count)) {
            if (arg.kind() == GenericArg::Kind::Region) out.push_back(arg.as_region());
        }
        return out;
    }

    // The trait method's arguments as the impl has them; its own lifetimes stay what they are.
    ArgsId trait_args() {
        const auto of_trait = types_[context_.impl_trait_ref(impl_).args];
        std::vector<GenericArg> args(of_trait.begin(), of_trait.end());
        std::vector<GenericArg> mine;
        for (GenericArg arg : types_[context_.identity_args(item_)].subspan(context_.generics_of(item_).parent_count)) {
            if (arg.kind() != GenericArg::Kind::Region) mine.push_back(arg);
        }
        const std::vector<RegionId> lifetimes = own_lifetimes(promised_);
        std::size_t next = 0, next_lifetime = 0;
        for (const auto& param : context_.generics_of(promised_).own) {
            if (param.kind == hir::GenericParam::Kind::Lifetime) {
                args.push_back(lifetimes[next_lifetime++]);
            } else if (next < mine.size()) {
                args.push_back(mine[next++]);
            }
        }
        return types_.args(args);
    }

    void classify_late() {
        for (const auto& [key, vid] : late_) {
            if (key.first != item_.raw) universals_.insert(vid);
        }
    }

    // What a reference refers to outlives it.
    void imply(TypeId type) {
        const types::TypeData data = types_[type];
        if (data.kind != TypeKind::Ref) return;
        for (const RegionVid inner : regions_.regions_of(data.element)) known_.emplace(inner, regions_.vid(data.region));
        imply(data.element);
    }

    void declared() {
        for (const DefId owner : {item_, promised_}) {
            for (const check::Predicate& predicate : context_.predicates_of(owner)) {
                if (predicate.kind != check::Predicate::Kind::RegionOutlives) continue;
                const auto longer = bound_.find(predicate.longer), shorter = bound_.find(predicate.region);
                if (longer != bound_.end() && shorter != bound_.end()) known_.emplace(longer->second, shorter->second);
            }
        }
    }

    // Whatever one universal region must outlive, through free ones, must be known.
    bool holds() {
        declared();
        for (const RegionVid from : universals_) {
            std::vector<RegionVid> work{from};
            std::set<RegionVid> seen{from};
            for (std::size_t i = 0; i < work.size(); ++i) {
                for (const Outlives& constraint : regions_.constraints()) {
                    if (constraint.sup != work[i] || !seen.insert(constraint.sub).second) continue;
                    if (universals_.count(constraint.sub) == 0) {
                        work.push_back(constraint.sub);
                    } else if (!is_known(from, constraint.sub)) {
                        return report(from, constraint.sub);
                    }
                }
            }
        }
        return true;
    }

    bool is_known(RegionVid longer, RegionVid shorter) {
        std::vector<RegionVid> work{longer};
        std::set<RegionVid> seen{longer};
        for (std::size_t i = 0; i < work.size(); ++i) {
            if (work[i] == shorter || work[i] == kStatic) return true;
            for (const auto& [a, b] : known_) {
                if (a == work[i] && seen.insert(b).second) work.push_back(b);
            }
        }
        return false;
    }

    bool report(RegionVid longer, RegionVid shorter) {
        const hir::Program& program = context_.program();
        const Span at = program.as<hir::FnDef>(item_).sig.span, there = program.as<hir::FnDef>(promised_).sig.span;
        const auto outer = [&](RegionVid region) { return region == kStatic || named_.count(region) != 0; };
        if (outer(longer) || outer(shorter)) {
            context_.sink().error(Code::E0308, at, "method not compatible with trait").label(at, "lifetime mismatch").note_at(there, "the trait's method is declared here");
        } else {
            context_.sink()
                .error(Code::None, at, "`impl` item signature doesn't match `trait` item signature")
                .label(at, "the lifetimes of the result and of the parameters are tied in another way than in the trait")
                .note_at(there, "the trait's method is declared here");
        }
        return false;
    }

    check::Context& context_;
    types::TypeStore& types_;
    DefId impl_, item_, promised_;
    RegionTypes regions_;
    RegionTypes::LateRegions late_;
    std::set<RegionVid> universals_, named_;
    std::unordered_map<RegionId, RegionVid> bound_;
    std::set<std::pair<RegionVid, RegionVid>> known_;
};

}  // namespace

bool check_impl_signatures(check::Context& context) {
    bool good = true;
    TypeFacts facts;
    const hir::Program& program = context.program();
    const std::vector<DefId> impls = program.impls;   // the library's may grow
    for (const DefId impl : impls) {
        const check::TraitRef trait_ref = context.impl_trait_ref(impl);
        if (program.crates[program.defs[impl].crate].is_library || !trait_ref.valid()) continue;
        const hir::ImplDef& data = program.as<hir::ImplDef>(impl);
        if (data.derived) continue;
        for (const DefId item : data.items) {
            if (!program.defs[item].lowered || program.defs[item].kind != hir::DefKind::AssocFn) continue;
            for (const DefId promised : program.as<hir::TraitDef>(trait_ref.trait).items) {
                const hir::Def& def = program.defs[promised];
                if (def.name.name != program.defs[item].name.name || !def.lowered || def.kind != hir::DefKind::AssocFn) continue;
                good = SignatureCheck(context, facts, impl, item, promised).run() && good;
            }
        }
    }
    return good;
}

}  // namespace ockc::borrowck
