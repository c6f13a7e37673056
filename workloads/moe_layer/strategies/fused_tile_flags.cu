// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "moe_kernels.cuh"

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
// cuco: backend=lsa placement=fused sync=tile issuer=warp chunk=0

// One persistent kernel dispatches, computes and combines; the host never learns how many rows there are. Some CTAs
// begin by pushing rows and flag each group of tokens; the others take tiles, those of the rank's own tokens first. A
// tile waits for the groups that its rows are of, a tile of the second product for those of the first that it needs,
// and its rows go straight to their tokens' ranks, one for each expert.
CUCO_TUNE(push_sixteenths, 4, 2, 4, 8, 16);  // of the CTAs push first
CUCO_TUNE(group_tokens, 64, 16, 32, 64, 128);
CUCO_TUNE(ctas_per_sm, 2, 1, 2);

#include "device_trace.cuh"
#include "moe_tiles.cuh"

namespace candidate {

using moe::result_row;
using moe::tile_columns;
constexpr int threads = moe::tile_threads;

struct State {
    moe::Layer layer{};
    ncclComm_t comm = nullptr;
    void* memory = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    int ctas = 1, route_ctas = 1;
    uint32_t iteration = 0;
    moe::Scratch scratch;
    int *counts = nullptr, *places = nullptr, *choices = nullptr, *plan = nullptr;
    __nv_bfloat16* middle = nullptr;

    // A unit a source, in the order in which peers' rows come: every rank sends to the next one first.
    moe::Units units() const
    {
        moe::Units units{layer.ranks, {}};
        for (int step = 0; step < layer.ranks; ++step)
            units.of[step] = {(layer.rank + layer.ranks - step) % layer.ranks, 1, 0, layer.tokens};
        return units;
    }
    // Rows are padded to whole tiles for each expert and source.
    int64_t mostTiles() const
    {
        return layer.ranks * (layer.mostRowsOfSource() / tileRows() + layer.localExperts() + 1);
    }
    // Small where an expert has few rows from a source.
    int tileRows() const { return int64_t(layer.tokens) * layer.top_k < 128 * int64_t(layer.experts) ? 64 : 128; }
};

// The window of a rank: what each of the ranks has sent to it, part after part, flags that say in which iteration a
// group of a rank's tokens has come, and a row for each choice of each of its own tokens.
struct Parts {
    size_t arrived, experts, gates, rows, results, bytes;

    __host__ __device__ explicit Parts(const moe::Layer& layer)
    {
        const int64_t tokens = int64_t(layer.ranks) * layer.tokens;
        arrived = 0;
        experts = arrived + moe::roundUp(layer.ranks * groupsOf(layer) * 4, 256);
        gates = experts + moe::roundUp(tokens * layer.top_k * 4, 256);
        rows = gates + moe::roundUp(tokens * layer.top_k * 4, 256);
        results = rows + moe::roundUp(tokens * layer.rowBytes(), 256);
        bytes = results + moe::roundUp(int64_t(layer.tokens) * layer.top_k * layer.pitch() * 2, 4096);
    }
    __host__ __device__ static int64_t groupsOf(const moe::Layer& layer)
    {
        return (layer.tokens + group_tokens - 1) / group_tokens;
    }
};

// What the device plans: the next tile to take, the first row tile of each unit's experts and, behind the last, their
// number, and for each row tile how many tiles of the first product are done.
struct Plan {
    int *next, *first_tile, *done;
};

__device__ inline char* at(ncclWindow_t window, size_t offset, int rank)
{
    return static_cast<char*>(ncclGetLsaPointer(window, offset, rank));
}

// Routes and quantises this rank's tokens, and tells all ranks where they go.
__global__ void route(moe::Layer layer, const __nv_bfloat16* x, const __nv_bfloat16* logits, ncclWindow_t window,
                      ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    // A peer's window may be written to when its stream has come here.
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed);
    trace.phase(cuco_trace::Phase::put);
    const Parts parts(layer);
    const int lane = int(threadIdx.x) % 32;
    const int warp = int(threadIdx.x / 32 * gridDim.x + blockIdx.x), warps = int(gridDim.x * blockDim.x / 32);
    for (int token = warp; token < layer.tokensOf(layer.rank); token += warps) {
        const int64_t mine = int64_t(layer.rank) * layer.tokens + token;
        int* experts = reinterpret_cast<int*>(at(window, parts.experts, layer.rank)) + mine * layer.top_k;
        float* gates = reinterpret_cast<float*>(at(window, parts.gates, layer.rank)) + mine * layer.top_k;
        moe::routeToken(layer, logits + int64_t(token) * layer.experts, experts, gates);
        __syncwarp();
        for (int step = 1; step < layer.ranks && lane < layer.top_k; ++step) {
            const int peer = (layer.rank + step) % layer.ranks;
            reinterpret_cast<int*>(at(window, parts.experts, peer))[mine * layer.top_k + lane] = experts[lane];
            reinterpret_cast<float*>(at(window, parts.gates, peer))[mine * layer.top_k + lane] = gates[lane];
        }
        char* row = at(window, parts.rows, layer.rank) + mine * layer.rowBytes();
        moe::quantiseRow(
            layer, x + int64_t(token) * layer.hidden,
            [&](int64_t offset, uint4 value) { *reinterpret_cast<uint4*>(row + offset) = value; },
            [&](int64_t offset, uint32_t value) { *reinterpret_cast<uint32_t*>(row + offset) = value; });
    }
    trace.phase(cuco_trace::Phase::wait);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

// One thread. Experts of one unit after the other, then the next unit.
__global__ void layTiles(int groups, int tile_rows, const int* counts, Plan plan)
{
    int tile = 0;
    for (int group = 0; group < groups; ++group) {
        plan.first_tile[group] = tile;
        tile += (counts[group] + tile_rows - 1) / tile_rows;
    }
    plan.first_tile[groups] = tile;
}

// A thread a token: into the row of each of its choices here, which choice that is.
__global__ void listChoices(moe::Layer layer, moe::Received received, moe::Units units, int tile_rows,
                            const int* places, Plan plan, int* choices)
{
    const int first = layer.firstExpertOf(layer.rank);
    const int64_t all = int64_t(layer.ranks) * layer.tokens;
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < all; i += int64_t(gridDim.x) * blockDim.x) {
        const int source = int(i / layer.tokens), token = int(i % layer.tokens);
        if (token >= layer.tokensOf(source))
            continue;
        int unit = 0;
        while (!units.of[unit].has(source, token))
            ++unit;
        for (int64_t choice = i * layer.top_k; choice < (i + 1) * layer.top_k; ++choice) {
            if (places[choice] < 0)
                continue;
            const int group = unit * layer.localExperts() + received.experts[choice] - first;
            choices[int64_t(plan.first_tile[group]) * tile_rows + places[choice]] = int(choice);
        }
    }
}

// This rank's rows to its peers, a group of tokens after the other, each followed by its flag.
__device__ void pushRows(const moe::Layer& layer, ncclWindow_t window, int ctas, uint32_t iteration)
{
    const Parts parts(layer);
    const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, vectors = int(layer.rowBytes() / 16);
    const int groups = int(Parts::groupsOf(layer));
    const int* experts = reinterpret_cast<const int*>(at(window, parts.experts, layer.rank)) +
                         int64_t(layer.rank) * layer.tokens * layer.top_k;
    for (int i = int(blockIdx.x); i < groups * (layer.ranks - 1); i += ctas) {
        const int group = i % groups, peer = (layer.rank + 1 + i / groups) % layer.ranks;
        const int begin = group * int(group_tokens);
        for (int token = begin + warp; token < begin + group_tokens && token < layer.tokensOf(layer.rank);
             token += threads / 32) {
            if ((moe::ranksOf(layer, experts + int64_t(token) * layer.top_k) >> peer & 1) == 0)
                continue;
            const size_t row = parts.rows + (int64_t(layer.rank) * layer.tokens + token) * layer.rowBytes();
            const auto* from = reinterpret_cast<const uint4*>(at(window, row, layer.rank));
            auto* to = reinterpret_cast<uint4*>(at(window, row, peer));
#pragma unroll 4
            for (int v = lane; v < vectors; v += 32)
                to[v] = from[v];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            auto* flag = reinterpret_cast<uint32_t*>(at(window, parts.arrived, peer)) + layer.rank * groups + group;
            cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*flag).store(iteration, cuda::memory_order_release);
        }
    }
}

// A tile's rows as they have come.
struct QuantisedRows {
    const moe::Layer& layer;
    const char* received;
    const int* rows;  // which choice each is, or -1

    struct Raw {
        uint2 vector;
        uint32_t exponent;
    };
    __device__ Raw load(int row, int k) const
    {
        if (rows[row] < 0 || k >= layer.hidden)
            return {make_uint2(0, 0), 0};
        const char* from = received + rows[row] / layer.top_k * layer.rowBytes();
        return {*reinterpret_cast<const uint2*>(from + k), moe::exponentAt(layer, from, k)};
    }
    __device__ uint4 convert(const Raw& raw) const { return moe::dequantise(raw.vector, raw.exponent); }
};

// Those of the second product, with zeros behind their ends.
struct MiddleRows {
    const __nv_bfloat16* middle;
    const int* rows;
    int columns, pitch;

    using Raw = uint4;
    __device__ Raw load(int row, int k) const
    {
        if (rows[row] < 0 || k >= columns)
            return make_uint4(0, 0, 0, 0);
        return *reinterpret_cast<const uint4*>(middle + int64_t(row) * pitch + k);
    }
    __device__ uint4 convert(const Raw& raw) const { return raw; }
};

struct Work {
    moe::Layer layer;
    moe::Received received;
    moe::Units units;
    Plan plan;
    const int* choices;  // of each row, or -1
    const __nv_bfloat16 *up, *down;
    __nv_bfloat16* middle;
    float up_scale, down_scale;
    uint32_t iteration;

    __device__ int upColumns() const { return (layer.intermediate + tile_columns / 2 - 1) / (tile_columns / 2); }
    __device__ int downColumns() const { return (layer.hidden + tile_columns - 1) / tile_columns; }
};

// SiLU(gate) · up for half as many columns as a tile has: gate's on its left, up's on its right.
template <int tile_rows>
__device__ void upTile(const Work& work, ncclWindow_t window, int tile, int expert, int column_tile, char* shared,
                       int* rows)
{
    const moe::Layer& layer = work.layer;
    const int groups = int(Parts::groupsOf(layer));
    for (int r = int(threadIdx.x); r < tile_rows; r += threads) {
        rows[r] = work.choices[int64_t(tile) * tile_rows + r];
        const int at_token = rows[r] / layer.top_k, source = at_token / (layer.tokens > 0 ? layer.tokens : 1);
        if (rows[r] < 0 || source == layer.rank)
            continue;
        auto* flags = reinterpret_cast<uint32_t*>(at(window, Parts(layer).arrived, layer.rank));
        const cuda::atomic_ref<uint32_t, cuda::thread_scope_system> arrived(
            flags[source * groups + at_token % layer.tokens / int(group_tokens)]);
        while (int32_t(arrived.load(cuda::memory_order_acquire) - work.iteration) < 0) {
        }
    }
    const int filled = __syncthreads_count(int(threadIdx.x) < tile_rows && rows[threadIdx.x] >= 0);
    constexpr int half = tile_columns / 2;
    const int first = column_tile * half;
    const __nv_bfloat16* weights = work.up + int64_t(expert) * 2 * layer.intermediate * layer.hidden;
    moe::multiplyTile<tile_rows>(
        QuantisedRows{layer, work.received.rows, rows}, filled,
        moe::weightsOf(weights, layer.hidden,
                       [&](int column) {
                           const int from = first + column % half;
                           return from < layer.intermediate ? from + column / half * layer.intermediate : -1;
                       }),
        shared);
    const auto* result = reinterpret_cast<const float*>(shared);
    for (int i = int(threadIdx.x); i < tile_rows * half; i += threads) {
        const int row = i / half, column = i % half;
        const float gate = result[row * result_row + column] * work.up_scale;
        const float up = result[row * result_row + half + column] * work.up_scale;
        if (first + column < layer.middlePitch())
            work.middle[(int64_t(tile) * tile_rows + row) * layer.middlePitch() + first + column] =
                __float2bfloat16(gate / (1.0f + __expf(-gate)) * up);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::atomic_ref<int, cuda::thread_scope_device>(work.plan.done[tile]).fetch_add(1, cuda::memory_order_release);
}

// Rows of the second product, each to the rank of its token.
template <int tile_rows>
__device__ void downTile(const Work& work, ncclWindow_t window, int tile, int expert, int column_tile, char* shared,
                         int* rows)
{
    const moe::Layer& layer = work.layer;
    for (int r = int(threadIdx.x); r < tile_rows; r += threads)
        rows[r] = work.choices[int64_t(tile) * tile_rows + r];
    if (threadIdx.x == 0) {
        const cuda::atomic_ref<int, cuda::thread_scope_device> done(work.plan.done[tile]);
        while (done.load(cuda::memory_order_acquire) < work.upColumns()) {
        }
    }
    const int filled = __syncthreads_count(int(threadIdx.x) < tile_rows && rows[threadIdx.x] >= 0);
    const __nv_bfloat16* weights = work.down + int64_t(expert) * layer.hidden * layer.intermediate;
    const int first = column_tile * tile_columns;
    moe::multiplyTile<tile_rows>(
        MiddleRows{work.middle + int64_t(tile) * tile_rows * layer.middlePitch(), rows, layer.intermediate,
                   int(layer.middlePitch())},
        filled,
        moe::weightsOf(weights, layer.intermediate,
                       [&](int column) { return first + column < layer.hidden ? first + column : -1; }),
        shared);
    const auto* result = reinterpret_cast<const float*>(shared);
    for (int i = int(threadIdx.x); i < tile_rows * tile_columns / 8; i += threads) {
        const int row = i / (tile_columns / 8), column = i % (tile_columns / 8) * 8;
        if (rows[row] < 0 || first + column >= layer.pitch())
            continue;
        const int64_t choices = int64_t(layer.tokens) * layer.top_k;
        const int source = int(rows[row] / choices);
        const float* from = result + row * result_row + column;
        const float scale = work.down_scale;
        auto* to = reinterpret_cast<__nv_bfloat16*>(at(window, Parts(layer).results, source)) +
                   rows[row] % choices * layer.pitch() + first + column;
        *reinterpret_cast<uint4*>(to) =
            make_uint4(moe::pairOf(from[0] * scale, from[1] * scale), moe::pairOf(from[2] * scale, from[3] * scale),
                       moe::pairOf(from[4] * scale, from[5] * scale), moe::pairOf(from[6] * scale, from[7] * scale));
    }
}

template <int tile_rows>
__global__ void __launch_bounds__(threads, int(ctas_per_sm))
    layerOfTiles(Work work, ncclWindow_t window, ncclDevComm dev_comm)
{
    extern __shared__ __align__(128) char shared[];
    __shared__ int rows[tile_rows];
    __shared__ int taken;
    cuco_trace::Recorder trace(threadIdx.x == 0);
    const moe::Layer& layer = work.layer;
    const int experts = layer.localExperts();
    int pushing = int(gridDim.x) * int(push_sixteenths) / 16;
    pushing = pushing > 0 ? pushing : 1;
    if (int(blockIdx.x) < pushing) {
        trace.phase(cuco_trace::Phase::put);
        pushRows(layer, window, pushing, work.iteration);
    }
    trace.phase(cuco_trace::Phase::compute);
    const int tiles_up = work.upColumns(), tiles_down = work.downColumns();
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0)
            taken = atomicAdd(work.plan.next, 1);
        __syncthreads();
        // A unit's tiles of the first product, then those of the second; columns change slowest, to meet weights again.
        int ticket = taken, unit = 0, tiles = 0;
        for (; unit < work.units.count; ++unit) {
            tiles = work.plan.first_tile[(unit + 1) * experts] - work.plan.first_tile[unit * experts];
            if (ticket < tiles * (tiles_up + tiles_down))
                break;
            ticket -= tiles * (tiles_up + tiles_down);
        }
        if (unit == work.units.count)
            break;
        const bool second = ticket >= tiles * tiles_up;
        ticket -= second ? tiles * tiles_up : 0;
        const int tile = work.plan.first_tile[unit * experts] + ticket % tiles, column_tile = ticket / tiles;
        int expert = 0;
        while (work.plan.first_tile[unit * experts + expert + 1] <= tile)
            ++expert;
        if (second)
            downTile<tile_rows>(work, window, tile, expert, column_tile, shared, rows);
        else
            upTile<tile_rows>(work, window, tile, expert, column_tile, shared, rows);
    }
    // Each CTA waits for its namesakes: when all have left, all peers' rows are here.
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

// A warp a token of this rank: its experts' rows, weighted.
__global__ void sumOfChoices(moe::Layer layer, const float* gates, const __nv_bfloat16* results, __nv_bfloat16* y)
{
    const int64_t token = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    if (token >= layer.tokensOf(layer.rank))
        return;
    for (int column = int(threadIdx.x) % 32 * 8; column < layer.hidden; column += 256) {
        float sum[8] = {};
        for (int64_t choice = token * layer.top_k; choice < (token + 1) * layer.top_k; ++choice)
            moe::addScaled(sum, results + choice * layer.pitch() + column, gates[choice]);
        for (int i = 0; i < 8 && column + i < layer.hidden; ++i)
            y[token * layer.hidden + column + i] = __float2bfloat16(sum[i]);
    }
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->comm = context.comm;
    const moe::Layer layer = s->layer = moe::layerOf(context);
    if (!moe::isValid(layer) || layer.ranks > moe::most_units)
        return cudaErrorInvalidValue;
    s->route_ctas = context.sm_count;
    s->ctas = context.sm_count * int(ctas_per_sm);
    CUCO_TRY(ncclMemAlloc(&s->memory, Parts(layer).bytes));
    CUCO_TRY(cudaMemset(s->memory, 0, Parts(layer).experts));
    CUCO_TRY(cudaDeviceSynchronize());
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->memory, Parts(layer).bytes, &s->window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != layer.ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(cudaFuncSetAttribute(layerOfTiles<64>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  int(moe::Tile<64>::shared_bytes)));
    CUCO_TRY(cudaFuncSetAttribute(layerOfTiles<128>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  int(moe::Tile<128>::shared_bytes)));
    const int64_t groups = layer.ranks * layer.localExperts();
    CUCO_TRY(s->scratch.make(&s->counts, groups));
    CUCO_TRY(s->scratch.make(&s->places, int64_t(layer.ranks) * layer.tokens * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->plan, 1 + groups + 1 + s->mostTiles()));
    CUCO_TRY(s->scratch.make(&s->choices, s->mostTiles() * s->tileRows()));
    CUCO_TRY(s->scratch.make(&s->middle, s->mostTiles() * s->tileRows() * layer.middlePitch()));
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const moe::Layer& layer = s.layer;
    if (layer.tokens == 0)
        return 0;
    ++s.iteration;
    constexpr int wide = 256, most_blocks = 528;
    const Parts parts(layer);
    const char* own = static_cast<const char*>(s.memory);
    const int groups = layer.ranks * layer.localExperts();
    const int64_t all = int64_t(layer.ranks) * layer.tokens, mine = int64_t(layer.rank) * layer.tokens * layer.top_k;
    Work work{};
    work.layer = layer;
    work.received = {own + parts.rows,
                     reinterpret_cast<const int*>(own + parts.experts),
                     reinterpret_cast<const float*>(own + parts.gates),
                     layer.tokens,
                     layer.tokens,
                     nullptr};
    work.units = s.units();
    work.plan = {s.plan, s.plan + 1, s.plan + groups + 2};
    work.choices = s.choices;
    work.up = static_cast<const __nv_bfloat16*>(io.inputs[2]);
    work.down = static_cast<const __nv_bfloat16*>(io.inputs[3]);
    work.middle = s.middle;
    work.up_scale = layer.upScale();
    work.down_scale = layer.downScale();
    work.iteration = s.iteration;
    CUCO_TRY(cudaMemsetAsync(s.counts, 0, size_t(groups) * sizeof(int), stream));
    CUCO_TRY(cudaMemsetAsync(s.plan, 0, size_t(groups + 2 + s.mostTiles()) * sizeof(int), stream));
    CUCO_TRY(cudaMemsetAsync(s.choices, 0xff, size_t(s.mostTiles()) * s.tileRows() * sizeof(int), stream));
    route<<<s.route_ctas, wide, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io.inputs[0]),
                                             static_cast<const __nv_bfloat16*>(io.inputs[1]), s.window, s.dev_comm);
    const int blocks = moe::blocksFor(all, wide, most_blocks);
    moe::planRows<<<blocks, wide, 0, stream>>>(layer, work.received, work.units, s.counts, s.places);
    layTiles<<<1, 1, 0, stream>>>(groups, s.tileRows(), s.counts, work.plan);
    listChoices<<<blocks, wide, 0, stream>>>(layer, work.received, work.units, s.tileRows(), s.places, work.plan,
                                             s.choices);
    if (s.tileRows() == 64)
        layerOfTiles<64><<<s.ctas, threads, moe::Tile<64>::shared_bytes, stream>>>(work, s.window, s.dev_comm);
    else
        layerOfTiles<128><<<s.ctas, threads, moe::Tile<128>::shared_bytes, stream>>>(work, s.window, s.dev_comm);
    sumOfChoices<<<moe::blocksFor(layer.tokens, wide / 32, INT32_MAX), wide, 0, stream>>>(
        layer, work.received.gates + mine, reinterpret_cast<const __nv_bfloat16*>(own + parts.results),
        static_cast<__nv_bfloat16*>(io.outputs[0]));
    CUCO_TRY(cudaGetLastError());
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->scratch.free();
    if (s->dev_comm_made)
        ncclDevCommDestroy(s->comm, &s->dev_comm);
    if (s->window)
        ncclCommWindowDeregister(s->comm, s->window);
    if (s->memory)
        ncclMemFree(s->memory);
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
