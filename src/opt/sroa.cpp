// Scalar replacement of aggregates: splits stack slots into the parts that are accessed, so that mem2reg can
// make values of them, and turns memcpy and memset of such slots into loads and stores of the parts.
//
//   1. Every pointer that is a slot plus a constant is found (through ptradd and spacecast), or a slot plus
//      something that stays within known bytes of it (an array in a struct: nonnull with a size). A slot
//      whose address is used in any other way, or accessed outside its bounds, is left alone ("pinned").
//   2. Loads and stores give a slot its pieces (offset, size, type). A memcpy between two slots makes their
//   pieces
//      equal where it copies: pieces travel along such links until nothing changes.
//   3. Overlapping pieces form one part. A part with one piece is a scalar; the others stay memory of their
//   own.
//   4. Each part becomes a slot; accesses are rewritten. Slots that are never read lose their stores.
// Work is linear in accesses plus the pieces that travel, with a limit of pieces for each slot.
#include <algorithm>
#include <map>
#include <vector>

#include "ir/analysis/cfg.hpp"
#include "ir/analysis/uses.hpp"
#include "opt/edit.hpp"
#include "opt/pass.hpp"

namespace ockc::opt {

using namespace ir;

namespace {

constexpr std::size_t kMaxPieces = 1024;  // a slot with more stays in memory
constexpr std::uint32_t kNoSlot = 0xFFFF'FFFFu;

struct Place {
    std::uint32_t slot = kNoSlot;
    std::int64_t offset = 0;
    // What the pointer can reach: the slot's bytes [begin, begin + bytes); 0 bytes: the whole slot.
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    bool is_dynamic = false;  // somewhere in there; the offset says nothing
};

struct PieceKey {
    std::uint64_t offset;
    std::uint64_t size;
    friend auto operator<=>(const PieceKey&, const PieceKey&) = default;
};

// A memcpy between [offset, offset + size) of this slot and the same bytes of another.
struct Link {
    std::uint32_t other;
    std::uint64_t offset;
    std::uint64_t other_offset;
    std::uint64_t size;
};

// Bytes that a memcpy reads or writes, and the alignment of what they are.
struct Copied {
    std::uint64_t begin, end;
    std::uint32_t align;
};

struct Part {
    std::uint64_t offset;
    std::uint64_t size;
    Type type = Type::Void;  // Void: not a scalar
    InstId alloca;           // the new slot
};

struct Slot {
    InstId alloca;
    std::uint64_t size = 0;
    bool pinned = false;
    bool direct = true;               // only accessed as a whole, by loads and stores of its very address
    bool read = false;                // loaded from, or copied to somewhere that matters
    bool filled = false;              // written by a memset, or copied into from memory that is no slot
    std::map<PieceKey, Type> pieces;  // Void: bytes that must stay together
    std::vector<Link> links;
    std::vector<Copied> copied;
    std::vector<Part> parts;
};

class Sroa {
  public:
    Sroa(Function& function, bool early) : function_(function), pool_(function), early_(early) {}

    bool run() {
        for (const InstId id : function_.blocks[function_.entry()].insts) {
            const Instruction& inst = function_.insts[id];
            if (inst.op == Op::Alloca)
                slots_.push_back({id, inst.imm, false, true, false, false, {}, {}, {}, {}});
        }
        if (slots_.empty()) return false;
        find_places();
        if (!collect()) return false;
        spread_pieces();
        fill_gaps();
        pin_linked();
        mark_read();
        if (!make_parts()) return false;
        rewrite();
        pool_.place();
        return true;
    }

  private:
    // ---- 1: which values are a slot's address plus a constant
    // -------------------------------------------------------

    void find_places() {
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            places_.set(function_.insts[slots_[i].alloca].result(), {i, 0});
        }
        for (const BlockId block : reverse_postorder(function_)) {
            for (const InstId id : function_.blocks[block].insts)
                find_place(function_.insts[id]);
        }
    }

    void find_place(const Instruction& inst) {
        if (inst.op == Op::SpaceCast) {
            if (places_[inst.args[0]].slot != kNoSlot) places_.set(inst.result(), places_[inst.args[0]]);
        } else if (inst.op == Op::Nonnull && places_[inst.args[0]].slot != kNoSlot) {
            places_.set(inst.result(), bounded(places_[inst.args[0]], inst.imm));
        } else if (inst.op == Op::PtrAdd && places_[inst.args[0]].slot != kNoSlot) {
            const Instruction* offset = constant_def(function_, inst.args[1]);
            Place place = places_[inst.args[0]];
            if (offset != nullptr) {
                place.offset =
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(place.offset) + offset->imm);
            } else if (place.bytes != 0) {
                place.is_dynamic = true;
            } else {
                pin(place);
                return;
            }
            places_.set(inst.result(), place);
        }
    }

    // The place when nothing outside the next `bytes` bytes is reached through it.
    Place bounded(Place place, std::uint64_t bytes) const {
        const std::uint64_t size = slots_[place.slot].size;
        if (bytes == 0 || place.is_dynamic || place.offset < 0 ||
            static_cast<std::uint64_t>(place.offset) > size)
            return place;
        const auto begin = static_cast<std::uint64_t>(place.offset);
        if (bytes > size - begin || (place.bytes != 0 && bytes >= place.bytes)) return place;
        place.begin = begin;
        place.bytes = bytes;
        return place;
    }

    void pin(Place place) {
        if (place.slot != kNoSlot) slots_[place.slot].pinned = true;
    }

    // The slot of an access of `size` bytes, when it lies inside; else pins it.
    Slot* access(Place place, std::uint64_t size) {
        if (place.slot == kNoSlot) return nullptr;
        Slot& slot = slots_[place.slot];
        if (place.is_dynamic) return &slot;
        if (place.offset < 0 || static_cast<std::uint64_t>(place.offset) > slot.size ||
            size > slot.size - static_cast<std::uint64_t>(place.offset)) {
            slot.pinned = true;
            return nullptr;
        }
        return &slot;
    }

    Place accessed(const Instruction& inst, std::uint32_t arg) const {
        Place place = places_[inst.args[arg]];
        if (inst.op == Op::Load || inst.op == Op::Store) place.offset += static_cast<std::int64_t>(inst.imm);
        return place;
    }

    // ---- 2: pieces and links
    // -----------------------------------------------------------------------------------------

    bool collect() {
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts)
                pin_escapes(function_.insts[id]);
        }
        for (const BlockId block : function_.layout) {
            for (const InstId id : function_.blocks[block].insts)
                collect_inst(function_.insts[id]);
        }
        return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.pinned; });
    }

    // Pins first, so that links to pinned slots are known to lead outside.
    void pin_escapes(const Instruction& inst) {
        switch (inst.op) {
            case Op::PtrAdd:
            case Op::Nonnull:
            case Op::SpaceCast: return;
            case Op::Load: access(accessed(inst, 0), type_bytes(inst.type)); return;
            case Op::Store:
                access(accessed(inst, 0), type_bytes(inst.type));
                pin(places_[inst.args[1]]);
                return;
            case Op::Memcpy:
                access(accessed(inst, 0), inst.imm);
                access(accessed(inst, 1), inst.imm);
                return;
            case Op::Memset: access(accessed(inst, 0), inst.imm); return;
            default: for_each_use(inst, [&](ValueId value) { pin(places_[value]); }); return;
        }
    }

    void add_piece(Slot& slot, std::uint64_t offset, std::uint64_t size, Type type) {
        const auto [found, fresh] = slot.pieces.emplace(PieceKey{offset, size}, type);
        if (fresh) {
            work_.push_back({static_cast<std::uint32_t>(&slot - slots_.data()), {offset, size}});
            if (slot.pieces.size() > kMaxPieces) slot.pinned = true;
        } else if (type == Type::Void) {
            found->second = Type::Void;
        } else if (found->second == Type::I1 && type == Type::I8) {
            // A byte that is a truth value in one place and a number in another (Option<bool>): the number's
            // bits count.
            found->second = Type::I8;
            work_.push_back({static_cast<std::uint32_t>(&slot - slots_.data()), {offset, size}});
        }
    }

    // Bytes that are reached at places unknown until the program runs stay together.
    void add_region(const Place& place) {
        Slot& slot = slots_[place.slot];
        slot.direct = false;
        add_piece(slot, place.begin, place.bytes, Type::Void);
    }

    void collect_inst(const Instruction& inst) {
        if (inst.op == Op::Load || inst.op == Op::Store) {
            const Place place = accessed(inst, 0);
            if (place.slot == kNoSlot) return;
            Slot& slot = slots_[place.slot];
            if (inst.op == Op::Load || inst.memory.is_volatile) slot.read = true;
            if (place.is_dynamic) return add_region(place);
            add_piece(slot, static_cast<std::uint64_t>(place.offset), type_bytes(inst.type), inst.type);
            const bool whole = type_bytes(inst.type) == slot.size && inst.imm == 0;
            if (!whole || inst.args[0] != function_.insts[slot.alloca].result()) slot.direct = false;
        } else if (inst.op == Op::Memset) {
            const Place place = accessed(inst, 0);
            if (place.slot == kNoSlot) return;
            Slot& slot = slots_[place.slot];
            if (place.is_dynamic) return add_region(place);
            slot.direct = false;
            slot.filled = true;
            if (constant_def(function_, inst.args[1]) == nullptr) {
                add_piece(slot, static_cast<std::uint64_t>(place.offset), inst.imm, Type::Void);
            }
        } else if (inst.op == Op::Memcpy) {
            collect_copy(inst);
        }
    }

    void collect_copy(const Instruction& inst) {
        const Place to = accessed(inst, 0);
        const Place from = accessed(inst, 1);
        if (to.slot != kNoSlot) slots_[to.slot].direct = false;
        if (from.slot != kNoSlot) slots_[from.slot].direct = false;
        if (to.is_dynamic) add_region(to);
        if (from.is_dynamic) {
            add_region(from);
            slots_[from.slot].read = true;
        }
        const bool to_open = to.slot != kNoSlot && !slots_[to.slot].pinned && !to.is_dynamic;
        const bool from_open = from.slot != kNoSlot && !slots_[from.slot].pinned && !from.is_dynamic;
        const auto to_offset = static_cast<std::uint64_t>(to.offset);
        const auto from_offset = static_cast<std::uint64_t>(from.offset);
        if (to_open) slots_[to.slot].copied.push_back({to_offset, to_offset + inst.imm, inst.memory.align});
        if (from_open)
            slots_[from.slot].copied.push_back({from_offset, from_offset + inst.imm, inst.memory.align});
        if (to_open && from_open) {
            if (to.slot == from.slot) {  // inside one slot: as bytes
                add_piece(slots_[to.slot], to_offset, inst.imm, Type::Void);
                add_piece(slots_[to.slot], from_offset, inst.imm, Type::Void);
                slots_[to.slot].read = true;
                return;
            }
            slots_[to.slot].links.push_back({from.slot, to_offset, from_offset, inst.imm});
            slots_[from.slot].links.push_back({to.slot, from_offset, to_offset, inst.imm});
            copies_.push_back({from.slot, to.slot});
        } else if (to_open) {
            slots_[to.slot].filled = true;
        } else if (from_open) {
            slots_[from.slot].read = true;
            outgoing_.push_back({from.slot, {from_offset, inst.imm}});
        }
    }

    // Pieces go along the links. A piece that a link cuts in two stays in memory, on both sides.
    void spread_pieces() {
        while (!work_.empty()) {
            const auto [index, piece] = work_.back();
            work_.pop_back();
            Slot& slot = slots_[index];
            if (slot.pinned) continue;
            const Type type = slot.pieces[piece];
            for (std::size_t i = 0; i < slot.links.size(); ++i) {
                const Link link = slot.links[i];
                const std::uint64_t begin = std::max(piece.offset, link.offset);
                const std::uint64_t end = std::min(piece.offset + piece.size, link.offset + link.size);
                if (begin >= end) continue;
                const bool inside = end - begin == piece.size;
                if (!inside) add_piece(slot, begin, end - begin, Type::Void);
                add_piece(slots_[link.other], begin - link.offset + link.other_offset, end - begin,
                          inside ? type : Type::Void);
            }
        }
    }

    // Bytes that are copied out of a slot, were filled from outside, and belong to no piece: they need pieces
    // too.
    void fill_gaps() {
        spread_filled();
        for (Slot& slot : slots_) {
            if (!slot.filled || slot.pinned) continue;
            for (const auto& [key, type] : slot.pieces) {
                if (type == Type::I1) add_piece(slot, key.offset, key.size, Type::I8);
            }
        }
        for (const auto& [index, range] : outgoing_) {
            Slot& slot = slots_[index];
            if (slot.pinned || !slot.filled) continue;
            std::uint64_t at = range.offset;
            const std::uint64_t end = range.offset + range.size;
            std::vector<PieceKey> keys;
            for (const auto& [key, type] : slot.pieces)
                keys.push_back(key);
            for (const PieceKey& key : keys) {
                if (key.offset > at) fill(slot, at, std::min(key.offset, end));
                at = std::max(at, key.offset + key.size);
            }
            fill(slot, at, end);
        }
        spread_pieces();
    }

    void spread_filled() {
        std::vector<std::uint32_t> work;
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].filled) work.push_back(i);
        }
        while (!work.empty()) {
            const std::uint32_t index = work.back();
            work.pop_back();
            for (const Link& link : slots_[index].links) {
                if (slots_[link.other].filled) continue;
                slots_[link.other].filled = true;
                work.push_back(link.other);
            }
        }
    }

    // A slot with too many pieces stays whole, and so does what is copied to and from it.
    void pin_linked() {
        std::vector<std::uint32_t> work;
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].pinned) work.push_back(i);
        }
        while (!work.empty()) {
            const std::uint32_t index = work.back();
            work.pop_back();
            for (const Link& link : slots_[index].links) {
                if (slots_[link.other].pinned) continue;
                slots_[link.other].pinned = true;
                work.push_back(link.other);
            }
        }
    }

    // Covers [at, end) with the largest integers that no copy's alignment speaks against: a copied value's
    // own alignment is what its elements have, and pieces of that size agree with later accesses to them.
    void fill(Slot& slot, std::uint64_t at, std::uint64_t end) {
        if (early_ && at < end) return add_piece(slot, at, end - at, Type::Void);
        while (at < end && !slot.pinned) {
            std::uint64_t size = std::clamp<std::uint64_t>(function_.insts[slot.alloca].memory.align, 1, 8);
            for (const Copied& copied : slot.copied) {
                if (copied.begin <= at && at < copied.end) size = std::min<std::uint64_t>(size, copied.align);
            }
            while (size > end - at || at % size != 0)
                size /= 2;
            add_piece(slot, at, size, int_type(static_cast<std::uint32_t>(size) * 8));
            at += size;
        }
    }

    // What is copied into a slot that is read is read itself.
    void mark_read() {
        std::vector<std::vector<std::uint32_t>> sources(slots_.size());
        std::vector<std::uint32_t> work;
        for (const auto& [from, to] : copies_)
            sources[to].push_back(from);
        for (std::uint32_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].pinned) slots_[i].read = true;
            if (slots_[i].read) work.push_back(i);
        }
        while (!work.empty()) {
            const std::uint32_t index = work.back();
            work.pop_back();
            for (const std::uint32_t from : sources[index]) {
                if (slots_[from].read) continue;
                slots_[from].read = true;
                work.push_back(from);
            }
        }
    }

    // ---- 3: parts
    // ----------------------------------------------------------------------------------------------------

    bool make_parts() {
        bool any = false;
        for (Slot& slot : slots_) {
            if (slot.pinned) continue;
            for (const auto& [key, type] : slot.pieces) {
                if (!slot.parts.empty() && key.offset < slot.parts.back().offset + slot.parts.back().size) {
                    Part& part = slot.parts.back();
                    part.size = std::max(part.size, key.offset + key.size - part.offset);
                    part.type = Type::Void;
                } else {
                    slot.parts.push_back({key.offset, key.size, type, {}});
                }
            }
            const bool done = slot.direct && slot.read && slot.parts.size() == 1;
            if (done || (slot.parts.size() == 1 && slot.direct && slot.parts[0].type == Type::Void)) {
                slot.pinned = true;  // already in its final form
                slot.parts.clear();
                continue;
            }
            any = any || !is_final(slot);
        }
        return any;
    }

    // One memory part as large as the slot: splitting again would only make the same slot anew.
    static bool is_final(const Slot& slot) {
        return slot.read && slot.parts.size() == 1 && slot.parts[0].type == Type::Void &&
               slot.parts[0].size == slot.size;
    }

    // ---- 4: rewriting
    // ------------------------------------------------------------------------------------------------

    void rewrite() {
        std::vector<InstId> allocas;
        for (Slot& slot : slots_) {
            if (!slot.pinned && slot.read && !is_final(slot)) make_slots(slot, allocas);
        }
        for (const BlockId block : function_.layout) {
            auto& insts = function_.blocks[block].insts;
            out_.clear();
            bool same = true;
            for (const InstId id : insts) {
                const std::size_t before = out_.size();
                rewrite_inst(id);
                same = same && out_.size() == before + 1 && out_.back() == id;
            }
            if (!same) insts = out_;
        }
        auto& entry = function_.blocks[function_.entry()].insts;
        entry.insert(entry.begin(), allocas.begin(), allocas.end());
    }

    void make_slots(Slot& slot, std::vector<InstId>& allocas) {
        const Instruction like = function_.insts[slot.alloca];
        for (Part& part : slot.parts) {
            part.alloca = make_inst(function_, Op::Alloca, Type::PtrLocal, Type::PtrLocal, {}, like);
            Instruction& made = function_.insts[part.alloca];
            made.imm = part.size;
            made.memory.align =
                part.type != Type::Void ? type_bytes(part.type) : align_at(like.memory.align, part.offset);
            allocas.push_back(part.alloca);
        }
    }

    static std::uint32_t align_at(std::uint32_t align, std::uint64_t offset) {
        while (align > 1 && offset % align != 0)
            align /= 2;
        return align;
    }

    bool is_open(Place place) const {
        return place.slot != kNoSlot && !slots_[place.slot].pinned && !is_final(slots_[place.slot]);
    }

    Part& part_at(Slot& slot, std::uint64_t offset) {
        const auto after =
            std::upper_bound(slot.parts.begin(), slot.parts.end(), offset,
                             [](std::uint64_t at, const Part& part) { return at < part.offset; });
        OCKC_CHECK(after != slot.parts.begin());
        return *(after - 1);
    }

    void rewrite_inst(InstId id) {
        const Op op = function_.insts[id].op;
        if (op == Op::Load || op == Op::Store) {
            if (rewrite_access(id)) out_.push_back(id);
        } else if (op == Op::Memset && is_open(places_[function_.insts[id].args[0]])) {
            rewrite_memset(id);
        } else if (op == Op::Memcpy && (is_open(places_[function_.insts[id].args[0]]) ||
                                        is_open(places_[function_.insts[id].args[1]]))) {
            rewrite_memcpy(id);
        } else if (op == Op::Alloca && is_open(places_[function_.insts[id].result()])) {
            return;  // replaced by its parts
        } else if ((op == Op::PtrAdd || op == Op::SpaceCast || op == Op::Nonnull) &&
                   is_open(places_[function_.insts[id].result()])) {
            // Every use of a constant address is rewritten.
            if (places_[function_.insts[id].result()].is_dynamic) rewrite_dynamic(id);
        } else {
            out_.push_back(id);
        }
    }

    // An address that is not constant: it starts from the part that it stays in.
    void rewrite_dynamic(InstId id) {
        const Place from = places_[function_.insts[id].args[0]];
        Slot& slot = slots_[from.slot];
        if (!slot.read) return;  // and so is every store through it
        if (!from.is_dynamic) {
            const Part& part = part_at(slot, from.begin);
            const auto offset = static_cast<std::uint64_t>(from.offset) - part.offset;
            const ValueId base =
                emit_offset(function_.insts[part.alloca].result(), offset, Instruction(function_.insts[id]));
            function_.insts[id].args[0] = base;
        }
        Instruction& inst = function_.insts[id];
        if (inst.op != Op::SpaceCast) {
            inst.type = function_.type_of(inst.args[0]);
            function_.values[inst.result()].type = inst.type;
        }
        out_.push_back(id);
    }

    // Returns whether the access stays.
    bool rewrite_access(InstId id) {
        Instruction& inst = function_.insts[id];
        const Place place = accessed(inst, 0);
        if (!is_open(place)) return true;
        Slot& slot = slots_[place.slot];
        if (!slot.read && inst.op == Op::Store) return false;
        if (place.is_dynamic) return true;
        const Part& part = part_at(slot, static_cast<std::uint64_t>(place.offset));
        inst.args[0] = function_.insts[part.alloca].result();
        inst.imm = static_cast<std::uint64_t>(place.offset) - part.offset;
        inst.memory.align = std::max(inst.memory.align, part.type != Type::Void ? type_bytes(part.type) : 1);
        return true;
    }

    void emit(Op op, Type type, std::initializer_list<ValueId> args, std::uint64_t imm, MemoryInfo memory,
              const Instruction& like) {
        const InstId made = make_inst(function_, op, type, Type::Void, args, like);
        function_.insts[made].imm = imm;
        function_.insts[made].memory = memory;
        out_.push_back(made);
    }

    ValueId emit_load(Type type, ValueId from, std::uint64_t offset, MemoryInfo memory,
                      const Instruction& like) {
        const InstId made = make_inst(function_, Op::Load, type, type, {from}, like);
        function_.insts[made].imm = offset;
        function_.insts[made].memory = memory;
        out_.push_back(made);
        return function_.insts[made].result();
    }

    ValueId emit_offset(ValueId pointer, std::uint64_t offset, const Instruction& like) {
        if (offset == 0) return pointer;
        const Type type = function_.type_of(pointer);
        const InstId made =
            make_inst(function_, Op::PtrAdd, type, type, {pointer, pool_.get(Type::I64, offset)}, like);
        out_.push_back(made);
        return function_.insts[made].result();
    }

    // Calls visit(part, begin, end) for the parts of [offset, offset + size), clipped to it.
    template <class Visit>
    void for_each_part(Slot& slot, std::uint64_t offset, std::uint64_t size, Visit visit) {
        for (Part& part : slot.parts) {
            const std::uint64_t begin = std::max(part.offset, offset);
            const std::uint64_t end = std::min(part.offset + part.size, offset + size);
            if (begin < end) visit(part, begin, end);
        }
    }

    void rewrite_memset(InstId id) {
        const Instruction inst = function_.insts[id];
        const Place place = places_[inst.args[0]];
        Slot& slot = slots_[place.slot];
        if (!slot.read) return;
        if (place.is_dynamic) return out_.push_back(id);
        const Instruction* constant = constant_def(function_, inst.args[1]);
        const bool known = constant != nullptr;
        const std::uint64_t word = known ? (constant->imm & 0xFF) * 0x0101'0101'0101'0101u : 0;
        for_each_part(
            slot, static_cast<std::uint64_t>(place.offset), inst.imm,
            [&](Part& part, std::uint64_t begin, std::uint64_t end) {
                const ValueId to = function_.insts[part.alloca].result();
                if (part.type == Type::Void || end - begin != part.size || !known) {
                    const ValueId at = emit_offset(to, begin - part.offset, inst);
                    const std::uint32_t align =
                        align_at(function_.insts[part.alloca].memory.align, begin - part.offset);
                    emit(Op::Memset, Type::Void, {at, inst.args[1]}, end - begin, {align, false, false},
                         inst);
                    return;
                }
                const ValueId value =
                    pool_.get(part.type, Constant{part.type == Type::I1 ? word & 1 : word, word});
                emit(Op::Store, part.type, {to, value}, 0, {type_bytes(part.type), false, false}, inst);
            });
    }

    void rewrite_memcpy(InstId id) {
        const Instruction inst = function_.insts[id];
        const Place to = places_[inst.args[0]];
        const Place from = places_[inst.args[1]];
        if (is_open(to) && !slots_[to.slot].read) return;  // nobody looks at the copy
        const bool by_target = is_open(to) && !to.is_dynamic;
        if (!by_target && (!is_open(from) || from.is_dynamic)) return out_.push_back(id);
        const Place guide = by_target ? to : from;
        Slot& slot = slots_[guide.slot];
        const auto offset = static_cast<std::uint64_t>(guide.offset);
        for_each_part(slot, offset, inst.imm, [&](Part& part, std::uint64_t begin, std::uint64_t end) {
            const bool scalar = part.type != Type::Void && end - begin == part.size;
            copy_part(inst, to, from, begin - offset, end - begin, scalar ? part.type : Type::Void);
        });
    }

    // One side of a copy: an address and what is known of its alignment.
    struct Side {
        ValueId pointer;
        std::uint64_t offset;
        std::uint32_t align;
    };
    Side side(const Instruction& inst, std::uint32_t arg, Place place, std::uint64_t delta) {
        if (!is_open(place) || place.is_dynamic)
            return {inst.args[arg], delta, align_at(inst.memory.align, delta)};
        const Part& part = part_at(slots_[place.slot], static_cast<std::uint64_t>(place.offset) + delta);
        const std::uint64_t offset = static_cast<std::uint64_t>(place.offset) + delta - part.offset;
        return {function_.insts[part.alloca].result(), offset,
                align_at(function_.insts[part.alloca].memory.align, offset)};
    }

    // Copies `size` bytes at `delta` from the start of the memcpy: by value when `type` is given.
    void copy_part(const Instruction& inst, Place to, Place from, std::uint64_t delta, std::uint64_t size,
                   Type type) {
        const Side target = side(inst, 0, to, delta);
        const Side source = side(inst, 1, from, delta);
        if (type != Type::Void) {
            const ValueId value =
                emit_load(type, source.pointer, source.offset, {source.align, false, false}, inst);
            emit(Op::Store, type, {target.pointer, value}, target.offset, {target.align, false, false}, inst);
            return;
        }
        const ValueId to_at = emit_offset(target.pointer, target.offset, inst);
        const ValueId from_at = emit_offset(source.pointer, source.offset, inst);
        emit(Op::Memcpy, Type::Void, {to_at, from_at}, size,
             {std::min(target.align, source.align), false, false}, inst);
    }

    struct Work {
        std::uint32_t slot;
        PieceKey piece;
    };

    Function& function_;
    ConstantPool pool_;
    bool early_;  // callers will tell what unknown bytes are: they stay together
    std::vector<Slot> slots_;
    SideMap<ValueId, Place> places_;
    std::vector<Work> work_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> copies_;  // from, to
    std::vector<Work> outgoing_;                                   // copied to memory that is no open slot
    std::vector<InstId> out_;
};

}  // namespace

bool run_sroa(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return (has_slots(function) && Sroa(function, false).run()) || cut;
}

bool run_sroa_early(Function& function, const PassContext&) {
    const bool cut = trim(function);
    return (has_slots(function) && Sroa(function, true).run()) || cut;
}

}  // namespace ockc::opt
