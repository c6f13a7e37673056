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
// cuco: backend=lsa placement=split sync=peer issuer=warp chunk=4194304

// A layer goes in pieces, each as soon as there is something to send: the keys before values and queries are projected,
// and both in chunks of tokens. They are issued early and waited for once, at the end: every layer keeps its
// projections, so that computing never waits for a piece. Each warp stores whole stretches of a page.
CUCO_TUNE(token_chunks, 2, 1, 2, 4);
CUCO_TUNE(push_sixteenths, 2, 1, 2, 4, 8);  // of the SMs, one CTA each
CUCO_TUNE(stretch_bytes, 4096, 1024, 4096, 16384);

#include "device_trace.cuh"

namespace candidate {

using prefill::Bf16;
using prefill::Problem;

struct State {
    Problem p;
    prefill::Layers work;
    Bf16* projections = nullptr;  // of all layers
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr, mail_window = nullptr;
    char* mail = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    char* symmetric_base = nullptr;
    int push_ctas = 1;
    uint64_t iteration = 0;
    cudaStream_t push_stream = nullptr;
    cudaEvent_t begun = nullptr, computed = nullptr, pushed = nullptr;

    int64_t chunkBegin(int chunk) const
    {
        const int64_t begin = p.sequence * chunk / token_chunks;
        return chunk < token_chunks && p.sequence >= 128 * token_chunks ? begin / 128 * 128 : begin;
    }
};

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

// Elements [first, last) of keys or values, stretch by stretch: a warp looks its page up once and copies 16 bytes a
// lane.
__global__ void pushPiece(ncclWindow_t window, size_t offset, ncclWindow_t mail_window, const Bf16* computed,
                          int64_t first, int64_t last, Problem p)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    const auto* table = static_cast<const int32_t*>(ncclGetLocalPointer(mail_window, table_at));
    auto* plane = static_cast<Bf16*>(ncclGetLsaPointer(window, offset, p.partner()));
    const int lane = int(threadIdx.x) % 32;
    const int64_t warp = int64_t(threadIdx.x / 32) * gridDim.x + blockIdx.x;
    const int64_t warps = int64_t(gridDim.x) * blockDim.x / 32;
    const int64_t page = p.page_tokens * p.kv_dim, fair = (last - first) / warps / 256 * 256;
    const int64_t most = stretch_bytes / int64_t(sizeof(Bf16));
    const int64_t stretch = fair < 256 ? 256 : fair < most ? fair : most;  // something for every warp
    const int64_t stretches = (page + stretch - 1) / stretch;
    const bool aligned = page % 8 == 0 && p.tokens() % 8 == 0 && first % 8 == 0 && last % 8 == 0;
    const int64_t end = (last + page - 1) / page * stretches;
    for (int64_t at = first / page * stretches + warp; at < end; at += warps) {
        const int64_t begin = at / stretches * page, inside = at % stretches * stretch;
        int64_t from = begin + inside, to = begin + (inside + stretch < page ? inside + stretch : page);
        from = from < first ? first : from;
        to = to < last ? to : last;
        const int64_t shift = table[at / stretches] * page - begin;
        if (aligned) {
            constexpr int unroll = 4;
            for (int64_t i = from / 8 + lane; i < to / 8; i += 32 * unroll) {
                uint4 held[unroll];
#pragma unroll
                for (int u = 0; u < unroll; ++u) {
                    if (i + 32 * u < to / 8)
                        held[u] = reinterpret_cast<const uint4*>(computed)[i + 32 * u];
                }
#pragma unroll
                for (int u = 0; u < unroll; ++u) {
                    if (i + 32 * u < to / 8)
                        reinterpret_cast<uint4*>(plane)[shift / 8 + i + 32 * u] = held[u];
                }
            }
        } else {
            for (int64_t i = from + lane; i < to; i += 32)
                plane[shift + i] = computed[i];
        }
    }
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
    CUCO_TRY(cudaMalloc(&s->projections, size_t(3 * s->p.layers * s->p.tokens()) * sizeof(Bf16)));
    // Above the products, so that communication does not wait for a whole product's CTAs to be placed.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->push_stream, cudaStreamNonBlocking, highest));
    for (cudaEvent_t* event : {&s->begun, &s->computed, &s->pushed})
        CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return 0;
}

// Tokens [first, last) of keys (0), values (1) or queries (2) of a layer.
int projectTokens(const State& s, const Bf16* weights, Bf16* projections, int part, int64_t first, int64_t last)
{
    const Problem& p = s.p;
    if (first == last)
        return 0;
    return s.work.product(s.work.normed + first * p.hidden, weights + part * p.hidden * p.kv_dim,
                          projections + part * p.tokens() + first * p.kv_dim, last - first, p.kv_dim, p.hidden,
                          sqrtf(3.0f / float(p.hidden)));
}

int prefillAndPush(State& s, const cuco_io& io, cudaStream_t stream)
{
    const Problem& p = s.p;
    auto* x = static_cast<float*>(io.outputs[1]);
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.push_stream, s.begun, 0));
    awaitCache<<<1, 1, 0, s.push_stream>>>(s.mail_window, p, s.iteration);
    CUCO_TRY(cudaMemcpyAsync(x, io.inputs[0], size_t(p.sequence * p.hidden) * sizeof(float), cudaMemcpyDeviceToDevice,
                             stream));
    const size_t cache_at = size_t(static_cast<char*>(io.outputs[0]) - s.symmetric_base);
    for (int64_t layer = 0; layer < p.layers; ++layer) {
        const Bf16* weights = s.work.weightsOf(io.inputs[1], layer);
        Bf16* projections = s.projections + 3 * layer * p.tokens();
        CUCO_TRY(s.work.begin(x, stream));
        for (int part = 0; part < 2; ++part) {
            for (int chunk = 0; chunk < token_chunks; ++chunk) {
                const int64_t first = s.chunkBegin(chunk), last = s.chunkBegin(chunk + 1);
                if (first == last)
                    continue;
                CUCO_TRY(projectTokens(s, weights, projections, part, first, last));
                CUCO_TRY(cudaEventRecord(s.computed, stream));
                CUCO_TRY(cudaStreamWaitEvent(s.push_stream, s.computed, 0));
                pushPiece<<<s.push_ctas, 512, 0, s.push_stream>>>(
                    s.window, cache_at + size_t((2 * layer + part) * p.plane()) * sizeof(Bf16), s.mail_window,
                    projections + part * p.tokens(), first * p.kv_dim, last * p.kv_dim, p);
                CUCO_TRY(cudaGetLastError());
            }
        }
        CUCO_TRY(projectTokens(s, weights, projections, 2, 0, p.sequence));
        CUCO_TRY(s.work.finish(weights, projections, x, stream));
    }
    tellArrived<<<1, 1, 0, s.push_stream>>>(s.mail_window, p, s.iteration * p.layers);
    CUCO_TRY(cudaGetLastError());
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
    cudaFree(s->projections);
    for (cudaEvent_t event : {s->begun, s->computed, s->pushed}) {
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
