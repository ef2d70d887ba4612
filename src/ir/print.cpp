#include "ir/print.hpp"

#include <bit>
#include <cmath>

#include "ir/names.hpp"
#include "support/text_writer.hpp"

namespace ockc::ir {

namespace {

class Printer {
  public:
    Printer(const Module& module, TextWriter& out) : module_(module), out_(out) {}

    void global(const Global& global) {
        out_.put("global @{}: {} {} align {}", global.name, type_text(ptr_type(global.space)).substr(4),
                 global.size, global.align);
        if (global.is_extern) out_.raw(" extern");
        if (global.visible) out_.raw(" visible");
        if (!global.init.empty()) out_.raw(" init 0x");
        for (const std::uint8_t byte : global.init)
            out_.put("{:02x}", byte);
        for (const Relocation& one : global.relocations)
            out_.put(" at {} @{}", one.offset, module_.globals[one.target].name);
        out_.end_line();
    }

    void function(const Function& function) {
        number(function);
        signature(function);
        for (const BlockId block : function.layout) {
            block_head(function, block);
            out_.indent();
            for (const InstId inst : function.blocks[block].insts) {
                instruction(function, function.insts[inst]);
                out_.end_line();
            }
            out_.dedent();
        }
        out_.line("}}");
    }

    // Canonical numbers: entry parameters, then per block its parameters and results.
    void number(const Function& function) {
        values_ = SideMap<ValueId, std::uint32_t>(function.values.size(), kUnnumbered);
        blocks_ = SideMap<BlockId, std::uint32_t>(function.blocks.size(), kUnnumbered);
        std::uint32_t next_value = 0;
        std::uint32_t next_block = 0;
        for (const BlockId block : function.layout) {
            blocks_.set(block, next_block++);
            for (const ValueId param : function.blocks[block].params)
                values_.set(param, next_value++);
            for (const InstId inst : function.blocks[block].insts) {
                for (const ValueId result : function.insts[inst].results)
                    values_.set(result, next_value++);
            }
        }
    }

    void instruction(const Function& function, const Instruction& inst) {
        results(function, inst);
        mnemonic(inst);
        switch (text_form(inst.op)) {
            case TextForm::Const: constant(inst); break;
            case TextForm::Global: out_.put(" @{}", module_.globals[inst.global].name); break;
            case TextForm::Alloca: out_.put(" {} align {}", inst.imm, inst.memory.align); break;
            case TextForm::Load:
                address(inst);
                memory_flags(inst);
                break;
            case TextForm::Store:
                address(inst);
                out_.raw(", ");
                value(inst.args[1]);
                memory_flags(inst);
                break;
            case TextForm::Bulk:
                out_.raw(" ");
                values(inst.args.view());
                out_.put(", {}", inst.imm);
                memory_flags(inst);
                break;
            case TextForm::Call:
                out_.put(" @{}(", module_.functions[inst.callee].name);
                values(inst.args.view());
                out_.raw(")");
                for (std::size_t i = 0; i < inst.results.size(); ++i) {
                    out_.put("{}{}", i == 0 ? " -> " : ", ", type_text(function.type_of(inst.results[i])));
                }
                break;
            case TextForm::Panic:
                out_.put(" {}(", inst.imm);
                values(inst.args.view());
                out_.raw(")");
                break;
            case TextForm::Asm:
                out_.put(" {}(", inst.imm);
                values(inst.args.view());
                out_.raw(")");
                for (std::size_t i = 0; i < inst.results.size(); ++i) {
                    out_.put("{}{}", i == 0 ? " -> " : ", ", type_text(function.type_of(inst.results[i])));
                }
                break;
            case TextForm::Bounded:
                plain_operands(inst);
                if (inst.imm != 0) out_.put(", {}", inst.imm);
                break;
            case TextForm::Tile: tile(inst); break;
            case TextForm::Plain: plain_operands(inst); break;
        }
    }

  private:
    static constexpr std::uint32_t kUnnumbered = 0xFFFF'FFFFu;

    void tile(const Instruction& inst) {
        if (inst.callee.valid()) out_.put(" @{}", module_.functions[inst.callee].name);
        if (inst.imm != 0) out_.put(" {}", inst.imm);
        out_.raw(" (");
        values(inst.args.view());
        out_.put("): {}", tile_type_text(module_.tile_types[inst.tile]));
    }

    void signature(const Function& function) {
        out_.put("{} @{}(", function.is_kernel ? "kernel" : "func", function.name);
        const auto& params = function.blocks[function.entry()].params;
        for (std::size_t i = 0; i < params.size(); ++i) {
            if (i != 0) out_.raw(", ");
            out_.put("%{}: {}", i, type_text(function.type_of(params[i])));
            if (i < function.param_attrs.size()) param_attrs(function.param_attrs[i]);
        }
        out_.raw(")");
        for (std::size_t i = 0; i < function.results.size(); ++i) {
            out_.put("{}{}", i == 0 ? " -> " : ", ", type_text(function.results[i]));
        }
        if (function.inline_hint == Inline::Always) out_.raw(" inline always");
        if (function.inline_hint == Inline::Never) out_.raw(" inline never");
        if (function.is_kernel) kernel_facts(function);
        out_.raw(" {").end_line();
    }

    void kernel_facts(const Function& function) {
        const KernelFacts& facts = function.facts;
        if (function.kernel_index != 0) out_.put(" index {}", function.kernel_index);
        if (facts.domain != 0) out_.put(" domain {}", facts.domain);
        if (facts.block[0] != 0) out_.put(" block {} {} {}", facts.block[0], facts.block[1], facts.block[2]);
        if (facts.max_threads != 0) out_.put(" max_threads {}", facts.max_threads);
        if (facts.dynamic_shared != 0) out_.put(" dynamic_shared {}", facts.dynamic_shared);
    }

    void param_attrs(const ParamAttrs& attrs) {
        if (attrs.readonly) out_.raw(" readonly");
        if (attrs.noalias) out_.raw(" noalias");
        if (attrs.nonnull) out_.raw(" nonnull");
        if (attrs.align != 1) out_.put(" align {}", attrs.align);
    }

    void block_head(const Function& function, BlockId id) {
        const Block& block = function.blocks[id];
        out_.put("bb{}", blocks_[id]);
        for (std::size_t i = 0; i < block.params.size(); ++i) {
            out_.raw(i == 0 ? "(" : ", ");
            value(block.params[i]);
            out_.put(": {}", type_text(function.type_of(block.params[i])));
            const TileTypeId tile = function.values[block.params[i]].tile;
            if (tile.valid()) out_.put(" {}", tile_type_text(module_.tile_types[tile]));
        }
        if (!block.params.empty()) out_.raw(")");
        if (block.cold) out_.raw(" cold");
        if (block.unroll == kUnrollFull) {
            out_.raw(" unroll full");
        } else if (block.unroll != 0) {
            out_.put(" unroll {}", block.unroll);
        }
        out_.raw(":").end_line();
    }

    void results(const Function&, const Instruction& inst) {
        if (inst.results.empty()) return;
        values(inst.results.view());
        out_.raw(" = ");
    }

    void mnemonic(const Instruction& inst) {
        const OpInfo& info = op_info(inst.op);
        out_.raw(info.text);
        switch (info.aux) {
            case AuxKind::None: break;
            case AuxKind::IntCond: out_.put(".{}", int_cond_text(inst.int_cond())); break;
            case AuxKind::FloatCond: out_.put(".{}", float_cond_text(inst.float_cond())); break;
            case AuxKind::Sreg: out_.put(".{}", sreg_text(inst.sreg())); break;
            case AuxKind::Scope: out_.put(".{}", scope_text(inst.fence_scope())); break;
            case AuxKind::Order: out_.put(".{}", atomic_text(inst.atomic(), false)); break;
            case AuxKind::Atomic: out_.put(".{}", atomic_text(inst.atomic(), true)); break;
            case AuxKind::Machine: out_.put(".{}", intrinsic::info(inst.machine()).key); break;

        }
        if (mnemonic_has_type(inst.op)) out_.put(".{}", type_text(inst.type));
    }

    void constant(const Instruction& inst) {
        if (is_float(inst.type)) return float_constant(inst);
        if (is_ptr(inst.type)) {
            out_.put(" 0x{:x}", inst.imm);
        } else if (inst.type == Type::I128) {
            const bool fits = inst.imm_high == ((inst.imm >> 63) != 0 ? ~std::uint64_t{0} : 0);
            if (fits) {
                out_.put(" {}", static_cast<std::int64_t>(inst.imm));
            } else {
                out_.put(" 0x{:016x}{:016x}", inst.imm_high, inst.imm);
            }
        } else if (inst.type == Type::I1) {
            out_.put(" {}", inst.imm);
        } else {
            const std::uint32_t shift = 64 - type_bits(inst.type);
            out_.put(" {}", static_cast<std::int64_t>(inst.imm << shift) >> shift);
        }
    }

    // f32 and f64 print the shortest decimal that reads back to the same bits; all else prints its bits.
    void float_constant(const Instruction& inst) {
        if (inst.type == Type::F32) {
            const float number = std::bit_cast<float>(static_cast<std::uint32_t>(inst.imm));
            if (std::isfinite(number)) {
                out_.put(" {}", number);
                return;
            }
        } else if (inst.type == Type::F64) {
            const double number = std::bit_cast<double>(inst.imm);
            if (std::isfinite(number)) {
                out_.put(" {}", number);
                return;
            }
        }
        out_.put(" 0x{:0{}x}", inst.imm, type_bytes(inst.type) * 2);
    }

    void plain_operands(const Instruction& inst) {
        if (!inst.args.empty()) {
            out_.raw(" ");
            values(inst.args.view());
        }
        for (std::size_t i = 0; i < inst.targets.size(); ++i) {
            out_.raw(i == 0 && inst.args.empty() ? " " : ", ");
            if (inst.op == Op::Switch && i > 0) out_.put("{}: ", inst.cases[i - 1]);
            target(inst.targets[i]);
        }
    }

    void address(const Instruction& inst) {
        out_.raw(" ");
        value(inst.args[0]);
        const auto offset = static_cast<std::int64_t>(inst.imm);
        if (offset > 0) out_.put(" + {}", offset);
        if (offset < 0) out_.put(" - {}", std::uint64_t{0} - inst.imm);
    }

    void memory_flags(const Instruction& inst) {
        out_.put(" align {}", inst.memory.align);
        if (inst.memory.readonly) out_.raw(" readonly");
        if (inst.memory.is_volatile) out_.raw(" volatile");
    }

    void target(const Target& target) {
        out_.put("bb{}", blocks_[target.block]);
        if (target.args.empty()) return;
        out_.raw("(");
        values(target.args);
        out_.raw(")");
    }

    void value(ValueId id) {
        const std::uint32_t number = values_[id];
        if (number == kUnnumbered) {
            out_.put("%?{}", id.raw);  // not defined by any block: only in broken functions
        } else {
            out_.put("%{}", number);
        }
    }

    void values(std::span<const ValueId> ids) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (i != 0) out_.raw(", ");
            value(ids[i]);
        }
    }

    const Module& module_;
    TextWriter& out_;
    SideMap<ValueId, std::uint32_t> values_;
    SideMap<BlockId, std::uint32_t> blocks_;
};

}  // namespace

std::string print(const Module& module) {
    TextWriter out;
    Printer printer(module, out);
    if (!module.source_name.empty()) out.line("source \"{}\"", module.source_name);
    for (const Global& global : module.globals)
        printer.global(global);
    bool first = module.source_name.empty() && module.globals.empty();
    for (const Function& function : module.functions) {
        if (function.removed) continue;
        if (!first) out.end_line();
        printer.function(function);
        first = false;
    }
    return out.take();
}

std::string print(const Module& module, const Function& function) {
    TextWriter out;
    Printer(module, out).function(function);
    return out.take();
}

std::string print_inst(const Module& module, const Function& function, InstId inst) {
    TextWriter out;
    Printer printer(module, out);
    printer.number(function);
    printer.instruction(function, function.insts[inst]);
    return out.take();
}

}  // namespace ockc::ir
