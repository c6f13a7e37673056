// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_call.h"

namespace cuco {

/// A stored call without its texts: what lists and trees show.
struct LlmCallSummary {
    int id = 0;    ///< in the run file, in the order in which calls ended; 0: could not be stored
    int step = 0;  ///< 0: none
    std::string candidate_id, agent, provider;
    std::string model;           ///< as it was asked for
    std::string response_model;  ///< as the provider names what answered; may be empty
    std::int64_t started_ms = 0;
    std::chrono::microseconds first_text{}, total{};  ///< of the (last) attempt; 0: never
    int attempts = 1;
    TokenUsage usage;
    std::optional<double> cost_usd;
    std::string cost_source;
    StopReason stop_reason = StopReason::unfinished;
    std::optional<ChatErrorKind> error_kind;  ///< nothing: the call succeeded
    std::string error;                        ///< the sentence
};

LlmCallSummary summaryOf(const LlmCall& call, int id);

/// Sums over calls.
struct LlmTotals {
    int calls = 0, failed = 0;
    std::int64_t input_tokens = 0;  ///< read from and written to a cache included
    std::int64_t output_tokens = 0;
    double cost_usd = 0;
    int unpriced = 0;  ///< calls whose cost is not known, not in cost_usd
    std::chrono::microseconds time{};

    LlmTotals& operator+=(const LlmTotals& other);
    friend bool operator==(const LlmTotals&, const LlmTotals&) = default;
};

LlmTotals totalsOf(const LlmCallSummary& call);

}  // namespace cuco
