// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/parent_selection.h"

#include <algorithm>
#include <cmath>

namespace cuco {

namespace {

std::uint64_t mix(std::uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

/// The mean of the two middle values when their number is even.
double median(std::vector<double> values)
{
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Below this spread of fitness (a tenth of a per cent of speed-up) candidates count as equal.
constexpr double least_spread = 1e-3;

}  // namespace

ProposalRandom::ProposalRandom(std::uint64_t run_seed, std::uint64_t proposal_number)
    : state_(mix(run_seed + golden_gamma) ^ mix(proposal_number * golden_gamma + 1))
{
}

std::uint64_t ProposalRandom::next()
{
    state_ += golden_gamma;
    return mix(state_);
}

double ProposalRandom::uniform()
{
    return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::size_t ProposalRandom::index(std::size_t count)
{
    return std::min(static_cast<std::size_t>(uniform() * static_cast<double>(count)), count - 1);
}

std::size_t ProposalRandom::weighted(std::span<const double> weights)
{
    double sum = 0;
    for (const double weight : weights)
        sum += weight;
    if (!(sum > 0))
        return index(weights.size());
    double left = uniform() * sum;
    std::size_t last = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] <= 0)
            continue;
        last = i;
        left -= weights[i];
        if (left < 0)
            return i;
    }
    return last;  // rounding left a remainder behind the last weight
}

std::vector<double> parentWeights(std::span<const Candidate* const> candidates, std::span<const int> children,
                                  const ParentSelectionSettings& settings)
{
    std::vector<std::optional<double>> scores;
    std::vector<double> eligible;
    for (const Candidate* candidate : candidates) {
        const bool rejected = candidate->decision == DecisionKind::rejected;
        scores.push_back(rejected ? std::nullopt : fitness(*candidate));
        if (scores.back())
            eligible.push_back(*scores.back());
    }
    std::vector<double> weights(candidates.size(), 0.0);
    if (eligible.empty())
        return weights;

    const double middle = median(eligible);
    std::vector<double> deviations;
    for (const double score : eligible)
        deviations.push_back(std::abs(score - middle));
    const double spread = std::max(median(deviations), least_spread);

    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (!scores[i])
            continue;
        const double sigmoid = 1 / (1 + std::exp(-settings.lambda * (*scores[i] - middle) / spread));
        weights[i] = sigmoid / (1 + children[i]);
        if (candidates[i]->decision == DecisionKind::promoted)
            weights[i] *= settings.promotion_bonus;
    }
    return weights;
}

}  // namespace cuco
