// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copies.h"
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/memory.h"
#include "runtime/poll.h"

#include <cstring>

using namespace cuco_emu;

namespace {

cudaError_t allocate_in(unsigned slot, void** pointer, std::size_t bytes, Rank& rank)
{
    if (!pointer)
        return set_error(rank, cudaErrorInvalidValue);
    *pointer = bytes == 0 ? nullptr : allocate(slot, bytes, 256);
    return bytes == 0 || *pointer ? cudaSuccess : set_error(rank, cudaErrorMemoryAllocation);
}

cudaError_t allocate_host(void** pointer, std::size_t bytes, const char* function, const void* site)
{
    Rank& rank = calling_rank(function, site);
    host_costs(machine().model.allocation_us);
    return allocate_in(pinned_slot, pointer, bytes, rank);
}

std::string copy_name(const CopyShape& shape)
{
    const int to = shape.to_owner, from = shape.from_owner;
    if (to < 0)
        return from < 0 ? "copy on host" : "copy to host";
    if (from < 0)
        return "copy from host";
    return to == from ? "copy" : "copy to rank " + std::to_string(to);
}

struct CopyCall {
    const char* function;
    const void* site;
    cudaMemcpyKind kind;
    cudaStream_t stream;
    bool blocking;
};

bool kind_fits(const CopyShape& shape, cudaMemcpyKind kind)
{
    const bool to_device = shape.to_owner >= 0, from_device = shape.from_owner >= 0;
    switch (kind) {
        case cudaMemcpyHostToHost:
            return !to_device && !from_device;
        case cudaMemcpyHostToDevice:
            return to_device && !from_device;
        case cudaMemcpyDeviceToHost:
            return !to_device && from_device;
        case cudaMemcpyDeviceToDevice:
            return to_device && from_device;
        default:
            return true;
    }
}

cudaError_t copy(CopyShape shape, const CopyCall& call)
{
    Rank& rank = calling_rank(call.function, call.site);
    host_costs(machine().model.stream_operation_us);
    Stream* stream = find_stream(rank, call.stream);
    if (!stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    if (shape.bytes() == 0)
        return cudaSuccess;
    if (!shape.to || !shape.from || shape.to_pitch < shape.width || shape.from_pitch < shape.width)
        return set_error(rank, cudaErrorInvalidValue);
    const bool onto_device = call.kind == cudaMemcpyHostToDevice || call.kind == cudaMemcpyDeviceToDevice;
    const bool off_device = call.kind == cudaMemcpyDeviceToHost || call.kind == cudaMemcpyDeviceToDevice;
    shape.to_owner = owner_of(shape.to, onto_device);
    shape.from_owner = owner_of(shape.from, off_device);
    if (!kind_fits(shape, call.kind))
        return set_error(rank, cudaErrorInvalidMemcpyDirection);
    for (std::size_t row = 0; row < shape.rows; ++row) {
        check_range(static_cast<const char*>(shape.from) + row * shape.from_pitch, shape.width, false, call.function,
                    call.site);
        check_range(static_cast<char*>(shape.to) + row * shape.to_pitch, shape.width, true, call.function, call.site);
    }
    const int to = shape.to_owner, from = shape.from_owner;
    Operation operation;
    operation.name = copy_name(shape);
    operation.activity = to >= 0 && from >= 0 && to != from ? Activity::communication : Activity::copy;
    operation.bytes = shape.bytes();
    operation.copy = true;
    operation.site = call.site;
    operation.start = [shape](const CommandPtr& command) { start_copy(shape, command); };
    const auto command = submit(*stream, std::move(operation));
    const bool pageable =
        (to < 0 && slot_of(shape.to) != pinned_slot) || (from < 0 && slot_of(shape.from) != pinned_slot);
    if (call.blocking || pageable)
        wait_for(command, std::string("in ") + call.function, call.site);
    return cudaSuccess;
}

CopyShape flat(void* to, const void* from, std::size_t bytes)
{
    return {to, from, bytes, 1, bytes, bytes};
}

cudaError_t fill(void* pointer, int value, std::size_t bytes, cudaStream_t handle, bool blocking, const char* function,
                 const void* site)
{
    Rank& rank = calling_rank(function, site);
    host_costs(machine().model.kernel_host_us);
    Stream* stream = find_stream(rank, handle);
    if (!stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    if (bytes == 0)
        return cudaSuccess;
    check_range(pointer, bytes, true, function, site);
    Operation operation;
    operation.name = "memset";
    operation.activity = Activity::copy;
    operation.bytes = bytes;
    operation.kernel = true;
    operation.site = site;
    operation.start = [=, &rank](const CommandPtr& command) {
        const Time duration = bytes_time(static_cast<double>(bytes), machine().model.hbm_gbps);
        const Time end = rank.hbm.reserve(now(), duration) + from_us(machine().model.block_start_us);
        at(end, [=, &rank] {
            std::memset(pointer, value, bytes);
            note_write(pointer, bytes, &rank);
            if (race_checking)
                race_in_command(*command, pointer, bytes, true);
            finish(command);
        });
    };
    const auto command = submit(*stream, std::move(operation));
    if (blocking)
        wait_for(command, std::string("in ") + function, site);
    return cudaSuccess;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, std::size_t bytes)
{
    Rank& rank = calling_rank("cudaMalloc", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.allocation_us);
    return allocate_in(static_cast<unsigned>(rank.index), pointer, bytes, rank);
}

cudaError_t cudaFree(void* pointer)
{
    Rank& rank = calling_rank("cudaFree", CUCO_EMU_CALL_SITE());
    if (!pointer)
        return cudaSuccess;
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    return release(pointer) ? cudaSuccess : set_error(rank, cudaErrorInvalidValue);
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t)
{
    Rank& rank = calling_rank("cudaMallocAsync", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.stream_operation_us);
    return allocate_in(static_cast<unsigned>(rank.index), pointer, bytes, rank);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle)
{
    Rank& rank = calling_rank("cudaFreeAsync", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.stream_operation_us);
    Stream* stream = find_stream(rank, handle);
    if (!stream || (pointer && allocation_at(pointer).begin != reinterpret_cast<std::uintptr_t>(pointer)))
        return set_error(rank, cudaErrorInvalidValue);
    Operation operation;
    operation.name = "free";
    operation.traced = false;
    operation.start = [pointer](const CommandPtr& command) {
        release(pointer);
        finish(command);
    };
    submit(*stream, std::move(operation));
    return cudaSuccess;
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height)
{
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(pointer, *pitch * height);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned)
{
    return allocate_host(pointer, bytes, "cudaMallocManaged", CUCO_EMU_CALL_SITE());
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes)
{
    return allocate_host(pointer, bytes, "cudaMallocHost", CUCO_EMU_CALL_SITE());
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned)
{
    return allocate_host(pointer, bytes, "cudaHostAlloc", CUCO_EMU_CALL_SITE());
}

cudaError_t cudaFreeHost(void* pointer)
{
    Rank& rank = calling_rank("cudaFreeHost", CUCO_EMU_CALL_SITE());
    if (!pointer)
        return cudaSuccess;
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    return slot_of(pointer) == pinned_slot && release(pointer) ? cudaSuccess : set_error(rank, cudaErrorInvalidValue);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned)
{
    Rank& rank = calling_rank("cudaHostGetDevicePointer", CUCO_EMU_CALL_SITE());
    if (!device || slot_of(host) != pinned_slot)
        return set_error(rank, cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes)
{
    *total_bytes = std::size_t{1} << slot_shift;
    *free_bytes = *total_bytes / 2;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer)
{
    Rank& rank = calling_rank("cudaPointerGetAttributes", CUCO_EMU_CALL_SITE());
    if (!attributes)
        return set_error(rank, cudaErrorInvalidValue);
    const int owner = owner_of(pointer, true);
    auto* address = const_cast<void*>(pointer);
    *attributes = {};
    attributes->device = owner >= 0 ? owner : rank.index;
    attributes->type = owner >= 0                        ? cudaMemoryTypeDevice
                       : slot_of(pointer) == pinned_slot ? cudaMemoryTypeHost
                                                         : cudaMemoryTypeUnregistered;
    attributes->devicePointer = attributes->type == cudaMemoryTypeUnregistered ? nullptr : address;
    attributes->hostPointer = attributes->type == cudaMemoryTypeHost ? address : nullptr;
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind)
{
    return copy(flat(to, from, bytes), {"cudaMemcpy", CUCO_EMU_CALL_SITE(), kind, nullptr, true});
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy(flat(to, from, bytes), {"cudaMemcpyAsync", CUCO_EMU_CALL_SITE(), kind, stream, false});
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes)
{
    return copy(flat(to, from, bytes),
                {"cudaMemcpyPeer", CUCO_EMU_CALL_SITE(), cudaMemcpyDeviceToDevice, nullptr, true});
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream)
{
    return copy(flat(to, from, bytes),
                {"cudaMemcpyPeerAsync", CUCO_EMU_CALL_SITE(), cudaMemcpyDeviceToDevice, stream, false});
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind)
{
    return copy({to, from, width, height, to_pitch, from_pitch},
                {"cudaMemcpy2D", CUCO_EMU_CALL_SITE(), kind, nullptr, true});
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy({to, from, width, height, to_pitch, from_pitch},
                {"cudaMemcpy2DAsync", CUCO_EMU_CALL_SITE(), kind, stream, false});
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes)
{
    return fill(pointer, value, bytes, nullptr, false, "cudaMemset", CUCO_EMU_CALL_SITE());
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream)
{
    return fill(pointer, value, bytes, stream, false, "cudaMemsetAsync", CUCO_EMU_CALL_SITE());
}
