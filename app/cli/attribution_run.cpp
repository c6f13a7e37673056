// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/attribution_run.h"

#include "app/cli/cli.h"
#include "core/run/open_run.h"

#include <fmt/format.h>

#include <cstdio>

namespace cuco::cli {

namespace {

void printProgress(int done, int total, const std::string& what, const Evaluation& evaluation)
{
    fmt::print(stderr, "{} of {}: {}: {}\n", done, total, what,
               evaluation.verified() ? fmt::format("{} {}", formatTime(evaluation.timeUs().value_or(0)),
                                                   formatSpeedup(evaluation.speedup().value_or(0)))
                                     : toString(evaluation.verdict));
}

}  // namespace

Result<Attribution> runAttribution(RunFile& file, const std::string& candidate_id, const std::string& against,
                                   const std::string& node, std::stop_token stop)
{
    const auto request = attributionRequest(file, candidate_id, against);
    if (!request)
        return std::unexpected(request.error());
    const auto paths = DataPaths::find();
    if (!paths)
        return std::unexpected(paths.error());
    auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    if (!node.empty())
        snapshot->config.node = node;
    const auto evaluator = evaluatorOf(*paths, snapshot->config);
    if (!evaluator)
        return std::unexpected(evaluator.error());
    if (auto prepared = (*evaluator)->prepare(stop); !prepared)
        return std::unexpected(prepared.error());
    return attribute(**evaluator, *request, printProgress, stop);
}

}  // namespace cuco::cli
