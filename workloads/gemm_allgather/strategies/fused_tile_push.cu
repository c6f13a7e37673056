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
// cuco: backend=lsa placement=fused sync=world issuer=cta chunk=32768

// One persistent kernel: a CTA computes a tile of this rank's rows with the tensor cores and stores it at once into
// every rank's C, while other CTAs compute.
CUCO_TUNE(largest_tile, 128, 32, 64, 128);  // smaller when a rank has fewer tiles than CTAs
CUCO_TUNE(slab, 32, 16, 32);                // of k, staged in shared memory
CUCO_TUNE(ctas_per_sm, 2, 1, 2);
CUCO_TUNE(row_group, 8, 1, 4, 8);  // tiles down before the next column, to meet B again in the L2
// 0: every CTA stores to the next rank first. 1: CTAs begin with different ranks.
CUCO_TUNE(peer_order, 1, 0, 1);

#include "device_trace.cuh"

namespace candidate {

struct State {
    ncclComm_t comm = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    char* symmetric_base = nullptr;
    int rank = 0, ranks = 1, sm_count = 1;
    int64_t m = 0, n = 0, k = 0;

    int64_t rows() const { return m / ranks + (rank < m % ranks ? 1 : 0); }
    int64_t firstRow() const { return rank * (m / ranks) + (rank < m % ranks ? rank : m % ranks); }

    // Equal on all ranks: the barriers of CTAs that only some ranks have would never end.
    int64_t mostRows() const { return (m + ranks - 1) / ranks; }
    int64_t tilesOf(int tile) const { return (mostRows() + tile - 1) / tile * ((n + tile - 1) / tile); }
    int tile() const
    {
        int size = int(largest_tile);
        while (size > 32 && tilesOf(size) < sm_count)
            size /= 2;
        return size;
    }
    int ctas() const
    {
        const int64_t tiles = tilesOf(tile()), most = int64_t(sm_count) * ctas_per_sm;
        return int(tiles < most ? tiles : most);
    }
};

constexpr int threads = 128;  // 2 × 2 warps
constexpr int vector = 8;     // elements in 16 bytes
constexpr int padding = 8;    // elements behind each staged row, against bank conflicts

struct Problem {
    const __nv_bfloat16 *a, *b;
    int64_t rows, n, k;
    size_t offset;  // of this rank's first row from the window's begin
};

template <int Tile>
struct Staging {
    static constexpr int a_row = int(slab) + padding, b_row = Tile + padding, c_row = Tile + padding;
    static constexpr int a_elements = Tile * a_row, b_elements = int(slab) * b_row;
    static constexpr int stage_elements = a_elements + b_elements;
    static constexpr int elements = 2 * stage_elements > Tile* c_row ? 2 * stage_elements : Tile* c_row;
};

// A piece of a row-major matrix, `Rows` × `Columns`, on its way to shared memory; zeros where the matrix ends.
template <int Rows, int Columns>
struct Piece {
    static constexpr int vectors = Rows * Columns / vector;
    static constexpr int held = (vectors + threads - 1) / threads;
    uint4 values[held];

    __device__ void load(const __nv_bfloat16* matrix, int64_t rows, int64_t columns, int64_t row0, int64_t column0)
    {
#pragma unroll
        for (int i = 0; i < held; ++i) {
            const int index = int(threadIdx.x) + i * threads;
            const int64_t row = row0 + index / (Columns / vector);
            const int64_t column = column0 + index % (Columns / vector) * vector;
            values[i] = make_uint4(0, 0, 0, 0);
            if (index >= vectors || row >= rows)
                continue;
            const __nv_bfloat16* from = matrix + row * columns + column;
            if (columns % vector == 0 && column < columns)
                values[i] = *reinterpret_cast<const uint4*>(from);
            else {
                auto* to = reinterpret_cast<__nv_bfloat16*>(&values[i]);
                for (int e = 0; e < vector && column + e < columns; ++e)
                    to[e] = from[e];
            }
        }
    }

    __device__ void store(__nv_bfloat16* staged, int staged_row) const
    {
#pragma unroll
        for (int i = 0; i < held; ++i) {
            const int index = int(threadIdx.x) + i * threads;
            if (index < vectors) {
                *reinterpret_cast<uint4*>(staged + index / (Columns / vector) * staged_row +
                                          index % (Columns / vector) * vector) = values[i];
            }
        }
    }
};

// The tile at (row0, column0), left in `staged` as bf16.
template <int Tile>
__device__ void computeTile(const Problem& p, int64_t row0, int64_t column0, __nv_bfloat16* staged, float* scratch)
{
    using namespace nvcuda;
    using Layout = Staging<Tile>;
    constexpr int warp_tile = Tile / 2, fragments = warp_tile / 16;
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    const int warp_row = warp / 2 * warp_tile, warp_column = warp % 2 * warp_tile;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[fragments][fragments];
#pragma unroll
    for (int i = 0; i < fragments; ++i) {
#pragma unroll
        for (int j = 0; j < fragments; ++j)
            wmma::fill_fragment(sum[i][j], 0.0f);
    }

    const int slabs = int((p.k + slab - 1) / slab);
    Piece<Tile, int(slab)> a_piece;
    Piece<int(slab), Tile> b_piece;
    a_piece.load(p.a, p.rows, p.k, row0, 0);
    b_piece.load(p.b, p.k, p.n, 0, column0);
    for (int step = 0; step < slabs; ++step) {
        __nv_bfloat16* a_staged = staged + step % 2 * Layout::stage_elements;
        __nv_bfloat16* b_staged = a_staged + Layout::a_elements;
        a_piece.store(a_staged, Layout::a_row);
        b_piece.store(b_staged, Layout::b_row);
        __syncthreads();
        if (step + 1 < slabs) {
            a_piece.load(p.a, p.rows, p.k, row0, (step + 1) * slab);
            b_piece.load(p.b, p.k, p.n, (step + 1) * slab, column0);
        }
#pragma unroll
        for (int depth = 0; depth < int(slab); depth += 16) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right[fragments];
#pragma unroll
            for (int j = 0; j < fragments; ++j)
                wmma::load_matrix_sync(right[j], b_staged + depth * Layout::b_row + warp_column + 16 * j,
                                       Layout::b_row);
#pragma unroll
            for (int i = 0; i < fragments; ++i) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
                wmma::load_matrix_sync(left, a_staged + (warp_row + 16 * i) * Layout::a_row + depth, Layout::a_row);
#pragma unroll
                for (int j = 0; j < fragments; ++j)
                    wmma::mma_sync(sum[i][j], left, right[j], sum[i][j]);
            }
        }
    }
    __syncthreads();

    float* mine = scratch + warp * 16 * 16;
#pragma unroll
    for (int i = 0; i < fragments; ++i) {
#pragma unroll
        for (int j = 0; j < fragments; ++j) {
            wmma::store_matrix_sync(mine, sum[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 16 * 16; e += 32) {
                const int row = warp_row + 16 * i + e / 16, column = warp_column + 16 * j + e % 16;
                staged[row * Layout::c_row + column] = __float2bfloat16(mine[e]);
            }
            __syncwarp();
        }
    }
    __syncthreads();
}

// The part of the tile that lies inside the matrix, to one rank's C.
template <int Tile>
__device__ void storeTile(const Problem& p, int64_t row0, int64_t column0, const __nv_bfloat16* staged,
                          __nv_bfloat16* c)
{
    constexpr int row_vectors = Tile / vector;
    for (int i = int(threadIdx.x); i < Tile * row_vectors; i += threads) {
        const int row = i / row_vectors, column = i % row_vectors * vector;
        if (row0 + row >= p.rows || column0 + column >= p.n)
            continue;
        __nv_bfloat16* to = c + (row0 + row) * p.n + column0 + column;
        const __nv_bfloat16* from = staged + row * Staging<Tile>::c_row + column;
        if (p.n % vector == 0)
            *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
        else {
            for (int e = 0; e < vector && column0 + column + e < p.n; ++e)
                to[e] = from[e];
        }
    }
}

template <int Tile>
__global__ void __launch_bounds__(threads, int(ctas_per_sm))
    productToAll(Problem p, ncclWindow_t window, ncclDevComm dev_comm)
{
    __shared__ __align__(128) __nv_bfloat16 staged[Staging<Tile>::elements];
    __shared__ __align__(128) float scratch[threads / 32 * 16 * 16];
    const int64_t row_tiles = (p.rows + Tile - 1) / Tile, column_tiles = (p.n + Tile - 1) / Tile;
    cuco_trace::Recorder trace(threadIdx.x == 0);
    // A peer's C may be written to when its stream has come here.
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    for (int64_t tile = blockIdx.x; tile < row_tiles * column_tiles; tile += gridDim.x) {
        const int64_t group = tile / (row_group * column_tiles), first = group * row_group;
        const int64_t height = row_tiles - first < row_group ? row_tiles - first : row_group;
        const int64_t inside = tile - first * column_tiles;
        const int64_t row0 = (first + inside % height) * Tile, column0 = inside / height * Tile;
        trace.phase(cuco_trace::Phase::compute);
        computeTile<Tile>(p, row0, column0, staged, scratch);
        trace.phase(cuco_trace::Phase::put);
        for (int step = 0; step < dev_comm.lsaSize; ++step) {
            const int shift = peer_order == 1 ? int(blockIdx.x % unsigned(dev_comm.lsaSize)) : 1;
            const int peer = (dev_comm.lsaRank + shift + step) % dev_comm.lsaSize;
            storeTile<Tile>(p, row0, column0, staged,
                            static_cast<__nv_bfloat16*>(ncclGetLsaPointer(window, p.offset, peer)));
        }
        __syncthreads();
    }
    // Each CTA waits for its namesakes: when all have left, all peers' tiles are here.
    trace.phase(cuco_trace::Phase::wait);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
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
    s->sm_count = context.sm_count;
    s->m = context.shape[0];
    s->n = context.shape[1];
    s->k = context.shape[2];
    CUCO_TRY(ncclCommWindowRegister(s->comm, context.symmetric_base, context.symmetric_bytes, &s->window,
                                    NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->ctas();
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != s->ranks)
        return cudaErrorNotSupported;
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const auto* mine = static_cast<__nv_bfloat16*>(io.outputs[0]) + s.firstRow() * s.n;
    Problem p;
    p.a = static_cast<const __nv_bfloat16*>(io.inputs[0]);
    p.b = static_cast<const __nv_bfloat16*>(io.inputs[1]);
    p.rows = s.rows();
    p.n = s.n;
    p.k = s.k;
    p.offset = size_t(reinterpret_cast<const char*>(mine) - s.symmetric_base);
    if (s.tile() == 128)
        productToAll<128><<<s.ctas(), threads, 0, stream>>>(p, s.window, s.dev_comm);
    else if (s.tile() == 64)
        productToAll<64><<<s.ctas(), threads, 0, stream>>>(p, s.window, s.dev_comm);
    else
        productToAll<32><<<s.ctas(), threads, 0, stream>>>(p, s.window, s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
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
