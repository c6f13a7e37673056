// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/promotions.h"

#include "core/base/clock.h"
#include "core/run/promotion_judgement.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

Promotions::~Promotions()
{
    stop();
    if (thread_.joinable())
        thread_.join();
}

void Promotions::begin()
{
    if (!run_.evaluator)
        return;
    const std::scoped_lock guard(mutex_);
    stopped_ = false;
    if (working_)
        return;  // it looks again before it ends
    {
        const std::scoped_lock run_guard(run_.mutex);
        if (pendingPromotions(run_.population.decisions()).empty())
            return;
    }
    working_ = true;
    error_.reset();
    thread_ = std::jthread([this] { work(); });
}

void Promotions::stop()
{
    std::stop_source abandoned(std::nostopstate);
    {
        const std::scoped_lock guard(mutex_);
        stopped_ = true;
        if (job_)
            abandoned = job_->abandoned;
    }
    // Without the lock: what listens to the request runs in it.
    abandoned.request_stop();
}

void Promotions::reconsider()
{
    std::stop_source abandoned(std::nostopstate);
    {
        const std::scoped_lock guard(mutex_);
        const std::scoped_lock run_guard(run_.mutex);
        const auto pending = pendingPromotions(run_.population.decisions());
        if (job_ && std::ranges::find(pending, job_->decision.id, &Decision::id) == pending.end())
            abandoned = job_->abandoned;
    }
    abandoned.request_stop();
}

Result<void> Promotions::wait()
{
    std::optional<Error> error;
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !working_; });
        error = error_;
    }
    run_.events.flush();
    return error ? Result<void>(std::unexpected(*error)) : Result<void>();
}

std::optional<Promotions::Job> Promotions::next()
{
    const std::scoped_lock guard(mutex_);
    job_.reset();
    if (!stopped_) {
        const std::scoped_lock run_guard(run_.mutex);
        if (const auto pending = pendingPromotions(run_.population.decisions()); !pending.empty())
            job_ = Job{pending.front(), {}};
    }
    if (!job_) {
        working_ = false;
        changed_.notify_all();
    }
    return job_;
}

void Promotions::end(Error error)
{
    const std::scoped_lock guard(mutex_);
    job_.reset();
    working_ = false;
    error_ = std::move(error);
    changed_.notify_all();
}

void Promotions::work()
{
    while (const auto job = next()) {
        const auto& [decision, abandoned] = *job;
        const auto measured = measureAgain(decision, abandoned.get_token());
        if (abandoned.stop_requested())
            continue;
        Result<void> done;
        if (!measured)
            done = std::unexpected(measured.error());
        else if (*measured)
            done = settle(**measured);
        if (!done) {
            addLog(run_, "error",
                   fmt::format("{} cannot be measured again: {}", decision.candidate_id, describe(done.error())));
            return end(done.error());
        }
    }
}

/// Nothing when it was stopped.
Result<std::optional<Remeasurement>> Promotions::measureAgain(const Decision& decision, const std::stop_token& stop)
{
    auto source = run_.file->source(decision.candidate_id);
    if (!source)
        return std::unexpected(source.error());
    if (auto prepared = prepareEvaluator(run_, stop); !prepared)
        return std::unexpected(prepared.error());
    if (stop.stop_requested())
        return std::nullopt;
    CandidateEvaluator& evaluator = *run_.evaluator;
    const bool modelled = evaluator.probe().modelled;
    auto shapes = heldBackShapes(evaluator.workload(), modelled);
    if (!shapes)
        return std::unexpected(shapes.error());
    EvaluationRequest request;
    request.source = std::move(*source);
    request.shapes = std::move(*shapes);
    request.until = Stage::benchmark;
    request.all_rounds = true;
    request.ranks = run_.config.ranks;
    request.check_races = run_.config.check_races;
    auto compiled = evaluator.compile(request, stop);
    if (stop.stop_requested())
        return std::nullopt;
    if (!compiled)
        return std::unexpected(compiled.error());
    const auto turn = run_.turns.take(EvaluatorTurns::Purpose::promotion, !modelled, stop);
    if (!turn)
        return std::nullopt;
    addLog(run_, "info", fmt::format("Measuring {} again on held-back shapes", decision.candidate_id));
    Result<EvaluationResult> result = EvaluationResult{compiled->evaluation, std::nullopt};
    if (compiled->evaluation.verified())
        result = evaluator.measure(request, std::move(*compiled), stop);
    if (stop.stop_requested())
        return std::nullopt;
    if (!result)
        return std::unexpected(result.error());
    auto [standing, finding] = judgePromotion(result->evaluation);
    return Remeasurement{decision.id, standing, std::move(finding), std::move(result->evaluation), unixTimeMs()};
}

Result<void> Promotions::settle(const Remeasurement& remeasurement)
{
    if (auto stored = run_.file->addRemeasurement(remeasurement); !stored)
        return stored;
    RunPopulation::CandidatePointer changed;
    {
        const std::scoped_lock guard(run_.mutex);
        changed =
            run_.population.settlePromotion(remeasurement.decision_id, remeasurement.standing, remeasurement.finding);
        run_.events.post(DecisionsChanged{run_.population.decisions()});
        if (changed)
            run_.events.post(CandidateChanged{*changed});
    }
    addLog(run_, "info",
           fmt::format("The promotion of {} {}: {}", changed ? changed->id : "a candidate",
                       remeasurement.standing == PromotionStanding::stands ? "stands" : "is refused",
                       remeasurement.finding));
    return {};
}

}  // namespace cuco
