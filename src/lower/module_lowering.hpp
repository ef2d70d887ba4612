// State of one lowering: instances, globals, panic sites, and the scalar view of layouts that all parts share.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/lower.hpp"

namespace ockc::lower {

using check::ConstValue;
using check::ItemRef;
using types::Layout;
using types::TypeId;

// A constant in memory: bytes, and the addresses among them.
struct ConstImage {
    std::vector<std::uint8_t> bytes;
    std::vector<ir::Relocation> relocations;
};

// How a value of a type is held while it is computed with.
enum class ValueForm : std::uint8_t { Zero, Scalar, Pair, Memory };
ValueForm form_of(const Layout& layout);
ir::Type ir_type(const types::Scalar& scalar);
// Truth values are i1: one byte that is 0 or 1.
bool is_truth_value(const types::Scalar& scalar);

// The parameters and results of a lowered function, from its Rust signature: scalars and pairs by value, other values by
// pointer to a copy; other results through a pointer that comes first.
struct CallShape {
    std::vector<TypeId> inputs;
    TypeId output;
    bool returns_memory = false;
    std::vector<ir::Type> params;
    std::vector<ir::Type> results;
};

// What a `Tile<E, S>` or `Tensor<E, S>` says.
struct ShapedType {
    TypeId element;
    std::vector<std::int32_t> shape;
};

class ModuleLowering {
  public:
    explicit ModuleLowering(const Input& input);
    Output run();

    check::Context& context() { return input_.context; }
    types::TypeStore& types() { return input_.context.types(); }
    const Input& input() const { return input_; }
    ir::Module& module() { return output_.module; }

    const Layout& layout(TypeId type) {
        const Layout* const known = layouts_[type];
        return known != nullptr ? *known : find_layout(type);
    }
    TypeId subst(TypeId type, std::span<const types::GenericArg> args);

    // The IR function of an instance; queued for lowering when new. `fn_targets`: of its parameters that are function
    // pointers, none where not known (and for all others); `site`: the call that needs it.
    ir::FuncId function_of(ItemRef item, std::vector<TypeId> fn_targets, Span site);
    // Calls through a pointer whose target is not known (lower_fn_pointer.cpp): one function for each signature, which takes the
    // pointer first.
    struct Dispatcher {
        ir::FuncId function;
        CallShape shape;
        std::unique_ptr<mir::Body> body;   // its locals only
        std::size_t written = SIZE_MAX;    // how many targets the last body had
    };
    const Dispatcher& dispatcher_of(TypeId pointer);
    // The bits of a pointer to a function item or closure: a number of its own; device code has no addresses of functions.
    std::uint64_t fn_address(TypeId function);
    CallShape shape_of(std::vector<TypeId> inputs, TypeId output);
    const CallShape& shape_of(ItemRef item);

    std::uint32_t panic_site(Span span, std::string text);
    ir::GlobalId bytes_global(std::vector<std::uint8_t> bytes, std::uint32_t align);
    ir::GlobalId image_global(ConstImage image, std::uint32_t align);
    ir::GlobalId static_global(DefId static_def);
    ir::GlobalId dynamic_shared(std::uint32_t align);   // one for all uses, at the largest alignment
    // encode_const.cpp: a constant's image.
    ConstImage image_of(const ConstValue& value);
    void encode_tag(TypeId type, std::uint32_t variant, std::span<std::uint8_t> out);
    // Which discriminant the bytes of an enum value stand for, sign-extended as its type says.
    unsigned __int128 decode_discriminant(TypeId type, std::span<const std::uint8_t> bytes);

    // lower_tile.cpp
    std::vector<std::int32_t> shape_of_const(types::ConstId constant);
    ShapedType shaped_type(TypeId type);

    // kernel_signature.cpp: ABI of a kernel from its signature.
    abi::KernelAbi kernel_abi(ItemRef kernel);
    std::string instance_suffix(DefId kernel, types::ArgsId args);
    abi::AbiType abi_type(TypeId type, Span span);
    bool holds_cell(TypeId type);
    TypeId inside_wrappers(TypeId type);
    bool describe_enum(TypeId type, abi::AbiStruct& record);

  private:
    const Layout& find_layout(TypeId type);
    void encode(const ConstValue& value, std::uint64_t at, ConstImage& out);
    void encode_reference(const ConstValue& value, std::uint64_t at, ConstImage& out);
    struct Pending {
        ItemRef item;
        ir::FuncId function;
        bool is_kernel = false;
    };
    // How an instance came to be: for the limit on their depth, and for the names in errors. By ir::FuncId.
    struct Origin {
        ItemRef item;
        ir::FuncId caller;             // none: a kernel
        std::vector<TypeId> fn_targets;
        TypeId pointer{};              // dispatchers: of this type, and no item
    };
    struct InstanceKey {
        ItemRef item;
        std::vector<TypeId> fn_targets;
        bool operator==(const InstanceKey&) const = default;
    };
    struct InstanceKeyHash {
        std::size_t operator()(const InstanceKey& key) const;
    };
    std::optional<std::uint32_t> shared_alignment(TypeId type, bool& other);
    void describe_constant(DefId static_def, TypeId type, const std::string& symbol);
    CallShape find_shape(ItemRef item);
    bool within_limits(ItemRef item, Span site);
    std::uint64_t type_parts(TypeId type);
    std::string short_text(ItemRef item);
    std::string origin_text(ir::FuncId function);
    std::vector<TypeId> signature_of(TypeId callable);
    bool write_dispatchers();
    void lower_pending();
    void refuse_call_cycles();
    std::string symbol_for(ItemRef item);
    std::string unique_symbol(std::string wanted);
    void lower_kernel(ItemRef kernel, std::vector<abi::GenericValue> generics, std::string_view suffix = {});
    // tile_instances.cpp: which instances of a generic tile kernel are asked for.
    void lower_tile_kernel(DefId kernel);

    const Input& input_;
    Output output_;
    std::deque<Pending> queue_;
    std::unordered_map<InstanceKey, ir::FuncId, InstanceKeyHash> instances_;
    std::unordered_map<ir::FuncId, Origin> origins_;
    ir::FuncId current_;                                               // being lowered
    std::unordered_map<TypeId, std::uint64_t> fn_numbers_;
    std::vector<TypeId> fn_pointees_;                                  // in the order of their numbers
    std::map<std::vector<TypeId>, Dispatcher> dispatchers_;            // by signature
    std::unordered_map<TypeId, std::uint64_t> type_parts_;
    bool stopped_ = false;                                             // too many instances: reported
    std::unordered_map<DefId, ir::GlobalId> statics_;
    ir::GlobalId dynamic_shared_;
    std::map<std::tuple<std::vector<std::uint8_t>, std::vector<ir::Relocation>, std::uint32_t>, ir::GlobalId> const_globals_;
    std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> sites_;
    std::unordered_map<std::string, std::uint32_t> symbols_;           // names in use, with the number to try for the next one like it
    std::unordered_map<TypeId, std::uint32_t> abi_structs_;
    std::unordered_map<InstanceKey, CallShape, InstanceKeyHash> shapes_;   // asked for before
    SideMap<TypeId, const Layout*> layouts_;                           // asked for before
    SideMap<TypeId, TypeId> plain_;                                    // normal forms of types without parameters
};

// A Rust name as PTX can spell it: letters beyond ASCII by their number ("größe" is "gr_uf6__udf_e"), and no name that PTX
// itself defines.
std::string ptx_name(std::string_view name);

}  // namespace ockc::lower
