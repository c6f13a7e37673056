// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include "tiles.cuh"

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

// A kernel of few CTAs on a second stream stores this rank's K and V into the peers' windows, one peer after the other,
// and counts itself up in a flag of the peer's. Meanwhile the attention over the own keys runs, then over each peer's.
CUCO_TUNE(push_sixteenths, 2, 1, 2, 4);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 512, 256, 512);
// After the own keys, how many ranks' keys one kernel takes; 0: all. Fewer begin sooner, more keep outputs in
// registers.
CUCO_TUNE(ranks_together, 1, 0, 1, 2);
CUCO_TUNE(key_rows, 64, 32, 64);  // of a tile of keys
CUCO_TUNE(by_head, 0, 0, 1);      // whether tiles of a head or heads of a tile follow each other

#include "device_trace.cuh"

#include <cuda/atomic>

namespace candidate {

using ring::Gathered;
using ring::Problem;

constexpr int max_ranks = 64;

struct State {
    Problem p;
    ncclComm_t comm = nullptr;
    Gathered gathered;
    ncclWindow_t window = nullptr;
    size_t flags_offset = 0;      // in the window
    uint32_t* arrived = nullptr;  // by sender: CTAs that have sent all, of all iterations
    uint32_t calls = 0;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    float4* carried = nullptr;
    cudaStream_t send_stream = nullptr;
    cudaEvent_t begun = nullptr, sent = nullptr;
    int push_ctas = 1;
};

// Rows of K and V are whole multiples of 128 bytes.
__device__ void copyVectors(uint4* to, const uint4* from, size_t vectors, size_t thread, size_t threads)
{
    constexpr int unroll = 4;
    for (size_t i = thread; i < vectors; i += threads * unroll) {
        uint4 held[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            if (i + u * threads < vectors)
                held[u] = from[i + u * threads];
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            if (i + u * threads < vectors)
                to[i + u * threads] = held[u];
        }
    }
}

// What a peer looks at of this rank's K and V, to its place in the peer's window; all peers, the next one first.
__global__ void pushToPeers(Problem p, ring::Shards shards, ncclWindow_t window, size_t flags_offset,
                            ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    // A peer's window may be in use until its stream has come to this iteration.
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    trace.phase(cuco_trace::Phase::put);
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x, threads = size_t(gridDim.x) * blockDim.x;
    for (int step = 1; step < p.ranks; ++step) {
        const int peer = (p.rank + step) % p.ranks;
        for (int half = 0; half < 2; ++half) {
            if (!p.concerns(p.rank, half, peer))
                continue;
            const ring::Piece piece = p.piece(p.rank, half);
            for (int which = 0; which < 2; ++which) {
                const __nv_bfloat16* from = (which == 0 ? shards.k : shards.v) + piece.local * p.rowOfKeys();
                void* to = ncclGetLsaPointer(window, Gathered::offset(p, which, p.rank, piece.local), peer);
                copyVectors(static_cast<uint4*>(to), reinterpret_cast<const uint4*>(from),
                            p.keyBytes(piece.count) / sizeof(uint4), thread, threads);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            auto* flags = static_cast<uint32_t*>(ncclGetLsaPointer(window, flags_offset, peer));
            __threadfence_system();
            cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(flags[p.rank])
                .fetch_add(1, cuda::memory_order_release);
        }
    }
    trace.end();
}

// Waits until the peers from `step` to `step + steps` have sent what this rank looks at.
__global__ void waitForKeys(Problem p, const uint32_t* arrived, int step, int steps, uint32_t wanted)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    const int mine = step + int(threadIdx.x);
    if (mine < step + steps) {
        const int owner = (p.rank + p.ranks - mine) % p.ranks;
        if (p.concerns(owner, 0, p.rank) || p.concerns(owner, 1, p.rank)) {
            cuda::atomic_ref<const uint32_t, cuda::thread_scope_system> flag(arrived[owner]);
            while (int32_t(flag.load(cuda::memory_order_acquire) - wanted) < 0) {
            }
        }
    }
    trace.end();
}

// Keys of `steps` ranks from `step` on; what was not finished before is in `carried`, and so is what is not finished
// after it.
template <class A>
__global__ void __launch_bounds__(A::threads, 2)
    attendSteps(Problem p, ring::Shards shards, Gathered gathered, int step, int steps, bool last, float scale,
                float4* carried)
{
    extern __shared__ __align__(1024) char shared[];
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::compute);
    int head = 0;
    const auto queries = ring::Items<A>::queries(p, shards, int(blockIdx.x), by_head == 1, &head);
    auto keys = ring::inRingOrder(p, queries, head, step, steps, ring::OwnAndGathered{p, shards, gathered},
                                  ring::AlreadyHere());
    auto look = keys;
    ring::Keys first;
    if (last || step == 0 || look.next(first)) {
        float4* mine = carried + int64_t(blockIdx.x) * A::carried_vectors;
        A::run(queries, keys, scale, shared, {step > 0 ? mine : nullptr, last ? nullptr : mine});
    }
    trace.end();
}

// In groups of `ranks_together` ranks after the own keys: each group begins when its keys are here.
int attendInSteps(State& s, const ring::Shards& shards, uint32_t wanted, cudaStream_t stream)
{
    const Problem& p = s.p;
    int last = 0;
    for (int step = 1; step < p.ranks; ++step) {
        const int owner = (p.rank + p.ranks - step) % p.ranks;
        if (p.concerns(owner, 0, p.rank) || p.concerns(owner, 1, p.rank))
            last = step;
    }
    for (int step = 0, steps = 1; step <= last; step += steps) {
        if (step > 0)
            steps = ranks_together == 0 || step + ranks_together > last + 1 ? last + 1 - step : int(ranks_together);
        if (step > 0) {
            waitForKeys<<<1, 64, 0, stream>>>(p, s.arrived, step, steps, wanted);
            CUCO_TRY(cudaGetLastError());
        }
        CUCO_TRY(ring::withAttention<int(key_rows)>(p, [&](auto choice) {
            using A = typename decltype(choice)::Attention;
            const int items = ring::Items<A>::count(p);
            if (items > 0)
                attendSteps<A><<<items, A::threads, A::shared_bytes, stream>>>(
                    p, shards, s.gathered, step, steps, step + steps > last, ring::scoreScale(p), s.carried);
            return int(cudaGetLastError());
        }));
    }
    return 0;
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->p = Problem(context);
    s->comm = context.comm;
    if (s->p.ranks > max_ranks)
        return cudaErrorNotSupported;
    const int share = context.sm_count * int(push_sixteenths) / 16;
    s->push_ctas = share > 0 ? share : 1;
    // Keys of all ranks, behind them a flag for each rank that sends.
    const size_t keys = Gathered::bytes(s->p), bytes = keys + max_ranks * sizeof(uint32_t);
    s->flags_offset = keys;
    CUCO_TRY(ncclMemAlloc(reinterpret_cast<void**>(&s->gathered.base), bytes));
    s->arrived = reinterpret_cast<uint32_t*>(s->gathered.base + keys);
    CUCO_TRY(cudaMemset(s->arrived, 0, max_ranks * sizeof(uint32_t)));
    CUCO_TRY(cudaDeviceSynchronize());
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->gathered.base, bytes, &s->window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->push_ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->p.ranks)
        return cudaErrorNotSupported;
    // Above the attention: what sends must not queue behind a whole step's blocks.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->send_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(cudaEventCreateWithFlags(&s->begun, cudaEventDisableTiming));
    CUCO_TRY(cudaEventCreateWithFlags(&s->sent, cudaEventDisableTiming));
    return ring::withAttention<int(key_rows)>(s->p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        CUCO_TRY(cudaFuncSetAttribute(attendSteps<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, A::shared_bytes));
        const size_t vectors = size_t(ring::Items<A>::count(s->p)) * A::carried_vectors;
        CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&s->carried), (vectors + 1) * sizeof(float4)));
        return 0;
    });
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const ring::Shards shards(io);
    ++s.calls;
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.send_stream, s.begun, 0));
    pushToPeers<<<s.push_ctas, int(push_threads), 0, s.send_stream>>>(s.p, shards, s.window, s.flags_offset,
                                                                      s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventRecord(s.sent, s.send_stream));
    CUCO_TRY(attendInSteps(s, shards, s.calls * uint32_t(s.push_ctas), stream));
    CUCO_TRY(cudaStreamWaitEvent(stream, s.sent, 0));
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    if (s->begun)
        cudaEventDestroy(s->begun);
    if (s->sent)
        cudaEventDestroy(s->sent);
    if (s->send_stream)
        cudaStreamDestroy(s->send_stream);
    if (s->carried)
        cudaFree(s->carried);
    if (s->dev_comm_made)
        ncclDevCommDestroy(s->comm, &s->dev_comm);
    if (s->window)
        ncclCommWindowDeregister(s->comm, s->window);
    if (s->gathered.base)
        ncclMemFree(s->gathered.base);
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
