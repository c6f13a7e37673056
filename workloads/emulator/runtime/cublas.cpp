// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "cublas_v2.h"

#include "cuco_emu/small_float.h"

#include "runtime/copies.h"
#include "runtime/failure.h"
#include "runtime/fast.h"
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"
#include "runtime/poll.h"
#include "runtime/streams.h"

#include <algorithm>
#include <cmath>
#include <cstring>

struct cublasContext {
    cuco_emu::Rank* rank = nullptr;
    cudaStream_t stream = nullptr;
    cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
    int sm_target = 0;
};

namespace cuco_emu {
namespace {

struct Product {
    bool transpose_a = false, transpose_b = false;
    std::size_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0, batches = 1;
    cudaDataType type_a = CUDA_R_32F, type_b = CUDA_R_32F, type_c = CUDA_R_32F;
    const char* a = nullptr;
    const char* b = nullptr;
    char* c = nullptr;
    std::size_t stride_a = 0, stride_b = 0, stride_c = 0;
    float alpha = 1, beta = 0;
};

std::size_t size_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 0;
}

float load(const char* base, std::size_t index, cudaDataType type)
{
    if (type == CUDA_R_32F) {
        float value;
        std::memcpy(&value, base + index * 4, 4);
        return value;
    }
    std::uint16_t bits;
    std::memcpy(&bits, base + index * 2, 2);
    return type == CUDA_R_16BF ? Bf16Format::to_float(bits) : HalfFormat::to_float(bits);
}

void store(char* base, std::size_t index, cudaDataType type, float value)
{
    if (type == CUDA_R_32F) {
        std::memcpy(base + index * 4, &value, 4);
        return;
    }
    const std::uint16_t bits = type == CUDA_R_16BF ? Bf16Format::from_float(value) : HalfFormat::from_float(value);
    std::memcpy(base + index * 2, &bits, 2);
}

/// c[n][m] += a[k][m] * b[n][k], four columns at a time.
CUCO_EMU_FAST void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k)
{
    std::size_t j = 0;
    for (; j + 4 <= n; j += 4) {
        float* __restrict c0 = c + j * m;
        float* __restrict c1 = c0 + m;
        float* __restrict c2 = c1 + m;
        float* __restrict c3 = c2 + m;
        for (std::size_t p = 0; p < k; ++p) {
            const float* __restrict column = a + p * m;
            const float b0 = b[j * k + p], b1 = b[(j + 1) * k + p], b2 = b[(j + 2) * k + p], b3 = b[(j + 3) * k + p];
            for (std::size_t i = 0; i < m; ++i) {
                const float value = column[i];
                c0[i] += value * b0;
                c1[i] += value * b1;
                c2[i] += value * b2;
                c3[i] += value * b3;
            }
        }
    }
    for (; j < n; ++j) {
        float* __restrict column_c = c + j * m;
        for (std::size_t p = 0; p < k; ++p) {
            const float* __restrict column = a + p * m;
            const float value = b[j * k + p];
            for (std::size_t i = 0; i < m; ++i)
                column_c[i] += column[i] * value;
        }
    }
}

void compute(const Product& product)
{
    const std::size_t m = product.m, n = product.n, k = product.k;
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (std::size_t batch = 0; batch < product.batches; ++batch) {
        const char* from_a = product.a + batch * product.stride_a * size_of(product.type_a);
        const char* from_b = product.b + batch * product.stride_b * size_of(product.type_b);
        char* to_c = product.c + batch * product.stride_c * size_of(product.type_c);
        for (std::size_t p = 0; p < k; ++p)
            for (std::size_t i = 0; i < m; ++i)
                a[p * m + i] =
                    load(from_a, product.transpose_a ? i * product.lda + p : p * product.lda + i, product.type_a);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t p = 0; p < k; ++p)
                b[j * k + p] =
                    load(from_b, product.transpose_b ? p * product.ldb + j : j * product.ldb + p, product.type_b);
        std::ranges::fill(c, 0.0f);
        multiply(a.data(), b.data(), c.data(), m, n, k);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < m; ++i) {
                const std::size_t index = j * product.ldc + i;
                float value = product.alpha * c[j * m + i];
                if (product.beta != 0)
                    value += product.beta * load(to_c, index, product.type_c);
                store(to_c, index, product.type_c, value);
            }
    }
}

std::size_t extent(std::size_t rows, std::size_t columns, std::size_t leading)
{
    return columns == 0 ? 0 : (columns - 1) * leading + rows;
}

/// How the represented product is divided: its tiles come in whole waves, and smaller tiles and parts of the depth,
/// which fill waves better, reuse less.
struct Tiling {
    double tiles = 1;   ///< of the real product
    double factor = 1;  ///< of the full rate, while a tile has its SM
};

Tiling best_tiling(const Product& product, double real_sms)
{
    struct Tile {
        double rows, columns, factor;
    };
    static constexpr Tile choices[] = {
        {128, 256, 1.0}, {256, 128, 1.0}, {128, 128, 0.88}, {64, 128, 0.7}, {64, 64, 0.5}};
    // The depth is halved as often as it stays long enough; the sums of its parts go through memory.
    constexpr double least_depth = 512, parts_factor = 0.9;
    const double scale = std::sqrt(machine().byte_scale);
    Tiling best;
    double best_efficiency = 0;
    for (const Tile& tile : choices) {
        const double whole = std::ceil(static_cast<double>(product.m) * scale / tile.rows) *
                             std::ceil(static_cast<double>(product.n) * scale / tile.columns) *
                             static_cast<double>(product.batches);
        const double depth = static_cast<double>(product.k) * scale;
        for (int parts = 1; parts == 1 || depth / parts >= least_depth; parts *= 2) {
            const double count = whole * parts, factor = tile.factor * std::pow(parts_factor, std::log2(parts));
            const double efficiency = factor * count / (std::ceil(count / real_sms) * real_sms);
            if (efficiency > best_efficiency) {
                best_efficiency = efficiency;
                best = {count, factor};
            }
        }
    }
    return best;
}

void note_matrix(const Command& command, const char* matrix, std::size_t rows, std::size_t columns, std::size_t leading,
                 cudaDataType type, bool write)
{
    for (std::size_t column = 0; column < columns; ++column)
        race_in_command(command, matrix + column * leading * size_of(type), rows * size_of(type), write);
}

void note_accesses(const Product& product, const Command& command)
{
    const std::size_t m = product.m, n = product.n, k = product.k;
    for (std::size_t batch = 0; batch < product.batches; ++batch) {
        note_matrix(command, product.a + batch * product.stride_a * size_of(product.type_a),
                    product.transpose_a ? k : m, product.transpose_a ? m : k, product.lda, product.type_a, false);
        note_matrix(command, product.b + batch * product.stride_b * size_of(product.type_b),
                    product.transpose_b ? n : k, product.transpose_b ? k : n, product.ldb, product.type_b, false);
        note_matrix(command, product.c + batch * product.stride_c * size_of(product.type_c), m, n, product.ldc,
                    product.type_c, true);
    }
}

bool links_busy(const Rank& rank)
{
    return rank.egress.next_free > now() || rank.ingress.next_free > now();
}

/// A modelled block is the tiles that as many real SMs as a modelled one stands for compute at a time, so that a
/// product that other kernels leave too few SMs takes another wave. With `sm_target` it has that many blocks, which
/// stay.
Kernel* tile_kernel(const Product& product, const CommandPtr& command, int sm_target)
{
    const Model& model = machine().model;
    const double sms = sm_target > 0 ? std::min<double>(sm_target, model.sm_count) : model.sm_count;
    const double real_of_one = model.real_sm_count / model.sm_count;
    const Tiling tiling = best_tiling(product, sms * real_of_one);
    const double all_blocks = std::ceil(tiling.tiles / real_of_one);
    const double blocks = sm_target > 0 ? std::min(all_blocks, sms) : all_blocks;
    const double waves_of_block = std::ceil(all_blocks / blocks);
    const double flops = 2.0 * static_cast<double>(product.m * product.n * product.k * product.batches);
    const double bytes = static_cast<double>(product.batches * (product.m * product.k * size_of(product.type_a) +
                                                                product.k * product.n * size_of(product.type_b) +
                                                                product.m * product.n * size_of(product.type_c)));
    const double tflops =
        (product.type_a == CUDA_R_32F ? model.gemm_fp32_tflops : model.gemm_tflops) * tiling.factor / model.sm_count;
    const double block_flops = flops / tiling.tiles * real_of_one * waves_of_block;
    auto* kernel = new Kernel;
    kernel->name = command->name;
    kernel->rank = command->stream->rank;
    kernel->grid = {static_cast<unsigned>(blocks), 1, 1};
    // Its 384 threads have nearly all registers of an SM: beside it fits a block of a warp or two.
    kernel->block = {sm_threads - 64, 1, 1};
    kernel->modelled_shared = 200 << 10;
    kernel->priority = command->stream->priority;
    kernel->computes = true;
    Rank& rank = *kernel->rank;
    kernel->block_work = [&rank, block_flops, block_bytes = bytes / blocks, tflops, hbm = model.gemm_hbm_gbps](
                             Work& work, Sm& sm) {
        const double slower = links_busy(rank) ? 1 + machine().model.gemm_link_slowdown : 1;
        work.need(sm.tensor, flops_time(block_flops * slower, tflops));
        work.need(rank.hbm, bytes_time(block_bytes, hbm));
    };
    kernel->done = [product, command](const Kernel& ended) {
        compute(product);
        if (race_checking)
            note_accesses(product, *command);
        const auto last = extent(product.m, product.n, product.ldc) + (product.batches - 1) * product.stride_c;
        note_write(product.c, last * size_of(product.type_c), ended.rank);
        finish(command);
    };
    return kernel;
}

cublasStatus_t submit_product(cublasHandle_t handle, const Product& product, const char* function, const void* site)
{
    Rank& rank = calling_rank(function, site);
    host_costs(machine().model.kernel_host_us);
    if (!handle || handle->rank != &rank)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    Stream* stream = find_stream(rank, handle->stream);
    if (!stream)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (size_of(product.type_a) == 0 || size_of(product.type_b) == 0 || size_of(product.type_c) == 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const std::size_t rows_a = product.transpose_a ? product.k : product.m;
    const std::size_t rows_b = product.transpose_b ? product.n : product.k;
    if (product.lda < std::max<std::size_t>(1, rows_a) || product.ldb < std::max<std::size_t>(1, rows_b) ||
        product.ldc < std::max<std::size_t>(1, product.m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (product.m == 0 || product.n == 0 || product.batches == 0)
        return CUBLAS_STATUS_SUCCESS;
    const std::size_t columns_a = product.transpose_a ? product.m : product.k;
    const std::size_t columns_b = product.transpose_b ? product.k : product.n;
    for (std::size_t batch = 0; batch < product.batches; ++batch) {
        check_range(product.a + batch * product.stride_a * size_of(product.type_a),
                    extent(rows_a, columns_a, product.lda) * size_of(product.type_a), false, function, site);
        check_range(product.b + batch * product.stride_b * size_of(product.type_b),
                    extent(rows_b, columns_b, product.ldb) * size_of(product.type_b), false, function, site);
        check_range(product.c + batch * product.stride_c * size_of(product.type_c),
                    extent(product.m, product.n, product.ldc) * size_of(product.type_c), true, function, site);
    }
    Operation operation;
    operation.name = product.type_a == CUDA_R_16BF  ? "cublas gemm bf16"
                     : product.type_a == CUDA_R_16F ? "cublas gemm f16"
                                                    : "cublas gemm f32";
    operation.kernel = true;
    operation.site = site;
    operation.start = [product, target = handle->sm_target](const CommandPtr& command) {
        const Time start = from_us(machine().model.gemm_start_us);
        at(now() + start, [=] { start_kernel(tile_kernel(product, command, target)); });
    };
    submit(*stream, std::move(operation));
    return CUBLAS_STATUS_SUCCESS;
}

float scalar(const void* pointer, cublasComputeType_t compute)
{
    if (compute == CUBLAS_COMPUTE_16F)
        return load(static_cast<const char*>(pointer), 0, CUDA_R_16F);
    return *static_cast<const float*>(pointer);
}

}  // namespace
}  // namespace cuco_emu

using namespace cuco_emu;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle)
{
    Rank& rank = calling_rank("cublasCreate", CUCO_EMU_CALL_SITE());
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasContext{&rank};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    Rank& rank = calling_rank("cublasDestroy", CUCO_EMU_CALL_SITE());
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    wait_for_device(rank, CUCO_EMU_CALL_SITE());
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream)
{
    if (!handle || !stream)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, std::size_t)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t)
{
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return mode == CUBLAS_POINTER_MODE_HOST ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count)
{
    if (!handle || count < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->sm_target = count;
    return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
        case CUBLAS_STATUS_SUCCESS:
            return "success";
        case CUBLAS_STATUS_NOT_INITIALIZED:
            return "the library was not initialized";
        case CUBLAS_STATUS_INVALID_VALUE:
            return "an unsupported value or parameter was passed to the function";
        case CUBLAS_STATUS_NOT_SUPPORTED:
            return "the functionality requested is not supported";
        default:
            return "an internal operation failed";
    }
}

namespace {

cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                    const void* alpha, const void* a, cudaDataType type_a, int lda, long long stride_a, const void* b,
                    cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* c, cudaDataType type_c,
                    int ldc, long long stride_c, int batches, cublasComputeType_t compute, const void* site)
{
    if (m < 0 || n < 0 || k < 0 || batches < 0 || !alpha || !beta || lda < 1 || ldb < 1 || ldc < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    const auto size = [](auto value) { return static_cast<std::size_t>(value); };
    Product product;
    product.transpose_a = op_a != CUBLAS_OP_N;
    product.transpose_b = op_b != CUBLAS_OP_N;
    product.m = size(m);
    product.n = size(n);
    product.k = size(k);
    product.lda = size(lda);
    product.ldb = size(ldb);
    product.ldc = size(ldc);
    product.batches = size(batches);
    product.type_a = type_a;
    product.type_b = type_b;
    product.type_c = type_c;
    product.a = static_cast<const char*>(a);
    product.b = static_cast<const char*>(b);
    product.c = static_cast<char*>(c);
    product.stride_a = size(stride_a);
    product.stride_b = size(stride_b);
    product.stride_c = size(stride_c);
    product.alpha = scalar(alpha, compute);
    product.beta = scalar(beta, compute);
    return submit_product(handle, product, "cublasGemmEx", site);
}

}  // namespace

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t)
{
    return gemm(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0, 1,
                compute, CUCO_EMU_CALL_SITE());
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                          int n, int k, const void* alpha, const void* a, cudaDataType type_a, int lda,
                                          long long stride_a, const void* b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t)
{
    return gemm(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, stride_a, b, type_b, ldb, stride_b, beta, c, type_c,
                ldc, stride_c, batches, compute, CUCO_EMU_CALL_SITE());
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                              int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc)
{
    return gemm(handle, op_a, op_b, m, n, k, alpha, a, CUDA_R_32F, lda, 0, b, CUDA_R_32F, ldb, 0, beta, c, CUDA_R_32F,
                ldc, 0, 1, CUBLAS_COMPUTE_32F, CUCO_EMU_CALL_SITE());
}
