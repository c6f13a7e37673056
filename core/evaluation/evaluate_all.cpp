// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate_all.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace cuco {

void evaluateAll(CandidateEvaluator& evaluator, const std::vector<EvaluationRequest>& requests, int compile_workers,
                 const Settled& settled, std::stop_token stop)
{
    using Compiled = Result<CandidateEvaluator::Compiled>;
    std::vector<std::promise<Compiled>> promises(requests.size());
    std::vector<std::future<Compiled>> compiled;
    compiled.reserve(promises.size());
    for (auto& promise : promises)
        compiled.push_back(promise.get_future());
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> workers;
    const int count = std::clamp(compile_workers, 1, std::max(static_cast<int>(requests.size()), 1));
    for (int worker = 0; worker < count; ++worker)
        workers.emplace_back([&] {
            for (std::size_t i = next++; i < requests.size(); i = next++)
                promises[i].set_value(evaluator.compile(requests[i], stop));
        });
    for (std::size_t i = 0; i < requests.size(); ++i) {
        Compiled ready = compiled[i].get();
        if (!ready)
            settled(i, std::unexpected(ready.error()));
        else
            settled(i, evaluator.measure(requests[i], std::move(*ready), stop));
    }
}

}  // namespace cuco
