// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Phases inside a kernel, for the timeline. One leader thread a group (a block, a warp) says what the group does from
// now on; all of it compiles to nothing unless CUCO_PROFILE is defined, and on the emulated node, which sees phases by
// itself.
//
//     #include "device_trace.cuh"
//
//     cuco_trace::Recorder trace(threadIdx.x == 0);    at the kernel's begin, by all threads
//     trace.phase(cuco_trace::Phase::compute);
//     …
//     trace.phase(cuco_trace::Phase::wait);            ends the phase before
//     barrier.sync(…);
//     trace.end();                                     before the leader returns
//
// Spinning is `wait`, not communication: give it a phase of its own. `put` ends when the stores were issued, which is
// before they arrive. A kernel that records phases is counted by them alone, so mark all that it does.

#include "device_trace_layout.h"

#include <cuda_runtime.h>

namespace cuco_trace {

enum class Phase : uint32_t {
    compute = cuco_phase_compute,
    put = cuco_phase_put,
    wait = cuco_phase_wait,
    copy = cuco_phase_copy,
};

#if defined(CUCO_PROFILE) && !defined(CUCO_EMULATED)

// 16 MiB, which begin() of the harness's RankTrace zeroes.
constexpr uint32_t chunk_count = 32768;
constexpr uint32_t records_a_chunk = sizeof(cuco_trace_chunk::records) / sizeof(cuco_trace_record);
static __device__ cuco_trace_head head;
static __device__ cuco_trace_chunk chunks[chunk_count];

class Recorder {
public:
    __device__ explicit Recorder(bool leads) : leads_(leads) {}

    __device__ void phase(Phase next)
    {
        if (!leads_)
            return;
        const uint64_t now = nowNs();
        close(now);
        phase_ = uint32_t(next);
        begin_ = now;
    }

    __device__ void end()
    {
        if (leads_)
            close(nowNs());
        phase_ = 0;
    }

private:
    // Neither the compiler nor the thread moves memory accesses across the reading.
    static __device__ uint64_t nowNs()
    {
        uint64_t now;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
        return now;
    }

    __device__ void close(uint64_t now)
    {
        if (phase_ == 0)
            return;
        if (used_ == records_a_chunk)
            claim();
        if (chunk_) {
            // One store of 16 bytes: a record is there whole or not at all.
            const uint64_t duration = now - begin_;
            const uint32_t kept = duration < UINT32_MAX ? uint32_t(duration) : UINT32_MAX;
            *reinterpret_cast<uint4*>(&chunk_->records[used_++]) =
                make_uint4(uint32_t(begin_), uint32_t(begin_ >> 32), kept, phase_);
        } else {
            atomicAdd(&head.dropped, 1u);
        }
    }

    __device__ void claim()
    {
        if (full_)
            return;
        const uint32_t index = atomicAdd(&head.claimed, 1u);
        full_ = index >= chunk_count;
        chunk_ = full_ ? nullptr : &chunks[index];
        if (full_)
            return;
        used_ = 0;
        uint64_t grid;
        uint32_t sm;
        asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        chunk_->grid = grid;
        chunk_->block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        chunk_->sm = sm;
    }

    cuco_trace_chunk* chunk_ = nullptr;
    uint64_t begin_ = 0;
    uint32_t phase_ = 0, used_ = records_a_chunk;
    bool leads_, full_ = false;
};

#else

class Recorder {
public:
    __device__ explicit Recorder(bool) {}
    __device__ void phase(Phase) {}
    __device__ void end() {}
};

#endif

}  // namespace cuco_trace

#if defined(CUCO_PROFILE) && !defined(CUCO_EMULATED)
extern "C" __attribute__((weak, used, visibility("default"))) int cuco_device_trace(cuco_device_trace_info* info)
{
    void *head = nullptr, *chunks = nullptr;
    if (const cudaError_t error = cudaGetSymbolAddress(&head, cuco_trace::head))
        return int(error);
    if (const cudaError_t error = cudaGetSymbolAddress(&chunks, cuco_trace::chunks))
        return int(error);
    info->version = CUCO_DEVICE_TRACE_VERSION;
    info->head = static_cast<cuco_trace_head*>(head);
    info->chunks = static_cast<cuco_trace_chunk*>(chunks);
    info->chunk_count = cuco_trace::chunk_count;
    return 0;
}
#endif
