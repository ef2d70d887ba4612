// operator new and delete of the ockc program. A compile makes hundreds of thousands of small, short-lived vectors and then
// ends; the general allocator's coalescing and locking were a third of its time. Here a block is cut off a chunk or taken
// from the free list of its size, without locks: each thread has its own lists, and a block freed by another thread joins
// that thread's. Large blocks come from the chunks too: given back to the system and mapped anew, each of their pages would
// cost a page fault of its own, where a chunk has one for 2 MB. Chunks go back to the system when the process ends. Not
// linked into the library, whose users choose theirs, nor under sanitizers, which need to see every block.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kGrain = 16;                  // alignment of all blocks
constexpr std::size_t kHeader = 8;                  // in front of each: its class
constexpr std::size_t kSmallClasses = 64;           // multiples of kGrain: 16 .. 1024
constexpr std::size_t kLargest = 64u << 20;         // larger ones are the system's
constexpr std::size_t kClasses = kSmallClasses + 4 * 16 + 1;
constexpr std::uint64_t kSystem = kClasses;
constexpr std::size_t kFirstChunk = 4u << 20, kLargestChunk = 32u << 20, kHugePage = 2u << 20;

// Blocks above 1 KiB come in four sizes for each power of two.
constexpr std::size_t class_of(std::size_t bytes) {
    if (bytes <= kSmallClasses * kGrain) return (bytes + kGrain - 1) / kGrain;
    const auto log = static_cast<std::size_t>(63 - __builtin_clzll(bytes - 1));   // 10 and up
    return kSmallClasses + 1 + (log - 10) * 4 + ((bytes - 1) >> (log - 2) & 3);
}
constexpr std::size_t size_of(std::size_t block_class) {
    if (block_class <= kSmallClasses) return block_class * kGrain;
    const std::size_t index = block_class - kSmallClasses - 1;
    return ((index & 3) + 5) << (index / 4 + 8);
}
static_assert(size_of(class_of(1025)) == 1280 && size_of(class_of(1280)) == 1280 && size_of(class_of(2048)) == 2048);
static_assert(size_of(class_of(kLargest)) == kLargest && class_of(kLargest) < kClasses);

struct FreeBlock {
    FreeBlock* next;
};
struct Heap {
    char* at;
    char* end;
    std::size_t next_chunk;
    FreeBlock* free[kClasses];
};
constinit thread_local Heap heap{nullptr, nullptr, kFirstChunk, {}};

std::uint64_t& header(void* block) { return *reinterpret_cast<std::uint64_t*>(static_cast<char*>(block) - kHeader); }

// A block from a new chunk. Of the old chunk and the new one that is gone on with which has more left. Chunks double, so
// that at most half of the memory is lost at their ends.
void* from_new_chunk(std::size_t size) {
    const std::size_t needed = (size + 2 * kHeader + kHugePage - 1) / kHugePage * kHugePage;
    const std::size_t bytes = needed > heap.next_chunk ? needed : heap.next_chunk;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    madvise(memory, bytes, MADV_HUGEPAGE);                        // one page fault for 2 MB; where the system has none, as before
    char* const first = static_cast<char*>(memory) + kHeader;     // so that what follows a header is aligned
    char* const end = static_cast<char*>(memory) + bytes;
    if (end - (first + size) > heap.end - heap.at) {
        heap.at = first + size;
        heap.end = end;
    }
    if (heap.next_chunk < kLargestChunk) heap.next_chunk *= 2;
    return first + kHeader;
}

void* from_system(std::size_t bytes) {
    auto* block = static_cast<char*>(std::malloc(bytes + kGrain));
    if (block == nullptr) return nullptr;
    block += kGrain;
    header(block) = kSystem;
    return block;
}

FreeBlock* take(std::size_t block_class) {
    FreeBlock* const block = heap.free[block_class];
    if (block != nullptr) heap.free[block_class] = block->next;
    return block;
}

[[gnu::noinline]] void* allocate_any(std::size_t bytes) {
    const std::size_t needed = bytes + kHeader;
    if (needed > kLargest) return from_system(bytes);
    const std::size_t block_class = class_of(needed);
    if (FreeBlock* block = take(block_class)) return block;
    const std::size_t size = size_of(block_class);
    void* block = heap.at + kHeader;
    if (static_cast<std::size_t>(heap.end - heap.at) >= size + kHeader) heap.at += size;
    else block = from_new_chunk(size);
    if (block != nullptr) header(block) = block_class;
    return block;
}

// Nearly all blocks are small, and one of the size was free before.
inline void* allocate(std::size_t bytes) {
    const std::size_t needed = bytes + kHeader;
    if (needed <= kSmallClasses * kGrain) {
        if (FreeBlock* block = take((needed + kGrain - 1) / kGrain)) return block;
    }
    return allocate_any(bytes);
}

void release(void* memory) {
    if (memory == nullptr) return;
    const std::uint64_t block_class = header(memory);
    if (block_class == kSystem) return std::free(static_cast<char*>(memory) - kGrain);
    auto* block = static_cast<FreeBlock*>(memory);
    block->next = heap.free[block_class];
    heap.free[block_class] = block;
}

}  // namespace

void* operator new(std::size_t bytes) {
    if (void* block = allocate(bytes)) return block;
    throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
