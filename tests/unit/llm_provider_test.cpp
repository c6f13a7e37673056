// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/provider.h"
#include "core/llm/recording.h"
#include "tests/support/loopback_server.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::LoopbackServer;
using ::testing::Not;
using testing::TemporaryFolder;

constexpr const char* openai_answer =
    R"({"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":100}})";

Secret noKeys(const std::string&)
{
    return {};
}

KeySource oneKey(std::string name, std::string text)
{
    return [=](const std::string& asked) { return asked == name ? Secret(text) : Secret(); };
}

ChatRequest ask(const std::string& model, const std::string& text = "hello")
{
    ChatRequest request;
    request.model = model;
    request.messages = {{.text = text}};
    request.stream = false;
    request.max_output_tokens = 200;
    return request;
}

Error errorOf(const ProviderSettings& settings, const KeySource& keys = noKeys)
{
    const auto client = makeChatClient(settings, keys);
    EXPECT_FALSE(client);
    return client ? Error{} : client.error();
}

TEST(LlmProvider, SettingsSurviveTheConfigurationOfARunAndHaveNoSecretInThem)
{
    ProviderSettings settings;
    settings.provider = "openai";
    settings.model = "m";
    settings.judge_model = "j";
    settings.embedding_model = "e";
    settings.base_url = "http://127.0.0.1:8000/v1";
    settings.key_name = "MY_KEY";
    settings.token_limit_field = "max_completion_tokens";
    settings.region = "eu-west-1";
    settings.cache_prompts = false;
    settings.ca_file = "ca.pem";
    settings.command = {"ask", "--now"};
    settings.pass_variables = {"ASK_KEY"};
    settings.json_answer = true;
    settings.folder = "prompts";
    settings.recording = "r.json";
    settings.attempts = 3;
    settings.call_limit = std::chrono::seconds(7);
    settings.stall_limit = std::chrono::seconds(6);
    settings.connect_limit = std::chrono::seconds(5);
    settings.prices = {{"", "m", 1, 2, 0.5, 1.5, 0, ""}};
    ::setenv("MY_KEY", "sk-planted-settings", 1);
    const nlohmann::json json = toJson(settings);
    EXPECT_THAT(json.dump(), Not(HasSubstr("sk-planted-settings")));
    const auto back = providerSettingsFromJson(nlohmann::json::parse(json.dump()), "a test");
    ASSERT_TRUE(back) << describe(back.error());
    EXPECT_EQ(toJson(*back), json);
    EXPECT_EQ(back->call_limit, settings.call_limit);
    EXPECT_EQ(httpLimits(*back).total, std::chrono::milliseconds(7000));
}

TEST(LlmProvider, FieldsOfTheConfigurationThatAreWrongAreNamed)
{
    for (const auto& [text, part] : {std::pair{R"({"model": "m"})", "provider"},
                                     std::pair{R"({"provider": "openai", "command": "ls"})", "llm.command"},
                                     std::pair{R"({"provider": "openai", "prices": [{"model": "m", "input": -1,
                                                  "output": 1}]})",
                                               "llm.prices[0].input"}}) {
        const auto read = providerSettingsFromJson(nlohmann::json::parse(text), "run.json");
        ASSERT_FALSE(read) << text;
        EXPECT_THAT(read.error().what, HasSubstr(part));
        EXPECT_EQ(read.error().where, "run.json");
    }
    const auto late =
        providerSettingsFromJson({{"provider", "manual"}, {"folder", "f"}, {"call_limit_s", INT64_MAX}}, "run.json");
    ASSERT_TRUE(late);
    EXPECT_FALSE(validate(*late));
}

TEST(LlmProvider, ThePricesOfACacheAreThatOfTheInputWhereNoneIsGiven)
{
    const auto settings = providerSettingsFromJson(
        nlohmann::json::parse(
            R"({"provider": "openai", "prices": [{"model": "q*", "input": 3, "output": 4, "cache_read": 1}]})"),
        "run.json");
    ASSERT_TRUE(settings) << describe(settings.error());
    const auto price = pricesWith({}, *settings).find("openai", "qwen");
    ASSERT_TRUE(price);
    EXPECT_EQ(price->cache_read, 1);
    EXPECT_EQ(price->cache_write, 3);
    EXPECT_EQ(price->as_of, "user");
}

TEST(LlmProvider, OwnPricesMayHaveTiersAndKeepThem)
{
    const auto settings = providerSettingsFromJson(nlohmann::json::parse(R"({"provider": "openai", "prices": [
        {"model": "q*", "input": 3, "output": 4, "tiers": [{"above_tokens": 128000, "input": 6, "output": 8}]}]})"),
                                                   "run.json");
    ASSERT_TRUE(settings) << describe(settings.error());
    const auto again = providerSettingsFromJson(toJson(*settings), "again");
    ASSERT_TRUE(again) << describe(again.error());
    EXPECT_NEAR(costUsd(again->prices.at(0), {.input = 200'000, .output = 100'000}), 1.2 + 0.8, 1e-9);
    const auto bad = providerSettingsFromJson(nlohmann::json::parse(R"({"provider": "openai", "prices": [
        {"model": "q*", "input": 3, "output": 4, "tiers": [{"above_tokens": -1, "input": 6, "output": 8}]}]})"),
                                              "run.json");
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().what, HasSubstr("llm.prices[0].tiers[0].above_tokens"));
}

TEST(LlmProvider, APersonAnswersInAFolderOrWhereTheyAreAsked)
{
    const auto nobody = makeChatClient({.provider = "manual"}, noKeys);
    ASSERT_FALSE(nobody);
    EXPECT_THAT(nobody.error().what, HasSubstr("No folder"));
    std::shared_ptr<ManualExchange> exchange;
    exchange = std::make_shared<ManualExchange>([&] {
        for (const ManualPrompt& prompt : exchange->waiting())
            exchange->answer(prompt.number, "an answer to " + std::to_string(prompt.text.size()) + " bytes");
    });
    const auto client = makeChatClient({.provider = "manual"}, noKeys, {}, exchange);
    ASSERT_TRUE(client) << describe(client.error());
    const auto answer = (*client)->complete(ask("m"), {});
    ASSERT_TRUE(answer) << describe(answer.error().error);
    EXPECT_THAT(answer->text, HasSubstr("an answer to"));
}

TEST(LlmProvider, WhatIsMissingIsSaidBeforeAnyoneIsCalled)
{
    ::unsetenv("AWS_REGION");
    ::unsetenv("AWS_DEFAULT_REGION");
    EXPECT_THAT(errorOf({.provider = "oracle"}).remedy, HasSubstr("anthropic, openai, bedrock"));
    EXPECT_THAT(errorOf({.provider = "anthropic"}).what, HasSubstr("No model"));
    EXPECT_THAT(errorOf({.provider = "bedrock", .model = "m"}).what, HasSubstr("No AWS region"));
    EXPECT_THAT(errorOf({.provider = "bedrock", .model = "m", .region = "evil.example/"}).what,
                HasSubstr("is no AWS region"));
    EXPECT_THAT(errorOf({.provider = "command"}).what, HasSubstr("No program"));
    EXPECT_THAT(errorOf({.provider = "replay", .recording = "missing.json"}).where, HasSubstr("missing.json"));
    EXPECT_FALSE(errorOf({.provider = "manual", .folder = "f", .attempts = 0}).remedy.empty());
}

TEST(LlmProvider, AMissingKeyIsNamedBeforeTheFirstCall)
{
    const Error error = errorOf({.provider = "anthropic", .model = "m"});
    EXPECT_THAT(error.what, HasSubstr("There is no key for Anthropic"));
    EXPECT_THAT(error.remedy, HasSubstr("ANTHROPIC_API_KEY"));
    EXPECT_THAT(errorOf({.provider = "openai", .model = "m"}, oneKey("ANTHROPIC_API_KEY", "sk")).remedy,
                HasSubstr("OPENAI_API_KEY"));
    EXPECT_THAT(errorOf({.provider = "openai", .model = "m", .base_url = "http://127.0.0.1:1", .key_name = "OWN"}).what,
                HasSubstr("no key"))
        << "a key that is named must be there, at any server";
}

TEST(LlmProvider, AServerOfOnesOwnGetsTheNamedKeyAndNoneWhereThereIsNone)
{
    ::setenv("no_proxy", "127.0.0.1", 1);
    const LoopbackServer server({testing::answer(200, openai_answer)});
    ProviderSettings settings{.provider = "openai", .model = "m", .base_url = server.url() + "/v1"};
    const auto without = makeChatClient(settings, noKeys);
    ASSERT_TRUE(without) << describe(without.error());
    EXPECT_EQ((*without)->provider(), "openai");
    ASSERT_TRUE((*without)->complete(ask("m"), {}));
    settings.key_name = "OWN";
    settings.token_limit_field = "max_completion_tokens";
    ASSERT_TRUE((*makeChatClient(settings, oneKey("OWN", "sk-own")))->complete(ask("m"), {}));
    EXPECT_THAT(server.requests().at(0), AllOf(Not(HasSubstr("authorization")), HasSubstr("\"max_tokens\"")));
    EXPECT_THAT(server.requests().at(1),
                AllOf(HasSubstr("authorization: Bearer sk-own"), HasSubstr("\"max_completion_tokens\"")));
}

TEST(LlmProvider, EachAttemptIsReservedAndTheAnswerSettled)
{
    ::setenv("no_proxy", "127.0.0.1", 1);
    const LoopbackServer server({testing::answer(503, "busy"), testing::answer(200, openai_answer)});
    ProviderSettings settings{.provider = "openai", .model = "m", .base_url = server.url()};
    const auto budget = std::make_shared<Budget>(1.0);
    const auto unpriced = makeChatClient(settings, noKeys, {budget, {}});
    ASSERT_TRUE(unpriced);
    const auto refused = (*unpriced)->complete(ask("m"), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ChatErrorKind::no_price);

    settings.prices = {{"", "m", 10, 100, 0, 0, 0, ""}};
    const auto client = makeChatClient(settings, noKeys, {budget, {}});
    ASSERT_TRUE(client);
    const auto result = (*client)->complete(ask("m"), {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->attempts, 2);
    EXPECT_NEAR(budget->state().spent_usd, 0.02, 1e-9);
    EXPECT_EQ(budget->state().reserved_usd, 0);
    EXPECT_EQ((*client)->complete(ask("m", std::string(200'000, 'x')), {}).error().kind, ChatErrorKind::budget);
}

TEST(LlmProvider, RecordedAnswersAreGivenUnderAnyBudget)
{
    const TemporaryFolder folder;
    ChatResponse response;
    response.text = "recorded";
    response.stop_reason = StopReason::finished;
    testing::writeText(folder / "r.json", toJson(Recording{{requestSha256(ask("m")), "openai", response}}).dump());
    const auto client = makeChatClient({.provider = "replay", .recording = folder / "r.json"}, noKeys,
                                       {std::make_shared<Budget>(0.0), {}});
    ASSERT_TRUE(client) << describe(client.error());
    const auto result = (*client)->complete(ask("m"), {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "recorded");
}

TEST(LlmProvider, AProgramIsRunAsItsSettingsSay)
{
    ProviderSettings settings{.provider = "command", .command = {"/bin/sh", "-c", "echo '{\"text\": \"hi\"}'"}};
    settings.json_answer = true;
    const auto client = makeChatClient(settings, noKeys);
    ASSERT_TRUE(client) << describe(client.error());
    EXPECT_EQ((*client)->complete(ask("m"), {})->text, "hi");
}

TEST(LlmProvider, SettingsFromElsewhereAreAskedAboutWhenTheyRunAProgramOrSendAKeyElsewhere)
{
    EXPECT_EQ(consentNeeded({.provider = "anthropic", .model = "m"}), std::nullopt);
    EXPECT_EQ(consentNeeded({.provider = "manual", .folder = "f"}), std::nullopt);
    EXPECT_THAT(consentNeeded({.provider = "command", .command = {"curl", "evil.example"}}).value_or(""),
                HasSubstr("curl evil.example"));
    EXPECT_THAT(consentNeeded({.provider = "openai", .base_url = "https://evil.example"}).value_or(""),
                AllOf(HasSubstr("OPENAI_API_KEY"), HasSubstr("https://evil.example")));
    EXPECT_EQ(serverUrl({.provider = "bedrock", .region = "eu-west-1"}),
              "https://bedrock-runtime.eu-west-1.amazonaws.com");
    EXPECT_EQ(serverUrl({.provider = "bedrock", .region = "cn-north-1"}),
              "https://bedrock-runtime.cn-north-1.amazonaws.com.cn");
}

}  // namespace
}  // namespace cuco
