// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include "tiles.cuh"

#include <new>

// Host-driven ring: while the attention over one rank's keys is computed, NCCL passes them on to the next rank and
// takes the ones before from the previous rank, on a second stream. Unfinished outputs stay in memory between the
// steps. Keys that no rank further on looks at are not passed on.
namespace {

using ring::Problem;

constexpr int max_ranks = 64;

struct State {
    Problem p;
    ncclComm_t comm = nullptr;
    ring::Gathered gathered;
    float4* carried = nullptr;
    cudaStream_t ring_stream = nullptr;
    cudaEvent_t begun = nullptr, passed[max_ranks] = {};

    int ownerAt(int step) const { return (p.rank + p.ranks - step) % p.ranks; }
    bool concernsMe(int owner) const { return p.concerns(owner, 0, p.rank) || p.concerns(owner, 1, p.rank); }

    // Whether what `owner` holds goes on from the rank `step` places behind it to the next.
    bool travels(int owner, int step) const
    {
        for (int further = step + 1; further < p.ranks; ++further) {
            const int reader = (owner + further) % p.ranks;
            if (p.concerns(owner, 0, reader) || p.concerns(owner, 1, reader))
                return true;
        }
        return false;
    }
};

template <class A>
__global__ void __launch_bounds__(A::threads, 2) attendOne(Problem p, ring::Shards shards, ring::Gathered gathered,
                                                           int step, bool last, float scale, float4* carried)
{
    extern __shared__ __align__(1024) char shared[];
    int head = 0;
    const auto queries = ring::Items<A>::queries(p, shards, int(blockIdx.x), false, &head);
    auto keys =
        ring::inRingOrder(p, queries, head, step, 1, ring::OwnAndGathered{p, shards, gathered}, ring::AlreadyHere());
    auto look = keys;
    ring::Keys first;
    if (!last && step > 0 && !look.next(first))
        return;
    float4* mine = carried + int64_t(blockIdx.x) * A::carried_vectors;
    A::run(queries, keys, scale, shared, {step > 0 ? mine : nullptr, last ? nullptr : mine});
}

int attendStep(const State& s, const cuco_io& io, int step, bool last, cudaStream_t stream)
{
    return ring::withAttention(s.p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        attendOne<A><<<ring::Items<A>::count(s.p), A::threads, A::shared_bytes, stream>>>(
            s.p, ring::Shards(io), s.gathered, step, last, ring::scoreScale(s.p), s.carried);
        return int(cudaGetLastError());
    });
}

// What this rank has at `step` to the next rank; what the next step needs from the previous one.
int pass(const State& s, const cuco_io& io, int step)
{
    const int next = (s.p.rank + 1) % s.p.ranks, previous = (s.p.rank + s.p.ranks - 1) % s.p.ranks;
    const int owner = s.ownerAt(step), coming = s.ownerAt(step + 1);
    CUCO_TRY(ncclGroupStart());
    for (int which = 0; which < 2; ++which) {
        const void* from = owner == s.p.rank ? io.inputs[1 + which] : s.gathered.rows(s.p, which, owner);
        if (s.travels(owner, step) && s.p.rows(owner) > 0)
            CUCO_TRY(
                ncclSend(from, size_t(s.p.rows(owner) * s.p.rowOfKeys()), ncclBfloat16, next, s.comm, s.ring_stream));
        if (s.travels(coming, step) && s.p.rows(coming) > 0)
            CUCO_TRY(ncclRecv(s.gathered.base + s.gathered.offset(s.p, which, coming, 0),
                              size_t(s.p.rows(coming) * s.p.rowOfKeys()), ncclBfloat16, previous, s.comm,
                              s.ring_stream));
    }
    CUCO_TRY(ncclGroupEnd());
    return 0;
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
    if (s->p.ranks > max_ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&s->gathered.base), ring::Gathered::bytes(s->p)));
    CUCO_TRY(ring::withAttention(s->p, [&](auto choice) {
        using A = typename decltype(choice)::Attention;
        CUCO_TRY(cudaFuncSetAttribute(attendOne<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, A::shared_bytes));
        const size_t vectors = size_t(ring::Items<A>::count(s->p)) * A::carried_vectors;
        CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&s->carried), (vectors + 1) * sizeof(float4)));
        return 0;
    }));
    // Above the attention, so that a send does not wait for a whole step's blocks to be placed.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->ring_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(cudaEventCreateWithFlags(&s->begun, cudaEventDisableTiming));
    for (int step = 0; step < s->p.ranks; ++step)
        CUCO_TRY(cudaEventCreateWithFlags(&s->passed[step], cudaEventDisableTiming));
    return 0;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    int last = 0;
    for (int step = 1; step < s->p.ranks; ++step)
        last = s->concernsMe(s->ownerAt(step)) ? step : last;
    CUCO_TRY(cudaEventRecord(s->begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s->ring_stream, s->begun, 0));
    for (int step = 0; step < s->p.ranks; ++step) {
        if (step + 1 < s->p.ranks) {
            CUCO_TRY(pass(*s, *io, step));
            CUCO_TRY(cudaEventRecord(s->passed[step], s->ring_stream));
        }
        if (s->p.rows(s->p.rank) > 0 && (step == 0 || s->concernsMe(s->ownerAt(step))))
            CUCO_TRY(attendStep(*s, *io, step, step == last, stream));
        if (step + 1 < s->p.ranks)
            CUCO_TRY(cudaStreamWaitEvent(stream, s->passed[step], 0));
    }
    return 0;
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    for (cudaEvent_t event : s->passed) {
        if (event)
            cudaEventDestroy(event);
    }
    if (s->begun)
        cudaEventDestroy(s->begun);
    if (s->ring_stream)
        cudaStreamDestroy(s->ring_stream);
    if (s->carried)
        cudaFree(s->carried);
    if (s->gathered.base)
        cudaFree(s->gathered.base);
    delete s;
}
