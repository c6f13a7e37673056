// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What candidates of moe_layer do between dispatch and combine, on one rank: rows for its experts, the experts'
// products by cuBLAS, and a sum of a token's experts. A candidate is free to do any of it in another way.

#include "moe_layer.cuh"

#include <cublas_v2.h>

namespace moe {

/// What the ranks have sent to this one: rows and routing, source after source. A row that is not for this rank's
/// experts need not be there.
struct Received {
    const char* rows;
    const int* experts;
    const float* gates;
    int64_t source_rows;    ///< from one source to the next, in rows; 0: all are the same
    int64_t source_tokens;  ///< the same for routing
    /// Null: a source's rows lie as its tokens do. Otherwise only those for this rank are there, and numbers[token ·
    /// ranks + rank], source after source, says which of the source's rows for that rank a token is.
    const int* numbers;

    __device__ const char* row(const Layer& layer, int source, int token) const
    {
        return rows + (source * source_rows + numberOf(layer, source, token)) * layer.rowBytes();
    }
    __device__ int numberOf(const Layer& layer, int source, int token) const
    {
        return numbers ? numbers[(source * source_tokens + token) * layer.ranks + layer.rank] : token;
    }
    __device__ int64_t choice(const Layer& layer, int source, int token) const
    {
        return (source * source_tokens + token) * layer.top_k;
    }
};

/// Tokens [begin, end) of some sources, whose rows lie together, ordered by expert.
struct Unit {
    int first_source, sources, begin, end;

    __host__ __device__ bool has(int source, int token) const
    {
        return source >= first_source && source < first_source + sources && token >= begin && token < end;
    }
};
constexpr int most_units = 64;
struct Units {
    int count;
    Unit of[most_units];
};

/// A thread a token. counts[unit · localExperts + expert], zero before, are the rows of this rank's experts; places,
/// one for each choice of each token of each source, say which of its expert's rows a choice is, or -1.
__global__ void planRows(Layer layer, Received received, Units units, int* counts, int* places)
{
    const int first = layer.firstExpertOf(layer.rank), experts = layer.localExperts();
    const int64_t all = int64_t(layer.ranks) * layer.tokens;
    for (int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x; i < all; i += int64_t(gridDim.x) * blockDim.x) {
        const int source = int(i / layer.tokens), token = int(i % layer.tokens);
        if (token >= layer.tokensOf(source))
            continue;
        int unit = 0;
        while (unit < units.count && !units.of[unit].has(source, token))
            ++unit;
        const int* choices = received.experts + received.choice(layer, source, token);
        for (int choice = 0; choice < layer.top_k; ++choice) {
            const int expert = choices[choice] - first;
            int place = -1;
            if (unit < units.count && expert >= 0 && expert < experts)
                place = atomicAdd(counts + unit * experts + expert, 1);
            places[i * layer.top_k + choice] = place;
        }
    }
}

/// By a warp: the row of each of the token's choices on its lane, or -1. `counts` are the unit's.
__device__ inline int64_t rowOfLane(const Layer& layer, const Received& received, const int* counts, const int* places,
                                    int source, int token)
{
    const int lane = int(threadIdx.x) % 32;
    int64_t row = -1;
    if (lane < layer.top_k) {
        const int64_t at = (int64_t(source) * layer.tokens + token) * layer.top_k + lane;
        if (places[at] >= 0) {
            const int expert = received.experts[received.choice(layer, source, token) + lane];
            row = places[at];
            for (int before = layer.firstExpertOf(layer.rank); before < expert; ++before)
                row += counts[before - layer.firstExpertOf(layer.rank)];
        }
    }
    return row;
}

/// A warp a token: its row as bf16 to wherever its experts on this rank want it.
__global__ void gatherRows(Layer layer, Received received, Unit unit, const int* counts, const int* places,
                           __nv_bfloat16* x)
{
    const int lane = int(threadIdx.x) % 32, length = unit.end - unit.begin;
    const int64_t warp = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    const int64_t warps = int64_t(gridDim.x) * blockDim.x / 32;
    for (int64_t i = warp; i < int64_t(unit.sources) * length; i += warps) {
        const int source = unit.first_source + int(i / length), token = unit.begin + int(i % length);
        if (token >= layer.tokensOf(source))
            continue;
        const int64_t row = rowOfLane(layer, received, counts, places, source, token);
        const unsigned here = __ballot_sync(~0u, row >= 0);
        if (here == 0)
            continue;
        const char* from = received.row(layer, source, token);
        for (int first = 0; first < layer.hidden; first += 256) {
            const int column = first + 8 * lane;
            uint4 eight{};
            if (column < layer.hidden)
                eight = dequantiseEight(layer, from, column);
            for (unsigned left = here; left != 0; left &= left - 1) {
                const int64_t target = __shfl_sync(~0u, row, __ffs(int(left)) - 1);
                if (column < layer.hidden)
                    *reinterpret_cast<uint4*>(x + target * layer.pitch() + column) = eight;
            }
        }
    }
}

/// SiLU(gate) · up of rows of 2 · intermediate.
__global__ void activate(const __nv_bfloat16* gate_up, __nv_bfloat16* middle, int64_t rows, int intermediate,
                         int64_t pitch)
{
    const auto swiglu = [](float gate, float up) { return gate / (1.0f + __expf(-gate)) * up; };
    const int64_t thread = blockIdx.x * int64_t(blockDim.x) + threadIdx.x, threads = int64_t(gridDim.x) * blockDim.x;
    if (intermediate % 8 != 0) {
        for (int64_t i = thread; i < rows * intermediate; i += threads) {
            const __nv_bfloat16* gate = gate_up + i / intermediate * 2 * intermediate + i % intermediate;
            middle[i / intermediate * pitch + i % intermediate] =
                __float2bfloat16(swiglu(__bfloat162float(gate[0]), __bfloat162float(gate[intermediate])));
        }
        return;
    }
    const int64_t vectors = intermediate / 8;
    for (int64_t i = thread; i < rows * vectors; i += threads) {
        const auto* gates = reinterpret_cast<const uint4*>(gate_up) + i / vectors * 2 * vectors + i % vectors;
        const uint4 gate = gates[0], up = gates[vectors];
        const uint32_t g[4] = {gate.x, gate.y, gate.z, gate.w}, u[4] = {up.x, up.y, up.z, up.w};
        uint32_t words[4];
        for (int w = 0; w < 4; ++w)
            words[w] = pairOf(swiglu(fromBits(g[w] & 0xffff), fromBits(u[w] & 0xffff)),
                              swiglu(fromBits(g[w] >> 16), fromBits(u[w] >> 16)));
        *reinterpret_cast<uint4*>(middle + i / vectors * pitch + i % vectors * 8) =
            make_uint4(words[0], words[1], words[2], words[3]);
    }
}

__device__ inline void addScaled(float* sum, const __nv_bfloat16* from, float scale)
{
    const uint4 vector = *reinterpret_cast<const uint4*>(from);
    const uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    for (int w = 0; w < 4; ++w) {
        sum[2 * w] += scale * fromBits(words[w] & 0xffff);
        sum[2 * w + 1] += scale * fromBits(words[w] >> 16);
    }
}

/// By a warp: what this rank's experts say about a token, weighted by its gates, to a row of pitch() elements. Nothing
/// is written when none of them has it.
__device__ inline void sumOfExperts(const Layer& layer, const Received& received, const int* counts, const int* places,
                                    const __nv_bfloat16* rows, int source, int token, __nv_bfloat16* to)
{
    const int lane = int(threadIdx.x) % 32;
    const int64_t row = rowOfLane(layer, received, counts, places, source, token);
    const unsigned here = __ballot_sync(~0u, row >= 0);
    if (here == 0)
        return;
    const float gate = lane < layer.top_k ? received.gates[received.choice(layer, source, token) + lane] : 0;
    for (int first = 0; first < layer.hidden; first += 256) {
        const int column = first + 8 * lane;
        float sum[8] = {};
        for (unsigned left = here; left != 0; left &= left - 1) {
            const int choice = __ffs(int(left)) - 1;
            const int64_t from = __shfl_sync(~0u, row, choice);
            const float share = __shfl_sync(~0u, gate, choice);
            if (column < layer.hidden)
                addScaled(sum, rows + from * layer.pitch() + column, share);
        }
        if (column < layer.hidden)
            *reinterpret_cast<uint4*>(to + column) = make_uint4(pairOf(sum[0], sum[1]), pairOf(sum[2], sum[3]),
                                                                pairOf(sum[4], sum[5]), pairOf(sum[6], sum[7]));
    }
}

/// A warp a token of this rank: the sum of what its experts' ranks have sent, row `token` of part r at
/// parts + r · part_elements, or row numbers[token · ranks + r] of it.
__global__ void sumOfRanks(Layer layer, const int* experts, const int* numbers, const __nv_bfloat16* parts,
                           int64_t part_elements, __nv_bfloat16* y)
{
    const int lane = int(threadIdx.x) % 32;
    const int64_t warp = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) / 32;
    const int64_t warps = int64_t(gridDim.x) * blockDim.x / 32;
    for (int64_t token = warp; token < layer.tokensOf(layer.rank); token += warps) {
        const uint64_t ranks = ranksOf(layer, experts + token * layer.top_k);
        for (int column = 8 * lane; column < layer.hidden; column += 256) {
            float sum[8] = {};
            for (int r = 0; r < layer.ranks; ++r) {
                const int64_t row = numbers ? numbers[token * layer.ranks + r] : token;
                if (ranks >> r & 1)
                    addScaled(sum, parts + r * part_elements + row * layer.pitch() + column, 1.0f);
            }
            __nv_bfloat16* to = y + token * layer.hidden + column;
            if (layer.hidden % 8 == 0)
                *reinterpret_cast<uint4*>(to) = make_uint4(pairOf(sum[0], sum[1]), pairOf(sum[2], sum[3]),
                                                           pairOf(sum[4], sum[5]), pairOf(sum[6], sum[7]));
            else {
                for (int i = 0; i < 8 && column + i < layer.hidden; ++i)
                    to[i] = __float2bfloat16(sum[i]);
            }
        }
    }
}

/// Blocks of 256 threads, for a grid-stride loop over so many warps' or threads' pieces of work.
inline int blocksFor(int64_t pieces, int64_t pieces_a_block, int most)
{
    const int64_t blocks = (pieces + pieces_a_block - 1) / pieces_a_block;
    return int(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/// Device memory that is freed together.
class Scratch {
public:
    template <class Element>
    int make(Element** pointer, int64_t elements)
    {
        if (made_ == most)
            return cudaErrorMemoryAllocation;
        CUCO_TRY(cudaMalloc(&memory_[made_], size_t(elements > 0 ? elements : 1) * sizeof(Element)));
        *pointer = static_cast<Element*>(memory_[made_++]);
        return 0;
    }
    void free()
    {
        while (made_ > 0)
            cudaFree(memory_[--made_]);
    }

private:
    static constexpr int most = 24;
    int made_ = 0;
    void* memory_[most] = {};
};

/// The experts' products of one unit. Experts that lie on different lanes run side by side, so that those with few rows
/// do not leave SMs idle.
class ExpertProducts {
public:
    static constexpr int most_lanes = 8;

    int create(const Layer& layer, int lanes, int sm_target = 0)
    {
        lanes_ = lanes < most_lanes ? lanes : most_lanes;
        for (int lane = 0; lane < lanes_; ++lane) {
            CUCO_TRY(cublasCreate(&blas_[lane]));
            if (sm_target > 0)
                CUCO_TRY(cublasSetSmCountTarget(blas_[lane], sm_target));
            if (lane == 0)
                continue;
            CUCO_TRY(cudaStreamCreateWithFlags(&side_[lane], cudaStreamNonBlocking));
            CUCO_TRY(cudaEventCreateWithFlags(&joined_[lane], cudaEventDisableTiming));
        }
        CUCO_TRY(cudaEventCreateWithFlags(&forked_, cudaEventDisableTiming));
#ifdef __NVCC__
        CUCO_TRY(loadKernels(layer, sm_target));
#else
        (void)layer;
#endif
        return 0;
    }

    void destroy()
    {
        for (int lane = 0; lane < lanes_; ++lane) {
            if (blas_[lane])
                cublasDestroy(blas_[lane]);
            if (joined_[lane])
                cudaEventDestroy(joined_[lane]);
            if (side_[lane])
                cudaStreamDestroy(side_[lane]);
        }
        if (forked_)
            cudaEventDestroy(forked_);
        lanes_ = 0;
    }

    /// Behind what is on `stream`, which then waits for it. counts[expert] rows of x, expert after expert, become their
    /// outputs in place. gate_up and middle are scratch for as many rows.
    int run(const Layer& layer, const int* counts, const void* up_weights, const void* down_weights, __nv_bfloat16* x,
            __nv_bfloat16* gate_up, __nv_bfloat16* middle, cudaStream_t stream)
    {
        if (lanes_ > 1)
            CUCO_TRY(cudaEventRecord(forked_, stream));
        for (int lane = 1; lane < lanes_; ++lane)
            CUCO_TRY(cudaStreamWaitEvent(side_[lane], forked_, 0));
        const int64_t weights = int64_t(layer.hidden) * layer.intermediate;
        int64_t row = 0;
        for (int expert = 0, lane = 0; expert < layer.localExperts(); ++expert) {
            const int rows = counts[expert];
            if (rows == 0)
                continue;
            CUCO_TRY(multiply(layer, rows, static_cast<const __nv_bfloat16*>(up_weights) + expert * 2 * weights,
                              static_cast<const __nv_bfloat16*>(down_weights) + expert * weights,
                              x + row * layer.pitch(), gate_up + row * 2 * layer.intermediate,
                              middle + row * layer.middlePitch(), lane, lane == 0 ? stream : side_[lane]));
            row += rows;
            lane = (lane + 1) % lanes_;
        }
        for (int lane = 1; lane < lanes_; ++lane) {
            CUCO_TRY(cudaEventRecord(joined_[lane], side_[lane]));
            CUCO_TRY(cudaStreamWaitEvent(stream, joined_[lane], 0));
        }
        return 0;
    }

private:
    struct Loaded {
        int hidden, intermediate, sm_target;
        int64_t rows;
    };

    /// cuBLAS has other kernels for other numbers of rows, which change every few rows, and the first use of each loads
    /// it: up to 3 ms, while routing brings new numbers in every iteration. So each number is used once; from some on
    /// few make a difference. Kernels stay loaded until the process ends.
    int loadKernels(const Layer& layer, int sm_target)
    {
        constexpr int64_t every_one = 4096, step_beyond = 64;
        const int64_t all = int64_t(layer.ranks) * layer.tokens;
        const int64_t even = all * layer.top_k / layer.experts, most = even * 5 / 2 < all ? even * 5 / 2 : all;
        static Loaded loaded;
        if (loaded.hidden != layer.hidden || loaded.intermediate != layer.intermediate || loaded.sm_target != sm_target)
            loaded = {layer.hidden, layer.intermediate, sm_target, 0};
        if (loaded.rows >= most)
            return 0;
        Scratch scratch;
        __nv_bfloat16 *up = nullptr, *down = nullptr, *x = nullptr, *gate_up = nullptr, *middle = nullptr;
        int code = scratch.make(&up, int64_t(2) * layer.intermediate * layer.hidden);
        code = code != 0 ? code : scratch.make(&down, int64_t(layer.hidden) * layer.intermediate);
        code = code != 0 ? code : scratch.make(&x, most * layer.pitch());
        code = code != 0 ? code : scratch.make(&gate_up, most * 2 * layer.intermediate);
        code = code != 0 ? code : scratch.make(&middle, most * layer.middlePitch());
        for (int64_t rows = loaded.rows + 1; rows <= most && code == 0; rows += rows < every_one ? 1 : step_beyond)
            code = multiply(layer, int(rows), up, down, x, gate_up, middle, 0, nullptr);
        const cudaError_t error = cudaDeviceSynchronize();
        scratch.free();
        if (code == 0 && error == cudaSuccess)
            loaded.rows = most;
        return code != 0 ? code : cuco_error_code(error);
    }

    /// One expert: `rows` rows of x become its outputs.
    int multiply(const Layer& layer, int rows, const __nv_bfloat16* up, const __nv_bfloat16* down, __nv_bfloat16* x,
                 __nv_bfloat16* gate_up, __nv_bfloat16* middle, int lane, cudaStream_t on)
    {
        const int hidden = layer.hidden, intermediate = layer.intermediate, pitch = int(layer.pitch());
        const int middle_pitch = int(layer.middlePitch());
        const float up_scale = layer.upScale(), down_scale = layer.downScale(), zero = 0.0f;
        CUCO_TRY(cublasSetStream(blas_[lane], on));
        // Row-major X · Wᵀ is column-major W · Xᵀ with W stored transposed.
        CUCO_TRY(cublasGemmEx(blas_[lane], CUBLAS_OP_T, CUBLAS_OP_N, 2 * intermediate, rows, hidden, &up_scale, up,
                              CUDA_R_16BF, hidden, x, CUDA_R_16BF, pitch, &zero, gate_up, CUDA_R_16BF, 2 * intermediate,
                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        activate<<<blocksFor(int64_t(rows) * intermediate, 256 * 8, 528), 256, 0, on>>>(gate_up, middle, rows,
                                                                                        intermediate, middle_pitch);
        CUCO_TRY(cudaGetLastError());
        CUCO_TRY(cublasGemmEx(blas_[lane], CUBLAS_OP_T, CUBLAS_OP_N, hidden, rows, intermediate, &down_scale, down,
                              CUDA_R_16BF, intermediate, middle, CUDA_R_16BF, middle_pitch, &zero, x, CUDA_R_16BF,
                              pitch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        return 0;
    }

    int lanes_ = 0;
    cublasHandle_t blas_[most_lanes] = {};
    cudaStream_t side_[most_lanes] = {};
    cudaEvent_t forked_ = nullptr, joined_[most_lanes] = {};
};

}  // namespace moe
