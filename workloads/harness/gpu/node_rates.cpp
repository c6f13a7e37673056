// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/node_rates.h"

#include "device_memory.h"
#include "gpu/gpu_threads.h"

#include <algorithm>
#include <functional>

namespace cuco_harness {
namespace {

// Long enough that starting a copy does not count.
constexpr size_t copied_bytes = size_t(256) << 20;
constexpr int copy_repeats = 4, copies_in_a_row = 2;

Outcome timeOnce(cudaStream_t stream, const std::function<Outcome()>& copy, float& ms)
{
    cudaEvent_t begin = nullptr, end = nullptr;
    CUCO_CHECK(check(cudaEventCreate(&begin), "make an event"));
    CUCO_CHECK(check(cudaEventCreate(&end), "make an event"));
    CUCO_CHECK(check(cudaEventRecord(begin, stream), "record an event"));
    for (int i = 0; i < copies_in_a_row; ++i)
        CUCO_CHECK(copy());
    CUCO_CHECK(check(cudaEventRecord(end, stream), "record an event"));
    CUCO_CHECK(check(cudaStreamSynchronize(stream), "copy memory"));
    CUCO_CHECK(check(cudaEventElapsedTime(&ms, begin, end), "read the events"));
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return std::nullopt;
}

/// The slowest rank's fastest repeat.
Outcome timeCopies(const std::vector<cudaStream_t>& streams, const std::function<Outcome(int rank)>& copy, double& ms)
{
    std::vector<float> fastest_ms(streams.size(), 0);
    for (int repeat = 0; repeat < copy_repeats; ++repeat) {
        CUCO_CHECK(onEachGpu(int(streams.size()), [&](int rank) -> Outcome {
            float this_ms = 0;
            CUCO_CHECK(timeOnce(
                streams[size_t(rank)], [&] { return copy(rank); }, this_ms));
            float& fastest = fastest_ms[size_t(rank)];
            fastest = repeat > 0 ? std::min(fastest, this_ms) : this_ms;
            return std::nullopt;
        }));
    }
    ms = *std::max_element(fastest_ms.begin(), fastest_ms.end());
    return std::nullopt;
}

double rateOf(double bytes, double ms)
{
    return bytes * copies_in_a_row / (ms * 1e-3);
}

}  // namespace

Outcome measureNodeRates(const std::vector<cudaStream_t>& streams, NodeRates& rates)
{
    const int ranks = int(streams.size());
    std::vector<DeviceMemory> from(streams.size()), to(streams.size());
    CUCO_CHECK(onEachGpu(ranks, [&](int rank) -> Outcome {
        const int next = (rank + 1) % ranks;
        // Without it the copy goes through the host; on a second call it is already enabled.
        if (next != rank)
            cudaDeviceEnablePeerAccess(next, 0);
        cudaGetLastError();
        CUCO_CHECK(from[size_t(rank)].allocate(copied_bytes));
        return to[size_t(rank)].allocate(copied_bytes);
    }));
    double link_ms = 0, hbm_ms = 0;
    CUCO_CHECK(timeCopies(
        streams,
        [&](int rank) {
            const int next = (rank + 1) % ranks;
            return check(cudaMemcpyPeerAsync(to[size_t(next)].data(), next, from[size_t(rank)].data(), rank,
                                             copied_bytes, streams[size_t(rank)]),
                         "copy to a peer");
        },
        link_ms));
    CUCO_CHECK(timeCopies(
        streams,
        [&](int rank) {
            return check(cudaMemcpyAsync(to[size_t(rank)].data(), from[size_t(rank)].data(), copied_bytes,
                                         cudaMemcpyDeviceToDevice, streams[size_t(rank)]),
                         "copy memory");
        },
        hbm_ms));
    rates.link_bytes_per_s = rateOf(double(copied_bytes), link_ms);
    // A copy within the memory reads and writes it.
    rates.hbm_bytes_per_s = rateOf(2 * double(copied_bytes), hbm_ms);
    return std::nullopt;
}

}  // namespace cuco_harness
