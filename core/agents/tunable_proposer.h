// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/design/directive.h"

namespace cuco {

/// Searches a workload's strategies and their tunables without a model: a child keeps its parent's
/// strategy and moves one or two tunables to neighbouring choices, crosses values of equal name with
/// another candidate, or starts an untried strategy. Never proposes a text twice while untried choices remain.
class TunableProposer : public Proposer {
public:
    /// `seed_source` replaces the workload's seed when not empty. Errors: a strategy whose markers,
    /// directive or tunables do not parse.
    static Result<std::unique_ptr<TunableProposer>> create(const Workload& workload, std::string seed_source = {});

    Result<Proposal> seed(int island) override;
    Result<Proposal> propose(const ProposalContext& context, std::stop_token stop) override;

private:
    struct Template {
        std::string name;
        KernelSource source;
        Directive directive;
        std::vector<Tunable> tunables;
    };
    TunableProposer(std::vector<Template> templates) : templates_(std::move(templates)) {}
    std::vector<Template> templates_;  ///< [0] is the seed
};

}  // namespace cuco
