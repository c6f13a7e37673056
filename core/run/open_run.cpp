// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/open_run.h"

#include "core/agents/tunable_proposer.h"
#include "core/workload/named_workload.h"

namespace cuco {

namespace {

/// The folder it was loaded from; when the run came from another machine, the product's own of that name.
Result<Workload> workloadOf(const DataPaths& paths, const RunConfig& config)
{
    std::error_code error;
    const std::filesystem::path folder = config.workload_folder;
    if (!folder.empty() && std::filesystem::is_regular_file(folder / "workload.json", error))
        return loadWorkload(folder);
    auto workload = namedWorkload(paths.workloads, config.workload);
    if (!workload)
        return failure(
            "The run's workload \"" + config.workload + "\" is not on this machine.", folder.string(),
            "Put its folder back, or install the workload among the product's own. " + describe(workload.error()));
    return workload;
}

Result<RunController::Parts> makeParts(const DataPaths& paths, const RunConfig& config)
{
    const auto workload = workloadOf(paths, config);
    if (!workload)
        return std::unexpected(workload.error());
    RunController::Parts parts;
    auto node = makeNodeFor(*workload, config.node, config.ranks);
    if (!node)
        return std::unexpected(node.error());
    auto evaluator = makeEvaluatorFor(paths, std::move(*node), *workload, {config.ranks, {}});
    if (!evaluator)
        return std::unexpected(evaluator.error());
    parts.evaluator = std::move(*evaluator);
    if (config.proposer != "tunable")
        return failure("There is no proposer \"" + config.proposer + "\".", "", "Choose: tunable.");
    auto proposer = TunableProposer::create(*workload, config.seed_source);
    if (!proposer)
        return std::unexpected(proposer.error());
    parts.proposer = std::move(*proposer);
    return parts;
}

}  // namespace

Result<std::unique_ptr<RunController>> newRun(const DataPaths& paths, const std::filesystem::path& file,
                                              const RunConfig& config, RunObserver observer)
{
    if (auto valid = validate(config); !valid)
        return std::unexpected(valid.error());
    auto parts = makeParts(paths, config);
    if (!parts)
        return std::unexpected(parts.error());
    auto created = RunFile::create(file, config);
    if (!created)
        return std::unexpected(created.error());
    parts->file = std::move(*created);
    return std::make_unique<RunController>(std::move(*parts), std::move(observer));
}

Result<std::unique_ptr<RunController>> openRun(const DataPaths& paths, const std::filesystem::path& file,
                                               RunObserver observer)
{
    auto opened = RunFile::open(file, RunFile::Access::write);
    if (!opened)
        return std::unexpected(opened.error());
    const auto snapshot = (*opened)->snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    auto parts = makeParts(paths, snapshot->config);
    if (!parts)
        return std::unexpected(parts.error());
    parts->file = std::move(*opened);
    return std::make_unique<RunController>(std::move(*parts), std::move(observer));
}

}  // namespace cuco
