// Broken invariants of the compiler itself. OCKC_CHECK stops the process with exit code 101, the place, and the stack
// of CrashContext notes ("while checking fn f"). User errors never come here: they go to the DiagSink.
#pragma once
#include <string_view>

namespace ockc {

[[noreturn, gnu::cold]] void check_failed(const char* condition, const char* file, int line, std::string_view message);

// RAII note of what the compiler is doing, printed innermost first by check_failed. Text must outlive the object.
class CrashContext {
  public:
    CrashContext(const char* doing, std::string_view what);
    ~CrashContext();
    CrashContext(const CrashContext&) = delete;
    CrashContext& operator=(const CrashContext&) = delete;

  private:
    friend void check_failed(const char*, const char*, int, std::string_view);
    const char* doing_;
    std::string_view what_;
    CrashContext* outer_;
};

}  // namespace ockc

#define OCKC_CHECK(cond)                                                                 \
    do {                                                                                 \
        if (!(cond)) [[unlikely]]                                                        \
            ::ockc::check_failed(#cond, __FILE__, __LINE__, {});                         \
    } while (false)
#define OCKC_CHECK_MSG(cond, message)                                                    \
    do {                                                                                 \
        if (!(cond)) [[unlikely]]                                                        \
            ::ockc::check_failed(#cond, __FILE__, __LINE__, message);                    \
    } while (false)
#define OCKC_UNREACHABLE(message) ::ockc::check_failed("unreachable", __FILE__, __LINE__, message)
#ifdef NDEBUG
#define OCKC_DCHECK(cond) static_cast<void>(0)
#else
#define OCKC_DCHECK(cond) OCKC_CHECK(cond)
#endif
