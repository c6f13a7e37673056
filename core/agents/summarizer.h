// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/meta_summary.h"

#include <future>
#include <map>
#include <mutex>

namespace cuco {

/// Brings the notes of a search up to date beside its proposals, so that none waits for a summary that was begun in
/// time. The summary of the first N candidates begins with the first proposal that sees them; it brings the notes that
/// this proposal reads up to date, and is what those read that see a lag more: as many as are settled while one
/// proposal is made. So several may be made at once, and which notes a proposal reads depends on its number alone.
class Summarizer {
public:
    /// All three must outlive it.
    Summarizer(const AgentModels& models, const PromptLibrary& prompts, const SlowPathSettings& settings, int islands);

    struct Made {
        double cost_usd = 0;
    };
    using Outcome = Result<std::expected<Made, NoProposal>>;
    /// The notes that a proposal reads.
    struct Reading {
        int candidates = 0;                ///< the notes are of the first so many; 0: there are none but a person's
        std::shared_future<Outcome> made;  ///< not valid where the trace has them already
        bool pays = false;                 ///< the first to read them counts their cost as its own
    };
    /// Begins the summaries that are due in ProposalContext::in_background. In the order of the proposals' numbers.
    Reading plan(const ProposalContext& context);

    struct Notes {
        std::string text;
        double cost_usd = 0;
    };
    /// Blocks until they are made. No notes: they could not be made. They are begun again when the same proposal is
    /// planned again, by a session that goes on.
    Result<std::expected<Notes, NoProposal>> await(const Reading& reading, const ProposalContext& context);
    /// No candidate came of the proposal that was to pay.
    void notPaid(const Reading& reading);

private:
    struct Summary {
        std::shared_future<Outcome> made;
        bool paid = false;
        int failure_told_to = -1;  ///< the highest number of a proposal that was to read it
    };
    /// The notes for who sees so many candidates are of so many.
    int notesFor(int visible, int lag) const;
    void begin(SummaryTask task, int reader, const ProposalContext& context);
    Outcome make(const SummaryTask& task, const std::shared_future<Outcome>& before, AgentTrace* trace,
                 const std::string& label, const ScratchpadSource& scratchpads, std::stop_token stop) const;

    const AgentModels* models_;
    const PromptLibrary* prompts_;
    const SlowPathSettings* settings_;
    int islands_;
    std::mutex mutex_;
    std::map<int, Summary> summaries_;  ///< begun here, by the count of candidates
};

}  // namespace cuco
