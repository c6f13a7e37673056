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
// cuco: backend=lsa placement=stream_overlap sync=peer issuer=copy_engine chunk=0

// At the start copy engines write this rank's K and V into every peer's window, the next rank's first; meanwhile the
// attention over the own keys runs, then over each peer's as they arrive. No SM is taken from it but for flags.
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
    uint32_t* arrived = nullptr;  // by sender: iterations
    uint32_t calls = 0;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    float4* carried = nullptr;
    cudaStream_t send_stream = nullptr;
    cudaEvent_t begun = nullptr, sent = nullptr;
    char* peer_base[max_ranks] = {};  // where the peers' windows are mapped here
};

__global__ void findPeers(ncclWindow_t window, int ranks, char** peers)
{
    for (int peer = int(threadIdx.x); peer < ranks; peer += int(blockDim.x))
        peers[peer] = static_cast<char*>(ncclGetLsaPointer(window, 0, peer));
}

// Until all peers' streams have come to this iteration: their windows are free.
__global__ void waitForBeginnings(ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), 0};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    trace.end();
}

// Behind this rank's copies to the peer on the same stream.
__global__ void tellPeer(ncclWindow_t window, size_t flags_offset, int rank, int peer, uint32_t call)
{
    auto* flags = static_cast<uint32_t*>(ncclGetLsaPointer(window, flags_offset, peer));
    __threadfence_system();
    cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(flags[rank]).store(call, cuda::memory_order_release);
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

int learnPeers(State& s)
{
    char** peers = nullptr;
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&peers), sizeof s.peer_base));
    findPeers<<<1, 32>>>(s.window, s.p.ranks, peers);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaMemcpy(s.peer_base, peers, size_t(s.p.ranks) * sizeof(char*), cudaMemcpyDeviceToHost));
    CUCO_TRY(cudaFree(peers));
    return 0;
}

// What the peer looks at; both halves in one copy when it looks at both.
int copyToPeer(State& s, const cuco_io& io, int peer)
{
    const Problem& p = s.p;
    const bool low = p.concerns(p.rank, 0, peer), high = p.concerns(p.rank, 1, peer);
    if (!low && !high)
        return 0;
    const int first = low ? 0 : p.piece(p.rank, 1).local;
    const int end = high ? p.rows(p.rank) : p.piece(p.rank, 0).count;
    for (int which = 0; which < 2; ++which) {
        const char* from = static_cast<const char*>(io.inputs[1 + which]) + p.keyBytes(first);
        CUCO_TRY(cudaMemcpyAsync(s.peer_base[peer] + Gathered::offset(p, which, p.rank, first), from,
                                 p.keyBytes(end - first), cudaMemcpyDeviceToDevice, s.send_stream));
    }
    tellPeer<<<1, 1, 0, s.send_stream>>>(s.window, s.flags_offset, p.rank, peer, s.calls);
    CUCO_TRY(cudaGetLastError());
    return 0;
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
    requirements.lsaBarrierCount = 1;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->p.ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(learnPeers(*s));
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
    ++s.calls;
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.send_stream, s.begun, 0));
    waitForBeginnings<<<1, 32, 0, s.send_stream>>>(s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    for (int step = 1; step < s.p.ranks; ++step)
        CUCO_TRY(copyToPeer(s, io, (s.p.rank + step) % s.p.ranks));
    CUCO_TRY(cudaEventRecord(s.sent, s.send_stream));
    CUCO_TRY(attendInSteps(s, ring::Shards(io), s.calls, stream));
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
