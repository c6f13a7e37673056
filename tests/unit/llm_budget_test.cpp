// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/budget.h"
#include "core/llm/llm_call.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

namespace cuco {
namespace {

using ::testing::HasSubstr;

ModelPrice price(double input, double output)
{
    return {.provider = "test", .model = "m*", .input = input, .output = output, .as_of = "user"};
}

ChatRequest request(std::int64_t max_output_tokens)
{
    ChatRequest asked;
    asked.model = "m1";
    asked.messages = {{.text = std::string(1000, 'x')}};
    asked.max_output_tokens = max_output_tokens;
    return asked;
}

class FixedClient final : public ChatClient {
public:
    std::string provider() const override { return "test"; }
    ChatResult complete(const ChatRequest&, const CallControl&) override
    {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return result;
    }
    ChatResult result;
    std::atomic<int> calls = 0;
};

ModelPrices pricesOf(const ModelPrice& one)
{
    ModelPrices prices;
    prices.add(one);
    return prices;
}

TEST(LlmBudget, SpentAndReservedNeverPassTheLimit)
{
    Budget budget(1.0, 0.4);
    auto first = budget.reserve(0.5);
    ASSERT_TRUE(first);
    EXPECT_FALSE(budget.reserve(0.2));
    first->settle(0.1);
    EXPECT_DOUBLE_EQ(budget.state().spent_usd, 0.5);
    EXPECT_DOUBLE_EQ(budget.state().reserved_usd, 0);
    EXPECT_TRUE(budget.reserve(0.5)) << "what was settled below its reservation is free again";
    EXPECT_DOUBLE_EQ(budget.state().reserved_usd, 0) << "a reservation that nobody settles gives itself back";
    EXPECT_FALSE(budget.reserve(-1));
}

TEST(LlmBudget, ManyCallsAtOnceDoNotSpendMoreThanTheLimit)
{
    FixedClient inner;
    inner.result = ChatResponse{};
    inner.result->usage = {.output = 1000, .reported = true};
    Budget budget(0.0105);  // ten calls of 1000 tokens at 1 USD a million
    BudgetedClient client(inner, budget, pricesOf(price(0, 1)));
    std::atomic<int> refused = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&] {
                for (int call = 0; call < 10; ++call) {
                    const auto state = budget.state();
                    EXPECT_LE(state.spent_usd + state.reserved_usd, state.limit_usd);
                    if (const auto result = client.complete(request(1000), {}); !result) {
                        EXPECT_EQ(result.error().kind, ChatErrorKind::budget);
                        ++refused;
                    }
                }
            });
    }
    EXPECT_EQ(inner.calls, 10);
    EXPECT_EQ(refused, 70);
    EXPECT_NEAR(budget.state().spent_usd, 0.01, 1e-12);
}

TEST(LlmBudget, AModelWithoutAPriceIsRefusedUnlessTheUserGivesOne)
{
    FixedClient inner;
    inner.result = ChatResponse{};
    Budget budget(1);
    const auto refused = BudgetedClient(inner, budget, {}).complete(request(10), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ChatErrorKind::no_price);
    EXPECT_THAT(refused.error().error.what, HasSubstr("\"m1\""));
    EXPECT_EQ(inner.calls, 0);
    EXPECT_TRUE(BudgetedClient(inner, budget, pricesOf(price(0, 0))).complete(request(10), {}));
}

TEST(LlmBudget, ACallOfUnknownCostCountsAsItsWorstCase)
{
    FixedClient inner;
    ChatError cut;
    cut.kind = ChatErrorKind::cut;
    cut.billable = true;
    inner.result = std::unexpected(cut);
    Budget budget(1);
    BudgetedClient client(inner, budget, pricesOf(price(1, 2)));
    EXPECT_FALSE(client.complete(request(1000), {}));
    EXPECT_DOUBLE_EQ(budget.state().spent_usd, worstCaseUsd(price(1, 2), request(1000)));

    Budget untouched(1);
    inner.result.error().billable = false;
    EXPECT_FALSE(BudgetedClient(inner, untouched, pricesOf(price(1, 2))).complete(request(1000), {}));
    EXPECT_EQ(untouched.state().spent_usd, 0);
}

TEST(LlmBudget, TheWorstCaseCoversATokenAByteAndAllOutput)
{
    EXPECT_GE(worstCaseUsd(price(1, 2), request(1000)), 1e-6 * (1000 * 1 + 1000 * 2));
}

TEST(LlmBudget, TheCostCountsEachKindOfTokenAtItsPrice)
{
    ModelPrice list = price(3, 15);
    list.cache_read = 0.3;
    list.cache_write = 3.75;
    const TokenUsage usage{.input = 1000, .output = 2000, .cache_read = 10'000, .cache_write = 400};
    EXPECT_NEAR(costUsd(list, usage), 0.003 + 0.03 + 0.003 + 0.0015, 1e-12);
}

ModelPrice tieredPrice()
{
    ModelPrice tiered = price(1, 2);
    tiered.cache_read = 0.1;
    tiered.cache_write = 1.25;
    tiered.tiers = {{200'000, 10, 20, 1, 12.5}, {500'000, 100, 200, 10, 125}};
    return tiered;
}

TEST(LlmBudget, ALongPromptIsPaidAtTheTierThatItReachesInAllItsParts)
{
    const ModelPrice tiered = tieredPrice();
    EXPECT_NEAR(costUsd(tiered, {.input = 200'000, .output = 1000}), 0.2 + 0.002, 1e-12) << "at the limit";
    EXPECT_NEAR(costUsd(tiered, {.input = 200'001, .output = 1000}), 2.00001 + 0.02, 1e-9);
    EXPECT_NEAR(costUsd(tiered, {.input = 1, .output = 1000, .cache_read = 190'000, .cache_write = 10'000}),
                0.00001 + 0.02 + 0.19 + 0.125, 1e-9)
        << "tokens of a cache are of the prompt";
    EXPECT_NEAR(costUsd(tiered, {.input = 600'000, .output = 1000}), 60 + 0.2, 1e-9);
    EXPECT_NEAR(costUsd(tiered, {.input = 1000, .output = 900'000}), 0.001 + 1.8, 1e-9) << "output reaches no tier";
}

TEST(LlmBudget, AReservationHoldsTheDearestTierThatThePromptCanReach)
{
    ChatRequest asked = request(1000);
    EXPECT_LT(worstCaseUsd(tieredPrice(), asked), 0.01);
    asked.messages = {{.text = std::string(250'000, 'x')}};
    EXPECT_GE(worstCaseUsd(tieredPrice(), asked), 1e-6 * (12.5 * 250'000 + 20 * 1000));
    EXPECT_LT(worstCaseUsd(tieredPrice(), asked), 4);
    // A tier may also be cheaper; so few tokens that it does not apply are then the worst case.
    ModelPrice cheaper = price(10, 20);
    cheaper.tiers = {{200'000, 1, 2, 1, 1}};
    EXPECT_GE(worstCaseUsd(cheaper, asked), 1e-6 * 10 * 200'000);

    FixedClient inner;
    inner.result = ChatResponse{};
    inner.result->usage = {.input = 240'000, .output = 1000, .reported = true};
    Budget small(1);
    const auto refused = BudgetedClient(inner, small, pricesOf(tieredPrice())).complete(asked, {});
    ASSERT_FALSE(refused) << "below the tier's price it would have fitted";
    EXPECT_EQ(refused.error().kind, ChatErrorKind::budget);
    Budget large(5);
    EXPECT_TRUE(BudgetedClient(inner, large, pricesOf(tieredPrice())).complete(asked, {}));
    EXPECT_NEAR(large.state().spent_usd, 2.4 + 0.02, 1e-9);
}

TEST(LlmBudget, AFaultInATierIsNamed)
{
    const testing::TemporaryFolder folder;
    const auto load = [&](const std::string& tiers) {
        testing::writeText(folder / "prices.json",
                           R"({"format": 1, "prices": [{"provider": "p", "model": "m", "input": 1, "output": 1,
                               "cache_read": 0, "cache_write": 0, "as_of": "2025-01-01", "tiers": )" +
                               tiers + "}]}");
        return ModelPrices::load(folder / "prices.json");
    };
    const auto good = load(R"([{"above_tokens": 10, "input": 2, "output": 3}])");
    ASSERT_TRUE(good) << describe(good.error());
    EXPECT_EQ(good->find("p", "m")->tiers.at(0).cache_write, 2);
    for (const auto& [tiers, name] :
         {std::pair{R"([{"above_tokens": 0, "input": 2, "output": 3}])", "tiers[0].above_tokens"},
          std::pair{R"([{"above_tokens": 9, "input": 2, "output": 3}, {"above_tokens": 9, "input": 2, "output": 3}])",
                    "tiers[1].above_tokens"},
          std::pair{R"([{"above_tokens": 9, "input": -2, "output": 3}])", "tiers[0].input"},
          std::pair{R"([{"above_tokens": 9, "input": 2}])", "tiers[0].output"}, std::pair{R"("none")", "tiers"}}) {
        const auto bad = load(tiers);
        ASSERT_FALSE(bad) << tiers;
        EXPECT_THAT(describe(bad.error()), HasSubstr(std::string("prices[0].") + name));
    }
}

TEST(LlmBudget, ThePriceListOfTheProductKnowsTiers)
{
    const auto prices = ModelPrices::load(std::filesystem::path(CUCO_TEST_ROOT) / "resources" / "model_prices.json");
    ASSERT_TRUE(prices) << describe(prices.error());
    const auto tiered = prices->find("openai", "gpt-5.4");
    ASSERT_TRUE(tiered);
    ASSERT_FALSE(tiered->tiers.empty());
    EXPECT_GT(costUsd(*tiered, {.input = 300'000}), tiered->input * 0.3);
}

TEST(LlmBudget, ThePriceListOfTheProductIsReadAndItsPatternsFit)
{
    const auto prices = ModelPrices::load(std::filesystem::path(CUCO_TEST_ROOT) / "resources" / "model_prices.json");
    ASSERT_TRUE(prices) << describe(prices.error());
    const auto dated = prices->find("anthropic", "claude-sonnet-4-5-20250929");
    ASSERT_TRUE(dated);
    EXPECT_GT(dated->output, dated->input);
    EXPECT_FALSE(dated->as_of.empty());
    EXPECT_FALSE(prices->find("openai", "gpt-4.1-of-somebody-else"));
    EXPECT_FALSE(prices->find("local", "gpt-4.1")) << "another server has its own prices";
}

TEST(LlmBudget, AFaultInThePriceListIsNamed)
{
    const testing::TemporaryFolder folder;
    testing::writeText(folder / "prices.json",
                       R"({"format": 1, "prices": [{"provider": "p", "model": "m", "input": -1, "output": 1,
                           "cache_read": 0, "cache_write": 0, "as_of": "2025-01-01"}]})");
    const auto prices = ModelPrices::load(folder / "prices.json");
    ASSERT_FALSE(prices);
    EXPECT_THAT(describe(prices.error()), HasSubstr("prices[0].input"));
}

TEST(LlmBudget, ARecordSaysWhereItsCostComesFrom)
{
    ChatResponse answered;
    answered.usage = {.input = 1, .output = 1, .reported = true};
    EXPECT_EQ(makeLlmCall(request(10), answered, "test", price(1, 1), 0).cost_source, "user's price");
    answered.usage.reported = false;
    EXPECT_EQ(makeLlmCall(request(10), answered, "test", price(1, 1), 0).cost_source, "worst case");
    EXPECT_FALSE(makeLlmCall(request(10), answered, "test", std::nullopt, 0).cost_usd);
}

}  // namespace
}  // namespace cuco
