// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/baselines.h"
#include "core/evaluation/harness_report.h"
#include "tests/support/evaluation_samples.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cuco {
namespace {

using testing::product;

TEST(Bounds, AreOfTheComputingsMedianButTheVerdictIsOfItsShortestTime)
{
    Workload workload = product();
    const Shape shape = workload.search_shapes.front();
    const MeasuredRates fast{1e15, 1e15};
    BaselineShape measured;
    measured.compute_alone_us = 100;
    measured.compute_alone_least_us = 95;
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, fast, measured));
    EXPECT_NEAR(measured.bound_us, 100, 1e-6);
    EXPECT_NEAR(measured.least_us, 95, 1e-6);

    // A kernel of the workload's own bounds nothing; the links still do.
    workload.compute_alone_bounds = false;
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, MeasuredRates{1e12, 1e15}, measured));
    EXPECT_LT(measured.least_us, 1);
    EXPECT_NEAR(measured.bound_us, 100, 1e-6);
}

TEST(Bounds, BetweenHostsCountTheLinkAndRejectNobodyByIt)
{
    Workload workload = product();
    const Shape shape = workload.search_shapes.front();
    BaselineShape on_one_host, on_hosts;
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, MeasuredRates{1e6, 1e15}, on_one_host));
    ASSERT_TRUE(setMeasuredBounds(workload, shape, 2, MeasuredRates{1e6, 1e15, false}, on_hosts));
    EXPECT_GT(on_one_host.bound_us, 1);
    EXPECT_EQ(on_hosts.bound_us, on_one_host.bound_us);
    EXPECT_EQ(on_one_host.least_us, on_one_host.bound_us);
    EXPECT_LT(on_hosts.least_us, on_hosts.bound_us / 10);
    EXPECT_NE(on_hosts.bound_source, on_one_host.bound_source);

    const auto report = parseHarnessReport(
        "{\"event\":\"start\",\"hosts\":[\"gpu-a\",\"gpu-b\"]}\n"
        "{\"event\":\"rates\",\"link_bytes_per_s\":1e9,\"hbm_bytes_per_s\":1e12}\n"
        "{\"event\":\"time\",\"shape\":\"s\",\"samples_us\":[5],\"start_uncertainty_us\":11.5}\n"
        "{\"event\":\"processes\",\"gpus\":[[{\"pid\":7,\"memory_bytes\":1}],[{\"pid\":7,\"memory_bytes\":1048576}]],"
        "\"observers\":[7,8]}\n{\"event\":\"done\"}\n");
    EXPECT_EQ(report.violation, "");
    EXPECT_EQ(report.hosts, (std::vector<std::string>{"gpu-a", "gpu-b"}));
    EXPECT_FALSE(report.rates->link_is_limit);
    EXPECT_DOUBLE_EQ(report.start_uncertainty_us, 11.5);
    EXPECT_EQ(report.neighbours, (std::vector<std::string>{"process 7 (1 MiB) on GPU 1"}))
        << "each host's observer is its own";
}

}  // namespace
}  // namespace cuco
