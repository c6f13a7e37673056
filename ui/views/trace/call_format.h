// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_summary.h"

#include <QString>

namespace cuco::ui {

// What people read about calls of models.

QString callTitle(const LlmCallSummary& call, bool running);  ///< "#12 claude-x", "✕ #13 claude-x: rate limit"
QString tokensText(const LlmTotals& totals);                  ///< "31.2k → 4.1k"
/// "$0.84"; "–" when no cost is known; "≥ $0.84" when some is.
QString costText(const LlmTotals& totals);
QString durationText(std::chrono::microseconds time);  ///< "420 ms", "12.3 s", "4 min 05 s"
/// "3 calls, 1 failed, 31.2k → 4.1k tokens, $0.84, 12.3 s"; empty without calls.
QString totalsText(const LlmTotals& totals);
QString errorName(ChatErrorKind kind);  ///< "rate limit"

}  // namespace cuco::ui
