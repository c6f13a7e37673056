// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/llm_call.h"

namespace cuco {

/// A call's long texts, apart from the rest of it.
struct LlmCallTexts {
    std::vector<std::string> asked;  ///< the system text, then each message
    std::string answer, raw_response;
    /// The raw request, in which each text of `asked` that it repeats is a mark.
    std::string raw_request;
};

/// Leaves the call without these texts.
LlmCallTexts takeTexts(LlmCall& call);
/// The opposite. Errors: another number of messages, a mark of no text, a raw request of more than 256 MiB.
Result<void> putTexts(LlmCallTexts texts, LlmCall& call);

}  // namespace cuco
