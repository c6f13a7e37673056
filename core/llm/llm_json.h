// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/chat.h"

#include <nlohmann/json_fwd.hpp>

namespace cuco {

// The forms in recordings, records and answers of programs. Times are in
// microseconds.

nlohmann::json toJson(const TokenUsage& usage);
/// `text`, `stop_reason`, `model`, `request_id`, `usage`, the times and
/// `attempts`; not the raw bodies.
nlohmann::json toJson(const ChatResponse& response);
nlohmann::json toJson(const ChatError& error);

/// Reads what toJson(ChatResponse) writes; only `text` must be there.
Result<void> readAnswer(const nlohmann::json& json, const std::string& where, ChatResponse& response);
Result<void> readError(const nlohmann::json& json, const std::string& where, ChatError& error);

}  // namespace cuco
