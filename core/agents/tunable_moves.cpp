// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/tunable_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

namespace cuco {

namespace {

constexpr std::size_t most_visits = 50'000;

std::vector<std::int64_t> sortedChoices(const Tunable& tunable)
{
    std::vector<std::int64_t> choices = tunable.choices;
    std::ranges::sort(choices);
    choices.erase(std::ranges::unique(choices).begin(), choices.end());
    return choices;
}

}  // namespace

TunableValues valuesOf(std::span<const Tunable> tunables)
{
    TunableValues values;
    for (const Tunable& tunable : tunables)
        values[tunable.name] = tunable.value;
    return values;
}

std::vector<std::int64_t> neighboursOf(const Tunable& tunable)
{
    const auto choices = sortedChoices(tunable);
    const auto here = std::ranges::lower_bound(choices, tunable.value);
    std::vector<std::int64_t> neighbours;
    if (here != choices.begin())
        neighbours.push_back(*(here - 1));
    if (here != choices.end() && here + 1 != choices.end())
        neighbours.push_back(*(here + 1));
    return neighbours;
}

std::optional<TunableValues> movedValues(std::span<const Tunable> tunables, int count, ProposalRandom& random)
{
    std::vector<const Tunable*> movable;
    for (const Tunable& tunable : tunables)
        if (!neighboursOf(tunable).empty())
            movable.push_back(&tunable);
    if (movable.empty())
        return std::nullopt;
    TunableValues values = valuesOf(tunables);
    for (int moved = 0; moved < count && !movable.empty(); ++moved) {
        const std::size_t picked = random.index(movable.size());
        const auto neighbours = neighboursOf(*movable[picked]);
        values[movable[picked]->name] = neighbours[random.index(neighbours.size())];
        movable.erase(movable.begin() + static_cast<std::ptrdiff_t>(picked));
    }
    return values;
}

std::optional<TunableValues> crossedValues(std::span<const Tunable> tunables, const TunableValues& other,
                                           ProposalRandom& random)
{
    std::vector<std::pair<std::string, std::int64_t>> differing;
    for (const Tunable& tunable : tunables) {
        const auto theirs = other.find(tunable.name);
        if (theirs != other.end() && theirs->second != tunable.value &&
            std::ranges::find(tunable.choices, theirs->second) != tunable.choices.end())
            differing.emplace_back(*theirs);
    }
    if (differing.empty())
        return std::nullopt;
    TunableValues values = valuesOf(tunables);
    const std::size_t always = random.index(differing.size());
    for (std::size_t i = 0; i < differing.size(); ++i)
        if (random.uniform() < 0.5 || i == always)
            values[differing[i].first] = differing[i].second;
    return values;
}

std::string describeChanges(std::span<const Tunable> tunables, const TunableValues& values)
{
    std::string text;
    for (const Tunable& tunable : tunables) {
        const auto found = values.find(tunable.name);
        if (found != values.end() && found->second != tunable.value)
            text += fmt::format("{}{} {} → {}", text.empty() ? "" : ", ", tunable.name, tunable.value, found->second);
    }
    return text;
}

bool visitNearestFirst(std::span<const Tunable> tunables, const std::function<bool(const TunableValues&)>& visit)
{
    using Point = std::vector<std::size_t>;  // an index into each tunable's choices
    std::vector<std::vector<std::int64_t>> choices;
    Point start;
    for (const Tunable& tunable : tunables) {
        choices.push_back(sortedChoices(tunable));
        const auto here = std::ranges::lower_bound(choices.back(), tunable.value);
        start.push_back(static_cast<std::size_t>(here - choices.back().begin()));
    }
    std::set<Point> seen{start};
    std::deque<Point> next{start};
    for (std::size_t visits = 0; !next.empty() && visits < most_visits; ++visits) {
        const Point point = next.front();
        next.pop_front();
        TunableValues values;
        for (std::size_t i = 0; i < tunables.size(); ++i)
            values[tunables[i].name] = choices[i][point[i]];
        if (visit(values))
            return true;
        for (std::size_t i = 0; i < tunables.size(); ++i) {
            Point neighbour = point;
            if (point[i] > 0) {
                neighbour[i] = point[i] - 1;
                if (seen.insert(neighbour).second)
                    next.push_back(neighbour);
            }
            if (point[i] + 1 < choices[i].size()) {
                neighbour[i] = point[i] + 1;
                if (seen.insert(neighbour).second)
                    next.push_back(neighbour);
            }
        }
    }
    return false;
}

}  // namespace cuco
