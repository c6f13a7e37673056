// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_threads.h"

#include <thread>
#include <vector>

namespace cuco_harness {

Outcome onEachGpu(const HostShare& share, const std::function<Outcome(int)>& body)
{
    std::vector<Outcome> outcomes{size_t(share.ranks)};
    std::vector<std::thread> threads;
    for (int i = 0; i < share.ranks; ++i) {
        threads.emplace_back([&, i] {
            const int rank = share.first_rank + i;
            auto& outcome = outcomes[size_t(i)];
            if (!(outcome = check(cudaSetDevice(share.deviceOf(rank)), "use a GPU")))
                outcome = body(rank);
            if (outcome && outcome->rank < 0)
                outcome->rank = rank;
        });
    }
    for (auto& thread : threads)
        thread.join();
    for (auto& outcome : outcomes)
        CUCO_CHECK(outcome);
    return std::nullopt;
}

}  // namespace cuco_harness
