// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/tunable_race.h"
#include "core/population/islands.h"
#include "core/run/evaluator_turns.h"
#include "core/run/event_dispatcher.h"
#include "core/run/run_file.h"
#include "core/run/run_population.h"
#include "core/run/run_trace.h"
#include "core/run/submission.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>

namespace cuco {

/// What the controller and its session work on. The mutex guards what stands below it; the run file and the
/// dispatcher have locks of their own and may be used under it.
struct RunShared {
    explicit RunShared(RunObserver observer) : events(std::move(observer)) {}

    std::unique_ptr<RunFile> file;
    std::shared_ptr<CandidateEvaluator> evaluator;
    std::unique_ptr<Proposer> proposer;
    RunConfig config;
    EventDispatcher events;

    std::mutex mutex;
    std::condition_variable changed;
    RunPopulation population;
    std::vector<Baseline> baselines;
    Scratchpads scratchpads = std::make_shared<ScratchpadVersions>();  ///< among the trace's steps, by id
    std::deque<Submission> submissions;                                ///< stored, and not candidates yet
    RunState state = RunState::created;
    bool pause_requested = false;
    bool only_submissions = false;  ///< the session shall propose nothing else

    EvaluatorTurns turns;  ///< has a lock of its own
};

/// Those among the steps come behind the versions that there are.
Scratchpads withVersionsOf(const std::vector<AgentStep>& steps, Scratchpads versions);

/// Keeps scratchpads among the steps, and tells the observer. Not under the lock.
void tell(RunShared& run, const RunEvent& event);

/// Stored and told; an entry that cannot be stored is told all the same.
void addLog(RunShared& run, const std::string& level, const std::string& text);

/// Prepares the evaluator unless it is, and stores what its node is. Stopped early it is not prepared.
Result<void> prepareEvaluator(RunShared& run, const std::stop_token& stop);

/// The engine at work: from a start until the run is finished, paused, stopped or failed. Proposing, compiling and
/// measuring have threads of their own.
class RunSession {
public:
    struct End {
        RunState state = RunState::finished;
        std::string message;
    };

    explicit RunSession(RunShared& run);
    End work(std::stop_token stop);

private:
    struct Planned {
        int number = 0;
        IslandPlace place;
        int visible = 0;  ///< candidates, from the first on
        std::optional<Submission> submission;
    };
    struct ToCompile {
        int number = 0;
        int variant = -1;  ///< of its tunables; −1: as it was proposed
        auto operator<=>(const ToCompile&) const = default;
    };
    struct ToMeasure {
        EvaluationRequest request;
        CandidateEvaluator::Compiled compiled;
    };
    /// A verified candidate whose tunables are tried with other choices.
    struct TuningRace {
        EvaluationRequest request;
        EvaluationResult own;
        std::vector<TunableVariant> variants;
        std::size_t compiling = 0;
    };
    struct Tuned {
        std::string source;
        TunableValues values;
    };

    bool prepare();
    Result<void> storeBaselines();
    void enqueueUnsettled();
    void proposeLoop();
    std::optional<Planned> nextToPlan();
    Result<ProposalWork> plan(const Planned& planned);
    Result<Proposal> submitted(const Submission& submission);
    bool awaitTurn(int number);
    void conclude(const Planned& planned, Result<ProposalOutcome> outcome);
    void store(const Planned& planned, Proposal proposal);
    void enqueue(int number);

    void compileLoop();
    void measureLoop();
    void backgroundLoop();
    void compileOne(int number);
    void measureOne(int number, ToMeasure work);
    void settle(int number, EvaluationResult result, const std::optional<Tuned>& tuned = {});

    bool beginRace(int number, const EvaluationRequest& request, const EvaluationResult& own);
    void compileVariant(int number, std::size_t variant);
    void race(int number, TuningRace race);
    void setState(int number, CandidateState state);
    void releaseInFlight();

    int proposers() const;
    int compileWorkers() const;
    int measureWorkers() const;
    bool halted() const { return halt_.stop_requested(); }
    void fail(const Error& error);
    void finishEarly(std::string message);
    void wakeEverybody();  ///< under the lock
    void postProgress();   ///< under the lock

    RunShared& run_;
    RunTrace trace_;
    std::stop_source halt_;  ///< the user's stop or a failure
    std::chrono::steady_clock::time_point began_{};
    std::mutex planning_;  ///< plans are made in the order of their numbers; taken before RunShared::mutex
    // Whoever has one kind of work waits apart from the others; who plans proposals waits for RunShared::changed.
    std::condition_variable turn_changed_, to_compile_changed_, to_measure_changed_, background_changed_;
    // Guarded by RunShared::mutex:
    std::set<ToCompile> to_compile_;  ///< the lowest number first: the next proposal waits for it
    std::map<int, ToMeasure> to_measure_;
    std::map<int, TuningRace> races_;
    std::deque<std::move_only_function<void(std::stop_token)>> background_;  ///< what proposers want done
    int searched_ = 0;  ///< planned by the proposer, earlier sessions included
    int next_ = 0;      ///< the number of the next proposal to plan
    int asking_ = 0;    ///< planned, and not stored yet
    int ended_at_ = 0;  ///< proposals from this number on come to nothing
    int in_flight_ = 0;
    int settled_here_ = 0;
    bool proposing_ = true;
    bool closing_ = false;
    std::string message_;
    std::optional<Error> error_;
};

}  // namespace cuco
