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
// cuco: backend=lsa placement=split sync=peer issuer=warp chunk=0

// A rank's rows for a peer set out as soon as the tokens are routed, peer after peer on a second stream, while the
// experts here work on the rank's own tokens. A peer's tokens are waited for when their turn comes, and their sums
// return while the next unit is computed. A part of the own tokens is kept for the end, to hide the last return.
CUCO_TUNE(own_first_percent, 50, 0, 25, 50, 75, 100);
CUCO_TUNE(push_sixteenths, 2, 1, 2, 4, 8);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 512, 256, 512, 1024);
CUCO_TUNE(expert_lanes, 4, 1, 2, 4, 8);  // experts whose products run side by side
CUCO_TUNE(spare_sms, 0, 0, 1);           // 1: the products leave the SMs of the pushes alone

#include "device_trace.cuh"

namespace candidate {

constexpr int threads = 256, most_blocks = 528;

struct State {
    moe::Layer layer{};
    ncclComm_t comm = nullptr;
    void* memory = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    int push_ctas = 1, route_ctas = 1;
    uint32_t iteration = 0;
    moe::ExpertProducts products;
    moe::Scratch scratch;
    cudaStream_t push_stream = nullptr;
    cudaEvent_t routed = nullptr, counted = nullptr, pushed = nullptr, computed[moe::most_ranks + 1] = {};
    int *counts = nullptr, *places = nullptr, *host_counts = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr;

    int ownFirst() const { return int(int64_t(layer.tokens) * own_first_percent / 100); }
    // In the order in which peers' rows come: every rank sends to the next one first.
    moe::Units units() const
    {
        moe::Units units{layer.ranks + 1, {}};
        units.of[0] = {layer.rank, 1, 0, ownFirst()};
        for (int step = 1; step < layer.ranks; ++step)
            units.of[step] = {(layer.rank + layer.ranks - step) % layer.ranks, 1, 0, layer.tokens};
        units.of[layer.ranks] = {layer.rank, 1, ownFirst(), layer.tokens};
        return units;
    }
    // Each unit has room for all rows that it may have, so that one can be sent while the next is computed.
    __nv_bfloat16* rowsOf(const moe::Unit& unit) const
    {
        const int64_t first = layer.tokens == 0 ? 0 : layer.mostRowsOfSource() / layer.tokens * unit.begin;
        return x + (unit.first_source * layer.mostRowsOfSource() + first) * layer.pitch();
    }
};

// The window of a rank: what each of the ranks has sent to it, part after part, and a flag a rank that says in which
// iteration its rows and its sums have come. A rank's own part of the rows is where it keeps them for the peers.
struct Parts {
    size_t arrived, returned, experts, gates, rows, sums, bytes;

    __host__ __device__ explicit Parts(const moe::Layer& layer)
    {
        const int64_t tokens = int64_t(layer.ranks) * layer.tokens;
        arrived = 0;
        returned = arrived + moe::most_ranks * sizeof(uint32_t);
        experts = returned + moe::most_ranks * sizeof(uint32_t);
        gates = experts + moe::roundUp(tokens * layer.top_k * 4, 256);
        rows = gates + moe::roundUp(tokens * layer.top_k * 4, 256);
        sums = rows + moe::roundUp(tokens * layer.rowBytes(), 256);
        bytes = sums + moe::roundUp(tokens * layer.pitch() * 2, 4096);
    }
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

// A warp a token: its row to the peer, if that has one of its experts.
__global__ void pushRows(moe::Layer layer, ncclWindow_t window, int peer)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    const Parts parts(layer);
    const int lane = int(threadIdx.x) % 32, vectors = int(layer.rowBytes() / 16);
    const int warp = int(threadIdx.x / 32 * gridDim.x + blockIdx.x), warps = int(gridDim.x * blockDim.x / 32);
    const int* experts = reinterpret_cast<const int*>(at(window, parts.experts, layer.rank)) +
                         int64_t(layer.rank) * layer.tokens * layer.top_k;
    for (int token = warp; token < layer.tokensOf(layer.rank); token += warps) {
        if ((moe::ranksOf(layer, experts + int64_t(token) * layer.top_k) >> peer & 1) == 0)
            continue;
        const size_t row = parts.rows + (int64_t(layer.rank) * layer.tokens + token) * layer.rowBytes();
        const auto* from = reinterpret_cast<const uint4*>(at(window, row, layer.rank));
        auto* to = reinterpret_cast<uint4*>(at(window, row, peer));
#pragma unroll 4
        for (int i = lane; i < vectors; i += 32)
            to[i] = from[i];
    }
    __threadfence_system();
    trace.end();
}

// A warp a token of the unit: the sum of its experts here, to the token's own rank.
__global__ void pushSums(moe::Layer layer, moe::Received received, moe::Unit unit, const int* counts, const int* places,
                         const __nv_bfloat16* rows, ncclWindow_t window)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    const int source = unit.first_source;
    const int warp = int(threadIdx.x / 32 * gridDim.x + blockIdx.x), warps = int(gridDim.x * blockDim.x / 32);
    auto* sums = reinterpret_cast<__nv_bfloat16*>(at(window, Parts(layer).sums, source)) +
                 int64_t(layer.rank) * layer.tokens * layer.pitch();
    for (int token = unit.begin + warp; token < unit.end && token < layer.tokensOf(source); token += warps)
        moe::sumOfExperts(layer, received, counts, places, rows, source, token, sums + token * layer.pitch());
    __threadfence_system();
    trace.end();
}

// Behind what this rank has pushed to the peer.
__global__ void signal(ncclWindow_t window, size_t flags, int rank, int peer, uint32_t iteration)
{
    auto* flag = reinterpret_cast<uint32_t*>(at(window, flags, peer)) + rank;
    cuda::atomic_ref<uint32_t, cuda::thread_scope_system>(*flag).store(iteration, cuda::memory_order_release);
}

// Until these ranks have signalled this iteration: a thread a rank.
__global__ void waitFor(ncclWindow_t window, size_t flags, int rank, int ranks, int first, int count,
                        uint32_t iteration)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    for (int i = int(threadIdx.x); i < count; i += int(blockDim.x)) {
        auto* flag = reinterpret_cast<uint32_t*>(at(window, flags, rank)) + (first + i) % ranks;
        const cuda::atomic_ref<uint32_t, cuda::thread_scope_system> seen(*flag);
        while (int32_t(seen.load(cuda::memory_order_acquire) - iteration) < 0) {
        }
    }
    trace.end();
}

int makeEvent(cudaEvent_t* event)
{
    CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return 0;
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->comm = context.comm;
    const moe::Layer layer = s->layer = moe::layerOf(context);
    if (!moe::isValid(layer) || layer.ranks + 1 > moe::most_units)
        return cudaErrorInvalidValue;
    const int share = context.sm_count * int(push_sixteenths) / 16;
    s->push_ctas = share > 0 ? share : 1;
    s->route_ctas = context.sm_count;
    CUCO_TRY(ncclMemAlloc(&s->memory, Parts(layer).bytes));
    CUCO_TRY(cudaMemset(s->memory, 0, Parts(layer).experts));
    CUCO_TRY(cudaDeviceSynchronize());
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->memory, Parts(layer).bytes, &s->window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->route_ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != layer.ranks)
        return cudaErrorNotSupported;
    const int64_t most = layer.mostRowsOfSource();
    CUCO_TRY(s->scratch.make(&s->counts, (layer.ranks + 1) * layer.localExperts()));
    CUCO_TRY(s->scratch.make(&s->places, int64_t(layer.ranks) * layer.tokens * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->x, layer.ranks * most * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, most * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, most * layer.middlePitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts),
                            size_t(layer.ranks + 1) * (layer.localExperts() + 1) * sizeof(int)));
    // Above the products, so that communication does not wait for a whole product's CTAs to be placed.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->push_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(makeEvent(&s->routed));
    CUCO_TRY(makeEvent(&s->counted));
    CUCO_TRY(makeEvent(&s->pushed));
    for (int unit = 0; unit <= layer.ranks; ++unit)
        CUCO_TRY(makeEvent(&s->computed[unit]));
    const bool spare = spare_sms && context.sm_count > s->push_ctas;
    CUCO_TRY(s->products.create(layer, int(expert_lanes), spare ? context.sm_count - s->push_ctas : 0));
    return 0;
}

// Rows, products and sums of one unit.
int compute(State& s, const cuco_io& io, const moe::Received& received, const moe::Unit& unit, int index,
            cudaStream_t stream)
{
    const moe::Layer& layer = s.layer;
    const Parts parts(layer);
    const int source = unit.first_source, length = unit.end - unit.begin;
    const int* counts = s.counts + index * layer.localExperts();
    __nv_bfloat16* x = s.rowsOf(unit);
    if (source != layer.rank)
        waitFor<<<1, 32, 0, stream>>>(s.window, parts.arrived, layer.rank, layer.ranks, source, 1, s.iteration);
    if (length > 0) {
        moe::gatherRows<<<moe::blocksFor(length, threads / 32, most_blocks), threads, 0, stream>>>(
            layer, received, unit, counts, s.places, x);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(s.products.run(layer, s.host_counts + index * layer.localExperts(), io.inputs[2], io.inputs[3], x,
                                s.gate_up, s.middle, stream));
    }
    if (source == layer.rank) {
        pushSums<<<moe::blocksFor(length, threads / 32, most_blocks), threads, 0, stream>>>(
            layer, received, unit, counts, s.places, x, s.window);
        CUCO_TRY(cudaGetLastError());
        return 0;
    }
    CUCO_TRY(cudaEventRecord(s.computed[index], stream));
    CUCO_TRY(cudaStreamWaitEvent(s.push_stream, s.computed[index], 0));
    pushSums<<<s.push_ctas, int(push_threads), 0, s.push_stream>>>(layer, received, unit, counts, s.places, x,
                                                                   s.window);
    signal<<<1, 1, 0, s.push_stream>>>(s.window, parts.returned, layer.rank, source, s.iteration);
    CUCO_TRY(cudaGetLastError());
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const moe::Layer& layer = s.layer;
    if (layer.tokens == 0)
        return 0;
    ++s.iteration;
    const Parts parts(layer);
    const char* own = static_cast<const char*>(s.memory);
    const moe::Received received{own + parts.rows,
                                 reinterpret_cast<const int*>(own + parts.experts),
                                 reinterpret_cast<const float*>(own + parts.gates),
                                 layer.tokens,
                                 layer.tokens,
                                 nullptr};
    const moe::Units units = s.units();
    const size_t count_bytes = size_t(units.count) * layer.localExperts() * sizeof(int);
    CUCO_TRY(cudaMemsetAsync(s.counts, 0, count_bytes, stream));
    route<<<s.route_ctas, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io.inputs[0]),
                                                static_cast<const __nv_bfloat16*>(io.inputs[1]), s.window, s.dev_comm);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventRecord(s.routed, stream));
    CUCO_TRY(cudaStreamWaitEvent(s.push_stream, s.routed, 0));
    for (int step = 1; step < layer.ranks; ++step) {
        const int peer = (layer.rank + step) % layer.ranks;
        pushRows<<<s.push_ctas, int(push_threads), 0, s.push_stream>>>(layer, s.window, peer);
        signal<<<1, 1, 0, s.push_stream>>>(s.window, parts.arrived, layer.rank, peer, s.iteration);
    }
    moe::planRows<<<moe::blocksFor(int64_t(layer.ranks) * layer.tokens, threads, most_blocks), threads, 0, stream>>>(
        layer, received, units, s.counts, s.places);
    CUCO_TRY(cudaGetLastError());
    // How many rows each expert has is known to the device alone, and cuBLAS wants it from the host.
    CUCO_TRY(cudaMemcpyAsync(s.host_counts, s.counts, count_bytes, cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaEventRecord(s.counted, stream));
    CUCO_TRY(cudaEventSynchronize(s.counted));
    for (int index = 0; index < units.count; ++index)
        CUCO_TRY(compute(s, io, received, units.of[index], index, stream));
    waitFor<<<1, 32, 0, stream>>>(s.window, parts.returned, layer.rank, layer.ranks, layer.rank + 1, layer.ranks - 1,
                                  s.iteration);
    moe::sumOfRanks<<<moe::blocksFor(layer.tokens, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received.experts + int64_t(layer.rank) * layer.tokens * layer.top_k, nullptr,
        reinterpret_cast<const __nv_bfloat16*>(own + parts.sums), layer.tokens * layer.pitch(),
        static_cast<__nv_bfloat16*>(io.outputs[0]));
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventRecord(s.pushed, s.push_stream));
    CUCO_TRY(cudaStreamWaitEvent(stream, s.pushed, 0));
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->products.destroy();
    for (cudaEvent_t event : s->computed) {
        if (event)
            cudaEventDestroy(event);
    }
    cudaEvent_t const events[] = {s->routed, s->counted, s->pushed};
    for (cudaEvent_t event : events) {
        if (event)
            cudaEventDestroy(event);
    }
    if (s->push_stream)
        cudaStreamDestroy(s->push_stream);
    if (s->host_counts)
        cudaFreeHost(s->host_counts);
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
