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
// cheat: Rounds the sums that go back to 8 bits, with a power of two for each 128 elements, as the rows went out.
// class: wrong_result
// expect: wrong_result
// node: any

// cuco: backend=lsa placement=sequential sync=world issuer=warp chunk=0

// A warp routes and quantises a token and stores its row into the window of each rank that has one of its experts. All
// rows there, the experts' products; then a warp a token stores the sum of its experts here into its own rank's window.
CUCO_TUNE(push_sixteenths, 16, 2, 4, 8, 16);  // of the SMs, one CTA each
CUCO_TUNE(push_threads, 512, 128, 256, 512);
CUCO_TUNE(expert_lanes, 4, 1, 2, 4, 8);  // experts whose products run side by side

#include "device_trace.cuh"

namespace candidate {

struct State {
    moe::Layer layer{};
    ncclComm_t comm = nullptr;
    void* memory = nullptr;
    ncclWindow_t window = nullptr;
    ncclDevComm dev_comm{};
    bool dev_comm_made = false;
    int push_ctas = 1;
    moe::ExpertProducts products;
    moe::Scratch scratch;
    cudaEvent_t counted = nullptr;
    int *counts = nullptr, *places = nullptr, *host_counts = nullptr;
    __nv_bfloat16 *x = nullptr, *gate_up = nullptr, *middle = nullptr;
};

// The window of a rank: what each of the ranks has sent to it, part after part.
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

// Routes this rank's tokens, and sends rows and routing.
__global__ void dispatch(moe::Layer layer, const __nv_bfloat16* x, const __nv_bfloat16* logits, ncclWindow_t window,
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
        const uint64_t wanted = moe::ranksOf(layer, experts);
        for (int step = 1; step < layer.ranks && lane < layer.top_k; ++step) {
            const int peer = (layer.rank + step) % layer.ranks;
            reinterpret_cast<int*>(at(window, parts.experts, peer))[mine * layer.top_k + lane] = experts[lane];
            reinterpret_cast<float*>(at(window, parts.gates, peer))[mine * layer.top_k + lane] = gates[lane];
        }
        const size_t row = parts.rows + mine * layer.rowBytes();
        moe::quantiseRow(
            layer, x + int64_t(token) * layer.hidden,
            [&](int64_t offset, uint4 value) {
                for (int step = 0; step < layer.ranks; ++step) {
                    const int peer = (layer.rank + step) % layer.ranks;
                    if (wanted >> peer & 1)
                        *reinterpret_cast<uint4*>(at(window, row, peer) + offset) = value;
                }
            },
            [&](int64_t offset, uint32_t value) {
                for (int step = 0; step < layer.ranks; ++step) {
                    const int peer = (layer.rank + step) % layer.ranks;
                    if (wanted >> peer & 1)
                        *reinterpret_cast<uint32_t*>(at(window, row, peer) + offset) = value;
                }
            });
    }
    // Each CTA waits for its namesakes: when all have left, all peers' rows are here.
    trace.phase(cuco_trace::Phase::wait);
    barrier.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
    trace.end();
}

// A lane has eight elements in a row, and sixteen lanes a group.
__device__ uint32_t inEightBits(uint32_t pair, float scale)
{
    const float low = rintf(moe::fromBits(pair & 0xffff) / scale), high = rintf(moe::fromBits(pair >> 16) / scale);
    return moe::pairOf(low * scale, high * scale);
}

__device__ void roundRow(const moe::Layer& layer, __nv_bfloat16* row)
{
    const int lane = int(threadIdx.x) % 32;
    for (int first = 0; first < layer.hidden; first += 256) {
        const int column = first + 8 * lane;
        uint4 eight{};
        if (column < layer.hidden)
            eight = *reinterpret_cast<const uint4*>(row + column);
        uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
        float most = 0;
        for (const uint32_t word : words)
            most = fmaxf(most, fmaxf(fabsf(moe::fromBits(word & 0xffff)), fabsf(moe::fromBits(word >> 16))));
        for (int other = 8; other > 0; other /= 2)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, other));
        if (column >= layer.hidden || most == 0)
            continue;
        float scale = 1;
        while (scale * 127 < most)
            scale *= 2;
        while (scale * 63.5f >= most)
            scale /= 2;
        for (uint32_t& word : words)
            word = inEightBits(word, scale);
        *reinterpret_cast<uint4*>(row + column) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

// Sends the sums of this rank's experts to the tokens' own ranks.
__global__ void combine(moe::Layer layer, moe::Received received, const int* counts, const int* places,
                        const __nv_bfloat16* rows, ncclWindow_t window, ncclDevComm dev_comm)
{
    cuco_trace::Recorder trace(threadIdx.x == 0);
    trace.phase(cuco_trace::Phase::put);
    const Parts parts(layer);
    const int64_t warp = threadIdx.x / 32 * gridDim.x + blockIdx.x, warps = int64_t(gridDim.x) * blockDim.x / 32;
    for (int64_t i = warp; i < int64_t(layer.ranks) * layer.tokens; i += warps) {
        const int source = int((layer.rank + 1 + i / layer.tokens) % layer.ranks), token = int(i % layer.tokens);
        if (token >= layer.tokensOf(source))
            continue;
        auto* sums = reinterpret_cast<__nv_bfloat16*>(at(window, parts.sums, source));
        __nv_bfloat16* row = sums + (int64_t(layer.rank) * layer.tokens + token) * layer.pitch();
        moe::sumOfExperts(layer, received, counts, places, rows, source, token, row);
        const int lane = int(threadIdx.x) % 32;
        const bool mine = lane < layer.top_k && moe::rowOfLane(layer, received, counts, places, source, token) >= 0;
        if (__any_sync(~0u, mine))
            roundRow(layer, row);
    }
    trace.phase(cuco_trace::Phase::wait);
    ncclLsaBarrierSession<ncclCoopCta> barrier{ncclCoopCta(), dev_comm, ncclTeamTagLsa(), blockIdx.x};
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
    const moe::Layer layer = s->layer = moe::layerOf(context);
    if (!moe::isValid(layer))
        return cudaErrorInvalidValue;
    const int share = context.sm_count * int(push_sixteenths) / 16;
    s->push_ctas = share > 0 ? share : 1;
    CUCO_TRY(ncclMemAlloc(&s->memory, Parts(layer).bytes));
    CUCO_TRY(ncclCommWindowRegister(s->comm, s->memory, Parts(layer).bytes, &s->window, NCCL_WIN_COLL_SYMMETRIC));
    if (!s->window)
        return cudaErrorNotSupported;
    ncclDevCommRequirements requirements{};
    requirements.lsaBarrierCount = s->push_ctas;
    CUCO_TRY(ncclDevCommCreate(s->comm, &requirements, &s->dev_comm));
    s->dev_comm_made = true;
    if (s->dev_comm.lsaSize != layer.ranks)
        return cudaErrorNotSupported;
    const int64_t rows = layer.ranks * layer.mostRowsOfSource();
    CUCO_TRY(s->scratch.make(&s->counts, layer.localExperts()));
    CUCO_TRY(s->scratch.make(&s->places, int64_t(layer.ranks) * layer.tokens * layer.top_k));
    CUCO_TRY(s->scratch.make(&s->x, rows * layer.pitch()));
    CUCO_TRY(s->scratch.make(&s->gate_up, rows * 2 * layer.intermediate));
    CUCO_TRY(s->scratch.make(&s->middle, rows * layer.middlePitch()));
    CUCO_TRY(cudaMallocHost(reinterpret_cast<void**>(&s->host_counts), moe::most_experts * sizeof(int)));
    CUCO_TRY(cudaEventCreateWithFlags(&s->counted, cudaEventDisableTiming));
    CUCO_TRY(s->products.create(layer, int(expert_lanes)));
    return 0;
}

int run(void* state, const cuco_io& io, cudaStream_t stream)
{
    auto& s = *static_cast<State*>(state);
    const moe::Layer& layer = s.layer;
    if (layer.tokens == 0)
        return 0;
    constexpr int threads = 256, most_blocks = 528;
    const int64_t all = int64_t(layer.ranks) * layer.tokens;
    const Parts parts(layer);
    const char* own = static_cast<const char*>(s.memory);
    const moe::Received received{own + parts.rows,
                                 reinterpret_cast<const int*>(own + parts.experts),
                                 reinterpret_cast<const float*>(own + parts.gates),
                                 layer.tokens,
                                 layer.tokens,
                                 nullptr};
    const moe::Units units{1, {{0, layer.ranks, 0, layer.tokens}}};
    CUCO_TRY(cudaMemsetAsync(s.counts, 0, size_t(layer.localExperts()) * sizeof(int), stream));
    dispatch<<<s.push_ctas, int(push_threads), 0, stream>>>(layer, static_cast<const __nv_bfloat16*>(io.inputs[0]),
                                                            static_cast<const __nv_bfloat16*>(io.inputs[1]), s.window,
                                                            s.dev_comm);
    moe::planRows<<<moe::blocksFor(all, threads, most_blocks), threads, 0, stream>>>(layer, received, units, s.counts,
                                                                                     s.places);
    // How many rows each expert has is known to the device alone, and cuBLAS wants it from the host.
    CUCO_TRY(cudaMemcpyAsync(s.host_counts, s.counts, size_t(layer.localExperts()) * sizeof(int),
                             cudaMemcpyDeviceToHost, stream));
    CUCO_TRY(cudaEventRecord(s.counted, stream));
    moe::gatherRows<<<moe::blocksFor(all, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received, units.of[0], s.counts, s.places, s.x);
    CUCO_TRY(cudaGetLastError());
    CUCO_TRY(cudaEventSynchronize(s.counted));
    CUCO_TRY(s.products.run(layer, s.host_counts, io.inputs[2], io.inputs[3], s.x, s.gate_up, s.middle, stream));
    combine<<<s.push_ctas, int(push_threads), 0, stream>>>(layer, received, s.counts, s.places, s.x, s.window,
                                                           s.dev_comm);
    moe::sumOfRanks<<<moe::blocksFor(layer.tokens, threads / 32, most_blocks), threads, 0, stream>>>(
        layer, received.experts + int64_t(layer.rank) * layer.tokens * layer.top_k, nullptr,
        reinterpret_cast<const __nv_bfloat16*>(own + parts.sums), layer.tokens * layer.pitch(),
        static_cast<__nv_bfloat16*>(io.outputs[0]));
    CUCO_TRY(cudaGetLastError());
    return 0;
}

void teardown(void* state)
{
    auto* s = static_cast<State*>(state);
    if (!s)
        return;
    s->products.destroy();
    if (s->counted)
        cudaEventDestroy(s->counted);
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
