#include "support/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace ockc {

namespace {
thread_local CrashContext* innermost = nullptr;
}

CrashContext::CrashContext(const char* doing, std::string_view what) : doing_(doing), what_(what), outer_(innermost) {
    innermost = this;
}

CrashContext::~CrashContext() { innermost = outer_; }

void check_failed(const char* condition, const char* file, int line, std::string_view message) {
    std::fprintf(stderr, "error: internal compiler error: %.*s\n  = note: check `%s` failed at %s:%d\n",
                 static_cast<int>(message.size()), message.data(), condition, file, line);
    for (CrashContext* context = innermost; context != nullptr; context = context->outer_) {
        std::fprintf(stderr, "  = note: while %s `%.*s`\n", context->doing_, static_cast<int>(context->what_.size()),
                     context->what_.data());
    }
    std::fflush(stderr);
    std::_Exit(101);
}

}  // namespace ockc
