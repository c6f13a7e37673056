// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_follower.h"

#include "app/cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

namespace cuco::cli {

namespace {

std::string settledLine(const Candidate& candidate)
{
    const Evaluation& evaluation = *candidate.evaluation;
    const std::string what = evaluation.verified()
                                 ? fmt::format("{:>12} {:>7}", formatTime(evaluation.timeUs().value_or(0)),
                                               formatSpeedup(evaluation.speedup().value_or(0)))
                                 : fmt::format("{:>20}", toString(evaluation.verdict));
    return fmt::format("{:<5} gen {:<3} {}  {}: {}{}", candidate.id, candidate.generation, what, candidate.strategy,
                       candidate.summary, evaluation.verified() ? "" : " (" + evaluation.message + ")");
}

class Printer {
public:
    void operator()(const RunEvent& event)
    {
        if (const auto* changed = std::get_if<CandidateChanged>(&event)) {
            if (changed->candidate.evaluation && printed_.insert(changed->candidate.id).second)
                fmt::print(stderr, "{}\n", settledLine(changed->candidate));
        } else if (const auto* baselines = std::get_if<BaselinesMeasured>(&event)) {
            for (const Baseline& baseline : baselines->baselines)
                fmt::print(stderr, "baseline {}: {}{}\n", baseline.name,
                           formatTime(baseline.evaluation.timeUs().value_or(0)),
                           timesNote(baselines->modelled, baseline.evaluation.self_reported));
        } else if (const auto* asked = std::get_if<LlmCallStarted>(&event)) {
            fmt::print(stderr, "{}: {} asks {}\n", asked->origin.candidate_id, asked->origin.agent,
                       asked->model.empty() ? asked->provider : asked->provider + ", " + asked->model);
        } else if (const auto* logged = std::get_if<Logged>(&event)) {
            if (logged->entry.level != "info")
                fmt::print(stderr, "{}: {}\n", logged->entry.level, logged->entry.text);
        }
    }

private:
    std::set<std::string> printed_;
};

void printSummary(const RunSnapshot& snapshot, const std::filesystem::path& file)
{
    const auto verified = std::ranges::count_if(snapshot.candidates, [](const Candidate& candidate) {
        return candidate.evaluation && candidate.evaluation->verified();
    });
    fmt::print(stderr, "\n{}: {}{}{}\n", file.string(), toString(snapshot.state), snapshot.message.empty() ? "" : ": ",
               snapshot.message);
    fmt::print(stderr, "{} of {} candidates verified\n", verified, snapshot.candidates.size());
    if (const Candidate* best = bestOf(snapshot)) {
        const Evaluation& evaluation = *best->evaluation;
        fmt::print(stderr, "best: {} ({}), {}{}, {} against {}; the bound is {}\n", best->id, best->strategy,
                   formatTime(evaluation.timeUs().value_or(0)), timesNote(snapshot.modelled, evaluation.self_reported),
                   formatSpeedup(evaluation.speedup().value_or(0)),
                   evaluation.timings.empty() ? "the host baseline" : evaluation.timings.front().baseline,
                   formatTime(evaluation.boundUs().value_or(0)));
    }
    if (snapshot.state != RunState::finished)
        fmt::print(stderr, "go on with: cucoctl resume {}\n", file.string());
}

int exitCodeOf(const RunSnapshot& snapshot)
{
    if (snapshot.state == RunState::failed)
        return exit_environment;
    return snapshot.state == RunState::finished && bestOf(snapshot) ? exit_success : exit_unsuccessful;
}

}  // namespace

RunObserver progressPrinter()
{
    return [printer = std::make_shared<Printer>()](const RunEvent& event) { (*printer)(event); };
}

int followRun(std::unique_ptr<RunController> run, const std::filesystem::path& file, bool json, std::stop_token stop)
{
    run->start();
    {
        const std::stop_callback interrupt(stop, [&] { run->stop(); });
        run->wait();
        // A failure is in the log, which the observer prints.
        static_cast<void>(run->waitForPromotions());
    }
    run.reset();
    auto reader = RunFile::open(file, RunFile::Access::read);
    if (!reader)
        return reportError(reader.error());
    const auto snapshot = (*reader)->snapshot();
    if (!snapshot)
        return reportError(snapshot.error());
    printSummary(*snapshot, file);
    if (json)
        printJson(toJson(*snapshot));
    return exitCodeOf(*snapshot);
}

}  // namespace cuco::cli
