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

/// Attempts of a conversion that a person rejected count as not made, and so does what a person wrote.
int proposalsMade(const RunConfig& config, const RunPopulation& population)
{
    int made = population.size() - population.submitted();
    if (config.proposer == "fastpath")
        for (int number = 0; number < population.size(); ++number)
            made -= population.at(number)->decision == DecisionKind::rejected ? 1 : 0;
    return made;
}

}  // namespace

Scratchpads withVersionsOf(const std::vector<AgentStep>& steps, Scratchpads versions)
{
    std::shared_ptr<ScratchpadVersions> more;  // a copy, as others go on reading those there are
    for (const AgentStep& step : steps)
        if (auto scratchpad = scratchpadOf(step)) {
            if (!more)
                more = std::make_shared<ScratchpadVersions>(*versions);
            more->push_back(std::make_shared<const Scratchpad>(std::move(*scratchpad)));
        }
    return more ? more : versions;
}

void tell(RunShared& run, const RunEvent& event)
{
    if (const auto* added = std::get_if<StepsAdded>(&event)) {
        const std::scoped_lock guard(run.mutex);
        run.scratchpads = withVersionsOf(added->steps, run.scratchpads);
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
        wakeEverybody();
    });
    if (prepare()) {
        began_ = std::chrono::steady_clock::now();
        std::vector<std::jthread> workers;
        for (int i = 0; i < compileWorkers(); ++i)
            workers.emplace_back([this] { compileLoop(); });
        for (int i = 0; i < measureWorkers(); ++i)
            workers.emplace_back([this] { measureLoop(); });
        for (int i = 0; i < proposers(); ++i)
            workers.emplace_back([this] { backgroundLoop(); });
        enqueueUnsettled();
        {
            std::vector<std::jthread> proposing;
            for (int i = 1; i < proposers(); ++i)
                proposing.emplace_back([this] { proposeLoop(); });
            proposeLoop();
        }
        const std::scoped_lock guard(run_.mutex);
        closing_ = true;
        wakeEverybody();
    }

    releaseInFlight();
    const std::scoped_lock guard(run_.mutex);
    if (error_)
        run_.turns.prepareAgain();
    if (error_)
        return {RunState::failed, describe(*error_)};
    if (halted())
        return {RunState::stopped, "Stopped; resume it to go on."};
    if (proposing_ && run_.only_submissions && !run_.pause_requested)
        return {RunState::paused, "What was submitted is evaluated; resume the run to go on with the search."};
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
        searched_ = next_ - run_.population.submitted();
        proposing_ = proposalsMade(run_.config, run_.population) < run_.config.proposals();
        postProgress();
    }
    for (const int number : unsettled)
        enqueue(number);
}

/// Waits until a proposal may be planned; nothing when no further one will be.
std::optional<RunSession::Planned> RunSession::nextToPlan()
{
    std::unique_lock lock(run_.mutex);
    const RunConfig& config = run_.config;
    const auto going_on = [&] { return proposing_ && !run_.pause_requested && !run_.only_submissions; };
    const auto visible = [&] { return visibleTo(searched_, config.islands, config.children) + next_ - searched_; };
    const auto ready = [&] {
        return going_on() && run_.population.settledPrefix() >= visible() &&
               proposalsMade(config, run_.population) + asking_ < config.proposals();
    };
    const auto submitted = [&] { return !run_.submissions.empty() && !run_.pause_requested; };
    const auto drained = [&] { return !going_on() && !submitted() && in_flight_ == 0 && asking_ == 0; };
    for (;;) {
        run_.changed.wait(lock, [&] { return halted() || submitted() || ready() || drained(); });
        if (halted() || (!submitted() && !ready()))
            return std::nullopt;
        Planned planned;
        planned.number = next_;
        if (submitted()) {
            planned.submission = std::move(run_.submissions.front());
            run_.submissions.pop_front();
        } else if (config.budget_usd > 0 && run_.population.costUsd() >= config.budget_usd) {
            finishEarly(fmt::format("The budget of ${:.2f} is spent.", config.budget_usd));
            continue;
        } else {
            planned.place = placeOf(searched_, config.islands, config.children);
            planned.visible = visible();
            ++searched_;
        }
        ++asking_;
        ++next_;
        return planned;
    }
}

void RunSession::proposeLoop()
{
    for (;;) {
        std::optional<Planned> planned;
        Result<ProposalWork> work;
        {
            const std::scoped_lock order(planning_);
            planned = nextToPlan();
            if (!planned)
                return;
            work = plan(*planned);
        }
        auto outcome = work ? (*work)(halt_.get_token()) : Result<ProposalOutcome>(std::unexpected(work.error()));
        conclude(*planned, std::move(outcome));
    }
}

Result<ProposalWork> RunSession::plan(const Planned& planned)
{
    if (planned.submission)
        return [this, submission = *planned.submission](std::stop_token) -> Result<ProposalOutcome> {
            auto proposal = submitted(submission);
            if (!proposal)
                return std::unexpected(proposal.error());
            return ProposalOutcome(std::move(*proposal));
        };
    const RunConfig& config = run_.config;
    const int number = planned.number;
    ProposalContext context;
    context.number = number;
    context.island = planned.place.island;
    context.generation = planned.place.generation;
    context.generations = config.generations;
    context.proposals_per_generation = config.islands * config.children;
    context.run_seed = config.seed;
    context.parent_selection = config.parent_selection;
    context.node = &run_.evaluator->probe();
    {
        const std::scoped_lock guard(run_.mutex);
        context.visible = run_.population.firstOnes(planned.visible);
    }
    context.scratchpads = [this] {
        const std::scoped_lock guard(run_.mutex);
        return run_.scratchpads;
    };
    context.in_background = [this](std::move_only_function<void(std::stop_token)> work) {
        const std::scoped_lock guard(run_.mutex);
        background_.push_back(std::move(work));
        background_changed_.notify_one();
    };
    context.await_turn = [this, number] { return awaitTurn(number); };
    context.is_known = [this, number, visible = planned.visible](const std::string& sha256) {
        if (!awaitTurn(number))
            return false;
        const std::scoped_lock guard(run_.mutex);
        const int tuned = run_.population.firstTunedTo(sha256);
        return run_.population.firstWithSource(sha256) >= 0 || (tuned >= 0 && tuned < visible);
    };
    context.source_of = [this](const std::string& id) { return run_.file->source(id); };
    context.trace = &trace_;
    return run_.proposer->plan(std::move(context));
}

Result<Proposal> RunSession::submitted(const Submission& submission)
{
    const auto source = KernelSource::parse(submission.source);
    const auto directive = source ? parseDirective(*source) : std::unexpected(source.error());
    if (!directive)
        return failure("What was submitted is no candidate: " + directive.error().message);
    RunPopulation::CandidatePointer parent;
    {
        const std::scoped_lock guard(run_.mutex);
        parent = run_.population.find(submission.parent);
    }
    Proposal proposal;
    proposal.source = source->text();
    proposal.parents = {submission.parent};
    proposal.proposer = person_proposer;
    proposal.strategy = parent ? parent->strategy : "";
    proposal.summary = submission.note.empty() ? "edited by hand" : submission.note;
    proposal.directive = *directive;
    if (const auto tunables = findTunables(*source))
        for (const Tunable& tunable : *tunables)
            proposal.tunables[tunable.name] = tunable.value;
    return proposal;
}

/// Blocks until all proposals before are stored; false when this one comes to nothing.
bool RunSession::awaitTurn(int number)
{
    std::unique_lock lock(run_.mutex);
    turn_changed_.wait(lock, [&] { return halted() || ended_at_ <= number || run_.population.size() == number; });
    return !halted() && ended_at_ > number;
}

void RunSession::conclude(const Planned& planned, Result<ProposalOutcome> outcome)
{
    const bool stands = awaitTurn(planned.number);
    if (stands && !outcome)
        fail(outcome.error());
    else if (stands && *outcome)
        return store(planned, std::move(**outcome));
    else if (outcome && *outcome && (*outcome)->dropped)
        (*outcome)->dropped();
    const std::scoped_lock guard(run_.mutex);
    --asking_;
    if (planned.submission)  // kept for the next session
        run_.submissions.push_front(*planned.submission);
    if (stands && outcome && !*outcome) {
        NoProposal& none = outcome->error();
        ended_at_ = planned.number;
        if (none.then == NoProposal::Then::finish) {
            finishEarly(std::move(none.message));
        } else {
            message_ = std::move(none.message);
            run_.pause_requested = true;
        }
    }
    run_.changed.notify_all();
    turn_changed_.notify_all();
}

void RunSession::store(const Planned& planned, Proposal proposal)
{
    Candidate candidate;
    candidate.number = planned.number;
    candidate.id = fmt::format("c{}", planned.number);
    candidate.island = planned.place.island;
    candidate.generation = planned.place.generation;
    if (planned.submission) {
        const std::scoped_lock guard(run_.mutex);
        if (const auto parent = run_.population.find(planned.submission->parent))
            candidate.island = parent->island;
        candidate.generation =
            run_.population.size() > 0 ? run_.population.at(run_.population.size() - 1)->generation : 0;
    }
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
        turn_changed_.notify_all();
    }
    enqueue(planned.number);
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
        wakeEverybody();
    }
    addLog(run_, "error", describe(error));
}

void RunSession::finishEarly(std::string message)
{
    message_ = std::move(message);
    proposing_ = false;
}

void RunSession::wakeEverybody()
{
    for (auto* changed :
         {&run_.changed, &turn_changed_, &to_compile_changed_, &to_measure_changed_, &background_changed_})
        changed->notify_all();
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
