// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a session that takes stored candidates to their evaluation.
#include "core/run/run_session.h"

#include "core/agents/slow_path.h"
#include "core/llm/chat.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

namespace cuco {

namespace {

/// Each is a thread, and a call that somebody pays for.
constexpr int most_proposers = 16;

/// As much of a compiler's log as stays in memory; the run file has all of it.
constexpr std::size_t kept_detail_bytes = 4'000;

void cutDetail(std::string& detail)
{
    if (detail.size() <= kept_detail_bytes)
        return;
    std::size_t end = kept_detail_bytes;
    while (end > 0 && (static_cast<unsigned char>(detail[end]) & 0xC0) == 0x80)
        --end;
    detail.resize(end);
}

std::string logLine(const Candidate& candidate)
{
    const Evaluation& evaluation = *candidate.evaluation;
    if (!evaluation.verified())
        return fmt::format("{}: {}: {}", candidate.id, toString(evaluation.verdict), evaluation.message);
    const auto speedup = evaluation.speedup();
    const auto time = evaluation.timeUs();
    if (!speedup || !time)
        return fmt::format("{}: verified", candidate.id);
    return fmt::format("{}: verified, {:.1f} µs, {:.3f}×", candidate.id, *time, *speedup);
}

}  // namespace

Result<void> prepareEvaluator(RunShared& run, const std::stop_token& stop)
{
    return run.turns.prepareOnce(
        [&]() -> Result<void> {
            addLog(run, "info", "Preparing the node and measuring the baselines");
            if (auto prepared = run.evaluator->prepare(stop); !prepared || stop.stop_requested())
                return prepared;
            return run.file->addEnvironment(dumpJson(toJson(run.evaluator->probe())));
        },
        stop);
}

void RunSession::enqueue(int number)
{
    RunPopulation::CandidatePointer first;
    {
        const std::scoped_lock guard(run_.mutex);
        const auto& candidate = run_.population.at(number);
        first = run_.population.at(run_.population.firstWithSource(candidate->source_sha256));
        if (first == candidate) {
            to_compile_.insert({number});
            to_compile_changed_.notify_one();
            return;
        }
    }
    EvaluationResult result;
    result.evaluation.verdict = Verdict::duplicate;
    result.evaluation.message = fmt::format("The text equals that of {}.", first->id);
    settle(number, std::move(result));
}

void RunSession::compileLoop()
{
    for (;;) {
        ToCompile next;
        {
            std::unique_lock lock(run_.mutex);
            to_compile_changed_.wait(lock, [&] { return halted() || closing_ || !to_compile_.empty(); });
            if (halted() || to_compile_.empty())
                return;
            next = *to_compile_.begin();
            to_compile_.erase(to_compile_.begin());
        }
        if (next.variant >= 0)
            compileVariant(next.number, static_cast<std::size_t>(next.variant));
        else
            compileOne(next.number);
    }
}

void RunSession::measureLoop()
{
    for (;;) {
        std::map<int, ToMeasure>::node_type next;
        {
            std::unique_lock lock(run_.mutex);
            to_measure_changed_.wait(lock, [&] { return halted() || closing_ || !to_measure_.empty(); });
            if (halted() || to_measure_.empty())
                return;
            next = to_measure_.extract(to_measure_.begin());
        }
        measureOne(next.key(), std::move(next.mapped()));
    }
}

/// To the end even when halted: proposals may wait for it.
void RunSession::backgroundLoop()
{
    for (;;) {
        std::move_only_function<void(std::stop_token)> next;
        {
            std::unique_lock lock(run_.mutex);
            background_changed_.wait(lock, [&] { return closing_ || !background_.empty(); });
            if (background_.empty())
                return;
            next = std::move(background_.front());
            background_.pop_front();
        }
        next(halt_.get_token());
    }
}

void RunSession::compileOne(int number)
{
    setState(number, CandidateState::compiling);
    std::string id;
    bool written = false;
    {
        const std::scoped_lock guard(run_.mutex);
        const auto& candidate = run_.population.at(number);
        id = candidate->id;
        written = candidate->proposer == llm_proposer || candidate->proposer == person_proposer;
    }
    auto source = run_.file->source(id);
    if (!source)
        return fail(source.error());
    EvaluationRequest request;
    request.source = std::move(*source);
    request.ranks = run_.config.ranks;
    request.check_races = run_.config.check_races;
    request.diagnose = run_.config.proposer == "fastpath";
    request.check_directive = written;
    auto compiled = run_.evaluator->compile(request, halt_.get_token());
    if (halted())
        return;
    if (!compiled)
        return fail(compiled.error());
    if (!compiled->evaluation.verified())
        return settle(number, {std::move(compiled->evaluation), std::nullopt});
    setState(number, CandidateState::queued);
    const std::scoped_lock guard(run_.mutex);
    to_measure_.emplace(number, ToMeasure{std::move(request), std::move(*compiled)});
    to_measure_changed_.notify_one();
}

void RunSession::measureOne(int number, ToMeasure work)
{
    const auto turn =
        run_.turns.take(EvaluatorTurns::Purpose::search, !run_.evaluator->probe().modelled, halt_.get_token());
    if (!turn)
        return;
    setState(number, CandidateState::measuring);
    std::optional<TuningRace> tuning;
    {
        const std::scoped_lock guard(run_.mutex);
        if (auto found = races_.extract(number))
            tuning = std::move(found.mapped());
    }
    if (tuning)
        return race(number, std::move(*tuning));
    auto result = run_.evaluator->measure(work.request, std::move(work.compiled), halt_.get_token());
    if (halted())
        return;
    if (!result)
        return fail(result.error());
    if (!beginRace(number, work.request, *result))
        settle(number, std::move(*result));
}

void RunSession::settle(int number, EvaluationResult result, const std::optional<Tuned>& tuned)
{
    Candidate settled;
    {
        const std::scoped_lock guard(run_.mutex);
        settled = *run_.population.at(number);
    }
    settled.state = CandidateState::settled;
    settled.evaluation = std::move(result.evaluation);
    if (tuned) {
        settled.tunables = tuned->values;
        settled.proposed_sha256 = std::exchange(settled.source_sha256, sha256Hex(tuned->source));
    }
    if (auto stored = run_.file->settleCandidate(settled, result.timeline, tuned ? &tuned->source : nullptr); !stored)
        return fail(stored.error());
    addLog(run_, "info", logLine(settled));
    cutDetail(settled.evaluation->detail);
    const std::scoped_lock guard(run_.mutex);
    const auto changed = run_.population.change(number, [&](Candidate& candidate) {
        candidate.state = CandidateState::settled;
        candidate.evaluation = std::move(settled.evaluation);
        candidate.tunables = std::move(settled.tunables);
        candidate.source_sha256 = std::move(settled.source_sha256);
        candidate.proposed_sha256 = std::move(settled.proposed_sha256);
    });
    --in_flight_;
    ++settled_here_;
    run_.events.post(CandidateChanged{*changed});
    postProgress();
    run_.changed.notify_all();
}

void RunSession::setState(int number, CandidateState state)
{
    const std::scoped_lock guard(run_.mutex);
    const auto changed = run_.population.change(number, [&](Candidate& candidate) { candidate.state = state; });
    run_.events.post(CandidateChanged{*changed});
    postProgress();
}

/// What was cut short is evaluated again when the run goes on.
void RunSession::releaseInFlight()
{
    const std::scoped_lock guard(run_.mutex);
    for (int number = run_.population.settledPrefix(); number < run_.population.size(); ++number) {
        const CandidateState state = run_.population.at(number)->state;
        if (state == CandidateState::settled || state == CandidateState::proposed)
            continue;
        const auto changed =
            run_.population.change(number, [](Candidate& candidate) { candidate.state = CandidateState::proposed; });
        run_.events.post(CandidateChanged{*changed});
    }
    postProgress();
}

/// Models are waited for; what is drawn without them takes no time.
int RunSession::proposers() const
{
    if (run_.config.proposer != "llm")
        return 1;
    const int window = run_.config.islands * run_.config.children;
    return std::min(window, run_.config.proposals_in_flight > 0 ? run_.config.proposals_in_flight : most_proposers);
}

int RunSession::compileWorkers() const
{
    if (run_.config.compile_workers > 0)
        return run_.config.compile_workers;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// A GPU measures one candidate at a time; a model does not mind company.
int RunSession::measureWorkers() const
{
    if (!run_.evaluator->probe().modelled)
        return 1;
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 2);
}

}  // namespace cuco
