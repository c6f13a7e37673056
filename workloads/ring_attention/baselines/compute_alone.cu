// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include "tiles.cuh"

#include <new>

// The attention of gather_first.cu without the gathering: the peers' keys are numbers from the set-up, so the result is
// wrong by design. What a candidate takes longer than this is communication that it does not hide.
namespace {

using ring::Problem;

struct State {
    Problem p;
    ring::Gathered gathered;
};

// Evenly spread over [-1, 1) like the inputs: how fast a GPU runs depends on its operands.
__global__ void fill(__nv_bfloat16* to, int64_t elements)
{
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < elements;
         i += int64_t(gridDim.x) * blockDim.x) {
        uint32_t x = uint32_t(i) * 2654435761u;
        x = (x ^ x >> 15) * 2246822519u;
        x ^= x >> 13;
        to[i] = __float2bfloat16(float(x >> 8) / 8388608.0f - 1.0f);
    }
}

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
    const size_t bytes = ring::Gathered::bytes(s->p);
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&s->gathered.base), bytes));
    fill<<<32, 128>>>(reinterpret_cast<__nv_bfloat16*>(s->gathered.base), int64_t(bytes / sizeof(__nv_bfloat16)));
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaDeviceSynchronize());
    return allowSharedMemory(*s);
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    return attendToAll(*static_cast<State*>(state), *io, stream);
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
