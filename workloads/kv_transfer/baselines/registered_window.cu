// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "prefill_layers.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <new>

// second_stream.cu with the projections and all outputs registered as symmetric windows, so that NCCL need not copy on
// either side.
namespace {

using prefill::Bf16;
using prefill::Problem;

constexpr int slots = 3;  // layers that may be under way

struct State {
    Problem p;
    prefill::Layers work;
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr, slot_window = nullptr;
    void* slot_memory = nullptr;
    Bf16* slot[slots] = {};  // projections of a layer; a decode rank receives keys and values in it
    int32_t* table = nullptr;
    int store_ctas = 1;
    cudaStream_t exchange_stream = nullptr;
    cudaEvent_t ready[slots] = {}, exchanged[slots] = {}, begun = nullptr;
};

// Elements [first, last) of a layer's keys or values, as computed, to the pages where they belong.
__device__ void storePages(Bf16* plane, const Bf16* computed, const int32_t* table, const Problem& p, int64_t first,
                           int64_t last, int64_t thread, int64_t threads)
{
    constexpr int unroll = 4;
    const int64_t page = p.page_tokens * p.kv_dim;
    int64_t done = first;
    if (page % 8 == 0 && p.tokens() % 8 == 0 && first % 8 == 0) {
        // Whole vectors lie in one page, and are aligned here as there.
        const auto vectors = uint32_t((last - first) / 8), page_vectors = uint32_t(page / 8);
        const auto begin = uint32_t(first / 8);
        const auto* from = reinterpret_cast<const uint4*>(computed);
        auto* to = reinterpret_cast<uint4*>(plane);
        for (uint32_t i = uint32_t(thread); i < vectors; i += uint32_t(threads) * unroll) {
            uint4 held[unroll];
#pragma unroll
            for (int u = 0; u < unroll; ++u) {
                if (i + u * uint32_t(threads) < vectors)
                    held[u] = from[begin + i + u * uint32_t(threads)];
            }
#pragma unroll
            for (int u = 0; u < unroll; ++u) {
                const uint32_t at = begin + i + u * uint32_t(threads);
                if (i + u * uint32_t(threads) < vectors)
                    to[int64_t(table[at / page_vectors]) * page_vectors + at % page_vectors] = held[u];
            }
        }
        done = first + 8 * int64_t(vectors);
    }
    for (int64_t i = done + thread; i < last; i += threads)
        plane[table[i / page] * page + i % page] = computed[i];
}

__global__ void storeLayer(Bf16* planes, const Bf16* received, const int32_t* table, Problem p)
{
    const int64_t thread = int64_t(blockIdx.x) * blockDim.x + threadIdx.x, threads = int64_t(gridDim.x) * blockDim.x;
    for (int part = 0; part < 2; ++part)
        storePages(planes + part * p.plane(), received + part * p.tokens(), table, p, 0, p.tokens(), thread, threads);
}

int computeAndSend(State& s, const cuco_io* io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* x = static_cast<float*>(io->outputs[1]);
    CUCO_TRY(cudaMemcpyAsync(x, io->inputs[0], size_t(p.sequence * p.hidden) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const int at = int(layer % slots);
        const Bf16* weights = s.work.weightsOf(io->inputs[1], layer);
        CUCO_TRY(s.work.begin(x, stream));
        if (layer >= slots)
            CUCO_TRY(cudaStreamWaitEvent(stream, s.exchanged[at], 0));
        CUCO_TRY(s.work.project(weights, s.slot[at], 0, 3));
        CUCO_TRY(cudaEventRecord(s.ready[at], stream));
        CUCO_TRY(cudaStreamWaitEvent(s.exchange_stream, s.ready[at], 0));
        CUCO_TRY(ncclSend(s.slot[at], size_t(2 * p.tokens()), ncclBfloat16, p.partner(), s.comm, s.exchange_stream));
        CUCO_TRY(cudaEventRecord(s.exchanged[at], s.exchange_stream));
        CUCO_TRY(s.work.finish(weights, s.slot[at], x, stream));
    }
    CUCO_TRY(cudaStreamWaitEvent(stream, s.exchanged[(p.layers - 1) % slots], 0));
    return 0;
}

// Pages are stored on `stream`, while the next layer arrives on the other.
int receive(State& s, const cuco_io* io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* cache = static_cast<Bf16*>(io->outputs[0]);
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.exchange_stream, s.begun, 0));
    CUCO_TRY(prefill::preparePages(p, io->inputs[2], s.table, cache, stream));
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const int at = int(layer % slots);
        Bf16* planes = cache + layer * 2 * p.plane();
        const bool in_place = p.page_tokens == p.sequence;  // lies there as it comes
        if (!in_place && layer >= slots)
            CUCO_TRY(cudaStreamWaitEvent(s.exchange_stream, s.ready[at], 0));
        CUCO_TRY(ncclRecv(in_place ? planes : s.slot[at], size_t(2 * p.tokens()), ncclBfloat16, p.partner(), s.comm,
                          s.exchange_stream));
        CUCO_TRY(cudaEventRecord(s.exchanged[at], s.exchange_stream));
        if (in_place)
            continue;
        CUCO_TRY(cudaStreamWaitEvent(stream, s.exchanged[at], 0));
        storeLayer<<<s.store_ctas, 512, 0, stream>>>(planes, s.slot[at], s.table, p);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(cudaEventRecord(s.ready[at], stream));
    }
    CUCO_TRY(cudaStreamWaitEvent(stream, s.exchanged[(p.layers - 1) % slots], 0));
    return 0;
}

}  // namespace

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->p = prefill::problemOf(*context);
    s->comm = context->comm;
    s->store_ctas = prefill::ctasFor(s->p, context->sm_count);
    if (s->p.prefills())
        CUCO_TRY(s->work.make(s->p));
    const size_t elements = (size_t(3 * s->p.tokens()) + 127) / 128 * 128;
    const size_t bytes = (slots * elements * sizeof(Bf16) + 4095) / 4096 * 4096;
    CUCO_TRY(ncclMemAlloc(&s->slot_memory, bytes));
    for (int at = 0; at < slots; ++at)
        s->slot[at] = static_cast<Bf16*>(s->slot_memory) + at * elements;
    CUCO_TRY(ncclCommWindowRegister(s->comm, context->symmetric_base, context->symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->slot_memory, bytes, &s->slot_window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window || !s->slot_window)
        return cudaErrorNotSupported;
    CUCO_TRY(cudaMalloc(&s->table, size_t(s->p.pages()) * sizeof(int32_t)));
    // Above the products, so that an exchange does not wait for a whole product's CTAs to be placed.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->exchange_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(cudaEventCreateWithFlags(&s->begun, cudaEventDisableTiming));
    for (int at = 0; at < slots; ++at) {
        CUCO_TRY(cudaEventCreateWithFlags(&s->ready[at], cudaEventDisableTiming));
        CUCO_TRY(cudaEventCreateWithFlags(&s->exchanged[at], cudaEventDisableTiming));
    }
    return 0;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    if (s->p.prefills())
        return computeAndSend(*s, io, stream);
    return s->p.decodes() ? receive(*s, io, stream) : 0;
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->work.free();
    for (int at = 0; at < slots; ++at) {
        if (s->ready[at])
            cudaEventDestroy(s->ready[at]);
        if (s->exchanged[at])
            cudaEventDestroy(s->exchanged[at]);
    }
    if (s->begun)
        cudaEventDestroy(s->begun);
    if (s->exchange_stream)
        cudaStreamDestroy(s->exchange_stream);
    if (s->slot_window)
        ncclCommWindowDeregister(s->comm, s->slot_window);
    if (s->window)
        ncclCommWindowDeregister(s->comm, s->window);
    if (s->slot_memory)
        ncclMemFree(s->slot_memory);
    cudaFree(s->table);
    delete s;
}
