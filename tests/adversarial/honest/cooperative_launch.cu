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
// honest: The same by a cooperative launch, with a barrier of the whole grid before the last one with the peers.
// node: any

// cuco: backend=lsa placement=fused sync=world issuer=cta chunk=0

// The product is computed whole, in place; then a kernel stores this rank's rows into every peer's C.
CUCO_TUNE(push_sixteenths, 2, 1, 2, 4, 8);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 256, 128, 256, 512);

#include <cooperative_groups.h>

namespace candidate {

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    cublasHandle_t blas = nullptr;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1, push_ctas = 1;
    int64_t m = 0, n = 0, k = 0;

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }
};

// One kernel computes this rank's rows and stores them to all ranks.
__global__ void productToAll(ncclWindow_t window, const __nv_bfloat16* a, const __nv_bfloat16* b, size_t first,
                             int64_t rows, int64_t n, int64_t k, ncclDevComm dev_comm)
{
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    const int64_t thread = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    for (int64_t i = thread; i < rows * n; i += int64_t(gridDim.x) * blockDim.x) {
        float sum = 0;
        for (int64_t j = 0; j < k; ++j)
            sum += __bfloat162float(a[i / n * k + j]) * __bfloat162float(b[j * n + i % n]);
        for (int peer = 0; peer < dev_comm.lsaSize; ++peer)
            static_cast<__nv_bfloat16*>(ncclGetLsaPointer(window, first, peer))[i] = __float2bfloat16(sum);
    }
    cooperative_groups::this_grid().sync();
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
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
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const auto* mine = static_cast<__nv_bfloat16*>(io.outputs[0]) + s.firstRow() * s.n;
    const size_t first = size_t(reinterpret_cast<const char*>(mine) - s.symmetric_base);
    auto window = s.window;
    auto* a = static_cast<const __nv_bfloat16*>(io.inputs[0]);
    auto* b = static_cast<const __nv_bfloat16*>(io.inputs[1]);
    auto start = first;
    int64_t rows = s.rows(), n = s.n, k = s.k;
    auto dev_comm = s.dev_comm;
    void* arguments[] = {&window, &a, &b, &start, &rows, &n, &k, &dev_comm};
    CUCO_TRY(cudaLaunchCooperativeKernel(productToAll, dim3(unsigned(s.push_ctas)), dim3(unsigned(push_threads)),
                                         arguments, 0, stream));
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
