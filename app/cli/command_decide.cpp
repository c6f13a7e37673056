// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/run_follower.h"
#include "core/agents/proposer.h"
#include "core/evaluation/candidate_evaluator.h"
#include "core/run/open_run.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file;
    std::string id, reason;
    bool later = false, json = false;
};

/// A rejection and an undo need the run file only: neither the node nor the workload has to be there.
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

Result<std::unique_ptr<CandidateEvaluator>> evaluatorFor(RunFile& file)
{
    const auto paths = DataPaths::find();
    if (!paths)
        return std::unexpected(paths.error());
    const auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    return evaluatorOf(*paths, snapshot->config);
}

/// What became of it, from the file.
int tellPromotion(const Options& options, const std::optional<Error>& not_measured)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto snapshot = (*file)->snapshot();
    if (!snapshot)
        return reportError(snapshot.error());
    const Decision* decision = lastDecisionOn(snapshot->decisions, options.id);
    if (!decision)  // another program may have undone it
        return reportUsage("The promotion is not in the file any more. Look with `cucoctl show`.");
    if (options.json)
        printJson(toJson(*decision));
    else
        fmt::print("{}: {}{}{}\n", options.id, toSentencePart(*decision), decision->finding.empty() ? "" : ". ",
                   decision->finding);
    if (not_measured)
        reportError(*not_measured);
    if (decision->standing == PromotionStanding::pending)
        fmt::print(stderr, "It is measured again by: cucoctl resume {}\n", options.file.string());
    if (decision->standing == PromotionStanding::stands || options.later)
        return exit_success;
    return not_measured ? exit_environment : exit_unsuccessful;
}

int promote(const Options& options, const std::stop_token& stop)
{
    auto file = RunFile::open(options.file, RunFile::Access::write);
    if (!file)
        return reportError(file.error());
    std::shared_ptr<CandidateEvaluator> evaluator;
    std::optional<Error> not_measured;
    if (!options.later) {
        auto made = evaluatorFor(**file);
        if (made)
            evaluator = std::move(*made);
        else
            not_measured = made.error();
    }
    RunController run({std::move(*file), evaluator, nullptr}, progressPrinter());
    if (auto decided = run.promote(options.id, options.reason); !decided)
        return reportUsage(describe(decided.error()));
    {
        if (evaluator)
            fmt::print(stderr, "Measuring {} again on held-back shapes\n", options.id);
        const std::stop_callback interrupt(stop, [&] { run.stop(); });
        if (auto measured = run.waitForPromotions(); !measured)
            not_measured = measured.error();
    }
    return tellPromotion(options, not_measured);
}

}  // namespace

void addDecisionCommands(CLI::App& app, Session& session)
{
    const auto add = [&](const char* name, const char* description) {
        auto* command = app.add_subcommand(name, description);
        auto options = std::make_shared<Options>();
        command->add_option("FILE.cuco", options->file, "The run")->required();
        command->add_option("ID", options->id, "The candidate, as c27")->required();
        command->add_option("--reason", options->reason, "Why; kept with the decision");
        return std::pair(command, options);
    };
    const auto [promotion, promoted] =
        add("promote", "Prefer a verified candidate as a parent, once it is measured again on held-back shapes");
    promotion->add_flag("--later", promoted->later, "Measure it when the run is resumed");
    promotion->add_flag("--json", promoted->json, "The decision as one JSON document");
    promotion->callback([&session, options = promoted] { session.exit_code = promote(*options, session.stop); });

    const auto [rejection, rejected] = add("reject", "Exclude a candidate as a parent");
    rejection->callback([&session, options = rejected] {
        session.exit_code =
            decide(options->file, [&](RunController& run) { return run.reject(options->id, options->reason); });
    });

    auto* undo = app.add_subcommand("undo", "Take back the last decision");
    auto options = std::make_shared<Options>();
    undo->add_option("FILE.cuco", options->file, "The run")->required();
    undo->callback([&session, options] {
        session.exit_code = decide(options->file, [](RunController& run) { return run.undo(); });
    });
}

}  // namespace cuco::cli
