// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/node_rates.h"

#include "device_memory.h"
#include "gpu/gpu_threads.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace cuco_harness {
namespace {

// Long enough that starting a copy does not count.
constexpr size_t copied_bytes = size_t(256) << 20;
constexpr int copy_repeats = 4, copies_in_a_row = 2;
// Networks are slower, and not always fastest with most.
constexpr size_t sent_bytes[] = {size_t(4) << 20, size_t(16) << 20, size_t(64) << 20};

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
Outcome timeCopies(const HostShare& share, const std::vector<cudaStream_t>& streams,
                   const std::function<Outcome(int rank)>& copy, double& ms)
{
    std::vector<float> fastest_ms(streams.size(), 0);
    for (int repeat = 0; repeat < copy_repeats; ++repeat) {
        CUCO_CHECK(onEachGpu(share, [&](int rank) -> Outcome {
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

Outcome measureNodeRates(const HostShare& share, const std::vector<cudaStream_t>& streams, NodeRates& rates)
{
    const auto next = [&](int rank) { return share.first_rank + (rank - share.first_rank + 1) % share.ranks; };
    std::vector<DeviceMemory> from(streams.size()), to(streams.size());
    CUCO_CHECK(onEachGpu(share, [&](int rank) -> Outcome {
        // Without it the copy goes through the host; on a second call it is already enabled.
        if (next(rank) != rank)
            cudaDeviceEnablePeerAccess(share.deviceOf(next(rank)), 0);
        cudaGetLastError();
        CUCO_CHECK(from[size_t(rank)].allocate(copied_bytes));
        return to[size_t(rank)].allocate(copied_bytes);
    }));
    double link_ms = 0, hbm_ms = 0;
    CUCO_CHECK(timeCopies(
        share, streams,
        [&](int rank) {
            return check(cudaMemcpyPeerAsync(to[size_t(next(rank))].data(), share.deviceOf(next(rank)),
                                             from[size_t(rank)].data(), share.deviceOf(rank), copied_bytes,
                                             streams[size_t(rank)]),
                         "copy to a peer");
        },
        link_ms));
    CUCO_CHECK(timeCopies(
        share, streams,
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

Outcome measureLinkRate(ncclComm_t comm, int rank, int ranks, cudaStream_t stream, double& bytes_per_s)
{
    const size_t most = *std::max_element(std::begin(sent_bytes), std::end(sent_bytes));
    DeviceMemory from, to;
    CUCO_CHECK(from.allocate(most));
    CUCO_CHECK(to.allocate(most));
    bytes_per_s = 0;
    for (const size_t bytes : sent_bytes) {
        const auto exchange = [&]() -> Outcome {
            CUCO_CHECK(check(ncclGroupStart(), "send to a peer"));
            CUCO_CHECK(
                check(ncclSend(from.data(), bytes, ncclChar, (rank + 1) % ranks, comm, stream), "send to a peer"));
            CUCO_CHECK(check(ncclRecv(to.data(), bytes, ncclChar, (rank + ranks - 1) % ranks, comm, stream),
                             "receive from a peer"));
            return check(ncclGroupEnd(), "send to a peer");
        };
        // The first makes NCCL's connections and does not count.
        for (int repeat = 0; repeat <= copy_repeats; ++repeat) {
            float ms = 0;
            CUCO_CHECK(timeOnce(stream, exchange, ms));
            if (repeat > 0)
                bytes_per_s = std::max(bytes_per_s, rateOf(double(bytes), ms));
        }
    }
    return std::nullopt;
}

}  // namespace cuco_harness
