// Errors of the runtime. ock::Error says what failed, where in the program, what the driver calls it and what
// the PTX assembler had to say; LaunchContractError adds which condition of a contract failed, with the
// numbers. The try_ twins return ock::Result<T> instead of throwing.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <ock/driver_api.hpp>
#include <ock/panic.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace ock {

// The caller's source position. (std::source_location, which clang 14 does not have.)
struct Where {
    const char* file = "";
    int line = 0;
    const char* function = "";

    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                const char* function = __builtin_FUNCTION()) {
        return {file, line, function};
    }
};

enum class ErrorCode : std::uint8_t {
    Loader,          // no driver and no emulator, or OCK_DEVICE asks for what is not there
    NoDevice,        // the ordinal is not a visible device
    Driver,          // a driver call failed: driver_code() and driver_name() say how
    Jit,             // the driver refused the PTX: jit_log() has its reasons
    NoImage,         // the header has no image that this device can run
    Panic,           // a check in a kernel failed: panic() says which, where and for whom
    LaunchContract,  // violation() says which condition
    Aliasing,        // an output overlaps another argument
    MovedFrom,       // the buffer, stream, event or module was moved away
    InvalidArgument,
};

enum class ContractErrorKind : std::uint8_t {
#define OCK_CONTRACT_ERROR(kind, meaning) kind,
#include <ock/contract_errors.def>
#undef OCK_CONTRACT_ERROR
};

inline const char* name_of(ContractErrorKind kind) {
    static constexpr const char* kNames[] = {
#define OCK_CONTRACT_ERROR(name, meaning) #name,
#include <ock/contract_errors.def>
#undef OCK_CONTRACT_ERROR
    };
    return kNames[static_cast<std::size_t>(kind)];
}

inline const char* meaning_of(ContractErrorKind kind) {
    static constexpr const char* kMeanings[] = {
#define OCK_CONTRACT_ERROR(name, meaning) meaning,
#include <ock/contract_errors.def>
#undef OCK_CONTRACT_ERROR
    };
    return kMeanings[static_cast<std::size_t>(kind)];
}

// One condition that did not hold. `actual` and `limit` are what was asked for and what is allowed.
struct ContractViolation {
    ContractErrorKind kind = ContractErrorKind::EmptyKernelName;
    std::string kernel;
    std::uint64_t actual = 0;
    std::uint64_t limit = 0;
    int axis = -1;         // 0, 1, 2 for x, y, z where the condition is about one axis
    bool opt_in = false;   // DeviceSharedMemoryExceeded: `limit` is the opt-in limit
    std::string relation;  // SizeRequirement*: as written in the kernel, with both sides in actual and limit
};

class Error : public std::exception {
  public:
    struct Info {
        ErrorCode code = ErrorCode::Driver;
        std::string what;
        Where where;
        driver::CUresult driver_code = driver::kSuccess;
        std::string driver_name;
        std::string jit_log;
        std::optional<ContractViolation> violation;
        std::optional<Panic> panic;
    };

    explicit Error(Info info) : info_(std::make_shared<const Info>(with_place(std::move(info)))) {}
    Error(ErrorCode code, std::string what, Where where) : Error(make_info(code, std::move(what), where)) {}

    const char* what() const noexcept override { return info_->what.c_str(); }
    ErrorCode code() const noexcept { return info_->code; }
    const Where& where() const noexcept { return info_->where; }
    driver::CUresult driver_code() const noexcept { return info_->driver_code; }
    const std::string& driver_name() const noexcept { return info_->driver_name; }
    const std::string& jit_log() const noexcept { return info_->jit_log; }
    const std::optional<ContractViolation>& violation() const noexcept { return info_->violation; }
    const std::optional<Panic>& panic() const noexcept { return info_->panic; }

    // Throws this error as its own type, also when it travelled by value in a Result.
    [[noreturn]] inline void raise() const;

  private:
    static Info make_info(ErrorCode code, std::string what, Where where) {
        Info info;
        info.code = code;
        info.what = std::move(what);
        info.where = where;
        return info;
    }
    static Info with_place(Info info) {
        if (info.where.line > 0) {
            info.what += std::string("\n  at ") + info.where.file + ":" + std::to_string(info.where.line) +
                         " in " + info.where.function;
        }
        return info;
    }
    std::shared_ptr<const Info> info_;  // shared: copying an exception must not throw
};

class LaunchContractError : public Error {
  public:
    explicit LaunchContractError(const Error& error) : Error(error) {}
    LaunchContractError(ContractViolation violation, const std::string& details, Where where)
        : Error(describe(std::move(violation), details, where)) {}

    ContractErrorKind kind() const noexcept { return violation()->kind; }

  private:
    static Info describe(ContractViolation violation, const std::string& details, Where where) {
        Info info;
        info.code = ErrorCode::LaunchContract;
        info.what = "kernel `" + violation.kernel + "`: " + meaning_of(violation.kind) + ": " + details +
                    " [" + name_of(violation.kind) + "]";
        info.where = where;
        info.violation = std::move(violation);
        return info;
    }
};

// A kernel ended because one of its checks failed. The context is lost, as after any trap.
class KernelPanic : public Error {
  public:
    explicit KernelPanic(const Error& error) : Error(error) {}

    const Panic& panic() const noexcept { return *Error::panic(); }
};

inline void Error::raise() const {
    if (info_->panic) throw KernelPanic(*this);
    if (info_->violation) throw LaunchContractError(*this);
    throw *this;
}

// A value or an Error.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
    Result(Error error)
        : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit on purpose

    bool has_value() const noexcept { return content_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    const Error& error() const { return std::get<1>(content_); }
    T& value() & {
        if (!has_value()) error().raise();
        return std::get<0>(content_);
    }
    const T& value() const& {
        if (!has_value()) error().raise();
        return std::get<0>(content_);
    }
    T value() && {
        if (!has_value()) error().raise();
        return std::get<0>(std::move(content_));
    }
    T& operator*() & { return value(); }
    T operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }

  private:
    std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

    bool has_value() const noexcept { return !error_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    const Error& error() const { return error_.value(); }
    void value() const {
        if (error_) error_->raise();
    }

  private:
    std::optional<Error> error_;
};

// Runs `work` and turns the ock::Error it may throw into a Result: every try_ twin is one line of this.
template <class Work>
auto attempt(Work&& work) -> Result<std::decay_t<decltype(work())>> {
    try {
        if constexpr (std::is_void_v<decltype(work())>) {
            work();
            return {};
        } else {
            return work();
        }
    } catch (const Error& error) {
        return error;
    }
}

namespace detail {

// "CUDA_ERROR_ILLEGAL_ADDRESS", or the bare number for a code that this driver does not know.
inline std::string driver_name_of(const driver::Api& api, driver::CUresult code) {
    const char* name = nullptr;
    if (api.cuGetErrorName(code, &name) == driver::kSuccess && name != nullptr) return name;
    return "CUDA error " + std::to_string(code);
}

// The emulator's account of the last failed launch (it names the kernel's source line); empty on a GPU.
inline std::string emulator_account(const driver::Api& api) {
    if (api.ock_emulator_last_error == nullptr) return {};
    char text[4096] = {};
    if (api.ock_emulator_last_error(text, sizeof text) != driver::kSuccess) return {};
    text[sizeof text - 1] = '\0';
    return text;
}

[[noreturn]] inline void throw_driver_error(const driver::Api& api, driver::CUresult code,
                                            const std::string& doing, Where where,
                                            ErrorCode kind = ErrorCode::Driver, std::string log = {}) {
    Error::Info info;
    info.code = kind;
    info.where = where;
    info.driver_code = code;
    info.driver_name = driver_name_of(api, code);
    info.what = doing + ": " + info.driver_name;
    const char* text = nullptr;
    if (api.cuGetErrorString(code, &text) == driver::kSuccess && text != nullptr) {
        info.what += std::string(" (") + text + ")";
    }
    const std::string account = emulator_account(api);
    if (!account.empty()) info.what += "\n" + account;
    if (!log.empty()) info.what += "\n" + log;
    info.jit_log = std::move(log);
    info.panic = panic_behind(api, code);
    if (info.panic) {
        info.code = ErrorCode::Panic;
        info.what = info.panic->text() + "\n" + info.what;
    }
    Error(std::move(info)).raise();
}

// `doing` completes the sentence "ock was ..": it is only turned into a string when the call failed.
inline void check(const driver::Api& api, driver::CUresult code, const char* doing, Where where) {
    if (code != driver::kSuccess) [[unlikely]]
        throw_driver_error(api, code, doing, where);
}

[[noreturn]] inline void throw_moved_from(const char* what, Where where) {
    throw Error(ErrorCode::MovedFrom, std::string("use of a moved-from ") + what, where);
}

}  // namespace detail
}  // namespace ock
