// The pages docs/errors/CODE.md, which are embedded in the binary: `ockc explain CODE`, and explanations in JSON diagnostics.
#include <fmt/format.h>

#include <vector>

#include "diag/diagnostic.hpp"
#include "driver/commands.hpp"
#include "driver/exit_code.hpp"
#include "driver/explain.hpp"
#include "support/embedded.hpp"
#include "support/enum_table.hpp"

namespace ockc {
extern const EmbeddedFile error_pages[];         // made by ockc_embed from docs/errors/
extern const std::size_t error_pages_count;
}  // namespace ockc

namespace ockc::driver {

namespace {

// E382, e0382, 382 and E0382 all mean E0382; OCK codes are spelt out.
std::string canonical(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    std::size_t digits = text.find_first_of("0123456789");
    if (digits == std::string::npos) return text;
    std::string prefix = digits == 0 ? "E" : text.substr(0, digits);
    std::string number = text.substr(digits);
    if (number.size() < 4) number.insert(0, 4 - number.size(), '0');
    return prefix + number;
}

}  // namespace

std::string_view error_page(std::string_view code) {
    for (std::size_t i = 0; i < error_pages_count; ++i) {
        const std::string_view name = error_pages[i].name;
        if (name.ends_with(".md") && name.substr(0, name.size() - 3) == code) return error_pages[i].text;
    }
    return {};
}

int run_explain(const Options& options) {
    const std::string code = canonical(options.explain_code);
    if (const std::string_view page = error_page(code); !page.empty()) {
        print_output(page);
        return kOk;
    }
    if (const Code known = code_from_name(code); known != Code::None) {
        print_output(fmt::format("# {}: {}\n", code, code_title(known)));
        return kOk;
    }
    std::vector<std::string_view> names;
    for (Code one : all_codes()) names.push_back(code_name(one));
    const std::string_view near = nearest_name(names, code);
    print_error(fmt::format("`{}` is not a code of ockc", options.explain_code), near.empty() ? "" : fmt::format("did you mean `{}`?", near));
    return kBadCommandLine;
}

}  // namespace ockc::driver
