// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "moe_kernels.cuh"

#include <new>

// Host-driven, in chunks of tokens on two streams: all quantised rows go to all ranks by grouped sends and receives,
// and the sums of a chunk go back while the next chunk's products are computed.
namespace {

constexpr int threads = 256, most_blocks = 528, expert_lanes = 4, most_chunks = 4;
constexpr int64_t least_chunk_tokens = 4096;  // of all ranks: smaller products leave SMs idle

struct State {
    moe::Layer layer{};
    ncclComm_t comm = nullptr;
    moe::ExpertProducts products;
    moe::Scratch scratch;
    cudaStream_t side = nullptr;
    cudaEvent_t begun = nullptr, counted = nullptr, ended = nullptr, arrived[most_chunks] = {},
                computed[most_chunks] = {};
    int chunks = 1;
    char* received_rows = nullptr;
    int *experts = nullptr, *all_experts = nullptr, *counts = nullptr, *places = nullptr, *host_counts = nullptr;
    float *gates = nullptr, *all_gates = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr, *sent_sums = nullptr, *received_sums = nullptr;

    moe::Unit chunk(int index) const
    {
        return {0, layer.ranks, layer.tokens * index / chunks, layer.tokens * (index + 1) / chunks};
    }
};

__global__ void route(moe::Layer layer, const __nv_bfloat16* logits, int* experts, float* gates)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token < layer.tokensOf(layer.rank))
        moe::routeToken(layer, logits + int64_t(token) * layer.experts, experts + int64_t(token) * layer.top_k,
                        gates + int64_t(token) * layer.top_k);
}

// A warp a token.
__global__ void quantise(moe::Layer layer, const __nv_bfloat16* x, char* rows)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token >= layer.tokensOf(layer.rank))
        return;
    char* row = rows + token * layer.rowBytes();
    moe::quantiseRow(
        layer, x + int64_t(token) * layer.hidden,
        [&](int64_t at, uint4 value) { *reinterpret_cast<uint4*>(row + at) = value; },
        [&](int64_t at, uint32_t value) { *reinterpret_cast<uint32_t*>(row + at) = value; });
}

// Sums for this rank's own tokens need not be sent.
__global__ void sum(moe::Layer layer, moe::Received received, moe::Unit unit, const int* counts, const int* places,
                    const __nv_bfloat16* rows, __nv_bfloat16* sent, __nv_bfloat16* own)
{
    const int64_t i = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    const int length = unit.end - unit.begin, source = int(i / length), token = unit.begin + int(i % length);
    if (source >= layer.ranks || token >= layer.tokensOf(source))
        return;
    __nv_bfloat16* part = (source == layer.rank ? own : sent) + int64_t(source) * layer.tokens * layer.pitch();
    moe::sumOfExperts(layer, received, counts, places, rows, source, token, part + token * layer.pitch());
}

// Rows [unit.begin, unit.end) of each part: of `sent`, which has a part for each rank or is one for all, to the peers.
int exchange(State& s, const moe::Unit& unit, const char* sent, int64_t part_bytes, char* received, int64_t row_bytes)
{
    const moe::Layer& layer = s.layer;
    const size_t bytes = size_t((unit.end - unit.begin) * row_bytes), offset = size_t(unit.begin * row_bytes);
    CUCO_TRY(ncclGroupStart());
    for (int step = 1; step < layer.ranks; ++step) {
        const int to = (layer.rank + step) % layer.ranks, from = (layer.rank + layer.ranks - step) % layer.ranks;
        CUCO_TRY(ncclSend(sent + to * part_bytes + offset, bytes, ncclInt8, to, s.comm, s.side));
        CUCO_TRY(ncclRecv(received + from * layer.tokens * row_bytes + offset, bytes, ncclInt8, from, s.comm, s.side));
    }
    CUCO_TRY(ncclGroupEnd());
    return 0;
}

int makeEvent(cudaEvent_t* event)
{
    CUCO_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return 0;
}

int after(cudaEvent_t event, cudaStream_t on, cudaStream_t then)
{
    CUCO_TRY(cudaEventRecord(event, on));
    CUCO_TRY(cudaStreamWaitEvent(then, event, 0));
    return 0;
}

}  // namespace

extern "C" int cuco_setup(const cuco_context* context, void** state)
{
    auto* s = new (std::nothrow) State;
    if (!s)
        return cudaErrorMemoryAllocation;
    *state = s;
    s->comm = context->comm;
    const moe::Layer layer = s->layer = moe::layerOf(*context);
    if (!moe::isValid(layer))
        return cudaErrorInvalidValue;
    const int64_t all = int64_t(layer.ranks) * layer.tokens, rows = layer.ranks * layer.mostRowsOfSource();
    CUCO_TRY(s->scratch.make(&s->received_rows, all * layer.rowBytes()));
    CUCO_TRY(s->scratch.make(&s->experts, int64_t(layer.tokens) * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->gates, int64_t(layer.tokens) * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->all_experts, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->all_gates, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->counts, most_chunks * layer.localExperts()));
    CUCO_TRY(s->scratch.make(&s->places, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->x, rows * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, rows * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, rows * layer.middlePitch()));
    CUCO_TRY(s->scratch.make(&s->sent_sums, all * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->received_sums, all * layer.pitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts), most_chunks * moe::most_experts * sizeof(int)));
    const int64_t most = all / least_chunk_tokens;
    s->chunks = most < 1 ? 1 : most < most_chunks ? int(most) : most_chunks;
    CUCO_TRY(cudaStreamCreateWithFlags(&s->side, cudaStreamNonBlocking));
    for (int chunk = 0; chunk < most_chunks; ++chunk) {
        CUCO_TRY(makeEvent(&s->arrived[chunk]));
        CUCO_TRY(makeEvent(&s->computed[chunk]));
    }
    CUCO_TRY(makeEvent(&s->begun));
    CUCO_TRY(makeEvent(&s->counted));
    CUCO_TRY(makeEvent(&s->ended));
    CUCO_TRY(s->products.create(layer, expert_lanes));
    return 0;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    const moe::Layer& layer = s->layer;
    if (layer.tokens == 0)
        return 0;
    const size_t choices = size_t(layer.tokens) * layer.top_k;
    const int64_t all = int64_t(layer.ranks) * layer.tokens;
    const int own_blocks = moe::blocksFor(layer.tokens, threads / 32, INT32_MAX);
    const moe::Received received{s->received_rows, s->all_experts, s->all_gates, layer.tokens, layer.tokens, nullptr};
    moe::Units units{s->chunks, {}};
    for (int chunk = 0; chunk < s->chunks; ++chunk)
        units.of[chunk] = s->chunk(chunk);
    char* own_rows = s->received_rows + layer.rank * layer.tokens * layer.rowBytes();
    const size_t count_bytes = size_t(s->chunks) * layer.localExperts() * sizeof(int);
    const int64_t part = layer.tokens * layer.pitch();

    route<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[1]), s->experts,
                                              s->gates);
    quantise<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[0]), own_rows);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(after(s->begun, stream, s->side));
    CUCO_TRY(ncclAllGather(s->experts, s->all_experts, choices, ncclInt32, s->comm, s->side));
    CUCO_TRY(ncclAllGather(s->gates, s->all_gates, choices, ncclFloat32, s->comm, s->side));
    CUCO_TRY(after(s->arrived[0], s->side, stream));
    for (int chunk = 0; chunk < s->chunks; ++chunk) {
        CUCO_TRY(exchange(*s, units.of[chunk], own_rows, 0, s->received_rows, layer.rowBytes()));
        CUCO_TRY(cudaEventRecord(s->arrived[chunk], s->side));
    }
    CUCO_TRY(cudaMemsetAsync(s->counts, 0, count_bytes, stream));
    moe::planRows<<<moe::blocksFor(all, threads, most_blocks), threads, 0, stream>>>(layer, received, units, s->counts,
                                                                                     s->places);
    CUCO_TRY(cudaMemcpyAsync(s->host_counts, s->counts, count_bytes, cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaEventRecord(s->counted, stream));
    CUCO_TRY(cudaEventSynchronize(s->counted));

    for (int chunk = 0; chunk < s->chunks; ++chunk) {
        const moe::Unit unit = units.of[chunk];
        const int64_t tokens = int64_t(layer.ranks) * (unit.end - unit.begin);
        const int* counts = s->counts + chunk * layer.localExperts();
        CUCO_TRY(cudaStreamWaitEvent(stream, s->arrived[chunk], 0));
        moe::gatherRows<<<moe::blocksFor(tokens, threads / 32, most_blocks), threads, 0, stream>>>(
            layer, received, unit, counts, s->places, s->x);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(s->products.run(layer, s->host_counts + chunk * layer.localExperts(), io->inputs[2], io->inputs[3],
                                 s->x, s->gate_up, s->middle, stream));
        sum<<<moe::blocksFor(tokens, threads / 32, INT32_MAX), threads, 0, stream>>>(
            layer, received, unit, counts, s->places, s->x, s->sent_sums, s->received_sums);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(after(s->computed[chunk], stream, s->side));
        CUCO_TRY(exchange(*s, unit, reinterpret_cast<const char*>(s->sent_sums), part * 2,
                          reinterpret_cast<char*>(s->received_sums), layer.pitch() * 2));
    }
    CUCO_TRY(after(s->ended, s->side, stream));
    moe::sumOfRanks<<<own_blocks, threads, 0, stream>>>(layer, s->experts, nullptr, s->received_sums, part,
                                                        static_cast<__nv_bfloat16*>(io->outputs[0]));
    CUCO_TRY(cudaGetLastError());
    return 0;
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->products.destroy();
    for (int chunk = 0; chunk < most_chunks; ++chunk) {
        if (s->arrived[chunk])
            cudaEventDestroy(s->arrived[chunk]);
        if (s->computed[chunk])
            cudaEventDestroy(s->computed[chunk]);
    }
    cudaEvent_t const others[] = {s->begun, s->counted, s->ended};
    for (cudaEvent_t event : others) {
        if (event)
            cudaEventDestroy(event);
    }
    if (s->side)
        cudaStreamDestroy(s->side);
    s->scratch.free();
    if (s->host_counts)
        cudaFreeHost(s->host_counts);
    delete s;
}
