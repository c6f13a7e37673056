// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/parent_selection.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

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
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Below this spread of fitness (a tenth of a per cent of speed-up) candidates count as equal.
constexpr double least_spread = 1e-3;

constexpr std::array policy_names{
    std::pair{ParentPolicy::weighted, std::string_view("weighted")},
    std::pair{ParentPolicy::power_law, std::string_view("power_law")},
    std::pair{ParentPolicy::beam, std::string_view("beam")},
    std::pair{ParentPolicy::best_of_n, std::string_view("best_of_n")},
};

double bonusOf(const PossibleParent& parent, const ParentSelectionSettings& settings)
{
    return parent.promoted ? settings.promotion_bonus : 1;
}

std::vector<double> weighted(std::span<const PossibleParent> parents, const ParentSelectionSettings& settings)
{
    std::vector<double> values, weights;
    values.reserve(parents.size());
    for (const PossibleParent& parent : parents)
        values.push_back(parent.fitness);
    const double middle = median(values);
    for (double& value : values)
        value = std::abs(value - middle);
    const double spread = std::max(median(std::move(values)), least_spread);
    weights.reserve(parents.size());
    for (const PossibleParent& parent : parents) {
        const double sigmoid = 1 / (1 + std::exp(-settings.lambda * (parent.fitness - middle) / spread));
        weights.push_back(sigmoid / (1 + parent.children) * bonusOf(parent, settings));
    }
    return weights;
}

std::vector<double> weightedByRank(std::span<const PossibleParent> parents, const ParentSelectionSettings& settings)
{
    std::vector<std::size_t> order(parents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return isFitter(parents[a], parents[b]); });
    std::vector<double> weights(parents.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        weights[order[i]] =
            std::pow(static_cast<double>(i + 1), -settings.alpha) * bonusOf(parents[order[i]], settings);
    return weights;
}

std::vector<double> chosenByBeam(std::span<const PossibleParent> parents, int beam)
{
    const auto best = std::ranges::min_element(parents, [&](const PossibleParent& a, const PossibleParent& b) {
        if ((a.children < beam) != (b.children < beam))
            return a.children < beam;
        return a.promoted != b.promoted ? a.promoted : isFitter(a, b);
    });
    std::vector<double> weights(parents.size());
    weights[static_cast<std::size_t>(best - parents.begin())] = 1;
    return weights;
}

std::vector<double> firstGeneration(std::span<const PossibleParent> parents, const ParentSelectionSettings& settings)
{
    const int first = std::ranges::min_element(parents, {}, &PossibleParent::generation)->generation;
    std::vector<double> weights;
    for (const PossibleParent& parent : parents)
        weights.push_back(parent.generation == first ? bonusOf(parent, settings) : 0);
    return weights;
}

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

std::string_view toString(ParentPolicy policy)
{
    for (const auto& [known, name] : policy_names)
        if (known == policy)
            return name;
    return {};
}

std::optional<ParentPolicy> parentPolicyFromString(std::string_view text)
{
    for (const auto& [policy, name] : policy_names)
        if (name == text)
            return policy;
    return std::nullopt;
}

Result<void> validate(const ParentSelectionSettings& settings)
{
    if (!std::isfinite(settings.lambda) || settings.lambda < 0)
        return failure("The setting parent_selection.lambda is negative or no number", {}, "Choose 0 or more.");
    if (!std::isfinite(settings.promotion_bonus) || settings.promotion_bonus <= 0)
        return failure("The setting parent_selection.promotion_bonus is not above 0", {}, "Choose a factor above 0.");
    if (auto valid = realInRange("parent_selection.alpha", settings.alpha, 0, 100); !valid)
        return valid;
    return wholeInRange("parent_selection.beam", settings.beam, 1, 10'000);
}

nlohmann::json toJson(const ParentSelectionSettings& settings)
{
    return {{"lambda", settings.lambda},
            {"promotion_bonus", settings.promotion_bonus},
            {"policy", toString(settings.policy)},
            {"alpha", settings.alpha},
            {"beam", settings.beam}};
}

Result<ParentSelectionSettings> parentSelectionSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    ParentSelectionSettings settings;
    std::string policy(toString(settings.policy));
    JsonReader reader(json, where, "parent_selection");
    reader.optional("lambda", settings.lambda)
        .optional("promotion_bonus", settings.promotion_bonus)
        .optional("policy", policy)
        .optional("alpha", settings.alpha)
        .optional("beam", settings.beam);
    if (const auto known = parentPolicyFromString(policy))
        settings.policy = *known;
    else
        reader.fault("policy", "must be weighted, power_law, beam or best_of_n");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

std::optional<PossibleParent> asPossibleParent(const Candidate& candidate, int children)
{
    if (candidate.decision == DecisionKind::rejected)
        return std::nullopt;
    const auto score = fitness(candidate);
    if (!score)
        return std::nullopt;
    return PossibleParent{&candidate,           *score,   candidate.number,
                          candidate.generation, children, candidate.decision == DecisionKind::promoted};
}

bool isFitter(const PossibleParent& a, const PossibleParent& b)
{
    return a.fitness != b.fitness ? a.fitness > b.fitness : a.number < b.number;
}

std::vector<double> parentWeights(std::span<const PossibleParent> parents, const ParentSelectionSettings& settings)
{
    if (parents.empty())
        return {};
    switch (settings.policy) {
        case ParentPolicy::power_law:
            return weightedByRank(parents, settings);
        case ParentPolicy::beam:
            return chosenByBeam(parents, settings.beam);
        case ParentPolicy::best_of_n:
            return firstGeneration(parents, settings);
        case ParentPolicy::weighted:
            break;
    }
    return weighted(parents, settings);
}

}  // namespace cuco
