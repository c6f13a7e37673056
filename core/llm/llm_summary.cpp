// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/llm_summary.h"

namespace cuco {

LlmCallSummary summaryOf(const LlmCall& call, int id)
{
    const ChatResponse& answer = answerOf(call.result);
    LlmCallSummary summary;
    summary.id = id;
    summary.step = call.step;
    summary.candidate_id = call.candidate_id;
    summary.agent = call.agent;
    summary.provider = call.provider;
    summary.model = call.request.model;
    summary.response_model = answer.model;
    summary.started_ms = call.started_ms;
    summary.first_text = answer.first_text;
    summary.total = answer.total;
    summary.attempts = answer.attempts;
    summary.usage = answer.usage;
    summary.cost_usd = call.cost_usd;
    summary.cost_source = call.cost_source;
    summary.stop_reason = answer.stop_reason;
    if (!call.result) {
        summary.error_kind = call.result.error().kind;
        summary.error = describe(call.result.error().error);
    }
    return summary;
}

LlmTotals& LlmTotals::operator+=(const LlmTotals& other)
{
    calls += other.calls;
    failed += other.failed;
    input_tokens += other.input_tokens;
    output_tokens += other.output_tokens;
    cost_usd += other.cost_usd;
    unpriced += other.unpriced;
    time += other.time;
    return *this;
}

LlmTotals totalsOf(const LlmCallSummary& call)
{
    LlmTotals totals;
    totals.calls = 1;
    totals.failed = call.error_kind ? 1 : 0;
    totals.input_tokens = call.usage.input + call.usage.cache_read + call.usage.cache_write;
    totals.output_tokens = call.usage.output;
    totals.cost_usd = call.cost_usd.value_or(0);
    totals.unpriced = call.cost_usd ? 0 : 1;
    totals.time = call.total;
    return totals;
}

}  // namespace cuco
