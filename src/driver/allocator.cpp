// operator new and delete of the ockc program. A compile makes hundreds of thousands of small, short-lived vectors and then
// ends; the general allocator's coalescing and locking were a third of its time. Here a block is cut off a chunk or taken
// from the free list of its size, without locks: each thread has its own lists, and a block freed by another thread joins
// that thread's. Chunks go back to the system when the process ends. Not linked into the library, whose users choose
// theirs, nor under sanitizers, which need to see every block.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kGrain = 16;                  // alignment of all blocks
constexpr std::size_t kHeader = 8;                  // in front of each: its class
constexpr std::size_t kSmallClasses = 64;           // multiples of kGrain: 16 .. 1024
constexpr std::size_t kLargest = 32 * 1024;         // larger ones are the system's
constexpr std::size_t kClasses = kSmallClasses + 4 * 5 + 1;
constexpr std::uint64_t kSystem = kClasses;
constexpr std::size_t kFirstChunk = 4u << 20, kLargestChunk = 32u << 20;

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

// A new chunk; the rest of the old one is lost. Chunks double, so that at most half of the memory is.
bool grow() {
    void* chunk = mmap(nullptr, heap.next_chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunk == MAP_FAILED) return false;
    madvise(chunk, heap.next_chunk, MADV_HUGEPAGE);  // one page fault for 2 MB; where the system has none, as before
    heap.at = static_cast<char*>(chunk) + kHeader;   // so that what follows a header is aligned
    heap.end = static_cast<char*>(chunk) + heap.next_chunk;
    if (heap.next_chunk < kLargestChunk) heap.next_chunk *= 2;
    return true;
}

void* from_system(std::size_t bytes) {
    auto* block = static_cast<char*>(std::malloc(bytes + kGrain));
    if (block == nullptr) return nullptr;
    block += kGrain;
    header(block) = kSystem;
    return block;
}

void* allocate(std::size_t bytes) {
    const std::size_t needed = bytes + kHeader;
    if (needed > kLargest) return from_system(bytes);
    const std::size_t block_class = class_of(needed);
    if (FreeBlock* block = heap.free[block_class]) {
        heap.free[block_class] = block->next;
        return block;
    }
    const std::size_t size = size_of(block_class);
    if (static_cast<std::size_t>(heap.end - heap.at) < size + kHeader && !grow()) return nullptr;
    char* const block = heap.at + kHeader;
    heap.at += size;
    header(block) = block_class;
    return block;
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
