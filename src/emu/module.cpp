// PTX text -> Module: parse, validate, place and initialise the module's variables, decode every entry.
#include <fmt/format.h>

#include <cstring>

#include "emu/decode.hpp"
#include "emu/emulator.hpp"
#include "ptx/parse.hpp"
#include "ptx/validate.hpp"

namespace ockc::emu {
namespace {

using ptx::Space;

std::string parse_messages(const ptx::ParseResult& parsed) {
    std::string out;
    for (const ptx::ParseError& error : parsed.errors)
        out += fmt::format("ptx:{}:{}: {}\n", error.line, error.column, error.message);
    return out;
}
std::string validation_messages(const std::vector<ptx::ValidationError>& errors) {
    std::string out;
    for (const ptx::ValidationError& error : errors) {
        out += error.text.empty()
                   ? fmt::format("ptx: {}\n", error.message)
                   : fmt::format("ptx: in `{}`: `{}`: {}\n", error.function, error.text, error.message);
    }
    return out;
}

// A module runs on its own compute capability and newer ones; `a` targets on exactly theirs.
bool runs_on(const ptx::TargetInfo& target, std::uint32_t sm) {
    return target.specific ? target.sm == sm : target.sm <= sm;
}

std::uint64_t max_threads_of(const ptx::Directives& d) {
    const auto& dims = d.reqntid ? d.reqntid : d.maxntid;
    return dims ? std::uint64_t{(*dims)[0]} * (*dims)[1] * (*dims)[2] : kMaxThreads;
}

KernelInfo kernel_info(const Program& program) {
    const ptx::Function& function = program.entry_function();
    KernelInfo info;
    info.name = program.name;
    for (const ProgramParam& param : program.params)
        info.params.push_back({param.offset, param.size, param.align});
    info.param_bytes = program.param_bytes;
    info.static_shared = program.shared_bytes;
    info.local_bytes = program.local_bytes;
    // Virtual registers say little about what ptxas would allot; never so many that a full block would not
    // fit.
    info.registers = program.registers < 16   ? 16
                     : program.registers > 64 ? 64
                                              : (program.registers + 7) / 8 * 8;
    info.max_threads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(max_threads_of(function.directives), kMaxThreads));
    if (const auto& dims = function.directives.reqntid)
        info.required_block = Dim3{(*dims)[0], (*dims)[1], (*dims)[2]};
    if (const auto& dims = function.directives.reqnctapercluster)
        info.required_cluster = Dim3{(*dims)[0], (*dims)[1], (*dims)[2]};
    info.ptx_version = program.module->ptx_version;
    info.target_sm = ptx::target_info(program.module->target).sm;
    return info;
}

}  // namespace

std::optional<std::uint32_t> Module::find_kernel(std::string_view name) const {
    for (std::uint32_t i = 0; i < kernels_.size(); ++i) {
        if (kernels_[i].name == name) return i;
    }
    return std::nullopt;
}

const ModuleVariable* Module::find_variable(std::string_view name) const {
    for (const ModuleVariable& variable : variables_) {
        if (variable.name == name) return &variable;
    }
    return nullptr;
}

Module::Module(Device& device) : device_(device) {}
Module::~Module() {
    for (const ModuleVariable& variable : variables_) {
        device_.memory().release(variable.address,
                                 variable.constant ? MemoryKind::Constant : MemoryKind::Variable);
    }
}

// Takes memory for the .global and .const variables and fills them in.
class VariableLoader {
  public:
    VariableLoader(const ptx::Module& module, Memory& memory) : module_(module), memory_(memory) {}

    std::string run(std::vector<ModuleVariable>& out, VariableAddresses& addresses) {
        std::vector<const ptx::Variable*> all;
        for (const ptx::Variable& variable : module_.variables)
            all.push_back(&variable);
        for (const ptx::Function& function : module_.functions) {
            for (const ptx::Variable& variable : function.locals)
                all.push_back(&variable);
        }
        for (const ptx::Variable* variable : all) {
            if (!is_global(*variable) || variable->linkage == ptx::Linkage::Extern ||
                addresses.contains(variable->name))
                continue;
            const bool constant = variable->space == Space::Const;
            const std::string name(module_.name(variable->name));
            const auto address =
                memory_.allocate(variable->size(), constant ? MemoryKind::Constant : MemoryKind::Variable,
                                 variable->alignment(), name);
            if (!address) return fmt::format("no memory for variable `{}`", name);
            out.push_back({name, *address, variable->size(), constant});
            addresses.emplace(variable->name, *address);
        }
        for (const ptx::Variable* variable : all) {
            const auto found = addresses.find(variable->name);
            if (!is_global(*variable) || found == addresses.end()) continue;
            if (std::string error = fill(*variable, found->second, addresses); !error.empty()) return error;
        }
        return {};
    }

  private:
    static bool is_global(const ptx::Variable& variable) {
        return variable.space == Space::Global || variable.space == Space::Const;
    }

    std::string fill(const ptx::Variable& variable, DeviceAddress at, const VariableAddresses& addresses) {
        const std::uint32_t bytes = ptx::type_bytes(variable.type);
        std::vector<std::byte> image(variable.size());  // what has no initial value is zero
        for (std::size_t i = 0; i < variable.init.size(); ++i) {
            std::uint64_t value = variable.init[i].bits;
            if (const ptx::SymbolId symbol = variable.init[i].symbol; symbol.valid()) {
                const auto found = addresses.find(symbol);
                if (found == addresses.end()) {
                    return fmt::format("`{}` holds the address of `{}`, which is no global variable",
                                       module_.name(variable.name), module_.name(symbol));
                }
                value += found->second;
            }
            std::memcpy(image.data() + i * bytes, &value, bytes > 8 ? 8 : bytes);
        }
        memory_.copy_in(at, image.data(), image.size());
        return {};
    }

    const ptx::Module& module_;
    Memory& memory_;
};

Outcome<std::unique_ptr<Module>, LoadError> Device::load(std::string_view text) {
    ptx::ParseResult parsed = ptx::parse(text);
    if (!parsed.ok()) return {std::nullopt, {ErrorKind::InvalidImage, parse_messages(parsed)}};
    if (const auto errors = ptx::validate(parsed.module); !errors.empty()) {
        return {std::nullopt, {ErrorKind::InvalidImage, validation_messages(errors)}};
    }
    const ptx::TargetInfo& target = ptx::target_info(parsed.module.target);
    if (!runs_on(target, options_.sm)) {
        return {std::nullopt,
                {ErrorKind::NoBinary,
                 fmt::format("the code is for {}, the device is sm_{}\n", target.text, options_.sm)}};
    }
    const auto shared = std::make_shared<const ptx::Module>(std::move(parsed.module));
    std::unique_ptr<Module> out(new Module(*this));
    VariableAddresses addresses;
    if (std::string error = VariableLoader(*shared, memory_).run(out->variables_, addresses);
        !error.empty()) {
        return {std::nullopt, {ErrorKind::OutOfMemory, error + "\n"}};
    }
    for (std::uint32_t i = 0; i < shared->functions.size(); ++i) {
        if (!shared->functions[i].entry || !shared->functions[i].has_body) continue;
        auto program = decode(shared, i, addresses);
        if (!program) return {std::nullopt, {ErrorKind::InvalidImage, program.error() + "\n"}};
        out->kernels_.push_back(kernel_info(*program.value()));
        out->programs_.push_back(std::move(program.value()));
    }
    std::uint64_t constants = 0;
    for (const ModuleVariable& variable : out->variables_)
        constants += variable.constant ? variable.size : 0;
    for (KernelInfo& kernel : out->kernels_)
        kernel.const_bytes = static_cast<std::uint32_t>(constants);
    return {std::move(out), {}};
}

}  // namespace ockc::emu
