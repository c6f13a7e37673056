// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/model_session.h"
#include "core/llm/key_source.h"
#include "core/llm/manual_exchange.h"
#include "core/run/run_config.h"

namespace cuco {

class RunFile;

/// How a run may reach models.
struct ModelAccess {
    KeySource keys = environmentKey;
    /// The person agreed to what consentNeeded() asks of settings that came with a run file.
    bool agreed = false;
    /// Asked by the manual provider without a folder; null: there is nobody.
    std::shared_ptr<ManualExchange> person{};
};

/// The models of a run's configuration; no client without a provider. The client is made at the first call, so that a
/// run can be opened without a key. Errors: prices that cannot be read.
Result<AgentModels> makeAgentModels(const RunConfig& config, const ModelAccess& access,
                                    const std::filesystem::path& resources);

/// What earlier sessions of the run have spent, and their answers to proposals that were cut off: those are not paid
/// again.
Result<void> rememberCalls(AgentModels& models, const RunConfig& config, const ModelAccess& access, RunFile& file);

}  // namespace cuco
