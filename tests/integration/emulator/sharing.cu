// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// What a product takes alone, beside blocks that hold two modelled SMs, and told to leave them free; and what copies
/// take that have 16 or 64 bytes of a thread in flight.
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <stdio.h>

extern "C" long long driver_now_ns();

// Stands for 512 × 8192 × 8192: 128 tiles for 132 SMs.
constexpr int rows = 16, columns = 256, depth = 256;
constexpr int held_sms = 2, copying_threads = 64, vectors_each = 16;

__global__ void hold(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles)
        __nanosleep(1000);
}

__global__ void copyOneByOne(const uint4* from, uint4* to)
{
    for (int i = 0; i < vectors_each; ++i)
        to[i * copying_threads + threadIdx.x] = from[i * copying_threads + threadIdx.x];
}

__global__ void copyFourAtATime(const uint4* from, uint4* to)
{
    for (int i = 0; i < vectors_each; i += 4) {
        uint4 held[4];
        for (int j = 0; j < 4; ++j)
            held[j] = from[(i + j) * copying_threads + threadIdx.x];
        for (int j = 0; j < 4; ++j)
            to[(i + j) * copying_threads + threadIdx.x] = held[j];
    }
}

template <class Work>
static void measure(const char* name, cudaStream_t stream, Work work)
{
    cudaDeviceSynchronize();
    const long long start = driver_now_ns();
    work();
    cudaStreamSynchronize(stream);
    printf("%s %.1f us\n", name, double(driver_now_ns() - start) / 1000);
}

extern "C" int fixture(int, int)
{
    cublasHandle_t blas;
    cublasCreate(&blas);
    cudaStream_t stream, other;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cublasSetStream(blas, stream);
    __nv_bfloat16 *a, *b, *c;
    cudaMalloc(&a, rows * depth * 2);
    cudaMalloc(&b, columns * depth * 2);
    cudaMalloc(&c, rows * columns * 2);
    cudaMemset(a, 0, rows * depth * 2);
    cudaMemset(b, 0, columns * depth * 2);
    const float one = 1, zero = 0;
    const auto product = [&] {
        cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, depth, &one, b, CUDA_R_16BF, columns, a,
                     CUDA_R_16BF, depth, &zero, c, CUDA_R_16BF, columns, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    };
    measure("alone", stream, product);
    measure("beside", stream, [&] {
        hold<<<held_sms, 1024, 0, other>>>(2000000);
        product();
    });
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    cublasSetSmCountTarget(blas, device.multiProcessorCount - held_sms);
    measure("told", stream, [&] {
        hold<<<held_sms, 1024, 0, other>>>(2000000);
        product();
    });

    uint4 *from, *to;
    constexpr size_t bytes = copying_threads * vectors_each * sizeof(uint4);
    cudaMalloc(&from, bytes);
    cudaMalloc(&to, bytes);
    cudaMemset(from, 0, bytes);
    measure("sixteen", stream, [&] { copyOneByOne<<<1, copying_threads, 0, stream>>>(from, to); });
    measure("sixty-four", stream, [&] { copyFourAtATime<<<1, copying_threads, 0, stream>>>(from, to); });
    return cudaGetLastError();
}
