// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "reference_blas.h"
#include "sharding.h"

#include <cublas_v2.h>
#include <math.h>

// The oracle, without tiles or running maxima: K and V of all ranks are laid out in the sequence's order, then for each
// head and block of query rows all scores are computed (bf16 operands, float sums), turned into weights in float, and
// multiplied by V in float.
namespace {

using ring::Piece;
using ring::Problem;

constexpr int most_block_rows = 2048, threads = 128;

// For `work` threads; those that are there may have to go round.
int blocksFor(int64_t work)
{
    const int64_t blocks = (work + threads - 1) / threads;
    return int(blocks < 4096 ? blocks : 4096);
}

// A rank's rows to where they stand in the sequence; V becomes float.
__global__ void place(const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* all_k, float* all_v,
                      int64_t elements)
{
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < elements;
         i += int64_t(gridDim.x) * blockDim.x) {
        all_k[i] = k[i];
        all_v[i] = __bfloat162float(v[i]);
    }
}

__device__ float overWarp(float value, bool sums)
{
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const float other = __shfl_xor_sync(~0u, value, lanes);
        value = sums ? value + other : fmaxf(value, other);
    }
    return value;
}

// One warp a row: exp(scale · (score - maximum)) / sum over the keys that the row may look at, 0 for the others.
__global__ void softmax(float* scores, int rows, int keys, int first_position, bool causal, float scale)
{
    const int index = int(blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    if (index >= rows)
        return;
    float* row = scores + index * int64_t(keys);
    const int position = first_position + index, end = causal && position + 1 < keys ? position + 1 : keys;
    float maximum = -INFINITY;
    for (int i = lane; i < end; i += 32)
        maximum = fmaxf(maximum, row[i]);
    maximum = overWarp(maximum, false);
    float sum = 0.0f;
    for (int i = lane; i < end; i += 32) {
        const float weight = expf((row[i] - maximum) * scale);
        row[i] = weight;
        sum += weight;
    }
    const float factor = 1.0f / overWarp(sum, true);
    for (int i = lane; i < keys; i += 32)
        row[i] = i < end ? row[i] * factor : 0.0f;
}

struct Oracle {
    Problem p;
    int device = 0;
    cudaStream_t stream = nullptr;
    cublasHandle_t blas = nullptr;
    __nv_bfloat16* k = nullptr;
    float *v = nullptr, *scores = nullptr;

    ~Oracle()
    {
        if (k)
            cudaFree(k);
        if (v)
            cudaFree(v);
        if (scores)
            cudaFree(scores);
    }

    int allocate(int block_rows)
    {
        const size_t elements = size_t(p.sequence * p.rowOfKeys());
        CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&k), elements * sizeof(__nv_bfloat16)));
        CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&v), elements * sizeof(float)));
        CUCO_TRY(
            cudaMalloc(reinterpret_cast<void**>(&scores), size_t(block_rows) * size_t(p.sequence) * sizeof(float)));
        CUCO_TRY(cuco_harness::keptBlas(device, stream, &blas));
        return 0;
    }

    int gather(const void* const* inputs)
    {
        for (int rank = 0; rank < p.ranks; ++rank) {
            for (int half = 0; half < 2; ++half) {
                const Piece piece = p.piece(rank, half);
                const int64_t elements = piece.count * p.rowOfKeys(), from = piece.local * p.rowOfKeys();
                if (elements == 0)
                    continue;
                place<<<blocksFor((elements + 7) / 8), threads, 0, stream>>>(
                    static_cast<const __nv_bfloat16*>(inputs[3 * rank + 1]) + from,
                    static_cast<const __nv_bfloat16*>(inputs[3 * rank + 2]) + from, k + piece.first * p.rowOfKeys(),
                    v + piece.first * p.rowOfKeys(), elements);
                CUCO_TRY(cudaGetLastError());
            }
        }
        return 0;
    }

    // `rows` queries of one head, the first at `position`. Row-major S = Q·Kᵀ is column-major Sᵀ = K·Qᵀ.
    int attend(const __nv_bfloat16* q, float* out, int head, int rows, int position)
    {
        const float one = 1.0f, zero = 0.0f;
        const int keys = p.causal ? position + rows : p.sequence, d = p.head_dim;
        const int64_t first = int64_t(head / (p.heads_q / p.heads_kv)) * d;
        CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, keys, rows, d, &one, k + first, CUDA_R_16BF,
                              int(p.rowOfKeys()), q, CUDA_R_16BF, int(p.rowOfQueries()), &zero, scores, CUDA_R_32F,
                              keys, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        softmax<<<blocksFor(rows * 32), threads, 0, stream>>>(scores, rows, keys, position, p.causal,
                                                              1.0f / sqrtf(float(d)));
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, d, rows, keys, &one, v + first, int(p.rowOfKeys()), scores,
                             keys, &zero, out, int(p.rowOfQueries())));
        return 0;
    }

    int run(const void* const* inputs, float* out)
    {
        const int block_rows = p.rows(p.rank) < most_block_rows ? p.rows(p.rank) : most_block_rows;
        CUCO_TRY(allocate(block_rows));
        CUCO_TRY(gather(inputs));
        const auto* q = static_cast<const __nv_bfloat16*>(inputs[3 * p.rank]);
        for (int half = 0; half < 2; ++half) {
            const Piece piece = p.piece(p.rank, half);
            for (int row = 0; row < piece.count; row += block_rows) {
                const int rows = piece.count - row < block_rows ? piece.count - row : block_rows;
                for (int head = 0; head < p.heads_q; ++head) {
                    const int64_t at = (piece.local + row) * p.rowOfQueries() + head * p.head_dim;
                    CUCO_TRY(attend(q + at, out + at, head, rows, piece.first + row));
                }
            }
        }
        CUCO_TRY(cudaStreamSynchronize(stream));
        return 0;
    }
};

}  // namespace

extern "C" int cuco_reference(const cuco_context* context, const void* const* inputs, float* const* outputs,
                              cudaStream_t stream)
{
    Oracle oracle;
    oracle.p = Problem(*context);
    oracle.device = context->device;
    oracle.stream = stream;
    if (oracle.p.rows(oracle.p.rank) == 0)
        return 0;
    return oracle.run(inputs, outputs[0]);
}
