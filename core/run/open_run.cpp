// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/open_run.h"

#include "core/agents/fast_path.h"
#include "core/agents/slow_path.h"
#include "core/agents/tunable_proposer.h"
#include "core/base/files.h"
#include "core/run/import_shinka.h"
#include "core/source/analysis.h"
#include "core/workload/named_workload.h"

namespace cuco {

namespace {

constexpr std::uint64_t most_source_bytes = 4u << 20;

Result<std::unique_ptr<Proposer>> makeFastPath(const DataPaths& paths, const RunConfig& config,
                                               const Workload& workload, AgentModels models)
{
    std::string host_source = config.seed_source;
    if (host_source.empty()) {
        auto text = readFile(workload.host_source, most_source_bytes);
        if (!text)
            return std::unexpected(text.error());
        host_source = std::move(*text);
    }
    AnalysisRequest analysis;
    analysis.source = host_source;
    analysis.declarations = paths.resources / "analysis";
    analysis.include_folders = {workload.folder, paths.workloads / "harness"};
    return FastPathProposer::create({workload, std::move(host_source),
                                     [analysis](std::stop_token stop) -> Result<std::string> {
                                         const auto found = analyzeCuda(analysis, std::move(stop));
                                         if (!found)
                                             return std::unexpected(found.error());
                                         return toText(*found);
                                     },
                                     std::move(models), PromptLibrary(paths.resources), config.fast_path});
}

Result<std::unique_ptr<Proposer>> makeSlowPath(const DataPaths& paths, const RunConfig& config,
                                               const Workload& workload, AgentModels models)
{
    auto design_space = DesignSpace::load(paths.resources / "design_space.json");
    if (!design_space)
        return std::unexpected(design_space.error());
    return SlowPathProposer::create({workload, std::move(models), PromptLibrary(paths.resources),
                                     std::move(*design_space), config.slow_path, config.islands, config.seed,
                                     config.seed_source});
}

/// `file`: of a run that has begun.
Result<std::unique_ptr<Proposer>> makeProposer(const DataPaths& paths, const RunConfig& config,
                                               const Workload& workload, const ModelAccess& access, RunFile* file)
{
    if (config.proposer == "tunable")
        return TunableProposer::create(workload, config.seed_source);
    auto models = makeAgentModels(config, access, paths.resources);
    if (!models)
        return std::unexpected(models.error());
    if (file)
        if (auto remembered = rememberCalls(*models, config, access, *file); !remembered)
            return std::unexpected(remembered.error());
    if (config.proposer == "llm")
        return makeSlowPath(paths, config, workload, std::move(*models));
    return makeFastPath(paths, config, workload, std::move(*models));
}

Result<std::unique_ptr<CandidateEvaluator>> makeEvaluatorOf(const DataPaths& paths, const RunConfig& config,
                                                            const Workload& workload)
{
    auto node = makeNodeFor(workload, config.node, config.ranks);
    if (!node)
        return std::unexpected(node.error());
    return makeEvaluatorFor(paths, std::move(*node), workload, {config.ranks, {}});
}

Result<RunController::Parts> makeParts(const DataPaths& paths, const RunConfig& config, const ModelAccess& access,
                                       RunFile* file)
{
    const auto workload = workloadOf(paths, config);
    if (!workload)
        return std::unexpected(workload.error());
    RunController::Parts parts;
    auto evaluator = makeEvaluatorOf(paths, config, *workload);
    if (!evaluator)
        return std::unexpected(evaluator.error());
    parts.evaluator = std::move(*evaluator);
    auto proposer = makeProposer(paths, config, *workload, access, file);
    if (!proposer)
        return std::unexpected(proposer.error());
    parts.proposer = std::move(*proposer);
    return parts;
}

}  // namespace

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

Result<std::unique_ptr<CandidateEvaluator>> evaluatorOf(const DataPaths& paths, const RunConfig& config)
{
    const auto workload = workloadOf(paths, config);
    if (!workload)
        return std::unexpected(workload.error());
    return makeEvaluatorOf(paths, config, *workload);
}

Result<std::unique_ptr<RunController>> newRun(const DataPaths& paths, const std::filesystem::path& file,
                                              const RunConfig& config, RunObserver observer, ModelAccess access)
{
    if (auto valid = validate(config); !valid)
        return std::unexpected(valid.error());
    access.agreed = true;  // who begins a run has chosen its provider
    auto parts = makeParts(paths, config, access, nullptr);
    if (!parts)
        return std::unexpected(parts.error());
    auto created = RunFile::create(file, config);
    if (!created)
        return std::unexpected(created.error());
    parts->file = std::move(*created);
    return std::make_unique<RunController>(std::move(*parts), std::move(observer));
}

Result<std::unique_ptr<RunController>> openRun(const DataPaths& paths, const std::filesystem::path& file,
                                               RunObserver observer, ModelAccess access)
{
    auto opened = RunFile::open(file, RunFile::Access::write);
    if (!opened)
        return std::unexpected(opened.error());
    const auto snapshot = (*opened)->snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    // Of what another program found there is nothing to go on with.
    if (isImported(snapshot->config))
        return std::make_unique<RunController>(RunController::Parts{std::move(*opened), nullptr, nullptr},
                                               std::move(observer));
    auto parts = makeParts(paths, snapshot->config, access, opened->get());
    if (!parts)
        return std::unexpected(parts.error());
    parts->file = std::move(*opened);
    return std::make_unique<RunController>(std::move(*parts), std::move(observer));
}

}  // namespace cuco
