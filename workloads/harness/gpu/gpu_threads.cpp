// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_threads.h"

#include <thread>
#include <vector>

namespace cuco_harness {

Outcome onEachGpu(int ranks, const std::function<Outcome(int)>& body)
{
    std::vector<Outcome> outcomes{size_t(ranks)};
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            auto& outcome = outcomes[size_t(rank)];
            if (!(outcome = check(cudaSetDevice(rank), "use a GPU")))
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
