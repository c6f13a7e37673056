// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "candidate.h"
#include "moe_kernels.cuh"

#include <new>

// The work of host.cu without its communication: this rank's own tokens stand for those of all ranks, so that the
// result is wrong by design. The host does not wait either: it takes the numbers of rows from the first iteration.
// What a candidate takes longer than this is communication that it does not hide.
namespace {

constexpr int threads = 256, most_blocks = 528, expert_lanes = 4;

struct State {
    moe::Layer layer{};
    moe::ExpertProducts products;
    moe::Scratch scratch;
    bool counts_known = false;
    char* rows = nullptr;
    int *experts = nullptr, *counts = nullptr, *places = nullptr, *host_counts = nullptr;
    float* gates = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr, *sums = nullptr;
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
    const moe::Layer layer = s->layer = moe::layerOf(*context);
    if (!moe::isValid(layer))
        return cudaErrorInvalidValue;
    const int64_t all = int64_t(layer.ranks) * layer.tokens, rows = layer.ranks * layer.mostRowsOfSource();
    CUCO_TRY(s->scratch.make(&s->rows, layer.tokens * layer.rowBytes()));
    CUCO_TRY(s->scratch.make(&s->experts, int64_t(layer.tokens) * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->gates, int64_t(layer.tokens) * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->counts, layer.localExperts()));
    CUCO_TRY(s->scratch.make(&s->places, all * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->x, rows * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, rows * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, rows * layer.middlePitch()));
    CUCO_TRY(s->scratch.make(&s->sums, all * layer.pitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts), moe::most_experts * sizeof(int)));
    CUCO_TRY(s->products.create(layer, expert_lanes));
    return 0;
}

extern "C" int cuco_run(void* state, const cuco_io* io, cudaStream_t stream)
{
    auto* s = static_cast<State*>(state);
    const moe::Layer& layer = s->layer;
    if (layer.tokens == 0)
        return 0;
    const int64_t all = int64_t(layer.ranks) * layer.tokens;
    const int own_blocks = moe::blocksFor(layer.tokens, threads / 32, INT32_MAX);
    const int all_blocks = moe::blocksFor(all, threads / 32, INT32_MAX);
    const moe::Received received{s->rows, s->experts, s->gates, 0, 0, nullptr};
    const moe::Units units{1, {{0, layer.ranks, 0, layer.tokens}}};
    route<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[1]), s->experts,
                                              s->gates);
    quantise<<<own_blocks, threads, 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io->inputs[0]), s->rows);
    const size_t count_bytes = size_t(layer.localExperts()) * sizeof(int);
    CUCO_TRY(cudaMemsetAsync(s->counts, 0, count_bytes, stream));
    moe::planRows<<<moe::blocksFor(all, threads, most_blocks), threads, 0, stream>>>(layer, received, units, s->counts,
                                                                                     s->places);
    moe::gatherRows<<<moe::blocksFor(all, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received, units.of[0], s->counts, s->places, s->x);
    CUCO_TRY(cudaGetLastError());
    if (!s->counts_known) {
        CUCO_TRY(cudaMemcpyAsync(s->host_counts, s->counts, count_bytes, cudaMemcpyDeviceToHost, stream));
        CUCO_TRY(cudaStreamSynchronize(stream));
        s->counts_known = true;
    }
    CUCO_TRY(s->products.run(layer, s->host_counts, io->inputs[2], io->inputs[3], s->x, s->gate_up, s->middle, stream));
    sum<<<all_blocks, threads, 0, stream>>>(layer, received, s->counts, s->places, s->x, s->sums);
    moe::sumOfRanks<<<own_blocks, threads, 0, stream>>>(
        layer, s->experts, nullptr, s->sums, layer.tokens * layer.pitch(), static_cast<__nv_bfloat16*>(io->outputs[0]));
    CUCO_TRY(cudaGetLastError());
    return 0;
}

extern "C" void cuco_teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->products.destroy();
    s->scratch.free();
    if (s->host_counts)
        cudaFreeHost(s->host_counts);
    delete s;
}
