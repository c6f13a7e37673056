// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "moe_layer.cuh"
#include "reference_blas.h"

#include <cublas_v2.h>

#include <vector>

// The oracle: this rank's tokens through every rank's experts, one expert after the other, on one device. Activations
// are quantised as the contract says; all else is float32, and what the second product reads is two bf16 that add up to
// 16 bits.
namespace {

constexpr int threads = 256;

struct Buffers {
    std::vector<void*> all;
    ~Buffers()
    {
        for (void* one : all)
            cudaFree(one);
    }
    template <class Element>
    int make(Element** pointer, int64_t elements)
    {
        void* memory = nullptr;
        CUCO_TRY(cudaMalloc(&memory, size_t(elements > 0 ? elements : 1) * sizeof(Element)));
        all.push_back(memory);
        *pointer = static_cast<Element*>(memory);
        return 0;
    }
};

// A warp a token: its experts and gates, and a note of it in the list of each of them.
__global__ void route(moe::Layer layer, const __nv_bfloat16* logits, int* experts, float* gates, int* counts,
                      int* lists)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = int(threadIdx.x) % 32;
    if (token >= layer.tokensOf(layer.rank))
        return;
    int* mine = experts + int64_t(token) * layer.top_k;
    moe::routeToken(layer, logits + int64_t(token) * layer.experts, mine, gates + int64_t(token) * layer.top_k);
    __syncwarp();
    if (lane < layer.top_k) {
        const int place = atomicAdd(counts + mine[lane], 1);
        lists[int64_t(mine[lane]) * layer.tokens + place] = token * layer.top_k + lane;
    }
}

// A warp a token: quantised and back.
__global__ void roundTokens(moe::Layer layer, const __nv_bfloat16* x, char* scratch, __nv_bfloat16* rounded)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = int(threadIdx.x) % 32;
    if (token >= layer.tokensOf(layer.rank))
        return;
    char* row = scratch + token * layer.rowBytes();
    moe::quantiseRow(
        layer, x + int64_t(token) * layer.hidden,
        [&](int64_t at, uint4 value) { *reinterpret_cast<uint4*>(row + at) = value; },
        [&](int64_t at, uint32_t value) { *reinterpret_cast<uint32_t*>(row + at) = value; });
    __threadfence_block();
    __syncwarp();
    for (int column = 8 * lane; column < layer.hidden; column += 256)
        *reinterpret_cast<uint4*>(rounded + token * layer.pitch() + column) = moe::dequantiseEight(layer, row, column);
}

__global__ void gather(moe::Layer layer, const int* list, const __nv_bfloat16* rounded, __nv_bfloat16* rows)
{
    const int64_t from = int64_t(list[blockIdx.x] / layer.top_k) * layer.pitch(), to = blockIdx.x * layer.pitch();
    for (int column = int(threadIdx.x); column < layer.hidden; column += threads)
        rows[to + column] = rounded[from + column];
}

__global__ void activate(moe::Layer layer, const float* gate_up, __nv_bfloat16* high, __nv_bfloat16* low)
{
    const float* from = gate_up + int64_t(blockIdx.x) * 2 * layer.intermediate;
    for (int column = int(threadIdx.x); column < layer.intermediate; column += threads) {
        const float gate = from[column], up = from[layer.intermediate + column];
        const float value = gate / (1.0f + expf(-gate)) * up;
        const __nv_bfloat16 first = __float2bfloat16(value);
        high[int64_t(blockIdx.x) * layer.intermediate + column] = first;
        low[int64_t(blockIdx.x) * layer.intermediate + column] = __float2bfloat16(value - __bfloat162float(first));
    }
}

__global__ void add(moe::Layer layer, const int* list, const float* gates, const float* rows, float* y)
{
    const int choice = list[blockIdx.x];
    for (int column = int(threadIdx.x); column < layer.hidden; column += threads)
        y[int64_t(choice / layer.top_k) * layer.hidden + column] +=
            gates[choice] * rows[int64_t(blockIdx.x) * layer.hidden + column];
}

int products(const moe::Layer& layer, const void* const* inputs, float* y, Buffers& buffers, cublasHandle_t blas,
             cudaStream_t stream)
{
    constexpr int input_count = 4;
    const int own = layer.tokensOf(layer.rank), hidden = layer.hidden, intermediate = layer.intermediate;
    const void* const* mine = inputs + layer.rank * input_count;
    int *experts = nullptr, *counts = nullptr, *lists = nullptr;
    float *gates = nullptr, *gate_up = nullptr, *out = nullptr;
    char* quantised = nullptr;
    __nv_bfloat16 *rounded = nullptr, *rows = nullptr, *high = nullptr, *low = nullptr;
    CUCO_TRY(buffers.make(&experts, int64_t(own) * layer.top_k));
    CUCO_TRY(buffers.make(&gates, int64_t(own) * layer.top_k));
    CUCO_TRY(buffers.make(&counts, layer.experts));
    CUCO_TRY(buffers.make(&lists, int64_t(layer.experts) * own));
    CUCO_TRY(buffers.make(&quantised, own * layer.rowBytes()));
    CUCO_TRY(buffers.make(&rounded, own * layer.pitch()));
    CUCO_TRY(buffers.make(&rows, own * layer.pitch()));
    CUCO_TRY(buffers.make(&gate_up, int64_t(own) * 2 * intermediate));
    CUCO_TRY(buffers.make(&high, int64_t(own) * intermediate));
    CUCO_TRY(buffers.make(&low, int64_t(own) * intermediate));
    CUCO_TRY(buffers.make(&out, int64_t(own) * hidden));

    const int blocks = (own * 32 + threads - 1) / threads;
    CUCO_TRY(cudaMemsetAsync(counts, 0, size_t(layer.experts) * sizeof(int), stream));
    CUCO_TRY(cudaMemsetAsync(y, 0, size_t(own) * hidden * sizeof(float), stream));
    route<<<blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(mine[1]), experts, gates, counts,
                                          lists);
    roundTokens<<<blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(mine[0]), quantised, rounded);
    CUCO_TRY(cudaGetLastError());
    std::vector<int> count(size_t(layer.experts));
    CUCO_TRY(cudaMemcpyAsync(count.data(), counts, count.size() * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaStreamSynchronize(stream));

    const float up_scale = layer.upScale(), down_scale = layer.downScale(), zero = 0.0f, one = 1.0f;
    for (int expert = 0; expert < layer.experts; ++expert) {
        const int n = count[size_t(expert)], owner = layer.ownerOf(expert);
        if (n == 0)
            continue;
        const int* list = lists + int64_t(expert) * layer.tokens;
        const int64_t local = expert - layer.firstExpertOf(owner);
        const auto* up =
            static_cast<const __nv_bfloat16*>(inputs[owner * input_count + 2]) + local * 2 * intermediate * hidden;
        const auto* down =
            static_cast<const __nv_bfloat16*>(inputs[owner * input_count + 3]) + local * hidden * intermediate;
        gather<<<n, threads, 0, stream>>>(layer, list, rounded, rows);
        CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, 2 * intermediate, n, hidden, &up_scale, up, CUDA_R_16BF,
                              hidden, rows, CUDA_R_16BF, int(layer.pitch()), &zero, gate_up, CUDA_R_32F,
                              2 * intermediate, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        activate<<<n, threads, 0, stream>>>(layer, gate_up, high, low);
        const __nv_bfloat16* const parts[] = {high, low};
        for (const __nv_bfloat16* part : parts) {
            CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, hidden, n, intermediate, &down_scale, down,
                                  CUDA_R_16BF, intermediate, part, CUDA_R_16BF, intermediate,
                                  part == high ? &zero : &one, out, CUDA_R_32F, hidden, CUBLAS_COMPUTE_32F,
                                  CUBLAS_GEMM_DEFAULT));
        }
        add<<<n, threads, 0, stream>>>(layer, list, gates, out, y);
        CUCO_TRY(cudaGetLastError());
    }
    CUCO_TRY(cudaStreamSynchronize(stream));
    return 0;
}

}  // namespace

extern "C" int cuco_reference(const cuco_context* context, const void* const* inputs, float* const* outputs,
                              cudaStream_t stream)
{
    const moe::Layer layer = moe::layerOf(*context);
    if (!moe::isValid(layer))
        return cudaErrorInvalidValue;
    if (layer.tokensOf(layer.rank) == 0)
        return 0;
    Buffers buffers;
    cublasHandle_t blas = nullptr;
    CUCO_TRY(cuco_harness::keptBlas(context->device, stream, &blas));
    return products(layer, inputs, outputs[0], buffers, blas, stream);
}
