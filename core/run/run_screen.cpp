// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_screen.h"

#include "core/base/json.h"
#include "core/evaluation/evaluator.h"
#include "core/evaluation/frozen_template.h"
#include "core/run/import_shinka.h"
#include "core/run/open_run.h"
#include "core/run/run_file.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace cuco {

namespace {

/// Where nothing is known of the node, it has what a design may need; its own screen knows.
Result<std::set<std::string>> capabilitiesOf(RunFile& file)
{
    const auto environments = file.environments();
    if (!environments)
        return std::unexpected(environments.error());
    if (environments->empty())
        return std::set<std::string>{"lsa", "gin", "copy_engine", "cooperative_launch"};
    const auto probe = parseJson(environments->back().probe, file.path().string());
    if (!probe)
        return std::unexpected(probe.error());
    std::vector<std::string> names;
    JsonReader reader(*probe, file.path().string(), "environment");
    if (auto done = reader.required("capabilities", names).finish(); !done)
        return std::unexpected(done.error());
    return std::set<std::string>(names.begin(), names.end());
}

}  // namespace

Result<RunScreen> RunScreen::create(const DataPaths& paths, RunFile& file, const RunConfig& config)
{
    if (isImported(config))
        return failure("This run was imported from another program, so there is nothing to evaluate a candidate with",
                       file.path().string(), "Begin a run of that workload and submit it there.");
    const auto workload = workloadOf(paths, config);
    if (!workload)
        return std::unexpected(workload.error());
    auto frozen = cuco::frozenTemplate(*workload);
    if (!frozen)
        return std::unexpected(frozen.error());
    auto design_space = DesignSpace::load(paths.resources / "design_space.json");
    if (!design_space)
        return std::unexpected(design_space.error());
    auto capabilities = capabilitiesOf(file);
    if (!capabilities)
        return std::unexpected(capabilities.error());
    return RunScreen(std::move(*frozen), std::move(*design_space), std::move(*capabilities));
}

RunScreen::RunScreen(KernelSource frozen, DesignSpace design_space, std::set<std::string> capabilities)
    : frozen_(std::move(frozen)), design_space_(std::move(design_space)), capabilities_(std::move(capabilities))
{
}

Evaluation RunScreen::check(const std::string& source) const
{
    return screen(source, frozen_, design_space_, capabilities_);
}

}  // namespace cuco
