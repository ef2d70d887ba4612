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

// ptradd stays inside its object, and no object contains the address 0; so an offset keeps a pointer non-null. The
// windows of the specific spaces have an address 0 of their own, but their generic addresses are not 0.
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

MemoryClasses::MemoryClasses(const Function& function, const Cfg& cfg) : class_of_(function.values.size(), 0) {
    // Objects: a class number above the spaces for each; `escaped` marks those that lose it again.
    struct Object {
        bool local = false;       // an alloca
        bool variable = false;    // a module variable: pointers from elsewhere may reach it
        std::uint32_t space = 0;  // class of unknown pointers of its space
        bool escaped = false;
    };
    std::vector<Object> objects;
    constexpr std::uint32_t kFirst = 1 + kSpaces;
    const auto space_class = [&](ValueId value) {
        const Type type = function.type_of(value);
        return is_ptr(type) && type != Type::Ptr ? 1 + static_cast<std::uint32_t>(ptr_space(type)) : 0;
    };
    const auto new_object = [&](ValueId value, bool local, bool variable) {
        if (objects.size() >= kMaxObjects) return 0u;
        objects.push_back({local, variable, space_class(value), false});
        return kFirst + static_cast<std::uint32_t>(objects.size()) - 1;
    };
    const auto set = [&](ValueId value, std::uint32_t number) {
        class_of_.set(value, number == 0 ? space_class(value) : number);
    };
    const auto escape = [&](ValueId value) {
        if (class_of_[value] >= kFirst) objects[class_of_[value] - kFirst].escaped = true;
    };
    SideMap<GlobalId, std::uint32_t> globals;
    const auto& params = function.blocks[function.entry()].params;
    for (const BlockId block : function.layout) {
        for (const ValueId param : function.blocks[block].params) set(param, 0);
    }
    for (std::size_t i = 0; i < params.size() && i < function.param_attrs.size(); ++i) {
        if (is_ptr(function.type_of(params[i])) && function.param_attrs[i].noalias) {
            set(params[i], new_object(params[i], false, false));
        }
    }
    // Reverse postorder meets every definition before its uses.
    for (const BlockId block : cfg.rpo()) {
        for (const InstId id : function.blocks[block].insts) {
            const Instruction& inst = function.insts[id];
            if (inst.op == Op::Alloca) {
                set(inst.result(), new_object(inst.result(), true, false));
            } else if (inst.op == Op::GlobalAddr) {
                std::uint32_t& known = globals.at(inst.global);
                if (known == 0) known = new_object(inst.result(), false, true);
                set(inst.result(), known);
            } else if (inst.op == Op::PtrAdd || inst.op == Op::SpaceCast || inst.op == Op::Nonnull) {
                const std::uint32_t from = class_of_[inst.args[0]];
                set(inst.result(), from >= kFirst ? from : 0);
                if (from < kFirst && from != 0 && space_class(inst.result()) == 0) class_of_.set(inst.result(), from);
            } else {
                for (const ValueId result : inst.results) set(result, 0);
                const bool address_only = inst.op == Op::Load || inst.op == Op::Memcpy || inst.op == Op::Memset ||
                                          inst.op == Op::Icmp;
                std::size_t position = 0;
                for_each_use(inst, [&](ValueId value) {
                    const bool address = address_only || (inst.op == Op::Store && position == 0);
                    if (!address) escape(value);
                    ++position;
                });
            }
        }
    }
    count_ = kFirst + static_cast<std::uint32_t>(objects.size());
    for (std::uint32_t raw = 0; raw < function.values.size(); ++raw) {
        const std::uint32_t number = class_of_[ValueId(raw)];
        if (number >= kFirst && objects[number - kFirst].escaped) class_of_.set(ValueId(raw), 0);
    }
    private_.assign(count_, false);
    std::vector<std::uint32_t> unknown;   // what a pointer from anywhere may reach
    for (std::uint32_t i = 0; i < kFirst; ++i) unknown.push_back(i);
    for (std::uint32_t i = 0; i < objects.size(); ++i) {
        private_[kFirst + i] = objects[i].local && !objects[i].escaped;
        if (objects[i].variable) unknown.push_back(kFirst + i);
        if (!private_[kFirst + i]) shared_.push_back(kFirst + i);
    }
    for (std::uint32_t i = 0; i < kFirst; ++i) shared_.push_back(i);
    clobbers_.resize(count_);
    clobbers_[0] = unknown;
    for (std::uint32_t i = 1; i < kFirst; ++i) clobbers_[i] = {0, i};
    for (std::uint32_t i = 0; i < objects.size(); ++i) {
        clobbers_[kFirst + i] = {kFirst + i};
        if (!objects[i].variable) continue;
        clobbers_[kFirst + i].insert(clobbers_[kFirst + i].end(), {0, objects[i].space});
        clobbers_[objects[i].space].push_back(kFirst + i);
    }
}

}  // namespace ockc::ir
