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

/// A candidate that may be a parent.
struct Eligible {
    std::size_t index = 0;
    const Candidate* candidate = nullptr;
    double score = 0;
    int children = 0;

    bool promoted() const { return candidate->decision == DecisionKind::promoted; }
    double bonus(const ParentSelectionSettings& settings) const { return promoted() ? settings.promotion_bonus : 1; }
};

std::vector<Eligible> eligibleOf(std::span<const Candidate* const> candidates, std::span<const int> children)
{
    std::vector<Eligible> eligible;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (candidates[i]->decision == DecisionKind::rejected)
            continue;
        if (const auto score = fitness(*candidates[i]))
            eligible.push_back({i, candidates[i], *score, children[i]});
    }
    return eligible;
}

bool isFitter(const Eligible& a, const Eligible& b)
{
    return a.score != b.score ? a.score > b.score : a.candidate->number < b.candidate->number;
}

void weigh(std::vector<double>& weights, std::span<const Eligible> eligible, const ParentSelectionSettings& settings)
{
    std::vector<double> values;
    for (const Eligible& one : eligible)
        values.push_back(one.score);
    const double middle = median(values);
    for (double& value : values)
        value = std::abs(value - middle);
    const double spread = std::max(median(values), least_spread);
    for (const Eligible& one : eligible) {
        const double sigmoid = 1 / (1 + std::exp(-settings.lambda * (one.score - middle) / spread));
        weights[one.index] = sigmoid / (1 + one.children) * one.bonus(settings);
    }
}

void weighByRank(std::vector<double>& weights, std::vector<Eligible> eligible, const ParentSelectionSettings& settings)
{
    std::ranges::sort(eligible, isFitter);
    for (std::size_t rank = 1; rank <= eligible.size(); ++rank) {
        const Eligible& one = eligible[rank - 1];
        weights[one.index] = std::pow(static_cast<double>(rank), -settings.alpha) * one.bonus(settings);
    }
}

void chooseByBeam(std::vector<double>& weights, std::span<const Eligible> eligible, int beam)
{
    const auto best = std::ranges::min_element(eligible, [&](const Eligible& a, const Eligible& b) {
        if ((a.children < beam) != (b.children < beam))
            return a.children < beam;
        return a.promoted() != b.promoted() ? a.promoted() : isFitter(a, b);
    });
    weights[best->index] = 1;
}

void chooseFirstGeneration(std::vector<double>& weights, std::span<const Eligible> eligible,
                           const ParentSelectionSettings& settings)
{
    const auto generation = [](const Eligible& one) { return one.candidate->generation; };
    const int first = generation(*std::ranges::min_element(eligible, {}, generation));
    for (const Eligible& one : eligible)
        if (generation(one) == first)
            weights[one.index] = one.bonus(settings);
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

std::vector<double> parentWeights(std::span<const Candidate* const> candidates, std::span<const int> children,
                                  const ParentSelectionSettings& settings)
{
    std::vector<double> weights(candidates.size(), 0.0);
    const std::vector<Eligible> eligible = eligibleOf(candidates, children);
    if (eligible.empty())
        return weights;
    switch (settings.policy) {
        case ParentPolicy::weighted:
            weigh(weights, eligible, settings);
            break;
        case ParentPolicy::power_law:
            weighByRank(weights, eligible, settings);
            break;
        case ParentPolicy::beam:
            chooseByBeam(weights, eligible, settings.beam);
            break;
        case ParentPolicy::best_of_n:
            chooseFirstGeneration(weights, eligible, settings);
            break;
    }
    return weights;
}

}  // namespace cuco
