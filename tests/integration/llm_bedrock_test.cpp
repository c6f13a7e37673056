// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/subprocess.h"
#include "core/llm/bedrock_client.h"
#include "core/llm/llm_call.h"
#include "core/llm/provider.h"
#include "core/llm/retrying_client.h"
#include "tests/support/event_stream_frames.h"
#include "tests/support/loopback_server.h"
#include "tests/support/self_signed_server.h"
#include "tests/support/test_servers.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <sstream>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using testing::bedrockEvent;
using testing::bedrockException;
using ::testing::HasSubstr;
using testing::LoopbackConnection;
using testing::LoopbackServer;
using ::testing::Not;
using testing::stream;

const std::map<std::string, std::string> planted_keys{{"AWS_ACCESS_KEY_ID", "AKIDPLANTED77"},
                                                      {"AWS_SECRET_ACCESS_KEY", "planted/secret+key"},
                                                      {"AWS_SESSION_TOKEN", "plantedtoken//8+="}};

const std::string start = bedrockEvent("messageStart", R"({"role":"assistant"})");
const std::string stop = bedrockEvent("messageStop", R"({"stopReason":"max_tokens"})");
const std::string metadata = bedrockEvent("metadata", R"({"usage":{"inputTokens":20,"outputTokens":9,"totalTokens":41,
    "cacheReadInputTokens":5,"cacheWriteInputTokens":7},"metrics":{"latencyMs":1}})");
const std::string whole_answer = R"({"output":{"message":{"role":"assistant","content":[
    {"reasoningContent":{"reasoningText":{"text":"hm"}}},{"text":"Hello, node"}]}},"stopReason":"end_turn",
    "usage":{"inputTokens":20,"outputTokens":9,"totalTokens":29}})";

std::string textEvent(const std::string& text)
{
    return bedrockEvent("contentBlockDelta",
                        nlohmann::json{{"contentBlockIndex", 0}, {"delta", {{"text", text}}}}.dump());
}

class LlmBedrock : public ::testing::Test {
protected:
    LlmBedrock()
    {
        ::setenv("no_proxy", "localhost,127.0.0.1", 1);
        std::signal(SIGPIPE, SIG_IGN);
        request.model = "us.anthropic.claude-x-v1:0";
        request.system = "You are terse.";
        request.messages = {{.text = "Say hello."}};
        limits.total = 5s;
    }

    BedrockClient client(const std::string& url)
    {
        BedrockSettings settings;
        settings.server = {url, "AWS_BEARER_TOKEN_BEDROCK", limits, [this](const std::string& name) {
                               const auto key = keys.find(name);
                               return key == keys.end() ? Secret() : Secret(key->second);
                           }};
        settings.region = "us-east-1";
        return BedrockClient(settings);
    }

    CallControl control()
    {
        CallControl with;
        with.on_text = [this](std::string_view piece) { pieces.emplace_back(piece); };
        return with;
    }

    ChatError errorOf(const ChatResult& result)
    {
        if (result) {
            ADD_FAILURE() << "The call succeeded: " << result->text;
            return {};
        }
        for (const auto& [name, key] : planted_keys)
            EXPECT_THAT(toJson(makeLlmCall(request, result, "bedrock", {}, 0)).dump(), Not(HasSubstr(key)));
        EXPECT_FALSE(result.error().error.what.empty());
        return result.error();
    }

    ChatError errorFrom(const LoopbackServer::Script& script)
    {
        const LoopbackServer server({script});
        return errorOf(client(server.url()).complete(request, control()));
    }

    static nlohmann::json bodyOf(const std::string& sent)
    {
        return nlohmann::json::parse(sent.substr(sent.find("\r\n\r\n") + 4));
    }

    ChatRequest request;
    HttpLimits limits;
    std::map<std::string, std::string> keys = planted_keys;
    std::vector<std::string> pieces;
};

TEST_F(LlmBedrock, StreamsTextAndReportsUsageInFull)
{
    const LoopbackServer server(
        {stream({start, textEvent("Hello,") + textEvent(" no"), textEvent("de"), stop, metadata})});
    const auto result = client(server.url()).complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "Hello, node");
    EXPECT_THAT(pieces, ::testing::ElementsAre("Hello,", " no", "de"));
    EXPECT_EQ(result->stop_reason, StopReason::token_limit);
    EXPECT_TRUE(result->usage.reported);
    EXPECT_EQ(result->usage.input, 20);
    EXPECT_EQ(result->usage.output, 9);
    EXPECT_EQ(result->usage.cache_read, 5);
    EXPECT_EQ(result->usage.cache_write, 7);
    EXPECT_THAT(server.requests().at(0), HasSubstr("POST /model/us.anthropic.claude-x-v1%3A0/converse-stream "));
    EXPECT_THAT(result->raw_response, HasSubstr("\"event\":\"messageStop\"")) << "a text that people can read";
}

TEST_F(LlmBedrock, AnswersInOnePieceAndMarksWhatComesAgainAtMostFourTimes)
{
    const LoopbackServer server({answer(200, whole_answer, "x-amzn-RequestId: r-1\r\n")});
    request.stream = false;
    request.temperature = 0.25;
    request.cache_system = true;
    request.messages.assign(5, {.text = "again", .cacheable = true});
    const auto result = client(server.url() + "/").complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "Hello, node") << "without its reasoning";
    EXPECT_EQ(result->stop_reason, StopReason::finished);
    EXPECT_EQ(result->request_id, "r-1");
    const auto body = bodyOf(server.requests().at(0));
    EXPECT_EQ(body["system"],
              nlohmann::json::parse(R"([{"text":"You are terse."},{"cachePoint":{"type":"default"}}])"));
    EXPECT_EQ(body["inferenceConfig"], nlohmann::json::parse(R"({"maxTokens":4096,"temperature":0.25})"));
    int marks = 0;
    for (const auto& message : body["messages"])
        marks += message["content"].size() == 2 ? 1 : 0;
    EXPECT_EQ(marks, 3);
    EXPECT_EQ(body["messages"][0]["content"].size(), 1);
}

TEST_F(LlmBedrock, AModelThatTakesNoCachePointsGetsNone)
{
    const LoopbackServer server({answer(200, whole_answer)});
    request.stream = false;
    request.cache_system = true;
    request.model = "meta.llama3-1-70b-instruct-v1:0";
    ASSERT_TRUE(client(server.url()).complete(request, {}));
    EXPECT_THAT(server.requests().at(0), Not(HasSubstr("cachePoint")));
}

TEST_F(LlmBedrock, EachRequestIsSignedAsAwsOwnLibrarySignsIt)
{
    const auto python = testing::testServerProgram("python");
    if (!python)
        GTEST_SKIP() << "botocore is not installed (packaging/test-servers installs it)";
    const LoopbackServer server({answer(200, whole_answer)});
    request.stream = false;
    request.messages[0].text = "ümlaut\n";
    nlohmann::json given = nlohmann::json::array();
    for (const char* model : {"amazon.nova-pro-v1", "us.anthropic.claude-x-v1:0",
                              "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/ab~_c.d"})
        for (const char* base : {"", "/pre/fix"})
            for (const std::string token : {"", "plantedtoken//8+="}) {
                request.model = model;
                keys["AWS_SESSION_TOKEN"] = token;
                ASSERT_TRUE(client(server.url() + base).complete(request, {}));
                given.push_back({{"request", server.requests().back()},
                                 {"access_key", keys.at("AWS_ACCESS_KEY_ID")},
                                 {"secret_key", keys.at("AWS_SECRET_ACCESS_KEY")},
                                 {"token", token},
                                 {"region", "us-east-1"}});
            }
    Command verify;
    verify.argv = {python->string(),
                   (std::filesystem::path(CUCO_TEST_ROOT) / "tests/support/sigv4_with_botocore.py").string()};
    verify.environment = scrubbedEnvironment();
    verify.input = given.dump();
    const auto ran = runCommand(verify);
    ASSERT_TRUE(ran && ran->succeeded()) << (ran ? ran->err : describe(ran.error()));
    std::istringstream expected(ran->out);
    for (const auto& one : given) {
        const std::string sent = one["request"], token = one["token"];
        std::string authorization;
        ASSERT_TRUE(std::getline(expected, authorization));
        EXPECT_THAT(sent, HasSubstr("authorization: " + authorization + "\r\n"));
        EXPECT_EQ(sent.find("ost: 127."), sent.rfind("ost: 127.")) << "one host";
        EXPECT_EQ(sent.find("x-amz-security-token: plantedtoken//8+=\r\n") != std::string::npos, !token.empty());
        EXPECT_THAT(sent, Not(HasSubstr("planted/secret+key")));
    }
}

TEST_F(LlmBedrock, ABedrockApiKeyGoesBeforeTheOthers)
{
    keys["AWS_BEARER_TOKEN_BEDROCK"] = "bedrock-planted";
    const LoopbackServer server({answer(200, whole_answer)});
    request.stream = false;
    ASSERT_TRUE(client(server.url()).complete(request, {}));
    EXPECT_THAT(server.requests().at(0), HasSubstr("authorization: Bearer bedrock-planted\r\n"));
    EXPECT_THAT(server.requests().at(0), Not(HasSubstr("AWS4-HMAC-SHA256")));
}

TEST_F(LlmBedrock, MissingKeysAreNamed)
{
    keys.erase("AWS_SECRET_ACCESS_KEY");
    const ChatError error = errorOf(client("http://127.0.0.1:1").complete(request, {}));
    EXPECT_EQ(error.kind, ChatErrorKind::no_key);
    EXPECT_THAT(error.error.remedy, HasSubstr("AWS_SECRET_ACCESS_KEY"));
    const auto made = makeChatClient({.provider = "bedrock", .model = "m", .region = "us-east-1"},
                                     [](const std::string&) { return Secret(); });
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().remedy, HasSubstr("AWS_BEARER_TOKEN_BEDROCK"));
}

TEST_F(LlmBedrock, NoSignatureGoesOverPlainHttpToAnotherMachineNorDoesAKeyThatBreaksAHeader)
{
    EXPECT_EQ(errorOf(client("http://example.invalid").complete(request, {})).kind, ChatErrorKind::bad_request);
    keys["AWS_SESSION_TOKEN"] = "a\r\nx-injected: 1";
    EXPECT_EQ(errorOf(client("http://127.0.0.1:1").complete(request, {})).kind, ChatErrorKind::bad_request);
}

TEST_F(LlmBedrock, EachFailureHasItsClassAndTheServicesSentence)
{
    const auto refused = [&](int status, const std::string& type) {
        return errorFrom(answer(status, R"({"message":"The service's sentence."})",
                                "x-amzn-ErrorType: " + type + ":http://internal.amazon.com/coral/\r\n"));
    };
    const ChatError throttled = refused(429, "ThrottlingException");
    EXPECT_EQ(throttled.kind, ChatErrorKind::rate_limit);
    EXPECT_TRUE(throttled.retryable);
    EXPECT_FALSE(throttled.billable);
    EXPECT_THAT(throttled.error.what, HasSubstr("The service's sentence."));
    EXPECT_EQ(refused(400, "ServiceQuotaExceededException").kind, ChatErrorKind::rate_limit);
    const ChatError not_ready = refused(429, "ModelNotReadyException");
    EXPECT_EQ(not_ready.kind, ChatErrorKind::server);
    EXPECT_TRUE(not_ready.retryable);
    const ChatError denied = refused(403, "AccessDeniedException");
    EXPECT_EQ(denied.kind, ChatErrorKind::wrong_key);
    EXPECT_THAT(denied.error.remedy, HasSubstr("AWS_ACCESS_KEY_ID"));
    EXPECT_EQ(refused(403, "ExpiredTokenException").kind, ChatErrorKind::wrong_key);
    const ChatError invalid = refused(400, "ValidationException");
    EXPECT_EQ(invalid.kind, ChatErrorKind::bad_request);
    EXPECT_FALSE(invalid.retryable);
    EXPECT_EQ(refused(404, "ResourceNotFoundException").kind, ChatErrorKind::unknown_model);
    EXPECT_EQ(refused(408, "ModelTimeoutException").kind, ChatErrorKind::server);
    EXPECT_EQ(refused(424, "ModelErrorException").kind, ChatErrorKind::server);
    EXPECT_EQ(refused(500, "InternalServerException").kind, ChatErrorKind::server);
    EXPECT_EQ(errorFrom(answer(503, "no JSON")).kind, ChatErrorKind::server) << "of a proxy in between";
}

TEST_F(LlmBedrock, ExceptionsInsideTheStreamHaveTheSameClasses)
{
    const std::string sentence = R"({"message":"The service's sentence."})";
    const ChatError throttled = errorFrom(stream({start, bedrockException("throttlingException", sentence)}));
    EXPECT_EQ(throttled.kind, ChatErrorKind::rate_limit);
    EXPECT_TRUE(throttled.retryable);
    EXPECT_THAT(throttled.error.what, HasSubstr("The service's sentence."));
    const ChatError late =
        errorFrom(stream({start, textEvent("Hel"), bedrockException("modelStreamErrorException", sentence)}));
    EXPECT_EQ(late.kind, ChatErrorKind::server);
    EXPECT_FALSE(late.retryable) << "what was written has cost something";
    EXPECT_TRUE(late.billable);
    EXPECT_EQ(late.partial.text, "Hel");
    EXPECT_EQ(errorFrom(stream({bedrockException("validationException", sentence)})).kind, ChatErrorKind::bad_request);
    const std::string transport = testing::eventStreamFrame(testing::textHeader(":message-type", "error") +
                                                                testing::textHeader(":error-code", "InternalFailure") +
                                                                testing::textHeader(":error-message", "Oh."),
                                                            "");
    const ChatError internal = errorFrom(stream({transport}));
    EXPECT_EQ(internal.kind, ChatErrorKind::server);
    EXPECT_THAT(internal.error.what, HasSubstr("Oh."));
}

TEST_F(LlmBedrock, A429IsAskedAgainAfterTheTimeThatTheServerNamesAndSignedAnew)
{
    const LoopbackServer server({answer(429, R"({"message":"Slow down."})", "Retry-After: 1\r\n"), answer(500, "oops"),
                                 stream({start, textEvent("Hello"), stop, metadata})});
    BedrockClient inner = client(server.url());
    const auto begin = std::chrono::steady_clock::now();
    const auto result = RetryingClient(inner, {.first_wait = 1ms}).complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->attempts, 3);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(LlmBedrock, AStreamThatIsCutIsAnErrorWithWhatWasThere)
{
    for (const bool in_order : {false, true}) {
        const ChatError error = errorFrom(stream({start, textEvent("Hello,"), textEvent("x").substr(0, 20)}, in_order));
        EXPECT_EQ(error.kind, ChatErrorKind::cut);
        EXPECT_EQ(error.partial.text, "Hello,");
        EXPECT_TRUE(error.billable);
    }
    const LoopbackServer server({stream({start, textEvent("Hello"), stop}, false)});
    const auto result = client(server.url()).complete(request, control());
    ASSERT_TRUE(result) << "the text is whole, only the usage is missing";
    EXPECT_FALSE(result->usage.reported);
}

TEST_F(LlmBedrock, WhatIsNotOfTheProtocolIsMalformed)
{
    EXPECT_EQ(errorFrom(stream({"data: {\"type\":\"message_start\"}\n\n"})).kind, ChatErrorKind::malformed);
    EXPECT_EQ(errorFrom(stream({bedrockEvent("messageStop", "{no JSON")})).kind, ChatErrorKind::malformed);
    EXPECT_EQ(errorFrom(stream({bedrockEvent("messageStop", "{}")})).kind, ChatErrorKind::malformed);
    EXPECT_EQ(errorFrom(stream({bedrockEvent("metadata", R"({"usage":{"inputTokens":-1}})")})).kind,
              ChatErrorKind::malformed);
    std::string broken = textEvent("Hello");
    broken[broken.size() / 2] ^= 1;
    EXPECT_EQ(errorFrom(stream({start, broken})).kind, ChatErrorKind::malformed);
    request.stream = false;
    for (const char* body : {"<html>", "[]", "{}", R"({"output":{"message":{"content":7}},"stopReason":"end_turn"})"})
        EXPECT_EQ(errorFrom(answer(200, body)).kind, ChatErrorKind::malformed) << body;
}

TEST_F(LlmBedrock, ABodyWithoutEndStopsAtTheLimitAndSoDoesAnAnswerOfTenMegabytes)
{
    limits.response_bytes = 1 << 20;
    const std::string event = bedrockEvent("somethingNew", "\"" + std::string(8000, '.') + "\"");
    const ChatError endless = errorFrom([&](const LoopbackConnection& connection, const std::string&) {
        connection.send(testing::stream_head);
        while (connection.chunk(event)) {
        }
        return false;
    });
    EXPECT_EQ(endless.kind, ChatErrorKind::too_large);
    limits.response_bytes = 10u << 20;
    request.stream = false;
    EXPECT_EQ(errorFrom(answer(200, std::string((10u << 20) + 1, ' '))).kind, ChatErrorKind::too_large);
}

TEST_F(LlmBedrock, ACertificateThatNobodySignedEndsTheCallBeforeAnythingIsSent)
{
    const testing::SelfSignedServer server;
    const ChatError error = errorOf(client(server.url()).complete(request, control()));
    EXPECT_EQ(error.kind, ChatErrorKind::network);
    EXPECT_THAT(error.error.what, HasSubstr("could not prove who it is"));
    EXPECT_EQ(server.clientsThatTrusted(), 0);
}

}  // namespace
}  // namespace cuco
