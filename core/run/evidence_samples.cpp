// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evidence_samples.h"

#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/statistics.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cuco {

namespace {

nlohmann::json orNull(const std::optional<double>& value)
{
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json timeOf(const std::optional<std::int64_t>& time_ms)
{
    return time_ms ? nlohmann::json(*time_ms) : nlohmann::json(nullptr);
}

/// Sample i of either belongs to round i / turns_a_round, as ratioOfRounds has it.
nlohmann::json pairsOf(const ShapeTiming& timing)
{
    auto pairs = nlohmann::json::array();
    const std::size_t samples = std::min(timing.samples_us.size(), timing.baseline_samples_us.size());
    for (std::size_t at = 0; at < samples; at += turns_a_round) {
        const std::size_t end = std::min(samples, at + turns_a_round);
        const auto part = [&](const std::vector<double>& all) {
            return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(at),
                                       all.begin() + static_cast<std::ptrdiff_t>(end));
        };
        const auto candidate = part(timing.samples_us), baseline = part(timing.baseline_samples_us);
        pairs.push_back({{"round", at / turns_a_round},
                         {"candidate_us", candidate},
                         {"baseline_us", baseline},
                         {"ratio", median(baseline) / median(candidate)}});
    }
    return pairs;
}

nlohmann::json shapeDocument(const ShapeTiming& timing)
{
    const auto [least, most] = std::ranges::minmax(timing.samples_us);
    return {{"shape", timing.shape},
            {"ranks", timing.ranks},
            {"baseline", timing.baseline},
            {"burst", timing.burst},
            {"candidate_us", timing.samples_us},
            {"baseline_us", timing.baseline_samples_us},
            {"candidate_event_us", timing.event_us},
            {"pairs", pairsOf(timing)},
            {"statistics",
             {{"candidate_median_us", timing.time_us},
              {"candidate_least_us", least},
              {"candidate_most_us", most},
              {"baseline_median_us", timing.baseline_us},
              {"speedup", timing.speedup},
              {"ci_low", timing.ci_low},
              {"ci_high", timing.ci_high},
              {"noise_floor", orNull(timing.noise_floor)},
              {"within_noise", timing.withinNoise()},
              {"bound_us", timing.bound_us},
              {"bound_source", timing.bound_source},
              {"ceiling_share", orNull(timing.ceilingShare())},
              {"exposed_us", orNull(timing.exposedUs())}}}};
}

nlohmann::json measurementDocument(const std::string& what, const std::optional<std::int64_t>& time_ms,
                                   const Evaluation& evaluation)
{
    auto shapes = nlohmann::json::array();
    for (const ShapeTiming& timing : evaluation.timings)
        if (!timing.samples_us.empty())
            shapes.push_back(shapeDocument(timing));
    return {{"measurement", what},
            {"time_ms", timeOf(time_ms)},
            {"modelled", evaluation.modelled},
            {"self_reported", evaluation.self_reported},
            {"input_seed", evaluation.input_seed},
            {"shapes", shapes},
            {"speedup", orNull(evaluation.speedup())},
            {"ci_low", orNull(evaluation.ciLow())},
            {"ci_high", orNull(evaluation.ciHigh())}};
}

nlohmann::json verdictDocument(const std::string& what, const std::optional<std::int64_t>& time_ms,
                               const Evaluation& evaluation)
{
    return {{"measurement", what},
            {"time_ms", timeOf(time_ms)},
            {"verdict", toString(evaluation.verdict)},
            {"stage", toString(evaluation.stage)},
            {"message", evaluation.message},
            {"speedup", orNull(evaluation.speedup())},
            {"ci_low", orNull(evaluation.ciLow())},
            {"ci_high", orNull(evaluation.ciHigh())}};
}

std::string nameOf(const Remeasurement& remeasurement)
{
    return fmt::format("held-back shapes, for decision {}", remeasurement.decision_id);
}

}  // namespace

nlohmann::json samplesDocument(const Evaluation& evaluation, std::optional<std::int64_t> settled_ms,
                               const std::vector<Remeasurement>& remeasurements)
{
    nlohmann::json document{
        {"unit", "us"},
        {"method",
         "speedup = median(baseline_us) / median(candidate_us); ci_low and ci_high: 95 % percentile bootstrap, rounds "
         "resampled as a whole 2,000 times, widened by sqrt(n / (n - 1)) * t(n - 1) / z for n rounds, and in "
         "quadrature by 2 us a stretch (burst times the shorter median), by which processes differ; modelled times "
         "have no "
         "interval; over shapes the geometric mean"},
        {"measurements", {measurementDocument("search", settled_ms, evaluation)}}};
    for (const Remeasurement& again : remeasurements)
        document["measurements"].push_back(measurementDocument(nameOf(again), again.time_ms, again.evaluation));
    return document;
}

nlohmann::json verdictsDocument(const Evaluation& evaluation, std::optional<std::int64_t> settled_ms,
                                const std::vector<Remeasurement>& remeasurements)
{
    auto document = nlohmann::json::array({verdictDocument("search", settled_ms, evaluation)});
    for (const Remeasurement& again : remeasurements) {
        document.push_back(verdictDocument(nameOf(again), again.time_ms, again.evaluation));
        document.back()["decision"] = again.decision_id;
        document.back()["promotion"] = toString(again.standing);
        document.back()["finding"] = again.finding;
    }
    return document;
}

}  // namespace cuco
