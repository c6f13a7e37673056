// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda/atomic"
#include "nccl.h"

// NCCL's device interface: pointers into peers' windows (LSA) and puts through the network adapter (GIN).
typedef uint32_t ncclDevResourceHandle;
typedef ncclDevResourceHandle ncclDevResourceHandle_t;
typedef uint32_t ncclGinSignal_t;
typedef uint32_t ncclGinCounter_t;

#pragma clang force_cuda_host_device begin
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
};
typedef struct ncclGinBarrierHandle ncclGinBarrierHandle_t;
struct ncclBarrierHandle {
    ncclLsaBarrierHandle_t lsa;
    ncclGinBarrierHandle_t rail;
};
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
#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER \
    {                                          \
    }
struct ncclDevComm {
    int rank, nRanks;
    int lsaRank, lsaSize;
    ncclWindow_t resourceWindow;
    ncclLsaBarrierHandle lsaBarrier;
    ncclGinBarrierHandle railGinBarrier;
    ncclMultimemHandle lsaMultimem;
    uint8_t ginContextCount;
    int ginSignalCount, ginCounterCount;
};
typedef struct ncclDevComm ncclDevComm_t;

extern "C" {
ncclResult_t ncclDevCommCreate(ncclComm_t comm, ncclDevCommRequirements_t const* requirements, ncclDevComm_t* out);
ncclResult_t ncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam_t team, int barriers,
                                             ncclGinBarrierHandle_t* handle,
                                             ncclDevResourceRequirements_t* requirement);
ncclResult_t ncclDevCommDestroy(ncclComm_t comm, ncclDevComm_t const* devcomm);
ncclResult_t ncclLsaBarrierCreateRequirement(ncclTeam_t team, int barriers, ncclLsaBarrierHandle_t* handle,
                                             ncclDevResourceRequirements_t* requirement);
}

ncclTeam ncclTeamWorld(ncclDevComm const& comm);
ncclTeam ncclTeamLsa(ncclDevComm const& comm);
ncclTeam ncclTeamRail(ncclDevComm const& comm);
ncclTeam ncclTeamWorld(ncclComm_t comm);
ncclTeam ncclTeamLsa(ncclComm_t comm);
ncclTeam ncclTeamRail(ncclComm_t comm);
int ncclTeamRankToWorld(ncclDevComm const& comm, ncclTeam team, int rank);
int ncclTeamRankToLsa(ncclDevComm const& comm, ncclTeam team, int rank);
bool ncclTeamRankIsMember(ncclTeam a, ncclTeam b, int rank);
int ncclTeamRankToTeam(ncclTeam a, ncclTeam b, int rank);
ncclTeam ncclTeamInnerFactor(ncclTeam parent, int inner);
ncclTeam ncclTeamOuterFactor(ncclTeam parent, int inner);

void* ncclGetLsaPointer(ncclWindow_t window, size_t offset, int peer);
void* ncclGetLocalPointer(ncclWindow_t window, size_t offset);
void* ncclGetPeerPointer(ncclWindow_t window, size_t offset, int peer);
void* ncclGetPeerPointer(ncclWindow_t window, size_t offset, ncclTeam team, int peer);
void* ncclGetMultimemPointer(ncclWindow_t window, size_t offset, ncclMultimemHandle handle);
void* ncclGetLsaMultimemPointer(ncclWindow_t window, size_t offset, ncclDevComm const& comm);
size_t ncclGetResourceBufferOffset(ncclDevResourceHandle_t handle);
void* ncclGetResourceBufferLocalPointer(ncclDevComm const& comm, ncclDevResourceHandle handle);
void* ncclGetResourceBufferLsaPointer(ncclDevComm const& comm, ncclDevResourceHandle handle, int peer);
void* ncclGetResourceBufferPeerPointer(ncclDevComm const& comm, ncclDevResourceHandle handle, ncclTeam team, int peer);

template <class T>
struct ncclSymPtr {
    using ElementType = T;
    ncclWindow_t window;
    size_t offset;
    ncclSymPtr(ncclWindow_t w = nullptr, size_t o = 0) : window(w), offset(o) {}
    template <class U>
    operator ncclSymPtr<U>() const;
    template <class Int>
    ncclSymPtr& operator+=(Int count);
    template <class Int>
    ncclSymPtr& operator-=(Int count);
    T* localPtr() const { return static_cast<T*>(ncclGetLocalPointer(window, offset)); }
    T* lsaPtr(int peer) const { return static_cast<T*>(ncclGetLsaPointer(window, offset, peer)); }
    T* peerPtr(int peer) const { return static_cast<T*>(ncclGetPeerPointer(window, offset, peer)); }
    T* peerPtr(ncclTeam team, int peer) const
    {
        return static_cast<T*>(ncclGetPeerPointer(window, offset, team, peer));
    }
    T* multimemPtr(ncclMultimemHandle handle) const;
    T* lsaMultimemPtr(ncclDevComm const& comm) const;
};
ncclSymPtr<char> ncclGetResourceBuffer(ncclDevComm const& comm, ncclDevResourceHandle handle);
template <class T, class Int>
ncclSymPtr<T> operator+(ncclSymPtr<T> p, Int count);
template <class T, class Int>
ncclSymPtr<T> operator-(ncclSymPtr<T> p, Int count);

template <int threads>
struct ncclCoopTile {
    int thread_rank() const;
    int size() const;
    int num_threads() const;
    void sync() const;
};
typedef ncclCoopTile<1> ncclCoopThread;
typedef ncclCoopTile<32> ncclCoopWarp;
struct ncclCoopLanes {
    ncclCoopLanes(uint32_t mask = ~0u);
    int thread_rank() const;
    int size() const;
    void sync() const;
};
struct ncclCoopWarpSpan {
    ncclCoopWarpSpan(int first, int warps, int number);
    int thread_rank() const;
    int size() const;
    void sync() const;
};
struct ncclCoopCta {
    int thread_rank() const;
    int size() const;
    int num_threads() const;
    void sync() const;
};
ncclCoopLanes ncclCoopCoalesced();

template <class Coop>
struct ncclLsaBarrierSession {
    ncclLsaBarrierSession(Coop group, ncclDevComm const& comm, ncclTeam team, ncclLsaBarrierHandle handle,
                          uint32_t index, bool multimem = false, ncclMultimemHandle multimem_handle = {});
    ncclLsaBarrierSession(Coop group, ncclDevComm const& comm, ncclTeamTagLsa, uint32_t index, bool multimem = false);
    void arrive(Coop, cuda::memory_order order);
    void wait(Coop, cuda::memory_order order);
    void sync(Coop, cuda::memory_order order);
};

enum class ncclGinFenceLevel { Relaxed };
struct ncclGin_None {};
struct ncclGin_SignalInc {
    ncclGinSignal_t signal;
};
struct ncclGin_SignalAdd {
    ncclGinSignal_t signal;
    uint64_t value;
};
struct ncclGin_CounterInc {
    ncclGinCounter_t counter;
};
struct ncclGin_DescriptorSmem {
    void* descriptor;
};
struct ncclGin {
    ncclGin(ncclDevComm const& comm, int context);
    template <class... A>
    void put(ncclTeam team, int peer, ncclWindow_t to, size_t to_offset, ncclWindow_t from, size_t from_offset,
             size_t bytes, A&&... rest) const;
    template <class T, class... A>
    void put(ncclTeam team, int peer, ncclSymPtr<T> to, ncclSymPtr<T> from, size_t count, A&&... rest) const;
    template <class T, class... A>
    void putValue(ncclTeam team, int peer, ncclWindow_t to, size_t to_offset, T value, A&&... rest) const;
    template <class T, class... A>
    void putValue(ncclTeam team, int peer, ncclSymPtr<T> to, T value, A&&... rest) const;
    template <class Remote, class... A>
    void signal(ncclTeam team, int peer, Remote remote, A&&... rest) const;
    template <class Coop, class... A>
    void flush(Coop coop, A&&... rest) const;
    template <class Coop, class... A>
    void waitSignal(Coop coop, ncclGinSignal_t signal, uint64_t least, A&&... rest) const;
    template <class Coop, class... A>
    void waitSignalMeetShadow(Coop coop, ncclGinSignal_t signal, A&&... rest) const;
    template <class Coop, class... A>
    void waitCounter(Coop coop, ncclGinCounter_t counter, uint64_t least, A&&... rest) const;
    uint64_t readSignal(ncclGinSignal_t signal, int bits = 64) const;
    uint64_t readCounter(ncclGinCounter_t counter, int bits = 56) const;
    void resetSignal(ncclGinSignal_t signal) const;
    void resetCounter(ncclGinCounter_t counter) const;
    void increaseSignalShadow(ncclGinSignal_t signal, uint64_t delta) const;
};
template <class Coop>
struct ncclGinBarrierSession {
    ncclGinBarrierSession(Coop group, ncclGin gin, ncclTeam team, ncclGinBarrierHandle handle, uint32_t index);
    ncclGinBarrierSession(Coop group, ncclGin gin, ncclTeamTagRail, uint32_t index);
    void sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence);
};
template <class Coop>
struct ncclBarrierSession {
    ncclBarrierSession(Coop group, ncclTeam inner, ncclTeam outer, ncclGin gin, ncclLsaBarrierHandle lsa,
                       ncclGinBarrierHandle rail, uint32_t index, bool multimem = false);
    ncclBarrierSession(Coop group, ncclTeamTagWorld, ncclGin gin, uint32_t index, bool multimem = false);
    ncclBarrierSession(Coop group, ncclTeamTagLsa, ncclDevComm const& comm, uint32_t index, bool multimem = false);
    ncclBarrierSession(Coop group, ncclTeamTagRail, ncclGin gin, uint32_t index);
    void sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence = ncclGinFenceLevel::Relaxed);
};
#pragma clang force_cuda_host_device end
