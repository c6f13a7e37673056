// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/candidate_evaluator.h"
#include "core/evaluation/evaluation_plan.h"
#include "core/evaluation/harness_report.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"
#include "core/workload/workload.h"

#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cuco {

/// What all baselines do at one shape on this node.
struct BaselineShape {
    std::map<std::string, std::vector<double>> samples_us;  ///< by name, of those that took part
    std::map<std::string, std::string> problems;            ///< by name, of those that did not
    std::string strongest;
    std::optional<double> compute_alone_us;
    std::optional<double> compute_alone_least_us;  ///< the shortest of its samples
    std::optional<double> noise_floor;             ///< the host baseline against itself; GPUs
    double bound_us = 0;                           ///< 0: none is known
    double least_us = 0;  ///< what no right candidate can be faster than: the bound, or a part of it
    std::string bound_source;
    int burst = 1;  ///< iterations that a sample is the mean of

    const std::vector<double>& strongestSamples() const { return samples_us.at(strongest); }
    std::vector<BaselineTiming> timings() const;
};

/// Of a shape that was measured on GPUs: its bound from the node's rates and the computing alone, and what no right
/// candidate can be faster than. That one is made of the shortest time of the computing: a GPU at its power limit
/// computes some per cent faster in one minute than in another.
Result<void> setMeasuredBounds(const Workload& workload, const Shape& shape, int ranks,
                               const std::optional<MeasuredRates>& rates, BaselineShape& measured);

/// A workload's host-driven baselines on one node: host.cu, the manifest's others, and the computing alone. May be used
/// from several threads once it is built.
class Baselines {
public:
    Baselines(Node& node, Toolchain& toolchain, const Workload& workload)
        : node_(node), toolchain_(toolchain), workload_(workload)
    {
    }

    /// Builds them all. Errors: host.cu does not build. What else does not takes no part.
    Result<void> build(bool modelled, std::stop_token stop);

    /// Measures the plan's shapes that are not known yet. Errors: host.cu is not right, or the node's fault.
    Result<void> measure(const EvaluationPlan& plan, std::stop_token stop);

    /// Of a shape that was measured.
    BaselineShape at(int ranks, const std::string& shape) const;

    /// Each baseline's evaluation over the plan's shapes, host.cu first. They must have been measured.
    std::vector<BaselineResult> results(const EvaluationPlan& plan) const;

    /// The shared objects of the strongest of each shape, for a job in which they take turns with a candidate.
    std::vector<JobBaseline> strongest(const EvaluationPlan& plan) const;

private:
    struct Own {
        std::string name;
        std::filesystem::path source, object;  ///< no object: it could not be built
        std::string problem;
        bool computes_alone = false;
        std::optional<Evaluation> failed;  ///< guarded: what kept it from taking part when it ran
        std::optional<Timeline> timeline;  ///< guarded: of the first shape, where times are modelled
        double run_ms = 0;                 ///< guarded
    };
    using Key = std::pair<int, std::string>;  ///< ranks and shape

    Result<void> measureModelled(const EvaluationPlan& plan, std::stop_token stop);
    Result<void> modelOwn(const EvaluationPlan& plan, Own& own, std::map<std::string, BaselineShape>& shapes,
                          std::stop_token stop);
    Result<void> measureOnGpus(const EvaluationPlan& plan, std::stop_token stop);
    Result<void> settle(const EvaluationPlan& plan, const Shape& shape, BaselineShape measured);
    void takeReport(const EvaluationPlan& plan, const HarnessReport& report,
                    std::map<std::string, BaselineShape>& shapes);

    Node& node_;
    Toolchain& toolchain_;
    const Workload& workload_;
    std::vector<Own> own_;
    std::mutex measuring_mutex_;  ///< one measurement at a time
    mutable std::mutex mutex_;    ///< of what follows and of what is guarded
    std::map<Key, BaselineShape> shapes_;
    std::optional<MeasuredRates> rates_;
};

}  // namespace cuco
