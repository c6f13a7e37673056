// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/proposer.h"
#include "core/design/directive.h"

namespace cuco {

/// Candidate::proposer of its children.
inline constexpr const char* tunable_proposer = "tunable";

/// Searches a workload's strategies and their tunables without a model: a child keeps its parent's
/// strategy and moves one or two tunables to neighbouring choices, crosses values of equal name with
/// another candidate, or starts an untried strategy. The first 40 % of the generations explore: untried
/// strategies and crossings are likelier there. Never proposes a text twice; nothing when all were tried.
class TunableProposer : public Proposer {
public:
    /// A strategy as its author wrote it.
    struct Template {
        std::string name;
        KernelSource source;
        Directive directive;
        std::vector<Tunable> tunables;
    };

    /// `seed_source` replaces the workload's seed when not empty. Errors: a strategy whose markers,
    /// directive or tunables do not parse.
    static Result<std::unique_ptr<TunableProposer>> create(const Workload& workload, std::string seed_source = {});

    /// Island 0 begins with the workload's seed, further islands with other strategies.
    Result<Proposal> seed(int island) const;
    Result<ProposalOutcome> propose(const ProposalContext& context, std::stop_token stop) override;

private:
    explicit TunableProposer(std::vector<Template> templates) : templates_(std::move(templates)) {}

    std::vector<Template> templates_;  ///< [0] is the seed
};

}  // namespace cuco
