// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_snapshot.h"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuco {

/// The candidates and decisions of a run in memory. Candidates are replaced, never changed, so that a proposer can go
/// on reading those it was given. Not for several threads at once.
class RunPopulation {
public:
    using CandidatePointer = std::shared_ptr<const Candidate>;

    RunPopulation() = default;
    explicit RunPopulation(const RunSnapshot& snapshot);

    int size() const { return static_cast<int>(candidates_.size()); }
    int settled() const { return settled_; }
    /// How many candidates from number 0 on are settled without a gap.
    int settledPrefix() const { return prefix_; }
    int countIn(CandidateState state) const;
    int submitted() const { return submitted_; }  ///< how many a person wrote
    double costUsd() const { return cost_usd_; }

    const CandidatePointer& at(int number) const { return candidates_.at(static_cast<std::size_t>(number)); }
    CandidatePointer find(const std::string& id) const;
    std::vector<CandidatePointer> firstOnes(int count) const;
    /// The lowest number that was proposed with this text, or -1.
    int firstWithSource(const std::string& sha256) const;
    /// The same of texts whose numbers the machine set.
    int firstTunedTo(const std::string& sha256) const;

    void add(Candidate candidate);  ///< its number is size()
    CandidatePointer change(int number, const std::function<void(Candidate&)>& edit);

    const std::vector<Decision>& decisions() const { return decisions_; }
    CandidatePointer addDecision(const Decision& decision);
    /// Undoes the last decision in force; nothing when there is none.
    CandidatePointer undoLastDecision();
    /// What measuring again found of a promotion.
    CandidatePointer settlePromotion(int decision_id, PromotionStanding standing, const std::string& finding);

private:
    CandidatePointer applyDecisions(const std::string& candidate_id);
    void advancePrefix();

    std::vector<CandidatePointer> candidates_;
    std::unordered_map<std::string, int> by_id_, by_source_, by_tuned_source_;
    std::vector<Decision> decisions_;
    int settled_ = 0, prefix_ = 0, submitted_ = 0;
    double cost_usd_ = 0;
};

}  // namespace cuco
