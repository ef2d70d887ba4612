// A loaded PTX module and its functions. A generated header embeds one image per target; the device gets the
// best one that it can run, and what the driver's assembler has to say ends up in the error.
#pragma once
#include <cstdint>
#include <memory>
#include <ock/abi.hpp>
#include <ock/context.hpp>
#include <ock/contract.hpp>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ock {

// PTX text for one target. `exact`: an `a` target, which runs on that compute capability only.
struct Image {
    const char* target = "";     // "sm_90a"
    int compute_capability = 0;  // 90
    bool exact = false;
    const unsigned char* ptx = nullptr;  // ends with a zero byte, as the driver wants it
    std::size_t size = 0;                // without that byte
};

namespace detail {

struct ModuleState {
    std::shared_ptr<ContextState> context;
    driver::CUmodule handle = nullptr;
    PanicRecord* record = nullptr;

    // The driver's calls fail harmlessly when it has gone before a static object, or its context is lost.
    ~ModuleState() {
        if (handle == nullptr) return;
        const CurrentContext current(*context);
        context->api().cuModuleUnload(handle);
        if (record == nullptr) return;
        PanicRecords::all().remove(record);
        context->api().cuMemFreeHost(record);
    }

    // A record for the checks of the module just loaded; modules without checks have no variable for one.
    void set_up_record(std::span<const PanicSite> sites, Where where) {
        const driver::Api& api = context->api();
        const CurrentContext current(*context);
        driver::CUdeviceptr variable = 0, address = 0;
        std::size_t bytes = 0;
        void* host = nullptr;
        if (sites.empty() || api.cuModuleGetGlobal_v2(&variable, &bytes, handle, kPanicRecordSymbol) != driver::kSuccess) return;
        check(api, api.cuMemHostAlloc(&host, sizeof(PanicRecord), driver::kHostDeviceMap), "making the record of failed checks", where);
        record = new (host) PanicRecord;
        PanicRecords::all().add({context->handle(), record, sites});
        check(api, api.cuMemHostGetDevicePointer_v2(&address, host, 0), "mapping the record of failed checks", where);
        check(api, api.cuMemcpyHtoD_v2(variable, &address, sizeof address), "writing the record's address", where);
    }
};

// The images that a device can run, best first: the newest target not above it; an exact one wins.
inline std::vector<const Image*> fitting_images(std::span<const Image> images, int capability) {
    std::vector<const Image*> fitting;
    for (const Image& image : images) {
        const bool runs =
            image.exact ? image.compute_capability == capability : image.compute_capability <= capability;
        if (runs) fitting.push_back(&image);
    }
    const auto better = [](const Image* a, const Image* b) {
        if (a->compute_capability != b->compute_capability)
            return a->compute_capability > b->compute_capability;
        return a->exact && !b->exact;
    };
    for (std::size_t i = 1; i < fitting.size();
         ++i) {  // a handful of images: insertion keeps <algorithm> out
        for (std::size_t k = i; k > 0 && better(fitting[k], fitting[k - 1]); --k)
            std::swap(fitting[k], fitting[k - 1]);
    }
    return fitting;
}

struct LoadAttempt {
    driver::CUmodule module = nullptr;
    driver::CUresult code = driver::kSuccess;
    std::string log;
};

inline LoadAttempt load_image(const ContextState& context, const Image& image) {
    char log[8192] = {};
    driver::CUjit_option options[] = {driver::kJitErrorLogBuffer, driver::kJitErrorLogBufferSizeBytes};
    void* values[] = {log,
                      reinterpret_cast<void*>(sizeof log - 1)};  // the driver takes numbers as pointers here
    LoadAttempt attempt;
    const CurrentContext current(context);
    attempt.code = context.api().cuModuleLoadDataEx(&attempt.module, image.ptx, 2, options, values);
    if (attempt.code != driver::kSuccess) attempt.log = log;
    return attempt;
}

[[noreturn]] inline void throw_no_image(const ContextState& context, std::span<const Image> images,
                                        Where where) {
    std::string have;
    for (const Image& image : images)
        have += (have.empty() ? "" : ", ") + std::string(image.target);
    const int capability = context.limits().compute_capability;
    throw Error(ErrorCode::NoImage,
                context.limits().name + " (sm_" + std::to_string(capability) +
                    ") can run none of the images: " + have + "; compile with --target=sm_" +
                    std::to_string(capability) + " as well",
                where);
}

}  // namespace detail

// A kernel of a loaded module, with what the driver says about it. Keeps the module loaded.
class Function {
  public:
    Function(std::shared_ptr<const detail::ModuleState> module, const KernelContract& contract, Where where)
        : module_(std::move(module)), contract_(&contract) {
        const driver::Api& api = module_->context->api();
        const detail::CurrentContext current(*module_->context);
        detail::check(api, api.cuModuleGetFunction(&facts_.handle, module_->handle, contract.symbol),
                      contract.symbol, where);
        facts_.max_threads = attribute(driver::kFunctionMaxThreadsPerBlock, where);
        facts_.static_shared = attribute(driver::kFunctionSharedSizeBytes, where);
        if (!module_->context->limits().cluster_launch) return;
        facts_.needs_cluster = attribute(driver::kFunctionClusterSizeMustBeSet, where) != 0;
        facts_.cluster = {attribute(driver::kFunctionRequiredClusterWidth, where),
                          attribute(driver::kFunctionRequiredClusterHeight, where),
                          attribute(driver::kFunctionRequiredClusterDepth, where)};
    }

    const KernelContract& contract() const { return *contract_; }
    const detail::FunctionFacts& facts() const { return facts_; }
    detail::ContextState& context(Where where) const {
        if (!module_) detail::throw_moved_from("module", where);
        return *module_->context;
    }
    // For the driver API and for profilers.
    [[nodiscard]] driver::CUfunction handle() const { return facts_.handle; }

    // Every check of the contract, against the live device.
    LaunchConfig check(const LaunchConfig& config, Where where) const {
        const detail::CurrentContext current(context(where));
        detail::ContractCheck(*contract_, facts_, context(where), config, where).run();
        return config;
    }

  private:
    std::uint64_t attribute(driver::FunctionAttribute which, Where where) const {
        const driver::Api& api = module_->context->api();
        int value = 0;
        detail::check(api, api.cuFuncGetAttribute(&value, which, facts_.handle),
                      "reading a kernel's attributes", where);
        return static_cast<std::uint64_t>(value);
    }

    std::shared_ptr<const detail::ModuleState> module_;
    const KernelContract* contract_;
    detail::FunctionFacts facts_;
};

class Module {
  public:
    // Loads the best image for the device; a driver too old for its PTX version gets the next best.
    Module(const Context& context, std::span<const Image> images, Where where = Where::here())
        : Module(context, images, std::span<const PanicSite>(), where) {}
    // `sites` are those of the images' failed checks; they must outlive the module, as those of a header do.
    Module(const Context& context, std::span<const Image> images, std::span<const PanicSite> sites, Where where = Where::here())
        : state_(std::make_shared<detail::ModuleState>()) {
        state_->context = context.shared_state(where);
        const std::vector<const Image*> fitting =
            detail::fitting_images(images, state_->context->limits().compute_capability);
        if (fitting.empty()) detail::throw_no_image(*state_->context, images, where);
        detail::LoadAttempt attempt;
        for (const Image* image : fitting) {
            attempt = detail::load_image(*state_->context, *image);
            state_->handle = attempt.module;
            if (attempt.code == driver::kSuccess) {
                state_->set_up_record(sites, where);
                return;
            }
            state_->handle = nullptr;
            if (attempt.code != driver::kErrorUnsupportedPtxVersion) break;
        }
        detail::throw_driver_error(state_->context->api(), attempt.code,
                                   "loading the kernels on " + state_->context->limits().name, where,
                                   ErrorCode::Jit, std::move(attempt.log));
    }
    Module(Module&&) noexcept = default;
    Module& operator=(Module&&) noexcept = default;

    [[nodiscard]] Function function(const KernelContract& contract, Where where = Where::here()) const {
        return Function(live(where), contract, where);
    }

    // Writes a #[constant] of the module; the new value is seen by launches enqueued on the stream after
    // this.
    template <DeviceCopy T>
    void set_constant(const Stream& stream, const char* symbol, const T& value,
                      Where where = Where::here()) const {
        write_constant(stream, symbol, &value, sizeof(T), where);
    }

    [[nodiscard]] driver::CUmodule handle(Where where = Where::here()) const { return live(where)->handle; }

  private:
    const std::shared_ptr<detail::ModuleState>& live(Where where) const {
        if (!state_) detail::throw_moved_from("module", where);
        return state_;
    }
    void write_constant(const Stream& stream, const char* symbol, const void* value, std::size_t size,
                        Where where) const {
        const detail::ContextState& context = *live(where)->context;
        const driver::Api& api = context.api();
        const detail::CurrentContext current(context);
        driver::CUdeviceptr address = 0;
        std::size_t bytes = 0;
        detail::check(api, api.cuModuleGetGlobal_v2(&address, &bytes, state_->handle, symbol), symbol, where);
        if (bytes != size) {
            throw Error(ErrorCode::InvalidArgument,
                        "constant `" + std::string(symbol) + "` has " + std::to_string(bytes) +
                            " bytes, not " + std::to_string(size),
                        where);
        }
        detail::check(api, api.cuMemcpyHtoDAsync_v2(address, value, size, stream.handle(where)), symbol,
                      where);
        detail::check(api, api.cuStreamSynchronize(stream.handle(where)), symbol, where);
    }

    std::shared_ptr<detail::ModuleState> state_;
};

}  // namespace ock
