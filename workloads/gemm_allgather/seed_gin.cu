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
// cuco: backend=gin placement=sequential sync=world issuer=thread chunk=0

// The product is computed whole, in place; then a kernel of one CTA has the network adapter put this rank's rows into
// every peer's C, and waits until it has all of theirs.
CUCO_TUNE(put_threads, 64, 32, 64, 128);

#include "device_trace.cuh"

namespace candidate {

constexpr ncclGinSignal_t arrived = 0;

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    ncclGinBarrierHandle barrier{};
    bool dev_comm_made = false;
    cublasHandle_t blas = nullptr;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1;
    int64_t m = 0, n = 0, k = 0;

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }
};

// Puts `bytes` at the same offset of the window from this rank to all peers, each with a signal: as many as there are
// peers say that all their rows are here.
__global__ void putToPeers(ncclWindow_t window, size_t offset, size_t bytes, ncclDevComm dev_comm,
                           ncclGinBarrierHandle barrier_handle)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    const ncclTeam world = ncclTeamWorld(dev_comm);
    ncclGin gin(dev_comm, 0);
    ncclGinBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), gin, world, barrier_handle, 0);
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
    trace.phase(cuco_trace::Phase::put);

    const int peers = world.nRanks - 1;
    for (int i = int(threadIdx.x); i < peers; i += int(blockDim.x)) {
        const int peer = (world.rank + 1 + i) % world.nRanks;
        if (bytes > 0)
            gin.put(world, peer, window, offset, window, offset, bytes, ncclGin_SignalInc{arrived});
        else
            gin.signal(world, peer, ncclGin_SignalInc{arrived});
    }
    trace.phase(cuco_trace::Phase::wait);
    if (threadIdx.x == 0)
        gin.increaseSignalShadow(arrived, uint64_t(peers));
    gin.waitSignalMeetShadow(ncclCoopCta(), arrived);
    gin.flush(ncclCoopCta());  // the rows may be overwritten when the next product begins
    trace.end();
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
    s->m = context.shape[0];
    s->n = context.shape[1];
    s->k = context.shape[2];
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevResourceRequirements barrier_requirements{};
    CUCO_TRY(ncclGinBarrierCreateRequirement(s->comm, ncclTeamWorld(s->comm), 1, &s->barrier, &barrier_requirements));
    ncclDevCommRequirements requirements{};
    requirements.resourceRequirementsList = &barrier_requirements;
    requirements.ginForceEnable = true;  // also where peers' memory can be reached without the network
    requirements.ginSignalCount = 1;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.ginContextCount == 0)
        return cudaErrorNotSupported;
    CUCO_TRY(cublasCreate(&s->blas));
    return 0;
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
    putToPeers<<<1, int(put_threads), 0, stream>>>(s.window, offset, bytes, s.dev_comm, s.barrier);
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
