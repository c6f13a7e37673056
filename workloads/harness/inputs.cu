// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cuco_harness {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that scatters a counter.
__host__ __device__ inline uint64_t scatter(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

__device__ inline void store(float* to, uint64_t random)
{
    *to = float(random >> 40) * (1.0f / 8388608.0f) - 1.0f;
}

__device__ inline void store(__nv_bfloat16* to, uint64_t random)
{
    float value;
    store(&value, random);
    *to = __float2bfloat16(value);
}

__device__ inline void store(__half* to, uint64_t random)
{
    float value;
    store(&value, random);
    *to = __float2half(value);
}

__device__ inline void store(int32_t* to, uint64_t random)
{
    *to = int32_t(random >> 33);
}

template <class Element>
__global__ void fill(Element* data, int64_t elements, uint64_t key)
{
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step)
        store(data + i, scatter(key ^ scatter(uint64_t(i))));
}

template <class Element>
cudaError_t launchFill(void* data, int64_t elements, uint64_t key, cudaStream_t stream)
{
    constexpr int threads = 128;
    constexpr int64_t elements_a_thread = 16, most_blocks = 2048;
    const int64_t wanted = (elements + threads * elements_a_thread - 1) / (threads * elements_a_thread);
    const int blocks = int(wanted < most_blocks ? wanted : most_blocks);
    fill<Element><<<blocks, threads, 0, stream>>>(static_cast<Element*>(data), elements, key);
    return cudaGetLastError();
}

}  // namespace

cudaError_t fillInput(void* data, ElementType type, int64_t elements, uint64_t seed, int rank, int buffer,
                      cudaStream_t stream)
{
    if (elements == 0)
        return cudaSuccess;
    const uint64_t key = scatter(scatter(seed) ^ (uint64_t(rank) << 32 | uint64_t(buffer)));
    switch (type) {
        case ElementType::bf16:
            return launchFill<__nv_bfloat16>(data, elements, key, stream);
        case ElementType::f16:
            return launchFill<__half>(data, elements, key, stream);
        case ElementType::f32:
            return launchFill<float>(data, elements, key, stream);
        case ElementType::i32:
            return launchFill<int32_t>(data, elements, key, stream);
    }
    return cudaErrorInvalidValue;
}

}  // namespace cuco_harness
