// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/embedding.h"
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

/// Gives each text the vector {its length, 1}, the last text first.
bool embedLengths(const LoopbackConnection& connection, const std::string& sent)
{
    const json texts = bodyOf(sent)["input"];
    json data = json::array();
    for (std::size_t i = texts.size(); i-- > 0;)
        data.push_back({{"index", i}, {"embedding", {texts[i].get<std::string>().size(), 1}}});
    return answer(200, json{{"model", "e-1"}, {"data", data}, {"usage", {{"prompt_tokens", 10}}}}.dump())(connection,
                                                                                                          sent);
}

class LlmEmbedding : public ::testing::Test {
protected:
    LlmEmbedding()
    {
        ::setenv("no_proxy", "localhost,127.0.0.1", 1);
        std::signal(SIGPIPE, SIG_IGN);
    }

    EmbeddingSettings settingsFor(const LoopbackServer& server)
    {
        EmbeddingSettings settings;
        settings.server = {server.url(), "OWN", {}, [](const std::string&) { return Secret("sk-planted-embed"); }};
        settings.server.limits.total = 5s;
        settings.retry = {.attempts = 3, .first_wait = 1ms};
        return settings;
    }

    ChatError errorOf(const std::string& body, int dimensions = 0)
    {
        const LoopbackServer server({answer(200, body)});
        OpenAiEmbeddingClient client(settingsFor(server), {});
        const auto result = client.embed({"e", {"a", "b"}, dimensions}, {});
        EXPECT_FALSE(result) << body;
        return result ? ChatError{} : result.error();
    }
};

TEST_F(LlmEmbedding, TextsGoInBatchesAndVectorsComeInTheOrderOfTheTexts)
{
    const LoopbackServer server({embedLengths});
    EmbeddingSettings settings = settingsFor(server);
    settings.batch_texts = 3;
    settings.batch_bytes = 10;
    OpenAiEmbeddingClient client(settings, {});
    const auto result = client.embed({"e", {"1", "22", "333", "4444", "55555", std::string(50, '6')}, 2}, {});
    ASSERT_TRUE(result) << describe(result.error().error);
    std::vector<float> lengths;
    for (const auto& vector : result->vectors)
        lengths.push_back(vector.at(0));
    EXPECT_THAT(lengths, ElementsAre(1, 2, 3, 4, 5, 50));
    EXPECT_EQ(result->model, "e-1");
    EXPECT_EQ(result->usage.input, 30);
    ASSERT_EQ(server.requests().size(), 3u);
    const json first = bodyOf(server.requests().at(0));
    EXPECT_EQ(first["input"].size(), 3u);
    EXPECT_EQ(first["dimensions"], 2);
    EXPECT_EQ(first["encoding_format"], "float");
    EXPECT_THAT(server.requests().at(0), HasSubstr("POST /embeddings "));
    EXPECT_THAT(server.requests().at(0), HasSubstr("authorization: Bearer sk-planted-embed"));
    EXPECT_TRUE(client.embed({"e", {}, 0}, {})->vectors.empty());
}

TEST_F(LlmEmbedding, AnswersThatCannotBeUsedAreRefused)
{
    const auto answerWith = [](const std::string& data) { return R"({"model":"e","data":)" + data + "}"; };
    for (const std::string& data :
         {std::string(R"([{"index":0,"embedding":[1]}])"), std::string("{}"), std::string("[7,8]"),
          std::string(R"([{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}])"),
          std::string(R"([{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}])"),
          std::string(R"([{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}])"),
          std::string(R"([{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}])"),
          std::string(R"([{"index":0,"embedding":[]},{"index":1,"embedding":[]}])"),
          std::string(R"([{"index":0,"embedding":["1"]},{"index":1,"embedding":[1]}])"),
          std::string(R"([{"index":0,"embedding":"AACAPw=="},{"index":1,"embedding":[1]}])"),
          std::string(R"([{"index":0,"embedding":[1e300]},{"index":1,"embedding":[1]}])")}) {
        const ChatError error = errorOf(answerWith(data));
        EXPECT_EQ(error.kind, ChatErrorKind::malformed) << data;
        EXPECT_TRUE(error.billable);
    }
    EXPECT_THAT(errorOf(answerWith(R"([{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}])"), 3).error.what,
                HasSubstr("1 numbers in place of 3"));
    EXPECT_EQ(errorOf("<html>").kind, ChatErrorKind::malformed);
}

TEST_F(LlmEmbedding, BatchesWithVectorsOfDifferentLengthAreRefused)
{
    const LoopbackServer server({answer(200, R"({"data":[{"index":0,"embedding":[1]}]})"),
                                 answer(200, R"({"data":[{"index":0,"embedding":[1,2]}]})")});
    EmbeddingSettings settings = settingsFor(server);
    settings.batch_texts = 1;
    const auto result = OpenAiEmbeddingClient(settings, {}).embed({"e", {"a", "b"}, 0}, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::malformed);
}

TEST_F(LlmEmbedding, FailuresThatMayPassAreTriedAgainWithinTheBudget)
{
    const LoopbackServer server(
        {answer(429, R"({"error":{"message":"Slow down."}})"), answer(500, "oops"),
         answer(200, R"({"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":100}})")});
    Spending spending{std::make_shared<Budget>(1.0), {}};
    EmbeddingSettings settings = settingsFor(server);
    const auto unpriced = OpenAiEmbeddingClient(settings, spending).embed({"e", {"a"}, 0}, {});
    ASSERT_FALSE(unpriced);
    EXPECT_EQ(unpriced.error().kind, ChatErrorKind::no_price);
    spending.prices.add({"openai", "e", 1000, 0, 0, 0, 0, "user"});
    OpenAiEmbeddingClient client(settings, spending);
    const auto result = client.embed({"e", {"a"}, 0}, {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_NEAR(spending.budget->state().spent_usd, 0.1, 1e-9);
    EXPECT_EQ(spending.budget->state().reserved_usd, 0);
    const auto large = client.embed({"e", {std::string(2000, 'x')}, 0}, {});
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().kind, ChatErrorKind::budget);
}

TEST_F(LlmEmbedding, TextsThatCannotBeEmbeddedAreRefusedBeforeAnyIsSent)
{
    const LoopbackServer server({embedLengths});
    EmbeddingSettings settings = settingsFor(server);
    settings.text_bytes = 100;
    OpenAiEmbeddingClient client(settings, {});
    EXPECT_EQ(client.embed({"e", {"a", ""}, 0}, {}).error().kind, ChatErrorKind::bad_request);
    EXPECT_EQ(client.embed({"e", {"a", std::string(101, 'x')}, 0}, {}).error().kind, ChatErrorKind::too_large);
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
    const auto result = OpenAiEmbeddingClient(settingsFor(server), {}).embed({"e", {"a"}, 0}, control);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::cancelled);
}

TEST_F(LlmEmbedding, TheClientIsMadeFromTheSettingsOfARun)
{
    const LoopbackServer server({embedLengths});
    const KeySource none = [](const std::string&) { return Secret(); };
    ProviderSettings settings{.provider = "openai", .model = "m", .base_url = server.url()};
    EXPECT_FALSE(makeEmbeddingClient(settings, none));
    settings.embedding_model = "e";
    const auto client = makeEmbeddingClient(settings, none);
    ASSERT_TRUE(client) << describe(client.error());
    EXPECT_EQ((*client)->provider(), "openai");
    const auto result = (*client)->embed({settings.embedding_model, {"abc"}, 0}, {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_THAT(result->vectors, ElementsAre(ElementsAre(3, 1)));
    EXPECT_THAT(server.requests().at(0), Not(HasSubstr("authorization")));
    settings.provider = "anthropic";
    EXPECT_THAT(makeEmbeddingClient(settings, environmentKey).error().what, HasSubstr("no embeddings"));
}

}  // namespace
}  // namespace cuco
