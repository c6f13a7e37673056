// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <nccl.h>
#include <cuda/atomic>

#include <math.h>

#define CHECK(condition)                                   \
    do {                                                   \
        if (!(condition)) {                                \
            printf("line %d: %s\n", __LINE__, #condition); \
            return __LINE__;                               \
        }                                                  \
    } while (0)
#define OK(call) CHECK((call) == 0)

extern "C" void driver_barrier();
extern "C" long long driver_now_ns();

namespace cg = cooperative_groups;

template <class T>
__global__ void warp_product(const T* a, const T* b, float* c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, T, row_major> left;
    fragment<matrix_b, 16, 16, 16, T, col_major> right;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 1.0f);
    for (int k = 0; k < 32; k += 16) {
        load_matrix_sync(left, a + k, 32);
        load_matrix_sync(right, b + k, 32);
        mma_sync(sum, left, right, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i)
        sum.x[i] *= 2;
    store_matrix_sync(c, sum, 16, mem_row_major);
    store_matrix_sync(c + 256, sum, 16, mem_col_major);
}

__global__ void grid_steps(int* values, int* out)
{
    cg::grid_group grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    values[i] = i;
    grid.sync();
    const int n = static_cast<int>(grid.size());
    const int neighbour = values[(i + 33) % n];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    out[i] = cg::reduce(tile, neighbour, cg::plus<int>());
}

__device__ unsigned tickets;
__global__ void take_tickets(unsigned* last)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ref(tickets);
    const unsigned mine = ref.fetch_add(1, cuda::memory_order_relaxed);
    if (mine == gridDim.x * blockDim.x - 1)
        *last = mine;
}

__global__ void spin_work(float* data, int rounds)
{
    for (int i = 0; i < rounds; ++i)
        data[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}
__global__ void add_one(int* value)
{
    value[threadIdx.x] += 1;
}

template <class T>
int check_warp_product()
{
    T a[512], b[512];
    float c[512];
    for (int i = 0; i < 512; ++i) {
        a[i] = static_cast<float>(i % 5 - 2);
        b[i] = static_cast<float>(i % 7 - 3);
    }
    T *da, *db;
    float* dc;
    OK(cudaMalloc(&da, sizeof a));
    OK(cudaMalloc(&db, sizeof b));
    OK(cudaMalloc(&dc, sizeof c));
    OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    warp_product<<<1, 32>>>(da, db, dc);
    OK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            float sum = 1;
            for (int k = 0; k < 32; ++k)
                sum += float(a[i * 32 + k]) * float(b[j * 32 + k]);
            CHECK(c[i * 16 + j] == 2 * sum && c[256 + j * 16 + i] == 2 * sum);
        }
    return 0;
}

static int check_rounding()
{
    CHECK(__bfloat16_as_ushort(__float2bfloat16(1.0f)) == 0x3f80);
    CHECK(__bfloat16_as_ushort(__float2bfloat16(1.00390625f)) == 0x3f80);  // tie to even
    CHECK(__bfloat16_as_ushort(__float2bfloat16(1.01171875f)) == 0x3f82);  // tie to even, up
    CHECK(__bfloat16_as_ushort(__float2bfloat16(3.4e38f)) == 0x7f80);      // overflow
    CHECK(isnan(float(__float2bfloat16(NAN))));
    CHECK(__half_as_ushort(__float2half(65504.0f)) == 0x7bff && __half_as_ushort(__float2half(65520.0f)) == 0x7c00);
    CHECK(__half_as_ushort(__float2half(65519.0f)) == 0x7bff);
    CHECK(__half_as_ushort(__float2half(5.9604645e-8f)) == 1 && __half_as_ushort(__float2half(2.9e-8f)) == 0);
    CHECK(__half_as_ushort(__float2half(-6.1035156e-5f)) == 0x8400);
    CHECK(__half_as_ushort(__float2half(2049.0f)) == 0x6800 && __half_as_ushort(__float2half(2051.0f)) == 0x6802);
    for (unsigned bits = 0; bits < 0x7c00; ++bits)
        CHECK(__half_as_ushort(__float2half(__half2float(__ushort_as_half(bits)))) == bits);
    const __nv_bfloat16 sum = __float2bfloat16(256.0f) + __float2bfloat16(1.0f);
    CHECK(float(sum) == 256.0f);
    const __half2 pair = __hfma2(__floats2half2_rn(2, 3), __floats2half2_rn(4, 5), __floats2half2_rn(1, 1));
    CHECK(__low2float(pair) == 9 && __high2float(pair) == 16);
    return 0;
}

static int check_cublas()
{
    // Transposed, with leading dimensions and beta, against plain loops.
    const int m = 5, n = 7, k = 6, lda = 8, ldb = 9, ldc = 10;
    float a[lda * m], b[ldb * k], c[ldc * n], expected[ldc * n];
    for (int i = 0; i < lda * m; ++i)
        a[i] = i % 11 - 5;
    for (int i = 0; i < ldb * k; ++i)
        b[i] = i % 6 - 2;
    for (int i = 0; i < ldc * n; ++i)
        expected[i] = c[i] = i % 3;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
            float sum = 0;
            for (int p = 0; p < k; ++p)
                sum += a[i * lda + p] * b[p * ldb + j];
            expected[j * ldc + i] = 2 * sum + 3 * c[j * ldc + i];
        }
    float *da, *db, *dc;
    OK(cudaMalloc(&da, sizeof a));
    OK(cudaMalloc(&db, sizeof b));
    OK(cudaMalloc(&dc, sizeof c));
    OK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice));
    cublasHandle_t handle;
    OK(cublasCreate(&handle));
    const float alpha = 2, beta = 3;
    OK(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_T, m, n, k, &alpha, da, lda, db, ldb, &beta, dc, ldc));
    OK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ldc * n; ++i)
        CHECK(c[i] == expected[i]);
    CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, da, 2, db, ldb, &beta, dc, ldc) ==
          CUBLAS_STATUS_INVALID_VALUE);
    OK(cublasDestroy(handle));
    return 0;
}

static int check_overlap(int rank)
{
    const size_t bytes = 8 << 20;
    char *from, *to;
    float* data;
    OK(cudaMalloc(&from, bytes));
    OK(cudaMallocHost(&to, bytes));
    OK(cudaMalloc(&data, 64 * 1024 * sizeof(float)));
    cudaStream_t work, copies;
    OK(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    const auto time = [&](bool compute, bool copy) {
        const long long start = driver_now_ns();
        if (compute)
            spin_work<<<64, 256, 0, work>>>(data, 40);
        if (copy)
            cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, copies);
        cudaDeviceSynchronize();
        return driver_now_ns() - start;
    };
    const long long one = time(true, false), other = time(false, true), both = time(true, true);
    CHECK(both < one + other - (one < other ? one : other) / 2);
    CHECK(both >= one && both >= other);
    const long long difference = time(true, true) - both;
    CHECK(difference >= -1 && difference <= 1);  // both readings of the clock are cut to nanoseconds
    return rank < 0;
}

static int check_graph()
{
    int* value;
    OK(cudaMalloc(&value, 32 * sizeof(int)));
    OK(cudaMemset(value, 0, 32 * sizeof(int)));
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&side));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add_one<<<1, 32, 0, stream>>>(value);
    OK(cudaEventRecord(fork, stream));
    OK(cudaStreamWaitEvent(side, fork));
    add_one<<<1, 32, 0, side>>>(value);
    OK(cudaEventRecord(join, side));
    OK(cudaStreamWaitEvent(stream, join));
    add_one<<<1, 32, 0, stream>>>(value);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i)
        OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    int host[32];
    OK(cudaMemcpy(host, value, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 9 && host[31] == 9);
    return 0;
}

static int check_collectives(int rank, int ranks)
{
    ncclUniqueId id{};
    id.internal[0] = 3;
    ncclComm_t comm;
    OK(ncclCommInitRank(&comm, ranks, id, rank));
    float host[8], *send, *receive;
    OK(cudaMalloc(&send, sizeof host));
    OK(cudaMalloc(&receive, sizeof host));
    for (int i = 0; i < 8; ++i)
        host[i] = rank * 10 + i;
    OK(cudaMemcpy(send, host, sizeof host, cudaMemcpyHostToDevice));
    OK(ncclAllReduce(send, receive, 8, ncclFloat, ncclSum, comm, 0));
    OK(cudaMemcpy(host, receive, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; ++i)
        CHECK(host[i] == 10 * ranks * (ranks - 1) / 2 + ranks * i);
    OK(ncclReduceScatter(send, receive, 8 / ranks, ncclFloat, ncclMax, comm, 0));
    OK(cudaMemcpy(host, receive, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == (ranks - 1) * 10 + rank * (8 / ranks));
    OK(ncclBroadcast(send, receive, 8, ncclFloat, ranks - 1, comm, 0));
    OK(cudaMemcpy(host, receive, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[3] == (ranks - 1) * 10 + 3);
    OK(ncclGroupStart());
    OK(ncclSend(send, 8, ncclFloat, (rank + 1) % ranks, comm, 0));
    OK(ncclRecv(receive, 8, ncclFloat, (rank + ranks - 1) % ranks, comm, 0));
    OK(ncclGroupEnd());
    OK(cudaMemcpy(host, receive, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == (rank + ranks - 1) % ranks * 10 + 2);
    OK(ncclAlltoAll(send, receive, 8 / ranks, ncclFloat, comm, 0));
    OK(cudaMemcpy(host, receive, sizeof host, cudaMemcpyDeviceToHost));
    for (int r = 0; r < ranks; ++r)
        CHECK(host[r * (8 / ranks)] == r * 10 + rank * (8 / ranks));
    OK(ncclCommDestroy(comm));
    return 0;
}

extern "C" int fixture(int rank, int ranks)
{
    static int loaded = 0;
    CHECK(++loaded == 1);  // host statics are the rank's own
    if (const int line = check_rounding())
        return line;
    if (const int line = check_warp_product<__nv_bfloat16>())
        return line;
    if (const int line = check_warp_product<__half>())
        return line;
    if (const int line = check_cublas())
        return line;
    if (const int line = check_overlap(rank))
        return line;
    if (const int line = check_graph())
        return line;
    if (const int line = check_collectives(rank, ranks))
        return line;

    int *values, *out, host[256];
    OK(cudaMalloc(&values, sizeof host));
    OK(cudaMalloc(&out, sizeof host));
    void* arguments[] = {&values, &out};
    OK(cudaLaunchCooperativeKernel(grid_steps, 4, 64, arguments, 0, 0));
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; ++i) {
        int expected = 0;
        for (int t = 0; t < 8; ++t)
            expected += (i / 8 * 8 + t + 33) % 256;
        CHECK(host[i] == expected);
    }
    unsigned* last;
    unsigned mine = 0;
    OK(cudaMalloc(&last, sizeof mine));
    take_tickets<<<3, 40>>>(last);
    OK(cudaMemcpy(&mine, last, sizeof mine, cudaMemcpyDeviceToHost));
    CHECK(mine == 119);  // __device__ variables are the rank's own, or other ranks would have taken tickets
    return 0;
}
