// Tiles that are copied to shared memory: when their copies start and end. In: tile_load with a layout in shared memory.
// Out: rings of slots, copies into them, waits, and tile_slot in the place of the loads.
//
// In a loop that counts, copies run ahead: `stages - 1` iterations are under way while one is computed. All loads of such a
// loop share its stages; an iteration waits for its own copies at the first of them, and starts those of a later iteration
// behind the barrier, when nobody reads that iteration's slot any more:
//
//     front:  ring = tile_ring stages;  for s in 0..stages-1 { tile_copy ring, s, i0 + s*step < n, ..; commit }
//     loop:   wait for all groups but stages-2;  barrier
//             tile_copy ring, slot - 1, i + (stages-1)*step < n, ..;  commit
//             tile = tile_slot ring, slot;  ..;  slot = slot + 1
//
// Where a load is no function of the count (or the loop may write what is read), and outside of loops, the ring has one slot
// and the block waits for the copy at once.
#include <algorithm>
#include <optional>

#include "ir/analysis/loops.hpp"
#include "tile/layout.hpp"
#include "tile/loop_slice.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

constexpr std::uint32_t kMostStages = 4;
constexpr std::uint32_t kFewStages = 2;
constexpr std::uint32_t kGoodStages = 3;            // fewer: rather one large block than two on a multiprocessor
constexpr std::uint32_t kSmallBlock = 128;          // threads
constexpr std::uint32_t kReservedBytes = 1024;      // of each block, for the system
constexpr std::uint32_t kManyRegisters = 64;        // of sums: with more, no second block fits anyway

// A loop whose header counts: `count` goes up by `step` each time, and the loop goes on while `goes_on` holds.
struct Counted {
    ValueId count, step;
    ValueId test;              // none: not known
    bool while_true = true;
};

class LoadPipeliner {
  public:
    LoadPipeliner(Function& function, const Context& context, Wishes& wishes) : function_(function), context_(context), wishes_(wishes), builder_(function) {}

    void run() {
        find_loads();
        for (bool changed = true; changed;) changed = pipeline_one();
        for (const BlockId block : std::vector<BlockId>(function_.layout)) wait_at_once(block);
    }

  private:
    const TileType& type_of(ValueId value) const { return context_.module.tile_types[function_.values[value].tile]; }
    bool is_copied(const Instruction& inst) const { return inst.op == Op::TileLoad && context_.module.tile_types[inst.tile].layout.is_shared(); }

    std::uint64_t slot_bytes(const Instruction& load) const {
        const TileType& type = context_.module.tile_types[load.tile];
        return shared_bytes(type.layout, type_bytes(type.element));
    }

    // What lies in shared memory besides stages: single copies and converted operands.
    void find_loads() {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts) {
                const Instruction& inst = function_.insts[id];
                if (is_copied(inst)) all_bytes_ += slot_bytes(inst);
                if (inst.op == Op::TileConvert && context_.module.tile_types[inst.tile].layout.is_shared()) all_bytes_ += slot_bytes(inst);
                if (inst.op == Op::TileMma) sums_ = std::max(sums_, type_of(inst.result()).layout.register_count());
            }
        }
    }

    // The first loop that can be pipelined and has not been; false: none is left.
    bool pipeline_one() {
        const Cfg cfg(function_);
        const Dominators dominators(cfg);
        const Loops loops(cfg, dominators);
        for (std::uint32_t i = 0; i < loops.all().size(); ++i) {
            if (pipeline(LoopId(i), loops, dominators, cfg)) return true;
        }
        return false;
    }

    struct Site {
        BlockId block;
        InstId inst;
    };

    // Loads that every iteration does, in order.
    std::vector<Site> loads_of(LoopId id, const Loops& loops, const Dominators& dominators) const {
        std::vector<Site> sites;
        const Loop& loop = loops[id];
        for (const BlockId block : loop.blocks) {
            if (loops.of(block) != id || !dominators.dominates(block, loop.latches[0])) continue;
            for (const InstId inst : function_.blocks[block].insts) {
                if (is_copied(function_.insts[inst])) sites.push_back({block, inst});
            }
        }
        return sites;
    }

    bool may_write(LoopId id, const Loops& loops) const {
        for (const BlockId block : loops[id].blocks) {
            for (const InstId inst : function_.blocks[block].insts) {
                const Effect effect = op_info(function_.insts[inst].op).effect;
                const bool is_call = function_.insts[inst].op == Op::Call;
                if (effect == Effect::Write || effect == Effect::ReadWrite || is_call) return true;
            }
        }
        return false;
    }

    // Memory that nobody writes during the launch.
    bool is_unchanging(ValueId address) const {
        for (const Instruction* def = function_.def(address); def != nullptr; def = function_.def(address)) {
            if (def->op != Op::SpaceCast && def->op != Op::Nonnull && def->op != Op::PtrAdd) return false;
            address = def->args[0];
        }
        const Value& value = function_.values[address];
        return value.block == function_.entry() && function_.param_attrs[value.index].readonly;
    }

    std::optional<Counted> count_of(const Loop& loop, const LoopSlice& slice) const {
        const Instruction& latch = function_.terminator(loop.latches[0]);
        const auto back = std::find_if(latch.targets.begin(), latch.targets.end(), [&](const Target& target) { return target.block == loop.header; });
        const auto& params = function_.blocks[loop.header].params;
        for (std::size_t i = 0; i < params.size(); ++i) {
            const Instruction* next = function_.def(back->args[i]);
            if (function_.type_of(params[i]) != Type::I32 || next == nullptr || next->op != Op::Iadd) continue;
            const std::uint32_t own = next->args[0] == params[i] ? 0 : 1;
            if (next->args[own] != params[i] || !slice.depends_on_count_only(next->args[1 - own], ValueId::none())) continue;
            Counted counted{params[i], next->args[1 - own], ValueId::none()};
            find_test(loop, slice, counted);
            return counted;
        }
        return std::nullopt;
    }

    void find_test(const Loop& loop, const LoopSlice& slice, Counted& counted) const {
        const Instruction& branch = function_.terminator(loop.header);
        if (branch.op != Op::Br || !slice.depends_on_count_only(branch.args[0], counted.count)) return;
        const auto in_loop = [&](const Target& target) { return std::find(loop.blocks.begin(), loop.blocks.end(), target.block) != loop.blocks.end(); };
        if (in_loop(branch.targets[0]) == in_loop(branch.targets[1])) return;
        counted.test = branch.args[0];
        counted.while_true = in_loop(branch.targets[0]);
    }

    // Two blocks on a multiprocessor hide each other's waits, where registers and shared memory are enough for both.
    std::uint32_t stages_for(std::uint64_t stage_bytes) {
        const std::uint64_t others = all_bytes_ - stage_bytes, all = context_.device.shared_bytes;
        const auto fit = [&](std::uint64_t bytes) { return bytes <= others ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>((bytes - others) / stage_bytes, kMostStages)); };
        const std::uint32_t of_two = fit((all + kReservedBytes) / 2 - kReservedBytes);
        const bool is_small = function_.facts.block[0] <= kSmallBlock;   // two have all the registers that threads can have
        if (is_small ? of_two >= kFewStages : sums_ <= kManyRegisters && of_two >= kGoodStages) {
            wishes_.blocks = 2;
            return of_two;
        }
        return fit(all);
    }

    bool pipeline(LoopId id, const Loops& loops, const Dominators& dominators, const Cfg& cfg) {
        const Loop& loop = loops[id];
        if (loop.latches.size() != 1) return false;
        std::vector<Site> sites = loads_of(id, loops, dominators);
        LoopSlice slice(function_, builder_, loops, id);
        const std::optional<Counted> counted = count_of(loop, slice);
        if (!counted) return false;
        const bool writes = may_write(id, loops);
        std::erase_if(sites, [&](const Site& site) {
            const Instruction& load = function_.insts[site.inst];
            const bool follows = std::all_of(load.args.begin(), load.args.end(), [&](ValueId arg) { return slice.depends_on_count_only(arg, counted->count); });
            return !follows || (writes && !is_unchanging(load.args[0]));
        });
        if (sites.empty()) return false;
        std::uint64_t bytes = 0;
        for (const Site& site : sites) bytes += slot_bytes(function_.insts[site.inst]);
        const std::uint32_t stages = stages_for(bytes);
        if (stages < kFewStages) return false;
        rewrite(loop, sites, *counted, slice, stages, cfg);
        return true;
    }

    ValueId i32(std::uint32_t value) { return builder_.const_int(Type::I32, value); }

    ValueId goes_on(const Counted& counted, LoopSlice& slice, ValueId count) {
        if (!counted.test.valid()) return builder_.const_bool(true);
        const ValueId test = slice.with_count(counted.test, counted.count, count);
        return counted.while_true ? test : builder_.unary(Op::Not, Type::I1, test);
    }

    void start_copies(std::span<const Site> sites, std::span<const ValueId> rings, const Counted& counted, LoopSlice& slice, ValueId slot, ValueId count) {
        const ValueId wanted = goes_on(counted, slice, count);
        for (std::size_t i = 0; i < sites.size(); ++i) {
            const Instruction load = function_.insts[sites[i].inst];
            std::vector<ValueId> args;
            for (const ValueId arg : load.args) args.push_back(slice.with_count(arg, counted.count, count));
            copy(load, rings[i], slot, wanted, args);
        }
        builder_.machine(intrinsic::Machine::CpAsyncCommitGroup, {});
    }

    void copy(const Instruction& load, ValueId ring, ValueId slot, ValueId wanted, std::span<const ValueId> from) {
        Instruction inst;
        inst.op = Op::TileCopy;
        inst.type = Type::Tile;
        inst.tile = load.tile;
        inst.span = load.span;
        inst.scope = load.scope;
        inst.args = {ring, slot, wanted};
        inst.args.append(from);
        builder_.append(std::move(inst), {});
    }

    ValueId tile_value(Op op, const Instruction& load, std::initializer_list<ValueId> args, std::uint64_t imm) {
        Instruction inst;
        inst.op = op;
        inst.type = Type::Tile;
        inst.tile = load.tile;
        inst.span = load.span;
        inst.scope = load.scope;
        inst.imm = imm;
        for (const ValueId arg : args) inst.args.push_back(arg);
        const Type result = Type::Tile;
        const InstId id = builder_.append(std::move(inst), {&result, 1});
        function_.values[function_.insts[id].result()].tile = load.tile;
        return function_.insts[id].result();
    }

    void wait(std::uint32_t groups) {
        const ValueId pending[] = {i32(groups)};
        builder_.machine(intrinsic::Machine::CpAsyncWaitGroups, pending);
    }

    // A new block that all edges into the loop pass; it has the header's parameters.
    BlockId front_of(const Loop& loop, const Cfg& cfg) {
        const BlockId front = function_.add_block();
        function_.layout.pop_back();
        function_.layout.insert(std::find(function_.layout.begin(), function_.layout.end(), loop.header), front);
        for (const ValueId param : std::vector<ValueId>(function_.blocks[loop.header].params)) {
            const TileTypeId tile = function_.values[param].tile;
            const ValueId mine = function_.add_block_param(front, function_.type_of(param));
            function_.values[mine].tile = tile;
        }
        for (const BlockId pred : cfg.preds(loop.header)) {
            if (pred == loop.latches[0]) continue;
            for (Target& target : function_.terminator(pred).targets) {
                if (target.block == loop.header) target.block = front;
            }
        }
        return front;
    }

    // The rings, then a small loop that starts the first copies. Ends in a block without a terminator.
    std::vector<ValueId> fill(BlockId front, const Loop& loop, std::span<const Site> sites, const Counted& counted, LoopSlice& slice, std::uint32_t stages) {
        builder_.at_end(front);
        std::vector<ValueId> rings;
        for (const Site& site : sites) rings.push_back(tile_value(Op::TileRing, Instruction(function_.insts[site.inst]), {}, stages));
        builder_.barrier();   // whoever still reads that memory
        const auto& params = function_.blocks[loop.header].params;
        const auto index = static_cast<std::size_t>(std::find(params.begin(), params.end(), counted.count) - params.begin());
        const BlockId start = function_.add_block(), after = function_.add_block();
        move_behind(front, {start, after});
        builder_.jump(start, {i32(0), function_.blocks[front].params[index]});
        const ValueId slot = function_.add_block_param(start, Type::I32), count = function_.add_block_param(start, Type::I32);
        builder_.at_end(start);
        start_copies(sites, rings, counted, slice, slot, count);
        const ValueId next = builder_.binary(Op::Iadd, Type::I32, slot, i32(1));
        const ValueId step = slice.with_count(counted.step, counted.count, count);
        const ValueId more = builder_.icmp(IntCond::Ult, next, i32(stages - 1));
        const ValueId next_count = builder_.binary(Op::Iadd, Type::I32, count, step);
        builder_.br(more, Target{start, {next, next_count}}, Target{after, {}});
        builder_.at_end(after);
        return rings;
    }

    void move_behind(BlockId block, std::initializer_list<BlockId> others) {
        for (std::size_t i = 0; i < others.size(); ++i) function_.layout.pop_back();
        const auto at = std::find(function_.layout.begin(), function_.layout.end(), block) + 1;
        function_.layout.insert(at, others.begin(), others.end());
    }

    void rewrite(const Loop& loop, std::span<const Site> sites, const Counted& counted, LoopSlice& slice, std::uint32_t stages, const Cfg& cfg) {
        builder_.set_span(function_.insts[sites[0].inst].span);
        const BlockId front = front_of(loop, cfg);
        const std::vector<ValueId> rings = fill(front, loop, sites, counted, slice, stages);
        const ValueId slot = function_.add_block_param(loop.header, Type::I32);
        ir::TargetArgs args;
        for (const ValueId param : function_.blocks[front].params) args.push_back(param);
        args.push_back(i32(0));
        builder_.jump(loop.header, std::move(args));

        ahead(sites, rings, counted, slice, slot, stages);
        next_slot(loop, slot, stages);
        wait_at_exits(loop, stages);
    }

    // In front of the first load: its stage has come; the copies of a later iteration start.
    void ahead(std::span<const Site> sites, std::span<const ValueId> rings, const Counted& counted, LoopSlice& slice, ValueId slot, std::uint32_t stages) {
        for (std::size_t i = 0; i < sites.size(); ++i) {
            const std::vector<InstId> insts = std::move(function_.blocks[sites[i].block].insts);
            function_.blocks[sites[i].block].insts.clear();
            builder_.at_end(sites[i].block);
            for (const InstId id : insts) {
                if (id != sites[i].inst) {
                    function_.blocks[sites[i].block].insts.push_back(id);
                    continue;
                }
                if (i == 0) {
                    wait(stages - 2);
                    builder_.barrier();
                    ValueId count = counted.count;
                    const ValueId step = slice.with_count(counted.step, counted.count, count);
                    count = builder_.binary(Op::Iadd, Type::I32, count, builder_.binary(Op::Imul, Type::I32, step, i32(stages - 1)));
                    const ValueId first = builder_.icmp(IntCond::Eq, slot, i32(0));
                    const ValueId free = builder_.select(first, i32(stages - 1), builder_.binary(Op::Isub, Type::I32, slot, i32(1)));
                    start_copies(sites, rings, counted, slice, free, count);
                }
                become_slot(id, rings[i], slot);
                function_.blocks[sites[i].block].insts.push_back(id);
            }
        }
    }

    // What uses the load stays as it is.
    void become_slot(InstId id, ValueId ring, ValueId slot) {
        Instruction& inst = function_.insts[id];
        inst.op = Op::TileSlot;
        inst.args = {ring, slot};
    }

    void next_slot(const Loop& loop, ValueId slot, std::uint32_t stages) {
        const BlockId latch = loop.latches[0];
        const InstId branch = function_.blocks[latch].insts.back();
        function_.blocks[latch].insts.pop_back();
        builder_.at_end(latch);
        const ValueId next = builder_.binary(Op::Iadd, Type::I32, slot, i32(1));
        const ValueId last = builder_.icmp(IntCond::Eq, next, i32(stages));
        const ValueId wrapped = builder_.select(last, i32(0), next);
        function_.blocks[latch].insts.push_back(branch);
        for (Target& target : function_.insts[branch].targets) {
            if (target.block == loop.header) target.args.push_back(wrapped);
        }
    }

    // Copies that nobody waited for must not land in what lies there next.
    void wait_at_exits(const Loop& loop, std::uint32_t) {
        for (const BlockId block : loop.blocks) {
            for (std::size_t t = 0; t < function_.terminator(block).targets.size(); ++t) {
                const Target target = function_.terminator(block).targets[t];
                if (std::find(loop.blocks.begin(), loop.blocks.end(), target.block) != loop.blocks.end()) continue;
                const Op end = function_.terminator(target.block).op;
                if (end == Op::Panic || end == Op::Trap || end == Op::Unreachable) continue;
                const BlockId between = function_.add_block();
                move_behind(block, {between});
                builder_.at_end(between);
                wait(0);
                builder_.jump(target.block, ir::TargetArgs(target.args));
                function_.terminator(block).targets[t] = Target{between, {}};
            }
        }
    }

    void wait_at_once(BlockId block) {
        const std::vector<InstId> insts = std::move(function_.blocks[block].insts);
        function_.blocks[block].insts.clear();
        builder_.at_end(block);
        for (const InstId id : insts) {
            if (is_copied(function_.insts[id])) {
                const Instruction load = function_.insts[id];
                builder_.set_span(load.span);
                const ValueId ring = tile_value(Op::TileRing, load, {}, 1);
                const ValueId slot = i32(0);
                builder_.barrier();   // whoever still reads that memory
                copy(load, ring, slot, builder_.const_bool(true), load.args.view());
                builder_.machine(intrinsic::Machine::CpAsyncCommitGroup, {});
                wait(0);
                builder_.barrier();
                become_slot(id, ring, slot);
            }
            function_.blocks[block].insts.push_back(id);
        }
    }

    Function& function_;
    const Context& context_;
    Wishes& wishes_;
    Builder builder_;
    std::uint64_t all_bytes_ = 0;
    std::uint32_t sums_ = 0;
};

}  // namespace

void pipeline_loads(Function& function, const Context& context, Wishes& wishes) { LoadPipeliner(function, context, wishes).run(); }

}  // namespace ockc::tile
