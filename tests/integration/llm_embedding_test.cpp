// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/embedding.h"
#include "core/llm/provider.h"
#include "tests/support/loopback_server.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::answer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::LoopbackConnection;
using testing::LoopbackServer;
using ::testing::Not;

json bodyOf(const std::string& sent)
{
    return json::parse(sent.substr(sent.find("\r\n\r\n") + 4));
}

/// Gives the text the vector {its length, 0.5}.
bool embedLength(const LoopbackConnection& connection, const std::string& sent)
{
    const json texts = bodyOf(sent)["input"];
    const json data = {{{"index", 0}, {"embedding", {texts.at(0).get<std::string>().size(), 0.5}}}};
    return answer(200, json{{"model", "e-1"}, {"data", data}, {"usage", {{"prompt_tokens", 10}}}}.dump())(connection,
                                                                                                          sent);
}

class LlmEmbedding : public ::testing::Test {
protected:
    LlmEmbedding()
    {
        ::setenv("no_proxy", "localhost,127.0.0.1", 1);
        ::setenv("OWN", "sk-planted-embed", 1);
        std::signal(SIGPIPE, SIG_IGN);
    }

    static ProviderSettings settingsFor(const LoopbackServer& server)
    {
        ProviderSettings settings{.provider = "openai", .model = "m", .embedding_model = "e", .base_url = server.url()};
        settings.key_name = "OWN";
        settings.attempts = 3;
        return settings;
    }
    static ChatResult embed(const ProviderSettings& settings, const std::string& text, const Spending& spending = {},
                            const CallControl& control = {})
    {
        const auto client = makeEmbeddingClient(settings, environmentKey, spending);
        EXPECT_TRUE(client) << describe(client.error());
        return (*client)->complete(embeddingRequest("e", text), control);
    }
};

TEST_F(LlmEmbedding, AVectorComesForAText)
{
    const LoopbackServer server({embedLength});
    const auto result = embed(settingsFor(server), "333");
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_THAT(embeddingOf(*result).value(), ElementsAre(3, 0.5));
    EXPECT_EQ(result->model, "e-1");
    EXPECT_EQ(result->usage.input, 10);
    const std::string sent = server.requests().at(0);
    EXPECT_EQ(bodyOf(sent), (json{{"model", "e"}, {"input", {"333"}}, {"encoding_format", "float"}}));
    EXPECT_THAT(sent, HasSubstr("POST /embeddings "));
    EXPECT_THAT(sent, HasSubstr("authorization: Bearer sk-planted-embed"));
}

TEST_F(LlmEmbedding, AVectorIsReadBackAsItCame)
{
    const LoopbackServer server({answer(200, R"({"data":[{"embedding":[0.1,-1.17549435e-38,16777217,1e-50]}]})")});
    EXPECT_THAT(embeddingOf(embed(settingsFor(server), "a").value()).value(),
                ElementsAre(0.1f, -1.17549435e-38f, 16777216.0f, 0.0f));
}

TEST_F(LlmEmbedding, AnswersThatCannotBeUsedAreRefused)
{
    for (const std::string& body :
         {std::string(R"({"data":[]})"), std::string(R"({"data":{}})"), std::string(R"({"data":[7]})"),
          std::string(R"({"data":[{"embedding":[1]},{"embedding":[1]}]})"),
          std::string(R"({"data":[{"embedding":[]}]})"), std::string(R"({"data":[{"embedding":["1"]}]})"),
          std::string(R"({"data":[{"embedding":"AACAPw=="}]})"), std::string(R"({"data":[{"embedding":[1e300]}]})"),
          std::string("{}"), std::string("<html>")}) {
        const LoopbackServer server({answer(200, body)});
        const auto result = embed(settingsFor(server), "a");
        ASSERT_FALSE(result) << body;
        EXPECT_EQ(result.error().kind, ChatErrorKind::malformed) << body;
        EXPECT_TRUE(result.error().billable);
    }
}

TEST_F(LlmEmbedding, WhatSomebodyElseRecordedIsReadWithCare)
{
    for (const char* text : {"", "{}", "[]", "[1,null]", "[1e300]", "[\"1\"]", "1", "[[1]]"}) {
        ChatResponse response;
        response.text = text;
        EXPECT_FALSE(embeddingOf(response)) << text;
    }
}

TEST_F(LlmEmbedding, FailuresThatMayPassAreTriedAgainWithinTheBudget)
{
    const LoopbackServer server({answer(429, R"({"error":{"message":"Slow down."}})", "Retry-After: 0\r\n"),
                                 answer(200, R"({"data":[{"embedding":[1]}],"usage":{"prompt_tokens":100}})")});
    Spending spending{std::make_shared<Budget>(1.0), {}};
    const auto unpriced = embed(settingsFor(server), "a", spending);
    ASSERT_FALSE(unpriced);
    EXPECT_EQ(unpriced.error().kind, ChatErrorKind::no_price);
    spending.prices.add({"openai", "e", 1000, 0, 0, 0, 0, "user"});
    const auto result = embed(settingsFor(server), "a", spending);
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_NEAR(spending.budget->state().spent_usd, 0.1, 1e-9);
    EXPECT_EQ(spending.budget->state().reserved_usd, 0);
    const auto large = embed(settingsFor(server), std::string(2000, 'x'), spending);
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().kind, ChatErrorKind::budget);
}

TEST_F(LlmEmbedding, TextsThatCannotBeEmbeddedAreRefusedBeforeAnyIsSent)
{
    const LoopbackServer server({embedLength});
    EXPECT_EQ(embed(settingsFor(server), "").error().kind, ChatErrorKind::bad_request);
    EXPECT_EQ(embed(settingsFor(server), std::string((128u << 10) + 1, 'x')).error().kind, ChatErrorKind::too_large);
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(LlmEmbedding, ACancelEndsTheCall)
{
    const LoopbackServer server({[](const LoopbackConnection& connection, const std::string&) {
        connection.hang();
        return false;
    }});
    std::stop_source source;
    CallControl control;
    control.stop = source.get_token();
    const std::jthread canceller([&] {
        while (server.requests().empty())
            std::this_thread::sleep_for(1ms);
        source.request_stop();
    });
    const auto result = embed(settingsFor(server), "a", {}, control);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::cancelled);
}

TEST_F(LlmEmbedding, AServerOfOnesOwnMayWantNoKey)
{
    const LoopbackServer server({embedLength});
    ProviderSettings settings = settingsFor(server);
    settings.key_name.clear();
    const auto client = makeEmbeddingClient(settings, [](const std::string&) { return Secret(); });
    ASSERT_TRUE(client) << describe(client.error());
    EXPECT_TRUE((*client)->complete(embeddingRequest("e", "abc"), {}));
    EXPECT_THAT(server.requests().at(0), Not(HasSubstr("authorization")));
}

TEST_F(LlmEmbedding, SettingsThatCannotWorkAreNamed)
{
    ProviderSettings settings{.provider = "openai", .model = "m"};
    EXPECT_THAT(makeEmbeddingClient(settings, environmentKey).error().what, HasSubstr("No model for embeddings"));
    settings = {.provider = "anthropic", .model = "m", .embedding_model = "e"};
    EXPECT_THAT(makeEmbeddingClient(settings, environmentKey).error().what, HasSubstr("no embeddings"));
}

}  // namespace
}  // namespace cuco
