// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <nccl_device.h>

#include <new>

// The three functions that the harness calls are defined in the block; their codes are those of candidate.h.
namespace candidate {
int setup(const cuco_context& context, void** state);
int run(void* state, const cuco_io& io, cudaStream_t stream);
void teardown(void* state);
}  // namespace candidate

// EVOLVE-BLOCK-START
// cuco: backend=lsa placement=stream_overlap sync=world issuer=copy_engine chunk=8388608

// The rows go in chunks: while cuBLAS computes one, copy engines write the chunk before into every peer's C. They
// take no SM from the product.
CUCO_TUNE(chunks, 4, 1, 2, 3, 4, 6, 8, 12);
CUCO_TUNE(last_chunk_percent, 100, 25, 50, 100);  // of the other chunks' rows: its copies are not hidden
CUCO_TUNE(copy_streams, 3, 1, 2, 3);              // peers take them in turn
// 0: every rank begins with the next one, so that no two write to one peer at a time. 1: all begin with rank 0.
// 2: as 0, but the first peer moves on with each chunk.
CUCO_TUNE(peer_order, 0, 0, 1, 2);

#include "device_trace.cuh"

namespace candidate {

constexpr int max_ranks = 64;

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    cublasHandle_t blas = nullptr;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1, sm_count = 1;
    int64_t m = 0, n = 0, k = 0;
    cudaStream_t streams[copy_streams] = {};
    cudaEvent_t computed[chunks] = {}, copied[copy_streams] = {};
    char* peer_base[max_ranks] = {};  // where the peers' symmetric regions are mapped here

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }

    // Where chunk `index` begins, in this rank's rows; the last chunk is smaller than the others.
    int64_t chunkBegin(int index) const
    {
        if (index >= chunks)
            return rows();
        const int64_t begin = rows() * 100 * index / (100 * (chunks - 1) + last_chunk_percent);
        return rows() >= 64 * chunks ? begin / 16 * 16 : begin;
    }

    int peerOf(int step, int chunk) const
    {
        if (peer_order == 1)
            return step < rank ? step : step + 1;
        const int shift = peer_order == 2 ? chunk : 0;
        return (rank + 1 + (step + shift) % (ranks - 1)) % ranks;
    }
};

// Ordered behind all that this rank has sent; when it ends, all that the peers have sent is here.
__global__ void meetPeers(ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), 0};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

__global__ void findPeers(ncclWindow_t window, int ranks, char** peers)
{
    for (int peer = threadIdx.x; peer < ranks; peer += blockDim.x)
        peers[peer] = static_cast<char*>(ncclGetLsaPointer(window, 0, peer));
}

// Rows [first, first + count) of this rank's product. Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ.
int product(State& s, const cuco_io& io, __nv_bfloat16* mine, int64_t first, int64_t count)
{
    const float one = 1.0f, zero = 0.0f;
    const auto* a = static_cast<const __nv_bfloat16*>(io.inputs[0]) + first * s.k;
    CUCO_TRY(cublasGemmEx(s.blas, CUBLAS_OP_N, CUBLAS_OP_N, int(s.n), int(count), int(s.k), &one, io.inputs[1],
                          CUDA_R_16BF, int(s.n), a, CUDA_R_16BF, int(s.k), &zero, mine + first * s.n, CUDA_R_16BF,
                          int(s.n), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    return 0;
}

int makeEvent(cudaEvent_t* event)
{
    CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return 0;
}

int makeStream(cudaStream_t* stream)
{
    // Above the products, so that communication does not wait for a whole product's CTAs to be placed.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, highest));
    return 0;
}

int learnPeers(State& s)
{
    char** peers = nullptr;
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&peers), sizeof s.peer_base));
    findPeers<<<1, 32>>>(s.window, s.ranks, peers);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaMemcpy(s.peer_base, peers, size_t(s.ranks) * sizeof(char*), cudaMemcpyDeviceToHost));
    CUCO_TRY(cudaFree(peers));
    return 0;
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->comm = context.comm;
    s->symmetric_base = static_cast<char*>(context.symmetric_base);
    s->rank = context.rank;
    s->ranks = context.ranks;
    s->sm_count = context.sm_count;
    s->m = context.shape[0];
    s->n = context.shape[1];
    s->k = context.shape[2];
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = 1;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->ranks)
        return cudaErrorNotSupported;
    if (s->ranks > max_ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(learnPeers(*s));
    for (cudaStream_t& copy_stream : s->streams)
        CUCO_TRY(makeStream(&copy_stream));
    for (cudaEvent_t& event : s->computed)
        CUCO_TRY(makeEvent(&event));
    for (cudaEvent_t& event : s->copied)
        CUCO_TRY(makeEvent(&event));
    CUCO_TRY(cublasCreate(&s->blas));
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    auto* mine = static_cast<__nv_bfloat16*>(io.outputs[0]) + s.firstRow() * s.n;
    CUCO_TRY(cublasSetStream(s.blas, stream));
    for (int chunk = 0; chunk < chunks; ++chunk) {
        const int64_t first = s.chunkBegin(chunk), count = s.chunkBegin(chunk + 1) - first;
        if (count > 0)
            CUCO_TRY(product(s, io, mine, first, count));
        CUCO_TRY(cudaEventRecord(s.computed[chunk], stream));
        for (cudaStream_t copy_stream : s.streams)
            CUCO_TRY(cudaStreamWaitEvent(copy_stream, s.computed[chunk], 0));
        if (count == 0)
            continue;
        const char* source = reinterpret_cast<const char*>(mine + first * s.n);
        const size_t offset = size_t(source - s.symmetric_base);
        const size_t bytes = size_t(count * s.n) * sizeof(__nv_bfloat16);
        for (int step = 0; step < s.ranks - 1; ++step) {
            CUCO_TRY(cudaMemcpyAsync(s.peer_base[s.peerOf(step, chunk)] + offset, source, bytes,
                                     cudaMemcpyDeviceToDevice, s.streams[step % copy_streams]));
        }
    }
    for (int i = 0; i < copy_streams; ++i) {
        CUCO_TRY(cudaEventRecord(s.copied[i], s.streams[i]));
        CUCO_TRY(cudaStreamWaitEvent(stream, s.copied[i], 0));
    }
    meetPeers<<<1, 32, 0, stream>>>(s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

void teardown(void* state)
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
    for (cudaEvent_t event : s->copied) {
        if (event)
            cudaEventDestroy(event);
    }
    for (cudaStream_t copy_stream : s->streams) {
        if (copy_stream)
            cudaStreamDestroy(copy_stream);
    }
    if (s->dev_comm_made)
        ncclDevCommDestroy(s->comm, &s->dev_comm);
    if (s->window)
        ncclCommWindowDeregister(s->comm, s->window);
    delete s;
}

}  // namespace candidate
// EVOLVE-BLOCK-END

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    return candidate::setup(*context, state);
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    return candidate::run(state, *io, stream);
}

extern "C" void cuco_teardown(void* state)
{
    candidate::teardown(state);
}
