// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/abi.h"

/// The CUDA runtime's host functions.

extern "C" {
cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, size_t bytes);
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer);

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream = 0);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream = 0);
cudaError_t cudaMemset(void* pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream = 0);

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
}

template <class T>
inline cudaError_t cudaMalloc(T** pointer, size_t bytes)
{
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <class T>
inline cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned = 0)
{
    return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
inline cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned flags)
{
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
inline cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0)
{
    return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

/// A symbol is its variable here: every rank has its own copy of the module.
template <class T>
inline cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol)
{
    *pointer = const_cast<void*>(reinterpret_cast<const void*>(&symbol));
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaGetSymbolSize(size_t* bytes, const T& symbol)
{
    *bytes = sizeof(symbol);
    return cudaSuccess;
}
/// The copies of a batch follow each other, which CUDA allows.
inline cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* bytes, size_t count,
                                        cudaMemcpyAttributes*, size_t*, size_t attribute_count, cudaStream_t stream)
{
    if (count == 0 || attribute_count == 0 || attribute_count > count)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
        if (const cudaError_t error = cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, stream))
            return error;
    }
    return cudaSuccess;
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                           enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    char* to = const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset;
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                      enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpy(const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset, from, bytes, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
    return cudaMemcpyAsync(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes, kind);
}

namespace cuco_emu {

template <size_t... indices>
struct Indices {
};
template <size_t count, size_t... indices>
struct MakeIndices : MakeIndices<count - 1, count - 1, indices...> {
};
template <size_t... indices>
struct MakeIndices<0, indices...> {
    using type = Indices<indices...>;
};

template <class... A, size_t... indices>
inline cudaError_t launch_pointers(void (*kernel)(A...), const LaunchConfig& config, void** args, int cooperative,
                                   Indices<indices...>)
{
    return launch_as(
        nullptr, reinterpret_cast<const void*>(kernel), cooperative, [=](auto&... a) { kernel(a...); }, config,
        *static_cast<A*>(args[indices])...);
}

}  // namespace cuco_emu

template <class... A>
inline cudaError_t cudaLaunchKernel(void (*kernel)(A...), dim3 grid, dim3 block, void** args, size_t shared_bytes = 0,
                                    cudaStream_t stream = 0)
{
    return cuco_emu::launch_pointers(kernel, {grid, block, shared_bytes, stream}, args, 0,
                                     typename cuco_emu::MakeIndices<sizeof...(A)>::type{});
}
template <class... A>
inline cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(A...), dim3 grid, dim3 block, void** args,
                                               size_t shared_bytes = 0, cudaStream_t stream = 0)
{
    return cuco_emu::launch_pointers(kernel, {grid, block, shared_bytes, stream}, args, 1,
                                     typename cuco_emu::MakeIndices<sizeof...(A)>::type{});
}
template <class... A, class... B>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(A...), B&&... args)
{
    int cooperative = 0;
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (config->attrs[i].id == cudaLaunchAttributeCooperative)
            cooperative = config->attrs[i].val.cooperative;
    return cuco_emu::launch_as(
        nullptr, reinterpret_cast<const void*>(kernel), cooperative, [=](auto&... a) { kernel(a...); },
        {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream},
        static_cast<A>(static_cast<B&&>(args))...);
}
template <class... A>
inline cudaError_t cudaFuncSetAttribute(void (*)(A...), enum cudaFuncAttribute attribute, int value)
{
    return attribute == cudaFuncAttributeMaxDynamicSharedMemorySize ? cuco_emu_set_dynamic_limit(value) : cudaSuccess;
}
template <class... A>
inline cudaError_t cudaFuncSetCacheConfig(void (*)(A...), enum cudaFuncCache)
{
    return cudaSuccess;
}
template <class... A>
inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, void (*)(A...))
{
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 64;
    attributes->maxDynamicSharedSizeBytes = 48 * 1024;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    return cudaSuccess;
}
template <class... A>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(A...), int block_size,
                                                                 size_t dynamic_bytes)
{
    return cuco_emu_occupancy(blocks, block_size, dynamic_bytes, reinterpret_cast<const void*>(kernel));
}
template <class... A>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, void (*kernel)(A...),
                                                      size_t dynamic_bytes = 0, int limit = 0)
{
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    int blocks = 0, processors = 0;
    cuco_emu_occupancy(&blocks, *block, dynamic_bytes, reinterpret_cast<const void*>(kernel));
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    *grid = blocks * processors;
    return cudaSuccess;
}
