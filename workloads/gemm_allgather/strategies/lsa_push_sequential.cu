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
// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0

// The whole product, then one kernel that stores this rank's rows into every peer's C.
CUCO_TUNE(push_sixteenths, 4, 1, 2, 4, 8, 16);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 512, 128, 256, 512);
CUCO_TUNE(push_unroll, 4, 1, 2, 4, 8);
// 0: one peer after the other, beginning with the next. 1: the CTAs divide the peers among themselves.
CUCO_TUNE(peer_order, 0, 0, 1);

#include "device_trace.cuh"

namespace candidate {

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    cublasHandle_t blas = nullptr;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1, sm_count = 1;
    int64_t m = 0, n = 0, k = 0;

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }

    int pushCtas() const
    {
        const int ctas = sm_count * int(push_sixteenths) / 16;
        return ctas > 0 ? ctas : 1;
    }
};

// Copies `bytes` (an even count) between places that are aligned alike: windows begin at page boundaries.
__device__ void copyAlike(char* target, const char* source, size_t bytes, size_t thread, size_t threads)
{
    constexpr int unroll = int(push_unroll);
    const size_t misaligned = (16 - reinterpret_cast<uintptr_t>(source) % 16) % 16;
    const size_t head = misaligned < bytes ? misaligned : bytes;
    const size_t vectors = (bytes - head) / 16, tail = head + vectors * 16;
    for (size_t i = 2 * thread; i < head; i += 2 * threads)
        *reinterpret_cast<uint16_t*>(target + i) = *reinterpret_cast<const uint16_t*>(source + i);
    auto* to = reinterpret_cast<uint4*>(target + head);
    const auto* from = reinterpret_cast<const uint4*>(source + head);
    for (size_t i = thread; i < vectors; i += threads * unroll) {
        uint4 held[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            if (i + u * threads < vectors)
                held[u] = from[i + u * threads];
        }
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
            if (i + u * threads < vectors)
                to[i + u * threads] = held[u];
        }
    }
    for (size_t i = tail + 2 * thread; i < bytes; i += 2 * threads)
        *reinterpret_cast<uint16_t*>(target + i) = *reinterpret_cast<const uint16_t*>(source + i);
}

__global__ void pushToPeers(ncclWindow_t window, size_t offset, size_t bytes, ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    // A peer's C may be written to when its stream has come here.
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    trace.phase(cuco_trace::Phase::put);
    const char* source = static_cast<const char*>(ncclGetLocalPointer(window, offset));
    const int peers = dev_comm.lsaSize - 1;
    const bool divided = peer_order == 1 && peers > 1 && int(gridDim.x) >= peers;
    // Of the CTAs that serve a peer: this one's number and how many there are.
    const int lane = divided ? int(blockIdx.x) / peers : int(blockIdx.x);
    const int lanes = divided ? (int(gridDim.x) - int(blockIdx.x) % peers + peers - 1) / peers : int(gridDim.x);
    // Warps are dealt to the CTAs in turn, so that little work is spread over all of them.
    const size_t thread = (size_t(threadIdx.x / 32) * size_t(lanes) + size_t(lane)) * 32 + threadIdx.x % 32;
    for (int step = 0; step < peers; ++step) {
        if (divided && step != int(blockIdx.x) % peers)
            continue;
        const int peer = (dev_comm.lsaRank + 1 + step) % dev_comm.lsaSize;
        copyAlike(static_cast<char*>(ncclGetLsaPointer(window, offset, peer)), source, bytes, thread,
                  size_t(lanes) * blockDim.x);
    }
    // Each CTA waits for its namesakes: when all have left, all peers' rows are here.
    trace.phase(cuco_trace::Phase::wait);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
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
    requirements.lsaBarrierCount = s->pushCtas();
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(cublasCreate(&s->blas));
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    auto* mine = static_cast<__nv_bfloat16*>(io.outputs[0]) + s.firstRow() * s.n;
    CUCO_TRY(cublasSetStream(s.blas, stream));
    if (s.rows() > 0)
        CUCO_TRY(product(s, io, mine, 0, s.rows()));
    const size_t offset = size_t(reinterpret_cast<char*>(mine) - s.symmetric_base);
    const size_t bytes = size_t(s.rows() * s.n) * sizeof(__nv_bfloat16);
    pushToPeers<<<s.pushCtas(), int(push_threads), 0, stream>>>(s.window, offset, bytes, s.dev_comm);
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
