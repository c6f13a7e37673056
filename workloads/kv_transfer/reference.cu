// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "reference_blas.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <initializer_list>

// The oracle: the layers of README.md on one device. Every product is made in float32 and rounded to bf16 by a kernel
// of its own where the contract rounds.
namespace {

using Bf16 = __nv_bfloat16;

struct Shape {
    int64_t sequence, hidden, intermediate, kv_dim, layers, page_tokens;
    __host__ __device__ int64_t pages() const { return (sequence + page_tokens - 1) / page_tokens; }
};

__device__ float rounded(float value)
{
    return __bfloat162float(__float2bfloat16(value));
}

constexpr int normalising = 64;  // threads

// A block a row: to = from / √(mean of squares + epsilon).
template <class Element>
__global__ void normalise(Bf16* to, const Element* from, int64_t width, float epsilon)
{
    __shared__ float sums[normalising];
    const int64_t row = int64_t(blockIdx.x) * width;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < width; i += blockDim.x) {
        const float value = float(from[row + i]);
        sum += value * value;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    const float norm = sqrtf(sums[0] / float(width) + epsilon);
    for (int64_t i = threadIdx.x; i < width; i += blockDim.x)
        to[row + i] = __float2bfloat16(float(from[row + i]) / norm);
}

__global__ void roundTo(Bf16* to, const float* from, int64_t elements, bool activated)
{
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
        const float value = rounded(from[i]);
        to[i] = __float2bfloat16(activated ? value / (1.0f + fabsf(value)) : value);
    }
}

__global__ void rankKeys(const int32_t* keys, int32_t* table, int pages)
{
    for (int page = int(blockIdx.x * blockDim.x + threadIdx.x); page < pages; page += int(gridDim.x * blockDim.x)) {
        int smaller = 0;
        for (int other = 0; other < pages; ++other)
            smaller += keys[other] < keys[page] || (keys[other] == keys[page] && other < page);
        table[page] = smaller;
    }
}

// One plane of the cache: keys or values of a layer, page by page, zeros behind the last token.
__global__ void place(float* plane, const Bf16* computed, const int32_t* table, Shape s)
{
    const int64_t step = int64_t(gridDim.x) * blockDim.x, elements = s.pages() * s.page_tokens * s.kv_dim;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
        const int64_t token = i / s.kv_dim;
        const int64_t target = table[token / s.page_tokens] * s.page_tokens + token % s.page_tokens;
        plane[target * s.kv_dim + i % s.kv_dim] = token < s.sequence ? __bfloat162float(computed[i]) : 0.0f;
    }
}

int blocksFor(int64_t elements)
{
    const int64_t blocks = (elements + 255) / 256;
    return int(blocks < 1024 ? blocks : 1024);
}

struct Oracle {
    Shape s;
    int device;
    cudaStream_t stream;
    cublasHandle_t blas = nullptr;
    float *x = nullptr, *product = nullptr;
    Bf16 *normed = nullptr, *keys = nullptr, *values = nullptr, *queries = nullptr, *mixing = nullptr,
         *attended = nullptr, *inner = nullptr;
    int32_t* table = nullptr;

    template <class Element>
    int take(Element** memory, int64_t elements)
    {
        CUCO_TRY(cudaMallocAsync(reinterpret_cast<void**>(memory), size_t(elements) * sizeof(Element), stream));
        return 0;
    }

    int make()
    {
        int64_t widest = s.intermediate > s.kv_dim ? s.intermediate : s.kv_dim;
        int64_t most = s.sequence * widest;
        if (most < s.kv_dim * s.kv_dim)
            most = s.kv_dim * s.kv_dim;
        CUCO_TRY(cuco_harness::keptBlas(device, stream, &blas));
        CUCO_TRY(take(&x, s.sequence * s.hidden));
        CUCO_TRY(take(&product, most));
        CUCO_TRY(take(&normed, s.sequence * s.hidden));
        for (Bf16** memory : {&keys, &values, &queries, &attended})
            CUCO_TRY(take(memory, s.sequence * s.kv_dim));
        CUCO_TRY(take(&mixing, s.kv_dim * s.kv_dim));
        CUCO_TRY(take(&inner, s.sequence * s.intermediate));
        CUCO_TRY(take(&table, s.pages()));
        return 0;
    }

    int release()
    {
        for (void* memory :
             {static_cast<void*>(x), static_cast<void*>(product), static_cast<void*>(normed), static_cast<void*>(keys),
              static_cast<void*>(values), static_cast<void*>(queries), static_cast<void*>(mixing),
              static_cast<void*>(attended), static_cast<void*>(inner), static_cast<void*>(table)}) {
            if (memory)
                CUCO_TRY(cudaFreeAsync(memory, stream));
        }
        CUCO_TRY(cudaStreamSynchronize(stream));
        return 0;
    }

    // Row-major c = alpha·a·b + beta·c (m × n, k) is column-major cᵀ = bᵀ·aᵀ; `turned`: a is given as aᵀ.
    int multiply(const Bf16* a, const Bf16* b, float* c, int64_t m, int64_t n, int64_t k, float alpha, float beta,
                 bool turned = false)
    {
        CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_N, turned ? CUBLAS_OP_T : CUBLAS_OP_N, int(n), int(m), int(k), &alpha, b,
                              CUDA_R_16BF, int(n), a, CUDA_R_16BF, int(turned ? m : k), &beta, c, CUDA_R_32F, int(n),
                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        return 0;
    }

    int roundProduct(Bf16* to, int64_t elements, bool activated = false)
    {
        roundTo<<<blocksFor(elements), 256, 0, stream>>>(to, product, elements, activated);
        CUCO_TRY(cudaGetLastError());
        return 0;
    }

    int layer(const Bf16* w)
    {
        const int64_t tokens = s.sequence * s.kv_dim, square = s.hidden * s.kv_dim;
        const float unit = sqrtf(3.0f / float(s.hidden)), share = 1.0f / sqrtf(2.0f * float(s.layers));
        normalise<<<int(s.sequence), normalising, 0, stream>>>(normed, x, s.hidden, 1e-6f);
        int part = 0;
        for (Bf16* projection : {keys, values, queries}) {
            CUCO_TRY(multiply(normed, w + part++ * square, product, s.sequence, s.kv_dim, s.hidden, unit, 0.0f));
            CUCO_TRY(roundProduct(projection, tokens));
        }
        CUCO_TRY(multiply(keys, values, product, s.kv_dim, s.kv_dim, s.sequence, 1.0f / sqrtf(float(s.sequence)), 0.0f,
                          true));
        CUCO_TRY(roundProduct(mixing, s.kv_dim * s.kv_dim));
        CUCO_TRY(
            multiply(queries, mixing, product, s.sequence, s.kv_dim, s.kv_dim, 1.0f / sqrtf(float(s.kv_dim)), 0.0f));
        CUCO_TRY(roundProduct(attended, tokens));
        normalise<<<int(s.sequence), normalising, 0, stream>>>(attended, attended, s.kv_dim, 1.0f);
        const Bf16 *out = w + 3 * square, *up = out + square, *down = up + s.hidden * s.intermediate;
        CUCO_TRY(
            multiply(attended, out, x, s.sequence, s.hidden, s.kv_dim, share * sqrtf(3.0f / float(s.kv_dim)), 1.0f));
        normalise<<<int(s.sequence), normalising, 0, stream>>>(normed, x, s.hidden, 1e-6f);
        CUCO_TRY(multiply(normed, up, product, s.sequence, s.intermediate, s.hidden, unit, 0.0f));
        CUCO_TRY(roundProduct(inner, s.sequence * s.intermediate, true));
        return multiply(inner, down, x, s.sequence, s.hidden, s.intermediate,
                        share * sqrtf(3.0f / float(s.intermediate)), 1.0f);
    }

    int run(const void* const* prefill_inputs, const void* const* decode_inputs, float* cache)
    {
        const auto* weights = static_cast<const Bf16*>(prefill_inputs[1]);
        const int64_t set = 4 * s.hidden * s.kv_dim + 2 * s.hidden * s.intermediate;
        const int64_t plane = s.pages() * s.page_tokens * s.kv_dim;
        CUCO_TRY(cudaMemcpyAsync(x, prefill_inputs[0], size_t(s.sequence * s.hidden) * sizeof(float),
                                 cudaMemcpyDeviceToDevice, stream));
        rankKeys<<<blocksFor(s.pages()), 256, 0, stream>>>(static_cast<const int32_t*>(decode_inputs[2]), table,
                                                           int(s.pages()));
        for (int64_t l = 0; l < s.layers; ++l) {
            CUCO_TRY(layer(weights + l % 2 * set));
            if (!cache)
                continue;
            place<<<blocksFor(plane), 256, 0, stream>>>(cache + 2 * l * plane, keys, table, s);
            place<<<blocksFor(plane), 256, 0, stream>>>(cache + (2 * l + 1) * plane, values, table, s);
        }
        CUCO_TRY(cudaGetLastError());
        return 0;
    }
};

}  // namespace

extern "C" int cuco_reference(const cuco_context* context, const void* const* inputs, float* const* outputs,
                              cudaStream_t stream)
{
    constexpr int input_count = 3;
    const int64_t* shape = context->shape;
    const int first = context->rank - context->rank % 2;
    if (first + 1 >= context->ranks)
        return 0;  // the last of an odd number of ranks has no outputs
    Oracle oracle{{shape[0], shape[1], shape[2], shape[3], shape[4], shape[5]}, context->device, stream};
    const bool decodes = context->rank != first;
    CUCO_TRY(oracle.make());
    CUCO_TRY(
        oracle.run(inputs + first * input_count, inputs + (first + 1) * input_count, decodes ? outputs[0] : nullptr));
    if (!decodes)
        CUCO_TRY(cudaMemcpyAsync(outputs[1], oracle.x, size_t(shape[0] * shape[1]) * sizeof(float),
                                 cudaMemcpyDeviceToDevice, stream));
    return oracle.release();
}
