// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/atomic"
#include "nccl.h"

#define NCCL_DEVICE_INLINE __forceinline__
#define NCCL_HOST_DEVICE_INLINE __forceinline__
#define NCCL_EXTERN_C extern "C"

typedef uint32_t ncclDevResourceHandle;
typedef ncclDevResourceHandle ncclDevResourceHandle_t;
typedef uint32_t ncclGinSignal_t;
typedef uint32_t ncclGinCounter_t;

struct ncclTeam {
    int nRanks, rank, stride;
};
typedef struct ncclTeam ncclTeam_t;
struct ncclTeamTagWorld {};
struct ncclTeamTagLsa {};
struct ncclTeamTagRail {};

struct ncclMultimemHandle {
    void* mcBasePtr;
};
typedef struct ncclMultimemHandle ncclMultimemHandle_t;
struct ncclLsaBarrierHandle {
    ncclDevResourceHandle_t bufHandle;
    int nBarriers;
};
typedef struct ncclLsaBarrierHandle ncclLsaBarrierHandle_t;
struct ncclGinBarrierHandle {
    ncclGinSignal_t signal0;
    ncclDevResourceHandle_t bufHandle;
    int nBarriers;
};
typedef struct ncclGinBarrierHandle ncclGinBarrierHandle_t;

typedef struct ncclDevResourceRequirements ncclDevResourceRequirements_t;
struct ncclDevResourceRequirements {
    ncclDevResourceRequirements_t* next;
    size_t bufferSize, bufferAlign;
    ncclDevResourceHandle_t* outBufferHandle;
    int ginSignalCount, ginCounterCount;
    ncclGinSignal_t* outGinSignalStart;
    ncclGinCounter_t* outGinCounterStart;
};
typedef struct ncclTeamRequirements ncclTeamRequirements_t;
struct ncclTeamRequirements {
    ncclTeamRequirements_t* next;
    ncclTeam_t team;
    bool multimem;
    ncclMultimemHandle_t* outMultimemHandle;
};
struct ncclDevCommRequirements {
    ncclDevResourceRequirements_t* resourceRequirementsList;
    ncclTeamRequirements_t* teamRequirementsList;
    bool lsaMultimem;
    int barrierCount, lsaBarrierCount, railGinBarrierCount;
    int lsaLLA2ABlockCount, lsaLLA2ASlotCount;
    bool ginForceEnable;
    int ginContextCount, ginSignalCount, ginCounterCount;
};
typedef struct ncclDevCommRequirements ncclDevCommRequirements_t;

/// A window as kernels see it.
struct ncclWindow_vidmem {
    char* pointers[16];  ///< by rank of the LSA team
    int lsaRank, worldRank, lsaSize;
    size_t bytes;
};

struct ncclDevComm {
    int rank, nRanks;
    int lsaRank, lsaSize;
    ncclWindow_t resourceWindow;
    struct ncclWindow_vidmem resourceWindow_inlined;
    ncclLsaBarrierHandle lsaBarrier;
    void* state;  ///< the runtime's, same object for all ranks
    ncclGinBarrierHandle_t railGinBarrier;
    int ginContextCount, ginSignalCount, ginCounterCount;
    uint64_t* ginSignalShadows;  ///< [context][signal]
    void* gin;                   ///< as `state`; null without GIN
};
typedef struct ncclDevComm ncclDevComm_t;

extern "C" {
ncclResult_t ncclDevCommCreate(ncclComm_t comm, ncclDevCommRequirements_t const* requirements, ncclDevComm_t* out);
ncclResult_t ncclDevCommDestroy(ncclComm_t comm, ncclDevComm_t const* devcomm);
ncclResult_t ncclLsaBarrierCreateRequirement(ncclTeam_t team, int barriers, ncclLsaBarrierHandle_t* handle,
                                             ncclDevResourceRequirements_t* requirement);

void cuco_emu_lsa_check(const void* state, ncclLsaBarrierHandle handle, uint32_t index);
uint32_t cuco_emu_lsa_epoch(const void* state, ncclLsaBarrierHandle handle, uint32_t index, int rank);
void cuco_emu_lsa_set_epoch(void* state, ncclLsaBarrierHandle handle, uint32_t index, int rank, uint32_t epoch);
void cuco_emu_lsa_arrive(void* state, ncclLsaBarrierHandle handle, uint32_t index, int from, int to, uint32_t epoch,
                         int order);
void cuco_emu_lsa_wait(void* state, ncclLsaBarrierHandle handle, uint32_t index, int self, int from, uint32_t epoch,
                       int order);
}

inline ncclTeam ncclTeamWorld(ncclDevComm const& comm)
{
    return {comm.nRanks, comm.rank, 1};
}
inline ncclTeam ncclTeamLsa(ncclDevComm const& comm)
{
    return {comm.lsaSize, comm.lsaRank, 1};
}
inline ncclTeam ncclTeamRail(ncclDevComm const& comm)
{
    return {comm.nRanks / comm.lsaSize, comm.rank / comm.lsaSize, comm.lsaSize};
}
extern "C" ncclTeam_t cuco_emu_team(ncclComm_t comm);
inline ncclTeam_t ncclTeamWorld(ncclComm_t comm)
{
    return cuco_emu_team(comm);
}
inline ncclTeam_t ncclTeamLsa(ncclComm_t comm)
{
    return cuco_emu_team(comm);
}
inline ncclTeam_t ncclTeamRail(ncclComm_t comm)
{
    return {1, 0, cuco_emu_team(comm).nRanks};
}
inline int ncclTeamRankToWorld(ncclDevComm const& comm, ncclTeam team, int rank)
{
    return comm.rank + (rank - team.rank) * team.stride;
}
inline int ncclTeamRankToLsa(ncclDevComm const& comm, ncclTeam team, int rank)
{
    return comm.lsaRank + (rank - team.rank) * team.stride;
}
inline bool ncclTeamRankIsMember(ncclTeam_t a, ncclTeam_t b, int rank)
{
    const int distance = (rank - b.rank) * b.stride;
    const int in_a = a.rank + distance / a.stride;
    return distance % a.stride == 0 && in_a >= 0 && in_a < a.nRanks;
}
inline int ncclTeamRankToTeam(ncclTeam_t a, ncclTeam_t b, int rank)
{
    return a.rank + (rank - b.rank) * b.stride / a.stride;
}
inline ncclTeam_t ncclTeamInnerFactor(ncclTeam_t parent, int inner)
{
    return {inner, parent.rank % inner, parent.stride};
}
inline ncclTeam_t ncclTeamOuterFactor(ncclTeam_t parent, int inner)
{
    return {parent.nRanks / inner, parent.rank / inner, parent.stride * inner};
}

inline void* ncclGetLsaPointer(ncclWindow_t window, size_t offset, int peer)
{
    if (peer < 0 || peer >= window->lsaSize)
        cuco_emu_trap("ncclGetLsaPointer with a peer that is not in the team");
    return window->pointers[peer] + offset;
}
inline void* ncclGetLocalPointer(ncclWindow_t window, size_t offset)
{
    return window->pointers[window->lsaRank] + offset;
}
inline void* ncclGetPeerPointer(ncclWindow_t window, size_t offset, int peer)
{
    return ncclGetLsaPointer(window, offset, window->lsaRank + (peer - window->worldRank));
}
inline void* ncclGetPeerPointer(ncclWindow_t window, size_t offset, ncclTeam team, int peer)
{
    return ncclGetLsaPointer(window, offset, window->lsaRank + (peer - team.rank) * team.stride);
}

inline size_t ncclGetResourceBufferOffset(ncclDevResourceHandle_t handle)
{
    return static_cast<size_t>(handle) * 128;
}
inline void* ncclGetResourceBufferLocalPointer(ncclDevComm const& comm, ncclDevResourceHandle handle)
{
    return comm.resourceWindow_inlined.pointers[comm.lsaRank] + ncclGetResourceBufferOffset(handle);
}
inline void* ncclGetResourceBufferLsaPointer(ncclDevComm const& comm, ncclDevResourceHandle handle, int peer)
{
    return comm.resourceWindow_inlined.pointers[peer] + ncclGetResourceBufferOffset(handle);
}
inline void* ncclGetResourceBufferPeerPointer(ncclDevComm const& comm, ncclDevResourceHandle handle, ncclTeam team,
                                              int peer)
{
    return ncclGetResourceBufferLsaPointer(comm, handle, ncclTeamRankToLsa(comm, team, peer));
}

template <class T>
struct ncclSymPtr {
    using ElementType = T;
    ncclWindow_t window;
    size_t offset;

    constexpr ncclSymPtr(ncclWindow_t w = nullptr, size_t o = 0) : window(w), offset(o) {}
    template <class U>
    operator ncclSymPtr<U>() const
    {
        return {window, offset};
    }
    template <class Int>
    ncclSymPtr& operator+=(Int count)
    {
        offset += static_cast<size_t>(count) * sizeof(T);
        return *this;
    }
    template <class Int>
    ncclSymPtr& operator-=(Int count)
    {
        offset -= static_cast<size_t>(count) * sizeof(T);
        return *this;
    }
    T* localPtr() const { return static_cast<T*>(ncclGetLocalPointer(window, offset)); }
    T* lsaPtr(int peer) const { return static_cast<T*>(ncclGetLsaPointer(window, offset, peer)); }
    T* peerPtr(int peer) const { return static_cast<T*>(ncclGetPeerPointer(window, offset, peer)); }
    T* peerPtr(ncclTeam team, int peer) const
    {
        return static_cast<T*>(ncclGetPeerPointer(window, offset, team, peer));
    }
};
inline ncclSymPtr<char> ncclGetResourceBuffer(ncclDevComm const& comm, ncclDevResourceHandle handle)
{
    return {comm.resourceWindow, ncclGetResourceBufferOffset(handle)};
}
template <class T, class Int>
inline ncclSymPtr<T> operator+(ncclSymPtr<T> p, Int count)
{
    return p += count;
}
template <class T, class Int>
inline ncclSymPtr<T> operator-(ncclSymPtr<T> p, Int count)
{
    return p -= count;
}
template <class T>
inline ptrdiff_t operator-(ncclSymPtr<T> a, ncclSymPtr<T> b)
{
    return (static_cast<ptrdiff_t>(a.offset) - static_cast<ptrdiff_t>(b.offset)) / static_cast<ptrdiff_t>(sizeof(T));
}
template <class T>
inline bool operator==(ncclSymPtr<T> a, ncclSymPtr<T> b)
{
    return a.window == b.window && a.offset == b.offset;
}
template <class T>
inline bool operator!=(ncclSymPtr<T> a, ncclSymPtr<T> b)
{
    return !(a == b);
}

template <int threads>
struct ncclCoopTile {
    static_assert(threads > 0 && threads <= 32 && (threads & (threads - 1)) == 0);
    int thread_rank() const { return cuco_emu_lane() % threads; }
    constexpr int size() const { return threads; }
    constexpr int num_threads() const { return threads; }
    uint32_t laneMask() const { return (~0u >> (32 - threads)) << (cuco_emu_lane() & -threads); }
    void sync() const
    {
        if (threads > 1)
            __syncwarp(laneMask());
    }
};
typedef ncclCoopTile<1> ncclCoopThread;
typedef ncclCoopTile<32> ncclCoopWarp;

struct ncclCoopLanes {
    uint32_t lmask;
    constexpr ncclCoopLanes(uint32_t mask = ~0u) : lmask(mask) {}
    int thread_rank() const { return __popc(lmask & ((1u << cuco_emu_lane()) - 1u)); }
    int size() const { return __popc(lmask); }
    int num_threads() const { return __popc(lmask); }
    void sync() const { __syncwarp(lmask); }
};

struct ncclCoopWarpSpan {
    uint32_t warp0 : 8, nWarps : 8, id : 8;
    constexpr ncclCoopWarpSpan(int first, int warps, int number)
        : warp0(static_cast<uint32_t>(first)), nWarps(static_cast<uint32_t>(warps)), id(static_cast<uint32_t>(number))
    {
    }
    int thread_rank() const { return static_cast<int>(threadIdx.x) - 32 * static_cast<int>(warp0); }
    int size() const { return 32 * static_cast<int>(nWarps); }
    int num_threads() const { return size(); }
    void sync() const { __barrier_sync_count(1 + id, 32 * nWarps); }
};

struct ncclCoopCta {
    int thread_rank() const { return static_cast<int>(threadIdx.x); }
    int size() const { return static_cast<int>(blockDim.x); }
    int num_threads() const { return static_cast<int>(blockDim.x); }
    void sync() const { __syncthreads(); }
};

inline ncclCoopLanes ncclCoopCoalesced()
{
    return ncclCoopLanes(__activemask());
}

/// As in NCCL: the constructor takes the epoch from the barrier's state, the destructor puts it back; one index is
/// one barrier across the ranks, and only the peers' use of the same index meets it.
template <class Coop>
struct ncclLsaBarrierSession {
    Coop coop;
    ncclDevComm const& comm;
    ncclTeam team;
    ncclLsaBarrierHandle handle;
    uint32_t index, epoch;

    __forceinline__ ncclLsaBarrierSession(Coop group, ncclDevComm const& devcomm, ncclTeam members,
                                          ncclLsaBarrierHandle barrier, uint32_t number, bool = false,
                                          ncclMultimemHandle = {})
        : coop(group), comm(devcomm), team(members), handle(barrier), index(number)
    {
        cuco_emu_lsa_check(comm.state, handle, index);
        epoch = cuco_emu_lsa_epoch(comm.state, handle, index, comm.lsaRank);
    }
    __forceinline__ ncclLsaBarrierSession(Coop group, ncclDevComm const& devcomm, ncclTeamTagLsa, uint32_t number,
                                          bool = false)
        : ncclLsaBarrierSession(group, devcomm, ncclTeamLsa(devcomm), devcomm.lsaBarrier, number)
    {
    }
    ncclLsaBarrierSession(ncclLsaBarrierSession const&) = delete;
    __forceinline__ ~ncclLsaBarrierSession()
    {
        if (coop.thread_rank() == 0)
            cuco_emu_lsa_set_epoch(comm.state, handle, index, comm.lsaRank, epoch);
        coop.sync();
    }

    __forceinline__ void arrive(Coop, cuda::memory_order order)
    {
        coop.sync();
        for (int i = coop.thread_rank(); i < team.nRanks - 1; i += coop.size()) {
            const int peer = i + (team.rank <= i ? 1 : 0);
            cuco_emu_lsa_arrive(comm.state, handle, index, comm.lsaRank, ncclTeamRankToLsa(comm, team, peer), epoch + 1,
                                static_cast<int>(order));
        }
    }
    __forceinline__ void wait(Coop, cuda::memory_order order)
    {
        for (int i = coop.thread_rank(); i < team.nRanks - 1; i += coop.size()) {
            const int peer = i + (team.rank <= i ? 1 : 0);
            cuco_emu_lsa_wait(comm.state, handle, index, comm.lsaRank, ncclTeamRankToLsa(comm, team, peer), epoch + 1,
                              static_cast<int>(order));
        }
        epoch += 1;
        coop.sync();
    }
    __forceinline__ void sync(Coop group, cuda::memory_order order)
    {
        arrive(group, order);
        wait(group, order);
    }
};

#include "cuco_emu/gin.h"
