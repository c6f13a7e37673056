// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/agent_trace.h"
#include "core/run/run_event.h"

#include <atomic>

namespace cuco {

class RunFile;

/// Stores what agents do in the run file and tells the observer. Any thread may call.
class RunTrace final : public AgentTrace {
public:
    /// `post` must not block and may be called from any thread (EventDispatcher::post).
    RunTrace(RunFile& file, RunObserver post) : file_(&file), post_(std::move(post)) {}

    Result<int> addStep(AgentStep step) override;
    int callStarted(const LlmCallOrigin& origin, const std::string& provider, const std::string& model,
                    std::int64_t started_ms) override;
    void callText(int running, std::string_view piece) override;
    void callEnded(int running, LlmCall call) override;

private:
    RunFile* file_;
    RunObserver post_;
    std::atomic<int> next_running_ = 1;
};

}  // namespace cuco
