// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/tracing.h"

#include "gpu/rank_process.h"
#include "gpu/shape_timing.h"
#include "rank_trace.h"

namespace cuco_harness {
namespace {

constexpr int untraced_stretches = 5, traced_stretches = 3;

}  // namespace

/// The last of a few traced iterations is the one that is told.
Outcome traceShape(Scene& scene, Team& team, int team_number)
{
    const Spent::Phase phase(scene.spent, "trace");
    std::vector<double> untraced, traced;
    std::vector<std::string> lanes;
    TraceAxis axis;
    uint64_t seed = scene.shape.seed + (uint64_t(1) << 33);
    for (int i = 0; i < untraced_stretches + traced_stretches; ++i) {
        const bool tracing = i >= untraced_stretches;
        Stretch stretch;
        stretch.first_set = i % scene.sets;
        stretch.flush = false;
        StretchTimes times;
        CUCO_CHECK(scene.observer.prepare(team_number, stretch.first_set, {seed++}));
        if (tracing) {
            team.post(rank_message::begin_trace, "the start of the profiler");
            CUCO_CHECK(team.collect());
        }
        team.nowDoing("a traced iteration of shape " + scene.shape.name);
        CUCO_CHECK(team.run(stretch, times));
        (tracing ? traced : untraced).push_back(times.makespan_us);
        axis.several_hosts = team.isElsewhere();
        axis.start_uncertainty_us = times.start_uncertainty_us;
        if (tracing) {
            team.post(rank_message::end_trace, "the end of the profiler");
            CUCO_CHECK(team.collect(lanes));
        }
    }
    std::vector<std::string> texts;
    for (const auto& reply : lanes)
        texts.push_back(Unpacker(reply).text());
    TracingCost cost;
    cost.untraced_us = medianOf(untraced);
    cost.traced_us = medianOf(traced);
    const std::string title = "shape " + scene.shape.name + ", " + std::to_string(scene.job.ranks) + " ranks";
    scene.report(ReportLine("trace")
                     .add("shape", scene.shape.name)
                     .addJson("timeline", mergeRankTraces(texts, title, cost, axis)));
    return std::nullopt;
}

}  // namespace cuco_harness
