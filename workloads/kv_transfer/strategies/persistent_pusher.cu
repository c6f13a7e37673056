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
// cuco: backend=lsa placement=stream_overlap sync=peer issuer=cta chunk=0

// One kernel of few CTAs runs beside all layers: it waits until the compute stream says that a layer's projections are
// there, stores its keys and values straight to the decode rank's pages, and says that their place is free again. There
// is no launch and no event a layer, and the CTAs never wait for a place among the products'.
CUCO_TUNE(slots, 4, 2, 3, 4, 8);            // layers whose projections may wait to be stored
CUCO_TUNE(push_sixteenths, 2, 1, 2, 4, 8);  // of the SMs, one CTA each
CUCO_TUNE(spare_sms, 1, 0, 1);              // 1: the products leave the SMs of the pushes alone

#include "device_trace.cuh"

namespace candidate {

using prefill::Bf16;
using prefill::Problem;

// Between the two streams of a prefill rank. They count over all iterations.
struct Progress {
    uint64_t projected;  // layers; written by the compute stream
    uint64_t pushed[1];  // of each layer: CTAs that are done with it
};

struct Slots {
    const Bf16* projections[slots];
};

struct State {
    Problem p;
    prefill::Layers work;
    Bf16* slot[slots] = {};  // projections of a layer
    Progress* progress = nullptr;
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr, mail_window = nullptr;
    char* mail = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    char* symmetric_base = nullptr;
    int push_ctas = 1;
    uint64_t iteration = 0;
    cudaStream_t push_stream = nullptr;
    cudaEvent_t begun = nullptr, pushed = nullptr;
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

__device__ inline cuda::atomic_ref<uint64_t, cuda::thread_scope_device> counter(uint64_t& value)
{
    return cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(value);
}

__global__ void tellProjected(Progress* progress, uint64_t layers)
{
    counter(progress->projected).store(layers, cuda::memory_order_release);
}

// On the compute stream, before projections are written where those of this earlier layer were.
__global__ void awaitPushes(Progress* progress, int64_t layer, uint64_t ctas)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    while (counter(progress->pushed[layer]).load(cuda::memory_order_acquire) < ctas) {
    }
    trace.end();
}

__global__ void pushLayers(ncclWindow_t window, size_t cache_at, ncclWindow_t mail_window, Slots kept,
                           Progress* progress, Problem p, uint64_t iteration)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    const auto* table = static_cast<const int32_t*>(ncclGetLocalPointer(mail_window, table_at));
    auto* cache = static_cast<Bf16*>(ncclGetLsaPointer(window, cache_at, p.partner()));
    // Warps are dealt to the CTAs in turn, so that little work is spread over all of them.
    const int64_t thread = (int64_t(threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
    const int64_t threads = int64_t(gridDim.x) * blockDim.x;
    const uint64_t before = (iteration - 1) * uint64_t(p.layers);
    if (threadIdx.x == 0)
        await(&mailOf(mail_window, p.rank)->opened, iteration);
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        trace.phase(cuco_trace::Phase::wait);
        if (threadIdx.x == 0) {
            while (counter(progress->projected).load(cuda::memory_order_acquire) < before + uint64_t(layer) + 1) {
            }
        }
        __syncthreads();
        trace.phase(cuco_trace::Phase::put);
        const Bf16* projections = kept.projections[layer % slots];
        for (int part = 0; part < 2; ++part)
            storePages(cache + (2 * layer + part) * p.plane(), projections + part * p.tokens(), table, p, 0, p.tokens(),
                       thread, threads);
        __syncthreads();
        if (threadIdx.x == 0) {
            // Release of what the CTA stored; the last CTA has acquired all the others'.
            __threadfence_system();
            const uint64_t ctas = counter(progress->pushed[layer]).fetch_add(1, cuda::memory_order_acq_rel) + 1;
            if (layer + 1 == p.layers && ctas == iteration * gridDim.x) {
                __threadfence_system();
                post(&mailOf(mail_window, p.partner())->arrived, before + uint64_t(p.layers));
            }
        }
    }
    trace.end();
}

// So that nothing is loaded while pushLayers already waits for what the host has yet to launch.
int warmUp(State& s)
{
    Bf16* weights = nullptr;
    float* x = nullptr;
    const Problem& p = s.p;
    const size_t weight_bytes = size_t(4 * p.hidden * p.kv_dim + 2 * p.hidden * p.intermediate) * sizeof(Bf16);
    const size_t x_bytes = size_t(p.sequence * p.hidden) * sizeof(float);
    CUCO_TRY(cudaMalloc(&weights, weight_bytes));
    CUCO_TRY(cudaMalloc(&x, x_bytes));
    CUCO_TRY(cudaMemsetAsync(weights, 0, weight_bytes, s.push_stream));
    CUCO_TRY(cudaMemsetAsync(x, 0, x_bytes, s.push_stream));
    CUCO_TRY(s.work.begin(x, s.push_stream));
    CUCO_TRY(s.work.project(weights, s.slot[0], 0, 3));
    CUCO_TRY(s.work.finish(weights, s.slot[0], x, s.push_stream));
    tellProjected<<<1, 1, 0, s.push_stream>>>(s.progress, 0);
    awaitPushes<<<1, 1, 0, s.push_stream>>>(s.progress, 0, 0);
    CUCO_TRY(cudaStreamSynchronize(s.push_stream));
    CUCO_TRY(cudaFree(weights));
    CUCO_TRY(cudaFree(x));
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
    s->push_ctas = prefill::ctasFor(s->p, context.sm_count * int(push_sixteenths) / 16);
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    const size_t mail_bytes = (table_at + size_t(s->p.pages()) * sizeof(int32_t) + 4095) / 4096 * 4096;
    CUCO_TRY(ncclMemAlloc(reinterpret_cast<void**>(&s->mail), mail_bytes));
    CUCO_TRY(cudaMemset(s->mail, 0, sizeof(Mail)));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->mail, mail_bytes, &s->mail_window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window || !s->mail_window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->p.ranks)
        return cudaErrorNotSupported;
    if (!s->p.prefills())
        return 0;
    CUCO_TRY(s->work.make(s->p));
    for (Bf16*& slot : s->slot)
        CUCO_TRY(cudaMalloc(&slot, size_t(3 * s->p.tokens()) * sizeof(Bf16)));
    if (spare_sms == 1 && context.sm_count > s->push_ctas)
        CUCO_TRY(cublasSetSmCountTarget(s->work.blas, context.sm_count - s->push_ctas));
    // Above the products, so that the CTAs are placed before a product's.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->push_stream, cudaStreamNonBlocking, highest));
    const size_t progress_bytes = sizeof(Progress) + size_t(s->p.layers) * sizeof(uint64_t);
    CUCO_TRY(cudaMalloc(&s->progress, progress_bytes));
    CUCO_TRY(cudaMemsetAsync(s->progress, 0, progress_bytes, s->push_stream));
    for (cudaEvent_t* event : {&s->begun, &s->pushed})
        CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return warmUp(*s);
}

int prefillAndPush(State& s, const cuco_io& io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* x = static_cast<float*>(io.outputs[1]);
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.push_stream, s.begun, 0));
    Slots kept{};
    for (int at = 0; at < slots; ++at)
        kept.projections[at] = s.slot[at];
    const size_t cache_at = size_t(static_cast<char*>(io.outputs[0]) - s.symmetric_base);
    pushLayers<<<s.push_ctas, 512, 0, s.push_stream>>>(s.window, cache_at, s.mail_window, kept, s.progress, p,
                                                       s.iteration);
    CUCO_TRY(cudaMemcpyAsync(x, io.inputs[0], size_t(p.sequence * p.hidden) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
    const uint64_t before = (s.iteration - 1) * uint64_t(p.layers);
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const Bf16* weights = s.work.weightsOf(io.inputs[1], layer);
        Bf16* projections = s.slot[layer % slots];
        CUCO_TRY(s.work.begin(x, stream));
        if (layer >= slots)
            awaitPushes<<<1, 1, 0, stream>>>(s.progress, layer - slots, s.iteration * s.push_ctas);
        CUCO_TRY(s.work.project(weights, projections, 0, 3));
        tellProjected<<<1, 1, 0, stream>>>(s.progress, before + uint64_t(layer) + 1);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(s.work.finish(weights, projections, x, stream));
    }
    CUCO_TRY(cudaEventRecord(s.pushed, s.push_stream));
    CUCO_TRY(cudaStreamWaitEvent(stream, s.pushed, 0));
    return 0;
}

int receive(State& s, const cuco_io& io, cudaStream_t stream)
{
    auto* table = reinterpret_cast<int32_t*>(s.mail + table_at);
    CUCO_TRY(prefill::preparePages(s.p, io.inputs[2], table, io.outputs[0], stream));
    openCache<<<1, 256, 0, stream>>>(s.mail_window, s.p, s.iteration);
    awaitLayers<<<1, 1, 0, stream>>>(s.mail_window, s.p, s.iteration * s.p.layers);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    ++s.iteration;
    if (s.p.prefills())
        return prefillAndPush(s, io, stream);
    return s.p.decodes() ? receive(s, io, stream) : 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->work.free();
    for (Bf16* slot : s->slot)
        cudaFree(slot);
    cudaFree(s->progress);
    for (cudaEvent_t event : {s->begun, s->pushed}) {
        if (event)
            cudaEventDestroy(event);
    }
    if (s->push_stream)
        cudaStreamDestroy(s->push_stream);
    if (s->dev_comm_made)
        ncclDevCommDestroy(s->comm, &s->dev_comm);
    for (ncclWindow_t window : {s->mail_window, s->window}) {
        if (window)
            ncclCommWindowDeregister(s->comm, window);
    }
    if (s->mail)
        ncclMemFree(s->mail);
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
