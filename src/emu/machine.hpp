// The running state: warps with their diverged lanes, blocks with barriers and shared memory, and what
// handlers may ask of the machine. exec_*.cpp use this header; schedule.cpp, block.cpp and access.cpp
// implement it.
//
// Divergence. The active lanes of a warp run in lock step. Lanes that went another way wait as Splits, each
// with the place and the rank (block_order.hpp) where it goes on. Whenever the running lanes come to a block
// whose rank is not below the lowest waiting one (Warp::limit), the lowest runs, together with all that wait
// at the same place. Lanes of one Split are always in one call frame; ranks compare frame by frame, outermost
// first.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/emulator.hpp"
#include "emu/memory.hpp"
#include "emu/op.hpp"

namespace ockc::emu {

struct Block;
struct Worker;
struct Launch;
class RaceDetector;

inline constexpr Rank kNoLimit = 0xFFFF'FFFFu;
inline constexpr std::uint32_t kBarriers = 16;

struct Split {
    enum class State : std::uint8_t {
        Ready,
        Barrier,   // at a block barrier; Split::barrier
        Converge,  // at a warp operation whose mask names lanes that are not here yet
        Cluster,   // at the cluster's barrier
        WarpSync,  // the same, at bar.warp.sync, where lanes may come from different places
    };
    const Op* pc = nullptr;
    Rank rank = 0;
    std::uint32_t frame = 0;  // index into Warp::frames
    std::uint32_t mask = 0;
    State state = State::Ready;
    std::uint8_t barrier = 0;
    const Op* waiting_at = nullptr;  // the barrier or warp operation
    std::uint32_t members = 0;       // Converge, WarpSync: the mask named
    std::uint32_t stamp = 0;         // the turn that ran out on it last
};

// Where a call returns to. The entry's frame is number 0 and returns nowhere.
struct Frame {
    std::uint32_t parent = 0;
    const Op* call = nullptr;
    Rank rank = 0;  // of the call's block
    std::uint32_t depth = 0;
};

enum class Stop : std::uint8_t { Running, Finished, Blocked, Yielded, Faulted };

// Sums of products of a warpgroup that are on their way: what the registers will hold when a wait covers their group.
struct Accumulators {
    std::vector<Slot> slots;
    std::vector<std::uint32_t> values;  // 32 lanes a slot
    std::uint64_t group = 0;
};
struct WarpgroupProducts {
    bool fenced = false;                // since the last wait
    std::uint64_t groups = 0;           // committed
    std::vector<Accumulators> pending;
    std::vector<Accumulators> settled;  // since the last fence
};

struct Warp {
    std::byte* registers = nullptr;
    std::uint32_t active = 0;
    std::uint32_t partial = 0;  // 0: all 32 lanes are active
    std::uint32_t active_count = 0;
    Rank limit = kNoLimit;                             // run on only into blocks with a lower rank
    alignas(64) std::uint32_t lane_mask[kLanes] = {};  // all ones where active; set only while partial
    alignas(64) std::uint32_t tid[3][kLanes] = {};
    std::uint32_t carry = 0;  // the carry flag of each lane
    std::uint32_t frame = 0;
    std::uint32_t exited = 0;  // lanes that ended or never were
    std::uint64_t cluster_phase[kLanes] = {};  // the cluster barrier's phase that the lane arrived in last, plus 1
    std::uint32_t split_count = 0;
    Split splits[kLanes];
    std::vector<Frame> frames;
    const Op* pc = nullptr;  // of the active lanes while the warp is not running
    Stop stop = Stop::Running;
    bool rotate = false;      // the last turn ran out: give other splits theirs
    std::uint32_t turns = 0;  // that ran out
    std::uint32_t index = 0;  // in the block
    Block* block = nullptr;
    Worker* worker = nullptr;
    WarpgroupProducts products;
    std::byte* local = nullptr;    // 32 lanes of Program::local_bytes
    std::uint64_t steps = 0;       // instructions executed by the warp
    std::uint64_t lane_steps = 0;  // the same, times active lanes

    template <class T>
    T* lanes(Slot slot) {
        return reinterpret_cast<T*>(registers + slot);
    }
    std::uint32_t& predicate(Slot slot) { return *reinterpret_cast<std::uint32_t*>(registers + slot); }
    void set_active(std::uint32_t mask);
};

struct BarrierState {
    std::uint32_t arrived = 0;   // threads
    std::uint32_t expected = 0;  // threads; 0: all that have not exited
    std::uint32_t ones = 0;      // bar.red: arrivals with the predicate set
    std::uint32_t voters = 0;    // arrivals that had a predicate
};

// Blocks that run side by side, on one host thread, and see each other's shared memory.
struct Cluster {
    std::vector<Block*> blocks;  // by rank
    std::uint32_t arrived = 0;   // threads that live and have arrived in this phase of the barrier
    std::uint64_t phase = 0;
};

struct Block {
    Cluster* cluster = nullptr;
    std::uint32_t cluster_rank = 0;
    Dim3 index;
    std::uint64_t linear = 0;
    std::byte* shared = nullptr;
    std::uint32_t shared_bytes = 0;
    std::uint32_t live_threads = 0;
    std::uint32_t threads = 0;
    BarrierState barriers[kBarriers];
    std::vector<Warp*> warps;
    std::string printed;  // by its threads so far
    bool faulted = false;
};

// What the last access of one instruction hit: the next one is checked against it first.
struct Window {
    std::uint64_t base = 0;
    std::uint64_t span = 0;     // addresses base .. base + span - 1 are good starts; 0: nothing known
    std::byte* host = nullptr;  // of address `base`
    bool writable = false;
    const Allocation* allocation = nullptr;
};

// One host thread's share of a launch.
struct Worker {
    Launch* launch = nullptr;
    const Program* program = nullptr;
    std::vector<Window> windows;       // by Op::site
    RaceDetector* detector = nullptr;  // only under OCK_EMULATOR_CHECK
};

// One launch as all its workers see it.
struct Launch {
    const Program* program = nullptr;
    const MemoryReader* memory = nullptr;
    const Options* options = nullptr;
    const std::byte* params = nullptr;
    Dim3 grid;
    Dim3 block;
    std::uint32_t threads = 0;       // of a block
    std::uint32_t shared_bytes = 0;  // static and dynamic
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint64_t blocks = 0;
    Dim3 cluster;                    // blocks in a cluster
    std::uint32_t cluster_blocks = 1;
    std::uint64_t workspace = 0;     // of a cooperative launch: an address
    std::uint32_t workers = 1;
    bool cooperative = false;
    RaceDetector* detector = nullptr;  // with one worker only
    std::uint64_t serial = 0;          // %gridid
    std::atomic<std::uint64_t> next_cluster{0};
    std::atomic<std::uint64_t> first_fault{~0ull};  // lowest linear block that failed
    std::atomic<std::uint64_t> steps{0};
    std::atomic<std::uint64_t> lane_steps{0};
    std::mutex fault_mutex;
    std::vector<std::pair<std::uint64_t, std::string>> printed;  // under fault_mutex: by block
    std::optional<LaunchError> fault;  // of block first_fault
};

// --- schedule.cpp: where the active lanes go. Each returns the op to execute next, or null after setting
// Warp::stop.

// The active lanes come to `pc`, the start of a block, where Warp::limit does not let them in.
const Op* reschedule(Warp& warp, const Op* pc, Rank rank);
// `taken` of the active lanes (some, not all) go to op.target, the others to the next op.
const Op* diverge(Warp& warp, const Op& op, std::uint32_t taken);
// The active lanes end.
const Op* exit_lanes(Warp& warp, const Op& op);
const Op* call_function(Warp& warp, const Op& op);
const Op* return_from_function(Warp& warp, const Op& op);
// The active lanes arrive at barrier `number`, for `expected` threads (0: all), and wait there.
const Op* wait_at_barrier(Warp& warp, const Op& op, std::uint32_t number, std::uint32_t expected,
                          std::uint32_t ones);
const Op* arrive_at_barrier(Warp& warp, const Op& op, std::uint32_t number, std::uint32_t expected);
// The active lanes arrive at the cluster's barrier; they wait at it for the phase that they arrived in.
void arrive_at_cluster(Warp& warp);
const Op* wait_for_cluster(Warp& warp, const Op& op);
// Are the live lanes among `members` here? If not they wait, and `next` is what runs instead.
bool converged(Warp& warp, const Op& op, std::uint32_t members, const Op*& next);
const Op* sync_lanes(Warp& warp, const Op& op, std::uint32_t members);
// Picks the lanes that run next; null when none can.
const Op* pick_split(Warp& warp);
// The running lanes' turn is over: they wait at `pc` like others.
void suspend(Warp& warp, const Op* pc);

// --- access.cpp: memory, off the fast path

// Refills `window` for an access at a generic or global address; false after reporting a fault.
bool open_window(Warp& warp, const Op& op, Window& window, std::uint64_t address, std::uint32_t lane,
                 bool write);
// The host address of one lane's access in any space; null after reporting a fault.
std::byte* resolve(Warp& warp, const Op& op, std::uint64_t address, std::uint32_t lane, std::uint32_t bytes,
                   bool write);
// A place in the shared memory of the own block, or of another of the cluster by an address that `mapa` gave; null outside.
std::byte* shared_place(Warp& warp, std::uint64_t offset, std::uint32_t bytes);
// A misaligned or out-of-range access: reports and stops the warp.
const Op* bad_access(Warp& warp, const Op& op, std::uint64_t address, std::uint32_t lane, bool write);
std::uint64_t lane_address(Warp& warp, const Op& op, std::uint32_t lane);
// isspacep: does a generic address lie in this space?
bool address_in_space(Warp& warp, std::uint64_t address, ptx::Space space);
// Tells the optional checks about an access of the active lanes; false after reporting.
bool watch_access(Warp& warp, const Op& op, bool write, bool atomic);

// --- fault.cpp

const Op* fault(Warp& warp, const Op& op, ErrorKind kind, std::uint32_t lane, std::string what,
                std::uint64_t address = 0);
// "32 threads of 1 warp at `bar.sync 0` (k.rsk:12:5)"
std::string describe_waiting(const Launch& launch, const Op& op, std::uint32_t threads, std::uint32_t warps);
// "k.rsk:12:5", or "PTX line 31"
std::string place_of(const Program& program, const Op& op);
Dim3 thread_index(const Launch& launch, const Warp& warp, std::uint32_t lane);

// --- block.cpp

// Takes blocks from the launch until there are none left.
void run_blocks(Launch& launch);

inline void Warp::set_active(std::uint32_t mask) {
    active = mask;
    partial = mask == kAllLanes ? 0 : 1;
    active_count = static_cast<std::uint32_t>(__builtin_popcount(mask));
    if (partial == 0) return;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        lane_mask[lane] = 0u - ((mask >> lane) & 1u);
}

}  // namespace ockc::emu
