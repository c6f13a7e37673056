// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/command_client.h"
#include "core/llm/llm_call.h"
#include "core/llm/manual_client.h"
#include "core/llm/recording.h"
#include "core/llm/retrying_client.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>

namespace cuco {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TemporaryFolder;

ChatRequest ask(const std::string& text)
{
    ChatRequest request;
    request.model = "a model";
    request.system = "the system";
    request.messages = {{.text = text}};
    return request;
}

/// Gives its results one after the other and, with each, its text.
class ListClient final : public ChatClient {
public:
    explicit ListClient(std::vector<ChatResult> results) : results_(std::move(results)) {}
    std::string provider() const override { return "list"; }
    ChatResult complete(const ChatRequest&, const CallControl& control) override
    {
        const ChatResult& result = results_.at(calls++);
        const std::string& text = result ? result->text : result.error().partial.text;
        if (!text.empty() && control.on_text)
            control.on_text(text);
        return result;
    }
    std::size_t calls = 0;

private:
    std::vector<ChatResult> results_;
};

ChatResult said(const std::string& text)
{
    ChatResponse response;
    response.text = text;
    response.stop_reason = StopReason::finished;
    return response;
}

ChatResult failed(ChatErrorKind kind, bool retryable, const std::string& partial = {})
{
    ChatError error;
    error.kind = kind;
    error.error.what = "It failed.";
    error.retryable = retryable;
    error.partial.text = partial;
    return std::unexpected(error);
}

constexpr RetryPolicy quick{.attempts = 3, .first_wait = 1ms, .longest_wait = 5'000ms};

CommandSettings shell(const std::string& script)
{
    CommandSettings settings;
    settings.argv = {"/bin/sh", "-c", script};
    return settings;
}

TEST(ValidUtf8, KeepsWhatIsValidAndReplacesTheRest)
{
    for (const std::string text : {"", "plain", "\n\t\x01", "µ → 𝄞", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "\xc2\x80"})
        EXPECT_EQ(validUtf8(text), text);
    for (const std::string text : {"\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                   "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xe2\x82", "\xff\xfe"})
        EXPECT_THAT(validUtf8(text), HasSubstr("\ufffd")) << ::testing::PrintToString(text);
}

TEST(DumpJson, WritesWhatNlohmannsWriterDoes)
{
    using nlohmann::json;
    const auto written = [](const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); };
    std::string bytes, ascii;
    for (int byte = 0; byte < 256; ++byte)
        (byte < 128 ? ascii : bytes) += static_cast<char>(byte);
    for (const json& value :
         {json(), json(true), json(-7), json(18446744073709551615u), json(0.1), json(1e300), json(""), json(ascii),
          json(bytes), json("µ → 𝄞 \x7f"), json::array(), json::object(), json::array({1, {{"a", json::array()}}, "b"}),
          json{{"z", 1}, {"a\n", {{"x", nullptr}, {"y", {1.5, "q\"\\"}}}}, {bytes, bytes}}})
        EXPECT_EQ(dumpJson(value), written(value));
}

TEST(LlmRetry, AsksAgainAfterAFailureThatMayPass)
{
    ListClient inner({failed(ChatErrorKind::rate_limit, true), failed(ChatErrorKind::server, true), said("at last")});
    const auto result = RetryingClient(inner, quick).complete(ask(""), {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->text, "at last");
    EXPECT_EQ(result->attempts, 3);
}

TEST(LlmRetry, GivesUpAfterItsLastAttempt)
{
    ListClient inner(std::vector<ChatResult>(5, failed(ChatErrorKind::server, true)));
    const auto result = RetryingClient(inner, quick).complete(ask(""), {});
    ASSERT_FALSE(result);
    EXPECT_EQ(inner.calls, 3u);
    EXPECT_EQ(result.error().partial.attempts, 3);
}

TEST(LlmRetry, DoesNotAskAgainAfterAFailureThatStays)
{
    ListClient inner({failed(ChatErrorKind::wrong_key, false), said("never")});
    EXPECT_FALSE(RetryingClient(inner, quick).complete(ask(""), {}));
    EXPECT_EQ(inner.calls, 1u);
}

TEST(LlmRetry, DoesNotRepeatATextThatTheCallerHasSeenUnlessTheCallerAllowsIt)
{
    const std::vector<ChatResult> results{failed(ChatErrorKind::cut, false, "half"), said("whole")};
    ListClient once(results), twice(results);
    EXPECT_FALSE(RetryingClient(once, quick).complete(ask(""), {}));
    CallControl allowing;
    allowing.retry_after_text = true;
    EXPECT_TRUE(RetryingClient(twice, quick).complete(ask(""), allowing));
}

TEST(LlmRetry, WaitsAsLongAsTheServerAsksAndNotBeyondTheDeadline)
{
    ChatResult limited = failed(ChatErrorKind::rate_limit, true);
    limited.error().retry_after = 60ms;
    ListClient inner({limited, said("later")}), hurried({limited, said("too late")});
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(RetryingClient(inner, quick).complete(ask(""), {}));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 60ms);

    CallControl control;
    control.deadline = std::chrono::steady_clock::now() + 30ms;
    const auto result = RetryingClient(hurried, quick).complete(ask(""), control);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::rate_limit);

    limited.error().retry_after = 1h;
    ListClient patient({limited, said("in an hour")});
    EXPECT_FALSE(RetryingClient(patient, quick).complete(ask(""), {})) << "longer than the policy waits";
}

TEST(LlmRetry, ACancelEndsTheWait)
{
    ChatResult limited = failed(ChatErrorKind::rate_limit, true);
    limited.error().retry_after = 4s;
    ListClient inner({limited, said("never")});
    std::stop_source source;
    CallControl control;
    control.stop = source.get_token();
    const std::jthread canceller([&] {
        std::this_thread::sleep_for(20ms);
        source.request_stop();
    });
    const auto start = std::chrono::steady_clock::now();
    const auto result = RetryingClient(inner, quick).complete(ask(""), control);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 3s);
}

TEST(LlmCommand, TheProgramGetsTheRequestAsJsonAndItsOutputIsTheAnswer)
{
    std::string delivered;
    CallControl control;
    control.on_text = [&](std::string_view piece) { delivered += piece; };
    const auto result = CommandClient(shell("cat")).complete(ask("a \"question\""), control);
    ASSERT_TRUE(result) << describe(result.error().error);
    const auto seen = nlohmann::json::parse(result->text);
    EXPECT_EQ(seen["messages"][0]["text"], "a \"question\"");
    EXPECT_EQ(seen["system"], "the system");
    EXPECT_EQ(delivered, result->text);
    EXPECT_EQ(result->stop_reason, StopReason::finished);
}

TEST(LlmCommand, AnAnswerInJsonMayBringItsUsage)
{
    CommandSettings settings =
        shell(R"(echo '{"text": "hi", "stop_reason": "token_limit", "usage": {"input": 3, "output": 4}}')");
    settings.json_answer = true;
    const auto result = CommandClient(settings).complete(ask(""), {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "hi");
    EXPECT_EQ(result->stop_reason, StopReason::token_limit);
    EXPECT_EQ(result->usage.output, 4);
    EXPECT_TRUE(result->usage.reported);

    settings.argv.back() = "echo no JSON";
    const auto malformed = CommandClient(settings).complete(ask(""), {});
    ASSERT_FALSE(malformed);
    EXPECT_EQ(malformed.error().kind, ChatErrorKind::malformed);
}

TEST(LlmCommand, AFailureShowsWhatTheProgramSaidWithoutItsKey)
{
    ::setenv("CUCO_TEST_COMMAND_KEY", "sk-planted-command", 1);
    CommandSettings settings = shell("echo \"bad key $CUCO_TEST_COMMAND_KEY\" >&2; exit 3");
    settings.pass_variables = {"CUCO_TEST_COMMAND_KEY"};
    const auto result = CommandClient(settings).complete(ask(""), {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::program);
    EXPECT_THAT(result.error().error.what, HasSubstr("exit code 3"));
    EXPECT_THAT(result.error().error.what, HasSubstr("bad key [redacted]"));
}

TEST(LlmCommand, TheProgramSeesOnlyTheVariablesThatAreNamed)
{
    ::setenv("CUCO_TEST_COMMAND_KEY", "sk-planted-command", 1);
    const auto result = CommandClient(shell("echo \"[$CUCO_TEST_COMMAND_KEY]\"")).complete(ask(""), {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->text, "[]\n");
}

TEST(LlmCommand, AProgramThatDoesNotEndIsEnded)
{
    CallControl control;
    control.deadline = std::chrono::steady_clock::now() + 100ms;
    const auto late = CommandClient(shell("sleep 60")).complete(ask(""), control);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ChatErrorKind::deadline);

    CommandSettings wordy = shell("yes");
    wordy.limit = 200ms;
    wordy.output_bytes = 1000;
    EXPECT_FALSE(CommandClient(wordy).complete(ask(""), {}));
}

TEST(LlmManual, APersonAnswersInTheFileBesideThePrompt)
{
    const TemporaryFolder folder;
    ManualClient client({.folder = folder.path(), .look_every = 5ms});
    const std::jthread person([&] {
        while (testing::readText(folder / "0001.prompt.md").find("what now?") == std::string::npos)
            std::this_thread::sleep_for(2ms);
        testing::writeText(folder / "0001.answer.md", "this");
    });
    const auto result = client.complete(ask("what now?"), {});
    ASSERT_TRUE(result) << describe(result.error().error);
    EXPECT_EQ(result->text, "this");
    EXPECT_THAT(testing::readText(folder / "0001.prompt.md"), HasSubstr("# system\n\nthe system"));
}

TEST(LlmManual, NobodyAnswersInTime)
{
    const TemporaryFolder folder;
    ManualClient client({.folder = folder.path(), .look_every = 5ms, .patience = 20ms});
    const auto result = client.complete(ask(""), {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ChatErrorKind::deadline);
    EXPECT_THAT(result.error().error.remedy, HasSubstr("0001.answer.md"));
    EXPECT_FALSE(ManualClient({.folder = folder / "missing"}).complete(ask(""), {}));
}

TEST(LlmManual, APersonAnswersPromptsOfSeveralCallersInThisProgram)
{
    std::atomic<int> told = 0;
    const auto exchange = std::make_shared<ManualExchange>([&told] { ++told; });
    ExchangeClient client(exchange);
    const auto first = std::async(std::launch::async, [&] { return client.complete(ask("the first"), {}); });
    while (exchange->waiting().empty())
        std::this_thread::sleep_for(1ms);
    auto second = std::async(std::launch::async, [&] { return client.complete(ask("the second"), {}); });
    while (exchange->waiting().size() < 2)
        std::this_thread::sleep_for(1ms);
    const auto waiting = exchange->waiting();
    EXPECT_THAT(waiting.front().text, HasSubstr("the first"));
    exchange->answer(99, "to nobody");
    exchange->answer(waiting.back().number, "two");
    EXPECT_EQ(second.get()->text, "two");
    EXPECT_EQ(exchange->waiting().size(), 1u);
    exchange->answer(waiting.front().number, "one");
    exchange->answer(waiting.front().number, "too late");
    first.wait();
    EXPECT_TRUE(exchange->waiting().empty());
    EXPECT_EQ(told, 4) << "two came, two went";
}

TEST(LlmManual, APromptThatIsGivenUpStoppedOrLateSaysSo)
{
    std::shared_ptr<ManualExchange> exchange;
    exchange = std::make_shared<ManualExchange>([&exchange] {
        for (const ManualPrompt& prompt : exchange->waiting())
            exchange->giveUp(prompt.number);
    });
    const auto given_up = ExchangeClient(exchange).complete(ask("what now?"), {});
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().kind, ChatErrorKind::cancelled);
    EXPECT_THAT(given_up.error().error.remedy, HasSubstr("Continue the run"));
    EXPECT_THAT(given_up.error().partial.raw_request, HasSubstr("what now?"));

    const auto silent = std::make_shared<ManualExchange>([] {});
    const auto late = ExchangeClient(silent, 5ms).complete(ask(""), {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ChatErrorKind::deadline);
    EXPECT_TRUE(silent->waiting().empty());

    std::stop_source stop;
    CallControl control;
    control.stop = stop.get_token();
    auto stopped = std::async(std::launch::async, [&] { return ExchangeClient(silent).complete(ask(""), control); });
    while (silent->waiting().empty())
        std::this_thread::sleep_for(1ms);
    stop.request_stop();
    EXPECT_EQ(stopped.get().error().kind, ChatErrorKind::cancelled);
}

TEST(LlmReplay, GivesBackWhatWasRecordedThroughAFile)
{
    ListClient inner({said("one"), failed(ChatErrorKind::server, true, "half"), said("three")});
    RecordingClient recorder(inner);
    (void)recorder.complete(ask("a"), {});
    (void)recorder.complete(ask("b"), {});
    (void)recorder.complete(ask("a"), {});
    const auto loaded = recordingFromJson(nlohmann::json::parse(toJson(recorder.recording()).dump()), "a test");
    ASSERT_TRUE(loaded) << describe(loaded.error());

    ReplayClient replay(*loaded, ReplayClient::Order::by_request);
    const auto broken = replay.complete(ask("b"), {});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().kind, ChatErrorKind::server);
    EXPECT_EQ(broken.error().partial.text, "half");
    EXPECT_EQ(replay.complete(ask("a"), {})->text, "one");
    EXPECT_EQ(replay.complete(ask("a"), {})->text, "three");
    const auto exhausted = replay.complete(ask("a"), {});
    ASSERT_FALSE(exhausted);
    EXPECT_EQ(exhausted.error().kind, ChatErrorKind::not_recorded);
    EXPECT_FALSE(replay.complete(ask("never asked"), {}));
}

TEST(LlmReplay, MayInsistOnTheOrder)
{
    const Recording recording{{requestSha256(ask("a")), "list", said("1")},
                              {requestSha256(ask("b")), "list", said("2")}};
    ReplayClient replay(recording, ReplayClient::Order::recorded);
    EXPECT_FALSE(replay.complete(ask("b"), {}));
    EXPECT_EQ(replay.complete(ask("a"), {})->text, "1");
    EXPECT_EQ(replay.complete(ask("b"), {})->text, "2");
}

TEST(LlmReplay, ARequestIsKnownByAllThatIsAskedAndNotByHowItTravels)
{
    ChatRequest request = ask("a");
    const std::string sha256 = requestSha256(request);
    request.stream = false;
    request.messages[0].cacheable = true;
    EXPECT_EQ(requestSha256(request), sha256);
    request.temperature = 0.5;
    EXPECT_NE(requestSha256(request), sha256);
    EXPECT_NE(requestSha256(ask("b")), sha256);
}

TEST(LlmCallRecord, SurvivesItsFileWhetherAnsweredOrFailed)
{
    ChatRequest request = ask("a");
    request.temperature = 0.2;
    request.messages[0].cacheable = true;
    ChatResult answered = said("text");
    answered->raw_response = "not \xff UTF-8";
    answered->usage = {.input = 1, .output = 2, .cache_read = 3, .cache_write = 4, .reasoning = 1, .reported = true};
    answered->attempts = 2;
    ChatResult broken = failed(ChatErrorKind::rate_limit, true, "half");
    broken.error().http_status = 429;
    broken.error().retry_after = 1500ms;
    for (const ChatResult& result : {answered, broken}) {
        LlmCall call = makeLlmCall(request, result, "list", ModelPrice{"list", "*", 1, 1, 0, 0, 0, "2025-12-01"}, 1234);
        call.agent = "judge";
        call.step = 7;
        call.candidate_id = "c3";
        const auto json = toJson(call);
        const auto back = llmCallFromJson(nlohmann::json::parse(json.dump()), "a test");
        ASSERT_TRUE(back) << describe(back.error());
        EXPECT_EQ(toJson(*back), json);
        EXPECT_EQ(back->result.has_value(), result.has_value());
    }
}

}  // namespace
}  // namespace cuco
