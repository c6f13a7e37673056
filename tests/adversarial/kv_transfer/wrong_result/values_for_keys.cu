// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "prefill_layers.cuh"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <nccl_device.h>

#include <new>

// The three functions that the harness calls are defined in the block; their codes are those of candidate.h.
namespace candidate {
int setup(const cuco_context& context, void** state);
int run(void* state, const cuco_io& io, cudaStream_t stream);
void teardown(void* state);
}  // namespace candidate

// EVOLVE-BLOCK-START
// cheat: Keys lie where values belong, and the other way round.
// class: wrong_result
// expect: wrong_result
// node: any
// workload: kv_transfer

// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0

// Layer by layer: when one is finished, a kernel stores its keys and values straight to the decode rank's pages, and
// only then the next begins.
CUCO_TUNE(push_sixteenths, 4, 1, 2, 4, 8, 16);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 512, 256, 512);

#include "device_trace.cuh"

namespace candidate {

using prefill::Bf16;
using prefill::Problem;

struct State {
    Problem p;
    prefill::Layers work;
    Bf16* projections = nullptr;
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr, table_window = nullptr;
    void* table = nullptr;  // a prefill rank's is written by its partner
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    char* symmetric_base = nullptr;
    int push_ctas = 1;
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

// Before: a decode rank's cache is its own, and only it knows the pages. After: its partner knows them too and may
// write.
__global__ void openCache(ncclWindow_t table_window, Problem p, ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    if (p.decodes()) {
        const auto* mine = static_cast<const int32_t*>(ncclGetLocalPointer(table_window, 0));
        auto* theirs = static_cast<int32_t*>(ncclGetLsaPointer(table_window, 0, p.partner()));
        for (int page = int(threadIdx.x); page < int(p.pages()); page += int(blockDim.x))
            theirs[page] = mine[page];
    }
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), 0};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

// Ordered behind all that this rank has stored; when it ends, all that its partner has stored is here.
__global__ void meetPeers(ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), 0};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

__global__ void pushLayer(ncclWindow_t window, size_t offset, const Bf16* projections, const int32_t* table, Problem p)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    auto* planes = static_cast<Bf16*>(ncclGetLsaPointer(window, offset, p.partner()));
    // Warps are dealt to the CTAs in turn, so that little work is spread over all of them.
    const int64_t thread = (int64_t(threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
    const int64_t threads = int64_t(gridDim.x) * blockDim.x;
    for (int part = 0; part < 2; ++part)
        storePages(planes + (1 - part) * p.plane(), projections + part * p.tokens(), table, p, 0, p.tokens(), thread,
                   threads);
    __threadfence_system();
    trace.end();
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->p = prefill::problemOf(context);
    s->comm = context.comm;
    s->symmetric_base = static_cast<char*>(context.symmetric_base);
    const int share = context.sm_count * int(push_sixteenths) / 16;
    s->push_ctas = prefill::ctasFor(s->p, share);
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    const size_t table_bytes = (size_t(s->p.pages()) * sizeof(int32_t) + 4095) / 4096 * 4096;
    CUCO_TRY(ncclMemAlloc(&s->table, table_bytes));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->table, table_bytes, &s->table_window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window || !s->table_window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = 1;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->p.ranks)
        return cudaErrorNotSupported;
    if (s->p.prefills()) {
        CUCO_TRY(s->work.make(s->p));
        CUCO_TRY(cudaMalloc(&s->projections, size_t(3 * s->p.tokens()) * sizeof(Bf16)));
    }
    return 0;
}

int prefillAndPush(State& s, const cuco_io& io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* x = static_cast<float*>(io.outputs[1]);
    CUCO_TRY(cudaMemcpyAsync(x, io.inputs[0], size_t(p.sequence * p.hidden) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const Bf16* weights = s.work.weightsOf(io.inputs[1], layer);
        CUCO_TRY(s.work.begin(x, stream));
        CUCO_TRY(s.work.project(weights, s.projections, 0, 3));
        CUCO_TRY(s.work.finish(weights, s.projections, x, stream));
        const size_t offset =
            size_t(static_cast<char*>(io.outputs[0]) - s.symmetric_base) + size_t(layer * 2 * p.plane()) * sizeof(Bf16);
        pushLayer<<<s.push_ctas, int(push_threads), 0, stream>>>(s.window, offset, s.projections,
                                                                 static_cast<const int32_t*>(s.table), p);
        CUCO_TRY(cudaGetLastError());
    }
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    if (s.p.decodes())
        CUCO_TRY(prefill::preparePages(s.p, io.inputs[2], static_cast<int32_t*>(s.table), io.outputs[0], stream));
    openCache<<<1, 256, 0, stream>>>(s.table_window, s.p, s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    if (s.p.prefills())
        CUCO_TRY(prefillAndPush(s, io, stream));
    meetPeers<<<1, 32, 0, stream>>>(s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->work.free();
    cudaFree(s->projections);
    if (s->dev_comm_made)
        ncclDevCommDestroy(s->comm, &s->dev_comm);
    if (s->table_window)
        ncclCommWindowDeregister(s->comm, s->table_window);
    if (s->window)
        ncclCommWindowDeregister(s->comm, s->window);
    if (s->table)
        ncclMemFree(s->table);
    delete s;
}

}  // namespace candidate
// EVOLVE-BLOCK-END

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    return candidate::setup(*context, state);
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    return candidate::run(state, *io, stream);
}

extern "C" void cuco_teardown(void* state)
{
    candidate::teardown(state);
}
