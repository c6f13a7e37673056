// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_session.h"

#include "core/agents/scratchpad.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/population/islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <thread>

namespace cuco {

namespace {

constexpr std::uint64_t most_source_bytes = 4u << 20;
/// Fewer finished candidates say nothing about the time that is left.
constexpr int least_settled_for_estimate = 2;

/// Attempts of a conversion that a person rejected count as not made.
int proposalsMade(const RunConfig& config, const RunPopulation& population)
{
    int made = population.size();
    if (config.proposer == "fastpath")
        for (int number = 0; number < population.size(); ++number)
            made -= population.at(number)->decision == DecisionKind::rejected ? 1 : 0;
    return made;
}

}  // namespace

void tell(RunShared& run, const RunEvent& event)
{
    if (const auto* added = std::get_if<StepsAdded>(&event)) {
        const std::scoped_lock guard(run.mutex);
        for (const AgentStep& step : added->steps)
            if (scratchpadOf(step))
                run.scratchpads.push_back(step);
    }
    run.events.post(event);
}

void addLog(RunShared& run, const std::string& level, const std::string& text)
{
    const LogEntry entry{unixTimeMs(), level, text};
    const auto stored = run.file->addLog(entry);
    run.events.post(Logged{entry});
    if (!stored)
        run.events.post(Logged{{entry.time_ms, "error", describe(stored.error())}});
}

RunSession::RunSession(RunShared& run)
    : run_(run),
      trace_(*run.file, [&run](const RunEvent& event) { tell(run, event); }),
      ended_at_(std::numeric_limits<int>::max())
{
}

RunSession::End RunSession::work(std::stop_token stop)
{
    const std::stop_callback forward(stop, [this] {
        halt_.request_stop();
        // Under the lock, so that no thread can miss it between its test and its sleep.
        const std::scoped_lock guard(run_.mutex);
        run_.changed.notify_all();
    });
    if (prepare()) {
        began_ = std::chrono::steady_clock::now();
        std::vector<std::jthread> workers;
        for (int i = 0; i < compileWorkers(); ++i)
            workers.emplace_back([this] { compileLoop(); });
        for (int i = 0; i < measureWorkers(); ++i)
            workers.emplace_back([this] { measureLoop(); });
        enqueueUnsettled();
        {
            std::vector<std::jthread> proposing;
            for (int i = 1; i < proposers(); ++i)
                proposing.emplace_back([this] { proposeLoop(); });
            proposeLoop();
        }
        const std::scoped_lock guard(run_.mutex);
        closing_ = true;
        run_.changed.notify_all();
    }

    releaseInFlight();
    const std::scoped_lock guard(run_.mutex);
    if (error_)
        run_.turns.prepareAgain();
    if (error_)
        return {RunState::failed, describe(*error_)};
    if (halted())
        return {RunState::stopped, "Stopped; resume it to go on."};
    if (proposing_)
        return {RunState::paused, message_.empty() ? "Paused; resume it to go on." : message_};
    return {RunState::finished, message_};
}

/// Once a program and again after a failure, which may have been the node's.
bool RunSession::prepare()
{
    auto prepared = prepareEvaluator(run_, halt_.get_token());
    if (halted())
        return false;
    if (prepared)
        prepared = storeBaselines();
    if (!prepared)
        fail(prepared.error());
    return prepared.has_value();
}

/// Those that are stored already stay: the candidates of the earlier session were compared with them.
Result<void> RunSession::storeBaselines()
{
    const bool modelled = run_.evaluator->probe().modelled;
    const auto& results = run_.evaluator->baselines();
    std::vector<Baseline> baselines;
    {
        const std::scoped_lock guard(run_.mutex);
        baselines = run_.baselines;
    }
    if (!baselines.empty())
        return {};
    for (const auto& [name, source, result] : results) {
        const Baseline baseline{name, result.evaluation};
        if (auto stored = run_.file->addBaseline(baseline, source, result.timeline, modelled); !stored)
            return stored;
        baselines.push_back(baseline);
        const auto time_us = baseline.evaluation.timeUs();
        addLog(run_, "info",
               time_us ? fmt::format("Baseline {}: {:.1f} µs", name, *time_us)
                       : fmt::format("Baseline {} takes no part: {}", name, baseline.evaluation.message));
    }
    const std::scoped_lock guard(run_.mutex);
    run_.baselines = baselines;
    run_.events.post(BaselinesMeasured{std::move(baselines), modelled});
    return {};
}

void RunSession::enqueueUnsettled()
{
    std::vector<int> unsettled;
    {
        const std::scoped_lock guard(run_.mutex);
        for (int number = run_.population.settledPrefix(); number < run_.population.size(); ++number)
            if (run_.population.at(number)->state != CandidateState::settled)
                unsettled.push_back(number);
        in_flight_ += static_cast<int>(unsettled.size());
        next_ = run_.population.size();
        proposing_ = proposalsMade(run_.config, run_.population) < run_.config.proposals();
        postProgress();
    }
    for (const int number : unsettled)
        enqueue(number);
}

/// Waits until a proposal may be planned; nothing when no further one will be.
std::optional<int> RunSession::nextToPlan()
{
    std::unique_lock lock(run_.mutex);
    const auto ready = [&] {
        return proposing_ && !run_.pause_requested &&
               run_.population.settledPrefix() >= visibleTo(next_, run_.config.islands, run_.config.children) &&
               proposalsMade(run_.config, run_.population) + asking_ < run_.config.proposals();
    };
    const auto drained = [&] { return (!proposing_ || run_.pause_requested) && in_flight_ == 0 && asking_ == 0; };
    for (;;) {
        run_.changed.wait(lock, [&] { return halted() || ready() || drained(); });
        if (halted() || !ready())
            return std::nullopt;
        if (run_.config.budget_usd > 0 && run_.population.costUsd() >= run_.config.budget_usd) {
            finishEarly(fmt::format("The budget of ${:.2f} is spent.", run_.config.budget_usd));
            continue;
        }
        ++asking_;
        return next_++;
    }
}

void RunSession::proposeLoop()
{
    for (;;) {
        int number = 0;
        Result<ProposalWork> work;
        {
            const std::scoped_lock order(planning_);
            const auto next = nextToPlan();
            if (!next)
                return;
            number = *next;
            work = plan(number);
        }
        auto outcome = work ? (*work)(halt_.get_token()) : Result<ProposalOutcome>(std::unexpected(work.error()));
        conclude(number, std::move(outcome));
    }
}

Result<ProposalWork> RunSession::plan(int number)
{
    const RunConfig& config = run_.config;
    const IslandPlace place = placeOf(number, config.islands, config.children);
    ProposalContext context;
    context.number = number;
    context.island = place.island;
    context.generation = place.generation;
    context.generations = config.generations;
    context.proposals_per_generation = config.islands * config.children;
    context.run_seed = config.seed;
    context.parent_selection = config.parent_selection;
    context.node = &run_.evaluator->probe();
    {
        const std::scoped_lock guard(run_.mutex);
        context.visible = run_.population.firstOnes(visibleTo(number, config.islands, config.children));
    }
    context.scratchpads = [this] {
        const std::scoped_lock guard(run_.mutex);
        return run_.scratchpads;
    };
    context.await_turn = [this, number] { return awaitTurn(number); };
    context.is_known = [this, number](const std::string& sha256) {
        if (!awaitTurn(number))
            return false;
        const std::scoped_lock guard(run_.mutex);
        return run_.population.firstWithSource(sha256) >= 0;
    };
    context.source_of = [this](const std::string& id) { return run_.file->source(id); };
    context.trace = &trace_;
    return run_.proposer->plan(std::move(context));
}

/// Blocks until all proposals before are stored; false when this one comes to nothing.
bool RunSession::awaitTurn(int number)
{
    std::unique_lock lock(run_.mutex);
    run_.changed.wait(lock, [&] { return halted() || ended_at_ <= number || run_.population.size() == number; });
    return !halted() && ended_at_ > number;
}

void RunSession::conclude(int number, Result<ProposalOutcome> outcome)
{
    const bool stands = awaitTurn(number);
    if (stands && !outcome)
        fail(outcome.error());
    else if (stands && *outcome)
        return store(number, std::move(**outcome));
    else if (outcome && *outcome && (*outcome)->dropped)
        (*outcome)->dropped();
    const std::scoped_lock guard(run_.mutex);
    --asking_;
    if (stands && outcome && !*outcome) {
        NoProposal& none = outcome->error();
        ended_at_ = number;
        if (none.then == NoProposal::Then::finish) {
            finishEarly(std::move(none.message));
        } else {
            message_ = std::move(none.message);
            run_.pause_requested = true;
        }
    }
    run_.changed.notify_all();
}

void RunSession::store(int number, Proposal proposal)
{
    const IslandPlace place = placeOf(number, run_.config.islands, run_.config.children);
    Candidate candidate;
    candidate.number = number;
    candidate.id = fmt::format("c{}", number);
    candidate.island = place.island;
    candidate.generation = place.generation;
    candidate.parents = std::move(proposal.parents);
    candidate.proposer = std::move(proposal.proposer);
    candidate.summary = std::move(proposal.summary);
    candidate.strategy = std::move(proposal.strategy);
    candidate.directive = std::move(proposal.directive);
    candidate.tunables = std::move(proposal.tunables);
    candidate.source_sha256 = sha256Hex(proposal.source);
    candidate.cost_usd = proposal.cost_usd;
    for (AgentStep& step : proposal.steps) {
        step.candidate_id = candidate.id;
        step.time_ms = unixTimeMs();
    }
    auto steps = run_.file->addCandidate(candidate, proposal.source, std::move(proposal.steps));
    if (!steps) {
        fail(steps.error());
        const std::scoped_lock guard(run_.mutex);
        --asking_;
        return;
    }
    {
        const std::scoped_lock guard(run_.mutex);
        run_.population.add(candidate);
        --asking_;
        ++in_flight_;
        if (proposalsMade(run_.config, run_.population) >= run_.config.proposals())
            proposing_ = false;
        run_.events.post(CandidateChanged{std::move(candidate)});
        if (!steps->empty())
            run_.events.post(StepsAdded{std::move(*steps)});
        postProgress();
        run_.changed.notify_all();
    }
    enqueue(number);
}

void RunSession::fail(const Error& error)
{
    {
        const std::scoped_lock guard(run_.mutex);
        if (error_ || halted())
            return;
        error_ = error;
    }
    halt_.request_stop();
    {
        const std::scoped_lock guard(run_.mutex);
        run_.changed.notify_all();
    }
    addLog(run_, "error", describe(error));
}

void RunSession::finishEarly(std::string message)
{
    message_ = std::move(message);
    proposing_ = false;
}

void RunSession::postProgress()
{
    const RunPopulation& population = run_.population;
    Progress progress;
    progress.proposed = population.size();
    progress.settled = population.settled();
    progress.total = run_.config.proposals();
    progress.compiling = population.countIn(CandidateState::compiling);
    progress.queued = population.countIn(CandidateState::queued);
    progress.measuring = population.countIn(CandidateState::measuring);
    progress.cost_usd = population.costUsd();
    if (settled_here_ >= least_settled_for_estimate) {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began_;
        progress.seconds_left = elapsed.count() / settled_here_ * (progress.total - progress.settled);
    }
    run_.events.post(progress);
}

}  // namespace cuco
