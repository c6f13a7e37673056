// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// C = A·B in bf16. Each rank has rows of A and a block of B's rows; blocks go round a ring of NCCL's sends and
// receives, and each is multiplied where it is. Prints what the rank took and whether its rows of C are right.
#define CUCO_TUNE(name, value, ...) constexpr long long name = value

#define RING_TRY(call)                                                             \
    do {                                                                           \
        if (const int code = int(call)) {                                          \
            std::fprintf(stderr, "line %d: %s gives %d\n", __LINE__, #call, code); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                          \
        }                                                                          \
    } while (0)

struct Ring {
    int rank = 0, ranks = 1;
    int64_t rows = 4096, depth = 4096, columns = 4096;  // of a rank's A and of each block of B, and of B and C
    ncclComm_t comm = nullptr;
    cublasHandle_t blas = nullptr;
    cudaStream_t stream = nullptr;

    int next() const { return (rank + 1) % ranks; }
    int previous() const { return (rank + ranks - 1) % ranks; }
    // Whose block is here after so many steps.
    int owner(int step) const { return (rank + ranks - step % ranks) % ranks; }
    int64_t blockElements() const { return depth * columns; }
};

// C += A[:, owner's]·block, columns [begin, end) of B and C, all row-major.
inline void multiplyBlock(const Ring& ring, const __nv_bfloat16* a, int owner, const __nv_bfloat16* block, float* c,
                          int64_t begin, int64_t end)
{
    const float one = 1.0f;
    RING_TRY(cublasGemmEx(ring.blas, CUBLAS_OP_N, CUBLAS_OP_N, int(end - begin), int(ring.rows), int(ring.depth), &one,
                          block + begin, CUDA_R_16BF, int(ring.columns), a + owner * ring.depth, CUDA_R_16BF,
                          int(ring.depth * ring.ranks), &one, c + begin, CUDA_R_32F, int(ring.columns),
                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

// Adds A·B to C. `b` is this rank's block and is left as it is; `spare` has room for two more. Ordered on the stream.
void multiply(const Ring& ring, const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* spare, float* c);

// EVOLVE-BLOCK-START
// cuco: backend=host placement=stream_overlap sync=world issuer=host chunk=0

// A block is passed on by a second stream while it is multiplied.
CUCO_TUNE(messages, 1, 1, 2, 4);  // a block's
CUCO_TUNE(products, 1, 1, 2, 4);  // a block's, by columns

// To the next rank, and from the previous one: rows [first, last) of a block.
void pass(const Ring& ring, const __nv_bfloat16* from, __nv_bfloat16* to, int64_t first, int64_t last,
          cudaStream_t stream)
{
    const size_t elements = size_t((last - first) * ring.columns);
    RING_TRY(ncclGroupStart());
    RING_TRY(ncclSend(from + first * ring.columns, elements, ncclBfloat16, ring.next(), ring.comm, stream));
    RING_TRY(ncclRecv(to + first * ring.columns, elements, ncclBfloat16, ring.previous(), ring.comm, stream));
    RING_TRY(ncclGroupEnd());
}

struct Exchange {
    cudaStream_t stream = nullptr;
    cudaEvent_t multiplied = nullptr, passed = nullptr;

    Exchange()
    {
        int lowest = 0, highest = 0;
        RING_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
        RING_TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
        RING_TRY(cudaEventCreateWithFlags(&multiplied, cudaEventDisableTiming));
        RING_TRY(cudaEventCreateWithFlags(&passed, cudaEventDisableTiming));
    }
};

void multiply(const Ring& ring, const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* spare, float* c)
{
    static const Exchange exchange;
    const __nv_bfloat16* here = b;
    for (int step = 0; step < ring.ranks; ++step) {
        __nv_bfloat16* there = spare + step % 2 * ring.blockElements();
        const bool goes_on = step + 1 < ring.ranks;
        if (goes_on) {
            // What lies there was multiplied in the step before the last.
            RING_TRY(cudaEventRecord(exchange.multiplied, ring.stream));
            RING_TRY(cudaStreamWaitEvent(exchange.stream, exchange.multiplied, 0));
            for (int64_t message = 0; message < messages; ++message)
                pass(ring, here, there, ring.depth * message / messages, ring.depth * (message + 1) / messages,
                     exchange.stream);
            RING_TRY(cudaEventRecord(exchange.passed, exchange.stream));
        }
        for (int64_t product = 0; product < products; ++product)
            multiplyBlock(ring, a, ring.owner(step), here, c, ring.columns * product / products,
                          ring.columns * (product + 1) / products);
        if (goes_on)
            RING_TRY(cudaStreamWaitEvent(ring.stream, exchange.passed, 0));
        here = there;
    }
}
// EVOLVE-BLOCK-END

namespace {

constexpr int iterations = 10, warm_up = 2, checked = 256;

// The same on host and device: any element of A and of all ranks' B can be made again.
__host__ __device__ inline float entry(uint64_t seed, uint64_t i, uint64_t j)
{
    uint64_t bits = seed * 0x9e3779b97f4a7c15ull + i * 0xc2b2ae3d27d4eb4full + j;
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9ull;
    bits ^= bits >> 32;
    return float(int(bits >> 56) - 128) / 128.0f;
}

__global__ void fill(__nv_bfloat16* matrix, int64_t rows, int64_t columns, uint64_t seed, int64_t first_row)
{
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t at = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; at < rows * columns; at += step)
        matrix[at] = __float2bfloat16(entry(seed, uint64_t(first_row + at / columns), uint64_t(at % columns)));
}

bool isRight(const Ring& ring, const float* c, uint64_t seed)
{
    const int64_t depth = ring.depth * ring.ranks;
    for (int sample = 0; sample < checked; ++sample) {
        const int64_t i = (sample * 997 + int64_t(seed)) % ring.rows, j = (sample * 1009 + 5) % ring.columns;
        float got = 0;
        RING_TRY(cudaMemcpy(&got, c + i * ring.columns + j, sizeof got, cudaMemcpyDeviceToHost));
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
            sum += double(entry(2 * seed, uint64_t(ring.rank * ring.rows + i), uint64_t(k))) *
                   double(entry(2 * seed + 1, uint64_t(k), uint64_t(j)));
        if (!(std::fabs(sum - got) <= 1e-3 * std::sqrt(double(depth))))
            return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    Ring ring;
    MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
    RING_TRY(cudaSetDevice(ring.rank));
    ncclUniqueId id{};
    if (ring.rank == 0)
        RING_TRY(ncclGetUniqueId(&id));
    MPI_Bcast(&id, int(sizeof id), MPI_BYTE, 0, MPI_COMM_WORLD);
    RING_TRY(ncclCommInitRank(&ring.comm, ring.ranks, id, ring.rank));
    RING_TRY(cudaStreamCreateWithFlags(&ring.stream, cudaStreamNonBlocking));
    RING_TRY(cublasCreate(&ring.blas));
    RING_TRY(cublasSetStream(ring.blas, ring.stream));

    const int64_t depth = ring.depth * ring.ranks;
    __nv_bfloat16 *a = nullptr, *b = nullptr, *spare = nullptr;
    float* c = nullptr;
    RING_TRY(cudaMalloc(&a, size_t(ring.rows * depth) * sizeof *a));
    RING_TRY(cudaMalloc(&b, size_t(ring.blockElements()) * sizeof *b));
    RING_TRY(cudaMalloc(&spare, size_t(2 * ring.blockElements()) * sizeof *spare));
    RING_TRY(cudaMalloc(&c, size_t(ring.rows * ring.columns) * sizeof *c));
    bool right = true;
    double took = 0;
    for (int iteration = 0; iteration < warm_up + iterations; ++iteration) {
        const auto seed = uint64_t(iteration + 1);
        fill<<<1024, 256, 0, ring.stream>>>(a, ring.rows, depth, 2 * seed, ring.rank * ring.rows);
        fill<<<1024, 256, 0, ring.stream>>>(b, ring.depth, ring.columns, 2 * seed + 1, ring.rank * ring.depth);
        RING_TRY(cudaMemsetAsync(c, 0, size_t(ring.rows * ring.columns) * sizeof *c, ring.stream));
        RING_TRY(cudaStreamSynchronize(ring.stream));
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        multiply(ring, a, b, spare, c);
        RING_TRY(cudaStreamSynchronize(ring.stream));
        if (iteration >= warm_up)
            took += MPI_Wtime() - begin;
        right = isRight(ring, c, seed) && right;
    }
    std::printf("rank %d: %s\nrank %d: %.6f ms\n", ring.rank, right ? "PASS" : "FAIL", ring.rank,
                took / iterations * 1e3);
    std::fflush(stdout);
    for (void* memory :
         {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(spare), static_cast<void*>(c)})
        RING_TRY(cudaFree(memory));
    RING_TRY(cublasDestroy(ring.blas));
    RING_TRY(ncclCommDestroy(ring.comm));
    RING_TRY(cudaStreamDestroy(ring.stream));
    MPI_Finalize();
    return right ? 0 : 1;
}
