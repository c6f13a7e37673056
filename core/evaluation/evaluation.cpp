// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluation.h"

#include "core/evaluation/statistics.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cuco {

namespace {

constexpr std::array<std::pair<Stage, std::string_view>, 5> stage_names{{
    {Stage::screen, "screen"},
    {Stage::compile, "compile"},
    {Stage::verify, "verify"},
    {Stage::benchmark, "benchmark"},
    {Stage::profile, "profile"},
}};

constexpr std::array<std::pair<Verdict, std::string_view>, 18> verdict_names{{
    {Verdict::verified, "verified"},
    {Verdict::marker_error, "marker_error"},
    {Verdict::frozen_code_changed, "frozen_code_changed"},
    {Verdict::invalid_directive, "invalid_directive"},
    {Verdict::invalid_tunable, "invalid_tunable"},
    {Verdict::duplicate, "duplicate"},
    {Verdict::not_emulable, "not_emulable"},
    {Verdict::compile_error, "compile_error"},
    {Verdict::setup_failed, "setup_failed"},
    {Verdict::wrong_result, "wrong_result"},
    {Verdict::out_of_bounds, "out_of_bounds"},
    {Verdict::race, "race"},
    {Verdict::deadlock, "deadlock"},
    {Verdict::timeout, "timeout"},
    {Verdict::crash, "crash"},
    {Verdict::timing_mismatch, "timing_mismatch"},
    {Verdict::faster_than_possible, "faster_than_possible"},
    {Verdict::tampering, "tampering"},
}};

template <class Names, class Value>
std::string_view nameOf(const Names& names, Value value)
{
    for (const auto& [known, name] : names)
        if (known == value)
            return name;
    return "unknown";
}

template <class Value, class Names>
std::optional<Value> valueOf(const Names& names, std::string_view text)
{
    for (const auto& [value, name] : names)
        if (name == text)
            return value;
    return std::nullopt;
}

std::optional<double> meanOf(const std::vector<ShapeTiming>& timings, double ShapeTiming::*field)
{
    std::vector<double> values;
    for (const auto& timing : timings)
        values.push_back(timing.*field);
    const double mean = geometricMean(values);
    return mean > 0 ? std::optional(mean) : std::nullopt;
}

}  // namespace

std::string_view toString(Stage stage)
{
    return nameOf(stage_names, stage);
}

std::optional<Stage> stageFromString(std::string_view text)
{
    return valueOf<Stage>(stage_names, text);
}

std::string_view toString(Verdict verdict)
{
    return nameOf(verdict_names, verdict);
}

std::optional<Verdict> verdictFromString(std::string_view text)
{
    return valueOf<Verdict>(verdict_names, text);
}

std::optional<double> ShapeTiming::exposedUs() const
{
    return compute_alone_us ? std::optional(std::max(0.0, time_us - *compute_alone_us)) : std::nullopt;
}

std::optional<double> ShapeTiming::ceilingShare() const
{
    return bound_us > 0 && time_us > 0 ? std::optional(bound_us / time_us) : std::nullopt;
}

bool ShapeTiming::withinNoise() const
{
    return noise_floor && ((ci_low <= 1 && ci_high >= 1) || std::abs(speedup - 1) <= *noise_floor);
}

bool Evaluation::withinNoise() const
{
    return !timings.empty() && std::ranges::all_of(timings, &ShapeTiming::withinNoise);
}

std::optional<double> Evaluation::speedup() const
{
    return meanOf(timings, &ShapeTiming::speedup);
}

std::optional<double> Evaluation::ciLow() const
{
    return meanOf(timings, &ShapeTiming::ci_low);
}

std::optional<double> Evaluation::ciHigh() const
{
    return meanOf(timings, &ShapeTiming::ci_high);
}

std::optional<double> Evaluation::timeUs() const
{
    return meanOf(timings, &ShapeTiming::time_us);
}

std::optional<double> Evaluation::boundUs() const
{
    return meanOf(timings, &ShapeTiming::bound_us);
}

}  // namespace cuco
