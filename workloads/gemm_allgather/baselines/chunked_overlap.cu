// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <new>

// The rows go in chunks: while cuBLAS computes one, NCCL exchanges the chunk before on a second stream. What the ranks
// have of a chunk does not lie in a row in C, so every chunk is a group of sends and receives straight to its place; a
// window over all outputs saves NCCL the copies on the way. A whole product is gathered as in host.cu.
namespace {

constexpr int most_chunks = 4;

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    cublasHandle_t blas = nullptr;
    cudaStream_t exchange_stream = nullptr;
    cudaEvent_t computed[most_chunks] = {}, exchanged = nullptr;
    int rank = 0, ranks = 1, chunks = 1;
    int64_t m = 0, n = 0, k = 0;

    int64_t rowsOf(int r) const { return m / ranks + (r < m % ranks ? 1 : 0); }
    int64_t firstRowOf(int r) const { return r * (m / ranks) + (r < m % ranks ? r : m % ranks); }

    // Where chunk `index` of rank r's rows begins, in C. Large chunks are whole tiles of cuBLAS.
    int64_t chunkBegin(int r, int index) const
    {
        if (index >= chunks)
            return firstRowOf(r) + rowsOf(r);
        const int64_t begin = rowsOf(r) * index / chunks;
        return firstRowOf(r) + (rowsOf(r) >= 128 * chunks ? begin / 128 * 128 : begin);
    }
};

// The same on every rank. Under 0.2 ms or so a product is over before an exchange has begun to pay. Shapes of less than
// a microsecond stand for large ones on the emulated node and are divided as those are.
int chunksFor(const State& s)
{
    const double flops = 2.0 * double(s.rowsOf(0)) * double(s.n) * double(s.k);
    return flops > 1e9 && flops < 1.5e11 ? 1 : most_chunks;
}

// Rows [first, last) of C. Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ.
int product(const State& s, const cuco_io* io, __nv_bfloat16* c, int64_t first, int64_t last)
{
    if (last == first)
        return 0;
    const float one = 1.0f, zero = 0.0f;
    const auto* a = static_cast<const __nv_bfloat16*>(io->inputs[0]) + (first - s.firstRowOf(s.rank)) * s.k;
    CUCO_TRY(cublasGemmEx(s.blas, CUBLAS_OP_N, CUBLAS_OP_N, int(s.n), int(last - first), int(s.k), &one, io->inputs[1],
                          CUDA_R_16BF, int(s.n), a, CUDA_R_16BF, int(s.k), &zero, c + first * s.n, CUDA_R_16BF,
                          int(s.n), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    return 0;
}

int gather(const State& s, __nv_bfloat16* c, cudaStream_t stream)
{
    if (s.m % s.ranks == 0) {
        const int64_t rows = s.rowsOf(s.rank);
        CUCO_TRY(ncclAllGather(c + s.firstRowOf(s.rank) * s.n, c, size_t(rows * s.n), ncclBfloat16, s.comm, stream));
        return 0;
    }
    CUCO_TRY(ncclGroupStart());
    for (int r = 0; r < s.ranks; ++r) {
        __nv_bfloat16* part = c + s.firstRowOf(r) * s.n;
        CUCO_TRY(ncclBroadcast(part, part, size_t(s.rowsOf(r) * s.n), ncclBfloat16, r, s.comm, stream));
    }
    CUCO_TRY(ncclGroupEnd());
    return 0;
}

int exchange(const State& s, __nv_bfloat16* c, int chunk, cudaStream_t stream)
{
    const int64_t mine = s.chunkBegin(s.rank, chunk), my_rows = s.chunkBegin(s.rank, chunk + 1) - mine;
    CUCO_TRY(ncclGroupStart());
    for (int step = 1; step < s.ranks; ++step) {
        const int to = (s.rank + step) % s.ranks, from = (s.rank + s.ranks - step) % s.ranks;
        const int64_t theirs = s.chunkBegin(from, chunk), their_rows = s.chunkBegin(from, chunk + 1) - theirs;
        if (my_rows > 0)
            CUCO_TRY(ncclSend(c + mine * s.n, size_t(my_rows * s.n), ncclBfloat16, to, s.comm, stream));
        if (their_rows > 0)
            CUCO_TRY(ncclRecv(c + theirs * s.n, size_t(their_rows * s.n), ncclBfloat16, from, s.comm, stream));
    }
    CUCO_TRY(ncclGroupEnd());
    return 0;
}

}  // namespace

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->comm = context->comm;
    s->rank = context->rank;
    s->ranks = context->ranks;
    s->m = context->shape[0];
    s->n = context->shape[1];
    s->k = context->shape[2];
    s->chunks = chunksFor(*s);
    CUCO_TRY(ncclCommWindowRegister(s->comm, context->symmetric_base, context->symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    // Above the products, so that an exchange does not wait for a whole product's CTAs to be placed.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->exchange_stream, cudaStreamNonBlocking, highest));
    for (cudaEvent_t& event : s->computed)
        CUCO_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CUCO_TRY(cudaEventCreateWithFlags(&s->exchanged, cudaEventDisableTiming));
    CUCO_TRY(cublasCreate(&s->blas));
    return 0;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    auto* c = static_cast<__nv_bfloat16*>(io->outputs[0]);
    CUCO_TRY(cublasSetStream(s->blas, stream));
    for (int chunk = 0; chunk < s->chunks; ++chunk) {
        CUCO_TRY(product(*s, io, c, s->chunkBegin(s->rank, chunk), s->chunkBegin(s->rank, chunk + 1)));
        if (s->chunks == 1)
            return gather(*s, c, stream);
        CUCO_TRY(cudaEventRecord(s->computed[chunk], stream));
        CUCO_TRY(cudaStreamWaitEvent(s->exchange_stream, s->computed[chunk], 0));
        CUCO_TRY(exchange(*s, c, chunk, s->exchange_stream));
    }
    CUCO_TRY(cudaEventRecord(s->exchanged, s->exchange_stream));
    CUCO_TRY(cudaStreamWaitEvent(stream, s->exchanged, 0));
    return 0;
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    if (s->blas)
        cublasDestroy(s->blas);
    for (cudaEvent_t event : s->computed) {
        if (event)
            cudaEventDestroy(event);
    }
    if (s->exchanged)
        cudaEventDestroy(s->exchanged);
    if (s->exchange_stream)
        cudaStreamDestroy(s->exchange_stream);
    if (s->window)
        ncclCommWindowDeregister(s->comm, s->window);
    delete s;
}
