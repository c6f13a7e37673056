// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/candidate.h"
#include "core/population/parent_selection.h"
#include "core/workload/workload.h"

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace cuco {

class AgentTrace;
struct NodeProbe;
struct Scratchpad;

/// Candidate::proposer of what a person wrote.
inline constexpr const char* person_proposer = "person";

/// One decision of an agent, shown in the trace view. In a Proposal the ids count from 1 and `parent` names one of
/// them; the run file replaces both by numbers that are unique in the run.
struct AgentStep {
    int id = 0;
    int parent = 0;  ///< 0: top level
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
    /// Called when no candidate comes of it because the run ended first: answers that were paid for are kept for the
    /// next try. May be empty.
    std::function<void()> dropped;
};

/// Versions of notes (scratchpad.h) in the order in which they were stored; the pointer is never null.
using ScratchpadVersions = std::vector<std::shared_ptr<const Scratchpad>>;
using Scratchpads = std::shared_ptr<const ScratchpadVersions>;
/// Any thread may call.
using ScratchpadSource = std::function<Scratchpads()>;

/// What a proposer may look at: settled candidates up to a fixed number, so that the same seed gives
/// the same proposals however long evaluations take.
struct ProposalContext {
    int number = 0, island = 0, generation = 0;
    int generations = 0;               ///< of the whole run; the islands' seeds are generation 0
    int proposals_per_generation = 0;  ///< over all islands
    std::uint64_t run_seed = 0;
    ParentSelectionSettings parent_selection;
    std::vector<std::shared_ptr<const Candidate>> visible;  ///< settled, in order of number
    const NodeProbe* node = nullptr;                        ///< null: nothing is known of it
    /// The notes of the search as of now, the latest last. May be empty.
    ScratchpadSource scratchpads;
    /// Runs something beside the proposals of this session, which does not end before it. What was given first begins
    /// first. May be empty: then it is done at once.
    std::function<void(std::move_only_function<void(std::stop_token)>)> in_background;
    /// Blocks until every earlier proposal is made: then source_of() has c0 … c(number − 1). False: the run ended
    /// first.
    std::function<bool()> await_turn;
    /// Whether a text of this sha256 was proposed before, in flight included, or is a visible candidate's since the
    /// machine set its numbers. Awaits the turn.
    std::function<bool(const std::string& sha256)> is_known;
    std::function<Result<std::string>(const std::string& id)> source_of;
    AgentTrace* trace = nullptr;  ///< for steps and calls while proposing; null: nobody keeps them
};

/// Why there is no proposal, and what becomes of the run.
struct NoProposal {
    enum class Then {
        finish,  ///< nothing is left to try
        pause,   ///< something is missing that a person can give; the run can be resumed
    };
    Then then = Then::finish;
    std::string message;
};

using ProposalOutcome = std::expected<Proposal, NoProposal>;

inline ProposalOutcome noProposal(NoProposal::Then then, std::string message)
{
    return ProposalOutcome(std::unexpect, NoProposal{then, std::move(message)});
}

/// The part of making a proposal that may wait: for models, and for its turn.
using ProposalWork = std::move_only_function<Result<ProposalOutcome>(std::stop_token)>;

class Proposer {
public:
    virtual ~Proposer() = default;
    /// In generation 0, which has one candidate for each island, what the search begins with there. Then children.
    virtual Result<ProposalOutcome> propose(const ProposalContext& context, std::stop_token stop) = 0;
    /// The same in two parts. Plans are made one at a time, in the order of their numbers, and do not wait; their work
    /// goes on beside that of others. The proposer outlives it.
    virtual Result<ProposalWork> plan(ProposalContext context)
    {
        return [this, context = std::move(context)](std::stop_token stop) { return propose(context, std::move(stop)); };
    }
};

}  // namespace cuco
