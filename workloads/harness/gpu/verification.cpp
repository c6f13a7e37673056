// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "gpu/verification.h"

#include <algorithm>
#include <map>
#include <random>

namespace cuco_harness {
namespace {

constexpr int candidate_team = 0;
constexpr int64_t longest_skew_ns = 2'000'000;
// Longer than emptying the L2, the longest skew and a few of the turns that processes take on a GPU.
constexpr int64_t occupied_ns = 20'000'000;

std::string where(int iteration, const ShapeJob& shape)
{
    return "iteration " + std::to_string(iteration) + " of shape " + shape.name;
}

ReportLine mismatchLine(const Scene& scene, const Observation& seen, int iteration, bool timed)
{
    const Comparison& c = seen.comparison;
    std::vector<double> bins(seen.wrong_in_bin.begin(), seen.wrong_in_bin.end());
    return ReportLine("mismatch")
        .add("shape", scene.shape.name)
        .add("iteration", iteration)
        .add("rank", seen.rank)
        .add("buffer", scene.shape.outputs[size_t(seen.output)].name)
        .add("element", c.element)
        .add("expected", c.expected)
        .add("got", c.got)
        .add("wrong_elements", c.wrong_elements)
        .add("elements", c.elements)
        .add("relative_l2", c.relative_l2)
        .add("timed", timed)
        .add("wrong_in_bin", bins);
}

Failure lateFailure(const Observation& seen, const std::string& iteration)
{
    Failure failure;
    failure.kind = "timing_mismatch";
    failure.rank = seen.rank;
    failure.message = "Rank " + std::to_string(seen.rank) + "'s output was not right when every device was idle, and " +
                      "became right later (" + iteration + "): work goes on after the end.";
    return failure;
}

}  // namespace

Outcome judge(Scene& scene, const Program& program, int first_iteration, bool timed,
              const std::vector<Observation>& observations, bool& rejected)
{
    std::map<std::pair<int, int>, std::pair<double, double>> right;  // by iteration and rank
    for (const auto& seen : observations) {
        const int iteration = first_iteration + seen.iteration;
        if (seen.right) {
            auto& worst = right[{iteration, seen.rank}];
            worst.first = std::max(worst.first, seen.comparison.relative_l2);
            worst.second = std::max(worst.second, seen.comparison.max_error);
            continue;
        }
        if (seen.late && timed)
            return lateFailure(seen, where(iteration, scene.shape));
        if (!program.candidate) {
            Failure failure;
            failure.kind = "wrong_result";
            failure.rank = seen.rank;
            failure.message = "Its output is wrong in " + where(iteration, scene.shape) + ".";
            return failure;
        }
        rejected = true;
        scene.report(mismatchLine(scene, seen, iteration, timed));
    }
    for (const auto& [key, worst] : right) {
        if (timed || !program.candidate || rejected)
            break;
        scene.report(ReportLine("checked")
                         .add("shape", scene.shape.name)
                         .add("iteration", key.first)
                         .add("rank", key.second)
                         .add("relative_l2", worst.first)
                         .add("max_error", worst.second));
    }
    return std::nullopt;
}

Outcome verify(Scene& scene, Team& candidate, bool& rejected)
{
    const Spent::Phase phase(scene.spent, "verify");
    const ShapeJob& shape = scene.shape;
    std::mt19937_64 random(shape.skew_seed.value_or(shape.seed) ^ 0x736b6577);
    std::vector<Observation> observations;
    StretchTimes times;
    for (int i = 0; i < shape.iterations && !rejected; ++i) {
        Stretch stretch;
        stretch.first_set = i % scene.sets;
        stretch.snapshot = true;
        for (int rank = 0; i > 0 && rank < scene.job.ranks; ++rank)
            stretch.delay_ns.push_back(int64_t(random() % uint64_t(longest_skew_ns)));
        const std::vector<uint64_t> seeds{shape.seed + uint64_t(i)};
        CUCO_CHECK(scene.observer.prepare(candidate_team, stretch.first_set, seeds));
        candidate.nowDoing(where(i, shape));
        // Hosts that start apart are met by the first barrier; a device that gets late is not.
        if (i > 0)
            CUCO_CHECK(scene.observer.occupy(int(random() % uint64_t(scene.job.ranks)), occupied_ns));
        CUCO_CHECK(candidate.run(stretch, times));
        CUCO_CHECK(scene.observer.check(candidate_team, stretch.first_set, seeds, true, observations));
        CUCO_CHECK(judge(scene, candidate.program(), i, false, observations, rejected));
    }
    if (shape.consecutive > 0 && !rejected) {
        Stretch stretch;
        stretch.length = std::min(shape.consecutive, scene.sets);
        std::vector<uint64_t> seeds;
        for (int i = 0; i < stretch.length; ++i)
            seeds.push_back(shape.seed + uint64_t(shape.iterations + i));
        CUCO_CHECK(scene.observer.prepare(candidate_team, 0, seeds));
        candidate.nowDoing(std::to_string(stretch.length) + " iterations in a row of shape " + shape.name);
        CUCO_CHECK(candidate.run(stretch, times));
        CUCO_CHECK(scene.observer.check(candidate_team, 0, seeds, false, observations));
        CUCO_CHECK(judge(scene, candidate.program(), shape.iterations, false, observations, rejected));
    }
    return rejected ? Outcome() : scene.observer.checkGuards(candidate_team);
}

}  // namespace cuco_harness
