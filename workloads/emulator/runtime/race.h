// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/race_clock.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/// The race checker: which accesses are ordered by what the program does to order them, whatever order they happened
/// to have. After FastTrack (Flanagan, Freund, PLDI 2009), with clocks of launches, blocks and warps (race_clock.h).
///
/// Nothing here is called unless `race_checking` is set, before the first rank runs.
namespace cuco_emu {

struct Block;
struct Command;
struct Kernel;
struct Rank;
struct Stream;
struct Thread;
struct Warp;

extern bool race_checking;

/// What relaxed accesses carry, by how far it reaches: 0 the block, 1 the device, 2 everybody.
struct RaceFences {
    std::array<ClockRef, 3> released;  ///< what the last fence of that scope published; null: the launch's beginning
    std::array<ClockRef, 3> seen;      ///< found by relaxed loads, from that far away; a fence makes it known
};

/// A CUDA thread, a rank's host, or an operation of a stream, as one that accesses memory.
struct RaceActor {
    std::uint32_t task = 0, block = 0;
    std::uint8_t warp = 0, lane = 0;
    std::int16_t rank = -1;
    RaceTime time = 1;
    RaceTime warp_known = 0, block_known = 0, grid_known = 0;  ///< of its own warp, block and launch
    ClockRef known;                                            ///< of all others
    std::shared_ptr<const RaceFences> fences;                  ///< null until it has fenced or loaded anything
};

/// Of a kernel in execution.
struct RaceKernel {
    std::uint32_t task = 0;
    ClockRef begin, end;  ///< the end grows as threads end
    const RaceClock* last_joined = nullptr;
};

/// Of a stream's operation.
struct RaceCommand {
    const void* site = nullptr;  ///< the call, in the candidate
    std::uint32_t task = 0;
    ClockRef before;  ///< what the host knew when it called
    ClockRef begin, learnt, end;
};

/// How an atomic or volatile access synchronises: memory order (as __ATOMIC_*), scope (0 block, 1 device, 2 system).
enum class RaceAccess { load = 1, store = 2, update = 3 };

// race_memory.cpp and race_variable.cpp: memory.
void race_plain(const volatile void* address, std::size_t bytes, bool write, const void* site);
/// `how` as in cuco_emu/abi.h; the access itself has happened.
void race_strong(const volatile void* address, std::size_t bytes, int how, const void* site);
void race_fence(int scope, int order);
void race_in_command(const Command& command, const void* address, std::size_t bytes, bool write);
void race_new_memory(const void* address, std::size_t bytes);

// race_kernel.cpp: inside kernels. What barriers and transfers carry: race_variable.cpp.
void race_begin_kernel(Kernel& kernel, const Command& command);
void race_begin_block(Block& block);
void race_meet_in_warp(Warp& warp, std::uint32_t lanes);
void race_meet_in_block(Block& block, const std::vector<Thread*>& threads, bool all);
void race_meet_in_grid(Kernel& kernel, const std::vector<Thread*>& threads);
void race_end_thread(Thread& thread);
void race_end_kernel(const Kernel& kernel, Command& command);
/// An arrival at an LSA barrier carries a clock to whom waits for it.
void race_arrive(ClockRef& carried, int order);
void race_wait(const ClockRef& carried, int order);

/// A transfer of the network adapter, which no stream holds: it reads its source at time 1 and writes its destination
/// at time 2.
struct RaceTransfer {
    std::uint32_t task = 0;
    int rank = -1;
    const void* site = nullptr;
    ClockRef known;  ///< what it comes after
};
/// What comes before an operation that the running thread starts outside of its own accesses: what it has published
/// (`released`) and what it has seen, as with its stores.
ClockRef race_before_transfer(const ClockRef& released);
/// `value`: written as one, like a volatile store that releases.
void race_in_transfer(const RaceTransfer& transfer, const void* address, std::size_t bytes, bool write, bool value);

// race_stream.cpp: streams and hosts.
void race_enqueue(Command& command, const Stream& stream);
void race_begin(Command& command);
void race_end(Command& command);
/// The command comes after `earlier`, which has ended.
void race_after(Command& command, const Command* earlier);
void race_stream_waits(Stream& stream, const Command* earlier);
void race_host_waits(Rank& rank, const Command* ended);
void race_host_waits(Rank& rank, const Stream& drained);
void race_hosts_meet(const std::vector<Rank*>& ranks);

/// Reports what was found and not reported yet.
void report_races();

}  // namespace cuco_emu
