// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_trace.h"

#include "core/base/clock.h"
#include "core/run/run_file.h"

namespace cuco {

Result<int> RunTrace::addStep(AgentStep step)
{
    if (step.time_ms == 0)
        step.time_ms = unixTimeMs();
    auto stored = file_->addSteps({std::move(step)});
    if (!stored)
        return std::unexpected(stored.error());
    const int id = stored->front().id;
    post_(StepsAdded{std::move(*stored)});
    return id;
}

int RunTrace::callStarted(const LlmCallOrigin& origin, const std::string& provider, const std::string& model,
                          std::int64_t started_ms)
{
    const int running = next_running_++;
    post_(LlmCallStarted{running, origin, provider, model, started_ms});
    return running;
}

void RunTrace::callText(int running, std::string_view piece)
{
    post_(LlmText{running, std::string(piece)});
}

void RunTrace::callEnded(int running, LlmCall call)
{
    LlmCallSummary summary = summaryOf(call, 0);
    const auto id = file_->addLlmCall(std::move(call));
    if (!id)
        post_(Logged{{unixTimeMs(), "error", "A model's answer was not saved. " + describe(id.error())}});
    summary.id = id.value_or(0);
    post_(LlmCallEnded{running, std::move(summary)});
}

}  // namespace cuco
