// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nccl_device.h"

#include "runtime/machine.h"
#include "runtime/streams.h"

#include <functional>
#include <memory>
#include <string>

namespace cuco_emu {

struct GinState;

/// LSA barriers of one device communicator, all ranks. A slot is one barrier of one handle.
struct LsaState {
    struct Arrival {
        std::uint32_t epoch = 0;
        Time seen = 0;  ///< when the receiver can see it
        ClockRef carried;
    };
    struct Waiter {
        Thread* thread;
        std::size_t place;
        std::uint32_t epoch;
    };
    int ranks = 0;
    std::size_t slots = 0;
    std::vector<std::uint32_t> epochs;  ///< [rank][slot]
    std::vector<Arrival> inbox;         ///< [to][from][slot]
    std::vector<Waiter> waiters;
};

/// Hosts of all ranks meet here, once for each collective call.
struct HostMeeting {
    int arrived = 0;
    std::vector<Rank*> waiting;
};

/// How NCCL knows a range of memory.
struct Registration {
    bool registered = false;
    int window = -1;  ///< the communicator's how-manieth symmetric window, when it is one
    std::size_t offset = 0;

    bool operator==(const Registration&) const = default;
};

/// One collective operation; ranks add their part in the order of their calls.
struct Collective {
    struct Part {
        const void* send = nullptr;
        void* receive = nullptr;
        CommandPtr command;
        Kernel* kernel = nullptr;
        std::size_t send_bytes = 0, receive_bytes = 0;  ///< of the whole buffers
        Registration send_in, receive_in;
        const void* site = nullptr;
    };
    std::string name;
    std::size_t count = 0;
    ncclDataType_t type = ncclInt8;
    ncclRedOp_t operation = ncclSum;
    int root = 0;
    std::uint64_t number = 0;
    std::vector<Part> parts;
    int ready = 0;
    Work work;
};

/// All ranks of a communicator.
struct Clique {
    std::vector<ncclComm*> members;
    HostMeeting meeting;
    std::map<std::uint64_t, std::unique_ptr<Collective>> collectives;
    std::uint64_t next_flow = 1;
    struct Transfer {
        int from = 0, to = 0;
        const void* send = nullptr;
        void* receive = nullptr;
        std::size_t bytes = 0;
        bool send_registered = false, receive_registered = false;
        std::function<void()> sent, received;
        CommandPtr sender, receiver;
        Work work;
    };
    std::map<std::pair<int, int>, std::deque<std::unique_ptr<Transfer>>> transfers;  ///< with one side only so far
    std::vector<std::unique_ptr<LsaState>> lsa_states;
    struct Offer {
        void* buffer = nullptr;
        std::size_t bytes = 0;
        int flags = 0;
        int gin_contexts = 0, gin_signals = 0, gin_counters = 0;
    };
    std::vector<Offer> offers;  ///< of the registration under way
    LsaState* new_state = nullptr;
    std::vector<std::shared_ptr<GinState>> gin_states;  ///< newest last
    struct Split {
        int color = 0, key = 0;
    };
    std::vector<Split> splits;  ///< of the ncclCommSplit under way, by rank
    std::map<int, std::shared_ptr<Clique>> parts;
};

std::size_t element_bytes(ncclDataType_t type);
const char* type_name(ncclDataType_t type);

/// Memory that was registered with the communicator, as a window or without. `handle` is the window's or the
/// registration's; symmetric windows are counted.
void add_registered(ncclComm& comm, const void* handle, const void* begin, std::size_t bytes, bool symmetric);
/// Of the whole range.
Registration registration_of(const ncclComm& comm, const void* begin, std::size_t bytes);
/// Ends the run when the ranks' buffers are not registered alike, as NCCL wants them for one collective.
void check_registrations(const Collective& collective);

/// What the operation does to memory, once all ranks take part.
void perform(const Collective& collective);

/// A kernel for the command that calls `resident` when all its blocks hold an SM, and lets go of them in
/// end_waiting. `reason` says in a deadlock what it waits for.
Kernel* waiting_kernel(const CommandPtr& command, const std::string& reason, std::function<void()> resident);
void end_waiting(Kernel& kernel);

/// In words, for a thread that waits in an LSA barrier, and for a collective's kernel.
std::string describe_lsa_wait(const Thread& thread);
std::string describe_collective_wait(const Kernel& kernel);

}  // namespace cuco_emu

struct ncclComm {
    std::shared_ptr<cuco_emu::Clique> clique;
    cuco_emu::Rank* owner = nullptr;
    int rank = 0, ranks = 0;
    std::uint64_t next_collective = 0;
    struct Registered {
        const void* handle;  ///< or the window
        std::uintptr_t begin;
        std::size_t bytes;
        int window;  ///< as in Registration
    };
    std::vector<Registered> registered;
    int windows = 0;
};
