#include "ir/analysis/alias.hpp"

#include <algorithm>

#include "ir/analysis/uses.hpp"

namespace ockc::ir {

namespace {

// The pointer that `pointer` is computed from by an offset or a cast, or none.
ValueId step_back(const Function& function, ValueId pointer) {
    const Instruction* def = function.def(pointer);
    if (def == nullptr) return ValueId::none();
    if (def->op == Op::PtrAdd || def->op == Op::SpaceCast || def->op == Op::Nonnull) return def->args[0];
    return ValueId::none();
}

std::optional<std::int64_t> constant_of(const Function& function, ValueId value) {
    const Instruction* def = function.def(value);
    if (def == nullptr || def->op != Op::Const) return std::nullopt;
    return static_cast<std::int64_t>(def->imm);
}

}  // namespace

PointerBase constant_base(const Function& function, ValueId pointer) {
    PointerBase result{pointer, 0};
    while (true) {
        const Instruction* def = function.def(result.base);
        if (def == nullptr) return result;
        if (def->op == Op::PtrAdd) {
            const auto offset = constant_of(function, def->args[1]);
            if (!offset) return result;
            result.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(result.offset) +
                                                      static_cast<std::uint64_t>(*offset));
        } else if (def->op != Op::SpaceCast && def->op != Op::Nonnull) {
            return result;
        }
        result.base = def->args[0];
    }
}

ValueId object_of(const Function& function, ValueId pointer) {
    for (ValueId next = step_back(function, pointer); next.valid(); next = step_back(function, pointer)) {
        pointer = next;
    }
    return pointer;
}

// ptradd stays inside its object, and no object contains the address 0; so an offset keeps a pointer
// non-null. The windows of the specific spaces have an address 0 of their own, but their generic addresses
// are not 0.
bool is_nonnull(const Function& function, ValueId pointer) {
    if (function.type_of(pointer) != Type::Ptr && function.type_of(pointer) != Type::PtrGlobal) return false;
    ValueId object = pointer;
    for (ValueId next = step_back(function, object); next.valid(); next = step_back(function, object)) {
        if (function.def(object)->op == Op::Nonnull) return true;
        object = next;
    }
    const Instruction* def = function.def(object);
    if (def != nullptr) return def->op == Op::Alloca || def->op == Op::GlobalAddr;
    const Value& value = function.values[object];
    return value.block == function.entry() && value.index < function.param_attrs.size() &&
           function.param_attrs[value.index].nonnull;
}

namespace {

// An alloca, a noalias parameter or a module variable.
struct Object {
    bool local = false;       // an alloca
    bool variable = false;    // a module variable: pointers from elsewhere may reach it
    std::uint32_t space = 0;  // class of unknown pointers of its space
    bool escaped = false;     // its address is used for more than accesses: no class of its own
};

// Finds the objects and which values point into them, in reverse postorder, which meets every definition
// before its uses.
class ObjectFinder {
  public:
    ObjectFinder(const Function& function, SideMap<ValueId, std::uint32_t>& class_of, std::uint32_t first,
                 std::size_t most)
        : function_(function), class_of_(class_of), first_(first), most_(most) {}

    std::vector<Object> run(const Cfg& cfg) {
        const auto& params = function_.blocks[function_.entry()].params;
        for (const BlockId block : cfg.rpo()) {
            for (const ValueId param : function_.blocks[block].params)
                set(param, 0);
        }
        for (std::size_t i = 0; i < params.size() && i < function_.param_attrs.size(); ++i) {
            if (is_ptr(function_.type_of(params[i])) && function_.param_attrs[i].noalias) {
                set(params[i], new_object(params[i], false, false));
            }
        }
        for (const BlockId block : cfg.rpo()) {
            for (const InstId id : function_.blocks[block].insts)
                visit(function_.insts[id]);
        }
        for (std::uint32_t raw = 0; raw < function_.values.size(); ++raw) {
            const std::uint32_t number = class_of_[ValueId(raw)];
            if (number >= first_ && objects_[number - first_].escaped) class_of_.set(ValueId(raw), 0);
        }
        return std::move(objects_);
    }

  private:
    std::uint32_t space_class(ValueId value) const {
        const Type type = function_.type_of(value);
        return is_ptr(type) && type != Type::Ptr ? 1 + static_cast<std::uint32_t>(ptr_space(type)) : 0;
    }
    std::uint32_t new_object(ValueId value, bool local, bool variable) {
        if (objects_.size() >= most_) return 0;
        objects_.push_back({local, variable, space_class(value), false});
        return first_ + static_cast<std::uint32_t>(objects_.size()) - 1;
    }
    void set(ValueId value, std::uint32_t number) {
        class_of_.set(value, number == 0 ? space_class(value) : number);
    }
    void escape(ValueId value) {
        if (class_of_[value] >= first_) objects_[class_of_[value] - first_].escaped = true;
    }

    void visit(const Instruction& inst) {
        if (inst.op == Op::Alloca) {
            set(inst.result(), new_object(inst.result(), true, false));
        } else if (inst.op == Op::GlobalAddr) {
            std::uint32_t& known = globals_.at(inst.global);
            if (known == 0) known = new_object(inst.result(), false, true);
            set(inst.result(), known);
        } else if (inst.op == Op::PtrAdd || inst.op == Op::SpaceCast || inst.op == Op::Nonnull) {
            // Inside the object; a generic pointer made from one of a known space keeps that space's class.
            const std::uint32_t from = class_of_[inst.args[0]];
            const bool narrower = from != 0 && space_class(inst.result()) == 0;
            set(inst.result(), from >= first_ || narrower ? from : 0);
        } else {
            visit_other(inst);
        }
    }

    void visit_other(const Instruction& inst) {
        for (const ValueId result : inst.results)
            set(result, 0);
        const bool address_only =
            inst.op == Op::Load || inst.op == Op::Memcpy || inst.op == Op::Memset || inst.op == Op::Icmp;
        std::size_t position = 0;
        for_each_use(inst, [&](ValueId value) {
            const bool first = inst.op == Op::Store || is_atomic(inst.op);
            const bool address = address_only || (first && position == 0);
            if (!address) escape(value);
            ++position;
        });
    }

    const Function& function_;
    SideMap<ValueId, std::uint32_t>& class_of_;
    std::uint32_t first_;
    std::size_t most_;
    std::vector<Object> objects_;
    SideMap<GlobalId, std::uint32_t> globals_;
};

}  // namespace

MemoryClasses::MemoryClasses(const Function& function, const Cfg& cfg)
    : class_of_(function.values.size(), 0) {
    constexpr std::uint32_t kFirst = 1 + kSpaces;
    const std::vector<Object> objects = ObjectFinder(function, class_of_, kFirst, kMaxObjects).run(cfg);
    count_ = kFirst + static_cast<std::uint32_t>(objects.size());
    private_.assign(count_, false);
    clobbers_.resize(count_);
    for (std::uint32_t i = 0; i < kFirst; ++i) {
        shared_.push_back(i);
        clobbers_[0].push_back(i);  // a pointer from anywhere may reach all spaces
        if (i != 0) clobbers_[i] = {0, i};
    }
    for (std::uint32_t i = 0; i < objects.size(); ++i) {
        const Object& object = objects[i];
        const std::uint32_t number = kFirst + i;
        private_[number] = object.local && !object.escaped;
        if (!private_[number]) shared_.push_back(number);
        clobbers_[number] = {number};
        if (!object.variable) continue;
        // Unknown pointers, generic or of the variable's space, may point to it, and it to what they point
        // to.
        clobbers_[number].insert(clobbers_[number].end(), {0, object.space});
        clobbers_[0].push_back(number);
        clobbers_[object.space].push_back(number);
    }
}

}  // namespace ockc::ir
