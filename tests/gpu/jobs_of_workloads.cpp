// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gpu/jobs_of_workloads.h"

#include "core/evaluation/evaluation_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr int most_ranks = 4;
constexpr int rounds = 6;

Result<std::int64_t> mostOnAnyRank(const SizeExpression& expression, const Shape& shape, int ranks)
{
    std::int64_t most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto value = expression.evaluate(sizeValues(shape.parameters, ranks, rank));
        if (!value)
            return std::unexpected(value.error());
        most = std::max(most, *value);
    }
    return most;
}

Result<std::string> rooflineLine(const Workload& workload, const Shape& shape, int ranks)
{
    std::string line = "# roofline " + shape.name;
    for (const auto* expression :
         {&workload.roofline.flops, &workload.roofline.hbm_bytes, &workload.roofline.link_bytes}) {
        const auto most = mostOnAnyRank(*expression, shape, ranks);
        if (!most)
            return std::unexpected(most.error());
        line += ' ' + std::to_string(*most);
    }
    return line + "\n";
}

Result<std::string> templateOf(const Workload& workload, HarnessJob job)
{
    job.files.candidate = "@candidate@";
    job.files.reference = "@reference@";
    return writeHarnessJob(workload, job);
}

}  // namespace

Result<std::map<std::string, std::string>> jobsOf(const Workload& workload)
{
    std::map<std::string, std::string> files;
    for (const int ranks : workload.ranks) {
        if (ranks > most_ranks)
            continue;
        EvaluationPlan plan;
        plan.ranks = ranks;
        plan.until = Stage::verify;
        plan.verify_shapes = workload.verify_shapes;
        const auto verify = templateOf(workload, candidateJob(plan, workload));
        if (!verify)
            return std::unexpected(verify.error());
        plan.until = Stage::benchmark;
        plan.verify_shapes.clear();
        plan.timed_shapes = workload.search_shapes;
        HarnessJob timed = baselineJob(plan, workload);
        for (auto& shape : timed.shapes)
            shape.rounds = shape.least_rounds = rounds;
        auto time = templateOf(workload, timed);
        if (!time)
            return std::unexpected(time.error());
        for (const auto& shape : workload.search_shapes) {
            const auto line = rooflineLine(workload, shape, ranks);
            if (!line)
                return std::unexpected(line.error());
            *time += *line;
        }
        const std::string name = fmt::format("{}.{}.", workload.name, ranks);
        files[name + "verify.job"] = *verify;
        files[name + "time.job"] = *time;
    }
    return files;
}

}  // namespace cuco
