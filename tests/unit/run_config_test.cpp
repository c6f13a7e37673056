// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

RunConfig goodConfig()
{
    RunConfig config;
    config.workload = "gemm_allgather";
    return config;
}

TEST(RunConfig, ReadsBackAsItIsWritten)
{
    RunConfig config = goodConfig();
    config.workload_folder = "/somewhere";
    config.node = "local";
    config.seed_source = "// text\n";
    config.ranks = 4;
    config.generations = 3;
    config.islands = 5;
    config.children = 6;
    config.seed = std::numeric_limits<std::uint64_t>::max();
    config.compile_workers = 7;
    config.budget_usd = 1.25;
    config.parent_selection.lambda = 4;
    config.parent_selection.promotion_bonus = 9;
    config.parent_selection.policy = ParentPolicy::power_law;
    config.proposer = "fastpath";
    config.fast_path.backend = "gin";
    config.provider.provider = "manual";
    config.provider.folder = "/answers";
    const auto read = runConfigFromJson(nlohmann::json::parse(toJson(config).dump()));
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(toJson(*read), toJson(config));
    EXPECT_EQ(read->parent_selection.policy, ParentPolicy::power_law);
    EXPECT_EQ(read->fast_path.backend, "gin");
    EXPECT_EQ(read->provider.folder, "/answers");
}

TEST(RunConfig, CountsTheIslandsSeeds)
{
    RunConfig config = goodConfig();
    config.generations = 8;
    config.islands = config.children = 2;
    EXPECT_EQ(config.proposals(), 34);
}

TEST(RunConfig, KeepsDefaultsForWhatIsAbsent)
{
    const auto read = runConfigFromJson({{"workload", "w"}});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->generations, RunConfig{}.generations);
    EXPECT_EQ(read->parent_selection.lambda, RunConfig{}.parent_selection.lambda);
}

TEST(RunConfig, NamesTheFieldOfTheWrongType)
{
    const auto read = runConfigFromJson({{"workload", "w"}, {"generations", "eight"}});
    ASSERT_FALSE(read);
    EXPECT_THAT(describe(read.error()), ::testing::HasSubstr("generations"));
}

TEST(RunConfig, RefusesSettingsThatCannotWork)
{
    EXPECT_TRUE(validate(goodConfig()));
    for (const auto& [name, spoil] : std::vector<std::pair<std::string, void (*)(RunConfig&)>>{
             {"islands", [](RunConfig& config) { config.islands = 0; }},
             {"children", [](RunConfig& config) { config.children = 1'000; }},
             {"generations", [](RunConfig& config) { config.generations = -1; }},
             {"ranks", [](RunConfig& config) { config.ranks = -2; }},
             {"compile_workers", [](RunConfig& config) { config.compile_workers = 100'000; }},
             {"workload", [](RunConfig& config) { config.workload.clear(); }},
             {"oracle", [](RunConfig& config) { config.proposer = "oracle"; }},
             {"budget", [](RunConfig& config) { config.budget_usd = -1; }},
             {"backend",
              [](RunConfig& config) {
                  config.proposer = "fastpath";
                  config.fast_path.backend = "mpi";
              }},
             {"fast_path.temperature",
              [](RunConfig& config) {
                  config.proposer = "fastpath";
                  config.fast_path.temperature = 3;
              }},
             {"lambda", [](RunConfig& config) { config.parent_selection.lambda = std::nan(""); }},
             {"promotion_bonus", [](RunConfig& config) { config.parent_selection.promotion_bonus = 0; }},
         }) {
        RunConfig config = goodConfig();
        spoil(config);
        const auto valid = validate(config);
        ASSERT_FALSE(valid) << name;
        EXPECT_THAT(describe(valid.error()), ::testing::HasSubstr(name));
        EXPECT_FALSE(valid.error().remedy.empty()) << name;
    }
}

TEST(RunConfig, KeepsTheSettingsOfASearchByModels)
{
    RunConfig config;
    config.workload = "w";
    config.proposer = "llm";
    config.proposals_in_flight = 3;
    config.slow_path.summary_interval = 5;
    const auto read = runConfigFromJson(toJson(config));
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->proposals_in_flight, 3);
    EXPECT_EQ(read->slow_path.summary_interval, 5);
}

TEST(RunConfig, WantsToKnowWhomASearchByModelsAsks)
{
    RunConfig config;
    config.workload = "w";
    config.proposer = "llm";
    EXPECT_THAT(validate(config).error().what, ::testing::HasSubstr("whom to ask"));
}

}  // namespace
}  // namespace cuco
