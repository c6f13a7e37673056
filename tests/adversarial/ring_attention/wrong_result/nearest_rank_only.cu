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
// cheat: Looks at its own keys and those of the rank before it, whose weight is most of it in real texts.
// class: wrong_result
// expect: wrong_result
// node: any
// ranks: 3
// workload: ring_attention

// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0

// A kernel stores this rank's K and V into every peer's window; then one attention kernel goes through all ranks' keys.
CUCO_TUNE(push_sixteenths, 4, 2, 4, 8, 16);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 512, 256, 512);
CUCO_TUNE(key_rows, 64, 32, 64);  // of a tile of keys
CUCO_TUNE(by_head, 0, 0, 1);      // whether tiles of a head or heads of a tile follow each other

#include "device_trace.cuh"

namespace candidate {

using ring::Gathered;
using ring::Problem;

struct State {
    Problem p;
    ncclComm_t comm = nullptr;
    Gathered gathered;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
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
__global__ void pushToPeers(Problem p, ring::Shards shards, ncclWindow_t window, ncclDevComm dev_comm)
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
    }
    // Each CTA waits for its namesakes: when all have left, all peers' keys are here.
    trace.phase(cuco_trace::Phase::wait);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

template <class A>
__global__ void __launch_bounds__(A::threads, 2)
    attendAll(Problem p, ring::Shards shards, Gathered gathered, float scale)
{
    extern __shared__ __align__(1024) char shared[];
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::compute);
    int head = 0;
    const auto queries = ring::Items<A>::queries(p, shards, int(blockIdx.x), by_head == 1, &head);
    auto keys = ring::inRingOrder(p, queries, head, 0, p.ranks < 2 ? p.ranks : 2,
                                  ring::OwnAndGathered{p, shards, gathered}, ring::AlreadyHere());
    A::run(queries, keys, scale, shared, {});
    trace.end();
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->p = Problem(context);
    s->comm = context.comm;
    const int share = context.sm_count * int(push_sixteenths) / 16;
    s->push_ctas = share > 0 ? share : 1;
    const size_t bytes = Gathered::bytes(s->p);
    CUCO_TRY(ncclMemAlloc(reinterpret_cast<void**>(&s->gathered.base), bytes));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->gathered.base, bytes, &s->window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->push_ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->p.ranks)
        return cudaErrorNotSupported;
    return ring::withAttention<int(key_rows)>(s->p, [](auto choice) {
        using A = typename decltype(choice)::Attention;
        CUCO_TRY(cudaFuncSetAttribute(attendAll<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, A::shared_bytes));
        return 0;
    });
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const ring::Shards shards(io);
    pushToPeers<<<s.push_ctas, int(push_threads), 0, stream>>>(s.p, shards, s.window, s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    return ring::withAttention<int(key_rows)>(s.p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        const int items = ring::Items<A>::count(s.p);
        if (items > 0)
            attendAll<A>
                <<<items, A::threads, A::shared_bytes, stream>>>(s.p, shards, s.gathered, ring::scoreScale(s.p));
        return int(cudaGetLastError());
    });
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
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
