// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_summary.h"
#include "core/llm/traced_client.h"
#include "core/run/run_snapshot.h"

#include <functional>
#include <variant>

namespace cuco {

struct StateChanged {
    RunState state = RunState::created;
    std::string message;
};
struct BaselinesMeasured {
    std::vector<Baseline> baselines;
    bool modelled = false;
};
/// A candidate that is new or has changed: state, evaluation or decision.
struct CandidateChanged {
    Candidate candidate;
};
struct StepsAdded {
    std::vector<AgentStep> steps;
};
struct DecisionsChanged {
    std::vector<Decision> decisions;
};
struct Logged {
    LogEntry entry;
};
/// What the engine is doing right now.
struct Progress {
    int proposed = 0, settled = 0, total = 0;
    int compiling = 0, queued = 0, measuring = 0;
    double cost_usd = 0;
    double seconds_left = -1;  ///< < 0: not known yet
};

/// `running` numbers the calls of one session from 1 while they run.
struct LlmCallStarted {
    int running = 0;
    LlmCallOrigin origin;
    std::string provider, model;
    std::int64_t started_ms = 0;  ///< Unix time
};
/// The next piece of a running call's answer.
struct LlmText {
    int running = 0;
    std::string text;
};
/// The call is stored.
struct LlmCallEnded {
    int running = 0;
    LlmCallSummary summary;
};

using RunEvent = std::variant<StateChanged, BaselinesMeasured, CandidateChanged, StepsAdded, DecisionsChanged, Logged,
                              Progress, LlmCallStarted, LlmText, LlmCallEnded>;

/// Called on an engine thread, without a lock held, in the order of the events.
using RunObserver = std::function<void(const RunEvent&)>;

}  // namespace cuco
