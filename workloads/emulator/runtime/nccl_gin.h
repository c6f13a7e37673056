// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nccl_device.h"

#include "runtime/machine.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

/// The network adapters behind ncclGin, one for each rank. Each context has a queue for each pair of ranks, in which
/// transfers leave and arrive in order. Where NCCL promises little the adapter takes its time: a source is read when
/// its data arrives, unless a counter or a flush asks for it, and a put settles with the next signal of its queue, or
/// long after.
namespace cuco_emu {

/// A signal or a counter of one rank and context.
struct GinCell {
    int rank = 0, context = 0;
    bool counter = false;
    std::uint32_t id = 0;
    std::uint64_t* value = nullptr;  ///< in the rank's device memory, where no candidate may look
    int operation = 0;               ///< 1: incremented since the last reset, 2: added to
    int under_way = 0;
    std::vector<std::uint64_t> times;  ///< that each rank has signalled since the last reset
    std::uint32_t epoch = 0;           ///< of a barrier
    ClockRef carried;
};

struct GinQueue;
struct GinState;

struct GinTransfer : std::enable_shared_from_this<GinTransfer> {
    std::shared_ptr<GinState> state;
    std::shared_ptr<GinTransfer> self;  ///< while the adapter has it
    GinQueue* queue = nullptr;
    cuco_emu_gin_operation operation{};
    char* to = nullptr;  ///< null: nothing but a signal
    const char* from = nullptr;
    std::vector<char> data;  ///< once the source was read
    Time begin = 0;
    bool arrived = false, consumed = false, settled = false, wanted = false;  ///< wanted: by a flush
    std::string issuer;
    Work work;
    RaceTransfer race;
    ClockRef released;  ///< by the issuing thread; a signal carries it

    std::size_t bytes() const { return operation.bytes; }
};

struct GinQueue {
    int context = 0, from = 0, to = 0;
    std::deque<std::shared_ptr<GinTransfer>> waiting;    ///< to leave; the first one leaves
    std::deque<std::shared_ptr<GinTransfer>> unsettled;  ///< issued, in order
    std::uint64_t issued = 0, arrived = 0;
    Time last_arrival = 0, completed = 0;  ///< completed: the last that arrived, as the sender learns
    ClockRef settled;                      ///< all that has settled
    ClockRef consumed;                     ///< all sources that were read
};

struct GinWaiter {
    Thread* thread;
    GinCell* cell;    ///< null: for a flush
    GinQueue* queue;  ///< of which as many as `least` must have arrived
    std::uint64_t least;
    int bits;
    int team;  ///< of a barrier; otherwise 0
};

/// Of one device communicator, all ranks.
struct GinState : std::enable_shared_from_this<GinState> {
    int ranks = 0, contexts = 0, signals = 0, counters = 0;
    int own_signals = 0;  ///< that were asked for by number, from 0
    struct Barriers {
        std::uint32_t first;
        int count;
    };
    std::vector<Barriers> barriers;
    std::vector<Rank*> owners;           ///< by rank of the communicator
    std::vector<std::uint64_t*> values;  ///< [rank]: signals, then counters, of all contexts
    std::vector<bool> gone;              ///< [rank]: the communicator was destroyed there
    std::vector<GinCell> cells;          ///< [rank][context][signals, then counters]
    std::vector<GinQueue> queues;        ///< [context][from][to]
    std::vector<GinWaiter> waiters;

    GinCell& cell(int rank, int context, bool counter, std::uint32_t id);
    GinQueue& queue(int context, int from, int to);
};

/// Hands a checked transfer to the adapter.
void gin_issue(const std::shared_ptr<GinTransfer>& transfer);
/// Reads the sources of all that has arrived; those of the rest are read as soon as they do.
void gin_consume(GinQueue& queue);
/// Is `least` no more than `value`, in numbers of so many bits that overflow?
bool gin_reached(std::uint64_t value, std::uint64_t least, int bits);

/// In words, for a thread that waits for a signal, a counter or a flush.
std::string describe_gin_wait(const Thread& thread);

/// What a request comes to: the numbers of it and its barriers. Tells the request's parts where theirs begin.
GinState gin_layout(const ncclDevCommRequirements& requirements, int ranks, ncclDevComm& out);
std::shared_ptr<GinState> gin_create(const GinState& layout);
/// One rank's part of a new communicator. False when there is no memory left for its signals.
bool gin_join(GinState& state, int rank, Rank& owner, ncclDevComm& out);
/// What is still under way to or from the rank comes to nothing.
void gin_leave(const ncclDevComm& devcomm);

}  // namespace cuco_emu
