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
// cuco: backend=lsa placement=stream_overlap sync=peer issuer=copy_engine chunk=0

// As soon as a layer's projections are there, a copy engine writes its keys and values to the decode rank while the
// rest of the layer and the next are computed; no SM of the prefill rank takes part. Pages would be many small copies:
// a layer goes in one piece, and SMs of the decode rank, which has nothing else to do, store it to its pages.
CUCO_TUNE(slots, 3, 2, 3, 4, 8);  // layers whose projections may wait to be copied
// 1: keys go when they are projected, before values and queries are.
CUCO_TUNE(keys_first, 0, 0, 1);
CUCO_TUNE(store_sixteenths, 16, 4, 8, 16);  // of the decode rank's SMs, one CTA each

#include "device_trace.cuh"

namespace candidate {

using prefill::Bf16;
using prefill::Problem;

struct State {
    Problem p;
    prefill::Layers work;
    Bf16* slot[slots] = {};  // projections of a layer
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr, mail_window = nullptr, staging_window = nullptr;
    char *mail = nullptr, *staging = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    char* symmetric_base = nullptr;
    char *partner_base = nullptr, *partner_staging = nullptr;  // where they are mapped here
    int store_ctas = 1;
    uint64_t iteration = 0;
    cudaStream_t copy_stream = nullptr;
    cudaEvent_t begun = nullptr, projected[slots] = {}, keys_projected[slots] = {}, copied[slots] = {};

    bool staged() const { return p.pages() > 1; }
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

// Numbers that a rank's partner writes and the rank waits for; they grow with every iteration. `opened`: the decode
// rank's cache is free and its table is here. `arrived`: layers that are in the decode rank's memory, over all
// iterations.
struct Mail {
    uint64_t opened, arrived;
};
constexpr size_t table_at = 256;  // the pages' table, behind the flags

__device__ void post(uint64_t* flag, uint64_t value)
{
    cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*flag).store(value, cuda::memory_order_release);
}

__device__ void await(uint64_t* flag, uint64_t value)
{
    while (cuda::atomic_ref<uint64_t, cuda::thread_scope_system>(*flag).load(cuda::memory_order_acquire) < value) {
    }
}

__device__ Mail* mailOf(ncclWindow_t window, int rank)
{
    return static_cast<Mail*>(ncclGetLsaPointer(window, 0, rank));
}

// On the decode rank, when its stream has come to this iteration: tells its partner the pages, and that it may write.
__global__ void openCache(ncclWindow_t mail_window, Problem p, uint64_t iteration)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    const auto* mine = static_cast<const int32_t*>(ncclGetLocalPointer(mail_window, table_at));
    auto* theirs = static_cast<int32_t*>(ncclGetLsaPointer(mail_window, table_at, p.partner()));
    for (int page = int(threadIdx.x); page < int(p.pages()); page += int(blockDim.x))
        theirs[page] = mine[page];
    __syncthreads();
    if (threadIdx.x == 0)
        post(&mailOf(mail_window, p.partner())->opened, iteration);
    trace.end();
}

// On the prefill rank: behind it the partner's cache may be written to.
__global__ void awaitCache(ncclWindow_t mail_window, Problem p, uint64_t iteration)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    await(&mailOf(mail_window, p.rank)->opened, iteration);
    trace.end();
}

// On the prefill rank, behind a layer's stores or copies on the same stream.
__global__ void tellArrived(ncclWindow_t mail_window, Problem p, uint64_t layers)
{
    __threadfence_system();
    post(&mailOf(mail_window, p.partner())->arrived, layers);
}

// On the decode rank: behind it the layers are here.
__global__ void awaitLayers(ncclWindow_t mail_window, Problem p, uint64_t layers)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    await(&mailOf(mail_window, p.rank)->arrived, layers);
    trace.end();
}

__global__ void findPartner(ncclWindow_t window, int partner, char** found)
{
    *found = static_cast<char*>(ncclGetLsaPointer(window, 0, partner));
}

// On the decode rank: from where a layer arrives to its pages, once it has.
__global__ void storeLayer(ncclWindow_t mail_window, Bf16* planes, const Bf16* staged, Problem p, uint64_t layers)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    if (threadIdx.x == 0)
        await(&mailOf(mail_window, p.rank)->arrived, layers);
    __syncthreads();
    trace.phase(cuco_trace::Phase::copy);
    const auto* table = static_cast<const int32_t*>(ncclGetLocalPointer(mail_window, table_at));
    const int64_t thread = (int64_t(threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
    for (int part = 0; part < 2; ++part)
        storePages(planes + part * p.plane(), staged + part * p.tokens(), table, p, 0, p.tokens(), thread,
                   int64_t(gridDim.x) * blockDim.x);
    trace.end();
}

int learnPartner(State& s, ncclWindow_t window, char** base)
{
    char** found = nullptr;
    CUCO_TRY(cudaMalloc(&found, sizeof *found));
    findPartner<<<1, 1>>>(window, s.p.partner(), found);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaMemcpy(base, found, sizeof *base, cudaMemcpyDeviceToHost));
    CUCO_TRY(cudaFree(found));
    return 0;
}

int makeWindow(State& s, char** memory, size_t wanted, ncclWindow_t* window)
{
    const size_t bytes = (wanted + 4095) / 4096 * 4096;
    CUCO_TRY(ncclMemAlloc(reinterpret_cast<void**>(memory), bytes));
    CUCO_TRY(ncclCommWindowRegister(s.comm, *memory, bytes, window, NCCL_WIN_COLL_SYMMETRIC));
    return *window ? 0 : int(cudaErrorNotSupported);
}

int makeEvent(cudaEvent_t* event)
{
    CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return 0;
}

int setUpPrefill(State& s)
{
    CUCO_TRY(s.work.make(s.p));
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s.copy_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(makeEvent(&s.begun));
    for (int at = 0; at < slots; ++at) {
        CUCO_TRY(cudaMalloc(&s.slot[at], size_t(3 * s.p.tokens()) * sizeof(Bf16)));
        CUCO_TRY(makeEvent(&s.keys_projected[at]));
        CUCO_TRY(makeEvent(&s.projected[at]));
        CUCO_TRY(makeEvent(&s.copied[at]));
    }
    CUCO_TRY(learnPartner(s, s.window, &s.partner_base));
    if (s.staged())
        CUCO_TRY(learnPartner(s, s.staging_window, &s.partner_staging));
    return 0;
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
    s->store_ctas = prefill::ctasFor(s->p, context.sm_count * int(store_sixteenths) / 16);
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    CUCO_TRY(makeWindow(*s, &s->mail, table_at + size_t(s->p.pages()) * sizeof(int32_t), &s->mail_window));
    CUCO_TRY(cudaMemset(s->mail, 0, sizeof(Mail)));
    if (s->staged())
        CUCO_TRY(
            makeWindow(*s, &s->staging, size_t(2 * s->p.layers * s->p.tokens()) * sizeof(Bf16), &s->staging_window));
    ncclDevCommRequirements requirements{};
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->p.ranks)
        return cudaErrorNotSupported;
    if (s->p.prefills())
        CUCO_TRY(setUpPrefill(*s));
    return 0;
}

// Keys (0) or values (1) of a layer, or both when `parts` is 2, to where the decode rank wants them.
int copyParts(State& s, const cuco_io& io, int64_t layer, int first, int parts)
{
    const Problem& p = s.p;
    const Bf16* from = s.slot[layer % slots] + first * p.tokens();
    const size_t cache_at = size_t(static_cast<char*>(io.outputs[0]) - s.symmetric_base);
    const int64_t spacing = s.staged() ? p.tokens() : p.plane();
    Bf16* to = reinterpret_cast<Bf16*>(s.staged() ? s.partner_staging : s.partner_base + cache_at) +
               (2 * layer + first) * spacing;
    const size_t bytes = size_t(p.tokens()) * sizeof(Bf16);
    if (parts == 2 && spacing == p.tokens()) {
        CUCO_TRY(cudaMemcpyAsync(to, from, 2 * bytes, cudaMemcpyDeviceToDevice, s.copy_stream));
        return 0;
    }
    for (int part = 0; part < parts; ++part)
        CUCO_TRY(cudaMemcpyAsync(to + part * spacing, from + part * p.tokens(), bytes, cudaMemcpyDeviceToDevice,
                                 s.copy_stream));
    return 0;
}

int prefillAndCopy(State& s, const cuco_io& io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* x = static_cast<float*>(io.outputs[1]);
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.copy_stream, s.begun, 0));
    awaitCache<<<1, 1, 0, s.copy_stream>>>(s.mail_window, p, s.iteration);
    CUCO_TRY(cudaMemcpyAsync(x, io.inputs[0], size_t(p.sequence * p.hidden) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const int at = int(layer % slots);
        const Bf16* weights = s.work.weightsOf(io.inputs[1], layer);
        CUCO_TRY(s.work.begin(x, stream));
        if (layer >= slots)
            CUCO_TRY(cudaStreamWaitEvent(stream, s.copied[at], 0));
        if (keys_first == 1) {
            CUCO_TRY(s.work.project(weights, s.slot[at], 0, 1));
            CUCO_TRY(cudaEventRecord(s.keys_projected[at], stream));
            CUCO_TRY(cudaStreamWaitEvent(s.copy_stream, s.keys_projected[at], 0));
            CUCO_TRY(copyParts(s, io, layer, 0, 1));
        }
        const int first = int(keys_first);
        CUCO_TRY(s.work.project(weights, s.slot[at], first, 3 - first));
        CUCO_TRY(cudaEventRecord(s.projected[at], stream));
        CUCO_TRY(cudaStreamWaitEvent(s.copy_stream, s.projected[at], 0));
        CUCO_TRY(copyParts(s, io, layer, first, 2 - first));
        tellArrived<<<1, 1, 0, s.copy_stream>>>(s.mail_window, p, (s.iteration - 1) * p.layers + layer + 1);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(cudaEventRecord(s.copied[at], s.copy_stream));
        CUCO_TRY(s.work.finish(weights, s.slot[at], x, stream));
    }
    CUCO_TRY(cudaStreamWaitEvent(stream, s.copied[(p.layers - 1) % slots], 0));
    return 0;
}

int receive(State& s, const cuco_io& io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* cache = static_cast<Bf16*>(io.outputs[0]);
    CUCO_TRY(prefill::preparePages(p, io.inputs[2], reinterpret_cast<int32_t*>(s.mail + table_at), cache, stream));
    openCache<<<1, 256, 0, stream>>>(s.mail_window, p, s.iteration);
    const uint64_t before = (s.iteration - 1) * p.layers;
    for (int64_t layer = 0; s.staged() && layer < p.layers; ++layer) {
        storeLayer<<<s.store_ctas, 512, 0, stream>>>(s.mail_window, cache + 2 * layer * p.plane(),
                                                     reinterpret_cast<Bf16*>(s.staging) + 2 * layer * p.tokens(), p,
                                                     before + layer + 1);
        CUCO_TRY(cudaGetLastError());
    }
    awaitLayers<<<1, 1, 0, stream>>>(s.mail_window, p, before + p.layers);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    ++s.iteration;
    if (s.p.prefills())
        return prefillAndCopy(s, io, stream);
    return s.p.decodes() ? receive(s, io, stream) : 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->work.free();
    for (int at = 0; at < slots; ++at) {
        cudaFree(s->slot[at]);
        for (cudaEvent_t event : {s->keys_projected[at], s->projected[at], s->copied[at]}) {
            if (event)
                cudaEventDestroy(event);
        }
    }
    if (s->begun)
        cudaEventDestroy(s->begun);
    if (s->copy_stream)
        cudaStreamDestroy(s->copy_stream);
    if (s->dev_comm_made)
        ncclDevCommDestroy(s->comm, &s->dev_comm);
    for (ncclWindow_t window : {s->staging_window, s->mail_window, s->window}) {
        if (window)
            ncclCommWindowDeregister(s->comm, window);
    }
    for (char* memory : {s->staging, s->mail}) {
        if (memory)
            ncclMemFree(memory);
    }
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
