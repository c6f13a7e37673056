// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_controller.h"

#include "core/agents/scratchpad.h"
#include "core/base/clock.h"
#include "core/llm/chat.h"
#include "core/run/promotions.h"
#include "core/run/run_session.h"

#include <fmt/format.h>

#include <thread>

namespace cuco {

struct RunController::Private {
    explicit Private(RunObserver observer) : run(std::move(observer)) {}

    void load();
    void changeState(RunState state, const std::string& message);
    void start(bool only_submissions);
    void engine(std::stop_token stop);
    Result<void> decide(DecisionKind kind, const std::string& candidate_id, const std::string& reason);
    void tellDecision(const RunPopulation::CandidatePointer& candidate, const std::string& text);

    RunShared run;
    std::optional<Error> unreadable;
    std::mutex deciding;  ///< orders decisions as the file has them; taken before RunShared::mutex
    std::mutex starting;  ///< guards `thread`; taken before RunShared::mutex
    std::jthread thread;
    Promotions promotions{run};
};

void RunController::Private::load()
{
    auto snapshot = run.file->snapshot();
    if (!snapshot) {
        unreadable = snapshot.error();
        run.state = RunState::failed;
        return;
    }
    run.config = snapshot->config;
    run.population = RunPopulation(*snapshot);
    run.baselines = snapshot->baselines;
    run.state = snapshot->state;
    const auto steps = run.file->steps();
    if (!steps) {
        unreadable = steps.error();
        run.state = RunState::failed;
        return;
    }
    run.scratchpads = withVersionsOf(*steps, run.scratchpads);
    auto pending = pendingSubmissions(*steps, snapshot->candidates, *run.file);
    if (!pending) {
        unreadable = pending.error();
        run.state = RunState::failed;
        return;
    }
    run.submissions = std::move(*pending);
    if (run.state == RunState::running)
        changeState(RunState::stopped, "The program that ran it ended without closing it; resume it to go on.");
}

/// Stored before it is told. Under the lock, so that whoever waits finds the file up to date.
void RunController::Private::changeState(RunState state, const std::string& message)
{
    std::string text = message;
    if (auto stored = run.file->setState(state, message); !stored && state != RunState::failed) {
        state = RunState::failed;
        text = describe(stored.error());
    }
    run.state = state;
    run.events.post(StateChanged{state, text});
    run.changed.notify_all();
}

void RunController::Private::engine(std::stop_token stop)
{
    for (;;) {
        const RunSession::End end = RunSession(run).work(stop);
        if (end.state != RunState::failed)  // then the failure is in the log already
            addLog(run, "info",
                   fmt::format("The run is {}{}{}", toString(end.state), end.message.empty() ? "" : ": ", end.message));
        const std::scoped_lock guard(run.mutex);
        // Asked to go on while it was about to pause.
        if (end.state == RunState::paused && !run.pause_requested && !run.only_submissions)
            continue;
        if (end.state == RunState::finished && !run.submissions.empty())
            continue;
        run.pause_requested = false;
        changeState(end.state, end.message);
        return;
    }
}

Result<void> RunController::Private::decide(DecisionKind kind, const std::string& candidate_id,
                                            const std::string& reason)
{
    if (unreadable)
        return std::unexpected(*unreadable);
    const std::scoped_lock order(deciding);
    Decision decision;
    {
        const std::scoped_lock guard(run.mutex);
        const auto candidate = run.population.find(candidate_id);
        if (!candidate)
            return failure(fmt::format("There is no candidate {}", candidate_id), run.file->path().string(),
                           "Choose one of those that `cucoctl show` lists.");
        if (kind == DecisionKind::promoted && !(candidate->evaluation && candidate->evaluation->verified()))
            return failure(fmt::format("{} cannot be promoted: it {}", candidate_id,
                                       candidate->evaluation ? fmt::format("did not verify ({})",
                                                                           toString(candidate->evaluation->verdict))
                                                             : "is not evaluated yet"),
                           {}, "Promote a verified candidate.");
        const auto& decisions = run.population.decisions();
        decision.id = decisions.empty() ? 1 : decisions.back().id + 1;
    }
    decision.candidate_id = candidate_id;
    decision.kind = kind;
    decision.reason = reason;
    decision.time_ms = unixTimeMs();
    if (auto stored = run.file->addDecision(decision); !stored)
        return stored;
    RunPopulation::CandidatePointer changed;
    {
        const std::scoped_lock guard(run.mutex);
        changed = run.population.addDecision(decision);
        tellDecision(changed, fmt::format("{} {}{}{}", candidate_id, toSentencePart(decision),
                                          reason.empty() ? "" : ": ", reason));
    }
    promotions.reconsider();
    promotions.begin();
    return {};
}

void RunController::Private::tellDecision(const RunPopulation::CandidatePointer& candidate, const std::string& text)
{
    run.events.post(DecisionsChanged{run.population.decisions()});
    if (candidate)
        run.events.post(CandidateChanged{*candidate});
    addLog(run, "info", text);
}

void RunController::Private::start(bool only_submissions)
{
    const std::scoped_lock order(starting);
    promotions.begin();
    {
        const std::scoped_lock guard(run.mutex);
        if (run.state == RunState::running) {
            if (!only_submissions)
                run.pause_requested = run.only_submissions = false;
            run.changed.notify_all();
            return;
        }
        if (unreadable) {
            run.events.post(StateChanged{RunState::failed, describe(*unreadable)});
            return;
        }
        // A conversion can be continued from an earlier attempt when later ones were rejected.
        const bool over = run.state == RunState::finished && run.config.proposer != "fastpath";
        if ((over && run.submissions.empty()) || !run.evaluator || !run.proposer)
            return;
        run.only_submissions = only_submissions;
        changeState(RunState::running, "");
        if (run.state != RunState::running)
            return;
    }
    // The engine of an earlier start has ended, or is about to: its last act was to leave the state running.
    thread = std::jthread([this](std::stop_token stop) { engine(std::move(stop)); });
}

RunController::RunController(Parts parts, RunObserver observer) : d_(std::make_unique<Private>(std::move(observer)))
{
    d_->run.file = std::move(parts.file);
    d_->run.evaluator = std::move(parts.evaluator);
    d_->run.proposer = std::move(parts.proposer);
    d_->load();
}

RunController::~RunController()
{
    const std::scoped_lock starting(d_->starting);
    if (d_->thread.joinable()) {
        d_->thread.request_stop();
        d_->thread.join();
    }
    d_->promotions.stop();
    static_cast<void>(d_->promotions.wait());  // a failure is in the log
    // The observer may still call this object while it is told the last events.
    d_->run.events.flush();
}

void RunController::start()
{
    d_->start(false);
}

void RunController::pause()
{
    const std::scoped_lock guard(d_->run.mutex);
    if (d_->run.state != RunState::running)
        return;
    d_->run.pause_requested = true;
    d_->run.changed.notify_all();
}

void RunController::resume()
{
    start();
}

void RunController::stop()
{
    const std::scoped_lock starting(d_->starting);
    d_->promotions.stop();
    {
        const std::scoped_lock guard(d_->run.mutex);
        if (d_->run.state == RunState::paused)
            d_->changeState(RunState::stopped, "Stopped; resume it to go on.");
        if (d_->run.state != RunState::running)
            return;
    }
    // Without the lock: what listens to the request runs in it.
    d_->thread.request_stop();
}

void RunController::wait()
{
    {
        std::unique_lock lock(d_->run.mutex);
        d_->run.changed.wait(lock, [this] { return d_->run.state != RunState::running; });
    }
    d_->run.events.flush();
}

RunState RunController::state() const
{
    const std::scoped_lock guard(d_->run.mutex);
    return d_->run.state;
}

Result<void> RunController::promote(const std::string& candidate_id, const std::string& reason)
{
    return d_->decide(DecisionKind::promoted, candidate_id, reason);
}

Result<void> RunController::reject(const std::string& candidate_id, const std::string& reason)
{
    return d_->decide(DecisionKind::rejected, candidate_id, reason);
}

Result<void> RunController::undo()
{
    if (d_->unreadable)
        return std::unexpected(*d_->unreadable);
    const std::scoped_lock order(d_->deciding);
    if (auto stored = d_->run.file->undoLastDecision(); !stored)
        return stored;
    {
        const std::scoped_lock guard(d_->run.mutex);
        const auto changed = d_->run.population.undoLastDecision();
        d_->tellDecision(changed, fmt::format("The last decision{} is undone", changed ? " on " + changed->id : ""));
    }
    d_->promotions.reconsider();
    d_->promotions.begin();
    return {};
}

Result<void> RunController::submit(const std::string& parent_id, const std::string& source, const std::string& note)
{
    if (d_->unreadable)
        return std::unexpected(*d_->unreadable);
    if (!d_->run.evaluator || !d_->run.proposer)
        return failure("This run has nothing to evaluate a candidate with", d_->run.file->path().string(),
                       "Open it where its workload and its node are.");
    Submission submission{parent_id, source, note};
    if (auto valid = validate(submission); !valid)
        return valid;
    {
        const std::scoped_lock guard(d_->run.mutex);
        if (!d_->run.population.find(parent_id))
            return failure(fmt::format("There is no candidate {}", parent_id), d_->run.file->path().string(),
                           "Choose one of those that `cucoctl show` lists.");
    }
    AgentStep step = toStep(submission);
    step.time_ms = unixTimeMs();
    auto stored = d_->run.file->addSubmission(std::move(step), source);
    if (!stored)
        return std::unexpected(stored.error());
    tell(d_->run, StepsAdded{{std::move(*stored)}});
    {
        const std::scoped_lock guard(d_->run.mutex);
        d_->run.submissions.push_back(std::move(submission));
        d_->run.changed.notify_all();
    }
    d_->start(true);
    return {};
}

Result<void> RunController::editScratchpad(const std::string& text)
{
    if (d_->unreadable)
        return std::unexpected(*d_->unreadable);
    if (d_->run.config.proposer != "llm")
        return failure("This run asks no model for proposals, so nobody would read the notes",
                       d_->run.file->path().string(), "Write them in a search by models.");
    if (text.size() > most_scratchpad_bytes)
        return failure(fmt::format("The notes have {} bytes", text.size()), {},
                       fmt::format("Shorten them to {}.", most_scratchpad_bytes));
    if (text.contains('\0') || validUtf8(text) != text)
        return failure("The notes are no text in UTF-8", {}, "Save them as such.");
    int candidates = 0;
    {
        const std::scoped_lock guard(d_->run.mutex);
        candidates = d_->run.population.size();
    }
    AgentStep step = toStep({candidates, true, text});
    step.time_ms = unixTimeMs();
    auto stored = d_->run.file->addSteps({std::move(step)}, RunFile::Author::person);
    if (!stored)
        return std::unexpected(stored.error());
    tell(d_->run, StepsAdded{std::move(*stored)});
    return {};
}

Result<void> RunController::waitForPromotions()
{
    return d_->promotions.wait();
}

}  // namespace cuco
