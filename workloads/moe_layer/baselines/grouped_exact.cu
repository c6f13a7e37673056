// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "moe_kernels.cuh"

#include <new>

// As host.cu, but only rows that are wanted go, packed, by grouped sends and receives. The host has to know how many
// before it can call NCCL.
namespace {

constexpr int threads = 256, most_blocks = 528, expert_lanes = 4;

struct State {
    moe::Layer layer{};
    ncclComm_t comm = nullptr;
    moe::ExpertProducts products;
    moe::Scratch scratch;
    cudaEvent_t counted = nullptr;
    char *sent_rows = nullptr, *received_rows = nullptr;
    int *experts = nullptr, *all_experts = nullptr, *counts = nullptr, *places = nullptr, *host_counts = nullptr;
    // Rows from one rank to another: this rank's, those of all ranks source by source, and the same on the host.
    int *row_counts = nullptr, *all_row_counts = nullptr, *host_row_counts = nullptr;
    int *numbers = nullptr, *all_numbers = nullptr;
    float *gates = nullptr, *all_gates = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr, *sent_sums = nullptr, *received_sums = nullptr;
};

// And numbers the rows for each rank.
__global__ void route(moe::Layer layer, const __nv_bfloat16* logits, int* experts, float* gates, int* row_counts,
                      int* numbers)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token >= layer.tokensOf(layer.rank))
        return;
    int* mine = experts + int64_t(token) * layer.top_k;
    moe::routeToken(layer, logits + int64_t(token) * layer.experts, mine, gates + int64_t(token) * layer.top_k);
    __syncwarp();
    const uint64_t ranks = moe::ranksOf(layer, mine);
    for (int r = int(threadIdx.x) % 32; r < layer.ranks; r += 32)
        numbers[int64_t(token) * layer.ranks + r] = ranks >> r & 1 ? atomicAdd(row_counts + r, 1) : -1;
}

// A warp a token: its row into the part of each rank that has one of its experts.
__global__ void pack(moe::Layer layer, const __nv_bfloat16* x, const int* experts, const int* numbers, char* parts)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token >= layer.tokensOf(layer.rank))
        return;
    const uint64_t ranks = moe::ranksOf(layer, experts + int64_t(token) * layer.top_k);
    const auto rowAt = [&](int r) {
        return parts + (int64_t(r) * layer.tokens + numbers[int64_t(token) * layer.ranks + r]) * layer.rowBytes();
    };
    moe::quantiseRow(
        layer, x + int64_t(token) * layer.hidden,
        [&](int64_t at, uint4 value) {
            for (int r = 0; r < layer.ranks; ++r) {
                if (ranks >> r & 1)
                    *reinterpret_cast<uint4*>(rowAt(r) + at) = value;
            }
        },
        [&](int64_t at, uint32_t value) {
            for (int r = 0; r < layer.ranks; ++r) {
                if (ranks >> r & 1)
                    *reinterpret_cast<uint32_t*>(rowAt(r) + at) = value;
            }
        });
}

__global__ void sum(moe::Layer layer, moe::Received received, const int* counts, const int* places,
                    const __nv_bfloat16* rows, __nv_bfloat16* sums)
{
    const int64_t i = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    const int source = int(i / layer.tokens), token = int(i % layer.tokens);
    if (source < layer.ranks && token < layer.tokensOf(source))
        moe::sumOfExperts(
            layer, received, counts, places, rows, source, token,
            sums + (int64_t(source) * layer.tokens + received.numberOf(layer, source, token)) * layer.pitch());
}

// Rows for each rank from `sent`, rows of each rank to `received`. Sums go back the way that rows came.
int exchange(State& s, const char* sent, char* received, int64_t row_bytes, bool back, cudaStream_t stream)
{
    const moe::Layer& layer = s.layer;
    const auto rows = [&](int from, int to) {
        return size_t(s.host_row_counts[back ? to * layer.ranks + from : from * layer.ranks + to] * row_bytes);
    };
    CUCO_TRY(ncclGroupStart());
    for (int step = 0; step < layer.ranks; ++step) {
        const int to = (layer.rank + step) % layer.ranks, from = (layer.rank + layer.ranks - step) % layer.ranks;
        if (rows(layer.rank, to) > 0)
            CUCO_TRY(
                ncclSend(sent + to * layer.tokens * row_bytes, rows(layer.rank, to), ncclInt8, to, s.comm, stream));
        if (rows(from, layer.rank) > 0)
            CUCO_TRY(ncclRecv(received + from * layer.tokens * row_bytes, rows(from, layer.rank), ncclInt8, from,
                              s.comm, stream));
    }
    CUCO_TRY(ncclGroupEnd());
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
    CUCO_TRY(s->scratch.make(&s->sent_rows, all * layer.rowBytes()));
    CUCO_TRY(s->scratch.make(&s->received_rows, all * layer.rowBytes()));
    CUCO_TRY(s->scratch.make(&s->experts, int64_t(layer.tokens) * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->gates, int64_t(layer.tokens) * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->all_experts, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->all_gates, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->counts, layer.localExperts()));
    CUCO_TRY(s->scratch.make(&s->places, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->row_counts, layer.ranks));
    CUCO_TRY(s->scratch.make(&s->all_row_counts, layer.ranks * layer.ranks));
    CUCO_TRY(s->scratch.make(&s->numbers, int64_t(layer.tokens) * layer.ranks));
    CUCO_TRY(s->scratch.make(&s->all_numbers, all * layer.ranks));
    CUCO_TRY(s->scratch.make(&s->x, rows * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, rows * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, rows * layer.middlePitch()));
    CUCO_TRY(s->scratch.make(&s->sent_sums, all * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->received_sums, all * layer.pitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts), moe::most_experts * sizeof(int)));
    CUCO_TRY(
        cudaMallocHost(reinterpret_cast<void**>(&s->host_row_counts), size_t(layer.ranks) * layer.ranks * sizeof(int)));
    CUCO_TRY(cudaEventCreateWithFlags(&s->counted, cudaEventDisableTiming));
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
    const int all_blocks = moe::blocksFor(all, threads / 32, INT32_MAX);
    CUCO_TRY(cudaMemsetAsync(s->row_counts, 0, size_t(layer.ranks) * sizeof(int), stream));
    route<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[1]), s->experts,
                                              s->gates, s->row_counts, s->numbers);
    CUCO_TRY(ncclAllGather(s->row_counts, s->all_row_counts, size_t(layer.ranks), ncclInt32, s->comm, stream));
    CUCO_TRY(ncclAllGather(s->numbers, s->all_numbers, size_t(layer.tokens) * layer.ranks, ncclInt32, s->comm, stream));
    CUCO_TRY(ncclAllGather(s->experts, s->all_experts, choices, ncclInt32, s->comm, stream));
    CUCO_TRY(ncclAllGather(s->gates, s->all_gates, choices, ncclFloat32, s->comm, stream));
    const moe::Received received{s->received_rows, s->all_experts, s->all_gates,
                                 layer.tokens,     layer.tokens,   s->all_numbers};
    moe::Units units{1, {{0, layer.ranks, 0, layer.tokens}}};
    CUCO_TRY(cudaMemsetAsync(s->counts, 0, size_t(layer.localExperts()) * sizeof(int), stream));
    moe::planRows<<<moe::blocksFor(all, threads, most_blocks), threads, 0, stream>>>(layer, received, units, s->counts,
                                                                                     s->places);
    CUCO_TRY(cudaMemcpyAsync(s->host_counts, s->counts, size_t(layer.localExperts()) * sizeof(int),
                             cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaMemcpyAsync(s->host_row_counts, s->all_row_counts, size_t(layer.ranks) * layer.ranks * sizeof(int),
                             cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaEventRecord(s->counted, stream));

    pack<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[0]), s->experts,
                                             s->numbers, s->sent_rows);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventSynchronize(s->counted));
    CUCO_TRY(exchange(*s, s->sent_rows, s->received_rows, layer.rowBytes(), false, stream));
    moe::gatherRows<<<moe::blocksFor(all, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received, units.of[0], s->counts, s->places, s->x);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(s->products.run(layer, s->host_counts, io->inputs[2], io->inputs[3], s->x, s->gate_up, s->middle, stream));

    sum<<<all_blocks, threads, 0, stream>>>(layer, received, s->counts, s->places, s->x, s->sent_sums);
    CUCO_TRY(exchange(*s, reinterpret_cast<const char*>(s->sent_sums), reinterpret_cast<char*>(s->received_sums),
                      layer.pitch() * int64_t(sizeof(__nv_bfloat16)), true, stream));
    moe::sumOfRanks<<<own_blocks, threads, 0, stream>>>(layer, s->experts, s->numbers, s->received_sums,
                                                        layer.tokens * layer.pitch(),
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
    if (s->counted)
        cudaEventDestroy(s->counted);
    s->scratch.free();
    if (s->host_counts)
        cudaFreeHost(s->host_counts);
    if (s->host_row_counts)
        cudaFreeHost(s->host_row_counts);
    delete s;
}
