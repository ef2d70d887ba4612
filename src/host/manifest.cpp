// The JSON manifest: what the generated header says, for programs in other languages. docs/abi.md is its
// schema; keys appear in a fixed order and every key is always there.
#include "host/host.hpp"
#include "host/json_writer.hpp"
#include "host/sha256.hpp"
#include "support/check.hpp"

namespace ockc::host {

using abi::AbiType;
using abi::KernelAbi;
using abi::KernelParam;
using abi::ParamKind;
using abi::SizeExpr;

namespace {

constexpr std::uint64_t kManifestVersion = 1;

const char* kind_name(ParamKind kind) {
    switch (kind) {
        case ParamKind::Slice: return "slice";
        case ParamKind::DisjointSlice: return "disjoint_slice";
        case ParamKind::Scalar: return "scalar";
        case ParamKind::Uniform: return "uniform";
        case ParamKind::Struct: return "struct";
        case ParamKind::Pointer: return "pointer";
        case ParamKind::Tensor: return "tensor";
        case ParamKind::TensorMap: return "tensor_map";
        case ParamKind::ZeroSized: return "zero_sized";
    }
    OCKC_UNREACHABLE("kind of a parameter");
}

void write_type(JsonWriter& json, std::string_view key, const AbiType& type) {
    json.object(key, [&] {
        switch (type.kind) {
            case AbiType::Kind::Scalar:
                json.string("kind", "scalar");
                json.string("name", abi::scalar_info(type.scalar).rust);
                break;
            case AbiType::Kind::Struct:
                json.string("kind", "struct");
                json.number("struct", type.struct_index);
                break;
            case AbiType::Kind::Array:
                OCKC_CHECK(type.element.size() == 1);
                json.string("kind", "array");
                json.number("length", type.array_length);
                write_type(json, "element", type.element.front());
                break;
        }
        json.number("size", type.size);
        json.number("align", type.align);
    });
}

void write_param(JsonWriter& json, const KernelParam& param) {
    json.object("", [&] {
        json.string("name", param.name);
        json.string("rust_type", param.rust_type);
        json.string("kind", kind_name(param.kind));
        write_type(json, "type", param.type);
        json.boolean("writable", param.writable);
        json.boolean("atomic", param.is_atomic);
        json.string("index_space", param.index_space);
        json.boolean("row_width", param.has_row_width);
        json.number("first_slot", param.first_slot);
        json.number("slot_count", param.slot_count);
    });
}

// The .param list, with the offsets that a packed parameter buffer has.
void write_slots(JsonWriter& json, const KernelAbi& kernel) {
    std::uint64_t offset = 0;
    for (const abi::ParamSlot& slot : kernel.slots) {
        OCKC_CHECK(slot.align != 0);
        offset = (offset + slot.align - 1) / slot.align * slot.align;
        json.object("", [&] {
            json.string("name", slot.name);
            json.string("type", slot.bytes ? "bytes" : abi::scalar_info(slot.scalar).rust);
            json.number("offset", offset);
            json.number("size", slot.size);
            json.number("align", slot.align);
        });
        offset += slot.size;
    }
}

template <class Values>
void write_numbers(JsonWriter& json, std::string_view key, const Values& values) {
    json.array(key, [&] {
        for (const auto value : values)
            json.number("", value);
    });
}

const char* relation_name(abi::Relation relation) {
    switch (relation) {
        case abi::Relation::Lt: return "<";
        case abi::Relation::Le: return "<=";
        case abi::Relation::Gt: return ">";
        case abi::Relation::Ge: return ">=";
        case abi::Relation::Eq: return "==";
        case abi::Relation::Ne: return "!=";
    }
    OCKC_UNREACHABLE("relation");
}

const char* size_kind_name(SizeExpr::Kind kind) {
    switch (kind) {
        case SizeExpr::Kind::Literal: return "literal";
        case SizeExpr::Kind::Param: return "param";
        case SizeExpr::Kind::Len: return "len";
        case SizeExpr::Kind::RowWidth: return "row_width";
        case SizeExpr::Kind::Add: return "+";
        case SizeExpr::Kind::Sub: return "-";
        case SizeExpr::Kind::Mul: return "*";
    }
    OCKC_UNREACHABLE("kind of a size expression");
}

void write_size(JsonWriter& json, std::string_view key, const SizeExpr& expr) {
    json.object(key, [&] {
        json.string("kind", size_kind_name(expr.kind));
        if (expr.kind == SizeExpr::Kind::Literal) {
            json.number("value", expr.literal);
        } else if (expr.operands.empty()) {
            json.number("param", expr.param);
        } else {
            json.array("operands", [&] {
                for (const SizeExpr& operand : expr.operands)
                    write_size(json, "", operand);
            });
        }
    });
}

// Facts that the kernel does not state are empty arrays or zero, as docs/abi.md says for each.
void write_launch(JsonWriter& json, const abi::LaunchFacts& launch) {
    using Numbers = std::vector<std::uint64_t>;
    const auto dims = [](const std::optional<abi::Dim3>& d) {
        return d ? Numbers(d->begin(), d->end()) : Numbers{};
    };
    Numbers shared{0, 0};
    if (launch.dynamic_shared) shared = {*launch.dynamic_shared, *launch.dynamic_shared};
    if (launch.dynamic_shared_range)
        shared.assign(launch.dynamic_shared_range->begin(), launch.dynamic_shared_range->end());
    Numbers capability;
    if (launch.min_compute_capability) {
        capability.assign(launch.min_compute_capability->begin(), launch.min_compute_capability->end());
    }
    json.object("launch", [&] {
        json.boolean("contract", launch.has_contract);
        json.number("domain", launch.domain);
        json.boolean("coordinates_u32", launch.coordinates_u32);
        write_numbers(json, "block", dims(launch.block));
        json.number("max_threads", launch.max_threads.value_or(0));
        json.number("min_blocks", launch.min_blocks.value_or(0));
        write_numbers(json, "dynamic_shared", shared);
        json.number("dynamic_shared_alignment", launch.dynamic_shared_alignment);
        write_numbers(json, "min_compute_capability", capability);
        write_numbers(json, "cluster", dims(launch.cluster));
        json.boolean("cooperative", launch.cooperative);
        json.array("requires", [&] {
            for (const abi::Requirement& requirement : launch.requirements) {
                json.object("", [&] {
                    json.string("text", requirement.text);
                    write_size(json, "lhs", requirement.lhs);
                    json.string("relation", relation_name(requirement.relation));
                    write_size(json, "rhs", requirement.rhs);
                });
            }
        });
    });
}

void write_kernel(JsonWriter& json, const KernelAbi& kernel) {
    json.object("", [&] {
        json.string("name", kernel.name);
        json.string("symbol", kernel.symbol);
        json.string("module", kernel.module);
        json.string("file", kernel.file);
        json.number("line", kernel.line);
        json.boolean("unsafe", kernel.is_unsafe);
        json.string("doc", kernel.doc);
        json.array("params", [&] {
            for (const KernelParam& param : kernel.params)
                write_param(json, param);
        });
        json.array("slots", [&] { write_slots(json, kernel); });
        write_launch(json, kernel.launch);
        json.number("static_shared_bytes", kernel.static_shared_bytes);
    });
}

void write_struct(JsonWriter& json, const abi::AbiStruct& structure) {
    json.object("", [&] {
        json.string("name", structure.name);
        json.string("rust_type", structure.rust_type);
        json.number("size", structure.size);
        json.number("align", structure.align);
        json.array("fields", [&] {
            for (const abi::AbiField& field : structure.fields) {
                json.object("", [&] {
                    json.string("name", field.name);
                    json.number("offset", field.offset);
                    write_type(json, "type", field.type);
                });
            }
        });
        json.array("variants", [&] {
            for (const abi::AbiVariant& variant : structure.variants) {
                json.object("", [&] {
                    json.string("name", variant.name);
                    json.number("tag", variant.tag);
                });
            }
        });
    });
}

void write_image(JsonWriter& json, const Image& image) {
    json.object("", [&] {
        json.string("target", image.target);
        json.string("file", image.file);
        json.number("bytes", image.ptx.size());
        json.string("sha256", sha256_hex(image.ptx));
    });
}

}  // namespace

std::string emit_manifest(const abi::ModuleAbi& module, std::span<const Image> images) {
    JsonWriter json;
    json.object("", [&] {
        json.number("manifest_version", kManifestVersion);
        json.string("source", module.source_name);
        json.array("images", [&] {
            for (const Image& image : images)
                write_image(json, image);
        });
        json.array("structs", [&] {
            for (const abi::AbiStruct& structure : module.structs)
                write_struct(json, structure);
        });
        json.array("kernels", [&] {
            for (const KernelAbi& kernel : module.kernels)
                write_kernel(json, kernel);
        });
        json.array("constants", [&] {
            for (const abi::ConstantAbi& constant : module.constants) {
                json.object("", [&] {
                    json.string("name", constant.name);
                    json.string("symbol", constant.symbol);
                    write_type(json, "type", constant.type);
                });
            }
        });
        json.array("panic_sites", [&] {
            for (const abi::PanicSite& site : module.panic_sites) {
                json.object("", [&] {
                    json.string("file", site.file);
                    json.number("line", site.line);
                    json.number("column", site.column);
                    json.string("text", site.text);
                });
            }
        });
    });
    return json.take();
}

}  // namespace ockc::host
