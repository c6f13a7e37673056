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
// cuco: backend=lsa placement=stream_overlap sync=world issuer=copy_engine chunk=14680064

// The tokens of all ranks go in chunks. Copy engines write a chunk's quantised rows to all peers, wanted or not,
// because rows that lie together need one copy; with eight experts a token nearly all are wanted. While the products of
// one chunk are computed the rows of the next arrive and the sums of the one before return, and no SM is taken from
// them.
CUCO_TUNE(chunks, 4, 1, 2, 3, 4, 6, 8);
CUCO_TUNE(least_chunk_tokens, 4096, 1024, 2048, 4096, 8192);  // of all ranks: smaller products leave SMs idle
CUCO_TUNE(last_chunk_percent, 100, 50, 75, 100);              // of the others: the return of its sums is not hidden
CUCO_TUNE(lockstep, 1, 0, 1);  // 1: the ranks meet before a chunk's sums return, so that no two write to one peer
CUCO_TUNE(expert_lanes, 4, 1, 2, 4, 8);  // experts whose products run side by side

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
    int route_ctas = 1, parts = 1;
    moe::ExpertProducts products;
    moe::Scratch scratch;
    cudaStream_t send_stream = nullptr, return_stream = nullptr;
    cudaEvent_t routed = nullptr, counted = nullptr, returned = nullptr;
    cudaEvent_t arrived[chunks] = {}, computed[chunks] = {};
    char* peer_base[moe::most_ranks] = {};  // where the peers' windows are mapped here
    int *counts = nullptr, *places = nullptr, *host_counts = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr, *sent_sums = nullptr;

    // The same on every rank: they meet between chunks.
    int beginOf(int part) const
    {
        if (part >= parts)
            return layer.tokens;
        return int(int64_t(layer.tokens) * 100 * part / (100 * (parts - 1) + last_chunk_percent));
    }
    moe::Units units() const
    {
        moe::Units units{parts, {}};
        for (int part = 0; part < parts; ++part)
            units.of[part] = {0, layer.ranks, beginOf(part), beginOf(part + 1)};
        return units;
    }
};

// The window of a rank: what each of the ranks has sent to it, part after part. A rank's own part of the rows is where
// it keeps them for the peers.
struct Parts {
    size_t experts, gates, rows, sums, bytes;

    __host__ __device__ explicit Parts(const moe::Layer& layer)
    {
        const int64_t tokens = int64_t(layer.ranks) * layer.tokens;
        experts = 0;
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

// Indices of barriers: one for each stream that meets, then one for each CTA of route.
constexpr uint32_t sending = 0, returning = 1, first_meeting = 2;

// Routes and quantises this rank's tokens, and tells all ranks where they go.
__global__ void route(moe::Layer layer, const __nv_bfloat16* x, const __nv_bfloat16* logits, ncclWindow_t window,
                      ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    // A peer's window may be written to when its stream has come here.
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), first_meeting + blockIdx.x};
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

// A warp a token of the unit: the sum of its experts here, to where copies for its rank begin, or to the window when
// that is this one.
__global__ void sumUnit(moe::Layer layer, moe::Received received, moe::Unit unit, const int* counts, const int* places,
                        const __nv_bfloat16* rows, __nv_bfloat16* sent, __nv_bfloat16* own)
{
    const int64_t warp = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    const int64_t warps = int64_t(gridDim.x) * blockDim.x / 32;
    const int length = unit.end - unit.begin;
    for (int64_t i = warp; i < int64_t(unit.sources) * length; i += warps) {
        const int source = int(i / length), token = unit.begin + int(i % length);
        if (token >= layer.tokensOf(source))
            continue;
        __nv_bfloat16* part = (source == layer.rank ? own : sent) + int64_t(source) * layer.tokens * layer.pitch();
        moe::sumOfExperts(layer, received, counts, places, rows, source, token, part + token * layer.pitch());
    }
}

// What a rank has copied before it is there when it has met the others.
__global__ void meetPeers(ncclDevComm dev_comm, uint32_t index)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), index};
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

__global__ void findPeers(ncclWindow_t window, int ranks, char** peers)
{
    for (int peer = threadIdx.x; peer < ranks; peer += blockDim.x)
        peers[peer] = static_cast<char*>(ncclGetLsaPointer(window, 0, peer));
}

int learnPeers(State& s)
{
    char** peers = nullptr;
    CUCO_TRY(cudaMalloc(reinterpret_cast<void**>(&peers), sizeof s.peer_base));
    findPeers<<<1, 32>>>(s.window, s.layer.ranks, peers);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaMemcpy(s.peer_base, peers, size_t(s.layer.ranks) * sizeof(char*), cudaMemcpyDeviceToHost));
    CUCO_TRY(cudaFree(peers));
    return 0;
}

int makeEvent(cudaEvent_t* event)
{
    CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return 0;
}

int partsOf(const moe::Layer& layer)
{
    // So few tokens stand for more on the emulated node and are divided as those are.
    constexpr int64_t few = 1024;
    const int64_t all = layer.tokens * layer.ranks;
    const int64_t most = all < few ? layer.tokens : all / least_chunk_tokens;
    return most < 1 ? 1 : most < chunks ? int(most) : int(chunks);
}

int setup(const cuco_context& context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->comm = context.comm;
    const moe::Layer layer = s->layer = moe::layerOf(context);
    if (!moe::isValid(layer))
        return cudaErrorInvalidValue;
    s->parts = partsOf(layer);
    s->route_ctas = context.sm_count;
    CUCO_TRY(ncclMemAlloc(&s->memory, Parts(layer).bytes));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->memory, Parts(layer).bytes, &s->window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = int(first_meeting) + s->route_ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != layer.ranks)
        return cudaErrorNotSupported;
    CUCO_TRY(learnPeers(*s));
    int64_t longest = 0;
    for (int part = 0; part < s->parts; ++part)
        longest = s->beginOf(part + 1) - s->beginOf(part) > longest ? s->beginOf(part + 1) - s->beginOf(part) : longest;
    const int64_t rows = layer.tokens == 0 ? 0 : layer.ranks * (layer.mostRowsOfSource() / layer.tokens) * longest;
    CUCO_TRY(s->scratch.make(&s->counts, s->parts * layer.localExperts()));
    CUCO_TRY(s->scratch.make(&s->places, int64_t(layer.ranks) * layer.tokens * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->x, rows * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, rows * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, rows * layer.middlePitch()));
    CUCO_TRY(s->scratch.make(&s->sent_sums, int64_t(layer.ranks) * layer.tokens * layer.pitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts),
                            size_t(s->parts) * (layer.localExperts() + 1) * sizeof(int)));
    // Above the products: the waiting CTA must not queue behind a product's.
    int lowest = 0, highest = 0;
    CUCO_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->send_stream, cudaStreamNonBlocking, highest));
    CUCO_TRY(cudaStreamCreateWithPriority(&s->return_stream, cudaStreamNonBlocking, highest));
    for (int part = 0; part < s->parts; ++part) {
        CUCO_TRY(makeEvent(&s->arrived[part]));
        CUCO_TRY(makeEvent(&s->computed[part]));
    }
    CUCO_TRY(makeEvent(&s->routed));
    CUCO_TRY(makeEvent(&s->counted));
    CUCO_TRY(makeEvent(&s->returned));
    CUCO_TRY(s->products.create(layer, int(expert_lanes)));
    return 0;
}

// This rank's rows of the unit to every peer; when all ranks have met, all rows of the unit are everywhere.
int sendRows(State& s, const moe::Unit& unit, int part)
{
    const moe::Layer& layer = s.layer;
    const size_t offset = Parts(layer).rows + (int64_t(layer.rank) * layer.tokens + unit.begin) * layer.rowBytes();
    const size_t bytes = layer.tokensOf(layer.rank) > 0 ? size_t((unit.end - unit.begin) * layer.rowBytes()) : 0;
    for (int step = 1; step < layer.ranks && bytes > 0; ++step)
        CUCO_TRY(cudaMemcpyAsync(s.peer_base[(layer.rank + step) % layer.ranks] + offset,
                                 static_cast<char*>(s.memory) + offset, bytes, cudaMemcpyDeviceToDevice,
                                 s.send_stream));
    meetPeers<<<1, 32, 0, s.send_stream>>>(s.dev_comm, sending);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventRecord(s.arrived[part], s.send_stream));
    return 0;
}

// The sums of the unit's tokens to their own ranks.
int returnSums(State& s, const moe::Unit& unit, int part, cudaStream_t stream)
{
    const moe::Layer& layer = s.layer;
    CUCO_TRY(cudaEventRecord(s.computed[part], stream));
    CUCO_TRY(cudaStreamWaitEvent(s.return_stream, s.computed[part], 0));
    if (lockstep == 1)
        meetPeers<<<1, 32, 0, s.return_stream>>>(s.dev_comm, returning);
    CUCO_TRY(cudaGetLastError());
    const size_t bytes = size_t((unit.end - unit.begin) * layer.pitch()) * sizeof(__nv_bfloat16);
    for (int step = 1; step < layer.ranks && bytes > 0; ++step) {
        const int peer = (layer.rank + step) % layer.ranks;
        if (layer.tokensOf(peer) == 0)
            continue;
        const int64_t to = int64_t(layer.rank) * layer.tokens + unit.begin,
                      from = int64_t(peer) * layer.tokens + unit.begin;
        CUCO_TRY(cudaMemcpyAsync(s.peer_base[peer] + Parts(layer).sums + to * layer.pitch() * 2,
                                 s.sent_sums + from * layer.pitch(), bytes, cudaMemcpyDeviceToDevice, s.return_stream));
    }
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const moe::Layer& layer = s.layer;
    if (layer.tokens == 0)
        return 0;
    const Parts parts(layer);
    char* own = static_cast<char*>(s.memory);
    auto* sums = reinterpret_cast<__nv_bfloat16*>(own + parts.sums);
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
    CUCO_TRY(cudaStreamWaitEvent(s.send_stream, s.routed, 0));
    for (int part = 0; part < units.count; ++part)
        CUCO_TRY(sendRows(s, units.of[part], part));
    moe::planRows<<<moe::blocksFor(int64_t(layer.ranks) * layer.tokens, threads, most_blocks), threads, 0, stream>>>(
        layer, received, units, s.counts, s.places);
    CUCO_TRY(cudaGetLastError());
    // How many rows each expert has is known to the device alone, and cuBLAS wants it from the host.
    CUCO_TRY(cudaMemcpyAsync(s.host_counts, s.counts, count_bytes, cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaEventRecord(s.counted, stream));
    CUCO_TRY(cudaEventSynchronize(s.counted));
    for (int part = 0; part < units.count; ++part) {
        const moe::Unit& unit = units.of[part];
        const int64_t tokens = int64_t(unit.sources) * (unit.end - unit.begin);
        const int* counts = s.counts + part * layer.localExperts();
        CUCO_TRY(cudaStreamWaitEvent(stream, s.arrived[part], 0));
        moe::gatherRows<<<moe::blocksFor(tokens, threads / 32, most_blocks), threads, 0, stream>>>(
            layer, received, unit, counts, s.places, s.x);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(s.products.run(layer, s.host_counts + part * layer.localExperts(), io.inputs[2], io.inputs[3], s.x,
                                s.gate_up, s.middle, stream));
        sumUnit<<<moe::blocksFor(tokens, threads / 32, most_blocks), threads, 0, stream>>>(
            layer, received, unit, counts, s.places, s.x, s.sent_sums, sums);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(returnSums(s, unit, part, stream));
    }
    meetPeers<<<1, 32, 0, s.return_stream>>>(s.dev_comm, returning);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventRecord(s.returned, s.return_stream));
    CUCO_TRY(cudaStreamWaitEvent(stream, s.returned, 0));
    moe::sumOfRanks<<<moe::blocksFor(layer.tokens, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received.experts + int64_t(layer.rank) * layer.tokens * layer.top_k, nullptr, sums,
        layer.tokens * layer.pitch(), static_cast<__nv_bfloat16*>(io.outputs[0]));
    CUCO_TRY(cudaGetLastError());
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->products.destroy();
    for (int part = 0; part < chunks; ++part) {
        if (s->arrived[part])
            cudaEventDestroy(s->arrived[part]);
        if (s->computed[part])
            cudaEventDestroy(s->computed[part]);
    }
    cudaEvent_t const events[] = {s->routed, s->counted, s->returned};
    for (cudaEvent_t event : events) {
        if (event)
            cudaEventDestroy(event);
    }
    if (s->send_stream)
        cudaStreamDestroy(s->send_stream);
    if (s->return_stream)
        cudaStreamDestroy(s->return_stream);
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
