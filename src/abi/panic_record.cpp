#include "abi/panic_record.hpp"

#include <fmt/format.h>

#include <ock/panic_text.hpp>

namespace ockc::abi {

std::string panic_message(const PanicRecord& record, const PanicSite& site) {
    const std::array<std::uint64_t, kPanicWords> words{record.values[0], record.values[1], record.more_values[0], record.more_values[1]};
    return ock::detail::fill_message(site.text, words);
}

std::string panic_text(const PanicRecord& record, std::span<const PanicSite> sites) {
    if (record.taken == 0 || record.site >= sites.size()) return {};
    const PanicSite& site = sites[record.site];
    return fmt::format("{}, {}:{}:{}, block ({},{},{}) thread ({},{},{})", panic_message(record, site), site.file, site.line, site.column,
                       record.block[0], record.block[1], record.block[2], record.thread[0], record.thread[1], record.thread[2]);
}

}  // namespace ockc::abi
