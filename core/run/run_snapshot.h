// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/population/candidate.h"
#include "core/run/decision.h"
#include "core/run/run_config.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace cuco {

enum class RunState { created, running, paused, stopped, finished, failed };
std::string_view toString(RunState state);
std::optional<RunState> runStateFromString(std::string_view text);

struct LogEntry {
    std::int64_t time_ms = 0;  ///< Unix time
    std::string level;         ///< "info", "warning", "error"
    std::string text;
};

/// A host-driven reference measured in the run.
struct Baseline {
    std::string name;  ///< "host.cu"
    Evaluation evaluation;
};

/// A run by value, without sources, timelines and logs of compilers.
struct RunSnapshot {
    RunConfig config;
    RunState state = RunState::created;
    std::string message;  ///< why it failed or stopped
    bool modelled = false;
    std::vector<Baseline> baselines;
    std::vector<Candidate> candidates;  ///< by number
    std::vector<Decision> decisions;    ///< by time, undone ones included
    std::vector<LogEntry> log;
};

/// The verified candidate with the highest fitness that nobody rejected, or nothing.
const Candidate* bestOf(const RunSnapshot& snapshot);

/// The workload is a program, whose times are its own word.
bool selfReported(const RunSnapshot& snapshot);
/// " (modelled)", " (self-reported)" or nothing, to stand behind a time.
const char* timesNote(bool modelled, bool self_reported);

/// The document of `cucoctl show --json`.
nlohmann::json toJson(const RunSnapshot& snapshot);
/// One element of its "candidates".
nlohmann::json toJson(const Candidate& candidate);
/// One element of its "decisions".
nlohmann::json toJson(const Decision& decision);

}  // namespace cuco
