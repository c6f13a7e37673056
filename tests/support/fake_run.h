// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/tunable_proposer.h"
#include "core/run/run_controller.h"
#include "tests/support/fake_evaluator.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace cuco::testing {

inline RunConfig fakeConfig(std::uint64_t seed = 1, int generations = 8)
{
    RunConfig config;
    config.workload = "fake";
    config.node = "fake";
    config.seed = seed;
    config.generations = generations;
    config.compile_workers = 3;
    return config;
}

/// A controller with a fake evaluator on a new or an existing run file. Throws when the file cannot be had.
inline std::unique_ptr<RunController> fakeRun(const std::filesystem::path& file, const Workload& workload,
                                              const RunConfig& config, FakeEvaluator::Options options = {},
                                              RunObserver observer = {},
                                              std::shared_ptr<FakeEvaluator>* evaluator_out = nullptr)
{
    auto run_file =
        std::filesystem::exists(file) ? RunFile::open(file, RunFile::Access::write) : RunFile::create(file, config);
    if (!run_file)
        throw std::runtime_error(describe(run_file.error()));
    auto proposer = TunableProposer::create(workload);
    if (!proposer)
        throw std::runtime_error(describe(proposer.error()));
    auto evaluator = std::make_shared<FakeEvaluator>(workload, std::move(options));
    if (evaluator_out)
        *evaluator_out = evaluator;
    return std::make_unique<RunController>(
        RunController::Parts{std::move(*run_file), std::move(evaluator), std::move(*proposer)}, std::move(observer));
}

/// What must be equal between two runs of the same seed.
inline std::string outcomeOf(const std::filesystem::path& file)
{
    auto run_file = RunFile::open(file, RunFile::Access::read);
    if (!run_file)
        return describe(run_file.error());
    const auto snapshot = (*run_file)->snapshot();
    if (!snapshot)
        return describe(snapshot.error());
    auto json = toJson(*snapshot);
    for (const Candidate& candidate : snapshot->candidates)
        json["sources"].push_back((*run_file)->source(candidate.id).value_or("missing"));
    return json.dump(1);
}

}  // namespace cuco::testing
