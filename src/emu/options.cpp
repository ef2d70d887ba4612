// The OCK_EMULATOR_* variables.
#include <fmt/format.h>

#include <charconv>

#include "emu/emulator.hpp"
#include "ptx/form.hpp"

namespace ockc::emu {
namespace {

Result<std::uint64_t> number(const char* name, std::uint64_t fallback) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return fallback;
    const std::string_view view(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error != std::errc{} || end != view.data() + view.size())
        return Failure{fmt::format("{}=`{}` is not a number", name, view)};
    return value;
}

Status read_checks(Options& options) {
    const char* text = std::getenv("OCK_EMULATOR_CHECK");
    std::string_view rest(text == nullptr ? "" : text);
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const std::string_view word = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        if (word == "races")
            options.check_races = true;
        else if (word == "uninit")
            options.check_uninit = true;
        else if (word == "sync")
            options.check_sync = true;
        else if (!word.empty())
            return Failure{fmt::format("OCK_EMULATOR_CHECK: `{}` is none of races, uninit, sync", word)};
    }
    return Unit{};
}

bool known_target(std::uint64_t sm) {
    for (const ptx::TargetInfo& target : ptx::all_targets()) {
        if (target.sm == sm) return true;
    }
    return false;
}

}  // namespace

Result<Options> options_from_environment() {
    Options options;
    const auto sm = number("OCK_EMULATOR_SM", options.sm);
    const auto threads = number("OCK_EMULATOR_THREADS", 0);
    const auto steps = number("OCK_EMULATOR_MAX_STEPS", options.max_steps);
    const auto memory = number("OCK_EMULATOR_MEMORY", 0);
    for (const auto* result : {&sm, &threads, &steps, &memory}) {
        if (!result->ok()) return Failure{result->error()};
    }
    if (!known_target(sm.value()))
        return Failure{fmt::format("OCK_EMULATOR_SM=`{}` is no known compute capability", sm.value())};
    if (threads.value() > 4096) return Failure{"OCK_EMULATOR_THREADS is above 4096"};
    options.sm = static_cast<std::uint32_t>(sm.value());
    options.host_threads = static_cast<std::uint32_t>(threads.value());
    options.max_steps = steps.value();
    options.memory_bytes = memory.value();
    if (auto status = read_checks(options); !status) return Failure{status.error()};
    return options;
}

}  // namespace ockc::emu
