// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/candidate.h"
#include "core/population/parent_selection.h"
#include "core/workload/workload.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

/// One decision of an agent, shown in the trace view.
struct AgentStep {
    int id = 0;                ///< unique in the run; assigned by the run file
    int parent = 0;            ///< 0: top level
    std::string candidate_id;
    std::string agent;         ///< "tunable proposer", "slow path", "judge"
    std::string title;         ///< "Chose parent c12"
    std::string body;          ///< Markdown: the reason, the weights, the alternatives
    std::int64_t time_ms = 0;  ///< Unix time
};

struct Proposal {
    std::string source;
    std::vector<std::string> parents;
    std::string proposer, summary, strategy;
    Directive directive;
    TunableValues tunables;
    std::vector<AgentStep> steps;
    double cost_usd = 0;
};

/// What a proposer may look at: settled candidates up to a fixed number, so that the same seed gives
/// the same proposals however long evaluations take.
struct ProposalContext {
    int number = 0, island = 0, generation = 0;
    std::uint64_t run_seed = 0;
    std::vector<Candidate> visible;           ///< settled, in order of number
    std::vector<std::string> known_sources;   ///< sha256 of every proposal so far, in flight included
    std::function<Result<std::string>(const std::string& id)> source_of;
};

class Proposer {
public:
    virtual ~Proposer() = default;
    /// The candidates a run begins with: one for each island, `island` cycling.
    virtual Result<Proposal> seed(int island) = 0;
    virtual Result<Proposal> propose(const ProposalContext& context, std::stop_token stop) = 0;
};

}  // namespace cuco
