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
// cuco: backend=lsa placement=fused sync=tile issuer=cta chunk=0

// One persistent kernel. Its first CTAs store this rank's K and V into the peers' windows and count themselves up in a
// flag for each half of what a rank holds; then they compute like the others. Every CTA takes tiles of queries until
// none is left and waits for a peer's half when it comes to it, so that outputs never leave the registers.
CUCO_TUNE(push_sixteenths, 4, 1, 2, 4, 8);  // of the CTAs
CUCO_TUNE(key_rows, 64, 32, 64);            // of a tile of keys
CUCO_TUNE(by_head, 0, 0, 1);                // whether tiles of a head or heads of a tile follow each other

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
    uint32_t* arrived = nullptr;  // by sender and half: CTAs that have sent all, of all iterations
    int* next_item = nullptr;
    uint32_t calls = 0;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    int push_ctas = 1, ctas = 1;
};

// Flags count modulo 2³².
struct Arrival {
    const Problem& p;
    const uint32_t* arrived;
    uint32_t wanted;
    cuco_trace::Recorder& trace;

    __device__ void operator()(int owner, int half) const
    {
        if (owner == p.rank)
            return;
        trace.phase(cuco_trace::Phase::wait);
        if (threadIdx.x == 0) {
            cuda::atomic_ref<const uint32_t, cuda::thread_scope_system> flag(arrived[2 * owner + half]);
            while (int32_t(flag.load(cuda::memory_order_acquire) - wanted) < 0) {
            }
        }
        __syncthreads();
        trace.phase(cuco_trace::Phase::compute);
    }
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

// By the first `ctas` CTAs: what a peer looks at of this rank's K and V, to its place in the peer's window.
__device__ void pushToPeers(const Problem& p, const ring::Shards& shards, ncclWindow_t window, size_t flags_offset,
                            int ctas)
{
    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x, threads = size_t(ctas) * blockDim.x;
    for (int step = 1; step < p.ranks; ++step) {
        const int peer = (p.rank + step) % p.ranks;
        auto* flags = static_cast<uint32_t*>(ncclGetLsaPointer(window, flags_offset, peer));
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
            __syncthreads();
            if (threadIdx.x == 0) {
                __threadfence_system();
                cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(flags[2 * p.rank + half])
                    .fetch_add(1, cuda::memory_order_release);
            }
        }
    }
}

template <class A>
__global__ void __launch_bounds__(A::threads, 2)
    attendAndPush(Problem p, ring::Shards shards, Gathered gathered, ncclWindow_t window, size_t flags_offset,
                  const uint32_t* arrived, uint32_t wanted, int* next_item, int push_ctas, float scale,
                  ncclDevComm dev_comm)
{
    extern __shared__ __align__(1024) char shared[];
    __shared__ int taken;
    cuco_trace::Recorder trace(threadIdx.x == 0);
    if (int(blockIdx.x) < push_ctas) {
        // A peer's window may be in use until its stream has come to this iteration.
        trace.phase(cuco_trace::Phase::wait);
        ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
        barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
        trace.phase(cuco_trace::Phase::put);
        pushToPeers(p, shards, window, flags_offset, push_ctas);
    }
    trace.phase(cuco_trace::Phase::compute);
    const int items = ring::Items<A>::count(p);
    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(next_item, 1);
        __syncthreads();
        const int item = taken;
        __syncthreads();
        if (item >= items)
            break;
        int head = 0;
        const auto queries = ring::Items<A>::queries(p, shards, item, by_head == 1, &head);
        auto keys = ring::inRingOrder(p, queries, head, 0, p.ranks, ring::OwnAndGathered{p, shards, gathered},
                                      Arrival{p, arrived, wanted, trace});
        A::run(queries, keys, scale, shared, {});
    }
    trace.end();
}

// All CTAs must be resident, because they wait for each other; as many on every rank, whatever it holds.
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
    CUCO_TRY(ring::withAttention<int(key_rows)>(s->p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        int on_each = 0;
        CUCO_TRY(cudaFuncSetAttribute(attendAndPush<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, A::shared_bytes));
        CUCO_TRY(
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, attendAndPush<A>, A::threads, A::shared_bytes));
        s->ctas = on_each * context.sm_count;
        return s->ctas > 0 ? 0 : int(cudaErrorLaunchOutOfResources);
    }));
    const int share = s->ctas * int(push_sixteenths) / 16;
    s->push_ctas = share > 0 ? share : 1;
    // Keys of all ranks, behind them two flags for each rank that sends.
    const size_t keys = Gathered::bytes(s->p), bytes = keys + 2 * max_ranks * sizeof(uint32_t);
    s->flags_offset = keys;
    CUCO_TRY(ncclMemAlloc(reinterpret_cast<void**>(&s->gathered.base), bytes));
    s->arrived = reinterpret_cast<uint32_t*>(s->gathered.base + keys);
    CUCO_TRY(cudaMemset(s->arrived, 0, 2 * max_ranks * sizeof(uint32_t)));
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&s->next_item), sizeof(int)));
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
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const uint32_t wanted = ++s.calls * uint32_t(s.push_ctas);
    CUCO_TRY(cudaMemsetAsync(s.next_item, 0, sizeof(int), stream));
    return ring::withAttention<int(key_rows)>(s.p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        const int items = ring::Items<A>::count(s.p), needed = items > s.push_ctas ? items : s.push_ctas;
        const int ctas = needed > s.ctas ? s.ctas : needed;
        attendAndPush<A><<<ctas, A::threads, A::shared_bytes, stream>>>(s.p, ring::Shards(io), s.gathered, s.window,
                                                                        s.flags_offset, s.arrived, wanted, s.next_item,
                                                                        s.push_ctas, ring::scoreScale(s.p), s.dev_comm);
        return int(cudaGetLastError());
    });
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    if (s->next_item)
        cudaFree(s->next_item);
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
