// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/shape_timing.h"

#include "core/evaluation/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cuco {

namespace {

constexpr double bound_slack = 0.98;
// Launching and waking up cost the host this much more than the events see.
constexpr double clock_slack_us = 60, clock_slack_share = 0.2;
constexpr std::uint64_t bootstrap_seed = 0x5eed;
// A baseline's median differs by a few per cent between runs.
constexpr double disturbed_share = 1.25;

}  // namespace

ShapeTiming timeShape(const std::string& shape, int ranks, std::vector<double> samples_us,
                      const BaselineShape& baselines, bool modelled,
                      std::optional<std::vector<double>> baseline_samples_us, int burst)
{
    ShapeTiming timing;
    timing.shape = shape;
    timing.ranks = ranks;
    timing.samples_us = std::move(samples_us);
    timing.baseline_samples_us = baseline_samples_us ? std::move(*baseline_samples_us) : baselines.strongestSamples();
    timing.baseline = baselines.strongest;
    timing.baselines = baselines.timings();
    timing.compute_alone_us = baselines.compute_alone_us;
    timing.noise_floor = baselines.noise_floor;
    timing.burst = burst;
    timing.time_us = median(timing.samples_us);
    timing.baseline_us = median(timing.baseline_samples_us);
    timing.bound_us = baselines.bound_us;
    timing.bound_source = baselines.bound_source;
    if (modelled) {
        timing.speedup = timing.ci_low = timing.ci_high = timing.baseline_us / timing.time_us;
    } else {
        const Ratio ratio =
            withProcesses(ratioOfRounds(timing.baseline_samples_us, timing.samples_us, turns_a_round, bootstrap_seed),
                          std::min(timing.time_us, timing.baseline_us) * burst);
        timing.speedup = ratio.value;
        timing.ci_low = ratio.low;
        timing.ci_high = ratio.high;
    }
    return timing;
}

void judgeBaseline(const ShapeTiming& timing, const BaselineShape& alone, Evaluation& evaluation)
{
    const double before_us = median(alone.strongestSamples());
    if (timing.baseline_us <= before_us * disturbed_share || timing.speedup <= 1)
        return;
    evaluation.verdict = Verdict::timing_mismatch;
    evaluation.message = fmt::format(
        "Shape {}: baseline {} took {:.4g} µs in its turns with this candidate but {:.4g} µs without it: something "
        "goes "
        "on in the GPUs while it is not the candidate's turn.",
        timing.shape, timing.baseline, timing.baseline_us, before_us);
}

void judgeTime(const ShapeTiming& timing, double least_us, Evaluation& evaluation)
{
    if (timing.time_us >= least_us * bound_slack)
        return;
    evaluation.verdict = Verdict::faster_than_possible;
    evaluation.message = fmt::format(
        "Shape {} took {:.4g} µs, but the node cannot do its work in less than {:.4g} µs: the work was not done, or "
        "the "
        "bound is wrong.",
        timing.shape, timing.time_us, least_us);
}

void judgeClocks(const std::string& shape, const std::vector<double>& host_us, const std::vector<double>& event_us,
                 Evaluation& evaluation)
{
    const double host = median(host_us), events = median(event_us);
    if (std::abs(host - events) <= clock_slack_us + clock_slack_share * host)
        return;
    evaluation.verdict = Verdict::timing_mismatch;
    evaluation.message = fmt::format(
        "Shape {} took {:.4g} µs by the harness's clock but {:.4g} µs by the events of its "
        "stream: order all work on the stream that cuco_run is given.",
        shape, host, events);
}

}  // namespace cuco
