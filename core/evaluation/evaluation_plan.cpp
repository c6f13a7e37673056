// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluation_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace cuco {

namespace {

constexpr int verify_iterations = 3;  ///< one more than there are sets of buffers: addresses come again
constexpr int consecutive_iterations = 3;
constexpr std::uint64_t first_skew = 0x5eed;
constexpr int candidate_rounds = 12, least_candidate_rounds = 6, baseline_rounds = 8;
// Iteration i of a shape has inputs from seed + i; shapes must not share them.
constexpr std::uint64_t seed_stride = 1'000'003;

HarnessJob emptyJob(const EvaluationPlan& plan, const Workload& workload)
{
    HarnessJob job;
    job.ranks = plan.ranks;
    job.limit = workload.run_timeout;
    return job;
}

JobShape jobShape(const Shape& shape, const EvaluationPlan& plan, std::size_t index)
{
    JobShape job;
    job.shape = shape;
    job.seed = plan.seed + index * seed_stride;
    return job;
}

/// What no candidate can know; small enough that iterations and shapes can be counted on from it.
std::uint64_t drawSeed()
{
    std::random_device device;
    return (std::uint64_t{device()} << 32 | device()) >> 1;
}

bool isTimed(const EvaluationPlan& plan, const Shape& shape)
{
    return std::ranges::find(plan.timed_shapes, shape.name, &Shape::name) != plan.timed_shapes.end();
}

HarnessJob verifyOnGpus(const EvaluationPlan& plan, const Workload& workload)
{
    HarnessJob job = emptyJob(plan, workload);
    for (const auto& shape : plan.verify_shapes) {
        if (isTimed(plan, shape))
            continue;
        JobShape verified = jobShape(shape, plan, job.shapes.size());
        verified.iterations = verify_iterations;
        verified.consecutive = consecutive_iterations;
        verified.skew = verified.seed + 1;
        job.shapes.push_back(std::move(verified));
    }
    return job;
}

Result<int> chooseRanks(const Workload& workload, const NodeProbe& probe, int wanted)
{
    const auto fits = [&](int ranks) { return ranks <= probe.max_ranks; };
    if (wanted == 0) {
        const auto found = std::ranges::find_if(workload.ranks, fits);
        if (found != workload.ranks.end())
            return *found;
        return failure(fmt::format("Workload {} needs at least {} ranks but node {} has {}.", workload.name,
                                   std::ranges::min(workload.ranks), probe.node, probe.max_ranks),
                       "", "Use a node with more GPUs, or the emulated node.");
    }
    if (std::ranges::find(workload.ranks, wanted) == workload.ranks.end())
        return failure(fmt::format("Workload {} is not made for {} ranks.", workload.name, wanted), "",
                       fmt::format("Choose one of: {}.", fmt::join(workload.ranks, ", ")));
    if (!fits(wanted))
        return failure(fmt::format("Node {} can run {} ranks, not {}.", probe.node, probe.max_ranks, wanted), "",
                       "Choose fewer ranks, or the emulated node.");
    return wanted;
}

}  // namespace

std::string backendOf(const EvaluationRequest& request)
{
    const auto source = KernelSource::parse(request.source);
    if (!request.screened || !source)
        return {};
    const auto directive = parseDirective(*source);
    return directive ? directive->backend : std::string();
}

Result<EvaluationPlan> planEvaluation(const Workload& workload, const NodeProbe& probe,
                                      const EvaluationDefaults& defaults, const EvaluationRequest& request)
{
    EvaluationPlan plan;
    const auto ranks = chooseRanks(workload, probe, request.ranks != 0 ? request.ranks : defaults.ranks);
    if (!ranks)
        return std::unexpected(ranks.error());
    plan.ranks = *ranks;
    plan.seed = request.input_seed ? *request.input_seed : drawSeed();
    plan.backend = backendOf(request);
    plan.until = request.until;
    plan.modelled = probe.modelled;
    plan.all_rounds = request.all_rounds;
    plan.verify_shapes = probe.modelled ? workload.emulated_verify_shapes : workload.verify_shapes;
    plan.timed_shapes = !request.shapes.empty()    ? request.shapes
                        : !defaults.shapes.empty() ? defaults.shapes
                        : probe.modelled           ? workload.emulated_search_shapes
                                                   : workload.search_shapes;
    if (plan.timed_shapes.empty())
        return failure(fmt::format("Workload {} has no shapes for node {}.", workload.name, probe.node),
                       (workload.folder / "workload.json").string(), "Add search shapes to workload.json.");
    return plan;
}

HarnessJob modelledJob(const EvaluationPlan& plan, const Workload& workload)
{
    HarnessJob job = emptyJob(plan, workload);
    for (const auto& shape : plan.verify_shapes) {
        // A shape that is also timed is verified under that name below.
        if (isTimed(plan, shape))
            continue;
        JobShape verified = jobShape(shape, plan, job.shapes.size());
        verified.iterations = verify_iterations;
        verified.dump = true;
        // Always the same delays: a modelled time must not depend on when its iteration began, by rounding.
        verified.skew = first_skew + job.shapes.size();
        job.shapes.push_back(std::move(verified));
    }
    if (plan.until < Stage::benchmark && !job.shapes.empty())
        return job;
    for (const auto& shape : plan.timed_shapes) {
        JobShape timed = jobShape(shape, plan, job.shapes.size());
        timed.dump = true;
        timed.time = plan.until >= Stage::benchmark;
        timed.trace = plan.until >= Stage::profile && shape.name == plan.timed_shapes.front().name;
        job.shapes.push_back(std::move(timed));
    }
    return job;
}

HarnessJob candidateJob(const EvaluationPlan& plan, const Workload& workload)
{
    HarnessJob job = verifyOnGpus(plan, workload);
    if (plan.until < Stage::benchmark && !job.shapes.empty())
        return job;
    for (const auto& shape : plan.timed_shapes) {
        JobShape timed = jobShape(shape, plan, job.shapes.size());
        timed.time = plan.until >= Stage::benchmark;
        timed.rounds = timed.time ? candidate_rounds : 0;
        timed.least_rounds = plan.all_rounds ? timed.rounds : std::min(timed.rounds, least_candidate_rounds);
        timed.trace = plan.until >= Stage::profile && shape.name == plan.timed_shapes.front().name;
        job.shapes.push_back(std::move(timed));
    }
    return job;
}

HarnessJob baselineJob(const EvaluationPlan& plan, const Workload& workload)
{
    HarnessJob job = verifyOnGpus(plan, workload);
    job.rates = true;
    for (const auto& shape : plan.timed_shapes) {
        JobShape timed = jobShape(shape, plan, job.shapes.size());
        timed.time = true;
        timed.rounds = timed.least_rounds = baseline_rounds;
        job.shapes.push_back(std::move(timed));
    }
    return job;
}

}  // namespace cuco
