// Generic pointers that come from one address space are used as pointers of that space, and loads from memory
// that nothing writes are marked.
//
// Lowering casts a kernel's ptr.global parameters to generic references; inlining and SSA construction then
// bring the cast and the loads into one function. For each generic value the space is found by an optimistic
// data flow: unknown at first, then the space of what flows in (casts, offsets, selects, block parameters;
// null fits anywhere but decides nothing), then generic where two spaces meet. Values with a space get a twin
// of that type; loads, stores and copies use the twins, and dce drops the generic originals that nobody uses
// any more.
#include <algorithm>
#include <vector>

#include "ir/analysis/alias.hpp"
#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

// Unknown < one space < Generic.
constexpr std::uint8_t kUnknown = 0xFF;
constexpr auto kGeneric = static_cast<std::uint8_t>(Space::Generic);

class InferSpaces {
  public:
    InferSpaces(Function& function, Analyses& analyses)
        : function_(function), cfg_(analyses.cfg()), uses_(function), space_(function.values.size(), kUnknown) {}

    bool run() {
        solve();
        bool changed = false;
        if (settle_nulls(); worth_twins()) {
            make_twins();
            changed = rewrite();
        }
        return mark_readonly() || changed;
    }

  private:
    // ---- the data flow
    // -----------------------------------------------------------------------------------------------

    void solve() {
        for (const BlockId block : cfg_.rpo()) {
            for (const ValueId param : function_.blocks[block].params) {
                if (block == function_.entry() && is_generic(param)) meet(param, kGeneric);
            }
        }
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts)
                flow(function_.insts[id]);
        }
        while (!work_.empty()) {
            const ValueId value = work_.back();
            work_.pop_back();
            for (const InstId user : uses_.of(value))
                flow(function_.insts[user]);
        }
    }

    bool is_generic(ValueId value) const { return function_.type_of(value) == Type::Ptr; }
    std::uint8_t space_of(ValueId value) const {
        const Type type = function_.type_of(value);
        return type == Type::Ptr ? space_[value] : static_cast<std::uint8_t>(ptr_space(type));
    }
    // Null goes with the global space, whose addresses are generic addresses; elsewhere it has another bit
    // pattern.
    bool is_null(ValueId value) const { return is_constant(function_, value, 0); }

    void meet(ValueId value, std::uint8_t with) {
        const std::uint8_t old = space_[value];
        if (with == kUnknown || old == with || old == kGeneric) return;
        space_.set(value, old == kUnknown ? with : kGeneric);
        work_.push_back(value);
    }

    void meet_null_aware(ValueId value, ValueId from) {
        if (!is_null(from)) return meet(value, space_of(from));
        // Only a global pointer may be null without a cast: others become generic with it.
        if (space_[value] != kUnknown && space_[value] != static_cast<std::uint8_t>(Space::Global))
            meet(value, kGeneric);
        takes_null_.push_back(value);
    }

    void flow(const Instruction& inst) {
        for (const Target& target : inst.targets) {
            const auto& params = function_.blocks[target.block].params;
            for (std::size_t i = 0; i < params.size(); ++i) {
                if (is_generic(params[i])) meet_null_aware(params[i], target.args[i]);
            }
        }
        if (inst.results.empty()) return;
        for (const ValueId result : inst.results) {
            if (!is_generic(result)) continue;
            switch (inst.op) {
                case Op::Nonnull:
                case Op::SpaceCast: meet(result, space_of(inst.args[0])); break;
                case Op::PtrAdd: meet(result, space_of(inst.args[0])); break;
                case Op::Select:
                    meet_null_aware(result, inst.args[1]);
                    meet_null_aware(result, inst.args[2]);
                    break;
                case Op::Const: break;  // null decides nothing
                default: meet(result, kGeneric); break;
            }
        }
    }

    // ---- twins
    // -------------------------------------------------------------------------------------------------------

    bool has_space(ValueId value) const {
        return is_generic(value) && space_[value] != kUnknown && space_[value] != kGeneric;
    }

    // A value that may be null keeps its space only when that is global: settle this before twins are made.
    void settle_nulls() {
        for (const ValueId value : takes_null_) {
            if (has_space(value) && space_[value] != static_cast<std::uint8_t>(Space::Global))
                meet(value, kGeneric);
        }
        while (!work_.empty()) {
            const ValueId value = work_.back();
            work_.pop_back();
            for (const InstId user : uses_.of(value))
                flow(function_.insts[user]);
        }
    }

    static std::uint32_t address_count(Op op) {
        if (op == Op::Memcpy) return 2;
        return op == Op::Load || op == Op::Store || op == Op::Memset || is_atomic(op) ? 1 : 0;
    }

    // Does any access go through a generic pointer whose space is known?
    bool worth_twins() const {
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                for (std::uint32_t i = 0; i < address_count(inst.op); ++i) {
                    if (has_space(inst.args[i])) return true;
                }
            }
        }
        return false;
    }

    void make_twins() {
        twin_ = SideMap<ValueId, ValueId>(function_.values.size());
        // Block parameters first: twins of arguments need them around loops.
        for (const BlockId block : cfg_.rpo()) {
            const std::size_t count = function_.blocks[block].params.size();
            for (std::size_t i = 0; i < count; ++i) {
                const ValueId param = function_.blocks[block].params[i];
                if (has_space(param)) twin_.set(param, function_.add_block_param(block, type_for(param)));
            }
        }
        for (const BlockId block : cfg_.rpo()) {
            const std::vector<InstId> insts = std::move(function_.blocks[block].insts);
            std::vector<InstId> out;
            out.reserve(insts.size() + 4);
            for (const InstId id : insts) {
                if (is_terminator(function_.insts[id].op)) extend_targets(id, out);
                out.push_back(id);
                make_twin(id, out);
            }
            function_.blocks[block].insts = std::move(out);
        }
    }

    Type type_for(ValueId value) const { return ptr_type(static_cast<Space>(space_[value])); }

    // The pointer in the space of `type`: its twin, what it was cast from, or null.
    ValueId in_space(ValueId value, Type type, std::vector<InstId>& out, const Instruction& like) {
        if (function_.type_of(value) == type) return value;
        if (value.raw < twin_.size() && twin_[value].valid()) return twin_[value];
        Op op = Op::SpaceCast;
        Instruction inst;
        if (is_null(value)) {
            op = Op::Const;
        } else {
            inst.args = {value};
        }
        inst.op = op;
        inst.type = type;
        inst.span = like.span;
        inst.scope = like.scope;
        const InstId id = function_.make_inst(std::move(inst), {&type, 1});
        out.push_back(id);
        return function_.insts[id].result();
    }

    void make_twin(InstId id, std::vector<InstId>& out) {
        if (const ValueId result = function_.insts[id].result(); !result.valid() || !has_space(result)) return;
        const Instruction inst = function_.insts[id];   // a copy: others are made
        const Type type = type_for(inst.result());
        if (inst.op == Op::SpaceCast || inst.op == Op::Nonnull) {
            twin_.set(inst.result(), in_space(inst.args[0], type, out, inst));
            return;
        }
        InstId made;
        if (inst.op == Op::PtrAdd) {
            const ValueId base = in_space(inst.args[0], type, out, inst);
            made = make_inst(function_, Op::PtrAdd, type, type, {base, inst.args[1]}, inst);
        } else {
            OCKC_CHECK(inst.op == Op::Select);
            const ValueId a = in_space(inst.args[1], type, out, inst);
            const ValueId b = in_space(inst.args[2], type, out, inst);
            made = make_inst(function_, Op::Select, type, type, {inst.args[0], a, b}, inst);
        }
        out.push_back(made);
        twin_.set(inst.result(), function_.insts[made].result());
    }

    // Arguments for the twin parameters, in the order in which these were added.
    void extend_targets(InstId id, std::vector<InstId>& out) {
        const std::size_t target_count = function_.insts[id].targets.size();
        for (std::size_t t = 0; t < target_count; ++t) {
            const auto& params = function_.blocks[function_.insts[id].targets[t].block].params;
            const std::size_t count = function_.insts[id].targets[t].args.size();
            for (std::size_t i = 0; i < count; ++i) {
                if (params[i].raw >= twin_.size() || !twin_[params[i]].valid()) continue;
                const Instruction& like = function_.insts[id];   // may move when one is made
                const ValueId value = in_space(like.targets[t].args[i], function_.type_of(twin_[params[i]]), out, like);
                function_.insts[id].targets[t].args.push_back(value);
            }
        }
    }

    // ---- rewriting
    // ---------------------------------------------------------------------------------------------------

    bool rewrite() {
        bool changed = false;
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                Instruction& inst = function_.insts[id];
                for (std::uint32_t i = 0; i < address_count(inst.op); ++i) {
                    const ValueId twin =
                        inst.args[i].raw < twin_.size() ? twin_[inst.args[i]] : ValueId::none();
                    if (!twin.valid()) continue;
                    inst.args[i] = twin;
                    changed = true;
                }
            }
        }
        return changed;
    }

    // Does everything that the pointer can be come from readonly parameters? Looked at through block
    // parameters (a pointer that walks along a slice) and selects.
    bool from_readonly(ValueId start) {
        constexpr std::size_t kMaxSources = 16;
        std::vector<ValueId> sources{start};
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources.size() > kMaxSources) return false;
            const Value value = function_.values[sources[i]];
            const auto add = [&](ValueId source) {
                const ValueId object = object_of(function_, source);
                if (std::find(sources.begin(), sources.end(), object) == sources.end())
                    sources.push_back(object);
            };
            if (value.type != Type::PtrGlobal && value.type != Type::Ptr) return false;
            if (value.inst.valid()) {
                const Instruction& def = function_.insts[value.inst];
                if (def.op != Op::Select) return false;
                add(def.args[1]);
                add(def.args[2]);
            } else if (value.block == function_.entry()) {
                if (value.index >= function_.param_attrs.size() ||
                    !function_.param_attrs[value.index].readonly)
                    return false;
            } else {
                for (const BlockId pred : cfg_.preds(value.block)) {
                    for (const Target& target : function_.terminator(pred).targets) {
                        if (target.block == value.block) add(target.args[value.index]);
                    }
                }
            }
        }
        return true;
    }

    bool mark_readonly() {
        bool changed = false;
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                Instruction& inst = function_.insts[id];
                if (inst.op != Op::Load || inst.memory.readonly || inst.memory.is_volatile) continue;
                if (function_.type_of(inst.args[0]) != Type::PtrGlobal) continue;
                if (!from_readonly(object_of(function_, inst.args[0]))) continue;
                inst.memory.readonly = true;
                changed = true;
            }
        }
        return changed;
    }

    Function& function_;
    const Cfg& cfg_;
    Uses uses_;
    SideMap<ValueId, std::uint8_t> space_;
    SideMap<ValueId, ValueId> twin_;
    std::vector<ValueId> work_;
    std::vector<ValueId> takes_null_;
};

}  // namespace

bool run_infer_spaces(Function& function, const PassContext& context) {
    const bool cut = trim(function);
    return InferSpaces(function, context.analyses).run() || cut;
}

}  // namespace ockc::opt
