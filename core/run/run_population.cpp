// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_population.h"

#include "core/agents/proposer.h"

#include <algorithm>
#include <ranges>

namespace cuco {

RunPopulation::RunPopulation(const RunSnapshot& snapshot) : decisions_(snapshot.decisions)
{
    for (const Candidate& candidate : snapshot.candidates)
        add(candidate);
}

int RunPopulation::countIn(CandidateState state) const
{
    // Everything before the prefix is settled; what is in flight is never far behind it.
    const auto in_flight = std::span(candidates_).subspan(static_cast<std::size_t>(prefix_));
    return static_cast<int>(
        std::ranges::count_if(in_flight, [&](const auto& candidate) { return candidate->state == state; }));
}

RunPopulation::CandidatePointer RunPopulation::find(const std::string& id) const
{
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : at(found->second);
}

std::vector<RunPopulation::CandidatePointer> RunPopulation::firstOnes(int count) const
{
    return {candidates_.begin(), candidates_.begin() + std::clamp(count, 0, size())};
}

int RunPopulation::firstWithSource(const std::string& sha256) const
{
    const auto found = by_source_.find(sha256);
    return found == by_source_.end() ? -1 : found->second;
}

int RunPopulation::firstTunedTo(const std::string& sha256) const
{
    const auto found = by_tuned_source_.find(sha256);
    return found == by_tuned_source_.end() ? -1 : found->second;
}

void RunPopulation::add(Candidate candidate)
{
    by_id_.emplace(candidate.id, candidate.number);
    const bool tuned = !candidate.proposed_sha256.empty();
    by_source_.emplace(tuned ? candidate.proposed_sha256 : candidate.source_sha256, candidate.number);
    if (tuned)
        by_tuned_source_.emplace(candidate.source_sha256, candidate.number);
    cost_usd_ += candidate.cost_usd;
    if (candidate.state == CandidateState::settled)
        ++settled_;
    if (candidate.proposer == person_proposer)
        ++submitted_;
    candidates_.push_back(std::make_shared<const Candidate>(std::move(candidate)));
    advancePrefix();
}

RunPopulation::CandidatePointer RunPopulation::change(int number, const std::function<void(Candidate&)>& edit)
{
    CandidatePointer& slot = candidates_.at(static_cast<std::size_t>(number));
    Candidate changed = *slot;
    edit(changed);
    if (changed.state == CandidateState::settled && slot->state != CandidateState::settled)
        ++settled_;
    if (!changed.proposed_sha256.empty() && slot->proposed_sha256.empty()) {
        const auto [first, is_new] = by_tuned_source_.emplace(changed.source_sha256, number);
        first->second = std::min(first->second, number);
    }
    slot = std::make_shared<const Candidate>(std::move(changed));
    advancePrefix();
    return slot;
}

RunPopulation::CandidatePointer RunPopulation::addDecision(const Decision& decision)
{
    decisions_.push_back(decision);
    return applyDecisions(decision.candidate_id);
}

RunPopulation::CandidatePointer RunPopulation::undoLastDecision()
{
    for (Decision& decision : decisions_ | std::views::reverse)
        if (!decision.undone) {
            decision.undone = true;
            return applyDecisions(decision.candidate_id);
        }
    return nullptr;
}

RunPopulation::CandidatePointer RunPopulation::applyDecisions(const std::string& candidate_id)
{
    const auto found = by_id_.find(candidate_id);
    if (found == by_id_.end())
        return nullptr;
    return change(found->second, [&](Candidate& candidate) { cuco::applyDecisions(decisions_, candidate); });
}

RunPopulation::CandidatePointer RunPopulation::settlePromotion(int decision_id, PromotionStanding standing,
                                                               const std::string& finding)
{
    for (Decision& decision : decisions_)
        if (decision.id == decision_id) {
            decision.standing = standing;
            decision.finding = finding;
            return applyDecisions(decision.candidate_id);
        }
    return nullptr;
}

void RunPopulation::advancePrefix()
{
    while (prefix_ < size() && at(prefix_)->state == CandidateState::settled)
        ++prefix_;
}

}  // namespace cuco
