// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/model_session.h"
#include "core/agents/prompt.h"
#include "core/agents/search_answer.h"
#include "core/agents/search_plan.h"
#include "core/agents/slow_path_settings.h"
#include "core/agents/source_cache.h"
#include "core/agents/source_novelty.h"
#include "core/agents/summarizer.h"
#include "core/agents/tunable_proposer.h"
#include "core/workload/workload.h"

namespace cuco {

inline constexpr const char* slow_path_agent = "slow path";
/// Candidate::proposer of what a model wrote. Where no answer could be used it is the tunable proposer's.
inline constexpr const char* llm_proposer = "llm";

/// Searches with models over islands (CUCo, arXiv 2603.02376, section 6): each proposal has a parent, inspirations from
/// the archive and the island, what is known of failures and rejections, and the notes of the meta-summarizer. An
/// answer that cannot be used, or is too alike to what was tried, is asked for again and never evaluated.
///
/// Plans depend on the candidates that they may see alone, so a seed and recorded answers repeat a run.
class SlowPathProposer : public Proposer {
public:
    struct Parts {
        Workload workload;
        AgentModels models;
        PromptLibrary prompts;
        DesignSpace design_space;
        SlowPathSettings settings;
        int islands = 1;
        std::uint64_t run_seed = 1;
        std::string seed_source;  ///< replaces the workload's seed when not empty
    };
    /// Errors: the workload has nothing to begin with; a strategy that an island names is not there.
    static Result<std::unique_ptr<SlowPathProposer>> create(Parts parts);

    Result<ProposalOutcome> propose(const ProposalContext& context, std::stop_token stop) override;
    Result<ProposalWork> plan(ProposalContext context) override;

private:
    struct Draft;
    SlowPathProposer(Parts parts, std::unique_ptr<TunableProposer> tunables, std::string facts, std::string system);

    const IslandPlan& islandPlan(int island) const;
    Result<Proposal> seed(const ProposalContext& context) const;
    std::string chooseModel(const ProposalContext& context);
    const std::vector<ArchiveCell>& validOn(const std::set<std::string>& capabilities);
    Result<ProposalOutcome> work(Draft& draft, std::stop_token stop);
    Result<ChatRequest> requestOf(const Draft& draft, const KernelSource& parent);
    Result<ProposalOutcome> ask(const Draft& draft, ModelSession& session, int step, const KernelSource& parent,
                                std::stop_token stop);
    Proposal proposalOf(const Draft& draft, SearchAnswer answer, ModelSession& session);
    Result<std::string> notNew(const NoveltyMatch& match, const ProposalContext& context) const;
    Result<ProposalOutcome> substitute(const Draft& draft, ModelSession& session, int step, const std::string& fault,
                                       std::stop_token stop);

    Parts parts_;
    std::unique_ptr<TunableProposer> tunables_;
    std::string facts_, system_;
    // Of plans, which come one at a time:
    SearchPopulation population_;
    ModelBandit bandit_;
    std::vector<std::string> chosen_models_;  ///< by number
    std::size_t observed_ = 0;                ///< candidates that the bandit knows the outcome of
    std::set<std::string> capabilities_;      ///< what valid_cells_ are valid with
    std::vector<ArchiveCell> valid_cells_;
    // Of works:
    Summarizer summarizer_;
    SourceNovelty novelty_;
    SourceCache sources_;
};

}  // namespace cuco
