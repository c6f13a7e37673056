// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// ring_attention's kernel on one GPU, for attention_speed.py: one instance of the tile's numbers a shared object.

#include "tiles.cuh"

#ifndef KEY_ROWS
#define KEY_ROWS 64
#endif
#ifndef WARPS
#define WARPS 4
#endif
#ifndef CTAS_PER_SM
#define CTAS_PER_SM 2
#endif

namespace {

template <class A>
__global__ void __launch_bounds__(A::threads, CTAS_PER_SM)
    attend(ring::Problem p, ring::Shards shards, bool by_head, float scale)
{
    extern __shared__ __align__(1024) char shared[];
    int head = 0;
    const auto queries = ring::Items<A>::queries(p, shards, int(blockIdx.x), by_head, &head);
    auto keys = ring::inRingOrder(p, queries, head, 0, 1, ring::OwnAndGathered{p, shards, {}}, ring::AlreadyHere());
    A::run(queries, keys, scale, shared, {});
}

template <int head_dim, bool causal>
cudaError_t launch(const ring::Problem& p, const ring::Shards& shards, bool by_head, cudaStream_t stream)
{
    using A = ring::Attention<head_dim, causal, KEY_ROWS, WARPS>;
    if (const cudaError_t error =
            cudaFuncSetAttribute(attend<A>, cudaFuncAttributeMaxDynamicSharedMemorySize, A::shared_bytes))
        return error;
    attend<A>
        <<<ring::Items<A>::count(p), A::threads, A::shared_bytes, stream>>>(p, shards, by_head, ring::scoreScale(p));
    return cudaGetLastError();
}

}  // namespace

/// All tensors are [sequence][heads][head_dim] in bf16. 0, or CUDA's error.
extern "C" int attention(const void* q, const void* k, const void* v, void* out, int sequence, int heads_q,
                         int heads_kv, int head_dim, int causal, int by_head, void* stream)
{
    ring::Problem p;
    p.sequence = sequence;
    p.heads_q = heads_q;
    p.heads_kv = heads_kv;
    p.head_dim = head_dim;
    p.causal = causal != 0;
    const void* inputs[] = {q, k, v};
    void* outputs[] = {out};
    const ring::Shards shards(cuco_io{inputs, outputs});
    const auto on = static_cast<cudaStream_t>(stream);
    if (head_dim == 128)
        return causal ? launch<128, true>(p, shards, by_head != 0, on)
                      : launch<128, false>(p, shards, by_head != 0, on);
    if (head_dim == 64)
        return causal ? launch<64, true>(p, shards, by_head != 0, on) : launch<64, false>(p, shards, by_head != 0, on);
    return cudaErrorInvalidValue;
}

extern "C" const char* attention_error(int code)
{
    return cudaGetErrorString(static_cast<cudaError_t>(code));
}
