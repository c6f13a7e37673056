// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "moe_kernels.cuh"

#include <new>

// Host-driven: every pair of ranks exchanges as many rows as a rank has tokens, used or not, by ncclAlltoAll in both
// directions. The host asks the device how many rows each expert has before it calls cuBLAS.
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
    float *gates = nullptr, *all_gates = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr, *sent_sums = nullptr, *received_sums = nullptr;
};

__global__ void route(moe::Layer layer, const __nv_bfloat16* logits, int* experts, float* gates)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token < layer.tokensOf(layer.rank))
        moe::routeToken(layer, logits + int64_t(token) * layer.experts, experts + int64_t(token) * layer.top_k,
                        gates + int64_t(token) * layer.top_k);
}

// A warp a token: its row into the part of each rank that has one of its experts.
__global__ void pack(moe::Layer layer, const __nv_bfloat16* x, const int* experts, char* parts)
{
    const int token = int((blockIdx.x * blockDim.x + threadIdx.x) / 32);
    if (token >= layer.tokensOf(layer.rank))
        return;
    const uint64_t ranks = moe::ranksOf(layer, experts + int64_t(token) * layer.top_k);
    const auto rowAt = [&](int r) { return parts + (int64_t(r) * layer.tokens + token) * layer.rowBytes(); };
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
        moe::sumOfExperts(layer, received, counts, places, rows, source, token, sums + i * layer.pitch());
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
    CUCO_TRY(s->scratch.make(&s->x, rows * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, rows * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, rows * layer.middlePitch()));
    CUCO_TRY(s->scratch.make(&s->sent_sums, all * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->received_sums, all * layer.pitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts), moe::most_experts * sizeof(int)));
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
    route<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[1]), s->experts,
                                              s->gates);
    CUCO_TRY(ncclAllGather(s->experts, s->all_experts, choices, ncclInt32, s->comm, stream));
    CUCO_TRY(ncclAllGather(s->gates, s->all_gates, choices, ncclFloat32, s->comm, stream));
    const moe::Received received{s->received_rows, s->all_experts, s->all_gates, layer.tokens, layer.tokens, nullptr};
    moe::Units units{1, {{0, layer.ranks, 0, layer.tokens}}};
    CUCO_TRY(cudaMemsetAsync(s->counts, 0, size_t(layer.localExperts()) * sizeof(int), stream));
    moe::planRows<<<moe::blocksFor(all, threads, most_blocks), threads, 0, stream>>>(layer, received, units, s->counts,
                                                                                     s->places);
    CUCO_TRY(cudaMemcpyAsync(s->host_counts, s->counts, size_t(layer.localExperts()) * sizeof(int),
                             cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaEventRecord(s->counted, stream));

    pack<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[0]), s->experts,
                                             s->sent_rows);
    CUCO_TRY(ncclAlltoAll(s->sent_rows, s->received_rows, size_t(layer.tokens * layer.rowBytes()), ncclInt8, s->comm,
                          stream));
    moe::gatherRows<<<moe::blocksFor(all, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received, units.of[0], s->counts, s->places, s->x);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventSynchronize(s->counted));
    CUCO_TRY(s->products.run(layer, s->host_counts, io->inputs[2], io->inputs[3], s->x, s->gate_up, s->middle, stream));

    sum<<<all_blocks, threads, 0, stream>>>(layer, received, s->counts, s->places, s->x, s->sent_sums);
    CUCO_TRY(ncclAlltoAll(s->sent_sums, s->received_sums, size_t(layer.tokens * layer.pitch()), ncclBfloat16, s->comm,
                          stream));
    moe::sumOfRanks<<<own_blocks, threads, 0, stream>>>(layer, s->experts, nullptr, s->received_sums,
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
    delete s;
}
