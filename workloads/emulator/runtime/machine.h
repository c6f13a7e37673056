// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_runtime.h"

#include "runtime/memory.h"
#include "runtime/model.h"
#include "runtime/race.h"
#include "runtime/work.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace cuco_emu {

struct Block;
struct Kernel;
struct Rank;
struct Warp;

/// What a CUDA thread does when it does not run.
enum class Wait : std::uint8_t {
    none,
    visible,         ///< about to do something that others can see
    barrier_arrive,  ///< the same, an arrival at a barrier of the block
    grid_arrive,
    exit,
    barrier,
    grid,
    exchange,
    active_mask,
    poll,
    lsa,
    gin,
    sleep,
    done
};

struct Thread {
    void* stack_pointer = nullptr;
    char* stack = nullptr;  ///< lowest address
    Warp* warp = nullptr;
    uint3 index{};
    std::uint8_t lane = 0;
    Wait wait = Wait::none;
    const void* call_site = nullptr;  ///< in the candidate, of what it waits in

    int barrier = 0, barrier_threads = 0, barrier_kind = 0, predicate = 0, result = 0;

    unsigned mask = 0;
    int operation = 0, source = 0;
    std::uint64_t value = 0;
    void* pointer = nullptr;

    struct Polled {
        const volatile void* address = nullptr;
        std::uint64_t seen[2]{};
        int repeats = 0;
    };
    Polled polled[4];
    unsigned next_polled = 0;
    bool quiet = false;       ///< nothing written since the last poll
    bool read_clock = false;  ///< since the last poll
    Time paused = 0;          ///< by __nanosleep since the last poll
    unsigned poll_bytes = 0;
    const volatile void* poll_address = nullptr;
    std::uint64_t accesses_at_poll = 0;
    unsigned timer = 0;  ///< counts parkings, so that a stale timer wakes nobody
    unsigned idle_polls = 0;

    int lsa_index = -1;
    const void* lsa_state = nullptr;
    const void* gin_state = nullptr;

    RaceActor* race = nullptr;
};

/// What a warp did since it was last charged for it.
struct Cost {
    std::uint64_t accesses = 0;  ///< of single lanes
    std::uint64_t total_accesses = 0;
    /// Reads of device memory that a lane waits for together: of all lanes, and the most of one between two waits.
    std::uint64_t bursts = 0, longest_run = 0;
    std::uint64_t burst_left = 0;  ///< bytes that the running lane may still read without waiting
    std::uint64_t shared_bytes = 0, read_bytes = 0, write_bytes = 0, pinned_bytes = 0;
    std::array<std::uint64_t, max_ranks> peer_read{}, peer_write{};
    double flops = 0, group_flops = 0;  ///< of a warp's products, of a warpgroup's
    Time latency = 0;
    bool peer = false;

    /// A thread has this much in flight at most, and what it stores in between it has waited for.
    static constexpr std::uint64_t burst_bytes = 64;

    void read(std::uint64_t bytes)
    {
        if (burst_left < bytes) {
            bursts += (bytes + burst_bytes - 1) / burst_bytes;
            burst_left = burst_bytes;
        }
        burst_left -= std::min(bytes, burst_left);
    }

    bool empty() const { return accesses == 0 && flops == 0 && group_flops == 0 && latency == 0; }
};

/// A lane's products of a warpgroup that are not waited for yet.
struct LaneProducts {
    std::vector<cuco_emu_product> begun;
    std::vector<std::size_t> group_ends;  ///< in `begun`
};

struct Warp {
    Block* block = nullptr;
    Thread* threads = nullptr;
    int lanes = 0;
    /// Lanes as bits: not ended; may run; will be ready at an event; about to act visibly; in a meeting.
    unsigned live = 0, ready = 0, waking = 0, pending = 0, in_exchange = 0, in_active_mask = 0;
    Cost cost;
    Work work;
    bool charging = false, puts = false, computes = false;
    Time charge_begin = 0, wait_begin = -1;
    std::unique_ptr<std::array<LaneProducts, 32>> products;  ///< once there was one
};

struct Sm {
    Server issue, tensor, shared, global, link;
    int blocks = 0, threads = 0;
    std::size_t shared_used = 0;
};

struct NamedBarrier {
    int waiting = 0, count = 0;
    int ones = 0;
};

struct Block {
    Kernel* kernel = nullptr;
    Sm* sm = nullptr;
    uint3 index{};
    std::size_t number = 0;
    char* shared = nullptr;
    std::size_t shared_bytes = 0;
    int live = 0, shared_pollers = 0;
    int events = 0;  ///< queued that refer to this block, which must outlive them
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::array<NamedBarrier, 16> barriers;
    Work work;  ///< of a block without threads
    std::vector<RaceActor> race;
};

/// Size of static shared memory of a kernel, learnt as its blocks run.
struct KernelLayout {
    std::map<const void*, std::size_t> offsets;
    std::size_t static_bytes = 0;
    bool known = false;
};

enum class Activity { compute = 0, communication = 1, copy = 2, wait = 3, host = 4 };

/// A kernel in execution. One without `run` is modelled: its blocks only take time.
struct Kernel {
    std::string name;
    Rank* rank = nullptr;
    uint3 grid{}, block{};
    std::size_t dynamic_bytes = 0;
    KernelLayout* layout = nullptr;
    void* parameters = nullptr;
    void (*run)(void*) = nullptr;
    int priority = 0;
    bool cooperative = false;

    std::function<void(Work&, Sm&)> block_work;  ///< modelled: what one block needs
    std::size_t modelled_shared = 0;
    bool hold = false;  ///< modelled: blocks stay until released
    std::function<void()> all_resident;

    std::size_t blocks = 0, started = 0, finished = 0;
    std::vector<Block*> resident;
    std::function<void(const Kernel&)> done;

    int grid_waiting = 0;
    bool computes = false;
    std::uint64_t peer_bytes = 0;
    Time begin = 0;
    struct Segment {
        Time begin, end;
    };
    std::vector<Segment> compute_segments, put_segments, wait_segments;
    std::shared_ptr<RaceKernel> race;
};

struct Graph;
struct Stream;

/// One operation of a stream. `start` begins it and later calls finish(command).
struct Command {
    std::string name;
    Activity activity = Activity::compute;
    std::uint64_t bytes = 0;
    std::uint32_t flow = 0;
    bool traced = true;
    bool kernel = false, copy = false;  ///< some time passes after the one before
    Stream* stream = nullptr;
    std::uint64_t order = 0;  ///< among all of the rank
    Time earliest = 0, begin = 0, end = 0;
    bool started = false, scheduled = false, done = false;
    std::function<void()> start;
    std::vector<std::function<void()>> after;
    RaceCommand race;
};
using CommandPtr = std::shared_ptr<Command>;

struct Stream {
    Rank* rank = nullptr;
    int number = 0;
    unsigned flags = 0;
    int priority = 0;
    bool legacy = false;
    Time last_end = 0;
    Time next_kernel = 0, next_copy = 0;  ///< not before, after the one before
    std::deque<CommandPtr> queue;
    CommandPtr last;
    std::string name;
    ClockRef race_end, race_waits;  ///< of its last operation; of what later ones come after besides
};

struct CopyEngine {
    bool busy = false;
};

struct Copy;

/// The host thread of a rank.
struct Host {
    void* stack_pointer = nullptr;
    char* stack = nullptr;
    bool finished = true;
    bool loading = false;                            ///< a candidate, whose constructors run
    const char *frame = nullptr, *result = nullptr;  ///< of enter_candidate
    bool in_candidate = false;                       ///< between enter_candidate and leave_candidate
    std::string waits_for;                           ///< in words, when it does
    const void* call_site = nullptr;
    RaceActor race;
};

struct Module {
    std::uintptr_t begin = 0, end = 0;  ///< mapped segments
    std::string path;
    void* handle = nullptr;
    int rank = -1, file = -1;
};

struct Rank {
    int index = 0;
    std::vector<Sm> sms;
    Server hbm, egress, ingress, host_link;
    Server nic_egress, nic_ingress;
    std::vector<CopyEngine> engines;
    std::deque<Copy*> waiting_copies;
    Stream legacy_stream, thread_stream;
    std::vector<std::unique_ptr<Stream>> streams;
    std::vector<Kernel*> dispatching;  ///< with blocks still to start, in order of priority and start
    std::vector<Kernel*> kernels;      ///< with blocks running
    std::uint64_t next_order = 0;
    int next_stream = 1;
    int dynamic_limit = 48 * 1024;
    std::map<const void*, KernelLayout> layouts;
    cudaError_t last_error = cudaSuccess;
    Host host;
    Module module;
    std::shared_ptr<Graph> capture;  ///< while streams of this rank are captured
    std::map<Stream*, int> capture_streams;
    std::string work_after_end;  ///< found by note_end
};

struct Machine {
    Model model;
    double flop_scale = 1, byte_scale = 1;
    bool timeless = false;  ///< only results count: see forget_time
    std::vector<std::unique_ptr<Rank>> ranks;
    std::set<std::string> host_collectives;  ///< that candidates called
    std::size_t pollers = 0;
    int open_hosts = 0;
    std::size_t open_commands = 0;
    std::uint64_t disturbance = 0;  ///< seed of delays on the devices; 0: none
    std::uint64_t delays = 0;       ///< drawn so far
    Time time_limit = 60'000'000 * microsecond, deadline = 0;
};

Machine& machine();

/// The rank whose code runs, host or device. Null outside of run().
extern thread_local Rank* current_rank;
/// The warp whose thread runs; null in host code and on other OS threads.
extern thread_local Warp* current_warp;
extern thread_local Thread* current_thread;

/// The return address into the candidate, for messages.
#define CUCO_EMU_CALL_SITE() __builtin_return_address(0)

/// What a kernel, a copy or a thread that waited for a peer is late by, after cuco_emu::disturb.
Time random_delay(const Rank& rank);

/// Durations of the model, scaled.
inline Time bytes_time(double bytes, double gbps)
{
    return static_cast<Time>(bytes * machine().byte_scale / gbps * 1000.0);
}
inline Time flops_time(double flops, double tflops)
{
    return static_cast<Time>(flops * machine().flop_scale / tflops);
}

}  // namespace cuco_emu
