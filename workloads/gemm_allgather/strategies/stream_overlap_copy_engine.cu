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

// The rows go in chunks: while cuBLAS computes one, a copy engine writes the chunk before into every peer's C. It takes
// no SM from the product.
CUCO_TUNE(chunks, 4, 1, 2, 3, 4, 5, 6, 8, 12);
CUCO_TUNE(least_chunk_rows, 512, 128, 256, 512, 1024);  // where there are so many: smaller products leave SMs idle
// The last chunk can go in parts, each half of what is left. 0: in three if copies take much less than products, so
// that they keep up, otherwise whole.
CUCO_TUNE(last_chunk_parts, 0, 0, 1, 2, 3);
CUCO_TUNE(moved_rows, 0, 0, 128, 256);  // from the last chunk to the first: less is left to copy at the end
// Nothing is left to compute when the last part goes: up to this size SMs store it, for which copies would begin
// slowly.
CUCO_TUNE(stored_bytes, 4194304, 0, 1048576, 4194304, 16777216, 67108864);
CUCO_TUNE(store_sixteenths, 4, 2, 4, 8, 16);  // of the SMs
// Of a larger last part so many sixteenths of the rows are stored by all SMs while copy engines take the rest: together
// they fill the links.
CUCO_TUNE(shared_sixteenths, 0, 0, 2, 4, 6, 8);
// Every rank writes to the next one first, then to the one after that, so that no two write to one peer at a time,
// which would slow both down. From the second chunk on they get out of step. 0: let them. 1: they meet before each
// chunk's copies, on the same stream. 2: on a stream of its own, beside the copies before. 3: so too, but as soon as
// the chunk before is computed, so that no copy waits for it.
CUCO_TUNE(lockstep, 1, 0, 1, 2, 3);
CUCO_TUNE(batched, 1, 0, 1);  // 1: a chunk's copies go to the driver in one call

#include "device_trace.cuh"

namespace candidate {

constexpr int max_ranks = 64, most_parts = int(chunks) + 2;

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    cublasHandle_t blas = nullptr;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1, sm_count = 1;
    int64_t m = 0, n = 0, k = 0;
    cudaStream_t copy_stream = nullptr, meeting_stream = nullptr;
    cudaEvent_t begun = nullptr, all_begun = nullptr, copied = nullptr;
    cudaEvent_t computed[most_parts] = {}, met[most_parts] = {};
    char* peer_base[max_ranks] = {};  // where the peers' symmetric regions are mapped here
    int parts = 0;
    bool last_part_is_stored = false;
    int64_t part_begin[most_parts + 1] = {};  // in this rank's rows; there are as many on every rank

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }

    int storingCtas() const
    {
        const int ctas = sm_count * int(store_sixteenths) / 16;
        return ctas > 0 ? ctas : 1;
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

// In the middle of an iteration, by barrier 1, this only keeps the ranks in step. At its beginning, by barrier 2, it
// says that a peer's C is free: what was done with it before is over.
__global__ void waitForPeers(ncclDevComm dev_comm, uint32_t index)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), index};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

// Stores `bytes` (an even count) at this offset of the window into every peer's. Windows begin at page boundaries, so
// that all are aligned alike. meetPeers follows.
__global__ void pushToPeers(ncclWindow_t window, size_t offset, size_t bytes, ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    constexpr int unroll = 4;
    const size_t misaligned = (16 - offset % 16) % 16, head = misaligned < bytes ? misaligned : bytes;
    const size_t vectors = (bytes - head) / 16, tail = head + vectors * 16;
    // Warps are dealt to the CTAs in turn, so that little work is spread over all of them.
    const size_t thread = (size_t(threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
    const size_t threads = size_t(gridDim.x) * blockDim.x;
    const char* source = static_cast<const char*>(ncclGetLocalPointer(window, offset));
    for (int step = 1; step < dev_comm.lsaSize; ++step) {
        char* target =
            static_cast<char*>(ncclGetLsaPointer(window, offset, (dev_comm.lsaRank + step) % dev_comm.lsaSize));
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

// The same parts on every rank, give or take a row, because they meet between them.
void divideRows(State& s)
{
    // Fewer rows than least_chunk_rows stand for more on the emulated node and are divided as those are.
    const int64_t fewest = s.m / s.ranks, least = fewest < least_chunk_rows ? 1 : least_chunk_rows;
    const int64_t most = fewest / least < chunks ? fewest / least : chunks;
    const int whole = most > 1 ? int(most) : 1;
    // At about 800 TFLOP/s and 350 GB/s a row's product takes k / (2300 · peers) times as long as its copies.
    const bool copies_keep_up = s.k > 4096 * int64_t(s.ranks - 1);
    int last_parts = last_chunk_parts > 0 ? int(last_chunk_parts) : copies_keep_up ? 3 : 1;
    if (whole == 1)
        last_parts = 1;
    s.parts = whole - 1 + last_parts;
    const int64_t tile = s.rows() >= 128 * s.parts ? 128 : 1;  // cuBLAS's, so that a part's last tiles are whole
    const int64_t moved = whole > 1 && fewest / whole > 2 * moved_rows ? moved_rows : 0;
    int64_t row = 0;
    for (int i = 1; i < s.parts; ++i) {
        const int64_t left = s.rows() - row;
        int64_t part = left / 2;
        if (i == 1 && whole > 1)
            part = left / whole + moved;
        else if (i < whole)
            part = (left + moved) / (whole - i + 1);
        row += (part + tile / 2) / tile * tile;
        s.part_begin[i] = row;
    }
    s.part_begin[s.parts] = s.rows();
    s.last_part_is_stored =
        ((fewest / whole - moved) * s.n * int64_t(sizeof(__nv_bfloat16)) >> (last_parts - 1)) <= stored_bytes;
}

int makeEvent(cudaEvent_t* event)
{
    CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
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

// Nothing is written to a peer before its stream has come to this iteration. The first product hides the wait.
int waitForBeginnings(State& s)
{
    CUCO_TRY(cudaStreamWaitEvent(s.meeting_stream, s.begun, 0));
    waitForPeers<<<1, 32, 0, s.meeting_stream>>>(s.dev_comm, 2);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventRecord(s.all_begun, s.meeting_stream));
    CUCO_TRY(cudaStreamWaitEvent(s.copy_stream, s.all_begun, 0));
    return 0;
}

// `count` rows to all peers, when they are computed.
int copyToPeers(State& s, const __nv_bfloat16* rows, int64_t count, int part)
{
    const bool meet = part > 0 && s.ranks > 2;
    if (lockstep >= 2 && meet) {
        CUCO_TRY(cudaStreamWaitEvent(s.meeting_stream, s.computed[lockstep == 3 ? part - 1 : part], 0));
        waitForPeers<<<1, 32, 0, s.meeting_stream>>>(s.dev_comm, 1);
        CUCO_TRY(cudaEventRecord(s.met[part], s.meeting_stream));
        CUCO_TRY(cudaStreamWaitEvent(s.copy_stream, s.met[part], 0));
    }
    CUCO_TRY(cudaStreamWaitEvent(s.copy_stream, s.computed[part], 0));
    if (lockstep == 1 && meet)
        waitForPeers<<<1, 32, 0, s.copy_stream>>>(s.dev_comm, 1);
    CUCO_TRY(cudaGetLastError());
    const auto* source = reinterpret_cast<const char*>(rows);
    const size_t offset = size_t(source - s.symmetric_base), bytes = size_t(count * s.n) * sizeof(__nv_bfloat16);
    if (bytes == 0 || s.ranks == 1)
        return 0;
    void* targets[max_ranks];
    const void* sources[max_ranks];
    size_t sizes[max_ranks];
    for (int step = 0; step < s.ranks - 1; ++step) {
        targets[step] = s.peer_base[(s.rank + 1 + step) % s.ranks] + offset;
        sources[step] = source;
        sizes[step] = bytes;
        if (!batched)
            CUCO_TRY(cudaMemcpyAsync(targets[step], source, bytes, cudaMemcpyDeviceToDevice, s.copy_stream));
    }
    if (batched) {
        cudaMemcpyAttributes attributes{};
        attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        size_t first = 0;
        CUCO_TRY(
            cudaMemcpyBatchAsync(targets, sources, sizes, size_t(s.ranks - 1), &attributes, &first, 1, s.copy_stream));
    }
    return 0;
}

int storeToPeers(State& s, const __nv_bfloat16* rows, int64_t count, cudaStream_t stream)
{
    CUCO_TRY(cudaStreamWaitEvent(stream, s.all_begun, 0));
    const size_t offset = size_t(reinterpret_cast<const char*>(rows) - s.symmetric_base);
    const int ctas = s.last_part_is_stored ? s.storingCtas() : s.sm_count;
    pushToPeers<<<ctas, 512, 0, stream>>>(s.window, offset, size_t(count * s.n) * sizeof(__nv_bfloat16), s.dev_comm);
    CUCO_TRY(cudaGetLastError());
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
    requirements.lsaBarrierCount = 3;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->ranks)
        return cudaErrorNotSupported;
    if (s->ranks > max_ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(learnPeers(*s));
    divideRows(*s);
    // Above the products: the waiting CTA must not queue behind a product's.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->copy_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->meeting_stream, cudaStreamNonBlocking, highest));
    for (int i = 0; i < most_parts; ++i) {
        CUCO_TRY(makeEvent(&s->computed[i]));
        CUCO_TRY(makeEvent(&s->met[i]));
    }
    CUCO_TRY(makeEvent(&s->begun));
    CUCO_TRY(makeEvent(&s->all_begun));
    CUCO_TRY(makeEvent(&s->copied));
    CUCO_TRY(cublasCreate(&s->blas));
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    auto* mine = static_cast<__nv_bfloat16*>(io.outputs[0]) + s.firstRow() * s.n;
    CUCO_TRY(cublasSetStream(s.blas, stream));
    CUCO_TRY(cudaEventRecord(s.begun, stream));
    for (int part = 0; part < s.parts; ++part) {
        const int64_t first = s.part_begin[part], count = s.part_begin[part + 1] - first;
        if (count > 0)
            CUCO_TRY(product(s, io, mine, first, count));
        if (part == 0)
            CUCO_TRY(waitForBeginnings(s));
        const bool last = part == s.parts - 1, copied = !last || !s.last_part_is_stored;
        const int64_t stored = !copied ? count : last ? count * shared_sixteenths / 16 : 0;
        if (copied) {
            CUCO_TRY(cudaEventRecord(s.computed[part], stream));
            CUCO_TRY(copyToPeers(s, mine + first * s.n, count - stored, part));
        }
        if (stored > 0)
            CUCO_TRY(storeToPeers(s, mine + (first + count - stored) * s.n, stored, stream));
    }
    CUCO_TRY(cudaEventRecord(s.copied, s.copy_stream));
    CUCO_TRY(cudaStreamWaitEvent(stream, s.copied, 0));
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
    for (int i = 0; i < most_parts; ++i) {
        if (s->computed[i])
            cudaEventDestroy(s->computed[i]);
        if (s->met[i])
            cudaEventDestroy(s->met[i]);
    }
    if (s->begun)
        cudaEventDestroy(s->begun);
    if (s->all_begun)
        cudaEventDestroy(s->all_begun);
    if (s->copied)
        cudaEventDestroy(s->copied);
    if (s->copy_stream)
        cudaStreamDestroy(s->copy_stream);
    if (s->meeting_stream)
        cudaStreamDestroy(s->meeting_stream);
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
