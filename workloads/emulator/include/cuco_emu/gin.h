// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../nccl_device.h"

/// GPU-initiated networking as NCCL 2.28.9 declares it. What the modelled adapter does with it: runtime/nccl_gin.h.

#define NCCL_GIN_MAX_CONTEXTS 4
#define NCCL_GIN_BACKEND_MASK_ALL 1u

struct ncclGin_None {};
struct ncclGin_SignalAdd {
    ncclGinSignal_t signal;
    uint64_t value;
};
struct ncclGin_SignalInc {
    ncclGinSignal_t signal;
};
struct ncclGin_CounterInc {
    ncclGinCounter_t counter;
};
struct ncclGinDescriptorSmem {
    alignas(16) char space[64];
};
struct ncclGin_DescriptorSmem {
    ncclGinDescriptorSmem* descriptor;
};

/// What one thread gives to the adapter: a put, a putValue or a signal.
struct cuco_emu_gin_operation {
    int context, peer;  ///< the peer's rank in the communicator
    ncclWindow_t to;    ///< null: nothing but the signal
    size_t to_offset;
    ncclWindow_t from;  ///< null: `value`
    size_t from_offset;
    uint64_t value;
    size_t bytes;
    int signals;  ///< 0: not; 1: SignalInc; 2: SignalAdd
    uint32_t signal;
    uint64_t amount;
    int counts;
    uint32_t counter;
    int released;  ///< by the caller already, to everybody
    int barrier;   ///< of a barrier session
};

extern "C" {
ncclResult_t ncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam_t team, int barriers,
                                             ncclGinBarrierHandle_t* handle,
                                             ncclDevResourceRequirements_t* requirement);

int cuco_emu_gin_context(const void* gin, int index);
void cuco_emu_gin_issue(void* gin, int self, const cuco_emu_gin_operation* operation);
void cuco_emu_gin_flush(void* gin, int self, int context, int peer, int order);
/// Of a counter, or of a signal. Waits until it is at least `least` in `bits` bits. `team`: of a barrier, otherwise 0.
uint64_t cuco_emu_gin_wait(void* gin, int self, int context, int counter, uint32_t id, uint64_t least, int bits,
                           int order, int team);
uint64_t cuco_emu_gin_read(void* gin, int self, int context, int counter, uint32_t id, int order);
void cuco_emu_gin_reset(void* gin, int self, int context, int counter, uint32_t id);
void cuco_emu_gin_check_signal(const void* gin, uint32_t signal);
void cuco_emu_gin_check_barrier(ncclGinBarrierHandle handle, uint32_t index);
/// What a barrier has counted up to, kept between its sessions.
uint32_t cuco_emu_gin_epoch(const void* gin, int self, int context, uint32_t signal);
void cuco_emu_gin_set_epoch(void* gin, int self, int context, uint32_t signal, uint32_t epoch);
}

namespace cuco_emu {

inline void add_action(cuco_emu_gin_operation&, ncclGin_None) {}
inline void add_action(cuco_emu_gin_operation& operation, ncclGin_SignalInc action)
{
    operation.signals = 1;
    operation.signal = action.signal;
    operation.amount = 1;
}
inline void add_action(cuco_emu_gin_operation& operation, ncclGin_SignalAdd action)
{
    operation.signals = 2;
    operation.signal = action.signal;
    operation.amount = action.value;
}
inline void add_action(cuco_emu_gin_operation& operation, ncclGin_CounterInc action)
{
    operation.counts = 1;
    operation.counter = action.counter;
}

constexpr cuda::memory_order acquire_part(cuda::memory_order order)
{
    return order == cuda::memory_order_release   ? cuda::memory_order_relaxed
           : order == cuda::memory_order_acq_rel ? cuda::memory_order_acquire
                                                 : order;
}
constexpr cuda::memory_order release_part(cuda::memory_order order)
{
    return order == cuda::memory_order_acquire || order == cuda::memory_order_consume ? cuda::memory_order_relaxed
           : order == cuda::memory_order_acq_rel                                      ? cuda::memory_order_release
                                                                                      : order;
}

constexpr uint64_t low_bits(uint64_t value, int bits)
{
    return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

}  // namespace cuco_emu

template <unsigned backends>
struct ncclGin_BackendMask {
    ncclDevComm const& comm;
    uint32_t nContexts : 8, contextId : 8;

    __forceinline__ ncclGin_BackendMask(ncclDevComm const& devcomm, int context) : comm(devcomm)
    {
        nContexts = static_cast<uint32_t>(devcomm.ginContextCount);
        contextId = static_cast<uint32_t>(cuco_emu_gin_context(devcomm.gin, context));
    }

    template <class RemoteAction = ncclGin_None, class LocalAction = ncclGin_None, class Coop = ncclCoopThread,
              class Descriptor = ncclGin_None>
    __forceinline__ void put(ncclTeam team, int peer, ncclWindow_t to, size_t to_offset, ncclWindow_t from,
                             size_t from_offset, size_t bytes, RemoteAction remote = {}, LocalAction local = {},
                             Coop coop = {}, Descriptor = {},
                             cuda::thread_scope already_released = cuda::thread_scope_thread,
                             cuda::thread_scope = cuda::thread_scope_device) const
    {
        cuco_emu_gin_operation operation = operationTo(team, peer, already_released);
        operation.to = to;
        operation.to_offset = to_offset;
        operation.from = from;
        operation.from_offset = from_offset;
        operation.bytes = bytes;
        cuco_emu::add_action(operation, remote);
        cuco_emu::add_action(operation, local);
        issue(operation, coop);
    }
    template <class T, class RemoteAction = ncclGin_None, class LocalAction = ncclGin_None, class Coop = ncclCoopThread,
              class Descriptor = ncclGin_None>
    __forceinline__ void put(ncclTeam team, int peer, ncclSymPtr<T> to, ncclSymPtr<T> from, size_t count,
                             RemoteAction remote = {}, LocalAction local = {}, Coop coop = {},
                             Descriptor descriptor = {},
                             cuda::thread_scope already_released = cuda::thread_scope_thread,
                             cuda::thread_scope expected = cuda::thread_scope_device) const
    {
        put(team, peer, to.window, to.offset, from.window, from.offset, count * sizeof(T), remote, local, coop,
            descriptor, already_released, expected);
    }

    template <class T, class RemoteAction = ncclGin_None, class Coop = ncclCoopThread, class Descriptor = ncclGin_None>
    __forceinline__ void putValue(ncclTeam team, int peer, ncclWindow_t to, size_t to_offset, T value,
                                  RemoteAction remote = {}, Coop coop = {}, Descriptor = {},
                                  cuda::thread_scope already_released = cuda::thread_scope_thread,
                                  cuda::thread_scope = cuda::thread_scope_device) const
    {
        static_assert(sizeof(T) <= 8, "putValue takes at most 8 bytes");
        cuco_emu_gin_operation operation = operationTo(team, peer, already_released);
        operation.to = to;
        operation.to_offset = to_offset;
        operation.bytes = sizeof(T);
        __builtin_memcpy(&operation.value, &value, sizeof(T));
        cuco_emu::add_action(operation, remote);
        issue(operation, coop);
    }
    template <class T, class RemoteAction = ncclGin_None, class Coop = ncclCoopThread, class Descriptor = ncclGin_None>
    __forceinline__ void putValue(ncclTeam team, int peer, ncclSymPtr<T> to, T value, RemoteAction remote = {},
                                  Coop coop = {}, Descriptor descriptor = {},
                                  cuda::thread_scope already_released = cuda::thread_scope_thread,
                                  cuda::thread_scope expected = cuda::thread_scope_device) const
    {
        putValue(team, peer, to.window, to.offset, value, remote, coop, descriptor, already_released, expected);
    }

    template <class RemoteAction, class Coop = ncclCoopThread, class Descriptor = ncclGin_None>
    __forceinline__ void signal(ncclTeam team, int peer, RemoteAction remote, Coop coop = {}, Descriptor = {},
                                cuda::thread_scope already_released = cuda::thread_scope_thread,
                                cuda::thread_scope = cuda::thread_scope_device) const
    {
        cuco_emu_gin_operation operation = operationTo(team, peer, already_released);
        cuco_emu::add_action(operation, remote);
        issue(operation, coop);
    }

    template <class Coop>
    __forceinline__ void flush(Coop coop, cuda::memory_order order = cuda::memory_order_acquire) const
    {
        coop.sync();
        for (int peer = coop.thread_rank(); peer < comm.nRanks; peer += coop.size())
            cuco_emu_gin_flush(comm.gin, comm.rank, static_cast<int>(contextId), peer, static_cast<int>(order));
        coop.sync();
    }

    __forceinline__ uint64_t readCounter(ncclGinCounter_t counter, int bits = 56,
                                         cuda::memory_order order = cuda::memory_order_acquire) const
    {
        return cuco_emu::low_bits(
            cuco_emu_gin_read(comm.gin, comm.rank, static_cast<int>(contextId), 1, counter, static_cast<int>(order)),
            bits);
    }
    template <class Coop>
    __forceinline__ void waitCounter(Coop coop, ncclGinCounter_t counter, uint64_t least, int bits = 56,
                                     cuda::memory_order order = cuda::memory_order_acquire) const
    {
        wait(coop, 1, counter, least, bits, order);
    }
    __forceinline__ void resetCounter(ncclGinCounter_t counter) const
    {
        cuco_emu_gin_reset(comm.gin, comm.rank, static_cast<int>(contextId), 1, counter);
    }

    __forceinline__ uint64_t* getSignalShadowPtr(ncclGinSignal_t signal) const
    {
        cuco_emu_gin_check_signal(comm.gin, signal);
        return comm.ginSignalShadows + contextId * static_cast<size_t>(comm.ginSignalCount) + signal;
    }
    __forceinline__ void increaseSignalShadow(ncclGinSignal_t signal, uint64_t delta) const
    {
        cuda::atomic_ref<uint64_t, cuda::thread_scope_block>(*getSignalShadowPtr(signal))
            .fetch_add(delta, cuda::memory_order_relaxed);
    }

    __forceinline__ uint64_t readSignal(ncclGinSignal_t signal, int bits = 64,
                                        cuda::memory_order order = cuda::memory_order_acquire) const
    {
        return cuco_emu::low_bits(
            cuco_emu_gin_read(comm.gin, comm.rank, static_cast<int>(contextId), 0, signal, static_cast<int>(order)),
            bits);
    }
    template <class Coop>
    __forceinline__ void waitSignal(Coop coop, ncclGinSignal_t signal, uint64_t least, int bits = 64,
                                    cuda::memory_order order = cuda::memory_order_acquire) const
    {
        wait(coop, 0, signal, least, bits, order);
    }
    template <class Coop>
    __forceinline__ void waitSignalMeetShadow(Coop coop, ncclGinSignal_t signal, int bits = 64,
                                              cuda::memory_order order = cuda::memory_order_acquire) const
    {
        coop.sync();
        if (coop.thread_rank() == 0)
            waitAlone(0, signal, *getSignalShadowPtr(signal), bits, order);
        coop.sync();
    }
    /// As the comment in NCCL's header says; 2.28.9 itself leaves the shadow as it was.
    template <class Coop, class Uint>
    __forceinline__ void waitSignalFollowShadow(Coop coop, ncclGinSignal_t signal, Uint least_delta, Uint* before,
                                                Uint* delta, int bits = 64,
                                                cuda::memory_order order = cuda::memory_order_acquire) const
    {
        uint64_t* shadow = getSignalShadowPtr(signal);
        coop.sync();
        const uint64_t old = *shadow;
        coop.sync();
        if (coop.thread_rank() == 0)
            *shadow = waitAlone(0, signal, old + least_delta, bits, order);
        coop.sync();
        *before = static_cast<Uint>(cuco_emu::low_bits(old, bits));
        *delta = static_cast<Uint>(cuco_emu::low_bits(*shadow - old, bits));
        coop.sync();
    }
    __forceinline__ void resetSignal(ncclGinSignal_t signal) const
    {
        cuco_emu_gin_reset(comm.gin, comm.rank, static_cast<int>(contextId), 0, signal);
        *getSignalShadowPtr(signal) = 0;
    }

    // For barrier sessions.
    __forceinline__ cuco_emu_gin_operation operationTo(ncclTeam team, int peer,
                                                       cuda::thread_scope already_released) const
    {
        cuco_emu_gin_operation operation{};
        operation.context = static_cast<int>(contextId);
        operation.peer = ncclTeamRankToWorld(comm, team, peer);
        operation.released = already_released == cuda::thread_scope_system;
        return operation;
    }
    template <class Coop>
    __forceinline__ void issue(const cuco_emu_gin_operation& operation, Coop coop) const
    {
        coop.sync();
        if (coop.thread_rank() == 0)
            cuco_emu_gin_issue(comm.gin, comm.rank, &operation);
        coop.sync();
    }

private:
    __forceinline__ uint64_t waitAlone(int counter, uint32_t id, uint64_t least, int bits,
                                       cuda::memory_order order) const
    {
        return cuco_emu_gin_wait(comm.gin, comm.rank, static_cast<int>(contextId), counter, id, least, bits,
                                 static_cast<int>(order), 0);
    }
    template <class Coop>
    __forceinline__ void wait(Coop coop, int counter, uint32_t id, uint64_t least, int bits,
                              cuda::memory_order order) const
    {
        coop.sync();
        if (coop.thread_rank() == 0)
            waitAlone(counter, id, least, bits, order);
        coop.sync();
    }
};
using ncclGin = ncclGin_BackendMask<NCCL_GIN_BACKEND_MASK_ALL>;

enum class ncclGinFenceLevel { Relaxed };

/// A signal to each of the team's others, and a wait for as many.
template <class Coop>
struct ncclGinBarrierSession {
    Coop coop;
    ncclGin net;
    ncclTeam team;
    ncclGinBarrierHandle handle;
    int index;
    uint32_t epoch = 0;
    ncclGinSignal_t signal;

    __forceinline__ ncclGinBarrierSession(Coop group, ncclGin gin, ncclTeam members, ncclGinBarrierHandle barrier,
                                          uint32_t number)
        : coop(group),
          net(gin),
          team(members),
          handle(barrier),
          index(static_cast<int>(number)),
          signal(barrier.signal0 + number)
    {
        cuco_emu_gin_check_barrier(handle, number);
        if (team.nRanks > 1)
            epoch = cuco_emu_gin_epoch(net.comm.gin, net.comm.rank, static_cast<int>(net.contextId), signal);
    }
    __forceinline__ ncclGinBarrierSession(Coop group, ncclGin gin, ncclTeamTagRail, uint32_t number)
        : ncclGinBarrierSession(group, gin, ncclTeamRail(gin.comm), gin.comm.railGinBarrier, number)
    {
    }
    ncclGinBarrierSession(ncclGinBarrierSession const&) = delete;
    __forceinline__ ~ncclGinBarrierSession()
    {
        if (team.nRanks > 1 && coop.thread_rank() == 0)
            cuco_emu_gin_set_epoch(net.comm.gin, net.comm.rank, static_cast<int>(net.contextId), signal, epoch);
        coop.sync();
    }

    __forceinline__ void sync(Coop, cuda::memory_order order, ncclGinFenceLevel)
    {
        coop.sync();
        const bool releases = cuco_emu::release_part(order) != cuda::memory_order_relaxed;
        for (int i = coop.thread_rank(); i < team.nRanks - 1; i += coop.size()) {
            cuco_emu_gin_operation operation =
                net.operationTo(team, (team.rank + 1 + i) % team.nRanks,
                                releases ? cuda::thread_scope_thread : cuda::thread_scope_system);
            cuco_emu::add_action(operation, ncclGin_SignalInc{signal});
            operation.barrier = 1;
            net.issue(operation, ncclCoopThread());
        }
        epoch += static_cast<uint32_t>(team.nRanks - 1);
        if (team.nRanks > 1 && coop.thread_rank() == 0)
            cuco_emu_gin_wait(net.comm.gin, net.comm.rank, static_cast<int>(net.contextId), 0, signal, epoch, 32,
                              static_cast<int>(cuco_emu::acquire_part(order)), team.nRanks);
        coop.sync();
    }
};

/// An LSA barrier inside, a GIN barrier between nodes; either may be missing.
template <class Coop>
struct ncclBarrierSession {
    __forceinline__ ncclBarrierSession(Coop group, ncclTeam inner_team, ncclTeam outer_team, ncclGin gin,
                                       ncclLsaBarrierHandle inner_handle, ncclGinBarrierHandle outer_handle,
                                       uint32_t index, bool = false, ncclMultimemHandle = {})
        : coop(group), has_inner(true), has_outer(true)
    {
        new (&inner.session, cuco_emu_placement{}) Inner(group, gin.comm, inner_team, inner_handle, index);
        new (&outer.session, cuco_emu_placement{}) Outer(group, gin, outer_team, outer_handle, index);
    }
    __forceinline__ ncclBarrierSession(Coop group, ncclTeamTagWorld, ncclGin gin, uint32_t index, bool = false)
        : ncclBarrierSession(group, ncclTeamLsa(gin.comm), ncclTeamRail(gin.comm), gin, gin.comm.lsaBarrier,
                             gin.comm.railGinBarrier, index)
    {
    }
    __forceinline__ ncclBarrierSession(Coop group, ncclTeamTagLsa, ncclDevComm const& devcomm, uint32_t index,
                                       bool = false)
        : coop(group), has_inner(true), has_outer(false)
    {
        new (&inner.session, cuco_emu_placement{})
            Inner(group, devcomm, ncclTeamLsa(devcomm), devcomm.lsaBarrier, index);
    }
    __forceinline__ ncclBarrierSession(Coop group, ncclTeamTagRail, ncclGin gin, uint32_t index)
        : coop(group), has_inner(false), has_outer(true)
    {
        new (&outer.session, cuco_emu_placement{})
            Outer(group, gin, ncclTeamRail(gin.comm), gin.comm.railGinBarrier, index);
    }
    ncclBarrierSession(ncclBarrierSession const&) = delete;
    __forceinline__ ~ncclBarrierSession()
    {
        if (has_outer)
            outer.session.~Outer();
        if (has_inner)
            inner.session.~Inner();
    }

    __forceinline__ ncclLsaBarrierSession<Coop>& lsaBarrier() { return inner.session; }
    __forceinline__ ncclGinBarrierSession<Coop>& ginBarrier() { return outer.session; }

    __forceinline__ void sync(Coop, cuda::memory_order order, ncclGinFenceLevel level)
    {
        // A team of one synchronises nothing: then all of the order is the other part's.
        const bool outer_acts = has_outer && outer.session.team.nRanks > 1;
        if (has_inner)
            inner.session.sync(coop, outer_acts ? cuco_emu::release_part(order) : order);
        if (has_outer)
            outer.session.sync(coop, has_inner ? cuco_emu::acquire_part(order) : order, level);
    }

private:
    using Inner = ncclLsaBarrierSession<Coop>;
    using Outer = ncclGinBarrierSession<Coop>;
    template <class Session>
    union Place {
        Session session;
        __forceinline__ Place() {}
        __forceinline__ ~Place() {}
    };

    Coop coop;
    bool has_inner, has_outer;
    Place<Inner> inner;
    Place<Outer> outer;
};
