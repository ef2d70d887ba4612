// The whole compiler on damaged programs: it ends, says what is wrong, or gives PTX. Mutations of the goldens reach what a
// parser's recovery leaves behind, which no phase after it may stumble over.
#include <cstddef>
#include <cstdint>
#include <string>

#include "ockc/compiler.hpp"
#include "support/check.hpp"

using namespace ockc;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    CompileOptions options;
    options.opt_level = 1;
    options.verify_ir = true;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const CompileResult result = compile({"input.rsk", "", text}, options);
    bool says_why = false;
    for (const DiagnosticText& one : result.diagnostics) {
        OCKC_CHECK(!one.rendered.empty());
        says_why = says_why || one.is_error;
    }
    OCKC_CHECK(result.ok != says_why);
    OCKC_CHECK(result.ok || (result.images.empty() && result.header.empty()));
    return 0;
}
