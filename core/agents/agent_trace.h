// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/llm/traced_client.h"

namespace cuco {

/// Where an agent leaves what it does while it does it: a step first, then the calls that belong to it.
class AgentTrace : public LlmCallSink {
public:
    /// Stored when it returns; gives the step's id. `parent` is such an id or 0, and a time of 0 becomes now.
    virtual Result<int> addStep(AgentStep step) = 0;
};

}  // namespace cuco
