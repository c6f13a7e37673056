// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#include <limits.h>

// NCCL's host interface of release 2.28. Each function is also there under its profiling name, pnccl….
#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_VERSION_CODE 22809
#define NCCL_VERSION(X, Y, Z) ((X)*10000 + (Y)*100 + (Z))
#define NCCL_COMM_NULL NULL
#define NCCL_UNIQUE_ID_BYTES 128
#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01
#define NCCL_WIN_REQUIRED_ALIGNMENT 4096
#define NCCL_CTA_POLICY_DEFAULT 0x00
#define NCCL_CTA_POLICY_EFFICIENCY 0x01
#define NCCL_CTA_POLICY_ZERO 0x02

typedef struct ncclComm* ncclComm_t;
typedef struct ncclWindow_vidmem* ncclWindow_t;
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;
typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclInternalError = 3,
    ncclInvalidArgument = 4,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
    ncclNumResults = 8
} ncclResult_t;
typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4, ncclNumOps = 5 } ncclRedOp_t;
typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclFloat8e4m3 = 10,
    ncclFloat8e5m2 = 11,
    ncclNumTypes = 12
} ncclDataType_t;
typedef struct ncclConfig_v22800 {
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char* netName;
    int splitShare, trafficClass;
    const char* commName;
    int collnetEnable, CTAPolicy, shrinkShare, nvlsCTAs, nChannelsPerNetPeer, nvlinkCentricSched;
} ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER \
    {                           \
    }

#pragma clang force_cuda_host_device begin
extern "C" {
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm);
#define CUCO_NCCL(name, ...)              \
    ncclResult_t nccl##name(__VA_ARGS__); \
    ncclResult_t pnccl##name(__VA_ARGS__);
CUCO_NCCL(MemAlloc, void** pointer, size_t bytes)
CUCO_NCCL(MemFree, void* pointer)
CUCO_NCCL(GetVersion, int* version)
CUCO_NCCL(GetUniqueId, ncclUniqueId* id)
CUCO_NCCL(CommInitRank, ncclComm_t* comm, int ranks, ncclUniqueId id, int rank)
CUCO_NCCL(CommInitAll, ncclComm_t* comms, int count, const int* devices)
CUCO_NCCL(CommInitRankConfig, ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config)
CUCO_NCCL(CommSplit, ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config)
CUCO_NCCL(CommFinalize, ncclComm_t comm)
CUCO_NCCL(CommDestroy, ncclComm_t comm)
CUCO_NCCL(CommAbort, ncclComm_t comm)
CUCO_NCCL(CommGetAsyncError, ncclComm_t comm, ncclResult_t* error)
CUCO_NCCL(CommCount, const ncclComm_t comm, int* count)
CUCO_NCCL(CommCuDevice, const ncclComm_t comm, int* device)
CUCO_NCCL(CommUserRank, const ncclComm_t comm, int* rank)
CUCO_NCCL(CommRegister, const ncclComm_t comm, void* buffer, size_t bytes, void** handle)
CUCO_NCCL(CommDeregister, const ncclComm_t comm, void* handle)
CUCO_NCCL(CommWindowRegister, ncclComm_t comm, void* buffer, size_t bytes, ncclWindow_t* window, int flags)
CUCO_NCCL(CommWindowDeregister, ncclComm_t comm, ncclWindow_t window)
CUCO_NCCL(RedOpCreatePreMulSum, ncclRedOp_t* op, void* scalar, ncclDataType_t type, int residence, ncclComm_t comm)
CUCO_NCCL(RedOpDestroy, ncclRedOp_t op, ncclComm_t comm)
CUCO_NCCL(Reduce, const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation, int root,
          ncclComm_t comm, cudaStream_t stream)
CUCO_NCCL(Bcast, void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm, cudaStream_t stream)
CUCO_NCCL(Broadcast, const void* send, void* receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
          cudaStream_t stream)
CUCO_NCCL(AllReduce, const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
          ncclComm_t comm, cudaStream_t stream)
CUCO_NCCL(ReduceScatter, const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
          ncclComm_t comm, cudaStream_t stream)
CUCO_NCCL(AllGather, const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
          cudaStream_t stream)
CUCO_NCCL(AlltoAll, const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
          cudaStream_t stream)
CUCO_NCCL(Gather, const void* send, void* receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
          cudaStream_t stream)
CUCO_NCCL(Scatter, const void* send, void* receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
          cudaStream_t stream)
CUCO_NCCL(Send, const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
CUCO_NCCL(Recv, void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
CUCO_NCCL(GroupStart)
CUCO_NCCL(GroupEnd)
#undef CUCO_NCCL
}
#pragma clang force_cuda_host_device end
