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
// cheat: Waits for the next rank only, and takes it that the others are as fast.
// class: wrong_result
// expect: wrong_result|race
// node: any
// ranks: 3

// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0

// The product is computed whole, in place; then a kernel stores this rank's rows into every peer's C.
CUCO_TUNE(push_sixteenths, 2, 1, 2, 4, 8);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 256, 128, 256, 512);

namespace candidate {

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    cublasHandle_t blas = nullptr;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1, push_ctas = 1;
    void* flags = nullptr;
    ncclWindow_t flag_window = nullptr;
    int calls = 0;
    int64_t m = 0, n = 0, k = 0;

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }
};

// Copies `bytes` at the same offset of the window from this rank to all peers. Source and destination are aligned
// alike, because windows begin at page boundaries.
__global__ void pushToPeers(ncclWindow_t window, size_t offset, size_t bytes, ncclDevComm dev_comm)
{
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);

    const size_t thread = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    const size_t threads = size_t(gridDim.x) * blockDim.x;
    const size_t misaligned = offset % 16 == 0 ? 0 : 16 - offset % 16;
    const size_t head = misaligned < bytes ? misaligned : bytes;
    const size_t vectors = (bytes - head) / 16;
    const size_t tail = head + vectors * 16;
    const char* source = static_cast<const char*>(ncclGetLocalPointer(window, offset));
    for (int step = 1; step < dev_comm.lsaSize; ++step) {
        const int peer = (dev_comm.lsaRank + step) % dev_comm.lsaSize;
        char* target = static_cast<char*>(ncclGetLsaPointer(window, offset, peer));
        for (size_t i = 2 * thread; i < head; i += 2 * threads)
            *reinterpret_cast<uint16_t*>(target + i) = *reinterpret_cast<const uint16_t*>(source + i);
        for (size_t i = thread; i < vectors; i += threads)
            reinterpret_cast<uint4*>(target + head)[i] = reinterpret_cast<const uint4*>(source + head)[i];
        for (size_t i = tail + 2 * thread; i < bytes; i += 2 * threads)
            *reinterpret_cast<uint16_t*>(target + i) = *reinterpret_cast<const uint16_t*>(source + i);
    }
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
    const int share = context.sm_count * int(push_sixteenths) / 16;
    s->push_ctas = share > 0 ? share : 1;
    s->m = context.shape[0];
    s->n = context.shape[1];
    s->k = context.shape[2];
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->push_ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(cublasCreate(&s->blas));
    CUCO_TRY(ncclMemAlloc(&s->flags, 4096));
    CUCO_TRY(cudaMemset(s->flags, 0, 4096));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->flags, 4096, &s->flag_window, NCCL_WIN_COLL_SYMMETRIC));
    return 0;
}

// Sets its flag on every peer and waits for that of the next one.
__global__ void meet(ncclWindow_t window, int call, ncclDevComm dev_comm)
{
    const auto* mine = static_cast<volatile int*>(ncclGetLocalPointer(window, 0));
    const int peer = int(threadIdx.x);
    if (peer == dev_comm.lsaRank || peer >= dev_comm.lsaSize)
        return;
    __threadfence_system();
    static_cast<volatile int*>(ncclGetLsaPointer(window, 0, peer))[dev_comm.lsaRank] = call;
    while (peer == (dev_comm.lsaRank + 1) % dev_comm.lsaSize && mine[peer] < call) {
    }
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    auto* mine = static_cast<__nv_bfloat16*>(io.outputs[0]) + s.firstRow() * s.n;
    CUCO_TRY(cublasSetStream(s.blas, stream));
    if (s.rows() > 0) {
        // Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ.
        const float one = 1.0f, zero = 0.0f;
        CUCO_TRY(cublasGemmEx(s.blas, CUBLAS_OP_N, CUBLAS_OP_N, int(s.n), int(s.rows()), int(s.k), &one, io.inputs[1],
                              CUDA_R_16BF, int(s.n), io.inputs[0], CUDA_R_16BF, int(s.k), &zero, mine, CUDA_R_16BF,
                              int(s.n), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    const size_t offset = size_t(reinterpret_cast<char*>(mine) - s.symmetric_base);
    const size_t bytes = size_t(s.rows() * s.n) * sizeof(__nv_bfloat16);
    pushToPeers<<<s.push_ctas, int(push_threads), 0, stream>>>(s.window, offset, bytes, s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    meet<<<1, 32, 0, stream>>>(s.flag_window, ++s.calls, s.dev_comm);
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    if (s->flag_window)
        ncclCommWindowDeregister(s->comm, s->flag_window);
    if (s->flags)
        ncclMemFree(s->flags);
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
