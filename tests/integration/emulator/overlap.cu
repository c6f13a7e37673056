// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// C = A * B by rows of each rank, then all ranks get all of C, in the ways whose times on an H200 are known.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <nccl.h>

#include <stdlib.h>

extern "C" void driver_barrier();
extern "C" long long driver_now_ns();
extern "C" void driver_trace_begin();
extern "C" void driver_trace_end();

constexpr int size = 256, chunks = 4;

struct Rank {
    int rank, ranks, rows;
    ncclComm_t comm;
    cublasHandle_t blas;
    cudaStream_t stream, copies;
    cudaEvent_t ready[chunks], sent;
    __nv_bfloat16 *a, *b, *c;
    __nv_bfloat16* peers[16];
};

static void product(Rank& r, int first, int rows)
{
    const float one = 1, zero = 0;
    cublasGemmEx(r.blas, CUBLAS_OP_N, CUBLAS_OP_N, size, rows, size, &one, r.b, CUDA_R_16BF, size,
                 r.a + static_cast<size_t>(first) * size, CUDA_R_16BF, size, &zero,
                 r.c + (static_cast<size_t>(r.rank) * r.rows + first) * size, CUDA_R_16BF, size, CUBLAS_COMPUTE_32F,
                 CUBLAS_GEMM_DEFAULT);
}

static void gather(Rank& r)
{
    ncclAllGather(r.c + static_cast<size_t>(r.rank) * r.rows * size, r.c, static_cast<size_t>(r.rows) * size,
                  ncclBfloat16, r.comm, r.stream);
}

static void overlapped(Rank& r)
{
    const int rows = r.rows / chunks;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        product(r, chunk * rows, rows);
        cudaEventRecord(r.ready[chunk], r.stream);
        cudaStreamWaitEvent(r.copies, r.ready[chunk]);
        const size_t offset = (static_cast<size_t>(r.rank) * r.rows + chunk * rows) * size;
        for (int d = 1; d < r.ranks; ++d)
            cudaMemcpyAsync(r.peers[(r.rank + d) % r.ranks] + offset, r.c + offset,
                            static_cast<size_t>(rows) * size * 2, cudaMemcpyDeviceToDevice, r.copies);
    }
    cudaEventRecord(r.sent, r.copies);
    cudaStreamWaitEvent(r.stream, r.sent);
}

static int wrong(const Rank& r)
{
    static __nv_bfloat16 host[size * size];
    cudaMemcpy(host, r.c, sizeof host, cudaMemcpyDeviceToHost);
    int count = 0;
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j)
            count += float(host[i * size + j]) != float(i % 7 * (j % 5)) * 2;
    return count;
}

template <class Work>
static int measure(Rank& r, const char* name, bool whole, Work work)
{
    cudaMemset(r.c, 0, size * size * 2);
    cudaDeviceSynchronize();
    driver_barrier();
    const bool traced = getenv("FIXTURE_TRACE") && strcmp(getenv("FIXTURE_TRACE"), name) == 0;
    if (traced && r.rank == 0)
        driver_trace_begin();
    const long long start = driver_now_ns();
    work();
    cudaStreamSynchronize(r.stream);
    driver_barrier();
    const long long end = driver_now_ns();
    if (traced && r.rank == 0)
        driver_trace_end();
    if (r.rank == 0)
        printf("%s %.1f us\n", name, (end - start) / 1000.0);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        printf("%s: %s\n", name, cudaGetErrorName(error));
    return whole ? wrong(r) : 0;
}

extern "C" int fixture(int rank, int ranks)
{
    static __nv_bfloat16* addresses[16];
    Rank r{rank, ranks, size / ranks};
    ncclUniqueId id{};
    id.internal[0] = 5;
    ncclCommInitRank(&r.comm, ranks, id, rank);
    cublasCreate(&r.blas);
    cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&r.copies, cudaStreamNonBlocking);
    cublasSetStream(r.blas, r.stream);
    for (auto& event : r.ready)
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventCreate(&r.sent);
    cudaMalloc(&r.a, size * r.rows * 2);
    cudaMalloc(&r.b, size * size * 2);
    cudaMalloc(&r.c, size * size * 2);
    static __nv_bfloat16 a[size * size], b[size * size];
    for (int i = 0; i < r.rows; ++i)
        for (int k = 0; k < size; ++k)
            a[i * size + k] = k < 2 ? (rank * r.rows + i) % 7 : 0;
    for (int k = 0; k < size; ++k)
        for (int j = 0; j < size; ++j)
            b[k * size + j] = j % 5;
    cudaMemcpy(r.a, a, size * r.rows * 2, cudaMemcpyHostToDevice);
    cudaMemcpy(r.b, b, sizeof b, cudaMemcpyHostToDevice);

    unsigned long long mine = reinterpret_cast<unsigned long long>(r.c), *exchange;
    cudaMalloc(&exchange, 16 * sizeof mine);
    cudaMemcpy(exchange + rank, &mine, sizeof mine, cudaMemcpyHostToDevice);
    ncclAllGather(exchange + rank, exchange, 1, ncclUint64, r.comm, r.stream);
    cudaStreamSynchronize(r.stream);
    cudaMemcpy(addresses, exchange, ranks * sizeof mine, cudaMemcpyDeviceToHost);
    for (int i = 0; i < ranks; ++i)
        r.peers[i] = addresses[i];

    if (cudaGetLastError() != cudaSuccess)
        return -1;

    int bad = 0;
    bad += measure(r, "product", false, [&] { product(r, 0, r.rows); });
    bad += measure(r, "gather", false, [&] { gather(r); });
    bad += measure(r, "sequential", true, [&] {
        product(r, 0, r.rows);
        gather(r);
    });
    bad += measure(r, "overlapped", true, [&] { overlapped(r); });
    return bad;
}
