// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/tunable_reasons.h"

#include "core/agents/tunable_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cuco {

namespace {

constexpr std::size_t most_rows = 12;

/// The heaviest first.
std::string weightTable(const ParentChoice& choice)
{
    const double sum = std::accumulate(choice.weights.begin(), choice.weights.end(), 0.0);
    std::vector<std::size_t> order(choice.parents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rows = static_cast<std::ptrdiff_t>(std::min(most_rows, order.size()));
    std::ranges::partial_sort(order, order.begin() + rows, [&](std::size_t a, std::size_t b) {
        return choice.weights[a] != choice.weights[b] ? choice.weights[a] > choice.weights[b] : a < b;
    });

    std::string table =
        "| candidate | strategy | speed-up, lower bound | children | weight | chance "
        "|\n|---|---|---:|---:|---:|---:|\n";
    for (const std::size_t i : std::span(order.begin(), order.begin() + rows)) {
        const Candidate& candidate = *choice.parents[i].candidate;
        const auto low = candidate.evaluation ? candidate.evaluation->ciLow() : std::nullopt;
        const char* mark = &candidate == choice.chosen ? "**" : "";
        table += fmt::format("| {}{}{} | {} | {} | {} | {:.3g} | {:.1f} % |\n", mark, candidate.id, mark,
                             candidate.strategy, low ? fmt::format("{:.3f}×", *low) : "–", choice.parents[i].children,
                             choice.weights[i], sum > 0 ? 100 * choice.weights[i] / sum : 0);
    }
    if (order.size() > most_rows)
        table += fmt::format("\n{} lighter ones are not shown.\n", order.size() - most_rows);
    return table;
}

std::string describePolicy(const ParentSelectionSettings& settings)
{
    switch (settings.policy) {
        case ParentPolicy::power_law:
            return fmt::format("rank^−{:g}, the fittest has rank 1; promoted ones count {:g} times", settings.alpha,
                               settings.promotion_bonus);
        case ParentPolicy::beam:
            return fmt::format("the fittest that has fewer than {} children, alone; promoted ones first",
                               settings.beam);
        case ParentPolicy::best_of_n:
            return "the first generation, evenly";
        case ParentPolicy::weighted:
            break;
    }
    return fmt::format(
        "a sigmoid (λ = {:g}) of the fitness against the median, divided by 1 + the children it has; promoted ones "
        "count {:g} times",
        settings.lambda, settings.promotion_bonus);
}

}  // namespace

ParentChoice drawParent(std::vector<PossibleParent> parents, const ParentSelectionSettings& settings,
                        ProposalRandom& random)
{
    ParentChoice choice{std::move(parents), {}, nullptr};
    choice.weights = parentWeights(choice.parents, settings);
    if (std::ranges::any_of(choice.weights, [](double weight) { return weight > 0; }))
        choice.chosen = choice.parents[random.weighted(choice.weights)].candidate;
    return choice;
}

std::string explainSeed(int island, const std::string& strategy, const std::string& directive)
{
    return fmt::format(
        "Island {} begins with the strategy **{}** (`{}`). Islands begin with different strategies, so "
        "that they search different regions.\n",
        island, strategy, directive);
}

std::string explainParent(const ParentChoice& choice, const ParentSelectionSettings& settings, const std::string& from)
{
    return fmt::format("Drawn from {} by weight: {}; rejected and unverified ones not at all.\n\n{}", from,
                       describePolicy(settings), weightTable(choice));
}

std::string explainStart(std::span<const std::string> untried, const std::string& started)
{
    std::string list;
    for (const std::string& name : untried)
        list += fmt::format("- {}\n", name == started ? "**" + name + "**" : name);
    return "A strategy that this run has not tried yet is started as its author wrote it. Untried were:\n\n" + list;
}

std::string explainMove(std::span<const Tunable> tunables, const TunableValues& values, const std::string& why)
{
    std::string table = why + "\n\n| tunable | was | neighbours | is |\n|---|---:|---|---:|\n";
    for (const Tunable& tunable : tunables) {
        const auto found = values.find(tunable.name);
        const std::int64_t value = found == values.end() ? tunable.value : found->second;
        const char* mark = value == tunable.value ? "" : "**";
        table += fmt::format("| {} | {} | {} | {}{}{} |\n", tunable.name, tunable.value,
                             fmt::join(neighboursOf(tunable), ", "), mark, value, mark);
    }
    return table;
}

std::string explainCross(const ParentChoice& partner, const std::string& strategy, const std::string& taker,
                         const std::string& giver, const std::string& changes)
{
    return fmt::format(
        "The strategy **{}** of {} takes over values of {}: {}. The partner was drawn from all islands:"
        "\n\n{}",
        strategy, taker, giver, changes, weightTable(partner));
}

}  // namespace cuco
