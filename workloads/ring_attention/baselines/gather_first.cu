// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include "tiles.cuh"

#include <new>

// NCCL gathers all ranks' K and V, straight to their places; then one attention kernel goes through all of them. Ranks
// that hold different numbers of rows gather by grouped broadcasts.
namespace {

using ring::Problem;

struct State {
    Problem p;
    ncclComm_t comm = nullptr;
    ring::Gathered gathered;
};

template <class A>
__global__ void __launch_bounds__(A::threads, 2)
    attendAll(Problem p, ring::Shards shards, ring::Gathered gathered, float scale)
{
    extern __shared__ __align__(1024) char shared[];
    int head = 0;
    const auto queries = ring::Items<A>::queries(p, shards, int(blockIdx.x), false, &head);
    auto keys =
        ring::inRingOrder(p, queries, head, 0, p.ranks, ring::OwnAndGathered{p, shards, gathered}, ring::AlreadyHere());
    A::run(queries, keys, scale, shared, {});
}

int attendToAll(const State& s, const cuco_io& io, cudaStream_t stream)
{
    return ring::withAttention(s.p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        const int items = ring::Items<A>::count(s.p);
        if (items > 0)
            attendAll<A><<<items, A::threads, A::shared_bytes, stream>>>(s.p, ring::Shards(io), s.gathered,
                                                                         ring::scoreScale(s.p));
        return int(cudaGetLastError());
    });
}

int allowSharedMemory(const State& s)
{
    return ring::withAttention(s.p, [](auto choice) {
        using A = typename decltype(choice)::Attention;
        CUCO_TRY(cudaFuncSetAttribute(attendAll<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, A::shared_bytes));
        return 0;
    });
}

}  // namespace

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->p = Problem(*context);
    s->comm = context->comm;
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&s->gathered.base), ring::Gathered::bytes(s->p)));
    return allowSharedMemory(*s);
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    const Problem& p = s->p;
    const bool even = p.sequence % (p.zigzag ? 2 * p.ranks : p.ranks) == 0;
    CUCO_TRY(ncclGroupStart());
    for (int which = 0; which < 2; ++which) {
        const void* mine = io->inputs[1 + which];
        char* all = s->gathered.base + ring::Gathered::offset(p, which, 0, 0);
        if (even) {
            CUCO_TRY(ncclAllGather(mine, all, size_t(p.rows(p.rank) * p.rowOfKeys()), ncclBfloat16, s->comm, stream));
            continue;
        }
        for (int owner = 0; owner < p.ranks; ++owner) {
            if (p.rows(owner) > 0)
                CUCO_TRY(ncclBroadcast(mine, all + p.keyBytes(p.rowsBefore(owner)),
                                       size_t(p.rows(owner) * p.rowOfKeys()), ncclBfloat16, owner, s->comm, stream));
        }
    }
    CUCO_TRY(ncclGroupEnd());
    return attendToAll(*s, *io, stream);
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    if (s->gathered.base)
        cudaFree(s->gathered.base);
    delete s;
}
