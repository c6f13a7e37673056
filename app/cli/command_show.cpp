// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/run/import_shinka.h"
#include "core/run/run_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file;
    bool json = false;
};

void printSnapshot(const RunSnapshot& snapshot)
{
    fmt::print("{} on {}{}, seed {}: {}{}{}\n", snapshot.config.workload, snapshot.config.node,
               isImported(snapshot.config) ? " (imported, self-reported)"
                                           : timesNote(snapshot.modelled, selfReported(snapshot)),
               snapshot.config.seed, toString(snapshot.state), snapshot.message.empty() ? "" : ": ", snapshot.message);
    for (const Baseline& baseline : snapshot.baselines)
        fmt::print("baseline {}: {}, bound {}\n", baseline.name, formatTime(baseline.evaluation.timeUs().value_or(0)),
                   formatTime(baseline.evaluation.boundUs().value_or(0)));
    fmt::print("\n");
    const Candidate* best = bestOf(snapshot);
    std::vector<std::vector<std::string>> rows{
        {"", "ID", "PARENT", "GEN", "ISLAND", "VERDICT", "TIME", "SPEED-UP", "STRATEGY", "DECISION", "CHANGE"}};
    for (const Candidate& candidate : snapshot.candidates) {
        const auto& evaluation = candidate.evaluation;
        const Decision* decision = lastDecisionOn(snapshot.decisions, candidate.id);
        rows.push_back({&candidate == best ? "*" : "", candidate.id,
                        candidate.parents.empty() ? "–" : fmt::format("{}", fmt::join(candidate.parents, "+")),
                        std::to_string(candidate.generation), std::to_string(candidate.island),
                        std::string(evaluation ? toString(evaluation->verdict) : toString(candidate.state)),
                        formatTime(evaluation ? evaluation->timeUs().value_or(0) : 0),
                        formatSpeedup(evaluation ? evaluation->speedup().value_or(0) : 0), candidate.strategy,
                        decision ? toSentencePart(*decision) : "", candidate.summary});
    }
    printTable(rows);
}

int show(const Options& options)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto snapshot = (*file)->snapshot();
    if (!snapshot)
        return reportError(snapshot.error());
    if (options.json)
        printJson(toJson(*snapshot));
    else
        printSnapshot(*snapshot);
    return exit_success;
}

}  // namespace

void addShowCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("show", "A run's state and candidates");
    auto options = std::make_shared<Options>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    command->add_flag("--json", options->json, "One JSON document");
    command->callback([&session, options] { session.exit_code = show(*options); });
}

}  // namespace cuco::cli
