// Result<T>: a value or an I/O-like failure with its text. Not for user errors in source (see diag/sink.hpp).
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "support/check.hpp"

namespace ockc {

struct Failure {
    std::string text;
};

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}                       // NOLINT: implicit on purpose
    Result(Failure failure) : error_(std::move(failure.text)) {}        // NOLINT: implicit on purpose
    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }
    T& value() {
        OCKC_CHECK_MSG(ok(), error_);
        return *value_;
    }
    const T& value() const {
        OCKC_CHECK_MSG(ok(), error_);
        return *value_;
    }
    const std::string& error() const { return error_; }

  private:
    std::optional<T> value_;
    std::string error_;
};

struct Unit {};
using Status = Result<Unit>;

}  // namespace ockc
