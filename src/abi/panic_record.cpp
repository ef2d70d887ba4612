#include "abi/panic_record.hpp"

#include <fmt/format.h>

namespace ockc::abi {

std::string panic_message(const PanicRecord& record, const PanicSite& site) {
    std::string out;
    std::size_t next = 0;
    for (std::size_t at = 0; at < site.text.size(); ++at) {
        if (site.text.compare(at, 2, "{}") == 0 && next < record.values.size()) {
            out += std::to_string(record.values[next++]);
            ++at;
        } else {
            out += site.text[at];
        }
    }
    return out;
}

std::string panic_text(const PanicRecord& record, std::span<const PanicSite> sites) {
    if (record.taken == 0 || record.site >= sites.size()) return {};
    const PanicSite& site = sites[record.site];
    return fmt::format("{}, {}:{}:{}, block ({},{},{}) thread ({},{},{})", panic_message(record, site), site.file, site.line, site.column,
                       record.block[0], record.block[1], record.block[2], record.thread[0], record.thread[1], record.thread[2]);
}

}  // namespace ockc::abi
