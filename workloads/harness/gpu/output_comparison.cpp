// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/output_comparison.h"

#include "gpu/device_compare.h"

#include <iterator>

namespace cuco_harness {

Outcome OutputComparison::allocate(int rank)
{
    return results_[size_t(rank)].allocate(sizeof(DeviceDifference));
}

Outcome OutputComparison::compare(const char* output, const BufferJob& buffer, const float* reference, int rank,
                                  cudaStream_t stream, Observation& seen) const
{
    const int64_t elements = buffer.elements[size_t(rank)];
    auto* const result = static_cast<DeviceDifference*>(results_[size_t(rank)].data());
    DeviceDifference difference{};
    CUCO_CHECK(check(compareOnDevice(output, reference, buffer.type, elements, max_error_, result, stream),
                     "compare the outputs"));
    CUCO_CHECK(check(cudaMemcpyAsync(&difference, result, sizeof difference, cudaMemcpyDeviceToHost, stream),
                     "compare the outputs"));
    CUCO_CHECK(check(cudaStreamSynchronize(stream), "compare the outputs"));
    seen.comparison = readDifference(difference, elements, relative_l2_);
    seen.right = seen.comparison.right(relative_l2_, max_error_);
    if (seen.right || seen.comparison.element < 0)
        return std::nullopt;
    std::vector<char> bytes(bytesOf(buffer.type));
    float expected = 0;
    const size_t at = size_t(seen.comparison.element);
    CUCO_CHECK(check(cudaMemcpy(bytes.data(), output + at * bytes.size(), bytes.size(), cudaMemcpyDeviceToHost),
                     "read a wrong element"));
    CUCO_CHECK(
        check(cudaMemcpy(&expected, reference + at, sizeof expected, cudaMemcpyDeviceToHost), "read a wrong element"));
    seen.comparison.expected = expected;
    seen.comparison.got = elementAt(bytes.data(), buffer.type, 0);
    seen.wrong_in_bin.assign(std::begin(difference.wrong_in_bin), std::end(difference.wrong_in_bin));
    return std::nullopt;
}

}  // namespace cuco_harness
