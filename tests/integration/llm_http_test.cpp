// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/anthropic_client.h"
#include "core/llm/llm_call.h"
#include "core/llm/openai_client.h"
#include "core/llm/retrying_client.h"
#include "tests/support/loopback_server.h"
#include "tests/support/self_signed_server.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using testing::answer;
using ::testing::HasSubstr;
using testing::LoopbackConnection;
using testing::LoopbackServer;
using ::testing::Not;
using testing::stream;

constexpr const char* planted_key = "sk-planted-7f3a91";
constexpr const char* key_variable = "CUCO_TEST_LLM_KEY";

const std::string anthropic_start =
    "event: message_start\ndata: "
    "{\"type\":\"message_start\",\"message\":{\"model\":\"claude-x-1\","
    "\"usage\":"
    "{\"input_tokens\":20,\"cache_read_input_tokens\":5,\"cache_creation_input_"
    "tokens\":7,\"output_tokens\":1}}}\n\n"
    "event: ping\ndata: {\"type\": \"ping\"}\n\n";
const std::string anthropic_end =
    "event: message_delta\ndata: "
    "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},"
    "\"usage\":"
    "{\"output_tokens\":9}}\n\nevent: message_stop\ndata: "
    "{\"type\":\"message_stop\"}\n\n";

std::string anthropicText(const std::string& text)
{
    return "event: content_block_delta\ndata: "
           "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
           "\"text_delta\",\"text\":\"" +
           text + "\"}}\n\n";
}

const std::string anthropic_whole =
    R"({"type":"message","model":"claude-x-1","content":[{"type":"text","text":"Hello, node"}],
        "stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":9}})";

const std::string openai_whole =
    R"({"model":"gpt-x","choices":[{"message":{"content":"Hello, node"},
    "finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":9,
    "prompt_tokens_details":{"cached_tokens":10}}})";

const std::vector<std::string> openai_stream{
    "data: "
    "{\"model\":\"gpt-x\",\"choices\":[{\"delta\":{\"role\":\"assistant\","
    "\"content\":\"\"}}]}\n\n",
    "data: "
    "{\"model\":\"gpt-x\",\"choices\":[{\"delta\":{\"content\":\"Hello,\"}}]}"
    "\n\n",
    "data: {\"choices\":[{\"delta\":{\"content\":\" "
    "node\"},\"finish_reason\":null}],\"usage\":null}\n\n",
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n",
    "data: "
    "{\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":9,"
    "\"prompt_tokens_details\":"
    "{\"cached_tokens\":10},\"completion_tokens_details\":{\"reasoning_"
    "tokens\":4}}}\n\n",
    "data: [DONE]\n\n"};

class LlmHttp : public ::testing::Test {
protected:
    LlmHttp()
    {
        ::setenv(key_variable, planted_key, 1);
        ::setenv("no_proxy", "localhost,127.0.0.1", 1);
        std::signal(SIGPIPE, SIG_IGN);
        request.model = "claude-x";
        request.system = "You are terse.";
        request.messages = {{.text = "Say hello."}};
        limits.total = 5s;
    }

    AnthropicClient anthropic(const std::string& url) { return AnthropicClient({url, key_variable, limits}); }
    OpenAiClient openai(const std::string& url)
    {
        OpenAiSettings settings;
        settings.server = {url, key_variable, limits};
        return OpenAiClient(settings);
    }

    CallControl control()
    {
        CallControl with;
        with.on_text = [this](std::string_view piece) { pieces.emplace_back(piece); };
        with.stop = source.get_token();
        return with;
    }

    /// The error of a call that must fail; also makes sure that nothing of it has
    /// the key.
    ChatError errorOf(const ChatResult& result)
    {
        if (result) {
            ADD_FAILURE() << "The call succeeded: " << result->text;
            return {};
        }
        EXPECT_THAT(toJson(makeLlmCall(request, result, "a provider", {}, 0)).dump(), Not(HasSubstr(planted_key)));
        EXPECT_FALSE(result.error().error.what.empty());
        return result.error();
    }

    ChatError anthropicError(const LoopbackServer::Script& script)
    {
        const LoopbackServer server({script});
        return errorOf(anthropic(server.url()).complete(request, control()));
    }

    ChatRequest request;
    HttpLimits limits;
    std::stop_source source;
    std::vector<std::string> pieces;
};

TEST_F(LlmHttp, AnthropicStreamsTextAndReportsUsageInFull)
{
    const LoopbackServer server(
        {stream({anthropic_start, anthropicText("Hello,"), anthropicText(" node"), anthropic_end})});
    const auto result = anthropic(server.url() + "/").complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "Hello, node");
    EXPECT_THAT(pieces, ::testing::ElementsAre("Hello,", " node"));
    EXPECT_EQ(result->stop_reason, StopReason::token_limit);
    EXPECT_EQ(result->model, "claude-x-1");
    EXPECT_TRUE(result->usage.reported);
    EXPECT_EQ(result->usage.input, 20);
    EXPECT_EQ(result->usage.output, 9);
    EXPECT_EQ(result->usage.cache_read, 5);
    EXPECT_EQ(result->usage.cache_write, 7);
    EXPECT_GT(result->first_byte.count(), 0);
    EXPECT_GE(result->first_text, result->first_byte);
    EXPECT_GE(result->total, result->first_byte);
}

TEST_F(LlmHttp, AnthropicIsAskedWithTheKeyInItsHeaderAndCacheMarksAtMostFour)
{
    const LoopbackServer server({answer(200, anthropic_whole, "request-id: req_1\r\n")});
    request.stream = false;
    request.cache_system = true;
    request.messages.assign(5, {.text = "again", .cacheable = true});
    const auto result = anthropic(server.url()).complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "Hello, node");
    EXPECT_EQ(result->stop_reason, StopReason::finished);
    EXPECT_EQ(result->request_id, "req_1");
    const std::string sent = server.requests().at(0);
    EXPECT_THAT(sent, HasSubstr("POST /v1/messages "));
    EXPECT_THAT(sent, HasSubstr(std::string("x-api-key: ") + planted_key));
    EXPECT_THAT(sent, HasSubstr("anthropic-version: 2023-06-01"));
    const auto body = nlohmann::json::parse(sent.substr(sent.find("\r\n\r\n") + 4));
    EXPECT_TRUE(body["system"][0].contains("cache_control"));
    int marks = 0;
    for (const auto& message : body["messages"])
        marks += message["content"][0].contains("cache_control") ? 1 : 0;
    EXPECT_EQ(marks, 3);
    EXPECT_FALSE(body["messages"][0]["content"][0].contains("cache_control"));
    EXPECT_FALSE(body.contains("temperature"));
    EXPECT_EQ(result->raw_request, body.dump());
    EXPECT_EQ(result->raw_response, anthropic_whole);
}

TEST_F(LlmHttp, OpenAiStreamsTextAndTakesUsageFromTheLastChunk)
{
    const LoopbackServer server({stream(openai_stream)});
    request.temperature = 0.25;
    const auto result = openai(server.url() + "/v1").complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "Hello, node");
    EXPECT_EQ(result->stop_reason, StopReason::token_limit);
    EXPECT_EQ(result->usage.input, 20);
    EXPECT_EQ(result->usage.cache_read, 10);
    EXPECT_EQ(result->usage.output, 9);
    EXPECT_EQ(result->usage.reasoning, 4);
    const std::string sent = server.requests().at(0);
    EXPECT_THAT(sent, HasSubstr("POST /v1/chat/completions "));
    EXPECT_THAT(sent, HasSubstr(std::string("authorization: Bearer ") + planted_key));
    const auto body = nlohmann::json::parse(sent.substr(sent.find("\r\n\r\n") + 4));
    EXPECT_EQ(body["messages"][0]["role"], "system");
    EXPECT_EQ(body["stream_options"]["include_usage"], true);
    EXPECT_EQ(body["max_completion_tokens"], 4096);
    EXPECT_EQ(body["temperature"], 0.25);
}

TEST_F(LlmHttp, OpenAiAnswersInOnePieceAndARefusalIsOne)
{
    const LoopbackServer server(
        {answer(200, openai_whole, "x-request-id: r2\r\n"),
         answer(200, R"({"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]})")});
    request.stream = false;
    OpenAiClient client = OpenAiClient({.server = {server.url(), key_variable, limits}});
    const auto result = client.complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "Hello, node");
    EXPECT_EQ(result->request_id, "r2");
    EXPECT_EQ(result->usage.input, 20);
    const auto refused = client.complete(request, control());
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->stop_reason, StopReason::refusal);
    EXPECT_FALSE(refused->usage.reported);
}

TEST_F(LlmHttp, AStreamThatIsCutIsAnErrorWithWhatWasThere)
{
    const ChatError error = anthropicError(stream({anthropic_start, anthropicText("Hello,")}, false));
    EXPECT_EQ(error.kind, ChatErrorKind::cut);
    EXPECT_EQ(error.partial.text, "Hello,");
    EXPECT_EQ(error.partial.stop_reason, StopReason::unfinished);
    EXPECT_TRUE(error.billable);
    EXPECT_FALSE(error.retryable);
}

TEST_F(LlmHttp, AStreamThatEndsInOrderButTooEarlyIsCutToo)
{
    EXPECT_EQ(anthropicError(stream({anthropic_start, anthropicText("Hello,")})).kind, ChatErrorKind::cut);
    const LoopbackServer server({stream({openai_stream[0], openai_stream[1]})});
    EXPECT_EQ(errorOf(openai(server.url()).complete(request, control())).kind, ChatErrorKind::cut);
}

TEST_F(LlmHttp, A429IsAskedAgainAfterTheTimeThatTheServerNames)
{
    const LoopbackServer server(
        {answer(429, R"({"error":{"type":"rate_limit_error","message":"Slow down."}})", "Retry-After: 1\r\n"),
         stream({anthropic_start, anthropicText("Hello,"), anthropic_end})});
    AnthropicClient inner({server.url(), key_variable, limits});
    const auto start = std::chrono::steady_clock::now();
    const auto result = RetryingClient(inner, {.first_wait = 1ms}).complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->attempts, 2);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 1s);
}

TEST_F(LlmHttp, A500AndAnOverloadInsideTheStreamAreAskedAgain)
{
    const LoopbackServer server({answer(500, "oops"),
                                 stream({"event: error\ndata: "
                                         "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                                         "\"message\":"
                                         "\"Overloaded\"}}\n\n"}),
                                 stream({anthropic_start, anthropicText("Hello,"), anthropic_end})});
    AnthropicClient inner({server.url(), key_variable, limits});
    const auto result = RetryingClient(inner, {.first_wait = 1ms}).complete(request, control());
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->attempts, 3);
}

TEST_F(LlmHttp, EachStatusHasItsClassAndTheProvidersSentence)
{
    const auto refused = [&](int status, const std::string& type) {
        return anthropicError(answer(
            status, R"({"type":"error","error":{"type":")" + type + R"(","message":"The server's sentence."}})"));
    };
    const ChatError wrong_key = refused(401, "authentication_error");
    EXPECT_EQ(wrong_key.kind, ChatErrorKind::wrong_key);
    EXPECT_THAT(wrong_key.error.what, HasSubstr("The server's sentence."));
    EXPECT_THAT(wrong_key.error.remedy, HasSubstr(key_variable));
    EXPECT_FALSE(wrong_key.billable);
    EXPECT_EQ(refused(404, "not_found_error").kind, ChatErrorKind::unknown_model);
    EXPECT_EQ(refused(400, "invalid_request_error").kind, ChatErrorKind::bad_request);
    EXPECT_EQ(refused(413, "request_too_large").kind, ChatErrorKind::too_large);
    EXPECT_EQ(refused(529, "overloaded_error").kind, ChatErrorKind::server);
    EXPECT_EQ(refused(402, "billing_error").kind, ChatErrorKind::budget);
}

TEST_F(LlmHttp, AKeyThatTheServerRepeatsIsRedactedWhereverItIsCutOff)
{
    for (const std::size_t padding : {0, 540, 560, 580, 600}) {
        const ChatError error =
            anthropicError(answer(401, R"({"error":{"message":")" + std::string(padding, 'x') + planted_key + R"("}})",
                                  std::string("request-id: ") + planted_key + "\r\n"));
        EXPECT_THAT(error.error.what, Not(HasSubstr("sk-pl")));
    }
    EXPECT_THAT(anthropicError(answer(200, std::string("data: ") + planted_key + "\n\n")).error.what,
                HasSubstr("[redacted]"));
}

TEST_F(LlmHttp, WhatIsNotOfTheProtocolIsMalformed)
{
    EXPECT_EQ(anthropicError(stream({"data: {no JSON\n\n"})).kind, ChatErrorKind::malformed);
    EXPECT_EQ(anthropicError(stream({"data: {\"type\": 7}\n\n"})).kind, ChatErrorKind::malformed);
    EXPECT_EQ(anthropicError(stream({"data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":"
                                     "{\"output_tokens\":-4}}\n\n"}))
                  .kind,
              ChatErrorKind::malformed);
    request.stream = false;
    EXPECT_EQ(anthropicError(answer(200, "<html>")).kind, ChatErrorKind::malformed);
    EXPECT_EQ(anthropicError(answer(200, "[]")).kind, ChatErrorKind::malformed);
    const LoopbackServer server({answer(200, "{\"choices\": {}, \"usage\": 3}")});
    EXPECT_EQ(errorOf(openai(server.url()).complete(request, control())).kind, ChatErrorKind::cut)
        << "nothing that is an answer";
}

TEST_F(LlmHttp, ABodyWithoutEndStopsAtTheLimit)
{
    limits.response_bytes = 1 << 20;
    const ChatError error = anthropicError([](const LoopbackConnection& connection, const std::string&) {
        connection.send(testing::stream_head);
        const std::string comment = ": " + std::string(8000, '.') + "\n";
        while (connection.chunk(comment)) {
        }
        return false;
    });
    EXPECT_EQ(error.kind, ChatErrorKind::too_large);
}

TEST_F(LlmHttp, AnAnswerOfMoreThanTenMegabytesIsRefusedAndSoAreHeadersWithoutEnd)
{
    request.stream = false;
    EXPECT_EQ(anthropicError(answer(200, std::string((10u << 20) + 1, ' '))).kind, ChatErrorKind::too_large);
    std::string headers;
    for (int i = 0; i < 2000; ++i)
        headers += "x-" + std::to_string(i) + ": " + std::string(40, '.') + "\r\n";
    EXPECT_EQ(anthropicError(answer(200, anthropic_whole, headers)).kind, ChatErrorKind::too_large);
}

TEST_F(LlmHttp, ASlowAnswerEndsAtTheDeadline)
{
    const LoopbackServer server({[](const LoopbackConnection& connection, const std::string&) {
        connection.send(testing::stream_head);
        connection.chunk(anthropic_start);
        while (connection.chunk(anthropicText("x")))
            std::this_thread::sleep_for(20ms);
        return false;
    }});
    CallControl with = control();
    const auto start = std::chrono::steady_clock::now();
    with.deadline = start + 200ms;
    EXPECT_EQ(errorOf(anthropic(server.url()).complete(request, with)).kind, ChatErrorKind::deadline);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
}

TEST_F(LlmHttp, AStreamThatFallsSilentIsGivenUp)
{
    limits.stall = 1s;
    const ChatError error = anthropicError([](const LoopbackConnection& connection, const std::string&) {
        connection.send(testing::stream_head);
        connection.chunk(anthropic_start);
        connection.hang();
        return false;
    });
    EXPECT_EQ(error.kind, ChatErrorKind::cut);
}

TEST_F(LlmHttp, ACancelInTheMiddleEndsTheCallAtOnce)
{
    const LoopbackServer server({[](const LoopbackConnection& connection, const std::string&) {
        connection.send(testing::stream_head);
        connection.chunk(anthropic_start + anthropicText("Hello,"));
        connection.hang();
        return false;
    }});
    CallControl with = control();
    std::jthread canceller;
    with.on_text = [&](std::string_view) {
        canceller = std::jthread([&] {
            std::this_thread::sleep_for(20ms);
            source.request_stop();
        });
    };
    const auto start = std::chrono::steady_clock::now();
    const ChatError error = errorOf(anthropic(server.url()).complete(request, with));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 900ms) << "curl's own wait is a second";
    EXPECT_EQ(error.kind, ChatErrorKind::cancelled);
    EXPECT_EQ(error.partial.stop_reason, StopReason::cancelled);
    EXPECT_EQ(error.partial.text, "Hello,");
    EXPECT_TRUE(error.billable);
}

TEST_F(LlmHttp, ARedirectIsRefusedAndTheKeyDoesNotFollowIt)
{
    const LoopbackServer elsewhere({answer(200, anthropic_whole)});
    const ChatError error = anthropicError(answer(307, "", "Location: " + elsewhere.url() + "/v1/messages\r\n"));
    EXPECT_EQ(error.kind, ChatErrorKind::bad_request);
    EXPECT_THAT(error.error.what, HasSubstr("redirect"));
    EXPECT_TRUE(elsewhere.requests().empty());
}

TEST_F(LlmHttp, AServerThatIsNotThereIsANetworkErrorThatMayPass)
{
    std::string gone;
    {
        gone = LoopbackServer({answer(200, "")}).url();
    }
    const ChatError error = errorOf(anthropic(gone).complete(request, control()));
    EXPECT_EQ(error.kind, ChatErrorKind::network);
    EXPECT_TRUE(error.retryable);
    EXPECT_FALSE(error.billable);
}

TEST_F(LlmHttp, ACertificateThatNobodySignedEndsTheCallBeforeTheKeyIsSent)
{
    const testing::SelfSignedServer server;
    const ChatError error = errorOf(anthropic(server.url()).complete(request, control()));
    EXPECT_EQ(error.kind, ChatErrorKind::network);
    EXPECT_THAT(error.error.what, HasSubstr("could not prove who it is"));
    EXPECT_FALSE(error.retryable);
    EXPECT_EQ(server.clientsThatTrusted(), 0);
}

TEST_F(LlmHttp, AKeyIsNotSentOverPlainHttpToAnotherMachineNorToAUrlWithAPassword)
{
    for (const char* url : {"http://example.invalid", "https://user:password@example.invalid", "ftp://example.invalid",
                            "http://localhost.example.invalid"}) {
        const ChatError error = errorOf(anthropic(url).complete(request, control()));
        EXPECT_EQ(error.kind, ChatErrorKind::bad_request) << url;
    }
}

TEST_F(LlmHttp, AMissingKeyIsNamedAndAServerWithoutKeysGetsNone)
{
    ::unsetenv(key_variable);
    const ChatError error = errorOf(anthropic("http://127.0.0.1:1").complete(request, control()));
    EXPECT_EQ(error.kind, ChatErrorKind::no_key);
    EXPECT_THAT(error.error.remedy, HasSubstr(key_variable));

    const LoopbackServer server({stream(openai_stream)});
    OpenAiClient local({.server = {server.url(), "", limits}, .provider = "local", .token_limit_field = "max_tokens"});
    EXPECT_TRUE(local.complete(request, control()));
    EXPECT_THAT(server.requests().at(0), Not(HasSubstr("authorization")));
    EXPECT_THAT(server.requests().at(0), HasSubstr("\"max_tokens\""));
}

TEST_F(LlmHttp, ManyCallsAtOnceEachGetTheirOwnAnswer)
{
    const LoopbackServer server({[](const LoopbackConnection& connection, const std::string& sent) {
        const auto body = nlohmann::json::parse(sent.substr(sent.find("\r\n\r\n") + 4));
        const std::string said = body["messages"][0]["content"][0]["text"];
        return stream({anthropic_start, anthropicText(said), anthropic_end})(connection, sent);
    }});
    AnthropicClient client({server.url(), key_variable, limits});
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread)
        threads.emplace_back([&, thread] {
            for (int call = 0; call < 10; ++call) {
                ChatRequest mine = request;
                mine.messages[0].text = "thread " + std::to_string(thread) + " call " + std::to_string(call);
                const auto result = client.complete(mine, {});
                ASSERT_TRUE(result) << describe(result.error().error);
                EXPECT_EQ(result->text, mine.messages[0].text);
            }
        });
}

}  // namespace
}  // namespace cuco
