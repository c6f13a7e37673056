// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "prefill_layers.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <new>

// Host-driven, on one stream: when a layer is computed, its keys and values are sent; the decode rank receives them and
// stores them to its pages.
namespace {

using prefill::Bf16;
using prefill::Problem;

struct State {
    Problem p;
    prefill::Layers work;
    ncclComm_t comm = nullptr;
    Bf16* projections = nullptr;  // a decode rank receives keys and values in it
    int32_t* table = nullptr;
    int store_ctas = 1;
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
        const Bf16* weights = s.work.weightsOf(io->inputs[1], layer);
        CUCO_TRY(s.work.begin(x, stream));
        CUCO_TRY(s.work.project(weights, s.projections, 0, 3));
        CUCO_TRY(s.work.finish(weights, s.projections, x, stream));
        CUCO_TRY(ncclSend(s.projections, size_t(2 * p.tokens()), ncclBfloat16, p.partner(), s.comm, stream));
    }
    return 0;
}

int receive(State& s, const cuco_io* io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* cache = static_cast<Bf16*>(io->outputs[0]);
    CUCO_TRY(prefill::preparePages(p, io->inputs[2], s.table, cache, stream));
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        Bf16* planes = cache + layer * 2 * p.plane();
        if (p.page_tokens == p.sequence) {  // lies there as it comes
            CUCO_TRY(ncclRecv(planes, size_t(2 * p.tokens()), ncclBfloat16, p.partner(), s.comm, stream));
            continue;
        }
        CUCO_TRY(ncclRecv(s.projections, size_t(2 * p.tokens()), ncclBfloat16, p.partner(), s.comm, stream));
        storeLayer<<<s.store_ctas, 512, 0, stream>>>(planes, s.projections, s.table, p);
        CUCO_TRY(cudaGetLastError());
    }
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
    CUCO_TRY(cudaMalloc(&s->projections, size_t(3 * s->p.tokens()) * sizeof(Bf16)));
    CUCO_TRY(cudaMalloc(&s->table, size_t(s->p.pages()) * sizeof(int32_t)));
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
    cudaFree(s->projections);
    cudaFree(s->table);
    delete s;
}
