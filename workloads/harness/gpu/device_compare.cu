// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_compare.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cmath>

namespace cuco_harness {
namespace {

constexpr int threads = 256, most_blocks = 1024;

__device__ double valueOf(float value)
{
    return value;
}
__device__ double valueOf(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}
__device__ double valueOf(__half value)
{
    return __half2float(value);
}
__device__ double valueOf(int32_t value)
{
    return value;
}

__device__ double sumOfBlock(double value)
{
    __shared__ double parts[threads / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    for (double part : parts)
        sum += part;
    __syncthreads();
    return sum;
}

template <class Element>
__global__ void measureNorms(const Element* output, const float* reference, int64_t elements, DeviceDifference* result)
{
    double reference_sum = 0, difference_sum = 0, not_numbers = 0;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
        const double expected = reference[i], difference = valueOf(output[i]) - expected;
        reference_sum += expected * expected;
        if (isfinite(difference))
            difference_sum += difference * difference;
        else
            not_numbers += 1;
    }
    reference_sum = sumOfBlock(reference_sum);
    difference_sum = sumOfBlock(difference_sum);
    not_numbers = sumOfBlock(not_numbers);
    if (threadIdx.x == 0) {
        atomicAdd(&result->squared_reference, reference_sum);
        atomicAdd(&result->squared_difference, difference_sum);
        atomicAdd(&result->not_numbers, static_cast<unsigned long long>(not_numbers));
    }
}

template <class Element>
__global__ void findWrong(const Element* output, const float* reference, int64_t elements, double max_error,
                          DeviceDifference* result)
{
    const double rms = sqrt(result->squared_reference / double(elements));
    double largest = -1;
    int64_t largest_at = 0;
    const int64_t step = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += step) {
        const double error = fabs(valueOf(output[i]) - double(reference[i]));
        const double scaled = error > 0 ? error / fmax(rms, fabs(double(reference[i]))) : error;
        if (!(scaled <= max_error)) {
            atomicAdd(&result->wrong_elements, 1ull);
            atomicMin(&result->first_wrong, static_cast<unsigned long long>(i));
            atomicAdd(&result->wrong_in_bin[i * mismatch_bins / elements], 1u);
        }
        if (isfinite(error) && scaled > largest) {
            largest = scaled;
            largest_at = i;
        }
    }
    // Errors are not negative, so their bits are ordered as they are.
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, largest, lanes);
        const int64_t other_at = __shfl_xor_sync(0xffffffffu, largest_at, lanes);
        if (other > largest || (other == largest && other_at < largest_at)) {
            largest = other;
            largest_at = other_at;
        }
    }
    if (threadIdx.x % 32 == 0 && largest >= 0) {
        const auto bits = static_cast<unsigned long long>(__double_as_longlong(largest));
        const auto before = atomicMax(reinterpret_cast<unsigned long long*>(&result->largest_error), bits);
        if (bits > before)
            atomicExch(&result->largest_error_at, static_cast<unsigned long long>(largest_at));
    }
}

template <class Element>
cudaError_t launchCompare(const void* output, const float* reference, int64_t elements, double max_error,
                          DeviceDifference* result, cudaStream_t stream)
{
    const int blocks = int(std::min<int64_t>((elements + threads - 1) / threads, most_blocks));
    const auto* typed = static_cast<const Element*>(output);
    measureNorms<<<blocks, threads, 0, stream>>>(typed, reference, elements, result);
    findWrong<<<blocks, threads, 0, stream>>>(typed, reference, elements, max_error, result);
    return cudaGetLastError();
}

__global__ void countChanged(const unsigned char* begin, size_t bytes, unsigned char value, ChangedBytes* result)
{
    const size_t step = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < bytes; i += step) {
        if (begin[i] != value) {
            atomicAdd(&result->count, 1ull);
            atomicMin(&result->first, static_cast<unsigned long long>(i));
        }
    }
}

}  // namespace

cudaError_t compareOnDevice(const void* output, const float* reference, ElementType type, int64_t elements,
                            double max_error, DeviceDifference* result, cudaStream_t stream)
{
    static const DeviceDifference nothing = [] {
        DeviceDifference difference{};
        difference.first_wrong = ~0ull;
        return difference;
    }();
    if (const auto error = cudaMemcpyAsync(result, &nothing, sizeof nothing, cudaMemcpyHostToDevice, stream))
        return error;
    if (elements == 0)
        return cudaSuccess;
    switch (type) {
        case ElementType::bf16:
            return launchCompare<__nv_bfloat16>(output, reference, elements, max_error, result, stream);
        case ElementType::f16:
            return launchCompare<__half>(output, reference, elements, max_error, result, stream);
        case ElementType::f32:
            return launchCompare<float>(output, reference, elements, max_error, result, stream);
        case ElementType::i32:
            return launchCompare<int32_t>(output, reference, elements, max_error, result, stream);
    }
    return cudaErrorInvalidValue;
}

Comparison readDifference(const DeviceDifference& difference, int64_t elements, double l2_bound)
{
    Comparison out;
    out.elements = elements;
    out.wrong_elements = int64_t(difference.wrong_elements);
    const double norm = std::sqrt(difference.squared_reference);
    out.relative_l2 = norm > 0                            ? std::sqrt(difference.squared_difference) / norm
                      : difference.squared_difference > 0 ? INFINITY
                                                          : 0;
    out.max_error = difference.largest_error;
    if (difference.not_numbers > 0)
        out.relative_l2 = out.max_error = NAN;
    if (out.wrong_elements > 0)
        out.element = int64_t(difference.first_wrong);
    else if (!(out.relative_l2 <= l2_bound))
        out.element = int64_t(difference.largest_error_at);
    return out;
}

cudaError_t findChangedBytes(const void* begin, size_t bytes, unsigned char value, ChangedBytes* result,
                             cudaStream_t stream)
{
    static const ChangedBytes nothing{0, ~0ull};
    if (const auto error = cudaMemcpyAsync(result, &nothing, sizeof nothing, cudaMemcpyHostToDevice, stream))
        return error;
    if (bytes == 0)
        return cudaSuccess;
    const int blocks = int(std::min<size_t>((bytes + threads - 1) / threads, most_blocks));
    countChanged<<<blocks, threads, 0, stream>>>(static_cast<const unsigned char*>(begin), bytes, value, result);
    return cudaGetLastError();
}

}  // namespace cuco_harness
