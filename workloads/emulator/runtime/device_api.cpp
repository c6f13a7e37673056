// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"
#include "runtime/streams.h"

#include <cstring>

using namespace cuco_emu;

namespace {

int rank_count()
{
    return static_cast<int>(machine().ranks.size());
}

struct ErrorText {
    cudaError_t error;
    const char *name, *text;
};
constexpr ErrorText error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "capture was not begun in this stream"},
};

const ErrorText* text_of(cudaError_t error)
{
    for (const auto& text : error_texts)
        if (text.error == error)
            return &text;
    return nullptr;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count)
{
    *count = rank_count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    Rank& rank = calling_rank("cudaSetDevice", CUCO_EMU_CALL_SITE());
    // Each rank drives its own device, as one process of many would.
    return device == rank.index ? cudaSuccess : set_error(rank, cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int* device)
{
    *device = calling_rank("cudaGetDevice", CUCO_EMU_CALL_SITE()).index;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    Rank& rank = calling_rank("cudaGetDeviceProperties", CUCO_EMU_CALL_SITE());
    if (!properties || device < 0 || device >= rank_count())
        return set_error(rank, cudaErrorInvalidDevice);
    const Model& model = machine().model;
    *properties = {};
    std::strncpy(properties->name, model.device_name.c_str(), sizeof properties->name - 1);
    properties->totalGlobalMem = std::size_t{1} << slot_shift;
    properties->sharedMemPerBlock = static_shared_limit;
    properties->sharedMemPerMultiprocessor = sm_shared_bytes;
    properties->sharedMemPerBlockOptin = block_shared_limit;
    properties->totalConstMem = 64 << 10;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxGridSize[0] = 0x7fffffff;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = 9;
    properties->multiProcessorCount = static_cast<int>(model.sm_count);
    properties->maxThreadsPerMultiProcessor = static_cast<int>(sm_threads);
    properties->maxBlocksPerMultiProcessor = static_cast<int>(sm_blocks);
    properties->l2CacheSize = 50 << 20;
    properties->asyncEngineCount = static_cast<int>(model.copy_engines);
    properties->concurrentKernels = properties->unifiedAddressing = properties->cooperativeLaunch =
        properties->managedMemory = properties->canMapHostMemory = properties->streamPrioritiesSupported = 1;
    properties->pciBusID = device + 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device)
{
    Rank& rank = calling_rank("cudaDeviceGetAttribute", CUCO_EMU_CALL_SITE());
    if (!value || device < 0 || device >= rank_count())
        return set_error(rank, cudaErrorInvalidDevice);
    const Model& model = machine().model;
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
            *value = 1024;
            break;
        case cudaDevAttrMaxGridDimX:
            *value = 0x7fffffff;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlock:
            *value = static_shared_limit;
            break;
        case cudaDevAttrWarpSize:
            *value = 32;
            break;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            *value = 65536;
            break;
        case cudaDevAttrClockRate:
            *value = static_cast<int>(model.clock_ghz * 1e6);
            break;
        case cudaDevAttrMultiProcessorCount:
            *value = static_cast<int>(model.sm_count);
            break;
        case cudaDevAttrL2CacheSize:
            *value = 50 << 20;
            break;
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            *value = sm_threads;
            break;
        case cudaDevAttrAsyncEngineCount:
            *value = static_cast<int>(model.copy_engines);
            break;
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrCooperativeLaunch:
            *value = 1;
            break;
        case cudaDevAttrComputeCapabilityMajor:
            *value = 9;
            break;
        case cudaDevAttrComputeCapabilityMinor:
            *value = 0;
            break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            *value = sm_shared_bytes;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            *value = block_shared_limit;
            break;
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            *value = sm_blocks;
            break;
        default:
            return set_error(rank, cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    Rank& rank = calling_rank("cudaDeviceSynchronize", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.host_call_us);
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    return cudaSuccess;
}

cudaError_t cudaDeviceReset()
{
    return cudaErrorNotSupported;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer)
{
    *can = device != peer && device >= 0 && peer >= 0 && device < rank_count() && peer < rank_count();
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned)
{
    Rank& rank = calling_rank("cudaDeviceEnablePeerAccess", CUCO_EMU_CALL_SITE());
    return peer >= 0 && peer < rank_count() && peer != rank.index ? cudaSuccess
                                                                  : set_error(rank, cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int)
{
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit)
{
    *value = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned)
{
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    Rank& rank = calling_rank("cudaGetLastError", CUCO_EMU_CALL_SITE());
    const cudaError_t error = rank.last_error;
    rank.last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError()
{
    return calling_rank("cudaPeekAtLastError", CUCO_EMU_CALL_SITE()).last_error;
}

const char* cudaGetErrorString(cudaError_t error)
{
    const auto* text = text_of(error);
    return text ? text->text : "unrecognized error code";
}

const char* cudaGetErrorName(cudaError_t error)
{
    const auto* text = text_of(error);
    return text ? text->name : "cudaErrorUnknown";
}
