// Runs the blocks of a launch on one host thread: the warps of a block take turns, each until it has to wait,
// has ended or has used up its turn. A worker takes one cluster (mostly: one block) after another; in a cooperative
// launch it holds all of its clusters at once and turns between them, so that blocks may wait for each other.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emu/machine.hpp"
#include "emu/race_detector.hpp"
#include "support/check.hpp"

namespace ockc::emu {
namespace {

constexpr std::uint64_t kTurn = 1 << 16;  // instructions
constexpr std::uint64_t kCooperativeTurn = 1 << 12;
constexpr std::size_t kLaneAlign = 64;

struct AlignedDelete {
    void operator()(std::byte* bytes) const { std::free(bytes); }
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

AlignedBytes aligned_bytes(std::size_t bytes) {
    const std::size_t rounded = (bytes + kLaneAlign) / kLaneAlign * kLaneAlign;
    auto* out = static_cast<std::byte*>(std::aligned_alloc(kLaneAlign, rounded));
    OCKC_CHECK_MSG(out != nullptr, "out of memory for a block's registers");
    std::memset(out, 0, rounded);
    return AlignedBytes(out);
}

void fill_constants(Warp& warp, const Program& program) {
    for (const ConstantSlot& constant : program.constants) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            switch (constant.bytes) {
                case 0: warp.predicate(constant.slot) = static_cast<std::uint32_t>(constant.value); break;
                case 2:
                    warp.lanes<std::uint16_t>(constant.slot)[lane] =
                        static_cast<std::uint16_t>(constant.value);
                    break;
                case 4:
                    warp.lanes<std::uint32_t>(constant.slot)[lane] =
                        static_cast<std::uint32_t>(constant.value);
                    break;
                case 8: warp.lanes<std::uint64_t>(constant.slot)[lane] = constant.value; break;
                default: OCKC_UNREACHABLE("width of a constant");
            }
        }
    }
}

// What a turn has come to: all threads ended (or one failed), some ran, or all wait.
enum class Went : std::uint8_t { Ended, On, Nowhere };

// The memory of one resident block, used again for the next.
class ResidentBlock {
  public:
    ResidentBlock(const ResidentBlock&) = delete;
    ResidentBlock& operator=(const ResidentBlock&) = delete;
    explicit ResidentBlock(Worker& worker) : worker_(worker), launch_(*worker.launch), program_(*worker.program) {
        const std::uint32_t count = (launch_.threads + kLanes - 1) / kLanes;
        registers_ = aligned_bytes(std::size_t{program_.register_bytes} * count);
        local_ = aligned_bytes(std::size_t{program_.local_bytes} * kLanes * count);
        shared_ = aligned_bytes(launch_.shared_bytes);
        warps_ = std::vector<Warp>(count);
        for (std::uint32_t i = 0; i < count; ++i)
            prepare(warps_[i], i);
    }

    ~ResidentBlock() { hand_over_text(); }

    void start(Dim3 index, Cluster& cluster) {
        hand_over_text();
        block_.index = index;
        block_.linear = index.x + std::uint64_t{launch_.grid.x} * (index.y + std::uint64_t{launch_.grid.y} * index.z);
        block_.cluster = &cluster;
        block_.cluster_rank = static_cast<std::uint32_t>(cluster.blocks.size());
        cluster.blocks.push_back(&block_);
        block_.shared = shared_.get();
        block_.shared_bytes = launch_.shared_bytes;
        block_.live_threads = block_.threads = launch_.threads;
        block_.faulted = false;
        for (BarrierState& barrier : block_.barriers)
            barrier = {};
        std::memset(shared_.get(), 0, launch_.shared_bytes);
        for (Warp& warp : warps_)
            start_warp(warp);
        if (worker_.detector != nullptr) worker_.detector->start_block(block_);
    }

    // One turn of every warp that can run.
    Went step(std::uint64_t turn) {
        bool unfinished = false;
        bool progress = false;
        for (Warp& warp : warps_) {
            if (warp.stop == Stop::Finished) continue;
            if (warp.stop == Stop::Blocked && !has_ready(warp)) {
                unfinished = true;
                continue;
            }
            progress = true;
            run_turn(warp, turn);
            if (warp.stop == Stop::Faulted || block_.faulted) return Went::Ended;
            if (warp.stop != Stop::Finished) unfinished = true;
        }
        if (!unfinished || launch_.first_fault.load(std::memory_order_relaxed) < block_.linear) return Went::Ended;
        return progress ? Went::On : Went::Nowhere;
    }
    bool faulted() const { return block_.faulted; }
    std::uint64_t linear() const { return block_.linear; }
    void report_deadlock();

  private:
    void prepare(Warp& warp, std::uint32_t index) {
        warp.index = index;
        warp.worker = &worker_;
        warp.block = &block_;
        warp.registers = registers_.get() + std::size_t{program_.register_bytes} * index;
        warp.local = local_.get() + std::size_t{program_.local_bytes} * kLanes * index;
        fill_constants(warp, program_);
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            const Dim3 thread = thread_index(launch_, warp, lane);
            warp.tid[0][lane] = thread.x;
            warp.tid[1][lane] = thread.y;
            warp.tid[2][lane] = thread.z;
        }
        block_.warps.push_back(&warp);
    }

    void start_warp(Warp& warp) {
        std::memset(warp.registers + program_.constant_bytes, 0,
                    program_.register_bytes - program_.constant_bytes);
        if (program_.local_bytes != 0) std::memset(warp.local, 0, std::size_t{program_.local_bytes} * kLanes);
        const std::uint32_t first = warp.index * kLanes;
        const std::uint32_t count = launch_.threads - first < kLanes ? launch_.threads - first : kLanes;
        const std::uint32_t mask = count == kLanes ? kAllLanes : (1u << count) - 1;
        warp.exited = ~mask;
        warp.set_active(mask);
        warp.carry = 0;
        warp.products = {};
        warp.limit = kNoLimit;
        warp.frame = 0;
        warp.frames.assign(1, Frame{});
        warp.split_count = 0;
        warp.rotate = false;
        warp.turns = 0;
        warp.stop = Stop::Running;
        warp.pc = program_.entry();
        warp.steps = warp.lane_steps = 0;
        std::fill(std::begin(warp.cluster_phase), std::end(warp.cluster_phase), std::uint64_t{0});
    }

    static bool has_ready(const Warp& warp) {
        for (std::uint32_t i = 0; i < warp.split_count; ++i) {
            if (warp.splits[i].state == Split::State::Ready) return true;
        }
        return false;
    }

    void run_turn(Warp& warp, std::uint64_t turn) {
        const Op* op = warp.stop == Stop::Running ? warp.pc : pick_split(warp);
        warp.stop = Stop::Running;
        const std::uint64_t most = launch_.options->max_steps;
        if (most != 0 && turn > most - warp.steps + 1) turn = most - warp.steps + 1;
        std::uint64_t steps = 0;
        std::uint64_t lane_steps = 0;
        std::uint64_t fuel = turn;
        while (op != nullptr && fuel != 0) {
            --fuel;
            steps += op->counts & 1;
            lane_steps += warp.active_count & op->counts;
            op = op->run[warp.partial](*op, warp);
        }
        warp.steps += steps;
        warp.lane_steps += lane_steps;
        if (warp.stop == Stop::Finished) flush_counts(warp);
        if (op == nullptr) return;
        if (most != 0 && warp.steps > most) {
            fault(warp, *op, ErrorKind::Timeout, static_cast<std::uint32_t>(__builtin_ctz(warp.active)),
                  fmt::format("a warp has executed more than {} instructions (OCK_EMULATOR_MAX_STEPS sets the limit, 0 lifts it)", most));
            return;
        }
        suspend(warp, op);
        warp.stop = Stop::Yielded;
    }

    void hand_over_text() {
        if (block_.printed.empty()) return;
        const std::lock_guard<std::mutex> lock(launch_.fault_mutex);
        launch_.printed.emplace_back(block_.linear, std::move(block_.printed));
        block_.printed.clear();
    }

    void flush_counts(const Warp& warp) {
        launch_.steps.fetch_add(warp.steps, std::memory_order_relaxed);
        launch_.lane_steps.fetch_add(warp.lane_steps, std::memory_order_relaxed);
    }

    Worker& worker_;
    Launch& launch_;
    const Program& program_;
    AlignedBytes registers_;
    AlignedBytes local_;
    AlignedBytes shared_;
    std::vector<Warp> warps_;
    Block block_;
};

// Every warp waits and nobody is left to arrive: says who waits where.
void ResidentBlock::report_deadlock() {
    struct Group {
        const Op* at;
        std::uint32_t threads;
        std::uint32_t warps;
    };
    std::vector<Group> groups;
    for (const Warp& warp : warps_) {
        for (std::uint32_t i = 0; i < warp.split_count; ++i) {
            const Split& split = warp.splits[i];
            Group* found = nullptr;
            for (Group& group : groups) {
                if (group.at == split.waiting_at) found = &group;
            }
            if (found == nullptr) found = &groups.emplace_back(Group{split.waiting_at, 0, 0});
            found->threads += static_cast<std::uint32_t>(__builtin_popcount(split.mask));
            ++found->warps;
        }
    }
    for (Warp& warp : warps_) {
        if (warp.split_count == 0) continue;
        std::string what = fmt::format("deadlock: {} of {} threads wait and none can go on",
                                       block_.live_threads, block_.threads);
        for (const Group& group : groups)
            what += "\n  " + describe_waiting(launch_, *group.at, group.threads, group.warps);
        const Split& split = warp.splits[0];
        warp.frame = split.frame;
        fault(warp, *split.waiting_at, ErrorKind::LaunchFailed,
              static_cast<std::uint32_t>(__builtin_ctz(split.mask)), what);
        return;
    }
}

// The blocks of one cluster, which run side by side. Most launches have clusters of one block.
class ResidentCluster {
  public:
    explicit ResidentCluster(Worker& worker) : launch_(*worker.launch) {
        for (std::uint32_t i = 0; i < launch_.cluster_blocks; ++i)
            blocks_.push_back(std::make_unique<ResidentBlock>(worker));
    }

    void start(std::uint64_t number) {
        const Dim3 size = launch_.cluster;
        const std::uint64_t x = launch_.grid.x / size.x, y = launch_.grid.y / size.y;
        const Dim3 first{static_cast<std::uint32_t>(number % x) * size.x, static_cast<std::uint32_t>(number / x % y) * size.y,
                         static_cast<std::uint32_t>(number / x / y) * size.z};
        cluster_ = {};
        running_.assign(blocks_.size(), true);
        for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
            const Dim3 index{first.x + i % size.x, first.y + i / size.x % size.y, first.z + i / size.x / size.y};
            blocks_[i]->start(index, cluster_);
        }
    }

    // One turn of every block. False when nothing is left to do.
    bool step(std::uint64_t turn) {
        bool on = false;
        ResidentBlock* stuck = nullptr;
        for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
            if (!running_[i]) continue;
            const Went went = blocks_[i]->step(turn);
            if (went == Went::Ended) running_[i] = false;
            if (blocks_[i]->faulted()) return false;
            if (went == Went::Nowhere && stuck == nullptr) stuck = blocks_[i].get();
            on |= went != Went::Nowhere;
        }
        if (!on && stuck != nullptr) stuck->report_deadlock();
        return on && (stuck != nullptr || std::find(running_.begin(), running_.end(), true) != running_.end());
    }
    std::uint64_t first_block() const { return blocks_.front()->linear(); }

  private:
    Launch& launch_;
    Cluster cluster_;
    std::vector<std::unique_ptr<ResidentBlock>> blocks_;
    std::vector<bool> running_;
};

void run_cooperative(Worker& worker, Launch& launch) {
    // Every worker takes an equal share before any of them runs.
    std::vector<std::unique_ptr<ResidentCluster>> resident;
    const std::uint64_t clusters = launch.blocks / launch.cluster_blocks;
    const std::uint64_t share = (clusters + launch.workers - 1) / launch.workers;
    for (std::uint64_t i = 0; i < share; ++i) {
        const std::uint64_t number = launch.next_cluster.fetch_add(1, std::memory_order_relaxed);
        if (number >= clusters) break;
        resident.push_back(std::make_unique<ResidentCluster>(worker));
        resident.back()->start(number);
    }
    while (!resident.empty()) {
        std::erase_if(resident, [](auto& cluster) { return !cluster->step(kCooperativeTurn); });
        if (launch.first_fault.load(std::memory_order_relaxed) != ~0ull) return;
    }
}

}  // namespace

void run_blocks(Launch& launch) {
    Worker worker;
    worker.launch = &launch;
    worker.program = launch.program;
    worker.windows.resize(launch.program->sites);
    worker.detector = launch.detector;
    if (launch.cooperative) return run_cooperative(worker, launch);
    const std::uint64_t clusters = launch.blocks / launch.cluster_blocks;
    ResidentCluster resident(worker);
    while (true) {
        const std::uint64_t number = launch.next_cluster.fetch_add(1, std::memory_order_relaxed);
        if (number >= clusters) return;
        resident.start(number);
        if (resident.first_block() > launch.first_fault.load(std::memory_order_relaxed)) return;
        while (resident.step(kTurn)) {
        }
    }
}

}  // namespace ockc::emu
