// Failed checks of kernels. A module with checks gets a record in host memory: the first thread whose check fails
// writes into it where that was, then traps, and the driver error that follows is thrown as ock::KernelPanic.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ock/driver_api.hpp>
#include <ock/panic_text.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ock {

// A place in a kernel's source where a check can fail; generated headers list them.
struct PanicSite {
    const char* file = "";
    unsigned line = 0;
    unsigned column = 0;
    const char* text = "";  // "index out of bounds: the len is {} but the index is {}"; panic_text.hpp has the holes
};

// A check that failed.
struct Panic {
    std::string message;  // with its values
    std::string file;     // of the kernel
    unsigned line = 0;
    unsigned column = 0;
    std::array<std::uint64_t, 4> values{};  // the words behind the message
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> thread{};

    // "index out of bounds: the len is 4 but the index is 9, vecadd.rsk:12:18, block (0,0,0) thread (9,0,0)"
    std::string text() const {
        const auto triple = [](const std::array<std::uint32_t, 3>& v) {
            return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
        };
        return message + ", " + file + ":" + std::to_string(line) + ":" + std::to_string(column) + ", block " + triple(block) + " thread " +
               triple(thread);
    }
};

namespace detail {

// What the device writes; the compiler's side is abi::PanicRecord.
struct PanicRecord {
    std::uint32_t taken = 0;  // 0 or 1
    std::uint32_t site = 0;
    std::array<std::uint64_t, 2> values{};
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> thread{};
    std::array<std::uint64_t, 2> more_values{};
};
static_assert(sizeof(PanicRecord) == 64);
inline constexpr const char* kPanicRecordSymbol = "ock_panic_record";

inline Panic read_panic(const PanicRecord& record, const PanicSite& site) {
    Panic panic;
    panic.values = {record.values[0], record.values[1], record.more_values[0], record.more_values[1]};
    panic.message = fill_message(site.text, panic.values);
    panic.file = site.file;
    panic.line = site.line;
    panic.column = site.column;
    panic.block = record.block;
    panic.thread = record.thread;
    return panic;
}

// The records of all loaded modules, so that an error of any driver call finds the check behind it.
class PanicRecords {
  public:
    struct Entry {
        driver::CUcontext context = nullptr;
        const PanicRecord* record = nullptr;
        std::span<const PanicSite> sites;
    };

    static PanicRecords& all() {
        static PanicRecords records;
        return records;
    }
    void add(const Entry& entry) {
        const std::scoped_lock lock(mutex_);
        entries_.push_back(entry);
    }
    void remove(const PanicRecord* record) {
        const std::scoped_lock lock(mutex_);
        std::erase_if(entries_, [&](const Entry& entry) { return entry.record == record; });
    }
    std::optional<Panic> find(driver::CUcontext context) {
        const std::scoped_lock lock(mutex_);
        for (const Entry& entry : entries_) {
            const bool taken = *static_cast<const volatile std::uint32_t*>(&entry.record->taken) != 0;
            if (!taken || entry.context != context || entry.record->site >= entry.sites.size()) continue;
            return read_panic(*entry.record, entry.sites[entry.record->site]);
        }
        return std::nullopt;
    }

  private:
    std::mutex mutex_;
    std::vector<Entry> entries_;
};

// The check behind a failed launch; nothing for errors of other kinds.
inline std::optional<Panic> panic_behind(const driver::Api& api, driver::CUresult code) {
    if (code < driver::kFirstLaunchFailure || code > driver::kLastLaunchFailure) return std::nullopt;
    driver::CUcontext context = nullptr;
    if (api.cuCtxGetCurrent(&context) != driver::kSuccess) return std::nullopt;
    return PanicRecords::all().find(context);
}

}  // namespace detail
}  // namespace ock
