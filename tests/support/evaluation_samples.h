// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/baselines.h"
#include "core/nodes/node.h"
#include "core/workload/workload.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace cuco::testing {

inline SizeExpression expression(const std::string& text)
{
    auto parsed = SizeExpression::parse(text);
    EXPECT_TRUE(parsed.has_value());
    return *parsed;
}

inline Workload product()
{
    Workload workload;
    workload.name = "product";
    workload.parameters = {"n", "m"};
    workload.ranks = {4, 2};
    workload.inputs = {{"a", ElementType::bf16, expression("n / ranks + (rank < n % ranks)")}};
    workload.outputs = {{"c", ElementType::f32, expression("n * m")}};
    workload.tolerance = {0.01, 0.05};
    workload.roofline = {expression("2 * n * n * m"), expression("n"), expression("n * m")};
    workload.emulated_search_shapes = {{"small", {{"n", 8}, {"m", 4}}, SizeValues{{"n", 80}, {"m", 40}}},
                                       {"other", {{"n", 16}, {"m", 4}}, {}}};
    workload.emulated_verify_shapes = {{"odd", {{"n", 7}, {"m", 3}}, {}}};
    workload.search_shapes = {{"large", {{"n", 800}, {"m", 400}}, {}}};
    workload.verify_shapes = {{"odd", {{"n", 701}, {"m", 3}}, {}}};
    workload.run_timeout = std::chrono::seconds(30);
    return workload;
}

inline NodeProbe emulated()
{
    NodeProbe probe;
    probe.node = "emulated";
    probe.max_ranks = 8;
    probe.modelled = true;
    return probe;
}

inline BaselineShape hostAt(std::vector<double> samples_us, double bound_us)
{
    BaselineShape shape;
    shape.samples_us["host.cu"] = std::move(samples_us);
    shape.strongest = "host.cu";
    shape.bound_us = bound_us;
    return shape;
}

/// The first line of a report.
inline constexpr const char* start_line = R"({"event":"start","ranks":4,"emulated":true,"device":"d","nccl":"2.28.9"})"
                                          "\n";

}  // namespace cuco::testing
