// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "reference_blas.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>

// The oracle: the rows of rank r are its A times the B that it holds, in float32, on one device.
extern "C" int cuco_reference(const cuco_context* context, const void* const* inputs, float* const* outputs,
                              cudaStream_t stream)
{
    constexpr int input_count = 2;
    const int64_t m = context->shape[0], n = context->shape[1], k = context->shape[2];
    cublasHandle_t blas = nullptr;
    CUCO_TRY(cuco_harness::keptBlas(context->device, stream, &blas));
    const float one = 1.0f, zero = 0.0f;
    int64_t first_row = 0;
    for (int rank = 0; rank < context->ranks; ++rank) {
        const int64_t rows = m / context->ranks + (rank < m % context->ranks ? 1 : 0);
        if (rows > 0) {
            // Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ.
            CUCO_TRY(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, int(n), int(rows), int(k), &one,
                                  inputs[rank * input_count + 1], CUDA_R_16BF, int(n), inputs[rank * input_count],
                                  CUDA_R_16BF, int(k), &zero, outputs[0] + first_row * n, CUDA_R_32F, int(n),
                                  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        }
        first_row += rows;
    }
    CUCO_TRY(cudaStreamSynchronize(stream));
    return 0;
}
