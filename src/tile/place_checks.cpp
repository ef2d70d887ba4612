// Where the checks of tile indices are made. An index is in range when it is not negative and below the number of tiles of
// its axis. In this order:
//
//   nothing     numbers that say so; an index that counts tiles up to a bound of the same axis
//   the launch  a number, a block's index, or a count of another tensor's tiles, against extents of the kernel's parameters:
//               where the access is made in every launch that ends, what it needs is asked before the launch
//   the device  everything else, where it stands
// An index that is out of range in every launch is an error of its own.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/analysis/dominators.hpp"
#include "tile/tile.hpp"

namespace ockc::tile {

using namespace ir;

namespace {

class CheckPlacer {
  public:
    CheckPlacer(Function& function, const Context& context) : function_(function), context_(context), cfg_(function), dominators_(cfg_) {}

    bool run() {
        for (const BlockId block : cfg_.rpo()) {
            for (const InstId id : function_.blocks[block].insts) {
                if (function_.insts[id].op == Op::TileInRange) check(block, id);
            }
        }
        for (const InstId id : proven_) make_true(function_.insts[id]);
        return good_;
    }

  private:
    struct Access {
        BlockId block;
        ValueId index, lanes;
        std::uint32_t tile = 0;
    };

    std::optional<std::int32_t> number(ValueId value) const {
        const Instruction* def = function_.def(value);
        if (def == nullptr || def->op != Op::Const) return std::nullopt;
        return static_cast<std::int32_t>(def->imm);
    }

    bool same(ValueId a, ValueId b) const { return a == b || (number(a) && number(a) == number(b)); }

    void check(BlockId block, InstId id) {
        const Instruction& inst = function_.insts[id];
        const std::optional<std::int32_t> tile = number(inst.args[2]);
        if (!tile || *tile <= 0) return;   // not a tile: check_shapes has spoken of it
        const Access access{block, inst.args[0], inst.args[1], static_cast<std::uint32_t>(*tile)};
        if (function_.facts.skip_checks || is_proven(access) || asks_launch(access)) return proven_.push_back(id);
        const std::optional<std::int32_t> index = number(access.index), lanes = number(access.lanes);
        if (index && (*index < 0 || (lanes && !is_below(*index, *lanes, access.tile))) && in_every_launch(block)) return never(inst, *index, lanes, access.tile);
        if (function_.facts.deny_checks) deny(inst, access);
    }

    static bool is_below(std::int64_t index, std::int64_t lanes, std::int64_t tile) { return index * tile < lanes; }

    // ---- without asking

    bool is_proven(const Access& access) const {
        if (const auto index = number(access.index), lanes = number(access.lanes); index && lanes) return *index >= 0 && is_below(*index, *lanes, access.tile);
        const Instruction* bound = bound_of(access.index, access.block);
        return bound != nullptr && same(bound->args[0], access.lanes) && number(bound->args[1]) == static_cast<std::int32_t>(access.tile);
    }

    // The count of tiles that a value is below, and not negative, wherever control comes to the block.
    const Instruction* bound_of(ValueId value, BlockId block) const {
        for (BlockId at = block; at.valid(); at = dominators_.idom(at)) {
            const BlockId above = dominators_.idom(at);
            if (!above.valid()) return nullptr;
            const Instruction& branch = function_.terminator(above);
            const Instruction* test = branch.op == Op::Br ? function_.def(branch.args[0]) : nullptr;
            if (test == nullptr || test->op != Op::Icmp) continue;
            const bool first = branch.targets[0].block == at, only = branch.targets[0].block != branch.targets[1].block && cfg_.preds(at).size() == 1;
            if (!only) continue;
            ValueId less, count;
            if (first ? test->int_cond() == IntCond::Slt : test->int_cond() == IntCond::Sge) {
                less = test->args[0], count = test->args[1];
            } else if (first ? test->int_cond() == IntCond::Sgt : test->int_cond() == IntCond::Sle) {
                less = test->args[1], count = test->args[0];
            }
            if (less != value) continue;
            const Instruction* bound = function_.def(count);
            if (bound != nullptr && bound->op == Op::TileCount && counts_up(value, at)) return bound;
        }
        return nullptr;
    }

    // Does the block's parameter begin at a number that is not negative, and grow by one where it is known to be below its
    // bound, so that it never wraps?
    bool counts_up(ValueId param, BlockId below_bound) const {
        if (function_.def(param) != nullptr) return false;
        bool found = false;
        for (const BlockId block : cfg_.rpo()) {
            for (const Target& target : function_.terminator(block).targets) {
                const auto& params = function_.blocks[target.block].params;
                const auto at = std::find(params.begin(), params.end(), param);
                if (at == params.end()) continue;
                found = true;
                const ValueId value = target.args[static_cast<std::size_t>(at - params.begin())];
                if (const auto start = number(value); start && *start >= 0) continue;
                const Instruction* step = function_.def(value);
                const bool by_one = step != nullptr && step->op == Op::Iadd && step->args[0] == param && number(step->args[1]) == 1;
                if (!by_one || !dominators_.dominates(below_bound, block)) return false;
            }
        }
        return found;
    }

    // ---- at the launch

    std::optional<std::uint32_t> slot_of(ValueId value) const {
        const auto& params = function_.blocks[function_.entry()].params;
        const auto found = std::find(params.begin(), params.end(), value);
        if (found == params.end()) return std::nullopt;
        return static_cast<std::uint32_t>(found - params.begin());
    }

    std::optional<LaunchTerm> tiles(ValueId lanes, std::uint32_t tile) const {
        if (const auto count = number(lanes); count && *count >= 0) return LaunchTerm{LaunchTerm::Kind::Number, (static_cast<std::uint32_t>(*count) + tile - 1) / tile, 0};
        if (const auto slot = slot_of(lanes)) return LaunchTerm{LaunchTerm::Kind::Tiles, tile, *slot};
        return std::nullopt;
    }

    // How many tiles an index counts.
    std::optional<LaunchTerm> counted(const Access& access) const {
        const Instruction* def = function_.def(access.index);
        if (const auto index = number(access.index); index && *index >= 0 && *index < INT32_MAX) return LaunchTerm{LaunchTerm::Kind::Number, static_cast<std::uint32_t>(*index) + 1, 0};
        if (def != nullptr && def->op == Op::Sreg) {
            if (def->sreg() == Sreg::CtaidX) return LaunchTerm{LaunchTerm::Kind::Grid, 0, 0};
            if (def->sreg() == Sreg::CtaidY) return LaunchTerm{LaunchTerm::Kind::Grid, 1, 0};
            if (def->sreg() == Sreg::CtaidZ) return LaunchTerm{LaunchTerm::Kind::Grid, 2, 0};
        }
        const Instruction* bound = bound_of(access.index, access.block);
        if (bound == nullptr) return std::nullopt;
        const auto tile = number(bound->args[1]);
        return tile && *tile > 0 ? tiles(bound->args[0], static_cast<std::uint32_t>(*tile)) : std::nullopt;
    }

    bool asks_launch(const Access& access) {
        const auto most = tiles(access.lanes, access.tile), least = counted(access);
        if (!most || !least || !in_every_launch(access.block)) return false;
        if (most->kind == LaunchTerm::Kind::Number && least->kind == LaunchTerm::Kind::Number) return least->number <= most->number;
        const LaunchCheck check{*least, *most};
        auto& checks = function_.facts.launch_checks;
        if (std::find(checks.begin(), checks.end(), check) == checks.end()) checks.push_back(check);
        return true;
    }

    // Does every launch that comes to its end make the access? A loop over the tiles of a tensor runs once at least.
    bool in_every_launch(BlockId block) const {
        std::vector<bool> seen(function_.blocks.size());
        std::vector<BlockId> work;
        const auto reach = [&](BlockId next) {
            if (next == block || seen[next.raw]) return;
            seen[next.raw] = true;
            work.push_back(next);
        };
        reach(function_.entry());
        while (!work.empty()) {
            const BlockId at = work.back();
            work.pop_back();
            const Instruction& end = function_.terminator(at);
            if (end.op == Op::Ret) return false;
            for (std::size_t t = 0; t < end.targets.size(); ++t) {
                const BlockId next = end.targets[t].block;
                if (t == 0 || !runs_once(at)) reach(next);
                // Once control has been around, the loop may end.
                if (next != block && dominators_.dominates(next, at) && runs_once(next)) reach(function_.terminator(next).targets[1].block);
            }
        }
        return true;
    }

    // Is this the test of a loop whose first round takes the first target for sure?
    bool runs_once(BlockId header) const {
        const Instruction& branch = function_.terminator(header);
        const Instruction* test = branch.op == Op::Br ? function_.def(branch.args[0]) : nullptr;
        if (test == nullptr || test->op != Op::Icmp || test->int_cond() != IntCond::Slt) return false;
        const Instruction* bound = function_.def(test->args[1]);
        if (bound == nullptr || bound->op != Op::TileCount) return false;
        const auto tile = number(bound->args[1]);
        const bool some = tile && *tile > 0 && tiles(bound->args[0], static_cast<std::uint32_t>(*tile)) && number(bound->args[0]).value_or(1) > 0;
        const auto& params = function_.blocks[header].params;
        const auto param = std::find(params.begin(), params.end(), test->args[0]);
        if (!some || param == params.end()) return false;
        for (const BlockId pred : cfg_.preds(header)) {   // from outside it comes with 0
            if (dominators_.dominates(header, pred)) continue;
            for (const Target& target : function_.terminator(pred).targets) {
                if (target.block == header && number(target.args[static_cast<std::size_t>(param - params.begin())]) != 0) return false;
            }
        }
        return true;
    }

    // ---- reports

    void make_true(Instruction& inst) {
        inst.op = Op::Const;
        inst.type = Type::I1;
        inst.imm = 1;
        inst.args = {};
    }

    void never(const Instruction& inst, std::int32_t index, std::optional<std::int32_t> lanes, std::uint32_t tile) {
        const Span at = user_span(function_, inst);
        good_ = false;
        Diagnostic& error = context_.sink.error(Code::OCK0508, at, fmt::format("tile index {} is out of range", index));
        if (lanes) error.label(at, fmt::format("{} lanes make {} tiles of {}", *lanes, (static_cast<std::uint32_t>(*lanes) + tile - 1) / tile, tile));
        else error.label(at, "indices are counted from 0");
    }

    void deny(const Instruction& inst, const Access& access) {
        const Span at = user_span(function_, inst);
        good_ = false;
        const bool every = in_every_launch(access.block);
        context_.sink.error(Code::OCK0509, at, "this tile index would be checked on the device")
            .label(at, every || !counted(access) ? "nothing says that it leads to a tile" : "not every launch comes here, so that the launch cannot be asked for it")
            .help("count with `0..num_tiles(&partition, axis)` of this axis, or take `deny_in_kernel_checks` away");
    }

    Function& function_;
    const Context& context_;
    const Cfg cfg_;
    const Dominators dominators_;
    std::vector<InstId> proven_;
    bool good_ = true;
};

// Counts and checks that are left, as arithmetic.
class CountExpansion {
  public:
    explicit CountExpansion(Function& function) : function_(function), builder_(function) {}

    void run() {
        for (const BlockId block : std::vector<BlockId>(function_.layout)) {
            const auto is_count = [&](InstId id) { return function_.insts[id].op == Op::TileCount || function_.insts[id].op == Op::TileInRange; };
            auto& own = function_.blocks[block].insts;
            if (std::none_of(own.begin(), own.end(), is_count)) continue;
            const std::vector<InstId> insts = std::move(own);
            function_.blocks[block].insts.clear();
            builder_.at_end(block);
            for (const InstId id : insts) {
                if (is_count(id)) expand(id);
                function_.blocks[block].insts.push_back(id);
            }
        }
    }

  private:
    // lanes / tile, and one more for what is left.
    void expand(InstId id) {
        const Instruction inst = function_.insts[id];   // a copy: the store grows
        builder_.set_span(inst.span);
        const bool counts = inst.op == Op::TileCount;
        const ValueId lanes = inst.args[counts ? 0 : 1], tile = inst.args[counts ? 1 : 2];
        const ValueId whole = builder_.binary(Op::Udiv, Type::I32, lanes, tile), rest = builder_.binary(Op::Urem, Type::I32, lanes, tile);
        const ValueId more = builder_.convert(Op::Zext, Type::I32, builder_.icmp(IntCond::Ne, rest, builder_.const_int(Type::I32, 0)));
        Instruction& last = function_.insts[id];
        if (counts) {
            last.op = Op::Iadd;
            last.args = {whole, more};
            return;
        }
        const ValueId count = builder_.binary(Op::Iadd, Type::I32, whole, more);
        Instruction& test = function_.insts[id];
        test.op = Op::Icmp;
        test.aux = static_cast<std::uint16_t>(IntCond::Ult);   // an index below zero is a large unsigned number
        test.args = {inst.args[0], count};
    }

    Function& function_;
    Builder builder_;
};

}  // namespace

bool place_checks(Function& function, const Context& context) { return CheckPlacer(function, context).run(); }

void expand_counts(Function& function) { CountExpansion(function).run(); }

}  // namespace ockc::tile
