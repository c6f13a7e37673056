// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/embedding_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

namespace cuco {

namespace {

/// In several sums at once, which the compiler makes vectors of.
double dotProduct(std::span<const float> a, std::span<const float> b)
{
    std::array<float, 16> sums{};
    std::size_t at = 0;
    for (; at + sums.size() <= a.size(); at += sums.size())
        for (std::size_t lane = 0; lane < sums.size(); ++lane)
            sums[lane] += a[at + lane] * b[at + lane];
    double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
    for (; at < a.size(); ++at)
        sum += static_cast<double>(a[at]) * b[at];
    return sum;
}

}  // namespace

Result<std::vector<float>> EmbeddingIndex::unit(std::span<const float> vector) const
{
    if (!sources_.empty() && sources_.front().unit.size() != vector.size())
        return failure(fmt::format("An embedding has {} numbers where the others have {}", vector.size(),
                                   sources_.front().unit.size()),
                       {}, "Use one embedding model for a whole run.");
    const double squares = std::transform_reduce(vector.begin(), vector.end(), 0.0, std::plus<>(),
                                                 [](float value) { return static_cast<double>(value) * value; });
    if (!std::isfinite(squares))
        return failure("An embedding has a number that is not finite", {}, "Choose another embedding model.");
    if (!(squares > 0))
        return failure("An embedding is all zero", {}, "Choose another embedding model.");
    std::vector<float> unit;
    unit.reserve(vector.size());
    for (const float value : vector)
        unit.push_back(static_cast<float>(value / std::sqrt(squares)));
    return unit;
}

Result<void> EmbeddingIndex::add(std::string id, std::span<const float> vector)
{
    auto normalised = unit(vector);
    if (!normalised)
        return std::unexpected(normalised.error());
    if (sources_.size() >= static_cast<std::size_t>(settings_.embedded_sources))
        sources_.pop_front();
    sources_.push_back({std::move(id), std::move(*normalised)});
    return {};
}

Result<std::optional<NoveltyMatch>> EmbeddingIndex::duplicateOf(std::span<const float> vector) const
{
    const auto normalised = unit(vector);
    if (!normalised)
        return std::unexpected(normalised.error());
    std::optional<NoveltyMatch> best;
    for (const Source& source : sources_) {
        const double cosine = dotProduct(*normalised, source.unit);
        if (cosine > settings_.embedding_cosine && (!best || cosine > best->similarity))
            best = NoveltyMatch{source.id, std::min(cosine, 1.0)};
    }
    return best;
}

}  // namespace cuco
