// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/fast_path_settings.h"
#include "core/agents/fast_path_stages.h"
#include "core/agents/model_session.h"
#include "core/agents/prompt.h"
#include "core/agents/proposer.h"
#include "core/source/kernel_source.h"
#include "core/workload/workload.h"

#include <functional>
#include <optional>

namespace cuco {

/// Turns a host-driven program into one that communicates from the device, in a run of one island with one proposal at
/// a time: each candidate is an attempt, judged when it is settled, and the next mends or continues it.
class FastPathProposer : public Proposer {
public:
    struct Parts {
        Workload workload;
        std::string host_source;  ///< to convert
        /// Of it, as text, when the first prompt is made. Nothing: none is told.
        std::function<Result<std::string>(std::stop_token)> analyse;
        AgentModels models;
        PromptLibrary prompts;
        FastPathSettings settings;
    };
    static Result<std::unique_ptr<FastPathProposer>> create(Parts parts);

    Result<ProposalOutcome> propose(const ProposalContext& context, std::stop_token stop) override;

private:
    FastPathProposer(Parts parts, KernelSource frame, std::string facts, std::string rewriter_system,
                     std::string judge_system);
    Result<void> analyse(ModelSession& session, std::stop_token stop);
    Result<ProposalOutcome> proposeSeed(const ProposalContext& context) const;
    struct Attempt;

    Parts parts_;
    KernelSource frame_;
    std::string facts_, rewriter_system_, judge_system_;
    std::optional<std::string> analysis_;
};

}  // namespace cuco
