// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_event.h"
#include "core/run/run_file.h"

#include <filesystem>
#include <memory>
#include <string>

namespace cuco {

class CandidateEvaluator;
class Proposer;

/// The engine: owns the run file's writer, drives proposer and evaluator on threads of its own, and is the
/// only place where a person's decision enters. All methods return at once unless they say otherwise.
///
/// A proposal sees exactly the candidates of visibleTo(), once they are settled: proposing, compiling and measuring
/// overlap, and a seed still gives the same candidates.
class RunController {
public:
    struct Parts {
        std::unique_ptr<RunFile> file;  ///< opened for writing
        // Without these two a run can be decided on but not started; without an evaluator promotions stay pending.
        std::shared_ptr<CandidateEvaluator> evaluator;
        std::unique_ptr<Proposer> proposer;
    };

    /// Reads the file's state. A run that was cut off (by a kill, a power failure) becomes a stopped one. A file that
    /// cannot be read shows as a failed run, whose message says why.
    RunController(Parts parts, RunObserver observer);
    ~RunController();  ///< stops, waits for the threads, closes the file

    /// Begins, or goes on with, a run that is created, paused or stopped. Measures pending promotions, also of a run
    /// that is finished.
    void start();
    void pause();  ///< nothing new is proposed; what is in flight settles
    void resume();
    void stop();  ///< cancels what is in flight; it is evaluated again on resume, and promotions are measured then
    /// Blocks until the run is finished, stopped, paused or failed and the observer knows; at once when it never began.
    void wait();

    RunState state() const;

    /// A promotion is pending at first: the candidate is measured again on held-back shapes, and an event tells whether
    /// the promotion stands. Errors: no such candidate; a promotion of one that did not verify; the file cannot be
    /// written.
    Result<void> promote(const std::string& candidate_id, const std::string& reason);
    Result<void> reject(const std::string& candidate_id, const std::string& reason);
    Result<void> undo();
    /// Blocks until no promotion is being measured and the observer knows. The error is what kept one from being
    /// measured; it stays pending.
    Result<void> waitForPromotions();

    /// Evaluates what a person wrote from a candidate as its child, without going on with a search that is not running.
    /// Stored when it returns; a run that is running takes it up after the proposals that are being made. Errors: no
    /// such parent; a source without markers or directive; there is nothing to evaluate with.
    Result<void> submit(const std::string& parent_id, const std::string& source, const std::string& note);

    /// A person's version of what the search has learned (scratchpad.h): for proposals planned from now on. Errors: the
    /// run asks no models for proposals; more than most_scratchpad_bytes; no text.
    Result<void> editScratchpad(const std::string& text);

private:
    struct Private;
    std::unique_ptr<Private> d_;
};

}  // namespace cuco
