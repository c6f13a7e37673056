// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/agents/proposer.h"
#include "core/evaluation/candidate_evaluator.h"
#include "core/run/run_controller.h"

#include <fmt/format.h>

#include <functional>
#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file;
    std::string id, reason;
};

/// A decision needs the run file only: neither the node nor the workload has to be there.
int decide(const std::filesystem::path& path, const std::function<Result<void>(RunController&)>& decision)
{
    auto file = RunFile::open(path, RunFile::Access::write);
    if (!file)
        return reportError(file.error());
    RunController run({std::move(*file), nullptr, nullptr}, {});
    if (auto decided = decision(run); !decided)
        return reportUsage(describe(decided.error()));
    return exit_success;
}

}  // namespace

void addDecisionCommands(CLI::App& app, Session& session)
{
    const auto add = [&](const char* name, const char* description,
                         Result<void> (RunController::*method)(const std::string&, const std::string&)) {
        auto* command = app.add_subcommand(name, description);
        auto options = std::make_shared<Options>();
        command->add_option("FILE.cuco", options->file, "The run")->required();
        command->add_option("ID", options->id, "The candidate, as c27")->required();
        command->add_option("--reason", options->reason, "Why; kept with the decision");
        command->callback([&session, options, method] {
            session.exit_code =
                decide(options->file, [&](RunController& run) { return (run.*method)(options->id, options->reason); });
        });
    };
    add("promote", "Prefer a verified candidate as a parent", &RunController::promote);
    add("reject", "Exclude a candidate as a parent", &RunController::reject);

    auto* undo = app.add_subcommand("undo", "Take back the last decision");
    auto options = std::make_shared<Options>();
    undo->add_option("FILE.cuco", options->file, "The run")->required();
    undo->callback([&session, options] {
        session.exit_code = decide(options->file, [](RunController& run) { return run.undo(); });
    });
}

}  // namespace cuco::cli
